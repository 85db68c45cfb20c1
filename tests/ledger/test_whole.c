/* Why operators are not cut, why maps lie in far memory, and what of far memory does not fit. Proves, on a device
 * without any padding, where all sums follow by hand: the reason and the bytes of each kind of operator that works on
 * whole maps, and that none is told of one that goes by tiles; of a map in far memory the operator at which it was one
 * too many, with the sum and the room, and whether it waited there; the step of far memory's peak, and what stays
 * there. */
#include "ledger/facts.h"
#include "plan/planned.h"

#define POOL(name, in, out) "node LpPool " name ": " in " -> " out " kernel_shape=[1,1]\n"
#define IN16                "format onnx 13\ninput X int8[1,1,4,4]\n"

static const char *device_text(const char *far, const char *dma, Work *work) {
    return arena_text(&work->keep,
                      "[device]\nname = dense\nkind = scratchpad\n[memory local]\nbytes = 1M @ test\nalign_bytes = 1 @ "
                      "test\n[memory far]\nbytes = %s @ test\nalign_bytes = 1 @ test\n"
                      "[contract]\nactivation = N H W C @ test\nweight = O H W I @ test\nparameter = N H W C @ test\n"
                      "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n%s",
                      far, dma == NULL ? "" : dma);
}

static Facts *facts_of(const char *body, PlanOptions options, const char *far, const char *dma, Work *work) {
    const char *text = arena_text(&work->keep, "stride0-graph 1\n%s", body);
    const PlanCase passes = {.graph = text};
    options.in_place = true;
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *device = device_parse(work, str_from(device_text(far, dma, work)), STR("dense.ini"));
    assert_true(graph != NULL && device != NULL && planned_passes(graph, &passes, work));
    Plan *plan = plan_make(graph, device, &options, work);
    assert_non_null(plan);
    return facts_gather(body, plan, NULL, false, work);
}

/* ---- Reasons */

typedef struct {
    const char *what, *text;
    PlanOptions options;
    const char *node;
    WholeReason reason;
    uint64_t own_bytes; /* of the step where it computes */
    const char *dma;    /* section of the device file; null */
} Row;

#define MANY "X X X X X X X X X X "

static const Row rows[] = {
    {"room for whole maps", IN16 POOL("a", "X", "Y") "output Y\n", {0}, "a", WHOLE_ROOM, .own_bytes = 16 + 16},
    {"whole maps, as asked",
     IN16 POOL("a", "X", "Y") "output Y\n",
     {.whole_tiles = true},
     "a",
     WHOLE_OPTION,
     .own_bytes = 16 + 16},
    {"by tiles", IN16 POOL("a", "X", "Y") "output Y\n", {.budget_bytes = 31}, "a", WHOLE_NONE, .own_bytes = 1 + 1},
    {"an operator that nobody knows",
     IN16 "value y int8[1,1,4,5]\nnode Custom a: X -> y\noutput y\n",
     {0},
     "a",
     WHOLE_OPERATOR,
     .own_bytes = 16 + 20},
    {"the same, from far memory",
     IN16
     "value x int8[1,1,4,4]\nvalue y int8[1,1,4,5]\nnode Custom o: X -> x\nnode Custom a: x -> y\noutput y\noutput "
     "x\n",
     {.budget_bytes = 30},
     "a",
     WHOLE_OPERATOR,
     .own_bytes = 16 + 20},
    {"two outputs",
     IN16 "value y int8[5]\nvalue z int8[6]\nnode Custom a: X -> y z\noutput y\noutput z\n",
     {0},
     "a",
     WHOLE_OUTPUTS,
     .own_bytes = 16 + 5 + 6},
    {"a sum of all",
     "format onnx 11\ninput X float32[1,1,4,4]\nnode ReduceSum a: X -> y axes=[0,1,2,3] keepdims=0\noutput y\n",
     {0},
     "a",
     WHOLE_ELEMENTS,
     .own_bytes = 64 + 4},
    {"more inputs than are loaded by parts",
     IN16 "node Relu r: X -> x\nnode Max a: " MANY MANY MANY MANY MANY MANY "X X X X x -> y\noutput y\noutput x\n",
     {0},
     "a",
     WHOLE_INPUTS,
     .own_bytes = 16 + 16}, /* y lies over X */
    {"a concat of as many",
     IN16 "node Concat a: " MANY MANY MANY MANY MANY MANY "X X X X X -> y axis=1\noutput y\n",
     {0},
     "a",
     WHOLE_ROOM,
     .own_bytes = 16 + 65 * 16},
    {"a line is longer than a transfer, and needed whole",
     "format onnx 13\ninput X float32[1,1,2,16]\nnode Softmax a: X -> Y axis=-1\noutput Y\n",
     {.budget_bytes = 200},
     "a",
     WHOLE_LAYOUT,
     128 + 128,
     "[dma]\nmax_bytes = 32 @ test\n"},
    {"the same, with longer transfers",
     "format onnx 13\ninput X float32[1,1,2,16]\nnode Softmax a: X -> Y axis=-1\noutput Y\n",
     {.budget_bytes = 200},
     "a",
     WHOLE_NONE,
     64 + 64,
     "[dma]\nmax_bytes = 64 @ test\n"},
    {"what a variable is left with",
     "format tflite\ninput X int8[1,4,4,1]\nstate v int8[1,4,4,1]\nvalue h resource[]\nvalue Y int8[1,4,4,1]\n"
     "node tflite.VAR_HANDLE n: -> h\nnode LpPool p: X -> Y kernel_shape=[1,1] strides=[1,1] auto_pad=\"VALID\"\n"
     "node tflite.ASSIGN_VARIABLE a: h Y v ->\noutput Y\n",
     {0},
     "a",
     WHOLE_STATE,
     .own_bytes = 16 + 16},
    {"a map that is read from a variable",
     "format tflite\nstate v int8[1,4,4,1]\nvalue h resource[]\nvalue r int8[1,4,4,1]\nvalue Y int8[1,4,4,1]\n"
     "node tflite.VAR_HANDLE n: -> h\nnode tflite.READ_VARIABLE e: h v -> r\nnode LpPool a: r -> Y "
     "kernel_shape=[1,1] strides=[1,1] auto_pad=\"VALID\"\noutput Y\n",
     {0},
     "a",
     WHOLE_ROOM,
     .own_bytes = 16 + 16},
};

static const WholeStep *find_step(const Facts *facts, const char *node) {
    for (uint32_t s = 0; s < facts->plan->step_count; s++) {
        const Step *step = &facts->plan->steps[s];
        if (step_is_operator(facts->plan, step) && str_eq(graph_node(facts->graph, step->node)->name, str_from(node))) {
            return &facts->whole[s];
        }
    }
    fail_msg("no step of %s: %s", node, facts->file);
    return NULL;
}

static void test_reasons(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        const Row *row = &rows[k];
        Work work;
        WORK_BEGIN(&work);
        const WholeStep *step = find_step(facts_of(row->text, row->options, "unbounded", row->dma, &work), row->node);
        if (step->reason != row->reason || step->own_bytes != row->own_bytes) {
            const char *name = whole_reason_name(step->reason);
            fail_msg("%s: %s, %llu bytes", row->what, name == NULL ? "none" : name,
                     (unsigned long long)step->own_bytes);
        }
        work_free(&work);
    }
}

/* ---- Far maps */

/* p 4 and q 16 wait while d makes s 16 of r 16: 52. Without q it would fit in 50. */
#define WAITING                                                                                                        \
    IN16 "node LpPool a: X -> p kernel_shape=[2,2] strides=[2,2]\n" POOL("b", "X", "q") POOL("c", "q", "r")            \
        POOL("d", "r", "s") "node Add f: q s -> t\nnode LpPool e: t -> w kernel_shape=[2,2] strides=[2,2]\n"           \
                            "node Add g: w p -> Y\noutput Y\n"
static const FarReason *reason_of(const Facts *facts, const char *tensor) {
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        const Buffer *buffer = &facts->plan->buffers[i];
        const FarReason *why = facts_why_far(facts->plan, (BufferId){i});
        if (why != NULL && str_eq(graph_value(facts->graph, buffer->value)->name, str_from(tensor))) {
            return why;
        }
    }
    return NULL;
}

static void check_reason(const Facts *facts, const char *tensor, const char *node, FarReason expected) {
    const FarReason *why = reason_of(facts, tensor);
    assert_non_null(why);
    assert_true(str_eq(graph_node(facts->graph, why->node)->name, str_from(node)));
    assert_int_equal(why->column, expected.column);
    assert_int_equal(why->live_bytes, expected.live_bytes);
    assert_int_equal(why->room_bytes, expected.room_bytes);
    assert_int_equal(why->is_waiting, expected.is_waiting);
}

static void test_why_far(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    const Facts *facts = facts_of(WAITING, (PlanOptions){.budget_bytes = 50}, "unbounded", NULL, &work);
    check_reason(facts, "q", "d", (FarReason){NO_NODE, COLUMN_COMPUTE, 4 + 3 * 16, 50, true});
    assert_null(reason_of(facts, "r"));
    assert_null(reason_of(facts, "X"));
    facts = facts_of(IN16 POOL("a", "X", "x") POOL("b", "x", "Y") "output Y\n", (PlanOptions){.budget_bytes = 2},
                     "unbounded", NULL, &work);
    check_reason(facts, "x", "a", (FarReason){NO_NODE, COLUMN_COMPUTE, 16 + 16, 2, false});
    facts = facts_of(WAITING, (PlanOptions){0}, "unbounded", NULL, &work);
    assert_null(reason_of(facts, "q"));
    work_free(&work);
}

/* ---- Far memory that does not hold it all */

#define POOLS IN16 POOL("a", "X", "x") POOL("b", "x", "y") POOL("c", "y", "z") POOL("d", "z", "Y") "output Y\n"

/* X and Y stay, 16 each; x and y are both there from where b stores y on. */
static void test_backing(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    const Facts *facts = facts_of(POOLS, (PlanOptions){.budget_bytes = 2}, "63", NULL, &work);
    const Misfit *misfit = &facts->misfit;
    assert_false(plan_backing_fits(facts->plan));
    assert_int_equal(misfit->backing_live_bytes, 4 * 16);
    assert_int_equal(misfit->backing_stay_bytes, 2 * 16);
    assert_int_equal(misfit->backing.all, 4);
    assert_int_equal(misfit->backing.all_bytes, 4 * 16);
    NodeId node = facts->plan->steps[misfit->backing_step].node;
    assert_true(str_eq(graph_node(facts->graph, node)->name, STR("b")));
    facts = facts_of(POOLS, (PlanOptions){0}, "31", NULL, &work);
    assert_int_equal(facts->misfit.backing_step, NO_STEP);
    assert_int_equal(facts->misfit.backing_live_bytes, 2 * 16);
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_reasons),
        cmocka_unit_test(test_why_far),
        cmocka_unit_test(test_backing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
