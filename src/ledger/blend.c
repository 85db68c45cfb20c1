/* Between two plans: what took the one's peak to the other's, by cause, exactly.
 *
 * The local buffers of both are matched: by their tensor's name, those that are left by the node that makes them. Then
 * one plan is turned into the other, kind by kind, and the peak is taken anew after each change:
 *
 *     what only the first has goes           constants, maps, workspace
 *     what both have takes the other's size  constants, shapes, forms, padding, workspace, tiles
 *     and the other's steps and ranges       lifetime
 *     and the other's aliases                aliases
 *     what only the second has comes         constants, maps, workspace
 *
 * At the start it is the one, at the end the other, so that the changes sum to the difference, with no rest. What goes
 * is at the first one's steps, what comes at the second one's: in between stand only buffers that both have. */
#include "ledger/diff.h"
#include "ledger/keyed.h"

#include "base/fault.h"

/* A buffer of the first plan, of the second, or of both: indices; NONE. */
typedef struct {
    uint32_t from, to;
    bool is_there;
    bool has_new_size;
} Element;

#define NONE UINT32_MAX

typedef struct {
    Keyed *items; /* sorted */
    uint32_t count;
} Names;

typedef struct {
    const Side *from, *to;
    Element *elements;
    uint32_t count;
    uint32_t *of_from, *of_to; /* buffer -> its element; of those that are not local nothing is asked */
    bool has_new_time, has_new_groups;
    uint64_t peak;
    int64_t *causes;
    Names near_from, near_to, far_from, far_to; /* buffers in local memory, and outside it */
    Names forms;                                /* of constants, that the engine makes in either plan */
    Arena *scratch;
} Blend;

/* ---- Matching */

static Names list_buffers(const Side *side, bool is_local, Arena *scratch) {
    Names names = {.items = arena_array(scratch, Keyed, side->buffer_count)};
    for (uint32_t i = 0; i < side->buffer_count; i++) {
        if (side->buffers[i].is_local == is_local) {
            names.items[names.count++] = keyed_buffer(side, i);
        }
    }
    keyed_sort(names.items, names.count);
    return names;
}

static void add_element(Blend *blend, uint32_t from, uint32_t to) {
    if (from != NONE) {
        blend->of_from[from] = blend->count;
    }
    if (to != NONE) {
        blend->of_to[to] = blend->count;
    }
    blend->elements[blend->count++] = (Element){from, to, from != NONE, false};
}

/* Pairs items of the same group and key, in order; what has no partner moves to the front of its list. */
static void pair(Blend *blend, Names *from, Names *to) {
    uint32_t i = 0, k = 0, from_left = 0, to_left = 0;
    while (i < from->count || k < to->count) {
        int order = i == from->count ? 1 : k == to->count ? -1 : keyed_order(&from->items[i], &to->items[k]);
        if (order == 0 && from->items[i].key.len > 0) {
            add_element(blend, from->items[i++].index, to->items[k++].index);
        } else if (order <= 0) {
            from->items[from_left++] = from->items[i++];
        } else {
            to->items[to_left++] = to->items[k++];
        }
    }
    from->count = from_left;
    to->count = to_left;
}

static void by_node(const Side *side, Names *names) {
    for (uint32_t i = 0; i < names->count; i++) {
        names->items[i].key = side->buffers[names->items[i].index].node;
    }
    keyed_sort(names->items, names->count);
}

static Names list_forms(const Blend *blend) {
    const Side *const sides[] = {blend->from, blend->to};
    size_t most = (size_t)blend->from->buffer_count + blend->to->buffer_count;
    Names forms = {.items = arena_array(blend->scratch, Keyed, most)};
    for (uint32_t k = 0; k < 2; k++) {
        for (uint32_t i = 0; i < sides[k]->buffer_count; i++) {
            if (sides[k]->buffers[i].is_form) {
                forms.items[forms.count++] = keyed_buffer(sides[k], i);
            }
        }
    }
    keyed_sort(forms.items, forms.count);
    return forms;
}

static void list_names(Blend *blend) {
    blend->near_from = list_buffers(blend->from, true, blend->scratch);
    blend->near_to = list_buffers(blend->to, true, blend->scratch);
    blend->far_from = list_buffers(blend->from, false, blend->scratch);
    blend->far_to = list_buffers(blend->to, false, blend->scratch);
    blend->forms = list_forms(blend);
}

static void match(Blend *blend) {
    Arena *scratch = blend->scratch;
    Names from = list_buffers(blend->from, true, scratch), to = list_buffers(blend->to, true, scratch);
    list_names(blend);
    blend->elements = arena_array(scratch, Element, (size_t)from.count + to.count);
    blend->of_from = arena_array(scratch, uint32_t, blend->from->buffer_count);
    blend->of_to = arena_array(scratch, uint32_t, blend->to->buffer_count);
    pair(blend, &from, &to);
    by_node(blend->from, &from);
    by_node(blend->to, &to);
    pair(blend, &from, &to);
    for (uint32_t i = 0; i < from.count; i++) {
        add_element(blend, from.items[i].index, NONE);
    }
    for (uint32_t k = 0; k < to.count; k++) {
        add_element(blend, NONE, to.items[k].index);
    }
}

/* ---- The peak of what stands between */

static const SideBuffer *buffer_of(const Blend *blend, const Element *element, bool is_new) {
    uint32_t index = is_new ? element->to : element->from;
    return index == NONE ? NULL : &(is_new ? blend->to : blend->from)->buffers[index];
}

/* The element in whose bytes it lies: itself where it is a storage, or where that is not there. */
static uint32_t root_of(const Blend *blend, uint32_t index) {
    bool is_new = blend->has_new_groups;
    const SideBuffer *buffer = buffer_of(blend, &blend->elements[index], is_new);
    uint32_t root = buffer == NULL ? index : (is_new ? blend->of_to : blend->of_from)[buffer->storage];
    return blend->elements[root].is_there ? root : index;
}

/* Ranges of all that lie in each element's bytes. */
static void find_hulls(const Blend *blend, uint32_t *first, uint32_t *last) {
    for (uint32_t e = 0; e < blend->count; e++) {
        first[e] = NONE;
    }
    for (uint32_t e = 0; e < blend->count; e++) {
        if (!blend->elements[e].is_there) {
            continue;
        }
        const SideBuffer *buffer = buffer_of(blend, &blend->elements[e], blend->has_new_time);
        uint32_t root = root_of(blend, e);
        CHECK(buffer != NULL);
        first[root] = buffer->first < first[root] ? buffer->first : first[root];
        last[root] = buffer->last > last[root] ? buffer->last : last[root];
    }
}

static uint64_t peak_of(const Blend *blend) {
    Arena *scratch = blend->scratch;
    uint32_t steps = (blend->has_new_time ? blend->to : blend->from)->step_count;
    uint32_t *first = arena_array(scratch, uint32_t, blend->count),
             *last = arena_array(scratch, uint32_t, blend->count);
    uint64_t *change = arena_array(scratch, uint64_t, (size_t)steps + 1); /* modulo 2^64 */
    uint64_t live = 0, peak = 0;
    find_hulls(blend, first, last);
    for (uint32_t e = 0; e < blend->count; e++) {
        const Element *element = &blend->elements[e];
        if (first[e] < last[e]) {
            uint64_t bytes = buffer_of(blend, element, element->has_new_size)->physical_bytes;
            change[first[e]] += bytes;
            change[last[e]] -= bytes;
        }
    }
    for (uint32_t s = 0; s < steps; s++) {
        live += change[s];
        peak = live > peak ? live : peak;
    }
    return peak;
}

/* ---- What changes, and why */

/* Modulo 2^64: a file may say anything. */
static uint64_t elems_of(const SideBuffer *buffer) {
    uint64_t elems = 1;
    for (uint32_t k = 0; k < buffer->shape.rank; k++) {
        elems *= (uint64_t)buffer->shape.dim[k];
    }
    return elems;
}

/* Of as many elements of one dtype, in whatever order of axes. */
static bool is_same_tensor(const SideBuffer *a, const SideBuffer *b) {
    return str_eq(a->dtype, b->dtype) && elems_of(a) == elems_of(b);
}

static Cause cause_of_size(const SideBuffer *a, const SideBuffer *b) {
    if (a->kind == BUFFER_WORKSPACE) {
        return CAUSE_WORKSPACE;
    }
    if (!is_same_tensor(a, b)) {
        return side_is_constant(a) ? CAUSE_CONSTANTS : CAUSE_MAPS;
    }
    return a->logical_bytes == b->logical_bytes ? CAUSE_LAYOUT : side_is_constant(a) ? CAUSE_FORM : CAUSE_TILES;
}

static bool has(const Names *names, const Keyed *key) {
    return keyed_has(names->items, names->count, key);
}

/* Of a constant that one plan alone has there. It may be one more load of what the other loads too; what is loaded only
 * to be made a form of is there for the form, and what lies elsewhere in the other plan alone is read there in its own
 * form. */
static Cause cause_of_constant(const Blend *blend, const Keyed *key, bool has_moved, bool is_near) {
    return has_moved || has(&blend->forms, key) ? CAUSE_FORM : is_near ? CAUSE_LIFETIME : CAUSE_CONSTANTS;
}

/* Of what only one plan has in local memory. The other may have it elsewhere: a map that went to far memory. */
static Cause cause_of_presence(const Blend *blend, const Element *element) {
    bool is_new = element->from == NONE;
    const Side *side = is_new ? blend->to : blend->from;
    const Names *own_far = is_new ? &blend->far_to : &blend->far_from;
    const Names *other_far = is_new ? &blend->far_from : &blend->far_to;
    const Names *other_near = is_new ? &blend->near_from : &blend->near_to;
    const Keyed key = keyed_buffer(side, is_new ? element->to : element->from);
    bool has_moved = has(other_far, &key) && !has(own_far, &key);
    switch (key.group) {
    case KEYED_CONSTANT:
        return cause_of_constant(blend, &key, has_moved, has(other_near, &key));
    case KEYED_MAP:
        return has_moved ? CAUSE_TILES : CAUSE_LIFETIME;
    default:
        return CAUSE_WORKSPACE;
    }
}

static void count_change(Blend *blend, Cause cause) {
    uint64_t peak = peak_of(blend);
    blend->causes[cause] += (int64_t)peak - (int64_t)blend->peak;
    blend->peak = peak;
}

/* What only one plan has goes or comes, cause by cause. */
static void change_presence(Blend *blend, bool comes) {
    for (Cause cause = 0; cause < CAUSE_PACKING; cause++) {
        bool is_any = false;
        for (uint32_t e = 0; e < blend->count; e++) {
            Element *element = &blend->elements[e];
            bool is_one = (comes ? element->from : element->to) == NONE && cause_of_presence(blend, element) == cause;
            element->is_there = is_one ? comes : element->is_there;
            element->has_new_size = is_one ? comes : element->has_new_size;
            is_any |= is_one;
        }
        if (is_any) {
            count_change(blend, cause);
        }
    }
}

static void change_sizes(Blend *blend) {
    for (Cause cause = 0; cause < CAUSE_PACKING; cause++) {
        bool is_any = false;
        for (uint32_t e = 0; e < blend->count; e++) {
            Element *element = &blend->elements[e];
            if (element->from == NONE || element->to == NONE) {
                continue;
            }
            const SideBuffer *from = buffer_of(blend, element, false), *to = buffer_of(blend, element, true);
            bool is_one = cause_of_size(from, to) == cause;
            element->has_new_size |= is_one;
            is_any |= is_one && from->physical_bytes != to->physical_bytes;
        }
        if (is_any) {
            count_change(blend, cause);
        }
    }
}

void blend_causes(const Side *from, const Side *to, int64_t *causes, Work *work) {
    Blend blend = {.from = from, .to = to, .causes = causes, .scratch = &work->scratch};
    match(&blend);
    blend.peak = peak_of(&blend);
    CHECK(blend.peak == from->peak_live_bytes);
    change_presence(&blend, false);
    change_sizes(&blend);
    blend.has_new_time = true;
    count_change(&blend, CAUSE_LIFETIME);
    blend.has_new_groups = true;
    count_change(&blend, CAUSE_ALIASES);
    change_presence(&blend, true);
    CHECK(blend.peak == to->peak_live_bytes);
    arena_reset(&work->scratch);
}
