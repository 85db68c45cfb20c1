/* Proves: the judge accepts a right placement, and names each kind of fault and the buffers it is about; on random
 * offsets it agrees with a check of all pairs. */
#include "place/draw.h"
#include "place/judge.h"
#include "support/work.h"

#include <string.h>

/* Right: bound 48 at step 2, height 48; b lies over a once a is dead. */
static const PlaceBuffer RIGHT[] = {
    {.size = 16, .align = 16, .first = 0, .last = 2, .offset = 0},
    {.size = 10, .align = 4, .first = 2, .last = 4, .offset = 0},
    {.size = 30, .align = 8, .first = 1, .last = 3, .offset = 16},
};

enum { COUNT = sizeof RIGHT / sizeof *RIGHT };

static const struct {
    const char *name;
    size_t changed; /* which buffer */
    PlaceBuffer to;
    uint64_t height, bound;
    JudgeVerdict verdict;
    size_t a, b;
} ROW[] = {
    {"right", 0, {16, 16, 0, 2, 0}, 48, 48, JUDGE_RIGHT, 0, 0},
    {"overlaps the one above", 0, {17, 16, 0, 2, 0}, 48, 64, JUDGE_OVERLAP, 0, 2},
    {"overlaps the one below", 1, {10, 4, 2, 4, 32}, 48, 48, JUDGE_OVERLAP, 2, 1},
    {"same offset", 1, {10, 4, 2, 4, 16}, 48, 48, JUDGE_OVERLAP, 2, 1},
    {"covers", 0, {48, 16, 0, 2, 0}, 48, 80, JUDGE_OVERLAP, 0, 2},
    {"lives one step longer", 0, {16, 16, 0, 3, 0}, 48, 64, JUDGE_OVERLAP, 0, 1},
    {"off its alignment", 2, {30, 5, 1, 3, 16}, 48, 48, JUDGE_MISALIGNED, 2, 2},
    {"off the unit", 1, {10, 4, 2, 4, 4}, 48, 48, JUDGE_MISALIGNED, 1, 1},
    {"ends above", 1, {10, 4, 2, 4, 48}, 48, 48, JUDGE_TOO_HIGH, 1, 1},
    {"ends above once rounded", 2, {30, 8, 1, 3, 16}, 46, 48, JUDGE_TOO_HIGH, 2, 2},
    {"ends beyond 64 bits", 1, {17, 4, 2, 4, UINT64_MAX - 15}, UINT64_MAX, 48, JUDGE_TOO_HIGH, 1, 1},
    {"height too large", 0, {16, 16, 0, 2, 0}, 64, 48, JUDGE_WRONG_HEIGHT, 0, 0},
    {"bound too large", 0, {16, 16, 0, 2, 0}, 48, 64, JUDGE_WRONG_BOUND, 0, 0},
    {"bound too small", 0, {16, 16, 0, 2, 0}, 48, 32, JUDGE_WRONG_BOUND, 0, 0},
};

static void test_verdicts(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++) {
        print_message("%s\n", ROW[i].name);
        PlaceBuffer buffer[COUNT];
        memcpy(buffer, RIGHT, sizeof buffer);
        buffer[ROW[i].changed] = ROW[i].to;
        PlaceProblem problem = {buffer, COUNT, 16, ROW[i].height, ROW[i].bound, "test"};
        Work work;
        WORK_BEGIN(&work);
        Judgement judgement = place_judge(&problem, &work.scratch);
        assert_int_equal(judgement.verdict, ROW[i].verdict);
        if (judgement.verdict == JUDGE_OVERLAP) {
            assert_true((judgement.a == ROW[i].a && judgement.b == ROW[i].b) ||
                        (judgement.a == ROW[i].b && judgement.b == ROW[i].a));
        } else {
            assert_int_equal(judgement.a, ROW[i].a);
        }
        assert_true(strlen(judge_text(judgement.verdict)) > 0);
        work_free(&work);
    }
}

static bool collide(const PlaceBuffer *a, const PlaceBuffer *b) {
    return a->first < b->last && b->first < a->last && a->offset < b->offset + b->size &&
           b->offset < a->offset + a->size;
}

static uint64_t live_bytes_at(const PlaceProblem *problem, uint64_t step) {
    uint64_t live = 0;
    for (size_t i = 0; i < problem->count; i++) {
        const PlaceBuffer *buffer = &problem->buffer[i];
        live += buffer->first <= step && step < buffer->last ? buffer->size : 0;
    }
    return live;
}

/* Unit and alignment 1, so that only overlap is at stake. */
static void test_random_offsets(void **unused) {
    (void)unused;
    enum { MOST = 12, ROUNDS = 4000, STEPS = 15 };
    uint64_t state = 99;
    size_t overlaps = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        PlaceBuffer buffer[MOST];
        PlaceProblem problem = {.buffer = buffer, .count = 1 + draw_below(&state, MOST), .align_bytes = 1};
        bool any = false;
        for (size_t i = 0; i < problem.count; i++) {
            buffer[i] = draw_buffer(&state, 10, STEPS);
            buffer[i].align = 1;
            buffer[i].offset = draw_below(&state, 150);
            uint64_t end = buffer[i].offset + buffer[i].size;
            problem.height = end > problem.height ? end : problem.height;
            for (size_t j = 0; j < i; j++) {
                any = any || collide(&buffer[i], &buffer[j]);
            }
        }
        for (uint64_t step = 0; step < 2 * STEPS; step++) {
            uint64_t live = live_bytes_at(&problem, step);
            problem.bound = live > problem.bound ? live : problem.bound;
        }
        Work work;
        WORK_BEGIN(&work);
        Judgement judgement = place_judge(&problem, &work.scratch);
        assert_int_equal(judgement.verdict, any ? JUDGE_OVERLAP : JUDGE_RIGHT);
        if (any) {
            assert_true(judgement.a != judgement.b && collide(&buffer[judgement.a], &buffer[judgement.b]));
        }
        overlaps += any;
        work_free(&work);
    }
    print_message("%zu of %d random placements overlap\n", overlaps, ROUNDS);
    assert_true(overlaps > ROUNDS / 10 && overlaps < ROUNDS * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_verdicts), cmocka_unit_test(test_random_offsets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
