/* The public API: opaque handles over the stages. The only place, beside the command line, where memory can run out. */
#include "report/report.h"
#include "stages.h"
#include "stride0/stride0.h"

struct s0_plan {
    Work work;
    ModelFiles files;
    const s0_allocator *allocator;
    const Facts *facts; /* null where planning ended in an error or a refusal */
};

static const Facts *run(s0_plan *plan, const s0_plan_options *options) {
    Work *work = &plan->work;
    Request request = {.model = options->model,
                       .device = options->device,
                       .qdq_float = options->qdq_float,
                       .plan = {.in_place = !options->no_in_place,
                                .pin_inputs = options->pin_inputs,
                                .pin_outputs = options->pin_outputs,
                                .budget_bytes = options->budget_bytes}};
    while (options->dims != NULL && options->dims[request.dim_count] != NULL) {
        request.dim_count++;
    }
    request.dims = arena_array(&work->keep, DimBinding, request.dim_count);
    for (size_t i = 0; i < request.dim_count; i++) {
        if (!dim_binding_parse(str_from(options->dims[i]), &request.dims[i], &work->diags)) {
            return NULL;
        }
    }
    return stages_plan(&request, &plan->files, work);
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
    if (handle->facts == NULL) {
        return false;
    }
    const Plan *plan = handle->facts->plan;
    *totals = (s0_totals){.logical_bytes = plan->logical_bytes,
                          .physical_bytes = plan->physical_bytes,
                          .peak_live_bytes = plan->peak_live_bytes,
                          .lower_bound_bytes = plan->lower_bound_bytes,
                          .placed_bytes = plan->placed_bytes,
                          .capacity_bytes = plan->capacity_bytes,
                          .backing_bytes = plan->backing_bytes};
    return true;
}

void s0_plan_print_messages(const s0_plan *plan, FILE *out) {
    diags_print(&plan->work.diags, "", out);
}

s0_status s0_plan_write_json(s0_plan *plan, FILE *out) {
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
