/* The worked example of README.md: an int8 map [1,12,20,28] with a scale and a bias a channel, on `teach` (rows
 * of channels padded to 16 bytes, 16 KiB). Proves: logical and physical bytes of map and parameters, the peak of the
 * compact and of the fully expanded strategy, and of a second reader, of whole maps (--tile none); with all dimensions
 * different, C = H and C = W.
 *
 * Every figure is derived here from the shape: a map is H * W * roundup(C, 16) bytes, or H * roundup(W, 16) where C
 * is 1. */
#include "planned.h"

#include <stdio.h>

typedef struct {
    const char *name;
    int64_t channels, height, width;
} Example;

static const Example examples[] = {
    {"all different", 12, 20, 28},
    {"C = H", 12, 12, 28},
    {"C = W", 12, 20, 12},
    {"all equal", 12, 12, 12},
};

enum { NHWC, NCHW };

static uint64_t round_up16(uint64_t value) {
    return (value + 15) / 16 * 16;
}

static uint64_t map_bytes(const Example *example) {
    return (uint64_t)(example->height * example->width) * round_up16((uint64_t)example->channels);
}

/* Values that depend on the channel, so that nothing collapses. */
static size_t write_parameter(char *text, size_t room, const char *name, const char *shape, int64_t channels) {
    int used = snprintf(text, room, "const %s int8%s =", name, shape);
    for (int64_t c = 0; c < channels; c++) {
        used += snprintf(text + used, room - (size_t)used, " %d", (int)(c + 2));
    }
    used += snprintf(text + used, room - (size_t)used, "\n");
    return (size_t)used;
}

static void write_graph(char *text, size_t room, const Example *example, int order, bool second_reader) {
    char map[64];
    char parameter[64];
    int c = (int)example->channels;
    int h = (int)example->height;
    int w = (int)example->width;
    if (order == NHWC) {
        snprintf(map, sizeof map, "[1,%d,%d,%d]", h, w, c);
        snprintf(parameter, sizeof parameter, "[%d]", c);
    } else {
        snprintf(map, sizeof map, "[1,%d,%d,%d]", c, h, w);
        snprintf(parameter, sizeof parameter, "[1,%d,1,1]", c);
    }
    int used =
        snprintf(text, room, "stride0-graph 1\nformat %s\ninput X int8%s\n", order == NHWC ? "tflite" : "onnx 13", map);
    used += (int)write_parameter(text + used, room - (size_t)used, "s", parameter, example->channels);
    used += (int)write_parameter(text + used, room - (size_t)used, "b", parameter, example->channels);
    used +=
        snprintf(text + used, room - (size_t)used, "value t int8%s\nvalue Y int8%s\nvalue Z int8%s\n", map, map, map);
    used += snprintf(text + used, room - (size_t)used, "node Mul m: X s -> t\nnode Add a: t b -> Y\n");
    snprintf(text + used, room - (size_t)used, "%s", second_reader ? "node Add r: Y X -> Z\noutput Z\n" : "output Y\n");
}

static void check_parameters(const Planned *planned, const Example *example) {
    const Buffer *scale = planned_buffer(planned, "s");
    const Buffer *bias = planned_buffer(planned, "b");
    assert_int_equal(scale->logical_bytes + bias->logical_bytes, 2 * example->channels);
    assert_int_equal(scale->physical_bytes, 16);
    assert_int_equal(scale->broadcast, BROADCAST_CHANNEL);
    assert_int_equal(scale->costs->full_bytes, map_bytes(example));
}

static void check_compact(const char *graph, const Example *example, int order) {
    Planned planned;
    PlanCase test = {graph, "teach", order == NCHW ? "X=NCHW" : NULL, {.in_place = true, .whole_tiles = true}};
    assert_true(planned_make(&planned, &test));
    const Buffer *map = planned_buffer(&planned, "X");
    assert_int_equal(map->logical_bytes, example->channels * example->height * example->width);
    assert_int_equal(map->physical_bytes, map_bytes(example));
    assert_int_equal(planned_buffer(&planned, "s")->axis, order == NCHW ? 1 : 3);
    check_parameters(&planned, example);
    assert_int_equal(planned.plan->peak_live_bytes, map_bytes(example) + 2 * 16);
    assert_int_equal(planned.plan->placed_bytes, map_bytes(example) + 2 * 16);
    assert_true(plan_fits(planned.plan));
    planned_free(&planned);
}

static void check_full(const char *graph, const Example *example, int order) {
    Planned planned;
    PlanCase test = {graph,
                     "teach",
                     order == NCHW ? "X=NCHW" : NULL,
                     {.strategy = STRATEGY_FULL, .in_place = true, .whole_tiles = true}};
    assert_true(planned_make(&planned, &test));
    const Buffer *scale = planned_buffer(&planned, "s");
    const Buffer *bias = planned_buffer(&planned, "b");
    assert_int_equal(scale->logical_bytes + bias->logical_bytes,
                     2 * example->channels * example->height * example->width);
    assert_non_null(scale->materialised_reason);
    assert_int_equal(planned.plan->peak_live_bytes, 3 * map_bytes(example));
    assert_int_equal(plan_fits(planned.plan), 3 * map_bytes(example) <= 16384);
    planned_free(&planned);
}

/* An operator at a time, as TFLite's integers without scales are: X may not be written over, and one map lies beside
 * it. In a sweep, as ONNX's integers are: product and sum are written over X, `r` loads it again, and writes beside
 * both. */
static void check_second_reader(const Example *example, int order) {
    char graph[2048];
    Planned planned;
    write_graph(graph, sizeof graph, example, order, true);
    PlanCase test = {graph, "teach", order == NCHW ? "X=NCHW" : NULL, {.in_place = true, .whole_tiles = true}};
    assert_true(planned_make(&planned, &test));
    uint64_t maps = order == NCHW ? 3 * map_bytes(example) : 2 * map_bytes(example) + 2 * 16;
    assert_int_equal(planned.plan->peak_live_bytes, maps);
    if (order == NHWC) {
        const Buffer *product = planned_buffer(&planned, "t");
        assert_int_equal(product->refused_alias, REFUSED_LATER_READER);
        assert_true(str_eq(graph_node(planned.plan->graph, product->refused_by)->name, STR("r")));
    }
    planned_free(&planned);
}

static void test_examples(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof examples / sizeof *examples; i++) {
        for (int order = NHWC; order <= NCHW; order++) {
            char graph[2048];
            print_message("%s, %s\n", examples[i].name, order == NHWC ? "NHWC" : "NCHW");
            write_graph(graph, sizeof graph, &examples[i], order, false);
            check_compact(graph, &examples[i], order);
            check_full(graph, &examples[i], order);
            check_second_reader(&examples[i], order);
        }
    }
}

/* The figures that README.md prints, as they stand there; and the excess of a second reader. */
static void test_printed_figures(void **state) {
    (void)state;
    assert_int_equal(map_bytes(&examples[0]), 8960);
    assert_int_equal(map_bytes(&examples[0]) + 32, 8992);
    assert_int_equal(3 * map_bytes(&examples[0]), 26880);
    assert_int_equal(2 * map_bytes(&examples[0]) + 32 - 16384, 1568);
}

/* One channel alone: rows of W padded to 16, 560 bytes logically and 640 physically. */
static void test_one_channel(void **state) {
    (void)state;
    Planned planned;
    PlanCase test = {"stride0-graph 1\nformat tflite\ninput X int8[1,20,28,1]\nnode Relu r: X -> Y\noutput Y\n",
                     "teach",
                     NULL,
                     {.in_place = true}};
    assert_true(planned_make(&planned, &test));
    assert_int_equal(planned_buffer(&planned, "X")->logical_bytes, 560);
    assert_int_equal(planned_buffer(&planned, "X")->physical_bytes, 640);
    planned_free(&planned);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),
        cmocka_unit_test(test_printed_figures),
        cmocka_unit_test(test_one_channel),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
