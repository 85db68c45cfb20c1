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
#include "graph/names.h"

#include <string.h>

typedef struct {
    Graph *graph;
    Work *work;
    GraphUses uses;
    uint32_t *reader_count; /* value -> inputs that still read it */
    bool *is_removed;       /* node -> no longer part of the graph */
} Folder;

/* How one output of a node ends: the Quantize behind it, and what stands between, or NO_NODE. */
typedef struct {
    NodeId norm, activation, quantize;
} Ending;

/* ---- Codes */

/* The Dequantize that makes `value`, null where none does or its codes can't be taken in its place. */
static const Node *dequantizer(const Folder *f, const Value *value) {
    if (value == NULL || !is_node(value->producer)) {
        return NULL;
    }
    const Node *node = graph_node(f->graph, value->producer);
    const Value *coded = node_input(f->graph, node, 0);
    bool is_one = op_info(node->op)->kind == KIND_DEQUANTIZE && coded != NULL;
    return is_one && qdq_coding_is_its_own(f->graph, node, coded, &f->work->scratch) ? node : NULL;
}

/* Is the scale another than the one its codes carry, so that only the node tells what they mean? */
static bool has_other_scale(const Folder *f, const Node *dq, const Value *coded) {
    const Value *given = node_input(f->graph, dq, 1);
    return coded->quant != NULL && coded->quant->count == 1 && given != NULL && given->dtype == DTYPE_F32 &&
           !qdq_coding_is_its_own(f->graph, dq, coded, &f->work->scratch);
}

/* The Dequantize of a stored constant, whatever its blocks, that takes fewer bytes as codes. */
static const Node *constant_coder(const Folder *f, const Value *value) {
    if (!is_node(value->producer)) {
        return NULL;
    }
    const Node *node = graph_node(f->graph, value->producer);
    const Value *coded = node_input(f->graph, node, 0);
    bool is_one = op_info(node->op)->kind == KIND_DEQUANTIZE && node->is_constant && coded != NULL &&
                  !has_other_scale(f, node, coded);
    return is_one && dtype_bits(coded->dtype) < dtype_bits(value->dtype) ? node : NULL;
}

/* ---- Does the operator fit? */

/* One accumulator adds up products over the inputs of a channel, so a scale a slice can only be one an output. */
static bool has_scale_an_output(const Folder *f, const Node *node, uint32_t k, const Value *coded) {
    const Quant *quant = coded->quant;
    uint8_t dims[SHAPE_MAX_RANK] = {0};
    if (quant->count == 1 || op_input_role(node->op, k) != 'w') {
        return true;
    }
    names_of_weights(f->graph, node, k, dims);
    return quant->axis >= 0 && dims[quant->axis] == DIM_O;
}

/* Parameters by definition (role c) and configuration may stay as they are; float operands may not. */
static bool operands_fit(const Folder *f, const Node *node) {
    bool any = false;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        if (value == NULL || !qdq_is_operand(node, k) || !value_is_float(value)) {
            continue;
        }
        const Node *dq = dequantizer(f, value);
        if (dq == NULL || !has_scale_an_output(f, node, k, node_input(f->graph, dq, 0))) {
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
    if (value->is_output || !value_is_float(value) || f->uses.first[v + 1] - f->uses.first[v] != 1) {
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
           qdq_coding_is_its_own(f->graph, node, coded, &f->work->scratch);
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

static bool is_constant_input(const Folder *f, const Node *node, uint32_t k) {
    const Value *value = node_input(f->graph, node, k);
    return value != NULL && value->constant != NULL;
}

/* A normalisation behind a convolution scales and shifts its accumulator by numbers of the channel, as requantising
 * does. */
static bool is_norm(const Folder *f, NodeId id) {
    if (!is_node(id)) {
        return false;
    }
    const Node *node = graph_node(f->graph, id);
    bool is_one = node->op == OP_BATCH_NORM && node->output_count == 1;
    for (uint32_t k = 1; is_one && k < node->input_count; k++) {
        is_one = is_constant_input(f, node, k);
    }
    return is_one;
}

static bool takes_norm(const Node *node) {
    return node->op == OP_CONV || node->op == OP_CONV_TRANSPOSE;
}

/* Steps over the node `next`; what reads its output comes next. */
static NodeId step_over(const Folder *f, NodeId next, const Node **node, uint32_t *output) {
    *node = graph_node(f->graph, next);
    *output = 0;
    return node_output(f->graph, *node, 0) == NULL ? NO_NODE : sole_reader(f, *node, 0);
}

static bool find_ending(const Folder *f, const Node *node, uint32_t output, Ending *ending) {
    *ending = (Ending){NO_NODE, NO_NODE, NO_NODE};
    NodeId next = sole_reader(f, node, output);
    bool is_open = does_arithmetic(node) && node->output_count == 1 && node_attr(node, "activation") == NULL;
    if (is_open && takes_norm(node) && is_norm(f, next)) {
        ending->norm = next;
        next = step_over(f, next, &node, &output);
    }
    if (is_open && is_activation(f, next)) {
        ending->activation = next;
        next = step_over(f, next, &node, &output);
    }
    ending->quantize = next;
    return is_quantize(f, next, node->outputs[output]);
}

static bool codes_pass_through(const Folder *f, const Node *node, const Ending *endings) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        if (value == NULL || !qdq_is_operand(node, k) || !value_is_float(value)) {
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

/* An operator on codes may be the file's own; this one goes on computing in reals. */
static void note_reals(Folder *f, Node *node, DType reals) {
    add_attr(f, node, (Attr){.name = STR("reals"), .kind = ATTR_STR, .s = str_from(dtype_name(reals))});
}

static DType reals_of(const Folder *f, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        if (value != NULL && qdq_is_operand(node, k) && value_is_float(value)) {
            return value->dtype;
        }
    }
    return DTYPE_NONE;
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

/* Its parameters become the convolution's, behind the bias. */
static void take_norm(Folder *f, Node *node, NodeId id) {
    enum { BEHIND_BIAS = 3 };
    const Node *norm = graph_node(f->graph, id);
    uint32_t count = BEHIND_BIAS + norm->input_count - 1;
    ValueId *inputs = arena_array(&f->work->keep, ValueId, count);
    for (uint32_t k = 0; k < BEHIND_BIAS; k++) {
        inputs[k] = k < node->input_count ? node->inputs[k] : NO_VALUE;
    }
    for (uint32_t k = BEHIND_BIAS; k < count; k++) {
        inputs[k] = norm->inputs[k - BEHIND_BIAS + 1];
        f->reader_count[inputs[k].index]++;
    }
    node->inputs = inputs;
    node->input_count = count;
    graph_value(f->graph, norm->outputs[0])->producer = NO_NODE;
    remove_node(f, id);
}

static void give_codes_out(Folder *f, NodeId id, Node *node, const Ending *endings) {
    ValueId *outputs = arena_array(&f->work->keep, ValueId, node->output_count);
    for (uint32_t o = 0; o < node->output_count; o++) {
        outputs[o] = node->outputs[o];
        if (!is_value(outputs[o])) {
            continue;
        }
        if (is_node(endings[o].norm)) {
            take_norm(f, node, endings[o].norm);
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

/* The Dequantize in front of a Quantize, whatever scale it is given, as long as that is a constant. */
static const Node *coder_before(const Folder *f, const Node *node) {
    const Value *value = node_input(f->graph, node, 0);
    if (value == NULL || !is_node(value->producer)) {
        return NULL;
    }
    const Node *dq = graph_node(f->graph, value->producer);
    bool is_one = op_info(dq->op)->kind == KIND_DEQUANTIZE && node_input(f->graph, dq, 0) != NULL;
    for (uint32_t k = 1; is_one && k < dq->input_count; k++) {
        is_one = node_input(f->graph, dq, k) == NULL || is_constant_input(f, dq, k);
    }
    return is_one ? dq : NULL;
}

/* The codes in place of the reals; a scale that their record does not tell comes along, behind the inputs the node has.
 */
static void read_codes(Folder *f, Node *node, const Node *dq, bool is_told) {
    uint32_t extra = is_told ? 0 : dq->input_count - 1;
    ValueId *inputs = arena_array(&f->work->keep, ValueId, node->input_count + extra);
    memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    memcpy(inputs + node->input_count, dq->inputs + 1, extra * sizeof *inputs);
    for (uint32_t k = 0; k < extra; k++) {
        if (is_value(dq->inputs[k + 1])) {
            f->reader_count[dq->inputs[k + 1].index]++;
        }
    }
    inputs[0] = dq->inputs[0];
    f->reader_count[inputs[0].index]++;
    stop_reading(f, node->inputs[0]);
    node->inputs = inputs;
    node->input_count += extra;
}

/* Quantize right behind Dequantize: codes to codes. To the same codes it changes nothing, as long as the way through
 * float32 rounds back to each of them, which it does up to 16 bits. */
static void fold_pair(Folder *f, NodeId id) {
    Node *node = graph_node(f->graph, id);
    const Value *coded = node_output(f->graph, node, 0);
    const Node *dq = op_info(node->op)->kind == KIND_QUANTIZE ? coder_before(f, node) : NULL;
    if (dq == NULL || node->is_constant || coded == NULL ||
        !qdq_coding_is_its_own(f->graph, node, coded, &f->work->scratch)) {
        return;
    }
    ValueId codes = dq->inputs[0];
    bool is_own = qdq_coding_is_its_own(f->graph, dq, graph_value(f->graph, codes), &f->work->scratch);
    note_reals(f, node, node_input(f->graph, node, 0)->dtype);
    add_attr(f, node, (Attr){.name = STR("taken_axis"), .kind = ATTR_INT, .i = node_int(dq, "axis", 1)});
    bool is_told = is_own && graph_value(f->graph, codes)->quant->count == 1; /* by the record of the codes alone */
    read_codes(f, node, dq, is_told);
    if (is_own && qdq_same_codes(graph_value(f->graph, codes), coded) && dtype_bits(coded->dtype) <= 16) {
        node->op = OP_IDENTITY;
        node->op_name = STR("Identity");
        node->input_count = 1;
        node->attr_count = 0;
    }
}

/* Weights that are stored as codes stay codes where the operator stays float: made floats, they would take more bytes
 * than the file. */
static void read_stored_codes(Folder *f, Node *node) {
    ValueId *inputs = NULL;
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(f->graph, node, k);
        bool is_operand = qdq_is_operand(node, k) || op_input_role(node->op, k) == 'c';
        const Node *dq = value == NULL || !is_operand ? NULL : constant_coder(f, value);
        if (dq == NULL) {
            continue;
        }
        if (inputs == NULL) {
            inputs = arena_array(&f->work->keep, ValueId, node->input_count);
            memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
            node->inputs = inputs;
        }
        f->reader_count[dq->inputs[0].index]++;
        stop_reading(f, inputs[k]);
        inputs[k] = dq->inputs[0];
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
            Node *node = graph_node(graph, id);
            if (!qdq_only_moves(node->op)) {
                note_reals(&f, node, reals_of(&f, node));
            }
            take_codes_in(&f, graph_node(graph, id));
            give_codes_out(&f, id, graph_node(graph, id), endings);
        } else {
            fold_pair(&f, id);
        }
        if (!f.is_removed[id.index] && !graph_node(graph, id)->is_constant) {
            read_stored_codes(&f, graph_node(graph, id));
        }
    }
    close_ranks(&f);
    return true;
}
