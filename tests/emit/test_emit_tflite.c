/* Proves what each kind of edit does to a TFLite file that the test wrote itself: which tensors, buffers, operators and
 * rows are left, that the rest keeps its bytes, and that what is shared is not changed for others. */
#include "emit/tflite_case.h"

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
    model.graph[1] = (TestGraph){.name = "other", .tensor_count = 3};
    memcpy(model.graph[1].tensor, model.graph[0].tensor, sizeof model.graph[1].tensor);
    start(&c, &model);
    start_draft(&c);
    Span big = c.draft.graph->values[2].constant->bytes;
    assert_true(draft_bypass(&c.draft, 1));
    emit(&c);
    assert_values(&c, "x a small y x a big");
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

/* A constant of the name, type and codes of one that goes is written over that: nothing is appended. */
static void test_in_place(void **state) {
    static Case c;
    (void)state;
    start_chain(&c);
    const Quant *quant = c.draft.graph->values[2].quant;
    const uint8_t *old = c.draft.graph->values[2].constant->bytes.ptr;
    ValueId id = draft_add_constant(&c.draft, "big", DTYPE_I8, row(), 40);
    graph_value(c.draft.graph, id)->quant = quant;
    draft_rewire(&c.draft, 1, 1, id);
    emit(&c);
    assert_values(&c, "x a b small y big");
    assert_node(&c, 1, OP_ADD, "a big > b");
    const Value *value = &c.got->values[5];
    assert_int_equal(value->shape.dim[1], 4);
    assert_int_equal(value->constant->bytes.len, 4);
    assert_int_equal(value->constant->bytes.ptr[3], 43);
    assert_int_equal((value->constant->bytes.ptr - c.out.ptr) % 16, (old - c.file.bytes) % 16);
    assert_true(quant_eq(value->quant, quant));
    assert_true(c.out.len <= c.file.len - (BIG - 4) / 16 * 16);
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
    WORK_BEGIN(&work);
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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing),     cmocka_unit_test(test_drop),           cmocka_unit_test(test_names),
        cmocka_unit_test(test_metadata),    cmocka_unit_test(test_other_subgraph), cmocka_unit_test(test_shared_list),
        cmocka_unit_test(test_constants),   cmocka_unit_test(test_operators),      cmocka_unit_test(test_codes),
        cmocka_unit_test(test_requantised), cmocka_unit_test(test_in_place),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
