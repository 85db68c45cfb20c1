/* Proves on real files that every model imports or is refused by name, that what imports keeps the invariants and holds
 * its raw constants in place, and that no cut or changed file does worse than end in a message. Reads the models of
 * libonnx's test data where Debian's package is installed, and those of S0_SHARED_DIR; skipped where neither is. */
#define _XOPEN_SOURCE 700 /* nftw */
#include "import/import.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MOST_FILES = 4096, CHANGED_FILES = 40, CUT_EVERY = 97, MOST_CUTS = 200, CHANGES = 100 };

static const char libonnx_data[] = "/usr/share/libonnx-testdata/data";

static char *found[MOST_FILES];
static size_t found_count;

static int note_file(const char *path, const struct stat *info, int type, struct FTW *where) {
    (void)info;
    (void)where;
    size_t len = strlen(path);
    if (type == FTW_F && len > 5 && strcmp(path + len - 5, ".onnx") == 0 && found_count < MOST_FILES) {
        found[found_count++] = strdup(path);
    }
    return 0;
}

static int by_name(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int find_files(void **state) {
    (void)state;
    nftw(libonnx_data, note_file, 16, FTW_PHYS);
    if (S0_SHARED_DIR[0] != '\0') {
        nftw(S0_SHARED_DIR "/models", note_file, 16, FTW_PHYS);
    }
    qsort(found, found_count, sizeof found[0], by_name);
    return 0;
}

static int forget_files(void **state) {
    (void)state;
    while (found_count > 0) {
        free(found[--found_count]);
    }
    return 0;
}

static void skip_without_files(const char *what) {
    if (found_count == 0) {
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
    work_init(&work, &system_allocator);
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
    for (size_t k = 0; k < found_count; k++) {
        import_one(found[k], &tally);
    }
    print_message("%zu models: %zu imported, %zu refused; constants: %zu in the file, %zu decoded\n", found_count,
                  tally.imported, tally.refused, tally.in_file, tally.copied);
    assert_true(tally.refused * 100 <= found_count);
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
    work_init(&work, &system_allocator);
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
    work_init(&work, &system_allocator);
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
    size_t step = found_count / CHANGED_FILES == 0 ? 1 : found_count / CHANGED_FILES;
    for (size_t k = 0; k < found_count; k += step) {
        break_file(found[k], &seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_model),
        cmocka_unit_test(test_broken_copies),
    };
    return cmocka_run_group_tests(tests, find_files, forget_files);
}
