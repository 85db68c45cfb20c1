/* Proves: the judge of answers accepts a right one, names each kind of fault and the buffers it is about; on random
 * answers with gaps, shared storages, buffers apart and two memories it agrees with a check step by step and byte by
 * byte. */
#include "place/draw.h"
#include "place/judge.h"
#include "support/work.h"

#include <string.h>

static const PlaceSpan GAP[] = {{3, 6}};

/* Memory 0, unit 4: a lives around b, which lies in its gap; c and d are one storage. Memory 1, unit 1: e and f apart.
 *
 *   a  [0,3) [6,9)   0..8        c  [0,2)  8..12     e  [0,1)   0..3
 *   b  [3,6)         0..6        d  [2,9)  8..16     f  [5,6)   3..5
 */
static const JudgedBuffer RIGHT[] = {
    {.size = 8, .align = 4, .first = 0, .last = 9, .gap = GAP, .gap_count = 1, .required = JUDGE_ANY_MEMORY},
    {.size = 6, .align = 1, .first = 3, .last = 6, .required = 0},
    {.size = 4, .align = 8, .first = 0, .last = 2, .share = 1, .required = JUDGE_ANY_MEMORY, .offset = 8},
    {.size = 8, .align = 4, .first = 2, .last = 9, .share = 1, .is_pinned = true, .pin = 8, .required = 0, .offset = 8},
    {.size = 3, .align = 1, .first = 0, .last = 1, .apart = 1, .required = 1, .memory = 1},
    {.size = 2, .align = 1, .first = 5, .last = 6, .apart = 1, .required = JUDGE_ANY_MEMORY, .memory = 1, .offset = 3},
};

enum { COUNT = sizeof RIGHT / sizeof *RIGHT };

static const JudgedMemory MEMORY[] = {
    {.align_bytes = 4, .capacity = 16, .height = 16, .bound = 16, .is_said_to_fit = true},
    {.align_bytes = 1, .capacity = UINT64_MAX, .height = 5, .bound = 3, .is_said_to_fit = true},
};

typedef enum { NOTHING, OFFSET, MEMORY_OF, SIZE, LAST, GAPS, HEIGHT, BOUND, CAPACITY, SHARE } Field;

static const struct {
    const char *name;
    Field field;
    size_t which; /* buffer or memory */
    uint64_t to;
    JudgeVerdict verdict;
    size_t a, b;
} ROW[] = {
    {"right", NOTHING, 0, 0, JUDGE_RIGHT, 0, 0},
    {"without its gap", GAPS, 0, 0, JUDGE_OVERLAP, 0, 1},
    {"beyond the gap", LAST, 1, 7, JUDGE_OVERLAP, 0, 1},
    {"over another", OFFSET, 0, 4, JUDGE_OVERLAP, 0, 2},
    {"off its alignment", OFFSET, 2, 4, JUDGE_MISALIGNED, 2, 2},
    {"off the unit", OFFSET, 1, 1, JUDGE_MISALIGNED, 1, 1},
    {"off its pin", OFFSET, 3, 0, JUDGE_MOVED, 3, 3},
    {"in the wrong memory", MEMORY_OF, 1, 1, JUDGE_WRONG_MEMORY, 1, 1},
    {"in no memory", MEMORY_OF, 5, 2, JUDGE_WRONG_MEMORY, 5, 5},
    {"torn", OFFSET, 2, 0, JUDGE_TORN, 2, 3},
    {"torn between memories", MEMORY_OF, 2, 1, JUDGE_TOO_HIGH, 2, 2},
    {"not apart", OFFSET, 5, 2, JUDGE_WRONG_HEIGHT, 1, 1},
    {"larger than the height", SIZE, 3, 9, JUDGE_TOO_HIGH, 3, 3},
    {"no longer one storage", SHARE, 2, 0, JUDGE_RIGHT, 0, 0},
    {"height too large", HEIGHT, 0, 20, JUDGE_WRONG_HEIGHT, 0, 0},
    {"bound too small", BOUND, 0, 12, JUDGE_WRONG_BOUND, 0, 0},
    {"bound too large", BOUND, 1, 6, JUDGE_WRONG_BOUND, 1, 1},
    {"bound between", BOUND, 1, 5, JUDGE_RIGHT, 0, 0},
    {"over the capacity", CAPACITY, 0, 12, JUDGE_OVER_CAPACITY, 0, 0},
};

static void change(Field field, size_t which, uint64_t to, JudgedBuffer *buffer, JudgedMemory *memory) {
    switch (field) {
    case NOTHING:
        break;
    case OFFSET:
        buffer[which].offset = to;
        break;
    case MEMORY_OF:
        buffer[which].memory = (uint32_t)to;
        break;
    case SIZE:
        buffer[which].size = to;
        break;
    case LAST:
        buffer[which].last = to;
        break;
    case GAPS:
        buffer[which].gap_count = 0;
        break;
    case SHARE:
        buffer[which].share = (uint32_t)to;
        break;
    case HEIGHT:
        memory[which].height = to;
        break;
    case BOUND:
        memory[which].bound = to;
        break;
    case CAPACITY:
        memory[which].capacity = to;
        break;
    }
}

static void test_verdicts(Work *work) {
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++) {
        print_message("%s\n", ROW[i].name);
        JudgedBuffer buffer[COUNT];
        JudgedMemory memory[2];
        memcpy(buffer, RIGHT, sizeof buffer);
        memcpy(memory, MEMORY, sizeof memory);
        change(ROW[i].field, ROW[i].which, ROW[i].to, buffer, memory);
        const JudgedAnswer answer = {buffer, COUNT, memory, 2};
        Judgement judgement = place_judge_answer(&answer, &work->scratch);
        assert_int_equal(judgement.verdict, ROW[i].verdict);
        assert_true((judgement.a == ROW[i].a && judgement.b == ROW[i].b) ||
                    (judgement.a == ROW[i].b && judgement.b == ROW[i].a));
        assert_true(strlen(judge_text(judgement.verdict)) > 0);
    }
}

/* Two that must lie apart do not, though they never live at once, and the height is right. */
static void test_apart(Work *work) {
    JudgedBuffer buffer[COUNT];
    JudgedMemory memory[2] = {MEMORY[0], MEMORY[1]};
    memcpy(buffer, RIGHT, sizeof buffer);
    buffer[5].offset = 1;
    memory[1].height = 3;
    const JudgedAnswer answer = {buffer, COUNT, memory, 2};
    Judgement judgement = place_judge_answer(&answer, &work->scratch);
    assert_int_equal(judgement.verdict, JUDGE_TOGETHER);
    assert_int_equal(judgement.a + judgement.b, 9);
}

/* ---- By chance */

enum { MOST = 6, STEPS = 8, BYTES = 24, MEMORIES = 2 };

static bool lives_at(const JudgedBuffer *buffer, uint64_t step) {
    bool lives = buffer->first <= step && step < buffer->last;
    for (size_t k = 0; k < buffer->gap_count; k++) {
        lives = lives && !(buffer->gap[k].first <= step && step < buffer->gap[k].last);
    }
    return lives;
}

/* A storage lives, as large as the largest of those that share it, where one of them does. */
static bool storage_has(const JudgedAnswer *answer, size_t i, uint64_t byte, bool at_any_step, uint64_t step) {
    const JudgedBuffer *buffer = answer->buffer;
    bool lives = at_any_step;
    uint64_t size = 0;
    for (size_t k = 0; k < answer->count; k++) {
        if (k == i || (buffer[i].share != 0 && buffer[k].share == buffer[i].share)) {
            lives = lives || lives_at(&buffer[k], step);
            size = buffer[k].size > size ? buffer[k].size : size;
        }
    }
    return lives && buffer[i].offset <= byte && byte < buffer[i].offset + size;
}

static bool is_pair_wrong(const JudgedAnswer *answer, size_t i, size_t j) {
    const JudgedBuffer *a = &answer->buffer[i], *b = &answer->buffer[j];
    bool shares = a->share != 0 && a->share == b->share;
    bool is_apart = a->apart != 0 && a->apart == b->apart;
    if (shares && (a->offset != b->offset || a->memory != b->memory)) {
        return true;
    }
    if (a->memory != b->memory) {
        return false;
    }
    for (uint64_t byte = 0; byte < 2 * BYTES; byte++) {
        if (is_apart && storage_has(answer, i, byte, true, 0) && storage_has(answer, j, byte, true, 0)) {
            return true;
        }
        for (uint64_t step = 0; step < 2 * STEPS && !shares; step++) {
            if (storage_has(answer, i, byte, false, step) && storage_has(answer, j, byte, false, step)) {
                return true;
            }
        }
    }
    return false;
}

static void draw(uint64_t *state, JudgedBuffer *buffer, PlaceSpan *gap) {
    PlaceBuffer drawn = draw_buffer(state, 6, STEPS);
    *buffer = (JudgedBuffer){.size = drawn.size,
                             .align = 1,
                             .first = drawn.first,
                             .last = drawn.last,
                             .gap = gap,
                             .share = draw_below(state, 3) == 0 ? (uint32_t)(1 + draw_below(state, 2)) : 0,
                             .apart = draw_below(state, 4) == 0 ? (uint32_t)(1 + draw_below(state, 2)) : 0,
                             .required = JUDGE_ANY_MEMORY,
                             .memory = (uint32_t)draw_below(state, MEMORIES),
                             .offset = draw_below(state, BYTES)};
    if (drawn.last - drawn.first >= 3) {
        gap->first = drawn.first + 1 + draw_below(state, drawn.last - drawn.first - 2);
        gap->last = gap->first + 1 + draw_below(state, drawn.last - gap->first - 1);
        buffer->gap_count = 1;
    }
}

/* Shared rows at different places would drown all other faults. */
static void mend_shares(uint64_t *state, JudgedBuffer *buffer, size_t count) {
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < i && buffer[i].share != 0; j++) {
            if (buffer[j].share == buffer[i].share && draw_below(state, 20) > 0) {
                buffer[i].offset = buffer[j].offset;
                buffer[i].memory = buffer[j].memory;
            }
        }
    }
}

static uint64_t size_at(const JudgedAnswer *answer, uint32_t memory, uint64_t step) {
    uint64_t live = 0;
    for (uint64_t byte = 0; byte < 2 * BYTES; byte++) {
        bool is_used = false;
        for (size_t i = 0; i < answer->count; i++) {
            is_used = is_used || (answer->buffer[i].memory == memory && storage_has(answer, i, byte, false, step));
        }
        live += is_used;
    }
    return live;
}

static void find_heights(const JudgedAnswer *answer, JudgedMemory *memory) {
    for (uint32_t m = 0; m < MEMORIES; m++) {
        memory[m] = (JudgedMemory){.align_bytes = 1, .capacity = UINT64_MAX, .is_said_to_fit = true};
        for (size_t i = 0; i < answer->count; i++) {
            uint64_t end = answer->buffer[i].offset + answer->buffer[i].size;
            memory[m].height = answer->buffer[i].memory == m && end > memory[m].height ? end : memory[m].height;
        }
        for (uint64_t step = 0; step < 2 * STEPS; step++) {
            uint64_t live = size_at(answer, m, step);
            memory[m].bound = live > memory[m].bound ? live : memory[m].bound;
        }
    }
}

static void test_random(Work *work) {
    enum { ROUNDS = 3000 };
    uint64_t state = 4242;
    size_t wrong = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        JudgedBuffer buffer[MOST];
        PlaceSpan gap[MOST];
        JudgedMemory memory[MEMORIES];
        const JudgedAnswer answer = {buffer, 2 + draw_below(&state, MOST - 1), memory, MEMORIES};
        for (size_t i = 0; i < answer.count; i++) {
            draw(&state, &buffer[i], &gap[i]);
        }
        mend_shares(&state, buffer, answer.count);
        find_heights(&answer, memory);
        bool any = false;
        for (size_t i = 0; i < answer.count; i++) {
            for (size_t j = 0; j < i; j++) {
                any = any || is_pair_wrong(&answer, i, j);
            }
        }
        Judgement judgement = place_judge_answer(&answer, &work->scratch);
        assert_int_equal(judgement.verdict != JUDGE_RIGHT, any);
        assert_true(!any || is_pair_wrong(&answer, judgement.a, judgement.b));
        wrong += any;
        arena_reset(&work->scratch);
    }
    print_message("%zu of %d random answers are wrong\n", wrong, ROUNDS);
    assert_in_range(wrong, ROUNDS / 10, ROUNDS * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_verdicts), WORK_TEST(test_apart), WORK_TEST(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
