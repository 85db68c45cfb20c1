/* What the stages of a plan and of a run share. */
#ifndef S0_STAGES_PREPARE_H
#define S0_STAGES_PREPARE_H

#include "stages.h"

/* Import to simplify: the graph as it is planned, with what was rewritten; with the inputs of a run, where `options` is
 * not null, in the place of defaults. Null with diagnostics. */
Graph *stages_prepare(const Request *request, const RunOptions *options, ModelFiles *files, Simplified *simplified,
                      Work *work);

/* All stages of a plan but the first: `device` is in the place of the one that is asked for. Null with diagnostics. */
const Facts *stages_plan_on(const Request *request, const Device *device, ModelFiles *files, Work *work);

/* The first reference of the model's format: the one that tables of a plan are made by, and that a run computes like.
 */
Semantics stages_default_semantics(const Graph *graph);

/* Tables that operators read on a scratchpad, made by `semantics`; then the plan. Null with diagnostics. */
Plan *stages_make_plan(Graph *graph, const Device *device, const PlanOptions *options, Semantics semantics, Work *work);

/* A stage has ended: nothing of its scratch stays. */
static inline bool stages_next(Work *work, bool ok) {
    arena_reset(&work->scratch);
    return ok;
}

/* What is left to be told of a plan; null where `facts` is, or where an option did not meet anything. */
const Facts *stages_finish(Facts *facts, const Graph *graph, const Request *request, const Simplified *simplified,
                           Work *work);

#endif
