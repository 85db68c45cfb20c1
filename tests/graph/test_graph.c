/* The ground of the graph: dtypes and operators are found, uses are in node order, shapes are counted without overflow,
 * and graph_check names what breaks each invariant. */
#include "graph/support.h"

/* ---- Tables */

static void finds_dtypes(void **state) {
    (void)state;
    /* codes: onnx.proto3 TensorProto.DataType, schema.fbs TensorType */
    static const struct {
        const char *name;
        DType dtype;
        uint32_t bits;
        int64_t onnx, tflite;
    } rows[] = {{"float32", DTYPE_F32, 32, 1, 0},  {"int8", DTYPE_I8, 8, 3, 9},    {"uint8", DTYPE_U8, 8, 2, 3},
                {"int4", DTYPE_I4, 4, 22, 17},     {"int64", DTYPE_I64, 64, 7, 4}, {"bool", DTYPE_BOOL, 8, 9, 6},
                {"string", DTYPE_STRING, 0, 8, 5}, {"int2", DTYPE_I2, 2, 26, 19}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        assert_int_equal(dtype_find(str_from(rows[k].name)), rows[k].dtype);
        assert_string_equal(dtype_name(rows[k].dtype), rows[k].name);
        assert_int_equal(dtype_bits(rows[k].dtype), rows[k].bits);
        assert_int_equal(dtype_from_onnx(rows[k].onnx), rows[k].dtype);
        assert_int_equal(dtype_from_tflite(rows[k].tflite), rows[k].dtype);
    }
    assert_int_equal(dtype_from_onnx(-1), DTYPE_NONE);
    assert_int_equal(dtype_from_tflite(-1), DTYPE_NONE);
    assert_int_equal(dtype_from_onnx(99), DTYPE_NONE);
    assert_int_equal(dtype_find(STR("none")), DTYPE_NONE);
}

static void reads_record_widths(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t bits;
    } rows[] = {{"b80", 80}, {"b1", 1},   {"b128", 128}, {"b129", 0}, {"b0", 0},
                {"b", 0},    {"bool", 8}, {"int4", 4},   {"x", 0}};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        assert_int_equal(dtype_bits_of_name(str_from(rows[k].name)), rows[k].bits);
    }
}

static void finds_every_operator(void **state) {
    (void)state;
    for (int op = 1; op < OP_COUNT; op++) {
        const OpInfo *info = op_info((OpId)op);
        assert_int_equal(op_find(str_from(info->domain), str_from(info->name)), op);
        if (info->tflite >= 0) {
            OpId found = op_find_tflite(info->tflite);
            assert_int_equal(op_info(found)->tflite, info->tflite);
        }
    }
    assert_int_equal(op_find(STR("ai.onnx"), STR("Conv")), OP_CONV);
    assert_int_equal(op_find(STR(""), STR("conv")), OP_NONE);
    assert_int_equal(op_find(STR("nowhere"), STR("Conv")), OP_NONE);
    assert_int_equal(op_find(STR(""), (Str){0}), OP_NONE);
    assert_int_equal(op_find_tflite(-1), OP_NONE);
    assert_int_equal(op_input_role(OP_CONV, 0), 'x');
    assert_int_equal(op_input_role(OP_CONV, 1), 'w');
    assert_int_equal(op_input_role(OP_ADD, 7), 'p');
}

/* ---- Shapes and uses */

static void counts_elements(void **state) {
    (void)state;
    static const struct {
        Shape shape;
        bool is_known;
        uint64_t elements;
    } rows[] = {
        {{.rank = 0}, true, 1},
        {{.rank = 3, .dim = {2, 3, 4}}, true, 24},
        {{.rank = 2, .dim = {DIM_FREE, 4}}, false, 0},
        {{.rank = 2, .dim = {INT64_MAX, 3}}, false, 0},
        {{.rank = 3, .dim = {INT64_MAX, 3, 0}}, true, 0},
        {{.rank = 2, .dim = {0, DIM_FREE}}, false, 0},
    };
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        uint64_t elements = 0;
        assert_int_equal(shape_elements(&rows[k].shape, &elements), rows[k].is_known);
        assert_true(!rows[k].is_known || elements == rows[k].elements);
    }
}

static void writes_shapes(Work *work) {
    Shape shape = {.rank = 8, .dim = {1, DIM_FREE, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX}};
    assert_true(str_starts(shape_text(&work->keep, &shape), STR("[1,?,9223372036854775807,")));
    shape.rank = 0;
    assert_true(str_eq(shape_text(&work->keep, &shape), STR("[]")));
}

static void lists_uses_in_node_order(Work *work) {
    Graph *g = parse_sound(work, "input a\nnode Add p: a a -> b\nnode Add q: b a -> c\noutput c\n");
    GraphUses uses = graph_uses(g, &work->scratch);
    uint32_t a = find_value(g, "a").index, b = find_value(g, "b").index, c = find_value(g, "c").index;
    assert_int_equal(uses.first[a + 1] - uses.first[a], 3);
    assert_int_equal(uses.use[uses.first[a]].index, 0);
    assert_int_equal(uses.use[uses.first[a] + 1].index, 0);
    assert_int_equal(uses.use[uses.first[a] + 2].index, 1);
    assert_int_equal(uses.first[b + 1] - uses.first[b], 1);
    assert_int_equal(uses.use[uses.first[b]].index, 1);
    assert_int_equal(uses.first[c + 1] - uses.first[c], 0);
}

/* ---- graph_check */

typedef struct {
    const char *text;
    const char *told; /* null where the graph is sound */
    s0_status status;
} Soundness;

static const Soundness rows[] = {
    {"input a\nnode Relu r: a -> b\noutput b\n", NULL, S0_DONE},
    {"input a\nnode Relu r: b -> c\nnode Relu s: a -> b\noutput c\n", "nothing before it produces", S0_BAD_INPUT},
    {"input a\nnode Relu r: a -> b\nnode Relu s: a -> b\noutput b\n", "already", S0_BAD_INPUT},
    {"input a\nnode Relu r: a -> a\noutput a\n", "already", S0_BAD_INPUT},
    {"input a\nnode Relu r: a -> b\noutput c\n", "no node produces", S0_BAD_INPUT},
    {"input a\nnode Add r: a _ -> b\noutput b\n", NULL, S0_DONE},
    {"state v float32[1]\ninput a\nnode Add r: a v -> b\noutput b\n", NULL, S0_DONE},
    /* a block sees what its caller defined before, and the caller does not see into the block */
    {"input a\nnode If f: a -> c then=block(1)\noutput c\nblock 1 t\nnode Relu r: a -> b\noutput b\nend\n", NULL,
     S0_DONE},
    {"input a\nnode If f: a -> c then=block(1)\nnode Relu g: b -> d\noutput c\n"
     "block 1 t\nnode Relu r: a -> b\noutput b\nend\n",
     "nothing before it produces", S0_BAD_INPUT},
    {"input a\nnode If f: a -> c then=block(1)\noutput c\nblock 1 t\nnode Relu r: c -> b\noutput b\nend\n",
     "nothing before it produces", S0_BAD_INPUT},
    {"input a\nnode If f: a -> c then=block(1) else=block(2)\noutput c\nblock 1 t\nnode Relu r: a -> b\noutput b\nend\n"
     "block 2 e\nnode Relu s: a -> b\noutput b\nend\n",
     "already", S0_BAD_INPUT},
    {"input a\nnode If f: a -> c then=block(7)\noutput c\n", "subgraph that the model does not have", S0_BAD_INPUT},
    {"block 1 t\ninput a\nnode If f: a -> c then=block(1)\noutput c\nend\n", NULL,
     S0_DONE}, /* graph_inline refuses it */
    {"const s int8[1,3] stored [1,2] = 1 2\n", "does not repeat", S0_BAD_INPUT},
    {"const s int8[1,3] stored [1] = 1\n", "does not repeat", S0_BAD_INPUT},
    {"const s int8[1,3] stored [1,1] = 1\n", NULL, S0_DONE},
    {"const s int4[3] = hex 01\n", "size of its shape", S0_BAD_INPUT},
    {"const s int4[3] = hex 0101\n", NULL, S0_DONE},
    {"const s int8[0] = hex\n", NULL, S0_DONE},
    {"const s int64[4611686018427387904] = hex 00\n", "64 bits", S0_BAD_INPUT},
    /* case B9: depthwise weights [1,2,2,3] with 3 scales: axis 0 has 1 slice, axis 3 has 3 */
    {"value w int8[1,2,2,3] scale=[1,1,1] axis=0\n", "3 scales on axis 0 of [1,2,2,3]", S0_REFUSED},
    {"value w int8[1,2,2,3] scale=[1,1,1] axis=3\n", NULL, S0_DONE},
    {"value w int8[3] scale=[1,1,1] axis=1\n", "outside", S0_BAD_INPUT},
    /* one scale a block of each row, of which the last block may be short */
    {"value w int8[2,6] scale=[1,2,0.5,0.25] axis=1 block=3\n", NULL, S0_DONE},
    {"value w int8[2,5] scale=[1,2,0.5,0.25] axis=1 block=3\n", NULL, S0_DONE},
    {"value w int8[?,5] scale=[1,2,0.5,0.25] axis=1 block=3\n", NULL, S0_DONE},
    {"value w int8[2,7] scale=[1,2,0.5,0.25] axis=1 block=3\n", "6 scales", S0_REFUSED},
    {"value w int8[2,6] scale=[1,2] axis=1 block=3\n", "2 scales on axis 1 of [2,6]", S0_REFUSED},
    {"value w int8[6,2] scale=[1,2,0.5,0.25] axis=0 block=3\n", NULL, S0_DONE},
    {"value w int8[6,2] scale=[1,2,0.5] axis=0 block=2147483647\n", "2 scales", S0_REFUSED},
    /* scales are finite and not negative, zero points are codes */
    {"value w int8[2] scale=[1,nan] axis=0\n", "tensor 'w': its scale [1] is not a scale", S0_BAD_INPUT},
    {"value w int8[2] scale=inf\n", "its scale [0] is not a scale", S0_BAD_INPUT},
    {"value w int8[2] scale=-0.5\n", "-0.5", S0_BAD_INPUT},
    {"value w float32[2] scale=-0.5\n", "-0.5", S0_BAD_INPUT},
    {"value w int8[2] scale=[0,1] axis=0\n", NULL, S0_DONE},
    {"value w int8[2] scale=1 zero=9999\n", "-128 to 127, a value of int8", S0_BAD_INPUT},
    {"value w int8[2] scale=1 zero=128\n", "128", S0_BAD_INPUT},
    {"value w int8[2] scale=1 zero=-129\n", "-129", S0_BAD_INPUT},
    {"value w int8[2] scale=[1,1] zero=[127,-128] axis=0\n", NULL, S0_DONE},
    {"value w uint8[2] scale=[1,1] zero=[255,-5] axis=0\n", "zero point [1] is no code", S0_BAD_INPUT},
    {"value w uint8[2] scale=1 zero=256\n", "0 to 255, a value of uint8", S0_BAD_INPUT},
    {"value w int4[2] scale=1 zero=8\n", "-8 to 7", S0_BAD_INPUT},
    {"value w int32[2] scale=1 zero=2147483648\n", "2147483647", S0_BAD_INPUT},
    {"value w int64[2] scale=[1,1] zero=[9223372036854775807,-9223372036854775808] axis=0\n", NULL, S0_DONE},
    {"value w uint64[2] scale=1 zero=-1\n", "uint64", S0_BAD_INPUT},
    {"value w float32[2] scale=1 zero=9999\n", NULL, S0_DONE}, /* a float has no codes */
};

static void check_soundness(Work *work, const void *argument) {
    const Soundness *row = argument;
    Graph *graph = parse_text(work, row->text);
    assert_non_null(graph);
    bool sound = graph_check(graph, work);
    if (sound != (row->told == NULL) || diags_status(&work->diags) != row->status ||
        (row->told != NULL && !was_told(work, row->told))) {
        diags_print(&work->diags, "", stderr);
        fail_msg("not what was expected of:\n%s", row->text);
    }
}

static void checks_the_invariants(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_soundness, &rows[k]);
    }
}

static void notices_ids_out_of_range(Work *work) {
    Graph *g = parse_sound(work, "input a\nnode Relu r: a -> b\noutput b\n");
    g->nodes[0].inputs[0].index = 77;
    assert_false(graph_check(g, work));
    g->nodes[0].inputs[0].index = 0;
    assert_true(graph_check(g, work));
    graph_main(g)->outputs[0].index = 77;
    assert_false(graph_check(g, work));
}

/* 200 000 nested calls: the walk keeps its own stack. */
static void walks_deep_nesting_without_recursion(Work *work) {
    enum { DEPTH = 200000 };
    Graph *g = graph_new(&work->keep, STR("deep"), FORMAT_ONNX);
    for (uint32_t b = 0; b < DEPTH; b++) {
        Attr *attr = arena_new(&work->keep, Attr);
        *attr = (Attr){.name = STR("body"), .kind = ATTR_BLOCK, .block = {(b + 1) % DEPTH}};
        NodeId *node = arena_new(&work->keep, NodeId);
        *node =
            graph_add_node(g, &work->keep, (Node){.name = STR("c"), .op = OP_CUSTOM, .attrs = attr, .attr_count = 1});
        graph_add_block(g, &work->keep, (Block){.nodes = node, .node_count = 1});
    }
    assert_true(graph_check(g, work));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_dtypes),
        cmocka_unit_test(reads_record_widths),
        cmocka_unit_test(finds_every_operator),
        cmocka_unit_test(counts_elements),
        WORK_TEST(writes_shapes),
        WORK_TEST(lists_uses_in_node_order),
        cmocka_unit_test(checks_the_invariants),
        WORK_TEST(notices_ids_out_of_range),
        WORK_TEST(walks_deep_nesting_without_recursion),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
