/* Dequantize - operator - Quantize, read as one operator on integer codes.
 *
 *      q ─DQ─ f ─┐                                 q ─┐
 *      w ─DQ─ g ─┤ Conv ─ y ─ Relu ─ z ─Q─ o   =>  w ─┤ Conv ─ o      activation="RELU"
 *      b ─DQ─ h ─┘                                 b ─┘
 * Conditions, all by structure: every float operand comes from a Dequantize; every output has one reader, a Quantize,
 * or an activation with one; nothing between is an output of the model; each scale is known and is the one its codes
 * carry. An operator that only moves elements must in addition read and write the same codes: it has no arithmetic that
 * could requantise. What does not meet this stays float, as the
 * file has it; only the place of a coder beside an operator that moves elements is free: see qdq_move.c. */
#include "graph/qdq.h"

#include "graph/fold.h"

#include <string.h>

typedef struct {
    Graph *graph;
    Work *work;
    GraphUses uses;
    uint32_t *reader_count; /* value -> inputs that still read it */
    bool *is_removed;       /* node -> no longer part of the graph */
} Folder;

/* How one output of a node ends: the Quantize behind it, and the activation between, or NO_NODE. */
typedef struct {
    NodeId activation, quantize;
} Ending;

/* ---- Codes */

static int64_t zero_point_of(const Quant *quant, uint32_t k) {
    return quant->zero_point == NULL ? 0 : quant->zero_point[k];
}

bool qdq_same_codes(const Value *a, const Value *b) {
    const Quant *x = a->quant, *y = b->quant;
    if (a->dtype != b->dtype || x == NULL || y == NULL || x->count != y->count || x->axis != y->axis ||
        x->block != y->block) {
        return false;
    }
    for (uint32_t k = 0; k < x->count; k++) {
        if (x->scale[k] != y->scale[k] || zero_point_of(x, k) != zero_point_of(y, k)) {
            return false;
        }
    }
    return true;
}

/* A value may be read with another scale than it was written with: then its codes do not mean what its quantisation
 * says, and the node that says so must stay. */
bool qdq_scale_is_its_own(const Graph *graph, const Node *coder, const Value *coded, Arena *scratch) {
    Floats scale;
    const Value *given = node_input(graph, coder, 1);
    if (coded->quant == NULL || coded->quant->block != 0) {
        return false;
    }
    if (given == NULL) {
        return true; /* TFLite: the codes carry the only scale there is */
    }
    if (!const_floats(given, scratch, &scale) || scale.count != coded->quant->count) {
        return false;
    }
    for (uint32_t k = 0; k < scale.count; k++) {
        if ((float)scale.at[k] != coded->quant->scale[k]) {
            return false;
        }
    }
    return true;
}

/* The Dequantize that makes `value`, null where none does or its codes can't be taken in its place. */
static const Node *dequantizer(const Folder *f, const Value *value) {
    if (value == NULL || !is_node(value->producer)) {
        return NULL;
    }
    const Node *node = graph_node(f->graph, value->producer);
    const Value *coded = node_input(f->graph, node, 0);
    bool is_one = op_info(node->op)->kind == KIND_DEQUANTIZE && coded != NULL;
    return is_one && qdq_scale_is_its_own(f->graph, node, coded, &f->work->scratch) ? node : NULL;
}

/* ---- Does the operator fit? */

static bool is_float(const Value *value) {
    return dtype_kind(value->dtype) == DTYPE_KIND_FLOAT;
}

bool qdq_is_operand(const Node *node, uint32_t k) {
    char role = op_input_role(node->op, k);
    return role == 'x' || role == 'w' || role == 'p';
}

/* Parameters by definition (role c) and configuration may stay as they are; float operands may not. */
static bool operands_fit(const Folder *f, const Node *node) {
    bool any = false;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        if (value == NULL || !qdq_is_operand(node, k) || !is_float(value)) {
            continue;
        }
        if (dequantizer(f, value) == NULL) {
            return false;
        }
        any = true;
    }
    return any;
}

/* The only reader of a float value that nobody outside sees; NO_NODE where it is not so. */
static NodeId sole_reader(const Folder *f, const Node *node, uint32_t output) {
    const Value *value = node_output(f->graph, node, output);
    uint32_t v = node->outputs[output].index;
    if (value->is_output || !is_float(value) || f->uses.first[v + 1] - f->uses.first[v] != 1) {
        return NO_NODE;
    }
    return f->uses.use[f->uses.first[v]];
}

static bool is_quantize(const Folder *f, NodeId id, ValueId read) {
    if (!is_node(id)) {
        return false;
    }
    const Node *node = graph_node(f->graph, id);
    const Value *coded = node_output(f->graph, node, 0);
    return op_info(node->op)->kind == KIND_QUANTIZE && node->inputs[0].index == read.index && coded != NULL &&
           qdq_scale_is_its_own(f->graph, node, coded, &f->work->scratch);
}

/* Clip's limits, from attributes (before opset 11) or constant inputs. False where they are not known. */
static bool clip_limits(const Folder *f, const Node *clip, double limit[2]) {
    static const char *const names[] = {"min", "max"};
    static const double open[] = {-3.4028234663852886e38, 3.4028234663852886e38};
    for (uint32_t k = 0; k < 2; k++) {
        const Value *given = node_input(f->graph, clip, k + 1);
        Floats number;
        limit[k] = node_float(clip, names[k], open[k]);
        if (given == NULL) {
            continue;
        }
        if (!const_floats(given, &f->work->scratch, &number) || number.count != 1) {
            return false;
        }
        limit[k] = number.at[0];
    }
    return true;
}

static bool is_activation(const Folder *f, NodeId id) {
    if (!is_node(id)) {
        return false;
    }
    const Node *node = graph_node(f->graph, id);
    double limit[2];
    return node->op == OP_RELU || node->op == OP_RELU6 || (node->op == OP_CLIP && clip_limits(f, node, limit));
}

static bool does_arithmetic(const Node *node) {
    OpKind kind = op_info(node->op)->kind;
    return kind == KIND_COMPUTE || kind == KIND_BROADCAST || kind == KIND_NORM;
}

static bool find_ending(const Folder *f, const Node *node, uint32_t output, Ending *ending) {
    *ending = (Ending){NO_NODE, NO_NODE};
    NodeId next = sole_reader(f, node, output);
    if (does_arithmetic(node) && node->output_count == 1 && node_attr(node, "activation") == NULL &&
        is_activation(f, next)) {
        ending->activation = next;
        node = graph_node(f->graph, next);
        output = 0;
        next = node_output(f->graph, node, 0) == NULL ? NO_NODE : sole_reader(f, node, 0);
    }
    ending->quantize = next;
    return is_quantize(f, next, node->outputs[output]);
}

static bool codes_pass_through(const Folder *f, const Node *node, const Ending *endings) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        if (value == NULL || !qdq_is_operand(node, k) || !is_float(value)) {
            continue;
        }
        const Value *in = node_input(f->graph, dequantizer(f, value), 0);
        for (uint32_t o = 0; o < node->output_count; o++) {
            if (node_output(f->graph, node, o) != NULL &&
                !qdq_same_codes(in, node_output(f->graph, graph_node(f->graph, endings[o].quantize), 0))) {
                return false;
            }
        }
    }
    return true;
}

static bool fits(const Folder *f, const Node *node, Ending *endings) {
    if ((op_info(node->op)->flags & OP_INTEGER_FORM) == 0 || node->is_constant || !operands_fit(f, node)) {
        return false;
    }
    bool any = false;
    for (uint32_t o = 0; o < node->output_count; o++) {
        if (node_output(f->graph, node, o) == NULL) {
            continue;
        }
        if (!find_ending(f, node, o, &endings[o])) {
            return false;
        }
        any = true;
    }
    return any && (!qdq_only_moves(node->op) || codes_pass_through(f, node, endings));
}

/* ---- Rewriting */

static void remove_node(Folder *f, NodeId id) {
    if (f->is_removed[id.index]) {
        return;
    }
    f->is_removed[id.index] = true;
    const Node *node = graph_node(f->graph, id);
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (is_value(node->inputs[k])) {
            f->reader_count[node->inputs[k].index]--;
        }
    }
}

/* A Dequantize stays while somebody reads it. */
static void stop_reading(Folder *f, ValueId id) {
    Value *value = graph_value(f->graph, id);
    if (--f->reader_count[id.index] == 0 && !value->is_output) {
        remove_node(f, value->producer);
        value->producer = NO_NODE;
    }
}

static void take_codes_in(Folder *f, Node *node) {
    ValueId *inputs = arena_array(&f->work->keep, ValueId, node->input_count);
    for (uint32_t k = 0; k < node->input_count; k++) {
        inputs[k] = node->inputs[k];
        const Value *value = node_input(f->graph, node, k);
        const Node *dq = qdq_is_operand(node, k) || op_input_role(node->op, k) == 'c' ? dequantizer(f, value) : NULL;
        if (dq != NULL) {
            inputs[k] = dq->inputs[0];
            f->reader_count[inputs[k].index]++;
        }
    }
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (is_value(inputs[k]) && inputs[k].index != node->inputs[k].index) {
            stop_reading(f, node->inputs[k]);
        }
    }
    node->inputs = inputs;
}

static void add_attr(Folder *f, Node *node, Attr attr) {
    Attr *attrs = arena_array(&f->work->keep, Attr, (size_t)node->attr_count + 1);
    if (node->attr_count > 0) {
        memcpy(attrs, node->attrs, node->attr_count * sizeof *attrs);
    }
    attrs[node->attr_count++] = attr;
    node->attrs = attrs;
}

/* The words are TFLite's; CLIP is for limits that TFLite has no word for. */
static void take_activation(Folder *f, Node *node, NodeId id) {
    const Node *activation = graph_node(f->graph, id);
    Str word = activation->op == OP_RELU ? STR("RELU") : activation->op == OP_RELU6 ? STR("RELU6") : STR("CLIP");
    double limit[2] = {0, 0};
    if (activation->op == OP_CLIP) {
        (void)clip_limits(f, activation, limit);
        word = limit[0] == 0 && limit[1] == 6 ? STR("RELU6") : word;
    }
    add_attr(f, node, (Attr){.name = STR("activation"), .kind = ATTR_STR, .s = word});
    if (str_eq(word, STR("CLIP"))) {
        add_attr(f, node, (Attr){.name = STR("activation_min"), .kind = ATTR_FLOAT, .f = limit[0]});
        add_attr(f, node, (Attr){.name = STR("activation_max"), .kind = ATTR_FLOAT, .f = limit[1]});
    }
    graph_value(f->graph, activation->outputs[0])->producer = NO_NODE;
    remove_node(f, id);
}

static void give_codes_out(Folder *f, NodeId id, Node *node, const Ending *endings) {
    ValueId *outputs = arena_array(&f->work->keep, ValueId, node->output_count);
    for (uint32_t o = 0; o < node->output_count; o++) {
        outputs[o] = node->outputs[o];
        if (!is_value(outputs[o])) {
            continue;
        }
        if (is_node(endings[o].activation)) {
            take_activation(f, node, endings[o].activation);
        }
        graph_value(f->graph, outputs[o])->producer = NO_NODE;
        outputs[o] = graph_node(f->graph, endings[o].quantize)->outputs[0];
        remove_node(f, endings[o].quantize);
        graph_value(f->graph, outputs[o])->producer = id;
    }
    node->outputs = outputs;
}

/* Quantize right behind Dequantize: codes to codes. To the same codes it changes nothing, as long as the way through
 * float32 rounds back to each of them, which it does up to 16 bits. */
static void fold_pair(Folder *f, NodeId id) {
    Node *node = graph_node(f->graph, id);
    const Value *coded = node_output(f->graph, node, 0);
    const Node *dq = node->input_count == 0 ? NULL : dequantizer(f, node_input(f->graph, node, 0));
    if (op_info(node->op)->kind != KIND_QUANTIZE || node->is_constant || dq == NULL || coded == NULL ||
        !qdq_scale_is_its_own(f->graph, node, coded, &f->work->scratch)) {
        return;
    }
    ValueId codes = dq->inputs[0];
    ValueId *inputs = arena_array(&f->work->keep, ValueId, node->input_count);
    memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    inputs[0] = codes;
    f->reader_count[codes.index]++;
    stop_reading(f, node->inputs[0]);
    node->inputs = inputs;
    if (qdq_same_codes(graph_value(f->graph, codes), coded) && dtype_bits(coded->dtype) <= 16) {
        node->op = OP_IDENTITY;
        node->op_name = STR("Identity");
        node->input_count = 1;
        node->attr_count = 0;
    }
}

static void close_ranks(const Folder *f) {
    Block *main = graph_main(f->graph);
    uint32_t kept = 0;
    for (uint32_t at = 0; at < main->node_count; at++) {
        if (!f->is_removed[main->nodes[at].index]) {
            main->nodes[kept++] = main->nodes[at];
        }
    }
    main->node_count = kept;
}

bool graph_fold_qdq(Graph *graph, Work *work) {
    qdq_move(graph, work);
    Folder f = {.graph = graph, .work = work, .uses = graph_uses(graph, &work->scratch)};
    f.reader_count = arena_array(&work->scratch, uint32_t, graph->value_count);
    f.is_removed = arena_array(&work->scratch, bool, graph->node_count);
    uint32_t most_outputs = 0;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        f.reader_count[v] = f.uses.first[v + 1] - f.uses.first[v];
    }
    for (uint32_t n = 0; n < graph->node_count; n++) {
        most_outputs = graph->nodes[n].output_count > most_outputs ? graph->nodes[n].output_count : most_outputs;
    }
    Ending *endings = arena_array(&work->scratch, Ending, most_outputs);
    const Block *main = graph_main(graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        if (f.is_removed[id.index]) {
            continue;
        }
        if (fits(&f, graph_node(graph, id), endings)) {
            take_codes_in(&f, graph_node(graph, id));
            give_codes_out(&f, id, graph_node(graph, id), endings);
        } else {
            fold_pair(&f, id);
        }
    }
    close_ranks(&f);
    return true;
}
