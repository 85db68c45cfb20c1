/* Proves which stages node_stages reads a node as: kinds, immediates, which input is the map and what the others give;
 * and what it says of nodes whose arithmetic is not known. What is expected follows from the operators' definitions and
 * from docs/semantics.md. */
#include "node/stages_text.h"

#include "graph/support.h"

/* The last node of the main block is asked about. What is expected begins with the map where the node is known; else it
 * is why not. */
typedef struct {
    const char *name;
    const char *graph; /* behind the first line */
    const char *expected;
} Row;

#define TFLITE "format tflite\n"
#define MAP    "input x float32[1,3,4,5]\n"
#define C      "const p float32[3,1,1] = 1 2 3\n"
#define HALF   "input x float16[1,3,4,5]\n"
#define FOUR                                                                                                           \
    "const g float32[3] = splat 1\nconst b float32[3] = splat 0\nconst m float32[3] = splat 0\nconst v float32[3] = "  \
    "splat 1\n"
#define CODES "input q int8[1,4,5,3] scale=0.5 zero=-1\n"
#define COIN  "const c int8[3] scale=0.25 zero=2 = 1 2 3\n"
#define OUT   "value o int8[1,4,5,3] scale=0.125 zero=3\n"
#define SCALES                                                                                                         \
    "const s float32[] = 0.5\nconst t float32[] = 0.25\nconst z int8[] = -1\nconst y int8[] = 2\n"                     \
    "input q int8[1,3,4,5] scale=0.5 zero=-1\nvalue o int8[1,3,4,5] scale=0.25 zero=2\n"
#define QLINEAR                                                                                                        \
    "input x uint8[4]\nconst s float32[] = 0.5\nconst z uint8[] = 1\nconst t float32[] = 0.25\nconst y uint8[] = 2\n"  \
    "const o float32[] = 0.125\nconst w uint8[] = 3\n"
#define TO_REAL "node DequantizeLinear d: q s z -> f\n"
#define TO_CODE "node QuantizeLinear n: r t y -> o\noutput o\n"
#define CONST_P "const p int8[3,1,1] scale=0.25 zero=2 = 1 2 3\nnode DequantizeLinear e: p t y -> h\n"

static const Row rows[] = {
    /* reals */
    {"a product", MAP C "node Mul: x p -> y\n", "x0: MUL float32 number@1"},
    {"a product, the map second", MAP C "node Mul: p x -> y\n", "x1: MUL float32 number@0"},
    {"a sum", MAP C "node Add: x p -> y\n", "x0: ADD float32 number@1"},
    {"a difference", MAP C "node Sub: x p -> y\n", "x0: SUB float32 number@1"},
    {"a difference from", MAP C "node Sub: p x -> y\n", "x1: RSUB float32 number@0"},
    {"a quotient", MAP C "node Div: x p -> y\n", "x0: DIV float32 number@1"},
    {"a quotient of", MAP C "node Div: p x -> y\n", "it divides by its map"},
    {"before opset 7", "format onnx 6\n" MAP "const p float32[3] = 1 2 3\nnode Mul@6: x p -> y broadcast=1 axis=1\n",
     "x0: MUL float32 number@1"},
    {"float16", HALF "const p float16[3,1,1] = unknown\nnode Mul: x p -> y\n", "x0: MUL float16 number@1"},
    {"a whole map of constants", MAP "const p float32[1,3,4,5] = splat 2\nnode Mul: x p -> y\n",
     "x0: MUL float32 number@1"},
    {"a parameter of the caller", MAP "input p float32[3,1,1]\nnode Mul: x p -> y\n", "x0: MUL float32 number@1"},
    {"a parameter of the caller, first", MAP "input p float32[3,1,1]\nnode Sub: p x -> y\n",
     "x1: RSUB float32 number@0"},
    {"two maps", MAP "input p float32[1,3,4,5]\nnode Mul: x p -> y\n", "x0: MUL float32 number@1"},
    {"two maps of which a node makes one", MAP "input p float32[1,3,4,5]\nnode Relu: x -> k\nnode Sub: k p -> y\n",
     "x0: SUB float32 number@1"},
    {"two maps of which a node makes the second",
     MAP "input p float32[1,3,4,5]\nnode Relu: x -> k\nnode Sub: p k -> y\n", "x1: RSUB float32 number@0"},
    {"a quotient by what a node makes", MAP "input p float32[1,3,4,5]\nnode Relu: x -> k\nnode Div: p k -> y\n",
     "x0: DIV float32 number@1"},
    {"two maps that nodes make", MAP "node Relu: x -> k\nnode Relu: x -> l\nnode Sub: k l -> y\n",
     "x0: SUB float32 number@1"},
    {"two maps that nodes make and of which both repeat",
     "input x float32[1,3,1,1]\ninput z float32[1,1,4,5]\nnode Relu: x -> k\nnode Relu: z -> l\nnode Add: k l -> y\n",
     "its map does not keep its shape"},
    {"a square", MAP "node Mul: x x -> y\n", "x0: MUL float32 number@1"},
    {"two maps of two ranks", "input x float32[4,5]\n input p float32[1,3,4,5]\nnode Div: p x -> y\n",
     "x0: DIV float32 number@1"},
    {"a quotient of a map that repeats", "input x float32[4,5]\ninput p float32[1,3,4,5]\nnode Div: x p -> y\n",
     "x0 repeats: DIV float32 number@1"},
    {"a map that grows", "input x float32[1,3,1,1]\nconst p float32[1,3,4,5] = splat 2\nnode Mul: x p -> y\n",
     "x0 repeats: MUL float32 number@1"},
    {"a map that grows, second", "input x float32[1,3,1,1]\nconst p float32[1,3,4,5] = splat 2\nnode Mul: p x -> y\n",
     "x1 repeats: MUL float32 number@0"},
    {"both grow", "input x float32[4,1]\ninput p float32[1,5]\nnode Mul: x p -> y\n",
     "x0 repeats: MUL float32 number@1"},
    {"what a node makes grows",
     "input x float32[4,1]\nconst p float32[1,5] = splat 2\nnode Relu: x -> k\nnode Mul: k p -> y\n",
     "its map does not keep its shape"},
    {"float64", "input x float64[2]\nconst p float64[1] = 2\nnode Mul: x p -> y\n",
     "it computes in a type that is neither float32 nor float16"},
    {"integers", "input x int32[2]\nconst p int32[1] = 2\nnode Mul: x p -> y\n", "x0: INT_MUL int32 value@1"},
    {"integers from", "input x uint8[2]\ninput p uint8[1]\nnode Sub@14: p x -> y\n", "x1: INT_RSUB uint8 value@0"},
    {"a quotient of integers", "input x int16[2]\ninput p int16[2]\nnode Div@14: x p -> y\n",
     "x0: INT_DIV int16 value@1"},
    {"integers of 64 bits", "input x int64[2]\nconst p int64[1] = 2\nnode Mul: x p -> y\n",
     "it computes in a type that is neither float32 nor float16 nor of integers that int32 holds"},
    {"codes that ONNX multiplies as integers",
     "input x int8[2] scale=1 zero=0\nconst p int8[1] scale=1 zero=0 = 2\nnode Mul@14: x p -> y\n",
     "x0: INT_MUL int8 value@1"},
    {"integers for reals", MAP "const p int8[5] = splat 2\nnode Mul: x p -> y\n",
     "a parameter is of integers without a scale"},
    {"another operator", MAP "node Sigmoid: x -> y\n", "it is no per-channel operator that is executed"},
    {"constants", "const x float32[1] = 1\nnode Add: x x -> y\noutput y\n", "its result is a constant"},

    /* normalisation */
    {"a norm", MAP FOUR "node BatchNormalization@9: x g b m v -> y epsilon=0.5\n",
     "x0: NORM float32 epsilon=0.5 gamma@1 beta@2 mean@3 variance@4"},
    {"a norm of the caller's numbers",
     MAP "input g float32[3]\ninput b float32[3]\ninput m float32[3]\ninput v float32[3]\n"
         "node BatchNormalization@15: x g b m v -> y\n",
     "x0: NORM float32 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4"},
    {"a norm of one channel",
     "input x float32[7]\nconst g float32[1] = 1\nnode BatchNormalization@15: x g g g g -> y\n",
     "x0: NORM float32 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4"},
    {"a norm in float16", HALF "const g float16[3] = unknown\nnode BatchNormalization@15: x g g g g -> y\n",
     "x0: NORM float16 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4"},
    {"a norm of two types", HALF FOUR "node BatchNormalization@15: x g b m v -> y\n",
     "x0: CAST float16>float32; NORM float32 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4; CAST float32>float16"},
    {"a norm of the two other types", MAP "const g float16[3] = unknown\nnode BatchNormalization@15: x g g g g -> y\n",
     "x0: NORM float32 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4"},
    {"a product of two types", HALF "const p float32[3,1,1] = 1 2 3\nnode Mul: x p -> y\n",
     "a parameter has another type than the map"},
    {"a norm that trains, 15", MAP FOUR "node BatchNormalization@15: x g b m v -> y training_mode=1\n",
     "it takes mean and variance from its input"},
    {"a norm that trains, 9", MAP FOUR "node BatchNormalization@9: x g b m v -> y n w\n",
     "it takes mean and variance from its input"},
    {"a norm that trains, 6", MAP FOUR "node BatchNormalization@6: x g b m v -> y\n",
     "it takes mean and variance from its input"},
    {"a norm that is tested, 6", MAP FOUR "node BatchNormalization@6: x g b m v -> y is_test=1\n",
     "x0: NORM float32 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4"},

    /* limits */
    {"Relu", MAP "node Relu: x -> y\n", "x0: CLIP float32 [0,inf]"},
    {"Relu6", TFLITE MAP "node tflite.RELU6: x -> y\n", "x0: CLIP float32 [0,6]"},
    {"Relu1", TFLITE MAP "node tflite.RELU_N1_TO_1: x -> y\n", "x0: CLIP float32 [-1,1]"},
    {"Clip with inputs", MAP "const l float32[] = -2\nconst h float32[] = 3\nnode Clip: x l h -> y\n",
     "x0: CLIP float32 [-2,3]"},
    {"Clip with one", MAP "const h float32[] = 3\nnode Clip: x _ h -> y\n", "x0: CLIP float32 [-3.40282e+38,3]"},
    {"Clip with attributes", MAP "node Clip@6: x -> y min=0.5 max=2.0\n", "x0: CLIP float32 [0.5,2]"},
    {"Clip in float16", HALF "const l float16[] = hex 00c0\nnode Clip: x l -> y\n", "x0: CLIP float16 [-2,65504]"},
    {"Clip with a limit of the caller", MAP "input l float32[]\nnode Clip: x l -> y\n",
     "x0: CLIP float32 [0,3.40282e+38] lo@1"},
    {"Clip with two", MAP "input l float32[]\ninput h float32[]\nnode Clip: x l h -> y\n",
     "x0: CLIP float32 [0,0] lo@1 hi@2"},
    {"Clip with a limit of another type", HALF "input l float32[]\nnode Clip: x l -> y\n",
     "a limit has another type than the map"},
    {"Clip with many numbers", MAP "input l float32[5]\nnode Clip: x l -> y\n", "a limit is not one number"},
    {"Clip of integers", "input x int8[3]\nconst l int8[] = -2\nnode Clip@12: x l -> y\n",
     "x0: CODE_CLIP int8 [-2,127]"},
    {"Clip of integers with a limit of the caller", "input x uint16[3]\ninput h uint16[]\nnode Clip@12: x _ h -> y\n",
     "x0: CODE_CLIP uint16 [0,0] hi@2"},
    {"Relu of integers", "input x int8[3]\nnode Relu@14: x -> y\n", "x0: CODE_CLIP int8 [0,127]"},
    {"a fused limit", TFLITE MAP "const p float32[5] = splat 2\nnode Mul: x p -> y activation=\"RELU6\"\n",
     "x0: MUL float32 number@1; CLIP float32 [0,6]"},
    {"a fused function", TFLITE MAP "const p float32[5] = splat 2\nnode Mul: x p -> y activation=\"TANH\"\n",
     "its fused activation is not a limit"},

    /* coders */
    {"Quantize", MAP "const s float32[] = 0.5\nconst z uint8[] = 7\nnode QuantizeLinear: x s z -> y\n",
     "x0: QUANTIZE float32>uint8 0.5,7"},
    {"Quantize without a zero point", MAP "const s float32[] = 0.5\nnode QuantizeLinear: x s -> y\n",
     "x0: QUANTIZE float32>uint8 0.5,0"},
    {"Quantize in float16", HALF "const s float16[] = hex 0034\nnode QuantizeLinear@19: x s -> y\n",
     "x0: QUANTIZE float16>uint8 0.25,0"},
    {"Quantize of another precision", HALF "const s float32[] = 0.5\nnode QuantizeLinear@23: x s -> y\n",
     "its scale has another type than its reals"},
    {"Quantize along an axis",
     MAP "const s float32[3] = 1 2 3\nconst z int8[3] = 1 2 3\nnode QuantizeLinear@13: x s z -> y\n",
     "x0: QUANTIZE float32>int8 0,0 scale@1 zero@2"},
    {"Quantize along an axis, when there was none",
     MAP "const s float32[3] = 1 2 3\nnode QuantizeLinear@10: x s -> y\n",
     "its scales do not go along an axis of its map"},
    {"Quantize of a stated precision", MAP "const s float32[] = 0.5\nnode QuantizeLinear@23: x s -> y precision=10\n",
     "its scale has another type than its reals"},
    {"Quantize to the last code",
     MAP "const s float32[] = 0.5\nconst z int8[] = 127\nnode QuantizeLinear: x s z -> y\n",
     "x0: QUANTIZE float32>int8 0.5,127"},
    {"Quantize by the caller's scale", MAP "input s float32[]\nconst z int8[] = 3\nnode QuantizeLinear: x s z -> y\n",
     "x0: QUANTIZE float32>int8 0,3 scale@1"},
    {"Dequantize",
     "input x int8[2,3]\nconst s float32[] = 0.5\nconst z int8[] = -128\n"
     "node DequantizeLinear: x s z -> y\n",
     "x0: DEQUANTIZE int8>float32 0.5,-128"},
    {"Dequantize of int32", "input x int32[2,3]\nconst s float32[] = 0.5\nnode DequantizeLinear: x s -> y\n",
     "x0: DEQUANTIZE int32>float32 0.5,0"},
    {"Dequantize with a zero point of another type",
     "input x int8[2,3]\nconst s float32[] = 0.5\nconst z uint8[] = 1\nnode DequantizeLinear: x s z -> y\n",
     "its zero points do not go with its codes and scales"},
    {"Dequantize by blocks",
     "input x int8[2,4]\nconst s float32[2,2] = 1 2 3 4\nnode DequantizeLinear@21: x s -> y block_size=2\n",
     "its scales go by blocks"},
    {"the operator's word, not that of the codes",
     "input x int8[2,3] scale=4 zero=1\nconst s float32[] = 0.5\nnode DequantizeLinear: x s -> y\n",
     "x0: DEQUANTIZE int8>float32 0.5,0"},
    {"TFLite's QUANTIZE", TFLITE MAP "value o int8[1,3,4,5] scale=0.5 zero=3\nnode QuantizeLinear: x -> o\n",
     "x0: QUANTIZE float32>int8 0.5,3"},
    {"TFLite's DEQUANTIZE", TFLITE CODES "node DequantizeLinear: q -> y\n", "x0: DEQUANTIZE int8>float32 0.5,-1"},
    {"TFLite's QUANTIZE of codes", TFLITE CODES OUT "node QuantizeLinear: q -> o\n",
     "x0: CODE_REQUANTIZE int8 in=0.5,-1 out=0.125,3 [-128,127]"},
    {"TFLite's QUANTIZE of int32",
     TFLITE "input q int32[4] scale=0.5 zero=0\nvalue o int16[4] scale=2 zero=0\n"
            "node QuantizeLinear: q -> o\n",
     "x0: CODE_REQUANTIZE int32>int16 in=0.5,0 out=2,0 [-32768,32767]"},
    {"TFLite's DEQUANTIZE along an axis",
     TFLITE "input q int8[2,3] scale=[1,2,3] zero=[0,0,0] axis=1\nnode DequantizeLinear: q -> y\n",
     "its codes have several scales, which no input gives"},

    /* QLinear operators */
    {"QLinearAdd of two maps", QLINEAR "input p uint8[4]\nnode QLinearAdd: x s z p t y o w -> q\n",
     "x0: CODE_ADD uint8 in=0.5,1 constant=0.25,2 out=0.125,3 [0,255] value@3"},
    {"QLinearMul of one", QLINEAR "input p uint8[1]\nnode QLinearMul: p t y x s z o w -> q\n",
     "x3: CODE_MUL uint8 in=0.5,1 constant=0.25,2 out=0.125,3 [0,255] value@0"},
    {"QLinearMul without zero points", QLINEAR "input p uint8[1]\nnode QLinearMul: x s _ p t _ o _ -> q\n",
     "x0: CODE_MUL uint8 in=0.5,0 constant=0.25,0 out=0.125,0 [0,255] value@3"},
    {"QLinearAdd by the caller's scale",
     QLINEAR "input p uint8[1]\ninput k float32[]\n"
             "node QLinearAdd: x k z p t y o w -> q\n",
     "its scales and zero points are not known constants of one number"},

    /* TFLite on codes */
    {"MUL of codes", TFLITE CODES COIN OUT "node Mul: q c -> o\n",
     "x0: CODE_MUL int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [-128,127] value@1"},
    {"ADD of codes", TFLITE CODES COIN OUT "node Add: c q -> o\n",
     "x1: CODE_ADD int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [-128,127] value@0"},
    {"SUB of codes", TFLITE CODES COIN OUT "node Sub: q c -> o\n",
     "x0: CODE_ADD int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [-128,127] negate=1 value@1"},
    {"SUB from codes", TFLITE CODES COIN OUT "node Sub: c q -> o\n",
     "x1: CODE_ADD int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [-128,127] negate=2 value@0"},
    {"DIV of codes", TFLITE CODES COIN OUT "node Div: q c -> o\n", "no reference of a division of codes is known"},
    /* 0 is code 3; 6 / 0.125 = 48 steps above, 1 is 8 above and -1 8 below */
    {"MUL with RELU", TFLITE CODES COIN OUT "node Mul: q c -> o activation=\"RELU\"\n",
     "x0: CODE_MUL int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [3,127] value@1"},
    {"MUL with RELU6", TFLITE CODES COIN OUT "node Mul: q c -> o activation=\"RELU6\"\n",
     "x0: CODE_MUL int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [3,51] value@1"},
    {"MUL with RELU_N1_TO_1", TFLITE CODES COIN OUT "node Mul: q c -> o activation=\"RELU_N1_TO_1\"\n",
     "x0: CODE_MUL int8 in=0.5,-1 constant=0.25,2 out=0.125,3 [-5,11] value@1"},
    {"RELU6 of the same codes", TFLITE CODES "value o int8[1,4,5,3] scale=0.5 zero=-1\nnode tflite.RELU6: q -> o\n",
     "x0: CODE_CLIP int8 [-1,11]"},
    {"RELU of other codes", TFLITE CODES OUT "node Relu: q -> o\n", "x0: CODE_REQUANTIZE int8 in=4,-1 out=1,3 [3,127]"},
    {"MUL of two types of codes", TFLITE CODES OUT "const c uint8[3] scale=0.25 zero=2 = 1 2 3\nnode Mul: q c -> o\n",
     "its operands have different types of codes"},
    {"MUL of plain integers", TFLITE "input x int32[4]\nconst p int32[1] = 2\nnode Mul: x p -> y\n",
     "it computes on plain integers"},
    {"MUL of int32 codes",
     TFLITE "input x int32[4] scale=1 zero=0\nconst p int32[1] scale=1 zero=0 = 2\n"
            "value y int32[4] scale=1 zero=0\nnode Mul: x p -> y\n",
     "its codes are of a type that is not computed"},

};

/* Behind graph_fold_qdq. */
static const Row folded_rows[] = {
    {"a folded product", SCALES TO_REAL CONST_P "node Mul: f h -> r\n" TO_CODE,
     "x0: DEQUANTIZE int8>float32 0.5,-1; MUL float32 number@1(0.25,2); QUANTIZE float32>int8 0.25,2"},
    {"a folded difference with a limit", SCALES TO_REAL CONST_P "node Sub: h f -> k\nnode Relu: k -> r\n" TO_CODE,
     "x1: DEQUANTIZE int8>float32 0.5,-1; RSUB float32 number@0(0.25,2); CLIP float32 [0,inf]; "
     "QUANTIZE float32>int8 0.25,2"},
    {"a folded Clip", SCALES TO_REAL "const l float32[] = -1\nconst u float32[] = 1.5\nnode Clip: f l u -> r\n" TO_CODE,
     "x0: DEQUANTIZE int8>float32 0.5,-1; CLIP float32 [-1,1.5]; QUANTIZE float32>int8 0.25,2"},
    {"a folded sum with two limits",
     SCALES TO_REAL CONST_P "const l float32[] = -1\nconst u float32[] = 1.5\nnode Add: f h -> k\n"
                            "node Clip: k l u -> r\n" TO_CODE,
     "x0: DEQUANTIZE int8>float32 0.5,-1; ADD float32 number@1(0.25,2); CLIP float32 [-1,1.5]; "
     "QUANTIZE float32>int8 0.25,2"},
    {"a folded norm", SCALES TO_REAL FOUR "node BatchNormalization@15: f g b m v -> r\n" TO_CODE,
     "x0: DEQUANTIZE int8>float32 0.5,-1; NORM float32 epsilon=1e-05 gamma@1 beta@2 mean@3 variance@4; "
     "QUANTIZE float32>int8 0.25,2"},
    {"folded coders", SCALES "node DequantizeLinear d: q s z -> r\n" TO_CODE,
     "x0: DEQUANTIZE int8>float32 0.5,-1; QUANTIZE float32>int8 0.25,2"},
    {"folded coders of another word", SCALES "const w float32[] = 8\nnode DequantizeLinear d: q w -> r\n" TO_CODE,
     "x0: DEQUANTIZE int8>float32 8,0; QUANTIZE float32>int8 0.25,2"},
    {"a folded product of TFLite",
     TFLITE CODES COIN OUT "node DequantizeLinear d: q -> f\nnode DequantizeLinear e: c -> h\n"
                           "node Mul: f h -> r activation=\"RELU\"\nnode QuantizeLinear n: r -> o\noutput o\n",
     "x0: DEQUANTIZE int8>float32 0.5,-1; MUL float32 number@1(0.25,2); CLIP float32 [0,inf]; "
     "QUANTIZE float32>int8 0.125,3"},
    {"a constant that stays codes", MAP "const t float32[] = 0.25\nconst y int8[] = 2\n" CONST_P "node Mul: x h -> o\n",
     "x0: MUL float32 number@1(0.25,2)"},
    {"a constant of another word",
     MAP "const t float32[] = 0.5\nconst p int8[3,1,1] scale=0.25 zero=2 = 1 2 3\nnode DequantizeLinear e: p t -> h\n"
         "node Mul: x h -> o\n",
     "x0: MUL float32 number@1"},
    {"a constant of many scales",
     MAP "const t float32[3] = 1 2 3\nconst p int8[3,1,1] scale=[1,2,3] zero=[0,0,0] axis=0 = 1 2 3\n"
         "node DequantizeLinear e: p t -> h axis=0\nnode Mul: x h -> o\n",
     "a parameter is of codes with several scales"},
};

static Graph *ready(Work *work, const Row *row) {
    Graph *graph = parse_sound(work, row->graph);
    assert_true(graph_check(graph, work) && graph_inline(graph, work) && graph_bind_dims(graph, NULL, 0, work) &&
                graph_infer(graph, work) && graph_assign_names(graph, NULL, 0, work));
    return graph;
}

static void check_last_node(const Graph *graph, const Row *row) {
    NodeStages stages;
    const char *why;
    const Block *main_block = graph_main(graph);
    const Node *node = graph_node(graph, main_block->nodes[main_block->node_count - 1]);
    bool is_known = node_stages(graph, node, &stages, &why);
    char *text = is_known ? stages_text(&stages) : strdup(why);
    bool is_expected = strcmp(text, row->expected) == 0;
    if (!is_expected) {
        print_error("%s:\n  got      %s\n  expected %s\n", row->name, text, row->expected);
    }
    free(text);
    assert_true(is_expected && (why == NULL) == is_known);
}

static void check_row(Work *work, const void *row) {
    check_last_node(ready(work, row), row);
}

static void check_folded_row(Work *work, const void *row) {
    Graph *graph = ready(work, row);
    assert_true(graph_fold_qdq(graph, work) && graph_check(graph, work));
    check_last_node(graph, row);
}

static void reads_nodes_as_stages(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_row, &rows[k]);
    }
}

static void reads_folded_nodes_as_stages(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof folded_rows / sizeof folded_rows[0]; k++) {
        with_work(check_folded_row, &folded_rows[k]);
    }
}

/* A constant that callers may replace is what the file says for one of them. */
static void takes_no_default_for_a_number(Work *work) {
    static const Row default_rows[] = {
        {"a limit", MAP "const d float32[] = 3\nnode Clip: x _ d -> y\n", "x0: CLIP float32 [-3.40282e+38,0] hi@2"},
        {"a scale", MAP "const d float32[] = 0.5\nnode QuantizeLinear: x d -> y\n",
         "x0: QUANTIZE float32>uint8 0,0 scale@1"},
    };
    for (size_t k = 0; k < sizeof default_rows / sizeof default_rows[0]; k++) {
        Graph *graph = ready(work, &default_rows[k]);
        value_of(graph, "d")->is_default = true;
        check_last_node(graph, &default_rows[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_nodes_as_stages),
        cmocka_unit_test(reads_folded_nodes_as_stages),
        WORK_TEST(takes_no_default_for_a_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
