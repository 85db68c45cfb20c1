/* Networks that do not fit whole, on a device without any padding: which maps go to far memory, which operators go by
 * parts, and how little local memory is then enough.
 *
 * Proves, for each row: that it fits in exactly the bytes that the smallest part of its most demanding operator needs,
 * and not in one byte less, where that operator is named; that it fits in all that is between this and whole maps, for
 * which --tile none needs exactly what is said; what far memory holds and what is loaded from there, to the byte. And
 * of each of those plans: that it runs on the simulated device without a fault (relieved.h), that each map of far
 * memory is stored wholly, once, before any part of it is loaded, that no two share bytes there while both are needed,
 * that live sums agree, and that planning again gives the same. All figures follow by hand from the definitions of the
 * operators; each row has its sums. */
#include "ledger/relieved.h"

#include "ledger/facts.h"
#include "plan/planned.h"

enum { MOST_LOADS = 3, BUDGETS = 8 };

typedef struct {
    const char *tensor;
    uint64_t bytes; /* 0: no part of it is ever in far memory */
} Load;

typedef struct {
    const char *what, *text;
    const char *node;       /* that needs the most; null: several do */
    uint64_t least_bytes;   /* in parts */
    uint64_t whole_bytes;   /* with --tile none */
    uint64_t far_bytes;     /* with `least_bytes`: all of far memory */
    Load loads[MOST_LOADS]; /* with `least_bytes`: all loads that read the tensor, where parts can't be larger */
} Row;

/* Numbers of which no two are equal, so that no constant has a smaller form. */
#define D5(t)       " " t "1 " t "2 " t "3 " t "4 " t "5"
#define D6(t)       D5(t) " " t "6"
#define D8(t)       D6(t) " " t "7 " t "8"
#define BY5(digits) digits("1") digits("2") digits("3") digits("4") digits("5")
#define BY8(digits) BY5(digits) digits("6") digits("7") digits("8")

#define POOL(name, in, out, kernel) "node LpPool " name ": " in " -> " out " kernel_shape=" kernel "\n"

/* Rows of three: 2 3 3 2 elements in a column of 4, 2 3 3 3 3 3 3 2 in one of 8. */
#define CONV_COLUMN(name, in, out) "node Conv " name ": " in " K -> " out " kernel_shape=[3,1] pads=[1,0,1,0]"

#define MATRIX(name, digits, columns) "const " name " int8[8," columns "] =" BY8(digits) "\n"
#define FOUR(name, digits, columns)                                                                                    \
    MATRIX(name "0", digits, columns)                                                                                  \
    MATRIX(name "1", digits, columns) MATRIX(name "2", digits, columns) MATRIX(name "3", digits, columns)
#define BIAS(name) "const " name " int32[8] =" D8("1") "\n"

/* 6 numbers go in; 8 units, each with a state of 1 byte and one of 2. */
#define CELL                                                                                                           \
    "format tflite\ninput X int8[1,1,6]\n" FOUR("w", D6, "6") FOUR("u", D8, "8") BIAS("b0") BIAS("b1") BIAS("b2")      \
        BIAS("b3") "state h int8[1,8]\nstate q int16[1,8]\nvalue y int8[1,1,8]\n"                                      \
                   "node tflite.UNIDIRECTIONAL_SEQUENCE_LSTM cell: X w0 w1 w2 w3 u0 u1 u2 u3 _ _ _ b0 b1 b2 b3 _ _ h " \
                   "q -> y fused_activation_function=\"TANH\"\n"

/* X 16 -> x 16 -> y 20 -> Y 20; nobody knows what `mystery` reads. */
#define MYSTERY                                                                                                        \
    "format onnx 13\ninput X int8[1,1,4,4]\nvalue y int8[1,1,4,5]\n" POOL(                                             \
        "a", "X", "x", "[1,1]") "node Custom mystery: x -> y\n" POOL("b", "y", "Y", "[1,1]") "output Y\n"

/* Five maps of 16 bytes. */
#define POOLS                                                                                                          \
    "format onnx 13\ninput X int8[1,1,4,4]\n" POOL("a", "X", "x", "[1,1]") POOL("b", "x", "y", "[1,1]")                \
        POOL("c", "y", "z", "[1,1]") POOL("d", "z", "Y", "[1,1]") "output Y\n"

static const Row rows[] = {
    /* b: a pixel of 4 channels, 4 weights of a channel, 1. Whole: x 64, and 32 + 8. Far: X 32, x 64, Y 32, V and W 8.
     * Each of 2 channels of 16 pixels loads 4. */
    {"convolutions whose maps are too large",
     "format onnx 13\ninput X int8[1,2,4,4]\nconst V int8[4,2,1,1] =" D8("1") "\nconst W int8[2,4,1,1] =" D8(
         "1") "\n"
              "node Conv a: X V -> x kernel_shape=[1,1]\nnode Conv b: x W -> Y kernel_shape=[1,1]\noutput Y\n",
     .node = "b", .least_bytes = 4 + 4 + 1, .whole_bytes = 64 + 32 + 8, .far_bytes = 32 + 64 + 32 + 8 + 8,
     .loads = {{"x", 2 * 16 * 4}}},
    /* m: X 8, a column of 8 weights, 1; x goes, for with it 8 more would be there. */
    {"weights that are too large",
     "format onnx 13\ninput X int8[1,8]\nconst W int8[8,8] =" BY8(D8) "\nnode MatMul m: X W -> x\nnode Relu r: x -> Y\n"
                                                                      "output Y\n",
     .node = "m", .least_bytes = 8 + 8 + 1, .whole_bytes = 8 + 64 + 8, .far_bytes = 8 + 64 + 8 + 8,
     .loads = {{"W", 64}, {"X", 8}, {"x", 8}}},
    /* Each convolution: 3 pixels, 3 weights, 1. Whole: c has x, y and z. Far: X, Y, K, and these three. A column of 4
     * loads 2 + 3 + 3 + 2; d loads every pixel once. */
    {"a residual that waits",
     "format onnx 13\ninput X int8[1,1,4,8]\nconst K int8[1,1,3,1] = 1 2 3\n" CONV_COLUMN(
         "a", "X", "x") "\n" CONV_COLUMN("b", "x", "y") "\n" CONV_COLUMN("c", "y",
                                                                         "z") "\nnode Add d: x z -> Y\noutput Y\n",
     .least_bytes = 3 + 3 + 1, .whole_bytes = 3 * 32 + 3, .far_bytes = 32 + 32 + 3 + 3 * 32,
     .loads = {{"x", 8 * 10 + 32}, {"y", 8 * 10}, {"z", 32}}},
    /* Each channel has its own weights: 3 pixels, 3 weights, 1. Whole: a has X, x and K. Far: x and y are the same 32
     * bytes. 2 * 4 columns of 4, then 2 * 2 rows of 8. */
    {"a reshape between two far maps",
     "format onnx 13\ninput X int8[1,2,4,4]\nconst K int8[2,1,3,1] =" D6("1") "\nconst L int8[2,1,1,3] =" D6(
         "1") "\n"
              "const s int64[4] = 1 2 2 8\n" CONV_COLUMN(
                  "a", "X", "x") " group=2\nnode Reshape r: x s -> y\n"
                                 "node Conv b: y L -> Y kernel_shape=[1,3] pads=[0,1,0,1] group=2\noutput Y\n",
     .least_bytes = 3 + 3 + 1, .whole_bytes = 32 + 32 + 6, .far_bytes = 32 + 32 + 32 + 6 + 6,
     .loads = {{"X", 2 * 4 * 10}, {"x", 0}, {"y", 2 * 2 * 22}}},
    /* d: 5 channels, 5 weights, 1. Far: X 32, Z 48, Y 80, K 25; c has x 32, z 48 and y 80. */
    {"a concat of far maps",
     "format onnx 13\ninput X int8[1,2,4,4]\ninput Z int8[1,3,4,4]\nconst K int8[5,5,1,1] =" BY5(D5) "\n" POOL(
         "a", "X", "x", "[1,1]") POOL("b", "Z", "z", "[1,1]") "node Concat c: x z -> y axis=1\n"
                                                              "node Conv d: y K -> Y kernel_shape=[1,1]\noutput Y\n",
     .node = "d", .least_bytes = 5 + 5 + 1, .whole_bytes = 80 + 80 + 25, .far_bytes = 32 + 48 + 80 + 25 + 160,
     .loads = {{"y", 5 * 16 * 5}}},
    /* d: a window of 4, and 1; of its 2 * 9 windows. a has 64 twice. Far: X 64, Y 18; c has x 64 and y 32. */
    {"a slice of a far map",
     "format onnx 13\ninput X int8[1,4,4,4]\nconst f int64[1] = 1\nconst e int64[1] = 3\nconst g int64[1] = 1\n" POOL(
         "a", "X", "x", "[1,1]") "node Slice c: x f e g -> y\n" POOL("d", "y", "Y", "[2,2]") "output Y\n",
     .node = "d", .least_bytes = 4 + 1, .whole_bytes = 64 + 64, .far_bytes = 64 + 18 + 64 + 32,
     .loads = {{"y", 2 * 9 * 4}}},
    /* mystery: 16 and 20, whole. Whole, b has 20 twice. Far: X 16, Y 20, and y, which goes for b. */
    {"an operator that is not cut", MYSTERY, .node = "mystery", .least_bytes = 16 + 20, .whole_bytes = 20 + 20,
     .far_bytes = 16 + 20 + 20},
    /* Both: a window of 4, and 1. x has 2 * 9 elements, Y 2 * 4. */
    {"an output that is read",
     "format onnx 13\ninput X int8[1,2,4,4]\n" POOL("a", "X", "x", "[2,2]")
         POOL("b", "x", "Y", "[2,2]") "output x\noutput Y\n",
     .least_bytes = 4 + 1, .whole_bytes = 32 + 18, .far_bytes = 32 + 18 + 8,
     .loads = {{"X", 2 * 9 * 4}, {"x", 2 * 4 * 4}}},
    /* The same, of X twice; whole, x waits while y is made. Far: Z, and x and y. */
    {"an input that is read twice",
     "format onnx 13\ninput X int8[1,2,4,4]\n" POOL("a", "X", "x", "[2,2]")
         POOL("b", "X", "y", "[2,2]") "node Add c: x y -> Z\noutput Z\n",
     .least_bytes = 4 + 1, .whole_bytes = 32 + 18 + 18, .far_bytes = 32 + 18 + 18 + 18,
     .loads = {{"X", 2 * (2 * 9 * 4)}, {"x", 18}, {"y", 18}}},
    /* The windows of b and c are smaller; their maps are larger, 2 * 3 * 4. */
    {"an input that is read three times",
     "format onnx 13\ninput X int8[1,2,4,4]\n" POOL("a", "X", "x", "[2,2]") POOL("b", "X", "y", "[2,1]")
         POOL("c", "X", "z", "[1,2]") "output x\noutput y\noutput z\n",
     .node = "a", .least_bytes = 4 + 1, .whole_bytes = 32 + 24, .far_bytes = 32 + 18 + 24 + 24},
    /* a: 2 channels, 2 weights, 1. m and n are one sweep, x is never a map; o is another. Far: X, Y, s, u, K, y, z. */
    {"per-channel operators around a convolution",
     "format onnx 13\ninput X int8[1,2,4,4]\nconst s int8[2,1,1] = 3 4\nconst u int8[2,1,1] = 5 6\nconst K "
     "int8[2,2,1,1] = 1 2 3 4\n"
     "node Mul m: X s -> x\nnode Add n: x u -> y\nnode Conv a: y K -> z kernel_shape=[1,1]\nnode Mul o: z s -> Y\n"
     "output Y\n",
     .node = "a", .least_bytes = 2 + 2 + 1, .whole_bytes = 32 + 32 + 4, .far_bytes = 32 + 32 + 2 + 2 + 4 + 32 + 32,
     .loads = {{"X", 32}, {"x", 0}, {"y", 2 * 16 * 2}}},
    /* One and one; c writes over what it reads. Whole, x waits while y is made of B. */
    {"a sum of two maps",
     "format onnx 13\ninput A int8[1,2,4,4]\ninput B int8[1,2,4,4]\n" POOL("a", "A", "x", "[1,1]")
         POOL("b", "B", "y", "[1,1]") "node Add c: x y -> z\n" POOL("d", "z", "Y", "[1,1]") "output Y\n",
     .least_bytes = 1 + 1, .whole_bytes = 3 * 32, .far_bytes = 3 * 32 + 3 * 32,
     .loads = {{"x", 32}, {"y", 32}, {"z", 32}}},
    /* Depth and rows are one dimension of a map: x has a depth of 5 and one row, y a depth of 1 and three rows, of
     * which two are made of padding. Which elements belong to a row can't be told: 5 are loaded for each of 3 * 8, with
     * 5 weights. */
    {"depth that becomes 1 beside rows that become 3",
     "format onnx 13\ninput X int8[1,1,5,1,8]\nconst W int8[1,1,5,1,1] =" D5("1") "\n" POOL(
         "a", "X", "x",
         "[1,1,1]") "node Conv c: x W -> y kernel_shape=[5,1,1] pads=[0,1,0,0,1,0]\n" POOL("b", "y", "Y",
                                                                                           "[1,1,1]") "output Y\n",
     .node = "c", .least_bytes = 5 + 5 + 1, .whole_bytes = 40 + 40, .far_bytes = 40 + 5 + 24 + 40 + 24,
     .loads = {{"x", 3 * 8 * 5}, {"y", 24}}},
    /* A unit: X 6, 4 rows of 6, 4 of 8, 4 biases of 4; the states 8 and 16, and y whole, for what the next unit reads
     * must be as it was. Far: X, y, and 8 rows. */
    {"a cell with its states", CELL "output y\n", .node = "cell", .least_bytes = 6 + 4 * 6 + 4 * 8 + 4 * 4 + 8 + 16 + 8,
     .whole_bytes = 6 + 8 * 4 * (6 + 8 + 4) + 8 + 16 + 8, .far_bytes = 6 + 8 * 4 * (6 + 8 + 4) + 8,
     .loads = {{"w0", 8 * 4 * (6 + 8 + 4)}, {"X", 6}, {"h", 0}}},
    /* end: the states, y 8, z 100, Y 8. y would best be far while z is made. */
    {"what a cell makes stays where it is",
     CELL "value z int8[1,1,100]\nvalue Y int8[1,1,8]\nnode Custom big: X -> z\nnode Custom end: y z -> Y\noutput Y\n",
     .node = "end", .least_bytes = 8 + 16 + 8 + 100 + 8, .whole_bytes = 6 + 8 * 4 * (6 + 8 + 4) + 8 + 16 + 8,
     .far_bytes = 6 + 8 * 4 * (6 + 8 + 4) + 8, .loads = {{"X", 6 + 6}, {"y", 0}, {"z", 0}}},
    /* a: v, r and X, over which y goes. With parts of X there is y beside r: 16 + 16 + 16 + 1. */
    {"a variable",
     "format tflite\ninput X int8[1,4,4,1]\nstate v int8[1,4,4,1]\nvalue h resource[]\nvalue r int8[1,4,4,1]\n"
     "value y int8[1,4,4,1]\nvalue Y int8[1,4,4,1]\nnode tflite.VAR_HANDLE n: -> h\nnode tflite.READ_VARIABLE e: h v "
     "-> "
     "r\nnode Add a: X r -> y\nnode tflite.ASSIGN_VARIABLE g: h y v ->\n"
     "node LpPool p: y -> Y kernel_shape=[1,1] strides=[1,1] auto_pad=\"VALID\"\noutput Y\n",
     .least_bytes = 3 * 16, .whole_bytes = 3 * 16, .far_bytes = 16 + 16, .loads = {{"X", 16}, {"y", 0}, {"v", 0}}},
    /* One and one. Two maps at a time are in far memory, beside X and Y. */
    {"maps that share addresses of far memory", POOLS, .least_bytes = 1 + 1, .whole_bytes = 16 + 16,
     .far_bytes = 16 + 16 + 2 * 16, .loads = {{"x", 16}, {"y", 16}, {"z", 16}}},
};

/* ---- Plans */

static const char *device_text(const char *far, Work *work) {
    return arena_text(&work->keep,
                      "[device]\nname = dense\nkind = scratchpad\n[memory local]\nbytes = 1M @ test\nalign_bytes = 1 @ "
                      "test\n[memory far]\nbytes = %s @ test\nalign_bytes = 1 @ test\n"
                      "[contract]\nactivation = N H W C @ test\nweight = O H W I @ test\nparameter = N H W C @ test\n"
                      "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n",
                      far);
}

static Plan *plan_text(const char *body, const PlanOptions *options, const char *far, Work *work) {
    const char *text = arena_text(&work->keep, "stride0-graph 1\n%s", body);
    const PlanCase passes = {.graph = text};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *device = device_parse(work, str_from(device_text(far, work)), STR("dense.ini"));
    Plan *plan = NULL;
    if (graph != NULL && device != NULL && planned_passes(graph, &passes, work)) {
        plan = plan_make(graph, device, options, work);
    }
    if (plan == NULL) {
        diags_print(&work->diags, "", stderr);
        fail_msg("refused:\n%s", text);
    }
    return plan;
}

static Plan *plan_row(const Row *row, uint64_t budget_bytes, bool is_whole, Work *work) {
    const PlanOptions options = {.in_place = true, .whole_tiles = is_whole, .budget_bytes = budget_bytes};
    return plan_text(row->text, &options, "unbounded", work);
}

/* ---- Rows */

static void check_loads(const Row *row, const Plan *plan) {
    for (size_t k = 0; k < MOST_LOADS && row->loads[k].tensor != NULL; k++) {
        uint64_t bytes = 0;
        for (uint32_t s = 0; s < plan->step_count; s++) {
            const Step *step = &plan->steps[s];
            for (uint32_t i = 0; i < step->read_count; i++) {
                bool is_load = is_far(plan, step->reads[i]) && is_named(plan, step->reads[i], row->loads[k].tensor);
                bool in_sweep = step->sweep != NOT_IN_SWEEP;
                bytes += !is_load ? 0 : in_sweep ? step->moved_bytes : plan_buffer(plan, step->reads[i])->logical_bytes;
            }
        }
        if (bytes != row->loads[k].bytes) {
            fail_msg("%s: %llu bytes of '%s' are loaded", row->what, (unsigned long long)bytes, row->loads[k].tensor);
        }
    }
}

static void check_least(const Row *row, Work *work) {
    const Plan *plan = plan_row(row, row->least_bytes, false, work);
    if (plan->placed_bytes != row->least_bytes || plan->backing_bytes != row->far_bytes) {
        fail_msg("%s: %llu bytes, %llu in far memory", row->what, (unsigned long long)plan->placed_bytes,
                 (unsigned long long)plan->backing_bytes);
    }
    check_plan(row->what, plan, work);
    check_loads(row, plan);
    check_same(plan, plan_row(row, row->least_bytes, false, work));
}

/* No byte less will do, and the node that needs them all is found. */
static void check_misfit(const Row *row, Work *work) {
    const Plan *plan = plan_row(row, row->least_bytes - 1, false, work);
    assert_false(plan_fits(plan));
    assert_true(plan->placed_bytes >= row->least_bytes);
    check_plan(row->what, plan, work);
    NodeId node = plan->steps[plan->peak_step].node;
    if (row->node != NULL && !str_eq(graph_node(plan->graph, node)->name, str_from(row->node))) {
        fail_msg("%s: " STR_FMT " is blamed", row->what, STR_ARG(graph_node(plan->graph, node)->name));
    }
}

static void check_whole(const Row *row, Work *work) {
    const Plan *plan = plan_row(row, row->whole_bytes, true, work);
    assert_true(plan_fits(plan));
    assert_int_equal(plan->placed_bytes, row->whole_bytes);
    check_plan(row->what, plan, work);
    assert_false(plan_local_fits(plan_row(row, row->whole_bytes - 1, true, work)));
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        assert_false(buffer_is_far_map(plan, &plan->buffers[i]));
    }
}

static void check_between(const Row *row) {
    uint64_t step = (row->whole_bytes - row->least_bytes) / BUDGETS + 1;
    for (uint64_t budget = row->least_bytes; budget <= row->whole_bytes; budget += step) {
        Work work;
        WORK_BEGIN(&work);
        const Plan *plan = plan_row(row, budget, false, &work);
        if (!plan_fits(plan)) {
            fail_msg("%s: %llu are not enough", row->what, (unsigned long long)budget);
        }
        check_plan(row->what, plan, &work);
        work_free(&work);
    }
}

/* Asked for a schedule it may need more, and says so. */
static void check_schedules(const Row *row) {
    for (Schedule schedule = SCHEDULE_FUSED; schedule < SCHEDULE_COUNT; schedule++) {
        for (uint64_t twice = 1; twice <= 2; twice++) {
            Work work;
            WORK_BEGIN(&work);
            const PlanOptions options = {
                .in_place = true, .schedule = schedule, .budget_bytes = twice * row->least_bytes};
            check_plan(row->what, plan_text(row->text, &options, "unbounded", &work), &work);
            work_free(&work);
        }
    }
}

static void test_rows(void **state) {
    (void)state;
    static void (*const checks[])(const Row *, Work *) = {check_least, check_misfit, check_whole};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        for (size_t c = 0; c < sizeof checks / sizeof checks[0]; c++) {
            Work work;
            WORK_BEGIN(&work);
            checks[c](&rows[k], &work);
            work_free(&work);
        }
        check_between(&rows[k]);
        check_schedules(&rows[k]);
    }
}

/* ---- Which goes first */

typedef struct {
    const char *what, *text;
    uint64_t budget_bytes;
    const char *far; /* the map that goes; null: none does */
    uint64_t far_bytes;
} Choice;

static const Choice choices[] = {
    /* p 9 and q 16 wait while s 16 is made of r 16: 57. Without any one of them it would fit. Far: X 16, Y 4, q. */
    {"of what waits the largest goes, before what is worked on",
     "format onnx 13\ninput X int8[1,1,4,4]\n" POOL("a", "X", "p", "[2,2]") POOL("b", "X", "q", "[1,1]")
         POOL("c", "q", "r", "[1,1]") POOL("d", "r", "s", "[1,1]") POOL("e", "s", "t", "[3,3]")
             POOL("f", "q", "u", "[3,3]") "node Add g: t u -> v\n" POOL("h", "p", "w",
                                                                        "[2,2]") "node Add i: v w -> Y\noutput Y\n",
     50, "q", 16 + 4 + 16},
    /* p 8, W 64, x 8: a byte less than all, and W comes in parts. */
    {"before maps go, the operator goes by parts of its weights",
     "format onnx 13\ninput X int8[1,8]\nconst W int8[8,8] =" BY8(D8) "\nnode Relu a: X -> p\nnode MatMul m: p W -> x\n"
                                                                      "node Relu r: x -> Y\n"
                                                                      "output Y\n",
     79, NULL, 8 + 64 + 8},
};

static void check_choice(const Choice *choice, Work *work) {
    const PlanOptions options = {.in_place = true, .budget_bytes = choice->budget_bytes};
    const Plan *plan = plan_text(choice->text, &options, "unbounded", work);
    assert_true(plan_fits(plan));
    check_plan(choice->what, plan, work);
    uint32_t far = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        bool is_map = buffer_is_far_map(plan, &plan->buffers[i]);
        if (is_map && (choice->far == NULL || !is_named(plan, (BufferId){i}, choice->far))) {
            fail_msg("%s: '" STR_FMT "' goes", choice->what, STR_ARG(far_name(plan, (BufferId){i})));
        }
        far += is_map;
    }
    assert_int_equal(far, choice->far != NULL);
    assert_int_equal(plan->backing_bytes, choice->far_bytes);
}

static void test_choices(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof choices / sizeof choices[0]; k++) {
        Work work;
        WORK_BEGIN(&work);
        check_choice(&choices[k], &work);
        work_free(&work);
    }
}

/* ---- What is said of a misfit, and of far memory that is bounded */

/* The operator, its map of 20 bytes and that of 16, and no other. */
static void test_mystery(Work *work) {
    const PlanOptions options = {.in_place = true, .budget_bytes = 35};
    const Plan *plan = plan_text(MYSTERY, &options, "unbounded", work);
    const Facts *facts = facts_gather("test", plan, NULL, false, work);
    assert_true(str_eq(graph_node(plan->graph, plan->steps[plan->peak_step].node)->name, STR("mystery")));
    assert_int_equal(plan->peak_live_bytes, 36);
    assert_int_equal(facts->misfit.own_bytes, 36);
    assert_int_equal(facts->misfit.waiting_count, 0);
    assert_int_equal(facts->at_peak.count, 2);
    const Ranked *top = facts->at_peak.top;
    assert_true(is_named(plan, top[0].buffer, "y") && is_named(plan, top[1].buffer, "x"));
    assert_true(top[0].bytes == 20 && top[1].bytes == 16);
}

/* Four maps of 16 bytes at a time: 64 are enough, 63 are not, and it is far memory that is too small. */
static void test_bounded(Work *work) {
    const PlanOptions options = {.in_place = true, .budget_bytes = 2};
    const Plan *plan = plan_text(POOLS, &options, "64", work);
    assert_true(plan_fits(plan));
    check_plan("64 bytes of far memory", plan, work);
    plan = plan_text(POOLS, &options, "63", work);
    assert_true(plan_local_fits(plan) && !plan_backing_fits(plan));
    const Facts *facts = facts_gather("test", plan, NULL, false, work);
    assert_int_equal(facts->misfit.backing_excess_bytes, 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_choices),
        WORK_TEST(test_mystery),
        WORK_TEST(test_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
