/* rule_identities, rule_clips, rule_unread: which operators go, and that what only looks like one of them stays.
 *
 * Each line of the legality list is a row: values broadcast up, operand order, -0, graph inputs and outputs, second
 * readers, called blocks, callers' constants, fused activations, other codes, shapes that agree at one extent only.
 * All extents of the shared input are equal, so that what looks at sizes takes one axis for another. Numbers in front
 * of a row are those of docs/cases.md. The lists were written by hand. */
#include "affine/simplified.h"

/* `a` may be any float, -0 too; `p` is never -0. */
#define IN  "input x float32[4,4,4,4]\nnode Tanh i: x -> a\n"
#define POS "input x float32[4,4,4,4]\nnode Sigmoid i: x -> a\n"
#define INT "input x int32[4,4,4,4]\nnode Neg i: x -> a\n"
#define OUT "node Erf o: b -> y\noutput y\n"
#define LIN                                                                                                            \
    "format tflite\ninput x float32[1,4,4,4]\nvalue a float32[1,4,4,4]\nvalue b float32[1,4,4,4]\nvalue y "            \
    "float32[1,4,4,4]\nnode Tanh i: x -> a\n"
#define LOUT "node Exp o: b -> y\noutput y\n"

#define GONE     "Tanh x -> a\nErf a -> y\n"
#define POS_GONE "Sigmoid x -> a\nErf a -> y\n"
#define INT_GONE "Neg x -> a\nAbs a -> y\n"
#define INT_OUT  "node Abs o: b -> y\noutput y\n"
#define UNIT_NORM                                                                                                      \
    "const g float32[4] = 1 1 1 1\nconst z float32[4] = 0 0 0 0\n"                                                     \
    "node BatchNormalization n: a g z z g -> b epsilon=0.0\n"

typedef struct {
    Model model;
    const char *expected; /* nodes that are left; null: all of them, as they were, and nothing is logged */
} Row;

static const Row rows[] = {
    /* ---- arithmetic that goes */
    {{.what = "x * 1", .text = IN "const c float32[] = 1\nnode Mul n: a c -> b\n" OUT}, GONE},
    {{.what = "E5 1 * x", .text = IN "const c float32[] = 1\nnode Mul n: c a -> b\n" OUT}, GONE},
    {{.what = "E5 x / 1", .text = IN "const c float32[1] = 1\nnode Div n: a c -> b\n" OUT}, GONE},
    {{.what = "E5 x - 0", .text = IN "const c float32[] = 0\nnode Sub n: a c -> b\n" OUT}, GONE},
    {{.what = "x + (-0)", .text = IN "const c float32[] = -0.0\nnode Add n: a c -> b\n" OUT}, GONE},
    {{.what = "(-0) + x", .text = IN "const c float32[4] = splat -0.0\nnode Add n: c a -> b\n" OUT}, GONE},
    {{.what = "ones along one axis", .text = IN "const c float32[4,1,1] = splat 1\nnode Mul n: a c -> b\n" OUT}, GONE},
    {{.what = "ones for every element", .text = IN "const c float32[4,4,4,4] = splat 1\nnode Mul n: a c -> b\n" OUT},
     GONE},
    {{.what = "C7 of a lower rank", .text = IN "const c float32[4,4,4] = splat -0.0\nnode Add n: a c -> b\n" OUT},
     GONE},
    {{.what = "ones that a node makes",
      .text = IN "const k int64[4] = 4 4 4 4\nconst v float32[1] = 1\n"
                 "node ConstantOfShape m: k -> c value=tensor(v)\nnode Mul n: a c -> b\n" OUT},
     GONE},
    {{.what = "x + 0 where x is never -0", .text = POS "const c float32[] = 0\nnode Add n: a c -> b\n" OUT}, POS_GONE},
    {{.what = "E5 0 + x where x is never -0", .text = POS "const c float32[] = 0\nnode Add n: c a -> b\n" OUT},
     POS_GONE},
    {{.what = "x - (-0) where x is never -0", .text = POS "const c float32[] = -0.0\nnode Sub n: a c -> b\n" OUT},
     POS_GONE},
    {{.what = "x + 0 behind a sum with another number",
      .text = "input w float32[4]\nconst k float32[] = 2\nconst c float32[] = 0\n"
              "node Add i: w k -> a\nnode Add n: a c -> b\n" OUT},
     "Add w k -> a\nErf a -> y\n"},
    {{.what = "integers have no -0", .text = INT "const c int32[] = 0\nnode Add n: a c -> b\n" INT_OUT}, INT_GONE},
    {{.what = "integers times 1", .text = INT "const c int32[4] = splat 1\nnode Mul n: a c -> b\n" INT_OUT}, INT_GONE},
    {{.what = "a normalisation of nothing, where -0 can't arrive", .text = POS UNIT_NORM OUT}, POS_GONE},
    {{.what = "TFLite float", .text = LIN "const c float32[] = 1\nnode Mul n: a c -> b\n" LOUT},
     "Tanh x -> a\nExp a -> y\n"},
    {{.what = "one behind another",
      .text = IN "const c float32[] = 1\nconst d float32[] = -0.0\nnode Mul n: a c -> p\n"
                 "node Add m: p d -> q\nnode Identity k: q -> b\n" OUT},
     GONE},

    /* ---- arithmetic that stays */
    {{.what = "E5 0 - x", .text = IN "const c float32[] = 0\nnode Sub n: c a -> b\n" OUT}, NULL},
    {{.what = "B12 0 - x of integers", .text = INT "const c int32[] = 0\nnode Sub n: c a -> b\n" INT_OUT}, NULL},
    {{.what = "E5 1 / x", .text = IN "const c float32[] = 1\nnode Div n: c a -> b\n" OUT}, NULL},
    {{.what = "x + (+0) makes -0 to +0", .text = IN "const c float32[] = 0\nnode Add n: a c -> b\n" OUT}, NULL},
    {{.what = "x - (-0) does too", .text = IN "const c float32[] = -0.0\nnode Sub n: a c -> b\n" OUT}, NULL},
    {{.what = "+0 among -0", .text = IN "const c float32[4] = -0.0 -0.0 0 -0.0\nnode Add n: a c -> b\n" OUT}, NULL},
    {{.what = "a sum with 0 may be -0",
      .text = "input w float32[4]\nconst c float32[] = 0\ninput v float32[4]\n"
              "node Add i: w v -> a\nnode Add n: a c -> b\n" OUT},
     NULL},
    {{.what = "which zero Relu gives, nobody says",
      .text = "input x float32[4]\nnode Relu i: x -> a\nconst c float32[] = 0\nnode Add n: a c -> b\n" OUT},
     NULL},
    {{.what = "codes of a negative scale have a -0",
      .text = "input q int8[4] scale=0.5 zero=0\nconst s float32[] = -0.5\nconst c float32[] = 0\n"
              "node DequantizeLinear i: q s -> a\nnode Add n: a c -> b\n" OUT},
     NULL},
    {{.what = "codes of scale 0 too: -1 * 0",
      .text = "input q int8[4] scale=0 zero=0\nconst s float32[1] = 0\nconst c float32[] = 0\n"
              "node DequantizeLinear i: q s -> a\nnode Add n: a c -> b\n" OUT},
     NULL},
    {{.what = "codes have none",
      .text = "input q int8[4] scale=0.5 zero=0\nconst s float32[] = 0.5\nconst c float32[] = 0\n"
              "node DequantizeLinear i: q s -> a\nnode Add n: a c -> b\n" OUT},
     "DequantizeLinear q s -> a\nErf a -> y\n"},
    {{.what = "a normalisation of nothing makes -0 to +0", .text = IN UNIT_NORM OUT}, NULL},
    {{.what = "a normalisation with epsilon",
      .text = POS "const g float32[4] = 1 1 1 1\nconst z float32[4] = 0 0 0 0\n"
                  "node BatchNormalization n: a g z z g -> b epsilon=0.001\n" OUT},
     NULL},
    {{.what = "a normalisation in training",
      .text = POS "const g float32[4] = 1 1 1 1\nconst z float32[4] = 0 0 0 0\n"
                  "node BatchNormalization@15 n: a g z z g -> b epsilon=0.0 training_mode=1\n" OUT},
     NULL},
    {{.what = "a normalisation of opset 6 in training",
      .text = POS "const g float32[4] = 1 1 1 1\nconst z float32[4] = 0 0 0 0\n"
                  "node BatchNormalization@6 n: a g z z g -> b epsilon=0.0\n" OUT},
     NULL},
    {{.what = "a normalisation with further outputs",
      .text = POS "const g float32[4] = 1 1 1 1\nconst z float32[4] = 0 0 0 0\n"
                  "node BatchNormalization@9 n: a g z z g -> b m v epsilon=0.0\n" OUT},
     NULL},
    {{.what = "the next number after 1", .text = IN "const c float32[] = hex 0100803f\nnode Mul n: a c -> b\n" OUT},
     NULL},
    {{.what = "one channel is not 1", .text = IN "const c float32[4] = 1 1 1 2\nnode Mul n: a c -> b\n" OUT}, NULL},
    {{.what = "x * (-1)", .text = IN "const c float32[] = -1\nnode Mul n: a c -> b\n" OUT}, NULL},
    {{.what = "E8 x * 0 would hide inf and NaN", .text = IN "const c float32[] = 0\nnode Mul n: a c -> b\n" OUT}, NULL},
    {{.what = "x * NaN", .text = IN "const c float32[] = hex 0000c07f\nnode Mul n: a c -> b\n" OUT}, NULL},
    {{.what = "x + inf", .text = IN "const c float32[] = hex 0000807f\nnode Add n: a c -> b\n" OUT}, NULL},
    {{.what = "ones broadcast x up",
      .text = "input x float32[1,4]\nnode Tanh i: x -> a\nconst c float32[4,1] = splat 1\n"
              "node Mul n: a c -> b\n" OUT},
     NULL},
    {{.what = "ones of a higher rank", .text = IN "const c float32[1,4,4,4,4] = splat 1\nnode Mul n: a c -> b\n" OUT},
     NULL},
    {{.what = "a one that has rank, x that has none",
      .text = "input x float32[]\nnode Tanh i: x -> a\nconst c float32[1] = 1\n"
              "node Mul n: a c -> b\n" OUT},
     NULL},
    {{.what = "no ones at all: no elements are left",
      .text = "input x float32[1,4]\nnode Tanh i: x -> a\nconst c float32[0,1] = unknown\n"
              "node Mul n: a c -> b\n" OUT},
     NULL},
    {{.what = "a one that is computed", .text = IN "input c float32[]\nnode Mul n: a c -> b\n" OUT}, NULL},
    {{.what = "a one whose bytes are not known", .text = IN "const c float32[] = unknown\nnode Mul n: a c -> b\n" OUT},
     NULL},
    {{.what = "a one that callers may replace",
      .text = IN "const c float32[] = 1\nnode Mul n: a c -> b\n" OUT,
      .callers = "c"},
     NULL},
    {{.what = "a one made of what callers may replace",
      .text = IN "const c float32[] = 1\nconst k int64[1] = 1\n"
                 "node Reshape m: c k -> d\nnode Mul n: a d -> b\n" OUT,
      .callers = "c"},
     NULL},
    {{.what = "an activation comes after",
      .text = LIN "const c float32[] = 1\nnode Mul n: a c -> b activation=RELU\n" LOUT},
     NULL},

    /* ---- inputs and outputs of the model, readers */
    {{.what = "the output keeps its name", .text = IN "const c float32[] = 1\nnode Mul n: a c -> y\noutput y\n"},
     "Tanh x -> y\n"},
    {{.what = "the output keeps its name, others read on",
      .text = IN "const c float32[] = 1\nnode Mul n: a c -> y\nnode Erf o: a -> z\n"
                 "output y\noutput z\n"},
     "Tanh x -> y\nErf y -> z\n"},
    {{.what = "others that came to read a moment ago",
      .text = IN "node Identity k: a -> b\nnode Erf o: b -> z\nnode Identity m: a -> y\n"
                 "output y\noutput z\n"},
     "Tanh x -> y\nErf y -> z\n"},
    {{.what = "a second reader does not mind",
      .text = IN "const c float32[] = 1\nnode Mul n: a c -> b\nnode Exp e: a -> z\noutput z\n" OUT},
     "Tanh x -> a\nExp a -> z\nErf a -> y\n"},
    {{.what = "the input of the model is read instead", .text = "input x float32[4]\nnode Identity n: x -> b\n" OUT},
     "Erf x -> y\n"},
    {{.what = "from the input straight to an output",
      .text = "input x float32[4]\nconst c float32[] = 1\nnode Mul n: x c -> y\noutput y\n"},
     NULL},
    {{.what = "from an output to an output", .text = IN "node Identity n: a -> y\noutput a\noutput y\n"}, NULL},
    {{.what = "two outputs of one value: one of them",
      .text = IN "node Identity n: a -> y\nnode Identity m: a -> z\noutput y\noutput z\n"},
     "Tanh x -> y\nIdentity y -> z\n"},
    {{.what = "a called block reads it",
      .text =
          IN "input t bool[]\nconst c float32[] = 1\nnode Mul n: a c -> b\n"
             "node If f: t -> y then_branch=block(1) else_branch=block(2)\noutput y\n"
             "block 1 \"then\"\nnode Erf: b -> p\noutput p\nend\nblock 2 \"else\"\nnode Exp: b -> q\noutput q\nend\n"},
     NULL},
    {{.what = "state may be written before it is read again",
      .text =
          "format tflite\nstate s float32[1,4]\nvalue b float32[1,4]\nvalue y float32[1,4]\nconst k int32[2] = 1 4\n"
          "node Reshape n: s k -> b\nnode Exp o: b -> y\noutput y\n"},
     NULL},

    /* ---- operators that move */
    {{.what = "Identity", .text = IN "node Identity n: a -> b\n" OUT}, GONE},
    {{.what = "Reshape to the same shape", .text = IN "const k int64[4] = 0 -1 4 4\nnode Reshape n: a k -> b\n" OUT},
     GONE},
    {{.what = "Transpose that keeps order", .text = IN "node Transpose n: a -> b perm=[0,1,2,3]\n" OUT}, GONE},
    {{.what = "Cast to the same type", .text = IN "node Cast n: a -> b to=1\n" OUT}, GONE},
    {{.what = "Concat of one", .text = IN "node Concat n: a -> b axis=1\n" OUT}, GONE},
    {{.what = "Max of one", .text = IN "node Max n: a -> b\n" OUT}, GONE},
    {{.what = "Slice of all",
      .text = IN "const s int64[2] = 0 0\nconst e int64[2] = 9 4\nconst k int64[2] = 3 1\n"
                 "node Slice n: a s e k -> b\n" OUT},
     GONE},
    {{.what = "Expand to the same shape", .text = IN "const k int64[1] = 1\nnode Expand n: a k -> b\n" OUT}, GONE},
    {{.what = "Tile once", .text = IN "const k int64[4] = 1 1 1 1\nnode Tile n: a k -> b\n" OUT}, GONE},
    {{.what = "Dropout", .text = IN "node Dropout n: a -> b m\n" OUT}, GONE},
    {{.what = "Dropout of opset 6 for inference", .text = IN "node Dropout@6 n: a -> b is_test=1\n" OUT}, GONE},
    {{.what = "Reshape, equal extents merged and split",
      .text = IN "const k int64[3] = 4 4 16\nconst l int64[4] = 4 4 4 4\n"
                 "node Reshape n: a k -> p\nnode Reshape m: p l -> b\n" OUT},
     NULL},
    {{.what = "Transpose of equal extents", .text = IN "node Transpose n: a -> b perm=[0,2,1,3]\n" OUT}, NULL},
    {{.what = "Transpose without perm", .text = IN "node Transpose n: a -> b\n" OUT}, NULL},
    {{.what = "Cast to another type", .text = IN "node Cast n: a -> p to=10\nnode Cast m: p -> b to=1\n" OUT}, NULL},
    {{.what = "Cast of integers", .text = INT "node Cast n: a -> p to=7\nnode Cast m: p -> b to=6\n" INT_OUT}, NULL},
    {{.what = "Concat of one, then an activation", .text = LIN "node Concat n: a -> b axis=1 activation=RELU\n" LOUT},
     NULL},
    {{.what = "Slice backwards",
      .text = IN "const s int64[1] = 3\nconst e int64[1] = -9\nconst k int64[1] = 1\nconst t int64[1] = -1\n"
                 "node Slice n: a s e k t -> b\n" OUT},
     NULL},
    {{.what = "Slice whose start callers may replace",
      .text = IN "const s int64[1] = 0\nconst e int64[1] = 4\nnode Slice n: a s e -> b\n" OUT,
      .callers = "s"},
     NULL},
    {{.what = "Reshape whose shape callers may replace",
      .text = IN "const k int64[4] = 4 4 4 4\nnode Reshape n: a k -> b\n" OUT,
      .callers = "k"},
     NULL},
    {{.what = "Expand grows",
      .text = "input x float32[1,4]\nnode Tanh i: x -> a\nconst k int64[2] = 4 4\nnode Expand n: a k -> b\n" OUT},
     NULL},
    {{.what = "Dropout whose mask is read",
      .text = IN "node Dropout n: a -> b m\nnode Not o: m -> z\noutput z\n"
                 "node Erf q: b -> y\noutput y\n"},
     NULL},
    {{.what = "Dropout whose mask is an output", .text = IN "node Dropout n: a -> b m\noutput m\n" OUT}, NULL},
    {{.what = "Dropout of opset 6 in training", .text = IN "node Dropout@6 n: a -> b\n" OUT}, NULL},
    {{.what = "other codes",
      .text = "format tflite\ninput x int8[1,4] scale=0.5 zero=0\nvalue a int8[1,4] scale=0.5 zero=0\n"
              "value b int8[1,4] scale=0.25 zero=0\nvalue y int8[1,4] scale=0.25 zero=0\nconst k int32[2] = 1 4\n"
              "node Abs i: x -> a\nnode Reshape n: a k -> b\nnode Abs o: b -> y\noutput y\n"},
     NULL},

    /* ---- free dimensions: known at two extents */
    {{.what = "an extent that is free",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nconst c float32[1,4] = splat 1\n"
              "node Mul n: a c -> b\n" OUT,
      .extents = {1, 2}},
     GONE},
    {{.what = "Reshape to what Shape says",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nnode Shape s: a -> k\n"
              "node Reshape n: a k -> b\n" OUT,
      .extents = {1, 2}},
     GONE},
    {{.what = "Reshape that is one at the first extent only",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nconst k int64[2] = 1 -1\n"
              "node Reshape n: a k -> b\n" OUT,
      .extents = {1, 2}},
     NULL},
    {{.what = "ones broadcast up at the first extent only",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\n"
              "const c float32[2,1] = splat 1\nnode Mul n: a c -> b\n" OUT,
      .extents = {2, 1}},
     NULL},
    {{.what = "a factor that is 1 at the first extent only",
      .text = "input x int64[n]\nnode Neg i: x -> a\nnode Shape s: x -> k\nnode Mul n: a k -> b\n" INT_OUT,
      .extents = {1, 2}},
     NULL},
    {{.what = "Reshape to the extents of two free dimensions, swapped",
      .text = "input x float32[n,m]\nnode Tanh i: x -> a\nnode Shape s: x -> k\nconst r int64[2] = 1 0\n"
              "node Gather g: k r -> l\nnode Reshape n: a l -> b\n" OUT,
      .extents = {1, 2}},
     NULL},
    {{.what = "a slice to the end",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nconst s int64[1] = 0\n"
              "const e int64[1] = 9223372036854775807\nnode Slice n: a s e -> b\n" OUT,
      .extents = {1, 2}},
     GONE},
    {{.what = "a slice of another axis",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nconst s int64[1] = 0\n"
              "const e int64[1] = 4\nconst k int64[1] = -1\nnode Slice n: a s e k -> b\n" OUT,
      .extents = {1, 2}},
     GONE},
    {{.what = "the last 128 of a free dimension are all of it at both extents, but not of 129",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nconst s int64[1] = -128\n"
              "const e int64[1] = 9223372036854775807\nnode Slice n: a s e -> b\n" OUT,
      .extents = {1, 2}},
     NULL},
    {{.what = "a target that is max(n, 16): all of it from 16 on",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\nnode Shape s: a -> k\nconst c int64[2] = 16 4\n"
              "node Max m: k c -> t\nnode Expand n: a t -> b\n" OUT,
      .extents = {32, 64}},
     NULL},
    {{.what = "n / 1000 is 0 at both extents: 1 + that is not always 1",
      .text = "input x float32[n]\nnode Tanh i: x -> a\nnode Shape s: a -> k\nconst d int64[1] = 1000\n"
              "node Div v: k d -> q\nconst u int64[1] = 1\nnode Add w: q u -> r\nnode Tile n: a r -> b\n" OUT,
      .extents = {1, 2}},
     NULL},
    {{.what = "a slice up to 2 is all of 1 and of 2, but not of 3",
      .text = "input x float32[n,4]\nnode Tanh i: x -> a\n"
              "const s int64[1] = 0\nconst e int64[1] = 2\nnode Slice n: a s e -> b\n" OUT,
      .extents = {1, 2}},
     NULL},

    /* ---- limits */
    {{.what = "Relu twice", .text = IN "node Relu n: a -> p\nnode Relu m: p -> b\n" OUT},
     "Tanh x -> a\nRelu a -> p\nErf p -> y\n"},
    {{.what = "limits inside limits",
      .text = IN "const l float32[] = -1\nconst h float32[] = 7\nconst z float32[] = 0.5\nconst s float32[] = 6\n"
                 "node Clip n: a z s -> p\nnode Clip m: p l h -> b\n" OUT},
     "Tanh x -> a\nClip a z s -> p\nErf p -> y\n"},
    {{.what = "limits behind limits",
      .text = IN "const l float32[] = -1\nconst h float32[] = 7\nconst z float32[] = 0.5\nconst s float32[] = 6\n"
                 "node Clip n: a l h -> p\nnode Clip m: p z s -> b\n" OUT},
     "Tanh x -> a\nClip a z s -> b\nErf b -> y\n"},
    {{.what = "limits as attributes",
      .text = IN "node Clip@6 n: a -> p min=-1.0 max=7.0\nnode Clip@6 m: p -> b min=0.5 max=6.0\n" OUT},
     "Tanh x -> a\nClip a -> b\nErf b -> y\n"},
    {{.what = "0 of two operators: which of them, nobody says",
      .text = IN "const l float32[] = 0\nconst h float32[] = 6\n"
                 "node Clip n: a l h -> p\nnode Relu m: p -> b\n" OUT},
     NULL},
    {{.what = "0 and -0",
      .text = IN "const l float32[] = 0\nconst k float32[] = -0.0\nconst h float32[] = 6\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k h -> b\n" OUT},
     NULL},
    {{.what = "no limit stops at the largest finite number",
      .text = IN "const l float32[] = -1\nnode Relu n: a -> p\n"
                 "node Clip m: p l -> b\n" OUT},
     NULL},
    {{.what = "limits that overlap",
      .text = IN "const l float32[] = -1\nconst h float32[] = 3\nconst k float32[] = 1\nconst g float32[] = 5\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k g -> b\n" OUT},
     "Tanh x -> a\nClip a k h -> b\nErf b -> y\n"},
    {{.what = "limits that overlap the other way",
      .text = IN "const l float32[] = 1\nconst h float32[] = 5\nconst k float32[] = -1\nconst g float32[] = 3\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k g -> b\n" OUT},
     "Tanh x -> a\nClip a l g -> b\nErf b -> y\n"},
    {{.what = "limits that meet at a zero of one of them",
      .text = IN "const l float32[] = -1\nconst h float32[] = 6\nconst k float32[] = 0\nconst g float32[] = 8\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k g -> b\n" OUT},
     "Tanh x -> a\nClip a k h -> b\nErf b -> y\n"},
    {{.what = "limits that overlap where one has no end",
      .text = IN "const l float32[] = -1\nconst h float32[] = 6\nconst k float32[] = 0\nconst g float32[] = 8\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k -> b\n" OUT},
     "Tanh x -> a\nClip a k h -> b\nErf b -> y\n"},
    {{.what = "limits that overlap where both have no lower end, then no upper end",
      .text = IN "const l float32[] = -1\nconst h float32[] = 6\nconst k float32[] = 0\nconst g float32[] = 8\n"
                 "node Clip n: a _ h -> p\nnode Clip m: p k -> b\n" OUT},
     "Tanh x -> a\nClip a k h -> b\nErf b -> y\n"},
    {{.what = "limits that do not overlap",
      .text = IN "const l float32[] = -1\nconst h float32[] = 3\nconst k float32[] = 4\nconst g float32[] = 5\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k g -> b\n" OUT},
     NULL},
    {{.what = "limits that share one number",
      .text = IN "const l float32[] = -1\nconst h float32[] = 3\nconst g float32[] = 5\n"
                 "node Clip n: a l h -> p\nnode Clip m: p h g -> b\n" OUT},
     NULL},
    {{.what = "limits that overlap, at 0 and -0",
      .text = IN "const l float32[] = 0\nconst h float32[] = 3\nconst k float32[] = -0.0\nconst g float32[] = 5\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k g -> b\n" OUT},
     NULL},
    {{.what = "limits that overlap, as attributes",
      .text = IN "node Clip@6 n: a -> p min=-1.0 max=3.0\nnode Clip@6 m: p -> b min=1.0 max=5.0\n" OUT},
     NULL},
    {{.what = "limits that overlap, of two operators",
      .text = IN "const l float32[] = -1\nconst h float32[] = 3\nnode Relu n: a -> p\nnode Clip m: p l h -> b\n" OUT},
     NULL},
    {{.what = "limits that overlap, and others read between",
      .text = IN "const l float32[] = -1\nconst h float32[] = 3\nconst k float32[] = 1\nconst g float32[] = 5\n"
                 "node Clip n: a l h -> p\nnode Clip m: p k g -> b\nnode Exp e: p -> w\noutput w\n" OUT},
     NULL},
    {{.what = "int64 limits that a double takes for equal",
      .text = "input x int64[4]\nnode Neg i: x -> a\nconst l int64[] = 0\nconst h int64[] = 9007199254740993\n"
              "const g int64[] = 9007199254740992\nnode Clip n: a l h -> p\nnode Clip m: p l g -> b\n"
              "node Neg o: b -> y\noutput y\n"},
     NULL},
    {{.what = "others read between",
      .text = IN "const l float32[] = -1\nconst h float32[] = 7\nconst z float32[] = 0.5\nconst s float32[] = 6\n"
                 "node Clip n: a l h -> p\nnode Clip m: p z s -> b\nnode Exp e: p -> w\noutput w\n" OUT},
     NULL},
    {{.what = "between is an output",
      .text = IN "const l float32[] = -1\nconst h float32[] = 7\nconst z float32[] = 0.5\nconst s float32[] = 6\n"
                 "node Clip n: a l h -> p\nnode Clip m: p z s -> b\noutput p\n" OUT},
     NULL},
    {{.what = "a limit that is computed",
      .text = IN "input l float32[]\nconst h float32[] = 7\nconst z float32[] = 0.5\nconst s float32[] = 6\n"
                 "node Clip n: a l h -> p\nnode Clip m: p z s -> b\n" OUT},
     NULL},
    {{.what = "a limit that callers may replace",
      .text = IN "const l float32[] = -1\nconst h float32[] = 7\nconst z float32[] = 0.5\n"
                 "const s float32[] = 6\nnode Clip n: a l h -> p\nnode Clip m: p z s -> b\n" OUT,
      .callers = "h"},
     NULL},
    {{.what = "a limit that is NaN",
      .text = IN "const l float32[] = hex 0000c07f\nconst h float32[] = 7\nconst z float32[] = 0.5\n"
                 "const s float32[] = 6\nnode Clip n: a l h -> p\nnode Clip m: p z s -> b\n" OUT},
     NULL},
    {{.what = "limits the wrong way round",
      .text = IN "const l float32[] = 8\nconst h float32[] = -2\nconst z float32[] = 0.5\n"
                 "const s float32[] = 6\nnode Clip n: a z s -> p\nnode Clip m: p l h -> b\n" OUT},
     NULL},
    {{.what = "limits of other codes",
      .text = "format tflite\ninput x int8[1,4] scale=0.5 zero=0\nvalue a int8[1,4] scale=0.5 zero=0\n"
              "value b int8[1,4] scale=0.25 zero=0\nnode Relu i: x -> a\nnode Relu n: a -> b\noutput b\n"},
     NULL},
    {{.what = "limits of the same codes",
      .text = "format tflite\ninput x int8[1,4] scale=0.5 zero=0\nvalue a int8[1,4] scale=0.5 zero=0\n"
              "value b int8[1,4] scale=0.5 zero=0\nnode Relu i: x -> a\nnode Relu n: a -> b\noutput b\n"},
     "Relu x -> b\n"},

    /* ---- nobody reads it */
    {{.what = "a chain that nobody reads goes whole",
      .text = IN "node Exp d: a -> p\nnode Erf e: p -> q\nnode Identity n: a -> b\n" OUT},
     GONE},
    {{.what = "random numbers stay", .text = IN "node Bernoulli d: a -> p\nnode Erf o: a -> y\noutput y\n"}, NULL},
    {{.what = "an operator of somebody else's stays",
      .text = "format tflite\ninput x float32[4]\nvalue y float32[4]\nvalue p float32[4]\n"
              "node Custom(CUSTOM.Log) d: x -> p\nnode Exp o: x -> y\noutput y\n"},
     NULL},
    {{.what = "one of two outputs is read", .text = IN "node Split s: a -> b c axis=0\n" OUT}, NULL},
};

static bool check_row(Work *work, const void *argument) {
    const Row *row = argument;
    Simplified out;
    const char *before;
    Graph *graph = simplify_model(work, &row->model, &out, &before);
    const char *got = list_nodes(work, graph);
    const char *expected = row->expected == NULL ? before : row->expected;
    bool is_right = strcmp(got, expected) == 0 && (out.rewrite_count == 0) == (row->expected == NULL);
    if (!is_right) {
        print_error("%s: %zu rewrites, got\n%sexpected\n%s", row->model.what, out.rewrite_count, got, expected);
    }
    return is_right;
}

static void takes_away_what_is_an_identity_and_nothing_else(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_row);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(takes_away_what_is_an_identity_and_nothing_else)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
