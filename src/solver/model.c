/* A problem as rectangles over sections, in units.
 *
 * A sweep over the steps opens a section wherever something ends after something began: what lives there is contained
 * in no other step's. Each group that must lie apart is one more section, whatever the steps. */
#include "solver/model.h"

#include "base/checked.h"
#include "base/fault.h"
#include "solver/spans.h"

#include <stdlib.h>
#include <string.h>

static int compare_gaps(const SolverBuffer *a, const SolverBuffer *b) {
    int order = compare_numbers(a->gap_count, b->gap_count);
    for (size_t k = 0; order == 0 && k < a->gap_count; k++) {
        order = compare_numbers(a->gap[k].first, b->gap[k].first);
        order = order != 0 ? order : compare_numbers(a->gap[k].last, b->gap[k].last);
    }
    return order;
}

static uint64_t pin_of(const SolverBuffer *buffer) {
    return buffer->is_pinned ? buffer->offset : UINT64_MAX;
}

int model_compare(const SolverBuffer *a, const SolverBuffer *b) {
    int order = compare_numbers(a->first, b->first);
    order = order != 0 ? order : compare_numbers(a->last, b->last);
    order = order != 0 ? order : compare_numbers(a->size, b->size);
    order = order != 0 ? order : compare_numbers(a->align, b->align);
    order = order != 0 ? order : compare_numbers(pin_of(a), pin_of(b));
    order = order != 0 ? order : compare_numbers(a->apart, b->apart);
    return order != 0 ? order : compare_gaps(a, b);
}

static uint64_t common_divisor(uint64_t a, uint64_t b) {
    while (b != 0) {
        uint64_t next = a % b;
        a = b;
        b = next;
    }
    return a;
}

/* A buffer in bytes, as the memory's unit makes it. */
typedef struct {
    const SolverBuffer *buffer;
    uint64_t size, align;
} Sized;

/* False where something does not fit 64 bits; `*total` is the sum of all sizes and what alignment may add, or the end
 * of the last pin where that is more. */
static bool size_all(Sized *sized, const SolverBuffer *sorted, size_t count, uint64_t align_bytes, uint64_t *total) {
    uint64_t pinned = 0;
    *total = 0;
    for (size_t i = 0; i < count; i++) {
        const SolverBuffer *buffer = &sorted[i];
        CHECK(buffer->size > 0 && buffer->align > 0 && buffer->first < buffer->last);
        Sized *one = &sized[i];
        one->buffer = buffer;
        uint64_t end = 0;
        if (!checked_round_up(buffer->size, align_bytes, &one->size) ||
            !checked_common_multiple(buffer->align, align_bytes, &one->align) ||
            !checked_add(*total, one->size, total) || !checked_add(*total, one->align - 1, total) ||
            (buffer->is_pinned && !checked_add(buffer->offset, one->size, &end))) {
            return false;
        }
        pinned = end > pinned ? end : pinned;
    }
    return checked_add(*total, pinned, total);
}

/* The largest unit that measures all sizes and pins, and of which every alignment is a multiple or a divisor. */
static uint64_t find_unit(const Sized *sized, size_t count) {
    uint64_t unit = 0;
    for (size_t i = 0; i < count; i++) {
        unit = common_divisor(unit, sized[i].size);
        unit = sized[i].buffer->is_pinned ? common_divisor(unit, sized[i].buffer->offset) : unit;
    }
    for (bool is_stable = false; !is_stable;) {
        is_stable = true;
        for (size_t i = 0; i < count; i++) {
            if (unit % sized[i].align != 0 && sized[i].align % unit != 0) {
                unit = common_divisor(unit, sized[i].align);
                is_stable = false;
            }
        }
    }
    return unit;
}

static void scale_all(Model *model, const Sized *sized) {
    for (uint32_t i = 0; i < model->count; i++) {
        const Sized *one = &sized[i];
        Rect *rect = &model->rect[i];
        rect->size = (Level)(one->size / model->unit_bytes);
        rect->align = one->align % model->unit_bytes == 0 ? (Level)(one->align / model->unit_bytes) : 1;
        rect->pin = one->buffer->is_pinned ? (Level)(one->buffer->offset / model->unit_bytes) : LEVEL_NONE;
        bool is_twin = i > 0 && rect->pin == LEVEL_NONE && model_compare(sized[i - 1].buffer, one->buffer) == 0;
        rect->twin = is_twin ? i - 1 : i;
        model->pin_count += rect->pin != LEVEL_NONE;
    }
}

/* ---- Sections */

/* Ends the range of a rectangle, or lengthens the one before where that ends where this one begins. */
static void close_range(Rect *rect, SectionRange *range, uint32_t end) {
    range[rect->range_count].hi = end;
    if (rect->range_count > 0 && range[rect->range_count - 1].hi == range[rect->range_count].lo) {
        range[rect->range_count - 1].hi = end;
        return;
    }
    rect->range_count++;
}

/* Sections of steps, by a sweep. */
static void sweep(Model *model, const Sized *sized, SectionRange **ranges, Arena *arena) {
    size_t most_edges = 0, edge_count = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        most_edges += life_most_edges(sized[i].buffer);
    }
    LifeEdge *edge = arena_array(arena, LifeEdge, most_edges);
    for (uint32_t i = 0; i < model->count; i++) {
        edge_count += life_edges(sized[i].buffer, i, edge + edge_count);
    }
    life_sort_edges(edge, edge_count);
    bool has_begun = false; /* since the last section */
    for (size_t k = 0; k < edge_count; k++) {
        Rect *rect = &model->rect[edge[k].buffer];
        if (edge[k].is_begin) {
            ranges[edge[k].buffer][rect->range_count].lo = model->section_count;
            has_begun = true;
            continue;
        }
        model->section_count += has_begun;
        has_begun = false;
        close_range(rect, ranges[edge[k].buffer], model->section_count);
    }
}

static void add_groups(Model *model, const SolverBuffer *sorted, SectionRange **ranges, Arena *arena) {
    GroupMember *member = arena_array(arena, GroupMember, model->count);
    const size_t count = group_members(sorted, model->count, member);
    for (size_t k = 0; k < count; k++) {
        bool is_new = k == 0 || member[k].apart != member[k - 1].apart;
        model->section_count += is_new;
        Rect *rect = &model->rect[member[k].buffer];
        ranges[member[k].buffer][rect->range_count].lo = model->section_count - 1;
        close_range(rect, ranges[member[k].buffer], model->section_count);
    }
}

static void find_ranges(Model *model, const Sized *sized, Arena *arena) {
    SectionRange **ranges = arena_array(arena, SectionRange *, model->count);
    for (uint32_t i = 0; i < model->count; i++) {
        ranges[i] = arena_array(arena, SectionRange, sized[i].buffer->gap_count + 2);
    }
    sweep(model, sized, ranges, arena);
    add_groups(model, sized[0].buffer, ranges, arena);
    for (uint32_t i = 0; i < model->count; i++) {
        Rect *rect = &model->rect[i];
        if (rect->range_count == 0) { /* gaps are all its life */
            ranges[i][rect->range_count++] = (SectionRange){model->section_count, model->section_count + 1};
            model->section_count++;
        }
        rect->range = ranges[i];
        rect->lo = ranges[i][0].lo;
        rect->hi = ranges[i][rect->range_count - 1].hi;
        for (uint32_t k = 0; k < rect->range_count; k++) {
            rect->width += ranges[i][k].hi - ranges[i][k].lo;
        }
    }
}

bool model_meet(const Rect *a, const Rect *b) {
    if (a->lo >= b->hi || b->lo >= a->hi) {
        return false;
    }
    for (uint32_t i = 0, j = 0; i < a->range_count && j < b->range_count;) {
        if (a->range[i].lo < b->range[j].hi && b->range[j].lo < a->range[i].hi) {
            return true;
        }
        if (a->range[i].hi < b->range[j].hi) {
            i++;
        } else {
            j++;
        }
    }
    return false;
}

/* ---- Who meets whom */

static void list_live(Model *model, Arena *arena) {
    model->live = arena_array(arena, uint32_t, model->places);
    model->live_at = arena_array(arena, uint32_t, model->section_count + 2);
    uint32_t *end = model->live_at + 1; /* moved up by one: filling moves it back */
    for (uint32_t i = 0; i < model->count; i++) {
        FOR_SECTIONS(&model->rect[i], s) {
            end[s + 1]++;
        }
    }
    for (uint32_t s = 0; s < model->section_count; s++) {
        end[s + 1] += end[s];
    }
    for (uint32_t i = 0; i < model->count; i++) {
        FOR_SECTIONS(&model->rect[i], s) {
            model->live[end[s]++] = i;
        }
    }
}

static int compare_begins(const void *left, const void *right) {
    const Rect *a = *(const Rect *const *)left;
    const Rect *b = *(const Rect *const *)right;
    int order = compare_numbers(a->lo, b->lo);
    return order != 0 ? order : (a > b) - (a < b);
}

/* Counts the pairs that meet in meet_at[], or writes them down where those are known. False where there are too many.
 */
static bool visit_meets(Model *model, const Rect **by_begin, bool is_count) {
    uint64_t pairs = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        uint32_t a = (uint32_t)(by_begin[i] - model->rect);
        for (uint32_t j = i + 1; j < model->count && by_begin[j]->lo < by_begin[i]->hi; j++) {
            uint32_t b = (uint32_t)(by_begin[j] - model->rect);
            if (!model_meet(by_begin[i], by_begin[j])) {
                continue;
            }
            pairs++;
            if (is_count) {
                model->meet_at[a + 2]++;
                model->meet_at[b + 2]++;
            } else {
                model->meet[model->meet_at[a + 1]++] = b;
                model->meet[model->meet_at[b + 1]++] = a;
            }
        }
        if (2 * pairs > MODEL_MOST_MEETS) {
            return false;
        }
    }
    return true;
}

static bool list_meets(Model *model, Arena *arena) {
    const Rect **by_begin = arena_array(arena, const Rect *, model->count);
    for (uint32_t i = 0; i < model->count; i++) {
        by_begin[i] = &model->rect[i];
    }
    qsort(by_begin, model->count, sizeof(const Rect *), compare_begins);
    model->meet_at = arena_array(arena, uint32_t, model->count + 2);
    if (!visit_meets(model, by_begin, true)) {
        return false;
    }
    for (uint32_t i = 1; i <= model->count; i++) {
        model->meet_at[i + 1] += model->meet_at[i];
    }
    model->meet = arena_array(arena, uint32_t, model->meet_at[model->count + 1]);
    return visit_meets(model, by_begin, false);
}

/* ---- Bounds */

/* What one section holds of rectangles that start at multiples of an alignment. */
typedef struct {
    uint64_t sum;        /* of the sizes, each rounded up to it: the next one starts there at least */
    uint64_t most_spare; /* the most that a rounding added: the topmost need not be rounded */
} Section;

static bool starts_at_multiple(const Rect *rect, Level align) {
    return (rect->pin == LEVEL_NONE ? rect->align : rect->pin) % align == 0;
}

static void visit_section(Section *section, const Rect *rect, Level align) {
    uint64_t taken = ceil_div(rect->size, align) * align;
    section->sum += taken;
    section->most_spare = taken - rect->size > section->most_spare ? taken - rect->size : section->most_spare;
}

static void raise_bound(Model *model, Level align, Section *section) {
    memset(section, 0, model->section_count * sizeof *section);
    for (uint32_t i = 0; i < model->count; i++) {
        if (starts_at_multiple(&model->rect[i], align)) {
            FOR_SECTIONS(&model->rect[i], s) {
                visit_section(&section[s], &model->rect[i], align);
            }
        }
    }
    for (uint32_t s = 0; s < model->section_count; s++) {
        Level least = (Level)(section[s].sum - section[s].most_spare);
        model->bound = least > model->bound ? least : model->bound;
    }
}

enum { MOST_ALIGNMENTS = 16 };

static uint32_t add_alignment(Level *align, uint32_t count, Level more) {
    for (uint32_t k = 0; k < count; k++) {
        if (align[k] == more) {
            return count;
        }
    }
    if (count < MOST_ALIGNMENTS) {
        align[count++] = more;
    }
    return count;
}

/* 1, those that occur and what divides several of them, as far as there is room. */
static uint32_t list_alignments(const Model *model, Level *align) {
    uint32_t count = add_alignment(align, 0, 1);
    for (uint32_t i = 0; i < model->count; i++) {
        const Level own = model->rect[i].align;
        const uint32_t before = count;
        count = add_alignment(align, count, own);
        for (uint32_t k = 0; k < before && count > before; k++) {
            count = add_alignment(align, count, (Level)common_divisor(align[k], own));
        }
    }
    return count;
}

static void find_bound(Model *model, bool is_strong, Arena *arena) {
    Section *section = arena_array(arena, Section, model->section_count);
    Level align[MOST_ALIGNMENTS];
    uint32_t aligns = is_strong ? list_alignments(model, align) : add_alignment(align, 0, 1);
    for (uint32_t k = 0; k < aligns; k++) {
        raise_bound(model, align[k], section);
    }
    for (uint32_t i = 0; i < model->count; i++) {
        const Rect *rect = &model->rect[i];
        if (rect->pin != LEVEL_NONE && rect->pin + rect->size > model->bound) {
            model->bound = rect->pin + rect->size;
        }
    }
}

static void find_most_live(Model *model) {
    for (uint32_t s = 0; s < model->section_count; s++) {
        uint32_t live = model->live_at[s + 1] - model->live_at[s];
        model->most_live = live > model->most_live ? live : model->most_live;
    }
}

/* False where it can't be searched. */
static bool make(Model *model, const Sized *sized, uint64_t total, bool is_strong, Arena *arena) {
    model->unit_bytes = find_unit(sized, model->count);
    CHECK(model->unit_bytes > 0);
    if (total / model->unit_bytes >= LEVEL_NONE / 4) {
        return false;
    }
    model->most = (Level)(total / model->unit_bytes) + 1;
    model->rect = arena_array(arena, Rect, model->count);
    scale_all(model, sized);
    find_ranges(model, sized, arena);
    uint64_t places = 0;
    for (uint32_t i = 0; i < model->count; i++) {
        places += model->rect[i].width;
    }
    if (places > MODEL_MOST_PLACES) {
        return false;
    }
    model->places = (uint32_t)places;
    list_live(model, arena);
    if (!list_meets(model, arena)) {
        return false;
    }
    find_most_live(model);
    find_bound(model, is_strong, arena);
    return true;
}

bool model_init(Model *model, const SolverBuffer *buffer, size_t count, const SolverOptions *options, Arena *arena) {
    *model = (Model){0};
    const ArenaMark mark = arena_mark(arena);
    const bool is_strong = (options->switched_off & 1U << INFER_BOUNDS) == 0;
    Sized *sized = arena_array(arena, Sized, count);
    uint64_t total;
    if (!size_all(sized, buffer, count, options->align_bytes, &total)) {
        return false;
    }
    model->count = (uint32_t)count;
    model->is_scaled = count > 0 && count <= MODEL_MOST_RECTS && make(model, sized, total, is_strong, arena);
    if (!model->is_scaled) {
        *model = (Model){0};
        arena_back(arena, mark);
    }
    return true;
}
