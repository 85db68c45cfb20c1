/* Proves: of many buffers the height is near the largest live sum, found here a second way; the judge accepts it; it is
 * the same for every order of the rows; extreme sizes, alignments and numbers of live buffers end in a right answer. */
#include "place/judge.h"
#include "support/buffers.h"
#include "support/work.h"

#include <inttypes.h>

enum { UNIT = 16 };

/* `most_permille`: of the bound, what the height may be above it. */
typedef struct {
    BuffersFamily family;
    size_t count;
    double live;
    uint64_t seed, most_permille;
} Many;

static const Many SMALL[] = {
    {BUFFERS_MIXED, 4000, 3, 1, 5},      {BUFFERS_MIXED, 6000, 100, 1, 30},   {BUFFERS_MIXED, 8000, 300, 1, 30},
    {BUFFERS_ALIGNED, 6000, 100, 1, 30}, {BUFFERS_UNIFORM, 4000, 100, 1, 60}, {BUFFERS_POWERS, 6000, 100, 1, 30},
    {BUFFERS_LONG, 6000, 100, 1, 30},
};

#ifdef NDEBUG
enum { IS_OPTIMISED = 1 };
#else
enum { IS_OPTIMISED = 0 };
#endif

/* Seconds where the compiler optimises, much more where not. */
static const Many LARGE[] = {
    {BUFFERS_MIXED, 100000, 1000, 1, 20}, {BUFFERS_MIXED, 100000, 1000, 2, 20},  {BUFFERS_MIXED, 100000, 1000, 3, 20},
    {BUFFERS_MIXED, 100000, 1000, 8, 20}, {BUFFERS_POWERS, 100000, 1000, 1, 20},
};

static void draw(const Many *many, Work *work, PlaceProblem *problem) {
    *problem = (PlaceProblem){
        .buffer = arena_array(&work->keep, PlaceBuffer, many->count), .count = many->count, .align_bytes = UNIT};
    buffers_draw(problem->buffer, many->count, many->live, many->family, many->seed);
}

static void place_and_judge(Work *work, PlaceProblem *problem) {
    assert_true(place_solve(problem, &work->scratch));
    assert_int_equal(place_judge(problem, &work->scratch).verdict, JUDGE_RIGHT);
    assert_int_equal(problem->bound, buffers_bound(problem->buffer, problem->count, UNIT));
    arena_reset(&work->scratch);
}

static void check_near(Work *work, const Many *many, size_t count) {
    for (size_t i = 0; i < count; i++) {
        PlaceProblem problem;
        draw(&many[i], work, &problem);
        place_and_judge(work, &problem);
        print_message("%s, %zu, %.0f live: height %" PRIu64 ", bound %" PRIu64 ", by %s\n",
                      buffers_name(many[i].family), many[i].count, many[i].live, problem.height, problem.bound,
                      problem.method);
        assert_true((problem.height - problem.bound) * 1000 <= problem.bound * many[i].most_permille);
    }
}

static void test_near_the_bound(Work *work) {
    check_near(work, SMALL, sizeof SMALL / sizeof *SMALL);
}

static void test_near_the_bound_of_many(Work *work) {
    if (IS_OPTIMISED) {
        check_near(work, LARGE, sizeof LARGE / sizeof *LARGE);
    } else {
        print_message("100 000 buffers: only where the compiler optimises\n");
        skip();
    }
}

static void shuffle(PlaceBuffer *buffer, size_t count, uint64_t *state) {
    for (size_t i = count; i > 1; i--) {
        size_t j = random_below(state, i);
        PlaceBuffer swapped = buffer[i - 1];
        buffer[i - 1] = buffer[j];
        buffer[j] = swapped;
    }
}

static void test_every_order_of_rows(Work *work) {
    uint64_t state = 5;
    size_t outward = 0;
    for (size_t i = 0; i < sizeof SMALL / sizeof *SMALL; i++) {
        PlaceProblem problem;
        draw(&SMALL[i], work, &problem);
        place_and_judge(work, &problem);
        PlaceProblem before = problem;
        shuffle(problem.buffer, problem.count, &state);
        place_and_judge(work, &problem);
        assert_int_equal(problem.height, before.height);
        assert_string_equal(problem.method, before.method);
        outward += strcmp(problem.method, "outward") == 0;
    }
    assert_true(outward >= 3);
}

/* Buffer i has `size` + i % 17 bytes and begins `step_first` * i; every third is aligned. A life is `life` steps, and
 * longer or shorter with i where there is a `step_last`. */
static const struct {
    const char *name;
    size_t count;
    uint64_t size, align;
    uint64_t step_first, step_last, life;
} ODD[] = {
    {.name = "all at once", .count = 1000, .size = 1, .align = 3, .life = 1},
    {.name = "all alike", .count = 1000, .size = (uint64_t)1 << 50, .align = 1, .life = 7},
    {.name = "nested", .count = 1000, .size = 1000, .align = 5, .step_first = 1, .step_last = 1, .life = 9000},
    {.name = "a staircase", .count = 1000, .size = 1000, .align = 7, .step_first = 1, .life = 500},
    {.name = "huge", .count = 12, .size = (uint64_t)1 << 60, .align = 1, .step_first = 1, .life = 9},
    {.name = "at the end of time", .count = 1000, .size = 100, .align = 48, .step_last = 1, .life = UINT64_MAX - 4000},
};

static void test_odd_ones(Work *work) {
    for (size_t i = 0; i < sizeof ODD / sizeof *ODD; i++) {
        print_message("%s\n", ODD[i].name);
        PlaceBuffer *buffer = arena_array(&work->keep, PlaceBuffer, ODD[i].count);
        for (size_t k = 0; k < ODD[i].count; k++) {
            uint64_t first = ODD[i].step_first * k;
            uint64_t last = first + ODD[i].life + (ODD[i].step_first == 0) * ODD[i].step_last * k;
            last -= ODD[i].step_first * ODD[i].step_last * 2 * k;
            buffer[k] = (PlaceBuffer){
                .size = ODD[i].size + k % 17, .align = k % 3 == 0 ? ODD[i].align : 1, .first = first, .last = last};
        }
        PlaceProblem problem = {.buffer = buffer, .count = ODD[i].count, .align_bytes = 1};
        assert_true(place_solve(&problem, &work->scratch));
        assert_int_equal(place_judge(&problem, &work->scratch).verdict, JUDGE_RIGHT);
        assert_true(problem.height - problem.bound <= problem.bound / 4);
        arena_reset(&work->scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_near_the_bound), WORK_TEST(test_near_the_bound_of_many),
                                       WORK_TEST(test_every_order_of_rows), WORK_TEST(test_odd_ones)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
