/* Proves that inference and folding take whatever a file may say of constants: every operator of the table, on constant
 * data of all types and ranks, with configuration, attributes, numbers of inputs and outputs and shapes of outputs that
 * do not belong together, is answered without an overflow, a division by zero or an access outside (sanitizers see
 * those), and a graph that the passes let through is as sound behind them as before. Also rows: what broke once.
 * S0_DRAWS=N draws N of each operator, S0_TELL shows them. */
#include "rows.h"

#include "graph/fold.h"
#include "graph/passes.h"
#include "support/random.h"

enum { DRAWS_EACH = 60, MOST_ELEMS = 64 };

/* ---- Drawing text */

typedef struct {
    uint64_t random;
    FILE *out;
} Draw;

static uint32_t below(Draw *d, uint32_t count) {
    return (uint32_t)random_below(&d->random, count);
}

static const char *const dtypes[] = {"float32", "int64", "int32",  "int8",    "uint8", "float64",
                                     "bool",    "int4",  "uint64", "float16", "uint2", "complex64"};

static const char *const numbers[] = {"0",
                                      "1",
                                      "-1",
                                      "2",
                                      "3",
                                      "-2",
                                      "4",
                                      "7",
                                      "65536",
                                      "-3",
                                      "2147483648",
                                      "281474976710657",
                                      "9223372036854775807",
                                      "-9223372036854775808"};

static const char *draw_number(Draw *d) {
    return numbers[below(d, below(d, 3) > 0 ? 5 : sizeof numbers / sizeof numbers[0])];
}

static void draw_list(Draw *d, const char *between) {
    uint32_t count = below(d, 6);
    for (uint32_t k = 0; k < count; k++) {
        fprintf(d->out, "%s%s", k > 0 ? between : "", draw_number(d));
    }
}

static int64_t draw_shape(Draw *d, bool is_small) {
    static const int64_t extents[] = {1, 2, 3, 2, 1, 4, 0, 5000, 1000000007, 281474976710657, INT64_MAX};
    int64_t elements = 1;
    uint32_t rank = below(d, below(d, 4) == 0 ? 9 : 4);
    fputc('[', d->out);
    for (uint32_t k = 0; k < rank; k++) {
        bool is_wild = below(d, 8) == 0;
        int64_t extent = extents[below(d, is_wild ? (is_small ? 7 : 11) : 5)];
        extent = is_small && elements * extent > MOST_ELEMS ? 1 : extent;
        elements = is_small ? elements * extent : 0;
        fprintf(d->out, "%s%lld", k > 0 ? "," : "", (long long)extent);
    }
    fputc(']', d->out);
    return elements;
}

/* Data: its values are small, so that they also are indices. */
static void draw_data(Draw *d, const char *name) {
    uint32_t type = below(d, below(d, 3) == 0 ? 12 : 3);
    fprintf(d->out, "const %s %s", name, dtypes[type]);
    int64_t elements = draw_shape(d, true);
    switch (type >= 7 ? 3 : below(d, 6)) {
    case 0:
        fprintf(d->out, " = splat %u\n", below(d, 2));
        return;
    case 3:
        fprintf(d->out, " = unknown\n");
        return;
    case 4:
        fprintf(d->out, " stored ");
        draw_shape(d, true);
        fprintf(d->out, " = unknown\n");
        return;
    default:
        break;
    }
    fprintf(d->out, " =");
    for (int64_t k = 0; k < elements; k++) {
        fprintf(d->out, " %u", type == 6 ? below(d, 2) : below(d, 3));
    }
    fputc('\n', d->out);
}

/* Axes, starts, sizes: a list of integers, or one. */
static void draw_configuration(Draw *d, const char *name) {
    uint32_t count = below(d, 5);
    bool is_scalar = below(d, 4) == 0;
    fprintf(d->out, "const %s int64[", name);
    if (!is_scalar) {
        fprintf(d->out, "%u", count);
    }
    fprintf(d->out, "] =");
    for (uint32_t k = 0; k < (is_scalar ? 1 : count); k++) {
        fprintf(d->out, " %s", draw_number(d));
    }
    fputc('\n', d->out);
}

static void draw_attributes(Draw *d) {
    static const char *const names[] = {"axis",
                                        "axes",
                                        "perm",
                                        "split",
                                        "starts",
                                        "ends",
                                        "steps",
                                        "shape",
                                        "new_shape",
                                        "start",
                                        "end",
                                        "num_outputs",
                                        "batch_dims",
                                        "begin_mask",
                                        "end_mask",
                                        "new_axis_mask",
                                        "ellipsis_mask",
                                        "shrink_axis_mask",
                                        "to",
                                        "dtype",
                                        "keepdims",
                                        "fmod",
                                        "pads",
                                        "value",
                                        "value_int",
                                        "value_ints",
                                        "value_float",
                                        "value_floats",
                                        "broadcast",
                                        "allowzero",
                                        "repeats",
                                        "blocksize",
                                        "k",
                                        "noop_with_empty_axes",
                                        "\"\"",
                                        "carried",
                                        "scanned",
                                        "sliced",
                                        "trips"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        switch (below(d, 16)) {
        case 0:
        case 1:
            fprintf(d->out, " %s=%s", names[k], draw_number(d));
            break;
        case 2:
            fprintf(d->out, " %s=[", names[k]);
            draw_list(d, ",");
            fputc(']', d->out);
            break;
        case 3:
            fprintf(d->out, below(d, 2) == 0 ? " %s=0.5" : " %s=word", names[k]);
            break;
        case 4:
            fprintf(d->out, " %s=tensor(%c)", names[k], 'a' + (int)below(d, 4));
            break;
        default:
            break;
        }
    }
}

static void draw_outputs(Draw *d, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        if (below(d, 3) > 0) {
            fprintf(d->out, "value y%u %s", k, below(d, 3) == 0 ? dtypes[below(d, 12)] : "?");
            if (below(d, 4) > 0) {
                draw_shape(d, false);
            }
            fputc('\n', d->out);
        }
    }
}

static void draw_inputs(Draw *d, OpId op) {
    static const char *const data[] = {"a", "b", "c", "d", "x"}, *const configuration[] = {"e", "f", "g", "h"};
    uint32_t count = below(d, 6);
    for (uint32_t k = 0; k < count; k++) {
        bool is_data = (op_input_role(op, k) != 'k') == (below(d, 8) > 0);
        const char *name = is_data ? data[below(d, below(d, 8) == 0 ? 5 : 4)] : configuration[below(d, 4)];
        fprintf(d->out, " %s", below(d, 12) == 0 ? "_" : name);
    }
}

static void draw_graph(Draw *d, OpId op) {
    static const char *const formats[] = {"onnx 13", "tflite", "onnx 3"};
    const OpInfo *info = op_info(op);
    uint32_t outputs = below(d, 8) == 0 ? below(d, 5) : 1;
    fprintf(d->out, "format %s\ninput x float32[2,3]\n", formats[below(d, 3)]);
    for (int k = 0; k < 4; k++) {
        draw_data(d, (char[]){(char)('a' + k), '\0'});
        draw_configuration(d, (char[]){(char)('e' + k), '\0'});
    }
    draw_outputs(d, outputs);
    fprintf(d->out, "node %s%s%s@%u:", info->domain, info->domain[0] == '\0' ? "" : ".", info->name, 1 + below(d, 18));
    draw_inputs(d, op);
    fprintf(d->out, " ->");
    for (uint32_t k = 0; k < outputs; k++) {
        fprintf(d->out, below(d, 8) == 0 ? " _" : " y%u", k);
    }
    draw_attributes(d);
    fprintf(d->out, "\nnode Relu: x -> z\noutput z\n");
}

/* ---- Every operator */

static bool pass(Graph *graph, Work *work) {
    return graph_check(graph, work) && graph_inline(graph, work) && graph_bind_dims(graph, NULL, 0, work) &&
           graph_infer(graph, work);
}

static void must_stay_sound(const Graph *graph, const char *body, Work *work) {
    if (!graph_check(graph, work)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s\nis not sound behind the passes", body);
    }
}

static bool take(Work *work, const char *body) {
    Graph *graph = parse_text(work, body);
    if (graph == NULL || !pass(graph, work)) {
        return false;
    }
    must_stay_sound(graph, body, work);
    if (!graph_assign_names(graph, NULL, 0, work) || !graph_fold_qdq(graph, work)) {
        return false;
    }
    must_stay_sound(graph, body, work);
    return true;
}

static bool draw_and_take(OpId op, uint64_t turn) {
    Work work;
    char *body = NULL;
    size_t length = 0;
    Draw d = {.random = ((uint64_t)op * 100003 + turn + 1) * 0x9E3779B97F4A7C15u};
    d.out = open_memstream(&body, &length);
    assert_non_null(d.out);
    draw_graph(&d, op);
    fclose(d.out);
    if (getenv("S0_TELL") != NULL) {
        fprintf(stderr, "%s\n", body);
    }
    WORK_BEGIN(&work);
    bool taken = take(&work, body);
    work_free(&work);
    free(body);
    return taken;
}

static void test_every_operator(void **state) {
    (void)state;
    const char *more = getenv("S0_DRAWS");
    uint64_t draws = more == NULL ? DRAWS_EACH : strtoull(more, NULL, 10);
    int taken = 0;
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        for (uint64_t turn = 0; turn < draws; turn++) {
            taken += draw_and_take((OpId)op, turn);
        }
    }
    print_message("%d taken\n", taken);
    assert_true(taken > 500);
}

/* ---- What broke once */

typedef struct {
    const char *name;
    const char *body;
    const char *y; /* its elements; "unknown": a constant of unknown bytes; "none": no constant; null: an error */
} Row;

static const Row rows[] = {
    {"a second output of Gather, without rows",
     "format onnx 13\nconst d int32[3] = 1 2 3\nconst i int64[0] =\nvalue y int32[2]\n"
     "node Gather: d i -> first y\noutput y\n",
     "unknown"},
    {"sizes of Split that are not known",
     "format onnx 13\nconst d int32[4] = 1 2 3 4\nconst s int64[2] = unknown\nvalue p int32[4000]\n"
     "value y int32[3]\nnode Split: d s -> p y\noutput y\n",
     "unknown"},
    {"sizes of Split that are not known, of another rank",
     "format onnx 13\nconst d int32[4] = 1 2 3 4\nconst s int64[1] = unknown\nvalue y int32[2,2,2]\n"
     "node Split: d s -> y\noutput y\n",
     "unknown"},
    {"sizes of SPLIT_V that are absent",
     "format tflite\nconst d int32[4] = 1 2 3 4\nconst a int32[] = 0\nvalue p int32[4000]\nvalue y int32[3]\n"
     "node tflite.SPLIT_V: d _ a -> p y\noutput y\n",
     "unknown"},
    {"repeats of Tile that are not known",
     "format onnx 13\nconst d int32[2] = 1 2\nconst n int64[1] = unknown\nvalue y int32[5]\n"
     "node Tile: d n -> y\noutput y\n",
     "unknown"},
    {"an attribute without a name",
     "format tflite\nconst d int32[4] = 1 2 3 4\nconst b int32[1] = 1\nconst n int32[1] = 2\n"
     "node tflite.SLICE: d b n -> y \"\"=[4611686018427387904]\noutput y\n",
     "2 3"},
    {"a permutation that is one number, with another behind it",
     "format onnx 13\nconst d int32[2] = 5 6\nconst p int64[1] = 99\nnode Transpose: d p -> y perm=0\noutput y\n",
     "5 6"},
    {"Slice along one axis twice",
     "format onnx 13\nconst d int32[3] = 1 2 3\nconst s int64[2] = 2 2\nconst e int64[2] = 3 3\n"
     "const a int64[2] = 0 -1\nnode Slice: d s e a -> y\noutput y\n",
     NULL},
    {"Concat without an axis before opset 4",
     "format onnx 3\nconst a int32[2,1] = 1 2\nconst b int32[2,2] = 3 4 5 6\nnode Concat@3: a b -> y\noutput y\n",
     "1 3 4 2 5 6"},
    {"Concat of two types",
     "format onnx 13\nconst a int32[1] = 1\nconst b float32[1] = 2\nnode Concat: a b -> y axis=0\noutput y\n",
     "unknown"},
    {"Cast of two inputs",
     "format onnx 13\nconst a int8[2] = 1 2\nconst b int8[5] = splat 3\nconst c int8[5] = 1 2 3 4 5\n"
     "node Cast: a c -> y to=6\noutput y\n",
     "unknown"},
    {"Clip with bounds longer than the data",
     "format onnx 13\nconst a int8[2] = 1 2\nconst b int8[5] = 1 2 3 4 5\nnode Clip: a b -> y\noutput y\n", "unknown"},
    {"a scale longer than the operands",
     "format onnx 13\nconst a int8[2] = 1 2\nconst b float32[5] = 1 2 3 4 5\n"
     "node com.microsoft.QLinearAdd: a b a a b a b -> y\noutput y\n",
     "unknown"},
    {"Where of two inputs",
     "format onnx 13\nconst c bool[2] = 0 0\nconst a int32[2] = 1 2\nnode Where: c a -> y\noutput y\n", "unknown"},
    {"Where of two types",
     "format onnx 13\nconst c bool[2] = 0 0\nconst a int32[2] = 1 2\nconst b float32[2] = 1 2\n"
     "node Where: c a b -> y\noutput y\n",
     "unknown"},
    {"Max of two types",
     "format onnx 13\nconst a int32[2] = 1 2\nconst b float32[2] = 1 2\nnode Max: a b -> y\noutput y\n", "unknown"},
    {"a comparison that the file calls an integer",
     "format tflite\nconst a float32[2] = 1 2\nvalue y float32[2]\nnode Equal: a a -> y\noutput y\n", "unknown"},
    {"a sum that the file calls an integer",
     "format tflite\nconst a float32[2] = 1 2\nconst k int32[1] = 0\nvalue y int32\nnode ReduceSum: a k -> y\n"
     "output y\n",
     "unknown"},
    {"Range of two types",
     "format onnx 13\nconst a int64[] = 0\nconst b int64[] = 3\nconst c float32[] = 1\nnode Range: a b c -> y\n"
     "output y\n",
     "unknown"},
    {"indices that are no integers",
     "format onnx 13\nconst d int32[3] = 1 2 3\nconst i float32[1] = 0\nnode Gather: d i -> y\noutput y\n", "unknown"},
    {"BITCAST to more elements",
     "format tflite\nconst a int32[2] = 1 2\nvalue y int32[100]\nnode tflite.BITCAST: a -> y\noutput y\n", "unknown"},
    {"a broadcast along axes that an attribute names",
     "format tflite\nconst a int32[2] = 1 2\nvalue y int32[2,2]\n"
     "node tflite.STABLEHLO_BROADCAST_IN_DIM: a -> y broadcast_dimensions=[0]\noutput y\n",
     "unknown"},
    {"Reshape to a shape that is not known",
     "format onnx 13\nconst a int32[2] = 1 2\nconst n int64[1] = unknown\nvalue y int32[100]\n"
     "node Reshape: a n -> y\noutput y\n",
     "unknown"},
    {"a second output of Shape",
     "format onnx 13\ninput x float32[2,3]\nvalue z int64[5]\nnode Shape: x -> y z\noutput y\noutput z\n", "none"},
    {"a shape that the file calls a real",
     "format tflite\ninput x float32[2,3]\nvalue y float32[2]\nnode Shape: x -> y\noutput y\n", "none"},
    {"a number of Constant that is a word", "format onnx 13\nnode Constant: -> y value_float=word\noutput y\n",
     "unknown"},
    {"a number of Constant that is an empty list", "format onnx 13\nnode Constant: -> y value_int=[]\noutput y\n",
     "unknown"},
    {"integers of Constant that are reals", "format onnx 13\nnode Constant: -> y value_ints=[1.5,2.5]\noutput y\n",
     "unknown"},
    {"a real that fills integers",
     "format onnx 13\nconst n int64[1] = 2\nnode ConstantFill: n -> y value=2.0 dtype=6\noutput y\n", "2 2"},
    {"a tensor that the node lists",
     "format onnx 13\nnode GivenTensorFill: -> y shape=[2] values=[1.0,2.0] dtype=6\noutput y\n", "unknown"},
    {"a second output of no size",
     "format onnx 13\ninput x float32[2]\nvalue z float32[281474976710657]\nnode Relu: x -> y z\noutput y\noutput z\n",
     NULL},
    {"an unknown constant that does not repeat",
     "format onnx 13\nconst a int8[2] stored [3,3] = unknown\nnode Transpose: a -> y\noutput y\n", NULL},
    {"a constant that a node writes",
     "format onnx 13\ninput x int32[2]\nconst y int32[2] = 1 2\nnode Relu: x -> y\noutput y\n", NULL},
};

static const char *elements_text(Work *work, const Value *value) {
    Floats numbers_of;
    const char *text = "";
    if (value->constant == NULL) {
        return "none";
    }
    if (!value->constant->is_known || !const_numbers(value, &work->keep, &numbers_of)) {
        return "unknown";
    }
    for (uint32_t k = 0; k < numbers_of.count; k++) {
        text = arena_text(&work->keep, "%s%s%g", text, k > 0 ? " " : "", numbers_of.at[k]);
    }
    return text;
}

/* What is stored has the value's extents, or 1. */
static bool repeats(const Value *value) {
    const Shape *stored = &value->constant->stored;
    bool does = stored->rank == value->shape.rank;
    for (uint32_t k = 0; does && k < stored->rank; k++) {
        does = stored->dim[k] == 1 || stored->dim[k] == value->shape.dim[k];
    }
    return does;
}

static const char *what_came(Work *work, const Row *row) {
    Graph *graph = parse_text(work, row->body);
    if (graph == NULL || !graph_check(graph, work) || !graph_infer(graph, work)) {
        return "an error";
    }
    const Value *y = value_of(graph, "y");
    if (!graph_check(graph, work) || (y->constant != NULL && !repeats(y))) {
        return "unsound";
    }
    return elements_text(work, y);
}

static void check_row(Work *work, const void *argument) {
    const Run *run = argument;
    const Row *row = run->row;
    const char *expected = row->y == NULL ? "an error" : row->y, *got = what_came(work, row);
    if (strcmp(got, expected) != 0) {
        print_error("%s: got %s, expected %s\n", row->name, got, expected);
        ++*run->wrong;
    }
}

static void test_rows(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_row, &(Run){&rows[k], &wrong});
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_every_operator),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
