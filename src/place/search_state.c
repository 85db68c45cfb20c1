/* Where a search stands, and what follows from that. */
#include "place/search_state.h"

#include "base/fault.h"

#include <string.h>

Search *search_new(const Model *model, uint32_t switched_off, Arena *arena) {
    Search *search = arena_new(arena, Search);
    uint32_t n = model->count, sections = model->section_count;
    *search = (Search){.model = model};
    for (Inference k = 0; k < INFER_COUNT; k++) {
        search->is_off[k] = (switched_off & 1U << k) != 0;
    }
    search->floor = arena_array(arena, Level, sections);
    search->top = arena_array(arena, Level, sections);
    search->left = arena_array(arena, Level, sections);
    search->count = arena_array(arena, uint32_t, sections);
    search->raised_in = arena_array(arena, uint64_t, sections);
    search->lowest = arena_array(arena, Level, sections);
    search->answers = arena_array(arena, uint32_t, sections);
    search->reach = arena_array(arena, uint32_t, sections + 1);
    search->is_open = arena_array(arena, bool, sections);
    search->low = arena_array(arena, Level, n);
    search->offset = arena_array(arena, Level, n);
    search->is_placed = arena_array(arena, bool, n);
    search->active = arena_array(arena, uint32_t, n);
    search->placed = arena_array(arena, uint32_t, n);
    search->waiting = arena_array(arena, Part, n + 1);
    search->most_frames = 4 * n + 64;
    search->frame = arena_array(arena, Frame, search->most_frames);
    search->most_choices = 2 * (model->places + n) + 64 * model->most_live;
    search->choice = arena_array(arena, uint32_t, search->most_choices);
    search->most_raised = 8 * (model->places + sections) + 4096;
    search->raised = arena_array(arena, Raised, search->most_raised);
    return search;
}

#define FOR_SECTIONS(rect, s)                                                                                          \
    for (const SectionRange *range_ = (rect)->range; range_ < (rect)->range + (rect)->range_count; range_++)           \
        for (uint32_t s = range_->lo; s < range_->hi; s++)

bool state_reset(Search *search) {
    const Model *model = search->model;
    for (uint32_t s = 0; s < model->section_count; s++) {
        search->floor[s] = search->top[s] = search->left[s] = search->count[s] = 0;
    }
    for (uint32_t r = 0; r < model->count; r++) {
        search->active[r] = r;
        search->is_placed[r] = false;
        FOR_SECTIONS(&model->rect[r], s) {
            search->left[s] += model->rect[r].size;
            search->count[s]++;
        }
    }
    search->nodes = 0;
    search->step++;
    search->choice_count = search->raised_count = search->placed_count = 0;
    search->waiting_count = search->frame_count = 0;
    for (uint32_t s = 0; s < model->section_count; s++) {
        if (search->left[s] > search->task.capacity) {
            return false;
        }
    }
    return true;
}

bool state_has_room(const Search *search) {
    return search->frame_count < search->most_frames &&
           search->choice_count + search->model->most_live <= search->most_choices &&
           search->raised_count + search->model->section_count <= search->most_raised;
}

Part state_part(const Search *search, uint32_t begin, uint32_t end, int32_t owner) {
    Part part = {begin, end, UINT32_MAX, 0, owner};
    for (uint32_t k = begin; k < end; k++) {
        const Rect *rect = &search->model->rect[search->active[k]];
        part.lo = rect->lo < part.lo ? rect->lo : part.lo;
        part.hi = rect->hi > part.hi ? rect->hi : part.hi;
    }
    return part;
}

/* ---- Changes */

/* Written down once a step: state_has_room leaves room for all sections. */
void state_set_floor(Search *search, uint32_t section, Level level) {
    if (search->raised_in[section] != search->step) {
        search->raised_in[section] = search->step;
        search->raised[search->raised_count++] = (Raised){section, search->floor[section], search->top[section]};
    }
    search->floor[section] = level;
}

void state_place(Search *search, uint32_t r, Level offset) {
    const Rect *rect = &search->model->rect[r];
    search->offset[r] = offset;
    search->is_placed[r] = true;
    search->placed[search->placed_count++] = r;
    FOR_SECTIONS(rect, s) {
        state_set_floor(search, s, search->offset[r] + rect->size);
        search->top[s] = search->floor[s];
        search->left[s] -= rect->size;
        search->count[s]--;
    }
}

Mark state_mark(Search *search) {
    search->step++;
    return (Mark){search->raised_count, search->placed_count, search->waiting_count, search->choice_count};
}

void state_undo(Search *search, const Mark *mark) {
    while (search->raised_count > mark->raised) {
        const Raised *raised = &search->raised[--search->raised_count];
        search->floor[raised->section] = raised->floor;
        search->top[raised->section] = raised->top;
    }
    while (search->placed_count > mark->placed) {
        uint32_t r = search->placed[--search->placed_count];
        search->is_placed[r] = false;
        FOR_SECTIONS(&search->model->rect[r], s) {
            search->left[s] += search->model->rect[r].size;
            search->count[s]++;
        }
    }
    search->step++;
    search->waiting_count = mark->waiting;
    search->choice_count = mark->choices;
}

/* ---- What follows */

/* The first offset from `level` on at which the rectangle is beside every pin that is not yet placed. */
static Level pass_pins(const Search *search, uint32_t r, Level level) {
    const Model *model = search->model;
    const Rect *rect = &model->rect[r];
    for (uint32_t p = 0; p < model->count; p++) {
        const Rect *pin = &model->rect[p];
        if (pin->pin != LEVEL_NONE && !search->is_placed[p] && level < pin->pin + pin->size &&
            pin->pin < level + rect->size && model_meet(rect, pin)) {
            level = level_align(pin->pin + pin->size, rect->align);
            p = UINT32_MAX; /* from the first again: it wraps to 0 */
        }
    }
    return level;
}

static Level highest(const Rect *rect, const Level *level) {
    Level most = 0;
    FOR_SECTIONS(rect, s) {
        most = level[s] > most ? level[s] : most;
    }
    return most;
}

/* Where a rectangle can lie at the lowest. False where that is too high. */
static bool find_low(Search *search, uint32_t r) {
    const Rect *rect = &search->model->rect[r];
    Level level = level_align(highest(rect, search->floor), rect->align);
    if (rect->pin != LEVEL_NONE) {
        search->low[r] = rect->pin;
        return highest(rect, search->floor) <= rect->pin && rect->pin + rect->size <= search->task.capacity;
    }
    search->low[r] = search->model->pin_count == 0 ? level : pass_pins(search, r, level);
    return search->low[r] + rect->size <= search->task.capacity;
}

static bool raise_once(Search *search, const Part *part, bool *is_changed) {
    memset(&search->lowest[part->lo], 0xFF, (part->hi - part->lo) * sizeof *search->lowest);
    for (uint32_t k = part->begin; k < part->end; k++) {
        uint32_t r = search->active[k];
        if (!find_low(search, r)) {
            search->culprit = search->model->rect[r].lo;
            return false;
        }
        FOR_SECTIONS(&search->model->rect[r], s) {
            search->lowest[s] = search->low[r] < search->lowest[s] ? search->low[r] : search->lowest[s];
        }
    }
    for (uint32_t s = part->lo; s < part->hi; s++) {
        if (search->count[s] == 0 || search->lowest[s] == LEVEL_NONE || search->lowest[s] <= search->floor[s]) {
            continue;
        }
        if (!search->is_off[INFER_FLOORS] && search->lowest[s] + search->left[s] > search->task.capacity) {
            search->culprit = s;
            return false;
        }
        state_set_floor(search, s, search->lowest[s]);
        *is_changed = true;
    }
    return true;
}

bool state_raise_floors(Search *search, const Part *part) {
    for (bool is_changed = true; is_changed;) {
        is_changed = false;
        if (!raise_once(search, part, &is_changed)) {
            return false;
        }
    }
    return true;
}

bool state_is_dominated(Search *search, const Part *part) {
    if (search->is_off[INFER_DOMINANCE] || search->model->pin_count > 0) {
        return false;
    }
    for (uint32_t k = part->begin; k < part->end; k++) {
        const Rect *rect = &search->model->rect[search->active[k]];
        Level top = level_align(highest(rect, search->top), rect->align);
        bool fits = true;
        FOR_SECTIONS(rect, s) {
            fits = fits && search->floor[s] >= top + rect->size;
        }
        if (fits) {
            search->culprit = rect->lo;
            return true;
        }
    }
    return false;
}

bool state_covers(const Search *search, uint32_t r, uint32_t section) {
    const Rect *rect = &search->model->rect[r];
    if (section < rect->lo || section >= rect->hi) {
        return false;
    }
    for (uint32_t k = 0; k < rect->range_count; k++) {
        if (section >= rect->range[k].lo && section < rect->range[k].hi) {
            return true;
        }
    }
    return false;
}

bool state_may_rest(const Search *search, uint32_t r) {
    const Model *model = search->model;
    const Rect *rect = &model->rect[r];
    if (!search->is_off[INFER_SYMMETRY] && rect->twin != r && !search->is_placed[rect->twin]) {
        return false;
    }
    return search->is_off[INFER_CANONICAL] || model->pin_count > 0 ||
           level_align(highest(rect, search->top), rect->align) == search->low[r];
}

/* Counts for each section what can rest on its floor, and closes it where something lies there and more under it. */
static void count_answers(Search *search, const Part *part) {
    for (uint32_t s = part->lo; s < part->hi; s++) {
        search->answers[s] = 0;
        search->is_open[s] = search->count[s] > 0 && search->lowest[s] != LEVEL_NONE;
    }
    for (uint32_t k = part->begin; k < part->end; k++) {
        uint32_t r = search->active[k];
        const Rect *rect = &search->model->rect[r];
        bool is_level = true;
        FOR_SECTIONS(rect, s) {
            is_level = is_level && search->floor[s] == search->low[r];
        }
        FOR_SECTIONS(rect, s) {
            bool rests = search->floor[s] == search->low[r];
            search->answers[s] += rests;
            search->is_open[s] &= !rests || is_level;
        }
    }
}

static uint64_t pick_key(const Search *search, uint32_t s) {
    Level slack = search->task.capacity - search->floor[s];
    slack = slack > search->left[s] ? slack - search->left[s] : 0;
    uint64_t answers = search->answers[s] + (slack > 0);
    if (answers <= 1) {
        return 0;
    }
    uint64_t major = search->task.pick == PICK_LOWEST ? search->floor[s] : answers;
    uint64_t minor = search->task.pick == PICK_LOWEST ? answers : slack;
    return (major << 32 | minor) + 1;
}

uint32_t state_pick(Search *search, const Part *part) {
    count_answers(search, part);
    uint32_t best = UINT32_MAX;
    uint64_t best_key = UINT64_MAX;
    for (uint32_t s = part->lo; s < part->hi; s++) {
        uint64_t key = search->is_open[s] ? pick_key(search, s) : UINT64_MAX;
        if (key < best_key) {
            best = s;
            best_key = key;
        }
    }
    CHECK(best != UINT32_MAX);
    return best;
}

/* The lowest offset of a rectangle of `section` that could rest on its floor but shall not: above it, or on top of
 * something that is not in the section. */
static Level next_offset(const Search *search, const Part *part, uint32_t section, uint32_t r) {
    const Rect *rect = &search->model->rect[r];
    if (search->low[r] > search->floor[section]) {
        return search->low[r];
    }
    Level next = LEVEL_NONE;
    for (uint32_t k = part->begin; k < part->end; k++) {
        uint32_t other = search->active[k];
        const Rect *below = &search->model->rect[other];
        if (other != r && search->low[other] + below->size < next && !state_covers(search, other, section) &&
            model_meet(below, rect)) {
            next = search->low[other] + below->size;
        }
    }
    return next == LEVEL_NONE ? next : level_align(next, rect->align);
}

Level state_next_level(const Search *search, const Part *part, uint32_t section) {
    Level next = LEVEL_NONE;
    for (uint32_t k = part->begin; k < part->end; k++) {
        uint32_t r = search->active[k];
        if (!state_covers(search, r, section)) {
            continue;
        }
        if (search->model->rect[r].pin == search->floor[section]) {
            return LEVEL_NONE;
        }
        Level offset = next_offset(search, part, section, r);
        next = offset < next ? offset : next;
    }
    bool fits = next != LEVEL_NONE && next + search->left[section] <= search->task.capacity;
    return fits ? next : LEVEL_NONE;
}

void state_blame(Search *search) {
    (void)search->culprit;
}
