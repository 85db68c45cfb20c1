/* `stride0 plan MODEL -d DEVICE`: the ledger of a model on a device.
 *
 * Nothing is written before everything that can go wrong with the question has been looked at: the JSON file comes
 * first, then the report. */
#include "cli/cli.h"

#include "base/nearest.h"
#include "report/report.h"
#include "request.h"

#include <string.h>

typedef struct {
    const char *device, *json, *budget, *tile, *heuristic, *node, *buffer;
    int strategy, schedule, inplace, qdq, order, simplify;
    bool pin_inputs, pin_outputs;
    Texts dims, layouts, axes;
} Args;

enum { INPLACE_AUTO, INPLACE_NONE };
enum { QDQ_INT, QDQ_FLOAT };
enum { SIMPLIFY_AUTO, SIMPLIFY_NONE };

static const char *const inplaces[] = {[INPLACE_AUTO] = "auto", [INPLACE_NONE] = "none", NULL};
static const char *const readings[] = {[QDQ_INT] = "int", [QDQ_FLOAT] = "float", NULL};
static const char *const simplifies[] = {[SIMPLIFY_AUTO] = "auto", [SIMPLIFY_NONE] = "none", NULL};
static const char *const orders[] = {"file", NULL};

static const Option options[] = {
    {"device", 'd', OPTION_TEXT, "DEVICE", "a preset's name, or the path of a device file", offsetof(Args, device),
     NULL},
    {"json", 0, OPTION_TEXT, "FILE", "write the plan as JSON; - is standard output, in place of the report",
     offsetof(Args, json), NULL},
    {"strategy", 0, OPTION_CHOICE, "FORM",
     "smallest form of per-channel parameters: auto (default), scalar, channel, row, full", offsetof(Args, strategy),
     request_strategies},
    {"inplace", 0, OPTION_CHOICE, "WHEN",
     "auto (default): operators write over dying inputs; none: only whole views share", offsetof(Args, inplace),
     inplaces},
    {"budget", 0, OPTION_TEXT, "BYTES", "in place of the local capacity; K M G are powers of 1024",
     offsetof(Args, budget), NULL},
    {"pin-inputs", 0, OPTION_SWITCH, NULL, "graph inputs keep their bytes for the whole run",
     offsetof(Args, pin_inputs), NULL},
    {"pin-outputs", 0, OPTION_SWITCH, NULL, "graph outputs have their bytes for the whole run",
     offsetof(Args, pin_outputs), NULL},
    {"dim", 0, OPTION_TEXTS, "NAME=VALUE", "value of a free dimension; also INPUT:AXIS=VALUE", offsetof(Args, dims),
     NULL},
    {"layout", 0, OPTION_TEXTS, "TENSOR=ORDER", "order of a tensor's axes: NCHW or NHWC", offsetof(Args, layouts),
     NULL},
    {"axis", 0, OPTION_TEXTS, "TENSOR=K", "a parameter goes along axis K of the map, counted from 0",
     offsetof(Args, axes), NULL},
    {"axis-heuristic", 0, OPTION_TEXT, "NAME", "size: what only its size could tell is read by it, ties are refused",
     offsetof(Args, heuristic), NULL},
    {"qdq", 0, OPTION_CHOICE, "READING", "Quantize/Dequantize pairs as int (default) operators, or as written: float",
     offsetof(Args, qdq), readings},
    {"simplify", 0, OPTION_CHOICE, "WHEN", "auto (default): exact rewrites before planning; none: the file as it is",
     offsetof(Args, simplify), simplifies},
    {"tile", 0, OPTION_TEXT, "HOW",
     "runs of per-channel operators by tiles: auto (default), none (whole maps), or a number of rows",
     offsetof(Args, tile), NULL},
    {"schedule", 0, OPTION_CHOICE, "HOW",
     "their operators over a tile: auto (default), fused, split, or pipelined with two tiles in flight",
     offsetof(Args, schedule), request_schedules},
    {"order", 0, OPTION_CHOICE, "ORDER", "order of operators: file (default)", offsetof(Args, order), orders},
    {"node", 0, OPTION_TEXT, "NAME", "why is this node here: its steps, in place of the ledger", offsetof(Args, node),
     NULL},
    {"buffer", 0, OPTION_TEXT, "TENSOR", "why is this tensor here: its buffers, in place of the ledger",
     offsetof(Args, buffer), NULL},
    {0}};

/* ---- Options to a request */

static bool set_budget(Work *work, const Args *args, s0_plan_options *plan) {
    if (args->budget == NULL) {
        return true;
    }
    bool is_number = str_to_bytes(str_from(args->budget), &plan->budget_bytes) && plan->budget_bytes > 0;
    return is_number ||
           diag_error(&work->diags, (DiagText){.place = "option --budget",
                                               .what = "the value can't be used",
                                               .got = args->budget,
                                               .expected = "a number of bytes above 0, such as 4096, 256K or 1M",
                                               .hint = cli_bytes_hint(&work->keep, args->budget)});
}

static bool make_request(Cli *cli, const Args *args, Request *request) {
    s0_plan_options asked = {.model = cli->operands.item[0],
                             .device = args->device,
                             .dims = args->dims.item,
                             .no_in_place = args->inplace == INPLACE_NONE,
                             .pin_inputs = args->pin_inputs,
                             .pin_outputs = args->pin_outputs,
                             .qdq_float = args->qdq == QDQ_FLOAT,
                             .as_filed = args->simplify == SIMPLIFY_NONE,
                             .axes = args->axes.item,
                             .layouts = args->layouts.item,
                             .strategy = request_strategies[args->strategy],
                             .axis_heuristic = args->heuristic,
                             .tile = args->tile,
                             .schedule = request_schedules[args->schedule]};
    return set_budget(&cli->work, args, &asked) && request_read_plan(&asked, request, &cli->work);
}

/* ---- Facts to what was asked for */

/* A name that stands for nothing that can be shown. */
typedef struct {
    const char *option, *name;
    const char *what; /* null: nothing has this name */
    const char *hint; /* null: the nearest name */
    Str nearest;
} Misnomer;

static bool refuse_name(Work *work, const Misnomer *wrong) {
    Arena *arena = &work->keep;
    const Nearest nearest = {.name = wrong->nearest};
    const char *list = "stride0 inspect MODEL --names lists the names";
    return diag_error(&work->diags,
                      (DiagText){.place = arena_text(arena, "option %s", wrong->option),
                                 .what = wrong->what == NULL ? "nothing in the plan has this name" : wrong->what,
                                 .got = wrong->name,
                                 .hint = wrong->hint == NULL ? nearest_hint(arena, &nearest, list) : wrong->hint});
}

static bool check_node(Work *work, const Facts *facts, const char *name) {
    Misnomer wrong = {.option = "--node", .name = name};
    Str unused = {0};
    if (is_node(facts_find_node(facts, str_from(name), &wrong.nearest))) {
        return true;
    }
    if (facts_find_buffer(facts, str_from(name), &unused)) {
        wrong.what = "a tensor has this name, no operator";
        wrong.hint = arena_text(&work->keep, "pass --buffer '%s'", name);
    }
    return refuse_name(work, &wrong);
}

static bool has_tensor(const Graph *graph, Str name) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (str_eq(graph->values[v].name, name)) {
            return true;
        }
    }
    return false;
}

static bool check_buffer(Work *work, const Facts *facts, const char *name) {
    Misnomer wrong = {.option = "--buffer", .name = name};
    Str unused = {0};
    if (facts_find_buffer(facts, str_from(name), &wrong.nearest)) {
        return true;
    }
    if (is_node(facts_find_node(facts, str_from(name), &unused))) {
        wrong.what = "an operator has this name, no tensor in memory";
        wrong.hint = arena_text(&work->keep, "pass --node '%s'", name);
    } else if (has_tensor(facts->graph, str_from(name))) {
        wrong.what =
            "the tensor occupies no memory in this plan: it is inside an operator, or only the planner reads it";
        wrong.hint = facts->has_qdq && !facts->reads_qdq_as_float
                         ? "--qdq float plans Quantize/Dequantize pairs as written"
                         : "pass --node NAME, of the operator that reads or writes it";
    }
    return refuse_name(work, &wrong);
}

static bool check_names(Work *work, const Args *args, const Facts *facts) {
    return (args->node == NULL || check_node(work, facts, args->node)) &&
           (args->buffer == NULL || check_buffer(work, facts, args->buffer));
}

typedef struct {
    const Facts *facts;
    Arena *scratch;
} JsonJob;

static void write_json(FILE *out, const void *data) {
    const JsonJob *job = data;
    report_json(job->facts, job->scratch, out);
}

static void print_report(const Cli *cli, const Args *args, const Facts *facts, Arena *scratch) {
    const TerminalStyle style = {.has_color = cli->has_color, .columns = cli_columns()};
    Str nearest = {0};
    if (args->node != NULL) {
        report_why_node(facts, str_from(args->node), scratch, stdout, &nearest);
    }
    if (args->buffer != NULL) {
        report_why_buffer(facts, str_from(args->buffer), scratch, stdout, &nearest);
    }
    if (args->node == NULL && args->buffer == NULL) {
        report_terminal(facts, style, scratch, stdout);
    }
}

static s0_status run_plan(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    Request request;
    if (!make_request(cli, args, &request)) {
        return diags_status(&work->diags);
    }
    const Facts *facts = stages_plan(&request, &cli->files, work);
    if (facts == NULL || !check_names(work, args, facts)) {
        return diags_status(&work->diags);
    }
    const JsonJob job = {facts, &work->scratch};
    if (args->json != NULL && !cli_write(cli, args->json, write_json, &job)) {
        return S0_BAD_INPUT;
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json)) {
        print_report(cli, args, facts, &work->scratch);
    }
    if (plan_fits(facts->plan)) {
        return S0_DONE;
    }
    fflush(stdout);
    report_misfit(facts, "stride0", &work->scratch, stderr);
    return S0_NO_FIT;
}

const Command command_plan = {
    .name = "plan",
    .operands = "MODEL",
    .fewest_operands = 1,
    .most_operands = 1,
    .summary = "the memory ledger of a model on a device: what is alive when, where, and why",
    .details =
        "Sizes are the layout contract's, of one lane where a memory has lanes. Steps run in the order of the file.\n"
        "On a scratchpad device whole maps are loaded, worked on and stored: --tile auto and none are the same.\n"
        "Exit status 2 where it does not fit: standard error says why, the JSON file is written all the same.\n"
        "Lines are as wide as the terminal, or COLUMNS characters; in a file or pipe 200, so that most names are "
        "whole.\n",
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_plan};
