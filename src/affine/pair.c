/* Compares two chains: by enumeration, by their steps, or by bounds between inputs. See pair.h.
 *
 * chain_check is what makes a chain monotone, so it is asked first. Steps are compared like this: the pieces on which
 * `before` is constant are found by bisection; `after`, which is monotone too, is the same function where it has the
 * same value at both ends of every piece.
 *
 *     before  ──┐ a      b ┌──── c         pieces [a, b) [b, c) ...
 *     after     └──────────┘               compared at a and b - 1, at b and c - 1, ... */
#include "affine/pair.h"

#include "affine/lemma.h"

#include <string.h>

enum { BLOCK = 256 };

/* `inputs` of them, the first of which is `input`, become `before` and `after`. */
static void note(Comparison *result, int64_t input, uint64_t inputs, int32_t before, int32_t after) {
    if (before == after) {
        return;
    }
    if (!result->has_witness || input < result->input) {
        result->has_witness = true;
        result->input = input;
        result->before = before;
        result->after = after;
    }
    int64_t difference = (int64_t)before - after;
    uint64_t error = (uint64_t)(difference < 0 ? -difference : difference);
    result->mismatches += inputs;
    result->max_error_lsb = error > result->max_error_lsb ? error : result->max_error_lsb;
}

/* ---- Enumeration */

static void compare_block(const Pair *pair, int64_t first, uint32_t count, Comparison *result) {
    int32_t before[BLOCK], after[BLOCK];
    for (uint32_t i = 0; i < count; i++) {
        before[i] = after[i] = (int32_t)(first + i);
    }
    chain_codes(pair->before, before, count);
    chain_codes(pair->after, after, count);
    if (memcmp(before, after, count * sizeof *before) == 0) {
        return;
    }
    for (uint32_t i = 0; i < count; i++) {
        note(result, first + i, 1, before[i], after[i]);
    }
}

static Comparison enumerate(const Pair *pair) {
    Comparison result = {.class = PROOF_ENUMERATION};
    for (int64_t first = pair->domain.lo; first <= pair->domain.hi; first += BLOCK) {
        int64_t rest = pair->domain.hi - first + 1;
        compare_block(pair, first, rest < BLOCK ? (uint32_t)rest : BLOCK, &result);
    }
    result.evaluations = (uint64_t)(pair->domain.hi - pair->domain.lo) + 1;
    return result;
}

/* ---- Thresholds */

static void room_reserve(PairRoom *room, uint32_t count) {
    if (count <= room->capacity) {
        return;
    }
    int32_t **arrays[] = {&room->low,       &room->high,      &room->code,     &room->starts[0],
                          &room->starts[1], &room->values[0], &room->values[1]};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = arena_array(room->arena, int32_t, count);
    }
    room->capacity = count;
}

static uint64_t distance(int32_t a, int32_t b) {
    int64_t difference = (int64_t)a - b;
    return (uint64_t)(difference < 0 ? -difference : difference);
}

/* Codes that lie between what the ends of the domain become. */
static uint64_t steps_of(const Chain *chain, const Domain *domain) {
    return distance(chain_code(chain, (int32_t)domain->lo), chain_code(chain, (int32_t)domain->hi));
}

/* One round of all bisections: room->low[k] is below step k + 1, room->high[k] is not. False when all have ended. */
static bool bisect(const Chain *chain, int32_t origin, uint32_t count, PairRoom *room, uint64_t *evaluations) {
    bool is_open = false;
    for (uint32_t k = 0; k < count; k++) {
        int64_t width = (int64_t)room->high[k] - room->low[k];
        room->code[k] = (int32_t)(room->low[k] + width / 2);
        room->values[0][k] = room->code[k];
        is_open = is_open || width > 1;
    }
    if (!is_open) {
        return false;
    }
    chain_codes(chain, room->values[0], count);
    *evaluations += count;
    for (uint32_t k = 0; k < count; k++) {
        if (distance(room->values[0][k], origin) > k) {
            room->high[k] = room->code[k];
        } else {
            room->low[k] = room->code[k];
        }
    }
    return true;
}

/* The first inputs of the pieces on which a monotone chain is constant, in order. Returns how many. */
static uint32_t find_pieces(const Chain *chain, const Domain *domain, PairRoom *room, int32_t *starts,
                            uint64_t *evaluations) {
    uint32_t steps = (uint32_t)steps_of(chain, domain), count = 1;
    int32_t origin = chain_code(chain, (int32_t)domain->lo);
    for (uint32_t k = 0; k < steps; k++) {
        room->low[k] = (int32_t)domain->lo;
        room->high[k] = (int32_t)domain->hi;
    }
    while (bisect(chain, origin, steps, room, evaluations)) {
    }
    starts[0] = (int32_t)domain->lo;
    for (uint32_t k = 0; k < steps; k++) {
        if (room->high[k] != starts[count - 1]) {
            starts[count++] = room->high[k];
        }
    }
    return count;
}

static void evaluate(const Chain *chain, const int32_t *inputs, uint32_t count, int32_t *values,
                     uint64_t *evaluations) {
    memcpy(values, inputs, count * sizeof *values);
    chain_codes(chain, values, count);
    *evaluations += count;
}

/* Is `after` at both ends of every piece what `before` is on it? */
static bool agrees_on_pieces(const Pair *pair, uint32_t count, PairRoom *room, uint64_t *evaluations) {
    evaluate(pair->before, room->starts[0], count, room->values[0], evaluations);
    evaluate(pair->after, room->starts[0], count, room->values[1], evaluations);
    if (memcmp(room->values[0], room->values[1], count * sizeof(int32_t)) != 0) {
        return false;
    }
    for (uint32_t k = 0; k < count; k++) {
        room->code[k] = k + 1 < count ? room->starts[0][k + 1] - 1 : (int32_t)pair->domain.hi;
    }
    evaluate(pair->after, room->code, count, room->values[1], evaluations);
    return memcmp(room->values[0], room->values[1], count * sizeof(int32_t)) == 0;
}

/* The pieces of both are merged; on each of them both are constant. */
static void compare_pieces(const Pair *pair, const uint32_t count[2], const PairRoom *room, Comparison *result) {
    uint32_t at[2] = {0, 0};
    int64_t first = pair->domain.lo;
    while (first <= pair->domain.hi) {
        int64_t next = pair->domain.hi + 1;
        for (int side = 0; side < 2; side++) {
            while (at[side] < count[side] && room->starts[side][at[side]] <= first) {
                at[side]++;
            }
            bool is_nearer = at[side] < count[side] && room->starts[side][at[side]] < next;
            next = is_nearer ? room->starts[side][at[side]] : next;
        }
        note(result, first, (uint64_t)(next - first), chain_code(pair->before, (int32_t)first),
             chain_code(pair->after, (int32_t)first));
        result->evaluations++;
        first = next;
    }
}

static Comparison compare_steps(const Pair *pair, uint32_t steps, PairRoom *room) {
    Comparison result = {.class = PROOF_THRESHOLDS};
    uint32_t count[2];
    room_reserve(room, steps + 1);
    count[0] = find_pieces(pair->before, &pair->domain, room, room->starts[0], &result.evaluations);
    if (agrees_on_pieces(pair, count[0], room, &result.evaluations)) {
        return result;
    }
    count[1] = find_pieces(pair->after, &pair->domain, room, room->starts[1], &result.evaluations);
    compare_pieces(pair, count, room, &result);
    return result;
}

/* ---- Intervals */

typedef struct {
    int64_t input;
    int32_t before, after;
} Sample;

static Sample sample(const Pair *pair, int64_t input, Comparison *result) {
    Sample at = {input, chain_code(pair->before, (int32_t)input), chain_code(pair->after, (int32_t)input)};
    result->evaluations++;
    note(result, input, 1, at.before, at.after);
    return at;
}

/* No less than the difference anywhere between two inputs of monotone functions. */
static uint64_t bound_between(const Sample *a, const Sample *b) {
    uint64_t ends[] = {distance(a->before, a->after), distance(a->before, b->after), distance(b->before, a->after),
                       distance(b->before, b->after)};
    uint64_t bound = 0;
    for (int i = 0; i < 4; i++) {
        bound = ends[i] > bound ? ends[i] : bound;
    }
    return bound;
}

/* Halves cells until each is bounded by the tolerance. `depth` is at most 32. */
static bool bound_cell(const Pair *pair, Sample a, Sample b, Comparison *result) {
    uint64_t bound = bound_between(&a, &b);
    if (bound <= pair->tolerance_lsb || b.input - a.input <= 1) {
        bool is_single = b.input - a.input <= 1; /* then both ends were noted */
        result->max_error_lsb = !is_single && bound > result->max_error_lsb ? bound : result->max_error_lsb;
        return result->max_error_lsb <= pair->tolerance_lsb;
    }
    if (result->max_error_lsb > pair->tolerance_lsb || result->evaluations >= PAIR_MOST_CELLS) {
        return false;
    }
    Sample middle = sample(pair, a.input + (b.input - a.input) / 2, result);
    return bound_cell(pair, a, middle, result) && bound_cell(pair, middle, b, result);
}

static Comparison bound(const Pair *pair) {
    Comparison result = {.class = PROOF_INTERVAL};
    Sample lo = sample(pair, pair->domain.lo, &result);
    Sample hi = sample(pair, pair->domain.hi, &result);
    bool is_bounded = pair->tolerance_lsb > 0 && bound_cell(pair, lo, hi, &result);
    if (!is_bounded) {
        result.class = PROOF_REFUSED;
        bool is_told = result.max_error_lsb > pair->tolerance_lsb; /* by the witness */
        result.fault = is_told ? NULL : "too many inputs and codes to compare";
    }
    return result;
}

/* ---- */

Comparison pair_compare(const Pair *pair, PairRoom *room) {
    const Domain *domain = &pair->domain;
    StageFault fault = domain->lo > domain->hi ? "no input can reach the chain" : NULL;
    fault = fault == NULL ? chain_check(pair->before, domain->lo, domain->hi) : fault;
    fault = fault == NULL ? chain_check(pair->after, domain->lo, domain->hi) : fault;
    if (fault != NULL) {
        return (Comparison){.class = PROOF_REFUSED, .fault = fault};
    }
    if (domain->hi - domain->lo < PAIR_MOST_INPUTS) {
        return enumerate(pair);
    }
    uint64_t before = steps_of(pair->before, domain), after = steps_of(pair->after, domain);
    uint64_t steps = before > after ? before : after;
    if (steps <= PAIR_MOST_STEPS) {
        return compare_steps(pair, (uint32_t)steps, room);
    }
    if (lemma_unit(pair->before, pair->after, domain)) {
        return (Comparison){.class = PROOF_LEMMA};
    }
    return bound(pair);
}
