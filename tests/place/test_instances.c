/* Proves: on public live ranges of microcontroller networks the height is the bound (the figures of the networks'
 * publishers' tools are far above it), and on public hard instances the judge accepts what greedy finds. The files are
 * not part of this repository: each is skipped by name where it is absent. Ranges are half-open. */
#include "place/judge.h"
#include "place/place.h"
#include "support/work.h"

#include <inttypes.h>
#include <stdio.h>

static const struct {
    const char *file;
    uint64_t align_bytes;
    size_t count;
    uint64_t bound;
    bool reaches_bound;
} INSTANCE[] = {
    {"tflite/person_detect.csv", 16, 32, 55296, true},
    {"tflite/audio_preprocessor_int8.csv", 16, 25, 2096, true},
    {"tflite/micro_speech_quantized.csv", 16, 5, 5968, true},
    {"tflite/mobilenet_v2_quantized_1x3x224x224.csv", 16, 85, 2451840, true},
    {"tflite/te_vww.csv", 16, 64, 161472, true},
    {"tflite/te_mcunetv2_large.csv", 16, 164, 2451840, true},
    {"tflite/hello_world_int8.csv", 16, 4, 32, true},
    {"tflite/trained_lstm_int8.csv", 16, 5, 1344, true},
    {"minimalloc/A.1048576.csv", 1, 154, 1048576, false},
    {"minimalloc/B.1048576.csv", 1, 170, 1048576, false},
    {"minimalloc/C.1048576.csv", 1, 203, 1039360, false},
    {"minimalloc/D.1048576.csv", 1, 213, 986112, false},
    {"minimalloc/E.1048576.csv", 1, 215, 1048576, false},
    {"minimalloc/F.1048576.csv", 1, 296, 1048576, false},
    {"minimalloc/G.1048576.csv", 1, 308, 1048576, false},
    {"minimalloc/H.1048576.csv", 1, 316, 1048576, false},
    {"minimalloc/I.1048576.csv", 1, 374, 1048576, false},
    {"minimalloc/J.1048576.csv", 1, 409, 989184, false},
    {"minimalloc/K.1048576.csv", 1, 454, 1048576, false},
};

enum { MOST = 512 };

/* Rows `id,lower,upper,size` after one line of titles. */
static size_t read_rows(FILE *file, PlaceBuffer buffer[static MOST]) {
    char line[256];
    size_t count = 0;
    assert_non_null(fgets(line, sizeof line, file));
    while (fgets(line, sizeof line, file) != NULL) {
        PlaceBuffer row = {.align = 1};
        assert_true(count < MOST);
        assert_int_equal(sscanf(line, "%*[^,],%" SCNu64 ",%" SCNu64 ",%" SCNu64, &row.first, &row.last, &row.size), 3);
        buffer[count++] = row;
    }
    return count;
}

static void solve_and_judge(size_t which, PlaceProblem *problem) {
    Work work;
    WORK_BEGIN(&work);
    assert_true(place_solve(problem, &work.scratch));
    print_message("%-46s height %8" PRIu64 "  bound %8" PRIu64 "  by %s\n", INSTANCE[which].file, problem->height,
                  problem->bound, problem->method);
    assert_int_equal(place_judge(problem, &work.scratch).verdict, JUDGE_RIGHT);
    work_free(&work);
}

static void test_instances(void **unused) {
    (void)unused;
    size_t skipped = 0;
    for (size_t i = 0; i < sizeof INSTANCE / sizeof *INSTANCE; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/place/%s", S0_SHARED_DIR, INSTANCE[i].file);
        FILE *file = S0_SHARED_DIR[0] == '\0' ? NULL : fopen(path, "r");
        if (file == NULL) {
            print_message("skipped: place/%s is absent\n", INSTANCE[i].file);
            skipped++;
            continue;
        }
        PlaceBuffer buffer[MOST];
        PlaceProblem problem = {.buffer = buffer, .align_bytes = INSTANCE[i].align_bytes};
        problem.count = read_rows(file, buffer);
        fclose(file);
        assert_int_equal(problem.count, INSTANCE[i].count);
        solve_and_judge(i, &problem);
        assert_int_equal(problem.bound, INSTANCE[i].bound);
        if (INSTANCE[i].reaches_bound) {
            assert_int_equal(problem.height, problem.bound);
        }
    }
    if (skipped == sizeof INSTANCE / sizeof *INSTANCE) {
        skip();
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_instances)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
