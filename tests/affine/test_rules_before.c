/* rule_before_convolution: what goes into the weights and bias of the convolution behind it.
 *
 * Numbers in front of a row are those of docs/cases.md; weights and biases were worked out by hand. Most maps have
 * equal extents, as many as channels, so that an axis taken by its size is taken wrong. */
#include "affine/rows.h"

/* What comes in front of a convolution of two channels on a map whose extents are all 2. */
#define BEFORE "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nconst c float32[2] = 0.5 -0.25\n"
#define OUT    "node Conv k: a w c -> b\nnode Erf u: b -> y\noutput y\n"
#define TAKEN  "Conv x w c -> b\nErf b -> y\n"
#define END    "node Erf u: b -> y\noutput y\n"
#define TIMES  "const m float32[2,1,1] = 2 10\nnode Mul n: x m -> a\n"
#define PLUS   "const m float32[2,1,1] = 1 -2\nnode Add n: x m -> a\n"

/* One channel, a kernel of four weights. */
#define FILTER  "const w float32[1,1,2,2] = 1 2 3 4\nconst c float32[1] = 0.5\n"
#define SMALL   "input x float32[1,1,3,3]\n" FILTER
#define TIMES_3 "const m float32[] = 3\nnode Mul n: x m -> a\n"
#define PLUS_3  "const m float32[] = 3\nnode Add n: x m -> a\n"

#define CONV(attributes)       "node Conv k: a w c -> b " attributes "\n" END
#define TRANSPOSED(attributes) "node ConvTranspose k: a w c -> b " attributes "\n" END
#define CONV_2D(attributes)    "node Conv(CONV_2D) k: a w c -> b " attributes "\n" END
#define DEPTHWISE(attributes)  "node tflite.DEPTHWISE_CONV_2D k: a w c -> b " attributes "\n" END

#define PADS    "padding would be shifted too"
#define PARTIAL "not all sums over the whole kernel"

static const Row rows[] = {
    /* ---- factors and addends */
    {.model = {.what = "a normalisation in front",
               .text =
                   BEFORE "const g float32[2] = 4 0.5\nconst e float32[2] = 10 -1\nconst m float32[2] = 1 -2\nconst v "
                          "float32[2] = 3 0\nnode BatchNormalization n: x g e m v -> a epsilon=1.0\n" OUT,
               .tolerance = 7},
     TAKEN,
     .constant = {{"w", 4, {2, 1, 6, 2}}, {"c", 2, {8.5, 23.75}}}},
    {.model = {.what = "not without a tolerance in front",
               .text =
                   BEFORE "const g float32[2] = 4 0.5\nconst e float32[2] = 10 -1\nconst m float32[2] = 1 -2\nconst v "
                          "float32[2] = 3 0\nnode BatchNormalization n: x g e m v -> a epsilon=1.0\n" OUT,
               .tolerance = 6},
     NULL,
     .refusal = "convolution behind it may differ by 7 ulp"},
    {.model = {.what = "channels of the input", .text = BEFORE TIMES OUT, .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {2, 20, 6, 40}}, {"c", 2, {0.5, -0.25}}}},
    {.model = {.what = "divided",
               .text = BEFORE "const m float32[2,1,1] = 2 4\nnode Div n: x m -> a\n" OUT,
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {0.5, 0.5, 1.5, 1}}}},
    {.model = {.what = "an addend of each channel", .text = BEFORE PLUS OUT, .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 2, {-2.5, -5.25}}}},
    {.model = {.what = "an addend for all", .text = BEFORE PLUS_3 OUT, .tolerance = 2},
     TAKEN,
     .constant = {{"c", 2, {9.5, 20.75}}}},
    {.model = {.what = "B12 a constant less the input",
               .text = BEFORE "const m float32[] = 3\nnode Sub n: m x -> a\n" OUT,
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {-1, -2, -3, -4}}, {"c", 2, {9.5, 20.75}}}},
    {.model = {.what = "three operators, the bound of all",
               .text = BEFORE "const m float32[2,1,1] = 2 10\nconst d float32[2,1,1] = 1 -1\nnode Mul n: x m -> "
                              "p\nnode Add r: p d -> q\nnode Div s: q m -> a\n" OUT,
               .tolerance = 4},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 2, {0.8, 0.85}}}},
    {.model = {.what = "three operators beyond the tolerance",
               .text = BEFORE "const m float32[2,1,1] = 2 10\nconst d float32[2,1,1] = 1 -1\nnode Mul n: x m -> "
                              "p\nnode Add r: p d -> q\nnode Div s: q m -> a\n" OUT,
               .tolerance = 3},
     NULL,
     .refusal = "may differ by 4 ulp"},
    {.model = {.what = "B1 columns, as many as channels of the input",
               .text = BEFORE "const m float32[2] = 2 10\nnode Mul n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "B6 rows, as many as channels of the input",
               .text = BEFORE "const m float32[2,1] = 2 10\nnode Mul n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "C7 samples, as many as channels of the input",
               .text = BEFORE "const m float32[2,1,1,1] = 2 10\nnode Mul n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "every extent is another",
               .text = "input x float32[1,3,4,5]\nconst w float32[2,3,1,1] = 1 2 3 4 5 6\nconst c float32[2] = 0.5 "
                       "-0.25\nconst m float32[3,1,1] = 2 10 100\nnode Mul n: x m -> a\n" CONV(""),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 6, {2, 20, 300, 8, 50, 600}}}},
    {.model = {.what = "a bias where there was none",
               .text =
                   "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\n" PLUS "node Conv k: a w -> b\n" END,
               .tolerance = 2},
     "Conv x w k_bias -> b\nErf b -> y\n",
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"k_bias", 2, {-3, -5}}}},
    {.model = {.what = "addends that come to nothing need no bias",
               .text = "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 2 4\nconst m float32[2,1,1] = 2 "
                       "-1\nnode Add n: x m -> a\nnode Conv k: a w -> b\n" END,
               .tolerance = 2},
     "Conv x w -> b\nErf b -> y\n"},

    /* ---- groups */
    {.model = {.what = "each group has its own inputs",
               .text = "input x float32[4,4,4,4]\nconst w float32[4,2,1,1] = 1 2 3 4 5 6 7 8\nconst m float32[4,1,1] = "
                       "2 3 5 7\nnode Mul n: x m -> a\nnode Conv k: a w -> b group=2\n" END,
               .tolerance = 2},
     "Conv x w -> b\nErf b -> y\n",
     .constant = {{"w", 8, {2, 6, 6, 12, 25, 42, 35, 56}}}},
    {.model = {.what = "addends of each group",
               .text = "input x float32[1,4,2,3]\nconst w float32[2,2,1,1] = 1 2 3 4\nconst c float32[2] = 0 0\nconst "
                       "m float32[4,1,1] = 1 2 3 4\nnode Add n: x m -> a\n" CONV("group=2"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"c", 2, {5, 25}}}},
    {.model = {.what = "a transposed convolution has its inputs first",
               .text = "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\n" TIMES
                       "node ConvTranspose k: a w -> b\n" END,
               .tolerance = 2},
     "ConvTranspose x w -> b\nErf b -> y\n",
     .constant = {{"w", 4, {2, 4, 30, 40}}}},
    {.model = {.what = "a transposed convolution of groups has all its inputs first",
               .text = "input x float32[2,4,2,2]\nconst w float32[4,1,1,1] = 1 2 3 4\nconst c float32[2] = 0 0\nconst "
                       "m float32[4,1,1] = 2 3 5 7\nconst d float32[4,1,1] = 1 2 3 4\nnode Mul n: x m -> p\nnode Add "
                       "l: p d -> a\n" TRANSPOSED("group=2"),
               .tolerance = 3},
     "ConvTranspose x w c -> b\nErf b -> y\n",
     .constant = {{"w", 4, {2, 6, 15, 28}}, {"c", 2, {5, 25}}}},
    {.model = {.what = "TFLite: inputs last",
               .text =
                   "format tflite\ninput x float32[2,2,2,2]\nconst w float32[2,1,1,2] = 1 2 3 4\nconst c float32[2] = "
                   "0.5 -0.25\nconst m float32[2] = 2 10\nnode Mul n: x m -> a\n" CONV_2D("auto_pad=VALID"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {2, 20, 6, 40}}}},
    {.model = {.what = "TFLite: the axis before the last",
               .text =
                   "format tflite\ninput x float32[2,2,2,2]\nconst w float32[2,1,1,2] = 1 2 3 4\nconst c float32[2] = "
                   "0.5 -0.25\nconst m float32[2,1] = 2 10\nnode Mul n: x m -> a\n" CONV_2D("auto_pad=VALID"),
               .tolerance = 2},
     NULL},
    {.model = {.what = "TFLite: groups follow from the extents",
               .text =
                   "format tflite\ninput x float32[1,2,2,4]\nconst w float32[2,1,1,2] = 1 2 3 4\nconst c float32[2] = "
                   "0.5 -0.25\nconst m float32[4] = 1 2 3 4\nnode Add n: x m -> a\n" CONV_2D("auto_pad=VALID"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"c", 2, {5.5, 24.75}}}},
    {.model = {.what = "TFLite: two outputs of each input",
               .text = "format tflite\ninput x float32[1,2,2,2]\nconst w float32[1,1,1,4] = 1 2 3 4\nconst c "
                       "float32[4] = 0 0 0 0\nconst m float32[2] = 2 10\nconst d float32[2] = 1 -1\nnode Mul n: x m -> "
                       "p\nnode Add l: p d -> a\n" DEPTHWISE("auto_pad=VALID depth_multiplier=2"),
               .tolerance = 3},
     "DEPTHWISE_CONV_2D x w c -> b\nErf b -> y\n",
     .constant = {{"w", 4, {2, 4, 30, 40}}, {"c", 4, {1, 2, -3, -4}}}},
    {.model = {.what = "TFLite: the convolution has limits",
               .text = "format tflite\ninput x float32[1,2,2,2]\nconst w float32[2,1,1,2] = 1 2 3 4\nconst c "
                       "float32[2] = 0.5 -0.25\nconst m float32[2] = 2 10\nnode Mul n: x m -> a\n" CONV_2D(
                           "auto_pad=VALID activation=RELU6"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {2, 20, 6, 40}}}},
    {.model = {.what = "TFLite: the affine has limits",
               .text =
                   "format tflite\ninput x float32[1,2,2,2]\nconst w float32[2,1,1,2] = 1 2 3 4\nconst c float32[2] = "
                   "0.5 -0.25\nconst m float32[2] = 2 10\nnode Mul n: x m -> a activation=RELU\n" CONV_2D(
                       "auto_pad=VALID"),
               .tolerance = 2},
     NULL},

    /* ---- padding */
    {.model = {.what = "factors through padding", .text = SMALL TIMES_3 CONV("pads=[1,1,1,1]"), .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {3, 6, 9, 12}}, {"c", 1, {0.5}}}},
    {.model = {.what = "no addends through padding", .text = SMALL PLUS_3 CONV("pads=[1,1,1,1]"), .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "padding at one end", .text = SMALL PLUS_3 CONV("pads=[0,0,0,1]"), .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "pads of nothing", .text = SMALL PLUS_3 CONV("pads=[0,0,0,0]"), .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 1, {30.5}}}},
    {.model = {.what = "an addend of 0 through padding",
               .text = SMALL "const g float32[1] = 3\nconst z float32[1] = 0\nconst v float32[1] = 1\nnode "
                             "BatchNormalization n: x g z z v -> a epsilon=0.0\n" CONV("pads=[1,1,1,1]"),
               .tolerance = 7},
     TAKEN,
     .constant = {{"w", 4, {3, 6, 9, 12}}, {"c", 1, {0.5}}}},
    {.model = {.what = "of an addend and a factor in front of padding the factor",
               .text = SMALL
               "const d float32[] = 7\nnode Add l: x d -> p\nconst m float32[] = 3\nnode Mul n: p m -> a\n" CONV(
                   "pads=[1,1,1,1]"),
               .tolerance = 3},
     "Add x d -> p\nConv p w c -> b\nErf b -> y\n",
     .constant = {{"w", 4, {3, 6, 9, 12}}, {"c", 1, {0.5}}},
     .refusal = PADS},
    {.model = {.what = "VALID", .text = SMALL PLUS_3 CONV("auto_pad=VALID"), .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 1, {30.5}}}},
    {.model = {.what = "SAME pads", .text = SMALL PLUS_3 CONV("auto_pad=SAME_UPPER"), .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "SAME pads in front", .text = SMALL PLUS_3 CONV("auto_pad=SAME_LOWER"), .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "SAME of a kernel of 1",
               .text = "input x float32[1,4,4,4]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[1] = 0.5\nconst "
                       "m float32[4,1,1] = 1 2 3 4\nnode Add n: x m -> a\n" CONV("auto_pad=SAME_LOWER strides=[2,3]"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"c", 1, {30.5}}}},
    {.model = {.what = "SAME whose windows end with the map",
               .text = "input x float32[1,1,4,6]\n" FILTER PLUS_3 CONV("auto_pad=SAME_UPPER strides=[2,2]"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 1, {30.5}}}},
    {.model = {.what = "SAME whose windows end with the map along one axis",
               .text = "input x float32[1,1,4,5]\n" FILTER PLUS_3 CONV("auto_pad=SAME_UPPER strides=[2,2]"),
               .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "SAME of a dilated kernel",
               .text = SMALL PLUS_3 CONV("auto_pad=SAME_UPPER strides=[3,3] dilations=[2,2]"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 1, {30.5}}}},
    {.model = {.what = "SAME of a dilated kernel that pads",
               .text =
                   "input x float32[1,1,4,4]\n" FILTER PLUS_3 CONV("auto_pad=SAME_UPPER strides=[2,2] dilations=[2,2]"),
               .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "SAME of a free extent",
               .text = "input x float32[1,1,?,2]\n" FILTER PLUS_3 CONV("auto_pad=SAME_UPPER strides=[2,2]"),
               .tolerance = 2,
               .extents = {4, 6}},
     NULL,
     .refusal = PADS},
    {.model = {.what = "a kernel of 1 and a free extent",
               .text = "input x float32[1,4,?,2]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[1] = 0.5\nconst "
                       "m float32[4,1,1] = 1 2 3 4\nnode Add n: x m -> a\n" CONV("auto_pad=SAME_UPPER strides=[2,2]"),
               .tolerance = 2,
               .extents = {4, 6}},
     TAKEN,
     .constant = {{"c", 1, {30.5}}}},
    {.model = {.what = "TFLite: VALID",
               .text = "format tflite\ninput x float32[1,3,3,1]\nconst w float32[1,2,2,1] = 1 2 3 4\nconst c "
                       "float32[1] = 0.5\n" PLUS_3 CONV_2D("auto_pad=VALID"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {1, 2, 3, 4}}, {"c", 1, {30.5}}}},
    {.model = {.what = "TFLite: SAME",
               .text = "format tflite\ninput x float32[1,3,3,1]\nconst w float32[1,2,2,1] = 1 2 3 4\nconst c "
                       "float32[1] = 0.5\n" PLUS_3 CONV_2D("auto_pad=SAME_UPPER"),
               .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "TFLite: SAME is what no word means",
               .text = "format tflite\ninput x float32[1,3,3,1]\nconst w float32[1,2,2,1] = 1 2 3 4\nconst c "
                       "float32[1] = 0.5\n" PLUS_3 CONV_2D(""),
               .tolerance = 2},
     NULL,
     .refusal = PADS},
    {.model = {.what = "TFLite: factors through SAME",
               .text = "format tflite\ninput x float32[1,3,3,1]\nconst w float32[1,2,2,1] = 1 2 3 4\nconst c "
                       "float32[1] = 0.5\n" TIMES_3 CONV_2D("auto_pad=SAME_UPPER"),
               .tolerance = 2},
     TAKEN,
     .constant = {{"w", 4, {3, 6, 9, 12}}, {"c", 1, {0.5}}}},
    {.model = {.what = "a transposed convolution: factors",
               .text = SMALL TIMES_3 TRANSPOSED("strides=[2,2] pads=[1,0,0,1] output_padding=[1,1]"),
               .tolerance = 2},
     "ConvTranspose x w c -> b\nErf b -> y\n",
     .constant = {{"w", 4, {3, 6, 9, 12}}, {"c", 1, {0.5}}}},
    {.model = {.what = "a transposed convolution: edges", .text = SMALL PLUS_3 TRANSPOSED(""), .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: other weights for each phase",
               .text = SMALL PLUS_3 TRANSPOSED("strides=[2,2]"),
               .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: gaps",
               .text =
                   "input x float32[1,1,3,3]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[4] = 0 0 0 0\n" PLUS_3
                       TRANSPOSED("strides=[1,2]"),
               .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: more at the end",
               .text =
                   "input x float32[1,1,3,3]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[4] = 0 0 0 0\n" PLUS_3
                       TRANSPOSED("dilations=[2,2] output_padding=[1,0]"),
               .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: a stated shape",
               .text =
                   "input x float32[1,1,3,3]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[4] = 0 0 0 0\n" PLUS_3
                       TRANSPOSED("output_shape=[3,3]"),
               .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: pads",
               .text =
                   "input x float32[1,1,3,3]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[4] = 0 0 0 0\n" PLUS_3
                       TRANSPOSED("pads=[0,1,0,0]"),
               .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: SAME",
               .text =
                   "input x float32[1,1,3,3]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[4] = 0 0 0 0\n" PLUS_3
                       TRANSPOSED("auto_pad=SAME_UPPER"),
               .tolerance = 2},
     NULL,
     .refusal = PARTIAL},
    {.model = {.what = "a transposed convolution: each input makes one output",
               .text =
                   "input x float32[1,1,3,3]\nconst w float32[1,4,1,1] = 1 2 3 4\nconst c float32[4] = 0 0 0 0\n" PLUS_3
                       TRANSPOSED("auto_pad=NOTSET strides=[1,1]"),
               .tolerance = 2},
     "ConvTranspose x w c -> b\nErf b -> y\n",
     .constant = {{"c", 4, {3, 6, 9, 12}}}},

    /* ---- what stands in the way */
    {.model = {.what = "others read what the affine writes",
               .text = BEFORE TIMES "node Exp e: a -> p\noutput p\n" OUT,
               .tolerance = 2},
     NULL,
     .refusal = "not the only reader"},
    {.model = {.what = "what the affine writes is an output", .text = BEFORE TIMES "output a\n" OUT, .tolerance = 2},
     NULL,
     .refusal = "not the only reader"},
    {.model = {.what = "others read inside the run: its end goes",
               .text = BEFORE "const d float32[] = 3\nnode Div l: x d -> p\nnode Exp e: p -> r\noutput r\nconst m "
                              "float32[2,1,1] = 2 10\nnode Mul n: p m -> a\n" OUT,
               .tolerance = 3},
     "Div x d -> p\nExp p -> r\nConv p w c -> b\nErf b -> y\n",
     .constant = {{"w", 4, {2, 20, 6, 40}}}},
    {.model = {.what = "what the affine reads may be written before the convolution runs",
               .text =
                   "format tflite\nstate s float32[1,2,2,2]\nconst w float32[2,1,1,2] = 1 2 3 4\nconst c float32[2] "
                   "= 0 0\nconst m float32[2] = 2 10\nnode Mul n: s m -> a\n" CONV_2D("auto_pad=VALID"),
               .tolerance = 2},
     NULL,
     .refusal = "it reads the model's state"},
    {.model = {.what = "an activation in front",
               .text = BEFORE "const m float32[] = 2\nnode Mul n: x m -> p\nnode Relu r: p -> a\n" OUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "others read the weights too",
               .text = BEFORE TIMES "node Conv l: x w c -> p\noutput p\n" OUT,
               .tolerance = 2},
     NULL,
     .refusal = "other operators read the weights"},
    {.model = {.what = "callers may replace the weights of the next",
               .text = BEFORE TIMES OUT,
               .tolerance = 2,
               .callers = "w"},
     NULL},
    {.model = {.what = "callers may replace the factor", .text = BEFORE TIMES OUT, .tolerance = 2, .callers = "m"},
     NULL,
     .refusal = "its parameters are inputs of the model too"},
    {.model = {.what = "callers may replace the bias", .text = BEFORE TIMES OUT, .tolerance = 2, .callers = "c"},
     NULL,
     .refusal = "the convolution's biases are inputs of the model too"},
    {.model = {.what = "L1 others read the bias: it is copied",
               .text = BEFORE PLUS "node Mul p: x c -> r\noutput r\n" OUT,
               .tolerance = 2},
     "Mul x c -> r\nConv x w c0 -> b\nErf b -> y\n",
     .constant = {{"c0", 2, {-2.5, -5.25}}}},
    {.model = {.what = "L1 a bias that does not change is not copied",
               .text = BEFORE TIMES "node Mul p: x c -> r\noutput r\n" OUT,
               .tolerance = 2},
     "Mul x c -> r\nConv x w c -> b\nErf b -> y\n",
     .constant = {{"w", 4, {2, 20, 6, 40}}, {"c", 2, {0.5, -0.25}}}},
    {.model = {.what = "L1 a bias that does not change does not count as growth",
               .text =
                   "input x float32[1,1,2,2]\nconst w float32[8,1,1,1] = 1 2 3 4 5 6 7 8\nconst c float32[8] = 1 2 3 4 "
                   "5 6 7 8\ninput z float32[8]\nnode Mul p: z c -> r\noutput r\n" TIMES_3 OUT,
               .tolerance = 2},
     "Mul z c -> r\nConv x w c -> b\nErf b -> y\n",
     .constant = {{"w", 8, {3, 6, 9, 12, 15, 18, 21, 24}}}},
    {.model = {.what = "A9 the bias would be larger than the affine",
               .text = "input x float32[1,1,2,2]\nconst w float32[8,1,1,1] = 1 2 3 4 5 6 7 8\nconst m float32[] = "
                       "2\nnode Add n: x m -> a\nnode Conv k: a w -> b\n" END,
               .tolerance = 2},
     NULL,
     .refusal = "would make the model grow"},
    {.model = {.what = "E8 a factor of 0 in front",
               .text = BEFORE "const m float32[2,1,1] = 2 0\nnode Mul n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL,
     .refusal = "channel 1: the factor is 0"},
    {.model = {.what = "a parameter that is not finite",
               .text = BEFORE "const m float32[2,1,1] = hex 0000c07f00000040\nnode Add n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL,
     .refusal = "channel 0: a parameter is not finite"},
    {.model = {.what = "D2 the channel of the input is named",
               .text = BEFORE "const g float32[2] = 1 1\nconst e float32[2] = 0 0\nconst v float32[2] = 3 -1\nnode "
                              "BatchNormalization n: x g e e v -> a epsilon=0.00001\n" OUT,
               .tolerance = 9},
     NULL,
     .refusal = "channel 1: variance + epsilon is not positive"},
    {.model = {.what = "a weight would vanish",
               .text = BEFORE "const m float32[] = 5e-39\nnode Mul n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL,
     .refusal = "no longer be a normal float32"},
    {.model = {.what = "a bias would be infinite",
               .text = BEFORE "const m float32[2,1,1] = 3e38 2e38\nnode Add n: x m -> a\n" OUT,
               .tolerance = 2},
     NULL,
     .refusal = "no longer be a normal float32"},
    {.model =
         {.what = "the affine makes two channels of one",
          .text = "input x float32[2,1,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nconst c float32[2] = 0.5 -0.25\n" TIMES
              CONV(""),
          .tolerance = 2},
     NULL},

    /* ---- between two convolutions */
    {.model = {.what = "without a tolerance, told once",
               .text = "input x float32[2,2,2,2]\nconst v float32[2,2,1,1] = 1 2 3 4\nnode Conv j: x v -> p\nconst m "
                       "float32[2,1,1] = 2 10\nconst w float32[2,2,1,1] = 5 6 7 8\nnode Mul n: p m -> a\nnode Conv k: "
                       "a w -> b\n" END},
     NULL,
     .refusal = "folding into the convolution may differ by 2 ulp"},
    {.model = {.what = "the one in front takes it",
               .text = "input x float32[2,2,2,2]\nconst v float32[2,2,1,1] = 1 2 3 4\nnode Conv j: x v -> p\nconst m "
                       "float32[2,1,1] = 2 10\nconst w float32[2,2,1,1] = 5 6 7 8\nnode Mul n: p m -> a\nnode Conv k: "
                       "a w -> b\n" END,
               .tolerance = 2},
     "Conv x v -> a\nConv a w -> b\nErf b -> y\n",
     .constant = {{"v", 4, {2, 4, 30, 40}}, {"w", 4, {5, 6, 7, 8}}}},
    {.model = {.what = "the one behind, where the one in front may not",
               .text = "input x float32[2,2,2,2]\nconst v float32[2,2,1,1] = 1 2 3 4\nnode Conv j: x v -> p\nconst m "
                       "float32[2,1,1] = 2 10\nconst w float32[2,2,1,1] = 5 6 7 8\nnode Relu r: p -> q\nnode Mul n: q "
                       "m -> a\nnode Conv k: a w -> b\n" END,
               .tolerance = 2},
     "Conv x v -> p\nRelu p -> q\nConv q w -> b\nErf b -> y\n",
     .constant = {{"v", 4, {1, 2, 3, 4}}, {"w", 4, {10, 60, 14, 80}}}},
    {.model = {.what = "the one behind, where others read between",
               .text = "input x float32[2,2,2,2]\nconst v float32[2,2,1,1] = 1 2 3 4\nnode Conv j: x v -> p\nconst m "
                       "float32[2,1,1] = 2 10\nconst w float32[2,2,1,1] = 5 6 7 8\nnode Exp e: p -> r\noutput r\nnode "
                       "Mul n: p m -> a\nnode Conv k: a w -> b\n" END,
               .tolerance = 2},
     "Conv x v -> p\nExp p -> r\nConv p w -> b\nErf b -> y\n",
     .constant = {{"w", 4, {10, 60, 14, 80}}}},
};

static void folds_what_may_be_folded(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_simplified);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(folds_what_may_be_folded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
