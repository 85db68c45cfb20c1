/* `stride0 inspect MODEL`: what the importer understood of a model, before anything is planned. */
#include "cli/inspect.h"

#include "cli/cli.h"
#include "request.h"

#include <stdlib.h>

typedef struct {
    const char *json;
    bool names;
    Texts dims, layouts;
} Args;

static const Option options[] = {
    {"json", 0, OPTION_OUTPUT, "FILE", "write all operators and tensors as JSON; - is standard output",
     offsetof(Args, json), NULL},
    {"names", 0, OPTION_SWITCH, NULL, "list every tensor, operator and free dimension, in place of the summary",
     offsetof(Args, names), NULL},
    {"dim", 0, OPTION_TEXTS, "NAME=VALUE", "value of a free dimension; also INPUT:AXIS=VALUE", offsetof(Args, dims),
     NULL},
    {"layout", 0, OPTION_TEXTS, "TENSOR=ORDER", "order of a tensor's axes: NCHW or NHWC", offsetof(Args, layouts),
     NULL},
    {0}};

const Value *cli_inspect_value(const InspectFacts *facts, ValueId id) {
    const Graph *graph = facts->complete == NULL ? facts->graph : facts->complete;
    return graph_value(graph, id);
}

const char *cli_inspect_axes(const InspectFacts *facts, ValueId id) {
    const Value *value = cli_inspect_value(facts, id);
    if (facts->complete == NULL || !value->has_shape) {
        return "";
    }
    char *letters = arena_alloc(facts->arena, value->shape.rank + 1, 1);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        letters[k] = dim_letter((Dim)value->dims[k]);
    }
    return letters;
}

static int by_op(const void *a, const void *b) {
    return str_order(((const OperatorCount *)a)->op, ((const OperatorCount *)b)->op);
}

static int by_count(const void *a, const void *b) {
    const OperatorCount *left = a;
    const OperatorCount *right = b;
    if (left->count != right->count) {
        return left->count < right->count ? 1 : -1;
    }
    return by_op(a, b);
}

/* One row a node, sorted by operator; then equal rows are merged. */
static void count_operators(InspectFacts *facts) {
    const Graph *graph = facts->graph;
    OperatorCount *rows = arena_array(facts->arena, OperatorCount, graph->node_count);
    for (uint32_t i = 0; i < graph->node_count; i++) {
        const Node *node = &graph->nodes[i];
        const OpInfo *info = op_info(node->op);
        rows[i] = (OperatorCount){.op = node->op_name,
                                  .count = 1,
                                  .is_known = node->op != OP_CUSTOM,
                                  .has_layout = (info->flags & OP_NO_LAYOUT) == 0};
    }
    uint32_t kept = 0;
    if (graph->node_count > 0) {
        qsort(rows, graph->node_count, sizeof *rows, by_op);
    }
    for (uint32_t i = 0; i < graph->node_count; i++) {
        if (kept > 0 && str_eq(rows[kept - 1].op, rows[i].op)) {
            rows[kept - 1].count++;
        } else {
            rows[kept++] = rows[i];
        }
    }
    if (kept > 0) {
        qsort(rows, kept, sizeof *rows, by_count);
    }
    facts->operators = rows;
    facts->operator_count = kept;
}

static void count_values(InspectFacts *facts) {
    for (uint32_t i = 0; i < facts->graph->value_count; i++) {
        const Value *value = &facts->graph->values[i];
        facts->state_count += value->is_state;
        if (value->constant != NULL) {
            facts->constant_count++;
            facts->constant_bytes += value->constant->bytes.len; /* spans of one file: the sum fits */
        }
        for (uint32_t k = 0; value->is_input && value->has_shape && k < value->shape.rank; k++) {
            facts->free_dim_count += value->shape.dim[k] == DIM_FREE;
        }
    }
}

/* A model with free dimensions is complete only at the sizes the user gives: without them it is shown as it is. */
static bool gather(InspectFacts *facts, const Request *request, ModelFiles *files, Work *work) {
    facts->graph = import_model(work, request->model, files);
    if (facts->graph == NULL) {
        return false;
    }
    facts->file_bytes = files->map[0].bytes.len;
    count_operators(facts);
    count_values(facts);
    arena_reset(&work->scratch);
    if (facts->free_dim_count > 0 && request->dim_count == 0) {
        return true;
    }
    facts->complete =
        stages_understand(request, files, work); /* the passes change a graph: they get one of their own */
    return facts->complete != NULL;
}

static s0_status run_inspect(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    const s0_plan_options asked = {
        .model = cli->operands.item[0], .dims = args->dims.item, .layouts = args->layouts.item};
    Request request;
    if (!request_read(&asked, &request, work)) {
        return S0_BAD_INPUT;
    }
    InspectFacts facts = {.file = request.model, .arena = &work->keep};
    bool is_whole = gather(&facts, &request, &cli->files, work);
    if (facts.graph == NULL) {
        return diags_status(&work->diags);
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json)) {
        (args->names ? cli_inspect_print_names : cli_inspect_print)(stdout, &facts);
    }
    if (is_whole && args->json != NULL && !cli_write(cli, args->json, cli_inspect_write_json, &facts)) {
        return S0_BAD_INPUT;
    }
    return diags_status(&work->diags);
}

const CliCommand command_inspect = {.name = "inspect",
                                    .operands = "MODEL",
                                    .fewest_operands = 1,
                                    .most_operands = 1,
                                    .summary =
                                        "what was understood of a model: operators, axes, quantisation, constants",
                                    .options = options,
                                    .args_bytes = sizeof(Args),
                                    .run = run_inspect};
