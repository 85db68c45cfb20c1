/* Proves that placement agrees with brute force (brute.h) on small random problems with alignments, units, pins, gaps,
 * buffers that lie apart, and up to three memories:
 *   - the lowest height is found and proven, at that capacity a placement is found, below it none: that is proven, and
 *     the culprits do not fit together, but any of them left out, they do;
 *   - among several memories the least price is found and proven, or that there is none, with culprits as above;
 *   - the judge accepts each answer; heights and prices stay the same when the buffers are told in another order, with
 *     one inference of the search switched off, and with several threads;
 *   - brute force itself agrees with trying every offset.
 * The environment tells S0_CASES, how many of at most 7 buffers, S0_LARGE_CASES, how many of 8 and 9, and S0_SEED, the
 * first seed. A case that fails is told by its seed, and as a table for stride0 pack. */
#include "banks/banks.h"
#include "banks/brute.h"
#include "place/draw.h"
#include "place/judge.h"
#include "support/work.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_BANKS = 3, MOST_SPREAD = 6, STEPS = 6 };

typedef struct {
    SolverBuffer buffer[BRUTE_MOST];
    PlaceSpan gap[BRUTE_MOST];
    uint32_t where[BRUTE_MOST];
    size_t count;
    Bank bank[MOST_BANKS];
    uint32_t bank_count;
    uint64_t state; /* of the generator, for what is still to be drawn */
} Case;

static uint64_t number_of_environment(const char *name, uint64_t otherwise) {
    uint64_t number;
    return str_to_u64(str_from(getenv(name)), &number) ? number : otherwise;
}

/* ---- Draws */

static bool chance(Case *c, uint64_t of) {
    return draw_below(&c->state, of) == 0;
}

static void draw_one(Case *c, size_t i, uint64_t unit) {
    SolverBuffer *buffer = &c->buffer[i];
    const PlaceBuffer drawn = draw_buffer(&c->state, 9, STEPS);
    *buffer = (SolverBuffer){.size = drawn.size, .align = 1, .first = drawn.first, .last = drawn.last};
    buffer->align = chance(c, 2) ? drawn.align : 1;
    buffer->apart = chance(c, 6) ? 1 + (uint32_t)draw_below(&c->state, 2) : 0;
    if (drawn.last - drawn.first >= 3 && chance(c, 2)) {
        c->gap[i].first = drawn.first + 1 + draw_below(&c->state, drawn.last - drawn.first - 2);
        c->gap[i].last = c->gap[i].first + 1 + draw_below(&c->state, drawn.last - c->gap[i].first - 1);
        buffer->gap = &c->gap[i];
        buffer->gap_count = 1;
    }
    if (chance(c, 7)) {
        uint64_t step;
        assert_true(buffer->align > 0 && unit > 0);
        for (step = buffer->align; step % unit != 0; step += buffer->align) {
        }
        buffer->is_pinned = true;
        buffer->offset = step * draw_below(&c->state, 1 + 20 / step);
    }
}

static void draw_case(Case *c, uint64_t seed, size_t count) {
    static const uint64_t UNIT[] = {1, 1, 1, 2, 3, 4};
    *c = (Case){.count = count, .bank_count = 1, .state = (seed + 1) * 0x9E3779B97F4A7C15U};
    for (int k = 0; k < 8; k++) {
        draw_below(&c->state, 2);
    }
    const uint64_t unit = UNIT[draw_below(&c->state, sizeof UNIT / sizeof *UNIT)];
    for (size_t i = 0; i < count; i++) {
        draw_one(c, i, unit);
        c->where[i] = BANK_ANY;
    }
    c->bank[0] = (Bank){.capacity = UINT64_MAX, .align_bytes = unit};
}

/* Some memories of about the size that is needed; some buffers have to be in one of them. */
static void draw_banks(Case *c) {
    uint64_t sum = 0;
    for (size_t i = 0; i < c->count; i++) {
        sum += c->buffer[i].size;
    }
    c->bank_count = 2 + (uint32_t)draw_below(&c->state, MOST_BANKS - 1);
    for (uint32_t b = 0; b < c->bank_count; b++) {
        c->bank[b] = (Bank){.capacity = 2 + draw_below(&c->state, sum),
                            .align_bytes = 1 + draw_below(&c->state, 2),
                            .price = draw_below(&c->state, 5)};
        c->bank[b].capacity = chance(c, 6) ? UINT64_MAX : c->bank[b].capacity;
    }
    for (size_t i = 0; i < c->count; i++) {
        c->where[i] = chance(c, 5) ? (uint32_t)draw_below(&c->state, c->bank_count) : BANK_ANY;
    }
}

static void print_case(const Case *c, uint64_t seed) {
    print_message("seed %" PRIu64 "\nid,lower,upper,size,alignment,gaps,offset,apart,memory\n", seed);
    for (size_t i = 0; i < c->count; i++) {
        const SolverBuffer *buffer = &c->buffer[i];
        print_message("b%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", i, buffer->first, buffer->last,
                      buffer->size, buffer->align);
        if (buffer->gap_count > 0) {
            print_message("%" PRIu64 "-%" PRIu64, buffer->gap->first, buffer->gap->last);
        }
        print_message(buffer->is_pinned ? ",%" PRIu64 "," : ",,", buffer->offset);
        print_message(buffer->apart > 0 ? "g%" PRIu32 "," : ",", buffer->apart);
        print_message(c->where[i] != BANK_ANY ? "m%" PRIu32 "\n" : "\n", c->where[i]);
    }
    for (uint32_t b = 0; b < c->bank_count; b++) {
        print_message("m%" PRIu32 ": %" PRIu64 " bytes in units of %" PRIu64 ", price %" PRIu64 "\n", b,
                      c->bank[b].capacity, c->bank[b].align_bytes, c->bank[b].price);
    }
}

/* ---- Answers */

typedef struct {
    BanksResult result;
    uint64_t height; /* of the first bank */
} Answer;

static bool is_judged_right(const Case *c, const SolverBuffer *buffer, const uint32_t *where, const BanksResult *result,
                            Arena *scratch) {
    JudgedBuffer judged[BRUTE_MOST];
    JudgedMemory memory[MOST_BANKS];
    for (size_t i = 0; i < c->count; i++) {
        judged[i] = (JudgedBuffer){.size = buffer[i].size,
                                   .align = buffer[i].align,
                                   .first = buffer[i].first,
                                   .last = buffer[i].last,
                                   .gap = buffer[i].gap,
                                   .gap_count = buffer[i].gap_count,
                                   .apart = buffer[i].apart,
                                   .is_pinned = c->buffer[i].is_pinned,
                                   .pin = c->buffer[i].offset,
                                   .required = c->where[i] == BANK_ANY ? JUDGE_ANY_MEMORY : c->where[i],
                                   .memory = where[i],
                                   .offset = buffer[i].offset};
    }
    for (uint32_t b = 0; b < c->bank_count; b++) {
        memory[b] = (JudgedMemory){.align_bytes = c->bank[b].align_bytes,
                                   .capacity = c->bank[b].capacity,
                                   .height = result->bank[b].height,
                                   .bound = result->bank[b].bound,
                                   .is_said_to_fit = true};
    }
    const JudgedAnswer answer = {judged, c->count, memory, c->bank_count};
    const Judgement judgement = place_judge_answer(&answer, scratch);
    if (judgement.verdict != JUDGE_RIGHT) {
        print_message("%s: %zu, %zu\n", judge_text(judgement.verdict), judgement.a, judgement.b);
    }
    return judgement.verdict == JUDGE_RIGHT;
}

/* Solves a copy, and has a placement judged. False where it is wrong. */
static bool solve(const Case *c, SolverOptions options, Work *work, BanksResult *result) {
    SolverBuffer buffer[BRUTE_MOST];
    uint32_t where[BRUTE_MOST];
    memcpy(buffer, c->buffer, sizeof buffer);
    memcpy(where, c->where, sizeof where);
    options.threads = options.threads > 0 ? options.threads : 1;
    const BanksProblem problem = {.bank = c->bank,
                                  .bank_count = c->bank_count,
                                  .buffer = buffer,
                                  .where = where,
                                  .count = c->count,
                                  .options = options};
    assert_true(banks_run(&problem, &work->keep, &work->scratch, result));
    return result->outcome != SOLVER_FOUND || is_judged_right(c, buffer, where, result, &work->scratch);
}

static uint32_t without_culprits(const Case *c, const BanksResult *result) {
    uint32_t others = (uint32_t)(((uint32_t)1 << c->count) - 1);
    for (size_t k = 0; k < result->culprit_count; k++) {
        others &= ~((uint32_t)1 << result->culprit[k]);
    }
    return others;
}

static void shuffle(Case *c) {
    for (size_t i = c->count; i > 1; i--) {
        const size_t j = draw_below(&c->state, i);
        const SolverBuffer buffer = c->buffer[i - 1];
        const uint32_t where = c->where[i - 1];
        c->buffer[i - 1] = c->buffer[j];
        c->buffer[j] = buffer;
        c->where[i - 1] = c->where[j];
        c->where[j] = where;
    }
}

/* ---- One memory */

static uint64_t above_all(const Case *c) {
    uint64_t sum = 1;
    for (size_t i = 0; i < c->count; i++) {
        sum += c->buffer[i].size + c->buffer[i].align * c->bank[0].align_bytes + c->bank[0].align_bytes +
               (c->buffer[i].is_pinned ? c->buffer[i].offset : 0);
    }
    return sum;
}

/* The culprits do not fit together, and do without any of them. */
static bool are_culprits(const Case *c, const BanksResult *result, uint64_t capacity) {
    const uint32_t others = without_culprits(c, result);
    const uint64_t unit = c->bank[0].align_bytes, none = capacity + 1;
    if (result->culprit_count == 0 || brute_height(c->buffer, c->count, unit, others, none) != none) {
        return false;
    }
    for (size_t k = 0; k < result->culprit_count; k++) {
        uint32_t fewer = others | (uint32_t)1 << result->culprit[k];
        if (brute_height(c->buffer, c->count, unit, fewer, none) == none) {
            return false;
        }
    }
    return true;
}

static bool check_infeasible(Case *c, uint64_t capacity, Work *work) {
    BanksResult result;
    c->bank[0].capacity = capacity;
    return solve(c, (SolverOptions){0}, work, &result) && result.outcome == SOLVER_INFEASIBLE &&
           are_culprits(c, &result, capacity);
}

static bool check_feasible(Case *c, uint64_t capacity, Work *work) {
    BanksResult result;
    c->bank[0].capacity = capacity;
    return solve(c, (SolverOptions){0}, work, &result) && result.outcome == SOLVER_FOUND &&
           result.bank[0].height <= capacity;
}

static bool check_lowest(Case *c, SolverOptions options, uint64_t height, Work *work) {
    BanksResult result;
    c->bank[0].capacity = UINT64_MAX;
    options.is_minimised = true;
    return solve(c, options, work, &result) && result.outcome == SOLVER_FOUND && result.bank[0].height == height &&
           result.bank[0].is_optimal && result.bank[0].bound <= height;
}

static bool check_one_memory(Case *c, Work *work) {
    const uint64_t none = above_all(c);
    const uint64_t height = brute_height(c->buffer, c->count, c->bank[0].align_bytes, 0, none);
    if (height == none) { /* pins that meet */
        return check_infeasible(c, none - 1, work);
    }
    const uint32_t inference = (uint32_t)draw_below(&c->state, INFER_COUNT);
    bool good = check_lowest(c, (SolverOptions){0}, height, work) && check_feasible(c, height, work) &&
                (height <= 1 || check_infeasible(c, height - 1, work)) &&
                check_lowest(c, (SolverOptions){.switched_off = (uint32_t)1 << inference}, height, work);
    shuffle(c);
    return good && check_lowest(c, (SolverOptions){.threads = 1 + (uint32_t)draw_below(&c->state, 2)}, height, work);
}

/* ---- Several memories */

typedef struct {
    const Case *c;
    bool fits[MOST_BANKS][1 << MOST_SPREAD]; /* of each set of buffers */
} Fits;

static void find_fits(Fits *fits, const Case *c) {
    fits->c = c;
    for (uint32_t b = 0; b < c->bank_count; b++) {
        for (uint32_t set = 0; set < (uint32_t)1 << c->count; set++) {
            const uint64_t none = c->bank[b].capacity == UINT64_MAX ? 1000 : c->bank[b].capacity + 1;
            fits->fits[b][set] = brute_height(c->buffer, c->count, c->bank[b].align_bytes, ~set, none) < none;
        }
    }
}

/* The least price of all buffers but those left out, by trying each assignment; UINT64_MAX where there is none. */
static uint64_t least_price(const Fits *fits, uint32_t left_out, size_t i, uint32_t *set, uint64_t price) {
    const Case *c = fits->c;
    uint64_t least = UINT64_MAX;
    if (i == c->count) {
        for (uint32_t b = 0; b < c->bank_count; b++) {
            price = fits->fits[b][set[b]] ? price : UINT64_MAX;
        }
        return price;
    }
    if ((left_out >> i & 1) != 0) {
        return least_price(fits, left_out, i + 1, set, price);
    }
    for (uint32_t b = 0; b < c->bank_count; b++) {
        if (c->where[i] == BANK_ANY || c->where[i] == b) {
            set[b] |= (uint32_t)1 << i;
            uint64_t of_this = least_price(fits, left_out, i + 1, set, price + c->buffer[i].size * c->bank[b].price);
            set[b] &= ~((uint32_t)1 << i);
            least = of_this < least ? of_this : least;
        }
    }
    return least;
}

static uint64_t least_price_without(const Fits *fits, uint32_t left_out) {
    uint32_t set[MOST_BANKS] = {0};
    return least_price(fits, left_out, 0, set, 0);
}

static bool are_culprits_of_all(const Fits *fits, const BanksResult *result) {
    const uint32_t others = without_culprits(fits->c, result);
    bool good = result->culprit_count > 0 && least_price_without(fits, others) == UINT64_MAX;
    for (size_t k = 0; k < result->culprit_count && good; k++) {
        good = least_price_without(fits, others | (uint32_t)1 << result->culprit[k]) != UINT64_MAX;
    }
    return good;
}

static bool check_price(const Case *c, uint64_t price, Work *work, BanksResult *result) {
    if (!solve(c, (SolverOptions){.is_minimised = true}, work, result)) {
        return false;
    }
    return price == UINT64_MAX ? result->outcome == SOLVER_INFEASIBLE
                               : result->outcome == SOLVER_FOUND && result->cost == price && result->is_cheapest;
}

static bool check_memories(Case *c, Work *work) {
    Fits fits;
    BanksResult result;
    draw_banks(c);
    find_fits(&fits, c);
    const uint64_t price = least_price_without(&fits, 0);
    bool good = check_price(c, price, work, &result) && (price != UINT64_MAX || are_culprits_of_all(&fits, &result));
    shuffle(c);
    return good && check_price(c, price, work, &result);
}

/* ---- Cases */

/* How often each kind came. */
typedef struct {
    uint64_t pinned, gaps, apart, memories;
} Seen;

static void count_kinds(const Case *c, Seen *seen) {
    for (size_t i = 0; i < c->count; i++) {
        seen->pinned += c->buffer[i].is_pinned;
        seen->gaps += c->buffer[i].gap_count > 0;
        seen->apart += c->buffer[i].apart > 0;
    }
}

static void run_cases(const char *name, uint64_t otherwise, size_t fewest, size_t most, Seen *seen, Work *work) {
    const uint64_t cases = number_of_environment(name, otherwise), first = number_of_environment("S0_SEED", 1);
    for (uint64_t seed = first; seed < first + cases; seed++) {
        Case c;
        draw_case(&c, seed, fewest + seed % (most - fewest + 1));
        count_kinds(&c, seen);
        bool is_spread = c.count <= MOST_SPREAD && seed % 4 == 0;
        const Case asked = c;
        seen->memories += is_spread;
        if (!(is_spread ? check_memories(&c, work) : check_one_memory(&c, work))) {
            print_case(&asked, seed);
            print_case(&c, seed);
            fail_msg("the answer is not that of brute force");
        }
        arena_reset(&work->keep);
        arena_reset(&work->scratch);
    }
    print_message("%" PRIu64 " cases from seed %" PRIu64 "\n", cases, first);
}

static void test_small(Work *work) {
    Seen seen = {0};
    run_cases("S0_CASES", 2000, 1, 7, &seen, work);
    print_message("%" PRIu64 " pins, %" PRIu64 " gaps, %" PRIu64 " apart, %" PRIu64 " with several memories\n",
                  seen.pinned, seen.gaps, seen.apart, seen.memories);
}

static void test_large(Work *work) {
    Seen seen = {0};
    run_cases("S0_LARGE_CASES", 40, 8, 9, &seen, work);
}

/* ---- Brute force itself */

/* The lowest height by every offset of every buffer. */
static void try_offsets(const Case *c, size_t i, uint64_t *offset, uint64_t height, uint64_t *best) {
    const uint64_t unit = c->bank[0].align_bytes;
    if (height >= *best || i == c->count) {
        *best = height < *best ? height : *best;
        return;
    }
    const SolverBuffer *buffer = &c->buffer[i];
    for (uint64_t at = 0; at + buffer->size < *best; at++) {
        bool good = at % buffer->align == 0 && at % unit == 0 && (!buffer->is_pinned || at == buffer->offset);
        const uint64_t end = brute_round_up(at + buffer->size, unit);
        for (size_t j = 0; j < i && good; j++) {
            const uint64_t other = brute_round_up(offset[j] + c->buffer[j].size, unit);
            good = !brute_collide(buffer, &c->buffer[j]) || end <= offset[j] || other <= at;
        }
        if (good) {
            offset[i] = at;
            try_offsets(c, i + 1, offset, end > height ? end : height, best);
        }
    }
}

static void test_brute_force(Work *work) {
    (void)work;
    for (uint64_t seed = 1; seed <= 600; seed++) {
        Case c;
        uint64_t offset[BRUTE_MOST];
        draw_case(&c, seed, 1 + seed % 4);
        const uint64_t none = above_all(&c) < 40 ? above_all(&c) : 40;
        uint64_t best = none;
        try_offsets(&c, 0, offset, 0, &best);
        assert_int_equal(best, brute_height(c.buffer, c.count, c.bank[0].align_bytes, 0, none));
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_brute_force), WORK_TEST(test_small), WORK_TEST(test_large)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
