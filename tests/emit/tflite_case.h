/* A TFLite model that tests edit: written by tflite_build.h, edited by a draft, read back by the importer and, where
 * that does not look, by the FlatBuffer reader. */
#ifndef TESTS_EMIT_TFLITE_CASE_H
#define TESTS_EMIT_TFLITE_CASE_H

#include "emit/emit.h"
#include "emit/tflite.h"
#include "emit/tflite_edit.h"
#include "import/import.h"
#include "import/tflite.h"
#include "import/tflite_build.h"
#include "support/work.h"

enum { BIG = 400, ROOT_METADATA = 6, ROOT_SIGNATURES = 7 };

/* x -> RELU -> a -> ADD(b1) -> b -> MUL(c2) -> y; every tensor has a scale. Buffer 4 is metadata's. */
static inline TestModel chain(void) {
    TestModel model = {
        .version = 3,
        .code_count = 3,
        .code = {{.old = 19, .builtin = 19, .version = 1}, {.builtin = 0, .version = 2}, {.builtin = 18, .version = 1}},
        .buffer_count = 5,
        .buffer = {{0}, {BIG, 0, 0}, {4, 0, 0}, {0}, {8, 0, 0}},
        .graph_count = 1,
        .graph = {{.name = "main",
                   .tensor_count = 6,
                   .operator_count = 3,
                   .inputs = {1, {0}},
                   .outputs = {1, {5}},
                   .operator_ = {{.code = 0, .inputs = {1, {0}}, .outputs = {1, {1}}},
                                 {.code = 1, .inputs = {2, {1, 2}}, .outputs = {1, {3}}, .options = 11},
                                 {.code = 2, .inputs = {2, {3, 4}}, .outputs = {1, {5}}, .options = 21}}}}};
    static const char *const names[] = {"x", "a", "big", "b", "small", "y"};
    static const uint32_t buffers[] = {0, 0, 1, 0, 2, 0};
    for (uint32_t k = 0; k < 6; k++) {
        model.graph[0].tensor[k] = (TestTensor){.name = names[k],
                                                .type = 9,
                                                .shape = {2, {1, k == 2 ? BIG : 4}},
                                                .buffer = buffers[k],
                                                .scale_count = 1,
                                                .scale = {0.5F},
                                                .zero_count = 1,
                                                .zero = {(int64_t)k}};
    }
    return model;
}

typedef struct {
    Work work, again;
    TestFile file;
    Draft draft;
    Span out;
    Graph *got;
} Case;

static inline Span file_span(const Case *c) {
    return (Span){c->file.bytes, c->file.len};
}

/* The file may be changed after this, before start_draft. */
static inline void start(Case *c, const TestModel *model) {
    work_init(&c->work, &system_allocator);
    work_init(&c->again, &system_allocator);
    test_write(&c->file, model);
}

static inline void start_draft(Case *c) {
    Graph *graph = import_tflite(&c->work, file_span(c), "chain", NULL);
    assert_non_null(graph);
    draft_init(&c->draft, &c->work, graph);
}

static inline void start_chain(Case *c) {
    TestModel model = chain();
    start(c, &model);
    start_draft(c);
}

static inline void finish(Case *c) {
    work_free(&c->work);
    work_free(&c->again);
}

/* Of what died nothing is left: all these files have between their objects is zeros. */
static inline void assert_clean(Case *c) {
    FlatWalk walk;
    assert_true(emit_walk(&c->again, c->out, &walk));
    assert_false(walk.overlaps);
    for (size_t k = 0; k < c->out.len && !walk.has_unknown; k++) {
        assert_true(walk.owner[k] != 0 || c->out.ptr[k] == 0);
    }
}

static inline void emit(Case *c) {
    if (!emit_tflite(draft_done(&c->draft), file_span(c), &c->work, &c->out)) {
        diags_print(&c->work.diags, "", stderr);
        fail();
    }
    c->got = import_tflite(&c->again, c->out, "edited", NULL);
    if (c->got == NULL || !graph_check(c->got, &c->again)) {
        diags_print(&c->again.diags, "", stderr);
        fail();
    }
    assert_clean(c);
}

static inline void refused(Case *c, const char *what) {
    assert_false(emit_tflite(draft_done(&c->draft), file_span(c), &c->work, &c->out));
    assert_int_equal(c->work.diags.count[DIAG_REFUSED], 1);
    assert_string_equal(c->work.diags.first->text.what, what);
    finish(c);
}

/* Values of the main graph as "x a big b": in the order of the file. */
static inline void assert_values(const Case *c, const char *names) {
    Str rest = str_from(names);
    for (uint32_t v = 0; v < c->got->value_count; v++) {
        Str name = str_cut(&rest, ' ');
        assert_true(str_eq(name, c->got->values[v].name));
    }
    assert_null(rest.ptr);
}

/* Operator k of the result: "a big > b". */
static inline void assert_node(const Case *c, uint32_t k, OpId op, const char *text) {
    const Node *node = graph_node(c->got, graph_main(c->got)->nodes[k]);
    Str rest = str_from(text);
    assert_int_equal(node->op, op);
    for (uint32_t i = 0; i < node->input_count + node->output_count; i++) {
        const Value *value =
            i < node->input_count ? node_input(c->got, node, i) : node_output(c->got, node, i - node->input_count);
        Str name = str_cut(&rest, ' ');
        if (str_eq(name, STR(">"))) {
            name = str_cut(&rest, ' ');
        }
        assert_true(value == NULL ? str_eq(name, STR("-")) : str_eq(name, value->name));
    }
    assert_null(rest.ptr);
}

static inline FlatTable root_of(Span bytes, Flatbuf *flat) {
    FlatTable root;
    assert_true(flat_open(flat, bytes, "TFL3", &root));
    return root;
}

static inline FlatTable element(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t k) {
    FlatVector vector = flat_tables(flat, table, slot);
    assert_true(k < vector.count);
    return flat_table_at(flat, &vector, k);
}

static inline FlatTable main_of(Span bytes, Flatbuf *flat) {
    FlatTable root = root_of(bytes, flat);
    return element(flat, &root, MODEL_SUBGRAPHS, 0);
}

static inline FlatTable operator_of(Span bytes, Flatbuf *flat, uint32_t k) {
    FlatTable main = main_of(bytes, flat);
    return element(flat, &main, SUBGRAPH_OPERATORS, k);
}

static inline uint32_t count_of(Span bytes, uint32_t root_slot) {
    Flatbuf flat;
    FlatTable root = root_of(bytes, &flat);
    return flat_tables(&flat, &root, root_slot).count;
}

static inline bool contains(Span bytes, Span part) {
    for (size_t k = 0; k + part.len <= bytes.len; k++) {
        if (memcmp(bytes.ptr + k, part.ptr, part.len) == 0) {
            return true;
        }
    }
    return false;
}

static inline Shape row(void) {
    return (Shape){.rank = 2, .dim = {1, 4}};
}

#endif
