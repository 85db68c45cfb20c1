/* The options of what plans a model: `plan` itself, `run` and `diff`. */
#ifndef S0_CLI_PLAN_OPTIONS_H
#define S0_CLI_PLAN_OPTIONS_H

#include "cli/cli.h"
#include "request.h"

/* A command's arguments begin with these. */
typedef struct {
    const char *device, *budget, *tile, *heuristic;
    int strategy, schedule, parameters, expand, inplace, order, qdq, simplify;
    Texts dims, layouts, axes;
    bool pin_inputs, pin_outputs;
} PlanArgs;

extern const Option cli_plan_options[];

/* Rows for the commands that take these too. */
#define CLI_PIN_OPTIONS                                                                                                \
    {"pin-inputs",                                                                                                     \
     0,                                                                                                                \
     OPTION_SWITCH,                                                                                                    \
     NULL,                                                                                                             \
     "graph inputs keep their bytes for the whole run",                                                                \
     offsetof(PlanArgs, pin_inputs),                                                                                   \
     NULL},                                                                                                            \
    {                                                                                                                  \
        "pin-outputs", 0, OPTION_SWITCH, NULL, "graph outputs have their bytes for the whole run",                     \
            offsetof(PlanArgs, pin_outputs), NULL                                                                      \
    }

/* The request for the model. False with a diagnostic. */
bool cli_plan_request(Cli *cli, const PlanArgs *args, const char *model, Request *request);

#endif
