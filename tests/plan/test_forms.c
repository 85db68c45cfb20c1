/* Forms: what of a broadcast parameter an element-wise operator reads, on engines that read all forms or few.
 *
 * Proves: only numbers along C are a table of channels, whatever the sizes; what an engine can't read in place is
 * expanded to the smallest form that it reads and that holds it, and to none that it does not; what it reads in no form
 * stays as it is stored, with a warning; --strategy expands all that is smaller, and reasons are true; a form costs
 * what a copy in it occupies; records are counted once a channel. Forms and bytes follow by hand from docs/devices.md.
 */
#include "cases.h"

/* The preset with the forms that `readable` lists ("row full"), of one byte a grain, and no records. */
static const Device *device_reading(const char *preset, const char *readable, Work *work) {
    const Case plain = {.device = preset};
    if (readable == NULL) {
        return case_device(&plain, work);
    }
    char *all = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&all, &length);
    for (size_t i = 0; i < device_preset_count; i++) {
        Str rest = str_from(strcmp(preset, device_presets[i].name) == 0 ? device_presets[i].text : "");
        while (rest.len > 0) {
            Str line = str_cut(&rest, '\n');
            bool is_form = false;
            for (Form form = FORM_SCALAR; form < FORM_COUNT; form++) {
                const char *name = form_name(form);
                size_t size = strlen(name);
                if (line.len > size + 1 && memcmp(line.ptr, name, size) == 0 && line.ptr[size] == ' ') {
                    fprintf(out, "%s = %s @ the test\n", name, strstr(readable, name) == NULL ? "no" : "1");
                    is_form = true;
                }
            }
            if (!is_form) {
                fprintf(out, "%.*s\n", (int)line.len, line.ptr);
            }
        }
    }
    fclose(out);
    Str text = arena_str(&work->keep, (Str){all, length});
    free(all);
    return device_parse(work, text, STR("test.ini"));
}

static Plan *form_run(const Case *c, const char *readable, Work *work) {
    const char *text = case_text(&work->keep, c->text, c->extents);
    const PlanCase passes = {.graph = text};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    const Device *device = device_reading(c->device, readable, work);
    if (graph == NULL || device == NULL || !planned_passes(graph, &passes, work)) {
        return NULL;
    }
    Plan *plan = plan_make(graph, device, &c->options, work);
    if (plan != NULL) {
        plan_warn_of_forms(plan, work);
    }
    return plan;
}

static void form_must_plan(Planned *planned, const Case *c, const char *readable) {
    WORK_BEGIN(&planned->work);
    planned->plan = form_run(c, readable, &planned->work);
    if (planned->plan == NULL) {
        diags_print(&planned->work.diags, "", stderr);
        fail_msg("refused:\n%s", c->text);
    }
}

/* ---- Which form, and why */

#define ADD(shape, ramp)                                                                                               \
    "format onnx 13\ninput X int8[A,B,C,D]\nconst s int8" shape " = ramp " ramp                                        \
    "\nnode MaxPool p: X -> P kernel_shape=[1,1]\nnode Add n: P s -> Y\noutput Y\n"
#define ALONG_N   ADD("[A,1,1,1]", "A")
#define ALONG_C   ADD("[B,1,1]", "B")
#define ALONG_H   ADD("[C,1]", "C")
#define ALONG_W   ADD("[D]", "D")
#define ALONG_C_H ADD("[1,B,C,1]", "BC")
#define ALONG_C_W ADD("[1,B,1,D]", "BD")
#define ALONG_H_W ADD("[1,1,C,D]", "CD")
#define MAP       "[A,B,C,D]"

#define NO_SMALLER "the engine reads no smaller form in place"
#define ASKED      "asked for by --strategy"
#define NOT_READ   "the engine does not read the form that --strategy asks for"
#define NOT_HELD   "the form that --strategy asks for does not hold it"

typedef struct {
    const char *text;
    const char *device, *readable; /* forms; null: the preset's own */
    Strategy strategy;
    const char *stored; /* of what n reads of s */
    Broadcast broadcast;
    const char *reason; /* why it was expanded */
    const char *warned; /* null: nothing was */
} FormCase;

static const FormCase form_cases[] = {
    /* a table of channels holds numbers along C, and no others */
    {ALONG_C, "k210-kpu", NULL, STRATEGY_AUTO, "[B,1,1]", BROADCAST_CHANNEL, NULL, NULL},
    {ALONG_N, "k210-kpu", NULL, STRATEGY_AUTO, "[A,1,1,1]", BROADCAST_CHANNEL, NULL, "axis 0, called N, which"},
    {ALONG_H, "k210-kpu", NULL, STRATEGY_AUTO, "[C,1]", BROADCAST_CHANNEL, NULL, "axis 2, called H, which"},
    {ALONG_W, "k210-kpu", NULL, STRATEGY_AUTO, "[D]", BROADCAST_CHANNEL, NULL, "axis 3, called W, which"},
    {ALONG_W, "max78000", NULL, STRATEGY_AUTO, "[D]", BROADCAST_CHANNEL, NULL, "it reads channel"},
    {ALONG_C_H, "k210-kpu", NULL, STRATEGY_AUTO, "[1,B,C,1]", BROADCAST_PARTIAL, NULL, "in the form partial"},
    {ALONG_C_W, "k210-kpu", NULL, STRATEGY_AUTO, "[1,B,1,D]", BROADCAST_ROW, NULL, "in the form row"},
    {ALONG_H_W, "k210-kpu", NULL, STRATEGY_AUTO, "[1,1,C,D]", BROADCAST_PARTIAL, NULL, "in the form partial"},
    /* with a second map, they are one */
    {ALONG_C, "nvdla-small", NULL, STRATEGY_AUTO, "[B,1,1]", BROADCAST_CHANNEL, NULL, NULL},
    {ALONG_N, "nvdla-small", NULL, STRATEGY_AUTO, MAP, BROADCAST_FULL, NO_SMALLER, NULL},
    {ALONG_H, "nvdla-small", NULL, STRATEGY_AUTO, MAP, BROADCAST_FULL, NO_SMALLER, NULL},
    {ALONG_W, "hexagon-v73", NULL, STRATEGY_AUTO, MAP, BROADCAST_FULL, NO_SMALLER, NULL},
    {ALONG_C_H, "ascend-220x", NULL, STRATEGY_AUTO, MAP, BROADCAST_FULL, NO_SMALLER, NULL},
    {ALONG_H_W, "rk3588-npu", NULL, STRATEGY_AUTO, MAP, BROADCAST_FULL, NO_SMALLER, NULL},
    /* who reads all four reads any */
    {ALONG_N, "teach", NULL, STRATEGY_AUTO, "[A,1,1,1]", BROADCAST_CHANNEL, NULL, NULL},
    {ALONG_W, "teach", NULL, STRATEGY_AUTO, "[D]", BROADCAST_CHANNEL, NULL, NULL},
    {ALONG_H_W, "teach", NULL, STRATEGY_AUTO, "[1,1,C,D]", BROADCAST_PARTIAL, NULL, NULL},
    {ALONG_C_H, "mcu-cm", NULL, STRATEGY_AUTO, "[1,B,C,1]", BROADCAST_PARTIAL, NULL, NULL},
    /* a row holds numbers along W, and none along H */
    {ALONG_W, "teach", "row full", STRATEGY_AUTO, "[1,B,1,D]", BROADCAST_ROW, NO_SMALLER, NULL},
    {ALONG_H, "teach", "row full", STRATEGY_AUTO, MAP, BROADCAST_FULL, NO_SMALLER, NULL},
    /* nothing is expanded to what is not read */
    {ALONG_C, "teach", "scalar", STRATEGY_AUTO, "[B,1,1]", BROADCAST_CHANNEL, NULL, "it reads scalar"},
    {ALONG_C, "teach", "scalar", STRATEGY_FULL, "[B,1,1]", BROADCAST_CHANNEL, NULL, "it reads scalar"},
    {ALONG_W, "teach", "scalar channel row", STRATEGY_AUTO, "[1,B,1,D]", BROADCAST_ROW, NO_SMALLER, NULL},
    {ALONG_H, "teach", "scalar channel row", STRATEGY_AUTO, "[C,1]", BROADCAST_CHANNEL, NULL, "scalar, channel, row"},
    /* --strategy */
    {ALONG_C, "k210-kpu", NULL, STRATEGY_ROW, "[B,1,1]", BROADCAST_CHANNEL, NULL, "--strategy row expands"},
    {ALONG_C, "nvdla-small", NULL, STRATEGY_ROW, MAP, BROADCAST_FULL, NOT_READ, NULL},
    {ALONG_C, "nvdla-small", NULL, STRATEGY_FULL, MAP, BROADCAST_FULL, ASKED, NULL},
    {ALONG_C, "teach", NULL, STRATEGY_ROW, "[1,B,1,D]", BROADCAST_ROW, ASKED, NULL},
    {ALONG_W, "teach", NULL, STRATEGY_ROW, "[1,B,1,D]", BROADCAST_ROW, ASKED, NULL},
    {ALONG_W, "teach", NULL, STRATEGY_CHANNEL, "[D]", BROADCAST_CHANNEL, NULL, NULL},
    {ALONG_C_H, "teach", NULL, STRATEGY_ROW, MAP, BROADCAST_FULL, NOT_HELD, NULL},
    {ALONG_C_H, "teach", NULL, STRATEGY_FULL, MAP, BROADCAST_FULL, ASKED, NULL},
    {ALONG_H_W, "mcu-cm", NULL, STRATEGY_FULL, MAP, BROADCAST_FULL, ASKED, NULL},
};

static bool same_text(const char *a, const char *b) {
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

static void check_form(size_t i, Extents extents) {
    const FormCase *row = &form_cases[i];
    Planned planned;
    const Case c = {.text = row->text,
                    .device = row->device,
                    .extents = extents,
                    .options = {.in_place = true, .strategy = row->strategy, .whole_tiles = true}};
    form_must_plan(&planned, &c, row->readable);
    const Buffer *buffer = case_buffer_at(&planned, "n", "s");
    Shape stored = case_shape(row->stored, extents);
    bool is_warned = planned.work.diags.count[DIAG_WARNING] > 0;
    if (!shape_eq(&buffer->stored, &stored) || buffer->broadcast != row->broadcast ||
        !same_text(buffer->materialised_reason, row->reason) || is_warned != (row->warned != NULL)) {
        diags_print(&planned.work.diags, "", stderr);
        fail_msg("row %zu, %s: %s %s, %s", i, row->device, broadcast_name(buffer->broadcast),
                 shape_text(&planned.work.keep, &buffer->stored).ptr,
                 buffer->materialised_reason == NULL ? "as stored" : buffer->materialised_reason);
    }
    assert_true(row->warned == NULL || case_was_told(&planned, row->warned));
    planned_free(&planned);
}

static void test_forms(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof form_cases / sizeof *form_cases; i++) {
        check_form(i, ALL_DIFFERENT);
        check_form(i, ALL_EQUAL);
    }
}

/* ---- What a form costs is what a copy in it occupies */

static void check_costs(const char *text, const char *device, Strategy strategy) {
    Planned planned;
    const Case c = {
        .text = text, .device = device, .options = {.in_place = true, .strategy = strategy, .whole_tiles = true}};
    form_must_plan(&planned, &c, NULL);
    const Buffer *copy = case_buffer_at(&planned, "n", "s");
    bool is_channel = copy->broadcast == BROADCAST_CHANNEL && copy->axis == 1;
    uint64_t told = is_channel                          ? copy->costs->channel_bytes
                    : copy->broadcast == BROADCAST_ROW  ? copy->costs->row_bytes
                    : copy->broadcast == BROADCAST_FULL ? copy->costs->full_bytes
                                                        : copy->physical_bytes;
    told = copy->materialised_reason == NULL && copy->costs->compact_bytes != told ? UINT64_MAX : told;
    if (told != copy->physical_bytes) {
        fail_msg("%s, strategy %d: %s is told to cost %llu and costs %llu", device, (int)strategy,
                 broadcast_name(copy->broadcast), (unsigned long long)told, (unsigned long long)copy->physical_bytes);
    }
    planned_free(&planned);
}

static void test_costs(void **state) {
    (void)state;
    static const char *const texts[] = {ALONG_C, ALONG_W, ALONG_C_W, ALONG_H_W};
    for (size_t d = 0; d < device_preset_count; d++) {
        for (size_t t = 0; t < sizeof texts / sizeof *texts; t++) {
            for (Strategy strategy = STRATEGY_AUTO; strategy <= STRATEGY_FULL; strategy++) {
                check_costs(texts[t], device_presets[d].name, strategy);
            }
        }
    }
}

/* One number that becomes a table of the K210: 8 bytes for each of 3 channels, as the parameter contract says, and no
 * row of 64 bytes for each. Numbers along W make no table. */
static void test_cost_of_a_table(void **state) {
    (void)state;
    Planned planned;
    const Case one = {.text = "format onnx 13\ninput X int8[1,B,C,D]\nconst s int8[1] = 3\n"
                              "node MaxPool p: X -> P kernel_shape=[1,1]\nnode Mul n: P s -> Y\noutput Y\n",
                      .device = "k210-kpu"};
    form_must_plan(&planned, &one, NULL);
    const Buffer *table = case_buffer_at(&planned, "n", "s");
    assert_int_equal(table->physical_bytes, 24);
    assert_int_equal(table->costs->channel_bytes, 24);
    assert_int_equal(table->role, ROLE_PARAMETER);
    planned_free(&planned);
    form_must_plan(&planned, &(Case){.text = ALONG_W, .device = "k210-kpu"}, NULL);
    assert_true(case_buffer_at(&planned, "n", "s")->costs->channel_bytes == UINT64_MAX);
    planned_free(&planned);
}

/* ---- Two expanded copies of one constant are one only where they repeat along the same axes */

static void test_two_alignments(void **state) {
    (void)state;
    Planned planned;
    const Case c = {.text =
                        "format onnx 6\ninput X int8[4,4,4,4]\nconst s int8[4,4] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 "
                        "15 16\nnode Add@6 m: X s -> t axis=0 broadcast=1\nnode Add@6 n: t s -> Y axis=2 "
                        "broadcast=1\noutput Y\n",
                    .device = "teach",
                    .options = {.in_place = true, .strategy = STRATEGY_FULL}};
    form_must_plan(&planned, &c, NULL);
    const Buffer *first = case_buffer_at(&planned, "m", "s");
    const Buffer *second = case_buffer_at(&planned, "n", "s");
    assert_int_equal(first->broadcast, BROADCAST_FULL);
    assert_int_equal(second->broadcast, BROADCAST_FULL);
    assert_true(first != second);
    planned_free(&planned);
}

/* ---- Records */

typedef struct {
    const char *what;
    const char *text;
    const char *holder; /* the parameter that n reads */
    uint64_t physical_bytes;
    uint32_t local_parameters;
} Records;

#define QLINEAR(inputs)                                                                                                \
    "format onnx 13\ninput X int8[1,5,2,2]\nconst one float32[] = 1\nconst zero int8[] = 0\n"                          \
    "const w int8[3,5,1,1] = unknown\nconst ws float32[3] = 1 2 3\nconst wz int8[3] = 1 2 3\n"                         \
    "const b int32[3] = 1 2 3\nnode QLinearConv n: X one zero w " inputs " -> Y\noutput Y\n"

/* On the K210 a record has 8 bytes; three channels have three. */
static const Records records[] = {
    {"bias, scale and shift are one record", QLINEAR("ws wz one zero b"), "b", 24, 1},
    {"without a bias too", QLINEAR("ws wz one zero"), "wz", 24, 1},
    {"a number for all channels is held in them", QLINEAR("one zero one zero b"), "b", 24, 1},
    {"a normalisation with statistics of its own has plain vectors",
     "format onnx 13\ninput X int8[1,3,2,2]\nconst s int8[3] = 1 2 3\nconst b int8[3] = 1 2 4\n"
     "node InstanceNormalization n: X s b -> Y\noutput Y\n",
     "s", 3, 2},
};

static void test_records(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof records / sizeof *records; i++) {
        const Records *row = &records[i];
        Planned planned;
        form_must_plan(&planned, &(Case){.text = row->text, .device = "k210-kpu"}, NULL);
        const Plan *plan = planned.plan;
        uint32_t found = 0;
        for (uint32_t k = 0; k < plan->buffer_count; k++) {
            found += plan->buffers[k].kind == BUFFER_PARAMETER && plan->buffers[k].memory == plan->device->local;
        }
        const Buffer *buffer = case_buffer_at(&planned, "n", row->holder);
        if (found != row->local_parameters || buffer->physical_bytes != row->physical_bytes) {
            fail_msg("%s: %u parameters, %llu bytes", row->what, (unsigned)found,
                     (unsigned long long)buffer->physical_bytes);
        }
        planned_free(&planned);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms),          cmocka_unit_test(test_costs),   cmocka_unit_test(test_cost_of_a_table),
        cmocka_unit_test(test_two_alignments), cmocka_unit_test(test_records),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
