/* Two limits in a row compute what they did before the rules saw them: every pair of ranges with ends of 0, -0, numbers
 * on either side of it, or none, on numbers that lie at each end, between and outside, for both zeros that a limit may
 * give. What is left is one operator wherever neither range is empty, they overlap in more than a number, and no end is
 * a zero. */
#include "affine/simplified.h"

#include "affine/evaluate.h"

static const char *const ends[] = {"-2", "-1", "-0.0", "0", "1", "2", NULL};
enum { ENDS = sizeof ends / sizeof ends[0], XS = 15 };

static const float xs[XS] = {-INFINITY, -3e38f, -3, -2, -1.5f, -1, -1e-45f, -0.0f, 0, 0.5f, 1, 1.25f, INFINITY, 2, NAN};

typedef struct {
    uint32_t end[4]; /* lo and hi of the first, of the second */
    uint32_t *met;
} Pair;

static const char *end_name(Work *work, uint32_t k, uint32_t end) {
    return ends[end] == NULL ? "_" : arena_text(&work->keep, "c%u", (unsigned)k);
}

static const char *write_model(Work *work, const Pair *pair) {
    const char *text = "input x float32[15]\n", *name[4];
    for (uint32_t k = 0; k < 4; k++) {
        name[k] = end_name(work, k, pair->end[k]);
        if (ends[pair->end[k]] != NULL) {
            text = arena_text(&work->keep, "%sconst %s float32[] = %s\n", text, name[k], ends[pair->end[k]]);
        }
    }
    return arena_text(&work->keep, "%snode Clip n: x %s %s -> p\nnode Clip m: p %s %s -> y\noutput y\n", text, name[0],
                      name[1], name[2], name[3]);
}

static const float *run(Work *work, const Graph *graph, bool limits_win) {
    Evaluation e = {.graph = graph, .work = work, .limits_win = limits_win};
    e.values = arena_array(&work->keep, Elements, graph->value_count);
    ValueId input = graph_main(graph)->inputs[0];
    e.values[input.index] = new_elements(&e, graph_value(graph, input));
    memcpy(e.values[input.index].at, xs, sizeof xs);
    evaluate(&e);
    return e.values[graph_main(graph)->outputs[0].index].at;
}

static bool is_same(float a, float b) {
    return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0;
}

static double number_of(uint32_t end, double absent) {
    return ends[end] == NULL ? absent : strtod(ends[end], NULL);
}

static bool must_meet(const Pair *pair) {
    double lo[] = {number_of(pair->end[0], -3.5e38), number_of(pair->end[2], -3.5e38)};
    double hi[] = {number_of(pair->end[1], 3.5e38), number_of(pair->end[3], 3.5e38)};
    bool has_zero = lo[0] == 0 || lo[1] == 0 || hi[0] == 0 || hi[1] == 0;
    return !has_zero && lo[0] <= hi[0] && lo[1] <= hi[1] && fmax(lo[0], lo[1]) < fmin(hi[0], hi[1]);
}

static void check_pair(Work *work, const void *argument) {
    const Pair *pair = argument;
    Model model = {.what = "two limits", .text = write_model(work, pair)};
    Graph *before = parse_model(work, &model);
    complete_model(before, 0, 0, work);
    Simplified out;
    Graph *after = simplify_model(work, &model, &out, NULL);
    for (int win = 0; win < 2; win++) {
        const float *a = run(work, before, win), *b = run(work, after, win);
        for (uint32_t k = 0; k < XS; k++) {
            if (!is_same(a[k], b[k])) {
                fail_msg("%g: %g became %g in\n%s\nwhich is now\n%s", (double)xs[k], (double)a[k], (double)b[k],
                         model.text, list_nodes(work, after));
            }
        }
    }
    if (must_meet(pair) && graph_main(after)->node_count != 1) {
        fail_msg("two operators are left of\n%s", model.text);
    }
    for (size_t k = 0; k < out.rewrite_count; k++) {
        *pair->met += strcmp(out.rewrites[k].certificate.rule, "clip_meets_clip") == 0;
    }
}

static void computes_the_same(void **state) {
    (void)state;
    uint32_t met = 0;
    for (uint32_t k = 0; k < ENDS * ENDS * ENDS * ENDS; k++) {
        with_work(check_pair,
                  &(Pair){{k % ENDS, k / ENDS % ENDS, k / ENDS / ENDS % ENDS, k / ENDS / ENDS / ENDS}, &met});
    }
    print_message("%u pairs met\n", met);
    assert_int_not_equal(met, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(computes_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
