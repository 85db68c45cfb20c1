/* The search: decisions on a stack, taken back in order.
 *
 * Invariant: active[0, count) holds every rectangle once. A frame owns active[begin, end), none of them placed; a
 * decision moves what it places to the end of that and cuts the rest where no rectangle crosses. The parts wait on a
 * stack of their own and are solved one after another: where one fails, the decision that made it is taken back and no
 * other solution of the parts before it is sought. */
#include "place/search_state.h"

#include <string.h>

enum { NODES_A_LOOK = 64 };

/* ---- Decisions */

/* The rectangles that can rest on the floor of the frame's section, in the order of preference. */
static void list_choices(Search *search, Frame *frame) {
    const SearchTask *task = &search->task;
    frame->choice_begin = search->choice_count;
    for (uint32_t k = frame->part.begin; k < frame->part.end; k++) {
        uint32_t r = search->active[k];
        if (search->low[r] != search->floor[frame->section] || !state_covers(search, r, frame->section) ||
            !state_may_rest(search, r)) {
            continue;
        }
        uint32_t at = search->choice_count++;
        for (; at > frame->choice_begin && task->rank[search->choice[at - 1]] > task->rank[r]; at--) {
            search->choice[at] = search->choice[at - 1];
        }
        search->choice[at] = r;
    }
    frame->choice_end = search->choice_count;
    frame->next = frame->choice_begin;
}

/* Opens a part of what is left: false where it can't be solved as things stand. */
static bool open_part(Search *search, const Part *part) {
    if (!state_raise_floors(search, part) || state_is_dominated(search, part)) {
        return false;
    }
    Frame *frame = &search->frame[search->frame_count];
    *frame = (Frame){.part = *part, .section = state_pick(search, part)};
    list_choices(search, frame);
    frame->waste = state_next_level(search, part, frame->section);
    frame->mark = state_mark(search);
    search->frame_count++;
    return true;
}

static void swap_active(Search *search, uint32_t a, uint32_t b) {
    uint32_t kept = search->active[a];
    search->active[a] = search->active[b];
    search->active[b] = kept;
}

static void wait_for(Search *search, uint32_t begin, uint32_t end, int32_t owner) {
    if (begin < end) {
        search->waiting[search->waiting_count++] = state_part(search, begin, end, owner);
    }
}

/* Cuts active[begin, end) where no rectangle crosses, and leaves the parts waiting. */
static void cut(Search *search, uint32_t begin, uint32_t end, int32_t owner) {
    if (begin == end) {
        return;
    }
    if (search->is_off[INFER_SECTIONS]) {
        wait_for(search, begin, end, owner);
        return;
    }
    Part whole = state_part(search, begin, end, owner);
    uint32_t *reach = search->reach; /* of what begins in a section: the furthest end */
    memset(&reach[whole.lo], 0, (whole.hi - whole.lo) * sizeof *reach);
    for (uint32_t k = begin; k < end; k++) {
        const Rect *rect = &search->model->rect[search->active[k]];
        reach[rect->lo] = rect->hi > reach[rect->lo] ? rect->hi : reach[rect->lo];
    }
    uint32_t part_end = reach[whole.lo];
    for (uint32_t s = whole.lo + 1; s < whole.hi; s++) {
        if (s >= part_end && reach[s] != 0) {
            uint32_t at = begin;
            for (uint32_t k = begin; k < end; k++) {
                if (search->model->rect[search->active[k]].lo < s) {
                    swap_active(search, at++, k);
                }
            }
            wait_for(search, begin, at, owner);
            begin = at;
        }
        part_end = reach[s] > part_end ? reach[s] : part_end;
    }
    wait_for(search, begin, end, owner);
}

static void take(Search *search, const Frame *frame, uint32_t r, int32_t owner) {
    state_place(search, r, search->floor[frame->section]);
    uint32_t at = frame->part.begin;
    while (search->active[at] != r) {
        at++;
    }
    swap_active(search, at, frame->part.end - 1);
    cut(search, frame->part.begin, frame->part.end - 1, owner);
}

/* The next answer of a frame, all that came after the one before taken back. False where there is none. */
static bool advance(Search *search, int32_t index) {
    Frame *frame = &search->frame[index];
    state_undo(search, &frame->mark);
    search->frame_count = (uint32_t)index + 1;
    if (frame->next < frame->choice_end) {
        take(search, frame, search->choice[frame->next++], index);
        return true;
    }
    if (frame->waste != LEVEL_NONE) {
        state_set_floor(search, frame->section, frame->waste);
        frame->waste = LEVEL_NONE;
        wait_for(search, frame->part.begin, frame->part.end, index);
        return true;
    }
    return false;
}

static bool is_spent(const Search *search) {
    const SearchTask *task = &search->task;
    return search->nodes >= task->most_nodes || !state_has_room(search) ||
           (search->nodes % NODES_A_LOOK == 0 && task->is_over(task->context));
}

SearchEnd search_run(Search *search, const SearchTask *task) {
    search->task = *task;
    if (!state_reset(search)) {
        return SEARCH_EXHAUSTED;
    }
    cut(search, 0, search->model->count, -1);
    while (search->waiting_count > 0) {
        if (is_spent(search)) {
            return SEARCH_SPENT;
        }
        search->nodes++;
        Part part = search->waiting[--search->waiting_count];
        search->frame_count = (uint32_t)(part.owner + 1);
        int32_t at = part.owner;
        if (open_part(search, &part)) {
            at = (int32_t)search->frame_count - 1;
        } else {
            state_blame(search);
        }
        while (at >= 0 && !advance(search, at)) {
            at = search->frame[at].part.owner;
        }
        if (at < 0) {
            return SEARCH_EXHAUSTED;
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
