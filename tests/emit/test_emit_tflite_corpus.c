/* Proves, on every TFLite file at hand (examples/ and, where the folder with third-party models is there, its TFLite
 * files): with nothing edited the bytes are the file's; a random edit gives a file that imports again as the graph that
 * was asked for, constants byte for byte and aligned as before; damaged files end in a file or in a message; and where
 * memory runs out, at whatever allocation, nothing is left. */
#include "emit/emit.h"
#include "emit/tflite_edit.h"
#include "import/import.h"
#include "support/allocator.h"
#include "support/corpus.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>

enum { EDITS = 12, DAMAGED = 40, ALIGN = 16 };

typedef struct {
    Work work;
    Draft draft;
    Span out;
} Run;

static Graph *read_sound(Work *work, Span bytes) {
    Graph *graph = import_tflite(work, bytes, "model", NULL);
    return graph != NULL && graph_check(graph, work) ? graph : NULL;
}

/* ---- The graph asked for, against the graph of the result */

static bool has_name(const Value *value) {
    return !str_starts(value->name, STR("tensor#"));
}

static void compare_constants(const char *path, const Value *wanted, const Value *got, Span file, Span out) {
    const Const *a = wanted->constant, *b = got->constant;
    assert_int_equal(a != NULL, b != NULL);
    if (a == NULL || !a->is_known || a->bytes.len == 0) {
        return;
    }
    if (a->bytes.len != b->bytes.len || memcmp(a->bytes.ptr, b->bytes.ptr, a->bytes.len) != 0) {
        fail_msg("%s: other data in '" STR_FMT "'", path, STR_ARG(wanted->name));
    }
    bool is_old = a->bytes.ptr >= file.ptr && a->bytes.ptr < file.ptr + file.len;
    ptrdiff_t phase = is_old ? (a->bytes.ptr - file.ptr) % ALIGN : 0;
    assert_int_equal((b->bytes.ptr - out.ptr) % ALIGN, phase);
}

static void compare_quants(const Value *wanted, const Value *got) {
    const Quant *a = wanted->quant, *b = got->quant;
    assert_int_equal(a != NULL, b != NULL);
    for (uint32_t k = 0; a != NULL && k < a->count; k++) {
        assert_int_equal(a->count, b->count);
        assert_memory_equal(&a->scale[k], &b->scale[k], sizeof(float));
        assert_int_equal(a->zero_point == NULL ? 0 : a->zero_point[k], b->zero_point == NULL ? 0 : b->zero_point[k]);
        assert_int_equal(a->count == 1 ? 0 : a->axis, b->count == 1 ? 0 : b->axis);
    }
}

static void compare_lists(const char *path, const Run *run, const Graph *got, const Node *a, const Node *b, Span file) {
    assert_int_equal(a->op, b->op);
    assert_int_equal(a->input_count, b->input_count);
    assert_int_equal(a->output_count, b->output_count);
    for (uint32_t k = 0; k < a->input_count + a->output_count; k++) {
        bool is_input = k < a->input_count;
        const Value *x =
            is_input ? node_input(run->draft.graph, a, k) : node_output(run->draft.graph, a, k - a->input_count);
        const Value *y = is_input ? node_input(got, b, k) : node_output(got, b, k - a->input_count);
        assert_int_equal(x != NULL, y != NULL);
        if (x == NULL) {
            continue;
        }
        if (has_name(x) && !str_eq(x->name, y->name)) {
            fail_msg("%s: '" STR_FMT "' instead of '" STR_FMT "'", path, STR_ARG(y->name), STR_ARG(x->name));
        }
        compare_constants(path, x, y, file, run->out);
        if (!x->is_state) { /* of a variable: the quantisation of whichever tensor is read first */
            compare_quants(x, y);
        }
    }
}

static void compare_graphs(const char *path, const Run *run, const Graph *got, Span file) {
    const ModelEdit *edit = &run->draft.edit;
    const Block *main = graph_main(got);
    uint32_t position = 0, added = 0;
    for (uint32_t k = 0; k <= edit->file_node_count; k++) {
        for (; added < edit->added_node_count && edit->added_nodes[added].before == k; added++, position++) {
            assert_true(position < main->node_count);
            compare_lists(path, run, got, graph_node(run->draft.graph, edit->added_nodes[added].id),
                          graph_node(got, main->nodes[position]), file);
        }
        if (k < edit->file_node_count && edit->fates[k] != NODE_DROPPED) {
            assert_true(position < main->node_count);
            compare_lists(path, run, got, draft_node(&run->draft, k), graph_node(got, main->nodes[position++]), file);
        }
    }
    assert_int_equal(position, main->node_count);
    assert_int_equal(graph_main(run->draft.graph)->input_count, main->input_count);
    assert_int_equal(graph_main(run->draft.graph)->output_count, main->output_count);
}

/* ---- Files */

/* `seed` null: nothing is edited. False where the file does not import, or the edit is refused with a message. */
static bool edit_bytes(Run *run, Span file, uint64_t *seed) {
    Graph *graph = read_sound(&run->work, file);
    if (graph == NULL) {
        return false;
    }
    draft_init(&run->draft, &run->work, graph);
    if (seed != NULL) {
        draft_random(&run->draft, seed);
    }
    bool done = emit_tflite(draft_done(&run->draft), file, &run->work, &run->out);
    assert_int_equal(done, !diags_failed(&run->work.diags));
    return done;
}

static void edit_file(const char *path, Span file, uint64_t *seed) {
    static Run run, again;
    WORK_BEGIN(&run.work);
    WORK_BEGIN(&again.work);
    if (!edit_bytes(&run, file, seed)) {
        diags_print(&run.work.diags, "", stderr);
        fail_msg("%s: not edited", path);
    }
    if (seed == NULL) {
        assert_int_equal(run.out.len, file.len);
        assert_memory_equal(run.out.ptr, file.ptr, file.len);
    }
    Graph *got = read_sound(&again.work, run.out);
    if (got == NULL) {
        diags_print(&again.work.diags, "", stderr);
        fail_msg("%s: the result does not import", path);
    }
    compare_graphs(path, &run, got, file);
    work_free(&run.work);
    work_free(&again.work);
}

static void edit_damaged(Span file, uint64_t *seed) {
    static Run run, again;
    for (uint32_t k = 0; k < DAMAGED; k++) {
        uint8_t *copy = malloc(file.len);
        assert_non_null(copy);
        memcpy(copy, file.ptr, file.len);
        for (uint64_t flips = random_below(seed, 3) + 1; flips > 0; flips--) {
            size_t near_end = file.len < 4096 ? file.len : 4096; /* most of a file is weights */
            size_t at =
                random_below(seed, 2) == 0 ? random_below(seed, file.len) : file.len - 1 - random_below(seed, near_end);
            copy[at] ^= (uint8_t)(1u << random_below(seed, 8));
        }
        WORK_BEGIN(&run.work);
        WORK_BEGIN(&again.work);
        if (edit_bytes(&run, (Span){copy, file.len}, seed)) {
            if (read_sound(&again.work, run.out) == NULL) {
                diags_print(&again.work.diags, "", stderr);
                fail_msg("a damaged file: its edit does not import");
            }
        }
        work_free(&run.work);
        work_free(&again.work);
        free(copy);
    }
}

static void try_file(const char *path, uint64_t *seed) {
    static Work work;
    FileMap map;
    WORK_BEGIN(&work);
    assert_true(file_map(&map, path, &work.diags));
    edit_file(path, map.bytes, NULL);
    for (uint32_t k = 0; k < EDITS; k++) {
        edit_file(path, map.bytes, seed);
    }
    edit_damaged(map.bytes, seed);
    file_unmap(&map);
    work_free(&work);
}

/* How many TFLite files are in and below the folder; -1 where there is no such folder. */
static int try_folder(const char *path, uint64_t *seed) {
    Corpus corpus = {.count = 0};
    if (!corpus_add(&corpus, path, ".tflite")) {
        return -1;
    }
    for (size_t k = 0; k < corpus.count; k++) {
        try_file(corpus.path[k], seed);
    }
    int count = (int)corpus.count;
    corpus_free(&corpus);
    return count;
}

static void test_examples(void **state) {
    uint64_t seed = 1;
    (void)state;
    assert_true(try_folder(S0_SOURCE_DIR "/examples", &seed) >= 3);
    assert_true(try_folder(S0_SOURCE_DIR "/tests/fuzz/corpus/tflite", &seed) >= 2);
}

static void test_shared(void **state) {
    uint64_t seed = 2;
    (void)state;
    if (S0_SHARED_DIR[0] == '\0') {
        print_message("SKIPPED: test_shared: needs models/tflite of S0_SHARED\n");
        skip();
    }
    assert_true(try_folder(S0_SHARED_DIR "/models/tflite", &seed) > 0);
    assert_true(try_folder(S0_SHARED_DIR "/models/tflite-node", &seed) > 0);
}

/* ---- Memory */

/* 1 where it ran out. */
static int edit_with_failure(CountingAllocator *counter, Span file) {
    static Run run;
    s0_allocator allocator = counting_allocator(counter);
    uint64_t seed = 7;
    work_init(&run.work, &allocator);
    int ran_out = setjmp(run.work.escape);
    if (ran_out == 0) {
        assert_true(edit_bytes(&run, file, &seed));
    }
    work_free(&run.work);
    assert_int_equal(counter->live_bytes, 0);
    assert_false(counter->told_wrong_size);
    return ran_out != 0;
}

static void test_memory(void **state) {
    static Work work;
    FileMap map;
    (void)state;
    WORK_BEGIN(&work);
    assert_true(file_map(&map, S0_SOURCE_DIR "/examples/separable.tflite", &work.diags));
    CountingAllocator whole = {0};
    assert_int_equal(edit_with_failure(&whole, map.bytes), 0);
    for (size_t n = 1; n <= whole.calls; n++) {
        CountingAllocator counter = {.fail_at = n};
        assert_int_equal(edit_with_failure(&counter, map.bytes), 1);
    }
    file_unmap(&map);
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
