/* Lists over the whole plan, a line each: sweeps, maps in far memory, what lies in further memories. The first rows, or
 * all with --all. */
#include "report/page.h"

#include <inttypes.h>

enum { MOST_ROWS = 10 };

static uint32_t rows_of(const Page *page, uint32_t all) {
    return page->style.lists_all || all < MOST_ROWS ? all : MOST_ROWS;
}

static void print_rest(const Page *page, uint32_t shown, uint32_t all) {
    if (shown < all) {
        page_line(page, "and %" PRIu32 " more; --all lists them", all - shown);
    }
}

/* ---- Sweeps */

Str page_tile(const Page *page, const SweepChoice *choice) {
    return arena_format(page->scratch, "%" PRIu64 "x%" PRIu64 "x%" PRIu64 "x%" PRIu64, choice->tile[DIM_N],
                        choice->tile[DIM_C], choice->tile[DIM_H], choice->tile[DIM_W]);
}

static void add_sweep(const Page *page, Table *table, const PlannedSweep *planned) {
    const SweepOption *best = &planned->chosen.best;
    table_add(table, text_steps(page->scratch, planned->first_step, planned->last_step));
    table_text(table, schedule_name(best->choice.schedule));
    table_number(table, best->cost.tiles);
    table_add(table, page_tile(page, &best->choice));
    table_number(table, best->need_bytes);
    table_number(table, best->cost.cycles);
    table_add(table, page_sweep_title(page, planned));
}

void page_sweep_list(const Page *page) {
    enum { IN_DETAIL = 2 }; /* so many are shown by page_sweeps as well */
    static const char *const heads[] = {"steps", "schedule", "tiles", "tile", "needs", "cycles", "operators"};
    const Facts *facts = page->facts;
    uint32_t all = facts->plan->sweep_count, shown = rows_of(page, all);
    if (all <= IN_DETAIL) {
        return;
    }
    page_heading(page, "%" PRIu32 " sweeps; tiles N C H W, bytes and cycles of each alone", all);
    Table table;
    table_init(&table, page->scratch, "slrsrrn");
    table_head(&table, heads);
    for (uint32_t k = 0; k < shown; k++) {
        add_sweep(page, &table, facts->sweeps[facts->costliest[k]].planned);
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_rest(page, shown, all);
}

/* ---- Maps in far memory */

/* The name alone: its room is narrow. */
static Str far_operator(const Page *page, const FarReason *why) {
    const Step step = {.node = why == NULL ? NO_NODE : why->node};
    Str name = is_node(step.node) ? graph_node(page->facts->graph, step.node)->name : (Str){0};
    return why == NULL ? str_from(NULL) : name.len > 0 ? name : facts_step_title(page->facts, &step, page->scratch);
}

static void add_far_map(const Page *page, Table *table, Ranked map) {
    const Facts *facts = page->facts;
    const Buffer *buffer = plan_buffer(facts->plan, map.buffer);
    const FarReason *why = facts_why_far(facts->plan, map.buffer);
    table_number(table, map.bytes);
    table_add(table, text_steps(page->scratch, buffer->storage_first, buffer->storage_last));
    table_number(table, buffer->offset);
    table_number(table, why == NULL ? UINT64_MAX : why->live_bytes);
    table_number(table, why == NULL ? UINT64_MAX : why->room_bytes);
    table_add(table, far_operator(page, why));
    table_add(table, facts_buffer_name(facts, map.buffer, page->scratch));
}

void page_far_maps(const Page *page) {
    static const char *const heads[] = {"bytes", "alive", "offset", "with it", "room", "operator", "map"};
    const Ranking *maps = &page->facts->far_maps;
    uint32_t shown = rows_of(page, maps->all);
    if (maps->all == 0) {
        return;
    }
    page_heading(page, "%s in far memory: with it in local memory an operator lacks room",
                 page_count(page, maps->all, "map"));
    Table table;
    table_init(&table, page->scratch, "rsrrrnn");
    table_head(&table, heads);
    for (uint32_t k = 0; k < shown; k++) {
        add_far_map(page, &table, maps->top[k]);
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_rest(page, shown, maps->all);
}

/* ---- What lies in further memories */

void page_overflow(const Page *page) {
    static const char *const heads[] = {"bytes", "kind", "alive", "offset", "memory", "name"};
    const Facts *facts = page->facts;
    const Ranking *overflow = &facts->overflow;
    uint32_t shown = rows_of(page, overflow->all);
    if (overflow->all == 0) {
        return;
    }
    page_heading(page, "%s in further memories", page_count(page, overflow->all, "buffer"));
    Table table;
    table_init(&table, page->scratch, "rlsrln");
    table_head(&table, heads);
    for (uint32_t k = 0; k < shown; k++) {
        const Buffer *buffer = plan_buffer(facts->plan, overflow->top[k].buffer);
        table_number(&table, overflow->top[k].bytes);
        table_text(&table, buffer_kind_name(buffer->kind));
        table_add(&table, text_steps(page->scratch, buffer->storage_first, buffer->storage_last));
        table_number(&table, buffer->offset);
        table_add(&table, facts->device->memory[buffer->memory].name);
        table_add(&table, facts_buffer_name(facts, overflow->top[k].buffer, page->scratch));
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
    print_rest(page, shown, overflow->all);
}
