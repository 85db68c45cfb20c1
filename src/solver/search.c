/* The search: decisions on a stack, taken back in order.
 *
 * Invariant: active[0, count) holds every rectangle once. A frame owns active[begin, end), none of them placed; a
 * decision moves what it places to the end of that and cuts the rest where no rectangle crosses. The parts wait on a
 * stack of their own and are solved one after another: where one fails, the decision that made it is taken back and no
 * other solution of the parts before it is sought. */
#include "solver/search_state.h"

enum { NODES_A_LOOK = 64 };

/* ---- Decisions */

/* The rectangles that can rest on the floor of the frame's section, in the order of preference. */
static void list_choices(Search *search, Frame *frame) {
    const Model *model = search->model;
    const uint32_t *rank = search->task.rank;
    uint32_t begin = search->choice_count;
    for (uint32_t k = model->live_at[frame->section]; k < model->live_at[frame->section + 1]; k++) {
        uint32_t r = model->live[k];
        if (search->low[r] != search->floor[frame->section] || !state_may_rest(search, r)) {
            continue;
        }
        uint32_t at = search->choice_count++;
        for (; at > begin && rank[search->choice[at - 1]] > rank[r]; at--) {
            search->choice[at] = search->choice[at - 1];
        }
        search->choice[at] = r;
    }
    frame->next = begin;
    frame->choice_end = search->choice_count;
}

static void open_part(Search *search, const Part *part) {
    Frame *frame = &search->frame[search->frame_count++];
    *frame = (Frame){.part = *part, .section = state_pick(search, part)};
    list_choices(search, frame);
    frame->mark = state_mark(search);
}

static void swap_active(Search *search, uint32_t a, uint32_t b) {
    uint32_t kept = search->active[a];
    search->active[a] = search->active[b];
    search->active[b] = kept;
    search->where[search->active[a]] = a;
    search->where[kept] = b;
}

static void wait_for(Search *search, Part part) {
    if (part.begin < part.end) {
        search->waiting[search->waiting_count++] = part;
    }
}

/* Moves what begins before `section` to the front of the part, and returns where that ends. */
static uint32_t split_active(Search *search, const Part *part, uint32_t section) {
    uint32_t at = part->begin;
    for (uint32_t k = part->begin; k < part->end; k++) {
        if (search->model->rect[search->active[k]].lo < section) {
            swap_active(search, at++, k);
        }
    }
    return at;
}

/* Leaves the part waiting, in pieces where nothing that is left crosses from one section of [lo, hi) to the next. */
static void cut(Search *search, Part part, uint32_t lo, uint32_t hi) {
    lo = lo > part.lo ? lo : part.lo;
    hi = hi < part.hi ? hi : part.hi;
    for (uint32_t s = lo + 1; s < hi && !search->is_off[INFER_SECTIONS]; s++) {
        if (search->cross[s] == 0) {
            Part piece = part;
            piece.end = split_active(search, &part, s);
            piece.hi = s;
            wait_for(search, piece);
            part.begin = piece.end;
            part.lo = s;
        }
    }
    wait_for(search, part);
}

/* Is there a placement with `r` on the floor of the frame's section, as far as can be seen? Then the rest waits. */
static bool try_choice(Search *search, int32_t index, uint32_t r) {
    const Frame *frame = &search->frame[index];
    const Rect *rect = &search->model->rect[r];
    if (!state_place(search, r, search->floor[frame->section]) || !state_raise_floors(search) ||
        state_is_dominated(search, frame->mark.changed)) {
        return false;
    }
    Part part = frame->part;
    part.owner = index;
    swap_active(search, search->where[r], --part.end);
    cut(search, part, rect->lo, rect->hi);
    return true;
}

static bool try_waste(Search *search, int32_t index) {
    const Frame *frame = &search->frame[index];
    Level level = state_next_level(search, frame->section);
    if (level == LEVEL_NONE || !state_waste(search, frame->section, level) || !state_raise_floors(search) ||
        state_is_dominated(search, frame->mark.changed)) {
        return false;
    }
    Part part = frame->part;
    part.owner = index;
    wait_for(search, part);
    return true;
}

/* The next answer of a frame that may lead on, all that came after the one before taken back. False where there is
 * none. */
static bool advance(Search *search, int32_t index) {
    Frame *frame = &search->frame[index];
    search->frame_count = (uint32_t)index + 1;
    state_undo(search, &frame->mark);
    while (frame->next < frame->choice_end) {
        search->nodes++;
        if (try_choice(search, index, search->choice[frame->next++])) {
            return true;
        }
        state_undo(search, &frame->mark);
    }
    if (frame->is_wasted) {
        return false;
    }
    search->nodes++;
    frame->is_wasted = true;
    return try_waste(search, index);
}

static bool is_spent(Search *search) {
    const SearchTask *task = &search->task;
    if (search->nodes >= search->next_look) {
        search->next_look = search->nodes + NODES_A_LOOK;
        if (task->is_over(task->context)) {
            return true;
        }
    }
    return search->nodes >= task->most_nodes || !state_has_room(search);
}

/* Nothing is left to try. Where something was cut short, that proves nothing. */
static SearchEnd failed(const Search *search) {
    return search->is_full ? SEARCH_SPENT : SEARCH_EXHAUSTED;
}

SearchEnd search_run(Search *search, const SearchTask *task) {
    search->task = *task;
    if (!state_reset(search)) {
        return failed(search);
    }
    const Model *model = search->model;
    cut(search, (Part){0, model->count, 0, model->section_count, -1}, 0, model->section_count);
    while (search->waiting_count > 0) {
        if (is_spent(search)) {
            return SEARCH_SPENT;
        }
        Part part = search->waiting[--search->waiting_count];
        search->frame_count = (uint32_t)(part.owner + 1);
        open_part(search, &part);
        int32_t at = (int32_t)search->frame_count - 1;
        while (at >= 0 && !advance(search, at)) {
            at = search->frame[at].part.owner;
        }
        if (at < 0) {
            return failed(search);
        }
    }
    return SEARCH_FOUND;
}

uint64_t search_nodes(const Search *search) {
    return search->nodes;
}

const Level *search_offsets(const Search *search) {
    return search->offset;
}
