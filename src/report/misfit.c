/* Why the plan does not fit: for standard error.
 *
 * The buffers listed are all that are alive at the peak; their bytes sum to the peak. */
#include "report/report.h"

#include "report/page.h"

#include <inttypes.h>
#include <string.h>

enum { LIST_INDENT = 4 };

/* "needs 26,880 bytes, local memory of teach has 16,384: 10,496 too many" */
static void print_need(const Page *page, uint32_t memory, uint64_t need_bytes, uint64_t capacity_bytes) {
    const Device *device = page->facts->device;
    const Plan *plan = page->facts->plan;
    const bool has_budget = memory == device->local && plan->options.budget_bytes > 0;
    const uint64_t lack_bytes = memory == device->local ? plan->lack_bytes : plan->backing_lack_bytes;
    fprintf(page->out,
            "does not fit: needs " STR_FMT " bytes%s, %s" STR_FMT " memory of " STR_FMT " %s " STR_FMT ": " STR_FMT
            " too many%s\n",
            STR_ARG(page_number(page, need_bytes)), page_lane(device, memory), has_budget ? "the --budget for " : "",
            STR_ARG(clean_text(page->scratch, device->memory[memory].name)),
            STR_ARG(clean_text(page->scratch, device->name)), has_budget ? "is" : "has",
            STR_ARG(page_number(page, capacity_bytes)), STR_ARG(page_number(page, lack_bytes)),
            words_beside(page, memory));
}

static void print_sums(const Page *page) {
    const Plan *plan = page->facts->plan;
    const DeviceMemory *local = &page->facts->device->memory[page->facts->device->local];
    if (plan->placed_bytes > plan->peak_live_bytes) {
        page_line(page, "alive at once " STR_FMT "; with sizes rounded up to " STR_FMT ", " STR_FMT "; placed " STR_FMT,
                  STR_ARG(page_number(page, plan->peak_live_bytes)), STR_ARG(page_number(page, local->align_bytes)),
                  STR_ARG(page_number(page, plan->lower_bound_bytes)), STR_ARG(page_number(page, plan->placed_bytes)));
    }
}

static void print_step(const Page *page) {
    const Plan *plan = page->facts->plan;
    if (plan->step_count == 0) {
        fputs("  the model has no step; alive are its inputs and outputs\n", page->out);
        return;
    }
    const Step *step = &plan->steps[plan->peak_step];
    Str title = clean_text(page->scratch, facts_step_title(page->facts, step, page->scratch));
    fprintf(page->out, "  step %" PRIu32 " of %" PRIu32 ", " STR_FMT ", %s; alive there:\n", plan->peak_step,
            plan->step_count, STR_ARG(title), column_name(step->column));
}

static void print_ranking(const Page *page, const Ranking *ranking) {
    Table table;
    table_init(&table, page->scratch, "rllssn");
    for (uint32_t i = 0; i < ranking->count; i++) {
        const Buffer *buffer = plan_buffer(page->facts->plan, ranking->top[i].buffer);
        table_number(&table, ranking->top[i].bytes);
        table_text(&table, buffer_kind_name(buffer->kind));
        table_text(&table, dtype_name(buffer->dtype));
        table_add(&table, shape_text(page->scratch, &buffer->stored));
        table_add(&table, text_steps(page->scratch, buffer->storage_first, buffer->storage_last));
        table_add(&table, facts_buffer_name(page->facts, ranking->top[i].buffer, page->scratch));
    }
    table_number(&table, ranking->all_bytes);
    table_text(&table, "in all");
    for (size_t rest = table.count % 6; rest != 0 && rest < 6; rest++) {
        table_text(&table, "");
    }
    table_print(&table, LIST_INDENT, page->style.columns, page->out);
}

/* Who is to read it still, or why it is there for the whole run. */
Str misfit_waiting_for(const Page *page, BufferId id) {
    const Plan *plan = page->facts->plan;
    const Buffer *storage = plan_buffer(plan, id);
    if (storage->kind == BUFFER_STATE) {
        return STR("state, for the whole run");
    }
    if (storage->holds_output) {
        return STR("a graph output, for the caller");
    }
    return arena_format(page->scratch, "until " STR_FMT, STR_ARG(page_step(page, storage->storage_last - 1)));
}

static bool only_larger_memory_helps(const Plan *plan) {
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        if (!words_is_lack(plan->remedies[i].kind)) {
            return false;
        }
    }
    return true;
}

/* ", never cut along C H; each needs all of 'w', 'b'": what no tile makes smaller. */
static Str uncut_text(const Page *page, const PlannedSweep *planned) {
    enum { MOST = 3 };
    uint32_t uncut = facts_uncut_dims(&planned->sweep), count = 0;
    Str text = uncut == 0 ? STR("") : STR(", never cut along");
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        if ((uncut >> d & 1) != 0) {
            text = arena_format(page->scratch, STR_FMT " %c", STR_ARG(text), dim_letter((Dim)d));
        }
    }
    for (uint32_t k = 0; k <= planned->sweep.param_count; k++) {
        BufferId id = facts_reads_whole(planned, k);
        if (is_buffer(id) && count++ < MOST) {
            text = arena_format(page->scratch, STR_FMT "%s'" STR_FMT "'", STR_ARG(text),
                                count == 1 ? "; each needs all of " : ", ", STR_ARG(page_name(page, id)));
        }
    }
    return count <= MOST ? text
                         : arena_format(page->scratch, STR_FMT ", %" PRIu32 " more", STR_ARG(text), count - MOST);
}

/* "; 'norm' (InstanceNormalization) needs all of 't'" */
static Str needed_text(const Page *page) {
    const Graph *graph = page->facts->graph;
    const Misfit *misfit = &page->facts->misfit;
    Str list = STR("");
    for (uint32_t i = 0; i < misfit->needed_count; i++) {
        Str by = clean_text(page->scratch, node_title(page->scratch, graph_node(graph, misfit->needed[i].by)));
        Str name = clean_text(page->scratch, graph_value(graph, misfit->needed[i].value)->name);
        list = arena_format(page->scratch, STR_FMT "%s" STR_FMT " needs all of '" STR_FMT "'", STR_ARG(list),
                            i == 0 ? "; " : ", ", STR_ARG(by), STR_ARG(name));
    }
    return list;
}

Str misfit_cut(const Page *page) {
    const Plan *plan = page->facts->plan;
    const Step *step = &plan->steps[plan->peak_step];
    WholeReason reason = page->facts->misfit.whole;
    if (reason != WHOLE_NONE) {
        return arena_format(page->scratch, "it is not cut into tiles: " STR_FMT STR_FMT,
                            STR_ARG(words_whole(page, reason, step->node)), STR_ARG(needed_text(page)));
    }
    if (step->sweep == NOT_IN_SWEEP) {
        return (Str){0};
    }
    const PlannedSweep *planned = &plan->sweeps[step->sweep];
    const SweepOption *best = &planned->chosen.best;
    return arena_format(page->scratch, "it goes by %s of " STR_FMT " (N C H W)" STR_FMT "%s",
                        page_count(page, best->cost.tiles, "tile"), STR_ARG(page_tile(page, &best->choice)),
                        STR_ARG(uncut_text(page, planned)),
                        planned->chosen.fits ? "" : "; no other tiles need fewer bytes");
}

const char *misfit_helpless(const Page *page) {
    const Plan *plan = page->facts->plan;
    return !only_larger_memory_helps(plan) ? ""
           : page->facts->misfit.own_bytes > plan->capacity_bytes && !plan_has_overflow(plan, plan->device->local)
               ? ": local memory must hold at least that, and no option of stride0 lowers it"
               : "; no option of stride0 lowers the peak";
}

/* What the peak's node can't do without, and which others are there beside it. */
static void print_own(const Page *page) {
    enum { MOST = 6 };
    const Plan *plan = page->facts->plan;
    const Misfit *misfit = &page->facts->misfit;
    if (plan->step_count == 0) {
        return;
    }
    page_line(page, STR_FMT " bytes of them are what the operator itself reads and writes%s",
              STR_ARG(page_number(page, misfit->own_bytes)), misfit_helpless(page));
    page_line(page, STR_FMT, STR_ARG(misfit_cut(page)));
    if (misfit->waiting_count == 0) {
        return;
    }
    fprintf(page->out, "  " STR_FMT " bytes wait for other steps:\n",
            STR_ARG(page_number(page, misfit->waiting_bytes)));
    Table table;
    table_init(&table, page->scratch, "rnl");
    for (uint32_t i = 0; i < misfit->waiting_count && i < MOST; i++) {
        table_number(&table, plan_buffer(plan, misfit->waiting[i])->physical_bytes);
        table_add(&table, facts_buffer_name(page->facts, misfit->waiting[i], page->scratch));
        table_add(&table, misfit_waiting_for(page, misfit->waiting[i]));
    }
    table_print(&table, LIST_INDENT, page->style.columns, page->out);
    if (misfit->waiting_count > MOST) {
        page_line(page, "and %" PRIu32 " more", misfit->waiting_count - MOST);
    }
}

/* What comes next, for whoever shrinks the peak. */
static void print_crowded(const Page *page) {
    enum { MOST = 4 };
    const Misfit *misfit = &page->facts->misfit;
    if (misfit->crowded_count == 0) {
        return;
    }
    fprintf(page->out, "  %s at which more is alive than fits%s:\n",
            page_count(page, misfit->crowded_count, "other step"),
            misfit->crowded_count > MOST ? ", the worst of them" : "");
    Table table;
    table_init(&table, page->scratch, "rn");
    for (uint32_t i = 0; i < misfit->crowded_count && i < MOST; i++) {
        table_number(&table, misfit->crowded[i].live_bytes);
        table_add(&table, page_step(page, misfit->crowded[i].step));
    }
    table_print(&table, LIST_INDENT, page->style.columns, page->out);
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

/* The buffer, or of a schedule the operator. */
Str misfit_blamed(const Page *page, const Blame *blame) {
    if (is_buffer(blame->buffer)) {
        return arena_format(page->scratch, "'" STR_FMT "'", STR_ARG(page_name(page, blame->buffer)));
    }
    return clean_text(page->scratch, node_title(page->scratch, graph_node(page->facts->graph, blame->node)));
}

static void print_blame(const Page *page) {
    enum { MOST = 6 };
    const Misfit *misfit = &page->facts->misfit;
    if (misfit->blame_count > 0) {
        fputs("  to blame:\n", page->out);
    }
    for (uint32_t i = 0; i < misfit->blame_count && i < MOST; i++) {
        const Blame *blame = &misfit->blame[i];
        page_line(page, "  %s, " STR_FMT ": " STR_FMT " bytes where " STR_FMT " would do; %s", blame_name(blame->kind),
                  STR_ARG(misfit_blamed(page, blame)), STR_ARG(page_number(page, blame->bytes)),
                  STR_ARG(page_number(page, blame->instead_bytes)), blame->hint);
    }
    if (misfit->blame_count > MOST) {
        page_line(page, "  and %" PRIu32 " more", misfit->blame_count - MOST);
    }
}

static void print_remedies(const Page *page) {
    const Plan *plan = page->facts->plan;
    Table table;
    table_init(&table, page->scratch, "srss");
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        table_text(&table, words_is_lack(plan->remedies[i].kind) ? "lacks" : "saves");
        table_number(&table, plan->remedies[i].saves_bytes);
        table_text(&table, plan->remedies[i].kind);
        table_text(&table, words_remedy(page, &plan->remedies[i]));
    }
    if (plan->remedy_count > 0) {
        fputs(plan_local_fits(plan) || plan_backing_fits(plan)
                  ? "  remedies, each alone:\n"
                  : "  remedies, each alone; both memories are too small, and each needs one:\n",
              page->out);
        table_print(&table, LIST_INDENT, page->style.columns, page->out);
    }
}

/* "of 64 x 6,912 bytes" */
static const char *capacity_text(const Page *page, const DeviceMemory *memory) {
    const char *lanes = memory->lanes == 1 ? "" : arena_text(page->scratch, "%" PRIu64 " x ", memory->lanes);
    return memory->bytes == UINT64_MAX
               ? "without bounds"
               : arena_text(page->scratch, "of %s%s", lanes, page_count(page, memory->bytes, "byte"));
}

/* A memory in which plans place nothing, and how to plan as if it were there. */
static void print_unused(const Page *page) {
    const Misfit *misfit = &page->facts->misfit;
    const Device *device = page->facts->device;
    if (misfit->unused == NULL) {
        return;
    }
    Arena *arena = page->scratch;
    Str name = clean_text(arena, misfit->unused->name), of = clean_text(arena, device->name);
    Str file = clean_text(arena, device->file);
    page_line(page, "the device file also describes memory '" STR_FMT "' %s, in which plans place nothing%s",
              STR_ARG(name), capacity_text(page, misfit->unused),
              misfit->unused_is_for_weights
                  ? ": weights count in local memory, and a plan that does not fit may fit the chip"
                  : "");
    if (device_path(device) == NULL) {
        page_line(page, "to plan with it: stride0 devices " STR_FMT " --ini >mine.ini", STR_ARG(of));
        file = STR("mine.ini");
    }
    page_line(page, "%sin " STR_FMT " %s, pass -d " STR_FMT,
              device_path(device) == NULL ? "then " : "to plan with it: ", STR_ARG(file), words_unused(page),
              STR_ARG(file));
}

/* Flash or far memory: what stays there, and at which step most maps are beside it. */
static void print_backing(const Page *page) {
    const Facts *facts = page->facts;
    const Misfit *misfit = &facts->misfit;
    uint64_t stay = misfit->backing_stay_bytes, live = misfit->backing_live_bytes;
    const char *count = page_count(page, misfit->backing.all, "buffer");
    if (facts->plan->backing_bytes > live) {
        page_line(page, "alive at once " STR_FMT "; placed " STR_FMT, STR_ARG(page_number(page, live)),
                  STR_ARG(page_number(page, facts->plan->backing_bytes)));
    }
    if (misfit->backing_step == NO_STEP) {
        page_line(page, "all of it stays for the whole run; the largest of %s:", count);
    } else {
        page_line(page, STR_FMT "; the largest of %s alive there:", STR_ARG(page_step(page, misfit->backing_step)),
                  count);
    }
    print_ranking(page, &misfit->backing);
    if (misfit->backing_step != NO_STEP) {
        page_line(page,
                  STR_FMT
                  " bytes of them are constants, graph inputs and graph outputs, which stay for the whole run; " STR_FMT
                  " are maps that local memory has no room for",
                  STR_ARG(page_number(page, stay)), STR_ARG(page_number(page, live - stay)));
    }
}

/* Those of `first` that were tried in vain: all of it is counted where it was to lie at first. */
static void print_overflow(const Page *page, uint32_t first) {
    const Device *device = page->facts->device;
    const char *names = "";
    for (uint32_t m = 0; m < device->memory_count; m++) {
        if (m != first && device_first(device, m) == first) {
            names = arena_text(page->scratch, "%s%s'" STR_FMT "' %s", names, names[0] == '\0' ? "" : ", ",
                               STR_ARG(clean_text(page->scratch, device->memory[m].name)),
                               capacity_text(page, &device->memory[m]));
        }
    }
    if (names[0] != '\0') {
        page_line(page,
                  "no way was found to fit it with what takes its overflow: %s; what follows counts all in one memory",
                  names);
    }
}

void report_misfit(const Facts *facts, const char *prefix, Arena *scratch, FILE *out) {
    const Page page = {.facts = facts, .style = {.columns = 100}, .scratch = scratch, .out = out};
    const Plan *plan = facts->plan;
    const char *lead = prefix[0] == '\0' ? "" : arena_text(scratch, "%s: ", prefix);
    if (!plan_local_fits(plan)) {
        fputs(lead, out);
        print_need(&page, facts->device->local, plan->placed_bytes, plan->capacity_bytes);
        print_overflow(&page, facts->device->local);
        print_sums(&page);
        print_step(&page);
        print_ranking(&page, &facts->at_peak);
        print_own(&page);
        print_refused(&page);
        print_blame(&page);
        print_crowded(&page);
    }
    if (!plan_backing_fits(plan)) {
        fputs(lead, out);
        print_need(&page, facts->device->backing, plan->backing_bytes, plan->backing_capacity_bytes);
        print_overflow(&page, facts->device->backing);
        print_backing(&page);
    }
    print_remedies(&page);
    print_unused(&page);
}
