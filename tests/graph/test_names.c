/* graph_assign_names: each axis gets its dimension by definition and position. Every rule stands here twice, with all
 * extents different and with all extents equal, and must give the same names: a rule that looked at a size would
 * differ. The expected names were derived by hand from docs/contracts.md, rule 7. */
#include "graph/support.h"

#include "graph/passes.h"

#include <time.h>

typedef struct {
    const char *what;
    const char *text;     /* A to H stand for extents */
    const char *expected; /* "value=LETTERS …" */
} Naming;

static const Naming rows[] = {
    {"nothing anchored: right-aligned N H W C, leading axes in N",
     "input a int8[A,B,C,D,E]\ninput b int8[A,B,C,D]\ninput c int8[A,B,C]\ninput d int8[A,B]\ninput e int8[A]\n"
     "input f int8[]\noutput a\n",
     "a=NNHWC b=NHWC c=HWC d=WC e=C f="},
    {"ONNX Conv: N C, then spatial right-aligned, further ones in H; weights O I",
     "input x int8[A,B,C,D]\nconst w int8[E,B,C,D] = unknown\nconst b int8[E] = unknown\nnode Conv n: x w b -> y\n"
     "value y int8[A,E,F,G]\noutput y\n",
     "x=NCHW w=OIHW b=C y=NCHW"},
    {"1-D and 3-D Conv",
     "input x int8[A,B,C]\nconst w int8[E,B,C] = unknown\nnode Conv n: x w -> y\nvalue y int8[A,E,F]\n"
     "input p int8[A,B,C,D,E]\nconst v int8[F,B,C,D,E] = unknown\nnode Conv m: p v -> q\nvalue q "
     "int8[A,F,G,H,B]\noutput y\n",
     "x=NCW w=OIW y=NCW p=NCHHW v=OIHHW q=NCHHW"},
    {"ConvTranspose: weights I O",
     "input x int8[A,B,C,D]\nconst w int8[B,E,C,D] = unknown\nnode ConvTranspose n: x w -> y\nvalue y "
     "int8[A,E,F,G]\noutput y\n",
     "x=NCHW w=IOHW y=NCHW"},
    {"TFLite: right-aligned whatever the operator; weights by their operator",
     "format tflite\ninput x int8[A,B,C,D]\nconst w int8[E,F,G,D] = unknown\nconst v int8[1,F,G,E] = unknown\n"
     "node Conv n: x w -> y\nvalue y int8[A,B,C,E]\nnode DEPTHWISE_CONV_2D m: y v -> z\nvalue z int8[A,B,C,E]\n"
     "const u int8[H,F,G,E] = unknown\nconst s int32[4] = 1 2 3 4\nnode TRANSPOSE_CONV k: s u z -> t\n"
     "value t int8[A,B,C,H]\nconst f int8[B,H] = unknown\nnode FULLY_CONNECTED l: t f -> o\nvalue o int8[A,B]\noutput "
     "o\n",
     "x=NHWC w=OHWI y=NHWC v=IHWO z=NHWC u=OHWI t=NHWC f=OI o=WC"},
    {"Gemm: B is [I,O], [O,I] with transB; MatMul [I,O]",
     "input x float32[A,B]\nconst w float32[B,C] = unknown\nnode Gemm n: x w -> y\nvalue y float32[A,C]\n"
     "const v float32[D,C] = unknown\nconst c float32[D] = unknown\nnode Gemm m: y v c -> z transB=1\nvalue z "
     "float32[A,D]\n"
     "const u float32[D,E] = unknown\nnode MatMul k: z u -> o\nvalue o float32[A,E]\noutput o\n",
     "w=IO v=OI c=C u=IO o=WC"},
    {"names travel forwards and back through element-wise operators",
     "input x int8[A,B,C,D]\nnode Relu r: x -> y\nvalue y int8[A,B,C,D]\nnode MaxPool p: y -> z\nvalue z "
     "int8[A,B,E,F]\n"
     "node Sigmoid s: z -> t\nvalue t int8[A,B,E,F]\noutput t\n",
     "x=NCHW y=NCHW z=NCHW t=NCHW"},
    {"and through Transpose, both ways",
     "input x int8[A,C,D,B]\nnode Transpose t: x -> y perm=[0,3,1,2]\nvalue y int8[A,B,C,D]\nnode MaxPool p: y -> z\n"
     "value z int8[A,B,E,F]\nnode Transpose u: z -> o perm=[0,2,3,1]\nvalue o int8[A,E,F,B]\nnode Relu r: o -> q\n"
     "value q int8[A,E,F,B]\noutput q\n",
     "x=NHWC y=NCHW z=NCHW o=NHWC q=NHWC"},
    {"Transpose without perm turns the axes round",
     "input x int8[D,C,B,A]\nnode Transpose t: x -> y\nvalue y int8[A,B,C,D]\nnode MaxPool p: y -> z\n"
     "value z int8[A,B,E,F]\noutput z\n",
     "x=WHCN y=NCHW"},
    {"Reshape and Flatten stop names",
     "input x int8[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y int8[A,B,C,D]\nnode Flatten f: y -> z\nvalue z int8[A,E]\n"
     "const k int64[4] = 1 2 3 4\nnode Reshape r: y k -> q\nvalue q int8[B,A,C,E]\noutput z\n",
     "y=NCHW z=WC q=NHWC"},
    {"Squeeze keeps the names of the axes that stay",
     "input x int8[A,B,1,1]\nnode GlobalAveragePool p: x -> y\nvalue y int8[A,B,1,1]\nnode Squeeze s: y -> z "
     "axes=[2,3]\n"
     "value z int8[A,B]\nnode Unsqueeze u: z -> q axes=[-1]\nvalue q int8[A,B,1]\noutput q\n",
     "y=NCHW z=NC q=NCW"},
    /* B2, C7: where a constant lies along the map is its aligned position */
    {"constants take the axes they are aligned with",
     "input x float32[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y float32[A,B,C,D]\nconst a float32[B,1,1] = unknown\n"
     "const b float32[1,B,1,1] = unknown\nconst c float32[D] = unknown\nconst d float32[C,1] = unknown\nconst e "
     "float32[] = unknown\n"
     "node Mul m: y a -> m1\nvalue m1 float32[A,B,C,D]\nnode Add n: b m1 -> m2\nvalue m2 float32[A,B,C,D]\n"
     "node Add o: m2 c -> m3\nvalue m3 float32[A,B,C,D]\nnode Add q: m3 d -> m4\nvalue m4 float32[A,B,C,D]\n"
     "node Add r: m4 e -> m5\nvalue m5 float32[A,B,C,D]\noutput m5\n",
     "a=CHW b=NCHW c=W d=HW m5=NCHW"},
    /* B6, B7: a [C] constant goes along the last axis, never the first */
    {"a [C] constant on a channel-last map is C",
     "format tflite\ninput x float32[A,B,C,D]\nconst c float32[D] = unknown\nnode Add n: x c -> y\nvalue y "
     "float32[A,B,C,D]\noutput y\n",
     "c=C y=NHWC"},
    {"operators before opset 7 line a constant up with their axis",
     "format onnx 6\ninput x float32[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y float32[A,B,C,D]\nconst c float32[B] = "
     "unknown\n"
     "node Mul m: y c -> z axis=1 broadcast=1\nvalue z float32[A,B,C,D]\noutput z\n",
     "c=C z=NCHW"},
    /* one [C] read by two maps that have different axes there carries nothing from one to the other */
    {"a shared constant is no bridge",
     "input x float32[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y float32[A,B,C,D]\nconst s float32[1] = 2\n"
     "node Mul m: y s -> m1\nvalue m1 float32[A,B,C,D]\n"
     "input t float32[E,F]\nnode BatchNormalization b: t g g g g -> u\nconst g float32[F] = unknown\nvalue u "
     "float32[E,F]\n"
     "node Mul n: u s -> m2\nvalue m2 float32[E,F]\noutput m2\n",
     "m1=NCHW u=NC m2=NC s=W g=C"},
    /* C4: rank 2 at BatchNormalization is N, C */
    {"parameters of BatchNormalization are C",
     "input x float32[A,B]\nconst g float32[B] = unknown\nconst b float32[B] = unknown\nconst m float32[B] = unknown\n"
     "const v float32[B] = unknown\nnode BatchNormalization n: x g b m v -> y\nvalue y float32[A,B]\noutput y\n",
     "x=NC g=C b=C m=C v=C y=NC"},
    {"weights behind Dequantize are weights",
     "input x float32[A,B,C,D]\nconst q int8[E,B,C,D] = unknown\nconst s float32[E] = unknown\n"
     "node DequantizeLinear d: q s -> w axis=0\nvalue w float32[E,B,C,D]\nnode Conv n: x w -> y\nvalue y "
     "float32[A,E,F,G]\n"
     "output y\n",
     "q=OIHW w=OIHW s=C y=NCHW"},
    {"Concat, Slice, Pad, Softmax and reductions leave axes where they are",
     "input x float32[A,B,C,D]\ninput z float32[A,E,C,D]\nnode Concat c: x z -> y axis=1\nvalue y float32[A,F,C,D]\n"
     "node Softmax s: y -> t axis=1\nvalue t float32[A,F,C,D]\nnode ReduceMean r: t -> u axes=[2] keepdims=1\n"
     "value u float32[A,F,1,D]\nnode MaxPool p: u -> o\nvalue o float32[A,F,1,D]\noutput o\n",
     "x=NCHW z=NCHW y=NCHW t=NCHW u=NCHW"},
    {"If and what both branches give",
     "input c bool[]\ninput x float32[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y float32[A,B,C,D]\n"
     "node If f: c y x -> z\nvalue z float32[A,B,C,D]\noutput z\n",
     "z=NCHW"},
};

/* The letters A … H as extents: the first eight primes, or all 4. */
static const char *with_extents(Work *work, const char *text, bool all_equal) {
    static const int primes[] = {2, 3, 5, 7, 11, 13, 17, 19};
    Str out = {0};
    bool inside = false;
    const char *from = text;
    for (const char *c = text;; c++) {
        bool is_letter = inside && *c >= 'A' && *c <= 'H';
        if (is_letter || *c == '\0') {
            out = arena_format(&work->keep, STR_FMT "%.*s", STR_ARG(out), (int)(c - from), from);
            from = c + 1;
        }
        if (*c == '\0') {
            return out.ptr;
        }
        if (is_letter) {
            out = arena_format(&work->keep, STR_FMT "%d", STR_ARG(out), all_equal ? 4 : primes[*c - 'A']);
        }
        inside = *c == '[' || (inside && *c != ']');
    }
}

static const char *letters_of(Work *work, const Value *value) {
    char *letters = arena_alloc(&work->keep, SHAPE_MAX_RANK + 1, 1);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        letters[k] = "NCHWOI"[value->dims[k]];
    }
    return letters;
}

static void check_names(Work *work, const Graph *graph, const char *what, const char *expected) {
    Str rest = str_from(expected);
    while (rest.len > 0) {
        Str wanted = str_cut(&rest, ' ');
        Str name = str_cut(&wanted, '=');
        const char *got = letters_of(work, value_of(graph, arena_str(&work->keep, name).ptr));
        if (!str_eq(str_from(got), wanted)) {
            fail_msg("%s: '" STR_FMT "' is %s, expected " STR_FMT, what, STR_ARG(name), got, STR_ARG(wanted));
        }
    }
}

static void check_naming(Work *work, const void *argument) {
    const Naming *row = argument;
    for (int equal = 0; equal < 2; equal++) {
        Graph *graph = parse_sound(work, with_extents(work, row->text, equal == 1));
        if (!graph_assign_names(graph, NULL, 0, work)) {
            diags_print(&work->diags, "", stderr);
            fail_msg("refused: %s", row->what);
        }
        check_names(work, graph, row->what, row->expected);
    }
}

static void names_axes_by_position_and_definition(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_naming, &rows[k]);
    }
}

/* ---- --layout and contradictions */

typedef struct {
    const char *text;
    const char *tensor;
    bool is_channel_second;
    const char *expected;
    const char *told[3];
    s0_status status;
} Layout;

static const Layout layouts[] = {
    {"input x int8[A,B,C,D]\nnode Relu r: x -> y\nvalue y int8[A,B,C,D]\noutput y\n",
     "y",
     true,
     "x=NCHW y=NCHW",
     {NULL},
     S0_DONE},
    {"input x int8[A,B,C,D]\nnode Relu r: x -> y\nvalue y int8[A,B,C,D]\noutput y\n",
     "y",
     false,
     "x=NHWC y=NHWC",
     {NULL},
     S0_DONE},
    {"format tflite\ninput x int8[A,B,C,D]\nnode Relu r: x -> y\nvalue y int8[A,B,C,D]\noutput y\n",
     "y",
     true,
     "x=NCHW y=NCHW",
     {NULL},
     S0_DONE},
    {"input x int8[A,B,C,D]\nconst k int8[A,B,C,D] = unknown\nnode Add r: x k -> y\nvalue y int8[A,B,C,D]\noutput y\n",
     "k",
     true,
     "k=NCHW y=NHWC",
     {NULL},
     S0_DONE},
    {"input x int8[A,B,C,D]\noutput x\n", "nowhere", true, NULL, {"no tensor of this name", "nowhere"}, S0_BAD_INPUT},
    {"input x int8[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y int8[A,B,C,D]\noutput y\n",
     "x",
     false,
     NULL,
     {"one axis has two meanings", "by --layout", "'p' (MaxPool)"},
     S0_REFUSED},
    /* a 2-D map and a 1-D map, added: C of the one lies where N of the other does */
    {"input x int8[A,B,C,D]\nnode MaxPool p: x -> y\nvalue y int8[A,B,C,D]\ninput t int8[B,C,D]\nnode MaxPool s: t -> "
     "u\n"
     "value u int8[B,C,D]\nnode Add a: y u -> o\nvalue o int8[A,B,C,D]\noutput o\n",
     NULL,
     true,
     NULL,
     {"C: axis 1 of", "N: axis 0 of", "--layout TENSOR=NCHW"},
     S0_REFUSED},
    /* a Transpose whose two sides have names of their own moves elements and carries none */
    {"input x int8[A,B,B,B]\nnode MaxPool p: x -> y\nvalue y int8[A,B,B,B]\nnode Transpose t: y -> z perm=[0,2,3,1]\n"
     "value z int8[A,B,B,B]\nnode Add a: y z -> o\nvalue o int8[A,B,B,B]\noutput o\n",
     NULL,
     true,
     "y=NCHW z=NCHW o=NCHW",
     {NULL},
     S0_DONE},
    /* B8: a normalisation works along C wherever the user says that it lies */
    {"input x float32[A,B,C,D]\nconst g float32[D] = unknown\nnode BatchNormalization n: x g g g g -> y\n"
     "value y float32[A,B,C,D]\noutput y\n",
     "x",
     false,
     "x=NHWC y=NHWC g=C",
     {NULL},
     S0_DONE},
};

static void check_layout(Work *work, const void *argument) {
    const Layout *row = argument;
    Graph *graph = parse_sound(work, with_extents(work, row->text, false));
    LayoutBinding binding = {.tensor = str_from(row->tensor), .is_channel_second = row->is_channel_second};
    bool named = graph_assign_names(graph, &binding, row->tensor == NULL ? 0 : 1, work);
    bool as_told = true;
    for (int k = 0; k < 3 && row->told[k] != NULL; k++) {
        as_told = as_told && was_told(work, row->told[k]);
    }
    if (named != (row->expected != NULL) || !as_told || diags_status(&work->diags) != row->status) {
        diags_print(&work->diags, "", stderr);
        fail_msg("not what was expected of:\n%s", row->text);
    }
    if (row->expected != NULL) {
        check_names(work, graph, row->text, row->expected);
    }
}

static void takes_layouts_and_refuses_contradictions(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof layouts / sizeof layouts[0]; k++) {
        with_work(check_layout, &layouts[k]);
    }
}

/* ---- --layout against each operator that defines its axes: refused by name, whichever of its ends it is said of, and
 * also where all extents are equal. Normalisations yield: case B8 */

typedef struct {
    const char *op, *text; /* x is the map, y what comes out */
} Defining;

#define OUT(shape) "\nvalue y float32" shape "\noutput y\n"
#define MAP        "input x float32[1,4,4,4]\nconst c float32[4] = unknown\n"

static const Defining defining[] = {
    {"Conv", MAP "const w float32[4,4,1,1] = unknown\nnode Conv n: x w -> y" OUT("[1,4,4,4]")},
    {"ConvTranspose", MAP "const w float32[4,4,1,1] = unknown\nnode ConvTranspose n: x w -> y" OUT("[1,4,4,4]")},
    {"MaxPool", MAP "node MaxPool n: x -> y kernel_shape=[1,1]" OUT("[1,4,4,4]")},
    {"AveragePool", MAP "node AveragePool n: x -> y kernel_shape=[1,1]" OUT("[1,4,4,4]")},
    {"LpPool", MAP "node LpPool n: x -> y kernel_shape=[1,1]" OUT("[1,4,4,4]")},
    {"GlobalAveragePool", MAP "node GlobalAveragePool n: x -> y" OUT("[1,4,1,1]")},
    {"GlobalMaxPool", MAP "node GlobalMaxPool n: x -> y" OUT("[1,4,1,1]")},
    {"LRN", MAP "node LRN n: x -> y size=3" OUT("[1,4,4,4]")},
    {"DepthToSpace", MAP "node DepthToSpace n: x -> y blocksize=2" OUT("[1,1,8,8]")},
    {"SpaceToDepth", MAP "node SpaceToDepth n: x -> y blocksize=2" OUT("[1,16,2,2]")},
    {"Resize", MAP "const s float32[4] = 1 1 1 1\nnode Resize n: x _ s -> y" OUT("[1,4,4,4]")},
    {"GridSample", MAP "const g float32[1,4,4,2] = unknown\nnode GridSample n: x g -> y" OUT("[1,4,4,4]")},
};

typedef struct {
    const Defining *row;
    const char *tensor;
    bool is_channel_second;
} Statement;

static void check_statement(Work *work, const void *argument) {
    const Statement *stated = argument;
    Graph *graph = parse_sound(work, arena_text(&work->keep, "format onnx 18\n%s", stated->row->text));
    LayoutBinding binding = {.tensor = str_from(stated->tensor), .is_channel_second = stated->is_channel_second};
    bool named = graph_assign_names(graph, &binding, 1, work);
    bool is_told = named || (was_told(work, "one axis has two meanings") && was_told(work, "--layout") &&
                             was_told(work, stated->row->op));
    if (named != stated->is_channel_second || !is_told) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s: --layout %s=%s", stated->row->op, stated->tensor, stated->is_channel_second ? "NCHW" : "NHWC");
    }
}

static void refuses_layouts_that_operators_contradict(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof defining / sizeof defining[0]; k++) {
        for (int way = 0; way < 4; way++) {
            with_work(check_statement, &(Statement){&defining[k], way % 2 == 0 ? "x" : "y", way >= 2});
        }
    }
}

/* ---- One value takes the place of another */

typedef struct {
    const char *text, *a, *b;
    bool may;
    const char *expected;
} Joining;

static const Joining joinings[] = {
    /* what a name reaches through one of the two, it reaches through both */
    {"input x int8[A,B,B,B]\nnode MaxPool p: x -> y\nvalue y int8[A,B,B,B]\ninput t int8[A,B,B,B]\n"
     "node Relu r: t -> u\nvalue u int8[A,B,B,B]\noutput u\n",
     "y", "t", true, "x=NCHW y=NCHW t=NCHW u=NCHW"},
    {"input x int8[A,B,B,B]\nnode MaxPool p: x -> y\nvalue y int8[A,B,B,B]\ninput t int8[A,B,B,B]\n"
     "node Transpose r: t -> u perm=[0,2,3,1]\nvalue u int8[A,B,B,B]\noutput u\n",
     "t", "y", true, "x=NCHW y=NCHW t=NCHW u=NHWC"},
    /* two that are named differently stay two, and nothing has changed: x and t are equal in two of their axes */
    {"input x int8[A,B,B,B]\nnode MaxPool p: x -> y\nvalue y int8[A,B,B,B]\ninput t int8[A,B,B,B]\n"
     "node Transpose r: t -> u perm=[0,3,1,2]\nvalue u int8[A,B,B,B]\nnode MaxPool q: u -> v\n"
     "value v int8[A,B,B,B]\noutput v\n",
     "y", "t", false, "x=NCHW y=NCHW t=NHWC u=NCHW v=NCHW"},
    /* what is the same dimension twice can't be two: a map plus its own transpose */
    {"input x int8[A,B,B,B]\nnode MaxPool p: x -> y\nvalue y int8[A,B,B,B]\ninput t int8[A,B,B,B]\n"
     "node Transpose r: t -> u perm=[0,1,3,2]\nvalue u int8[A,B,B,B]\nnode Add s: t u -> v\n"
     "value v int8[A,B,B,B]\noutput v\n",
     "y", "t", false, "x=NCHW y=NCHW t=NHWC u=NHWC v=NHWC"},
    /* other ranks share no axis */
    {"input x int8[A,B,B,B]\nnode MaxPool p: x -> y\nvalue y int8[A,B,B,B]\ninput t int8[A,B]\noutput t\n", "y", "t",
     true, "y=NCHW t=WC"},
};

static void check_joining(Work *work, const void *argument) {
    const Joining *row = argument;
    for (int equal = 0; equal < 2; equal++) {
        Graph *graph = parse_sound(work, with_extents(work, row->text, equal == 1));
        assert_true(graph_assign_names(graph, NULL, 0, work));
        ValueId a = {(uint32_t)(value_of(graph, row->a) - graph->values)};
        ValueId b = {(uint32_t)(value_of(graph, row->b) - graph->values)};
        assert_int_equal(graph_join_axes(graph, a, b), row->may);
        graph_rename_axes(graph, work);
        check_names(work, graph, row->text, row->expected);
    }
}

static void joins_axes_of_values_that_become_one(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof joinings / sizeof joinings[0]; k++) {
        with_work(check_joining, &joinings[k]);
    }
}

/* ---- Size */

/* A chain of `count` element-wise nodes, named from its far end. */
static double seconds_of_chain(Work *work, uint32_t count) {
    Arena *keep = &work->keep;
    Graph *graph = graph_new(keep, STR("chain"), FORMAT_ONNX);
    Value value = {.name = STR("v"), .has_shape = true, .shape = {.rank = 4, .dim = {1, 8, 4, 4}}, .producer = NO_NODE};
    ValueId before = graph_add_value(graph, keep, value);
    NodeId *order = arena_array(keep, NodeId, count);
    for (uint32_t k = 0; k < count; k++) {
        ValueId *ends = arena_array(keep, ValueId, 2);
        ends[0] = before;
        ends[1] = before = graph_add_value(graph, keep, value);
        Node node = {.op = k + 1 == count ? OP_MAX_POOL : OP_RELU, .inputs = ends, .outputs = ends + 1};
        node.input_count = node.output_count = 1;
        order[k] = graph_add_node(graph, keep, node);
    }
    graph_add_block(graph, keep, (Block){.nodes = order, .node_count = count});
    clock_t start = clock();
    assert_true(graph_assign_names(graph, NULL, 0, work));
    assert_string_equal(letters_of(work, &graph->values[0]), "NCHW");
    return (double)(clock() - start) / CLOCKS_PER_SEC;
}

static void names_large_graphs(Work *work) {
    double small = seconds_of_chain(work, 10000);
    double large = seconds_of_chain(work, 100000);
    print_message("10 000 nodes %.4f s, 100 000 nodes %.4f s\n", small, large);
    assert_true(large < 2.0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_axes_by_position_and_definition),
        cmocka_unit_test(takes_layouts_and_refuses_contradictions),
        cmocka_unit_test(refuses_layouts_that_operators_contradict),
        cmocka_unit_test(joins_axes_of_values_that_become_one),
        WORK_TEST(names_large_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
