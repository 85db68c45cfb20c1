/* From nodes to tables: TFLite's operators on codes of int8. */
#include "node/table.h"

#include "kern/sigmoid.h"
#include "node/stages.h"

#include <math.h>
#include <string.h>

typedef struct {
    const Node *node;
    StageCode in, out;
    Semantics semantics;
    uint8_t *table;
    const char *why;
} Tabling;

static bool fail(Tabling *t, const char *why) {
    t->why = why;
    return false;
}

enum { LEAST = -128, LARGEST = 127 };

static void set_code(Tabling *t, int32_t code, int32_t result) {
    t->table[(uint8_t)code] = (uint8_t)(result < LEAST ? LEAST : result > LARGEST ? LARGEST : result);
}

/* ---- Operators */

/* In TFLite Micro: TFLite itself tabulates what float32 functions of the host give. */
static bool has_fixed_point(Tabling *t) {
    return t->semantics != S0_SEM_TFLITE_DOUBLE_F32 ||
           fail(t, "TFLite makes its table of float32 functions, which this reference does not say");
}

static bool tabulate_sigmoid(Tabling *t) {
    bool is_tanh = t->node->op == OP_TANH;
    S0Sigmoid sigmoid;
    if (t->out.scale != (is_tanh ? 1.0f / 128 : 1.0f / 256) || t->out.zero_point != (is_tanh ? 0 : LEAST)) {
        return fail(t, is_tanh ? "its result is not in units of 1/128 from 0 on"
                               : "its result is not in units of 1/256 from the least code on");
    }
    if (!has_fixed_point(t)) {
        return false;
    }
    if (!s0_sigmoid_bind((double)t->in.scale, s0_semantics_rounding(t->semantics), &sigmoid)) {
        return fail(t, "the kernel's factor has no value for the scale of its input");
    }
    for (int32_t code = LEAST; code <= LARGEST; code++) {
        int32_t steps = code - t->in.zero_point;
        set_code(t, code, is_tanh ? s0_tanh(&sigmoid, steps) : s0_logistic(&sigmoid, steps) + LEAST);
    }
    return true;
}

/* TFLite multiplies and divides the scales in float32. A slope of 0 is a factor of 0. */
static bool find_factor(Tabling *t, float slope, S0Multiplier *factor) {
    float product = t->in.scale * slope;
    double quotient = (double)(product / t->out.scale);
    *factor = s0_quantise_multiplier(quotient, s0_semantics_rounding(t->semantics));
    bool fits = quotient == 0 || (quotient > 0 && s0_multiplier_fits(quotient));
    return fits || fail(t, "the kernel's factor is negative, or has no value");
}

static bool tabulate_leaky(Tabling *t) {
    const S0Codes codes = {t->out.zero_point, LEAST, LARGEST};
    S0Rounding rounding = s0_semantics_rounding(t->semantics);
    S0Multiplier above, below;
    if (!find_factor(t, 1, &above) || !find_factor(t, (float)node_float(t->node, "alpha", 0), &below)) {
        return false;
    }
    for (int32_t code = LEAST; code <= LARGEST; code++) {
        int32_t steps = code - t->in.zero_point;
        set_code(t, code, s0_requantise(steps, steps < 0 ? below : above, rounding, codes));
    }
    return true;
}

/* ---- Nodes */

static bool is_tabled(OpId op) {
    return op == OP_SIGMOID || op == OP_TANH || op == OP_LEAKY_RELU;
}

static bool read_code(const Value *value, StageCode *code) {
    if (value == NULL || !value->has_shape || value->dtype != DTYPE_I8 || value->quant == NULL ||
        value->quant->count != 1 || value->quant->block != 0) {
        return false;
    }
    int64_t zero = quant_zero(value->quant, 0);
    *code = (StageCode){value->quant->scale[0], (int32_t)zero};
    return isfinite(code->scale) && code->scale > 0 && zero >= LEAST && zero <= LARGEST;
}

bool node_table(const Graph *graph, const Node *node, Semantics semantics, uint8_t table[TABLE_CODES],
                const char **why) {
    Tabling t = {.node = node, .semantics = semantics, .table = table};
    *why = NULL;
    if (!is_tabled(node->op) || graph->format != FORMAT_TFLITE) {
        return false;
    }
    if (!read_code(node_input(graph, node, 0), &t.in) || !read_code(node_output(graph, node, 0), &t.out) ||
        node_input(graph, node, 0)->constant != NULL) {
        *why = "it computes on no int8 codes as TFLite does";
        return false;
    }
    bool is_known = node->op == OP_LEAKY_RELU ? tabulate_leaky(&t) : tabulate_sigmoid(&t);
    *why = t.why;
    return is_known;
}

bool node_has_table(const Graph *graph, const Node *node) {
    const Value *table = node->input_count > TABLE_INPUT ? node_input(graph, node, TABLE_INPUT) : NULL;
    return is_tabled(node->op) && table != NULL && table->constant != NULL;
}

/* ---- The graph */

static ValueId add_table(Graph *graph, Str name, const uint8_t table[TABLE_CODES], Arena *keep) {
    uint8_t *bytes = arena_array(keep, uint8_t, TABLE_CODES);
    Const *constant = arena_new(keep, Const);
    memcpy(bytes, table, TABLE_CODES);
    *constant = (Const){.stored = {.rank = 1, .dim = {TABLE_CODES}}, .bytes = {bytes, TABLE_CODES}, .is_known = true};
    return graph_add_value(graph, keep,
                           (Value){.name = str_from(arena_text(keep, STR_FMT " table", STR_ARG(name))),
                                   .dtype = DTYPE_I8,
                                   .has_shape = true,
                                   .shape = constant->stored,
                                   .constant = constant,
                                   .producer = NO_NODE,
                                   .dims = {DIM_C}});
}

void node_add_tables(Graph *graph, Semantics semantics, Arena *keep) {
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->node_count; k++) {
        uint8_t table[TABLE_CODES];
        const char *why;
        Node *node = graph_node(graph, block->nodes[k]);
        if (node->is_constant || node->input_count != TABLE_INPUT || !node_table(graph, node, semantics, table, &why)) {
            continue;
        }
        ValueId *inputs = arena_array(keep, ValueId, TABLE_INPUT + 1);
        inputs[0] = node->inputs[0];
        inputs[TABLE_INPUT] = add_table(graph, node->name, table, keep);
        node->inputs = inputs;
        node->input_count = TABLE_INPUT + 1;
    }
}
