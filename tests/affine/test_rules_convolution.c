/* rule_convolution: what goes into the weights and bias of the convolution in front of it.
 *
 * Numbers in front of a row are those of docs/cases.md; weights and biases were worked out by hand. Most maps have
 * equal extents, as many as channels, so that an axis taken by its size is taken wrong. */
#include "affine/rows.h"

/* A convolution of two channels on a map whose extents are all 2. */
#define CONV                                                                                                           \
    "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nconst c float32[2] = 0.5 -0.25\n"                   \
    "node Conv k: x w c -> a\n"
#define COUT   "node Erf u: b -> y\noutput y\n"
#define FOLDED "Conv x w c -> b\nErf b -> y\n"

static const Row rows[] = {
    /* ---- behind a convolution */
    {.model = {.what = "D1 the bias is scaled, not added",
               .text = CONV "const g float32[2] = 4 0.5\nconst e float32[2] = 10 -1\nconst m float32[2] = 1 -2\nconst "
                            "v float32[2] = 3 0\nnode BatchNormalization n: a g e m v -> b epsilon=1.0\n" COUT,
               .tolerance = 7},
     FOLDED,
     .constant = {{"w", 4, {2, 4, 1.5, 2}}, {"c", 2, {9, -0.125}}}},
    {.model = {.what = "D1 not without a tolerance",
               .text = CONV "const g float32[2] = 4 0.5\nconst e float32[2] = 10 -1\nconst m float32[2] = 1 -2\nconst "
                            "v float32[2] = 3 0\nnode BatchNormalization n: a g e m v -> b epsilon=1.0\n" COUT,
               .tolerance = 6},
     NULL,
     .refusal = "may differ by 7 ulp"},
    {.model = {.what = "D2 the channel is named",
               .text = CONV "const g float32[2] = 1 1\nconst e float32[2] = 0 0\nconst v float32[2] = 3 -1\nnode "
                            "BatchNormalization n: a g e e v -> b epsilon=0.00001\n" COUT,
               .tolerance = 100},
     NULL,
     .refusal = "channel 1: variance + epsilon is not positive"},
    {.model = {.what = "channels",
               .text = CONV "const m float32[2,1,1] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     FOLDED,
     .constant = {{"w", 4, {2, 4, 30, 40}}, {"c", 2, {1, -2.5}}}},
    {.model = {.what = "B1 columns, as many as channels",
               .text = CONV "const m float32[2] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "samples, as many as channels",
               .text = CONV "const m float32[2,1,1,1] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "a constant less the map",
               .text = CONV "const m float32[] = 3\nnode Sub n: m a -> b\n" COUT,
               .tolerance = 2},
     FOLDED,
     .constant = {{"w", 4, {-1, -2, -3, -4}}, {"c", 2, {2.5, 3.25}}}},
    {.model = {.what = "a transposed convolution has its channels second",
               .text = "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nnode ConvTranspose k: x w -> "
                       "a\nconst m float32[2,1,1] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     "ConvTranspose x w -> b\nErf b -> y\n",
     .constant = {{"w", 4, {2, 20, 6, 40}}}},
    {.model = {.what = "groups share the axis of channels",
               .text = "input x float32[2,2,2,2]\nconst w float32[2,1,1,1] = 1 2\nnode Conv k: x w -> a group=2\nconst "
                       "m float32[2,1,1] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     "Conv x w -> b\nErf b -> y\n",
     .constant = {{"w", 2, {2, 20}}}},
    {.model = {.what = "a transposed convolution has the channels of one group second",
               .text =
                   "input x float32[2,4,2,2]\nconst w float32[4,2,1,1] = 1 2 3 4 5 6 7 8\nnode ConvTranspose k: x w "
                   "-> a group=2\nconst m float32[4,1,1] = 2 3 5 7\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     "ConvTranspose x w -> b\nErf b -> y\n",
     .constant = {{"w", 8, {2, 6, 6, 12, 25, 42, 35, 56}}}},
    {.model = {.what = "a bias for each channel of each group",
               .text =
                   "input x float32[2,2,2,2]\nconst w float32[2,1,1,1] = 1 2\nnode ConvTranspose k: x w -> a group=2\n"
                   "const addend float32[] = 2\nnode Add n: a addend -> b\n" COUT,
               .tolerance = 2},
     "ConvTranspose x w k_bias -> b\nErf b -> y\n",
     .constant = {{"w", 2, {1, 2}}, {"k_bias", 2, {2, 2}}}},
    {.model = {.what = "A9 a bias that would be larger than what goes",
               .text = "input x float32[1,1,2,2]\nconst w float32[8,1,1,1] = 1 2 3 4 5 6 7 8\nnode Conv k: x w -> a\n"
                       "const addend float32[] = 2\nnode Add n: a addend -> b\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "the bias that the convolution needs would make the model grow"},
    {.model = {.what = "a factor of 0 would hide infinities",
               .text = CONV "const m float32[2,1,1] = 2 0\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "channel 1: the factor is 0"},
    {.model = {.what = "an activation between",
               .text = CONV "const m float32[] = 2\nnode Relu r: a -> p\nnode Mul n: p m -> b\n" COUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "others read between",
               .text = CONV "const m float32[] = 2\nnode Mul n: a m -> b\nnode Exp e: a -> p\noutput p\n" COUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "between is an output",
               .text = CONV "const m float32[] = 2\nnode Mul n: a m -> b\noutput a\n" COUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "others read the weights",
               .text = CONV "node Conv l: x w -> p\nconst m float32[] = 2\nnode Mul n: a m -> b\noutput p\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "other operators read the weights"},
    {.model = {.what = "callers may replace the weights",
               .text = CONV "const m float32[] = 2\nnode Mul n: a m -> b\n" COUT,
               .callers = "w",
               .tolerance = 2},
     NULL,
     .refusal = "the convolution's weights are inputs of the model too"},
    {.model = {.what = "callers may replace the parameters",
               .text = CONV "const m float32[] = 2\nnode Mul n: a m -> b\n" COUT,
               .callers = "m",
               .tolerance = 2},
     NULL,
     .refusal = "its parameters are inputs of the model too"},
    {.model = {.what = "weights that are made, not stored",
               .text = "input x float32[2,2,4,4]\nconst s int64[4] = 2 2 3 3\nconst m float32[] = 2\nnode "
                       "ConstantOfShape f: s -> w\nnode Conv k: x w -> a\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "the convolution's weights are not stored, ConstantOfShape makes them"},
    {.model = {.what = "an operator between",
               .text = CONV "const m float32[] = 2\nnode Relu r: a -> p\nnode Mul n: p m -> b\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "Relu is between it and the convolution in front of it"},
    {.model = {.what = "a normalisation far from convolutions",
               .text =
                   "input x float32[2,2,2,2]\nconst g float32[2] = 4 0.5\nnode BatchNormalization n: x g g g g -> b "
                   "epsilon=1.0\n" COUT,
               .tolerance = 100},
     NULL,
     .refusal = "no convolution is beside it"},
    {.model = {.what = "parameters along another axis",
               .text = CONV "const m float32[2] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "do not lie along the convolution's channels"},
    {.model = {.what = "a tolerance is promised only where it is all that lacks",
               .text = CONV "node Conv l: x w -> p\nconst m float32[] = 2\nnode Mul n: a m -> b\noutput p\n" COUT},
     NULL,
     .refusal = "other operators read the weights"},
    {.model = {.what = "nor where a weight would be infinite",
               .text = CONV "const m float32[] = 3e38\nnode Mul n: a m -> b\n" COUT},
     NULL,
     .refusal = "no longer be a normal float32"},
    {.model = {.what = "a weight would be infinite",
               .text = CONV "const m float32[] = 3e38\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL,
     .refusal = "no longer be a normal float32"},
    {.model =
         {.what = "L1 the bias is another operator's addend: that one stays as it is",
          .text =
              "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nconst c float32[2] = 0 0\nnode Conv k: x "
              "w c -> a\nconst m float32[2,1,1] = 5 7\nnode Add n: a m -> b\nnode Add p: x c -> r\noutput r\n" COUT,
          .tolerance = 2},
     "Conv x w c0 -> b\nAdd x c -> r\nErf b -> y\n",
     .constant = {{"c0", 2, {5, 7}}, {"c", 1, {0}}}},
    {.model = {.what = "L2 names that nobody has",
               .text = "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nnode Conv k: x w -> a\n"
                       "const m float32[2,1,1] = 1 -2.5\nnode Add n: a m -> b\nconst k_bias float32[] = 3\nnode Add p: "
                       "x k_bias -> r\n"
                       "output r\n" COUT,
               .tolerance = 2},
     "Conv x w k_bias0 -> b\nAdd x k_bias -> r\nErf b -> y\n",
     .constant = {{"k_bias", 1, {3}}, {"k_bias0", 2, {1, -2.5}}}},
};

static void folds_what_may_be_folded(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_simplified);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(folds_what_may_be_folded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
