/* rule_codes and rule_convolution: runs between integer codes, and what is folded into a convolution.
 *
 * Numbers in front of a row are those of docs/cases.md. Which rows are rewritten follows from the arithmetic of the
 * case, by hand: the zero point that absorbs an addend is zero - b / (a * scale), and only a whole number that is a
 * code will do. That the rewritten model computes the same codes, test_rules_random checks without these rules. All
 * extents of a map are equal, so that an axis taken by its size is taken wrong. */
#include "affine/simplified.h"

#include <math.h>

#include "layout/packed.h"

typedef struct {
    Model model;
    const char *expected; /* nodes that are left; null: all as they were, and nothing is logged */
    struct {
        const char *name;
        uint32_t count;
        double at[4];
    } constant[2];       /* with these numbers, where named */
    const char *refusal; /* a reason that is told, where not null */
} Row;

#define Q                                                                                                              \
    "const s float32[] = 0.1\nconst z int8[] = 0\ninput q int8[1,4,4,4] scale=0.1 zero=0\nvalue o int8[1,4,4,4] "      \
    "scale=0.1 zero=0\n"                                                                                               \
    "node DequantizeLinear d: q s z -> f\n"
#define O  "node QuantizeLinear n: g s z -> o\nnode DequantizeLinear e: o s z -> h\nnode Erf u: h -> y\noutput y\n"
#define GO "DequantizeLinear q s z -> h\nErf h -> y\n"
#define RE "QuantizeLinear f s z -> o\nDequantizeLinear o s z -> h\nErf h -> y\n"

#define UNIT_NORM                                                                                                      \
    "const g1 float32[4] = 1 1 1 1\nconst b1 float32[4] = 0 0 0 0\n"                                                   \
    "node BatchNormalization@15 m: f g1 b1 b1 g1 -> g "

/* TFLite: two operators on codes around one that is tried. */
#define L                                                                                                              \
    "format tflite\ninput x int8[1,2,2,3] scale=0.1 zero=-128\nvalue a int8[1,2,2,3] scale=0.1 zero=-128\n"            \
    "value b int8[1,2,2,3] scale=0.1 zero=-128\nvalue w int8[1,2,2,3] scale=0.3 zero=-128\n"                           \
    "value y int8[1,2,2,3] scale=0.1 zero=-128\nnode Abs i: x -> a\n"
#define LO "node Abs k: b -> y\noutput y\n"
#define LG "Abs x -> a\nAbs a -> y\n"

/* A convolution of two channels on a map whose extents are all 2. */
#define CONV                                                                                                           \
    "input x float32[2,2,2,2]\nconst w float32[2,2,1,1] = 1 2 3 4\nconst c float32[2] = 0.5 -0.25\n"                   \
    "node Conv k: x w c -> a\n"
#define COUT   "node Erf u: b -> y\noutput y\n"
#define FOLDED "Conv x w c -> b\nErf b -> y\n"

static const Row rows[] = {
    /* ---- identities */
    {.model = {.what = "codes, back to reals, to the same codes", .text = Q "node Identity m: f -> g\n" O}, GO},
    {.model = {.what = "C1 one scale of shape [1], rank 1",
               .text = "const s float32[1] = 0.1\nconst z int8[1] = 0\ninput q int8[16] scale=0.1 zero=0\nvalue o "
                       "int8[16] scale=0.1 zero=0\nnode DequantizeLinear d: q s z -> f\nnode Identity m: f -> g\n" O},
     GO},
    {.model = {.what = "a scale near 1 that changes no code: |a - 1| < 1 / 256",
               .text = Q "const k float32[] = 0.999\nnode Mul m: f k -> g\n" O},
     GO},
    {.model = {.what = "a bias of less than half a code",
               .text = Q "const k float32[] = 0.04\nnode Add m: f k -> g\n" O},
     GO},
    {.model = {.what = "through two operators",
               .text = Q "const k float32[] = 4\nnode Mul m: f k -> p\nnode Div v: p k -> g\n" O},
     GO},
    {.model = {.what = "unit scales a channel",
               .text = Q "const k float32[4,1,1] = 1 0.999 1.001 1\nnode Mul m: f k -> g\n" O},
     GO},
    {.model = {.what = "limits that no code passes",
               .text = Q "const l float32[] = -20\nconst k float32[] = 20\nnode Clip m: f l k -> g\n" O},
     GO},

    /* ---- no identities */
    {.model = {.what = "E2 reals, to codes, back to reals",
               .text = "const s float32[] = 0.1\nconst z int8[] = 2\ninput x float32[4]\nnode QuantizeLinear n: x s z "
                       "-> q\nnode DequantizeLinear d: q s z -> f\nnode Erf u: f -> y\noutput y\n"},
     NULL},
    {.model = {.what = "another scale behind",
               .text = Q "const t float32[] = 0.2\nvalue r int8[1,4,4,4] scale=0.2 zero=0\nnode QuantizeLinear n: f t "
                         "z -> r\nnode DequantizeLinear e: r t z -> h\nnode Erf u: h -> y\noutput y\n"},
     NULL},
    {.model = {.what = "E4 another zero point behind",
               .text = Q "const v int8[] = 1\nvalue r int8[1,4,4,4] scale=0.1 zero=1\nnode QuantizeLinear n: f s v -> "
                         "r\nnode DequantizeLinear e: r s v -> h\nnode Erf u: h -> y\noutput y\n"},
     NULL},
    {.model = {.what = "E4 codes of the other sign behind: no zero point is uint8",
               .text = Q "value r uint8[1,4,4,4] scale=0.1 zero=0\nnode QuantizeLinear n: f s -> r\nnode "
                         "DequantizeLinear e: r s -> h\nnode Erf u: h -> y\noutput y\n"},
     NULL},
    {.model = {.what = "from the model's input straight to its output",
               .text = Q "node QuantizeLinear n: f s z -> o\noutput o\n"},
     NULL},
    {.model = {.what = "the scale is given by callers",
               .text = Q
               "node QuantizeLinear n: f s z -> o\nnode DequantizeLinear e: o s z -> h\nnode Erf u: h -> y\noutput y\n",
               .callers = "s"},
     NULL},
    {.model = {.what = "the reals are an output", .text = Q "node Identity m: f -> g\noutput f\n" O},
     "DequantizeLinear q s z -> f\n" RE},
    {.model = {.what = "a normalisation of nothing", .text = Q UNIT_NORM "epsilon=0.0\n" O}, GO},
    {.model = {.what = "a normalisation of nothing, in training",
               .text = Q UNIT_NORM "epsilon=0.0 training_mode=1\n" O},
     NULL},
    {.model = {.what = "limits that codes pass", .text = Q "node Relu m: f -> g\n" O}, NULL},
    {.model = {.what = "D5 a negative scale before Relu",
               .text = Q "const k float32[4,1,1] = 2 -3 2 2\nnode Mul m: f k -> p\nnode Relu r: p -> g\n" O},
     NULL},
    {.model = {.what = "E1 16 bits through 8 and back: the limits of 8 remain",
               .text = "format tflite\ninput x int16[4] scale=0.5 zero=0\nvalue a int16[4] scale=0.5 zero=0\nvalue b "
                       "int8[4] scale=0.5 zero=0\nvalue c int16[4] scale=0.5 zero=0\nvalue y int16[4] scale=0.5 "
                       "zero=0\nnode Abs i: x -> a\nnode QuantizeLinear(QUANTIZE) n: a -> b\nnode "
                       "QuantizeLinear(QUANTIZE) m: b -> c\nnode Abs k: c -> y\noutput y\n"},
     NULL},

    /* ---- rescaled */
    {.model = {.what = "E3 an addend that is whole codes",
               .text =
                   "const s float32[] = 0.125\nconst z int8[] = 3\ninput q int8[4] scale=0.125 zero=3\n"
                   "value o int8[4] scale=0.125 zero=3\nnode DequantizeLinear d: q s z -> f\nconst k float32[] = 0.5\n"
                   "const l float32[] = 0.875\nnode Mul m: f k -> p\nnode Add v: p l -> g\n" O},
     "DequantizeLinear q o_scale o_zero -> f\n" RE,
     .constant = {{"o_scale", 1, {0.0625}}, {"o_zero", 1, {-11}}}},
    {.model = {.what = "E3 whole codes, but where codes tie, floats do not",
               .text = Q
               "const k float32[] = 0.5\nconst l float32[] = 0.2\nnode Mul m: f k -> p\nnode Add v: p l -> g\n" O},
     NULL},
    {.model = {.what = "E3 an addend of 13.2 codes: a fifth of a code is not exact",
               .text = Q
               "const k float32[] = 0.5\nconst l float32[] = 0.66\nnode Mul m: f k -> p\nnode Add v: p l -> g\n" O},
     NULL},
    {.model = {.what = "E3 the reals have a second reader",
               .text = Q "const k float32[] = 0.5\nnode Mul m: f k -> g\nnode Exp w: f -> r\noutput r\n" O},
     NULL},
    {.model = {.what = "E11 unit scales with whole codes beside one that is no unit",
               .text = "const s float32[] = 0.1\nconst z int8[] = 0\ninput q int8[3,3,3] scale=0.1 zero=0\nvalue o "
                       "int8[3,3,3] scale=0.1 zero=0\nnode DequantizeLinear d: q s z -> f\nconst k float32[3,1] = 1 1 "
                       "0.5\nconst l float32[3,1] = 0.4 -0.2 0\nnode Mul m: f k -> p\nnode Add v: p l -> g\n" O},
     "DequantizeLinear q o_scale o_zero -> f\n" RE,
     .constant = {{"o_scale", 3, {0.1, 0.1, 0.05}}, {"o_zero", 3, {-4, 2, 0}}}},
    {.model = {.what = "C9 along the last axis, which the coder does not name",
               .text = "const s float32[] = 0.1\nconst z int8[] = 0\ninput q int8[6,6,6] scale=0.1 zero=0\nvalue o "
                       "int8[6,6,6] scale=0.1 zero=0\nnode DequantizeLinear d: q s z -> f\nconst k float32[6] = 0.5 2 "
                       "0.25 8 1 0.125\nnode Mul m: f k -> g\n" O},
     NULL},
    {.model = {.what = "C9 along the last axis, which the coder names",
               .text = "const s float32[] = 0.1\nconst z int8[] = 0\ninput q int8[4,4,4] scale=0.1 zero=0\nvalue o "
                       "int8[4,4,4] scale=0.1 zero=0\nnode DequantizeLinear d: q s z -> f axis=-1\nconst k float32[4] "
                       "= 0.5 2 0.25 4\nnode Mul m: f k -> g\n" O},
     "DequantizeLinear q o_scale o_zero -> f\n" RE,
     .constant = {{"o_scale", 4, {0.05, 0.2, 0.025, 0.4}}, {"o_zero", 4, {0, 0, 0, 0}}}},
    {.model = {.what = "opset 12 knows no axis",
               .text = "const s float32[] = 0.1\nconst z int8[] = 0\ninput q int8[4,4] scale=0.1 zero=0\nvalue o "
                       "int8[4,4] scale=0.1 zero=0\nnode DequantizeLinear@12 d: q s z -> f\nconst k float32[4] = 0.5 2 "
                       "0.25 4\nnode Mul m: f k -> g\n" O},
     NULL},
    {.model =
         {.what = "no zero point before",
          .text =
              "const s float32[] = 0.1\nconst z uint8[] = 0\ninput q uint8[4] scale=0.1 zero=0\nvalue o uint8[4] "
              "scale=0.1 zero=0\nnode DequantizeLinear d: q s -> f\nconst k float32[] = 0.5\nnode Mul m: f k -> g\n" O},
     "DequantizeLinear q o_scale z -> f\n" RE,
     .constant = {{"o_scale", 1, {0.05}}}},
    {.model = {.what = "C6 divided by one number of rank 3",
               .text = "const s float32[] = 0.5\nconst z int8[] = 0\ninput q int8[2,2,2] scale=0.5 zero=0\nvalue o "
                       "int8[2,2,2] scale=0.5 zero=0\nnode DequantizeLinear d: q s z -> f\nconst k float32[1,1,1] = "
                       "4\nnode Div m: f k -> g\n" O},
     "DequantizeLinear q o_scale z -> f\n" RE,
     .constant = {{"o_scale", 1, {0.125}}}},
    {.model = {.what = "C3 one number over two",
               .text = "const s float32[] = 0.5\nconst z int8[] = 0\ninput q int8[1,2] scale=0.5 zero=0\nvalue o "
                       "int8[1,2] scale=0.5 zero=0\nnode DequantizeLinear d: q s z -> f\nconst k float32[1] = 3\nnode "
                       "Add m: f k -> g\n" O},
     "DequantizeLinear q s o_zero -> f\n" RE,
     .constant = {{"o_zero", 1, {-6}}}},
    {.model = {.what = "D8 a normalisation between other codes: (q + 4) / 8",
               .text = "const s float32[] = 0.5\nconst z int8[] = 4\nconst t float32[] = 0.1\nconst v int8[] = "
                       "-10\ninput q int8[1,1,2,2] scale=0.5 zero=4\nvalue o int8[1,1,2,2] scale=0.1 zero=-10\nconst "
                       "g1 float32[1] = 0.25\nconst b1 float32[1] = 1\nconst m1 float32[1] = 0\nconst v1 float32[1] = "
                       "1\nnode DequantizeLinear d: q s z -> f\nnode BatchNormalization m: f g1 b1 m1 v1 -> g "
                       "epsilon=0.0\nnode QuantizeLinear n: g t v -> o\noutput o\n"},
     "DequantizeLinear q o_scale o_zero -> f\nQuantizeLinear f t v -> o\n",
     .constant = {{"o_scale", 1, {0.125}}, {"o_zero", 1, {-4}}}},
    /* 0.5 / sqrt(variance + 0.00001): cases.md has 0.99999, 4.99938 and 301.511 times one */
    {.model = {.what = "D3 small and large factors, each its own",
               .text =
                   "const s float32[] = 0.5\nconst z int8[] = 0\ninput q int8[1,3,2,2] scale=0.5 zero=0\nvalue o "
                   "int8[1,3,2,2] scale=0.5 zero=0\nconst g1 float32[3] = 1 1 1\nconst b1 float32[3] = 0 0 0\nconst "
                   "v1 float32[3] = 1 0.04 0.000001\nnode DequantizeLinear d: q s z -> f\nnode BatchNormalization m: "
                   "f g1 b1 b1 v1 -> g epsilon=0.00001\nnode QuantizeLinear n: g s z -> o\noutput o\n"},
     "DequantizeLinear q o_scale o_zero -> f\nQuantizeLinear f s z -> o\n",
     .constant = {{"o_scale", 3, {0.49999749660491943, 2.499687671661377, 150.75567626953125}},
                  {"o_zero", 3, {0, 0, 0}}}},
    {.model = {.what = "D7 a negative factor has no scale",
               .text = "const s float32[] = 0.1\nconst z int8[] = 0\nconst v int8[] = 5\ninput q int8[3,3,3,3] "
                       "scale=0.1 zero=0\nvalue o int8[3,3,3,3] scale=0.1 zero=5\nconst k float32[3,1,1] = 0.5 2 "
                       "-1\nconst l float32[3,1,1] = 0.1 -0.2 0.3\nnode DequantizeLinear d: q s z -> f\nnode Mul m: f "
                       "k -> p\nnode Add a: p l -> g\nnode QuantizeLinear n: g s v -> o\noutput o\n"},
     NULL},
    {.model = {.what = "B5 channels of the codes, rows of the factor",
               .text = "const s float32[4] = 0.1 0.2 0.3 0.4\nconst z int8[4] = 0 0 0 0\ninput q int8[4,4,4,4] "
                       "scale=[0.1,0.2,0.3,0.4] axis=1\nvalue o int8[4,4,4,4] scale=0.1 zero=0\nnode DequantizeLinear "
                       "d: q s z -> f axis=1\nconst k float32[4,1] = 1 2 3 4\nnode Mul m: f k -> g\nconst t float32[] "
                       "= 0.1\nconst v int8[] = 0\nnode QuantizeLinear n: g t v -> o\noutput o\n"},
     NULL},
    {.model = {.what = "D2 a variance that leaves nothing",
               .text = Q "const g1 float32[4] = 1 1 1 1\nconst b1 float32[4] = 0 0 0 0\nconst v1 float32[4] = 4 1 1 "
                         "-1\nnode BatchNormalization m: f g1 b1 b1 v1 -> g epsilon=0.00001\n" O},
     NULL,
     .refusal = "channel 3 is refuse: "},

    /* ---- TFLite */
    {.model = {.what = "MUL by a code that is 1",
               .text = L "const k int8[] scale=0.00787401574803149606 zero=0 = 127\nnode Mul m: a k -> b\n" LO},
     LG},
    {.model = {.what = "MUL by codes that are 1, a channel",
               .text = L "const k int8[3] scale=0.01 zero=0 = 100 100 100\nnode Mul m: a k -> b\n" LO},
     LG},
    {.model = {.what = "MUL by 1, limits that no code passes",
               .text = L "const k int8[] scale=0.01 zero=0 = 100\nnode Mul m: a k -> b activation=RELU\n" LO},
     LG},
    {.model = {.what = "MUL by 1, limits that codes pass",
               .text = L "const k int8[] scale=0.01 zero=0 = 100\nnode Mul m: a k -> b activation=RELU6\n" LO},
     NULL},
    {.model = {.what = "MUL by 1 to other codes",
               .text =
                   L "const k int8[] scale=0.01 zero=0 = 100\nnode Mul m: a k -> w\nnode Abs k: w -> y\noutput y\n"},
     NULL},
    {.model = {.what = "MUL by 3 to three times the scale: no code changes, but all stand for other reals",
               .text =
                   L "const k int8[] scale=0.03 zero=0 = 100\nnode Mul m: a k -> w\nnode Abs k: w -> y\noutput y\n"},
     NULL},
    {.model = {.what = "MUL by 1.01", .text = L "const k int8[] scale=0.01 zero=0 = 101\nnode Mul m: a k -> b\n" LO},
     NULL},
    {.model = {.what = "MUL by 1 but for one channel",
               .text = L "const k int8[3] scale=0.01 zero=0 = 100 100 50\nnode Mul m: a k -> b\n" LO},
     NULL},
    {.model = {.what = "ADD of the code that is 0",
               .text = L "const k int8[] scale=0.1 zero=3 = 3\nnode Add m: a k -> b\n" LO},
     LG},
    {.model = {.what = "SUB of the code that is 0",
               .text = L "const k int8[] scale=0.1 zero=3 = 3\nnode Sub m: a k -> b\n" LO},
     LG},
    {.model = {.what = "B12 0 - x", .text = L "const k int8[] scale=0.1 zero=3 = 3\nnode Sub m: k a -> b\n" LO}, NULL},
    {.model = {.what = "A5 B6 whole codes along the last axis",
               .text = L "const k int8[3] scale=0.1 zero=0 = 10 -20 30\nnode Add m: a k -> b\n" LO},
     NULL,
     .refusal = "add_int"},
    {.model = {.what = "QUANTIZE to the same codes", .text = L "node QuantizeLinear(QUANTIZE) m: a -> b\n" LO}, LG},

    /* ---- into a convolution */
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
    {.model = {.what = "columns, as many as channels",
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
    {.model = {.what = "a transposed convolution of groups stays",
               .text = "input x float32[2,2,2,2]\nconst w float32[2,1,1,1] = 1 2\nnode ConvTranspose k: x w -> a "
                       "group=2\nconst m float32[2,1,1] = 2 10\nnode Mul n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL},
    {.model = {.what = "nor by one number for all",
               .text =
                   "input x float32[2,2,2,2]\nconst w float32[2,1,1,1] = 1 2\nnode ConvTranspose k: x w -> a group=2\n"
                   "const m float32[] = 2\nnode Add n: a m -> b\n" COUT,
               .tolerance = 2},
     NULL},
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
     NULL},
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

/* ---- The check */

static double element_of(const Value *value, uint32_t k) {
    uint64_t bits = packed_read(value->constant->bytes.ptr, k, dtype_bits(value->dtype));
    if (value->dtype == DTYPE_F32) {
        uint32_t low = (uint32_t)bits;
        float number;
        memcpy(&number, &low, sizeof number);
        return (double)number;
    }
    return dtype_kind(value->dtype) == DTYPE_KIND_SIGNED && bits >= 128 ? (double)bits - 256 : (double)bits;
}

/* A constant that took the place of one of the same name comes behind it. */
static const Value *last_of(const Graph *graph, const char *name) {
    for (uint32_t v = graph->value_count; v-- > 0;) {
        if (str_eq(graph->values[v].name, str_from(name))) {
            return &graph->values[v];
        }
    }
    fail_msg("no constant %s", name);
    return NULL;
}

static bool has_constants(const Graph *graph, const Row *row) {
    for (size_t k = 0; k < 2 && row->constant[k].name != NULL; k++) {
        const Value *value = last_of(graph, row->constant[k].name);
        uint32_t bits = dtype_bits(value->dtype);
        if (value->constant->bytes.len * 8 != (size_t)row->constant[k].count * bits) {
            return false;
        }
        for (uint32_t i = 0; i < row->constant[k].count; i++) {
            double expected = (double)(float)row->constant[k].at[i];
            if (element_of(value, i) != expected) {
                print_error("%s of %s: %.9g, not %.9g\n", row->constant[k].name, row->model.what, element_of(value, i),
                            expected);
                return false;
            }
        }
    }
    return true;
}

static bool is_refused(const Simplified *out, const char *reason) {
    for (size_t k = 0; reason != NULL && k < out->refusal_count; k++) {
        if (strstr(out->refusals[k].reason, reason) != NULL) {
            return true;
        }
    }
    return reason == NULL;
}

static bool check_row(Work *work, const void *argument) {
    const Row *row = argument;
    Simplified out;
    const char *before;
    Graph *graph = simplify_model(work, &row->model, &out, &before);
    const char *got = list_nodes(work, graph);
    const char *expected = row->expected == NULL ? before : row->expected;
    bool is_right = strcmp(got, expected) == 0 && (out.rewrite_count == 0) == (row->expected == NULL);
    is_right = is_right && has_constants(graph, row) && is_refused(&out, row->refusal);
    if (!is_right) {
        print_error("%s: %zu rewrites, got\n%sexpected\n%s", row->model.what, out.rewrite_count, got, expected);
        for (size_t k = 0; k < out.refusal_count; k++) {
            print_error("refused: %s\n", out.refusals[k].reason);
        }
    }
    return is_right;
}

static void rewrites_what_is_proven(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_row);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rewrites_what_is_proven)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
