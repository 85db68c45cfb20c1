/* The options of what plans a model, and the request that they make. */
#include "cli/plan_options.h"

#include "base/nearest.h"

enum { INPLACE_AUTO, INPLACE_NONE };
enum { QDQ_INT, QDQ_FLOAT };
enum { SIMPLIFY_AUTO, SIMPLIFY_NONE };

static const char *const inplaces[] = {[INPLACE_AUTO] = "auto", [INPLACE_NONE] = "none", NULL};
static const char *const readings[] = {[QDQ_INT] = "int", [QDQ_FLOAT] = "float", NULL};
static const char *const simplifies[] = {[SIMPLIFY_AUTO] = "auto", [SIMPLIFY_NONE] = "none", NULL};

const Option cli_plan_options[] = {
    {"device", 'd', OPTION_TEXT, "DEVICE", "a preset's name, or the path of a device file", offsetof(PlanArgs, device),
     NULL},
    {"strategy", 0, OPTION_CHOICE, "FORM",
     "smallest form of per-channel parameters: auto (default), scalar, channel, row, full",
     offsetof(PlanArgs, strategy), request_strategies},
    {"inplace", 0, OPTION_CHOICE, "WHEN",
     "auto (default): operators write over dying inputs; none: only whole views share", offsetof(PlanArgs, inplace),
     inplaces},
    {"order", 0, OPTION_CHOICE, "ORDER",
     "of operators: file (default), or memory: another one, where that needs less local memory",
     offsetof(PlanArgs, order), request_orders},
    {"budget", 0, OPTION_TEXT, "BYTES", "in place of the local capacity; K M G are powers of 1024",
     offsetof(PlanArgs, budget), NULL},
    {"dim", 0, OPTION_TEXTS, "NAME=VALUE", "value of a free dimension; also INPUT:AXIS=VALUE", offsetof(PlanArgs, dims),
     NULL},
    {"layout", 0, OPTION_TEXTS, "TENSOR=ORDER", "order of a tensor's axes: NCHW or NHWC", offsetof(PlanArgs, layouts),
     NULL},
    {"axis", 0, OPTION_TEXTS, "TENSOR=K", "a parameter goes along axis K of the map, counted from 0",
     offsetof(PlanArgs, axes), NULL},
    {"axis-heuristic", 0, OPTION_TEXT, "NAME", "size: what only its size could tell is read by it, ties are refused",
     offsetof(PlanArgs, heuristic), NULL},
    {"qdq", 0, OPTION_CHOICE, "READING", "Quantize/Dequantize pairs as int (default) operators, or as written: float",
     offsetof(PlanArgs, qdq), readings},
    {"simplify", 0, OPTION_CHOICE, "WHEN",
     "auto (default): exact rewrites before planning; none: operators as in the file", offsetof(PlanArgs, simplify),
     simplifies},
    {"tile", 0, OPTION_TEXT, "HOW", "operators by tiles: auto (default), none (whole maps), ROWS, or ROWSxCHANNELS",
     offsetof(PlanArgs, tile), NULL},
    {"schedule", 0, OPTION_CHOICE, "HOW",
     "their operators over a tile: auto (default), fused, split, or pipelined with two tiles in flight",
     offsetof(PlanArgs, schedule), request_schedules},
    {"expand", 0, OPTION_CHOICE, "WHEN",
     "larger forms of constants on a scratchpad: auto (default): by the engine, for a tile; before: in far memory",
     offsetof(PlanArgs, expand), request_expands},
    {"parameters", 0, OPTION_CHOICE, "HOW",
     "for all tiles: auto (default), resident: they stay whole, or reloaded: by the part that a tile reads",
     offsetof(PlanArgs, parameters), request_parameters},
    {0}};

static bool set_budget(Work *work, const PlanArgs *args, s0_plan_options *plan) {
    if (args->budget == NULL) {
        return true;
    }
    bool is_number = str_to_bytes(str_from(args->budget), &plan->budget_bytes) && plan->budget_bytes > 0;
    return is_number ||
           diag_error(
               &work->diags,
               (DiagText){.place = "option --budget",
                          .what = "the value can't be used",
                          .got = args->budget,
                          .expected = "a number of bytes from 1 to 18446744073709551615, such as 4096, 256K or 1M",
                          .hint = nearest_bytes(&work->keep, str_from(args->budget))});
}

bool cli_plan_request(Cli *cli, const PlanArgs *args, const char *model, Request *request) {
    s0_plan_options asked = {.model = model,
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
                             .schedule = request_schedules[args->schedule],
                             .expand = request_expands[args->expand],
                             .order = request_orders[args->order],
                             .parameters = request_parameters[args->parameters]};
    return set_budget(&cli->work, args, &asked) && request_read_plan(&asked, request, &cli->work);
}
