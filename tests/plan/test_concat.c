/* Concats of graph inputs, and what writes state.
 *
 * Proves: an input that nobody pins lies in the concat that takes it, where that is no higher; it is refused with the
 * true reason where the caller pins it or holds the output too, also through a view; state that an operator goes on
 * from is written by its step, and read where the operator reads it; a concat of any number of inputs goes by parts,
 * each of one input, read once and stored where the whole has it. */
#include "cases.h"

#include "plan/tensor.h"

#define JOIN                                                                                                           \
    "format onnx 13\ninput X int8[1,16]\ninput Z int8[1,16]\nnode Concat m: X Z -> t axis=0\n"                         \
    "node Custom n: t -> Y\nvalue Y int8[1,4]\noutput Y\n"

typedef struct {
    const char *what;
    const char *text;
    const char *device;
    bool pin_inputs;
    AliasReason alias; /* of X */
    AliasRefusal refusal;
    uint64_t placed_bytes;
} Join;

static const Join joins[] = {
    {"two of 16 are the 32, beside 16 that are written", JOIN, "mcu-cm", false, ALIAS_CONCAT, REFUSED_NONE, 32 + 16},
    {"pinned, the concat has bytes of its own", JOIN, "mcu-cm", true, ALIAS_NONE, REFUSED_PINNED, 32 + 32 + 16},
    {"the caller's input and output are two",
     "format onnx 13\ninput X int8[1,16]\ninput Z int8[1,16]\nnode Concat m: X Z -> Y axis=0\noutput Y\n", "mcu-cm",
     false, ALIAS_NONE, REFUSED_GRAPH_OUTPUT, 64},
    {"t and u in Y beside X and Z are lower than t, u and Y of which t holds X and Z",
     "format onnx 13\ninput X int8[1,16]\ninput Z int8[1,16]\nnode Concat m: X Z -> t axis=0\nnode Custom n: Z -> u\n"
     "value u int8[1,16]\nnode Concat k: t u -> Y axis=0\noutput Y\n",
     "mcu-cm", false, ALIAS_NONE, REFUSED_NONE, 16 + 16 + 48},
    {"the concat would be alive beside b, 320 + 176 + 16; apart it is alive beside its parts alone",
     "format onnx 13\ninput X int8[1,16]\nnode Custom q: X -> b\nvalue b int8[1,320]\nnode Custom r: b -> c\n"
     "value c int8[1,16]\nnode Custom s: c -> Z\nvalue Z int8[1,160]\nnode Concat m: X Z -> t axis=1\n"
     "node Custom n: t -> Y\nvalue Y int8[1,4]\noutput Y\n",
     "mcu-cm", false, ALIAS_NONE, REFUSED_NONE, 16 + 160 + 176},
};

static void test_joins(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof joins / sizeof *joins; i++) {
        const Join *row = &joins[i];
        Planned planned;
        case_must_plan(&planned, &(Case){.text = row->text,
                                         .device = row->device,
                                         .options = {.in_place = true, .pin_inputs = row->pin_inputs}});
        const Buffer *buffer = planned_buffer(&planned, "X");
        uint64_t placed = planned.plan->placed_bytes;
        if (buffer->alias_reason != row->alias || buffer->refused_alias != row->refusal ||
            (row->placed_bytes != 0 && placed != row->placed_bytes)) {
            fail_msg("%s: alias %s, refused %s, placed %llu", row->what, alias_reason_name(buffer->alias_reason),
                     alias_refusal_name(buffer->refused_alias), (unsigned long long)placed);
        }
        planned_free(&planned);
    }
}

static void test_output_through_a_view(void **state) {
    (void)state;
    Planned planned;
    case_must_plan(&planned,
                   &(Case){.text = "format onnx 13\ninput X int8[1,16]\ninput Z int8[1,16]\nconst k int64[1] = -1\n"
                                   "node Concat m: X Z -> t axis=0\nnode Reshape n: t k -> Y\noutput Y\n",
                           .device = "mcu-cm",
                           .options = {.in_place = true}});
    const Buffer *output = planned_buffer(&planned, "Y");
    assert_int_equal(output->alias_reason, ALIAS_NONE);
    assert_int_equal(output->refused_alias, REFUSED_GRAPH_OUTPUT);
    planned_free(&planned);
}

/* ---- State */

static bool lists(const Planned *planned, const BufferId *ids, uint32_t count, const char *name) {
    for (uint32_t i = 0; i < count; i++) {
        ValueId value = plan_buffer(planned->plan, ids[i])->value;
        if (str_eq(graph_value(planned->plan->graph, value)->name, str_from(name))) {
            return true;
        }
    }
    return false;
}

static const Step *step_of(const Planned *planned, const char *node) {
    const Plan *plan = planned->plan;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        if (is_node(plan->steps[s].node) &&
            str_eq(graph_node(plan->graph, plan->steps[s].node)->name, str_from(node)) &&
            plan->steps[s].column != COLUMN_LOAD_INPUT && plan->steps[s].column != COLUMN_STORE) {
            return &plan->steps[s];
        }
    }
    fail_msg("no step of '%s'", node);
    return NULL;
}

static void test_state_is_written(void **state) {
    (void)state;
    static const struct {
        const char *node;
        bool is_read, is_written;
    } rows[] = {{"get", true, false}, {"goes_on", true, true}, {"put", false, true}};
    static const char *const devices[] = {"mcu-cm", "teach"};
    for (size_t d = 0; d < 2; d++) {
        Planned planned;
        case_must_plan(&planned, &(Case){.text = "format tflite\ninput X int8[1,8]\nstate st int8[1,8]\n"
                                                 "value h resource[]\nnode tflite.VAR_HANDLE v: -> h\n"
                                                 "value a int8[1,8]\nvalue b int8[1,8]\nvalue Y int8[1,8]\n"
                                                 "node READ_VARIABLE get: h st -> a\nnode Custom goes_on: X st -> b\n"
                                                 "node ASSIGN_VARIABLE put: h b st ->\nnode Add last: a b -> Y\n"
                                                 "output Y\n",
                                         .device = devices[d],
                                         .options = {.in_place = true}});
        for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
            const Step *step = step_of(&planned, rows[i].node);
            if (lists(&planned, step->reads, step->read_count, "st") != rows[i].is_read ||
                lists(&planned, step->writes, step->write_count, "st") != rows[i].is_written) {
                fail_msg("%s, '%s'", devices[d], rows[i].node);
            }
        }
        planned_free(&planned);
    }
}

/* ---- In parts */

enum { MANY = 150 }; /* more than an operator that is cut may read otherwise */

/* Pools that each make a map, a concat of them along `axis`, and a pool of the whole. */
static const char *many_text(Arena *arena, uint32_t count, int axis) {
    const char *text = "format onnx 13\ninput X int8[1,2,3,4]\n", *names = "";
    for (uint32_t k = 0; k < count; k++) {
        text = arena_text(arena, "%snode MaxPool p%u: X -> v%u kernel_shape=[1,1]\n", text, (unsigned)k, (unsigned)k);
        names = arena_text(arena, "%s v%u", names, (unsigned)k);
    }
    return arena_text(arena, "%snode Concat c:%s -> y axis=%d\nnode MaxPool q: y -> Y kernel_shape=[1,1]\noutput Y\n",
                      text, names, axis);
}

/* Bytes that steps of the concat load of the value, and store of the whole. */
static void count_moved(const Plan *plan, NodeId concat, uint64_t *loaded, uint64_t *stored) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        if (step->node.index == concat.index && step->column == COLUMN_LOAD_INPUT) {
            assert_int_equal(step->read_count, 1); /* of one input at a time */
            loaded[plan_buffer(plan, step->reads[0])->value.index] += step->moved_bytes;
        } else if (step->node.index == concat.index && step->column == COLUMN_STORE) {
            *stored += step->moved_bytes;
        }
    }
}

/* Element i of the n-th input is where the whole has the one with n extents of it more along the axis. */
static void check_places(const Plan *plan, NodeId concat, Dim along, Work *work) {
    uint64_t begin = 0;
    for (uint32_t s = 0; s < plan->sweep_count; s++) {
        const PlannedSweep *planned = &plan->sweeps[s];
        if (planned->nodes[0].index != concat.index) {
            continue;
        }
        const Tensor whole = tensor_of_buffer(plan->graph, plan_buffer(plan, planned->out_far));
        const View *part = &planned->sweep.out.whole;
        uint64_t i[DIM_COUNT] = {0}, at[DIM_COUNT];
        View view;
        assert_true(tensor_view(plan->device, &whole, &work->diags, &view));
        do {
            memcpy(at, i, sizeof at);
            at[along] += begin;
            assert_int_equal(view_address_bits(part, i), view_address_bits(&view, at));
        } while (view_next_index(&planned->sweep.in.shape, i));
        begin += planned->sweep.in.shape.extent[along];
    }
    const Value *output = node_output(plan->graph, graph_node(plan->graph, concat), 0);
    assert_int_equal(begin, output->shape.dim[along]); /* N C H W */
}

/* Each input is read once, alone, and stored once: an element of it and one of the whole are enough. */
static void test_parts(void **state) {
    (void)state;
    for (int axis = 0; axis < 4; axis++) {
        Planned planned;
        Work text_work;
        WORK_BEGIN(&text_work);
        case_must_plan(&planned, &(Case){.text = many_text(&text_work.keep, MANY, axis),
                                         .device = "teach",
                                         .options = {.in_place = true, .budget_bytes = 64}});
        const Plan *plan = planned.plan;
        NodeId concat = graph_main(plan->graph)->nodes[MANY];
        uint64_t *loaded = arena_array(&text_work.keep, uint64_t, plan->graph->value_count), stored = 0;
        assert_true(plan_fits(plan) && graph_node(plan->graph, concat)->op == OP_CONCAT);
        count_moved(plan, concat, loaded, &stored);
        for (uint32_t k = 0; k < MANY; k++) {
            assert_int_equal(loaded[graph_node(plan->graph, concat)->inputs[k].index], 24);
        }
        assert_int_equal(stored, 24 * MANY);
        check_places(plan, concat, (Dim)axis, &text_work);
        planned_free(&planned);
        work_free(&text_work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_output_through_a_view),
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_state_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
