/* Where a search stands: what a decision changes, and how that is taken back.
 *
 * Invariant: where `low` of a rectangle or the floor of a section changes, `answers` follow at once, so that taking the
 * changes back one by one in reverse finds them as they were. */
#include "solver/search_state.h"

#include <string.h>

uint32_t search_most_changes(const Model *model) {
    const uint64_t most =
        2 * (uint64_t)model->meet_at[model->count] + 8 * ((uint64_t)model->places + model->count) + 4096;
    return most < SEARCH_MOST_CHANGES ? (uint32_t)most : SEARCH_MOST_CHANGES;
}

Search *search_new(const Model *model, uint32_t switched_off, uint32_t most_changes, Arena *arena) {
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
    search->answers = arena_array(arena, uint32_t, sections);
    search->cross = arena_array(arena, uint32_t, sections);
    search->low = arena_array(arena, Level, n);
    search->rest = arena_array(arena, Level, n);
    search->offset = arena_array(arena, Level, n);
    search->where = arena_array(arena, uint32_t, n);
    search->active = arena_array(arena, uint32_t, n);
    search->waiting = arena_array(arena, Part, n + 1);
    search->most_frames = 4 * n + 64;
    search->frame = arena_array(arena, Frame, search->most_frames);
    search->most_choices = 2 * (model->places + n) + 64 * model->most_live;
    search->choice = arena_array(arena, uint32_t, search->most_choices);
    search->most_changes = most_changes;
    search->change = arena_array(arena, Change, most_changes);
    return search;
}

bool state_has_room(const Search *search) {
    return !search->is_full && search->frame_count < search->most_frames &&
           search->choice_count + search->model->most_live <= search->most_choices;
}

/* ---- Changes */

static void widen(Hull *hull, uint32_t lo, uint32_t hi) {
    hull->lo = hull->hi == 0 || lo < hull->lo ? lo : hull->lo;
    hull->hi = hi > hull->hi ? hi : hull->hi;
}

static Change section_change(const Search *search, uint32_t s) {
    return (Change){CHANGE_SECTION, s, search->floor[s], search->top[s], search->answers[s]};
}

static Change rect_change(const Search *search, uint32_t r) {
    return (Change){.kind = CHANGE_RECT, .index = r, .first = search->low[r], .second = search->rest[r]};
}

static bool write_down(Search *search, Change change) {
    if (search->change_count == search->most_changes) {
        search->is_full = true;
        return false;
    }
    search->change[search->change_count++] = change;
    return true;
}

/* The first offset from `level` on at which the rectangle is beside every pin that is not yet placed. */
static Level pass_pins(const Search *search, uint32_t r, Level level) {
    const Model *model = search->model;
    const Rect *rect = &model->rect[r];
    for (bool is_beside = false; !is_beside;) {
        is_beside = true;
        for (uint32_t k = model->meet_at[r]; k < model->meet_at[r + 1]; k++) {
            const Rect *pin = &model->rect[model->meet[k]];
            if (pin->pin != LEVEL_NONE && search->low[model->meet[k]] != LEVEL_NONE && level < pin->pin + pin->size &&
                pin->pin < level + rect->size) {
                level = level_align(pin->pin + pin->size, rect->align);
                is_beside = false;
            }
        }
    }
    return level;
}

/* The rectangle lies at `level` or higher. */
static bool raise_low(Search *search, uint32_t r, Level level) {
    const Rect *rect = &search->model->rect[r];
    Level old = search->low[r];
    if (rect->pin != LEVEL_NONE) {
        return level <= rect->pin;
    }
    level = level_align(level, rect->align);
    level = search->model->pin_count == 0 ? level : pass_pins(search, r, level);
    if (level + rect->size > search->task.capacity || !write_down(search, rect_change(search, r))) {
        return false;
    }
    search->low[r] = level;
    FOR_SECTIONS(rect, s) {
        search->answers[s] += (uint32_t)(search->floor[s] == level) - (uint32_t)(search->floor[s] == old);
    }
    widen(&search->hull, rect->lo, rect->hi);
    return true;
}

/* All that is left in the section lies at `level` or higher. */
static bool raise_floor(Search *search, uint32_t s, Level level) {
    const Model *model = search->model;
    if ((!search->is_off[INFER_FLOORS] && level + search->left[s] > search->task.capacity) ||
        !write_down(search, section_change(search, s))) {
        return false;
    }
    search->floor[s] = level;
    widen(&search->hull, s, s + 1);
    uint32_t answers = 0;
    for (uint32_t k = model->live_at[s]; k < model->live_at[s + 1]; k++) {
        uint32_t r = model->live[k];
        if (search->low[r] < level && !raise_low(search, r, level)) {
            return false;
        }
        answers += search->low[r] == level;
    }
    search->answers[s] = answers;
    return true;
}

bool state_waste(Search *search, uint32_t section, Level level) {
    return raise_floor(search, section, level);
}

/* A rectangle that is left lies on top of one just placed or higher. */
static bool raise_neighbour(Search *search, uint32_t r, Level top) {
    const Rect *rect = &search->model->rect[r];
    bool is_low = search->low[r] < top;
    if (is_low && !raise_low(search, r, top)) {
        return false;
    }
    Level rest = level_align(top, rect->align);
    if (rect->pin != LEVEL_NONE || rest <= search->rest[r]) {
        return true;
    }
    if (!is_low && !write_down(search, rect_change(search, r))) {
        return false;
    }
    search->rest[r] = rest;
    return true;
}

static bool raise_neighbours(Search *search, uint32_t r, Level top) {
    const Model *model = search->model;
    for (uint32_t k = model->meet_at[r]; k < model->meet_at[r + 1]; k++) {
        uint32_t other = model->meet[k];
        if (search->low[other] != LEVEL_NONE && !raise_neighbour(search, other, top)) {
            return false;
        }
    }
    return true;
}

/* In the sections of a rectangle just placed the floor is new, so all answers are counted anew. */
static void count_answers(Search *search, const Rect *rect) {
    const Model *model = search->model;
    FOR_SECTIONS(rect, s) {
        uint32_t answers = 0;
        for (uint32_t k = model->live_at[s]; k < model->live_at[s + 1]; k++) {
            answers += search->low[model->live[k]] == search->floor[s];
        }
        search->answers[s] = answers;
    }
}

bool state_place(Search *search, uint32_t r, Level offset) {
    const Rect *rect = &search->model->rect[r];
    Level top = offset + rect->size;
    if (search->most_changes - search->change_count <= rect->width) {
        search->is_full = true;
        return false;
    }
    search->offset[r] = offset;
    search->low[r] = LEVEL_NONE;
    (void)write_down(search, (Change){.kind = CHANGE_PLACED, .index = r});
    FOR_SECTIONS(rect, s) {
        (void)write_down(search, section_change(search, s));
        search->floor[s] = top;
        search->top[s] = top;
        search->left[s] -= rect->size;
        search->count[s]--;
    }
    for (uint32_t s = rect->lo + 1; s < rect->hi; s++) {
        search->cross[s]--;
    }
    widen(&search->hull, rect->lo, rect->hi);
    bool fits = raise_neighbours(search, r, top);
    count_answers(search, rect);
    return fits;
}

/* ---- Back */

Mark state_mark(const Search *search) {
    return (Mark){search->change_count, search->waiting_count, search->choice_count};
}

static void take_away(Search *search, uint32_t r) {
    const Rect *rect = &search->model->rect[r];
    search->low[r] = search->offset[r];
    FOR_SECTIONS(rect, s) {
        search->left[s] += rect->size;
        search->count[s]++;
    }
    for (uint32_t s = rect->lo + 1; s < rect->hi; s++) {
        search->cross[s]++;
    }
}

static void lower(Search *search, uint32_t r, Level low, Level rest) {
    Level now = search->low[r];
    search->rest[r] = rest;
    if (now == low) {
        return;
    }
    search->low[r] = low;
    FOR_SECTIONS(&search->model->rect[r], s) {
        search->answers[s] += (uint32_t)(search->floor[s] == low) - (uint32_t)(search->floor[s] == now);
    }
}

static void take_back(Search *search, const Change *change) {
    switch (change->kind) {
    case CHANGE_SECTION:
        search->floor[change->index] = change->first;
        search->top[change->index] = change->second;
        search->answers[change->index] = change->answers;
        return;
    case CHANGE_RECT:
        lower(search, change->index, change->first, change->second);
        return;
    case CHANGE_PLACED:
        take_away(search, change->index);
        return;
    }
}

void state_undo(Search *search, const Mark *mark) {
    while (search->change_count > mark->changed) {
        take_back(search, &search->change[--search->change_count]);
    }
    search->waiting_count = mark->waiting;
    search->choice_count = mark->choices;
    search->hull = (Hull){0, 0};
}

/* ---- The start */

static void count_left(Search *search) {
    const Model *model = search->model;
    memset(search->left, 0, model->section_count * sizeof *search->left);
    memset(search->count, 0, model->section_count * sizeof *search->count);
    memset(search->cross, 0, model->section_count * sizeof *search->cross);
    for (uint32_t r = 0; r < model->count; r++) {
        const Rect *rect = &model->rect[r];
        FOR_SECTIONS(rect, s) {
            search->left[s] += rect->size;
            search->count[s]++;
        }
        for (uint32_t s = rect->lo + 1; s < rect->hi; s++) {
            search->cross[s]++;
        }
    }
}

bool state_reset(Search *search) {
    const Model *model = search->model;
    memset(search->floor, 0, model->section_count * sizeof *search->floor);
    memset(search->top, 0, model->section_count * sizeof *search->top);
    memset(search->answers, 0, model->section_count * sizeof *search->answers);
    memset(search->rest, 0, model->count * sizeof *search->rest);
    memset(search->low, 0, model->count * sizeof *search->low); /* not LEVEL_NONE: all pins are left */
    count_left(search);
    search->nodes = search->next_look = 0;
    search->is_full = false;
    search->choice_count = search->change_count = search->waiting_count = search->frame_count = 0;
    bool fits = true;
    for (uint32_t r = 0; r < model->count; r++) {
        const Rect *rect = &model->rect[r];
        search->active[r] = search->where[r] = r;
        Level low = rect->pin;
        if (low == LEVEL_NONE) {
            low = model->pin_count == 0 ? 0 : pass_pins(search, r, 0);
        }
        search->low[r] = low;
        fits = fits && low + rect->size <= search->task.capacity;
        FOR_SECTIONS(rect, s) {
            search->answers[s] += low == 0;
            fits = fits && search->left[s] <= search->task.capacity;
        }
    }
    search->hull = (Hull){0, model->section_count};
    return fits && state_raise_floors(search);
}
