/* Searches on threads. Each thread takes the next search that nobody has; one with a higher number than one that has
 * ended gives up, one with a lower number goes on, as it may end too. */
#include "solver/race.h"

#include "base/checked.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

/* Of all threads, the changes that can be undone, 20 bytes each. Fewer threads run where they need more. */
enum { MOST_CHANGES = 1 << 26 };

enum { MOST_THREADS = SOLVER_MOST_THREADS, MOST_WON = 16, TELL_MS = 100, LOG_BITS = 8 };

/* What a search prefers to place first: the rectangles with the largest size^height * width^width. */
typedef struct {
    const char *name;
    int size, width; /* exponents, in quarters */
} Taste;

/* In an order in which the first few end most races. */
static const Taste TASTE[] = {
    {"wide area", 4, 8}, {"high first", 16, 4}, {"size", 4, 0},        {"width", 0, 4},
    {"area", 4, 4},      {"high area", 8, 4},   {"wide first", 4, 16}, {"flat", -4, 4},
    {"slim", 4, -4},     {"narrow", 0, -4},     {"high", 4, 2},        {"small", -4, -4},
};

enum { TASTES = sizeof TASTE / sizeof *TASTE, A_ROUND = TASTES * PICK_COUNT };

struct Race {
    const Model *model;
    const SolverOptions *options;
    Arena *arena;
    uint64_t deadline_ms, told_ms;
    uint32_t most_threads, most_changes;
    uint32_t threads;                  /* for which there is room */
    uint32_t won[MOST_WON], won_count; /* the lanes that have found something, the last of them */
    Search *search[MOST_THREADS];
    uint32_t *rank[MOST_THREADS];
    uint32_t *order[MOST_THREADS];
    int64_t *key[MOST_THREADS];
    /* Of the race that runs. */
    Level capacity; /* of the last race where none runs */
    uint64_t most_nodes;
    SolverProgress progress;
    pthread_mutex_t mutex; /* of all that follows */
    uint32_t first, next, winner;
    bool is_stopped;
    uint64_t spent; /* by all that has ended */
    RaceResult result;
    Level *offset;
};

/* What one thread looks at while it searches. */
typedef struct {
    Race *race;
    uint32_t thread, number;
} Runner;

uint64_t race_clock_ms(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000 + (uint64_t)time.tv_nsec / 1000000;
}

uint64_t race_deadline_ms(uint64_t most_ms) {
    uint64_t deadline_ms = 0;
    (void)(most_ms > 0 && checked_add(race_clock_ms(), most_ms, &deadline_ms));
    return deadline_ms;
}

Race *race_new(const Model *model, const SolverOptions *options, uint64_t deadline_ms, Arena *arena) {
    Race *race = arena_new(arena, Race);
    race->model = model;
    race->options = options;
    race->arena = arena;
    race->deadline_ms = deadline_ms;
    race->capacity = LEVEL_NONE;
    race->most_changes = search_most_changes(model);
    race->most_threads = (uint32_t)at_most(at_most(options->threads, MOST_THREADS), MOST_CHANGES / race->most_changes);
    return race;
}

/* An arena is for one thread: all that the threads need is taken before they run. */
static void make_room(Race *race, uint32_t threads) {
    for (uint32_t k = race->threads; k < threads; k++) {
        race->search[k] = search_new(race->model, race->options->switched_off, race->most_changes, race->arena);
        race->rank[k] = arena_array(race->arena, uint32_t, race->model->count);
        race->order[k] = arena_array(race->arena, uint32_t, race->model->count);
        race->key[k] = arena_array(race->arena, int64_t, race->model->count);
        race->threads = k + 1;
    }
}

/* ---- Preferences */

/* The logarithm to base 2, LOG_BITS of it behind the point: the same on every machine. */
static int64_t log_of(uint32_t value) {
    uint64_t x = (uint64_t)value << 31;
    int64_t log = 0;
    for (; x >= (uint64_t)1 << 32; x >>= 1) {
        log += 1;
    }
    for (int k = 0; k < LOG_BITS; k++) {
        x = x * x >> 31;
        log = 2 * log + (x >= (uint64_t)1 << 32);
        x = x >= (uint64_t)1 << 32 ? x >> 1 : x;
    }
    return log;
}

static uint32_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33);
}

/* By key, largest first. */
static void sort_by_key(uint32_t *order, uint32_t *spare, const int64_t *key, uint32_t count) {
    if (count < 2) {
        return;
    }
    uint32_t half = count / 2;
    sort_by_key(order, spare, key, half);
    sort_by_key(order + half, spare, key, count - half);
    uint32_t a = 0, b = half;
    for (uint32_t k = 0; k < count; k++) {
        bool is_left = b == count || (a < half && key[order[a]] >= key[order[b]]);
        spare[k] = order[is_left ? a++ : b++];
    }
    memcpy(order, spare, count * sizeof *order);
}

/* What a search prefers: each lane is one taste and one pick. */
typedef struct {
    const Taste *taste;
    PickKind pick;
    bool strays;
} Lane;

/* All lanes in turn; once some have won for another capacity, every second search takes one of those, the last winner
 * first. The first round goes by taste alone, others and the winners stray from it. */
static Lane lane_of(const Race *race, uint32_t number) {
    uint32_t won = race->won_count < MOST_WON ? race->won_count : MOST_WON;
    bool is_winner = won > 0 && number % 2 == 0;
    uint32_t turn = won > 0 ? number / 2 : number;
    uint32_t lane = is_winner ? race->won[(race->won_count - 1 - turn % won) % MOST_WON] : turn % A_ROUND;
    return (Lane){&TASTE[lane / PICK_COUNT], lane % PICK_COUNT, is_winner || turn >= A_ROUND};
}

static void rank_all(Race *race, const Runner *runner, const Lane *lane) {
    uint32_t n = race->model->count;
    int64_t *key = race->key[runner->thread];
    uint64_t state = runner->number;
    for (uint32_t r = 0; r < n; r++) {
        const Rect *rect = &race->model->rect[r];
        int64_t stray = lane->strays ? draw(&state) % 1024 * 3 / 10 : 0;
        key[r] = (lane->taste->size * log_of(rect->size) + lane->taste->width * log_of(rect->width)) * (1024 + stray);
    }
    uint32_t *order = race->order[runner->thread];
    for (uint32_t r = 0; r < n; r++) {
        order[r] = r;
    }
    sort_by_key(order, race->rank[runner->thread], key, n);
    for (uint32_t k = 0; k < n; k++) {
        race->rank[runner->thread][order[k]] = k;
    }
}

/* A search of the first round may go back a few times for each rectangle; rounds have twice the share of the one
 * before. Without restarts there is one search. */
static uint64_t share_of(const Race *race, uint32_t number) {
    if (race->options->switched_off & 1U << INFER_RESTARTS) {
        return UINT64_MAX;
    }
    uint32_t round = number / A_ROUND;
    return race_first_nodes(race) << (round < 40 ? round : 40);
}

uint64_t race_first_nodes(const Race *race) {
    return 2 * (uint64_t)race->model->count + 64;
}

uint64_t race_round_nodes(const Race *race) {
    return race_first_nodes(race) * A_ROUND;
}

/* ---- Threads */

static bool is_over(void *context) {
    Runner *runner = context;
    Race *race = runner->race;
    const SolverOptions *options = race->options;
    pthread_mutex_lock(&race->mutex);
    race->is_stopped |= options->stop != NULL && *options->stop != 0;
    race->is_stopped |= race->deadline_ms != 0 && race_clock_ms() >= race->deadline_ms;
    bool over = race->is_stopped || race->winner < runner->number;
    SolverProgress progress = race->progress;
    progress.nodes += race->spent;
    pthread_mutex_unlock(&race->mutex);
    if (runner->thread == 0 && options->tell != NULL && race_clock_ms() >= race->told_ms + TELL_MS) {
        race->told_ms = race_clock_ms();
        options->tell(options->context, &progress);
    }
    return over;
}

/* The next search and its share: none where the nodes are spent by those before it. */
static bool take(Race *race, uint32_t *number, uint64_t *share) {
    pthread_mutex_lock(&race->mutex);
    *number = race->next;
    *share = share_of(race, race->next);
    bool more = race->most_nodes > 0 && race->winner == UINT32_MAX && !race->is_stopped;
    if (more) {
        *share = at_most(*share, race->most_nodes);
        race->most_nodes -= *share;
        race->next++;
    }
    pthread_mutex_unlock(&race->mutex);
    return more;
}

static void finish(Race *race, const Runner *runner, SearchEnd end) {
    const Search *search = race->search[runner->thread];
    pthread_mutex_lock(&race->mutex);
    race->spent += search_nodes(search);
    if (end != SEARCH_SPENT && runner->number < race->winner) {
        race->winner = runner->number;
        race->result.end = end;
        race->result.nodes = search_nodes(search);
        race->result.method = lane_of(race, runner->number).taste->name;
        if (end == SEARCH_FOUND) {
            memcpy(race->offset, search_offsets(search), race->model->count * sizeof *race->offset);
        }
    }
    pthread_mutex_unlock(&race->mutex);
}

static void run_searches(Race *race, uint32_t thread) {
    Runner runner = {.race = race, .thread = thread};
    for (uint64_t share; take(race, &runner.number, &share);) {
        Lane lane = lane_of(race, runner.number);
        rank_all(race, &runner, &lane);
        SearchTask task = {.capacity = race->capacity,
                           .pick = lane.pick,
                           .rank = race->rank[thread],
                           .most_nodes = share,
                           .is_over = is_over,
                           .context = &runner};
        finish(race, &runner, search_run(race->search[thread], &task));
    }
}

typedef struct {
    Race *race;
    uint32_t thread;
} Start;

static void *run_thread(void *context) {
    const Start *start = context;
    run_searches(start->race, start->thread);
    return NULL;
}

/* No more than there are searches to be made. */
static uint32_t count_threads(const Race *race) {
    uint64_t nodes = 0;
    uint32_t threads = 0;
    while (threads < race->most_threads && nodes < race->most_nodes) {
        const uint64_t share = share_of(race, race->next + threads++);
        nodes = share < race->most_nodes - nodes ? nodes + share : race->most_nodes;
    }
    return threads;
}

/* Where the machine gives fewer threads than were asked for, those do the work. */
static void run_threads(Race *race, uint32_t threads) {
    pthread_t thread[MOST_THREADS];
    Start start[MOST_THREADS];
    uint32_t started = 1;
    for (; started < threads; started++) {
        start[started] = (Start){race, started};
        if (pthread_create(&thread[started], NULL, run_thread, &start[started]) != 0) {
            break;
        }
    }
    run_searches(race, 0);
    for (uint32_t k = 1; k < started; k++) {
        pthread_join(thread[k], NULL);
    }
}

/* Those of the search that ended the race and the shares of all before it: whatever the threads did beside that. */
static uint64_t count_nodes(const Race *race, uint64_t most_nodes) {
    if (race->result.is_stopped) {
        return race->spent;
    }
    if (race->result.end == SEARCH_SPENT) { /* without limit: the one search there is had no room for more changes */
        return most_nodes < UINT64_MAX ? most_nodes : race->spent;
    }
    uint64_t nodes = race->result.nodes;
    for (uint32_t k = race->first; k < race->winner; k++) {
        nodes += share_of(race, k);
    }
    return nodes;
}

RaceResult race_run(Race *race, Level capacity, uint64_t most_nodes, const SolverProgress *progress, Level *offset) {
    race->first = capacity == race->capacity ? race->next : 0;
    race->next = race->first;
    race->capacity = capacity;
    race->most_nodes = most_nodes;
    race->progress = *progress;
    race->winner = UINT32_MAX;
    race->is_stopped = false;
    race->spent = 0;
    race->result = (RaceResult){.end = SEARCH_SPENT};
    race->offset = offset;
    const uint32_t threads = count_threads(race);
    make_room(race, threads);
    pthread_mutex_init(&race->mutex, NULL);
    if (threads > 0) {
        run_threads(race, threads);
    }
    pthread_mutex_destroy(&race->mutex);
    race->result.is_stopped = race->is_stopped && race->result.end == SEARCH_SPENT;
    race->result.nodes = count_nodes(race, most_nodes);
    if (race->result.end == SEARCH_FOUND) {
        Lane lane = lane_of(race, race->winner);
        race->won[race->won_count++ % MOST_WON] = (uint32_t)(lane.taste - TASTE) * PICK_COUNT + lane.pick;
    }
    return race->result;
}
