/* Proves: what a TFLite file says is in the graph under the names that the rest of the program reads, and each thing
 * that can be wrong in a file gives one message with the tensor or node, what was got and what was expected. Files are
 * written by tflite_build.h; one right model is changed in one place at a time. */
#include "import/import.h"
#include "import/tflite_build.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>

enum { INT8 = 9, INT32 = 2, INT4 = 17, RESOURCE = 13 };
enum { CONV = 0, OTHER = 1 }; /* operator codes of the model */
enum { X, W, B, Y, Z };       /* its tensors */

/* int8 x[1,4,4,3] -> CONV_2D(w[2,1,1,3] by two scales, b[2]) -> y[1,4,4,2] -> the other operator -> z. */
static TestModel right_model(void) {
    TestModel model = {.version = 3, .code_count = 2, .buffer_count = 3, .graph_count = 1};
    model.code[CONV].builtin = 3;
    model.code[CONV].old = 3;
    model.code[CONV].version = 2;
    model.code[OTHER].builtin = 19;
    model.code[OTHER].old = 19;
    model.code[OTHER].version = 1;
    model.buffer[1].bytes = 6;
    model.buffer[2].bytes = 8;
    model.graph[0] = (TestGraph){
        .name = "main",
        .tensor_count = 5,
        .operator_count = 2,
        .tensor = {[X] = {.name = "x", .type = INT8, .shape = {4, {1, 4, 4, 3}}, .scale_count = 1, .scale = {0.5F}},
                   [W] = {.name = "w",
                          .type = INT8,
                          .shape = {4, {2, 1, 1, 3}},
                          .buffer = 1,
                          .scale_count = 2,
                          .zero_count = 2,
                          .scale = {0.25F, 0.125F}},
                   [B] = {.name = "b", .type = INT32, .shape = {1, {2}}, .buffer = 2},
                   [Y] = {.name = "y",
                          .type = INT8,
                          .shape = {4, {1, 4, 4, 2}},
                          .scale_count = 1,
                          .zero_count = 1,
                          .scale = {1},
                          .zero = {-7}},
                   [Z] = {.name = "z", .type = INT8, .shape = {4, {1, 4, 4, 2}}}},
        .operator_ = {{.code = CONV,
                       .inputs = {3, {X, W, B}},
                       .outputs = {1, {Y}},
                       .options = 1,
                       .option_count = 4,
                       .option = {{0, 1, 1, NULL}, {1, 4, 1, NULL}, {2, 4, 2, NULL}, {3, 1, 3, NULL}}},
                      {.code = OTHER, .inputs = {1, {Y}}, .outputs = {1, {Z}}}},
        .inputs = {1, {X}},
        .outputs = {1, {Z}},
    };
    return model;
}

/* ---- What a right file means */

static Graph *import_right(Work *work, TestFile *file, const TestModel *model) {
    test_write(file, model);
    work_init(work, &system_allocator);
    Graph *graph = import_tflite(work, (Span){file->bytes, file->len}, "a/b/small.tflite", NULL);
    if (graph == NULL || !graph_check(graph, work)) {
        diags_print(&work->diags, NULL, stderr);
        fail_msg("a right model is not read");
    }
    return graph;
}

static void assert_str(Str got, const char *expected) {
    if (!str_eq(got, str_from(expected))) {
        fail_msg("got '" STR_FMT "', expected '%s'", STR_ARG(got), expected);
    }
}

static void test_tensors_and_operators(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    Graph *graph = import_right(&work, &file, &model);
    const Node *conv = &graph->nodes[0];
    assert_str(graph->name, "small.tflite");
    assert_int_equal(graph->value_count, 5);
    assert_int_equal(conv->op, OP_CONV);
    assert_str(conv->name, "CONV_2D#0");
    assert_str(conv->op_name, "CONV_2D");
    assert_int_equal(conv->version, 2);
    const Value *w = node_input(graph, conv, 1);
    assert_int_equal(w->constant->bytes.len, 6);
    assert_int_equal(w->constant->bytes.ptr[5], 6);
    assert_int_equal(w->quant->count, 2);
    assert_int_equal(w->quant->axis, 0);
    assert_null(w->quant->zero_point);
    const Value *y = node_output(graph, conv, 0);
    assert_int_equal(y->quant->axis, -1);
    assert_int_equal(y->quant->zero_point[0], -7);
    assert_true(graph_value(graph, graph->blocks[0].inputs[0])->is_input);
    assert_true(graph_value(graph, graph->blocks[0].outputs[0])->is_output);
    work_free(&work);
}

static void test_options_are_attributes(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    Graph *graph = import_right(&work, &file, &model);
    const Node *conv = &graph->nodes[0];
    const Attr *strides = node_attr(conv, "strides"), *dilations = node_attr(conv, "dilations");
    assert_str(node_str(conv, "auto_pad"), "VALID");
    assert_str(node_str(conv, "activation"), "RELU6");
    assert_int_equal(strides->count, 2);
    assert_int_equal(strides->ints[0], 2); /* height first; the file has width first */
    assert_int_equal(strides->ints[1], 1);
    assert_int_equal(dilations->ints[0], 1); /* absent from the file: the schema's default */
    assert_int_equal(graph->nodes[1].attr_count, 0);
    work_free(&work);
}

/* A file of 2016 has the one-byte field only; a newer one caps it at 127. */
static void test_operator_codes_of_every_age(void **state) {
    (void)state;
    static const struct {
        int8_t old;
        int32_t builtin;
        const char *custom, *name;
        OpId op;
    } ROW[] = {
        {19, 0, NULL, "RELU", OP_RELU},
        {19, 19, NULL, "RELU", OP_RELU},
        {127, 150, NULL, "GELU", OP_GELU},
        {0, 150, NULL, "GELU", OP_GELU},
        {32, 0, "SignalFft", "CUSTOM:SignalFft", OP_CUSTOM},
        {32, 32, "a b", "CUSTOM:a b", OP_CUSTOM},
    };
    for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++) {
        static Work work;
        static TestFile file;
        TestModel model = right_model();
        model.code[OTHER].old = ROW[k].old;
        model.code[OTHER].builtin = ROW[k].builtin;
        model.code[OTHER].custom = ROW[k].custom;
        Graph *graph = import_right(&work, &file, &model);
        assert_str(graph->nodes[1].op_name, ROW[k].name);
        assert_int_equal(graph->nodes[1].op, ROW[k].op);
        work_free(&work);
    }
}

/* B9: the axis is the file's, wherever the channels are; a list of scales on a list has one reading. */
static void test_quantisation_axes(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    TestTensor *w = &model.graph[0].tensor[W], *b = &model.graph[0].tensor[B];
    w->shape = (TestInts){4, {1, 1, 2, 3}};
    w->scale_count = 3;
    w->zero_count = 0;
    w->axis = 3;
    b->scale_count = 2;
    b->axis = 3;
    Graph *graph = import_right(&work, &file, &model);
    assert_int_equal(graph->values[W].quant->axis, 3);
    assert_int_equal(graph->values[B].quant->axis, 0);
    work_free(&work);
}

static void test_free_dimensions_have_names(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    model.graph[0].tensor[X].signature = (TestInts){4, {-1, 4, 4, 3}};
    Graph *graph = import_right(&work, &file, &model);
    const Value *x = &graph->values[X];
    assert_int_equal(x->shape.dim[0], 1);
    assert_str(x->dim_name[0], "x:0");
    assert_int_equal(x->dim_name[1].len, 0);
    assert_null(graph->values[Y].dim_name);
    work_free(&work);
}

/* An empty shape: a scalar where has_rank says so, where there is data, and for inputs of files that know no has_rank;
 * nothing else can be said of an output. */
static void test_empty_shapes(void **state) {
    (void)state;
    static const struct {
        bool other_has_rank, has_rank;
        uint32_t tensor;
        bool has_shape;
    } ROW[] = {{false, false, X, true}, {true, false, X, false}, {false, true, X, true},  {false, false, Z, false},
               {true, false, Z, false}, {false, true, Z, true},  {false, false, W, true}, {true, false, W, true}};
    for (size_t k = 0; k < sizeof ROW / sizeof *ROW; k++) {
        static Work work;
        static TestFile file;
        TestModel model = right_model();
        TestTensor *tensor = &model.graph[0].tensor[ROW[k].tensor];
        *tensor = (TestTensor){.name = "t", .type = INT8, .buffer = tensor->buffer, .has_rank = ROW[k].has_rank};
        model.buffer[1].bytes = ROW[k].tensor == W ? 1 : 6;
        model.graph[0].tensor[Y].has_rank = ROW[k].other_has_rank;
        Graph *graph = import_right(&work, &file, &model);
        assert_int_equal(graph->values[ROW[k].tensor].has_shape, ROW[k].has_shape);
        work_free(&work);
    }
}

/* I7: 51 elements of four bits are 26 bytes, 63 are 32. */
static void test_packed_elements(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    model.graph[0].tensor[W] = (TestTensor){.name = "w", .type = INT4, .shape = {2, {7, 9}}, .buffer = 1};
    model.buffer[1].bytes = 32;
    Graph *graph = import_right(&work, &file, &model);
    assert_int_equal(graph->values[W].constant->bytes.len, 32);
    work_free(&work);
    model.graph[0].tensor[W].shape = (TestInts){1, {51}};
    model.buffer[1].bytes = 26;
    graph = import_right(&work, &file, &model);
    assert_int_equal(graph->values[W].constant->bytes.len, 26);
    work_free(&work);
}

/* Data may stand behind the FlatBuffer: here, at byte 4, the identifier. */
static void test_data_outside_the_flatbuffer(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    model.buffer[1].bytes = 0;
    model.buffer[1].offset = 4;
    model.buffer[1].size = 6;
    Graph *graph = import_right(&work, &file, &model);
    assert_memory_equal(graph->values[W].constant->bytes.ptr, "TFL3", 4);
    assert_int_equal(graph->values[W].constant->bytes.len, 6);
    work_free(&work);
}

/* A variable tensor is state; so is a resource variable, once, however many handles name it. */
static TestModel variable_model(void) {
    TestModel model = right_model();
    model.code_count = 5;
    model.code[2].builtin = 142;
    model.code[3].builtin = 143;
    model.code[4].builtin = 144;
    TestGraph *main = &model.graph[0];
    main->tensor_count = 8;
    main->tensor[5] = (TestTensor){.name = "handle", .type = RESOURCE};
    main->tensor[6] = (TestTensor){.name = "again", .type = RESOURCE};
    main->tensor[7] = (TestTensor){.name = "read", .type = INT8, .shape = {4, {1, 4, 4, 2}}};
    main->operator_count = 6;
    TestOperator handle = {
        .code = 2, .outputs = {1, {5}}, .options = 111, .option_count = 1, .option = {{.slot = 1, .text = "v"}}};
    main->operator_[2] = handle;
    main->operator_[3] = handle;
    main->operator_[3].outputs.at[0] = 6;
    main->operator_[4] = (TestOperator){.code = 3, .inputs = {1, {5}}, .outputs = {1, {7}}};
    main->operator_[5] = (TestOperator){.code = 4, .inputs = {2, {6, Z}}};
    return model;
}

static void test_variables_are_state(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = variable_model();
    Graph *graph = import_right(&work, &file, &model);
    assert_int_equal(graph->value_count, 9);
    const Value *v = &graph->values[8];
    assert_str(v->name, "v");
    assert_true(v->is_state);
    assert_int_equal(v->shape.dim[3], 2);
    assert_ptr_equal(node_input(graph, &graph->nodes[4], 1), v);
    assert_ptr_equal(node_input(graph, &graph->nodes[5], 2), v);
    assert_int_equal(dtype_bits(graph->values[5].dtype), 0);
    work_free(&work);
    model = right_model();
    model.graph[0].tensor[B].is_variable = true;
    graph = import_right(&work, &file, &model);
    assert_true(graph->values[B].is_state);
    assert_null(graph->values[B].constant);
    work_free(&work);
}

static void test_called_subgraphs_are_blocks(void **state) {
    (void)state;
    static Work work;
    static TestFile file;
    TestModel model = right_model();
    model.graph_count = 2;
    model.graph[1] = (TestGraph){.tensor_count = 1, .tensor = {{.name = "i", .type = INT8, .shape = {1, {1}}}}};
    model.graph[1].inputs = model.graph[1].outputs = (TestInts){1, {0}};
    model.code[OTHER].builtin = 118; /* IF */
    model.graph[0].operator_[1].options = 92;
    model.graph[0].operator_[1].option_count = 2;
    model.graph[0].operator_[1].option[0] = (TestOption){0, 4, 1, NULL};
    model.graph[0].operator_[1].option[1] = (TestOption){1, 4, 1, NULL};
    Graph *graph = import_right(&work, &file, &model);
    const Attr *branch = node_attr(&graph->nodes[1], "then_branch");
    assert_int_equal(branch->kind, ATTR_BLOCK);
    assert_int_equal(branch->block.index, 1);
    assert_str(graph->blocks[1].name, "subgraph 1");
    assert_false(graph->values[5].is_input);
    work_free(&work);
}

/* ---- What is wrong in a broken file */

typedef void Change(TestModel *model);

static void version(TestModel *m) {
    m->version = 2;
}
static void no_subgraph(TestModel *m) {
    m->graph_count = 0;
}
static void unknown_builtin(TestModel *m) {
    m->code[OTHER].builtin = 4000;
}
static void negative_builtin(TestModel *m) {
    m->code[OTHER].builtin = m->code[OTHER].old = -5;
}
static void nameless_custom(TestModel *m) {
    m->code[OTHER].builtin = 32;
}
static void code_outside(TestModel *m) {
    m->graph[0].operator_[1].code = 2;
}
static void input_outside(TestModel *m) {
    m->graph[0].operator_[1].inputs.at[0] = 5;
}
static void input_negative(TestModel *m) {
    m->graph[0].operator_[1].inputs.at[0] = -2;
}
static void output_outside(TestModel *m) {
    m->graph[0].operator_[1].outputs.at[0] = 99;
}
static void graph_input_absent(TestModel *m) {
    m->graph[0].inputs.at[0] = -1;
}
static void graph_output_outside(TestModel *m) {
    m->graph[0].outputs.at[0] = 5;
}
static void two_producers(TestModel *m) {
    m->graph[0].operator_[1].outputs.at[0] = Y;
}
static void constant_written(TestModel *m) {
    m->graph[0].operator_[1].outputs.at[0] = B;
}
static void variable_written(TestModel *m) {
    m->graph[0].tensor[Z].is_variable = true;
}
static void order(TestModel *m) {
    TestOperator first = m->graph[0].operator_[0];
    m->graph[0].operator_[0] = m->graph[0].operator_[1];
    m->graph[0].operator_[1] = first;
}
static void type_unknown(TestModel *m) {
    m->graph[0].tensor[Y].type = 77;
}
static void rank(TestModel *m) {
    m->graph[0].tensor[Y].shape.count = 9;
}
static void extent(TestModel *m) {
    m->graph[0].tensor[Y].shape.at[1] = -3;
}
static void signature(TestModel *m) {
    m->graph[0].tensor[X].signature = (TestInts){2, {-1, 3}};
}
static void buffer_outside(TestModel *m) {
    m->graph[0].tensor[W].buffer = 3;
}
static void buffer_small(TestModel *m) {
    m->buffer[1].bytes = 5;
}
static void buffer_large(TestModel *m) {
    m->buffer[2].bytes = 9;
}
static void int4(TestModel *m, uint32_t bytes) {
    m->graph[0].tensor[W] = (TestTensor){.name = "w", .type = INT4, .shape = {2, {7, 9}}, .buffer = 1};
    m->buffer[1].bytes = bytes;
}
static void int4_small(TestModel *m) {
    int4(m, 31);
}
static void int4_unpacked(TestModel *m) {
    int4(m, 63);
}
static void huge_constant(TestModel *m) {
    m->graph[0].tensor[W].shape = (TestInts){4, {INT32_MAX, INT32_MAX, INT32_MAX, 2}};
    m->graph[0].tensor[W].scale_count = m->graph[0].tensor[W].zero_count = 0;
}
static void data_outside(TestModel *m) {
    m->buffer[1].offset = 5000000;
    m->buffer[1].size = 6;
}
static void data_wraps(TestModel *m) {
    m->buffer[1].offset = 8;
    m->buffer[1].size = INT64_MAX;
}
static void external(TestModel *m) {
    m->graph[0].tensor[W].external = 1;
}
static void sparse(TestModel *m) {
    m->graph[0].tensor[W].is_sparse = true;
}
static void wrong_axis(TestModel *m) {
    m->graph[0].tensor[W].shape = (TestInts){4, {1, 1, 2, 3}};
    m->graph[0].tensor[W].scale_count = 3;
    m->graph[0].tensor[W].zero_count = 0;
}
static void axis_outside(TestModel *m) {
    m->graph[0].tensor[W].axis = 4;
}
static void zero_points(TestModel *m) {
    m->graph[0].tensor[W].zero_count = 1;
}
static void zero_point_range(TestModel *m) {
    m->graph[0].tensor[Y].zero[0] = 128;
}
static void scale_negative(TestModel *m) {
    m->graph[0].tensor[W].scale[1] = -1;
}
static void details(TestModel *m) {
    m->graph[0].tensor[W].details = 2;
}
static void padding(TestModel *m) {
    m->graph[0].operator_[0].option[0].number = 2;
}
static void activation(TestModel *m) {
    m->graph[0].operator_[0].option[3].number = 9;
}
static void called(TestModel *m) {
    m->graph[0].operator_[1].options = 93;
    m->graph[0].operator_[1].option_count = 1;
    m->graph[0].operator_[1].option[0] = (TestOption){1, 4, 7, NULL};
}
static void custom_options(TestModel *m) {
    m->graph[0].operator_[1].large_offset = 1 << 20;
    m->graph[0].operator_[1].large_size = 3;
}
static void variable_shapes(TestModel *m) {
    *m = variable_model();
    m->graph[0].tensor[7].shape.at[1] = 5;
}
static void variable_unknown(TestModel *m) {
    *m = variable_model();
    m->graph[0].operator_[4].inputs.at[0] = Y; /* a tensor of another operator */
}

static const struct {
    Change *change;
    s0_status status;
    const char *part[3];
} BROKEN[] = {
    {version, S0_REFUSED, {"schema version", "version 2", "version 3"}},
    {no_subgraph, S0_BAD_INPUT, {"no subgraph"}},
    {unknown_builtin, S0_REFUSED, {"not known", "BuiltinOperator 4000"}},
    {negative_builtin, S0_REFUSED, {"not known", "BuiltinOperator -5"}},
    {nameless_custom, S0_BAD_INPUT, {"custom operator has no name", "byte "}},
    {code_outside, S0_BAD_INPUT, {"operator#1", "code 2", "one of 2"}},
    {input_outside, S0_BAD_INPUT, {"RELU#1", "tensor 5", "one of 5 tensors"}},
    {input_negative, S0_BAD_INPUT, {"RELU#1", "tensor -2"}},
    {output_outside, S0_BAD_INPUT, {"RELU#1", "tensor 99"}},
    {graph_input_absent, S0_BAD_INPUT, {"main", "tensor -1"}},
    {graph_output_outside, S0_BAD_INPUT, {"main", "tensor 5"}},
    {two_producers, S0_BAD_INPUT, {"RELU#1", "'y'", "CONV_2D#0"}},
    {constant_written, S0_BAD_INPUT, {"RELU#1", "'b'", "a constant"}},
    {variable_written, S0_REFUSED, {"RELU#1", "'z'", "writes a variable tensor"}},
    {order, S0_BAD_INPUT, {"RELU#0", "'y'", "topological order"}},
    {type_unknown, S0_REFUSED, {"'y'", "TensorType 77"}},
    {rank, S0_REFUSED, {"'y'", "9", "at most 8"}},
    {extent, S0_BAD_INPUT, {"'y'", "axis 1", "-3"}},
    {signature, S0_BAD_INPUT, {"'x'", "rank 2", "rank 4"}},
    {buffer_outside, S0_BAD_INPUT, {"'w'", "buffer 3", "one of 3 buffers"}},
    {buffer_small, S0_BAD_INPUT, {"'w'", "5 bytes", "6 bytes for int8[2,1,1,3]"}},
    {buffer_large, S0_BAD_INPUT, {"'b'", "9 bytes", "8 bytes for int32[2]"}},
    {int4_small, S0_BAD_INPUT, {"'w'", "31 bytes", "32 bytes for int4[7,9]"}},
    {int4_unpacked, S0_BAD_INPUT, {"'w'", "63 bytes", "32 bytes for int4[7,9]"}},
    {huge_constant, S0_BAD_INPUT, {"'w'", "64 bits", "2147483647"}},
    {data_outside, S0_BAD_INPUT, {"'w'", "6 bytes at byte 5000000", "inside"}},
    {data_wraps, S0_BAD_INPUT, {"'w'", "at byte 8", "inside"}},
    {external, S0_REFUSED, {"'w'", "external buffer"}},
    {sparse, S0_REFUSED, {"'w'", "sparse"}},
    {wrong_axis, S0_REFUSED, {"'w'", "axis 0 has size 1, scales 3", "along axis 3, of size 3"}},
    {axis_outside, S0_BAD_INPUT, {"'w'", "axis 4 of [2,1,1,3]"}},
    {zero_points, S0_BAD_INPUT, {"'w'", "1 zero points", "2, one a scale"}},
    {zero_point_range, S0_BAD_INPUT, {"'y'", "128", "int8"}},
    {scale_negative, S0_BAD_INPUT, {"'w'", "scale [1]", "-1"}},
    {details, S0_REFUSED, {"'w'", "BlockwiseQuantization"}},
    {padding, S0_BAD_INPUT, {"CONV_2D#0", "auto_pad", "0 SAME or 1 VALID"}},
    {activation, S0_BAD_INPUT, {"CONV_2D#0", "activation", "9"}},
    {called, S0_BAD_INPUT, {"RELU#1", "subgraph", "one of 1"}},
    {custom_options, S0_BAD_INPUT, {"RELU#1", "options lie outside", "3 bytes at byte 1048576"}},
    {variable_shapes, S0_REFUSED, {"'v'", "int8[1,4,4,2]", "int8[1,5,4,2]"}},
    {variable_unknown, S0_REFUSED, {"READ_VARIABLE#4", "'y'", "no VAR_HANDLE"}},
};

/* Imports and checks; the messages as text, to be freed. */
static char *import_messages(const TestFile *file, size_t len, s0_status *status) {
    static Work work;
    WORK_BEGIN(&work);
    Graph *graph = import_tflite(&work, (Span){file->bytes, len}, "m.tflite", NULL);
    bool sound = graph != NULL && graph_check(graph, &work);
    *status = diags_status(&work.diags);
    assert_int_equal(sound, *status == S0_DONE);
    char *text = messages_of(&work);
    work_free(&work);
    return text;
}

static void test_broken_files_are_explained(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof BROKEN / sizeof *BROKEN; k++) {
        static TestFile file;
        TestModel model = right_model();
        s0_status status;
        BROKEN[k].change(&model);
        test_write(&file, &model);
        char *text = import_messages(&file, file.len, &status);
        for (size_t p = 0; p < 3 && BROKEN[k].part[p] != NULL; p++) {
            if (strstr(text, BROKEN[k].part[p]) == NULL) {
                fail_msg("row %zu: '%s' is not in: %s", k, BROKEN[k].part[p], text);
            }
        }
        if (status != BROKEN[k].status) {
            fail_msg("row %zu: status %d, expected %d: %s", k, (int)status, (int)BROKEN[k].status, text);
        }
        free(text);
    }
}

static void test_cut_files_are_explained(void **state) {
    (void)state;
    static TestFile file;
    TestModel model = variable_model();
    test_write(&file, &model);
    for (size_t len = 0; len < file.len; len++) {
        s0_status status;
        char *text = import_messages(&file, len, &status);
        assert_int_equal(status, S0_BAD_INPUT);
        assert_non_null(strstr(text, "byte "));
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tensors_and_operators),
        cmocka_unit_test(test_options_are_attributes),
        cmocka_unit_test(test_operator_codes_of_every_age),
        cmocka_unit_test(test_quantisation_axes),
        cmocka_unit_test(test_free_dimensions_have_names),
        cmocka_unit_test(test_empty_shapes),
        cmocka_unit_test(test_packed_elements),
        cmocka_unit_test(test_data_outside_the_flatbuffer),
        cmocka_unit_test(test_variables_are_state),
        cmocka_unit_test(test_called_subgraphs_are_blocks),
        cmocka_unit_test(test_broken_files_are_explained),
        cmocka_unit_test(test_cut_files_are_explained),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
