/* Planning, in order: steps with their buffers and views, live ranges, in-place aliases, totals, placement, the judge.
 * Where several alias choices are open, each is planned and the lowest kept. */
#include "plan/reorder.h"

#include "base/checked.h"
#include "base/nearest.h"

static void fill_ids(BufferId *ids, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        ids[i] = NO_BUFFER;
    }
}

static BufferId *id_table(Arena *arena, const Graph *graph) {
    BufferId *ids = arena_array(arena, BufferId, graph->value_count);
    fill_ids(ids, graph->value_count);
    return ids;
}

static void init_builder(Builder *builder, const PlanTask *task, Work *work) {
    const Graph *graph = task->graph;
    const Device *device = task->device;
    const PlanOptions *options = task->options;
    Plan *plan = arena_new(&work->keep, Plan);
    *plan = (Plan){.graph = graph, .device = device, .options = *options, .command = task->command};
    plan->of_value = id_table(&work->keep, graph);
    plan->smallest = arena_array(&work->keep, const Shape *, graph->value_count);
    plan->buffer_capacity = graph->value_count; /* what an arena needs; a scratchpad's copies may make it grow */
    plan->buffers = arena_array(&work->keep, Buffer, plan->buffer_capacity);
    plan->step_capacity = graph_main(graph)->node_count;
    plan->steps = arena_array(&work->keep, Step, plan->step_capacity);
    plan->node_count = graph_main(graph)->node_count;
    plan->group = arena_array(&work->keep, uint32_t, graph->node_count);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        plan->group[n] = UINT32_MAX;
    }
    plan->backing_capacity_bytes = device->memory[device->backing].bytes;
    plan->capacity_bytes = options->budget_bytes > 0 ? options->budget_bytes : device->memory[device->local].bytes;
    *builder = (Builder){.plan = plan, .work = work, .uses = graph_uses(graph, &work->scratch)};
    plan->backing = id_table(&work->keep, graph);
    builder->resident = id_table(&work->scratch, graph);
    builder->resident_group = arena_array(&work->scratch, uint32_t, graph->value_count);
}

/* ---- One plan */

/* A task while it is planned again and again, and with what concessions: null where there are none. */
typedef struct {
    const PlanTask *task;
    AliasChoice choice;
    uint64_t *budgets;
    Relief *relief;
    const Plan *before; /* the last plan that was built so */
    uint32_t *sweep_at; /* node -> its sweep there */
    bool *has_no_tile;  /* of all drafts: see Plan */
} Drafting;

static Drafting begin(const PlanTask *task, AliasChoice choice, Work *work) {
    return (Drafting){
        .task = task, .choice = choice, .has_no_tile = arena_array(&work->keep, bool, task->graph->node_count)};
}

/* What was chosen for a sweep holds again where nothing has changed for it. */
static void remember(Drafting *drafting, const Plan *plan, Arena *scratch) {
    if (drafting->sweep_at == NULL) {
        drafting->sweep_at = arena_array(scratch, uint32_t, drafting->task->graph->node_count);
    }
    for (uint32_t i = 0; i < drafting->task->graph->node_count; i++) {
        drafting->sweep_at[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < plan->sweep_count; i++) {
        drafting->sweep_at[plan->sweeps[i].nodes[0].index] = i;
    }
    drafting->before = plan;
}

static Plan *build_once(Drafting *drafting, Work *work) {
    Builder builder;
    init_builder(&builder, drafting->task, work);
    builder.plan->choice = drafting->choice;
    builder.plan->has_no_tile = drafting->has_no_tile;
    builder.budgets = drafting->budgets;
    builder.relief = drafting->relief;
    builder.plan->why_far = drafting->relief == NULL ? NULL : drafting->relief->why;
    builder.before = drafting->before;
    builder.sweep_at = drafting->sweep_at;
    if (!build_steps(&builder) || (drafting->relief != NULL && drafting->relief->has_erred)) {
        return NULL;
    }
    build_ranges(&builder);
    build_storages(&builder);
    if (drafting->choice.in_place) {
        build_in_place(builder.plan);
    }
    build_storages(&builder);
    bool done = build_totals(&builder) && place_local(builder.plan, work);
    if (done) {
        remember(drafting, builder.plan, &work->scratch);
    }
    return done ? builder.plan : NULL;
}

static Plan *lower_of(Plan *a, Plan *b) {
    if (a == NULL || b == NULL) {
        return NULL;
    }
    bool b_wins = b->placed_bytes < a->placed_bytes ||
                  (b->placed_bytes == a->placed_bytes && b->peak_live_bytes < a->peak_live_bytes);
    return b_wins ? b : a;
}

/* Sweeps take what is best for them, as if they were alone; where that is too much, what the others leave. Null as
 * build_once, and where an operator can't do with parts: in `relief` it has erred. */
static Plan *build_tight(Drafting *drafting, Work *work) {
    enum { MOST_ROUNDS = 6 };
    drafting->budgets = NULL;
    Plan *plan = build_once(drafting, work);
    if (plan == NULL || plan_local_fits(plan) || plan->sweep_count == 0) {
        return plan;
    }
    drafting->budgets = arena_array(&work->scratch, uint64_t, drafting->task->graph->node_count);
    for (uint32_t i = 0; i < drafting->task->graph->node_count; i++) {
        drafting->budgets[i] = plan->capacity_bytes;
    }
    const Plan *last = plan;
    for (uint32_t round = 0; round < MOST_ROUNDS && last != NULL && !plan_local_fits(plan); round++) {
        if (!tighten_sweeps(last, drafting->budgets)) {
            break;
        }
        Plan *tighter = build_once(drafting, work);
        plan = tighter == NULL ? plan : lower_of(plan, tighter);
        last = tighter;
    }
    return plan;
}

/* As long as it does not fit, more maps lie in far memory and more operators go tile by tile; a few rounds that gain
 * nothing are the last. */
static Plan *build_relieved(Drafting *drafting, Plan *plan, Work *work) {
    enum { MOST_ROUNDS = 12, MOST_IDLE = 3 };
    const GraphUses uses = graph_uses(drafting->task->graph, &work->scratch);
    drafting->relief = relief_new(drafting->task->graph, work);
    Plan *last = plan;
    uint32_t idle = 0;
    for (uint32_t round = 0; round < MOST_ROUNDS && idle < MOST_IDLE && !plan_local_fits(plan); round++) {
        bool has_erred = drafting->relief->has_erred;
        drafting->relief->has_erred = false;
        if (!has_erred && !relieve(last, &uses, drafting->relief, &work->scratch)) {
            break;
        }
        Plan *next = build_tight(drafting, work);
        if (next == NULL && !drafting->relief->has_erred) {
            return NULL;
        }
        last = next != NULL ? next : last;
        idle = last->placed_bytes < plan->placed_bytes ? 0 : idle + 1;
        plan = lower_of(plan, last);
    }
    plan->whole_for = drafting->relief->whole_for;
    return plan;
}

static Plan *build(const PlanTask *task, AliasChoice choice, Work *work) {
    Drafting drafting = begin(task, choice, work);
    return build_tight(&drafting, work);
}

static bool uses_sub_views(const Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        AliasReason reason = plan->buffers[i].alias_reason;
        if (reason == ALIAS_CONCAT || reason == ALIAS_SPLIT) {
            return true;
        }
    }
    return false;
}

static bool uses_input_parts(const Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (plan->buffers[i].holds_input) {
            return true;
        }
    }
    return false;
}

/* A slice that is a view keeps its whole source alive, and a concat in place is whole from its first part on, with an
 * input among them from the start: each may raise the peak. Writing in place never does, but a packing by rule of thumb
 * may be higher for it. */
static Plan *build_best_whole(const PlanTask *task, Work *work) {
    const PlanOptions *options = task->options;
    const AliasChoice all = {.in_place = true, .sub_views = true, .input_parts = true};
    const AliasChoice own_parts = {.in_place = true, .sub_views = true};
    const AliasChoice whole_views = {.in_place = true};
    const AliasChoice none = {.in_place = false};
    if (options->held != NULL || !options->in_place) {
        return build(task, options->held != NULL ? *options->held : none, work);
    }
    Plan *tried = build(task, all, work);
    Plan *best = tried;
    if (best != NULL && uses_input_parts(best)) {
        best = lower_of(best, build(task, own_parts, work));
    }
    if (best != NULL && uses_sub_views(best)) {
        best = lower_of(best, build(task, whole_views, work));
    }
    if (best != NULL && best != tried) {
        best->sub_views_placed_bytes = tried->placed_bytes;
    }
    if (best != NULL && best->placed_bytes > best->lower_bound_bytes) {
        best = lower_of(best, build(task, none, work));
    }
    return best;
}

/* Relief is for the best of the others, where operators may go tile by tile at all. */
static Plan *settle(const PlanTask *task, Plan *plan, Work *work) {
    bool may_cut = task->device->kind == DEVICE_SCRATCHPAD && !task->options->whole_tiles;
    if (plan != NULL && !plan_local_fits(plan) && may_cut) {
        Drafting drafting = begin(task, plan->choice, work);
        drafting.has_no_tile = plan->has_no_tile; /* what its drafts tried goes on to be known */
        plan = build_relieved(&drafting, plan, work);
    }
    return plan != NULL && place_backing(plan, work) ? plan : NULL;
}

static Plan *overflow(Plan *plan, Work *work) {
    if (plan != NULL) {
        plan->unspilled_peak_bytes = plan->peak_live_bytes;
        plan->unspilled_placed_bytes = plan->placed_bytes;
        overflow_local(plan, work);
        overflow_backing(plan, work);
    }
    return plan;
}

/* ---- Another order */

/* Bytes times price of what lies in further memories: the search for it has found that this fits 64 bits. */
static uint64_t overflow_cost(const Plan *plan) {
    uint64_t cost = 0;
    for (uint32_t m = 0; m < plan->device->memory_count; m++) {
        cost += plan->overflow[m].physical_bytes * plan->device->memory[m].price;
    }
    return cost;
}

static uint64_t beyond(uint64_t bytes, uint64_t capacity) {
    return bytes > capacity ? bytes - capacity : 0;
}

/* A plan is better than another by the first of these that differs, where it has less. Of one that does not fit only
 * what is too much counts: a memory with room to spare gains nothing by more of it. */
enum { MERITS = 6 };

static void merits_of(const Plan *plan, uint64_t merit[MERITS]) {
    bool fits = plan_fits(plan);
    merit[0] = beyond(plan->placed_bytes, plan->capacity_bytes);
    merit[1] = beyond(plan->backing_bytes, plan->backing_capacity_bytes);
    merit[2] = fits ? overflow_cost(plan) : 0;
    merit[3] = fits ? plan_placed_further(plan) : 0;
    merit[4] = fits ? plan->placed_bytes : 0;
    merit[5] = fits ? plan->peak_live_bytes : 0;
}

static bool is_better(const Plan *plan, const Plan *than) {
    uint64_t own[MERITS], other[MERITS];
    merits_of(plan, own);
    merits_of(than, other);
    for (int k = 0; k < MERITS; k++) {
        if (own[k] != other[k]) {
            return own[k] < other[k];
        }
    }
    return false;
}

static bool has_same_views(const AliasChoice *a, const AliasChoice *b) {
    return a->in_place == b->in_place && a->sub_views == b->sub_views && a->input_parts == b->input_parts;
}

/* `whole` is the draft that the search began from. */
static PlanOrder order_of(const Plan *plan, const Plan *of_file, const Plan *whole, const Reordering *found) {
    bool has_drafts_views = has_same_views(&plan->choice, &whole->choice);
    return (PlanOrder){.of_file = of_file,
                       .moved = plan == of_file ? 0 : found->moved,
                       .has_choice = found->graph == NULL || found->has_choice,
                       .is_lowest =
                           found->is_bound && has_drafts_views && plan->unspilled_peak_bytes <= found->bound_bytes};
}

/* The plan in the order of the file stays where the other is no better: on a scratchpad an order may part what ran as
 * one sweep. */
static Plan *choose_order(const PlanTask *task, const Plan *whole, const Reordering *found, Plan *of_file, Work *work) {
    PlanTask other = *task;
    other.graph = found->graph;
    Plan *tried = NULL;
    if (found->graph != NULL && found->moved > 0) {
        tried = overflow(settle(&other, build_best_whole(&other, work), work), work);
    }
    Plan *best = tried != NULL && is_better(tried, of_file) ? tried : of_file;
    PlanOrder *order = arena_new(&work->keep, PlanOrder);
    *order = order_of(best, of_file, whole, found);
    best->order = order;
    return best;
}

Plan *plan_in_best_order(const PlanTask *task, Plan *plan, Work *work) {
    const Plan *whole = build_best_whole(task, work);
    if (whole == NULL) {
        return plan;
    }
    const Diags before = work->diags;
    const Reordering found = reorder(whole, work);
    Plan *best = choose_order(task, whole, &found, plan, work);
    diags_rewind(&work->diags, before);
    return best;
}

/* The search for an order is told of a draft that has all maps in local memory: before further ones take some. */
Plan *plan_best(const PlanTask *task, Work *work) {
    Plan *whole = build_best_whole(task, work);
    Plan *plan = settle(task, whole, work);
    if (plan == NULL || !task->options->order_memory) {
        return overflow(plan, work);
    }
    const Diags before = work->diags;
    const Reordering found = reorder(whole, work);
    plan = choose_order(task, whole, &found, overflow(plan, work), work);
    diags_rewind(&work->diags, before);
    return plan;
}

bool plan_local_fits(const Plan *plan) {
    return plan->placed_bytes <= plan->capacity_bytes;
}

bool plan_backing_fits(const Plan *plan) {
    return plan->backing_bytes <= plan->backing_capacity_bytes;
}

bool plan_fits(const Plan *plan) {
    return plan_local_fits(plan) && plan_backing_fits(plan);
}

/* The constants are what a --axis may name. */
static bool refuse_axis_name(const Graph *graph, Str tensor, Diags *diags) {
    Nearest nearest = {.typed = tensor};
    bool is_tensor = false;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const Value *value = &graph->values[v];
        is_tensor = is_tensor || str_eq(value->name, tensor);
        if (value->constant != NULL && !str_eq(value->name, tensor)) {
            nearest_offer(&nearest, value->name);
        }
    }
    const char *list = "stride0 inspect MODEL --names lists the names";
    return diag_error(diags, (DiagText){.place = "--axis",
                                        .tensor = tensor,
                                        .what = is_tensor ? "no operator reads this tensor as a parameter"
                                                          : "the model has no tensor of this name",
                                        .hint = is_tensor ? list : nearest_hint(diags->arena, &nearest, list)});
}

bool plan_check_axes(const Graph *graph, const PlanOptions *options, Diags *diags) {
    for (size_t i = 0; i < options->axis_count; i++) {
        if (!options->axes[i].was_used) {
            return refuse_axis_name(graph, options->axes[i].tensor, diags);
        }
    }
    return true;
}

/* Asked once for all drafts. */
static const NodeCommand *const *find_commands(const Graph *graph, Arena *keep) {
    const Block *block = graph_main(graph);
    const NodeCommand **command = arena_array(keep, const NodeCommand *, graph->node_count);
    for (uint32_t at = 0; at < block->node_count; at++) {
        NodeId id = block->nodes[at];
        NodeCommand found;
        const char *why;
        if (node_command(graph, graph_node(graph, id), keep, &found, &why)) {
            NodeCommand *kept = arena_new(keep, NodeCommand);
            *kept = found;
            command[id.index] = kept;
        }
    }
    return command;
}

Plan *plan_make(const Graph *graph, const Device *device, const PlanOptions *options, Work *work) {
    PlanTask task = {.graph = graph, .device = device, .options = options};
    if (device->kind == DEVICE_SCRATCHPAD) {
        task.command = find_commands(graph, &work->keep);
    }
    Plan *plan = plan_best(&task, work);
    if (plan != NULL) {
        plan_check(plan);
    }
    if (plan != NULL && !plan_fits(plan)) {
        find_remedies(plan, work);
    }
    return plan;
}

const Plan *plan_with(const Plan *plan, const PlanOptions *options, Work *work) {
    const PlanTask task = {plan->graph, plan->device, options, plan->command};
    return plan_best(&task, work);
}
