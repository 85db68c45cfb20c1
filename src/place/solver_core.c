/* One problem: bound and greedy placement first, then searches. To minimise, the search asks for heights from both
 * ends: the lowest that is not disproven, and one less than the best. */
#include "place/solver_core.h"

#include "base/checked.h"
#include "place/solver_bound.h"
#include "place/solver_greedy.h"

/* Problems of at most so many buffers are searched a little before greedy is asked: that is sooner done. */
enum { MOST_FOR_SEARCH_FIRST = 2048 };

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
    GreedyAnswer answer = {.offset = problem->offset, .height = problem->height, .method = problem->method};
    problem->is_placed =
        solver_greedy(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch, &answer);
    problem->height = answer.height;
    problem->method = answer.method;
}

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

static uint64_t at_most(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/* The least level that is not disproven, and the greatest below the best. */
static Level lowest_open(const Hunt *hunt) {
    return (Level)ceil_div(hunt->problem->bound, hunt->model.unit_bytes);
}

static Level highest_open(const Hunt *hunt) {
    const SolverCase *problem = hunt->problem;
    Level better = problem->is_placed ? (Level)(problem->height / hunt->model.unit_bytes) - 1 : LEVEL_NONE;
    return better < hunt->capacity ? better : hunt->capacity;
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

static bool is_within(const SolverCase *problem) {
    return problem->is_placed && problem->height <= problem->options->capacity;
}

static SolverOutcome outcome_of(const SolverCase *problem) {
    if (is_within(problem)) {
        return SOLVER_FOUND;
    }
    bool is_proven = problem->pins_clash || problem->bound > problem->options->capacity;
    return is_proven ? SOLVER_INFEASIBLE : SOLVER_STOPPED;
}

static bool is_done(const SolverCase *problem) {
    return is_within(problem) && (!problem->options->is_minimised || problem->height == problem->bound);
}

static void find_bound(SolverCase *problem, const Model *model) {
    uint64_t step;
    problem->bound =
        solver_bound(problem->buffer, problem->count, problem->options->align_bytes, problem->scratch, &step);
    problem->proof = "live sum";
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
    if (!is_done(problem) && problem->bound <= problem->options->capacity) {
        place_greedily(problem);
    }
    if (!is_done(problem) && problem->bound <= problem->options->capacity) {
        hunt_down(&hunt);
    }
}

bool solver_solve(SolverCase *problem, SolverOutcome *outcome) {
    Model model;
    if (!model_init(&model, problem->buffer, problem->count, problem->options, problem->scratch)) {
        return false;
    }
    problem->method = "none";
    find_bound(problem, &model);
    if (!solver_pins_hold(problem->buffer, problem->count, problem->options->align_bytes)) {
        problem->pins_clash = true;
        problem->proof = "pins";
    } else if (model.is_scaled && problem->bound <= problem->options->capacity) {
        search(problem, &model);
    } else {
        place_greedily(problem);
    }
    *outcome = outcome_of(problem);
    return true;
}
