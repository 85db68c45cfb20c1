/* One problem: bound, pins and hints, a first search, greedy placement, then searches. To minimise, they ask for the
 * lowest height that is not disproven, and then for those in the middle of what is open. */
#include "solver/solver_core.h"

#include "base/checked.h"
#include "base/fault.h"
#include "solver/solver_bound.h"
#include "solver/solver_greedy.h"

/* Problems of at most so many buffers are searched a little before greedy is asked: that is sooner done. */
enum { MOST_FOR_SEARCH_FIRST = 2048 };

/* What the searches need. */
typedef struct {
    SolverCase *problem;
    Model model;
    Race *race;
    Level capacity; /* no higher placement is sought */
    Level *offset;
} Hunt;

static void keep_found(Hunt *hunt, const char *method) {
    SolverCase *problem = hunt->problem;
    problem->is_placed = true;
    problem->height = 0;
    problem->method = method;
    for (size_t i = 0; i < problem->count; i++) {
        problem->offset[i] = hunt->offset[i] * hunt->model.unit_bytes;
        uint64_t end = problem->offset[i] + hunt->model.rect[i].size * hunt->model.unit_bytes;
        problem->height = end > problem->height ? end : problem->height;
    }
}

static uint64_t nodes_left(const SolverCase *problem) {
    uint64_t most = problem->options->most_nodes;
    if (most == 0) {
        return UINT64_MAX;
    }
    return problem->nodes < most ? most - problem->nodes : 0;
}

/* One race for `height`: keeps what is found, raises the bound where there is none. */
static SearchEnd seek(Hunt *hunt, Level height, uint64_t most_nodes) {
    SolverCase *problem = hunt->problem;
    SolverProgress progress = {problem->height, problem->bound, problem->nodes};
    RaceResult race = race_run(hunt->race, height, most_nodes, &progress, hunt->offset);
    problem->nodes += race.nodes;
    problem->is_stopped |= race.is_stopped;
    if (race.end == SEARCH_FOUND) {
        keep_found(hunt, race.method);
    }
    if (race.end == SEARCH_EXHAUSTED) {
        problem->bound = (uint64_t)(height + 1) * hunt->model.unit_bytes;
        problem->proof = "search";
    }
    return race.end;
}

static bool may_go_on(const SolverCase *problem) {
    return !problem->is_stopped && nodes_left(problem) > 0;
}

/* The least level that is not disproven, and the greatest below the best. */
static Level lowest_open(const Hunt *hunt) {
    return (Level)ceil_div(hunt->problem->bound, hunt->model.unit_bytes);
}

static Level highest_open(const Hunt *hunt) {
    const SolverCase *problem = hunt->problem;
    const uint64_t better = problem->is_placed ? ceil_div(problem->height, hunt->model.unit_bytes) - 1 : hunt->capacity;
    return (Level)at_most(better, hunt->capacity);
}

static bool is_open(const Hunt *hunt) {
    return may_go_on(hunt->problem) && lowest_open(hunt) <= highest_open(hunt);
}

/* Halves what is open, `nodes` for each height: above the last one that was given up, below what was found. */
static void halve(Hunt *hunt, uint64_t nodes) {
    Level given_up = 0; /* heights below are not tried again */
    while (is_open(hunt) && given_up <= highest_open(hunt)) {
        Level low = lowest_open(hunt) > given_up ? lowest_open(hunt) : given_up;
        Level height = given_up == 0 ? low : low + (highest_open(hunt) - low) / 2;
        SearchEnd end = seek(hunt, height, at_most(nodes, nodes_left(hunt->problem)));
        given_up = end == SEARCH_FOUND ? low : height + 1;
    }
}

static void hunt_down(Hunt *hunt) {
    SolverCase *problem = hunt->problem;
    if (!problem->options->is_minimised) {
        seek(hunt, hunt->capacity, nodes_left(problem));
        return;
    }
    for (uint64_t nodes = race_round_nodes(hunt->race); is_open(hunt); nodes += nodes) {
        halve(hunt, nodes);
    }
}

static bool are_all_given(const SolverCase *problem, bool by_pins) {
    bool are_given = true;
    for (size_t i = 0; i < problem->count && are_given; i++) {
        are_given = problem->buffer[i].is_pinned || (!by_pins && problem->buffer[i].has_hint);
    }
    return are_given;
}

/* The buffers pinned where they are proposed to lie. */
static const SolverBuffer *pin_all(const SolverCase *problem) {
    SolverBuffer *pinned = arena_array(problem->scratch, SolverBuffer, problem->count);
    for (size_t i = 0; i < problem->count; i++) {
        pinned[i] = problem->buffer[i];
        pinned[i].offset = pinned[i].is_pinned ? pinned[i].offset : pinned[i].hint;
        pinned[i].is_pinned = true;
    }
    return pinned;
}

/* A placement that is given: by pins, and where all others have hints, by those. */
static void take_given(SolverCase *problem) {
    const uint64_t unit = problem->options->align_bytes;
    const bool are_pins = are_all_given(problem, true);
    if (!are_pins && !are_all_given(problem, false)) {
        return;
    }
    const ArenaMark mark = arena_mark(problem->scratch);
    const SolverBuffer *given = are_pins ? problem->buffer : pin_all(problem);
    problem->is_placed = are_pins || !solver_pins_clash(given, problem->count, unit, problem->scratch).is_found;
    problem->method = !problem->is_placed ? "none" : are_pins ? "pins" : "hints";
    for (size_t i = 0; i < problem->count && problem->is_placed; i++) {
        uint64_t end = 0;
        CHECK(checked_add(given[i].offset, given[i].size, &end) && checked_round_up(end, unit, &end));
        problem->offset[i] = given[i].offset;
        problem->height = end > problem->height ? end : problem->height;
    }
    arena_back(problem->scratch, mark);
}

static bool is_within(const SolverCase *problem) {
    return problem->is_placed && problem->height <= problem->options->capacity;
}

/* Proven. */
static bool is_infeasible(const SolverCase *problem) {
    return problem->clash.is_found || problem->bound > problem->options->capacity;
}

static SolverOutcome outcome_of(const SolverCase *problem) {
    return is_within(problem) ? SOLVER_FOUND : is_infeasible(problem) ? SOLVER_INFEASIBLE : SOLVER_STOPPED;
}

static bool is_done(const SolverCase *problem) {
    return is_within(problem) && (!problem->options->is_minimised || problem->height == problem->bound);
}

static void find_bound(SolverCase *problem, const Model *model) {
    static const char *const PROOF[] = {[BOUND_LIVE] = "live sum", [BOUND_GROUP] = "group sum", [BOUND_ALONE] = "pins"};
    const SolverBound bound =
        solver_bound(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch);
    problem->bound = bound.bytes;
    problem->proof = PROOF[bound.kind];
    if (model->is_scaled && model->bound * model->unit_bytes > problem->bound) {
        problem->bound = model->bound * model->unit_bytes;
        problem->proof = "aligned live sum";
    }
}

/* One search at the bound, as many a problem is easy, and a round of them at the height that is asked for. */
static void begin(Hunt *hunt) {
    SolverCase *problem = hunt->problem;
    uint64_t round = race_round_nodes(hunt->race);
    Level least = lowest_open(hunt);
    seek(hunt, least, at_most(race_first_nodes(hunt->race), nodes_left(problem)));
    if (!is_done(problem) && is_open(hunt)) {
        Level height = problem->options->is_minimised ? lowest_open(hunt) : hunt->capacity;
        seek(hunt, height, at_most(round, nodes_left(problem)));
    }
}

/* A problem that can be searched: a little at first, then greedily, then until an end. */
static void search(SolverCase *problem, const Model *model) {
    uint64_t capacity = problem->options->capacity / model->unit_bytes;
    Hunt hunt = {.problem = problem,
                 .model = *model,
                 .race = race_new(model, problem->options, problem->deadline_ms, problem->scratch),
                 .capacity = capacity < model->most ? (Level)capacity : model->most,
                 .offset = arena_array(problem->scratch, Level, problem->count)};
    if (problem->count <= MOST_FOR_SEARCH_FIRST) {
        begin(&hunt);
    }
    if (!is_done(problem) && !is_infeasible(problem)) {
        solver_greedy(problem);
    }
    if (!is_done(problem) && !is_infeasible(problem)) {
        hunt_down(&hunt);
    }
}

bool solver_is_over(SolverCase *problem) {
    const SolverOptions *options = problem->options;
    problem->is_stopped |= options->stop != NULL && *options->stop != 0;
    problem->is_stopped |= problem->deadline_ms != 0 && race_clock_ms() >= problem->deadline_ms;
    return problem->is_stopped;
}

bool solver_solve(SolverCase *problem, SolverOutcome *outcome) {
    Model model;
    if (!model_init(&model, problem->buffer, problem->count, problem->options, problem->scratch)) {
        return false;
    }
    problem->method = "none";
    find_bound(problem, &model);
    problem->clash =
        solver_pins_clash(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch);
    if (problem->clash.is_found) {
        problem->proof = "pins";
    } else {
        take_given(problem);
    }
    if (!is_done(problem) && !is_infeasible(problem)) {
        if (model.is_scaled) {
            search(problem, &model);
        } else {
            solver_greedy(problem);
        }
    }
    if (!problem->clash.is_found && !problem->is_placed && !problem->options->is_mere_decision) {
        solver_greedy(problem);
    }
    *outcome = outcome_of(problem);
    return true;
}
