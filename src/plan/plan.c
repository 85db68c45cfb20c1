/* Planning, in order: steps with their buffers and views, live ranges, in-place aliases, totals, placement, the judge.
 * Where several alias choices are open, each is planned and the lowest kept. */
#include "plan/builder.h"

#include "base/checked.h"
#include "base/fault.h"
#include "base/nearest.h"
#include "place/judge.h"
#include "plan/tiles.h"

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

static void init_builder(Builder *builder, const Graph *graph, const Device *device, const PlanOptions *options,
                         Work *work) {
    Plan *plan = arena_new(&work->keep, Plan);
    *plan = (Plan){.graph = graph, .device = device, .options = *options};
    plan->of_value = id_table(&work->keep, graph);
    plan->smallest = arena_array(&work->keep, const Shape *, graph->value_count);
    plan->buffer_capacity = graph->value_count; /* what an arena needs; a scratchpad's copies may make it grow */
    plan->buffers = arena_array(&work->keep, Buffer, plan->buffer_capacity);
    plan->step_capacity = graph_main(graph)->node_count;
    plan->steps = arena_array(&work->keep, Step, plan->step_capacity);
    plan->node_count = graph_main(graph)->node_count;
    plan->backing_capacity_bytes = device->memory[device->backing].bytes;
    plan->capacity_bytes = options->budget_bytes > 0 ? options->budget_bytes : device->memory[device->local].bytes;
    *builder = (Builder){.plan = plan, .work = work, .uses = graph_uses(graph, &work->scratch)};
    plan->backing = id_table(&work->keep, graph);
    builder->resident = id_table(&work->scratch, graph);
    builder->resident_group = arena_array(&work->scratch, uint32_t, graph->value_count);
}

/* ---- Placement */

static bool is_placed(const Plan *plan, uint32_t i) {
    return buffer_is_local_storage(plan, (BufferId){i}) && plan->buffers[i].physical_bytes > 0;
}

static void collect(const Plan *plan, PlaceProblem *problem, Arena *scratch) {
    problem->buffer = arena_array(scratch, PlaceBuffer, plan->buffer_count);
    problem->align_bytes = plan->device->memory[plan->device->local].align_bytes;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (is_placed(plan, i)) {
            problem->buffer[problem->count++] = (PlaceBuffer){.size = buffer->physical_bytes,
                                                              .align = buffer->align_bytes,
                                                              .first = buffer->storage_first,
                                                              .last = buffer->storage_last};
        }
    }
}

/* Aliases lie where their storage lies; a child's parent may come later in the list, so the way is walked. */
static void place_aliases(Plan *plan) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Buffer *buffer = &plan->buffers[i];
        uint64_t offset = 0;
        BufferId at = {i};
        if (!is_buffer(buffer->alias_of)) {
            continue;
        }
        while (is_buffer(plan_buffer(plan, at)->alias_of)) {
            offset += plan_buffer(plan, at)->alias_offset_bytes;
            at = plan_buffer(plan, at)->alias_of;
        }
        buffer->offset = plan_buffer(plan, at)->offset + offset;
    }
}

static bool place_local(Plan *plan, Work *work) {
    PlaceProblem problem = {0};
    collect(plan, &problem, &work->scratch);
    if (!place_solve(&problem, &work->scratch)) {
        return diag_refuse(&work->diags, (DiagText){.what = "the placement does not fit 64 bits"});
    }
    Judgement judgement = place_judge(&problem, &work->scratch);
    CHECK(judgement.verdict == JUDGE_RIGHT);
    size_t next = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (is_placed(plan, i)) {
            plan->buffers[i].offset = problem.buffer[next++].offset;
        }
    }
    place_aliases(plan);
    plan->placed_bytes = problem.height;
    plan->lower_bound_bytes = problem.bound;
    plan->place_method = problem.method;
    CHECK(plan->peak_live_bytes <= plan->lower_bound_bytes && plan->lower_bound_bytes <= plan->placed_bytes);
    return true;
}

/* ---- Flash or far memory */

static bool refuse_backing(Diags *diags) {
    return diag_refuse(diags, (DiagText){.what = "the sum of what lies in flash or far memory does not fit 64 bits"});
}

static bool is_far_storage(const Plan *plan, const Buffer *buffer) {
    return buffer->memory != plan->device->local && !is_buffer(buffer->alias_of);
}

/* Maps that were sent there are gone when their last reader has them. */
static bool place_far_maps(Plan *plan, Work *work) {
    const DeviceMemory *memory = &plan->device->memory[plan->device->backing];
    PlaceProblem problem = {.align_bytes = memory->align_bytes > 0 ? memory->align_bytes : 1};
    problem.buffer = arena_array(&work->scratch, PlaceBuffer, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        PlaceBuffer *placed = &problem.buffer[problem.count];
        if (!is_far_storage(plan, buffer) || !buffer_is_far_map(plan, buffer)) {
            continue;
        }
        *placed =
            (PlaceBuffer){.align = buffer->align_bytes, .first = buffer->storage_first, .last = buffer->storage_last};
        if (!buffer_backing_bytes(plan, buffer, &placed->size)) {
            return refuse_backing(&work->diags);
        }
        problem.count += placed->size > 0;
    }
    if (problem.count > 0 && !place_solve(&problem, &work->scratch)) {
        return refuse_backing(&work->diags);
    }
    CHECK(problem.count == 0 || place_judge(&problem, &work->scratch).verdict == JUDGE_RIGHT);
    uint32_t next = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Buffer *buffer = &plan->buffers[i];
        if (is_far_storage(plan, buffer) && buffer_is_far_map(plan, buffer) && buffer->physical_bytes > 0) {
            buffer->offset = problem.buffer[next++].offset;
        }
    }
    plan->backing_bytes = problem.count > 0 ? problem.height : 0;
    return true;
}

/* Constants and what is the caller's stay for the whole run: one after the other. A banked layout lies there bank by
 * bank, for that memory is one address space. */
static bool place_backing(Plan *plan, Work *work) {
    if (!place_far_maps(plan, work)) {
        return false;
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        Buffer *buffer = &plan->buffers[i];
        uint64_t bytes;
        if (!is_far_storage(plan, buffer) || buffer_is_far_map(plan, buffer)) {
            continue;
        }
        if (!buffer_backing_bytes(plan, buffer, &bytes) ||
            !checked_round_up(plan->backing_bytes, buffer->align_bytes, &buffer->offset) ||
            !checked_add(buffer->offset, bytes, &plan->backing_bytes)) {
            return refuse_backing(&work->diags);
        }
    }
    place_aliases(plan);
    return true;
}

/* ---- One plan */

/* What is planned for what, and with what concessions: null where there are none. */
typedef struct {
    const Graph *graph;
    const Device *device;
    const PlanOptions *options;
    AliasChoice choice;
    uint64_t *budgets;
    Relief *relief;
    const Plan *before; /* the last plan that was built so */
    uint32_t *sweep_at; /* node -> its sweep there */
} Request;

/* What was chosen for a sweep holds again where nothing has changed for it. */
static void remember(Request *request, const Plan *plan, Arena *scratch) {
    if (request->sweep_at == NULL) {
        request->sweep_at = arena_array(scratch, uint32_t, request->graph->node_count);
    }
    for (uint32_t i = 0; i < request->graph->node_count; i++) {
        request->sweep_at[i] = UINT32_MAX;
    }
    for (uint32_t i = 0; i < plan->sweep_count; i++) {
        request->sweep_at[plan->sweeps[i].nodes[0].index] = i;
    }
    request->before = plan;
}

static Plan *build_once(Request *request, Work *work) {
    Builder builder;
    init_builder(&builder, request->graph, request->device, request->options, work);
    builder.plan->choice = request->choice;
    builder.budgets = request->budgets;
    builder.relief = request->relief;
    builder.before = request->before;
    builder.sweep_at = request->sweep_at;
    if (!build_steps(&builder) || (request->relief != NULL && request->relief->has_erred)) {
        return NULL;
    }
    build_ranges(&builder);
    build_storages(&builder);
    if (request->choice.in_place) {
        build_in_place(&builder);
    }
    build_storages(&builder);
    bool done = build_totals(&builder) && place_local(builder.plan, work);
    if (done) {
        remember(request, builder.plan, &work->scratch);
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
static Plan *build_tight(Request *request, Work *work) {
    enum { MOST_ROUNDS = 6 };
    request->budgets = NULL;
    Plan *plan = build_once(request, work);
    if (plan == NULL || plan_local_fits(plan) || plan->sweep_count == 0) {
        return plan;
    }
    request->budgets = arena_array(&work->scratch, uint64_t, request->graph->node_count);
    for (uint32_t i = 0; i < request->graph->node_count; i++) {
        request->budgets[i] = plan->capacity_bytes;
    }
    const Plan *last = plan;
    for (uint32_t round = 0; round < MOST_ROUNDS && last != NULL && !plan_local_fits(plan); round++) {
        if (!tighten_sweeps(last, request->budgets)) {
            break;
        }
        Plan *tighter = build_once(request, work);
        plan = tighter == NULL ? plan : lower_of(plan, tighter);
        last = tighter;
    }
    return plan;
}

/* As long as it does not fit, more maps lie in far memory and more operators go tile by tile. */
static Plan *build_relieved(Request *request, Plan *plan, Work *work) {
    enum { MOST_ROUNDS = 12 };
    const GraphUses uses = graph_uses(request->graph, &work->scratch);
    request->relief = relief_new(request->graph, &work->scratch);
    Plan *last = plan;
    for (uint32_t round = 0; round < MOST_ROUNDS && !plan_local_fits(plan); round++) {
        bool has_erred = request->relief->has_erred;
        request->relief->has_erred = false;
        if (!has_erred && !relieve(last, &uses, request->relief, &work->scratch)) {
            break;
        }
        Plan *next = build_tight(request, work);
        if (next == NULL && !request->relief->has_erred) {
            return NULL;
        }
        last = next != NULL ? next : last;
        plan = lower_of(plan, last);
    }
    return plan;
}

static Plan *build(const Graph *graph, const Device *device, const PlanOptions *options, AliasChoice choice,
                   Work *work) {
    Request request = {.graph = graph, .device = device, .options = options, .choice = choice};
    return build_tight(&request, work);
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
static Plan *build_best_whole(const Graph *graph, const Device *device, const PlanOptions *options, Work *work) {
    const AliasChoice all = {.in_place = true, .sub_views = true, .input_parts = true};
    const AliasChoice own_parts = {.in_place = true, .sub_views = true};
    const AliasChoice whole_views = {.in_place = true};
    const AliasChoice none = {.in_place = false};
    if (options->held != NULL || !options->in_place) {
        return build(graph, device, options, options->held != NULL ? *options->held : none, work);
    }
    Plan *tried = build(graph, device, options, all, work);
    Plan *best = tried;
    if (best != NULL && uses_input_parts(best)) {
        best = lower_of(best, build(graph, device, options, own_parts, work));
    }
    if (best != NULL && uses_sub_views(best)) {
        best = lower_of(best, build(graph, device, options, whole_views, work));
    }
    if (best != NULL && best != tried) {
        best->sub_views_placed_bytes = tried->placed_bytes;
    }
    if (best != NULL && best->placed_bytes > best->lower_bound_bytes) {
        best = lower_of(best, build(graph, device, options, none, work));
    }
    return best;
}

/* Relief is for the best of the others, where operators may go tile by tile at all. */
static Plan *build_best(const Graph *graph, const Device *device, const PlanOptions *options, Work *work) {
    Plan *plan = build_best_whole(graph, device, options, work);
    bool may_cut = device->kind == DEVICE_SCRATCHPAD && options->sweeps && !options->whole_tiles;
    if (plan != NULL && !plan_local_fits(plan) && may_cut) {
        Request request = {.graph = graph, .device = device, .options = options, .choice = plan->choice};
        plan = build_relieved(&request, plan, work);
    }
    return plan != NULL && place_backing(plan, work) ? plan : NULL;
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

/* ---- Remedies */

static void add_remedy(Plan *plan, const char *kind, uint64_t saves_bytes) {
    if (saves_bytes > 0) {
        plan->remedies[plan->remedy_count++] = (Remedy){kind, saves_bytes};
    }
}

static void try_remedy(Plan *plan, const char *kind, PlanOptions options, Work *work) {
    Plan *other = build_best(plan->graph, plan->device, &options, work);
    if (other != NULL && other->placed_bytes < plan->placed_bytes) {
        add_remedy(plan, kind, plan->placed_bytes - other->placed_bytes);
    }
}

/* --tile none may be left out; else what element-wise operators would leave that are planned over whole maps. */
static void find_tiles_remedy(Plan *plan, Work *work) {
    PlanOptions options = plan->options;
    uint32_t before = plan->remedy_count;
    options.whole_tiles = false;
    if (plan->options.whole_tiles && plan->sweep_count > 0) {
        try_remedy(plan, "tiles", options, work);
    }
    if (plan->remedy_count == before) {
        add_remedy(plan, "tiles", plan->peak_live_bytes - tiled_peak_bytes(plan, &work->scratch));
    }
}

static void find_local_remedies(Plan *plan, Work *work) {
    PlanOptions options = plan->options;
    options.strategy = STRATEGY_AUTO;
    try_remedy(plan, "compact_parameters", options, work);
    options = plan->options;
    options.in_place = true;
    try_remedy(plan, "in_place", options, work);
    options = plan->options;
    options.pin_inputs = false;
    try_remedy(plan, "unpin_inputs", options, work);
    options = plan->options;
    options.pin_outputs = false;
    try_remedy(plan, "unpin_outputs", options, work);
    find_tiles_remedy(plan, work);
    add_remedy(plan, "larger_memory", plan->placed_bytes - plan->capacity_bytes);
}

static void find_remedies(Plan *plan, Work *work) {
    enum { MOST_REMEDIES = 7 };
    plan->remedies = arena_array(&work->keep, Remedy, MOST_REMEDIES);
    if (!plan_local_fits(plan)) {
        find_local_remedies(plan, work);
    }
    if (!plan_backing_fits(plan)) {
        bool is_arena = plan->device->kind == DEVICE_ARENA;
        add_remedy(plan, is_arena ? "larger_flash" : "larger_far", plan->backing_bytes - plan->backing_capacity_bytes);
    }
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

Plan *plan_make(const Graph *graph, const Device *device, const PlanOptions *options, Work *work) {
    Plan *plan = build_best(graph, device, options, work);
    if (plan != NULL) {
        plan_check(plan);
    }
    if (plan != NULL && !plan_fits(plan)) {
        find_remedies(plan, work);
    }
    return plan;
}

/* ---- Names, as docs/json.md lists them */

const char *buffer_kind_name(BufferKind kind) {
    static const char *const name[] = {"input", "activation", "output", "weight", "parameter", "state", "workspace"};
    return name[kind];
}

const char *column_name(Column column) {
    static const char *const name[] = {"load_input", "load_param", "multiply", "add", "requantize",
                                       "compute",    "store",      "copy",     "fill"};
    return name[column];
}

const char *broadcast_name(Broadcast broadcast) {
    static const char *const name[] = {NULL, "scalar", "channel", "row", "full", "partial"};
    return name[broadcast];
}

const char *alias_reason_name(AliasReason reason) {
    static const char *const name[] = {NULL, "view", "in_place", "concat", "split", "into_consumer"};
    return name[reason];
}

const char *alias_refusal_name(AliasRefusal refusal) {
    static const char *const name[] = {NULL,     "later_reader",  "graph_output", "pinned",  "constant", "dtype",
                                       "layout", "element_order", "broadcast",    "smaller", "state",    "operator"};
    return name[refusal];
}
