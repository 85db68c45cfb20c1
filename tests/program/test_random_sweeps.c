/* Proves by chance that the program of a plan computes what the model means: for random chains of per-channel
 * operators, element types, layouts, forms, schedules, tiles, aliases and budgets
 *   - the outputs of the simulated device are those of a reference that goes element by element, bit for bit;
 *   - no byte is read or written that may not be: no fault;
 *   - the audit holds: touched = estimated bytes of every buffer, used = declared workspace, traffic and cycles of each
 *     column = those that the planner books.
 * A case that fails is told by its seed, and again made as small as it goes: chance.h. */
#include "program/coverage.h"

#include "program/chance.h"
#include "program/executed.h"
#include "program/reference.h"

/* ---- Reference */

static const Node *find_node(const Graph *graph, Str name) {
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->node_count; k++) {
        if (str_eq(graph_node(graph, block->nodes[k])->name, name)) {
            return graph_node(graph, block->nodes[k]);
        }
    }
    fail_msg("no node " STR_FMT, STR_ARG(name));
    return NULL;
}

static Semantics semantics_of(const Drawn *drawn) {
    static const Semantics tflite[] = {S0_SEM_TFLITE_DOUBLE, S0_SEM_TFLITE_SINGLE, S0_SEM_CMSIS};
    return drawn->is_tflite ? tflite[drawn->genes->gene[GENE_SALT] % 3] : S0_SEM_ONNX;
}

static bool is_param(const DrawnNode *node, uint32_t input) {
    bool is_one = false;
    for (uint32_t k = 0; k < node->param_count; k++) {
        is_one = is_one || node->input[k] == input;
    }
    return is_one;
}

/* What each node gives, before anything is folded. */
static Outcome compute_reference(const Drawn *drawn, const Graph *graph, const uint8_t *packed, Map *maps,
                                 Verdict *verdict) {
    Map input = map_of_input(drawn, packed);
    for (uint32_t k = 0; k < drawn->node_count; k++) {
        NodeStages stages;
        const char *why;
        if (!node_stages(graph, find_node(graph, drawn->node[k].name), &stages, &why)) {
            return decide(verdict, NOT_KNOWN, "%s", why);
        }
        if (stages.is_spread || is_param(&drawn->node[k], stages.data_input)) {
            return decide(verdict, NOT_KNOWN, "what the caller gives in place of a parameter is the map");
        }
        const Map *from = drawn->node[k].from == 0 ? &input : &maps[drawn->node[k].from - 1];
        if (!run_node(drawn, &drawn->node[k], &stages, semantics_of(drawn), from, &maps[k], &why)) {
            return decide(verdict, NO_VALUE_THERE, "%s", why);
        }
    }
    return PASSED;
}

/* ---- A case */

static void add_tensor(HostTensor *tensors, uint32_t *count, HostTensor tensor) {
    tensors[(*count)++] = tensor;
}

/* The map and the parameters that the caller gives. */
static void find_inputs(const Drawn *drawn, Span packed, HostTensors *tensors) {
    tensors->inputs = arena_array(&drawn->work->keep, HostTensor, 1 + (MOST_NODES + 1) * MOST_PARAMS);
    add_tensor(tensors->inputs, &tensors->input_count, (HostTensor){.name = STR("x"), .packed = packed});
    for (uint32_t n = 0; n < drawn->node_count; n++) {
        for (uint32_t k = 0; k < drawn->node[n].param_count; k++) {
            const DrawnParam *param = &drawn->node[n].param[k];
            HostTensor tensor = {.name = str_from(param_name(drawn, param)),
                                 .packed = {param->packed, (size_t)param->bytes}};
            if (param->is_given) {
                add_tensor(tensors->inputs, &tensors->input_count, tensor);
            }
        }
    }
}

static void find_outputs(const Drawn *drawn, const Map *maps, HostTensors *tensors) {
    tensors->outputs = arena_array(&drawn->work->keep, HostTensor, drawn->node_count);
    for (uint32_t k = 0; k < drawn->node_count; k++) {
        if (drawn->node[k].is_output) {
            add_tensor(tensors->outputs, &tensors->output_count,
                       (HostTensor){.name = arena_format(&drawn->work->keep, "v%u", (unsigned)k),
                                    .dtype = maps[k].dtype,
                                    .elements = elements_of(drawn),
                                    .packed = pack_map(drawn, &maps[k])});
        }
    }
}

static const Plan *run_drawn(Drawn *drawn, Verdict *verdict) {
    Work *work = drawn->work;
    uint64_t bytes;
    uint8_t *packed = pack(drawn, drawn->input_dtype, elements_of(drawn), 1, false, &bytes);
    Graph *graph = read_graph(drawn, work);
    if (graph == NULL) {
        decide_by_messages(verdict, FAILED, work, "the case is wrong");
        return NULL;
    }
    Map maps[MOST_NODES + 1];
    if (compute_reference(drawn, graph, packed, maps, verdict) != PASSED) {
        return NULL;
    }
    if (gene(drawn, GENE_FOLD, 2) == 1 && !graph_fold_qdq(graph, work)) {
        decide_by_messages(verdict, FAILED, work, "folding");
        return NULL;
    }
    HostTensors tensors = {0};
    find_inputs(drawn, (Span){packed, (size_t)bytes}, &tensors);
    find_outputs(drawn, maps, &tensors);
    return execute(drawn, graph, semantics_of(drawn), &tensors, verdict);
}

static void test_random(void **state) {
    (void)state;
    run_property(&(Property){.default_cases = 2000,
                             .covered_cases = 20000,
                             .most_nodes = MOST_NODES,
                             .node_genes = NODE_GENES,
                             .draw = draw_graph,
                             .run = run_drawn,
                             .cover = cover_case});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
