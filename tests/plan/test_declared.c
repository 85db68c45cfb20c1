/* What a device file declares of a custom operator, and what a plan makes of it.
 *
 * Proves: workspace is a buffer of its own, as large as the section says in bytes or in those of the operator's input
 * or output, alive while the operator runs and counted as workspace; its operands begin where it wants them to, also a
 * constant in flash, what is a view or a part of another tensor, and a tile's copies; its output takes the place of its
 * first input where the section allows it, nothing reads that later and both lie alike; an operator without a section,
 * or that is no custom one, is planned as before. Custom operators without a section are warned of once, with their
 * count and names, and where there are some, each section that fits none of the model's is, with the nearest name.
 * Sizes follow by hand: the maps are dense, of bytes or floats. */
#include "planned.h"

static const char device_head[] =
    "[device]\nname = box\nkind = %s\n[memory local]\nbytes = %s @ t\nalign_bytes = 4 @ t\n"
    "[memory %s]\nbytes = unbounded @ t\nalign_bytes = 4 @ t\n"
    "[contract]\nactivation = N H W C @ t\nweight = O H W I @ t\nparameter = N H W C @ t\n"
    "[parameter]\nscalar = 1 @ t\nchannel = 1 @ t\nrow = 1 @ t\nfull = 1 @ t\n%s";

typedef struct {
    const char *what, *graph, *sections;
    bool is_scratchpad;
    const char *budget;                  /* of local memory; 1M by default */
    uint64_t workspace_bytes;            /* of all of it */
    const char *aligned;                 /* a tensor whose local buffer, or whose place in flash, */
    uint64_t align_bytes;                /* is at a multiple of this */
    const char *over;                    /* an output: */
    AliasReason alias;                   /* how it shares another's bytes, */
    AliasRefusal refusal;                /* or why not */
    uint64_t placed_bytes;               /* 0 is not looked at */
    bool in_place_is_off, fits, misfits; /* the budget */
} Declared;

/* 10 bytes in, 30 floats out. */
#define WIDEN                                                                                                          \
    "format tflite\ninput X int8[1,10]\nvalue t int8[1,10]\nvalue Y float32[1,30]\nnode Custom m: X -> t\n"            \
    "node Custom(\"CUSTOM:Fft\") n: t -> Y\noutput Y\n"
/* Maps of 21 bytes, none of which begins at a multiple of more than 4 unless someone asks. */
#define SAME                                                                                                           \
    "format tflite\ninput X int8[1,3,7,1]\nvalue t int8[1,3,7,1]\nvalue u int8[1,3,7,1]\nvalue Y int8[1,3,7,1]\n"      \
    "node Custom m: X -> t\nnode Custom(\"CUSTOM:Fft\") n: t -> u\nnode Custom o: u -> Y\noutput Y\n"
/* u, of 20 bytes, is the second half of t. */
#define PART                                                                                                           \
    "format tflite\ninput X int8[40]\nconst b int32[1] = 20\nconst z int32[1] = 20\nvalue t int8[40]\n"                \
    "value u int8[20]\nvalue Y int8[20]\nnode Custom m: X -> t\nnode SLICE c: t b z -> u\n"                            \
    "node Custom(\"CUSTOM:Fft\") n: u -> Y\noutput Y\n"
#define VIEWED                                                                                                         \
    "format tflite\ninput X int8[6,7]\nconst s int32[1] = 42\nvalue t int8[6,7]\nvalue u int8[42]\nvalue Y int8[42]\n" \
    "node Custom m: X -> t\nnode Reshape r: t s -> u\nnode Custom(\"CUSTOM:Fft\") n: u -> Y\noutput Y\n"

/* t is read again after u has been made and read: 300 bytes are alive at p, unless t waits in far memory. */
#define WAITING                                                                                                        \
    "format tflite\ninput X int8[100]\nvalue t int8[100]\nvalue u int8[100]\nvalue v int8[100]\nvalue Y int8[4]\n"     \
    "node Custom m: X -> t\nnode Custom(\"CUSTOM:Fft\") n: t -> u\nnode Custom p: u -> v\nnode Custom q: t v -> Y\n"   \
    "output Y\n"

static const Declared declared[] = {
    {"no section: no workspace", WIDEN, "", .over = "Y"},
    {"a section of another operator", WIDEN, "[operator Other]\nworkspace = 100 @ t\nalias = yes @ t\n", .over = "Y"},
    {"a section without a workspace", WIDEN, "[operator Fft]\nalign_bytes = 8 @ t\n", .over = "Y"},
    {"bytes", WIDEN, "[operator Fft]\nworkspace = 100 @ t\n", .workspace_bytes = 100, .placed_bytes = 12 + 120 + 100},
    {"bytes, with the name that inspect lists", WIDEN, "[operator CUSTOM:Fft]\nworkspace = 1K @ t\n",
     .workspace_bytes = 1024, .placed_bytes = 12 + 120 + 1024},
    {"none", WIDEN, "[operator Fft]\nworkspace = 0 @ t\n", .placed_bytes = 12 + 120},
    {"as the input", WIDEN, "[operator Fft]\nworkspace = input @ t\n", .workspace_bytes = 10,
     .placed_bytes = 12 + 120 + 12},
    {"as the output", WIDEN, "[operator Fft]\nworkspace = output @ t\n", .workspace_bytes = 120,
     .placed_bytes = 12 + 120 + 120},
    {"on a device that loads", WIDEN, "[operator Fft]\nworkspace = 100 @ t\n", .is_scratchpad = true,
     .workspace_bytes = 100, .placed_bytes = 12 + 120 + 100},
    {"an aligned workspace, behind or before 120 bytes", WIDEN,
     "[operator Fft]\nworkspace = 100 @ t\nalign_bytes = 64 @ t\n", .workspace_bytes = 100,
     .placed_bytes = 128 + 128 + 12},
    {"one that is no custom operator has its own",
     "format onnx 13\ninput X float32[4]\nnode Relu n: X -> Y\noutput Y\n", "[operator Relu]\nworkspace = 100 @ t\n",
     .workspace_bytes = 0},
    {"of ONNX, by domain and name",
     "format onnx 13\ninput X float32[4]\nvalue Y float32[4]\nnode Custom(com.acme.Fft) n: X -> Y\noutput Y\n",
     "[operator com.acme.Fft]\nworkspace = 100 @ t\n", .workspace_bytes = 100},

    {"what it reads is aligned", SAME, "[operator Fft]\nalign_bytes = 64 @ t\n", .aligned = "t", .align_bytes = 64},
    {"what it writes is aligned", SAME, "[operator Fft]\nalign_bytes = 64 @ t\n", .aligned = "u", .align_bytes = 64},
    {"on a device that loads, too", SAME, "[operator Fft]\nalign_bytes = 64 @ t\n", .is_scratchpad = true,
     .aligned = "u", .align_bytes = 64},
    {"a view of what another writes is aligned", VIEWED, "[operator Fft]\nalign_bytes = 64 @ t\n", .aligned = "u",
     .align_bytes = 64, .over = "u", .alias = ALIAS_VIEW},
    {"a part at the wrong place is a copy", PART, "[operator Fft]\nalign_bytes = 8 @ t\n", .aligned = "u",
     .align_bytes = 8, .over = "u", .refusal = REFUSED_LAYOUT},
    {"a part at the right place is none", PART, "[operator Fft]\nalign_bytes = 4 @ t\n", .aligned = "u",
     .align_bytes = 4, .over = "u", .alias = ALIAS_SPLIT},
    {"a constant in flash",
     "format tflite\ninput X int8[3]\nconst k int8[3] = 1 2 3\nconst v int8[3] = 4 5 6\nvalue t int8[3]\n"
     "value Y int8[3]\nnode Custom m: X k -> t\nnode Custom(\"CUSTOM:Fft\") n: t v -> Y\noutput Y\n",
     "[operator Fft]\nalign_bytes = 64 @ t\n", .aligned = "v", .align_bytes = 64},

    {"over its input", SAME, "[operator Fft]\nalias = yes @ t\n", .over = "u", .alias = ALIAS_IN_PLACE,
     .placed_bytes = 48},
    {"over its input, with workspace", SAME, "[operator Fft]\nalias = yes @ t\nworkspace = 8 @ t\n", .over = "u",
     .alias = ALIAS_IN_PLACE, .workspace_bytes = 8, .placed_bytes = 48},
    {"over its input, on a device that loads", SAME, "[operator Fft]\nalias = yes @ t\n", .is_scratchpad = true,
     .over = "u", .alias = ALIAS_IN_PLACE},
    {"of an operator that loads its own copy", WAITING, "[operator Fft]\nworkspace = 50 @ t\nalign_bytes = 16 @ t\n",
     .is_scratchpad = true, .budget = "288", .workspace_bytes = 50, .aligned = "u", .align_bytes = 16, .fits = true},
    {"too large for the budget", WAITING, "[operator Fft]\nworkspace = 64 @ t\n", .is_scratchpad = true,
     .budget = "260", .workspace_bytes = 64, .misfits = true},
    {"over the copy that it loads", WAITING, "[operator Fft]\nworkspace = 50 @ t\nalias = yes @ t\n",
     .is_scratchpad = true, .budget = "224", .workspace_bytes = 50, .over = "u", .alias = ALIAS_IN_PLACE, .fits = true},
    {"not where the section says no", SAME, "[operator Fft]\nalias = no @ t\n", .over = "u",
     .refusal = REFUSED_OPERATOR},
    {"not where the section says nothing", SAME, "[operator Fft]\nworkspace = 0 @ t\n", .over = "u",
     .refusal = REFUSED_OPERATOR},
    {"not with --inplace none", SAME, "[operator Fft]\nalias = yes @ t\n", .over = "u", .in_place_is_off = true},
    {"not where elements are of another size", WIDEN, "[operator Fft]\nalias = yes @ t\n", .over = "Y",
     .refusal = REFUSED_DTYPE},
    {"not over another input than the first",
     "format tflite\ninput X int8[9]\nvalue t int8[9]\nvalue u int8[9]\nvalue v int8[9]\nvalue Y int8[9]\n"
     "node Custom m: X -> t\nnode Custom o: t -> u\nnode Custom(\"CUSTOM:Fft\") n: t u -> v\nnode Custom p: t v -> Y\n"
     "output Y\n",
     "[operator Fft]\nalias = yes @ t\n", .over = "v", .refusal = REFUSED_LATER_READER},
};

static void plan_it(const Declared *test, Planned *planned) {
    const char *budget = test->budget == NULL ? "1M" : test->budget;
    const PlanOptions options = {.in_place = !test->in_place_is_off};
    char device[1024];
    int length = snprintf(device, sizeof device, device_head, test->is_scratchpad ? "scratchpad" : "arena", budget,
                          test->is_scratchpad ? "far" : "flash", test->sections);
    assert_in_range(length, 1, sizeof device - 1);
    planned_on(planned, device, test->graph, &options);
}

/* Is it there while its node runs, and not longer? */
static void check_workspace(const Declared *test, const Plan *plan) {
    uint32_t found = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer->kind != BUFFER_WORKSPACE) {
            continue;
        }
        found++;
        for (uint32_t s = 0; s < plan->step_count; s++) {
            bool runs = is_node(plan->steps[s].node) && plan->steps[s].node.index == buffer->node.index &&
                        plan->steps[s].column == COLUMN_COMPUTE;
            assert_int_equal(storage_is_live(buffer, s), runs);
        }
    }
    assert_int_equal(found, test->workspace_bytes > 0);
    assert_int_equal(plan->by_kind[BUFFER_WORKSPACE].physical_bytes, test->workspace_bytes);
}

static const Buffer *find_buffer(const Plan *plan, const char *name, uint32_t memory) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer->memory == memory && is_value(buffer->value) &&
            str_eq(graph_value(plan->graph, buffer->value)->name, str_from(name))) {
            return buffer;
        }
    }
    return NULL;
}

static void check_aligned(const Plan *plan, NodeId id, const BufferId *buffers, uint32_t count) {
    const Node *node = graph_node(plan->graph, id);
    const DeviceOperator *op = device_find_operator(plan->device, node->op_name);
    for (uint32_t i = 0; op != NULL && node->op == OP_CUSTOM && i < count; i++) {
        assert_int_equal(plan_buffer(plan, buffers[i])->offset % op->align_bytes, 0);
    }
}

/* Whatever a kernel works on begins where it wants it to. */
static void check_operands(const Plan *plan) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        if (step->column == COLUMN_COMPUTE) {
            check_aligned(plan, step->node, step->reads, step->read_count);
            check_aligned(plan, step->node, step->writes, step->write_count);
        }
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        if (plan->buffers[i].kind == BUFFER_WORKSPACE) {
            check_aligned(plan, plan->buffers[i].node, &(BufferId){i}, 1);
        }
    }
}

static void check_case(const Declared *test) {
    Planned planned;
    print_message("%s\n", test->what);
    plan_it(test, &planned);
    const Plan *plan = planned.plan;
    check_workspace(test, plan);
    check_operands(plan);
    if (test->aligned != NULL) {
        const Buffer *buffer = find_buffer(plan, test->aligned, plan->device->local);
        buffer = buffer == NULL ? find_buffer(plan, test->aligned, plan->device->backing) : buffer;
        assert_non_null(buffer);
        assert_int_equal(buffer->offset % test->align_bytes, 0);
        assert_int_equal(buffer->align_bytes % test->align_bytes, 0);
        assert_int_equal(plan_buffer(plan, buffer->storage)->align_bytes % test->align_bytes, 0);
    }
    if (test->over != NULL) {
        const Buffer *buffer = find_buffer(plan, test->over, plan->device->local);
        assert_int_equal(buffer->alias_reason, test->alias);
        if (test->refusal != REFUSED_NONE) {
            assert_int_equal(buffer->refused_alias, test->refusal);
        }
    }
    assert_true(!test->fits || plan_fits(plan));
    assert_true(!test->misfits || !plan_fits(plan));
    if (test->placed_bytes > 0) {
        assert_int_equal(plan->placed_bytes, test->placed_bytes);
    }
    planned_free(&planned);
}

static void test_declared(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof declared / sizeof declared[0]; k++) {
        check_case(&declared[k]);
    }
}

/* ---- What is warned of */

/* Three names, one of them twice. */
#define NAMES                                                                                                          \
    "format tflite\ninput X int8[9]\nvalue t int8[9]\nvalue u int8[9]\nvalue v int8[9]\nvalue Y int8[9]\n"             \
    "node Custom(\"CUSTOM:SignalRfft\") m: X -> t\nnode Custom(\"CUSTOM:Pcan\") n: t -> u\n"                           \
    "node Custom(\"CUSTOM:Pcan\") o: u -> v\nnode Custom(com.acme.Gate) p: v -> Y\noutput Y\n"

typedef struct {
    const char *what, *graph, *sections;
    size_t warnings;
    const char *says[4]; /* somewhere in the texts or hints of the warnings */
} Warned;

static const Warned warned[] = {
    {"no section at all",
     NAMES,
     "",
     1,
     {"of 4 custom operators is", "not declare SignalRfft, Pcan (2), com.acme.Gate"}},
    {"where to write one", NAMES, "", 1, {"add to box.ini a section [operator SignalRfft] with its workspace"}},
    {"some have one",
     NAMES,
     "[operator Pcan]\nworkspace = 8 @ t\n[operator com.acme.Gate]\nalign_bytes = 8 @ t\n",
     1,
     {"of 1 custom operator is", "not declare SignalRfft"}},
    {"all have one, and one more stands there",
     NAMES,
     "[operator Pcan]\nworkspace = 8 @ t\n[operator CUSTOM:SignalRfft]\nworkspace = 0 @ t\n"
     "[operator com.acme.Gate]\nalias = yes @ t\n[operator Other]\nworkspace = 1 @ t\n",
     0,
     {NULL}},
    {"another case",
     NAMES,
     "[operator SignalRFFT]\nworkspace = 8 @ t\n",
     2,
     {"of 4 custom", "[operator SignalRFFT] of box.ini", "did you mean 'SignalRfft'?"}},
    {"nothing is near",
     NAMES,
     "[operator Hysteresis]\nworkspace = 8 @ t\n",
     2,
     {"[operator Hysteresis] of box.ini", "no section declares SignalRfft, Pcan (2), com.acme.Gate"}},
    {"what has its section is not meant",
     NAMES,
     "[operator Pcan]\nworkspace = 8 @ t\n[operator Pcen]\nworkspace = 8 @ t\n",
     2,
     {"of 2 custom", "[operator Pcen]", "no section declares SignalRfft, com.acme.Gate"}},
    {"no custom operator",
     "format onnx 13\ninput X float32[4]\nnode Relu n: X -> Y\noutput Y\n",
     "[operator Relu]\nworkspace = 100 @ t\n",
     0,
     {NULL}},
};

static bool is_said(const Diags *diags, const char *text) {
    for (const Diag *diag = diags->first; diag != NULL; diag = diag->next) {
        if (strstr(diag->text.what, text) != NULL ||
            (diag->text.hint != NULL && strstr(diag->text.hint, text) != NULL)) {
            return true;
        }
    }
    return false;
}

static void test_warnings(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof warned / sizeof warned[0]; k++) {
        const Declared test = {.what = warned[k].what, .graph = warned[k].graph, .sections = warned[k].sections};
        Planned planned;
        print_message("%s\n", test.what);
        plan_it(&test, &planned);
        plan_warn_of_custom(planned.plan, &planned.work);
        assert_int_equal(planned.work.diags.count[DIAG_WARNING], warned[k].warnings);
        for (size_t s = 0; s < 4 && warned[k].says[s] != NULL; s++) {
            print_message("  %s\n", warned[k].says[s]);
            assert_true(is_said(&planned.work.diags, warned[k].says[s]));
        }
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_declared), cmocka_unit_test(test_warnings)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
