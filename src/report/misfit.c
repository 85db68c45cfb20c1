/* Why the plan does not fit: for standard error, in the plain digits of diagnostics.
 *
 * The buffers listed are all that are alive at the peak; their bytes sum to the peak. */
#include "report/report.h"

#include "report/page.h"

#include <inttypes.h>

static void print_need(const Facts *facts, Arena *scratch, FILE *out) {
    const Plan *plan = facts->plan;
    const DeviceMemory *local = &facts->device->memory[facts->device->local];
    Str device = clean_text(scratch, facts->device->name);
    bool has_budget = plan->options.budget_bytes > 0;
    fprintf(out,
            "stride0: does not fit: needs %" PRIu64 " bytes, %slocal memory of " STR_FMT " %s %" PRIu64 ": %" PRIu64
            " too many\n",
            plan->placed_bytes, has_budget ? "the --budget for " : "", STR_ARG(device), has_budget ? "is" : "has",
            plan->capacity_bytes, facts->excess_bytes);
    if (plan->placed_bytes > plan->peak_live_bytes) {
        fprintf(out,
                "  alive at once %" PRIu64 "; with sizes rounded up to %" PRIu64 ", %" PRIu64 "; placed %" PRIu64 "\n",
                plan->peak_live_bytes, local->align_bytes, plan->lower_bound_bytes, plan->placed_bytes);
    }
}

static void print_step(const Facts *facts, Arena *scratch, FILE *out) {
    const Plan *plan = facts->plan;
    if (plan->step_count == 0) {
        fputs("  the model has no step; alive are its inputs and outputs\n", out);
        return;
    }
    const Step *step = &plan->steps[plan->peak_step];
    Str title = clean_text(scratch, facts_step_title(facts, step, scratch));
    fprintf(out, "  step %" PRIu32 " of %" PRIu32 ", " STR_FMT ", %s; alive there:\n", plan->peak_step,
            plan->step_count, STR_ARG(title), column_name(step->column));
}

static void add_plain(Table *table, uint64_t number) {
    table_add(table, arena_format(table->arena, "%" PRIu64, number));
}

static void print_live(const Facts *facts, Arena *scratch, FILE *out) {
    const Ranking *peak = &facts->at_peak;
    Table table;
    table_init(&table, scratch, "rlllln");
    for (uint32_t i = 0; i < peak->count; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, peak->top[i].buffer);
        add_plain(&table, peak->top[i].bytes);
        table_text(&table, buffer_kind_name(buffer->kind));
        table_text(&table, dtype_name(buffer->dtype));
        table_add(&table, shape_text(scratch, &buffer->stored));
        table_add(&table, text_steps(scratch, buffer->storage_first, buffer->storage_last));
        table_add(&table, facts_buffer_name(facts, peak->top[i].buffer, scratch));
    }
    add_plain(&table, peak->all_bytes);
    table_text(&table, "in all");
    for (size_t rest = table.count % 6; rest != 0 && rest < 6; rest++) {
        table_text(&table, "");
    }
    table_print(&table, 4, 100, out);
}

/* Why the buffers alive at the peak could not share bytes, where another's might have served. */
static void print_refused(const Page *page) {
    const Facts *facts = page->facts;
    for (uint32_t i = 0; i < facts->at_peak.count; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, facts->at_peak.top[i].buffer);
        if (buffer->refused_alias != REFUSED_NONE && buffer->refused_alias != REFUSED_OPERATOR) {
            page_line(page, "'" STR_FMT "' may not share bytes, %s: " STR_FMT,
                      STR_ARG(page_name(page, facts->at_peak.top[i].buffer)), alias_refusal_name(buffer->refused_alias),
                      STR_ARG(words_refusal(page, buffer)));
        }
    }
}

static void print_remedies(const Plan *plan, Arena *scratch, FILE *out) {
    Table table;
    table_init(&table, scratch, "lrll");
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        table_text(&table, "saves");
        add_plain(&table, plan->remedies[i].saves_bytes);
        table_text(&table, plan->remedies[i].kind);
        table_text(&table, words_remedy(plan->remedies[i].kind));
    }
    if (plan->remedy_count > 0) {
        fputs("  remedies, each alone:\n", out);
        table_print(&table, 4, 120, out); /* fixed words: the longest, with 20 digits, are 115 wide */
    }
}

void report_misfit(const Facts *facts, Arena *scratch, FILE *out) {
    const Page page = {.facts = facts, .style = {.columns = 100}, .scratch = scratch, .out = out};
    print_need(facts, scratch, out);
    print_step(facts, scratch, out);
    print_live(facts, scratch, out);
    print_refused(&page);
    print_remedies(facts->plan, scratch, out);
}
