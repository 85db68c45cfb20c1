/* Simplified models compute what the models compute, bit for bit: random graphs of the operators that rules know, over
 * numbers that are 0, -0, 1, infinite, NaN or nothing special, on maps of equal and of unequal extents.
 *
 * Both graphs are run by evaluate.h, once for each of the two zeros that a limit may give. A NaN is a NaN, whatever its
 * bits. Every rule that is exact must have been at work at the end. */
#include "affine/simplified.h"

#include "affine/evaluate.h"
#include "affine/said.h"
#include "support/random.h"

enum { GRAPHS = 2000, DRAWS = 12, MOST_STEPS = 9, MOST_VALUES = 64 };

/* ---- Random graphs, in text */

typedef struct {
    uint64_t random;
    Work *work;
    const char *text;
    uint32_t names; /* given so far */
    uint32_t shape; /* of what is made next: an index of `shapes` */
    uint32_t count; /* of float values made */
    uint32_t value[MOST_VALUES], value_shape[MOST_VALUES];
} Maker;

static const uint32_t shapes[][3] = {{3, 3, 3}, {2, 3, 4}, {4, 3, 2}, {1, 3, 1}};

static uint32_t pick(Maker *m, uint32_t below) {
    return (uint32_t)random_below(&m->random, below);
}

static float draw_number(Maker *m) {
    static const float numbers[] = {1, 1,    1,     1,    0,     0,  0,      -0.0f,    -0.0f, -0.0f, 0.5f,
                                    2, 0.25, 0.99f, 1.5f, 0.04f, -1, 0.999f, INFINITY, NAN,   3};
    return numbers[pick(m, sizeof numbers / sizeof numbers[0])];
}

/* " = hex …" of `count` numbers, often all the same. */
static void say_numbers(Maker *m, uint32_t count, bool is_one) {
    float first = draw_number(m);
    say(m, " = hex ");
    for (uint32_t k = 0; k < count; k++) {
        float number = is_one ? first : draw_number(m);
        uint8_t bytes[4];
        memcpy(bytes, &number, sizeof bytes);
        say(m, "%02x%02x%02x%02x", bytes[0], bytes[1], bytes[2], bytes[3]);
    }
    say(m, "\n");
}

/* A constant that broadcasts to the shape: one number, along one axis, or every element. */
static uint32_t make_constant(Maker *m) {
    const uint32_t *s = shapes[m->shape];
    uint32_t name = m->names++;
    bool is_one = pick(m, 4) != 0;
    switch (pick(m, 5)) {
    case 0:
        say(m, "const c%u float32[]", name);
        say_numbers(m, 1, true);
        break;
    case 1:
        say(m, "const c%u float32[%u]", name, s[2]);
        say_numbers(m, s[2], is_one);
        break;
    case 2:
        say(m, "const c%u float32[%u,1]", name, s[1]);
        say_numbers(m, s[1], is_one);
        break;
    case 3:
        say(m, "const c%u float32[%u,1,1]", name, s[0]);
        say_numbers(m, s[0], is_one);
        break;
    default:
        say(m, "const c%u float32[%u,%u,%u]", name, s[0], s[1], s[2]);
        say_numbers(m, s[0] * s[1] * s[2], is_one);
        break;
    }
    return name;
}

static uint32_t made(Maker *m, uint32_t name) {
    assert_true(m->count < MOST_VALUES);
    m->value_shape[m->count] = m->shape;
    m->value[m->count++] = name;
    return name;
}

static const struct {
    const char *scale;
    int zero;
} codings[] = {{"0.5", 0}, {"0.125", 3}, {"0.1", -128}, {"0.1", 0}};

static void make_codes(Maker *m, uint32_t x, uint32_t coding) {
    const uint32_t *s = shapes[m->shape];
    uint32_t name = m->names++;
    say(m, "value q%u int8[%u,%u,%u] scale=%s zero=%d\n", name, s[0], s[1], s[2], codings[coding].scale,
        codings[coding].zero);
    say(m, "node QuantizeLinear n%u: v%u s%u z%u -> q%u\n", name, x, coding, coding, name);
    say(m, "node DequantizeLinear m%u: q%u s%u z%u -> v%u\n", name, name, coding, coding, name);
    made(m, name);
}

static void make_arithmetic(Maker *m, uint32_t x) {
    static const char *const names[] = {"Mul", "Mul", "Add", "Add", "Sub", "Div"};
    const char *op = names[pick(m, 6)];
    uint32_t constant = make_constant(m);
    uint32_t name = m->names++;
    if (pick(m, 4) == 0) {
        say(m, "node %s n%u: c%u v%u -> v%u\n", op, name, constant, x, name);
    } else {
        say(m, "node %s n%u: v%u c%u -> v%u\n", op, name, x, constant, name);
    }
    made(m, name);
}

static void make_limits(Maker *m, uint32_t x) {
    uint32_t name = m->names++;
    switch (pick(m, 4)) {
    case 0:
        say(m, "node Clip n%u: v%u lo%u hi%u -> v%u\n", name, x, pick(m, 3), pick(m, 3), name);
        break;
    case 1:
        say(m, "node Clip n%u: v%u lo%u -> v%u\n", name, x, pick(m, 3), name);
        break;
    default:
        say(m, "node Relu n%u: v%u -> v%u\n", name, x, name);
        break;
    }
    made(m, name);
}

static void make_norm(Maker *m, uint32_t x) {
    uint32_t name = m->names++;
    bool is_unit = pick(m, 2) == 0;
    say(m, "const g%u float32[3] = %s\n", name, is_unit ? "1 1 1" : "1 0.5 2");
    say(m, "const b%u float32[3] = %s\n", name, is_unit ? "0 0 0" : "0.25 -0.5 0");
    say(m, "const p%u float32[3] = %s\n", name, is_unit ? "0 0 0" : "0.5 0 -1");
    say(m, "const w%u float32[3] = %s\n", name, is_unit ? "1 1 1" : "4 1 0.25");
    say(m, "node BatchNormalization n%u: v%u g%u b%u p%u w%u -> v%u epsilon=0.0\n", name, x, name, name, name, name,
        name);
    made(m, name);
}

/* To the shape that it has, or to another of as many elements. */
static void make_move(Maker *m, uint32_t x) {
    uint32_t name = m->names++;
    if (pick(m, 2) == 0) {
        if (pick(m, 2) == 0 && (m->shape == 1 || m->shape == 2)) {
            m->shape = 3 - m->shape;
        }
        const uint32_t *s = shapes[m->shape];
        say(m, "const k%u int64[3] = %u %u %u\nnode Reshape n%u: v%u k%u -> v%u\n", name, s[0], s[1], s[2], name, x,
            name, name);
    } else {
        bool turns = pick(m, 2) == 0; /* 2 3 4 and 4 3 2 are each other's */
        m->shape = turns && (m->shape == 1 || m->shape == 2) ? 3 - m->shape : m->shape;
        say(m, "node Transpose n%u: v%u -> v%u perm=%s\n", name, x, name, turns ? "[2,1,0]" : "[0,1,2]");
    }
    made(m, name);
}

static void make_one(Maker *m, uint32_t x) {
    static const char *const names[] = {"Identity", "Abs", "Neg"};
    uint32_t name = m->names++;
    say(m, "node %s n%u: v%u -> v%u\n", names[pick(m, 3)], name, x, name);
    made(m, name);
}

static void make_step(Maker *m) {
    uint32_t back = pick(m, 5) == 0 ? pick(m, m->count) : 0;
    uint32_t x = m->value[m->count - 1 - back];
    m->shape = m->value_shape[m->count - 1 - back];
    switch (pick(m, 10)) {
    case 0:
        make_move(m, x);
        break;
    case 1:
        make_one(m, x);
        break;
    case 2:
        make_norm(m, x);
        break;
    case 3:
    case 4:
        make_limits(m, x);
        break;
    case 5:
    case 6:
        make_codes(m, x, pick(m, 4));
        break;
    default:
        make_arithmetic(m, x);
        break;
    }
}

static const char *make_text(Maker *m) {
    m->shape = pick(m, 4);
    const uint32_t *s = shapes[m->shape];
    m->text = "format onnx 13\n"
              "const lo0 float32[] = 0\nconst lo1 float32[] = -0.0\nconst lo2 float32[] = -1\n"
              "const hi0 float32[] = 6\nconst hi1 float32[] = 6\nconst hi2 float32[] = 2\n";
    for (uint32_t k = 0; k < 4; k++) {
        say(m, "const s%u float32[] = %s\nconst z%u int8[] = %d\n", k, codings[k].scale, k, codings[k].zero);
    }
    say(m, "input v%u float32[%u,%u,%u]\n", m->names, s[0], s[1], s[2]);
    made(m, m->names++);
    uint32_t coding = pick(m, 4), name = m->names++;
    say(m, "input q%u int8[%u,%u,%u] scale=%s zero=%d\n", name, s[0], s[1], s[2], codings[coding].scale,
        codings[coding].zero);
    say(m, "node DequantizeLinear m%u: q%u s%u z%u -> v%u\n", name, name, coding, coding, name);
    made(m, name);
    uint32_t steps = 1 + pick(m, MOST_STEPS);
    for (uint32_t k = 0; k < steps; k++) {
        make_step(m);
    }
    if (pick(m, 2) == 0) {
        make_codes(m, m->value[m->count - 1], coding);
    }
    say(m, "output v%u\n", m->value[m->count - 1]);
    if (pick(m, 3) == 0 && m->count > 3) {
        say(m, "output v%u\n", m->value[2 + pick(m, m->count - 3)]);
    }
    return m->text;
}

/* ---- Both are run */

static float draw_input(uint64_t *random, DType dtype) {
    static const float numbers[] = {0, -0.0f, 1, -1, INFINITY, -INFINITY, NAN, 1e-45f, 3e38f, 0.3f, -7.25f};
    if (dtype == DTYPE_I8) {
        return (float)((int)random_below(random, 256) - 128);
    }
    uint32_t k = (uint32_t)random_below(random, 16);
    return k < 11 ? numbers[k] : (float)((double)random_below(random, 2000000) / 1e5 - 10);
}

static Evaluation run(const Graph *graph, uint64_t random, bool limits_win, Work *work) {
    Evaluation e = {.graph = graph, .work = work, .limits_win = limits_win};
    e.values = arena_array(&work->keep, Elements, graph->value_count);
    const Block *main = graph_main(graph);
    for (uint32_t k = 0; k < main->input_count; k++) {
        const Value *input = graph_value(graph, main->inputs[k]);
        Elements in = new_elements(&e, input);
        for (uint32_t i = 0; i < in.count; i++) {
            in.at[i] = draw_input(&random, input->dtype);
        }
        e.values[main->inputs[k].index] = in;
    }
    evaluate(&e);
    return e;
}

static void check_same(const Evaluation *a, const Evaluation *b, const char *text) {
    const Block *main = graph_main(a->graph);
    for (uint32_t k = 0; k < main->output_count; k++) {
        const Elements *x = &a->values[main->outputs[k].index];
        const Elements *y = &b->values[graph_main(b->graph)->outputs[k].index];
        assert_true(shape_eq(&x->shape, &y->shape));
        for (uint32_t i = 0; i < x->count; i++) {
            bool is_same = isnan(x->at[i]) ? isnan(y->at[i]) : memcmp(&x->at[i], &y->at[i], sizeof(float)) == 0;
            if (!is_same) {
                fail_msg("output %u, element %u: %.9g became %.9g in\n%s\nwhich is now\n%s", k, i, (double)x->at[i],
                         (double)y->at[i], text, list_nodes(a->work, b->graph));
            }
        }
    }
}

static const char *const exact_rules[] = {
    "unit_scale",       "zero_bias",       "unit_norm", "same_elements", "clip_inside_clip",
    "clip_behind_clip", "clip_meets_clip", "rescale",   "identity_run",  "joined",
    "merged",           "collapsed",       "unread"};
enum { RULES = sizeof exact_rules / sizeof exact_rules[0] };

typedef struct {
    uint64_t seed;
    uint32_t *times;
} Trial;

static void count_rules(const Simplified *out, uint32_t *times) {
    for (size_t k = 0; k < out->rewrite_count; k++) {
        for (size_t r = 0; r < RULES; r++) {
            times[r] += strcmp(out->rewrites[k].certificate.rule, exact_rules[r]) == 0;
        }
    }
}

static void try_graph(Work *work, const void *argument) {
    const Trial *trial = argument;
    Maker maker = {.random = trial->seed, .work = work, .text = ""};
    Model model = {.what = "a random graph", .text = make_text(&maker)};
    Graph *before = parse_model(work, &model);
    complete_model(before, 0, 0, work);
    Simplified out;
    Graph *after = simplify_model(work, &model, &out, NULL);
    count_rules(&out, trial->times);
    for (uint32_t draw = 0; draw < DRAWS; draw++) {
        uint64_t random = trial->seed * DRAWS + draw + 1;
        Evaluation a = run(before, random, draw % 2 == 0, work);
        Evaluation b = run(after, random, draw % 2 == 0, work);
        check_same(&a, &b, model.text);
    }
}

static void computes_the_same(void **state) {
    (void)state;
    uint32_t times[RULES] = {0};
    for (uint64_t k = 0; k < GRAPHS; k++) {
        with_work(try_graph, &(Trial){0x9E3779B97F4A7C15u * (k + 1), times});
    }
    for (size_t r = 0; r < RULES; r++) {
        print_message("%s: %u times\n", exact_rules[r], times[r]);
        assert_int_not_equal(times[r], 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(computes_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
