/* Free dimensions: what --dim may say, what it binds, and what stays free is refused by name and axis (case J7). */
#include "graph/support.h"

#include "graph/passes.h"

/* ---- Parsing */

static const struct {
    const char *text;
    bool sound;
    const char *name;
    int32_t axis;
    int64_t value;
} parses[] = {
    {"batch=4", true, "batch", -1, 4},
    {"X:0=4", true, "X", 0, 4},
    {"a:b:2=1", true, "a:b", 2, 1},
    {"a:b=1", true, "a:b", -1, 1},
    {"a=b=1", true, "a=b", -1, 1},
    {":0=1", true, ":0", -1, 1},
    {"n=9223372036854775807", true, "n", -1, INT64_MAX},
    {"n=9223372036854775808", false, NULL, 0, 0},
    {"n=-1", false, NULL, 0, 0},
    {"n=", false, NULL, 0, 0},
    {"=3", false, NULL, 0, 0},
    {"n", false, NULL, 0, 0},
    {"", false, NULL, 0, 0},
    {"n=1x", false, NULL, 0, 0},
    {"X:99999999999=1", true, "X:99999999999", -1, 1},
};

static void parses_bindings(Work *work) {
    for (size_t k = 0; k < sizeof parses / sizeof parses[0]; k++) {
        DimBinding binding;
        bool sound = dim_binding_parse(str_from(parses[k].text), &binding, &work->diags);
        assert_int_equal(sound, parses[k].sound);
        if (sound) {
            assert_true(str_eq(binding.name, str_from(parses[k].name)));
            assert_int_equal(binding.axis, parses[k].axis);
            assert_true(binding.value == parses[k].value);
        }
    }
}

/* ---- Binding */

typedef struct {
    const char *text;
    const char *dims[3];
    const char *value, *shape; /* of one value afterwards; no shape: "unknown" */
    const char *told;
    s0_status status;
} Binding;

static const Binding rows[] = {
    {"input X int8[batch,8]\noutput X\n", {"batch=3"}, "X", "[3,8]", NULL, S0_DONE},
    {"input X int8[batch,8]\noutput X\n", {"X:0=3"}, "X", "[3,8]", NULL, S0_DONE},
    {"input X int8[?,8]\noutput X\n", {"X:0=3"}, "X", "[3,8]", NULL, S0_DONE},
    {"input X int8[n,8]\ninput Y int8[n,4]\noutput X\n", {"n=3"}, "Y", "[3,4]", NULL, S0_DONE},
    {"input X int8[n,8]\nnode Relu r: X -> y\nvalue y int8[n,?]\noutput y\n", {"n=3"}, "y", "[3,?]", NULL, S0_DONE},
    {"input X int8[3,8]\noutput X\n", {"X:0=3"}, "X", "[3,8]", NULL, S0_DONE},
    {"input X int8[\"a:1\",8]\noutput X\n", {"a:1=3"}, "X", "[3,8]", NULL, S0_DONE},
    {"input X int8[\"a:1\",8]\noutput X\n", {"a:2=3"}, NULL, NULL, "a:1 (X:0)", S0_BAD_INPUT},
    {"input X int8[n,8]\noutput X\n", {"n=3", "X:0=3"}, "X", "[3,8]", NULL, S0_DONE},
    {"input X int8[n,8]\noutput X\n", {"n=3", "X:0=4"}, NULL, NULL, "two values", S0_BAD_INPUT},
    /* a name is one dimension, whichever way it is written */
    {"input X int8[n,8,n]\noutput X\n", {"X:0=3"}, "X", "[3,8,3]", NULL, S0_DONE},
    {"input X int8[n,8]\ninput Y int8[4,n]\noutput X\n", {"X:0=3"}, "Y", "[4,3]", NULL, S0_DONE},
    {"input X int8[n,8,n]\noutput X\n", {"X:0=3", "X:2=4"}, NULL, NULL, "two values", S0_BAD_INPUT},
    {"input X int8[n,8]\ninput Y int8[4,n]\noutput X\n", {"X:0=3", "Y:1=4"}, NULL, NULL, "two values", S0_BAD_INPUT},
    {"input X int8[n,8,n]\noutput X\n", {"n=3", "X:2=4"}, NULL, NULL, "two values", S0_BAD_INPUT},
    {"input X int8[n,8,n]\noutput X\n", {"X:2=4", "n=3"}, NULL, NULL, "two values", S0_BAD_INPUT},
    {"input X int8[n,8,n]\noutput X\n", {"n=3", "n=4"}, NULL, NULL, "given twice", S0_BAD_INPUT},
    {"input X int8[n,8,n]\noutput X\n", {"X:0=1", "X:0=2"}, NULL, NULL, "given twice", S0_BAD_INPUT},
    {"input X int8[n,8,?]\noutput X\n", {"X:0=3", "X:2=4"}, "X", "[3,8,4]", NULL, S0_DONE},
    {"input X int8[3,8]\noutput X\n", {"X:0=4"}, NULL, NULL, "fixes", S0_BAD_INPUT},
    {"input X int8[n,8]\noutput X\n", {"n=3", "m=1"}, NULL, NULL, "n (X:0)", S0_BAD_INPUT},
    {"input X int8[3,8]\noutput X\n", {"m=1"}, NULL, NULL, "no dimension of this model is free", S0_BAD_INPUT},
    {"input X int8[3,8]\noutput X\n", {"X:2=1"}, NULL, NULL, "no input of this name and axis", S0_BAD_INPUT},
    /* one slip, one message; what is bound beside it is still listed as free */
    {"input X int8[?,8]\noutput X\n", {"X:0=3", "Z:0=3"}, NULL, NULL, "expected  X:0\n", S0_BAD_INPUT},
    {"input X int8[?,8]\noutput X\n", {"X:5=3"}, NULL, NULL, "did you mean 'X:0'?", S0_BAD_INPUT},
    /* J7: an unbounded dimension is named up front, never computed with */
    {"input X int8[?,8,4,4]\noutput X\n", {NULL}, NULL, NULL, "pass --dim X:0=VALUE", S0_REFUSED},
    {"input X int8[n,8,4,4]\noutput X\n", {NULL}, NULL, NULL, "pass --dim n=VALUE", S0_REFUSED},
    {"input X int8[n,8,?]\noutput X\n", {"n=1"}, NULL, NULL, "axis 2", S0_REFUSED},
    {"input X int8\noutput X\n", {NULL}, NULL, NULL, "does not state the shape", S0_REFUSED},
    /* TFLite: the file's number stands, or is replaced; then what the file states of later values does not hold */
    {"format tflite\ninput X int8[1:\"X:0\",8]\nnode Relu r: X -> y\nvalue y int8[1,8]\noutput y\n",
     {NULL},
     "y",
     "[1,8]",
     NULL,
     S0_DONE},
    {"format tflite\ninput X int8[1:\"X:0\",8]\nnode Relu r: X -> y\nvalue y int8[1,8]\noutput y\n",
     {"X:0=5"},
     "X",
     "[5,8]",
     NULL,
     S0_DONE},
    {"format tflite\ninput X int8[1:\"X:0\",8]\nnode Relu r: X -> y\nvalue y int8[1,8]\noutput y\n",
     {"X:0=5"},
     "y",
     "unknown",
     NULL,
     S0_DONE},
    {"format tflite\ninput X int8[1:\"X:0\",8]\nnode Relu r: X -> y\nvalue y int8[1,8]\noutput y\n",
     {"X:0=1"},
     "y",
     "[1,8]",
     NULL,
     S0_DONE},
    {"format tflite\ninput X int8[1:\"X:0\",8]\nstate s int8[1,8]\nconst c int8[2] = 1 2\noutput X\n",
     {"X:0=5"},
     "s",
     "[1,8]",
     NULL,
     S0_DONE},
    {"format tflite\ninput X int8[1:\"X:0\",8]\nstate s int8[1,8]\nconst c int8[2] = 1 2\noutput X\n",
     {"X:0=5"},
     "c",
     "[2]",
     NULL,
     S0_DONE},
    {"format tflite\ninput X int8[1,8]\noutput X\n", {"X:0=5"}, NULL, NULL, "fixes", S0_BAD_INPUT},
};

static void check_binding(Work *work, const void *argument) {
    const Binding *row = argument;
    Graph *graph = parse_sound(work, row->text);
    DimBinding bindings[3];
    size_t count = 0;
    for (; count < 3 && row->dims[count] != NULL; count++) {
        assert_true(dim_binding_parse(str_from(row->dims[count]), &bindings[count], &work->diags));
    }
    bool sound = graph_bind_dims(graph, bindings, count, work);
    bool as_told = row->told == NULL || was_told(work, row->told);
    if (sound != (row->told == NULL) || !as_told || diags_status(&work->diags) != row->status) {
        diags_print(&work->diags, "", stderr);
        fail_msg("not what was expected of:\n%s", row->text);
    }
    if (row->status == S0_BAD_INPUT) { /* one fault a row: no false second error behind it */
        assert_int_equal(work->diags.count[DIAG_ERROR], 1);
        assert_int_equal(work->diags.count[DIAG_REFUSED], 0);
    }
    if (row->value != NULL) {
        const Value *value = value_of(graph, row->value);
        assert_string_equal(value->has_shape ? shape_text(&work->keep, &value->shape).ptr : "unknown", row->shape);
    }
}

static void binds_dimensions(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_binding, &rows[k]);
    }
}

/* As many free dimensions as a hostile file likes: neither listing nor binding them may cost their square. */
static void binds_very_many(Work *work) {
    enum { INPUTS = 20000, AXES = 4 };
    char *text = NULL;
    size_t length = 0, count = 0;
    FILE *out = open_memstream(&text, &length);
    for (int k = 0; k < INPUTS; k++) {
        fprintf(out, "input x%d int8[a%d,?,all,b%d]\n", k, k, k);
    }
    fputs("output x0\n", out);
    fclose(out);
    Graph *graph = parse_sound(work, arena_text(&work->keep, "%s", text));
    free(text);
    DimBinding *dims = graph_free_dims(graph, &work->keep, &count);
    assert_int_equal(count, INPUTS * (AXES - 1) + 1);
    for (size_t k = 0; k < count; k++) {
        dims[k].value = (int64_t)k;
    }
    assert_true(graph_bind_dims(graph, dims, count, work));
    assert_string_equal(shape_text(&work->keep, &value_of(graph, "x0")->shape).ptr, "[0,1,2,3]");
    assert_string_equal(shape_text(&work->keep, &value_of(graph, "x1")->shape).ptr, "[4,5,2,6]");
    assert_string_equal(shape_text(&work->keep, &value_of(graph, "x19999")->shape).ptr, "[59998,59999,2,60000]");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(parses_bindings),
        WORK_TEST(binds_very_many),
        cmocka_unit_test(binds_dimensions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
