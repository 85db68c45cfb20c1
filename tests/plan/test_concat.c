/* Concats of graph inputs, and what writes state.
 *
 * Proves: an input that nobody pins lies in the concat that takes it, where that is no higher; it is refused with the
 * true reason where the caller pins it or holds the output too, also through a view; state that an operator goes on
 * from is written by its step, and read where the operator reads it. */
#include "cases.h"

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

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_joins),
        cmocka_unit_test(test_output_through_a_view),
        cmocka_unit_test(test_state_is_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
