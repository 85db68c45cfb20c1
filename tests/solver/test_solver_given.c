/* Proves: a placement that is proposed by hints is taken where it is one and is as low as asked for, is beaten where it
 * is not the lowest, and is without effect where it is none; pins alone are placed where they are, and of many pins
 * the two that share a byte while they live, or are in one group, are named. */
#include "place/draw.h"
#include "solver/solver.h"
#include "support/work.h"

/* Two that live at once, and a third that may lie beside either. */
static const SolverBuffer THREE[] = {
    {.size = 4, .align = 1, .first = 0, .last = 2},
    {.size = 4, .align = 1, .first = 1, .last = 3},
    {.size = 4, .align = 1, .first = 2, .last = 4},
};

static const struct {
    const char *name;
    uint64_t hint[3];
    size_t hints; /* that many have one */
    uint64_t capacity;
    bool is_minimised, is_taken;
    uint64_t height;
} HINTED[] = {
    {"at the bound", {4, 0, 4}, 3, UINT64_MAX, true, true, 8},
    {"within the capacity", {100, 3, 50}, 3, 104, false, true, 104},
    {"over the capacity", {101, 3, 50}, 3, 104, false, false, 0},
    {"not the lowest", {9, 1, 5}, 3, UINT64_MAX, true, false, 8},
    {"two share a byte", {0, 3, 8}, 3, UINT64_MAX, true, false, 8},
    {"one has none", {4, 0, 0}, 2, UINT64_MAX, true, false, 8},
    {"beyond 64 bits", {UINT64_MAX - 2, 0, 4}, 3, UINT64_MAX, true, false, 8},
};

static void test_hints(Work *work) {
    for (size_t k = 0; k < sizeof HINTED / sizeof *HINTED; k++) {
        SolverBuffer buffer[3];
        SolverResult result;
        for (size_t i = 0; i < 3; i++) {
            buffer[i] = THREE[i];
            buffer[i].has_hint = i < HINTED[k].hints;
            buffer[i].hint = HINTED[k].hint[i];
        }
        const SolverOptions options = {
            .capacity = HINTED[k].capacity, .is_minimised = HINTED[k].is_minimised, .align_bytes = 1, .threads = 1};
        print_message("%s\n", HINTED[k].name);
        assert_true(solver_run(buffer, 3, &options, &work->keep, &work->scratch, &result));
        assert_int_equal(result.outcome, SOLVER_FOUND);
        assert_int_equal(strcmp(result.method, "hints") == 0, HINTED[k].is_taken);
        assert_true(HINTED[k].height == 0 || result.height == HINTED[k].height);
        for (size_t i = 0; i < 3 && HINTED[k].is_taken; i++) {
            assert_int_equal(buffer[i].offset, HINTED[k].hint[i]);
        }
    }
}

/* A hint that no alignment allows. */
static void test_unaligned_hint(Work *work) {
    SolverBuffer buffer = {.size = 4, .align = 8, .first = 0, .last = 1, .has_hint = true, .hint = 4};
    const SolverOptions options = {.capacity = 100, .align_bytes = 1, .threads = 1};
    SolverResult result;
    assert_true(solver_run(&buffer, 1, &options, &work->keep, &work->scratch, &result));
    assert_true(result.outcome == SOLVER_FOUND && buffer.offset % 8 == 0);
}

/* ---- Pins */

enum { MANY = 30000 };

/* Columns of blocks, one on top of the other: a block lives for some steps, in some columns with a gap that another one
 * fills. No two share a byte. */
static void draw_pins(SolverBuffer *buffer, PlaceSpan *gap) {
    uint64_t state = 3;
    for (size_t i = 0; i < MANY; i += 2) {
        const uint64_t column = i / 100, row = i % 100;
        buffer[i] = (SolverBuffer){.size = 16, .align = 1, .first = 10 * column, .last = 10 * column + 10};
        gap[i] = (PlaceSpan){10 * column + 3, 10 * column + 4 + draw_below(&state, 4)};
        buffer[i].gap = &gap[i];
        buffer[i].gap_count = 1;
        buffer[i].is_pinned = true;
        buffer[i].offset = 8 * row;
        buffer[i + 1] = (SolverBuffer){.size = 16, .align = 1, .first = gap[i].first, .last = gap[i].last};
        buffer[i + 1].is_pinned = true;
        buffer[i + 1].offset = 8 * row;
    }
}

static SolverResult solve_pins(SolverBuffer *buffer, Work *work) {
    const SolverOptions options = {.capacity = UINT64_MAX, .is_minimised = true, .align_bytes = 1, .threads = 1};
    SolverResult result;
    assert_true(solver_run(buffer, MANY, &options, &work->keep, &work->scratch, &result));
    return result;
}

static void check_clash(SolverBuffer *buffer, size_t a, size_t b, Work *work) {
    const SolverResult result = solve_pins(buffer, work);
    assert_int_equal(result.outcome, SOLVER_INFEASIBLE);
    assert_false(result.is_placed);
    assert_true(result.culprit_count == 2 && result.is_least);
    assert_int_equal(result.culprit[0] + result.culprit[1], a + b);
    assert_true(result.culprit[0] == a || result.culprit[0] == b);
}

static void test_pins(Work *work) {
    SolverBuffer *buffer = arena_array(&work->keep, SolverBuffer, MANY);
    PlaceSpan *gap = arena_array(&work->keep, PlaceSpan, MANY);
    draw_pins(buffer, gap);
    SolverResult result = solve_pins(buffer, work);
    assert_true(result.outcome == SOLVER_FOUND && result.is_optimal);
    assert_true(result.height == 8 * 100 && strcmp(result.method, "pins") == 0);

    buffer[5001].first--; /* no longer within the gap of the one before */
    check_clash(buffer, 5000, 5001, work);
    buffer[5001].first++;
    buffer[7000].offset++; /* one byte of the block above */
    check_clash(buffer, 7000, 7002, work);
    buffer[7000].offset--;
    buffer[100].apart = buffer[20100].apart = 9; /* at one offset, never at once */
    check_clash(buffer, 100, 20100, work);
    buffer[20100].apart = 8;
    assert_int_equal(solve_pins(buffer, work).outcome, SOLVER_FOUND);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_hints), WORK_TEST(test_unaligned_hint), WORK_TEST(test_pins)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
