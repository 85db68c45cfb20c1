/* The public API: opaque handles over the stages. The only place, beside the command line, where memory can run out. */
#include "report/report.h"
#include "request.h"
#include "stride0/stride0.h"

struct s0_plan {
    Work work;
    ModelFiles files;
    const s0_allocator *allocator;
    const Facts *facts; /* null where planning ended in an error or a refusal */
};

static const char *copy_text(Arena *arena, const char *text) {
    return text == NULL ? NULL : arena_str(arena, str_from(text)).ptr;
}

static const char *const *copy_texts(Arena *arena, const char *const *texts) {
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL) {
        count++;
    }
    const char **copies = arena_array(arena, const char *, count + 1);
    for (size_t i = 0; i < count; i++) {
        copies[i] = copy_text(arena, texts[i]);
    }
    return copies;
}

/* Messages and ledger quote the texts, and are read when the caller's may be gone. */
static s0_plan_options copy_options(Arena *arena, const s0_plan_options *options) {
    s0_plan_options copy = {0};
    if (options != NULL) {
        copy = *options;
    }
    copy.model = copy_text(arena, copy.model);
    copy.device = copy_text(arena, copy.device);
    copy.dims = copy_texts(arena, copy.dims);
    copy.axes = copy_texts(arena, copy.axes);
    copy.layouts = copy_texts(arena, copy.layouts);
    copy.strategy = copy_text(arena, copy.strategy);
    copy.axis_heuristic = copy_text(arena, copy.axis_heuristic);
    return copy;
}

static const Facts *run(s0_plan *plan, const s0_plan_options *options) {
    const s0_plan_options copy = copy_options(&plan->work.keep, options);
    Request request;
    bool is_sound = request_read_plan(&copy, &request, &plan->work);
    return is_sound ? stages_plan(&request, &plan->files, &plan->work) : NULL;
}

s0_status s0_plan_new(const s0_plan_options *options, const s0_allocator *allocator, s0_plan **handle) {
    allocator = allocator == NULL ? &system_allocator : allocator;
    s0_plan *plan = allocator->resize(allocator->ctx, NULL, 0, sizeof *plan);
    *handle = NULL;
    if (plan == NULL) {
        return S0_NO_MEMORY;
    }
    *plan = (s0_plan){.allocator = allocator};
    work_init(&plan->work, allocator);
    *handle = plan; /* before setjmp: what is set after it is lost when memory runs out */
    if (setjmp(plan->work.escape) != 0) {
        s0_plan_free(*handle);
        *handle = NULL;
        return S0_NO_MEMORY;
    }
    plan->facts = run(plan, options);
    if (plan->facts == NULL) {
        return diags_status(&plan->work.diags);
    }
    return plan_fits(plan->facts->plan) ? S0_DONE : S0_NO_FIT;
}

void s0_plan_free(s0_plan *plan) {
    if (plan == NULL) {
        return;
    }
    import_close(&plan->files);
    work_free(&plan->work);
    plan->allocator->resize(plan->allocator->ctx, plan, sizeof *plan, 0);
}

bool s0_plan_totals(const s0_plan *handle, s0_totals *totals) {
    if (handle == NULL || handle->facts == NULL) {
        return false;
    }
    const Facts *facts = handle->facts;
    const Plan *plan = facts->plan;
    *totals = (s0_totals){.logical_bytes = plan->logical_bytes,
                          .physical_bytes = plan->physical_bytes,
                          .peak_live_bytes = plan->peak_live_bytes,
                          .lower_bound_bytes = plan->lower_bound_bytes,
                          .placed_bytes = plan->placed_bytes,
                          .capacity_bytes = plan->capacity_bytes,
                          .backing_bytes = plan->backing_bytes,
                          .align_bytes = facts->device->memory[facts->device->local].align_bytes,
                          .anywhere_bytes = facts->anywhere_bytes};
    return true;
}

s0_status s0_plan_print_messages(s0_plan *plan, FILE *out) {
    if (plan == NULL) { /* what s0_plan_new leaves where memory ran out */
        fputs("error: out of memory\n", out);
        return S0_NO_MEMORY;
    }
    Arena *scratch = &plan->work.scratch;
    diags_print(&plan->work.diags, "", out);
    if (plan->facts == NULL) {
        return S0_DONE;
    }
    if (setjmp(plan->work.escape) != 0) {
        return S0_NO_MEMORY;
    }
    if (!plan_fits(plan->facts->plan)) {
        report_misfit(plan->facts, "", scratch, out);
    }
    report_overwrites(plan->facts, scratch, out);
    arena_reset(scratch);
    return S0_DONE;
}

s0_status s0_plan_write_json(s0_plan *plan, FILE *out) {
    if (plan == NULL) {
        return S0_NO_MEMORY;
    }
    if (plan->facts == NULL) {
        return S0_REFUSED;
    }
    if (setjmp(plan->work.escape) != 0) {
        return S0_NO_MEMORY;
    }
    report_json(plan->facts, &plan->work.scratch, out);
    arena_reset(&plan->work.scratch);
    return S0_DONE;
}
