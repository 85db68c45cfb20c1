/* Proves, on problems by chance: the answer's peak is the lowest over all orders and its bound says so; peaks are those
 * of a definition that asks sets of operations; a search that is stopped finds an allowed order, no worse than the
 * given one, and a bound that is one; the beam alone is seldom above the lowest peak; cuts are the operations that are
 * ordered with all others; a part of one stretch is solved like a whole; rules of thumb tell the peak of their order.
 */
#include "order/draw.h"
#include "order/part.h"

enum { ROUNDS = 3000, OPS = 8 };

static uint64_t peak_by_definition(const Drawn *drawn, const uint32_t *order) {
    uint64_t peak = 0;
    uint32_t done = 0;
    for (uint32_t at = 0; at < drawn->problem.op_count; at++) {
        uint64_t cost = cost_by_definition(drawn, done, order[at]);
        peak = cost > peak ? cost : peak;
        done |= (uint32_t)1 << order[at];
    }
    return peak;
}

static void check_answer(const Drawn *drawn, const OrderAnswer *answer, Arena *arena) {
    const OrderProblem *problem = &drawn->problem;
    uint32_t given[DRAW_MOST_OPS];
    for (uint32_t i = 0; i < problem->op_count; i++) {
        given[i] = i;
    }
    assert_true(order_is_allowed(problem, answer->order, arena));
    assert_int_equal(answer->peak_bytes, peak_by_definition(drawn, answer->order));
    assert_int_equal(answer->given_peak_bytes, peak_by_definition(drawn, given));
    assert_int_equal(order_peak(problem, answer->order, arena), answer->peak_bytes);
    assert_true(answer->peak_bytes <= answer->given_peak_bytes);
}

/* Checks one problem; returns what is counted of it. */
typedef uint32_t (*Check)(const Drawn *drawn, uint32_t round, Arena *arena);

/* ROUNDS problems of `least` to `most` operations; the sum of what was counted. */
static uint32_t check_all(uint64_t seed, uint32_t least, uint32_t most, Check check) {
    uint64_t state = seed;
    uint32_t counted = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        draw_problem(&state, least + (uint32_t)random_below(&state, most - least + 1), &drawn);
        counted += check(&drawn, round, &work.scratch);
        work_free(&work);
    }
    return counted;
}

static uint32_t check_lowest(const Drawn *drawn, uint32_t round, Arena *arena) {
    (void)round;
    OrderAnswer answer, again;
    order_solve(&drawn->problem, &order_limits, arena, &answer);
    order_solve(&drawn->problem, &order_limits, arena, &again);
    check_answer(drawn, &answer, arena);
    assert_int_equal(answer.peak_bytes, lowest_peak(drawn, 0, 0, UINT64_MAX));
    assert_int_equal(answer.bound_bytes, answer.peak_bytes);
    assert_memory_equal(answer.order, again.order, drawn->problem.op_count * sizeof *answer.order);
    return answer.peak_bytes < answer.given_peak_bytes;
}

static void test_lowest(void **unused) {
    (void)unused;
    assert_true(check_all(1, 1, OPS, check_lowest) > ROUNDS / 10);
}

static uint32_t check_stopped(const Drawn *drawn, uint32_t round, Arena *arena) {
    static const OrderLimits limits[] = {
        {.most_work = 1, .most_states = 1, .most_ops = 64, .width = 3},
        {.most_work = UINT64_MAX, .most_states = 6, .most_ops = 64, .width = 2},
        {.most_work = 100, .most_states = 100, .most_ops = 64, .width = 0},
        {.most_work = UINT64_MAX, .most_states = 100, .most_ops = 5, .width = 9},
    };
    OrderAnswer answer;
    uint64_t lowest = lowest_peak(drawn, 0, 0, UINT64_MAX);
    order_solve(&drawn->problem, &limits[round % 4], arena, &answer);
    check_answer(drawn, &answer, arena);
    assert_true(answer.bound_bytes <= lowest && lowest <= answer.peak_bytes);
    return 1;
}

static void test_stopped(void **unused) {
    (void)unused;
    check_all(2, 1, OPS, check_stopped);
}

static uint32_t misses_lowest(const Drawn *drawn, uint32_t round, Arena *arena) {
    static const OrderLimits limits = {.most_work = UINT64_MAX, .most_states = 1, .most_ops = 64, .width = 8};
    (void)round;
    OrderAnswer answer;
    order_solve(&drawn->problem, &limits, arena, &answer);
    return answer.peak_bytes > lowest_peak(drawn, 0, 0, UINT64_MAX);
}

static void test_beam(void **unused) {
    (void)unused;
    uint32_t misses = check_all(3, OPS, OPS, misses_lowest);
    print_message("beam alone: %u of %u above the lowest peak\n", misses, (unsigned)ROUNDS);
    assert_true(misses < ROUNDS / 20);
}

/* A stretch that holds all of a part is searched whole. */
static uint32_t check_window(const Drawn *drawn, uint32_t round, Arena *arena) {
    static const OrderLimits limits = {.most_work = 64000000, .most_states = 10000, .most_ops = 0, .width = 1};
    (void)round;
    OrderAnswer answer;
    order_solve(&drawn->problem, &limits, arena, &answer);
    check_answer(drawn, &answer, arena);
    assert_int_equal(answer.peak_bytes, lowest_peak(drawn, 0, 0, UINT64_MAX));
    assert_true(answer.bound_bytes <= answer.peak_bytes);
    return 1;
}

static void test_windows(void **unused) {
    (void)unused;
    check_all(6, 1, OPS, check_window);
}

/* Set of operations that lead to each, by all paths. */
static void find_ancestors(const OrderProblem *problem, uint32_t *ancestors) {
    for (uint32_t i = 0; i < problem->op_count; i++) {
        ancestors[i] = 0;
        for (uint32_t k = 0; k < problem->ops[i].before_count; k++) {
            uint32_t from = problem->ops[i].before[k];
            ancestors[i] |= ancestors[from] | (uint32_t)1 << from;
        }
    }
}

static bool is_idle(const OrderOp *op) {
    return op->touch_count == 0 && op->own_bytes == 0;
}

static uint32_t check_cuts(const Drawn *drawn, uint32_t round, Arena *arena) {
    (void)round;
    const OrderProblem *problem = &drawn->problem;
    const bool *is_cut = order_cuts(problem, arena);
    uint32_t ancestors[DRAW_MOST_OPS], cuts = 0;
    find_ancestors(problem, ancestors);
    for (uint32_t i = 0; i < problem->op_count; i++) {
        bool expected = !is_idle(&problem->ops[i]);
        for (uint32_t k = 0; k < problem->op_count; k++) {
            bool is_ordered = k == i || (ancestors[i] >> k & 1) != 0 || (ancestors[k] >> i & 1) != 0;
            expected = expected && (is_ordered || is_idle(&problem->ops[k]));
        }
        assert_int_equal(is_cut[i], expected);
        cuts += is_cut[i];
    }
    return cuts;
}

static void test_cuts(void **unused) {
    (void)unused;
    assert_true(check_all(4, 1, DRAW_MOST_OPS, check_cuts) > ROUNDS / 4);
}

static uint32_t check_rule(const Drawn *drawn, uint32_t round, Arena *arena) {
    Part part;
    uint32_t order[DRAW_MOST_OPS];
    const OrderIndex index = order_index(&drawn->problem, arena);
    part_make(&index, 0, drawn->problem.op_count, arena, &part);
    uint64_t peak = greedy_order(&part, (GreedyRule)(round % GREEDY_COUNT), arena, order);
    assert_true(order_is_allowed(&drawn->problem, order, arena));
    assert_int_equal(peak, peak_by_definition(drawn, order));
    assert_true(part.bound_bytes <= peak);
    return 1;
}

static void test_rules(void **unused) {
    (void)unused;
    check_all(5, 1, DRAW_MOST_OPS, check_rule);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lowest), cmocka_unit_test(test_stopped),
                                       cmocka_unit_test(test_beam),   cmocka_unit_test(test_windows),
                                       cmocka_unit_test(test_cuts),   cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
