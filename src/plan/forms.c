/* Parameters that lie before an element-wise operator in a form that its engine does not read. Larger forms than
 * `full` there are none, so lowering keeps such a parameter as it is stored: the bytes are true, the engine can't use
 * them.
 */
#include "plan/builder.h"

/* What stands for the form of a stored parameter; `partial` is read as a whole map is. */
static Form form_of(Broadcast broadcast) {
    static const Form form[] = {
        [BROADCAST_NONE] = FORM_FULL, [BROADCAST_SCALAR] = FORM_SCALAR, [BROADCAST_CHANNEL] = FORM_CHANNEL,
        [BROADCAST_ROW] = FORM_ROW,   [BROADCAST_FULL] = FORM_FULL,     [BROADCAST_PARTIAL] = FORM_FULL};
    return form[broadcast];
}

static bool is_unreadable(const Plan *plan, const Buffer *buffer) {
    return buffer->kind == BUFFER_PARAMETER && buffer->broadcast != BROADCAST_NONE &&
           !plan->device->form[form_of(buffer->broadcast)].readable;
}

static const char *readable_forms(const Device *device, Arena *arena) {
    const char *list = "";
    for (Form form = FORM_SCALAR; form < FORM_COUNT; form++) {
        if (device->form[form].readable) {
            list = arena_text(arena, "%s%s%s", list, list[0] == '\0' ? "" : ", ", form_name(form));
        }
    }
    return list;
}

/* Of one step; `first` is the first of the plan. */
static uint64_t count_unreadable(const Plan *plan, const Step *step, BufferId *first, NodeId *reader) {
    uint64_t count = 0;
    bool is_computed = step->column == COLUMN_MULTIPLY || step->column == COLUMN_ADD || step->column == COLUMN_COMPUTE;
    bool is_elementwise =
        is_computed && is_node(step->node) && node_is_elementwise(graph_node(plan->graph, step->node));
    for (uint32_t i = 0; is_elementwise && i < step->read_count; i++) {
        if (!is_unreadable(plan, plan_buffer(plan, step->reads[i]))) {
            continue;
        }
        count++;
        if (!is_buffer(*first)) {
            *first = step->reads[i];
            *reader = step->node;
        }
    }
    return count;
}

void plan_warn_of_forms(const Plan *plan, Work *work) {
    Arena *arena = &work->keep;
    BufferId first = NO_BUFFER;
    NodeId reader = NO_NODE;
    uint64_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        count += count_unreadable(plan, &plan->steps[s], &first, &reader);
    }
    if (count == 0) {
        return;
    }
    const Buffer *buffer = plan_buffer(plan, first);
    const char *others =
        count == 1 ? "" : arena_text(arena, "; so it is with %llu more", (unsigned long long)count - 1);
    diag_warn(
        &work->diags,
        (DiagText){.tensor = graph_value(plan->graph, buffer->value)->name,
                   .what = arena_text(arena,
                                      "operator " STR_FMT " reads this parameter in the form %s, which the engine "
                                      "of " STR_FMT " does not; it reads %s%s",
                                      STR_ARG(node_title(arena, graph_node(plan->graph, reader))),
                                      broadcast_name(buffer->broadcast), STR_ARG(plan->device->name),
                                      readable_forms(plan->device, arena), others),
                   .hint = "its bytes are planned as they are stored; run the operator elsewhere, or give the "
                           "parameter one number a channel"});
}
