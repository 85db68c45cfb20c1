/* Proves what each kind of edit does to a TFLite file that the test wrote itself: which tensors, buffers, operators and
 * rows are left, that the rest keeps its bytes, what is shared is not changed for others, what a file holds that can't
 * be moved, and what is refused. Read back by the importer and, where it does not look, by the FlatBuffer reader. */
#include "emit/emit.h"
#include "emit/tflite.h"
#include "emit/tflite_edit.h"
#include "import/import.h"
#include "import/tflite.h"
#include "import/tflite_build.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BIG = 400, ROOT_METADATA = 6, ROOT_SIGNATURES = 7 };

/* x -> RELU -> a -> ADD(b1) -> b -> MUL(c2) -> y; every tensor has a scale. Buffer 4 is metadata's. */
static TestModel chain(void) {
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

static Span file_span(const Case *c) {
    return (Span){c->file.bytes, c->file.len};
}

/* The file may be changed after this, before start_draft. */
static void start(Case *c, const TestModel *model) {
    work_init(&c->work, &system_allocator);
    work_init(&c->again, &system_allocator);
    test_write(&c->file, model);
}

static void start_draft(Case *c) {
    Graph *graph = import_tflite(&c->work, file_span(c), "chain", NULL);
    assert_non_null(graph);
    draft_init(&c->draft, &c->work, graph);
}

static void start_chain(Case *c) {
    TestModel model = chain();
    start(c, &model);
    start_draft(c);
}

static void finish(Case *c) {
    work_free(&c->work);
    work_free(&c->again);
}

/* Of what died nothing is left: all these files have between their objects is zeros. */
static void assert_clean(Case *c) {
    FlatWalk walk;
    assert_true(emit_walk(&c->again, c->out, &walk));
    assert_false(walk.overlaps);
    for (size_t k = 0; k < c->out.len && !walk.has_unknown; k++) {
        assert_true(walk.owner[k] != 0 || c->out.ptr[k] == 0);
    }
}

static void emit(Case *c) {
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

static void refused(Case *c, const char *what) {
    assert_false(emit_tflite(draft_done(&c->draft), file_span(c), &c->work, &c->out));
    assert_int_equal(c->work.diags.count[DIAG_REFUSED], 1);
    assert_string_equal(c->work.diags.first->text.what, what);
    finish(c);
}

/* Values of the main graph as "x a big b": in the order of the file. */
static void assert_values(const Case *c, const char *names) {
    Str rest = str_from(names);
    for (uint32_t v = 0; v < c->got->value_count; v++) {
        Str name = str_cut(&rest, ' ');
        assert_true(str_eq(name, c->got->values[v].name));
    }
    assert_null(rest.ptr);
}

/* Operator k of the result: "a big > b". */
static void assert_node(const Case *c, uint32_t k, OpId op, const char *text) {
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

static FlatTable root_of(Span bytes, Flatbuf *flat) {
    FlatTable root;
    assert_true(flat_open(flat, bytes, "TFL3", &root));
    return root;
}

static FlatTable element(Flatbuf *flat, const FlatTable *table, uint32_t slot, uint32_t k) {
    FlatVector vector = flat_tables(flat, table, slot);
    assert_true(k < vector.count);
    return flat_table_at(flat, &vector, k);
}

static FlatTable main_of(Span bytes, Flatbuf *flat) {
    FlatTable root = root_of(bytes, flat);
    return element(flat, &root, MODEL_SUBGRAPHS, 0);
}

static FlatTable operator_of(Span bytes, Flatbuf *flat, uint32_t k) {
    FlatTable main = main_of(bytes, flat);
    return element(flat, &main, SUBGRAPH_OPERATORS, k);
}

static uint32_t count_of(Span bytes, uint32_t root_slot) {
    Flatbuf flat;
    FlatTable root = root_of(bytes, &flat);
    return flat_tables(&flat, &root, root_slot).count;
}

static bool contains(Span bytes, Span part) {
    for (size_t k = 0; k + part.len <= bytes.len; k++) {
        if (memcmp(bytes.ptr + k, part.ptr, part.len) == 0) {
            return true;
        }
    }
    return false;
}

/* ---- Dropping */

static void test_nothing(void **state) {
    static Case c;
    (void)state;
    start_chain(&c);
    emit(&c);
    assert_int_equal(c.out.len, c.file.len);
    assert_memory_equal(c.out.ptr, c.file.bytes, c.file.len);
    finish(&c);
}

/* The ADD and its constant go: the file loses its bytes, and buffers keep their numbers. */
static void test_drop(void **state) {
    static Case c;
    (void)state;
    start_chain(&c);
    Span big = c.draft.graph->values[2].constant->bytes;
    assert_int_equal(big.len, BIG);
    assert_true(draft_bypass(&c.draft, 1));
    emit(&c);
    assert_values(&c, "x a small y");
    assert_node(&c, 0, OP_RELU, "x > a");
    assert_node(&c, 1, OP_MUL, "a small > y");
    assert_true(c.out.len + BIG <= c.file.len);
    assert_false(contains(c.out, (Span){big.ptr + 64, 64}));
    assert_int_equal(count_of(c.out, MODEL_BUFFERS), 5);
    assert_memory_equal(c.got->values[2].constant->bytes.ptr, "\1\2\3\4", 4);
    finish(&c);
}

static void add_map(Case *c, size_t signature, uint32_t slot, uint32_t tensor) {
    size_t maps = test_vector(&c->file, signature, slot, 1, 4);
    test_number(&c->file, test_element(&c->file, maps, 0, 2), MAP_TENSOR, tensor, 4);
}

static int64_t mapped(Case *c, uint32_t slot) {
    Flatbuf flat;
    FlatTable root = root_of(c->out, &flat);
    FlatTable signature = element(&flat, &root, MODEL_SIGNATURES, 0);
    FlatTable map = element(&flat, &signature, slot, 0);
    return flat_int(&flat, &map, MAP_TENSOR, FLAT_U32, 0);
}

/* RELU and ADD go; of their tensors b stays for an intermediate of MUL, big for a signature, and a goes. */
static void test_names(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    (void)state;
    start(&c, &model);
    size_t mul = operator_of(file_span(&c), &flat, 2).at;
    test_ints(&c.file, mul, OPERATOR_INTERMEDIATES, &(TestInts){3, {-1, 3, 4}});
    FlatTable root = root_of(file_span(&c), &flat);
    size_t signatures = test_vector(&c.file, root.at, ROOT_SIGNATURES, 1, 4);
    size_t signature = test_element(&c.file, signatures, 0, 5);
    add_map(&c, signature, SIGNATURE_INPUTS, 2);
    add_map(&c, signature, SIGNATURE_OUTPUTS, 5);
    start_draft(&c);
    assert_true(draft_bypass(&c.draft, 0));
    assert_true(draft_bypass(&c.draft, 1));
    emit(&c);
    assert_values(&c, "x big b small y");
    assert_node(&c, 0, OP_MUL, "x small > y");
    FlatTable operator_ = operator_of(c.out, &flat, 0);
    FlatVector list = flat_vector(&flat, &operator_, OPERATOR_INTERMEDIATES, 4);
    assert_int_equal(list.count, 3);
    assert_int_equal(flat_int_at(&flat, &list, 0), -1);
    assert_int_equal(flat_int_at(&flat, &list, 1), 2);
    assert_int_equal(flat_int_at(&flat, &list, 2), 3);
    assert_int_equal(mapped(&c, SIGNATURE_INPUTS), 1);
    assert_int_equal(mapped(&c, SIGNATURE_OUTPUTS), 4);
    finish(&c);
}

/* A tensor of another subgraph has buffer 1 too: its bytes stay. */
static void test_other_subgraph(void **state) {
    static Case c;
    TestModel model = chain();
    (void)state;
    model.graph_count = 2;
    model.graph[1] = (TestGraph){.name = "other", .tensor_count = 1, .tensor = {model.graph[0].tensor[2]}};
    start(&c, &model);
    start_draft(&c);
    Span big = c.draft.graph->values[2].constant->bytes;
    assert_true(draft_bypass(&c.draft, 1));
    emit(&c);
    assert_values(&c, "x a small y big");
    assert_true(contains(c.out, big));
    finish(&c);
}

/* Metadata names buffer 1 too: its bytes stay. */
static void test_metadata(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    (void)state;
    start(&c, &model);
    FlatTable root = root_of(file_span(&c), &flat);
    test_number(&c.file, test_element(&c.file, test_vector(&c.file, root.at, ROOT_METADATA, 1, 4), 0, 2),
                METADATA_BUFFER, 1, 4);
    start_draft(&c);
    Span big = c.draft.graph->values[2].constant->bytes;
    assert_true(draft_bypass(&c.draft, 1));
    emit(&c);
    assert_values(&c, "x a small y");
    assert_true(contains(c.out, big));
    finish(&c);
}

/* Two operators have their list of inputs in one place, and one of them is rewired. */
static void test_shared_list(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    size_t cell;
    (void)state;
    model.graph[0].operator_[2].inputs = (TestInts){2, {1, 2}};
    start(&c, &model);
    FlatTable add = operator_of(file_span(&c), &flat, 1), mul = operator_of(file_span(&c), &flat, 2);
    FlatVector own = flat_vector(&flat, &add, OPERATOR_INPUTS, 4), list = flat_vector(&flat, &mul, OPERATOR_INPUTS, 4);
    assert_true(flat_cell(&flat, &add, OPERATOR_INPUTS, 4, &cell));
    memset(c.file.bytes + own.at - 4, 0, 12);
    test_put(&c.file, cell, list.at - 4 - cell, 4);
    start_draft(&c);
    draft_rewire(&c.draft, 1, 1, (ValueId){4});
    emit(&c);
    assert_node(&c, 1, OP_ADD, "a small > b");
    assert_node(&c, 2, OP_MUL, "a big > y");
    finish(&c);
}

/* ---- Adding */

static const Shape ROW = {.rank = 2, .dim = {1, 4}};

static Shape row(void) {
    return ROW;
}

/* More new tensors than the list has room for. The first takes the freed buffer 1, the rest new ones. */
static void test_constants(void **state) {
    static Case c;
    (void)state;
    start_chain(&c);
    assert_true(draft_bypass(&c.draft, 1));
    for (uint32_t k = 0; k < 5; k++) {
        Str name = arena_format(&c.work.keep, "c%u", (unsigned)k);
        ValueId id = draft_add_constant(&c.draft, name.ptr, DTYPE_I32, row(), (uint8_t)(16 * k));
        graph_value(c.draft.graph, id)->quant = draft_quant(&c.draft, k == 0 ? 1 : 4, 2.0F, k == 1 ? 7 : 0, 1);
    }
    draft_rewire(&c.draft, 2, 1, c.draft.values[4]);
    emit(&c);
    assert_values(&c, "x a y c0 c1 c2 c3 c4"); /* small lost its reader */
    assert_node(&c, 1, OP_MUL, "a c4 > y");
    for (uint32_t k = 0; k < 5; k++) {
        const Value *value = &c.got->values[3 + k];
        assert_int_equal(value->dtype, DTYPE_I32);
        assert_int_equal(value->constant->bytes.len, 16);
        assert_int_equal(value->constant->bytes.ptr[15], 16 * k + 15);
        assert_int_equal((value->constant->bytes.ptr - c.out.ptr) % 16, 0);
        assert_int_equal(value->quant->count, k == 0 ? 1 : 4);
        assert_true(value->quant->scale[k == 0 ? 0 : 3] == (k == 0 ? 2.0F : 0.25F));
        assert_int_equal(value->quant->zero_point == NULL ? 0 : value->quant->zero_point[3], k == 1 ? 7 : 0);
        assert_int_equal(value->quant->axis, k == 0 ? -1 : 1);
    }
    assert_int_equal(count_of(c.out, MODEL_BUFFERS), 5 + 3);
    finish(&c);
}

/* Axis 0 is free: 1 in the shape, for readers that know no signature. */
static void assert_free_dim(Case *c, uint32_t tensor) {
    Flatbuf flat;
    FlatTable main = main_of(c->out, &flat);
    FlatTable table = element(&flat, &main, SUBGRAPH_TENSORS, tensor);
    FlatVector shape = flat_vector(&flat, &table, TENSOR_SHAPE, 4);
    FlatVector signature = flat_vector(&flat, &table, TENSOR_SHAPE_SIGNATURE, 4);
    assert_int_equal(shape.count, 2);
    assert_int_equal(signature.count, 2);
    assert_int_equal(flat_int_at(&flat, &shape, 0), 1);
    assert_int_equal(flat_int_at(&flat, &signature, 0), DIM_FREE);
    assert_int_equal(flat_int_at(&flat, &signature, 1), 4);
}

static void add_attributes(Draft *draft, Node *node) {
    static const int64_t two[] = {2, 3};
    draft_add_attr(draft, node, (Attr){.name = STR("auto_pad"), .kind = ATTR_STR, .s = STR("VALID")});
    draft_add_attr(draft, node, (Attr){.name = STR("strides"), .kind = ATTR_INTS, .count = 2, .ints = two});
    draft_add_attr(draft, node, (Attr){.name = STR("new_shape"), .kind = ATTR_INTS, .count = 2, .ints = two});
    draft_add_attr(draft, node, (Attr){.name = STR("depth_multiplier"), .kind = ATTR_INT, .i = 3});
    draft_add_attr(draft, node, (Attr){.name = STR("activation"), .kind = ATTR_STR, .s = STR("RELU6")});
}

/* Those of the attributes that the operator has options for. */
static void assert_attributes(const Node *node) {
    bool is_conv = node->op == OP_CONV || node->op == OP_DEPTHWISE_CONV;
    bool is_plain = node->op == OP_QUANTIZE || node->op == OP_RESHAPE;
    assert_int_equal(node->version, 2);
    assert_true(str_eq(node_str(node, "activation"), is_plain ? STR("") : STR("RELU6")));
    assert_true(str_eq(node_str(node, "auto_pad"), is_conv ? STR("VALID") : STR("")));
    assert_int_equal(is_conv ? node_attr(node, "strides")->ints[0] : 2, 2);
    assert_int_equal(is_conv ? node_attr(node, "strides")->ints[1] : 3, 3);
    assert_int_equal(is_conv ? node_attr(node, "dilations")->ints[1] : 1, 1);
    assert_int_equal(node->op == OP_RESHAPE ? node_attr(node, "new_shape")->ints[1] : 3, 3);
    assert_int_equal(node_int(node, "depth_multiplier", 0), node->op == OP_DEPTHWISE_CONV ? 3 : 0);
}

/* Operators that can be new, with attributes, read back. Their order among the file's is by `before`. */
static void test_operators(void **state) {
    static const OpId ops[] = {OP_ADD, OP_MUL, OP_QUANTIZE, OP_RESHAPE, OP_CONV, OP_DEPTHWISE_CONV, OP_FULLY_CONNECTED};
    (void)state;
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
        static Case c;
        start_chain(&c);
        ValueId between = draft_add_value(&c.draft, (Value){.name = STR("between"),
                                                            .dtype = DTYPE_I8,
                                                            .has_shape = true,
                                                            .shape = {.rank = 2, .dim = {DIM_FREE, 4}},
                                                            .producer = NO_NODE});
        ValueId inputs[] = {{3}, {4}, NO_VALUE};
        Node *node = draft_add_node(&c.draft, 2, ops[k], inputs, ops[k] == OP_QUANTIZE ? 1 : 3, between);
        add_attributes(&c.draft, node);
        draft_rewire(&c.draft, 2, 0, between);
        emit(&c);
        assert_values(&c, "x a big b small y between");
        assert_node(&c, 1, OP_ADD, "a big > b");
        assert_node(&c, 2, ops[k], ops[k] == OP_QUANTIZE ? "b > between" : "b small - > between");
        assert_node(&c, 3, OP_MUL, "between small > y");
        assert_attributes(graph_node(c.got, graph_main(c.got)->nodes[2]));
        assert_free_dim(&c, 6);
        assert_int_equal(count_of(c.out, MODEL_OPERATOR_CODES), ops[k] == OP_ADD ? 3 : 4);
        finish(&c);
    }
}

/* Readers that know the old field only must see 127 for what it can't hold. */
static void test_codes(void **state) {
    static const struct { int32_t builtin, old; } rows[] = {{18, 18}, {126, 126}, {127, 127}, {128, 127}, {150, 127}};
    static Work work;
    (void)state;
    work_init(&work, &system_allocator);
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        FlatImage image = emit_image(&work, 4);
        size_t code = emit_add_code(&image, &(EmitCode){rows[k].builtin, 5});
        assert_int_equal(image.bytes[emit_field(&image, code, CODE_DEPRECATED_BUILTIN)], rows[k].old);
        assert_int_equal(image.bytes[emit_field(&image, code, CODE_BUILTIN)], rows[k].builtin);
        assert_int_equal(image.bytes[emit_field(&image, code, CODE_VERSION)], 5);
    }
    work_free(&work);
}

static void test_requantised(void **state) {
    static Case c;
    (void)state;
    start_chain(&c);
    c.draft.graph->values[1].quant = draft_quant(&c.draft, 4, 4.0F, -3, 1);
    c.draft.is_requantised[1] = true;
    emit(&c);
    assert_values(&c, "x a big b small y");
    assert_int_equal(c.got->values[1].quant->count, 4);
    assert_int_equal(c.got->values[1].quant->axis, 1);
    assert_true(c.got->values[1].quant->scale[3] == 0.5F);
    assert_int_equal(c.got->values[1].quant->zero_point[2], -3);
    assert_int_equal(c.got->values[3].quant->zero_point[0], 3);
    finish(&c);
}

/* ---- What can't be moved, or not be edited */

/* Gives the root a field that the schema does not have: the second half of its version's cell of 8 bytes. */
static void add_unknown_field(Case *c) {
    Flatbuf flat;
    FlatTable root = root_of(file_span(c), &flat);
    enum { SLOTS = 11, BYTES = 4 + 2 * SLOTS };
    size_t vtable = c->file.len;
    memcpy(c->file.bytes + vtable, c->file.bytes + root.vtable, root.vtable_bytes);
    test_put(&c->file, vtable, BYTES, 2);
    test_put(&c->file, vtable + 4 + 2 * (SLOTS - 1), 8, 2);
    test_put(&c->file, root.at + 8, 0x12345678, 4);
    test_put(&c->file, root.at, (uint64_t)((int64_t)root.at - (int64_t)vtable), 4);
    c->file.len += BYTES;
}

static void test_unknown_field(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    (void)state;
    start(&c, &model);
    add_unknown_field(&c);
    start_draft(&c);
    assert_true(draft_bypass(&c.draft, 1));
    draft_add_constant(&c.draft, "new", DTYPE_I8, row(), 50); /* in the place of what was dropped */
    emit(&c);
    assert_values(&c, "x a small y new");
    assert_int_equal(c.got->values[4].constant->bytes.ptr[3], 53);
    assert_true(c.out.len >= c.file.len);
    FlatTable root = root_of(c.out, &flat);
    assert_int_equal(flat_int(&flat, &root, 10, FLAT_U32, 0), 0x12345678);
    finish(&c);

    start(&c, &model);
    add_unknown_field(&c);
    start_draft(&c);
    draft_add_constant(&c.draft, "new", DTYPE_I8, row(), 50);
    refused(&c, "the file has fields that are not known, so nothing in it can be moved");
}

static void test_refusals(void **state) {
    static Case c;
    TestModel model = chain();
    Flatbuf flat;
    size_t cell;
    (void)state;

    model.buffer[3].offset = 100; /* data behind the FlatBuffer: fine as long as nothing is edited */
    start(&c, &model);
    start_draft(&c);
    emit(&c);
    draft_bypass(&c.draft, 1);
    refused(&c, "the file keeps data behind its FlatBuffer, where an edit can't move it");

    model = chain();
    start(&c, &model);
    FlatTable root = root_of(file_span(&c), &flat);
    size_t metadata = test_element(&c.file, test_vector(&c.file, root.at, ROOT_METADATA, 1, 4), 0, 2);
    test_text(&c.file, metadata, METADATA_NAME, "OfflineMemoryAllocation");
    start_draft(&c);
    draft_bypass(&c.draft, 1);
    refused(&c, "the file holds a plan of memory (OfflineMemoryAllocation) that names tensors by number");

    model.graph[0].operator_[2].inputs = (TestInts){3, {1, 2, 4}};
    start(&c, &model); /* the inputs of ADD begin inside those of MUL: a 1, then a 2 */
    FlatTable add = operator_of(file_span(&c), &flat, 1), mul = operator_of(file_span(&c), &flat, 2);
    FlatVector list = flat_vector(&flat, &mul, OPERATOR_INPUTS, 4);
    assert_true(flat_cell(&flat, &add, OPERATOR_INPUTS, 4, &cell));
    test_put(&c.file, cell, list.at - cell, 4);
    start_draft(&c);
    draft_rewire(&c.draft, 2, 0, (ValueId){2});
    refused(&c, "parts of the file overlap");

    model = chain();
    start(&c, &model); /* operators 0 and 1 of subgraph 0 are two names of one table */
    FlatTable main = main_of(file_span(&c), &flat);
    FlatVector operators = flat_tables(&flat, &main, SUBGRAPH_OPERATORS);
    FlatTable relu = operator_of(file_span(&c), &flat, 0);
    FlatVector outputs = flat_vector(&flat, &relu, OPERATOR_OUTPUTS, 4);
    test_put(&c.file, outputs.at - 4, 0, 4);
    test_put(&c.file, operators.at + 4, relu.at - operators.at - 4, 4);
    start_draft(&c);
    draft_rewire(&c.draft, 0, 0, (ValueId){2});
    refused(&c, "two parts of the file share an object that would have to differ");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),     cmocka_unit_test(test_drop),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_metadata),    cmocka_unit_test(test_other_subgraph), cmocka_unit_test(test_shared_list),
        cmocka_unit_test(test_constants),   cmocka_unit_test(test_operators),      cmocka_unit_test(test_codes),
        cmocka_unit_test(test_requantised), cmocka_unit_test(test_unknown_field),  cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
