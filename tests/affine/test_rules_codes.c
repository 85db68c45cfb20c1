/* rule_codes: runs between integer codes.
 *
 * Numbers in front of a row are those of docs/cases.md. Which rows are rewritten follows from the arithmetic of the
 * case, by hand: the zero point that absorbs an addend is zero - b / (a * scale), and only a whole number that is a
 * code will do. That the rewritten model computes the same codes, test_rules_random checks without these rules. All
 * extents of a map are equal, so that an axis taken by its size is taken wrong. */
#include "affine/rows.h"

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
    {.model = {.what = "a factor that is stored as a code: 2 * 0.5",
               .text =
                   Q "const c int8[] = 2\nconst r float32[] = 0.5\nnode DequantizeLinear w: c r -> k\nnode Mul m: f "
                     "k -> g\n" O},
     GO},
    {.model = {.what = "factors that are stored as codes with a zero point: (131 - 127) * 0.25",
               .text = Q "const c uint8[4,1,1] = 131 131 131 131\nconst r float32[] = 0.25\nconst t uint8[] = "
                         "127\nnode DequantizeLinear w: c r t -> k\nnode Mul m: f k -> g\n" O},
     GO},
    {.model = {.what = "limits that no code passes",
               .text = Q "const l float32[] = -20\nconst k float32[] = 20\nnode Clip m: f l k -> g\n" O},
     GO},

    /* ---- no identities */
    {.model = {.what = "a factor that is stored as a code: 3 * 0.5",
               .text =
                   Q "const c int8[] = 3\nconst r float32[] = 0.5\nnode DequantizeLinear w: c r -> k\nnode Mul m: f "
                     "k -> g\n" O,
               .callers = "r"},
     NULL,
     .refusal = "its parameters are inputs of the model too"},
    {.model = {.what = "codes of a factor that a caller may set",
               .text =
                   Q "const c int8[] = 2\nconst r float32[] = 0.5\nnode DequantizeLinear w: c r -> k\nnode Mul m: f "
                     "k -> g\n" O,
               .callers = "c"},
     NULL,
     .refusal = "its parameters are inputs of the model too"},
    {.model = {.what = "a factor that a caller may set",
               .text = Q "const k float32[] = 1.5\nnode Mul m: f k -> p\nnode Relu r: p -> g\n" O,
               .callers = "k"},
     NULL,
     .refusal = "its parameters are inputs of the model too"},
    {.model = {.what = "something else reads between codes",
               .text = Q "const k float32[] = 1.5\nnode Mul m: f k -> g\noutput g\n" O},
     NULL,
     .refusal = "something else reads there"},
    {.model = {.what = "a code that a rescaled Dequantize would change, and the tolerance that allows it",
               .text = Q "const k float32[] = 0.04\nconst l float32[] = 1.02\nnode Add m: f k -> p\nnode Mul t: p l -> "
                         "g\n" O},
     NULL,
     .refusal = "stride0 simplify --tolerance 1 allows it"},
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
                       "int8[4,4,4] scale=0.1 zero=0\nnode DequantizeLinear d: q s z -> f axis=-1\nconst "
                       "factors_of_channels float32[4] = 0.5 2 0.25 4\nnode Mul m: f factors_of_channels -> g\n" O},
     "DequantizeLinear q o_scale o_zero -> f\n" RE,
     .constant = {{"o_scale", 4, {0.05, 0.2, 0.025, 0.4}}, {"o_zero", 4, {0, 0, 0, 0}}}},
    /* 16 + 4 bytes under new names of 7 and 6, and what a node and a constant take, for 16 bytes and a node */
    {.model = {.what = "new scales and zero points that take more than the operator",
               .text = "const s float32[] = 0.1\nconst z int8[] = 0\ninput q int8[4,4,4] scale=0.1 zero=0\nvalue o "
                       "int8[4,4,4] scale=0.1 zero=0\nnode DequantizeLinear d: q s z -> f axis=-1\nconst k float32[4] "
                       "= 0.5 2 0.25 4\nnode Mul m: f k -> g\n" O},
     NULL,
     .refusal = "would make the model grow by 19 bytes"},
    {.model = {.what = "scales that other operators keep: those that come are one more copy",
               .text = "const s float32[4] = 0.5 0.5 0.5 0.25\nconst z int8[4] = 0 0 0 0\ninput q int8[4,4,4] "
                       "scale=[0.5,0.5,0.5,0.25] axis=2\nvalue o int8[4,4,4] scale=[0.5,0.5,0.5,0.25] axis=2\n"
                       "node DequantizeLinear d: q s z -> f axis=-1\nconst k float32[] = 0.5\nnode Mul m: f k -> g\n"
                       "node QuantizeLinear n: g s z -> o axis=-1\nnode DequantizeLinear e: o s z -> h axis=-1\n"
                       "node Erf u: h -> y\noutput y\n"},
     NULL,
     .refusal = "would make the model grow"},
    {.model = {.what = "a zero point that does not change stays where it is",
               .text = "const s float32[1] = 0.5\nconst z int8[1] = 3\ninput q int8[1,2] scale=0.5 zero=3\nvalue o "
                       "int8[1,2] scale=0.5 zero=3\nnode DequantizeLinear d: q s z -> f\nconst k float32[] = "
                       "0.5\nnode Mul m: f k -> g\n" O},
     "DequantizeLinear q o_scale z -> f\n" RE,
     .constant = {{"o_scale", 1, {0.25}}}},
    {.model = {.what = "a long name for what comes",
               .text = "const s float32[] = 0.5\nconst z int8[] = 3\ninput q int8[1,2] scale=0.5 zero=3\nvalue "
                       "a_name_that_takes_more_bytes_than_the_operator_does int8[1,2] scale=0.5 zero=3\n"
                       "node DequantizeLinear d: q s z -> f\nconst k float32[] = 0.25\nnode Mul m: f k -> g\n"
                       "node QuantizeLinear n: g s z -> a_name_that_takes_more_bytes_than_the_operator_does\n"
                       "node DequantizeLinear e: a_name_that_takes_more_bytes_than_the_operator_does s z -> h\n"
                       "node Erf u: h -> y\noutput y\n"},
     NULL,
     .refusal = "would make the model grow"},
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
     "DequantizeLinear q o_scale -> f\n" RE,
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
     .refusal = "channel 3 can't: variance + epsilon is not positive"},

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
    {.model = {.what = "ADD of 0 behind a MUL that stays",
               .text = L "const k int8[] scale=0.01 zero=0 = 101\nconst n int8[] scale=0.1 zero=3 = 3\nvalue p "
                         "int8[1,2,2,3] scale=0.1 zero=-128\nnode Mul m: a k -> p\nnode Add t: p n -> b\n" LO},
     "Abs x -> a\nMul a k -> p\nAbs p -> y\n"},
    {.model = {.what = "ADD of 0 to other codes, behind a MUL that stays",
               .text = L "const k int8[] scale=0.01 zero=0 = 101\nconst n int8[] scale=0.1 zero=3 = 3\nvalue p "
                         "int8[1,2,2,3] scale=0.2 zero=-128\nnode Mul m: a k -> p\nnode Add t: p n -> b\n" LO},
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
    {.model = {.what = "x - 0 behind 0 - x of the same numbers",
               .text = L "const k int8[] scale=0.1 zero=3 = 3\nvalue c int8[1,2,2,3] scale=0.1 zero=-128\nvalue z "
                         "int8[1,2,2,3] scale=0.1 zero=-128\nnode Sub r: k a -> c\nnode Sub m: a k -> b\n"
                         "node Abs v: c -> z\noutput z\n" LO},
     "Abs x -> a\nSub k a -> c\nAbs c -> z\nAbs a -> y\n"},
    {.model = {.what = "B12 0 - x", .text = L "const k int8[] scale=0.1 zero=3 = 3\nnode Sub m: k a -> b\n" LO}, NULL},
    {.model = {.what = "A5 B6 whole codes along the last axis",
               .text = L "const k int8[3] scale=0.1 zero=0 = 10 -20 30\nnode Add m: a k -> b\n" LO},
     NULL,
     .refusal = "moves all codes by one number (add_int). TFLite has no operator that does it for less"},
    {.model = {.what = "what codes stand for is the next reader's word, when the first is gone",
               .text = "const a float32[] = 0.1\nconst b float32[] = 0.25\nconst z int8[] = 0\ninput x int8[4] "
                       "scale=0.1 zero=0\nvalue q int8[4] scale=0.1 zero=0\nvalue r int8[4] scale=0.25 zero=0\n"
                       "node DequantizeLinear d1: x a z -> f1\nnode QuantizeLinear n1: f1 a z -> q\n"
                       "node DequantizeLinear d2: q b z -> f2\nnode QuantizeLinear n2: f2 b z -> r\n"
                       "node DequantizeLinear d3: r b z -> h\nnode Erf u: h -> y\noutput y\n"},
     "DequantizeLinear x b z -> h\nErf h -> y\n"},
    {.model = {.what = "the same along channels, between other operators",
               .text =
                   "const a float32[] = 0.1\nconst b float32[2] = 0.25 0.5\nconst z int8[] = 0\nconst v int8[2] = 1 "
                   "-3\ninput x int8[4,2]\nvalue p int8[4,2] scale=0.1 zero=0\nvalue q int8[4,2] scale=0.1 "
                   "zero=0\nvalue r int8[4,2] scale=[0.25,0.5] zero=[1,-3] axis=1\nnode Abs i: x -> p\n"
                   "node DequantizeLinear d1: p a z -> f1\nnode QuantizeLinear n1: f1 a z -> q\n"
                   "node DequantizeLinear d2: q b v -> f2\nnode QuantizeLinear n2: f2 b v -> r\n"
                   "node DequantizeLinear d3: r b v -> h\nnode Erf u: h -> y\noutput y\n"},
     "Abs x -> p\nDequantizeLinear p b v -> h\nErf h -> y\n"},
    {.model = {.what = "QUANTIZE to the same codes", .text = L "node QuantizeLinear(QUANTIZE) m: a -> b\n" LO}, LG},
};

static void rewrites_what_is_proven(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_simplified);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(rewrites_what_is_proven)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
