/* The judge of one memory: each buffer by itself, then the sweep, then the bound. */
#include "place/judge.h"

#include "base/checked.h"
#include "place/judge_sweep.h"

static Event *sorted_events(const PlaceProblem *problem, Arena *scratch) {
    Event *event = arena_array(scratch, Event, 2 * problem->count);
    for (size_t i = 0; i < problem->count; i++) {
        event[2 * i] = (Event){problem->buffer[i].first, i, true};
        event[2 * i + 1] = (Event){problem->buffer[i].last, i, false};
    }
    judge_sort_events(event, 2 * problem->count);
    return event;
}

static Judgement judge_overlap(const PlaceProblem *problem, const Event *event, Arena *scratch) {
    size_t met[2];
    Body *body = arena_array(scratch, Body, problem->count);
    for (size_t i = 0; i < problem->count; i++) {
        body[i] = (Body){.offset = problem->buffer[i].offset, .size = problem->buffer[i].size};
    }
    if (judge_sweep(body, problem->count, event, 2 * problem->count, scratch, met)) {
        return (Judgement){JUDGE_OVERLAP, met[0], met[1]};
    }
    return (Judgement){.verdict = JUDGE_RIGHT};
}

/* Each buffer by itself, and whether one reaches the height. */
static Judgement judge_extent(const PlaceProblem *problem) {
    uint64_t highest = 0;
    for (size_t i = 0; i < problem->count; i++) {
        const PlaceBuffer *buffer = &problem->buffer[i];
        if (buffer->offset % buffer->align != 0 || buffer->offset % problem->align_bytes != 0) {
            return (Judgement){JUDGE_MISALIGNED, i, i};
        }
        uint64_t end;
        if (!checked_add(buffer->offset, buffer->size, &end) || !checked_round_up(end, problem->align_bytes, &end) ||
            end > problem->height) {
            return (Judgement){JUDGE_TOO_HIGH, i, i};
        }
        highest = end > highest ? end : highest;
    }
    return (Judgement){.verdict = highest == problem->height ? JUDGE_RIGHT : JUDGE_WRONG_HEIGHT};
}

/* The live sum after each event is exact as all sizes fit below the height; it is largest after some start. */
static Judgement judge_bound(const PlaceProblem *problem, const Event *event) {
    uint64_t live = 0;
    uint64_t most = 0;
    for (size_t i = 0; i < 2 * problem->count; i++) {
        uint64_t size = problem->buffer[event[i].body].size;
        uint64_t rest = size % problem->align_bytes;
        size += rest == 0 ? 0 : problem->align_bytes - rest;
        live = event[i].starts ? live + size : live - size;
        most = live > most ? live : most;
    }
    return (Judgement){.verdict = most == problem->bound ? JUDGE_RIGHT : JUDGE_WRONG_BOUND};
}

Judgement place_judge(const PlaceProblem *problem, Arena *scratch) {
    Judgement judgement = judge_extent(problem);
    if (judgement.verdict != JUDGE_RIGHT) {
        return judgement;
    }
    const Event *event = sorted_events(problem, scratch);
    judgement = judge_overlap(problem, event, scratch);
    if (judgement.verdict != JUDGE_RIGHT) {
        return judgement;
    }
    return judge_bound(problem, event);
}

const char *judge_text(JudgeVerdict verdict) {
    static const char *const TEXT[] = {
        [JUDGE_RIGHT] = "the placement is right",
        [JUDGE_OVERLAP] = "two buffers share a byte",
        [JUDGE_MISALIGNED] = "an offset is not a multiple of its alignment",
        [JUDGE_TOO_HIGH] = "a buffer ends above the height",
        [JUDGE_WRONG_HEIGHT] = "no buffer reaches the height",
        [JUDGE_WRONG_BOUND] = "the bound is not the largest sum of live sizes",
        [JUDGE_MOVED] = "a buffer is not at its offset",
        [JUDGE_WRONG_MEMORY] = "a buffer is not in its memory",
        [JUDGE_TORN] = "buffers that share a storage lie in different places",
        [JUDGE_TOGETHER] = "buffers that must lie apart share a byte",
        [JUDGE_OVER_CAPACITY] = "the placement is higher than the memory",
    };
    return TEXT[verdict];
}
