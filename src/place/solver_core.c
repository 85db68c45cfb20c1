/* One problem: bound and greedy placement first, then searches. To minimise, the search asks for heights from both
 * ends: the lowest that is not disproven, and one less than the best. */
#include "place/solver_core.h"

#include "base/fault.h"
#include "place/solver_bound.h"
#include "place/solver_greedy.h"

/* Nodes of the first search for one height; each further one has half as many again. */
static const uint64_t FIRST_NODES = 20000;

static bool is_plain(const SolverCase *problem) {
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *buffer = &problem->buffer[i];
        if (buffer->gap_count > 0 || buffer->apart != 0 || buffer->is_pinned) {
            return false;
        }
    }
    return true;
}

static bool place_plain(SolverCase *problem) {
    PlaceProblem plain = {arena_array(problem->scratch, PlaceBuffer, problem->count), problem->count,
                          .align_bytes = problem->options->align_bytes};
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *from = &problem->buffer[i];
        plain.buffer[i] =
            (PlaceBuffer){.size = from->size, .align = from->align, .first = from->first, .last = from->last};
    }
    if (!place_solve(&plain, problem->scratch)) {
        return false;
    }
    problem->height = plain.height;
    problem->method = plain.method;
    for (size_t i = 0; i < problem->count; i++) {
        problem->offset[i] = plain.buffer[i].offset;
    }
    return true;
}

static void place_greedily(SolverCase *problem) {
    if (is_plain(problem)) {
        problem->is_placed = place_plain(problem);
        return;
    }
    problem->is_placed = solver_greedy(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch,
                                       problem->offset, &problem->height, &problem->method);
}

/* What the searches need. */
typedef struct {
    SolverCase *problem;
    Model model;
    Race *race;
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

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

static void minimise(Hunt *hunt, Level highest) {
    SolverCase *problem = hunt->problem;
    uint64_t unit = hunt->model.unit_bytes;
    for (uint64_t nodes = FIRST_NODES; may_go_on(problem); nodes += nodes / 2) {
        Level low = (Level)(problem->bound / unit);
        if (low > highest || (problem->is_placed && problem->height <= problem->bound)) {
            return;
        }
        if (seek(hunt, low, at_most(nodes, nodes_left(problem))) != SEARCH_SPENT) {
            continue;
        }
        Level high =
            problem->is_placed && problem->height / unit <= highest ? (Level)(problem->height / unit) - 1 : highest;
        while (high > low && may_go_on(problem) &&
               seek(hunt, high, at_most(nodes, nodes_left(problem))) == SEARCH_FOUND) {
            high = (Level)(problem->height / unit) - 1;
        }
    }
}

static Level capacity_of(const SolverCase *problem, const Model *model) {
    uint64_t capacity = problem->options->capacity / model->unit_bytes;
    return capacity < model->most ? (Level)capacity : model->most;
}

static void hunt_down(SolverCase *problem, const Model *model) {
    Hunt hunt = {.problem = problem,
                 .model = *model,
                 .race = race_new(model, problem->options, problem->deadline_ms, problem->scratch),
                 .offset = arena_array(problem->scratch, Level, problem->count)};
    Level capacity = capacity_of(problem, model);
    if (problem->options->is_minimised) {
        minimise(&hunt, capacity);
    } else {
        seek(&hunt, capacity, nodes_left(problem));
    }
}

static bool is_within(const SolverCase *problem) {
    return problem->is_placed && problem->height <= problem->options->capacity;
}

static SolverOutcome outcome_of(const SolverCase *problem) {
    if (is_within(problem)) {
        return SOLVER_FOUND;
    }
    return problem->bound > problem->options->capacity ? SOLVER_INFEASIBLE : SOLVER_STOPPED;
}

bool solver_solve(SolverCase *problem, SolverOutcome *outcome) {
    Model model;
    if (!model_init(&model, problem->buffer, problem->count, problem->options, problem->scratch)) {
        return false;
    }
    uint64_t step;
    problem->bound =
        solver_bound(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch, &step);
    problem->proof = "live sum";
    problem->method = "none";
    if (model.is_scaled && model.bound * model.unit_bytes > problem->bound) {
        problem->bound = model.bound * model.unit_bytes;
        problem->proof = "live sum, aligned";
    }
    place_greedily(problem);
    if (!problem->is_placed) { /* pins that can't all be kept, however much room there is */
        problem->bound = UINT64_MAX;
        problem->proof = "pins";
        *outcome = SOLVER_INFEASIBLE;
        return true;
    }
    bool is_done = is_within(problem) && (!problem->options->is_minimised || problem->height == problem->bound);
    if (model.is_scaled && !is_done && problem->bound <= problem->options->capacity) {
        hunt_down(problem, &model);
    }
    *outcome = outcome_of(problem);
    return true;
}
