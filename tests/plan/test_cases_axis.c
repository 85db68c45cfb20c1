/* Cases B and C from the field, and D10: along which axis a parameter goes, whole graphs through the whole way.
 *
 * Proves: the axis comes from the operator's definition, the aligned position or what the user states, and is the same
 * whether all extents differ or all are equal; one number stays one number; what has no single reading is refused with
 * the readings. Expected axes follow by hand from the operators' specifications. */
#include "cases.h"

/* ---- What is read, and along which axis */

typedef struct {
    const char *what;
    const char *text;
    const char *node, *tensor; /* what `tensor` is to `node` */
    Broadcast broadcast;
    int32_t axis; /* of the node's output */
    const char *stored;
    const char *layout;
    const char *device; /* null: teach */
} Reading;

#define NORM(attributes) "node BatchNormalization n: X s s s s -> Y" attributes "\noutput Y\n"

static const Reading readings[] = {
    {"B1: N C H W, scale along axis 1",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[B] = ramp B\n" NORM(""), "n", "s", BROADCAST_CHANNEL, 1,
     "[B]", NULL, NULL},
    {"B2: [C,1,1] is C of an N C H W map",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[B,1,1] = ramp B\nnode MaxPool p: X -> P "
     "kernel_shape=[1,1]\nnode Mul n: P s -> Y\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 1, "[B,1,1]", NULL, NULL},
    {"B2: [1,1,1,C] is C of an N H W C map",
     "format tflite\ninput X int8[1,B,C,D]\nconst s int8[1,1,1,D] = ramp D\nvalue Y int8[1,B,C,D]\n"
     "node Mul n: X s -> Y\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 3, "[1,1,1,D]", NULL, NULL},
    {"B2: the axis goes with the map through a transposition",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[B] = ramp B\nnode MaxPool p: X -> P "
     "kernel_shape=[1,1]\nnode Transpose t: P -> Q perm=[0,2,3,1]\nnode Mul n: Q s -> Y\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 3, "[B]", NULL, NULL},
    {"B5: the axis is the attribute's, whatever the order in memory",
     "format onnx 13\ninput X int8[A,B,1,D]\nconst s float32[A] = ramp A\n"
     "node DequantizeLinear n: X s -> Y axis=0\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 0, "[A]", "X=NHWC", NULL},
    {"B5: axis 1",
     "format onnx 13\ninput X int8[A,B,1,D]\nconst s float32[B] = ramp B\n"
     "node DequantizeLinear n: X s -> Y axis=-3\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 1, "[B]", "X=NHWC", NULL},
    {"B6: [C] is the last axis, not the batch",
     "format tflite\ninput X int8[A,B,C,D]\nconst s int8[D] = ramp D\nvalue Y int8[A,B,C,D]\n"
     "node Add n: X s -> Y\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 3, "[D]", NULL, NULL},
    {"B7: rank 1 on rank 2, aligned from the right",
     "format onnx 13\ninput X float32[A,B]\nconst s float32[B] = ramp B\nnode Add n: X s -> Y\noutput Y\n", "n", "s",
     BROADCAST_CHANNEL, 1, "[B]", NULL, NULL},
    {"B7: unless the operator says otherwise",
     "format onnx 6\ninput X float32[A,B,C,D]\nconst s float32[B] = ramp B\n"
     "node Add@6 n: X s -> Y axis=1 broadcast=1\noutput Y\n",
     "n", "s", BROADCAST_CHANNEL, 1, "[B]", NULL, NULL},
    {"B8: the map is declared N C H W",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[B] = ramp B\n" NORM(""), "n", "s", BROADCAST_CHANNEL, 1,
     "[B]", "X=NCHW", NULL},
    {"B8: the map is declared N H W C",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[D] = ramp D\n" NORM(""), "n", "s", BROADCAST_CHANNEL, 3,
     "[D]", "X=NHWC", NULL},
    {"B9: depthwise weights have their scales along the last axis",
     "format tflite\ninput X int8[1,B,C,D]\n"
     "const s int8[1,1,1,D] = ramp D\nconst b int32[D] = ramp D\nvalue Y int8[1,B,C,D]\n"
     "node DEPTHWISE_CONV_2D n: X s b -> Y\noutput Y\n",
     "n", "b", BROADCAST_CHANNEL, 3, "[D]", NULL, NULL},
    {"B11: a scale a block is neither a channel's nor expanded",
     "format onnx 21\ninput X int8[A,8]\nconst s float32[A,2] = unknown\n"
     "node DequantizeLinear@21 n: X s -> Y axis=1 block_size=4\noutput Y\n",
     "n", "s", BROADCAST_PARTIAL, -1, "[A,2]", NULL, NULL},
    {"C1: a scale of shape [1] on rank 1 is the tensor's",
     "format onnx 13\ninput X int8[E]\nconst s float32[1] = 0.5\nconst z int8[1] = 3\n"
     "node DequantizeLinear n: X s z -> Y\noutput Y\n",
     "n", "s", BROADCAST_SCALAR, -1, "[1]", NULL, "mcu-cm"}, /* a device that loads has it in the command */
    {"C3: a bias of shape [1] is one number",
     "format onnx 13\ninput X float32[A,B]\nconst s float32[1] = 3\nnode Add n: X s -> Y\noutput Y\n", "n", "s",
     BROADCAST_SCALAR, -1, "[1]", NULL, NULL},
    {"C3: and behind a product",
     "format onnx 13\ninput X float32[A,B]\nconst w float32[B,C] = ramp BC\nconst s float32[1] = 3\n"
     "node Gemm n: X w s -> Y\noutput Y\n",
     "n", "s", BROADCAST_SCALAR, -1, "[1]", NULL, NULL},
    {"C4: rank 2 is N, C", "format onnx 13\ninput X float32[A,B]\nconst s float32[B] = ramp B\n" NORM(""), "n", "s",
     BROADCAST_CHANNEL, 1, "[B]", NULL, NULL},
    {"C6: [1,1,1] is one number",
     "format onnx 13\ninput X float32[A,B,C]\nconst s float32[1,1,1] = 4\nnode Div n: X s -> Y\noutput Y\n", "n", "s",
     BROADCAST_SCALAR, -1, "[1,1,1]", NULL, NULL},
    {"C7: a constant with a batch dimension has the map's rank",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[1,B,C,D] = ramp BCD\nnode Add n: X s -> Y\noutput Y\n",
     "n", "s", BROADCAST_FULL, -1, "[1,B,C,D]", NULL, NULL},
    {"C7: and without: its axes have the names of the map's, and it is laid out like it",
     "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[B,C,D] = ramp BCD\nnode Add n: X s -> Y\noutput Y\n",
     "n", "s", BROADCAST_FULL, -1, "[B,C,D]", NULL, NULL},
    {"C9: [N,1,C] times [C]",
     "format onnx 13\ninput X float32[A,1,C]\nconst s float32[C] = ramp C\nnode Mul n: X s -> Y\noutput Y\n", "n", "s",
     BROADCAST_CHANNEL, 2, "[C]", NULL, NULL},
    {"D10: axis=[3]", "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[D] = ramp D\n" NORM(" axis=[3]"), "n",
     "s", BROADCAST_CHANNEL, 3, "[D]", NULL, NULL},
    {"D10: axis=-1", "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[D] = ramp D\n" NORM(" axis=-1"), "n",
     "s", BROADCAST_CHANNEL, 3, "[D]", NULL, NULL},
    {"D10: axis=2", "format onnx 13\ninput X float32[1,B,C,D]\nconst s float32[C] = ramp C\n" NORM(" axis=2"), "n", "s",
     BROADCAST_CHANNEL, 2, "[C]", NULL, NULL},
    {"a scale a group is no channel's",
     "format onnx 18\ninput X float32[1,4,C,D]\nconst s float32[2] = 1 2\n"
     "node GroupNormalization@18 n: X s s -> Y num_groups=2\noutput Y\n",
     "n", "s", BROADCAST_PARTIAL, -1, "[2]", NULL, NULL},
};

static void check_reading(const Reading *row, Extents extents) {
    Planned planned;
    const Case c = {.text = row->text,
                    .device = row->device,
                    .layout = row->layout,
                    .extents = extents,
                    .options = {.in_place = true, .whole_tiles = true}}; /* a tile is smaller than the tensor */
    case_must_plan(&planned, &c);
    const Buffer *buffer = case_buffer_at(&planned, row->node, row->tensor);
    Shape stored = case_shape(row->stored, extents);
    if (buffer->broadcast != row->broadcast || buffer->axis != row->axis || !shape_eq(&buffer->stored, &stored)) {
        fail_msg("%s, %s: %s along %d, stored %s", row->what, extents == ALL_EQUAL ? "all equal" : "all different",
                 broadcast_name(buffer->broadcast), (int)buffer->axis,
                 shape_text(&planned.work.keep, &buffer->stored).ptr);
    }
    planned_free(&planned);
}

static void test_readings(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof readings / sizeof readings[0]; i++) {
        check_reading(&readings[i], ALL_DIFFERENT);
        check_reading(&readings[i], ALL_EQUAL);
    }
}

/* B2: on `teach` a pixel's channels are padded to 16 bytes. Parameters along C fill one such row; along H each would
 * begin its own. */
static void test_parameters_follow_the_channels(void **state) {
    (void)state;
    static const char *const texts[] = {
        "format onnx 13\ninput X int8[1,B,C,D]\nconst s int8[B,1,1] = ramp B\nnode MaxPool p: X -> P "
        "kernel_shape=[1,1]\nnode Mul n: P s -> Y\noutput Y\n",
        "format tflite\ninput X int8[1,C,D,B]\nconst s int8[1,1,1,B] = ramp B\nvalue Y int8[1,C,D,B]\n"
        "node Mul n: X s -> Y\noutput Y\n",
    };
    for (size_t i = 0; i < 2; i++) {
        for (Extents extents = ALL_DIFFERENT; extents < EXTENTS_COUNT; extents++) {
            Planned planned;
            case_must_plan(&planned, &(Case){.text = texts[i], .extents = extents, .options = {.in_place = true}});
            assert_int_equal(case_buffer_at(&planned, "n", "s")->physical_bytes, 16);
            assert_int_equal(case_buffer_at(&planned, "n", "Y")->physical_bytes,
                             case_extent('C', extents) * case_extent('D', extents) * 16);
            planned_free(&planned);
        }
    }
}

/* ---- Refused, with what was read */

typedef struct {
    const char *text;
    const char *layout;
    const char *told[4];
} Refusal;

static const Refusal refusals[] = {
    /* B8: six parameters cannot go along an axis of seven */
    {"format onnx 13\ninput X float32[1,6,7,7]\nconst s float32[6] = 1 2 3 4 5 6\n" NORM(""),
     "X=NHWC",
     {"params 6, axis 3 has 7", "'n'", "axis 1, called H, has 6 elements", "--layout"}},
    {"format onnx 13\ninput X float32[1,7,7,6]\nconst s float32[6] = 1 2 3 4 5 6\n" NORM(""),
     NULL,
     {"params 6, axis 1 has 7", "'n'", "axis 3, called W, has 6 elements", "--layout"}},
    /* B9: three scales along an axis of one */
    {"format tflite\ninput X int8[1,4,4,3]\nconst w int8[1,2,2,3] scale=[1,2,3] axis=0 = unknown\n"
     "value Y int8[1,3,3,3]\nnode DEPTHWISE_CONV_2D n: X w -> Y\noutput Y\n",
     NULL,
     {"'w'", "3 scales", "axis 0", "1"}},
    /* C1: the default axis 1 is out of range */
    {"format onnx 13\ninput X int8[16]\nconst s float32[16] = unknown\n"
     "node DequantizeLinear n: X s -> Y\noutput Y\n",
     NULL,
     {"n", "axis 1", "[16]", "axis 0 has 16 elements"}},
    /* C3: a vector that is too short is not read past its end; one number is none of six */
    {"format onnx 13\ninput X float32[1,6,7,7]\nconst s float32[1] = 1\n" NORM(""),
     NULL,
     {"'s'", "params 1, axis 1 has 6"}},
    {"format onnx 13\ninput X float32[1,6,7,7]\nconst w float32[6,6,1,1] = unknown\nconst b float32[5] = unknown\n"
     "node Conv n: X w b -> Y\noutput Y\n",
     NULL,
     {"'b'", "[5]", "[6]"}},
    /* D10: two axes; and an axis that --layout contradicts */
    {"format onnx 13\ninput X float32[1,6,6,6]\nconst s float32[6] = 1 2 3 4 5 6\n" NORM(" axis=[1,3]"),
     NULL,
     {"n", "2 channel axes", "one axis"}},
    {"format onnx 13\ninput X float32[1,6,6,6]\nconst s float32[6] = 1 2 3 4 5 6\n" NORM(" axis=3"),
     "X=NCHW",
     {"one axis has two meanings", "by --layout", "'n' (BatchNormalization)"}},
};

static void test_refusals(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        const Refusal *row = &refusals[i];
        Planned planned;
        if (case_make(&planned, &(Case){.text = row->text, .layout = row->layout})) {
            fail_msg("planned:\n%s", row->text);
        }
        for (size_t k = 0; k < 4 && row->told[k] != NULL; k++) {
            assert_true(case_was_told(&planned, row->told[k]));
        }
        planned_free(&planned);
    }
}

/* ---- --axis says nothing else than the operator's definition; which axis is C, --layout does */

static void check_stated(const char *values, int32_t axis, const char *told) {
    Planned planned;
    char text[512];
    AxisBinding binding = {.tensor = STR("s"), .axis = axis};
    snprintf(text, sizeof text, "format onnx 13\ninput X float32[1,6,6,6]\nconst s float32[6] = %s\n" NORM(""), values);
    const Case c = {.text = text, .options = {.axes = &binding, .axis_count = 1}};
    assert_int_equal(case_make(&planned, &c), told == NULL);
    assert_true(told == NULL || (case_was_told(&planned, told) && case_was_told(&planned, "--layout")));
    assert_true(told != NULL || binding.was_used);
    planned_free(&planned);
}

static void test_stated_axis(void **state) {
    (void)state;
    check_stated("1 2 3 4 5 6", 1, NULL);
    check_stated("splat 1", 1, NULL); /* one number is stored; its operator's axis is still C */
    check_stated("1 2 3 4 5 6", 3, "--axis contradicts the axis that the operator defines");
    check_stated("splat 1", 2, "--axis contradicts the axis that the operator defines");
    check_stated("1 2 3 4 5 6", 7, "--axis contradicts the axis that the operator defines");
}

/* ---- B12: the order of operands changes no plan */

static void assert_same_plans(const Plan *a, const Plan *b) {
    assert_int_equal(a->buffer_count, b->buffer_count);
    assert_int_equal(a->step_count, b->step_count);
    assert_int_equal(a->placed_bytes, b->placed_bytes);
    assert_int_equal(a->peak_live_bytes, b->peak_live_bytes);
    for (uint32_t i = 0; i < a->buffer_count; i++) {
        const Str name = graph_value(a->graph, a->buffers[i].value)->name;
        const Buffer *x = &a->buffers[i];
        const Buffer *y = NULL;
        for (uint32_t k = 0; k < b->buffer_count; k++) {
            bool is_it =
                str_eq(graph_value(b->graph, b->buffers[k].value)->name, name) && b->buffers[k].memory == x->memory;
            y = is_it ? &b->buffers[k] : y;
        }
        assert_non_null(y);
        assert_true(shape_eq(&x->stored, &y->stored));
        assert_int_equal(x->broadcast, y->broadcast);
        assert_int_equal(x->axis, y->axis);
        assert_true(x->offset == y->offset || x->memory != a->device->local); /* far: in the order of use */
        assert_int_equal(x->physical_bytes, y->physical_bytes);
        assert_int_equal(x->alias_reason, y->alias_reason);
        assert_int_equal(x->first, y->first);
        assert_int_equal(x->last, y->last);
    }
}

#define SWAPPED(op, inputs)                                                                                            \
    "format tflite\ninput X int8[1,B,C,D]\nconst b int8[D] = ramp D\nvalue Y int8[1,B,C,D]\n"                          \
    "node " op " n: " inputs " -> Y\noutput Y\n"

static void test_operands_swapped(void **state) {
    (void)state;
    static const char *const texts[] = {SWAPPED("Add", "X b"), SWAPPED("Add", "b X"), SWAPPED("Sub", "X b"),
                                        SWAPPED("Sub", "b X")};
    for (Extents extents = ALL_DIFFERENT; extents < EXTENTS_COUNT; extents++) {
        for (int device = 0; device < 2; device++) {
            Planned first;
            Case c = {.text = texts[0],
                      .device = device == 0 ? "teach" : "mcu-cm",
                      .extents = extents,
                      .options = {.in_place = true}};
            case_must_plan(&first, &c);
            assert_int_equal(case_buffer_at(&first, "n", "Y")->alias_reason, ALIAS_IN_PLACE);
            for (size_t i = 1; i < sizeof texts / sizeof texts[0]; i++) {
                Planned other;
                c.text = texts[i];
                case_must_plan(&other, &c);
                assert_same_plans(first.plan, other.plan);
                planned_free(&other);
            }
            planned_free(&first);
        }
    }
}

/* ---- C7: a batch dimension in a constant grows no output, and changes no byte */

static void test_batch_in_constant(void **state) {
    (void)state;
    for (Extents extents = ALL_DIFFERENT; extents < EXTENTS_COUNT; extents++) {
        Planned with;
        Planned without;
        Case c = {.text = readings[18].text, .extents = extents, .options = {.in_place = true, .whole_tiles = true}};
        case_must_plan(&with, &c);
        c.text = readings[19].text;
        case_must_plan(&without, &c);
        Shape expected = case_shape("[1,B,C,D]", extents);
        assert_true(shape_eq(&case_buffer_at(&with, "n", "Y")->stored, &expected));
        assert_true(shape_eq(&case_buffer_at(&without, "n", "Y")->stored, &expected));
        assert_int_equal(with.plan->placed_bytes, without.plan->placed_bytes);
        assert_int_equal(case_constant_bytes(with.plan), case_constant_bytes(without.plan));
        planned_free(&with);
        planned_free(&without);
    }
}

/* ---- One constant, two axes: C of a normalisation, the last axis of a product */

static void check_two_axes(const char *device, Strategy strategy, bool is_shared) {
    Planned planned;
    const Case c = {.text = "format onnx 13\ninput X float32[1,4,4,4]\nconst s float32[4] = 1 2 3 4\n"
                            "const b float32[4] = 1 2 3 5\nnode BatchNormalization m: X s b b b -> t\n"
                            "node Mul n: t s -> Y\noutput Y\n",
                    .device = device,
                    .options = {.in_place = true, .strategy = strategy}};
    case_must_plan(&planned, &c);
    const Buffer *by_definition = case_buffer_at(&planned, "m", "s");
    const Buffer *by_position = case_buffer_at(&planned, "n", "s");
    assert_int_equal(by_definition->axis, 1);
    assert_int_equal(by_definition == by_position, is_shared);
    assert_int_equal(by_position->axis, is_shared ? 1 : 3);
    assert_int_equal(case_constant_bytes(planned.plan), 2 * 16);
    planned_free(&planned);
}

/* Where it is stored it is one list of four numbers for both. Each reader has a local copy along its own axis;
 * expanded, one runs a a a … b b b … and the other a b c d a b …. */
static void test_two_axes(void **state) {
    (void)state;
    check_two_axes("mcu-cm", STRATEGY_AUTO, true);
    check_two_axes("teach", STRATEGY_AUTO, false);
    check_two_axes("teach", STRATEGY_ROW, false);
    check_two_axes("teach", STRATEGY_FULL, false);
}

/* ---- C3: one number on an engine that reads a vector: as long as the map has channels, 8 bytes each on the K210 */

static void test_one_number_as_vector(void **state) {
    (void)state;
    for (Extents extents = ALL_DIFFERENT; extents < EXTENTS_COUNT; extents++) {
        Planned planned;
        const Case c = {.text = "format onnx 13\ninput X int8[1,B,C,D]\nconst s int8[1] = 3\n"
                                "node MaxPool p: X -> P kernel_shape=[1,1]\nnode Mul n: P s -> Y\noutput Y\n",
                        .device = "k210-kpu",
                        .extents = extents,
                        .options = {.in_place = true}};
        case_must_plan(&planned, &c);
        const Buffer *vector = case_buffer_at(&planned, "n", "s");
        Shape stored = case_shape("[1,B,1,1]", extents);
        assert_true(shape_eq(&vector->stored, &stored));
        assert_int_equal(vector->broadcast, BROADCAST_CHANNEL);
        assert_int_equal(vector->axis, 1);
        assert_non_null(vector->materialised_reason);
        assert_true(vector->physical_bytes >= 8 * (uint64_t)case_extent('B', extents));
        assert_int_equal(case_constant_bytes(planned.plan), 1);
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readings),         cmocka_unit_test(test_parameters_follow_the_channels),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_stated_axis),
        cmocka_unit_test(test_operands_swapped), cmocka_unit_test(test_batch_in_constant),
        cmocka_unit_test(test_two_axes),         cmocka_unit_test(test_one_number_as_vector),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
