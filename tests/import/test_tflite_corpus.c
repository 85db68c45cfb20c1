/* Proves: every TFLite file at hand imports, and cut or with bytes changed none crashes, hangs or ends without a
 * message. The files are examples/ and, where the folder with third-party models is there, its 107 TFLite files. */
#include "import/import.h"
#include "support/corpus.h"
#include "support/random.h"
#include "support/work.h"

#include <stdlib.h>
#include <string.h>

enum { CUTS = 24, FLIPS = 60 };

/* 1 where a graph came back that holds its invariants. */
static int import_bytes(Span bytes, const char *name) {
    static Work work;
    WORK_BEGIN(&work);
    Graph *graph = import_tflite(&work, bytes, name, NULL);
    bool sound = graph != NULL && graph_check(graph, &work);
    assert_int_equal(sound, !diags_failed(&work.diags));
    work_free(&work);
    return sound;
}

/* In memory of exactly that size: AddressSanitizer sees a byte too far. */
static void import_damaged(Span file, uint64_t *seed) {
    uint8_t *copy = malloc(file.len);
    assert_non_null(copy);
    memcpy(copy, file.ptr, file.len);
    for (uint32_t k = 0; k < FLIPS; k++) {
        copy[random_below(seed, file.len)] ^= (uint8_t)(1u << random_below(seed, 8));
        /* most of a file is weights: every other change goes where the structure is */
        copy[file.len - 1 - random_below(seed, file.len < 4096 ? file.len : 4096)] = (uint8_t)random_next(seed);
        import_bytes((Span){copy, file.len}, "flipped");
        if (k % 4 == 3) {
            memcpy(copy, file.ptr, file.len);
        }
    }
    free(copy);
    for (uint32_t k = 0; k < CUTS; k++) {
        size_t len = (size_t)((uint64_t)file.len * k / CUTS);
        uint8_t *cut = malloc(len + 1);
        assert_non_null(cut);
        memcpy(cut + 1, file.ptr, len); /* at an odd address */
        import_bytes((Span){cut + 1, len}, "cut");
        free(cut);
    }
}

static void import_file(const char *path, uint64_t *seed) {
    static Work work;
    FileMap map;
    WORK_BEGIN(&work);
    assert_true(file_map(&map, path, &work.diags));
    if (!import_bytes(map.bytes, path)) {
        fail_msg("%s does not import", path);
    }
    import_damaged(map.bytes, seed);
    file_unmap(&map);
    work_free(&work);
}

/* Imports the TFLite files in and below the folder; how many there were, -1 where there is no such folder. */
static int import_folder(const char *path, uint64_t *seed) {
    Corpus corpus = {.count = 0};
    if (!corpus_add(&corpus, path, ".tflite")) {
        return -1;
    }
    for (size_t k = 0; k < corpus.count; k++) {
        import_file(corpus.path[k], seed);
    }
    int count = (int)corpus.count;
    corpus_free(&corpus);
    return count;
}

static void test_examples(void **state) {
    (void)state;
    uint64_t seed = 11;
    assert_int_equal(import_folder(S0_SOURCE_DIR "/examples", &seed), 3);
}

static void test_shared_models(void **state) {
    (void)state;
    static const struct {
        const char *folder;
        int count;
    } ROW[] = {{"/models/tflite", 23}, {"/models/tflite-node", 84}};
    if (S0_SHARED_DIR[0] == '\0') {
        print_message("SKIPPED: test_shared_models: needs models of S0_SHARED\n");
        skip();
    }
    for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++) {
        char path[4096];
        uint64_t seed = 13;
        snprintf(path, sizeof path, "%s%s", S0_SHARED_DIR, ROW[k].folder);
        assert_int_equal(import_folder(path, &seed), ROW[k].count);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_examples), cmocka_unit_test(test_shared_models)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
