/* Parts of the terminal's report: paddings, parameters and constants, what shares bytes and what may not. */
#include "report/page.h"

#include <inttypes.h>

static void print_more(const Page *page, uint32_t shown, uint32_t all) {
    if (shown < all) {
        page_line(page, "and %" PRIu32 " more", all - shown);
    }
}

/* ---- Padding */

void page_padding(const Page *page) {
    static const char *const heads[] = {"padding", "physical", "banks", "logical", "ratio", "layout", "name"};
    const Facts *facts = page->facts;
    const Ranking *paddings = &facts->paddings;
    if (paddings->all == 0) {
        return;
    }
    Table table;
    page_heading(page, "padding and alignment: " STR_FMT " bytes in %s",
                 STR_ARG(page_number(page, paddings->all_bytes)), page_count(page, paddings->all, "buffer"));
    table_init(&table, page->scratch, "rrrrrln");
    table_head(&table, heads);
    uint32_t shown = paddings->count < 6 ? paddings->count : 6;
    for (uint32_t i = 0; i < shown; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, paddings->top[i].buffer);
        table_number(&table, paddings->top[i].bytes);
        table_number(&table, buffer->physical_bytes);
        table_number(&table, buffer->banks_used);
        table_number(&table, buffer->logical_bytes);
        table_add(&table, arena_format(page->scratch, "%.2f", facts_padding_ratio(buffer)));
        table_text(&table, role_name(buffer->role));
        table_add(&table, facts_buffer_name(facts, paddings->top[i].buffer, page->scratch));
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_more(page, shown, paddings->all);
}

/* ---- Parameters and constants */

static bool has_lanes(const Page *page) {
    return page->facts->device->memory[page->facts->device->local].lanes > 1;
}

/* Expanded to a whole map it would be larger. */
static bool saves_bytes(const CompactCost *cost) {
    return cost->full_bytes != UINT64_MAX && cost->full_bytes > cost->compact_bytes;
}

static void print_compact_table(const Page *page) {
    static const char *const heads[] = {"compact", "as row", "as full", "(logical)", "form", "axis", "name"};
    enum { MOST = 6 };
    const Facts *facts = page->facts;
    uint32_t shown = 0;
    Table table;
    table_init(&table, page->scratch, "rrrrlrn");
    table_head(&table, heads);
    for (uint32_t i = 0; i < facts->compact_count && shown < MOST; i++) {
        const CompactCost *cost = &facts->kept_compact[i];
        const Buffer *buffer = plan_buffer(facts->plan, cost->buffer);
        if (!saves_bytes(cost)) {
            continue;
        }
        table_number(&table, cost->compact_bytes);
        table_number(&table, cost->row_bytes);
        table_number(&table, cost->full_bytes);
        table_number(&table, cost->full_logical_bytes);
        table_text(&table, broadcast_name(buffer->broadcast));
        table_add(&table, buffer->axis < 0 ? STR("-") : arena_format(page->scratch, "%" PRId32, buffer->axis));
        table_add(&table, facts_buffer_name(facts, cost->buffer, page->scratch));
        shown++;
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_more(page, shown, facts->compact_count);
}

static void print_compact(const Page *page) {
    const Facts *facts = page->facts;
    const Device *device = facts->device;
    if (facts->compact_as_full_bytes <= facts->compact_bytes) {
        return;
    }
    const DeviceMemory *memory = &device->memory[device->kind == DEVICE_ARENA ? device->backing : device->local];
    page_heading(page, "kept compact: %s in " STR_FMT " memory%s", page_count(page, facts->compact_count, "parameter"),
                 STR_ARG(clean_text(page->scratch, memory->name)), has_lanes(page) ? ", bytes of all lanes" : "");
    page_line(page, STR_FMT " bytes; expanded along rows " STR_FMT ", as whole maps " STR_FMT,
              STR_ARG(page_number(page, facts->compact_bytes)), STR_ARG(page_number(page, facts->compact_as_row_bytes)),
              STR_ARG(page_number(page, facts->compact_as_full_bytes)));
    if (device->kind != DEVICE_ARENA) {
        print_compact_table(page);
    }
}

static void print_materialised(const Page *page) {
    static const char *const heads[] = {"bytes", "compact", "form", "reason", "name"};
    enum { MOST = 6 };
    const Facts *facts = page->facts;
    if (facts->materialised_count == 0) {
        return;
    }
    page_heading(page, "expanded: %s%s", page_count(page, facts->materialised_count, "parameter"),
                 has_lanes(page) ? ", bytes of one lane" : "");
    Table table;
    uint32_t shown = facts->materialised_count < MOST ? facts->materialised_count : MOST;
    table_init(&table, page->scratch, "rrlln");
    table_head(&table, heads);
    for (uint32_t i = 0; i < shown; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, facts->materialised[i]);
        table_number(&table, buffer->physical_bytes);
        table_number(&table, buffer->costs == NULL ? UINT64_MAX : buffer->costs->compact_bytes);
        table_text(&table, broadcast_name(buffer->broadcast));
        table_text(&table, buffer->materialised_reason);
        table_add(&table, facts_buffer_name(facts, facts->materialised[i], page->scratch));
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_more(page, shown, facts->materialised_count);
}

static void print_collapsibles(const Page *page) {
    enum { MOST = 6 };
    const Facts *facts = page->facts;
    if (facts->collapsible_count == 0) {
        return;
    }
    page_heading(page, "stored expanded in the file, planned as what repeats: %s, bit-identical",
                 page_count(page, facts->collapsible_count, "constant"));
    for (uint32_t i = 0; i < facts->collapsible_count && i < MOST; i++) {
        const Collapsible *one = &facts->collapsibles[i];
        Str name = clean_text(page->scratch, graph_value(facts->graph, one->value)->name);
        page_line(page, STR_FMT " bytes in the file, " STR_FMT " planned: '" STR_FMT "'",
                  STR_ARG(page_number(page, one->file_bytes)), STR_ARG(page_number(page, one->planned_bytes)),
                  STR_ARG(name));
    }
    print_more(page, facts->collapsible_count < MOST ? facts->collapsible_count : MOST, facts->collapsible_count);
}

/* What a plan that fits pays for loading them once. */
static void print_idle(const Page *page) {
    const Facts *facts = page->facts;
    const Ranking *idle = &facts->idle_at_peak;
    enum { MOST = 6 };
    if (idle->all == 0) {
        return;
    }
    page_heading(page, "constants that are alive at the peak and not used there: " STR_FMT " bytes",
                 STR_ARG(page_number(page, idle->all_bytes)));
    for (uint32_t i = 0; i < idle->count && i < MOST; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, idle->top[i].buffer);
        page_line(page, "'" STR_FMT "', " STR_FMT " bytes, alive in steps " STR_FMT ", " STR_FMT " of them without use",
                  STR_ARG(page_name(page, idle->top[i].buffer)), STR_ARG(page_number(page, idle->top[i].bytes)),
                  STR_ARG(text_steps(page->scratch, buffer->first, buffer->last)),
                  STR_ARG(page_number(page, facts->idle_steps[idle->top[i].buffer.index])));
    }
    print_more(page, idle->count < MOST ? idle->count : MOST, idle->count);
}

void page_parameters(const Page *page) {
    print_compact(page);
    print_materialised(page);
    print_collapsibles(page);
    print_idle(page);
}

/* ---- What shares bytes, and what may not */

static void print_overwrites(const Page *page) {
    const Facts *facts = page->facts;
    if (facts->overwrite_count == 0) {
        return;
    }
    page_heading(page, "graph inputs that are overwritten");
    for (uint32_t i = 0; i < facts->overwrite_count && i < 6; i++) {
        const Overwrite *over = &facts->overwrites[i];
        page_line(page,
                  "graph input '" STR_FMT "' is overwritten at step %" PRIu32 ": its bytes are given to '" STR_FMT
                  "'; --pin-inputs keeps them",
                  STR_ARG(page_name(page, over->input)), over->step, STR_ARG(page_name(page, over->writer_output)));
    }
    if (facts->pinned != NULL) {
        bool fits = plan_fits(facts->pinned) || !plan_fits(facts->plan);
        page_line(page, STR_FMT "; with --pin-inputs: " STR_FMT "%s", STR_ARG(words_sizes(page, facts->plan)),
                  STR_ARG(words_sizes(page, facts->pinned)), fits ? "" : ", which does not fit");
    }
}

void report_overwrites(const Facts *facts, Arena *scratch, FILE *out) {
    const Page page = {.facts = facts, .style = {.columns = 100}, .scratch = scratch, .out = out};
    print_overwrites(&page);
}

static void print_refused(const Page *page) {
    const Facts *facts = page->facts;
    const Ranking *refused = &facts->refused;
    if (refused->all == 0) {
        return;
    }
    page_heading(page, "bytes of their own, although another's might have served: %s",
                 page_count(page, refused->all, "buffer"));
    for (uint32_t i = 0; i < refused->count; i++) {
        const Buffer *buffer = plan_buffer(facts->plan, refused->top[i].buffer);
        page_line(page, "'" STR_FMT "', " STR_FMT " bytes; %s: " STR_FMT,
                  STR_ARG(page_name(page, refused->top[i].buffer)), STR_ARG(page_number(page, refused->top[i].bytes)),
                  alias_refusal_name(buffer->refused_alias), STR_ARG(words_refusal(page, buffer)));
    }
    print_more(page, refused->count, refused->all);
}

void page_inputs(const Page *page) {
    print_overwrites(page);
    print_refused(page);
}
