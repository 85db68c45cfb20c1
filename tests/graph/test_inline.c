/* graph_inline: what runs, in which order, and what each loop keeps alive; second calls are copies; recursion, depth,
 * sequences and unfolding without end are refused by name. The expected lists were written by hand from the rules of
 * inline.c and inline_loop.c. */
#include "graph/support.h"

#include "graph/passes.h"

typedef struct {
    const char *what, *text, *expected;
} Inlining;

static const Inlining inlinings[] = {
    {"no calls: nothing changes", "input a\nnode Relu r: a -> b\noutput b\n", "Relu a -> b\n"},
    {"If: both branches, then the choice, which reads both results",
     "input c bool[]\ninput x float32[2]\n"
     "node Relu before: x -> y\n"
     "node If f: c -> z then_branch=block(1) else_branch=block(2)\n"
     "node Relu after: z -> o\noutput o\n"
     "block 1 then\nnode Abs t: y -> t1\noutput t1\nend\n"
     "block 2 else\nnode Neg e: x -> e1\noutput e1\nend\n",
     "Relu x -> y\nAbs y -> t1\nNeg x -> e1\nIf c t1 e1 -> z\nRelu z -> o\n"},
    {"TFLite IF: arguments are other names of the inputs",
     "format tflite\ninput c bool[]\ninput x float32[2]\n"
     "node If f: c x -> z then_branch=block(1) else_branch=block(2)\noutput z\n"
     "block 1 then\ninput p\nnode Abs t: p -> t1\noutput t1\nend\n"
     "block 2 else\ninput q\noutput q\nend\n",
     "Identity x -> p\nAbs p -> t1\nIdentity x -> q\nIf c t1 q -> z\n"},
    {"CALL: results are other names of the outputs",
     "format tflite\ninput x float32[2]\nnode CALL f: x -> z subgraph=block(1)\noutput z\n"
     "block 1 g\ninput p\nnode Abs t: p -> r\noutput r\nend\n",
     "Identity x -> p\nAbs p -> r\nIdentity r -> z\n"},
    {"a second call gets nodes and values of its own",
     "format tflite\ninput x float32[2]\nnode CALL f: x -> y s=block(1)\nnode CALL g: y -> z s=block(1)\noutput z\n"
     "block 1 g\ninput p\nnode Abs t: p -> r\noutput r\nend\n",
     "Identity x -> p\nAbs p -> r\nIdentity r -> y\nIdentity y -> p@2\nAbs p@2 -> r@2\nIdentity r@2 -> z\n"},
    {"a block called by a block called twice is copied too",
     "format tflite\ninput x float32[2]\nnode CALL f: x -> y s=block(1)\nnode CALL g: y -> z s=block(1)\noutput z\n"
     "block 1 outer\ninput p\nnode CALL h: p -> r s=block(2)\noutput r\nend\n"
     "block 2 inner\ninput q\nnode Abs t: q -> s\noutput s\nend\n",
     "Identity x -> p\nIdentity p -> q\nAbs q -> s\nIdentity s -> r\nIdentity r -> y\n"
     "Identity y -> p@2\nIdentity p@2 -> q@2\nAbs q@2 -> s@2\nIdentity s@2 -> r@2\nIdentity r@2 -> z\n"},
    {"CALL_ONCE: the initialiser runs in place",
     "format tflite\nconst k float32[2] = 1 2\nnode CALL_ONCE f: -> init=block(1)\nnode VAR_HANDLE g: -> h\n"
     "node READ_VARIABLE r: h -> o\noutput o\n"
     "block 1 init\nnode VAR_HANDLE i: -> v\nnode ASSIGN_VARIABLE a: v k ->\nend\n",
     "VAR_HANDLE -> v\nASSIGN_VARIABLE v k ->\nVAR_HANDLE -> h\nREAD_VARIABLE h -> o\n"},
    /* carried: i x; results i2 x2; parameters i1 x1; condition l; captured: y, but neither the constant nor what an
     * iteration makes for itself */
    {"WHILE keeps results, parameters, condition and what the body took from outside",
     "format tflite\nconst one int32[] = 1\ninput i int32[]\ninput x float32[2]\nnode Abs c: x -> y\n"
     "node WHILE w: i x -> io xo cond=block(1) body=block(2)\noutput io\noutput xo\n"
     "block 1 cond\ninput ci\ninput cx\nnode Less l: ci one -> l\noutput l\nend\n"
     "block 2 body\ninput i1\ninput x1\nnode Add a: i1 one -> i2\nnode Mul m: x1 y -> t\nnode Abs n: t -> x2\n"
     "output i2\noutput x2\nend\n",
     "Abs x -> y\nLoopEnter i -> i1\nLoopEnter x -> x1\nIdentity i1 -> ci\nIdentity x1 -> cx\nLess ci one -> l\n"
     "Add i1 one -> i2\nMul x1 y -> t\nAbs t -> x2\nWHILE i2 x2 i1 x1 l y -> io xo\n"},
    {"Loop: iteration number and condition are entered from nothing; scan outputs live from the first iteration on",
     "input m int64[]\ninput x float32[2]\ninput y float32[2]\n"
     "node Loop l: m _ x -> xo so body=block(1)\noutput xo\noutput so\n"
     "block 1 body\ninput n\ninput c\ninput x1\nnode Add a: x1 y -> x2\nnode Abs b: x2 -> s\nnode Not d: c -> c2\n"
     "output c2\noutput x2\noutput s\nend\n",
     "LoopEnter -> n\nLoopEnter -> c\nLoopEnter x -> x1\nLoopEnter -> so\nAdd x1 y -> x2\nAbs x2 -> s\nNot c -> c2\n"
     "Loop x2 x1 s so n c c2 m y -> xo\n"}, /* m: the trip count, asked before each iteration */
    {"Scan: slices are copies, the scan input stays alive",
     "input h float32[2]\ninput xs float32[5,2]\n"
     "node Scan l: h xs -> ho ys body=block(1) num_scan_inputs=1\noutput ho\noutput ys\n"
     "block 1 body\ninput h1\ninput x1\nnode Add a: h1 x1 -> h2\nnode Abs b: h2 -> y1\noutput h2\noutput y1\nend\n",
     "LoopEnter h -> h1\nLoopEnter -> ys\nLoopSlice xs -> x1\nAdd h1 x1 -> h2\nAbs h2 -> y1\n"
     "Scan h2 h1 y1 ys xs -> ho\n"},
    {"a loop in a loop: the outer one keeps what the inner one captured",
     "format tflite\ninput x float32[2]\nnode Abs o: x -> y\nnode WHILE w: x -> xo cond=block(1) body=block(2)\noutput "
     "xo\n"
     "block 1 cond\ninput p\nnode Less l: p p -> q\noutput q\nend\n"
     "block 2 body\ninput r\nnode WHILE v: r -> s cond=block(3) body=block(4)\noutput s\nend\n"
     "block 3 cond2\ninput t\nnode Less k: t t -> u\noutput u\nend\n"
     "block 4 body2\ninput a\nnode Mul m: a y -> b\noutput b\nend\n",
     "Abs x -> y\nLoopEnter x -> r\nIdentity r -> p\nLess p p -> q\nLoopEnter r -> a\nIdentity a -> t\nLess t t -> u\n"
     "Mul a y -> b\nWHILE b a u y -> s\nWHILE s r q y -> xo\n"},
    {"both branches are one block that holds an If: the second is a copy of what the file says",
     "input c bool[]\ninput x int8[4]\nnode If f: c -> y then_branch=block(1) else_branch=block(1)\noutput y\n"
     "block 1 both\nnode If g: c -> q then_branch=block(2) else_branch=block(3)\noutput q\nend\n"
     "block 2 then\nnode Abs t: x -> t1\noutput t1\nend\n"
     "block 3 else\nnode Neg e: x -> e1\noutput e1\nend\n",
     "Abs x -> t1\nNeg x -> e1\nIf c t1 e1 -> q\nAbs x -> t1@2\nNeg x -> e1@2\nIf c t1@2 e1@2 -> q@2\n"
     "If c q q@2 -> y\n"},
    {"… that holds a Loop: its scan outputs are copied too",
     "input c bool[]\ninput m int64[]\ninput x float32[2]\n"
     "node If f: c -> y s then_branch=block(1) else_branch=block(1)\noutput y\noutput s\n"
     "block 1 both\nnode Loop l: m _ x -> xo so body=block(2)\noutput xo\noutput so\nend\n"
     "block 2 body\ninput n\ninput k\ninput x1\nnode Abs a: x1 -> x2\nnode Not d: k -> k2\n"
     "output k2\noutput x2\noutput x2\nend\n",
     "LoopEnter -> n\nLoopEnter -> k\nLoopEnter x -> x1\nLoopEnter -> so\nAbs x1 -> x2\nNot k -> k2\n"
     "Loop x2 x1 x2 so n k k2 m -> xo\n"
     "LoopEnter -> n@2\nLoopEnter -> k@2\nLoopEnter x -> x1@2\nLoopEnter -> so@2\nAbs x1@2 -> x2@2\n"
     "Not k@2 -> k2@2\nLoop x2@2 x1@2 x2@2 so@2 n@2 k@2 k2@2 m -> xo@2\nIf c xo so xo@2 so@2 -> y s\n"},
    {"a block called twice that holds a WHILE",
     "format tflite\ninput x float32[2]\nnode CALL f: x -> y s=block(1)\nnode CALL g: y -> z s=block(1)\noutput z\n"
     "block 1 outer\ninput p\nnode WHILE w: p -> r cond=block(2) body=block(3)\noutput r\nend\n"
     "block 2 cond\ninput d\nnode Less l: d d -> e\noutput e\nend\n"
     "block 3 body\ninput a\nnode Abs m: a -> b\noutput b\nend\n",
     "Identity x -> p\nLoopEnter p -> a\nIdentity a -> d\nLess d d -> e\nAbs a -> b\nWHILE b a e -> r\nIdentity r -> "
     "y\n"
     "Identity y -> p@2\nLoopEnter p@2 -> a@2\nIdentity a@2 -> d@2\nLess d@2 d@2 -> e@2\nAbs a@2 -> b@2\n"
     "WHILE b@2 a@2 e@2 -> r@2\nIdentity r@2 -> z\n"},
    {"a loop in a loop may share its condition",
     "format tflite\ninput x float32[2]\nnode WHILE w: x -> xo cond=block(1) body=block(2)\noutput xo\n"
     "block 1 cond\ninput p\nnode Less l: p p -> q\noutput q\nend\n"
     "block 2 body\ninput r\nnode WHILE v: r -> s cond=block(1) body=block(3)\noutput s\nend\n"
     "block 3 body2\ninput a\nnode Abs m: a -> b\noutput b\nend\n",
     "LoopEnter x -> r\nIdentity r -> p\nLess p p -> q\nLoopEnter r -> a\nIdentity a -> p@2\nLess p@2 p@2 -> q@2\n"
     "Abs a -> b\nWHILE b a q@2 -> s\nWHILE s r q -> xo\n"},
};

static void check_inlining(Work *work, const void *argument) {
    const Inlining *row = argument;
    Graph *graph = parse_sound(work, row->text);
    bool sound = graph_inline(graph, work) && graph_check(graph, work);
    const char *got = list_nodes(work, graph);
    if (!sound || strcmp(got, row->expected) != 0) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s: got\n%sexpected\n%s", row->what, got, row->expected);
    }
}

static void places_called_blocks(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof inlinings / sizeof inlinings[0]; k++) {
        with_work(check_inlining, &inlinings[k]);
    }
}

/* ---- How often a loop runs, and the shape of what it collects */

typedef struct {
    const char *first, *body; /* trip count and condition; what the body makes of the condition `k` */
    const char *shape;        /* of the scan output; null: refused */
} Trips;

static const Trips trips[] = {
    {"const m int64[] = 3\nconst c bool[] = 1\n", "node Identity i: k -> k2\n", "[3,2,5]"},
    {"const m int64[1] = 3\nconst c bool[1] = 1\n", "node Identity i: k -> k1\nnode Identity j: k1 -> k2\n", "[3,2,5]"},
    {"const m int64[] = 0\nconst c bool[] = 1\n", "node Identity i: k -> k2\n", "[0,2,5]"},
    {"const m int64[] = -7\nconst c bool[] = 1\n", "node Identity i: k -> k2\n", "[0,2,5]"},
    {"const m int64[] = 3\nconst c bool[] = 1\nconst t bool[] = 1\n", "node Identity i: t -> k2\n", "[3,2,5]"},
    /* it may end early */
    {"const m int64[] = 3\nconst c bool[] = 1\n", "node Not i: k -> k2\n", NULL},
    {"const m int64[] = 3\nconst c bool[] = 1\nconst t bool[] = 0\n", "node Identity i: t -> k2\n", NULL},
    {"const m int64[] = 3\nconst c bool[] = 0\n", "node Identity i: k -> k2\n", NULL},
    {"const m int64[] = 3\ninput c bool[]\n", "node Identity i: k -> k2\n", NULL},
    {"input m int64[]\nconst c bool[] = 1\n", "node Identity i: k -> k2\n", NULL},
};

static void check_trips(Work *work, const void *argument) {
    const Trips *row = argument;
    const char *text =
        arena_text(&work->keep,
                   "format onnx 13\n%sinput x float32[2,5]\nnode Loop l: m c x -> f s body=block(1) carried=9 "
                   "trips=9\n" /* numbers of the file's own, which count for nothing */
                   "output f\noutput s\nblock 1 b\ninput n int64[1]\ninput k bool[]\n"
                   "input x1 float32[2,5]\n%snode Abs a: x1 -> x2\nnode Neg g: x2 -> p\n"
                   "output k2\noutput x2\noutput p\nend\n",
                   row->first, row->body);
    Graph *graph = parse_sound(work, text);
    bool is_done = graph_inline(graph, work) && graph_infer(graph, work);
    const Value *out = value_of(graph, "s");
    const char *got = is_done && out->has_shape ? shape_text(&work->keep, &out->shape).ptr : NULL;
    bool as_told = row->shape != NULL ? got != NULL && strcmp(got, row->shape) == 0
                                      : diags_status(&work->diags) == S0_REFUSED && was_told(work, "'l' (Loop)") &&
                                            was_told(work, "make the trip count a constant");
    if (is_done != (row->shape != NULL) || !as_told) {
        diags_print(&work->diags, "", stderr);
        fail_msg("got %s of\n%s", got == NULL ? "no shape" : got, text);
    }
}

static void counts_trips(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof trips / sizeof trips[0]; k++) {
        with_work(check_trips, &trips[k]);
    }
}

/* ---- Refusals */

typedef struct {
    const char *text, *told;
    s0_status status;
} Refusal;

static const Refusal refusals[] = {
    {"format tflite\ninput x\nnode CALL f: x -> y s=block(1)\noutput y\n"
     "block 1 b\ninput p\nnode CALL g: p -> r s=block(1)\noutput r\nend\n",
     "'g' (CALL): calls itself", S0_REFUSED},
    {"format tflite\ninput x\nnode CALL f: x -> y s=block(1)\noutput y\n"
     "block 1 b\ninput p\nnode CALL g: p -> r s=block(2)\noutput r\nend\n"
     "block 2 c\ninput q\nnode CALL h: q -> s s=block(1)\noutput s\nend\n",
     "'h' (CALL): calls itself", S0_REFUSED},
    {"format tflite\ninput x\nnode CALL f: x x -> y s=block(1)\noutput y\nblock 1 b\ninput p\noutput p\nend\n",
     "number of inputs", S0_BAD_INPUT},
    {"format tflite\ninput x\nnode CALL f: x -> y z s=block(1)\noutput y\nblock 1 b\ninput p\noutput p\nend\n",
     "number of outputs", S0_BAD_INPUT},
    {"format tflite\ninput x\nnode CALL f: x -> y\noutput y\n", "calls no subgraph", S0_BAD_INPUT},
    {"input c\nnode If f: c -> y then_branch=block(1)\noutput y\nblock 1 b\nend\n", "number of outputs", S0_BAD_INPUT},
    {"input c\nnode If f: c -> y\noutput y\n", "no branch", S0_BAD_INPUT},
    {"input m\nnode Loop f: m _ -> y body=block(1)\noutput y\nblock 1 b\ninput i\ninput c\nend\n", "do not match",
     S0_BAD_INPUT},
    {"format tflite\ninput x bool[]\nnode WHILE w: x -> y cond=block(1) body=block(1)\noutput y\n"
     "block 1 b\ninput p\nnode Not n: p -> q\noutput q\nend\n",
     "'w' (WHILE): one subgraph is both the condition and the body", S0_REFUSED},
    {"input x\nnode SequenceMap f: x -> y body=block(1)\noutput y\nblock 1 b\ninput p\noutput p\nend\n", "sequences",
     S0_REFUSED},
    {"input m\ninput s sequence\nnode Loop f: m _ s -> y body=block(1)\noutput y\n"
     "block 1 b\ninput i\ninput c\ninput t sequence\noutput c\noutput t\nend\n",
     "sequence", S0_REFUSED},
    {"format onnx 8\ninput h\ninput x\nnode Scan f: h x -> y body=block(1) num_scan_inputs=1\noutput y\n"
     "block 1 b\ninput i\ninput c\noutput i\nend\n",
     "opset 8", S0_REFUSED},
};

static void check_refusal(Work *work, const void *argument) {
    const Refusal *row = argument;
    Graph *graph = parse_sound(work, row->text);
    if (graph_inline(graph, work) || diags_status(&work->diags) != row->status || !was_told(work, row->told)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("not refused as it should be:\n%s", row->text);
    }
}

static void refuses_by_name(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof refusals / sizeof refusals[0]; k++) {
        with_work(check_refusal, &refusals[k]);
    }
}

/* A chain of `depth` blocks, each calling the next `calls` times. */
static Graph *chain(Work *work, uint32_t depth, uint32_t calls) {
    Arena *keep = &work->keep;
    Graph *graph = graph_new(keep, STR("chain"), FORMAT_TFLITE);
    for (uint32_t b = 0; b <= depth; b++) {
        Block block = {.name = arena_format(keep, "b%u", b)};
        block.node_count = b < depth ? calls : 0;
        block.nodes = arena_array(keep, NodeId, calls);
        for (uint32_t c = 0; c < block.node_count; c++) {
            Attr *attr = arena_new(keep, Attr);
            *attr = (Attr){.name = STR("subgraph"), .kind = ATTR_BLOCK, .block = {b + 1}};
            Node node = {.name = arena_format(keep, "call%u", b), .op = OP_CALL, .op_name = STR("CALL")};
            node.attrs = attr;
            node.attr_count = 1;
            block.nodes[c] = graph_add_node(graph, keep, node);
        }
        graph_add_block(graph, keep, block);
    }
    return graph;
}

static void bounds_depth(Work *work) {
    assert_true(graph_inline(chain(work, 16, 1), work));
    assert_false(graph_inline(chain(work, 17, 1), work));
    assert_true(was_told(work, "'call16' (CALL)"));
    assert_true(was_told(work, "16 deep"));
}

static void bounds_unfolding(Work *work) {
    assert_false(graph_inline(chain(work, 16, 40), work)); /* 40^16 calls of nothing */
    assert_true(was_told(work, "unfold"));
    assert_int_equal(diags_status(&work->diags), S0_REFUSED);
}

/* 3000 calls of one node that reads a thousand tensors: what is copied counts, not the nodes alone. */
static void bounds_wide_copies(Work *work) {
    enum { CALLS = 3000, INPUTS = 1000 };
    Graph *graph = chain(work, 1, CALLS);
    ValueId value = graph_add_value(graph, &work->keep, (Value){.name = STR("x"), .is_state = true});
    ValueId *inputs = arena_array(&work->keep, ValueId, INPUTS);
    for (uint32_t k = 0; k < INPUTS; k++) {
        inputs[k] = value;
    }
    NodeId *wide = arena_new(&work->keep, NodeId);
    *wide = graph_add_node(graph, &work->keep,
                           (Node){.name = STR("wide"), .op = OP_CUSTOM, .inputs = inputs, .input_count = INPUTS});
    graph->blocks[1].nodes = wide;
    graph->blocks[1].node_count = 1;
    assert_false(graph_inline(graph, work));
    assert_true(was_told(work, "unfold"));
}

/* 3000 calls of one node whose name has 64 000 bytes. */
static void bounds_long_names(Work *work) {
    enum { CALLS = 3000, LENGTH = 64000 };
    Graph *graph = chain(work, 1, CALLS);
    char *name = arena_array(&work->keep, char, LENGTH);
    memset(name, 'n', LENGTH);
    NodeId *named = arena_new(&work->keep, NodeId);
    *named = graph_add_node(graph, &work->keep, (Node){.name = {name, LENGTH}, .op = OP_CUSTOM});
    graph->blocks[1].nodes = named;
    graph->blocks[1].node_count = 1;
    assert_false(graph_inline(graph, work));
    assert_true(was_told(work, "unfold"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(places_called_blocks),
        cmocka_unit_test(counts_trips),
        cmocka_unit_test(refuses_by_name),
        WORK_TEST(bounds_depth),
        WORK_TEST(bounds_unfolding),
        WORK_TEST(bounds_wide_copies),
        WORK_TEST(bounds_long_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
