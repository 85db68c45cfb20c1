/* Proves: on small problems drawn by chance, with gaps, pins, groups and alignments, the solver finds a placement
 * exactly where trying every offset finds one, its lowest height is the lowest there is, and what it names as the
 * culprit of an infeasible problem does not fit while all but one of it does. So with every inference switched off, and
 * for any number of threads and order of the buffers. */
#include "place/draw.h"
#include "solver/solver.h"
#include "support/work.h"

enum { MOST = 7, UNITS = 64 };

typedef struct {
    SolverBuffer buffer[MOST];
    PlaceSpan gap[MOST];
    size_t count;
    uint64_t align_bytes;
} Drawn;

/* ---- The second opinion: every offset is tried */

static bool lives(const SolverBuffer *buffer, uint64_t step) {
    bool in_gap = buffer->gap_count == 1 && step >= buffer->gap->first && step < buffer->gap->last;
    return step >= buffer->first && step < buffer->last && !in_gap;
}

static bool must_not_overlap(const SolverBuffer *a, const SolverBuffer *b) {
    bool meets = a->apart != 0 && a->apart == b->apart;
    for (uint64_t step = 0; step < 64; step++) {
        meets = meets || (lives(a, step) && lives(b, step));
    }
    return meets;
}

static uint64_t rounded(uint64_t value, uint64_t unit) {
    return (value + unit - 1) / unit * unit;
}

typedef struct {
    const SolverBuffer *buffer[MOST];
    uint64_t offset[MOST];
    size_t count;
    uint64_t unit, capacity;
} Trial;

static bool stands(const Trial *trial, size_t k, uint64_t offset) {
    const SolverBuffer *buffer = trial->buffer[k];
    uint64_t end = offset + rounded(buffer->size, trial->unit);
    if (offset % trial->unit != 0 || offset % buffer->align != 0 || end > trial->capacity ||
        (buffer->is_pinned && buffer->offset != offset)) {
        return false;
    }
    for (size_t i = 0; i < k; i++) {
        uint64_t other_end = trial->offset[i] + rounded(trial->buffer[i]->size, trial->unit);
        if (offset < other_end && trial->offset[i] < end && must_not_overlap(buffer, trial->buffer[i])) {
            return false;
        }
    }
    return true;
}

static bool try_all(Trial *trial, size_t k) {
    if (k == trial->count) {
        return true;
    }
    for (uint64_t offset = 0; offset < trial->capacity; offset++) {
        if (stands(trial, k, offset)) {
            trial->offset[k] = offset;
            if (try_all(trial, k + 1)) {
                return true;
            }
        }
    }
    return false;
}

/* `left_out` of the chosen is not there; `count`: all are. */
static bool fits(const Drawn *drawn, const size_t *chosen, size_t count, size_t left_out, uint64_t capacity) {
    Trial trial = {.unit = drawn->align_bytes, .capacity = capacity};
    for (size_t k = 0; k < count; k++) {
        if (k != left_out) {
            trial.buffer[trial.count++] = &drawn->buffer[chosen[k]];
        }
    }
    return try_all(&trial, 0);
}

static const size_t ALL[MOST] = {0, 1, 2, 3, 4, 5, 6};

/* ---- Draws */

typedef struct {
    const char *name;
    uint64_t most_count, sizes, steps;
    bool has_aligns, has_gaps, has_pins, has_groups;
} Kind;

static const Kind KIND[] = {
    {"plain", 7, 5, 6, false, false, false, false},  {"slim", 7, 3, 12, false, false, false, false},
    {"aligned", 6, 6, 5, true, false, false, false}, {"gaps", 7, 5, 8, false, true, false, false},
    {"pins", 6, 5, 6, false, false, true, false},    {"groups", 6, 4, 8, false, false, false, true},
    {"all", 6, 5, 7, true, true, true, true},
};

static void draw_problem(const Kind *kind, uint64_t *state, Drawn *drawn) {
    static const uint64_t ALIGN[] = {1, 1, 2, 3, 4};
    *drawn = (Drawn){.count = 1 + draw_below(state, kind->most_count), .align_bytes = 1};
    if (kind->has_aligns) {
        drawn->align_bytes = 1 + draw_below(state, 2);
    }
    for (size_t i = 0; i < drawn->count; i++) {
        SolverBuffer *buffer = &drawn->buffer[i];
        *buffer = (SolverBuffer){.size = 1 + draw_below(state, kind->sizes), .align = 1};
        buffer->first = draw_below(state, kind->steps);
        buffer->last = buffer->first + 1 + draw_below(state, kind->steps);
        buffer->align = kind->has_aligns ? ALIGN[draw_below(state, 5)] : 1;
        buffer->apart = kind->has_groups ? (uint32_t)draw_below(state, 3) : 0;
        if (kind->has_gaps && draw_below(state, 2) == 0) {
            drawn->gap[i].first = buffer->first + draw_below(state, buffer->last - buffer->first);
            drawn->gap[i].last = drawn->gap[i].first + 1 + draw_below(state, buffer->last - drawn->gap[i].first);
            drawn->gap[i].last = drawn->gap[i].last < buffer->last ? drawn->gap[i].last : buffer->last;
            buffer->gap = &drawn->gap[i];
            buffer->gap_count = 1;
        }
        if (kind->has_pins && draw_below(state, 4) == 0) {
            buffer->is_pinned = true;
            buffer->offset = draw_below(state, 8);
        }
    }
}

/* ---- Comparison */

static void check_offsets(const Drawn *drawn, const SolverResult *result) {
    Trial trial = {.unit = drawn->align_bytes, .capacity = result->height};
    uint64_t most = 0;
    for (size_t i = 0; i < drawn->count; i++) {
        trial.buffer[i] = &drawn->buffer[i];
        assert_true(stands(&trial, i, drawn->buffer[i].offset));
        trial.offset[i] = drawn->buffer[i].offset;
        uint64_t end = drawn->buffer[i].offset + rounded(drawn->buffer[i].size, drawn->align_bytes);
        most = end > most ? end : most;
    }
    assert_int_equal(most, result->height);
}

static void check_culprit(const Drawn *drawn, const SolverResult *result, uint64_t capacity) {
    size_t count = result->culprit_count;
    assert_true(count > 0 && count <= drawn->count);
    assert_false(fits(drawn, result->culprit, count, count, capacity));
    for (size_t k = 0; k < count; k++) {
        assert_true(fits(drawn, result->culprit, count, k, capacity));
    }
}

static SolverResult solve(Drawn *drawn, const SolverOptions *options, Work *work) {
    SolverResult result;
    assert_true(solver_run(drawn->buffer, drawn->count, options, &work->keep, &work->scratch, &result));
    arena_reset(&work->scratch);
    return result;
}

/* The lowest capacity that holds all; UNITS + 1: pins that can't all be kept. */
static uint64_t find_lowest(const Drawn *drawn) {
    size_t pinned[MOST];
    size_t count = 0;
    for (size_t i = 0; i < drawn->count; i++) {
        if (drawn->buffer[i].is_pinned) {
            pinned[count++] = i;
        }
    }
    uint64_t lowest = fits(drawn, pinned, count, count, UNITS) ? 1 : UNITS + 1;
    while (lowest <= UNITS && !fits(drawn, ALL, drawn->count, drawn->count, lowest)) {
        lowest++;
    }
    return lowest;
}

static void compare(const Drawn *given, uint64_t lowest, uint32_t switched_off, uint32_t threads, Work *work) {
    Drawn drawn = *given;
    SolverOptions options = {.capacity = UINT64_MAX,
                             .is_minimised = true,
                             .align_bytes = drawn.align_bytes,
                             .threads = threads,
                             .switched_off = switched_off};
    SolverResult result = solve(&drawn, &options, work);
    if (lowest > UNITS) {
        assert_int_equal(result.outcome, SOLVER_INFEASIBLE);
        check_culprit(given, &result, 2 * UNITS);
        return;
    }
    assert_int_equal(result.outcome, SOLVER_FOUND);
    assert_true(result.is_optimal);
    assert_int_equal(result.height, lowest);
    assert_int_equal(result.bound, lowest);
    check_offsets(&drawn, &result);
    drawn = *given;
    options.is_minimised = false;
    options.capacity = lowest;
    result = solve(&drawn, &options, work);
    assert_int_equal(result.outcome, SOLVER_FOUND);
    assert_true(result.height <= lowest);
    check_offsets(&drawn, &result);
    drawn = *given;
    options.capacity = lowest - 1;
    result = solve(&drawn, &options, work);
    assert_int_equal(result.outcome, SOLVER_INFEASIBLE);
    check_culprit(given, &result, options.capacity);
}

static void test_brute_force(Work *work) {
    enum { DRAWS = 100 };
    uint64_t state = 2026;
    for (size_t k = 0; k < sizeof KIND / sizeof *KIND; k++) {
        for (int draw = 0; draw < DRAWS; draw++) {
            Drawn drawn;
            draw_problem(&KIND[k], &state, &drawn);
            for (size_t i = 0; i < drawn.count; i++) { /* the copies have gaps of their own */
                drawn.buffer[i].gap = drawn.buffer[i].gap_count > 0 ? &drawn.gap[i] : NULL;
            }
            uint64_t lowest = find_lowest(&drawn);
            compare(&drawn, lowest, 0, 1, work);
            compare(&drawn, lowest, 1U << draw % INFER_COUNT, 1 + (uint32_t)draw % 3, work);
            compare(&drawn, lowest, (1U << INFER_COUNT) - 1, 1, work);
            arena_reset(&work->keep);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_brute_force)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
