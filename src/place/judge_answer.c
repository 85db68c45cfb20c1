/* The judge of an answer in several memories: each buffer by itself, each memory by itself, then what buffers may not
 * do to each other. Buffers that share are one body. */
#include "place/judge.h"

#include "base/checked.h"
#include "place/judge_sweep.h"

#include <stdlib.h>

static const Judgement RIGHT = {.verdict = JUDGE_RIGHT};

/* ---- One buffer */

static Judgement judge_buffer(const JudgedAnswer *answer, size_t i) {
    const JudgedBuffer *buffer = &answer->buffer[i];
    if (buffer->memory >= answer->memory_count ||
        (buffer->required != JUDGE_ANY_MEMORY && buffer->required != buffer->memory)) {
        return (Judgement){JUDGE_WRONG_MEMORY, i, i};
    }
    const JudgedMemory *memory = &answer->memory[buffer->memory];
    if (buffer->is_pinned && buffer->offset != buffer->pin) {
        return (Judgement){JUDGE_MOVED, i, i};
    }
    if (buffer->offset % buffer->align != 0 || buffer->offset % memory->align_bytes != 0) {
        return (Judgement){JUDGE_MISALIGNED, i, i};
    }
    uint64_t end;
    if (!checked_add(buffer->offset, buffer->size, &end) || !checked_round_up(end, memory->align_bytes, &end) ||
        end > memory->height) {
        return (Judgement){JUDGE_TOO_HIGH, i, i};
    }
    return RIGHT;
}

/* ---- Heights */

static Judgement judge_heights(const JudgedAnswer *answer, Arena *scratch) {
    uint64_t *highest = arena_array(scratch, uint64_t, answer->memory_count);
    for (size_t i = 0; i < answer->count; i++) {
        const JudgedBuffer *buffer = &answer->buffer[i];
        uint64_t end = buffer->offset + buffer->size;
        uint64_t rest = end % answer->memory[buffer->memory].align_bytes;
        end += rest == 0 ? 0 : answer->memory[buffer->memory].align_bytes - rest;
        highest[buffer->memory] = end > highest[buffer->memory] ? end : highest[buffer->memory];
    }
    for (uint32_t m = 0; m < answer->memory_count; m++) {
        const JudgedMemory *memory = &answer->memory[m];
        if (highest[m] != memory->height) {
            return (Judgement){JUDGE_WRONG_HEIGHT, m, m};
        }
        if (memory->is_said_to_fit && memory->height > memory->capacity) {
            return (Judgement){JUDGE_OVER_CAPACITY, m, m};
        }
    }
    return RIGHT;
}

/* ---- Bodies */

typedef struct {
    Body *body;
    size_t *buffer; /* the first of each body */
    size_t *of;     /* the body of each buffer */
    size_t count;
} Bodies;

static uint32_t most_share(const JudgedAnswer *answer) {
    uint32_t most = 0;
    for (size_t i = 0; i < answer->count; i++) {
        most = answer->buffer[i].share > most ? answer->buffer[i].share : most;
    }
    return most;
}

static Judgement make_bodies(const JudgedAnswer *answer, Arena *scratch, Bodies *bodies) {
    *bodies = (Bodies){.body = arena_array(scratch, Body, answer->count),
                       .buffer = arena_array(scratch, size_t, answer->count),
                       .of = arena_array(scratch, size_t, answer->count)};
    size_t *of_share = arena_array(scratch, size_t, (size_t)most_share(answer) + 1); /* its body plus 1 */
    for (size_t i = 0; i < answer->count; i++) {
        const JudgedBuffer *buffer = &answer->buffer[i];
        if (buffer->share == 0 || of_share[buffer->share] == 0) {
            bodies->body[bodies->count] = (Body){buffer->offset, 0, buffer->memory};
            bodies->buffer[bodies->count] = i;
            bodies->count++;
            of_share[buffer->share] = bodies->count;
        }
        bodies->of[i] = of_share[buffer->share] - 1;
        Body *body = &bodies->body[bodies->of[i]];
        if (body->offset != buffer->offset || body->memory != buffer->memory) {
            return (Judgement){JUDGE_TORN, bodies->buffer[bodies->of[i]], i};
        }
        body->size = buffer->size > body->size ? buffer->size : body->size;
    }
    return RIGHT;
}

/* ---- Lives */

typedef struct {
    Event *event;
    size_t count;
} Events;

static void add_life(Events *events, size_t body, uint64_t first, uint64_t last) {
    events->event[events->count++] = (Event){first, body, true};
    events->event[events->count++] = (Event){last, body, false};
}

static Events events_of(const JudgedAnswer *answer, const Bodies *bodies, Arena *scratch) {
    size_t spans = answer->count;
    for (size_t i = 0; i < answer->count; i++) {
        spans += answer->buffer[i].gap_count;
    }
    Events events = {.event = arena_array(scratch, Event, 2 * spans)};
    for (size_t i = 0; i < answer->count; i++) {
        const JudgedBuffer *buffer = &answer->buffer[i];
        uint64_t first = buffer->first;
        for (size_t k = 0; k < buffer->gap_count; k++) {
            add_life(&events, bodies->of[i], first, buffer->gap[k].first);
            first = buffer->gap[k].last;
        }
        add_life(&events, bodies->of[i], first, buffer->last);
    }
    judge_sort_events(events.event, events.count);
    return events;
}

/* The largest sum of live sizes of each memory; exact as the live bodies are disjoint and lie below the height. */
static Judgement judge_bounds(const JudgedAnswer *answer, const Bodies *bodies, const Events *events, Arena *scratch) {
    uint64_t *live = arena_array(scratch, uint64_t, answer->memory_count);
    uint64_t *most = arena_array(scratch, uint64_t, answer->memory_count);
    size_t *lives = arena_array(scratch, size_t, bodies->count);
    for (size_t i = 0; i < events->count; i++) {
        const size_t id = events->event[i].body;
        const uint32_t m = bodies->body[id].memory;
        const uint64_t rest = bodies->body[id].size % answer->memory[m].align_bytes;
        const uint64_t size = bodies->body[id].size + (rest == 0 ? 0 : answer->memory[m].align_bytes - rest);
        lives[id] += events->event[i].starts ? 1 : (size_t)-1;
        live[m] += events->event[i].starts && lives[id] == 1 ? size : 0;
        live[m] -= !events->event[i].starts && lives[id] == 0 ? size : 0;
        most[m] = live[m] > most[m] ? live[m] : most[m];
    }
    for (uint32_t m = 0; m < answer->memory_count; m++) {
        if (answer->memory[m].bound < most[m] || answer->memory[m].bound > answer->memory[m].height) {
            return (Judgement){JUDGE_WRONG_BOUND, m, m};
        }
    }
    return RIGHT;
}

/* ---- Apart */

typedef struct {
    const Body *body;
    uint32_t group;
    size_t buffer;
} Apart;

static int compare_apart(const void *left, const void *right) {
    const Apart *a = left;
    const Apart *b = right;
    if (a->group != b->group) {
        return a->group < b->group ? -1 : 1;
    }
    if (a->body->memory != b->body->memory) {
        return a->body->memory < b->body->memory ? -1 : 1;
    }
    return a->body->offset < b->body->offset ? -1 : a->body->offset > b->body->offset;
}

/* Of disjoint bodies in the order of offsets each ends before the next begins. */
static Judgement judge_apart(const JudgedAnswer *answer, const Bodies *bodies, Arena *scratch) {
    Apart *apart = arena_array(scratch, Apart, answer->count);
    size_t count = 0;
    for (size_t i = 0; i < answer->count; i++) {
        if (answer->buffer[i].apart != 0) {
            apart[count++] = (Apart){&bodies->body[bodies->of[i]], answer->buffer[i].apart, i};
        }
    }
    if (count > 0) {
        qsort(apart, count, sizeof *apart, compare_apart);
    }
    for (size_t k = 1; k < count; k++) {
        const Body *below = apart[k - 1].body, *above = apart[k].body;
        if (apart[k - 1].group == apart[k].group && below->memory == above->memory &&
            below->offset + below->size > above->offset) {
            return (Judgement){JUDGE_TOGETHER, apart[k - 1].buffer, apart[k].buffer};
        }
    }
    return RIGHT;
}

/* ---- All of it */

static Judgement judge_bodies(const JudgedAnswer *answer, const Bodies *bodies, Arena *scratch) {
    size_t met[2];
    const Events events = events_of(answer, bodies, scratch);
    if (judge_sweep(bodies->body, bodies->count, events.event, events.count, scratch, met)) {
        return (Judgement){JUDGE_OVERLAP, bodies->buffer[met[0]], bodies->buffer[met[1]]};
    }
    Judgement judgement = judge_bounds(answer, bodies, &events, scratch);
    return judgement.verdict != JUDGE_RIGHT ? judgement : judge_apart(answer, bodies, scratch);
}

Judgement place_judge_answer(const JudgedAnswer *answer, Arena *scratch) {
    Bodies bodies;
    Judgement judgement = RIGHT;
    for (size_t i = 0; i < answer->count && judgement.verdict == JUDGE_RIGHT; i++) {
        judgement = judge_buffer(answer, i);
    }
    judgement = judgement.verdict == JUDGE_RIGHT ? judge_heights(answer, scratch) : judgement;
    judgement = judgement.verdict == JUDGE_RIGHT ? make_bodies(answer, scratch, &bodies) : judgement;
    return judgement.verdict == JUDGE_RIGHT ? judge_bodies(answer, &bodies, scratch) : judgement;
}
