/* What follows from where a search stands: floors that must go up, placements in which not all rest, the section whose
 * answers are fewest. */
#include "solver/search_state.h"

#include "base/fault.h"

/* ---- Floors */

static Level lowest_left(const Search *search, uint32_t s) {
    const Model *model = search->model;
    Level lowest = LEVEL_NONE;
    for (uint32_t k = model->live_at[s]; k < model->live_at[s + 1]; k++) {
        Level low = search->low[model->live[k]];
        lowest = low < lowest ? low : lowest;
    }
    return lowest;
}

bool state_raise_floors(Search *search) {
    while (search->hull.hi != 0) {
        Hull hull = search->hull;
        search->hull = (Hull){0, 0};
        for (uint32_t s = hull.lo; s < hull.hi; s++) {
            if (search->answers[s] == 0 && search->count[s] > 0 && !state_waste(search, s, lowest_left(search, s))) {
                return false;
            }
        }
    }
    return true;
}

/* ---- Dominance */

/* Would it fit between what it could rest on and all floors above that? */
static bool fits_below(const Search *search, uint32_t r) {
    const Rect *rect = &search->model->rect[r];
    Level top = search->rest[r] + rect->size;
    FOR_SECTIONS(rect, s) {
        if (search->floor[s] < top) {
            return false;
        }
    }
    return true;
}

bool state_is_dominated(Search *search, uint32_t from) {
    const Model *model = search->model;
    if (search->is_off[INFER_DOMINANCE] || model->pin_count > 0) {
        return false;
    }
    for (uint32_t c = from; c < search->change_count; c++) {
        uint32_t s = search->change[c].index;
        if (search->change[c].kind != CHANGE_SECTION || search->floor[s] == search->top[s]) {
            continue;
        }
        for (uint32_t k = model->live_at[s]; k < model->live_at[s + 1]; k++) {
            uint32_t r = model->live[k];
            if (search->low[r] != LEVEL_NONE && search->floor[s] >= search->rest[r] + model->rect[r].size &&
                fits_below(search, r)) {
                return true;
            }
        }
    }
    return false;
}

bool state_may_rest(const Search *search, uint32_t r) {
    const Rect *rect = &search->model->rect[r];
    if (!search->is_off[INFER_SYMMETRY] && rect->twin != r && search->low[rect->twin] != LEVEL_NONE) {
        return false;
    }
    return search->is_off[INFER_CANONICAL] || search->model->pin_count > 0 || search->rest[r] == search->low[r];
}

/* ---- The next section */

enum { FLOORS_AN_ANSWER = 32 }; /* one answer more is as bad as a floor higher by this part of the capacity */

static uint64_t key_of(const Search *search, uint32_t s) {
    Level slack = search->task.capacity - search->floor[s];
    slack = slack > search->left[s] ? slack - search->left[s] : 0;
    uint64_t answers = search->answers[s] + (slack > 0);
    if (answers <= 1) {
        return 0;
    }
    uint64_t major = search->floor[s], minor = answers;
    if (search->task.pick == PICK_FEWEST) {
        major = answers;
        minor = slack;
    } else if (search->task.pick == PICK_MIDDLE) {
        major += answers * (search->task.capacity / FLOORS_AN_ANSWER);
        minor = slack;
    }
    return (major << 32 | minor) + 1;
}

/* Is nothing that could rest on the floor above something lower? */
static bool is_open(const Search *search, uint32_t section) {
    const Model *model = search->model;
    Level floor = search->floor[section];
    for (uint32_t k = model->live_at[section]; k < model->live_at[section + 1]; k++) {
        if (search->low[model->live[k]] != floor) {
            continue;
        }
        FOR_SECTIONS(&model->rect[model->live[k]], s) {
            if (search->floor[s] != floor) {
                return false;
            }
        }
    }
    return true;
}

/* The section of the part with the least key of those that come after `last`, in the order of key and number. */
static uint32_t next_by_key(const Search *search, const Part *part, uint32_t last, uint64_t last_key) {
    uint32_t best = UINT32_MAX;
    uint64_t best_key = UINT64_MAX;
    for (uint32_t s = part->lo; s < part->hi; s++) {
        uint64_t key = search->count[s] == 0 ? UINT64_MAX : key_of(search, s);
        bool is_after = last == UINT32_MAX || key > last_key || (key == last_key && s > last);
        if (key < best_key && is_after) {
            best = s;
            best_key = key;
        }
    }
    CHECK(best != UINT32_MAX); /* the lowest floor of all is open */
    return best;
}

uint32_t state_pick(const Search *search, const Part *part) {
    uint32_t best = next_by_key(search, part, UINT32_MAX, 0);
    while (!is_open(search, best)) {
        best = next_by_key(search, part, best, key_of(search, best));
    }
    return best;
}

/* ---- Waste */

static bool lives_in(const Search *search, uint32_t r, uint32_t section) {
    const Rect *rect = &search->model->rect[r];
    for (uint32_t k = 0; k < rect->range_count; k++) {
        if (section >= rect->range[k].lo && section < rect->range[k].hi) {
            return true;
        }
    }
    return false;
}

/* The lowest offset of a rectangle of `section` that could rest on its floor but shall not: on top of something that
 * does not live in the section. */
static Level next_offset(const Search *search, uint32_t section, uint32_t r) {
    const Model *model = search->model;
    Level next = LEVEL_NONE;
    for (uint32_t k = model->meet_at[r]; k < model->meet_at[r + 1]; k++) {
        uint32_t below = model->meet[k];
        if (search->low[below] != LEVEL_NONE && search->low[below] + model->rect[below].size < next &&
            !lives_in(search, below, section)) {
            next = search->low[below] + model->rect[below].size;
        }
    }
    return next == LEVEL_NONE ? next : level_align(next, model->rect[r].align);
}

Level state_next_level(const Search *search, uint32_t section) {
    const Model *model = search->model;
    Level next = LEVEL_NONE;
    for (uint32_t k = model->live_at[section]; k < model->live_at[section + 1]; k++) {
        uint32_t r = model->live[k];
        Level low = search->low[r];
        if (low == LEVEL_NONE) {
            continue;
        }
        bool could_rest = low == search->floor[section];
        if (could_rest && model->rect[r].pin != LEVEL_NONE) {
            return LEVEL_NONE;
        }
        low = could_rest ? next_offset(search, section, r) : low;
        next = low < next ? low : next;
    }
    bool fits = next != LEVEL_NONE && next + search->left[section] <= search->task.capacity;
    return fits || (search->is_off[INFER_FLOORS] && next != LEVEL_NONE) ? next : LEVEL_NONE;
}
