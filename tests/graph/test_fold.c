/* Folding: each row is a small graph; whether value `y` is a constant, what of it is stored, in how many bytes, and its
 * elements, follow by hand from the operators' specifications. Expanded constants must stay as small as what they
 * repeat (cases A1, A2, A9), chains of constants must stay constant (case L6), and what is random or depends on an
 * input must not fold. */
#include "rows.h"

#include "graph/fold.h"
#include "graph/passes.h"

typedef struct {
    const char *name;
    const char *body;
    const char *stored;   /* shape of what is stored; null: y is no constant */
    int64_t bytes;        /* -1: constant, but its bytes are not known */
    const char *elements; /* all of y, row-major; null is not looked at */
} Case;

static const Case cases[] = {
    /* What repeats stays a rule. */
    {"A1 expand",
     "format onnx 13\nconst s float32[1,48,1,1] = splat 3\nconst n int64[4] = 1 48 360 640\n"
     "node Expand: s n -> y\noutput y\n",
     "[1,1,1,1]", 4, NULL},
    {"A1 expand of a vector",
     "format onnx 13\nconst s float32[1,3,1,1] = 1 2 3\nconst n int64[4] = 1 3 360 640\nnode Expand: s n -> y\noutput "
     "y\n",
     "[1,3,1,1]", 12, NULL},
    {"A1 tile",
     "format onnx 13\nconst s float32[1,3,1,1] = 1 2 3\nconst n int64[4] = 1 1 360 640\nnode Tile: s n -> y\n"
     "output y\n",
     "[1,3,1,1]", 12, NULL},
    {"A1 broadcast to",
     "format tflite\nconst s int8[3] = 1 2 3\nconst n int32[4] = 1 36 64 3\nvalue y int8\n"
     "node Expand: s n -> y\noutput y\n",
     "[1,1,1,3]", 3, NULL},
    {"A9 expand to more axes",
     "format onnx 13\nconst s int32[5] = 1 2 3 4 5\nconst n int64[2] = 3 5\n"
     "node Expand: s n -> y\noutput y\n",
     "[1,5]", 20, "1 2 3 4 5 1 2 3 4 5 1 2 3 4 5"},
    {"A2 constant of shape",
     "format onnx 13\nconst n int64[4] = 1 32 128 128\nconst v float32[1] = 1\n"
     "node ConstantOfShape: n -> y value=tensor(v)\noutput y\n",
     "[1,1,1,1]", 4, NULL},
    {"constant of shape, zero",
     "format onnx 13\nconst n int64[2] = 2 3\nnode ConstantOfShape: n -> f\nnode Cast: f -> y to=6\noutput y\n",
     "[1,1]", 4, "0 0 0 0 0 0"},
    {"fill",
     "format tflite\nconst n int32[2] = 2 300000\nconst v int32[] = 7\nvalue y int32\n"
     "node tflite.FILL: n v -> y\noutput y\n",
     "[1,1]", 4, NULL},
    {"arithmetic on rules", /* (2 everywhere) * (1 2 3 along axis 1) stores three elements */
     "format onnx 13\nconst n int64[4] = 1 3 360 640\nconst v int32[1] = 2\nconst c int32[3,1,1] = 1 2 3\n"
     "node ConstantOfShape: n -> f value=tensor(v)\nnode Mul: f c -> y\noutput y\n",
     "[1,3,1,1]", 12, NULL},
    {"reshape of a rule",
     "format onnx 13\nconst s int32[1,3,1] = 1 2 3\nconst n int64[3] = 200 3 1\n"
     "const m int64[4] = 1 200 1 3\nnode Expand: s n -> e\nnode Reshape: e m -> y\noutput y\n",
     "[1,1,1,3]", 12, NULL},
    {"reshape that mixes a rule", /* 1 2 3 repeated, as 2 x 3 x 2: not a rule any more; 12 elements are computed */
     "format onnx 13\nconst s int32[1,3] = 1 2 3\nconst n int64[2] = 4 3\nconst m int64[3] = 2 3 2\n"
     "node Expand: s n -> e\nnode Reshape: e m -> y\noutput y\n",
     "[2,3,2]", 48, "1 2 3 1 2 3 1 2 3 1 2 3"},
    {"transpose of a rule",
     "format onnx 13\nconst s int32[1,3,1,1] = 1 2 3\nconst n int64[4] = 2 3 100 100\n"
     "node Expand: s n -> e\nnode Transpose: e -> y perm=[0,2,3,1]\noutput y\n",
     "[1,1,1,3]", 12, NULL},
    {"squeeze of a rule",
     "format onnx 13\nconst s int32[1,3,1,1] = 1 2 3\nconst n int64[4] = 1 3 100 100\n"
     "const a int64[1] = 0\nnode Expand: s n -> e\nnode Squeeze: e a -> y\noutput y\n",
     "[3,1,1]", 12, NULL},
    {"tile that can't be a rule",
     "format onnx 13\nconst s int32[2] = 1 2\nconst n int64[1] = 3\nnode Tile: s n -> y\n"
     "output y\n",
     "[6]", 24, "1 2 1 2 1 2"},

    /* What is stored keeps its bytes, whatever their number. */
    {"reshape of weights",
     "format onnx 13\nconst w float32[100,100] = splat 1\nconst d float32[2,3] = 1 2 3 4 5 6\n"
     "const n int64[2] = 3 -1\nnode Reshape: d n -> y\noutput y\n",
     "[3,2]", 24, NULL},
    {"transpose of small weights",
     "format onnx 13\nconst w int32[2,3] = 1 2 3 4 5 6\nnode Transpose: w -> y\noutput y\n", "[3,2]", 24,
     "1 4 2 5 3 6"},
    {"transpose of large weights",
     "format onnx 13\nconst w float32[100,200] = unknown\nnode Transpose: w -> y\noutput y\n", "[200,100]", -1, NULL},
    {"A7 dequantize",
     "format onnx 21\nconst w int4[64,72] = unknown\nconst s float32[64] = splat 1\n"
     "node DequantizeLinear@21: w s -> y axis=0\noutput y\n",
     "[64,72]", -1, NULL},
    {"L6 chain",
     "format onnx 13\nconst w int8[4] = 1 2 3 4\nconst s float32[] = 1\nconst z int8[] = 0\n"
     "node DequantizeLinear: w s z -> a\nnode QuantizeLinear: a s z -> b\n"
     "node DequantizeLinear: b s z -> y\noutput y\n",
     "[4]", -1, NULL},
    {"int4", "format onnx 21\nconst w int4[2,3] = -1 3 -8 7 -2 1\nnode Transpose: w -> y\noutput y\n", "[3,2]", 3,
     "-1 7 3 -2 -8 1"},

    /* Computations on shapes. */
    {"shape of an input", "format onnx 13\ninput x float32[2,3,5]\nnode Shape: x -> y\noutput y\n", "[3]", 24, "2 3 5"},
    {"shape window", "format onnx 15\ninput x float32[2,3,5]\nnode Shape@15: x -> y start=-2\noutput y\n", "[2]", 16,
     "3 5"},
    {"size", "format onnx 13\ninput x float32[2,3,5]\nnode Size: x -> y\noutput y\n", "[]", 8, "30"},
    {"rank", "format tflite\ninput x float32[2,3,5]\nvalue y int32\nnode tflite.RANK: x -> y\noutput y\n", "[]", 4,
     "3"},
    {"zeros like",
     "format tflite\ninput x float32[2,3000,5]\nvalue y float32\nnode tflite.ZEROS_LIKE: x -> y\noutput y\n", "[1,1,1]",
     4, NULL},
    {"gather",
     "format onnx 13\ninput x float32[2,3,5]\nconst i int64[2] = -1 0\nnode Shape: x -> s\n"
     "node Gather: s i -> y\noutput y\n",
     "[2]", 16, "5 2"},
    {"gather rows",
     "format onnx 13\nconst w int32[2,3] = 1 2 3 4 5 6\nconst i int64[1,2] = 2 0\n"
     "node Gather: w i -> y axis=1\noutput y\n",
     "[2,1,2]", 16, "3 1 6 4"},
    {"concat",
     "format onnx 13\nconst a int32[2,1] = 1 2\nconst b int32[2,2] = 3 4 5 6\nnode Concat: a b -> y axis=1\n"
     "output y\n",
     "[2,3]", 24, "1 3 4 2 5 6"},
    {"slice",
     "format onnx 13\nconst w int32[2,4] = 1 2 3 4 5 6 7 8\nconst s int64[1] = -1\nconst e int64[1] = -99\n"
     "const a int64[1] = 1\nconst t int64[1] = -2\nnode Slice: w s e a t -> y\noutput y\n",
     "[2,2]", 16, "4 2 8 6"},
    {"split",
     "format onnx 13\nconst w int32[2,3] = 1 2 3 4 5 6\nconst s int64[2] = 2 1\nnode Split: w s -> z y axis=1\n"
     "output y\noutput z\n",
     "[2,1]", 8, "3 6"},
    {"pack",
     "format tflite\nconst a int32[] = 7\nconst b int32[] = 8\nvalue y int32\nnode tflite.PACK: a b -> y axis=0\n"
     "output y\n",
     "[2]", 8, "7 8"},
    {"pack inside",
     "format tflite\nconst a int32[2] = 1 2\nconst b int32[2] = 3 4\nvalue y int32\n"
     "node tflite.PACK: a b -> y axis=1\noutput y\n",
     "[2,2]", 16, "1 3 2 4"},
    {"strided slice",
     "format tflite\ninput x float32[2,3,5]\nvalue s int32\nvalue y int32\nconst b int32[1] = 1\n"
     "const e int32[1] = 2\nconst t int32[1] = 1\nnode Shape: x -> s\n"
     "node tflite.STRIDED_SLICE: s b e t -> y shrink_axis_mask=1\noutput y\n",
     "[]", 4, "3"},
    {"range",
     "format onnx 13\nconst a int64[] = 10\nconst b int64[] = 3\nconst d int64[] = -3\nnode Range: a b d -> y\n"
     "output y\n",
     "[3]", 24, "10 7 4"},
    {"div truncates", "format onnx 13\nconst a int64[2] = 7 -7\nconst b int64[] = 2\nnode Div: a b -> y\noutput y\n",
     "[2]", 16, "3 -3"},
    {"mod has the divisor's sign",
     "format onnx 13\nconst a int64[2] = 7 -7\nconst b int64[] = 3\nnode Mod: a b -> y\n"
     "output y\n",
     "[2]", 16, "1 2"},
    {"wraps", "format onnx 13\nconst a int8[] = 127\nconst b int8[] = 2\nnode Add: a b -> y\noutput y\n", "[]", 1,
     "-127"},
    {"division by 0", "format onnx 13\nconst a int64[] = 7\nconst b int64[] = 0\nnode Div: a b -> y\noutput y\n", "[]",
     -1, NULL},
    {"compare", "format onnx 13\nconst a int64[3] = 1 2 3\nconst b int64[] = 2\nnode LessOrEqual: a b -> y\noutput y\n",
     "[3]", 3, "1 1 0"},
    {"where",
     "format onnx 13\nconst c bool[2] = 1 0\nconst a int64[] = 5\nconst b int64[2] = 6 7\nnode Where: c a b -> y\n"
     "output y\n",
     "[2]", 16, "5 7"},
    {"cast to int", "format onnx 13\nconst a float32[2] = 2.75 -2.75\nnode Cast: a -> y to=7\noutput y\n", "[2]", 16,
     "2 -2"},
    {"float arithmetic", /* floor(5 * 0.5) */
     "format onnx 13\nconst a float32[] = 5\nconst b float32[] = 0.5\nnode Mul: a b -> m\nnode Floor: m -> f\n"
     "node Cast: f -> y to=6\noutput y\n",
     "[]", 4, "2"},
    {"reduce",
     "format onnx 13\ninput x float32[2,3,5]\nnode Shape: x -> s\nnode ReduceProd: s -> y keepdims=0\noutput y\n", "[]",
     8, "30"},
    {"max of many",
     "format onnx 13\nconst a int64[2] = 1 9\nconst b int64[2] = 5 2\nconst c int64[] = 3\n"
     "node Max: a b c -> y\noutput y\n",
     "[2]", 16, "5 9"},
    {"a shape feeds a reshape",
     "format onnx 13\ninput x float32[2,3,5]\nconst i int64[1] = 0\nconst m int64[1] = -1\n"
     "node Shape: x -> s\nnode Gather: s i -> b\nnode Concat: b m -> n axis=0\n"
     "node Reshape: x n -> r\nnode Shape: r -> y\noutput y\n",
     "[2]", 16, "2 15"},
    {"zero elements",
     "format onnx 13\nconst n int64[2] = 0 3\nnode ConstantOfShape: n -> e\nnode Relu: e -> y\noutput y\n", "[1,1]", 4,
     NULL},

    /* What does not fold. */
    {"depends on an input",
     "format onnx 13\ninput x float32[2]\nconst c float32[2] = 1 2\nnode Add: x c -> y\noutput y\n", NULL, 0, NULL},
    {"random", "format onnx 13\nnode RandomNormal: -> y shape=[2,3]\noutput y\n", NULL, 0, NULL},
    {"random like", "format onnx 13\nconst c float32[2] = 1 2\nnode RandomNormalLike: c -> y\noutput y\n", NULL, 0,
     NULL},
    {"custom",
     "format onnx 13\nconst c float32[2] = 1 2\nvalue y float32[2]\nnode Custom(my.Thing): c -> y\noutput y\n", NULL, 0,
     NULL},
    {"state", "format tflite\nstate s float32[2]\nvalue y float32\nnode Relu: s -> y\noutput y\n", NULL, 0, NULL},
    {"legacy alignment is not evaluated",
     "format onnx 6\nconst a int32[2,2] = 1 2 3 4\nconst b int32[2] = 10 20\nnode Add@6: a b -> y broadcast=1 axis=0\n"
     "output y\n",
     "[2,2]", -1, NULL},
};

static const char *elements_text(Work *work, const Value *value) {
    Ints ints = {0, NULL};
    const char *text = "";
    if (!const_ints(value, &work->scratch, &ints)) {
        return "none";
    }
    for (uint32_t k = 0; k < ints.count; k++) {
        text = arena_text(&work->keep, "%s%s%lld", text, k == 0 ? "" : " ", (long long)ints.at[k]);
    }
    return text;
}

static bool is_case_right(Work *work, const Case *c) {
    Graph *graph = graph_of_row(work, c->name, c->body);
    if (graph == NULL || !graph_infer(graph, work)) {
        diags_print(&work->diags, c->name, stderr);
        return false;
    }
    const Value *y = value_of(graph, "y");
    const Const *got = y->constant;
    const Node *producer = graph_node(graph, y->producer);
    if (got == NULL || c->stored == NULL) {
        return got == NULL && c->stored == NULL && !producer->is_constant;
    }
    Str stored = shape_text(&work->keep, &got->stored);
    int64_t bytes = got->is_known ? (int64_t)got->bytes.len : -1;
    const char *elements = c->elements == NULL ? "" : elements_text(work, y);
    bool is_right = str_eq(stored, str_from(c->stored)) && bytes == c->bytes && producer->is_constant &&
                    strcmp(elements, c->elements == NULL ? "" : c->elements) == 0;
    if (!is_right) {
        print_error("%s: stored " STR_FMT ", %lld bytes, elements %s\n", c->name, STR_ARG(stored), (long long)bytes,
                    elements);
    }
    return is_right;
}

static void check_case(Work *work, const void *argument) {
    const Run *run = argument;
    const Case *c = run->row;
    if (!is_case_right(work, c)) {
        print_error("%s: wrong\n", c->name);
        ++*run->wrong;
    }
}

static void constants_fold(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        with_work(check_case, &(Run){&cases[k], &wrong});
    }
    assert_int_equal(wrong, 0);
}

/* Float arithmetic equals the float32 operation of the machine, bit for bit, for random operands. */
static void check_floats(Work *work, const void *argument) {
    uint32_t draw = *(const uint32_t *)argument;
    float a[2];
    for (size_t k = 0; k < 2; k++) {
        draw = draw * 1664525u + 1013904223u;
        a[k] = ((float)(draw >> 8) - 8000000.0f) / 1048573.0f;
    }
    static const char *const ops[] = {"Add", "Sub", "Mul", "Div"};
    const float expected[] = {a[0] + a[1], a[0] - a[1], a[0] * a[1], a[0] / a[1]};
    for (size_t k = 0; k < 4; k++) {
        Graph *graph = parse_sound(work, arena_text(&work->keep,
                                                    "format onnx 13\nconst a float32[] = %.9g\n"
                                                    "const b float32[] = %.9g\nnode %s: a b -> y\noutput y\n",
                                                    (double)a[0], (double)a[1], ops[k]));
        assert_true(graph_infer(graph, work));
        const Const *got = value_of(graph, "y")->constant;
        assert_true(got->is_known);
        assert_memory_equal(got->bytes.ptr, &expected[k], sizeof(float));
    }
}

static void floats_round_once(void **state) {
    (void)state;
    for (uint32_t seed = 1; seed <= 200; seed++) {
        with_work(check_floats, &seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_fold),
        cmocka_unit_test(floats_round_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
