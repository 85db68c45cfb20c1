/* rule_constants: what is stored once, stored smaller, or stored folded, and what must be left alone.
 *
 * Bytes decide, so -0 is not 0 and a NaN is itself; nothing grows; nothing that a caller, a called block or a reader
 * that does not broadcast sees changes its shape. Numbers in front of a row are those of docs/cases.md. The lists and
 * bytes were worked out by hand: 4 bytes an element of float32, half a byte one of int4. */
#include "affine/simplified.h"

#define ADD  "input x float32[1,2,2,2]\nnode Tanh i: x -> a\n"
#define OUT  "node Erf o: b -> y\noutput y\n"
#define TAIL "Erf b -> y\n"

typedef struct {
    Model model;
    const char *expected; /* nodes that are left; null: all as they were, and nothing is logged */
    uint64_t bytes;       /* of the constants that are left */
    const char *stays;    /* a value that the file keeps though nobody reads it, where named */
} Row;

static const Row rows[] = {
    /* ---- merged */
    {.model = {.what = "two of the same bytes",
               .text = "input x float32[2]\nconst c float32[2] = 3 4\nconst d float32[2] = 3 4\n"
                       "node Mul n: x c -> a\nnode Add m: a d -> y\noutput y\n"},
     "Mul x c -> a\nAdd a c -> y\n",
     8},
    {.model = {.what = "two NaN of the same bits",
               .text = "input x float32[]\nconst c float32[] = hex 0100c07f\n"
                       "const d float32[] = hex 0100c07f\nnode Mul n: x c -> a\nnode Add m: a d -> y\noutput y\n"},
     "Mul x c -> a\nAdd a c -> y\n",
     4},
    {.model = {.what = "two nodes that make the same",
               .text =
                   "input x float32[2]\nconst k int64[1] = 2\nconst v float32[1] = 3\n"
                   "node ConstantOfShape p: k -> c value=tensor(v)\nnode ConstantOfShape q: k -> d value=tensor(v)\n"
                   "node Mul n: x c -> a\nnode Add m: a d -> y\noutput y\n"},
     "Mul x c -> a\nAdd a c -> y\n",
     4},
    {.model = {.what = "0 and -0",
               .text = "input x float32[]\nconst c float32[] = 0\nconst d float32[] = -0.0\n"
                       "node Mul n: x c -> a\nnode Sub m: a d -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "two NaN of other bits",
               .text = "input x float32[]\nconst c float32[] = hex 0100c07f\n"
                       "const d float32[] = hex 0200c07f\nnode Mul n: x c -> a\nnode Add m: a d -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "the same bytes of another type",
               .text = "input x float32[1]\ninput w int32[1]\nconst c float32[1] = hex 02000000\n"
                       "const d int32[1] = 2\nnode Mul n: x c -> y\nnode Mul m: w d -> z\noutput y\noutput z\n"},
     NULL,
     8},
    {.model = {.what = "the same bytes of another shape",
               .text = "input x float32[2,2]\nconst c float32[2,1] = 3 4\nconst d float32[1,2] = 3 4\n"
                       "node Mul n: x c -> a\nnode Add m: a d -> y\noutput y\n"},
     NULL,
     16},
    {.model = {.what = "L1 the same codes of other scales",
               .text =
                   "format tflite\ninput x int8[1,2] scale=0.5 zero=0\n"
                   "const c int8[2] scale=0.5 zero=0 = 7 9\nconst d int8[2] scale=0.25 zero=0 = 7 9\nvalue a int8[1,2] "
                   "scale=0.5 zero=0\n"
                   "value y int8[1,2] scale=0.5 zero=0\nnode Mul n: x c -> a\nnode Mul m: a d -> y\noutput y\n"},
     NULL,
     4},
    {.model = {.what = "one that callers may replace",
               .text = "input x float32[2]\nconst c float32[2] = 3 4\nconst d float32[2] = 3 4\n"
                       "node Mul n: x c -> a\nnode Add m: a d -> y\noutput y\n",
               .callers = "d"},
     NULL,
     16},
    {.model = {.what = "one that is an output",
               .text = "input x float32[2]\nconst c float32[2] = 3 4\nconst d float32[2] = 3 4\n"
                       "node Mul n: x c -> a\nnode Add m: a d -> y\noutput y\noutput d\n"},
     NULL,
     16},
    {.model = {.what = "one that a called block reads",
               .text = "input x float32[2]\ninput t bool[]\nconst c float32[2] = 3 4\nconst d float32[2] = 3 4\n"
                       "node Mul n: x c -> a\nnode If f: t -> y then_branch=block(1) else_branch=block(2)\noutput y\n"
                       "block 1 \"then\"\nnode Add: a d -> p\noutput p\nend\nblock 2 \"else\"\nnode Sub: a d -> "
                       "q\noutput q\nend\n"},
     NULL,
     16},

    /* ---- collapsed */
    {.model = {.what = "A2 one number, stored expanded",
               .text = ADD "const c float32[1,2,2,2] = 5 5 5 5 5 5 5 5\nnode Add n: a c -> b\n" OUT},
     "Tanh x -> a\nAdd a c -> b\n" TAIL,
     4},
    {.model = {.what = "A2 one number, made by a node",
               .text = "input x float32[1,32,128,128]\nconst k int64[4] = 1 32 128 128\nconst v float32[1] = 1\n"
                       "node ConstantOfShape m: k -> c value=tensor(v)\nnode Add n: x c -> y\noutput y\n"},
     "Add x c -> y\n",
     4},
    {.model =
         {.what = "A1 channels, tiled over a map",
          .text = "input x float32[1,48,360,640]\nconst s float32[1,48,1,1] = splat 3\nconst k int64[4] = 1 1 360 640\n"
                  "node Tile m: s k -> c\nnode Mul n: x c -> y\noutput y\n"},
     "Mul x c -> y\n",
     4},
    {.model = {.what = "A1 channels, expanded over a map",
               .text =
                   "input x float32[1,4,360,640]\nconst s float32[1,4,1,1] = 1 2 3 4\nconst k int64[4] = 1 4 360 640\n"
                   "node Expand m: s k -> c\nnode Mul n: x c -> y\noutput y\n"},
     "Mul x c -> y\n",
     16},
    {.model = {.what = "channels, stored expanded",
               .text = ADD "const c float32[1,2,2,2] = 5 5 5 5 7 7 7 7\nnode Sub n: c a -> b\n" OUT},
     "Tanh x -> a\nSub c a -> b\n" TAIL,
     8},
    {.model = {.what = "rows of equal extents, not channels",
               .text = ADD "const c float32[1,2,2,2] = 5 5 7 7 5 5 7 7\nnode Add n: a c -> b\n" OUT},
     "Tanh x -> a\nAdd a c -> b\n" TAIL,
     8},
    {.model = {.what = "NaN repeats too",
               .text =
                   "input x float32[2]\nconst c float32[2] = hex 0100c07f0100c07f\nnode Add n: x c -> y\noutput y\n"},
     "Add x c -> y\n",
     4},
    {.model = {.what = "L2 it keeps its name",
               .text = "input x float32[2]\nconst c float32[2] = 5 5\nconst c0 float32[2] = 1 2\n"
                       "node Add n: x c -> a\nnode Mul m: a c0 -> y\noutput y\n"},
     "Add x c -> a\nMul a c0 -> y\n",
     12},
    {.model = {.what = "half bytes",
               .text = "input x int4[2,3]\nconst c int4[2,3] = 1 -2 3 1 -2 3\nnode BitwiseXor n: x c -> y\noutput y\n"},
     "BitwiseXor x c -> y\n",
     2},
    {.model = {.what = "0 among -0",
               .text = "input x float32[2]\nconst c float32[2] = 0 -0.0\nnode Sub n: x c -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "nothing else gives the output its shape",
               .text = "input x float32[1,2]\nconst c float32[2,2] = 5 5 5 5\n"
                       "node Add n: x c -> y\noutput y\n"},
     NULL,
     16},
    {.model = {.what = "both operands",
               .text = "input t bool[1,2]\nconst c float32[2,2] = 5 5 5 5\nconst d float32[2,2] = 6 6 6 6\n"
                       "node Where n: t c d -> y\noutput y\n"},
     "Where t c d -> y\n",
     20},
    {.model = {.what = "a reader that does not broadcast",
               .text = "input x float32[2,2]\nconst c float32[2,2] = 5 5 5 5\nnode Add n: x c -> y\n"
                       "node MatMul m: x c -> z\noutput y\noutput z\n"},
     NULL,
     16},
    {.model = {.what = "it is an output",
               .text = "input x float32[2]\nconst c float32[2] = 5 5\nnode Add n: x c -> y\noutput y\noutput c\n"},
     NULL,
     8},
    {.model = {.what = "callers may replace it",
               .text = "input x float32[2]\nconst c float32[2] = 5 5\nnode Add n: x c -> y\noutput y\n",
               .callers = "c"},
     NULL,
     8},
    {.model = {.what = "opset 6 does not align from the right",
               .text = "input x float32[2]\nconst c float32[2] = 5 5\n"
                       "node Add@6 n: x c -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "Max of opset 7 does not broadcast",
               .text = "input x float32[2]\nconst c float32[2] = 5 5\n"
                       "node Max@7 n: x c -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "Max of opset 8 does",
               .text = "input x float32[2]\nconst c float32[2] = 5 5\n"
                       "node Max@8 n: x c -> y\noutput y\n"},
     "Max x c -> y\n",
     4},
    {.model = {.what = "ADD_N does not broadcast",
               .text = "format tflite\ninput x float32[2]\nvalue y float32[2]\nconst c float32[2] = 5 5\n"
                       "node Sum(ADD_N) n: x c -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "STABLEHLO_ADD does not broadcast",
               .text = "format tflite\ninput x float32[2]\nvalue y float32[2]\nconst c float32[2] = 5 5\n"
                       "node Add(STABLEHLO_ADD) n: x c -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "TFLite's ADD does",
               .text = "format tflite\ninput x float32[2]\nvalue y float32[2]\nconst c float32[2] = 5 5\n"
                       "node Add(ADD) n: x c -> y\noutput y\n"},
     "Add x c -> y\n",
     4},
    {.model = {.what = "not along five axes",
               .text = "format tflite\ninput x float32[1,1,1,1,2]\nvalue y float32[1,1,1,1,2]\n"
                       "const c float32[1,1,1,1,2] = 5 5\nnode Add(ADD) n: x c -> y\noutput y\n"},
     NULL,
     8},
    {.model = {.what = "codes of a scale a slice",
               .text = "format tflite\ninput x int8[2,2] scale=0.5 zero=0\nvalue y int8[2,2] scale=0.5 zero=0\n"
                       "const c int8[2,2] scale=[0.5,0.25] axis=0 = 5 6 5 6\nnode Add(ADD) n: x c -> y\noutput y\n"},
     NULL,
     4},
    {.model = {.what = "as long as a free dimension",
               .text = "input x float32[n,4]\nnode Shape s: x -> k\nconst v float32[1] = 2\n"
                       "node ConstantOfShape m: k -> c value=tensor(v)\nnode Add n: x c -> y\noutput y\n",
               .extents = {2, 3}},
     "Add x c -> y\n",
     4},

    /* ---- folded */
    {.model = {.what = "A9 L3 a transposed constant of one reader",
               .text = "input x float32[2,5]\nconst w float32[3,5] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
                       "node Transpose t: w -> v perm=[1,0]\nnode MatMul n: x v -> y\noutput y\n"},
     "MatMul x v -> y\n",
     60},
    {.model =
         {.what = "A9 a second reader of it makes the model grow",
          .text =
              "input x float32[2,5]\ninput u float32[2,3]\nconst w float32[3,5] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n"
              "node Transpose t: w -> v perm=[1,0]\nnode MatMul n: x v -> y\nnode MatMul m: u w -> z\noutput y\noutput "
              "z\n"},
     NULL,
     60},
    {.model = {.what = "A9 an Expand that no reader broadcasts",
               .text = "input x float32[2,64]\nconst w float32[5] = 1 2 3 4 5\nconst k int64[2] = 64 5\n"
                       "node Expand e: w k -> v\nnode MatMul n: x v -> y\noutput y\n"},
     NULL,
     36},
    {.model =
         {.what = "A7 codes of half a byte stay codes",
          .text =
              "input x float32[4,8]\nconst w int4[4,8] = 0 1 2 3 4 5 6 7 1 2 3 4 5 6 7 0 2 3 4 5 6 7 0 1 3 4 5 6 7 0 1 "
              "2\nconst s float32[4] = 1 2 3 4\n"
              "node DequantizeLinear@21 d: w s -> v axis=0\nnode Mul n: x v -> y\noutput y\n"},
     NULL,
     32},
    {.model =
         {.what = "L6 codes, back, codes, back: no new inputs",
          .text =
              "input x float32[4]\nconst w int8[4] = 1 2 3 4\nconst s float32[] = 0.5\nconst z int8[] = 0\n"
              "node DequantizeLinear d: w s z -> f\nnode QuantizeLinear q: f s z -> g\nnode DequantizeLinear e: g s z "
              "-> h\n"
              "node Mul n: x h -> y\noutput y\n"},
     NULL,
     9},
    {.model = {.what = "a shape that is computed",
               .text = "input x float32[2,6]\nconst p int64[1] = 3\nconst q int64[1] = 4\n"
                       "node Concat c: p q -> k axis=0\nnode Reshape n: x k -> y\noutput y\n"},
     "Reshape x k -> y\n",
     16},
    {.model = {.what = "made of what callers may replace",
               .text = "input x float32[2,6]\nconst p int64[1] = 3\nconst q int64[1] = 4\n"
                       "node Concat c: p q -> k axis=0\nnode Reshape n: x k -> y\noutput y\n",
               .callers = "q"},
     NULL,
     16},
    {.model = {.what = "one number a row of a free dimension",
               .text = "input x float32[n]\nnode Shape s: x -> k\n"
                       "node ConstantOfShape m: k -> c\nnode Concat n: c x -> y axis=0\noutput y\n",
               .extents = {1, 2}},
     NULL,
     0},

    /* ---- read by nobody */
    {.model = {.what = "in the file already",
               .text = "input x float32[2]\nconst c float32[2] = 3 4\nnode Neg n: x -> y\noutput y\n"},
     "Neg x -> y\n",
     0},
    {.model = {.what = "but callers may give it",
               .text = "input x float32[2]\nconst c float32[2] = 3 4\nnode Neg n: x -> y\noutput y\n",
               .callers = "c"},
     NULL,
     8},
    {.model = {.what = "of no bytes: the file may name it elsewhere",
               .text = "format tflite\ninput x float32[2]\nvalue y float32[2]\nvalue t float32[2]\nnode Neg n: x -> y\n"
                       "output y\n"},
     NULL,
     0,
     .stays = "t"},
    {.model = {.what = "the output itself",
               .text = "input x float32[1]\nconst p float32[1] = 3\nnode Identity n: p -> y\nnode Neg m: x -> z\n"
                       "output y\noutput z\n"},
     NULL,
     4},
};

static bool check_row(Work *work, const void *argument) {
    const Row *row = argument;
    Simplified out;
    const char *before;
    Graph *graph = simplify_model(work, &row->model, &out, &before);
    const char *got = list_nodes(work, graph);
    const char *expected = row->expected == NULL ? before : row->expected;
    bool is_right = strcmp(got, expected) == 0 && (out.rewrite_count == 0) == (row->expected == NULL) &&
                    out.constant_bytes_after == row->bytes &&
                    (row->stays == NULL || !out.edit.is_dropped[find_value(graph, row->stays).index]);
    if (!is_right) {
        print_error("%s: %zu rewrites, %u bytes, got\n%sexpected %u bytes\n%s", row->model.what, out.rewrite_count,
                    (unsigned)out.constant_bytes_after, got, (unsigned)row->bytes, expected);
    }
    return is_right;
}

static void stores_each_number_once(void **state) {
    (void)state;
    check_rows(rows, sizeof rows[0], sizeof rows / sizeof rows[0], check_row);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stores_each_number_once)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
