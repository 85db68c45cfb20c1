/* Shape inference on graphs that are wrong: each row must end in its status, with the named parts of its message. */
#include "rows.h"

#include "graph/passes.h"

typedef struct {
    const char *name;
    const char *body;
    s0_status status;
    const char *told[6];
} BadCase;

static const BadCase bad_cases[] = {
    {"broadcast",
     "format onnx 13\ninput a float32[2,3,4]\ninput b float32[3,5]\nnode Add sum: a b -> y\noutput y\n",
     S0_BAD_INPUT,
     {"'sum' (Add)", "'a'", "'b'", "[2,3,4]", "[3,5]", "with Reshape"}},
    {"dtype contradiction",
     "format onnx 13\ninput x float32[2]\nvalue y int8[2]\nnode Relu r: x -> y\noutput y\n",
     S0_BAD_INPUT,
     {"r", "y", "int8", "float32"}},
    {"data dependent",
     "format onnx 13\ninput x float32[2,3]\nnode NonZero nz: x -> y\noutput y\n",
     S0_REFUSED,
     {"nz", "NonZero", "y", "depends on the data"}},
    {"custom without a shape",
     "format onnx 13\ninput x float32[2]\nnode Custom(my.Thing) odd: x -> y\noutput y\n",
     S0_REFUSED,
     {"odd", "my.Thing", "y", "value_info"}},
    {"custom of TFLite without a shape", /* a hint of its own format */
     "format tflite\ninput x float32[2]\nnode Custom(TFLite_Detection_PostProcess) odd: x -> y\noutput y\n",
     S0_REFUSED,
     {"odd", "TFLite_Detection_PostProcess", "y", "Tensor.shape"}},
    {"batch norm axis", /* case B8: 6 parameters, axis 3 has 7 */
     "format onnx 13\ninput x float32[1,6,7,7]\nconst p float32[6] = splat 1\n"
     "node BatchNormalization bn: x p p p p -> y axis=3\noutput y\n",
     S0_REFUSED,
     {"bn", "[6]", "7 elements", "axis 3", "axis 1 has 6 elements"}},
    {"batch norm two axes", /* case D10 */
     "format onnx 13\ninput x float32[1,7,7,6]\nconst p float32[6] = splat 1\n"
     "node BatchNormalization bn: x p p p p -> y axis=[1,3]\noutput y\n",
     S0_REFUSED,
     {"bn", "2 channel axes"}},
    {"scale [16], rank 1, default axis", /* case C1 */
     "format onnx 13\ninput x int8[16]\nconst s float32[16] = splat 1\nnode DequantizeLinear dq: x s -> y\noutput y\n",
     S0_REFUSED,
     {"dq", "axis 1", "[16]", "axis 0 has 16 elements"}},
    {"scales do not fit",
     "format onnx 13\ninput x int8[2,3]\nconst s float32[2] = splat 1\n"
     "node DequantizeLinear dq: x s -> y\noutput y\n",
     S0_REFUSED,
     {"dq", "[2]", "3 elements", "axis 0 has 2 elements"}},
    {"blocked scales",
     "format onnx 21\ninput x int8[2,6]\nconst s float32[2,3] = splat 1\n"
     "node DequantizeLinear@21 dq: x s -> y axis=1 block_size=3\noutput y\n",
     S0_BAD_INPUT,
     {"dq", "[2,3]", "[2,2]"}},
    {"quantised dimension", /* the kind of case B9 where only inference knows the shape; graph_check knows the file's */
     "format tflite\ninput x int8[1,4,4,3]\nvalue y int8 scale=[1,2,3] axis=2\nnode Relu r: x -> y\noutput y\n",
     S0_REFUSED,
     {"r", "y", "3 scales", "axis 2", "[1,4,4,3]"}},
    {"zero point", /* no code of a dtype that only inference knows */
     "format tflite\ninput x uint8[1,4]\nvalue y ?[1,4] scale=1 zero=-5\nnode Relu r: x -> y\noutput y\n",
     S0_BAD_INPUT,
     {"y", "zero point [0]", "-5", "0 to 255"}},
    {"matmul",
     "format onnx 13\ninput a float32[2,3]\ninput b float32[4,5]\nnode MatMul mm: a b -> y\noutput y\n",
     S0_BAD_INPUT,
     {"mm", "[2,3]", "[4,5]"}},
    {"conv channels",
     "format onnx 13\ninput x float32[1,4,9,9]\nconst w float32[6,3,3,3] = splat 0\n"
     "node Conv c: x w -> y\noutput y\n",
     S0_BAD_INPUT,
     {"c", "[6,3,3,3]", "[1,4,9,9]"}},
    {"conv window",
     "format onnx 13\ninput x float32[1,4,2,9]\nconst w float32[6,4,3,3] = splat 0\n"
     "node Conv c: x w -> y\noutput y\n",
     S0_BAD_INPUT,
     {"c", "window of 3", "at most 2"}},
    {"reshape",
     "format onnx 13\ninput x float32[2,3]\nconst s int64[2] = 4 -1\nnode Reshape r: x s -> y\noutput y\n",
     S0_BAD_INPUT,
     {"r", "[2,3]", "[4,?]"}},
    {"concat",
     "format onnx 13\ninput a float32[2,3]\ninput b float32[3,3]\nnode Concat c: a b -> y axis=1\noutput y\n",
     S0_BAD_INPUT,
     {"c", "[3,3]", "[2,3]", "axis 1"}},
    {"axis",
     "format onnx 13\ninput x float32[2,3]\nnode Softmax: x -> s\nnode ReduceMax m: s -> y axes=[2]\noutput y\n",
     S0_BAD_INPUT,
     {"m", "axis 2", "-2 to 1"}},
    {"missing input",
     "format onnx 13\ninput x float32[2,3]\nnode MatMul m: x -> y\noutput y\n",
     S0_BAD_INPUT,
     {"m", "required input is missing"}},
    {"size overflow", /* case J1: 2^64 elements, and a product that wraps */
     "format onnx 13\ninput x float32[4294967296,4294967296]\nnode Relu: x -> y\noutput y\n",
     S0_REFUSED,
     {"x", "[4294967296,4294967296]", "64 bits"}},
    {"tile overflow",
     "format onnx 13\ninput x float32[4294967296]\nconst r int64[1] = 9223372036854775807\n"
     "node Tile t: x r -> y\noutput y\n",
     S0_BAD_INPUT,
     {"t"}},
    {"negative extent",
     "format onnx 13\nconst s int64[2] = 3 -5\nnode ConstantOfShape c: s -> y\noutput y\n",
     S0_BAD_INPUT,
     {"c", "y", "axis 1", "-5"}},
    {"rank",
     "format onnx 13\ninput x float32[1,1,1,1,1,1,1,1]\nconst a int64[1] = 0\nnode Unsqueeze u: x a -> y\noutput y\n",
     S0_REFUSED,
     {"u", "more than 8 axes"}},
    {"range too long", /* what is wrong is its length: it does end */
     "format onnx 13\nconst a int64[] = -9223372036854775808\nconst b int64[] = 9223372036854775807\n"
     "const d int64[] = 1\nnode Range r: a b d -> y\noutput y\n",
     S0_BAD_INPUT,
     {"'r' (Range)", "too many elements", "18446744073709551616 of them"}},
    {"range without end",
     "format onnx 13\nconst a int64[] = 0\nconst b int64[] = 4\nconst d int64[] = 0\n"
     "node Range r: a b d -> y\noutput y\n",
     S0_BAD_INPUT,
     {"'r' (Range)", "does not end"}},
    {"split leaves less than nothing", /* ceil(5 / 4) = 2, and 5 - 3 * 2 = -1 */
     "format onnx 18\ninput x float32[5]\nnode Split@18 s: x -> a b c d num_outputs=4\noutput a\n",
     S0_BAD_INPUT,
     {"'s' (Split)", "[5], 4 outputs"}},
    {"gather outside",
     "format onnx 13\ninput x float32[2,3]\nconst i int64[2] = 2 3\nnode Gather g: x i -> y axis=1\noutput y\n",
     S0_BAD_INPUT,
     {"'g' (Gather)", "'i'", "got       3", "-3 to 2"}},
    {"gather outside, from the end",
     "format onnx 13\ninput x float32[2,3]\nconst i int64[1] = -4\nnode Gather g: x i -> y axis=1\noutput y\n",
     S0_BAD_INPUT,
     {"got       -4"}},
    {"gather from the end in TFLite",
     "format tflite\ninput x int8[2,3]\nconst i int32[1] = -1\nnode Gather g: x i -> y axis=1\noutput y\n",
     S0_BAD_INPUT,
     {"got       -1", "0 to 2"}},
    {"gather from nothing",
     "format onnx 13\ninput x float32[0]\nconst i int64[1] = 0\nnode Gather g: x i -> y\noutput y\n",
     S0_BAD_INPUT,
     {"no elements"}},
    {"gather elements outside",
     "format onnx 13\ninput x float32[2,3]\nconst i int64[1,2] = 0 3\nnode GatherElements g: x i -> y axis=1\n"
     "output y\n",
     S0_BAD_INPUT,
     {"got       3"}},
    {"gather tuples outside", /* row 1 has no column 5; 5 would be a row */
     "format onnx 13\ninput x float32[6,5]\nconst i int64[2,2] = 5 4 1 5\nnode GatherND g: x i -> y\noutput y\n",
     S0_BAD_INPUT,
     {"got       5", "-5 to 4"}},
    {"embedding outside",
     "format tflite\nconst i int32[2] = 0 4\ninput t float32[4,8]\nnode EMBEDDING_LOOKUP e: i t -> y\noutput y\n",
     S0_BAD_INPUT,
     {"'i'", "0 to 3"}},
    {"unknown shape input",
     "format onnx 13\ninput x float32[2,3]\ninput s int64[2]\nnode Reshape r: x s -> y\noutput y\n",
     S0_REFUSED,
     {"r", "y", "make the new shape a constant"}},
};

static bool is_bad_case_told(Work *work, const BadCase *c) {
    Graph *graph = graph_of_row(work, c->name, c->body);
    if (graph == NULL || graph_infer(graph, work) || diags_status(&work->diags) != c->status) {
        print_error("%s: passed, or ended in status %d, not %d\n", c->name, (int)diags_status(&work->diags),
                    (int)c->status);
        diags_print(&work->diags, c->name, stderr);
        return false;
    }
    for (size_t k = 0; k < 6 && c->told[k] != NULL; k++) {
        if (!was_told(work, c->told[k])) {
            print_error("%s: the message lacks \"%s\"\n", c->name, c->told[k]);
            diags_print(&work->diags, c->name, stderr);
            return false;
        }
    }
    return true;
}

static void check_bad_case(Work *work, const void *argument) {
    const Run *run = argument;
    *run->wrong += !is_bad_case_told(work, run->row);
}

static void contradictions_are_told(void **state) {
    (void)state;
    size_t wrong = 0;
    for (size_t k = 0; k < sizeof bad_cases / sizeof bad_cases[0]; k++) {
        with_work(check_bad_case, &(Run){&bad_cases[k], &wrong});
    }
    assert_int_equal(wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contradictions_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
