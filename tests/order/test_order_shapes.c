/* Proves by networks whose lowest peak is known by hand: branches with a wide end are closed one by one; a chain of
 * 100 000 operations has no choice, and keeps its order; 10 000 branches side by side, far past what is searched whole,
 * come to the peak that a hand gives them; 300 diamonds in a line, which rules of thumb get wrong, do too; what touches
 * nothing cuts no network in two; a part that does not matter keeps the given order; sums past 63 bits are told. */
#include "order/order.h"
#include "support/work.h"

static OrderProblem problem_new(Arena *arena, uint32_t ops, uint32_t storages, OrderOp **op, OrderStorage **storage) {
    *op = arena_array(arena, OrderOp, ops);
    *storage = arena_array(arena, OrderStorage, storages);
    for (uint32_t i = 0; i < ops; i++) {
        (*op)[i].result = ORDER_NONE;
    }
    return (OrderProblem){ops, storages, *op, *storage};
}

static void touch(Arena *arena, OrderOp *op, uint32_t a, uint32_t b, uint32_t c) {
    const uint32_t all[] = {a, b, c};
    OrderTouch *touches = arena_array(arena, OrderTouch, 3);
    for (uint32_t k = 0; k < 3; k++) {
        if (all[k] != ORDER_NONE) {
            touches[op->touch_count++].storage = all[k];
        }
    }
    op->touches = touches;
}

static void follow(Arena *arena, OrderOp *op, uint32_t a, uint32_t b) {
    uint32_t *before = arena_array(arena, uint32_t, 2);
    before[op->before_count++] = a;
    if (b != ORDER_NONE) {
        before[op->before_count++] = b;
    }
    op->before = before;
}

/* x (10) is widened to a (100) and narrowed to b (1), four times; the file widens all first: 10 + 4 * 100. One after
 * the other the last is widened beside three b: 10 + 3 + 100. A last operation reads the four b and makes 5. */
static void test_branches(Work *work) {
    enum { BRANCHES = 4, OPS = 2 * BRANCHES + 2 };
    Arena *arena = &work->scratch;
    OrderOp *op;
    OrderStorage *storage;
    OrderAnswer answer;
    OrderProblem problem = problem_new(arena, OPS, 1 + 2 * BRANCHES, &op, &storage);
    storage[0] = (OrderStorage){.bytes = 10};
    touch(arena, &op[0], 0, ORDER_NONE, ORDER_NONE);
    OrderTouch *ends = arena_array(arena, OrderTouch, BRANCHES);
    uint32_t *joined = arena_array(arena, uint32_t, BRANCHES);
    for (uint32_t k = 0; k < BRANCHES; k++) {
        storage[1 + k].bytes = 100;
        storage[1 + BRANCHES + k].bytes = 1;
        touch(arena, &op[1 + k], 0, 1 + k, ORDER_NONE);
        follow(arena, &op[1 + k], 0, ORDER_NONE);
        touch(arena, &op[1 + BRANCHES + k], 1 + k, 1 + BRANCHES + k, ORDER_NONE);
        follow(arena, &op[1 + BRANCHES + k], 1 + k, ORDER_NONE);
        ends[k].storage = 1 + BRANCHES + k;
        joined[k] = 1 + BRANCHES + k;
    }
    op[OPS - 1] = (OrderOp){.touch_count = BRANCHES,
                            .touches = ends,
                            .before_count = BRANCHES,
                            .before = joined,
                            .own_bytes = 5,
                            .result = ORDER_NONE};
    order_solve(&problem, &order_limits, arena, &answer);
    assert_int_equal(answer.given_peak_bytes, 10 + 4 * 100);
    assert_int_equal(answer.peak_bytes, 3 + 10 + 100); /* the last branch is widened, and x is no more */
    assert_int_equal(answer.bound_bytes, answer.peak_bytes);
    assert_int_equal(answer.part_count, 1);
    assert_int_equal(answer.largest_part, 2 * BRANCHES);
}

static void test_chain(Work *work) {
    enum { OPS = 100000 };
    Arena *arena = &work->scratch;
    OrderOp *op;
    OrderStorage *storage;
    OrderAnswer answer;
    OrderProblem problem = problem_new(arena, OPS, OPS + 1, &op, &storage);
    for (uint32_t i = 0; i < OPS; i++) {
        storage[i].bytes = 1 + i % 7;
        touch(arena, &op[i], i, i + 1, i % 5 == 0 ? 0 : ORDER_NONE); /* the first map is read again and again */
        if (i > 0) {
            follow(arena, &op[i], i - 1, i > 3 ? i - 3 : ORDER_NONE);
        }
        op[i].touch_count -= i == 0;
    }
    order_solve(&problem, &order_limits, arena, &answer);
    assert_int_equal(answer.part_count, 0);
    assert_int_equal(answer.state_count, 0);
    assert_int_equal(answer.bound_bytes, answer.peak_bytes);
    for (uint32_t i = 0; i < OPS; i++) {
        assert_int_equal(answer.order[i], i);
    }
}

/* x (10) is read by 10 000 branches, each of 100 bytes and then 1; sums of two (1) gather them in a line. The file has
 * all first operations, then all second ones, then all sums. At best a branch is open at a time: 10 + 100 + 1 and the
 * sum so far (1). */
static void test_wide(Work *work) {
    enum { WIDTH = 10000, WIDE = 1, NARROW = WIDE + WIDTH, SUM = NARROW + WIDTH, OPS = SUM + WIDTH };
    Arena *arena = &work->scratch;
    OrderOp *op;
    OrderStorage *storage;
    OrderAnswer answer;
    OrderProblem problem = problem_new(arena, OPS, OPS, &op, &storage);
    storage[0] = (OrderStorage){.bytes = 10, .is_last = true};
    touch(arena, &op[0], 0, ORDER_NONE, ORDER_NONE);
    for (uint32_t k = 0; k < WIDTH; k++) {
        storage[WIDE + k].bytes = 100;
        storage[NARROW + k].bytes = storage[SUM + k].bytes = 1;
        touch(arena, &op[WIDE + k], 0, WIDE + k, ORDER_NONE);
        follow(arena, &op[WIDE + k], 0, ORDER_NONE);
        touch(arena, &op[NARROW + k], WIDE + k, NARROW + k, ORDER_NONE);
        follow(arena, &op[NARROW + k], WIDE + k, ORDER_NONE);
        touch(arena, &op[SUM + k], NARROW + k, SUM + k, k == 0 ? ORDER_NONE : SUM + k - 1);
        follow(arena, &op[SUM + k], NARROW + k, k == 0 ? ORDER_NONE : SUM + k - 1);
    }
    order_solve(&problem, &order_limits, arena, &answer);
    assert_int_equal(answer.given_peak_bytes, 10 + (uint64_t)WIDTH * 100 + 1);
    assert_int_equal(answer.peak_bytes, 10 + 100 + 1 + 1);
    assert_int_equal(answer.largest_part, OPS - 2); /* the first one and the last sum are cuts */
}

/* 300 diamonds in a line. In each, x (1) is widened to a (60), which is narrowed to b (1) with 39 beside; and x is made
 * c (5), and that d (50); b and d are made the next x. As given, and by rules of thumb, c and d come first: then d
 * is there when a is narrowed: 50 + 60 + 1 + 39. The other way round it is x: 1 + 60 + 1 + 39. One more is alive all
 * along: an operation that needs the first x makes a number for the last one, so there is no cut between. */
static void test_stretches(Work *work) {
    enum { DIAMONDS = 300, EACH = 5, OPS = EACH * DIAMONDS + 3 };
    Arena *arena = &work->scratch;
    OrderOp *op;
    OrderStorage *storage;
    OrderAnswer answer;
    OrderProblem problem = problem_new(arena, OPS, EACH * DIAMONDS + 2, &op, &storage);
    const uint32_t kept = EACH * DIAMONDS + 1;
    storage[0].bytes = storage[kept].bytes = 1;
    touch(arena, &op[0], 0, ORDER_NONE, ORDER_NONE);
    for (uint32_t k = 0, x = 0, maker = 0; k < DIAMONDS; k++, x += EACH, maker += EACH) {
        static const uint64_t bytes[EACH] = {5, 50, 60, 1, 1}; /* c, d, a, b, the next x */
        for (uint32_t s = 0; s < EACH; s++) {
            storage[x + 1 + s].bytes = bytes[s];
        }
        touch(arena, &op[maker + 1], x, x + 1, ORDER_NONE);
        follow(arena, &op[maker + 1], maker, ORDER_NONE);
        touch(arena, &op[maker + 2], x + 1, x + 2, ORDER_NONE);
        follow(arena, &op[maker + 2], maker + 1, ORDER_NONE);
        op[maker + 4].own_bytes = 39;
        touch(arena, &op[maker + 3], x, x + 3, ORDER_NONE);
        follow(arena, &op[maker + 3], maker, ORDER_NONE);
        touch(arena, &op[maker + 4], x + 3, x + 4, ORDER_NONE);
        follow(arena, &op[maker + 4], maker + 3, ORDER_NONE);
        touch(arena, &op[maker + 5], x + 2, x + 4, x + 5);
        follow(arena, &op[maker + 5], maker + 2, maker + 4);
    }
    touch(arena, &op[OPS - 2], 0, kept, ORDER_NONE);
    follow(arena, &op[OPS - 2], 0, ORDER_NONE);
    touch(arena, &op[OPS - 1], EACH * DIAMONDS, kept, ORDER_NONE);
    follow(arena, &op[OPS - 1], OPS - 3, OPS - 2);
    order_solve(&problem, &order_limits, arena, &answer);
    assert_int_equal(answer.largest_part, OPS - 2);
    assert_int_equal(answer.given_peak_bytes, 1 + 50 + 60 + 1 + 39);
    assert_int_equal(answer.peak_bytes, 1 + 1 + 60 + 1 + 39);
}

/* Two parts as those above, of which the second has a higher peak whatever its order: the first keeps the given one. A
 * operation that touches nothing and follows from none stands between. */
static void test_parts(Work *work) {
    Arena *arena = &work->scratch;
    OrderOp *op;
    OrderStorage *storage;
    OrderAnswer answer;
    enum { OPS = 12 };
    static const uint64_t bytes[] = {1, 50, 50, 1, 1, 1, 500, 500, 2, 2, 1};
    static const uint32_t reads[OPS] = {ORDER_NONE, 0, 0, 1, 2, 3, ORDER_NONE, 5, 5, 6, 7, 8};
    static const uint32_t also[OPS] = {ORDER_NONE, ORDER_NONE, ORDER_NONE, ORDER_NONE, ORDER_NONE, 4,
                                       ORDER_NONE, ORDER_NONE, ORDER_NONE, ORDER_NONE, ORDER_NONE, 9};
    OrderProblem problem = problem_new(arena, OPS, 11, &op, &storage);
    uint32_t made = 0, maker[11] = {0};
    for (uint32_t i = 0; i < OPS; i++) {
        if (i == 6) {
            continue; /* the one that touches nothing */
        }
        storage[made].bytes = bytes[made];
        touch(arena, &op[i], made, reads[i], also[i]);
        if (reads[i] != ORDER_NONE) {
            follow(arena, &op[i], maker[reads[i]], also[i] == ORDER_NONE ? ORDER_NONE : maker[also[i]]);
        }
        maker[made++] = i;
    }
    order_solve(&problem, &order_limits, arena, &answer);
    assert_int_equal(answer.given_peak_bytes, 500 + 500 + 2);
    assert_int_equal(answer.peak_bytes, 2 + 500 + 2); /* the second branch narrows */
    assert_int_equal(answer.part_count, 2);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(answer.order[i], i);
    }
}

static void test_sums(Work *work) {
    OrderOp *op;
    OrderStorage *storage;
    OrderProblem problem = problem_new(&work->scratch, 1, 2, &op, &storage);
    storage[0].bytes = (uint64_t)INT64_MAX - 5;
    storage[1].bytes = 3;
    op[0].own_bytes = 2;
    assert_true(order_sum_fits(&problem));
    op[0].own_bytes = 3;
    assert_false(order_sum_fits(&problem));
    storage[1].bytes = UINT64_MAX;
    assert_false(order_sum_fits(&problem));
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_branches),  WORK_TEST(test_chain), WORK_TEST(test_wide),
                                       WORK_TEST(test_stretches), WORK_TEST(test_parts), WORK_TEST(test_sums)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
