/* What goes into a convolution stays within the stated bound: random runs of operators in front of and behind random
 * convolutions of either format, with groups, strides, dilations, pads and kernels of one element, on maps whose
 * extents are equal to each other and to the channels, or not.
 *
 * Both graphs are computed here, from the operators' definitions: a convolution is a sum over a list of taps in double
 * and is not rounded, every other operator rounds to float32 as it is written. The difference must be within the bound
 * of all that was folded, in ulp of the sum of magnitudes, which is the same computation with every number positive.
 * Each kind of fold and of refusal must have been met. */
#include "affine/said.h"
#include "affine/simplified.h"

#include "support/random.h"

#include <math.h>

enum { GRAPHS = 2000, MOST_RUN = 3, RANK = 4, TOLERANCE = 1000 };

/* ---- Random graphs, in text */

typedef struct {
    uint64_t random;
    Work *work;
    const char *text;
    bool is_last;   /* TFLite: channels last */
    uint32_t names; /* given so far */
    uint32_t at;    /* the value that is made last */
    uint32_t ins, outs, groups, spatial[2], kernel[2];
} Maker;

static uint32_t pick(Maker *m, uint32_t below) {
    return (uint32_t)random_below(&m->random, below);
}

/* Of either sign, of any size that leaves all products normal. */
static double draw(uint64_t *random) {
    double size = ldexp((double)(random_below(random, 1 << 24) + (1 << 24)), (int)random_below(random, 9) - 28);
    return random_below(random, 2) == 0 ? size : -size;
}

static void say_numbers(Maker *m, uint32_t count, uint32_t kind) {
    for (uint32_t k = 0; k < count; k++) {
        double number = (double)(float)draw(&m->random);
        say(m, " %.9g", kind == 0 ? 0 : kind == 1 ? fabs(number) : k > 0 && pick(m, 9) == 0 && kind == 2 ? 0 : number);
    }
    say(m, "\n");
}

/* Never all are 0 but of ZEROS: an operator that is none goes without a bound. */
enum { ZEROS, POSITIVE, SOME_ZERO, NOT_ZERO };

/* A parameter of one number, or one a channel. */
static void say_parameter(Maker *m, uint32_t name, uint32_t channels, uint32_t kind) {
    if (pick(m, 3) == 0) {
        say(m, "const c%u float32[] =", name);
        say_numbers(m, 1, kind);
        return;
    }
    say(m, m->is_last ? "const c%u float32[%u] =" : "const c%u float32[%u,1,1] =", name, channels);
    say_numbers(m, channels, kind);
}

static void say_norm(Maker *m, uint32_t name, uint32_t channels) {
    uint32_t addends = pick(m, 2) == 0 ? ZEROS : SOME_ZERO;
    const uint32_t kinds[] = {NOT_ZERO, addends, addends, POSITIVE};
    for (uint32_t k = 0; k < 4; k++) {
        say(m, "const p%u_%u float32[%u] =", name, k, channels);
        say_numbers(m, channels, kinds[k]);
    }
    say(m, "node BatchNormalization n%u: v%u p%u_0 p%u_1 p%u_2 p%u_3 -> v%u epsilon=0.001\n", name, m->at, name, name,
        name, name, name);
}

static void say_operator(Maker *m, uint32_t channels, bool adds) {
    static const char *const names[] = {"Mul", "Div", "Add", "Sub", "Sub"};
    uint32_t name = m->names++, kind = pick(m, adds ? 6 : 2);
    if (kind == 5 && !m->is_last) {
        say_norm(m, name, channels);
    } else {
        kind = kind == 5 ? 0 : kind;
        say_parameter(m, name, channels, kind < 2 ? NOT_ZERO : SOME_ZERO);
        bool is_swapped = kind != 1 && pick(m, 3) == 0;
        say(m, "node %s n%u: %c%u %c%u -> v%u\n", names[kind], name, is_swapped ? 'c' : 'v', is_swapped ? name : m->at,
            is_swapped ? 'v' : 'c', is_swapped ? m->at : name, name);
    }
    m->at = name;
}

static void say_run(Maker *m, uint32_t channels) {
    bool adds = pick(m, 2) == 0;
    for (uint32_t count = pick(m, MOST_RUN + 1); count > 0; count--) {
        say_operator(m, channels, adds);
    }
}

typedef enum { PLAIN, TRANSPOSED, DEPTHWISE } Kind;

static void draw_channels(Maker *m, Kind kind) {
    m->groups = 1 + pick(m, 3);
    uint32_t own = kind == DEPTHWISE ? 1 : 1 + pick(m, 3);
    m->ins = m->groups * own;
    m->outs = pick(m, 3) == 0 ? m->ins : m->groups * (1 + pick(m, 3));
    for (uint32_t k = 0; k < 2; k++) {
        m->kernel[k] = pick(m, 2) == 0 ? 1 : 1 + pick(m, 3);
        uint32_t least = 2 * m->kernel[k] + 1; /* a dilated kernel, and pads of a transposed convolution */
        m->spatial[k] = pick(m, 2) == 0 && m->ins >= least ? m->ins : least + pick(m, 4);
    }
}

static void say_weights(Maker *m, Kind kind) {
    uint32_t own_ins = m->ins / m->groups, own_outs = m->outs / m->groups, h = m->kernel[0], w = m->kernel[1];
    if (kind == DEPTHWISE) {
        say(m, "const w float32[1,%u,%u,%u] =", h, w, m->outs);
    } else if (m->is_last) {
        say(m, "const w float32[%u,%u,%u,%u] =", m->outs, h, w, own_ins);
    } else if (kind == TRANSPOSED) {
        say(m, "const w float32[%u,%u,%u,%u] =", m->ins, own_outs, h, w);
    } else {
        say(m, "const w float32[%u,%u,%u,%u] =", m->outs, own_ins, h, w);
    }
    say_numbers(m, m->outs * own_ins * h * w, SOME_ZERO);
}

static const char *say_pads(Maker *m, Kind kind) {
    static const char *const words[] = {"auto_pad=VALID", "auto_pad=SAME_UPPER", "auto_pad=SAME_LOWER"};
    if (m->is_last) {
        return words[pick(m, 2)];
    }
    if (pick(m, 3) != 0) {
        return kind == TRANSPOSED ? "" : words[pick(m, 3)];
    }
    uint32_t most = kind == TRANSPOSED ? 1 : 2;
    return arena_text(&m->work->keep, "pads=[%u,%u,%u,%u]", pick(m, most), pick(m, most), pick(m, most), pick(m, most));
}

static void say_convolution(Maker *m, Kind kind) {
    static const char *const names[] = {"Conv", "ConvTranspose", "tflite.DEPTHWISE_CONV_2D"};
    bool has_bias = pick(m, 2) == 0;
    uint32_t name = m->names++;
    say_weights(m, kind);
    if (has_bias) {
        say(m, "const bias float32[%u] =", m->outs);
        say_numbers(m, m->outs, SOME_ZERO);
    }
    say(m, "node %s k: v%u w %s -> v%u strides=[%u,%u] dilations=[%u,%u] %s", names[kind], m->at,
        has_bias ? "bias" : "", name, 1 + pick(m, 2), 1 + pick(m, 3), 1 + pick(m, 2), 1 + pick(m, 2),
        say_pads(m, kind));
    say(m, m->is_last ? "\n" : " group=%u\n", m->groups);
    m->at = name;
}

/* Abs at both ends, so that what lies between has readers that no rule knows. */
static const char *make_text(Maker *m) {
    m->is_last = pick(m, 2) == 0;
    Kind kind = pick(m, 3) != 0 ? PLAIN : m->is_last ? DEPTHWISE : TRANSPOSED;
    draw_channels(m, kind);
    m->text = m->is_last ? "format tflite\n" : "format onnx 13\n";
    if (m->is_last) {
        say(m, "input v0 float32[2,%u,%u,%u]\n", m->spatial[0], m->spatial[1], m->ins);
    } else {
        say(m, "input v0 float32[2,%u,%u,%u]\n", m->ins, m->spatial[0], m->spatial[1]);
    }
    m->names = 1;
    say_run(m, m->ins);
    say_convolution(m, kind);
    say_run(m, m->outs);
    say(m, "node Abs last: v%u -> y\noutput y\n", m->at);
    return m->text;
}

/* ---- Both are computed */

typedef struct {
    const Graph *graph;
    double **values;  /* by id */
    bool is_positive; /* every number is its magnitude, and nothing is rounded */
    bool is_folded;   /* a normalisation takes gamma / deviation first */
} Run;

static uint32_t count_of(const Value *value) {
    uint64_t count = 0;
    assert_true(shape_elements(&value->shape, &count) && count < 1 << 16);
    return (uint32_t)count;
}

static double rounded(const Run *run, double x) {
    return run->is_positive ? x : (double)(float)x;
}

static double signed_as(const Run *run, double x) {
    return run->is_positive ? fabs(x) : x;
}

static int64_t number_at(const Node *node, const char *name, uint32_t k, int64_t absent) {
    const Attr *attr = node_attr(node, name);
    return attr == NULL ? absent : attr->ints[k];
}

typedef struct {
    int64_t batch, channel, at[2];
} Place;

static uint32_t channel_axis(const Graph *graph) {
    return graph->channels_last ? RANK - 1 : 1;
}

static Place place_of(const Graph *graph, const Shape *shape, int64_t index) {
    int64_t at[RANK];
    for (uint32_t k = RANK; k-- > 0;) {
        at[k] = index % shape->dim[k];
        index /= shape->dim[k];
    }
    return graph->channels_last ? (Place){at[0], at[3], {at[1], at[2]}} : (Place){at[0], at[1], {at[2], at[3]}};
}

static int64_t index_of(const Graph *graph, const Shape *shape, const Place *p) {
    const int64_t *d = shape->dim;
    return graph->channels_last ? ((p->batch * d[1] + p->at[0]) * d[2] + p->at[1]) * d[3] + p->channel
                                : ((p->batch * d[1] + p->channel) * d[2] + p->at[0]) * d[3] + p->at[1];
}

typedef struct {
    const Run *run;
    const Node *node;
    const Shape *in, *weights, *out;
    int64_t kernel[2], ins, outs, own_ins, own_outs; /* channels, and those of one group */
} Conv;

static Conv conv_of(const Run *run, const Node *node) {
    const Graph *graph = run->graph;
    Conv c = {run,
              node,
              &node_input(graph, node, 0)->shape,
              &node_input(graph, node, 1)->shape,
              &node_output(graph, node, 0)->shape,
              {0},
              0,
              0,
              0,
              0};
    uint32_t spatial = graph->channels_last ? 1 : 2, axis = channel_axis(graph);
    c.ins = c.in->dim[axis];
    c.outs = c.out->dim[axis];
    c.kernel[0] = c.weights->dim[spatial];
    c.kernel[1] = c.weights->dim[spatial + 1];
    c.own_ins = node->op == OP_DEPTHWISE_CONV ? 1
                : graph->channels_last        ? c.weights->dim[3]
                                              : c.ins / node_int(node, "group", 1);
    c.own_outs = c.outs / (c.ins / c.own_ins);
    return c;
}

/* The weight between channels `in` and `out` of one group, of group `group`. */
static double weight_at(const Conv *c, int64_t group, int64_t in, int64_t out, const int64_t tap[2]) {
    const double *w = c->run->values[c->node->inputs[1].index];
    int64_t whole_out = group * c->own_outs + out, inner = c->kernel[0] * c->kernel[1];
    int64_t spot = tap[0] * c->kernel[1] + tap[1];
    if (c->node->op == OP_DEPTHWISE_CONV) {
        return w[spot * c->outs + whole_out];
    }
    if (c->run->graph->channels_last) {
        return w[(whole_out * inner + spot) * c->own_ins + in];
    }
    if (c->node->op == OP_CONV_TRANSPOSE) {
        return w[((group * c->own_ins + in) * c->own_outs + out) * inner + spot];
    }
    return w[(whole_out * c->own_ins + in) * inner + spot];
}

static int64_t pad_in_front(const Conv *c, uint32_t k) {
    uint32_t axis = (c->run->graph->channels_last ? 1 : 2) + k;
    Str word = node_str(c->node, "auto_pad");
    int64_t reach = (c->kernel[k] - 1) * number_at(c->node, "dilations", k, 1) + 1;
    int64_t total = (c->out->dim[axis] - 1) * number_at(c->node, "strides", k, 1) + reach - c->in->dim[axis];
    total = total < 0 ? 0 : total;
    if (str_eq(word, STR("SAME_UPPER"))) {
        return total / 2;
    }
    return str_eq(word, STR("SAME_LOWER")) ? total - total / 2 : number_at(c->node, "pads", k, 0);
}

/* Where a tap of the kernel puts or finds the input for place `at` of the output; false where there is none. */
static bool source_of(const Conv *c, uint32_t k, int64_t at, int64_t tap, int64_t *from) {
    int64_t stride = number_at(c->node, "strides", k, 1), step = tap * number_at(c->node, "dilations", k, 1);
    int64_t extent = c->in->dim[(c->run->graph->channels_last ? 1 : 2) + k];
    if (c->node->op == OP_CONV_TRANSPOSE) {
        int64_t spread = at + number_at(c->node, "pads", k, 0) - step;
        *from = spread / stride;
        return spread >= 0 && spread % stride == 0 && *from < extent;
    }
    *from = at * stride + step - pad_in_front(c, k);
    return *from >= 0 && *from < extent;
}

static double sum_at(const Conv *c, Place place) {
    const Run *run = c->run;
    const double *x = run->values[c->node->inputs[0].index];
    int64_t out = place.channel % c->own_outs, group = place.channel / c->own_outs;
    bool has_bias = c->node->input_count > 2 && is_value(c->node->inputs[2]);
    double sum = has_bias ? signed_as(run, run->values[c->node->inputs[2].index][place.channel]) : 0;
    int64_t tap[2];
    for (tap[0] = 0; tap[0] < c->kernel[0]; tap[0]++) {
        for (tap[1] = 0; tap[1] < c->kernel[1]; tap[1]++) {
            Place from = {.batch = place.batch};
            bool is_there = source_of(c, 0, place.at[0], tap[0], &from.at[0]);
            is_there = source_of(c, 1, place.at[1], tap[1], &from.at[1]) && is_there;
            for (int64_t in = 0; is_there && in < c->own_ins; in++) {
                from.channel = group * c->own_ins + in;
                sum += signed_as(run, weight_at(c, group, in, out, tap)) * x[index_of(run->graph, c->in, &from)];
            }
        }
    }
    return sum;
}

/* One number, or the one of the channel. */
static double parameter(const Run *run, const Node *node, uint32_t k, int64_t channel) {
    uint32_t count = count_of(node_input(run->graph, node, k));
    return signed_as(run, run->values[node->inputs[k].index][count == 1 ? 0 : channel]);
}

static double normalised(const Run *run, const Node *node, double x, int64_t channel) {
    double gamma = parameter(run, node, 1, channel), beta = parameter(run, node, 2, channel);
    double mean = parameter(run, node, 3, channel), variance = parameter(run, node, 4, channel);
    double root = rounded(run, sqrt(rounded(run, variance + (double)(float)node_float(node, "epsilon", 0))));
    if (run->is_positive) {
        return gamma / root * (x + mean) + beta;
    }
    double centred = rounded(run, x - mean);
    double scaled = run->is_folded ? rounded(run, centred * rounded(run, gamma / root))
                                   : rounded(run, rounded(run, centred / root) * gamma);
    return rounded(run, scaled + beta);
}

static double element(const Run *run, const Node *node, uint32_t i, int64_t channel) {
    bool is_second = node_input(run->graph, node, 0)->constant != NULL;
    double x = run->values[node->inputs[is_second].index][i];
    double p = node->input_count == 2 ? parameter(run, node, !is_second, channel) : 0;
    switch (node->op) {
    case OP_MUL:
        return rounded(run, x * p);
    case OP_DIV:
        return rounded(run, x / p);
    case OP_ADD:
        return rounded(run, x + p);
    case OP_SUB:
        return run->is_positive ? x + p : rounded(run, is_second ? p - x : x - p);
    case OP_BATCH_NORM:
        return normalised(run, node, x, channel);
    case OP_ABS:
        return x; /* the sign is part of what is compared */
    default:
        fail_msg("no %s is made here", op_info(node->op)->name);
        return 0;
    }
}

static double *load(const Value *value, Arena *arena) {
    uint32_t count = count_of(value);
    double *at = arena_array(arena, double, count);
    for (uint32_t i = 0; i < count; i++) {
        float number;
        bool is_one = value->constant->bytes.len == sizeof number; /* collapsed */
        memcpy(&number, value->constant->bytes.ptr + (is_one ? 0 : i) * sizeof number, sizeof number);
        at[i] = (double)number;
    }
    return at;
}

static bool is_convolution(const Node *node) {
    return node->op == OP_CONV || node->op == OP_CONV_TRANSPOSE || node->op == OP_DEPTHWISE_CONV;
}

/* What the model gives back. */
static const double *compute(Run *run, const double *input, Arena *arena) {
    const Graph *graph = run->graph;
    const Block *main = graph_main(graph);
    run->values = arena_array(arena, double *, graph->value_count);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (graph->values[v].constant != NULL && graph->values[v].dtype == DTYPE_F32) {
            run->values[v] = load(&graph->values[v], arena);
        }
    }
    uint32_t count = count_of(graph_value(graph, main->inputs[0]));
    double *first = run->values[main->inputs[0].index] = arena_array(arena, double, count);
    for (uint32_t i = 0; i < count; i++) {
        first[i] = signed_as(run, input[i]);
    }
    for (uint32_t n = 0; n < main->node_count; n++) {
        const Node *node = graph_node(graph, main->nodes[n]);
        const Shape *shape = &node_output(graph, node, 0)->shape;
        bool is_conv = is_convolution(node);
        Conv conv = is_conv ? conv_of(run, node) : (Conv){0};
        count = count_of(node_output(graph, node, 0));
        double *out = run->values[node->outputs[0].index] = arena_array(arena, double, count);
        for (uint32_t i = 0; i < count; i++) {
            Place place = place_of(graph, shape, i);
            out[i] = is_conv ? sum_at(&conv, place) : element(run, node, i, place.channel);
        }
    }
    return run->values[main->outputs[0].index];
}

/* ---- The bound */

typedef struct {
    double worst; /* share of the bound that was used */
    uint32_t behind, before, both, grouped, padded_factor, addend, pads, partial;
} Met;

typedef struct {
    uint64_t seed;
    Met *met;
} Trial;

static double ulp_of(double magnitude) {
    int exponent;
    (void)frexp(magnitude, &exponent);
    return ldexp(1, exponent - 24);
}

static bool is_told(const Simplified *out, const char *reason) {
    for (size_t k = 0; k < out->refusal_count; k++) {
        if (strstr(out->refusals[k].reason, reason) != NULL) {
            return true;
        }
    }
    return false;
}

static uint32_t count_rule(const Simplified *out, const char *rule, uint64_t *bound) {
    uint32_t count = 0;
    for (size_t k = 0; k < out->rewrite_count; k++) {
        const Certificate *certificate = &out->rewrites[k].certificate;
        if (strcmp(certificate->rule, rule) == 0) {
            count++;
            *bound += certificate->max_error_lsb;
        }
    }
    return count;
}

/* Where the convolution stands in the main block. */
static uint32_t convolution_at(const Graph *graph) {
    uint32_t at = 0;
    while (!is_convolution(graph_node(graph, graph_main(graph)->nodes[at]))) {
        at++;
    }
    return at;
}

/* Operators that stay behind the convolution round what it gives, once more on either side. */
static uint64_t roundings_behind(const Graph *graph) {
    uint64_t roundings = 0;
    for (uint32_t at = convolution_at(graph) + 1; at < graph_main(graph)->node_count; at++) {
        OpId op = graph_node(graph, graph_main(graph)->nodes[at])->op;
        roundings += op == OP_ABS ? 0 : op == OP_BATCH_NORM ? 12 : 2;
    }
    return roundings;
}

static uint64_t note_met(const Simplified *out, const Graph *graph, const Maker *maker, Met *met) {
    uint64_t bound = 0;
    uint32_t behind = count_rule(out, "fold_into_convolution", &bound);
    uint32_t before = count_rule(out, "fold_into_next_convolution", &bound);
    const Node *conv = graph_node(graph, graph_main(graph)->nodes[convolution_at(graph)]);
    met->behind += behind;
    met->before += before;
    met->both += behind > 0 && before > 0;
    met->grouped += before > 0 && maker->groups > 1 && maker->ins > maker->groups;
    met->padded_factor += before > 0 && strstr(maker->text, "SAME") != NULL && maker->kernel[0] > 1;
    met->addend += before > 0 && strstr(maker->text, "Add") != NULL && conv->input_count > 2;
    met->pads += is_told(out, "padding would be shifted");
    met->partial += is_told(out, "not all sums over the whole kernel");
    return bound;
}

static void try_graph(Work *work, const void *argument) {
    const Trial *trial = argument;
    Maker maker = {.random = trial->seed, .work = work, .text = ""};
    Model model = {.what = "a random graph", .text = make_text(&maker), .tolerance = TOLERANCE};
    Graph *before = parse_model(work, &model);
    complete_model(before, 0, 0, work);
    Simplified out;
    Graph *after = simplify_model(work, &model, &out, NULL);
    uint64_t stated = note_met(&out, after, &maker, trial->met), later = roundings_behind(after),
             bound = stated + later;
    uint32_t count = count_of(graph_value(before, graph_main(before)->inputs[0]));
    double *input = arena_array(&work->keep, double, count);
    for (uint32_t i = 0; i < count; i++) {
        input[i] = (double)(float)draw(&maker.random);
    }
    bool is_folded = trial->seed % 2 != 0;
    Run runs[] = {{before, NULL, false, is_folded}, {after, NULL, false, is_folded}, {before, NULL, true, false}};
    const double *was = compute(&runs[0], input, &work->keep), *is = compute(&runs[1], input, &work->keep);
    const double *sum = compute(&runs[2], input, &work->keep);
    count = count_of(graph_value(before, graph_main(before)->outputs[0]));
    for (uint32_t i = 0; i < count; i++) {
        double used = sum[i] == 0 ? 0 : fabs(was[i] - is[i]) / ulp_of(sum[i]);
        if (!(used <= (double)bound) || (sum[i] == 0 && was[i] != is[i])) {
            fprintf(stderr, "%s\nwhich is now\n%s\n", model.text, list_nodes(work, after));
            fail_msg("element %u: %.17g became %.17g: %.3g ulp of %.9g, where %u were stated", i, was[i], is[i], used,
                     sum[i], (unsigned)bound);
        }
        trial->met->worst =
            stated > 0 && later == 0 ? fmax(trial->met->worst, used / (double)bound) : trial->met->worst;
    }
}

static void stays_within_the_bound(void **state) {
    (void)state;
    Met met = {0};
    for (uint64_t k = 0; k < GRAPHS; k++) {
        with_work(try_graph, &(Trial){0x9E3779B97F4A7C15u * (k + 1), &met});
    }
    print_message(
        "behind %u, in front %u, both %u; in front: groups %u, factors through padding %u, addends %u, refused "
        "for padding %u, for partial kernels %u; at most %.4f of the bound\n",
        met.behind, met.before, met.both, met.grouped, met.padded_factor, met.addend, met.pads, met.partial, met.worst);
    assert_true(met.behind > 100 && met.before > 100 && met.both > 100 && met.grouped > 100);
    assert_true(met.padded_factor > 100 && met.addend > 100 && met.pads > 100 && met.partial > 50);
    assert_true(met.worst > 0.25);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(stays_within_the_bound)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
