/* Proves: the public hard instances are solved within the capacity they were made for, whatever the order of the rows,
 * their names, the direction of time and the number of threads, with answers that repeat; those that are known to reach
 * their bound are proven optimal; networks for microcontrollers reach their bound. Judged by place/judge.h. Files that
 * are absent are skipped by name. Ranges are half-open. */
#include "place/draw.h"
#include "place/judge.h"
#include "solver/solver.h"
#include "support/work.h"

#include <inttypes.h>
#include <stdio.h>

enum { MOST = 512 };

static const uint64_t CAPACITY = 1048576;

typedef struct {
    const char *file;
    uint64_t align_bytes, lowest; /* 0: nobody knows */
} Instance;

static const Instance INSTANCE[] = {
    {"minimalloc/A.1048576.csv", 1, 1048576},
    {"minimalloc/B.1048576.csv", 1, 1048576},
    {"minimalloc/C.1048576.csv", 1, 1039360},
    {"minimalloc/D.1048576.csv", 1, 0},
    {"minimalloc/E.1048576.csv", 1, 1048576},
    {"minimalloc/F.1048576.csv", 1, 1048576},
    {"minimalloc/G.1048576.csv", 1, 1048576},
    {"minimalloc/H.1048576.csv", 1, 1048576},
    {"minimalloc/I.1048576.csv", 1, 1048576},
    {"minimalloc/J.1048576.csv", 1, 0},
    {"minimalloc/K.1048576.csv", 1, 1048576},
    {"tflite/person_detect.csv", 16, 55296},
    {"tflite/audio_preprocessor_int8.csv", 16, 2096},
    {"tflite/micro_speech_quantized.csv", 16, 5968},
    {"tflite/mobilenet_v2_quantized_1x3x224x224.csv", 16, 2451840},
    {"tflite/te_vww.csv", 16, 161472},
    {"tflite/te_mcunetv2_large.csv", 16, 2451840},
    {"tflite/hello_world_int8.csv", 16, 32},
    {"tflite/trained_lstm_int8.csv", 16, 1344},
};

enum { INSTANCES = sizeof INSTANCE / sizeof *INSTANCE };

typedef struct {
    SolverBuffer buffer[MOST];
    size_t count;
} Rows;

/* Rows `id,lower,upper,size` after one line of titles. False where there is no such file. */
static bool read_rows(const Instance *instance, Rows *rows) {
    char path[1024], line[256];
    snprintf(path, sizeof path, "%s/place/%s", S0_SHARED_DIR, instance->file);
    FILE *file = S0_SHARED_DIR[0] == '\0' ? NULL : fopen(path, "r");
    rows->count = 0;
    if (file == NULL) {
        print_message("skipped: place/%s is absent\n", instance->file);
        return false;
    }
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        SolverBuffer row = {.align = 1};
        assert_true(rows->count < MOST);
        assert_int_equal(sscanf(line, "%*[^,],%" SCNu64 ",%" SCNu64 ",%" SCNu64, &row.first, &row.last, &row.size), 3);
        rows->buffer[rows->count++] = row;
    }
    fclose(file);
    return true;
}

static void judge(const Rows *rows, const SolverResult *result, uint64_t align_bytes, Arena *arena) {
    PlaceProblem problem = {arena_array(arena, PlaceBuffer, rows->count), rows->count, .align_bytes = align_bytes};
    for (size_t i = 0; i < rows->count; i++) {
        const SolverBuffer *buffer = &rows->buffer[i];
        problem.buffer[i] = (PlaceBuffer){.size = buffer->size,
                                          .align = buffer->align,
                                          .first = buffer->first,
                                          .last = buffer->last,
                                          .offset = buffer->offset};
    }
    problem.height = result->height;
    assert_true(place_bound(&problem, arena, &problem.bound, NULL));
    assert_int_equal(place_judge(&problem, arena).verdict, JUDGE_RIGHT);
}

static SolverResult solve(Rows *rows, const SolverOptions *options, Work *work) {
    SolverResult result;
    assert_true(solver_run(rows->buffer, rows->count, options, &work->keep, &work->scratch, &result));
    if (result.outcome == SOLVER_FOUND) {
        assert_true(result.height <= options->capacity);
        judge(rows, &result, options->align_bytes, &work->scratch);
    }
    arena_reset(&work->scratch);
    return result;
}

/* The same rectangles, told otherwise. */
static void shuffle(Rows *rows, uint64_t *state) {
    for (size_t i = rows->count; i > 1; i--) {
        size_t j = draw_below(state, i);
        SolverBuffer kept = rows->buffer[j];
        rows->buffer[j] = rows->buffer[i - 1];
        rows->buffer[i - 1] = kept;
    }
}

static void reverse_time(Rows *rows) {
    uint64_t end = 0;
    for (size_t i = 0; i < rows->count; i++) {
        end = rows->buffer[i].last > end ? rows->buffer[i].last : end;
    }
    for (size_t i = 0; i < rows->count; i++) {
        uint64_t first = rows->buffer[i].first;
        rows->buffer[i].first = end - rows->buffer[i].last;
        rows->buffer[i].last = end - first;
    }
}

static void check_decision(const Instance *instance, const Rows *given, Work *work) {
    SolverOptions options = {
        .capacity = instance->align_bytes == 1 ? CAPACITY : instance->lowest, .align_bytes = 1, .threads = 1};
    options.align_bytes = instance->align_bytes;
    Rows rows = *given;
    SolverResult once = solve(&rows, &options, work);
    print_message("%-46s %9" PRIu64 " nodes\n", instance->file, once.nodes);
    assert_int_equal(once.outcome, SOLVER_FOUND);
    uint64_t state = 7;
    shuffle(&rows, &state);
    options.threads = 3;
    SolverResult again = solve(&rows, &options, work);
    assert_int_equal(again.nodes, once.nodes);
    assert_int_equal(again.height, once.height);
    assert_string_equal(again.method, once.method);
    reverse_time(&rows);
    assert_int_equal(solve(&rows, &options, work).outcome, SOLVER_FOUND);
}

static void check_lowest(const Instance *instance, const Rows *given, Work *work) {
    SolverOptions options = {.capacity = UINT64_MAX,
                             .is_minimised = true,
                             .align_bytes = instance->align_bytes,
                             .threads = 2,
                             .most_nodes = instance->lowest == 0 ? 100000 : 0};
    Rows rows = *given;
    SolverResult result = solve(&rows, &options, work);
    assert_int_equal(result.outcome, SOLVER_FOUND);
    if (instance->lowest != 0) {
        assert_int_equal(result.height, instance->lowest);
        assert_true(result.is_optimal);
        return;
    }
    rows = *given;
    options.threads = 1;
    assert_int_equal(solve(&rows, &options, work).height, result.height);
}

static void run_all(void (*check)(const Instance *instance, const Rows *rows, Work *work), Work *work) {
    size_t skipped = 0;
    for (size_t i = 0; i < INSTANCES; i++) {
        Rows rows;
        if (read_rows(&INSTANCE[i], &rows)) {
            check(&INSTANCE[i], &rows, work);
        } else {
            skipped++;
        }
    }
    if (skipped == INSTANCES) {
        work_free(work);
        skip();
    }
}

static void test_decision(Work *work) {
    run_all(check_decision, work);
}

static void test_lowest(Work *work) {
    run_all(check_lowest, work);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_decision), WORK_TEST(test_lowest)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
