/* What a run of operators may cost: by count, each run by itself.
 *
 * A run of Dequantize and Quantize with N distinct channels of 16 bits takes N * 65 536 * 2 evaluations under each
 * of ONNX's two references: 200 channels are within the 2^26 that a run may take, 300 are not, of 8 bits both are. So
 * many runs as there are, each goes or stays by itself; and what stays is told with its number. */
#include "affine/rows.h"

#define MOST "and one run of operators may take 67108864 in all"

typedef struct {
    const char *what;
    uint32_t channels, runs, bits;
    bool goes;
    const char *refusal;
} Case;

static const Case cases[] = {
    {"few channels", 200, 1, 16, true, NULL},
    {"many channels", 300, 1, 16, false, MOST},
    {"many channels of fewer bits", 300, 1, 8, true, NULL},
    {"several runs, each within", 150, 3, 16, true, NULL},
    {"several runs, none within", 300, 3, 16, false, MOST},
    {"more scales than are read", 4100, 1, 8, false, "scales in front of it are 4100 numbers, more than the 4096"},
};

static const char *scales(Work *work, uint32_t channels) {
    const char *text = "";
    for (uint32_t c = 0; c < channels; c++) {
        text = arena_text(&work->keep, "%s%s0.%u", text, c == 0 ? "" : ",", 1000 + c);
    }
    return text;
}

/* Abs keeps each run apart from the next. */
static const char *model_of(Work *work, const Case *test) {
    Arena *keep = &work->keep;
    const char *list = scales(work, test->channels);
    Str numbers = arena_str(keep, str_from(list));
    for (size_t k = 0; k < numbers.len; k++) {
        ((char *)(uintptr_t)numbers.ptr)[k] = numbers.ptr[k] == ',' ? ' ' : numbers.ptr[k];
    }
    const char *text = arena_text(keep, "const s float32[%u] = " STR_FMT "\nconst z int%u[%u] = splat 0\n",
                                  test->channels, STR_ARG(numbers), test->bits, test->channels);
    text = arena_text(keep, "%sinput q0 int%u[2,%u] scale=[%s] axis=1\n", text, test->bits, test->channels, list);
    for (uint32_t r = 0; r < test->runs; r++) {
        text = arena_text(keep,
                          "%svalue a%u int%u[2,%u] scale=[%s] axis=1\nvalue q%u int%u[2,%u]\n"
                          "node DequantizeLinear d%u: q%u s z -> f%u\nnode QuantizeLinear n%u: f%u s z -> a%u\n"
                          "node Abs b%u: a%u -> q%u\n",
                          text, r, test->bits, test->channels, list, r + 1, test->bits, test->channels, r, r, r, r, r,
                          r, r, r, r + 1);
    }
    return arena_text(keep, "%soutput q%u\n", text, test->runs);
}

static bool check_case(Work *work, const void *argument) {
    const Case *test = argument;
    Simplified out;
    const Model model = {.what = test->what, .text = model_of(work, test)};
    Graph *graph = simplify_model(work, &model, &out, NULL);
    uint32_t left = graph_main(graph)->node_count;
    bool is_right = left == (test->goes ? test->runs : 3 * test->runs) && is_refused(&out, test->refusal);
    if (!is_right) {
        print_error("%s: %u nodes are left\n", test->what, left);
        for (size_t k = 0; k < out.refusal_count; k++) {
            print_error("refused: %s\n", out.refusals[k].reason);
        }
    }
    return is_right;
}

static void test_cases(void **state) {
    (void)state;
    check_rows(cases, sizeof cases[0], sizeof cases / sizeof *cases, check_case);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_cases)};
    return cmocka_run_group_tests_name("rules_budget", tests, NULL, NULL);
}
