/* Traffic and cycles for people: by column, of the first run and of later ones, and what is copied and why. */
#include "report/page.h"

#include <inttypes.h>
#include <math.h>

/* ---- Columns */

static void add_moved(Table *table, const char *name, const Moved *moved) {
    table_text(table, name);
    table_number(table, moved->transfers);
    table_number(table, moved->read_bytes);
    table_number(table, moved->written_bytes);
}

static void add_cost(Table *table, uint64_t descriptors, uint64_t bursts, uint64_t cycles) {
    table_number(table, descriptors);
    table_number(table, bursts);
    table_number(table, cycles);
}

static void print_columns(const Page *page) {
    static const char *const heads[] = {"column", "transfers", "read", "written", "descriptors", "bursts", "cycles"};
    const Facts *facts = page->facts;
    bool has_costs = facts->has_costs;
    Table table;
    table_init(&table, page->scratch, has_costs ? "lrrrrrr" : "lrrr");
    table_head(&table, heads);
    for (int column = 0; column < COLUMN_COUNT; column++) {
        const ColumnCost *cost = &facts->first_run.cost.column[column];
        if (facts->traffic.by_column[column].transfers == 0 && cost->cycles == 0) {
            continue;
        }
        add_moved(&table, column_name((Column)column), &facts->traffic.by_column[column]);
        if (has_costs) {
            add_cost(&table, cost->descriptors, cost->bursts, cost->cycles);
        }
    }
    add_moved(&table, "total", &facts->traffic.all);
    if (has_costs) {
        add_cost(&table, facts->first_run.moves.descriptors, facts->first_run.moves.bursts, UINT64_MAX);
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
}

/* ---- Runs */

static Str run_text(const Page *page, const RunTotals *run) {
    return arena_format(page->scratch, STR_FMT " cycles with %s between queues, " STR_FMT " bytes",
                        STR_ARG(page_number(page, run->cost.cycles)), page_count(page, run->cost.syncs, "wait"),
                        STR_ARG(page_number(page, run->moved.written_bytes)));
}

static const char *efficiency_text(const Page *page, const RunTotals *run) {
    return isnan(run->efficiency) ? ""
                                  : arena_text(page->scratch, " in bursts of " STR_FMT " in all, efficiency %.1f %%",
                                               STR_ARG(page_number(page, run->burst_bytes)), 100 * run->efficiency);
}

/* What the device file leaves out costs nothing. */
static void print_untold(const Page *page) {
    Str list = {0};
    for (uint32_t k = 0; k < page->facts->untold_count; k++) {
        list = arena_format(page->scratch, STR_FMT "%s%s", STR_ARG(list), k == 0 ? "" : ", ", page->facts->untold[k]);
    }
    if (list.len > 0) {
        page_line(page, "not told by the device file, and counted as nothing: " STR_FMT, STR_ARG(list));
    }
}

/* What the cycles of the sweeps below do not sum to. */
static void print_between(const Page *page) {
    const Facts *facts = page->facts;
    uint64_t all = facts->first_run.cost.cycles, alone = facts->sweeps_alone_cycles;
    if (facts->plan->sweep_count == 0 || alone == UINT64_MAX || alone == all) {
        return;
    }
    const char *sweeps = page_count(page, facts->plan->sweep_count, "sweep");
    if (alone < all) {
        page_line(page,
                  STR_FMT " of them in %s, each as if alone; " STR_FMT
                          " for waits between sweeps and steps of no sweep",
                  STR_ARG(page_number(page, alone)), sweeps, STR_ARG(page_number(page, all - alone)));
    } else {
        page_line(page,
                  "%s take " STR_FMT ", each as if alone; " STR_FMT " fewer, where one begins before another has ended",
                  sweeps, STR_ARG(page_number(page, alone)), STR_ARG(page_number(page, alone - all)));
    }
}

static void print_runs(const Page *page) {
    const Facts *facts = page->facts;
    const Steady *steady = &facts->steady;
    page_line(page, "first run: " STR_FMT "%s", STR_ARG(run_text(page, &facts->first_run)),
              efficiency_text(page, &facts->first_run));
    print_between(page);
    if (steady->held_count > 0) {
        page_line(page, "later runs: " STR_FMT "; %s %s in " STR_FMT " bytes, with at most " STR_FMT " alive",
                  STR_ARG(run_text(page, &steady->run)), page_count(page, steady->held_count, "constant"),
                  steady->held_count == 1 ? "stays" : "stay", STR_ARG(page_number(page, steady->held_bytes)),
                  STR_ARG(page_number(page, steady->alive_bytes)));
    } else if (facts->traffic.param_bytes > 0) {
        page_line(page, "later runs: the same; no constant that is loaded whole can stay beside the peak");
    }
    if (facts->first_run.cost.unbooked_steps > 0) {
        page_line(page,
                  "%s not in the cycles: the layout tells too little of what moves; plans with other such steps do not "
                  "compare",
                  page_count(page, facts->first_run.cost.unbooked_steps, "step"));
    }
    if (facts->first_run.cost.assumed_steps > 0) {
        page_line(page, "%s whose work is not known: one pass over the output is counted for each",
                  page_count(page, facts->first_run.cost.assumed_steps, "operator"));
    }
    print_untold(page);
}

/* ---- Copies */

static Str copy_reason(const Page *page, const Copy *copy) {
    const char *expanded = plan_buffer(page->facts->plan, copy->output)->materialised_reason;
    if (expanded != NULL) {
        return arena_format(page->scratch, "expanded: %s", expanded);
    }
    if (!is_buffer(copy->explained_by)) {
        Str words = words_copy(page, copy->output);
        words = words.len > 0 ? words : words_no_view(page, page->facts->plan->steps[copy->step].node);
        return words.len > 0 ? words : STR("the operator is no view");
    }
    const Buffer *buffer = plan_buffer(page->facts->plan, copy->explained_by);
    const char *name = alias_refusal_name(buffer->refused_alias);
    Str words = words_refusal(page, buffer);
    if (copy->explained_by.index == copy->output.index) {
        return arena_format(page->scratch, "%s: " STR_FMT, name, STR_ARG(words));
    }
    return arena_format(page->scratch, "part '" STR_FMT "', %s: " STR_FMT, STR_ARG(page_name(page, copy->explained_by)),
                        name, STR_ARG(words));
}

static void print_copies(const Page *page) {
    enum { MOST = 6 };
    const Facts *facts = page->facts;
    for (uint32_t i = 0; i < facts->copy_count && i < MOST; i++) {
        const Copy *copy = &facts->copies[i];
        page_line(page, "copy, " STR_FMT ": " STR_FMT " read, " STR_FMT " written; " STR_FMT,
                  STR_ARG(page_step(page, copy->step)), STR_ARG(page_number(page, copy->moved.read_bytes)),
                  STR_ARG(page_number(page, copy->moved.written_bytes)), STR_ARG(copy_reason(page, copy)));
    }
    if (facts->copy_count > MOST) {
        page_line(page, "and %" PRIu32 " more", facts->copy_count - MOST);
    }
}

/* ---- All of it */

void page_traffic(const Page *page) {
    const Facts *facts = page->facts;
    if (facts->traffic.all.transfers == 0) {
        return;
    }
    page_heading(page, facts->has_costs ? "traffic in logical bytes, and cycles"
                                        : "traffic of steps that only move data, logical bytes");
    print_columns(page);
    if (facts->has_costs) {
        print_runs(page);
    }
    print_copies(page);
}
