/* Only of an operator that is known is anything derived: known.h.
 *
 * Each row is a graph that a rule would change if the operator meant what it means without the attribute or at the
 * older opset; the row in front of it shows that. What the attributes of opset 23 mean is taken from the changelog of
 * ONNX: output_dtype is the type of what comes out, precision that of the division. */
#include "affine/rows.h"

#define X                                                                                                              \
    "input x int8[4]\nvalue q int8[4] scale=1 zero=0\nvalue o int8[4] scale=1 zero=0\nconst s float32[] = 1\nconst z " \
    "int8[] = 0\nnode Neg i: x -> q\n"
#define PAIR  "node QuantizeLinear@23 n: f s z -> o"
#define TAIL  "\nnode Abs u: o -> y\noutput y\n"
#define REALS "input x float32[4]\nnode Tanh i: x -> a\n"
#define OUT   "node Erf o: b -> y\noutput y\n"
#define GONE  "Tanh x -> a\nErf a -> y\n"
#define CONV  "input x float32[1,1,2,2]\nconst w float32[1,1,1,1] = 3\nconst k float32[] = 2\nnode Conv@13 c: x w -> a "

static const Row rows[] = {
    /* ---- types of opset 23 */
    {.model = {.what = "opset 23 without its attributes",
               .text = X "node DequantizeLinear@23 d: q s z -> f\n" PAIR TAIL},
     "Neg x -> q\nAbs q -> y\n"},
    {.model = {.what = "output_dtype that is the scale's",
               .text = X "node DequantizeLinear@23 d: q s z -> f output_dtype=1\n" PAIR " precision=1" TAIL},
     "Neg x -> q\nAbs q -> y\n"},
    {.model = {.what = "codes as float16, by a scale of float32",
               .text = X "node DequantizeLinear@23 d: q s z -> f output_dtype=10\n" PAIR TAIL},
     NULL},
    {.model = {.what = "codes as float32, by a scale of float64",
               .text = X "const h float64[] = 1\n"
                         "node DequantizeLinear@23 d: q h z -> f output_dtype=1\n" PAIR TAIL},
     NULL},
    {.model = {.what = "a division in float16",
               .text = X "node DequantizeLinear@23 d: q s z -> f\n" PAIR " precision=10" TAIL},
     NULL},
    {.model = {.what = "a Cast of what is float16",
               .text = X "node DequantizeLinear@23 d: q s z -> f output_dtype=10\nnode Cast@23 c: f -> g to=1\n"
                         "node Neg u: g -> y\noutput y\n"},
     NULL},
    {.model = {.what = "a factor that is stored as a code and becomes float16",
               .text = "input x float16[4]\nconst c int8[] = 2\nconst s float32[] = 0.5\nnode Tanh i: x -> a\n"
                       "node DequantizeLinear@23 d: c s -> k output_dtype=10\nnode Mul@23 m: a k -> b\n"
                       "node Erf o: b -> y\noutput y\n"},
     NULL},

    /* ---- opsets that are not known */
    {.model = {.what = "opset 24", .text = REALS "const c float32[] = 1\nnode Mul@24 n: a c -> b\n" OUT}, GONE},
    {.model = {.what = "opset 25", .text = REALS "const c float32[] = 1\nnode Mul@25 n: a c -> b\n" OUT}, NULL},
    {.model = {.what = "moves of opset 24", .text = REALS "node Identity@24 n: a -> b\n" OUT}, GONE},
    {.model = {.what = "moves of opset 25", .text = REALS "node Identity@25 n: a -> b\n" OUT}, NULL},
    {.model = {.what = "codes of opset 25", .text = X "node DequantizeLinear@25 d: q s z -> f\n" PAIR TAIL}, NULL},
    {.model = {.what = "limits of opset 24", .text = REALS "node Relu@24 n: a -> c\nnode Relu@24 m: c -> b\n" OUT},
     "Tanh x -> a\nRelu a -> c\nErf c -> y\n"},
    {.model = {.what = "limits of opset 25", .text = REALS "node Relu@25 n: a -> c\nnode Relu@24 m: c -> b\n" OUT},
     NULL},
    {.model = {.what = "never -0, by opset 24",
               .text = "input x float32[4]\nconst c float32[] = 0\nnode Exp@24 i: x -> a\nnode Add n: a c -> b\n" OUT},
     "Exp x -> a\nErf a -> y\n"},
    {.model = {.what = "never -0, by opset 25",
               .text = "input x float32[4]\nconst c float32[] = 0\nnode Exp@25 i: x -> a\nnode Add n: a c -> b\n" OUT},
     NULL},
    {.model = {.what = "broadcast by opset 24",
               .text = REALS "const c float32[4] = 3 3 3 3\nnode Add@24 n: a c -> b\n" OUT},
     "Tanh x -> a\nAdd a c -> b\nErf b -> y\n"},
    {.model = {.what = "broadcast by opset 25",
               .text = REALS "const c float32[4] = 3 3 3 3\nnode Add@25 n: a c -> b\n" OUT},
     NULL},
    {.model = {.what = "made by opset 24",
               .text = REALS "const c float32[] = -1\nnode Neg@24 k: c -> d\n"
                             "node Mul n: a d -> b\n" OUT},
     GONE},
    {.model = {.what = "made by opset 25, and of what that made",
               .text = REALS "const c float32[] = 1\nnode Neg@25 k: c -> d\nnode Neg l: d -> e\n"
                             "node Mul n: a e -> b\n" OUT},
     NULL},
    {.model = {.what = "into a convolution", .text = CONV "\nnode Mul m: a k -> y\noutput y\n", .tolerance = 2},
     "Conv x w -> y\n"},
    {.model = {.what = "into a convolution of an attribute that is not known",
               .text = CONV "padding_mode=1\nnode Mul m: a k -> y\noutput y\n",
               .tolerance = 2},
     NULL,
     .refusal = "what its attribute 'padding_mode' means is not known"},

    /* ---- attributes that are not known */
    {.model = {.what = "an addend of another meaning",
               .text = REALS "const c float32[] = 1\nnode Mul n: a c -> b alpha=2.0\n" OUT},
     NULL},
    {.model = {.what = "codes of another meaning",
               .text = X "node DequantizeLinear@23 d: q s z -> f gain=3\n" PAIR TAIL},
     NULL},
    {.model = {.what = "a move of another meaning", .text = REALS "node Identity n: a -> b mode=1\n" OUT}, NULL},
    {.model = {.what = "other inputs of equal values may be given to what is not known",
               .text = REALS "node Identity n: a -> b\nnode Erf@25 o: b -> y mode=1\noutput y\n"},
     GONE},
};

static void test_rows(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof *rows, check_simplified);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_rows)};
    return cmocka_run_group_tests_name("rules_known", tests, NULL, NULL);
}
