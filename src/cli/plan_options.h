/* The options of what plans a model: `plan` itself, and `run`. */
#ifndef S0_CLI_PLAN_OPTIONS_H
#define S0_CLI_PLAN_OPTIONS_H

#include "cli/cli.h"
#include "request.h"

/* A command's arguments begin with these. */
typedef struct {
    const char *device, *budget, *tile, *heuristic;
    int strategy, schedule, parameters, expand, inplace, qdq, simplify;
    Texts dims, layouts, axes;
} PlanArgs;

extern const Option cli_plan_options[];

/* The request for `asked.model`, or where that is null for the first operand; `asked` has what is not in `args`. False
 * with a diagnostic. */
bool cli_plan_request(Cli *cli, const PlanArgs *args, s0_plan_options asked, Request *request);

#endif
