/* Proves: how the solver ends where it is not left to finish, or has too many buffers that meet to look at all pairs. A
 * search that is stopped by nodes, by the clock or by the caller never calls a problem infeasible, and hands over the
 * best it has; sums beyond 64 bits are refused with nothing written; the best so far is told; pins that clash are
 * named; nothing at all is placed at once. */
#include "place/draw.h"
#include "place/judge.h"
#include "solver/solver.h"
#include "support/work.h"

#include <string.h>

enum { MANY = 240 };

/* Too hard for a few nodes: half of the buffers live long. */
static void draw_hard(SolverBuffer buffer[static MANY]) {
    uint64_t state = 11;
    for (size_t i = 0; i < MANY; i++) {
        buffer[i] = (SolverBuffer){.size = 1 + draw_below(&state, 1000), .align = 1, .first = draw_below(&state, 100)};
        buffer[i].last = buffer[i].first + 1 + draw_below(&state, i % 2 == 0 ? 60 : 8);
    }
}

static uint64_t largest_live_sum(const SolverBuffer *buffer) {
    uint64_t most = 0;
    for (uint64_t step = 0; step < 200; step++) {
        uint64_t sum = 0;
        for (size_t i = 0; i < MANY; i++) {
            sum += buffer[i].first <= step && step < buffer[i].last ? buffer[i].size : 0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

static void check_no_overlap(const SolverBuffer *buffer, uint64_t height) {
    for (size_t i = 0; i < MANY; i++) {
        const SolverBuffer *a = &buffer[i];
        assert_true(a->offset + a->size <= height);
        for (size_t j = 0; j < i; j++) {
            const SolverBuffer *b = &buffer[j];
            assert_true(a->last <= b->first || b->last <= a->first || a->offset + a->size <= b->offset ||
                        b->offset + b->size <= a->offset);
        }
    }
}

typedef struct {
    const char *name;
    uint64_t most_nodes, most_ms;
    int stop;
    bool is_minimised;
} Limit;

static const Limit LIMIT[] = {
    {"nodes", 50, 0, 0, false},          {"nodes, minimised", 50, 0, 0, true}, {"clock", 0, 1, 0, false},
    {"clock, minimised", 0, 1, 0, true}, {"caller", 0, 0, 1, false},           {"caller, minimised", 0, 0, 1, true},
};

static void test_limits(Work *work) {
    for (size_t k = 0; k < sizeof LIMIT / sizeof *LIMIT; k++) {
        SolverBuffer buffer[MANY];
        draw_hard(buffer);
        uint64_t bound = largest_live_sum(buffer);
        volatile int stop = LIMIT[k].stop;
        SolverOptions options = {.capacity = bound,
                                 .is_minimised = LIMIT[k].is_minimised,
                                 .align_bytes = 1,
                                 .most_nodes = LIMIT[k].most_nodes,
                                 .most_ms = LIMIT[k].most_ms,
                                 .threads = 2,
                                 .stop = &stop};
        SolverResult result;
        print_message("%s\n", LIMIT[k].name);
        assert_true(solver_run(buffer, MANY, &options, &work->keep, &work->scratch, &result));
        assert_int_not_equal(result.outcome, SOLVER_INFEASIBLE);
        assert_true(result.bound == bound && result.height >= bound);
        assert_int_equal(result.is_optimal, result.height == result.bound);
        check_no_overlap(buffer, result.height);
        if (LIMIT[k].most_nodes != 0) {
            assert_true(result.nodes <= LIMIT[k].most_nodes);
        }
    }
}

static void test_overflow(Work *work) {
    SolverBuffer buffer[] = {
        {.size = UINT64_MAX / 2, .align = 1, .first = 0, .last = 2, .offset = 5},
        {.size = UINT64_MAX / 2, .align = 1, .first = 1, .last = 3, .offset = 6},
        {.size = 16, .align = 1, .first = 1, .last = 3, .offset = 7},
    };
    SolverOptions options = {.capacity = UINT64_MAX, .align_bytes = 16, .threads = 1};
    SolverResult result;
    assert_false(solver_run(buffer, 3, &options, &work->keep, &work->scratch, &result));
    assert_true(buffer[0].offset == 5 && buffer[1].offset == 6 && buffer[2].offset == 7);
    buffer[0].is_pinned = true;
    buffer[0].offset = UINT64_MAX - 15;
    assert_false(solver_run(buffer, 1, &options, &work->keep, &work->scratch, &result));
}

/* Sizes so large that levels do not fit the search: greedy's answer stands, unproven. */
static void test_beyond_search(Work *work) {
    SolverBuffer buffer[] = {
        {.size = 5000000001, .align = 1, .first = 0, .last = 2},
        {.size = 7000000003, .align = 1, .first = 1, .last = 3},
        {.size = 3, .align = 1, .first = 0, .last = 1, .is_pinned = true, .offset = 1},
    };
    SolverOptions options = {.capacity = UINT64_MAX, .is_minimised = true, .align_bytes = 1, .threads = 1};
    SolverResult result;
    assert_true(solver_run(buffer, 3, &options, &work->keep, &work->scratch, &result));
    assert_int_equal(result.outcome, SOLVER_FOUND);
    assert_int_equal(result.bound, 12000000004);
    assert_true(buffer[2].offset == 1 && buffer[0].offset >= 4);
    options.capacity = 12000000003;
    assert_true(solver_run(buffer, 3, &options, &work->keep, &work->scratch, &result));
    assert_int_equal(result.outcome, SOLVER_INFEASIBLE);
    assert_int_equal(result.culprit_count, 2);
    assert_int_equal(result.culprit[0] + result.culprit[1], 1);
}

static void test_pins_clash(Work *work) {
    SolverBuffer buffer[] = {
        {.size = 8, .align = 1, .first = 0, .last = 4, .is_pinned = true, .offset = 0},
        {.size = 8, .align = 1, .first = 4, .last = 6, .is_pinned = true, .offset = 4},
        {.size = 8, .align = 1, .first = 3, .last = 5, .is_pinned = true, .offset = 7},
        {.size = 8, .align = 1, .first = 0, .last = 1},
    };
    SolverOptions options = {.capacity = UINT64_MAX, .align_bytes = 1, .threads = 1};
    SolverResult result;
    assert_true(solver_run(buffer, 4, &options, &work->keep, &work->scratch, &result));
    assert_int_equal(result.outcome, SOLVER_INFEASIBLE);
    assert_int_equal(result.culprit_count, 2);
    assert_true(result.culprit[0] == 2 || result.culprit[1] == 2);
    assert_string_equal(result.proof, "pins");
}

/* Long lives with gaps, and pins: each meets all others. */
static void test_too_many_meet(Work *work) {
    enum { COUNT = 20000 };
    SolverBuffer *buffer = arena_array(&work->keep, SolverBuffer, COUNT);
    JudgedBuffer *judged = arena_array(&work->keep, JudgedBuffer, COUNT);
    const PlaceSpan gap = {100, 200};
    uint64_t state = 5;
    for (size_t i = 0; i < COUNT; i++) {
        buffer[i] = (SolverBuffer){.size = 1 + draw_below(&state, 100), .align = 1 + i % 2, .last = 300};
        buffer[i].first = draw_below(&state, 99);
        buffer[i].gap = &gap;
        buffer[i].gap_count = i % 3 == 0;
        buffer[i].is_pinned = i % 5000 == 0;
        buffer[i].offset = i;
        buffer[i].apart = i % 4 == 0 ? 1 : 0;
    }
    SolverOptions options = {.capacity = UINT64_MAX, .is_minimised = true, .align_bytes = 1, .threads = 1};
    SolverResult result;
    assert_true(solver_run(buffer, COUNT, &options, &work->keep, &work->scratch, &result));
    assert_true(result.outcome == SOLVER_FOUND && result.is_placed);
    for (size_t i = 0; i < COUNT; i++) {
        const SolverBuffer *from = &buffer[i];
        judged[i] = (JudgedBuffer){.size = from->size,
                                   .align = from->align,
                                   .first = from->first,
                                   .last = from->last,
                                   .gap = from->gap,
                                   .gap_count = from->gap_count,
                                   .apart = from->apart,
                                   .is_pinned = from->is_pinned,
                                   .pin = i,
                                   .required = JUDGE_ANY_MEMORY,
                                   .offset = from->offset};
    }
    const JudgedMemory memory = {.align_bytes = 1,
                                 .capacity = UINT64_MAX,
                                 .height = result.height,
                                 .bound = result.bound,
                                 .is_said_to_fit = true};
    const JudgedAnswer answer = {judged, COUNT, &memory, 1};
    assert_int_equal(place_judge_answer(&answer, &work->scratch).verdict, JUDGE_RIGHT);
}

static void count_call(void *context, const SolverProgress *progress) {
    uint64_t *calls = context;
    assert_true(progress->bound > 0);
    (*calls)++;
}

static void test_told(Work *work) {
    SolverBuffer buffer[MANY];
    draw_hard(buffer);
    uint64_t calls = 0;
    SolverOptions options = {.capacity = UINT64_MAX,
                             .is_minimised = true,
                             .align_bytes = 1,
                             .threads = 1,
                             .most_nodes = 2000,
                             .tell = count_call,
                             .context = &calls};
    SolverResult result;
    assert_true(solver_run(buffer, MANY, &options, &work->keep, &work->scratch, &result));
    assert_true(result.is_optimal || calls > 0);
}

static void test_nothing(Work *work) {
    SolverOptions options = {.capacity = 0, .is_minimised = true, .align_bytes = 1, .threads = 1};
    SolverResult result;
    assert_true(solver_run(NULL, 0, &options, &work->keep, &work->scratch, &result));
    assert_int_equal(result.outcome, SOLVER_FOUND);
    assert_true(result.height == 0 && result.is_optimal);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_limits),        WORK_TEST(test_overflow),
                                       WORK_TEST(test_beyond_search), WORK_TEST(test_pins_clash),
                                       WORK_TEST(test_too_many_meet), WORK_TEST(test_told),
                                       WORK_TEST(test_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
