/* Proves that node_reach takes whatever a file may say: every operator of the table, with attributes out of all bounds
 * and with shapes that do not belong together, is answered without an overflow or an access outside (sanitizers see
 * those), and no window reaches past 63 bits. Also that an operator that it does not know is not cut and reads all. */
#include "reached.h"

enum { DRAWS_EACH = 40 };

static const char *const numbers_of[] = {"0",  "1",          "2",
                                         "-1", "3",          "2147483647",
                                         "-2", "4294967296", "9223372036854775807",
                                         "7",  "65536",      "-9223372036854775808"};

static const char *number(Reached *r) {
    return numbers_of[draw(r, draw(r, 2) == 0 ? 5 : 12)];
}

static void draw_list(Reached *r, const char *name) {
    int count = (int)draw(r, 7);
    line(r, " %s=[", name);
    for (int k = 0; k < count; k++) {
        line(r, "%s%s", k > 0 ? "," : "", number(r));
    }
    line(r, "]");
}

static void draw_attributes(Reached *r) {
    static const char *const lists[] = {"strides", "pads", "dilations",           "kernel_shape",
                                        "axes",    "perm", "broadcast_dimensions"};
    static const char *const ints[] = {"axis",   "group",  "ceil_mode", "keepdims",
                                       "transA", "transB", "blocksize", "broadcast"};
    static const char *const modes[] = {"SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET", "nonsense"};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        if (draw(r, 3) == 0) {
            draw_list(r, lists[k]);
        }
    }
    for (size_t k = 0; k < sizeof ints / sizeof ints[0]; k++) {
        if (draw(r, 3) == 0) {
            line(r, " %s=%s", ints[k], number(r));
        }
    }
    if (draw(r, 2) == 0) {
        line(r, " auto_pad=%s", modes[draw(r, 5)]);
    }
}

static void draw_shape(Reached *r, const char *what, const char *name) {
    static const int64_t extents[] = {1, 2, 3, 4, 4, 4, 0, 1000000007};
    int64_t dim[8];
    int rank = (int)draw(r, 7);
    for (int k = 0; k < rank; k++) {
        dim[k] = extents[draw(r, draw(r, 6) == 0 ? 8 : 6)];
    }
    shape(r, what, name, "float32", dim, rank);
}

static void draw_node(Reached *r, const OpInfo *info, int outputs) {
    static const char *const names[] = {"a", "b", "c", "d", "e", "_"};
    int count = 1 + (int)draw(r, 5);
    line(r, "stride0-graph 1\nformat %s\n", draw(r, 2) == 0 ? "onnx 13" : "tflite");
    for (int k = 0; k < 4; k++) {
        draw_shape(r, "input", names[k]);
    }
    line(r, "const e int64[3] = 0 1 -1\n");
    draw_shape(r, "value", "y");
    draw_shape(r, "value", "z");
    line(r, "node %s%s%s:", info->domain, info->domain[0] == '\0' ? "" : ".", info->name);
    for (int k = 0; k < count; k++) {
        line(r, " %s", names[k == 0 ? draw(r, 4) : draw(r, 6)]);
    }
    line(r, " -> y%s", outputs > 1 ? " z" : "");
    draw_attributes(r);
    line(r, "\noutput y\n");
}

static void must_be_small(const Reached *r, const NodeReach *reach, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        for (uint32_t axis = 0; axis < SHAPE_MAX_RANK; axis++) {
            const AxisReach *one = &reach->input[k][axis];
            if (one->axis == REACH_NO_AXIS) {
                continue;
            }
            const Shape *out = &node_output(r->graph, node, 0)->shape;
            assert_true((uint32_t)one->axis < out->rank);
            uint64_t last = out->dim[one->axis] > 0 ? (uint64_t)out->dim[one->axis] - 1 : 0, end;
            assert_false(__builtin_mul_overflow(last, one->stride, &end));
            assert_false(__builtin_add_overflow(end, one->window, &end));
            assert_true(end <= INT64_MAX);
        }
    }
}

static void must_read_all(const Reached *r, const NodeReach *reach, const Node *node) {
    if (reach->cut != 0) {
        fail_msg("%s\nis cut along 0x%x", r->text, reach->cut);
    }
    for (uint32_t k = 0; k < node->input_count; k++) {
        for (uint32_t axis = 0; axis < SHAPE_MAX_RANK; axis++) {
            assert_int_equal(reach->input[k][axis].axis, REACH_NO_AXIS);
        }
    }
}

/* Drawn once; what the passes let through is asked for. */
static bool ask(Reached *r, bool must_be_whole, Work *work) {
    Graph *graph = reached_graph(work, r->text);
    if (graph == NULL) {
        return false;
    }
    const Value *out = graph_value(graph, graph_main(graph)->outputs[0]);
    if (!is_node(out->producer)) {
        return false;
    }
    const Node *node = graph_node(graph, out->producer);
    r->graph = graph;
    NodeReach reach = node_reach(graph, node, &work->scratch);
    must_be_small(r, &reach, node);
    if (must_be_whole) {
        must_read_all(r, &reach, node);
    }
    return true;
}

static bool draw_and_ask(OpId op, int k, int outputs, bool must_be_whole) {
    Work work;
    Reached *r = calloc(1, sizeof *r);
    assert_non_null(r);
    r->random = ((uint64_t)op * 1000 + (uint64_t)k + 1) * 0x9E3779B97F4A7C15u;
    draw_node(r, op_info(op), outputs);
    WORK_BEGIN(&work);
    bool asked = ask(r, must_be_whole, &work);
    work_free(&work);
    free(r);
    return asked;
}

static void test_every_operator(void **state) {
    (void)state;
    int asked = 0;
    for (int op = OP_NONE + 1; op < OP_COUNT; op++) {
        for (int k = 0; k < DRAWS_EACH; k++) {
            asked += draw_and_ask((OpId)op, k, 1, false);
        }
    }
    assert_true(asked > 1000);
}

/* Each of them mixes what it reads in a way of its own. */
static void test_not_known(void **state) {
    static const OpId ops[] = {OP_CUM_SUM, OP_REVERSE, OP_TRILU,     OP_GATHER,      OP_TOP_K,   OP_ARG_MAX,
                               OP_EINSUM,  OP_CUSTOM,  OP_ROI_ALIGN, OP_GRID_SAMPLE, OP_ONE_HOT, OP_GROUP_NORM};
    (void)state;
    int asked = 0;
    for (size_t k = 0; k < sizeof ops / sizeof ops[0]; k++) {
        for (int turn = 0; turn < 10 * DRAWS_EACH; turn++) {
            asked += draw_and_ask(ops[k], turn, 1, true);
        }
    }
    assert_true(asked > 100);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_operator),
        cmocka_unit_test(test_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
