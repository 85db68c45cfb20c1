/* Plans a graph that is written as text: what every test of this room begins with. */
#ifndef S0_TESTS_PLAN_PLANNED_H
#define S0_TESTS_PLAN_PLANNED_H

#include "graph/text.h"
#include "plan/plan.h"
#include "support/work.h"

#include <string.h>

/* Memory of one plan; free with planned_free. */
typedef struct {
    Work work;
    Plan *plan; /* null where it was refused */
} Planned;

typedef struct {
    const char *graph;  /* text form */
    const char *device; /* preset */
    const char *layout; /* "TENSOR=NCHW" or null */
    PlanOptions options;
} PlanCase;

static inline bool planned_passes(Graph *graph, const PlanCase *test, Work *work) {
    LayoutBinding binding = {0};
    size_t bindings = 0;
    if (test->layout != NULL) {
        Str rest = str_from(test->layout);
        binding.tensor = str_cut(&rest, '=');
        binding.is_channel_second = str_eq(rest, STR("NCHW"));
        bindings = 1;
    }
    return graph_check(graph, work) && graph_inline(graph, work) && graph_bind_dims(graph, NULL, 0, work) &&
           graph_infer(graph, work) && graph_assign_names(graph, &binding, bindings, work);
}

static inline Plan *planned_run(const PlanCase *test, Work *work) {
    Span text = {(const uint8_t *)test->graph, strlen(test->graph)};
    Graph *graph = graph_parse_text(work, text, STR("test"));
    const Device *device = device_load(work, str_from(test->device));
    if (graph == NULL || device == NULL || !planned_passes(graph, test, work)) {
        return NULL;
    }
    return plan_make(graph, device, &test->options, work);
}

/* False where anything was refused; the diagnostics tell. */
static inline bool planned_make(Planned *planned, const PlanCase *test) {
    WORK_BEGIN(&planned->work);
    planned->plan = planned_run(test, &planned->work);
    return planned->plan != NULL;
}

/* The same on a device that is written as text, of a graph without its first line. Fails the test where either is
 * refused. */
static inline void planned_on(Planned *planned, const char *device, const char *graph, const PlanOptions *options) {
    Work *work = &planned->work;
    const PlanCase passes = {.graph = graph};
    WORK_BEGIN(work);
    const char *text = arena_text(&work->keep, "stride0-graph 1\n%s", graph);
    Graph *read = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *on = device_parse(work, str_from(device), STR("box.ini"));
    planned->plan =
        read == NULL || on == NULL || !planned_passes(read, &passes, work) ? NULL : plan_make(read, on, options, work);
    if (planned->plan == NULL) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s", graph);
    }
}

static inline void planned_free(Planned *planned) {
    work_free(&planned->work);
}

/* Does an operator rather read `a` than `b`? A form that the engine made, a local copy, what lies elsewhere. */
static inline bool planned_is_nearer(const Plan *plan, const Buffer *a, const Buffer *b) {
    bool a_is_local = a->memory == plan->device->local, b_is_local = b->memory == plan->device->local;
    return a_is_local != b_is_local ? a_is_local : a->is_form && !b->is_form;
}

/* The first buffer of that tensor that an operator would rather read than the others. */
static inline const Buffer *planned_buffer(const Planned *planned, const char *name) {
    const Plan *plan = planned->plan;
    const Buffer *found = NULL;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        bool is_named = str_eq(graph_value(plan->graph, buffer->value)->name, str_from(name));
        if (is_named && (found == NULL || planned_is_nearer(plan, buffer, found))) {
            found = buffer;
        }
    }
    assert_non_null(found);
    return found;
}

#endif
