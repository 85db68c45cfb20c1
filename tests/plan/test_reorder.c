/* Proves of --order memory: on small networks by chance, where a plan says that no order has a lower peak, none has:
 * every order is planned, with the same views; what it says of the file's order is what a plan in that order comes to;
 * and figures that a hand gives for networks with branches, with operators that may have effects, and with a variable.
 */
#include "network.h"

enum { NETWORKS = 1500, SMALL = 7, MOST_ORDERS = 2000 };

/* ---- Every order */

typedef struct {
    Graph *graph;
    const Device *device;
    PlanOptions options;
    Work *work; /* of the plans */
    uint32_t count;
    NodeId nodes[SMALL + 1]; /* in the order of the file */
    bool is_done[SMALL + 1];
    uint32_t orders;
    uint64_t lowest_bytes;
} Every;

static bool is_made(const Every *every, ValueId id) {
    if (!is_value(id) || !is_node(graph_value(every->graph, id)->producer)) {
        return true;
    }
    for (uint32_t k = 0; k < every->count; k++) {
        if (every->nodes[k].index == graph_value(every->graph, id)->producer.index) {
            return every->is_done[k];
        }
    }
    return true;
}

static bool may_run(const Every *every, uint32_t k) {
    const Node *node = graph_node(every->graph, every->nodes[k]);
    bool may = !every->is_done[k];
    for (uint32_t i = 0; i < node->input_count; i++) {
        may = may && is_made(every, node->inputs[i]);
    }
    return may;
}

static void plan_order(Every *every) {
    const Plan *plan = plan_make(every->graph, every->device, &every->options, every->work);
    assert_non_null(plan);
    every->orders++;
    every->lowest_bytes = plan->peak_live_bytes < every->lowest_bytes ? plan->peak_live_bytes : every->lowest_bytes;
    arena_reset(&every->work->keep);
    arena_reset(&every->work->scratch);
}

static void plan_orders(Every *every, uint32_t at) {
    if (at == every->count) {
        plan_order(every);
    }
    for (uint32_t k = 0; k < every->count && at < every->count && every->orders < MOST_ORDERS; k++) {
        if (may_run(every, k)) {
            every->is_done[k] = true;
            graph_main(every->graph)->nodes[at] = every->nodes[k];
            plan_orders(every, at + 1);
            every->is_done[k] = false;
        }
    }
}

typedef struct {
    uint32_t proven, gains, orders;
} Tally;

static void check_every(const Network *network, bool pin, Tally *tally) {
    Planned planned;
    Work work;
    const PlanCase test = {
        network->text, "mcu-cm", NULL, {.in_place = true, .order_memory = true, .pin_inputs = pin, .pin_outputs = pin}};
    assert_true(planned_make(&planned, &test));
    WORK_BEGIN(&work);
    const Span text = {(const uint8_t *)network->text, network->used};
    Every every = {.device = planned.plan->device, .options = test.options, .work = &work, .lowest_bytes = UINT64_MAX};
    every.graph = graph_parse_text(&planned.work, text, STR("test"));
    assert_true(planned_passes(every.graph, &test, &planned.work));
    every.options.order_memory = false;
    every.options.held = &planned.plan->choice;
    every.count = graph_main(every.graph)->node_count;
    memcpy(every.nodes, graph_main(every.graph)->nodes, every.count * sizeof *every.nodes);
    plan_orders(&every, 0);
    if (planned.plan->order->is_lowest && every.lowest_bytes < planned.plan->peak_live_bytes) {
        fail_msg("%llu is told to be the lowest, %llu is:\n%s", (unsigned long long)planned.plan->peak_live_bytes,
                 (unsigned long long)every.lowest_bytes, network->text);
    }
    tally->proven += planned.plan->order->is_lowest;
    tally->gains += planned.plan->peak_live_bytes < planned.plan->order->of_file->unspilled_peak_bytes;
    tally->orders += every.orders;
    work_free(&work);
    planned_free(&planned);
}

static void test_every_order(void **state) {
    (void)state;
    static Network network;
    Tally tally = {0};
    for (uint64_t seed = 1; seed <= NETWORKS; seed++) {
        make_network(&network, seed * 7, SMALL);
        check_every(&network, seed % 4 == 0, &tally);
    }
    print_message("%u networks, %u orders: %u with a lowest peak that is told so, %u lower than the file's\n",
                  (unsigned)NETWORKS, tally.orders, tally.proven, tally.gains);
    assert_true(tally.proven > NETWORKS / 2 && tally.gains > NETWORKS / 50);
}

/* ---- By hand */

typedef struct {
    const char *name, *graph;
    uint64_t file_bytes, bytes; /* peaks on mcu-cm, where sizes round up to 16 */
    bool has_choice, is_lowest;
    const char *order; /* of the steps' nodes, a letter each */
} HandCase;

/* Two branches: x (64) is joined four times (256), and pooled to 64. */
#define BRANCH(k) "value w" k " int8[1,1,16,16]\nnode Concat w" k ": x x x x -> w" k " axis=2\n"
#define NARROW(k) "value n" k " int8[1,1,1,16]\nnode GlobalAveragePool n" k ": w" k " -> n" k "\n"

static const HandCase hand_cases[] = {
    {.name = "a branch is closed before the next is opened: x, a wide map, and what is left of the first",
     .graph = "input x int8[1,1,4,16]\n" BRANCH("a") BRANCH("b") NARROW("a")
         NARROW("b") "value y int8[1,1,1,16]\nnode Add y: na nb -> y\noutput y\n",
     .file_bytes = 64 + 2 * 256,
     .bytes = 64 + 256 + 16,
     .has_choice = true,
     .is_lowest = true,
     .order = "wnwny"},
    {.name = "custom operators may do what nobody sees: among each other they keep their order",
     .graph = "input x int8[1,1,4,16]\nvalue a int8[1,1,16,16]\nvalue b int8[1,1,16,16]\nvalue c int8[1,1,1,16]\n"
              "value d int8[1,1,1,16]\nvalue y int8[1,1,1,16]\nnode Custom p: x -> a\nnode Custom q: x -> b\n"
              "node Custom r: a -> c\nnode Custom s: b -> d\nnode Add y: c d -> y\noutput y\n",
     .file_bytes = 64 + 2 * 256,
     .bytes = 64 + 2 * 256,
     .has_choice = false,
     .is_lowest = true,
     .order = "pqrsy"},
    {.name = "what a variable held is read before it is written",
     .graph = "input x int8[1,4,16]\nstate v int8[1,4,16]\nvalue s int8[1,4,16]\nvalue t int8[1,4,16]\n"
              "node tflite.READ_VARIABLE r: v -> s\nnode Softmax t: s -> t\n"
              "node tflite.ASSIGN_VARIABLE a: v x -> _\noutput t\n",
     .file_bytes = 4 * 64,
     .bytes = 3 * 64, /* x is gone when the softmax has s and t */
     .has_choice = true,
     .is_lowest = true,
     .order = "rat"},
};

static void check_hand(Work *work, const void *argument) {
    const HandCase *test = argument;
    const char *text = arena_text(&work->keep, "stride0-graph 1\nformat tflite\n%s", test->graph);
    const PlanCase asked = {text, "mcu-cm", NULL, {.in_place = true, .order_memory = true}};
    char order[16] = {0};
    print_message("%s\n", test->name);
    const Plan *plan = planned_run(&asked, work);
    assert_non_null(plan);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        order[s] = graph_node(plan->graph, plan->steps[s].node)->name.ptr[0];
    }
    assert_int_equal(plan->order->of_file->unspilled_peak_bytes, test->file_bytes);
    assert_int_equal(plan->peak_live_bytes, test->bytes);
    assert_int_equal(plan->order->has_choice, test->has_choice);
    assert_int_equal(plan->order->is_lowest, test->is_lowest);
    assert_string_equal(order, test->order);
}

static void test_by_hand(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof hand_cases / sizeof *hand_cases; i++) {
        with_work(check_hand, &hand_cases[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_order), cmocka_unit_test(test_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
