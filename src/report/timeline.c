/* The five columns of a sweep: what each moves, how long it takes, what is alive. */
#include "report/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- What is alive */

/* A storage that is alive, and whose tensor it is. */
typedef struct {
    uint32_t value, buffer;
    uint64_t bytes;
} Alive;

static int by_bytes(const void *left, const void *right) {
    const Alive *a = left;
    const Alive *b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    if (a->value != b->value) {
        return a->value < b->value ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

static uint32_t find_alive(const Page *page, uint32_t step, Alive *alive) {
    const Plan *plan = page->facts->plan;
    uint32_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_local_storage(plan, (BufferId){i}) && storage_is_live(buffer, step) &&
            buffer->physical_bytes > 0) {
            alive[count++] = (Alive){buffer->value.index, i, buffer->physical_bytes};
        }
    }
    if (count > 0) {
        qsort(alive, count, sizeof *alive, by_bytes);
    }
    return count;
}

static Str short_name(const Page *page, BufferId id) {
    enum { MOST = 20 };
    const Buffer *buffer = plan_buffer(page->facts->plan, id);
    Str name = is_value(buffer->value) ? graph_value(page->facts->graph, buffer->value)->name : STR("workspace");
    return text_clip_name(page->scratch, clean_text(page->scratch, name), (TextCut){MOST, TEXT_CUT_SIXTHS, 0});
}

/* Those of one tensor and size: the slots of two tiles. */
static uint32_t count_equal(const Alive *alive, uint32_t count) {
    uint32_t equal = 1;
    while (equal < count && alive[equal].bytes == alive->bytes && alive[equal].value == alive->value) {
        equal++;
    }
    return equal;
}

/* "X 2*896, s 16, and 3 more": as many as there is room for, largest first. */
Str page_alive(const Page *page, uint32_t step) {
    enum { BESIDE = 56, LEAST = 24, TAIL = 12 };
    Alive *alive = arena_array(page->scratch, Alive, page->facts->plan->buffer_count);
    uint32_t count = find_alive(page, step, alive), shown = 0;
    uint32_t room = page->style.columns < BESIDE + LEAST ? LEAST : page->style.columns - BESIDE;
    Str list = {0};
    while (shown < count) {
        uint32_t equal = count_equal(&alive[shown], count - shown);
        Str longer = arena_format(page->scratch, STR_FMT "%s" STR_FMT " %s" STR_FMT, STR_ARG(list),
                                  shown == 0 ? "" : ", ", STR_ARG(short_name(page, (BufferId){alive[shown].buffer})),
                                  equal == 1 ? "" : arena_text(page->scratch, "%" PRIu32 "*", equal),
                                  STR_ARG(page_number(page, alive[shown].bytes)));
        if (shown > 0 && text_width(longer) + TAIL > room) {
            break;
        }
        list = longer;
        shown += equal;
    }
    return shown == count ? list
                          : arena_format(page->scratch, STR_FMT ", %" PRIu32 " more", STR_ARG(list), count - shown);
}

/* ---- Columns */

static void print_rows(const Page *page, const SweepFacts *sweep) {
    static const char *const heads[] = {"column", "repeat", "bytes", "cycles", "live bytes", "alive"};
    Table table;
    table_init(&table, page->scratch, "lrrrrl");
    table_head(&table, heads);
    for (int column = 0; column < COLUMN_COUNT; column++) {
        SweepRow row = facts_sweep_row(page->facts->plan, sweep->planned, (Column)column);
        if (row.fullest == NO_STEP) {
            continue;
        }
        table_text(&table, column_name((Column)column));
        table_number(&table, row.repeat);
        table_number(&table, row.moved_bytes);
        table_number(&table, sweep->has_cost ? sweep->cost.column[column].cycles : UINT64_MAX);
        table_number(&table, row.live_bytes);
        table_add(&table, page_alive(page, row.fullest));
    }
    table_print(&table, PAGE_INDENT, page->style.columns, page->out);
}

/* ---- What was not chosen */

/* "1,206 cycles more" */
static const char *difference_text(const Page *page, uint64_t cycles, uint64_t chosen) {
    if (cycles == chosen) {
        return "as many cycles";
    }
    return arena_text(page->scratch, STR_FMT " cycles %s",
                      STR_ARG(page_number(page, cycles > chosen ? cycles - chosen : chosen - cycles)),
                      cycles > chosen ? "more" : "fewer");
}

/* "1x8x2x28: 1,206 cycles more, needs 1,824" */
static const char *price_text(const Page *page, const SweepChoice *choice, uint64_t need_bytes, const char *difference,
                              bool fits) {
    return arena_text(page->scratch, STR_FMT ": %s, needs " STR_FMT "%s", STR_ARG(page_tile(page, choice)), difference,
                      STR_ARG(page_number(page, need_bytes)), fits ? "" : ", which does not fit");
}

static const char *param_text(const Page *page, const ParamPrice *price, uint64_t chosen_cycles) {
    return arena_text(page->scratch, STR_FMT " bytes loaded, tiles of %s",
                      STR_ARG(page_number(page, price->param_bytes)),
                      price_text(page, &price->choice, price->need_bytes,
                                 difference_text(page, price->cycles, chosen_cycles), price->fits));
}

static void print_other(const Page *page, const SweepOption *best, const SweepOther *other) {
    bool reloads = !other->choice.is_resident && best->choice.is_resident;
    bool keeps = other->choice.is_resident && !best->choice.is_resident;
    const char *difference = difference_text(page, other->cycles, best->cost.cycles);
    page_line(page, "instead %s%s, tiles of %s%s", schedule_name(other->choice.schedule),
              reloads ? ", parameters reloaded"
              : keeps ? ", parameters kept"
                      : "",
              price_text(page, &other->choice, other->need_bytes, difference, other->fits),
              other->has_chosen_tile ? "; only this tile was looked at" : "");
}

/* Far memory holds what is stored; the engine makes the form behind the DMA, unless that is expanded before. */
static void print_form(const Page *page, const SweepOption *best, const FormPrice *price) {
    page_line(page, "instead parameters as %s, made by the engine of %s", form_name(price->form),
              param_text(page, &price->made, best->cost.cycles));
    if (price->has_before) {
        page_line(page, "instead parameters as %s in far memory (--expand before), %s", form_name(price->form),
                  param_text(page, &price->before, best->cost.cycles));
    }
}

static void print_others(const Page *page, const SweepFacts *sweep) {
    const SweepOption *best = &sweep->planned->chosen.best;
    for (uint32_t i = 0; i < sweep->other_count; i++) {
        print_other(page, best, &sweep->others[i]);
    }
    for (uint32_t i = 0; i < sweep->form_count; i++) {
        print_form(page, best, &sweep->form[i]);
    }
}

/* ---- Sweeps */

static Str node_name(const Page *page, NodeId id) {
    Str title = clean_text(page->scratch, node_title(page->scratch, graph_node(page->facts->graph, id)));
    return text_clip_name(page->scratch, title, (TextCut){page->style.columns / 4, TEXT_CUT_SIXTHS, 0});
}

Str page_sweep_title(const Page *page, const PlannedSweep *planned) {
    Str first = node_name(page, planned->nodes[0]);
    return planned->node_count == 1 ? first
                                    : arena_format(page->scratch, STR_FMT " to " STR_FMT, STR_ARG(first),
                                                   STR_ARG(node_name(page, planned->nodes[planned->node_count - 1])));
}

const char *page_choice(const Page *page, const PlannedSweep *planned) {
    static const char *const carry[] = {"", ", results carried in the output", ", results carried over the input",
                                        ", results carried in workspace"};
    const SweepChoice *choice = &planned->chosen.best.choice;
    bool has_params = planned->sweep.param_count > 0;
    return arena_text(page->scratch, "%s, %s of " STR_FMT " (N C H W)%s%s%s", schedule_name(choice->schedule),
                      page_count(page, planned->chosen.best.cost.tiles, "tile"), STR_ARG(page_tile(page, choice)),
                      carry[choice->carry], choice->over_input ? ", output over the input's copy" : "",
                      has_params && !choice->is_resident ? ", parameters reloaded" : "");
}

void page_sweep(const Page *page, uint32_t index) {
    const SweepFacts *sweep = &page->facts->sweeps[index];
    const PlannedSweep *planned = sweep->planned;
    page_heading(page, "sweep of " STR_FMT ", steps " STR_FMT, STR_ARG(page_sweep_title(page, planned)),
                 STR_ARG(text_steps(page->scratch, planned->first_step, planned->last_step)));
    page_line(page, "%s", page_choice(page, planned));
    page_line(page, STR_FMT " cycles alone, needs " STR_FMT " bytes",
              STR_ARG(page_number(page, planned->chosen.best.cost.cycles)),
              STR_ARG(page_number(page, planned->chosen.best.need_bytes)));
    if (facts_reloads_none(page->facts->plan, planned)) {
        page_line(page, "parameters stay, although --parameters reloaded asks: each of these tiles reads all of them; "
                        "--tile ROWSxCHANNELS makes tiles that do not");
    }
    print_rows(page, sweep);
    print_others(page, sweep);
}

void page_sweeps(const Page *page) {
    enum { MOST = 2 };
    const Facts *facts = page->facts;
    const Plan *plan = facts->plan;
    uint32_t count = plan->sweep_count, shown = 0, at_peak = UINT32_MAX;
    if (count == 0) {
        return;
    }
    if (plan->steps[plan->peak_step].sweep != NOT_IN_SWEEP) {
        at_peak = plan->steps[plan->peak_step].sweep;
        page_sweep(page, at_peak);
    }
    for (uint32_t s = 0; s < count && s < MOST; s++) {
        uint32_t index = facts->costliest[s];
        if (index != at_peak) {
            page_sweep(page, index);
            shown++;
        }
    }
    shown += at_peak != UINT32_MAX;
    if (shown < count) {
        page_line(page, "and %s; --node NAME shows that of an operator",
                  page_count(page, count - shown, "other sweep"));
    }
}
