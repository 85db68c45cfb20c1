/* The text form: parse(print(g)) equals g on random graphs that use every field, texts mean what text.h says they
 * mean, and every fault is told with line, column, what was got and what was expected. */
#include "graph/equal.h"

/* ---- Random graphs */

typedef struct {
    uint64_t state;
    Work *work;
    Graph *graph;
} Random;

static uint32_t draw(Random *r, uint32_t limit) {
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33) % limit;
}

static Str draw_name(Random *r) {
    static const char *const odd[] = {"",     "_",   "a b",  "x:0",     "-",     "%1", "q\"uote", "back\\slash",
                                      "5",    "nan", "->",   "stored",  "scale", "=",  "é/ü",     "tab\tline\n",
                                      "x->y", "#no", "same", "floats[", "\r",    "]",  "same",    "1.5"};
    if (draw(r, 3) == 0) {
        return str_from(odd[draw(r, sizeof odd / sizeof odd[0])]);
    }
    char bytes[6];
    for (size_t k = 0; k < sizeof bytes; k++) {
        bytes[k] = draw(r, 8) == 0 ? (char)(unsigned char)draw(r, 256) : (char)('a' + (int)draw(r, 26));
    }
    return arena_str(&r->work->keep, (Str){bytes, 1 + draw(r, sizeof bytes)});
}

static float draw_float(Random *r) {
    static const float odd[] = {0.0f, -0.0f, 1.0f, 1e-45f, 3.4e38f, 0.1f, -1.5f, 16777216.0f};
    return draw(r, 2) == 0 ? odd[draw(r, 8)] : (float)draw(r, 1000000) / 977.0f;
}

static int64_t draw_i64(Random *r) {
    static const int64_t odd[] = {0, -1, 1, INT64_MIN, INT64_MAX};
    return draw(r, 3) == 0 ? odd[draw(r, 5)] : (int64_t)draw(r, 1000) - 500;
}

static Shape draw_shape(Random *r, bool is_whole) {
    Shape shape = {.rank = draw(r, SHAPE_MAX_RANK + 1)};
    for (uint32_t k = 0; k < shape.rank; k++) {
        shape.dim[k] = !is_whole && draw(r, 4) == 0 ? DIM_FREE : (int64_t)draw(r, 4);
    }
    return shape;
}

static const Quant *draw_quant(Random *r) {
    Quant *quant = arena_new(&r->work->keep, Quant);
    bool is_list = draw(r, 2) == 0;
    quant->count = is_list ? draw(r, 4) : 1;
    quant->axis = is_list ? (int32_t)draw(r, 8) : -1;
    quant->block = is_list ? draw(r, 3) * 16 : 0;
    float *scale = arena_array(&r->work->keep, float, quant->count);
    int64_t *zero = arena_array(&r->work->keep, int64_t, quant->count);
    for (uint32_t k = 0; k < quant->count; k++) {
        scale[k] = draw_float(r);
        zero[k] = draw_i64(r);
    }
    quant->scale = scale;
    quant->zero_point = quant->count > 0 && draw(r, 2) == 0 ? zero : NULL;
    return quant;
}

static const Const *draw_constant(Random *r, const Value *value) {
    Const *constant = arena_new(&r->work->keep, Const);
    constant->stored = value->shape;
    constant->is_known = draw(r, 6) != 0;
    uint32_t keep_axis = draw(r, 9);
    for (uint32_t k = 0; k < constant->stored.rank && keep_axis < 8; k++) {
        constant->stored.dim[k] = k == keep_axis ? constant->stored.dim[k] : 1;
    }
    if (!constant->is_known) {
        return constant;
    }
    uint64_t bits = dtype_bits(value->dtype);
    for (uint32_t k = 0; k < constant->stored.rank; k++) {
        bits *= (uint64_t)constant->stored.dim[k];
    }
    uint8_t *bytes = arena_alloc(&r->work->keep, (size_t)(bits + 7) / 8, 1);
    for (uint64_t k = 0; k < (bits + 7) / 8; k++) {
        bytes[k] = (uint8_t)draw(r, value->dtype == DTYPE_BOOL && draw(r, 4) != 0 ? 2 : 256);
    }
    constant->bytes = (Span){bytes, (size_t)((bits + 7) / 8)};
    return constant;
}

static void draw_dim_names(Random *r, Value *value) {
    Str *names = arena_array(&r->work->keep, Str, SHAPE_MAX_RANK);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        names[k] = draw(r, 3) == 0 ? draw_name(r) : (Str){0};
        value->dims[k] = (uint8_t)(draw(r, 3) == 0 ? draw(r, DIM_COUNT) : 0);
    }
    value->dim_name = names;
}

static void draw_value(Random *r) {
    Value value = {.name = draw_name(r),
                   .producer = NO_NODE,
                   .dtype = (DType)draw(r, DTYPE_COUNT),
                   .is_state = draw(r, 6) == 0,
                   .is_sequence = draw(r, 9) == 0};
    bool is_constant = draw(r, 2) == 0;
    value.has_shape = is_constant || draw(r, 4) != 0;
    if (value.has_shape) {
        value.shape = draw_shape(r, is_constant);
        draw_dim_names(r, &value);
    }
    value.quant = draw(r, 3) == 0 ? draw_quant(r) : NULL;
    value.constant = is_constant ? draw_constant(r, &value) : NULL;
    graph_add_value(r->graph, &r->work->keep, value);
}

static ValueId draw_id(Random *r, bool may_be_absent) {
    if (may_be_absent && draw(r, 5) == 0) {
        return NO_VALUE;
    }
    return (ValueId){draw(r, r->graph->value_count)};
}

static ValueId *draw_ids(Random *r, uint32_t count, bool may_be_absent) {
    ValueId *ids = arena_array(&r->work->keep, ValueId, count);
    for (uint32_t k = 0; k < count; k++) {
        ids[k] = draw_id(r, may_be_absent);
    }
    return ids;
}

static Attr draw_attr(Random *r) {
    Arena *keep = &r->work->keep;
    Attr attr = {.name = draw_name(r), .kind = (AttrKind)draw(r, ATTR_BLOCK + 1)};
    uint32_t count = draw(r, 4);
    int64_t *ints = arena_array(keep, int64_t, 4);
    float *floats = arena_array(keep, float, 4);
    Str *strs = arena_array(keep, Str, 4);
    for (uint32_t k = 0; k < count; k++) {
        ints[k] = draw_i64(r);
        floats[k] = draw_float(r);
        strs[k] = draw_name(r);
    }
    switch (attr.kind) {
    case ATTR_INT:
        attr.i = draw_i64(r);
        break;
    case ATTR_FLOAT:
        attr.f = draw(r, 2) == 0 ? (double)draw_float(r) : 1.0 / (1 + draw(r, 50));
        break;
    case ATTR_STR:
        attr.s = draw_name(r);
        break;
    case ATTR_INTS:
        attr.ints = ints;
        attr.count = count;
        break;
    case ATTR_FLOATS:
        attr.floats = floats;
        attr.count = count;
        break;
    case ATTR_STRS:
        attr.strs = strs;
        attr.count = count;
        break;
    case ATTR_TENSOR:
        attr.tensor = draw_id(r, false);
        break;
    case ATTR_BLOCK:
        attr.block = (BlockId){1 + draw(r, 3)};
        break;
    }
    return attr;
}

static NodeId draw_node(Random *r) {
    Node node = {.name = draw_name(r), .op = (OpId)(1 + draw(r, OP_COUNT - 1)), .is_constant = draw(r, 8) == 0};
    const OpInfo *info = op_info(node.op);
    const char *dot = info->domain[0] == '\0' ? "" : ".";
    node.op_name =
        draw(r, 3) == 0 ? draw_name(r) : arena_format(&r->work->keep, "%s%s%s", info->domain, dot, info->name);
    node.version = draw(r, 2) == 0 ? r->graph->opset : (int32_t)draw(r, 30);
    node.input_count = draw(r, 4);
    node.output_count = draw(r, 3);
    node.attr_count = draw(r, 4);
    node.inputs = draw_ids(r, node.input_count, true);
    node.outputs = draw_ids(r, node.output_count, true);
    node.attrs = arena_array(&r->work->keep, Attr, node.attr_count);
    for (uint32_t k = 0; k < node.attr_count; k++) {
        node.attrs[k] = draw_attr(r);
    }
    return graph_add_node(r->graph, &r->work->keep, node);
}

static void draw_block(Random *r) {
    Block block = {
        .name = draw_name(r), .input_count = draw(r, 4), .output_count = draw(r, 3), .node_count = draw(r, 5)};
    block.inputs = draw_ids(r, block.input_count, false);
    block.outputs = draw_ids(r, block.output_count, false);
    block.nodes = arena_array(&r->work->keep, NodeId, block.node_count);
    for (uint32_t k = 0; k < block.node_count; k++) {
        block.nodes[k] = draw_node(r);
    }
    graph_add_block(r->graph, &r->work->keep, block);
}

static void draw_graph(Random *r) {
    r->graph = graph_new(&r->work->keep, draw_name(r), (Format)draw(r, FORMAT_TEXT + 1));
    r->graph->opset = r->graph->format == FORMAT_TFLITE ? 0 : (int32_t)draw(r, 25);
    uint32_t values = 1 + draw(r, 12);
    for (uint32_t k = 0; k < values; k++) {
        draw_value(r);
    }
    uint32_t blocks = 1 + draw(r, 3);
    for (uint32_t k = 0; k < blocks; k++) {
        draw_block(r);
    }
    const Block *main = graph_main(r->graph);
    for (uint32_t k = 0; k < main->input_count; k++) {
        graph_value(r->graph, main->inputs[k])->is_input = true;
    }
    for (uint32_t k = 0; k < main->output_count; k++) {
        graph_value(r->graph, main->outputs[k])->is_output = true;
    }
}

static void check_seed(Work *work, const void *argument) {
    Random r = {.state = *(const uint64_t *)argument, .work = work};
    draw_graph(&r);
    const char *text = print_text(work, r.graph);
    Graph *again = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, (Str){0});
    if (again == NULL || !graphs_equal(r.graph, again) || strcmp(print_text(work, again), text) != 0) {
        diags_print(&work->diags, "", stderr);
        fail_msg("seed %d does not come back:\n%s", (int)*(const uint64_t *)argument, text);
    }
}

static void prints_and_parses_back(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 3000; seed++) {
        with_work(check_seed, &seed);
    }
}

/* ---- What a text means */

static void reads_the_example_of_the_header(Work *work) {
    Graph *g = parse_sound(work, "name \"person detect\"\n"
                                 "format onnx 13\r\n"
                                 "# a comment\n"
                                 "input X int8[1,12,20,28] scale=0.1 zero=-3   # another\n"
                                 "const s int8[12] = splat -1\n"
                                 "const w float32[2,3] scale=[1,0.5] zero=[0,1] axis=0 = 1 2 3 4 5 6.5\n"
                                 "const n int4[3] = -8 7 -1\n"
                                 "const e int8[1,2,4,4] stored [1,2,1,1] = hex 0a FF\n"
                                 "const u int8[2,3] = unknown\n"
                                 "state v float32[1:batch,?]\n"
                                 "node Mul m: X s -> y  axis=1 f=0.5 pads=[0,1] mode=same\n"
                                 "node Relu@6: y -> z\n"
                                 "output z\n");
    assert_true(str_eq(g->name, STR("person detect")));
    assert_int_equal(g->format, FORMAT_ONNX);
    assert_int_equal(g->opset, 13);
    assert_int_equal(g->node_count, 2);
    const Value *x = value_of(g, "X");
    assert_true(x->is_input && x->dtype == DTYPE_I8 && x->shape.rank == 4 && x->shape.dim[3] == 28);
    assert_true(x->quant->scale[0] == 0.1f && x->quant->zero_point[0] == -3 && x->quant->axis == -1);
    const Value *s = value_of(g, "s");
    assert_true(s->constant->stored.dim[0] == 1 && s->constant->bytes.len == 1 && s->constant->bytes.ptr[0] == 0xFF);
    const Value *w = value_of(g, "w");
    float last;
    memcpy(&last, w->constant->bytes.ptr + 20, sizeof last);
    assert_true(last == 6.5f && w->quant->axis == 0 && w->quant->count == 2 && w->quant->zero_point[1] == 1);
    const uint8_t nibbles[2] = {0x78, 0x0F};
    assert_memory_equal(value_of(g, "n")->constant->bytes.ptr, nibbles, 2);
    const Value *e = value_of(g, "e");
    assert_true(e->constant->stored.dim[1] == 2 && e->constant->stored.dim[2] == 1 &&
                e->constant->bytes.ptr[1] == 0xFF);
    assert_false(value_of(g, "u")->constant->is_known);
    const Value *v = value_of(g, "v");
    assert_true(v->is_state && v->shape.dim[0] == 1 && str_eq(v->dim_name[0], STR("batch")) && v->shape.dim[1] == -1);
    const Node *mul = &g->nodes[0], *relu = &g->nodes[1];
    assert_int_equal(mul->op, OP_MUL);
    assert_int_equal(mul->version, 13);
    assert_int_equal(node_int(mul, "axis", -7), 1);
    assert_true(node_float(mul, "f", 0) == 0.5);
    assert_true(str_eq(node_str(mul, "mode"), STR("same")));
    assert_int_equal(node_attr(mul, "pads")->ints[1], 1);
    assert_int_equal(relu->version, 6);
    assert_true(str_eq(relu->name, STR("Relu#1")));
    assert_false(value_of(g, "y")->has_shape);
    assert_true(value_of(g, "z")->is_output);
}

/* ---- Faults */

typedef struct {
    const char *text, *place, *got, *expected;
} Fault;

static const Fault faults[] = {
    {"inputt X int8[1]\n", "line 2 column 1", "inputt", "input"},
    {"input X int8[1,2\n", "line 2 column 17", "the end of the line", ","},
    {"input X int8[1,-2]\n", "line 2 column 16", "-2", "0 or more"},
    {"input X int9[1]\n", "line 2 column 9", "int9", "a dtype"},
    {"input X int8[1,1,1,1,1,1,1,1,1]\n", "line 2 column 29", ",", "8 at most"},
    {"input X int8[1]\ninput X int8[1]\n", "line 3 column 7", "X", "one declaration"},
    {"const s int8[2] = 1\n", "line 2 column 20", "the end of the line", "2 values"},
    {"const s int8[2] = 1 2 3\n", "line 2 column 23", "3", "2 values"},
    {"const s int8[99999999999] = 1\n", "line 2 column 29", "1", "99999999999 values"},
    {"const s int8[2] = 1 128\n", "line 2 column 21", "128", "int8"},
    {"const s uint4[1] = 16\n", "line 2 column 20", "16", "uint4"},
    {"const s bool[1] = 2\n", "line 2 column 19", "2", "bool"},
    {"const s float32[1] = 1e99\n", "line 2 column 22", "1e99", "a number"},
    {"const s int8[1] = hex 1\n", "line 2 column 23", "1", "two hex digits"},
    {"const s int8 = 1\n", "line 2 column 16", "1", "NAME DTYPE[…]"},
    {"const s int8[?] = 1\n", "line 2 column 19", "1", "fixed extents"},
    {"const s float16[1] = 1.5\n", "line 2 column 22", "1.5", "hex"},
    {"value s int8[1] = 1\n", "line 2 column 17", "=", "the end of the line"},
    {"value s int8[2] scale=[1,2]\n", "line 2 column 28", "the end of the line", "axis="},
    {"value s int8[2] scale=1 zero=[1,2]\n", "line 2 column 35", "the end of the line", "1"},
    {"value s int8[2] zero=1\n", "line 2 column 23", "the end of the line", "scale="},
    {"value s int8[2] dims=NX\n", "line 2 column 22", "NX", "NCHWOI"},
    {"node Nope n: X -> Y\n", "line 2 column 6", "Nope", "Custom(NAME)"},
    {"node Add n X -> Y\n", "line 2 column 12", "X", ":"},
    {"node Add n: X Y\n", "line 2 column 16", "the end of the line", "a name"},
    {"node Add n: X -> Y axis=[1\n", "line 2 column 27", "the end of the line", ","},
    {"node Add n: X -> Y axis=what(1)\n", "line 2 column 25", "what", "tensor(VALUE)"},
    {"node Add n: X -> Y b=block(0)\n", "line 2 column 27", "(", "1 or more"},
    {"node Add n: \"X -> Y\n", "line 2 column 13", "\"X -> Y", "\""},
    {"node Add n: \"\\q\" -> Y\n", "line 2 column 13", "\"\\", "\\x"},
    {"node Add n: X $ Y\n", "line 2 column 15", "$", "a name"},
    {"input _ int8[1]\n", "line 2 column 7", "_", "a name"},
    {"end\n", "line 2 column 4", "the end of the line", "a statement"},
    {"block 2 b\nend\n", "line 2 column 7", "2", "1"},
    {"block 1 b\nblock 2 c\nend\n", "line 3 column 7", "2", "end"},
    {"block 1 b\n", "line 3 column 1", "the end of the line", "end"},
    {"format caffe\n", "line 2 column 8", "caffe", "onnx OPSET"},
};

static void check_fault(Work *work, const void *argument) {
    const Fault *fault = argument;
    assert_null(parse_text(work, fault->text));
    const DiagText *first = &work->diags.first->text;
    if (strcmp(first->place, fault->place) != 0 || strcmp(first->got, fault->got) != 0 ||
        strstr(first->expected, fault->expected) == NULL) {
        diags_print(&work->diags, "", stderr);
        fail_msg("not what was expected of: %s", fault->text);
    }
    assert_int_equal(diags_status(&work->diags), S0_BAD_INPUT);
}

static void tells_line_and_column(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof faults / sizeof faults[0]; k++) {
        with_work(check_fault, &faults[k]);
    }
}

static void check_first_line(Work *work, const void *text) {
    assert_null(graph_parse_text(work, (Span){text, strlen(text)}, STR("x")));
    assert_true(was_told(work, "line 1 column"));
}

static void wants_the_first_line(void **state) {
    (void)state;
    static const char *const texts[] = {"", "stride0-graph 2\n", "\n", "stride0-graph 1 x\n"};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        with_work(check_first_line, texts[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prints_and_parses_back),
        WORK_TEST(reads_the_example_of_the_header),
        cmocka_unit_test(tells_line_and_column),
        cmocka_unit_test(wants_the_first_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
