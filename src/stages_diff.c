/* The stages of a comparison: the plans between A and B.
 *
 *   A --model--> --strategy, expand--> --forms, layout of the device--> --pins--> --inplace, order-->
 *     --operators of the device--> --rest of the device--> --parameters, schedule, tile, budget--> B
 *
 * Each arrow is taken where the sides differ there, and is planned anew. What can't be planned halfway (B's layout with
 * A's forms may be no device) is taken together with what comes next, and told apart from it like a change of the
 * model. */
#include "device/together.h"
#include "request.h"
#include "stages_prepare.h"

#include <string.h>

/* Where the chain stands: a request, and the device that it names, as far as it has become B's. */
typedef struct {
    Request request;
    Device device;
} Point;

typedef struct {
    Point at;
    const Request *to;
    const Device *to_device;
    const Side *b;
    ModelFiles *files;
    Work *work;
    size_t count, capacity;
    DiffChange *changes;
    const char *waiting; /* changes that could not be planned yet: their words; null */
} PlanChain;

typedef struct {
    Cause cause;
    const char *what;
    const char *const *prefixes; /* of the options' words that tell it; null: the device */
    void (*apply)(Point *at, const Request *to, const Device *device);
} Change;

static void apply_graph(Point *at, const Request *to, const Device *device) {
    const PlanOptions kept = at->request.plan;
    (void)device;
    const char *path = at->request.device;
    at->request = *to;
    at->request.device = path;
    at->request.plan = kept;
    at->request.plan.axes = to->plan.axes;
    at->request.plan.axis_count = to->plan.axis_count;
    at->request.plan.axis_by_size = to->plan.axis_by_size;
}

static void apply_strategy(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.strategy = to->plan.strategy;
}

static void apply_expand(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.expand_before = to->plan.expand_before;
}

static void apply_forms(Point *at, const Request *to, const Device *device) {
    (void)to;
    memcpy(at->device.form, device->form, sizeof device->form);
    at->device.record_bits = device->record_bits;
}

/* Capacities stay: they are not where a byte lies. */
static void apply_layout(Point *at, const Request *to, const Device *device) {
    (void)to;
    memcpy(at->device.contract, device->contract, sizeof device->contract);
    for (uint32_t m = 0; m < device->memory_count; m++) {
        at->device.memory[m].align_bytes = device->memory[m].align_bytes;
        at->device.memory[m].lanes = device->memory[m].lanes;
        at->device.memory[m].banks = device->memory[m].banks;
    }
}

static void apply_pins(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.pin_inputs = to->plan.pin_inputs;
    at->request.plan.pin_outputs = to->plan.pin_outputs;
}

static void apply_inplace(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.in_place = to->plan.in_place;
}

static void apply_order(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.order_memory = to->plan.order_memory;
}

static void apply_operators(Point *at, const Request *to, const Device *device) {
    (void)to;
    at->device.operator_count = device->operator_count;
    at->device.operators = device->operators;
}

static void apply_device(Point *at, const Request *to, const Device *device) {
    at->request.device = to->device;
    at->device = *device;
}

static void apply_parameters(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.parameters = to->plan.parameters;
}

static void apply_schedule(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.schedule = to->plan.schedule;
}

static void apply_tile(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.whole_tiles = to->plan.whole_tiles;
    at->request.plan.tile_rows = to->plan.tile_rows;
    at->request.plan.tile_channels = to->plan.tile_channels;
}

static void apply_budget(Point *at, const Request *to, const Device *device) {
    (void)device;
    at->request.plan.budget_bytes = to->plan.budget_bytes;
}

static const char *const of_strategy[] = {"--strategy", NULL}, *const of_expand[] = {"--expand", NULL},
                         *const of_pins[] = {"--pin-", NULL}, *const of_inplace[] = {"--inplace", NULL},
                         *const of_order[] = {"--order", NULL}, *const of_parameters[] = {"--parameters", NULL},
                         *const of_schedule[] = {"--schedule", NULL}, *const of_tile[] = {"--tile", NULL},
                         *const of_budget[] = {"--budget", NULL}, *const of_graph[] = {"--dim",   "--layout",
                                                                                       "--axis=", "--axis-heuristic",
                                                                                       "--qdq",   "--simplify",
                                                                                       NULL};

/* In the order of the causes. */
static const Change changes[] = {
    {CAUSE_SEVERAL, "model", of_graph, apply_graph},
    {CAUSE_FORM, "strategy", of_strategy, apply_strategy},
    {CAUSE_FORM, "expand", of_expand, apply_expand},
    {CAUSE_FORM, "forms of the device", NULL, apply_forms},
    {CAUSE_LAYOUT, "layout of the device", NULL, apply_layout},
    {CAUSE_LIFETIME, "pins", of_pins, apply_pins},
    {CAUSE_ALIASES, "inplace", of_inplace, apply_inplace},
    {CAUSE_LIFETIME, "order", of_order, apply_order},
    {CAUSE_WORKSPACE, "operators of the device", NULL, apply_operators},
    {CAUSE_TILES, "rest of the device", NULL, apply_device},
    {CAUSE_TILES, "parameters", of_parameters, apply_parameters},
    {CAUSE_TILES, "schedule", of_schedule, apply_schedule},
    {CAUSE_TILES, "tile", of_tile, apply_tile},
    {CAUSE_TILES, "budget", of_budget, apply_budget},
};

/* Devices of two kinds, or with other memories, have no device between them. */
static const Change whole_device = {CAUSE_SEVERAL, "device", NULL, apply_device};

/* ---- What differs */

static bool is_told_by(const char *text, const char *const *prefixes) {
    for (; *prefixes != NULL; prefixes++) {
        if (strncmp(text, *prefixes, strlen(*prefixes)) == 0) {
            return true;
        }
    }
    return false;
}

/* The options of a request that belong to a change, "--tile=4"; "default" where there are none. */
static const char *words_of(const Request *request, const char *const *prefixes, Arena *arena) {
    const char *words = "";
    for (const char *const *text = request_texts(request, arena); *text != NULL; text++) {
        if (is_told_by(*text, prefixes)) {
            words = arena_text(arena, "%s%s%s", words, words[0] == '\0' ? "" : " ", *text);
        }
    }
    return words[0] == '\0' ? "default" : words;
}

static bool is_same_operator(const DeviceOperator *a, const DeviceOperator *b) {
    return str_eq(a->name, b->name) && a->workspace == b->workspace && a->workspace_bytes == b->workspace_bytes &&
           a->align_bytes == b->align_bytes && a->may_alias == b->may_alias;
}

static bool is_same_fact(const DeviceFact *a, const DeviceFact *b) {
    return str_eq(a->section, b->section) && str_eq(a->key, b->key) && str_eq(a->value, b->value);
}

/* Facts of the sections that `belongs` takes, in the order of the files. */
static bool has_same_facts(const Device *a, const Device *b, bool (*belongs)(const DeviceFact *fact)) {
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a->fact_count && !belongs(&a->fact[i])) {
            i++;
        }
        while (k < b->fact_count && !belongs(&b->fact[k])) {
            k++;
        }
        if (i == a->fact_count || k == b->fact_count) {
            return i == a->fact_count && k == b->fact_count;
        }
        if (!is_same_fact(&a->fact[i++], &b->fact[k++])) {
            return false;
        }
    }
}

static bool is_of_form(const DeviceFact *fact) {
    return str_eq(fact->section, STR("parameter"));
}

static bool is_of_layout(const DeviceFact *fact) {
    bool is_memory = str_starts(fact->section, STR("memory "));
    return str_eq(fact->section, STR("contract")) || (is_memory && !str_eq(fact->key, STR("bytes")));
}

static bool is_of_rest(const DeviceFact *fact) {
    return !is_of_form(fact) && !is_of_layout(fact) && !str_starts(fact->section, STR("operator"));
}

static bool has_same_operators(const Device *a, const Device *b) {
    bool is_same = a->operator_count == b->operator_count;
    for (uint32_t k = 0; k < a->operator_count && is_same; k++) {
        is_same = is_same_operator(&a->operators[k], &b->operators[k]);
    }
    return is_same;
}

static bool differs_on_device(const Device *a, const Device *b, const Change *change) {
    if (change->apply == apply_forms) {
        return !has_same_facts(a, b, is_of_form);
    }
    if (change->apply == apply_layout) {
        return !has_same_facts(a, b, is_of_layout);
    }
    if (change->apply == apply_operators) {
        return !has_same_operators(a, b);
    }
    return !has_same_facts(a, b, is_of_rest);
}

static bool has_between(const Device *a, const Device *b) {
    bool is_alike = a->kind == b->kind && a->memory_count == b->memory_count;
    for (uint32_t m = 0; m < a->memory_count && is_alike; m++) {
        is_alike = str_eq(a->memory[m].name, b->memory[m].name);
    }
    return is_alike;
}

/* ---- The chain */

static void add_change(PlanChain *chain, Cause cause, const char *what, const Side *side) {
    Arena *keep = &chain->work->keep;
    bool has_waited = chain->waiting != NULL;
    chain->changes = arena_grow(keep, chain->changes, chain->count, &chain->capacity, sizeof *chain->changes);
    chain->changes[chain->count++] = (DiffChange){
        has_waited ? CAUSE_SEVERAL : cause, has_waited ? arena_text(keep, "%s; %s", chain->waiting, what) : what, side};
    chain->waiting = NULL;
}

/* The plan that the chain has come to; null without a diagnostic where there is none. */
static const Side *plan_here(PlanChain *chain) {
    Work *work = chain->work;
    const Diags before = work->diags;
    Device *device = arena_new(&work->keep, Device);
    *device = chain->at.device;
    bool is_device = device_check_together(work, device);
    const Facts *facts = is_device ? stages_plan_on(&chain->at.request, device, chain->files, work) : NULL;
    const Side *side = facts == NULL ? NULL : side_of_facts(facts, work);
    diags_rewind(&work->diags, before);
    return side;
}

static void take(PlanChain *chain, const Change *change, const char *what) {
    change->apply(&chain->at, chain->to, chain->to_device);
    const Side *side = plan_here(chain);
    if (side != NULL) {
        add_change(chain, change->cause, what, side);
    } else {
        Arena *keep = &chain->work->keep;
        chain->waiting = chain->waiting == NULL ? what : arena_text(keep, "%s; %s", chain->waiting, what);
    }
}

/* Takes it where the sides differ there. The first is taken whatever its words: it is the model's. */
static void take_if(PlanChain *chain, const Change *change, bool is_other_model) {
    Arena *keep = &chain->work->keep;
    const char *what = change->what;
    if (change->prefixes == NULL) {
        if (differs_on_device(&chain->at.device, chain->to_device, change)) {
            take(chain, change, what);
        }
        return;
    }
    const char *from = words_of(&chain->at.request, change->prefixes, keep);
    const char *to = words_of(chain->to, change->prefixes, keep);
    bool is_other = strcmp(from, to) != 0;
    if (is_other) {
        const char *title = change->apply != apply_graph ? what : is_other_model ? "model" : "reading of the model";
        what = arena_text(keep, "%s: %s to %s", title, from, to);
    }
    if (is_other || (change->apply == apply_graph && is_other_model)) {
        take(chain, change, what);
    }
}

static void take_all(PlanChain *chain, bool is_other_model) {
    const size_t count = sizeof changes / sizeof *changes;
    bool is_between = has_between(&chain->at.device, chain->to_device);
    bool is_whole_taken = is_between;
    for (size_t k = 0; k < count; k++) {
        bool is_of_device = changes[k].prefixes == NULL;
        if (is_of_device && !is_whole_taken) {
            take(chain, &whole_device, "device");
            is_whole_taken = true;
        } else if (!is_of_device || is_between) {
            take_if(chain, &changes[k], is_other_model);
        }
    }
}

/* A plan that a file holds, or the model's; null with diagnostics. */
static const Side *plan_source(const DiffSource *source, ModelFiles *files, Work *work) {
    if (source->side != NULL) {
        return source->side;
    }
    const Facts *facts = stages_plan(&source->request, files, work);
    return facts == NULL ? NULL : side_of_facts(facts, work);
}

/* Without diagnostics: that only the chain needs it is no trouble of the user's. */
static const Device *find_device(const DiffSource *source, Work *work) {
    const Diags before = work->diags;
    const Device *device = source->has_request ? device_load(work, str_from(source->request.device)) : NULL;
    diags_rewind(&work->diags, before);
    return device;
}

static bool is_at_end(const PlanChain *chain) {
    const Side *last = chain->count == 0 || chain->waiting != NULL ? NULL : chain->changes[chain->count - 1].side;
    return last != NULL && last->peak_live_bytes == chain->b->peak_live_bytes &&
           last->placed_bytes == chain->b->placed_bytes;
}

const Diff *stages_diff(const DiffSource *a, const DiffSource *b, ModelFiles *files, Work *work) {
    const Diags before = work->diags;
    const Side *from = plan_source(a, files, work);
    if (from == NULL) {
        return NULL;
    }
    diags_rewind(&work->diags, before);
    const Side *to = plan_source(b, files, work);
    if (to == NULL) {
        return NULL;
    }
    const Device *from_device = find_device(a, work), *to_device = find_device(b, work);
    bool can_plan = b->side == NULL && from_device != NULL && to_device != NULL;
    PlanChain chain = {.to = &b->request, .to_device = to_device, .b = to, .files = files, .work = work};
    if (can_plan) {
        bool is_file = a->side != NULL;
        chain.at = (Point){a->request, *from_device};
        take_all(&chain, is_file || strcmp(a->request.model, b->request.model) != 0);
    }
    if (is_at_end(&chain)) {
        chain.changes[chain.count - 1].side = to; /* the same plan, with the names that it was asked for by */
    } else if (chain.waiting != NULL) {
        const char *what = chain.waiting;
        chain.waiting = NULL;
        add_change(&chain, CAUSE_SEVERAL, what, to);
    } else {
        add_change(&chain, CAUSE_SEVERAL, !can_plan ? "all that differs" : "nothing else", to);
    }
    return diff_make(from, chain.changes, (uint32_t)chain.count, work);
}
