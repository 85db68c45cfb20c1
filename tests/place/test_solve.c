/* Proves: greedy's height is never below the optimum, the optimum never below the bound (brute force on small
 * problems); all is the same for every order of the buffers; sizes near 2^64 are refused and nothing is written; memory
 * that runs out at any allocation leaves cleanly; where too many live at once for greedy, it is given up. */
#include "place/draw.h"
#include "place/judge.h"
#include "place/place.h"
#include "support/work.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 7, MEDIUM = 60 };

static bool share_a_step(const PlaceBuffer *a, const PlaceBuffer *b) {
    return a->first < b->last && b->first < a->last;
}

/* The least height of all placements. In some best placement, taken by offset, each buffer lies at the lowest aligned
 * offset above those before it: so the best of all sequences of stacking is the optimum. */
typedef struct {
    const PlaceProblem *problem;
    uint64_t end[SMALL]; /* of the stacked ones; 0: not stacked */
    uint64_t best;
} Stacking;

static void stack_rest(Stacking *stacking, size_t depth, uint64_t height) {
    const PlaceProblem *problem = stacking->problem;
    if (height >= stacking->best) {
        return;
    }
    if (depth == problem->count) {
        stacking->best = height;
        return;
    }
    for (size_t i = 0; i < problem->count; i++) {
        const PlaceBuffer *buffer = &problem->buffer[i];
        if (stacking->end[i] != 0) {
            continue;
        }
        uint64_t offset = 0;
        for (size_t j = 0; j < problem->count; j++) {
            if (stacking->end[j] > offset && share_a_step(buffer, &problem->buffer[j])) {
                offset = stacking->end[j];
            }
        }
        while (offset % buffer->align != 0 || offset % problem->align_bytes != 0) {
            offset++;
        }
        uint64_t end = offset + buffer->size;
        uint64_t top = end;
        while (top % problem->align_bytes != 0) {
            top++;
        }
        stacking->end[i] = end;
        stack_rest(stacking, depth + 1, top > height ? top : height);
        stacking->end[i] = 0;
    }
}

static uint64_t optimum(const PlaceProblem *problem) {
    Stacking stacking = {.problem = problem, .best = UINT64_MAX};
    stack_rest(&stacking, 0, 0);
    return stacking.best;
}

/* The placement's rules, pair by pair. */
static void assert_valid(const PlaceProblem *problem) {
    for (size_t i = 0; i < problem->count; i++) {
        const PlaceBuffer *a = &problem->buffer[i];
        assert_int_equal(a->offset % a->align, 0);
        assert_true(a->offset + a->size <= problem->height);
        for (size_t j = 0; j < i; j++) {
            const PlaceBuffer *b = &problem->buffer[j];
            assert_false(share_a_step(a, b) && a->offset < b->offset + b->size && b->offset < a->offset + a->size);
        }
    }
}

static void test_brute_force(void **unused) {
    (void)unused;
    uint64_t state = 2026;
    size_t optimal = 0;
    enum { ROUNDS = 200 };
    for (size_t round = 0; round < ROUNDS; round++) {
        PlaceBuffer buffer[SMALL];
        PlaceProblem problem = {.buffer = buffer, .count = 1 + draw_below(&state, SMALL)};
        problem.align_bytes = draw_unit(&state);
        for (size_t i = 0; i < problem.count; i++) {
            buffer[i] = draw_buffer(&state, 40, 6);
        }
        Work work;
        WORK_BEGIN(&work);
        assert_true(place_solve(&problem, &work.scratch));
        uint64_t best = optimum(&problem);
        assert_true(problem.height >= best);
        assert_true(best >= problem.bound);
        assert_valid(&problem);
        assert_int_equal(place_judge(&problem, &work.scratch).verdict, JUDGE_RIGHT);
        optimal += problem.height == best;
        work_free(&work);
    }
    print_message("greedy is optimal on %zu of %d small problems\n", optimal, ROUNDS);
    assert_true(optimal >= ROUNDS * 99 / 100);
}

static void shuffle(uint64_t *state, PlaceBuffer *buffer, size_t count) {
    for (size_t i = count; i > 1; i--) {
        size_t j = draw_below(state, i);
        PlaceBuffer swapped = buffer[i - 1];
        buffer[i - 1] = buffer[j];
        buffer[j] = swapped;
    }
}

static int compare_all(const void *left, const void *right) {
    return memcmp(left, right, sizeof(PlaceBuffer));
}

/* Height, bound, method, and the multiset of placed buffers. */
static void test_every_order_of_rows(void **unused) {
    (void)unused;
    uint64_t state = 7;
    for (size_t round = 0; round < 20; round++) {
        PlaceBuffer buffer[MEDIUM];
        PlaceBuffer placed[MEDIUM];
        PlaceProblem problem = {.buffer = buffer, .count = 2 + draw_below(&state, MEDIUM - 1), .align_bytes = 16};
        for (size_t i = 0; i < problem.count; i++) {
            buffer[i] = draw_buffer(&state, 1 + round * 12, 20);
        }
        PlaceProblem before = {0};
        for (size_t turn = 0; turn < 5; turn++) {
            shuffle(&state, buffer, problem.count);
            Work work;
            WORK_BEGIN(&work);
            assert_true(place_solve(&problem, &work.scratch));
            qsort(buffer, problem.count, sizeof *buffer, compare_all);
            if (turn > 0) {
                assert_int_equal(problem.height, before.height);
                assert_int_equal(problem.bound, before.bound);
                assert_string_equal(problem.method, before.method);
                assert_memory_equal(buffer, placed, problem.count * sizeof *buffer);
            }
            before = problem;
            memcpy(placed, buffer, sizeof buffer);
            work_free(&work);
        }
    }
}

#define HALF ((uint64_t)1 << 63)

static const struct {
    const char *name;
    size_t count;
    PlaceBuffer buffer[3];
    uint64_t align_bytes;
    bool solved;
    uint64_t height, bound;
} EXTREME[] = {
    {.name = "no buffers", .count = 0, .align_bytes = 16, .solved = true, .height = 0, .bound = 0},
    {.name = "the largest size",
     .count = 1,
     .buffer = {{.size = UINT64_MAX, .align = 1, .first = 0, .last = UINT64_MAX}},
     .align_bytes = 1,
     .solved = true,
     .height = UINT64_MAX,
     .bound = UINT64_MAX},
    {.name = "the largest size in units",
     .count = 1,
     .buffer = {{.size = UINT64_MAX, .align = 1, .first = 0, .last = 1}},
     .align_bytes = 16},
    {.name = "halves that meet",
     .count = 2,
     .buffer = {{.size = HALF, .align = 1, .first = 0, .last = 2}, {.size = HALF, .align = 1, .first = 1, .last = 3}},
     .align_bytes = 1},
    {.name = "halves that do not meet",
     .count = 2,
     .buffer = {{.size = HALF, .align = 1, .first = 0, .last = 1}, {.size = HALF, .align = 1, .first = 1, .last = 2}},
     .align_bytes = 1,
     .solved = true,
     .height = HALF,
     .bound = HALF},
    {.name = "an alignment that leaves no room for a third",
     .count = 3,
     .buffer = {{.size = 1, .align = HALF, .first = 0, .last = 1},
                {.size = 1, .align = HALF, .first = 0, .last = 1},
                {.size = 1, .align = HALF, .first = 0, .last = 1}},
     .align_bytes = 1},
    {.name = "room for two",
     .count = 2,
     .buffer = {{.size = 1, .align = HALF, .first = 0, .last = 1}, {.size = 1, .align = HALF, .first = 0, .last = 1}},
     .align_bytes = 1,
     .solved = true,
     .height = HALF + 1,
     .bound = 2},
    {.name = "an alignment that no multiple of the unit has",
     .count = 1,
     .buffer = {{.size = 1, .align = UINT64_MAX, .first = 0, .last = 1}},
     .align_bytes = 16},
    {.name = "a sequence that ends beyond 64 bits and one that does not",
     .count = 2,
     .buffer = {{.size = HALF + 1, .align = 1, .first = 0, .last = 1},
                {.size = HALF - 2, .align = HALF / 2, .first = 0, .last = 1}},
     .align_bytes = 1,
     .solved = true,
     .height = UINT64_MAX,
     .bound = UINT64_MAX},
};

static void test_extremes(void **unused) {
    (void)unused;
    for (size_t i = 0; i < sizeof EXTREME / sizeof *EXTREME; i++) {
        print_message("%s\n", EXTREME[i].name);
        PlaceBuffer buffer[3];
        memcpy(buffer, EXTREME[i].buffer, sizeof buffer);
        for (size_t j = 0; j < 3; j++) {
            buffer[j].offset = 77;
        }
        PlaceBuffer untouched[3];
        memcpy(untouched, buffer, sizeof buffer);
        PlaceProblem problem = {buffer, EXTREME[i].count, EXTREME[i].align_bytes, 77, 77, "untouched"};
        Work work;
        WORK_BEGIN(&work);
        assert_int_equal(place_solve(&problem, &work.scratch), EXTREME[i].solved);
        if (EXTREME[i].solved) {
            assert_int_equal(problem.height, EXTREME[i].height);
            assert_int_equal(problem.bound, EXTREME[i].bound);
            assert_int_equal(place_judge(&problem, &work.scratch).verdict, JUDGE_RIGHT);
        } else {
            assert_int_equal(problem.height, 77);
            assert_int_equal(problem.bound, 77);
            assert_string_equal(problem.method, "untouched");
            assert_memory_equal(buffer, untouched, sizeof buffer);
        }
        work_free(&work);
    }
}

/* The largest live sum is told with the first step that has it; a range ends before its last step. */
static void test_bound_step(void **unused) {
    (void)unused;
    PlaceBuffer buffer[] = {
        {.size = 10, .align = 1, .first = 0, .last = 4},
        {.size = 22, .align = 1, .first = 4, .last = 9},
        {.size = 17, .align = 1, .first = 6, .last = 8},
        {.size = 30, .align = 1, .first = 8, .last = 12},
    };
    PlaceProblem problem = {.buffer = buffer, .count = 4, .align_bytes = 16};
    Work work;
    WORK_BEGIN(&work);
    uint64_t bound_bytes = 0;
    uint64_t step = 0;
    assert_true(place_bound(&problem, &work.scratch, &bound_bytes, &step));
    assert_int_equal(bound_bytes, 64);
    assert_int_equal(step, 6);
    assert_true(place_bound(&problem, &work.scratch, &bound_bytes, NULL));
    work_free(&work);
}

/* An allocator that says no at the n-th call and counts what it gave out. */
typedef struct {
    size_t calls, fail_at, live_bytes;
} Meter;

static void *meter_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    Meter *meter = ctx;
    if (new_bytes == 0) {
        meter->live_bytes -= old_bytes;
        free(ptr);
        return NULL;
    }
    if (++meter->calls == meter->fail_at) {
        return NULL;
    }
    meter->live_bytes += new_bytes - old_bytes;
    return realloc(ptr, new_bytes);
}

/* True if memory sufficed. */
static bool solve_metered(PlaceProblem *problem, Meter *meter) {
    s0_allocator allocator = {meter_resize, meter};
    Work work;
    work_init(&work, &allocator);
    if (setjmp(work.escape) != 0) {
        work_free(&work);
        return false;
    }
    assert_true(place_solve(problem, &work.scratch));
    assert_int_equal(place_judge(problem, &work.scratch).verdict, JUDGE_RIGHT);
    work_free(&work);
    return true;
}

static void test_memory_runs_out(void **unused) {
    (void)unused;
    enum { COUNT = 3000 };
    static PlaceBuffer buffer[COUNT];
    uint64_t state = 11;
    for (size_t i = 0; i < COUNT; i++) {
        buffer[i] = draw_buffer(&state, 1000, 100);
        buffer[i].first += i;
        buffer[i].last += i;
    }
    PlaceProblem problem = {.buffer = buffer, .count = COUNT, .align_bytes = 1};
    bool enough = false;
    size_t fail_at = 0;
    while (!enough) {
        Meter meter = {.fail_at = ++fail_at};
        enough = solve_metered(&problem, &meter);
        assert_int_equal(meter.live_bytes, 0);
    }
    print_message("%zu allocations failed in turn\n", fail_at - 1);
    assert_true(fail_at > 3);
}

/* All but two live at one step, so greedy visits more pairs than the packer allows; first fit, which visits none, puts
 * each on the one before, and the last into the place of the first: COUNT - 1 of the same size is the least. */
static void test_too_many_at_once(void **unused) {
    (void)unused;
    enum { COUNT = 5000 };
    static PlaceBuffer buffer[COUNT];
    uint64_t state = 13;
    for (size_t i = 0; i < COUNT; i++) {
        buffer[i] = (PlaceBuffer){.size = 48, .align = 16, .first = i, .last = 2 * COUNT + draw_below(&state, COUNT)};
    }
    buffer[0].last = COUNT - 1;
    for (size_t turn = 0; turn < 2; turn++) {
        shuffle(&state, buffer, COUNT);
        PlaceProblem problem = {.buffer = buffer, .count = COUNT, .align_bytes = 1};
        Work work;
        WORK_BEGIN(&work);
        assert_true(place_solve(&problem, &work.scratch));
        assert_string_equal(problem.method, "first");
        assert_int_equal(problem.height, 48 * (COUNT - 1));
        assert_int_equal(place_judge(&problem, &work.scratch).verdict, JUDGE_RIGHT);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_brute_force),     cmocka_unit_test(test_every_order_of_rows),
        cmocka_unit_test(test_extremes),        cmocka_unit_test(test_bound_step),
        cmocka_unit_test(test_memory_runs_out), cmocka_unit_test(test_too_many_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
