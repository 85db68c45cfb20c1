/* Proves on real files that every model imports or is refused by name, that what imports keeps the invariants and holds
 * its raw constants in place, and that no cut or changed file does worse than end in a message. Reads the models of
 * libonnx's test data where Debian's package is installed, and those of S0_SHARED_DIR; skipped where neither is. */
#include "import/import.h"
#include "support/corpus.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHANGED_FILES = 40, CUT_EVERY = 97, MOST_CUTS = 200, CHANGES = 100 };

static Corpus corpus;

static int find_files(void **state) {
    (void)state;
    corpus_add(&corpus, CORPUS_LIBONNX, ".onnx");
    if (S0_SHARED_DIR[0] != '\0') {
        corpus_add(&corpus, S0_SHARED_DIR "/models", ".onnx");
    }
    return 0;
}

static int forget_files(void **state) {
    (void)state;
    corpus_free(&corpus);
    return 0;
}

static void skip_without_files(const char *what) {
    if (corpus.count == 0) {
        assert_true(S0_SHARED_DIR[0] == '\0'); /* given, it has models */
        print_message("skipped: %s: neither libonnx-testdata nor shared models are here\n", what);
        skip();
    }
}

/* A message names an operator, a node or a tensor. */
static bool is_named(const Diags *diags) {
    const Diag *diag = diags->first;
    while (diag != NULL && diag->kind == DIAG_WARNING) {
        diag = diag->next;
    }
    return diag != NULL && (diag->text.node.len > 0 || diag->text.tensor.len > 0) && diag->text.place != NULL;
}

typedef struct {
    size_t imported, refused, in_file, copied;
} Tally;

static void count_constants(const Graph *graph, Span file, Tally *tally) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const Const *constant = graph->values[v].constant;
        if (constant != NULL && constant->bytes.len > 0) {
            bool is_inside = constant->bytes.ptr >= file.ptr && constant->bytes.ptr < file.ptr + file.len;
            *(is_inside ? &tally->in_file : &tally->copied) += 1;
        }
    }
}

static void import_one(const char *path, Tally *tally) {
    Work work;
    ModelFiles files = {0};
    WORK_BEGIN(&work);
    const Graph *graph = import_model(&work, path, &files);
    if (graph != NULL) {
        tally->imported++;
        count_constants(graph, files.map[0].bytes, tally);
    } else {
        tally->refused++;
        print_message("%s\n", path);
        diags_print(&work.diags, "  ", stderr);
        assert_true(is_named(&work.diags));
    }
    import_close(&files);
    work_free(&work);
}

/* At most one file in a hundred is refused, so that a reader that refuses everything fails here. */
static void test_every_model(void **state) {
    (void)state;
    skip_without_files("every model imports or is refused by name");
    Tally tally = {0};
    for (size_t k = 0; k < corpus.count; k++) {
        import_one(corpus.path[k], &tally);
    }
    print_message("%zu models: %zu imported, %zu refused; constants: %zu in the file, %zu decoded\n", corpus.count,
                  tally.imported, tally.refused, tally.in_file, tally.copied);
    assert_true(tally.refused * 100 <= corpus.count);
    if (S0_SHARED_DIR[0] != '\0') { /* whole networks keep their weights as raw data; node tests hold a few numbers */
        assert_true(tally.in_file > tally.copied);
    }
}

/* ---- Broken copies */

static uint32_t next_random(uint32_t *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return *seed >> 8;
}

/* In memory of exactly this size, so that a sanitizer sees a read past the end. */
static void import_broken(const uint8_t *bytes, size_t len) {
    uint8_t *copy = malloc(len == 0 ? 1 : len);
    memcpy(copy, bytes, len);
    Work work;
    ModelFiles files = {0};
    WORK_BEGIN(&work);
    Graph *graph = import_onnx(&work, (Span){copy, len}, "/nonexistent/model.onnx", &files);
    bool is_sound = graph != NULL && graph_check(graph, &work);
    assert_true(is_sound || diags_failed(&work.diags));
    import_close(&files);
    work_free(&work);
    free(copy);
}

static void break_file(const char *path, uint32_t *seed) {
    FileMap map;
    Work work;
    WORK_BEGIN(&work);
    assert_true(file_map(&map, path, &work.diags));
    size_t len = map.bytes.len;
    size_t step = len / MOST_CUTS > CUT_EVERY ? len / MOST_CUTS : CUT_EVERY;
    for (size_t cut = 0; cut < len; cut += step) {
        import_broken(map.bytes.ptr, cut);
    }
    uint8_t *changed = malloc(len);
    for (int k = 0; k < CHANGES; k++) {
        memcpy(changed, map.bytes.ptr, len);
        for (uint32_t n = next_random(seed) % 4 + 1; n > 0; n--) {
            size_t reach = next_random(seed) % 2 == 0 && len > 2000 ? 2000 : len;
            changed[next_random(seed) % reach] = (uint8_t)next_random(seed);
        }
        import_broken(changed, len);
    }
    free(changed);
    file_unmap(&map);
    work_free(&work);
}

static void test_broken_copies(void **state) {
    (void)state;
    skip_without_files("broken copies of models end in messages");
    uint32_t seed = 1;
    size_t step = corpus.count / CHANGED_FILES == 0 ? 1 : corpus.count / CHANGED_FILES;
    for (size_t k = 0; k < corpus.count; k += step) {
        break_file(corpus.path[k], &seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_broken_copies),
    };
    return cmocka_run_group_tests(tests, find_files, forget_files);
}
