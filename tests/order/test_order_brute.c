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

static void test_lowest(void **unused) {
    (void)unused;
    uint64_t state = 1;
    uint32_t gains = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        OrderAnswer answer, again;
        draw_problem(&state, 1 + (uint32_t)random_below(&state, OPS), &drawn);
        order_solve(&drawn.problem, &order_limits, &work.scratch, &answer);
        order_solve(&drawn.problem, &order_limits, &work.scratch, &again);
        check_answer(&drawn, &answer, &work.scratch);
        assert_int_equal(answer.peak_bytes, lowest_peak(&drawn, 0, 0, UINT64_MAX));
        assert_int_equal(answer.bound_bytes, answer.peak_bytes);
        assert_memory_equal(answer.order, again.order, drawn.problem.op_count * sizeof *answer.order);
        gains += answer.peak_bytes < answer.given_peak_bytes;
        work_free(&work);
    }
    assert_true(gains > ROUNDS / 10);
}

static void test_stopped(void **unused) {
    (void)unused;
    static const OrderLimits limits[] = {
        {.most_work = 1, .most_states = 1, .most_ops = 64, .width = 3},
        {.most_work = UINT64_MAX, .most_states = 6, .most_ops = 64, .width = 2},
        {.most_work = 100, .most_states = 100, .most_ops = 64, .width = 0},
        {.most_work = UINT64_MAX, .most_states = 100, .most_ops = 5, .width = 9},
    };
    uint64_t state = 2;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        OrderAnswer answer;
        draw_problem(&state, 1 + (uint32_t)random_below(&state, OPS), &drawn);
        uint64_t lowest = lowest_peak(&drawn, 0, 0, UINT64_MAX);
        order_solve(&drawn.problem, &limits[round % 4], &work.scratch, &answer);
        check_answer(&drawn, &answer, &work.scratch);
        assert_true(answer.bound_bytes <= lowest && lowest <= answer.peak_bytes);
        work_free(&work);
    }
}

static void test_beam(void **unused) {
    (void)unused;
    static const OrderLimits limits = {.most_work = UINT64_MAX, .most_states = 1, .most_ops = 64, .width = 8};
    uint64_t state = 3;
    uint32_t misses = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        OrderAnswer answer;
        draw_problem(&state, OPS, &drawn);
        order_solve(&drawn.problem, &limits, &work.scratch, &answer);
        misses += answer.peak_bytes > lowest_peak(&drawn, 0, 0, UINT64_MAX);
        work_free(&work);
    }
    print_message("beam alone: %u of %u above the lowest peak\n", misses, (unsigned)ROUNDS);
    assert_true(misses < ROUNDS / 20);
}

/* A stretch that holds all of a part is searched whole. */
static void test_windows(void **unused) {
    (void)unused;
    static const OrderLimits limits = {.most_work = 64000000, .most_states = 10000, .most_ops = 0, .width = 1};
    uint64_t state = 6;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        OrderAnswer answer;
        draw_problem(&state, 1 + (uint32_t)random_below(&state, OPS), &drawn);
        order_solve(&drawn.problem, &limits, &work.scratch, &answer);
        check_answer(&drawn, &answer, &work.scratch);
        assert_int_equal(answer.peak_bytes, lowest_peak(&drawn, 0, 0, UINT64_MAX));
        assert_true(answer.bound_bytes <= answer.peak_bytes);
        work_free(&work);
    }
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

static void test_cuts(void **unused) {
    (void)unused;
    uint64_t state = 4;
    uint32_t cuts = 0;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        uint32_t ancestors[DRAW_MOST_OPS];
        draw_problem(&state, 1 + (uint32_t)random_below(&state, DRAW_MOST_OPS), &drawn);
        const OrderProblem *problem = &drawn.problem;
        const bool *is_cut = order_cuts(problem, &work.scratch);
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
        work_free(&work);
    }
    assert_true(cuts > ROUNDS / 4);
}

static void test_rules(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        Drawn drawn;
        Work work;
        WORK_BEGIN(&work);
        Part part;
        uint32_t order[DRAW_MOST_OPS];
        draw_problem(&state, 1 + (uint32_t)random_below(&state, DRAW_MOST_OPS), &drawn);
        const OrderIndex index = order_index(&drawn.problem, &work.scratch);
        part_make(&index, 0, drawn.problem.op_count, &work.scratch, &part);
        uint64_t peak = greedy_order(&part, (GreedyRule)(round % GREEDY_COUNT), &work.scratch, order);
        assert_true(order_is_allowed(&drawn.problem, order, &work.scratch));
        assert_int_equal(peak, peak_by_definition(&drawn, order));
        assert_true(part.bound_bytes <= peak);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_lowest), cmocka_unit_test(test_stopped),
                                       cmocka_unit_test(test_beam),   cmocka_unit_test(test_windows),
                                       cmocka_unit_test(test_cuts),   cmocka_unit_test(test_rules)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
