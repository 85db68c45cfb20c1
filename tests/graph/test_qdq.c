/* graph_fold_qdq: which patterns become one integer operator, what is left of the graph, and what must stay float. The
 * expected lists were written by hand from the conditions in qdq.c. */
#include "graph/support.h"

#include "graph/passes.h"

/* Scales and maps that the rows share; a row names what it reads. */
#define SHARED                                                                                                         \
    "const s1 float32[] = 0.5\nconst s2 float32[] = 0.25\nconst z int8[] = 3\nconst s4 float32[4] = 1 2 3 4\n"         \
    "const s_ float32[1] = 0.5\n"                                                                                      \
    "input q int8[1,4,2,2] scale=0.5 zero=3\ninput p int8[1,4,2,2] scale=0.25 zero=3\n"                                \
    "value f float32[1,4,2,2]\nvalue g float32[1,4,2,2]\nvalue y float32[1,4,2,2]\nvalue r float32[1,4,2,2]\n"         \
    "value o int8[1,4,2,2] scale=0.5 zero=3\nvalue o2 int8[1,4,2,2] scale=0.25 zero=3\n"                               \
    "const w int8[4,4,1,1] scale=[1,2,3,4] axis=0 = unknown\nvalue wf float32[4,4,1,1]\n"                              \
    "const b int32[4] scale=[0.5,1,1.5,2] axis=0 = unknown\nconst sb float32[4] = 0.5 1 1.5 2\nvalue bf float32[4]\n"

typedef struct {
    const char *what, *text, *expected;
} Folding;

static const Folding rows[] = {
    {"element-wise, two operands",
     "node DequantizeLinear d: q s1 z -> f\nnode DequantizeLinear e: p s2 z -> g\nnode Add a: f g -> y\n"
     "node QuantizeLinear n: y s1 z -> o\noutput o\n",
     "Add q p -> o\n"},
    {"one operand twice",
     "node DequantizeLinear d: q s1 z -> f\nnode Mul a: f f -> y\nnode QuantizeLinear n: y s1 z -> o\noutput o\n",
     "Mul q q -> o\n"},
    {"per-channel weights and an int32 bias",
     "node DequantizeLinear d: q s1 z -> f\nfolded DequantizeLinear e: w s4 -> wf axis=0\n"
     "folded DequantizeLinear h: b sb -> bf axis=0\nnode Conv c: f wf bf -> y\nnode QuantizeLinear n: y s1 z -> "
     "o\noutput o\n",
     "Conv q w b -> o\n"},
    {"a normalisation between a convolution and its activation becomes part",
     "const t float32[4] = 4 3 2 1\nvalue v float32[1,4,2,2]\n"
     "node DequantizeLinear d: q s1 z -> f\nnode DequantizeLinear e: w s4 -> wf axis=0\nnode Conv c: f wf -> y\n"
     "node BatchNormalization n: y s4 t s4 t -> r\nnode Relu a: r -> v\nnode QuantizeLinear m: v s1 z -> o\noutput o\n",
     "Conv q w _ s4 t s4 t -> o\n"},
    {"a normalisation whose parameters are computed does not",
     "input t float32[4]\nnode DequantizeLinear d: q s1 z -> f\nfolded DequantizeLinear e: w s4 -> wf axis=0\n"
     "node Conv c: f wf -> y\nnode BatchNormalization n: y s4 t s4 s4 -> r\nnode QuantizeLinear m: r s1 z -> o\n"
     "output o\n",
     "DequantizeLinear q s1 z -> f\nConv f w -> y\nBatchNormalization y s4 t s4 s4 -> r\n"
     "QuantizeLinear r s1 z -> o\n"},
    {"weights with a scale an input channel: no one accumulator adds them up",
     "const v int8[4,4,1,1] scale=[1,2,3,4] axis=1 = unknown\nvalue vf float32[4,4,1,1]\n"
     "node DequantizeLinear d: q s1 z -> f\nfolded DequantizeLinear e: v s4 -> vf axis=1\nnode Conv c: f vf -> y\n"
     "node QuantizeLinear n: y s1 z -> o\noutput o\n",
     "DequantizeLinear q s1 z -> f\nConv f v -> y\nQuantizeLinear y s1 z -> o\n"},
    {"weights alone are codes: they stay codes",
     "input h float32[1,4,2,2]\nfolded DequantizeLinear e: w s4 -> wf axis=0\nnode Conv c: h wf -> y\noutput y\n",
     "Conv h w -> y\n"},
    {"an activation between becomes part",
     "node DequantizeLinear d: q s1 z -> f\nnode DequantizeLinear e: w s4 -> wf axis=0\nnode Conv c: f wf -> y\n"
     "node Relu a: y -> r\nnode QuantizeLinear n: r s1 z -> o\noutput o\n",
     "Conv q w -> o\n"},
    {"an activation on reals of another type than the scale",
     "value f2 float16[1,4,2,2]\nvalue y2 float16[1,4,2,2]\n"
     "node DequantizeLinear@23 d: q s1 z -> f2 output_dtype=10\nnode Relu a: f2 -> y2\n"
     "node QuantizeLinear@23 n: y2 s1 z -> o\noutput o\n",
     "DequantizeLinear q s1 z -> f2\nRelu f2 -> y2\nQuantizeLinear y2 s1 z -> o\n"},
    {"an activation behind which float16 is divided",
     "node DequantizeLinear@23 d: q s1 z -> f\nnode Relu a: f -> y\n"
     "node QuantizeLinear@23 n: y s1 z -> o precision=10\noutput o\n",
     "DequantizeLinear q s1 z -> f\nRelu f -> y\nQuantizeLinear y s1 z -> o\n"},
    {"an activation alone is an operator",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\noutput o\n",
     "Relu q -> o\n"},
    {"codes of 8-bit floats stay where they are",
     "input x float32[2,3]\nvalue t float32[3,2]\nvalue c float8e4m3fn[3,2] scale=0.5\n"
     "node Transpose a: x -> t perm=[1,0]\nnode QuantizeLinear n: t s1 -> c\noutput c\n",
     "Transpose x -> t\nQuantizeLinear t s1 -> c\n"},
    {"two operators in a row",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\n"
     "node DequantizeLinear e: o s1 z -> g\nnode Sigmoid k: g -> r\nnode QuantizeLinear m: r s2 z -> o2\noutput o2\n",
     "Relu q -> o\nSigmoid o -> o2\n"},
    {"a Dequantize with another reader stays",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\n"
     "node Exp k: f -> r\noutput o\noutput r\n",
     "DequantizeLinear q s1 z -> f\nRelu q -> o\nExp f -> r\n"},
    {"two operators that read one Dequantize both fold, and it goes",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\n"
     "node Sigmoid k: f -> r\nnode QuantizeLinear m: r s2 z -> o2\noutput o\noutput o2\n",
     "Relu q -> o\nSigmoid q -> o2\n"},
    {"a Dequantize whose output is the model's stays",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\noutput o\noutput "
     "f\n",
     "DequantizeLinear q s1 z -> f\nRelu q -> o\n"},
    {"moving elements between equal codes",
     "node DequantizeLinear d: q s1 z -> f\nnode Transpose t: f -> y perm=[0,1,3,2]\nnode QuantizeLinear n: y s1 z -> "
     "o\noutput o\n",
     "Transpose q -> o\n"},
    {"a scale of shape [1] is per tensor (C1)",
     "node DequantizeLinear d: q s_ z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s_ z -> o\noutput o\n",
     "Relu q -> o\n"},
    {"TFLite: the codes carry the scale",
     "format tflite\nnode DequantizeLinear d: q -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y -> o\noutput o\n",
     "Relu q -> o\n"},
    {"parameters by definition may stay float",
     "node DequantizeLinear d: q s1 z -> f\nnode BatchNormalization a: f s4 s4 s4 s4 -> y\n"
     "node QuantizeLinear n: y s1 z -> o\noutput o\n",
     "BatchNormalization q s4 s4 s4 s4 -> o\n"},
    {"indices are no operand",
     "const i int64[1] = 0\nnode DequantizeLinear d: q s1 z -> f\nnode Gather a: f i -> y\nnode QuantizeLinear n: y s1 "
     "z -> o\noutput o\n",
     "Gather q i -> o\n"},

    /* what only moves elements stands aside */
    {"Dequantize sinks below a Transpose to its operator",
     "node DequantizeLinear d: q s1 z -> f\nnode Transpose t: f -> y perm=[0,1,3,2]\nnode Sigmoid a: y -> r\n"
     "node QuantizeLinear n: r s2 z -> o2\noutput o2\n",
     "Transpose q -> y_codes\nSigmoid y_codes -> o2\n"},
    {"and below two",
     "const k int64[4] = 1 4 2 2\nvalue v float32[1,4,2,2]\nnode DequantizeLinear d: q s1 z -> f\n"
     "node Transpose t: f -> y perm=[0,1,3,2]\nnode Reshape u: y k -> r\nnode Sigmoid a: r -> v\n"
     "node QuantizeLinear n: v s2 z -> o2\noutput o2\n",
     "Transpose q -> y_codes\nReshape y_codes k -> r_codes\nSigmoid r_codes -> o2\n"},
    {"Quantize rises above a Transpose to its operator",
     "node DequantizeLinear d: q s1 z -> f\nnode Sigmoid a: f -> y\nnode Transpose t: y -> r perm=[0,1,3,2]\n"
     "node QuantizeLinear n: r s2 z -> o2\noutput o2\n",
     "Sigmoid q -> y_codes\nTranspose y_codes -> o2\n"},
    {"moving elements to other codes: moved as they are, then requantised",
     "node DequantizeLinear d: q s1 z -> f\nnode Transpose t: f -> y perm=[0,1,3,2]\nnode QuantizeLinear n: y s2 z -> "
     "o2\noutput o2\n",
     "Transpose q -> y_codes\nQuantizeLinear y_codes s2 z -> o2\n"},
    {"a pair that changes nothing is another name",
     "node DequantizeLinear d: q s1 z -> f\nnode QuantizeLinear n: f s1 z -> o\noutput o\n", "Identity q -> o\n"},
    {"a pair that changes the codes requantises",
     "node DequantizeLinear d: q s1 z -> f\nnode QuantizeLinear n: f s2 z -> o2\noutput o2\n",
     "QuantizeLinear q s2 z -> o2\n"},
    {"a pair that reads the codes with a scale of its own requantises with both scales",
     "node DequantizeLinear d: q s4 z -> f axis=1\nnode QuantizeLinear n: f s2 z -> o2\noutput o2\n",
     "QuantizeLinear q s2 z s4 z -> o2\n"},
    {"a pair with a scale that is computed stays",
     "input s float32[]\nnode DequantizeLinear d: q s z -> f\nnode QuantizeLinear n: f s2 z -> o2\noutput o2\n",
     "DequantizeLinear q s z -> f\nQuantizeLinear f s2 z -> o2\n"},
    {"a value with a second reader is not moved past",
     "node DequantizeLinear d: q s1 z -> f\nnode Transpose t: f -> y perm=[0,1,3,2]\nnode Exp a: y -> r\nnode Erf k: f "
     "-> g\n"
     "output r\noutput g\n",
     "DequantizeLinear q s1 z -> f\nTranspose f -> y\nExp y -> r\nErf f -> g\n"},
    {"Pad brings in a zero of its own",
     "const k int64[8] = 0 0 0 0 0 0 0 0\nnode DequantizeLinear d: q s1 z -> f\nnode Pad t: f k -> y\nnode Exp a: y -> "
     "r\noutput r\n",
     "DequantizeLinear q s1 z -> f\nPad f k -> y\nExp y -> r\n"},
    {"a scale for each slice stays with its axis",
     "value wq int8[4,4,1,1] scale=[1,2,3,4] axis=0\nnode Relu i: q -> wq\nnode DequantizeLinear d: wq s4 -> f axis=0\n"
     "node Transpose t: f -> y perm=[1,0,2,3]\nnode Exp a: y -> r\noutput r\n",
     "Relu q -> wq\nDequantizeLinear wq s4 -> f\nTranspose f -> y\nExp y -> r\n"},

    /* what stays as the file has it */
    {"the float result is an output of the model",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\noutput o\noutput "
     "y\n",
     "DequantizeLinear q s1 z -> f\nRelu f -> y\nQuantizeLinear y s1 z -> o\n"},
    {"the float result has a second reader",
     "node DequantizeLinear d: q s1 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\nnode Exp k: y -> "
     "r\n"
     "output o\noutput r\n",
     "DequantizeLinear q s1 z -> f\nRelu f -> y\nQuantizeLinear y s1 z -> o\nExp y -> r\n"},
    {"the result between operator and activation is an output of the model",
     "node DequantizeLinear d: q s1 z -> f\nnode DequantizeLinear e: p s2 z -> g\nnode Add c: f g -> y\nnode Relu a: y "
     "-> r\n"
     "node QuantizeLinear n: r s1 z -> o\noutput o\noutput y\n",
     "DequantizeLinear q s1 z -> f\nDequantizeLinear p s2 z -> g\nAdd f g -> y\nRelu y -> r\nQuantizeLinear r s1 z -> "
     "o\n"},
    {"one operand is float",
     "node DequantizeLinear d: q s1 z -> f\ninput h float32[1,4,2,2]\nnode Add a: f h -> y\n"
     "node QuantizeLinear n: y s1 z -> o\noutput o\n",
     "DequantizeLinear q s1 z -> f\nAdd f h -> y\nQuantizeLinear y s1 z -> o\n"},
    {"codes read with another scale than they were written with",
     "node DequantizeLinear d: q s2 z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> o\noutput o\n",
     "DequantizeLinear q s2 z -> f\nRelu f -> y\nQuantizeLinear y s1 z -> o\n"},
    {"codes read with another zero point than they were written with",
     "const v int8[] = 4\nnode DequantizeLinear d: q s1 v -> f\nnode Relu a: f -> y\n"
     "node QuantizeLinear n: y s1 z -> o\noutput o\n",
     "DequantizeLinear q s1 v -> f\nRelu f -> y\nQuantizeLinear y s1 z -> o\n"},
    {"an operator without an integer form",
     "node DequantizeLinear d: q s1 z -> f\nnode Erf a: f -> y\nnode QuantizeLinear n: y s1 z -> o\noutput o\n",
     "DequantizeLinear q s1 z -> f\nErf f -> y\nQuantizeLinear y s1 z -> o\n"},
    {"a scale that is computed",
     "input s float32[]\nnode DequantizeLinear d: q s z -> f\nnode Relu a: f -> y\nnode QuantizeLinear n: y s1 z -> "
     "o\noutput o\n",
     "DequantizeLinear q s z -> f\nRelu f -> y\nQuantizeLinear y s1 z -> o\n"},
};

static void check_folding(Work *work, const void *argument) {
    const Folding *row = argument;
    const char *format = strncmp(row->text, "format", 6) == 0 ? "" : "format onnx 13\n";
    const char *body = row->text;
    if (format[0] == '\0') {
        format = "format tflite\n";
        body = strchr(row->text, '\n') + 1;
    }
    Graph *graph = parse_sound(work, arena_text(&work->keep, "%s%s%s", format, SHARED, body));
    bool sound = graph_fold_qdq(graph, work) && graph_check(graph, work);
    const char *got = list_nodes(work, graph);
    if (!sound || strcmp(got, row->expected) != 0) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s: got\n%sexpected\n%s", row->what, got, row->expected);
    }
}

static void folds_what_meets_the_conditions(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_folding, &rows[k]);
    }
}

/* ---- The activation that became part */

static const struct {
    const char *node, *word;
    double min, max;
} activations[] = {
    {"node Relu a: y -> r\n", "RELU", 0, 0},
    {"const lo float32[] = 0\nconst hi float32[] = 6\nnode Clip a: y lo hi -> r\n", "RELU6", 0, 0},
    {"const lo float32[] = -1\nconst hi float32[] = 1.5\nnode Clip a: y lo hi -> r\n", "CLIP", -1, 1.5},
    {"node Clip@6 a: y -> r min=0.5 max=2.0\n", "CLIP", 0.5, 2},
};

static void keeps_the_activation_as_an_attribute(Work *work) {
    for (size_t k = 0; k < sizeof activations / sizeof activations[0]; k++) {
        Graph *graph = parse_sound(
            work, arena_text(&work->keep,
                             "%snode DequantizeLinear d: q s1 z -> f\nnode DequantizeLinear e: p s2 z -> g\n"
                             "node Add c: f g -> y stay=1\n%snode QuantizeLinear n: r s1 z -> o\noutput o\n",
                             SHARED, activations[k].node));
        assert_true(graph_fold_qdq(graph, work) && graph_check(graph, work));
        assert_string_equal(list_nodes(work, graph), "Add q p -> o\n");
        const Node *add = graph_node(graph, graph_main(graph)->nodes[0]);
        assert_true(str_eq(node_str(add, "activation"), str_from(activations[k].word)));
        assert_int_equal(node_int(add, "stay", 0), 1);
        assert_true(node_float(add, "activation_min", 0) == activations[k].min);
        assert_true(node_float(add, "activation_max", 0) == activations[k].max);
        assert_true(str_eq(add->op_name, STR("Add")));
        assert_true(str_eq(node_str(add, "reals"), STR("float32")));
        assert_true(value_of(graph, "o")->quant != NULL && value_of(graph, "o")->producer.index == 2);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folds_what_meets_the_conditions),
        WORK_TEST(keeps_the_activation_as_an_attribute),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
