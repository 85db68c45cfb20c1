/* Proves what import_onnx makes of files that are stated field by field: constants from every kind of data field,
 * names, scopes, Constant nodes, the order of nodes and quantisation; and that each broken file ends in a message that
 * says what is wrong and where. Expected bytes are written by hand from the definition of the dtype. */
#include "import/import.h"
#include "onnx_bytes.h"
#include "support/work.h"

#include <stdio.h>

#define HEAD       "1:7 8{2:13} "
#define TYPE(dims) "2{1{1:1 2{" dims "}}}"
#define X          "11{1'x' " TYPE("1{1:2} 1{1:3}") "} "
#define RELU       "1{1'x' 2'y' 4'Relu'} "
#define Y          "12{1'y'} "

typedef struct {
    Work work;
    ModelFiles files;
    OnnxBytes bytes;
    Graph *graph;
} Fixture;

static void import_text(Fixture *f, const char *text) {
    f->bytes.len = 0;
    put_fields(&f->bytes, text);
    f->files = (ModelFiles){0};
    f->graph = import_onnx(&f->work, (Span){f->bytes.data, f->bytes.len}, "folder/model.onnx", &f->files);
    if (f->graph != NULL && !graph_check(f->graph, &f->work)) {
        f->graph = NULL;
    }
}

static int set_up(void **state) {
    Fixture *f = calloc(1, sizeof *f);
    work_init(&f->work, &system_allocator);
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    Fixture *f = *state;
    import_close(&f->files);
    work_free(&f->work);
    free(f);
    return 0;
}

static void expect_import(Fixture *f, const char *text) {
    import_text(f, text);
    if (f->graph == NULL) {
        print_error("not imported: %s\n", text);
        diags_print(&f->work.diags, "", stderr);
        fail();
    }
}

static Value *find(const Fixture *f, const char *name) {
    for (uint32_t v = 0; v < f->graph->value_count; v++) {
        if (str_eq(f->graph->values[v].name, str_from(name))) {
            return &f->graph->values[v];
        }
    }
    fail_msg("no value '%s'", name);
    return NULL;
}

/* ---- Constants */

typedef struct {
    const char *tensor; /* TensorProto without its name */
    DType dtype;
    const char *bytes; /* hex */
    bool is_in_file;
} ConstantCase;

static const ConstantCase constant_cases[] = {
    {.tensor = "1:2 2:1 9#0000803f00000040", .dtype = DTYPE_F32, .bytes = "0000803f00000040", .is_in_file = true},
    {.tensor = "1:2 2:1 4#0000803f00000040", .dtype = DTYPE_F32, .bytes = "0000803f00000040", .is_in_file = true},
    {.tensor = "1:2 2:1 4#0000803f 4#00000040", .dtype = DTYPE_F32, .bytes = "0000803f00000040"},
    {.tensor = "1:2 2:1 !250000803f !2500000040", .dtype = DTYPE_F32, .bytes = "0000803f00000040"},
    {.tensor = "2:11 10#000000000000f03f", .dtype = DTYPE_F64, .bytes = "000000000000f03f", .is_in_file = true},
    {.tensor = "1:1 2:14 4#0000803f00000040", .dtype = DTYPE_C64, .bytes = "0000803f00000040", .is_in_file = true},
    {.tensor = "1:2 2:7 7:-1 7:300", .dtype = DTYPE_I64, .bytes = "ffffffffffffffff2c01000000000000"},
    {.tensor = "1#02 2:7 7#05ac02", .dtype = DTYPE_I64, .bytes = "05000000000000002c01000000000000"},
    {.tensor = "1:2 2:3 5:-1 5:127", .dtype = DTYPE_I8, .bytes = "ff7f"},
    {.tensor = "1:2 2:2 5#ff0105", .dtype = DTYPE_U8, .bytes = "ff05"},
    {.tensor = "1:1 2:5 5:-2", .dtype = DTYPE_I16, .bytes = "feff"},
    {.tensor = "1:1 2:6 5:-2", .dtype = DTYPE_I32, .bytes = "feffffff"},
    {.tensor = "1:2 2:9 5:1 5:0", .dtype = DTYPE_BOOL, .bytes = "0100"},
    {.tensor = "1:1 2:10 5:15360", .dtype = DTYPE_F16, .bytes = "003c"},
    {.tensor = "1:1 2:16 5:16256", .dtype = DTYPE_BF16, .bytes = "803f"},
    {.tensor = "1:1 2:17 5:56", .dtype = DTYPE_F8E4M3FN, .bytes = "38"},
    {.tensor = "1:2 2:12 11:1 11:4294967295", .dtype = DTYPE_U32, .bytes = "01000000ffffffff"},
    {.tensor = "1:1 2:13 11:-1", .dtype = DTYPE_U64, .bytes = "ffffffffffffffff"},
    /* int4 [-1,3,-8,7,-2], low nibble first: cases I2; a writer may leave the sign in a packed byte */
    {.tensor = "1:5 2:22 9#3f780e", .dtype = DTYPE_I4, .bytes = "3f780e", .is_in_file = true},
    {.tensor = "1:5 2:22 5:63 5:120 5:14", .dtype = DTYPE_I4, .bytes = "3f780e"},
    {.tensor = "1:2 2:21 5:-1", .dtype = DTYPE_U4, .bytes = "ff"},
    {.tensor = "1:5 2:26 5:228 5:1", .dtype = DTYPE_I2, .bytes = "e401"},
    {.tensor = "1:0 2:1", .dtype = DTYPE_F32, .bytes = ""},
    {.tensor = "1:0 1:9223372036854775807 1:9223372036854775807 2:1", .dtype = DTYPE_F32, .bytes = ""},
};

static void test_constants(void **state) {
    Fixture *f = *state;
    for (size_t k = 0; k < sizeof constant_cases / sizeof constant_cases[0]; k++) {
        const ConstantCase *c = &constant_cases[k];
        char text[512];
        snprintf(text, sizeof text, HEAD "7{ 5{%s 8'w'} 1{1'w' 2'y' 4'Identity'} " Y "}", c->tensor);
        expect_import(f, text);
        OnnxBytes expected = {.len = 0};
        put_hex(&expected, c->bytes);
        const Value *w = find(f, "w");
        assert_int_equal(w->dtype, c->dtype);
        assert_int_equal(w->constant->bytes.len, expected.len);
        if (expected.len > 0) {
            assert_memory_equal(w->constant->bytes.ptr, expected.data, expected.len);
        }
        const uint8_t *at = w->constant->bytes.ptr;
        bool is_in_file = at >= f->bytes.data && at < f->bytes.data + f->bytes.len;
        assert_int_equal(is_in_file, c->is_in_file);
    }
}

static void test_constant_nodes(void **state) {
    static const struct {
        const char *attr;
        DType dtype;
        uint32_t rank;
        const char *bytes;
    } cases[] = {
        {"1'value' 20:4 5{1:1 2:3 9#07}", DTYPE_I8, 1, "07"},
        {"1'value' 5{1:1 2:3 9#07}", DTYPE_I8, 1, "07"}, /* no type: the first version of ONNX */
        {"1'value_int' 20:2 3:-2", DTYPE_I64, 0, "feffffffffffffff"},
        {"1'value_int' 20:2", DTYPE_I64, 0, "0000000000000000"}, /* 0 is not written */
        {"1'value_ints' 20:7 8:1 8:2", DTYPE_I64, 1, "01000000000000000200000000000000"},
        {"1'value_float' 20:1 !150000803f", DTYPE_F32, 0, "0000803f"},
        {"1'value_floats' 20:6 7#0000803f00000040", DTYPE_F32, 1, "0000803f00000040"},
        {"1'value_strings' 20:8 9'a' 9'b'", DTYPE_STRING, 1, ""},
        {"1'sparse_value' 20:11 22{1{1:1 2:1 9#0000803f} 2{1:1 2:7 7:3} 3:9}", DTYPE_F32, 1, ""},
    };
    Fixture *f = *state;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        char text[512];
        snprintf(text, sizeof text, HEAD "7{ 1{2'c' 4'Constant' 5{%s}} 1{1'c' 2'y' 4'Identity'} " Y "}", cases[k].attr);
        expect_import(f, text);
        OnnxBytes expected = {.len = 0};
        put_hex(&expected, cases[k].bytes);
        const Value *c = find(f, "c");
        assert_int_equal(f->graph->node_count, 1);
        assert_int_equal(c->dtype, cases[k].dtype);
        assert_int_equal(c->shape.rank, cases[k].rank);
        assert_int_equal(c->constant->is_known, expected.len > 0);
        assert_int_equal(c->constant->bytes.len, expected.len);
        assert_true(expected.len == 0 || memcmp(c->constant->bytes.ptr, expected.data, expected.len) == 0);
    }
}

/* ---- Graphs */

static void test_plain_graph(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{2'net' " RELU X "12{1'y' " TYPE("1{2'batch'} 1{}") "} }");
    const Value *x = find(f, "x");
    const Value *y = find(f, "y");
    assert_true(str_eq(f->graph->name, STR("net")));
    assert_int_equal(f->graph->opset, 13);
    assert_true(x->is_input && !x->is_output && x->has_shape && x->dtype == DTYPE_F32);
    assert_true(x->shape.rank == 2 && x->shape.dim[0] == 2 && x->shape.dim[1] == 3);
    assert_true(y->is_output && y->shape.dim[0] == DIM_FREE && y->shape.dim[1] == DIM_FREE);
    assert_true(str_eq(y->dim_name[0], STR("batch")) && y->dim_name[1].len == 0);
    assert_true(str_eq(f->graph->nodes[0].name, STR("Relu#0")) && f->graph->nodes[0].op == OP_RELU);
    assert_int_equal(f->graph->nodes[0].version, 13);
}

/* A default value of IR 4 and later is warned about, a constant of IR 3 is not. */
static void test_initializer_in_inputs(void **state) {
    Fixture *f = *state;
    for (int ir = 3; ir <= 4; ir++) {
        char text[256];
        snprintf(text, sizeof text,
                 "1:%d 8{2:8} 7{ 1{1'x' 1'w' 2'y' 4'Add'} 5{2:1 8'w' 9#00000000} " X "11{1'w'} " Y "}", ir);
        expect_import(f, text);
        assert_int_equal(graph_main(f->graph)->input_count, 1);
        assert_int_equal(f->work.diags.count[DIAG_WARNING], ir == 4);
    }
    expect_import(f, "1:4 8{2:8} 7{ 1{1'x' 1'w' 2'y' 4'Add'} 5{2:1 8'w' 9#00000000} 5{2:1 8'v' 9#00000000} " X
                     "11{1'w'} 11{1'v'} " Y "}");
    assert_int_equal(f->work.diags.count[DIAG_WARNING], 1 + 1); /* one for both */
}

/* The second node comes first in the file; the third stands where it was. */
/* A scale that no node reads, named by a note about 'y'; 'w' is named by nothing. */
static void test_annotation(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{ " RELU X Y "5{1:1 2:1 4#0000803f 8'v'} 5{1:1 2:1 4#0000803f 8'w'} "
                          "14{1'y' 2{1'SCALE_TENSOR' 2'v'}} }");
    assert_true(find(f, "v")->is_annotation);
    assert_false(find(f, "w")->is_annotation);
    assert_false(find(f, "y")->is_annotation);
}

static void test_unsorted_nodes(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{ 1{1'a' 2'y' 4'Abs'} 1{1'x' 2'a' 4'Neg'} 1{1'x' 2'b' 4'Exp'} " X Y "}");
    const NodeId *nodes = graph_main(f->graph)->nodes;
    assert_int_equal(graph_node(f->graph, nodes[0])->op, OP_NEG);
    assert_int_equal(graph_node(f->graph, nodes[1])->op, OP_ABS);
    assert_int_equal(graph_node(f->graph, nodes[2])->op, OP_EXP);
    assert_int_equal(graph_node(f->graph, nodes[1])->source_index, 0);
    assert_int_equal(f->work.diags.count[DIAG_WARNING], 1);
}

/* A subgraph reads a value of the graph around it, which a later node produces, and has a `t` of its own. */
static void test_subgraph(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{ 1{1'c' 2'y' 4'If' 5{1'then_branch' 20:5 6{ 1{1'late' 2't' 4'Relu'} 12{1't'} }}"
                          "5{1'else_branch' 20:5 6{ 1{1'x' 2't' 4'Neg'} 12{1't'} }} }"
                          "1{1'x' 2'late' 4'Abs'} 1{1'x' 2't' 4'Exp'} 11{1'c'} " X Y "}");
    assert_int_equal(f->graph->block_count, 3);
    const Block *then_block = &f->graph->blocks[1];
    const Node *relu = graph_node(f->graph, then_block->nodes[0]);
    assert_ptr_equal(node_input(f->graph, relu, 0), find(f, "late"));
    assert_ptr_equal(graph_value(f->graph, then_block->outputs[0]), node_output(f->graph, relu, 0));
    assert_int_equal(graph_node(f->graph, graph_main(f->graph)->nodes[0])->op, OP_ABS);
}

static void test_absent_and_custom(void **state) {
    Fixture *f = *state;
    expect_import(f, "1:7 8{2:13} 8{1'my' 2:4} 7{ 1{1'x' 1'' 1'x' 2'y' 2'' 4'Thing' 7'my'} " X Y "}");
    const Node *node = &f->graph->nodes[0];
    assert_int_equal(node->op, OP_CUSTOM);
    assert_int_equal(node->version, 4);
    assert_true(str_eq(node->op_name, STR("my.Thing")));
    assert_true(node->input_count == 3 && !is_value(node->inputs[1]) && is_value(node->inputs[2]));
    assert_true(node->output_count == 2 && !is_value(node->outputs[1]));
}

/* A string that stands twice counts as it stands last: this value_info is about `b`, which nothing makes. */
static void test_name_twice(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{ 1{1'x' 2'a' 4'Relu'} 1{1'a' 2'y' 4'Relu'} 13{1'a' 1'b' " TYPE("1{1:4}") "} " X Y "}");
    assert_false(find(f, "a")->has_shape);
    assert_ptr_equal(node_input(f->graph, &f->graph->nodes[1], 0), find(f, "a"));
}

static void test_types_without_layout(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{ " RELU X "11{1's' 2{4{1{1{1:1}}}}} 11{1'o' 2{9{1{1{1:1}}}}} " Y "}");
    assert_true(find(f, "s")->is_sequence && find(f, "o")->is_sequence && !find(f, "x")->is_sequence);
}

/* ---- Quantisation */

#define SCALE2 "5{1:2 2:1 8's' 9#0000803f0000003f} "
#define ZERO2  "5{1:2 2:3 8'z' 9#05fe} "
#define W8     "5{1:2 1:2 2:3 8'w' 9#01020304} "

static void test_quant(void **state) {
    Fixture *f = *state;
    expect_import(f, HEAD "7{ 1{1'w' 1's' 1'z' 2'y' 4'DequantizeLinear' 5{1'axis' 20:2 3:-2}} " W8 SCALE2 ZERO2 Y "}");
    const Quant *quant = find(f, "w")->quant;
    assert_true(quant->count == 2 && quant->axis == 0 && quant->block == 0);
    assert_true(quant->scale[0] == 1.0f && quant->scale[1] == 0.5f);
    assert_true(quant->zero_point[0] == 5 && quant->zero_point[1] == -2);

    /* one scale in half precision, 2^-24 the smallest; the default axis of 1 does not matter */
    expect_import(f, HEAD "7{ 1{1'x' 1's' 2'y' 4'QuantizeLinear'} 5{1:1 2:10 8's' 9#0100} " X Y "}");
    quant = find(f, "y")->quant;
    assert_true(quant->count == 1 && quant->axis == -1 && quant->zero_point == NULL);
    assert_true(quant->scale[0] == 0x1p-24f);

    /* QLinearConv: the weights' axis is their first, by definition */
    expect_import(f, HEAD "7{ 1{1'q' 1'h' 1'n' 1'w' 1's' 1'z' 1'h' 1'n' 2'y' 4'QLinearConv'} " W8 SCALE2 ZERO2
                          "5{2:1 8'h' 9#00000040} 5{2:3 8'n' 9#03} 11{1'q'} " Y "}");
    assert_true(find(f, "w")->quant->axis == 0 && find(f, "w")->quant->count == 2);
    assert_true(find(f, "q")->quant->count == 1 && find(f, "y")->quant->zero_point[0] == 3);
}

/* ---- Broken files */

typedef struct {
    const char *name, *text;
    s0_status status;
    const char *parts[4]; /* of the printed message */
} BrokenCase;

#define GRAPH(fields) HEAD "7{ " fields X Y "}"
#define BAD(n, t, ...)                                                                                                 \
    {                                                                                                                  \
        .name = n, .text = t, .status = S0_BAD_INPUT, .parts = { __VA_ARGS__ }                                         \
    }
#define REFUSED(n, t, ...)                                                                                             \
    {                                                                                                                  \
        .name = n, .text = t, .status = S0_REFUSED, .parts = { __VA_ARGS__ }                                           \
    }

static const BrokenCase broken_cases[] = {
    BAD("empty", "", "not a model", "ONNX"),
    BAD("text", "!48656c6c6f20776f726c64", "not a model", "\"Hello wo\""),
    BAD("bytes", "!ffd8ffe0", "not a model", "ff d8 ff e0"),
    BAD("no graph", HEAD, "the model has no graph", "byte 6"),
    BAD("two graphs", HEAD "7{} 7{}", "two graphs"),
    BAD("tag 0", HEAD "!00", "byte 6", "ModelProto", "field number 0"),
    BAD("group", HEAD "!3b", "ModelProto.graph", "wire type", "2 (length-delimited)"),
    BAD("unknown group", HEAD "!7b", "ModelProto.unknown is broken"),
    BAD("past the end", HEAD "!3a7f00", "ModelProto.graph is broken", "the file ends inside it",
        "1 bytes that are left"),
    BAD("node past its graph", HEAD "!3a040a7f00000807", "GraphProto.node is broken",
        "the message that holds it ends inside it"),
    BAD("endless varint", HEAD "!08ffffffffffffffffffff01", "ModelProto.ir_version is broken", "more than 64 bits"),
    BAD("annotation that is none", GRAPH("14{1:3} "), "TensorAnnotation.tensor_name", "wrong wire type"),
    BAD("name as number", GRAPH("1{3:5 4'Relu'} "), "NodeProto.name", "wrong wire type"),
    BAD("opset 0", "1:7 8{2:0} 7{}", "operator set", "a number from 1"),
    BAD("two opsets", "1:7 8{2:7} 8{2:8} 7{}", "two versions"),
    BAD("no opset", "1:7 7{ " RELU X Y "}", "node 'Relu#0'", "no version of the operators", "opset_import"),
    BAD("no operator", GRAPH("1{1'x' 2'y' 3'n'} "), "node 'n'", "no operator"),
    REFUSED("unknown operator", GRAPH("1{1'x' 2'y' 4'Frob'} "), "node 'Frob#0'", "operator 'Frob' is not known"),
    REFUSED("slip of the hand", GRAPH("1{1'x' 2'y' 4'Convv'} "), "operator 'Convv' is not known",
            "did you mean 'Conv'?", "a custom operator"),
    REFUSED("function", "1:8 8{2:13} 8{1'f' 2:1} 25{1'Twice' 10'f'} 7{ 1{1'x' 2'y' 4'Twice' 7'f'} " X Y "}",
            "'f.Twice' is a function", "inline"),
    BAD("undefined input", GRAPH("1{1'q' 2'y' 4'Relu' 3'n'} "), "node 'n'", "tensor 'q'", "not defined"),
    BAD("cycle", GRAPH("1{1'b' 2'a' 4'Abs'} 1{1'a' 2'b' 4'Neg'} 1{1'a' 2'y' 4'Abs'} "), "cycle", "#", "topological"),
    BAD("reads itself", GRAPH("1{1'y' 2'y' 4'Abs'} "), "node 'Abs#0'", "cycle"),
    BAD("writes an input first", GRAPH(RELU "1{1'y' 2'x' 4'Neg'} "), "node 'Neg#1'", "tensor 'x'", "exists"),
    BAD("written twice", GRAPH(RELU "1{1'x' 2'y' 3'again' 4'Neg'} "), "node 'again'", "tensor 'y'", "node 'Relu#0'"),
    BAD("writes an input", GRAPH("1{1'w' 2'x' 4'Neg'} " RELU "5{2:1 8'w' 9#00000000}"), "tensor 'x'", "exists"),
    BAD("input twice", GRAPH(RELU X), "tensor 'x'", "same name"),
    BAD("initializer twice", GRAPH(RELU "5{2:3 8'w' 9#00} 5{2:3 8'w' 9#00} "), "tensor 'w'", "same name"),
    BAD("nameless initializer", GRAPH(RELU "5{2:3 9#00} "), "initializer has no name"),
    BAD("output nobody makes", HEAD "7{ " X Y "}", "tensor 'y'", "nothing produces"),
    BAD("63 bytes of int4", GRAPH(RELU "5{1:7 1:9 2:22 8'w' 9#000000} "), "tensor 'w'", "3 bytes",
        "32 bytes for int4 [7,9]"),
    BAD("entries", GRAPH(RELU "5{1:3 2:7 8'w' 7:1 7:2} "), "tensor 'w'", "2 entries", "3 entries for int64 [3]"),
    BAD("no data", GRAPH(RELU "5{1:3 2:1 8'w'} "), "tensor 'w'", "0 entries", "3 entries"),
    BAD("wrong field", GRAPH(RELU "5{1:1 2:1 8'w' 5:1} "), "tensor 'w'", "int32_data", "float_data or raw_data"),
    BAD("two fields", GRAPH(RELU "5{1:1 2:1 8'w' 5:1 7:1} "), "two fields", "int32_data and int64_data"),
    BAD("raw and typed", GRAPH(RELU "5{1:1 2:3 8'w' 5:1 9#01} "), "two places"),
    BAD("out of range", GRAPH(RELU "5{1:1 2:3 8'w' 5:128} "), "tensor 'w'", "128 as int8", "-128 to 127"),
    BAD("past 64 bits", GRAPH(RELU "5{1:4294967296 1:4294967296 2:3 8'w'} "), "tensor 'w'", "64 bits"),
    BAD("negative extent", GRAPH(RELU "5{1:-5 2:3 8'w'} "), "tensor 'w'", "negative dimension", "-5"),
    BAD("no dtype", GRAPH(RELU "5{1:1 8'w' 9#00} "), "tensor 'w'", "no element type"),
    REFUSED("unknown dtype", GRAPH(RELU "5{1:1 2:99 8'w' 9#00} "), "tensor 'w'", "data type 99"),
    REFUSED("rank 9", GRAPH(RELU "5{1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 1:1 2:3 8'w' 9#00} "), "too many dimensions", "8"),
    REFUSED("segments", GRAPH(RELU "5{1:1 2:3 8'w' 3{} 9#00} "), "tensor 'w'", "segments"),
    BAD("cut varint", GRAPH(RELU "5{1:1 2:7 8'w' 7#0580} "), "TensorProto.int64_data is broken"),
    BAD("cut float", GRAPH(RELU "5{1:1 2:1 8'w' 4#0000803f00} "), "TensorProto.float_data is broken"),
    BAD("attribute type", GRAPH("1{1'x' 2'y' 4'Relu' 5{1'a' 20:77}} "), "attribute 'a'", "77"),
    BAD("attribute without value", GRAPH("1{1'x' 2'y' 4'Relu' 5{1'a'}} "), "attribute 'a'", "neither type nor value"),
    BAD("attribute twice", GRAPH("1{1'x' 2'y' 4'Relu' 5{1'a' 3:1} 5{1'a' 3:2}} "), "attribute 'a' stands twice"),
    BAD("reference", GRAPH("1{1'x' 2'y' 4'Relu' 5{1'a' 21'b' 20:2}} "), "attribute 'a'", "function"),
    BAD("no tensor", GRAPH("1{2'y' 4'Constant' 5{1'value' 20:4}} "), "attribute 'value'", "holds none"),
    BAD("valueless Constant", GRAPH("1{2'y' 4'Constant'} "), "node 'Constant#0'", "0 values"),
    REFUSED("list of tensors", GRAPH("1{1'x' 2'y' 4'Relu' 5{1'a' 20:9}} "), "attribute 'a'", "list of tensors"),
    BAD("absolute", GRAPH(RELU "5{1:1 2:3 8'w' 14:1 13{1'location' 2'/etc/passwd'}} "), "tensor 'w'", "absolute",
        "/etc/passwd"),
    BAD("dot dot", GRAPH(RELU "5{1:1 2:3 8'w' 14:1 13{1'location' 2'a/../../b'}} "), "tensor 'w'", "may leave"),
    BAD("no location", GRAPH(RELU "5{1:1 2:3 8'w' 14:1} "), "tensor 'w'", "not a file name"),
    BAD("offset", GRAPH(RELU "5{1:1 2:3 8'w' 14:1 13{1'offset' 2'-4'}} "), "offset = '-4'", "decimal"),
    BAD("missing file", GRAPH(RELU "5{1:1 2:3 8'w' 14:1 13{1'location' 2'none.bin'}} "), "folder/none.bin",
        "can't open"),
    BAD("zero points", HEAD "7{ 1{1'w' 1's' 1'z' 2'y' 4'DequantizeLinear'} " W8 SCALE2 "5{2:3 8'z' 9#00} " Y "}",
        "tensor 'z'", "1 zero points", "2, as many"),
    BAD("axis", HEAD "7{ 1{1'w' 1's' 2'y' 4'DequantizeLinear' 5{1'axis' 3:2}} " W8 SCALE2 Y "}", "tensor 'w'", "axis 2",
        "-2 to 1"),
    BAD("axis before 13", "1:7 8{2:10} 7{ 1{1'w' 1's' 2'y' 4'DequantizeLinear'} " W8 SCALE2 Y "}", "tensor 'w'",
        "version 10", "one scale"),
    BAD("NaN scale", HEAD "7{ 1{1'w' 1's' 2'y' 4'DequantizeLinear'} " W8 "5{2:1 8's' 9#0000c07f} " Y "}", "tensor 'w'",
        "scale [0]", "nan"),
    BAD("infinite scale", HEAD "7{ 1{1'x' 1's' 2'y' 4'QuantizeLinear'} 5{2:1 8's' 9#0000807f} " X Y "}", "tensor 'y'",
        "scale [0]", "inf"),
    BAD("zero point of 9999",
        HEAD "7{ 1{1'w' 1's' 1'z' 2'y' 4'DequantizeLinear'} " W8 "5{2:1 8's' 9#0000803f} 5{2:6 8'z' 9#0f270000} " Y "}",
        "tensor 'w'", "9999", "-128 to 127, a value of int8"),
    BAD("zero point of int64",
        HEAD "7{ 1{1'w' 1's' 1'z' 2'y' 4'DequantizeLinear'} " W8
             "5{2:1 8's' 9#0000803f} 5{2:7 8'z' 9#0f27000000000000} " Y "}",
        "tensor 'z'", "another type", "int64", "int8"),
    BAD("two scales of one",
        HEAD "7{ 1{1'w' 1's' 1'z' 1'w' 1's' 1'z' 1's' 1'z' 2'y' 4'QLinearConv'} " W8 SCALE2 ZERO2 Y "}", "tensor 'w'",
        "several scales", "2 scales"),
    REFUSED("two scales of four blocks",
            "1:10 8{2:21} 7{ 1{1'w' 1's' 2'y' 4'DequantizeLinear' 5{1'axis' 3:1} 5{1'block_size' 3:1}} " W8 SCALE2 Y
            "}",
            "tensor 'w'", "2 scales on axis 1 of [2,2]", "4 scales"),
};

static void check_broken(Fixture *f, const BrokenCase *c) {
    import_text(f, c->text);
    char *message = messages_of(&f->work);
    bool agrees = f->graph == NULL && diags_status(&f->work.diags) == c->status;
    for (size_t k = 0; k < 4 && c->parts[k] != NULL; k++) {
        agrees = agrees && strstr(message, c->parts[k]) != NULL;
    }
    if (!agrees) {
        print_error("case '%s': status %d\n%s", c->name, (int)diags_status(&f->work.diags), message);
    }
    free(message);
    assert_true(agrees);
}

static void test_broken(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof broken_cases / sizeof broken_cases[0]; k++) {
        void *fresh;
        set_up(&fresh);
        check_broken(fresh, &broken_cases[k]);
        tear_down(&fresh);
    }
}

/* A graph in a graph in a graph …: 16 levels are read, more are refused before they cost stack. */
static void test_depth(void **state) {
    (void)state;
    static const int depths[] = {16, 17, 200};
    for (size_t k = 0; k < sizeof depths / sizeof depths[0]; k++) {
        char text[20000] = HEAD "7{ " X;
        for (int d = 0; d < depths[k]; d++) {
            strcat(text, "1{4'If' 5{1'b' 6{ ");
        }
        for (int d = 0; d < depths[k]; d++) {
            strcat(text, "}}}");
        }
        strcat(text, "}");
        void *fresh;
        set_up(&fresh);
        Fixture *f = fresh;
        import_text(f, text);
        assert_int_equal(diags_status(&f->work.diags), depths[k] > 16 ? S0_REFUSED : S0_DONE);
        tear_down(&fresh);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_constants, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_constant_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_plain_graph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_initializer_in_inputs, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_annotation, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_unsorted_nodes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_subgraph, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_absent_and_custom, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_name_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_types_without_layout, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_quant, set_up, tear_down),
        cmocka_unit_test(test_broken),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
