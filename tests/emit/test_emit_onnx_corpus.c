/* Proves on real files that a model with nothing to edit comes out as it is, that nodes written again with the ends
 * they have leave the graph as it is, and that constants moved to fresh names reach the same inputs with the same
 * bytes; and on random graphs that dropping unread constants takes exactly those out of the graph. Graphs are compared
 * in their text form after a second import. Reads the models of libonnx's test data where Debian's package is
 * installed, those of S0_SHARED_DIR and the examples. With a folder as argument the models whose constants moved are
 * written there, beside the originals, for a second reader (tests/oracle/emit_onnx.py). */
#include "edited.h"

#include "base/name_map.h"
#include "support/corpus.h"
#include "support/random.h"

#include <stdio.h>

static Corpus corpus;
static const char *out_folder;

static int find_files(void **state) {
    (void)state;
    corpus_add(&corpus, CORPUS_LIBONNX, ".onnx");
    corpus_add(&corpus, S0_SOURCE_DIR "/examples", ".onnx");
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

/* ---- A file, edited and read again */

typedef struct {
    size_t models, same_bytes, nodes, constants;
} Tally;

typedef void FileTest(Edited *t, const char *path, Tally *tally);

static void with_file(const char *path, FileTest *test, Tally *tally) {
    Work work;
    Edited t;
    FileMap map;
    WORK_BEGIN(&work);
    assert_true(file_map(&map, path, &work.diags));
    t = (Edited){.work = &work, .file = map.bytes};
    t.graph = import_onnx(&work, map.bytes, path, &t.files);
    if (t.graph != NULL && graph_check(t.graph, &work)) {
        edited_begin(&t);
        test(&t, path, tally);
    }
    import_close(&t.files);
    file_unmap(&map);
    work_free(&work);
}

static void with_files(FileTest *test, const char *what) {
    Tally tally = {0};
    for (size_t k = 0; k < corpus.count; k++) {
        with_file(corpus.path[k], test, &tally);
    }
    print_message("%s: %zu models, %zu of them byte-identical; %zu nodes, %zu constants changed\n", what, tally.models,
                  tally.same_bytes, tally.nodes, tally.constants);
    assert_true(tally.models > 0 && tally.models * 100 >= corpus.count * 90);
}

static Span emit(Edited *t, const char *path) {
    Span out = {0};
    if (!emit_onnx(&t->edit, t->file, t->work, &out)) {
        print_error("%s: not emitted\n", path);
        diags_print(&t->work->diags, "", stderr);
        fail();
    }
    return out;
}

static Graph *import_again(Edited *t, Span bytes, const char *path) {
    Graph *graph = import_onnx(t->work, bytes, path, &t->files);
    if (graph == NULL || !graph_check(graph, t->work)) {
        print_error("%s: not imported again\n", path);
        diags_print(&t->work->diags, "", stderr);
        fail();
    }
    return graph;
}

static char *text_of(const Graph *graph, Work *work) {
    char *text;
    size_t len;
    FILE *out = open_memstream(&text, &len);
    graph_print_text(graph, &work->scratch, out);
    fclose(out);
    return text;
}

/* ---- Nothing to edit */

static void check_identity(Edited *t, const char *path, Tally *tally) {
    Span out = emit(t, path);
    tally->models++;
    tally->same_bytes += out.ptr == t->file.ptr && out.len == t->file.len;
}

static void test_identity(void **state) {
    (void)state;
    Tally tally = {0};
    for (size_t k = 0; k < corpus.count; k++) {
        with_file(corpus.path[k], check_identity, &tally);
        if (tally.models != tally.same_bytes) {
            fail_msg("%s: not the same bytes", corpus.path[k]);
        }
    }
    print_message("%zu of %zu models import and come out as they are\n", tally.models, corpus.count);
    assert_true(tally.models > 0 && tally.models * 100 >= corpus.count * 99);
}

/* ---- Every node written again */

static void rewire_all(Edited *t, Tally *tally) {
    for (uint32_t k = 0; k < t->edit.file_node_count; k++) {
        bool is_here = is_node(t->file_nodes[k]);
        if (is_here && op_info(graph_node(t->graph, t->file_nodes[k])->op)->kind != KIND_CONTROL) {
            t->fates[k] = NODE_REWIRED;
            tally->nodes++;
        }
    }
}

/* A file whose nodes begin with their inputs and outputs, as protobuf's writers do it, comes out as it is. */
static void check_rewired(Edited *t, const char *path, Tally *tally) {
    rewire_all(t, tally);
    Span out = emit(t, path);
    bool is_same = out.len == t->file.len && memcmp(out.ptr, t->file.ptr, out.len) == 0;
    tally->models++;
    tally->same_bytes += is_same;
    if (!is_same) {
        char *before = text_of(t->graph, t->work);
        char *after = text_of(import_again(t, out, path), t->work);
        if (strcmp(before, after) != 0) {
            fail_msg("%s: another graph", path);
        }
        free(before);
        free(after);
    }
}

static void test_rewired(void **state) {
    (void)state;
    with_files(check_rewired, "every node rewired to what it has");
}

/* ---- Constants under other names */

/* A constant that a node of the main graph reads; the tensor of an attribute is none. */
static bool moves(const Edited *t, const GraphUses *uses, uint32_t v) {
    const Value *value = &t->graph->values[v];
    return value->constant != NULL && value->constant->is_known && !value->is_output && !is_node(value->producer) &&
           uses->first[v] < uses->first[v + 1];
}

static ValueId *move_constants(Edited *t) {
    ValueId *moved = arena_array(&t->work->keep, ValueId, t->edit.file_value_count);
    ValueId *added = arena_array(&t->work->keep, ValueId, t->edit.file_value_count);
    GraphUses uses = graph_uses(t->graph, &t->work->scratch);
    TakenNames names = graph_taken_names(t->graph, &t->work->scratch);
    for (uint32_t v = 0; v < t->edit.file_value_count; v++) {
        moved[v] = (ValueId){v};
        if (moves(t, &uses, v)) {
            Value copy = t->graph->values[v];
            copy.name = graph_fresh_name(&names, copy.name, &t->work->keep);
            graph_take_name(&names, copy.name);
            moved[v] = graph_add_value(t->graph, &t->work->keep, copy);
            added[t->edit.added_value_count++] = moved[v];
            t->is_dropped[v] = true;
        }
    }
    t->edit.added_values = added;
    return moved;
}

static void rewire_moved(Edited *t, const ValueId *moved) {
    for (uint32_t k = 0; k < t->edit.file_node_count; k++) {
        Node *node = is_node(t->file_nodes[k]) ? graph_node(t->graph, t->file_nodes[k]) : NULL;
        for (uint32_t i = 0; node != NULL && i < node->input_count; i++) {
            ValueId input = node->inputs[i];
            if (is_value(input) && moved[input.index].index != input.index) {
                node->inputs[i] = moved[input.index];
                t->fates[k] = NODE_REWIRED;
            }
        }
    }
}

static bool is_same_constant(const Value *a, const Value *b) {
    return a->dtype == b->dtype && shape_eq(&a->shape, &b->shape) && a->constant->bytes.len == b->constant->bytes.len &&
           (a->constant->bytes.len == 0 ||
            memcmp(a->constant->bytes.ptr, b->constant->bytes.ptr, a->constant->bytes.len) == 0);
}

static void compare_ends(const Edited *t, const Graph *again, const char *path) {
    const Block *block = graph_main(t->graph);
    const Block *other = graph_main(again);
    assert_int_equal(block->node_count, other->node_count);
    for (uint32_t k = 0; k < block->node_count; k++) {
        const Node *node = graph_node(t->graph, block->nodes[k]);
        const Node *same = graph_node(again, other->nodes[k]);
        assert_int_equal(node->input_count, same->input_count);
        for (uint32_t i = 0; i < node->input_count; i++) {
            const Value *a = node_input(t->graph, node, i);
            const Value *b = node_input(again, same, i);
            bool agrees = a == NULL ? b == NULL : b != NULL && str_eq(a->name, b->name);
            agrees = agrees && (a == NULL || a->constant == NULL || is_same_constant(a, b));
            if (!agrees) {
                fail_msg("%s: input %u of node " STR_FMT, path, i, STR_ARG(node->name));
            }
        }
    }
}

/* None of the old names is left. */
static void expect_gone(const Edited *t, const Graph *again) {
    NameMap old = name_map(&t->work->scratch);
    for (uint32_t v = 0; v < t->edit.file_value_count; v++) {
        if (t->is_dropped[v]) {
            name_map_add(&old, t->graph->values[v].name, v);
        }
    }
    for (uint32_t v = 0; v < again->value_count; v++) {
        assert_true(again->values[v].constant == NULL || name_map_find(&old, again->values[v].name) == NULL);
    }
}

static void write_model(const char *path, const char *what, Span bytes) {
    char name[4096];
    Str rest = str_from(path);
    snprintf(name, sizeof name, "%s/%08x-%s.onnx", out_folder, (unsigned)str_hash(rest, 0), what);
    FILE *file = fopen(name, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, file), bytes.len);
    assert_int_equal(fclose(file), 0);
}

static void check_moved(Edited *t, const char *path, Tally *tally) {
    tally->models++;
    if (t->graph->block_count > 1) { /* subgraphs read constants by name */
        tally->same_bytes++;
        return;
    }
    rewire_moved(t, move_constants(t));
    Span out = emit(t, path);
    const Graph *again = import_again(t, out, path);
    compare_ends(t, again, path);
    expect_gone(t, again);
    tally->constants += t->edit.added_value_count;
    tally->same_bytes += t->edit.added_value_count == 0;
    if (out_folder != NULL && t->edit.added_value_count > 0) {
        write_model(path, "before", t->file);
        write_model(path, "after", out);
    }
}

static void test_moved(void **state) {
    (void)state;
    with_files(check_moved, "constants moved to fresh names");
}

/* ---- Random graphs */

enum { RANDOM_GRAPHS = 500, MOST_CONSTANTS = 12 };

typedef struct {
    char text[3000];
    uint32_t count;               /* of constants w0, w1, … */
    bool is_read[MOST_CONSTANTS]; /* by the chain of nodes */
} RandomFile;

static void append(RandomFile *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void append(RandomFile *file, const char *format, ...) {
    size_t len = strlen(file->text);
    va_list args;
    va_start(args, format);
    vsnprintf(file->text + len, sizeof file->text - len, format, args);
    va_end(args);
}

/* Constants of IR 3 and later, as initializers before and behind the nodes and as Constant nodes; a chain of Adds. */
static void draw(RandomFile *file, uint64_t *seed) {
    *file = (RandomFile){.count = (uint32_t)random_below(seed, MOST_CONSTANTS) + 1};
    bool is_old = random_below(seed, 2) == 0;
    append(file, "1:%d 8{2:13} 7{2'g' 11{1'x' 2{1{1:1 2{1{1:1}}}}} ", is_old ? 3 : 7);
    for (uint32_t k = 0; k < file->count; k++) {
        bool is_node_form = random_below(seed, 3) == 0;
        append(file,
               is_node_form ? "1{2'w%u' 4'Constant' 5{1'value' 20:4 5{1:1 2:1 9#%02x00803f}}} "
                            : "5{1:1 2:1 8'w%u' 9#%02x00803f} ",
               k, k);
        if (is_old && !is_node_form) {
            append(file, "11{1'w%u' 2{1{1:1 2{1{1:1}}}}} ", k);
        }
        if (random_below(seed, 2) == 0) {
            append(file, "13{1'w%u' 2{1{1:1 2{1{1:1}}}}} ", k);
        }
    }
    uint32_t at = 0;
    for (uint32_t k = 0; k < file->count; k++) {
        file->is_read[k] = random_below(seed, 2) == 0;
        if (file->is_read[k]) {
            append(file, "1{1'%c%u' 1'w%u' 2't%u' 3'n%u' 4'Add'} ", at == 0 ? 'w' : 't', at == 0 ? k : at, k, at + 1,
                   at + 1);
            at++;
        }
    }
    append(file, "12{1'x'}}");
}

/* The text without the lines that declare dropped constants. */
static void strike(char *text, const bool *is_dropped, uint32_t count) {
    char *to = text;
    for (char *line = text; *line != '\0';) {
        char *end = strchr(line, '\n') + 1;
        bool is_struck = false;
        for (uint32_t k = 0; k < count; k++) {
            char start[32];
            int len = snprintf(start, sizeof start, "const w%u ", k);
            is_struck = is_struck || (is_dropped[k] && strncmp(line, start, (size_t)len) == 0);
        }
        if (!is_struck) {
            memmove(to, line, (size_t)(end - line));
            to += end - line;
        }
        line = end;
    }
    *to = '\0';
}

static void check_random(const RandomFile *file, uint64_t *seed, Tally *tally) {
    OnnxBytes bytes = {.len = 0};
    put_fields(&bytes, file->text);
    Work work;
    Edited t;
    WORK_BEGIN(&work);
    assert_true(edited_import(&t, &work, (Span){bytes.data, bytes.len}));
    char *expected = text_of(t.graph, &work);
    bool is_dropped[MOST_CONSTANTS] = {false};
    for (uint32_t k = 0; k < file->count; k++) {
        char name[16];
        snprintf(name, sizeof name, "w%u", k);
        is_dropped[k] = !file->is_read[k] && random_below(seed, 2) == 0;
        t.is_dropped[edited_value(&t, name).index] = is_dropped[k];
        tally->constants += is_dropped[k];
    }
    strike(expected, is_dropped, file->count);
    char *got = text_of(import_again(&t, emit(&t, file->text), file->text), &work);
    if (strcmp(got, expected) != 0) {
        fail_msg("%s\n--- got\n%s--- expected\n%s", file->text, got, expected);
    }
    free(got);
    free(expected);
    work_free(&work);
}

static void test_random(void **state) {
    (void)state;
    uint64_t seed = 3;
    Tally tally = {0};
    for (int k = 0; k < RANDOM_GRAPHS; k++) {
        RandomFile file;
        draw(&file, &seed);
        check_random(&file, &seed, &tally);
    }
    print_message("%d graphs, %zu constants dropped\n", RANDOM_GRAPHS, tally.constants);
    assert_true(tally.constants > RANDOM_GRAPHS / 2);
}

int main(int argc, char **argv) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_rewired),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_random),
    };
    out_folder = argc > 1 ? argv[1] : NULL;
    return cmocka_run_group_tests(tests, find_files, forget_files);
}
