/* rule_requantize: codes in the middle of a run go where no code that comes out changes, and nowhere else.
 *
 * Each row has the network by hand without its middle codes. Both are evaluated on every code, in every channel, under
 * every way to round of the format, by arithmetic of this file: that tells whether they are equal. Where they are, both
 * must be simplified to the same; where they are not, no codes may go, and the code that would change is told. Numbers
 * in front of a row are those of docs/cases.md. */
#include "affine/simplified.h"

#include <math.h>

#include "layout/packed.h"
#include "support/random.h"

#include <stdarg.h>

/* ---- A network of one number, evaluated */

typedef enum { ROUND_TWICE, ROUND_ONCE, WAYS } Way; /* TFLite's two; ONNX has one */

typedef struct {
    const Graph *graph;
    Way way;
    uint32_t channel;
    double *at; /* by value; codes are whole numbers, reals are float32 */
} Network;

static double parameter_at(const Network *n, const Node *node, uint32_t k) {
    const Value *value = node_input(n->graph, node, k);
    if (value == NULL || value->constant == NULL) {
        return value == NULL ? 0 : n->at[node->inputs[k].index];
    }
    uint32_t width = dtype_bits(value->dtype);
    uint64_t count = value->constant->bytes.len * 8 / width;
    uint64_t bits = packed_read(value->constant->bytes.ptr, count == 1 ? 0 : n->channel, width);
    if (value->dtype == DTYPE_F32) {
        uint32_t word = (uint32_t)bits;
        float number;
        memcpy(&number, &word, sizeof number);
        return (double)number;
    }
    bool is_negative = dtype_kind(value->dtype) == DTYPE_KIND_SIGNED && (bits >> (width - 1)) != 0;
    return (double)bits - (is_negative ? ldexp(1, (int)width) : 0);
}

static double saturated(double x, DType dtype) {
    double half = ldexp(1, (int)dtype_bits(dtype) - 1);
    bool is_signed = dtype_kind(dtype) == DTYPE_KIND_SIGNED;
    return fmin(fmax(x, is_signed ? -half : 0), is_signed ? half - 1 : 2 * half - 1);
}

static double zero_of(const Value *value) {
    return value->quant->zero_point == NULL ? 0 : (double)value->quant->zero_point[0];
}

/* round(x / 2^bits): up where it ties, or away from 0. */
static int64_t shifted(int64_t x, int bits, bool away) {
    int64_t unit = (int64_t)1 << bits, floor = x >= 0 ? x / unit : -((-x + unit - 1) / unit);
    int64_t rest = x - floor * unit, twice = 2 * rest;
    return floor + (twice > unit || (twice == unit && (!away || x > 0)));
}

/* TFLite's fixed point: 31 bits of the factor, its product rounded to 32 bits and then once more, or once at all. */
static int64_t requantised(int64_t steps, double factor, Way way) {
    int exponent;
    int64_t multiplier = llround(ldexp(frexp(factor, &exponent), 31));
    if (multiplier == INT64_C(1) << 31) {
        multiplier /= 2;
        exponent++;
    }
    if (way == ROUND_ONCE) {
        return shifted(steps * multiplier, 31 - exponent, false);
    }
    int left = exponent > 0 ? exponent : 0;
    int64_t high = shifted(steps * ((int64_t)1 << left) * multiplier, 31, false);
    return exponent < 0 ? shifted(high, -exponent, true) : high;
}

static double quantised(const Network *n, const Node *node) {
    const Value *in = node_input(n->graph, node, 0), *out = node_output(n->graph, node, 0);
    double x = n->at[node->inputs[0].index];
    if (n->graph->format == FORMAT_ONNX) {
        float quotient = (float)x / (float)parameter_at(n, node, 1);
        return saturated((double)rintf(quotient) + parameter_at(n, node, 2), out->dtype);
    }
    double scale = (double)out->quant->scale[0], zero = zero_of(out);
    if (in->dtype == DTYPE_F32) {
        return saturated((double)roundf((float)x / (float)scale) + zero, out->dtype);
    }
    double factor = (double)in->quant->scale[0] / scale;
    return saturated((double)requantised((int64_t)(x - zero_of(in)), factor, n->way) + zero, out->dtype);
}

static double dequantised(const Network *n, const Node *node) {
    const Value *in = node_input(n->graph, node, 0);
    double x = n->at[node->inputs[0].index];
    if (n->graph->format == FORMAT_ONNX) {
        return (double)((float)(x - parameter_at(n, node, 2)) * (float)parameter_at(n, node, 1));
    }
    return (double)(float)((x - zero_of(in)) * (double)in->quant->scale[0]);
}

static double computed(const Network *n, const Node *node) {
    float x = (float)parameter_at(n, node, 0);
    switch (node->op) {
    case OP_QUANTIZE:
        return quantised(n, node);
    case OP_DEQUANTIZE:
        return dequantised(n, node);
    case OP_MUL:
        return (double)(x * (float)parameter_at(n, node, 1));
    case OP_ADD:
        return (double)(x + (float)parameter_at(n, node, 1));
    case OP_RELU:
        return (double)fmaxf(x, 0);
    case OP_NEG:
        return (double)-x;
    default:
        fail_msg("the evaluator has no %s", op_info(node->op)->name);
        return 0;
    }
}

/* What the first output is for a code. */
static double run_code(const Network *n, double code) {
    const Block *main = graph_main(n->graph);
    n->at[main->inputs[0].index] = code;
    for (uint32_t k = 0; k < main->node_count; k++) {
        const Node *node = graph_node(n->graph, main->nodes[k]);
        n->at[node->outputs[0].index] = computed(n, node);
    }
    return n->at[main->outputs[0].index];
}

enum { MOST_CHANNELS = 3 };

/* The first code for which two networks differ, in some channel, rounded in some way; NAN where there is none. */
static double first_difference(const Graph *a, const Graph *b, Work *work) {
    const Value *in = graph_value(a, graph_main(a)->inputs[0]);
    bool is_tflite = a->format == FORMAT_TFLITE; /* one channel in these rows, and two ways to round */
    double lo = saturated(-INFINITY, in->dtype), hi = saturated(INFINITY, in->dtype);
    Network one = {.graph = a, .at = arena_array(&work->keep, double, a->value_count)};
    Network two = {.graph = b, .at = arena_array(&work->keep, double, b->value_count)};
    for (double code = lo; code <= hi; code++) {
        for (uint32_t run = 0; run < (is_tflite ? (uint32_t)WAYS : MOST_CHANNELS); run++) {
            one.way = two.way = is_tflite ? (Way)run : ROUND_TWICE;
            one.channel = two.channel = is_tflite ? 0 : run;
            if (run_code(&one, code) != run_code(&two, code)) {
                return code;
            }
        }
    }
    return NAN;
}

/* ---- Networks by hand */

typedef struct {
    const char *what, *text;
    const char *joined;  /* the same without the codes in the middle; null where they must stay, whatever comes out */
    bool is_equal;       /* by thought; the evaluation must agree */
    const char *refusal; /* a reason that is told, where not null */
    const char *callers;
} Row;

/* ONNX: scales that are whole in float32, and one that is not. */
#define S                                                                                                              \
    "const h float32[] = 0.5\nconst e float32[] = 0.125\nconst i float32[] = 1\nconst f4 float32[] = 4\nconst p "      \
    "float32[] = 0.3\nconst z int8[] = 0\nconst w int16[] = 0\nconst u uint8[] = 128\ninput q int8[2,3,2]\n"           \
    "node DequantizeLinear d: q h z -> f\n"
#define WIDE   "node QuantizeLinear@21 a: f e w -> m\nnode DequantizeLinear@21 b: m e w -> g\n"
#define SHORT  "node QuantizeLinear a: f e z -> m\nnode DequantizeLinear b: m e z -> g\n"
#define TO_I   "node QuantizeLinear n: g i z -> o\noutput o\n"
#define TO_H   "node QuantizeLinear n: g h z -> o\noutput o\n"
#define F_TO_I "node QuantizeLinear n: f i z -> o\noutput o\n"
#define F_TO_H "node QuantizeLinear n: f h z -> o\noutput o\n"
#define CHANNELS                                                                                                       \
    "const z3 int8[3] = 0 0 0\nconst w3 int16[3] = 0 0 0\nconst z int8[] = 0\nconst w int16[] = 0\nconst i float32[] " \
    "= 1\nconst e float32[] = 0.125\ninput q int8[3,3,3]\n"

/* TFLite: codes that come in, the middle and what comes out. */
#define X  "format tflite\ninput x int8[3] scale=0.5 zero=0\n"
#define M  "value m int16[3] scale=0.125 zero=0\n"
#define Y  "value y int8[3] scale=0.5 zero=-3\n"
#define XM "node QuantizeLinear(QUANTIZE) a: x -> m\n"
#define MY "node QuantizeLinear(QUANTIZE) b: m -> y\noutput y\n"
#define XY "node QuantizeLinear(QUANTIZE) b: x -> y\noutput y\n"

static const Row rows[] = {
    {.what = "finer codes of 16 bits: each number is one of them", S WIDE TO_I, S F_TO_I, true},
    {.what = "E1 finer codes of 8 bits end at 15.875",
     S SHORT TO_I,
     S F_TO_I,
     false,
     "the codes in the middle stay: channel 0, onnx: code -128 would become -64 instead of -16"},
    /* 2.5 is 2, which is half of 4 and goes to 0; 2.5 itself is more than half */
    {.what = "rounded twice: 2.5 by way of 2",
     S "node QuantizeLinear a: f i z -> m\nnode DequantizeLinear b: m i z -> g\nnode QuantizeLinear n: g f4 z -> "
       "o\noutput o\n",
     S "node QuantizeLinear n: f f4 z -> o\noutput o\n",
     false,
     "the codes in the middle stay: channel 0, onnx: code "},
    {.what = "scales that are no power of 2",
     S "node QuantizeLinear a: f p z -> m\nnode DequantizeLinear b: m p z -> g\n" TO_I,
     S F_TO_I,
     false},
    {.what = "codes without a sign, shifted",
     S "node QuantizeLinear a: f h u -> m\nnode DequantizeLinear b: m h u -> g\n" TO_I,
     S F_TO_I,
     true},
    {.what = "reals come out",
     S WIDE "node QuantizeLinear n: g i z -> o\nnode DequantizeLinear l: o i z -> v\nnode Neg k: v "
            "-> y\noutput y\n",
     S "node QuantizeLinear n: f i z -> o\nnode DequantizeLinear l: o i z -> v\nnode Neg k: v -> y\noutput y\n",
     true},
    {.what = "operators on both sides",
     S
     "const k float32[] = 2\nconst c float32[] = 3\nnode Mul r: f k -> f2\nnode QuantizeLinear@21 a: f2 e w -> m\nnode "
     "DequantizeLinear@21 b: m e w -> g2\nnode Add t: g2 c -> g\n" TO_I,
     S "const k float32[] = 2\nconst c float32[] = 3\nnode Mul r: f k -> f2\nnode Add t: f2 c -> g\n" TO_I,
     true},
    {.what = "an operand that comes second",
     S
     "const k float32[] = 2\nconst c float32[] = 3\nnode Mul r: f k -> f2\nnode QuantizeLinear@21 a: f2 e w -> m\nnode "
     "DequantizeLinear@21 b: m e w -> g2\nnode Add t: c g2 -> g\n" TO_I,
     S "const k float32[] = 2\nconst c float32[] = 3\nnode Mul r: f k -> f2\nnode Add t: c f2 -> g\n" TO_I,
     true},
    {.what = "limits in the middle that Relu has anyway",
     S "node Relu r: f -> f2\nnode QuantizeLinear a: f2 h u -> m\nnode DequantizeLinear b: m h u -> g\n" TO_I,
     S "node Relu r: f -> f2\nnode QuantizeLinear n: f2 i z -> o\noutput o\n",
     true},
    {.what = "codes that cannot arrive: of 8 bits, behind a factor of 1 / 4",
     S
     "const k float32[] = 0.25\nnode Mul r: f k -> f2\nnode QuantizeLinear a: f2 e z -> m\nnode DequantizeLinear b: m "
     "e z -> g\n" TO_I,
     S "const k float32[] = 0.25\nnode Mul r: f k -> f2\nnode QuantizeLinear n: f2 i z -> o\noutput o\n",
     true},
    {.what = "two in the middle, both go",
     S WIDE
     "node QuantizeLinear@21 a2: g e w -> m2\nnode DequantizeLinear@21 b2: m2 e w -> g3\nnode QuantizeLinear n: g3 i z "
     "-> o\noutput o\n",
     S F_TO_I,
     true},
    {.what = "two in the middle, the second goes",
     S SHORT
     "node QuantizeLinear@21 a2: g e w -> m2\nnode DequantizeLinear@21 b2: m2 e w -> g3\nnode QuantizeLinear n: g3 h z "
     "-> o\noutput o\n",
     S SHORT TO_H,
     true,
     "the codes in the middle stay: channel 0, onnx: code -128 would become -128 instead of -32"},
    {.what = "the codes in the middle are an output", S WIDE TO_I "output m\n", NULL},
    {.what = "the codes in the middle have a second reader",
     S WIDE TO_I "node DequantizeLinear b2: m e w -> y\noutput y\n",
     NULL},
    {.what = "the reals before them have a second reader", S WIDE TO_I "node Neg k: f -> y\noutput y\n", NULL},
    {.what = "the reals behind them have a second reader", S WIDE TO_I "node Neg k: g -> y\noutput y\n", NULL},
    {.what = "callers give the scale in the middle", S WIDE TO_I, NULL, .callers = "e"},
    {.what = "a scale a channel, all equal",
     CHANNELS "const s float32[3] = 0.5 0.25 0.75\nnode DequantizeLinear d: q s z3 -> f axis=1\n" WIDE TO_I,
     CHANNELS "const s float32[3] = 0.5 0.25 0.75\nnode DequantizeLinear d: q s z3 -> f axis=1\n" F_TO_I,
     true},
    {.what = "a scale a channel, one not equal",
     CHANNELS "const s float32[3] = 0.5 0.25 0.3\nnode DequantizeLinear d: q s z3 -> f axis=1\n" WIDE TO_I,
     CHANNELS "const s float32[3] = 0.5 0.25 0.3\nnode DequantizeLinear d: q s z3 -> f axis=1\n" F_TO_I,
     false,
     "the codes in the middle stay: channel 2, onnx: code "},
    {.what = "B5 along two axes",
     CHANNELS "const s float32[3] = 0.5 0.25 0.75\nconst t float32[3] = 0.125 0.25 0.125\nnode DequantizeLinear d: q s "
              "z3 -> f axis=1\nnode QuantizeLinear@21 a: f t w3 -> m axis=2\nnode DequantizeLinear@21 b: m t w3 -> g "
              "axis=2\n" TO_I,
     NULL},
    {.what = "a scale a channel in the middle",
     CHANNELS "const t float32[3] = 0.125 0.25 0.5\nconst h float32[] = 0.5\nnode DequantizeLinear d: q h z -> f\nnode "
              "QuantizeLinear@21 a: f t w3 -> m axis=2\nnode DequantizeLinear@21 b: m t w3 -> g axis=-1\n" TO_I,
     CHANNELS "const t float32[3] = 0.125 0.25 0.5\nconst h float32[] = 0.5\nnode DequantizeLinear d: q h z -> "
              "f\n" F_TO_I,
     true},
    {.what = "written with one scale, read with another",
     S "node QuantizeLinear@21 a: f e w -> m\nnode DequantizeLinear@21 b: m h w -> g\n" TO_I,
     NULL},

    {.what = "QUANTIZE twice, by way of finer codes", X M Y XM MY, X Y XY, true},
    {.what = "QUANTIZE twice, by way of finer codes that end at 15.875",
     X "value m int8[3] scale=0.125 zero=0\n" Y XM MY,
     X Y XY,
     false,
     "the codes in the middle stay: channel 0, tflite-double: code -128 would become -128 instead of -35"},
    {.what = "QUANTIZE twice, to half as many codes: a shift ties away from 0, a product up",
     X M "value y int8[3] scale=1 zero=0\n" XM MY,
     X "value y int8[3] scale=1 zero=0\n" XY,
     false,
     "the codes in the middle stay: channel 0, tflite-double: code -127 would become -63 instead of -64"},
    {.what = "QUANTIZE twice, rounded twice",
     X "value m int8[3] scale=1 zero=0\nvalue y int8[3] scale=4 zero=0\n" XM MY,
     X "value y int8[3] scale=4 zero=0\n" XY,
     false},
    {.what = "QUANTIZE thrice",
     X M Y "value k int16[3] scale=0.0625 zero=0\n" XM
           "node QuantizeLinear(QUANTIZE) c: m -> k\nnode QuantizeLinear(QUANTIZE) b: k -> y\noutput y\n",
     X Y XY,
     true},
    {.what = "QUANTIZE thrice, the first of the middle codes saturate",
     X "value k int8[3] scale=0.125 zero=0\n" M Y "node QuantizeLinear(QUANTIZE) c: x -> k\nnode "
       "QuantizeLinear(QUANTIZE) a: k -> m\n" MY,
     X "value k int8[3] scale=0.125 zero=0\n" Y "node QuantizeLinear(QUANTIZE) c: x -> k\nnode "
       "QuantizeLinear(QUANTIZE) b: k -> y\noutput y\n",
     true},
    {.what = "16 bits, the ends alone saturate",
     "format tflite\ninput x int16[3] scale=0.5 zero=0\nvalue m int16[3] scale=0.25 zero=0\nvalue y int16[3] scale=0.5 "
     "zero=0\n" XM MY,
     "format tflite\ninput x int16[3] scale=0.5 zero=0\nvalue y int16[3] scale=0.5 zero=0\n" XY,
     false,
     "the codes in the middle stay: channel 0, tflite-double: code -32768 would become -32768 instead of -16384"},
    {.what = "16 bits, a scale that is another and changes no code",
     "format tflite\ninput x int16[3] scale=0.5 zero=0\nvalue m int16[3] scale=0.500001 zero=0\nvalue y int8[3] "
     "scale=201.3 zero=0\n" XM MY,
     "format tflite\ninput x int16[3] scale=0.5 zero=0\nvalue y int8[3] scale=201.3 zero=0\n" XY,
     true},
    {.what = "no kernel of TFLite goes from int16 to uint8",
     "format tflite\ninput x int16[3] scale=0.5 zero=0\nvalue m int8[3] scale=256 zero=0\nvalue y uint8[3] scale=256 "
     "zero=128\n" XM MY,
     NULL,
     .refusal = "the codes in the middle stay: there is no operator for these types"},
    {.what = "QUANTIZE of reals, then of codes",
     X "value f float32[3]\n" M Y "node DequantizeLinear(DEQUANTIZE) d: x -> f\nnode QuantizeLinear(QUANTIZE) a: f -> "
       "m\n" MY,
     X "value f float32[3]\n" Y "node DequantizeLinear(DEQUANTIZE) d: x -> f\nnode QuantizeLinear(QUANTIZE) b: f -> "
       "y\noutput y\n",
     true},
    {.what = "QUANTIZE of codes, then reals",
     X "value m int8[3] scale=0.50000006 zero=0\nvalue f float32[3]\nvalue y int8[3] scale=0.7 zero=0\n" XM
       "node DequantizeLinear(DEQUANTIZE) d: m -> f\nnode QuantizeLinear(QUANTIZE) b: f -> y\noutput y\n",
     X "value f float32[3]\nvalue y int8[3] scale=0.7 zero=0\nnode DequantizeLinear(DEQUANTIZE) d: x -> f\nnode "
       "QuantizeLinear(QUANTIZE) b: f -> y\noutput y\n",
     true},
    {.what = "QUANTIZE of codes that changes none, then reals that it does change",
     X "value m int8[3] scale=0.5009 zero=0\nvalue f float32[3]\nvalue y int16[3] scale=0.002 zero=0\n" XM
       "node DequantizeLinear(DEQUANTIZE) d: m -> f\nnode QuantizeLinear(QUANTIZE) b: f -> y\noutput y\n",
     X "value f float32[3]\nvalue y int16[3] scale=0.002 zero=0\nnode DequantizeLinear(DEQUANTIZE) d: x -> f\nnode "
       "QuantizeLinear(QUANTIZE) b: f -> y\noutput y\n",
     false,
     "the codes in the middle stay: channel 0, tflite-double: code -128 would become -32000 instead of -32058"},
    {.what = "DEQUANTIZE of another type is another version of it",
     X M "value f float32[3]\n" Y XM "node DequantizeLinear(DEQUANTIZE) d: m -> f\nnode QuantizeLinear(QUANTIZE) b: f "
         "-> y\noutput y\n",
     NULL,
     .refusal = "there is no operator for these types"},
    {.what = "TFLite: the codes in the middle are an output", X M Y XM MY "output m\n", NULL},
    {.what = "TFLite: state is read where it was",
     "format tflite\nstate x int8[3] scale=0.5 zero=0\n" M Y XM MY,
     NULL,
     .refusal = "the codes are state"},
};

static const Rewrite *find_joined(const Simplified *out) {
    for (size_t k = 0; k < out->rewrite_count; k++) {
        if (strcmp(out->rewrites[k].certificate.rule, "joined") == 0) {
            return &out->rewrites[k];
        }
    }
    return NULL;
}

static bool is_told(const Simplified *out, const char *reason) {
    for (size_t k = 0; reason != NULL && k < out->refusal_count; k++) {
        if (strstr(out->refusals[k].reason, reason) != NULL) {
            return true;
        }
    }
    return reason == NULL;
}

static Graph *understood(Work *work, const Model *model) {
    Graph *graph = parse_model(work, model);
    complete_model(graph, 0, 0, work);
    return graph;
}

static bool say(const Row *row, const char *what, const char *got) {
    print_error("%s: %s\n%s", row->what, what, got);
    return false;
}

/* Both are simplified to the same, which computes what the first computed. */
static bool check_joined(Work *work, const Row *row, const Graph *graph, const Simplified *out) {
    const Model text = {.what = row->what, .text = row->text}, by_hand = {.what = row->what, .text = row->joined};
    Simplified unused;
    const char *got = list_nodes(work, graph);
    const char *wanted = list_nodes(work, simplify_model(work, &by_hand, &unused, NULL));
    if (strcmp(got, wanted) != 0) {
        return say(row, "it is not what it is by hand", got);
    }
    if (find_joined(out) == NULL || !find_joined(out)->is_verified) {
        return say(row, "nothing was joined", got);
    }
    double code = first_difference(understood(work, &text), graph, work);
    return isnan(code) || say(row, "a code has changed", got);
}

static bool check_row(Work *work, const void *argument) {
    const Row *row = argument;
    const Model text = {.what = row->what, .text = row->text, .callers = row->callers};
    const Model by_hand = {.what = row->what, .text = row->joined};
    Simplified out;
    Graph *graph = simplify_model(work, &text, &out, NULL);
    if (!is_told(&out, row->refusal)) {
        for (size_t k = 0; k < out.refusal_count; k++) {
            print_error("refused: %s\n", out.refusals[k].reason);
        }
        return say(row, "another reason is told", "");
    }
    if (row->joined == NULL) {
        return find_joined(&out) == NULL || say(row, "codes went that must stay", list_nodes(work, graph));
    }
    double code = first_difference(understood(work, &text), understood(work, &by_hand), work);
    if (isnan(code) != row->is_equal) {
        print_error("code %g\n", code);
        return say(row, "the evaluation contradicts the row", "");
    }
    if (row->is_equal) {
        return check_joined(work, row, graph, &out);
    }
    return find_joined(&out) == NULL || say(row, "what is not equal was joined", list_nodes(work, graph));
}

static void joins_what_is_equal(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_row);
}

/* ---- Random runs of requantises */

typedef struct {
    uint64_t seed;
    bool is_onnx;
    uint32_t *equal, *different;
} Trial;

typedef struct {
    const char *type;
    double scale;
    int zero;
} Coding;

static Coding draw_coding(uint64_t *seed, bool may_be_wide) {
    static const double scales[] = {0.5, 0.5, 0.25, 1, 2, 0.3, 0.75, 0.125};
    static const int zeros[] = {0, 0, 3, -128, 17};
    Coding coding = {.scale = scales[random_below(seed, sizeof scales / sizeof scales[0])]};
    bool is_wide = may_be_wide && random_below(seed, 2) != 0;
    coding.type = is_wide ? "int16" : "int8";
    coding.zero = is_wide ? 0 : zeros[random_below(seed, sizeof zeros / sizeof zeros[0])];
    coding.scale /= is_wide ? 16 : 1;
    return coding;
}

static const char *add(Work *work, const char *text, const char *format, ...) __attribute__((format(printf, 3, 4)));
static const char *add(Work *work, const char *text, const char *format, ...) {
    char line[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return arena_text(&work->keep, "%s%s", text, line);
}

static const char *onnx_text(Work *work, const Coding *coding, uint32_t count) {
    const char *text = "";
    for (uint32_t k = 0; k < count; k++) {
        text = add(work, text, "const s%u float32[] = %.17g\nconst z%u %s[] = %d\n", k, coding[k].scale, k,
                   coding[k].type, coding[k].zero);
    }
    text = add(work, text, "input q0 %s[3]\n", coding[0].type);
    for (uint32_t k = 1; k < count; k++) {
        text = add(work, text, "node DequantizeLinear@21 d%u: q%u s%u z%u -> f%u\n", k, k - 1, k - 1, k - 1, k);
        text = add(work, text, "node QuantizeLinear@21 n%u: f%u s%u z%u -> q%u\n", k, k, k, k, k);
    }
    return add(work, text, "output q%u\n", count - 1);
}

static const char *tflite_text(Work *work, const Coding *coding, uint32_t count) {
    const char *text = "format tflite\n";
    for (uint32_t k = 0; k < count; k++) {
        text = add(work, text, "%s q%u %s[3] scale=%.17g zero=%d\n", k == 0 ? "input" : "value", k, coding[k].type,
                   coding[k].scale, coding[k].zero);
    }
    for (uint32_t k = 1; k < count; k++) {
        text = add(work, text, "node QuantizeLinear(QUANTIZE) n%u: q%u -> q%u\n", k, k - 1, k);
    }
    return add(work, text, "output q%u\n", count - 1);
}

static void try_run(Work *work, const void *argument) {
    const Trial *trial = argument;
    uint64_t seed = trial->seed;
    Coding coding[4];
    uint32_t count = 3 + (uint32_t)random_below(&seed, 2);
    for (uint32_t k = 0; k < count; k++) {
        coding[k] = draw_coding(&seed, k > 0 && k + 1 < count);
    }
    const Coding ends[] = {coding[0], coding[count - 1]};
    Model model = {.what = "a random run"}, direct = {.what = "the same at once"};
    model.text = trial->is_onnx ? onnx_text(work, coding, count) : tflite_text(work, coding, count);
    direct.text = trial->is_onnx ? onnx_text(work, ends, 2) : tflite_text(work, ends, 2);
    Simplified out;
    const Graph *before = understood(work, &model), *after = simplify_model(work, &model, &out, NULL);
    double changed = first_difference(before, after, work);
    if (!isnan(changed)) {
        fail_msg("code %g has changed in\n%s", changed, model.text);
    }
    bool is_equal = isnan(first_difference(before, understood(work, &direct), work));
    uint32_t direct_count = trial->is_onnx ? 2 : 1;
    if (is_equal != (graph_main(after)->node_count <= direct_count)) {
        fail_msg("equal: %d, but %u nodes are left of\n%s", is_equal, graph_main(after)->node_count, model.text);
    }
    *(is_equal ? trial->equal : trial->different) += 1;
}

static void joins_random_runs(void **state) {
    (void)state;
    uint32_t equal = 0, different = 0;
    for (uint64_t k = 0; k < 2000; k++) {
        with_work(try_run, &(Trial){0x9E3779B97F4A7C15u * (k + 1), k % 2 == 0, &equal, &different});
    }
    print_message("%u runs are one requantise, %u are not\n", equal, different);
    assert_true(equal > 100 && different > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(joins_what_is_equal), cmocka_unit_test(joins_random_runs)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
