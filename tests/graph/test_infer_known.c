/* graph_infer_known: what would be refused leaves its outputs unknown, and what reads them too; the rest is told. */
#include "graph/support.h"

#include "graph/passes.h"

typedef struct {
    const char *what, *text;
    bool forgives;
    bool is_sound;
    const char *known, *unknown; /* values with and without a shape behind it */
} Row;

static const Row rows[] = {
    {"a shape that depends on data",
     "format onnx 13\ninput x float32[4]\nnode NonZero n: x -> i\nnode Relu r: x -> y\nnode Abs a: i -> j\noutput y\n"
     "output j\n",
     false, true, "y", "i"},
    {"what reads it is unknown too",
     "format onnx 13\ninput x float32[4]\nnode NonZero n: x -> i\nnode Abs a: i -> j\noutput j\n", false, true, "x",
     "j"},
    {"an error stays one",
     "format onnx 13\ninput x float32[4]\nconst k float32[3] = 1 2 3\nnode Add a: x k -> y\noutput y\n", false, false,
     "x", "y"},
    {"but where it is forgiven",
     "format onnx 13\ninput x float32[4]\nconst k float32[3] = 1 2 3\nnode Add a: x k -> y\nnode Relu r: x -> z\n"
     "output y\noutput z\n",
     true, true, "z", "y"},
};

static void check_row(Work *work, const void *argument) {
    const Row *row = argument;
    Graph *graph = parse_text(work, row->text);
    print_message("%s\n", row->what);
    assert_int_equal(graph_infer_known(graph, row->forgives, work), row->is_sound);
    assert_int_equal(diags_failed(&work->diags), !row->is_sound);
    assert_true(value_of(graph, row->known)->has_shape);
    assert_true(!row->is_sound || !value_of(graph, row->unknown)->has_shape);
}

static void leaves_unknown_what_it_can_not_tell(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        with_work(check_row, &rows[k]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(leaves_unknown_what_it_can_not_tell)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
