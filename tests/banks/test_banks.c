/* Proves of buffers among several memories: worked examples come out as they must; what the search over assignments
 * can't decide is not called proven; of more buffers than that search takes, spilling leaves no buffer in a dearer
 * memory that the sums of live sizes leave room for, the judge accepts it, and the answer repeats; sums beyond 64 bits
 * are told. (Small problems against brute force: test_pack_brute.c.) */
#include "banks/banks.h"
#include "place/draw.h"
#include "place/judge.h"
#include "support/work.h"

#include <inttypes.h>

enum { MOST = 150, MOST_BANKS = 3, ANY = BANK_ANY };

typedef struct {
    SolverBuffer buffer[MOST];
    uint32_t where[MOST];
    JudgedBuffer asked[MOST];
    Bank bank[MOST_BANKS];
    BanksProblem problem;
    BanksResult result;
} Case;

static void case_init(Case *c) {
    c->problem = (BanksProblem){.bank = c->bank, .buffer = c->buffer, .where = c->where, .options = {.threads = 1}};
}

static void add(Case *c, SolverBuffer buffer, uint32_t where) {
    const size_t i = c->problem.count++;
    c->buffer[i] = buffer;
    c->where[i] = where;
    c->asked[i] = (JudgedBuffer){.size = buffer.size,
                                 .align = buffer.align,
                                 .first = buffer.first,
                                 .last = buffer.last,
                                 .is_pinned = buffer.is_pinned,
                                 .pin = buffer.offset,
                                 .required = where == BANK_ANY ? JUDGE_ANY_MEMORY : where};
}

static void add_bank(Case *c, uint64_t capacity, uint64_t price) {
    c->bank[c->problem.bank_count++] = (Bank){capacity, 1, price};
}

/* Each answer that is told to fit is judged. */
static SolverOutcome solve(Case *c, Work *work) {
    assert_true(banks_run(&c->problem, &work->keep, &work->scratch, &c->result));
    if (c->result.outcome != SOLVER_FOUND) {
        return c->result.outcome;
    }
    JudgedMemory memory[MOST_BANKS];
    for (size_t i = 0; i < c->problem.count; i++) {
        c->asked[i].memory = c->where[i];
        c->asked[i].offset = c->buffer[i].offset;
    }
    for (uint32_t b = 0; b < c->problem.bank_count; b++) {
        memory[b] = (JudgedMemory){1, c->bank[b].capacity, c->result.bank[b].height, c->result.bank[b].bound, true};
    }
    const JudgedAnswer answer = {c->asked, c->problem.count, memory, c->problem.bank_count};
    assert_int_equal(place_judge_answer(&answer, &work->scratch).verdict, JUDGE_RIGHT);
    return SOLVER_FOUND;
}

static SolverBuffer alive(uint64_t first, uint64_t last, uint64_t size) {
    return (SolverBuffer){.size = size, .align = 1, .first = first, .last = last};
}

/* ---- Worked examples */

/* Of 6, 5 and 4 bytes at once, 9 fit the cheap memory: 5 + 4, so that 6 go. A rule by size would send 9. */
static void test_best_set_stays(Work *work) {
    Case c;
    case_init(&c);
    add_bank(&c, 9, 0);
    add_bank(&c, UINT64_MAX, 2);
    add(&c, alive(0, 1, 6), ANY);
    add(&c, alive(0, 1, 5), ANY);
    add(&c, alive(0, 1, 4), ANY);
    assert_int_equal(solve(&c, work), SOLVER_FOUND);
    assert_int_equal(c.result.cost, 12);
    assert_true(c.result.is_cheapest);
    assert_string_equal(c.result.how, "search");
    assert_int_equal(c.where[0], 1);
}

/* The cheapest memory need not be the first. */
static void test_price_rules(Work *work) {
    Case c;
    case_init(&c);
    add_bank(&c, 8, 7);
    add_bank(&c, 8, 3);
    add_bank(&c, 8, 5);
    add(&c, alive(0, 4, 8), ANY);
    add(&c, alive(2, 6, 8), ANY);
    add(&c, alive(5, 9, 8), 1);
    assert_int_equal(solve(&c, work), SOLVER_FOUND);
    assert_int_equal(c.result.cost, 8 * (3 + 3 + 5));
}

/* Where there is no choice nothing is searched, and buffers in different memories do not meet. */
static void test_given(Work *work) {
    Case c;
    case_init(&c);
    add_bank(&c, 8, 0);
    add_bank(&c, 8, 1);
    add(&c, alive(0, 4, 8), 0);
    add(&c, alive(0, 4, 8), 1);
    assert_int_equal(solve(&c, work), SOLVER_FOUND);
    assert_string_equal(c.result.how, "given");
    assert_true(c.result.is_cheapest);
}

/* What has to be in one memory does not fit there; the free buffer is none of the culprits. */
static void test_culprits(Work *work) {
    Case c;
    case_init(&c);
    add_bank(&c, 8, 0);
    add_bank(&c, 8, 1);
    add(&c, alive(0, 4, 1), ANY);
    add(&c, alive(0, 4, 5), 0);
    add(&c, alive(1, 4, 5), 0);
    assert_int_equal(solve(&c, work), SOLVER_INFEASIBLE);
    assert_int_equal(c.result.culprit_count, 2);
    assert_int_equal(c.result.culprit[0] + c.result.culprit[1], 3);
}

static void test_overflow(Work *work) {
    Case c;
    case_init(&c);
    add_bank(&c, UINT64_MAX, 2);
    add_bank(&c, UINT64_MAX, 3);
    add(&c, alive(0, 4, UINT64_MAX / 2 + 1), ANY);
    assert_false(banks_run(&c.problem, &work->keep, &work->scratch, &c.result));
    c.bank[0].price = c.bank[1].price = 0;
    add(&c, alive(0, 4, UINT64_MAX / 2 + 1), 0);
    c.where[0] = 0;
    assert_false(banks_run(&c.problem, &work->keep, &work->scratch, &c.result));
}

static void test_nothing(Work *work) {
    Case c;
    case_init(&c);
    add_bank(&c, 8, 0);
    add_bank(&c, 8, 1);
    assert_int_equal(solve(&c, work), SOLVER_FOUND);
    assert_int_equal(c.result.bank[0].height + c.result.bank[1].height, 0);
}

/* ---- What can't be decided */

/* Even sizes between walls that leave rooms of odd size: whether they fit can't be told by any search of this length.
 */
static void test_not_proven(Work *work) {
    enum { ROOMS = 9, ITEMS = 40, ROOM = 101 };
    uint64_t state = 11, sum = 0;
    Case c;
    case_init(&c);
    for (uint64_t k = 0; k < ROOMS; k++) {
        SolverBuffer wall = alive(0, 9, 1);
        wall.is_pinned = true;
        wall.offset = (k + 1) * (ROOM + 1) - 1;
        add(&c, wall, 0);
    }
    for (uint64_t k = 0; k < ITEMS && sum < ROOMS * (ROOM - 1); k++) {
        uint64_t size = 20 + 2 * draw_below(&state, 17);
        size = size < ROOMS * (ROOM - 1) - sum ? size : ROOMS * (ROOM - 1) - sum;
        add(&c, alive(k % 3, 7 + k % 2, size), ANY);
        sum += size;
    }
    add_bank(&c, ROOMS * (ROOM + 1), 0);
    add_bank(&c, UINT64_MAX, 1);
    assert_int_equal(solve(&c, work), SOLVER_FOUND);
    print_message("price %" PRIu64 " of %" PRIu64 " bytes, by %s, %" PRIu64 " nodes\n", c.result.cost, sum,
                  c.result.how, c.result.nodes);
    assert_true(c.result.is_cheapest == (c.result.cost == 0));
    assert_true(c.result.cost < sum / 4);
}

/* ---- Spilling */

static uint64_t live_sum(const Case *c, uint32_t bank, uint64_t step) {
    uint64_t sum = 0;
    for (size_t i = 0; i < c->problem.count; i++) {
        bool is_there = c->where[i] == bank && c->buffer[i].first <= step && step < c->buffer[i].last;
        sum += is_there ? c->buffer[i].size : 0;
    }
    return sum;
}

/* By the sums of live sizes, halved for what a packing may lose. */
static bool has_half_room(const Case *c, size_t i, uint32_t bank) {
    bool has = true;
    for (uint64_t step = c->buffer[i].first; step < c->buffer[i].last; step++) {
        has = has && live_sum(c, bank, step) + c->buffer[i].size <= c->bank[bank].capacity / 2;
    }
    return has;
}

static void test_spilling(Work *work) {
    for (uint64_t round = 1; round <= 4; round++) {
        Case c, again;
        uint64_t state = round * 77;
        case_init(&c);
        for (size_t i = 0; i < MOST; i++) {
            const PlaceBuffer drawn = draw_buffer(&state, 400, 40);
            add(&c, alive(drawn.first, drawn.last, drawn.size), draw_below(&state, 10) == 0 ? 1 : ANY);
        }
        add_bank(&c, 2000 + 500 * round, 0);
        add_bank(&c, 8000, 1 + round % 2);
        add_bank(&c, UINT64_MAX, 2);
        again = c;
        again.problem.buffer = again.buffer;
        again.problem.where = again.where;
        again.problem.bank = again.bank;
        again.problem.options.threads = 2;
        assert_int_equal(solve(&c, work), SOLVER_FOUND);
        assert_string_equal(c.result.how, "spill");
        assert_false(c.result.is_cheapest);
        for (size_t i = 0; i < MOST; i++) {
            assert_true(c.where[i] == 0 || c.asked[i].required == 1 || !has_half_room(&c, i, 0));
        }
        assert_int_equal(solve(&again, work), SOLVER_FOUND);
        assert_memory_equal(c.where, again.where, sizeof c.where);
        arena_reset(&work->scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_best_set_stays), WORK_TEST(test_price_rules), WORK_TEST(test_given),
        WORK_TEST(test_culprits),       WORK_TEST(test_overflow),    WORK_TEST(test_nothing),
        WORK_TEST(test_not_proven),     WORK_TEST(test_spilling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
