/* Dequantize below and Quantize above what only moves elements, so that both come to stand beside the arithmetic.
 *
 *      q ─DQ─ f ─Transpose─ t ─Conv        =>   q ─Transpose─ v ─DQ─ t ─Conv
 *      Conv ─ y ─Reshape─ t ─Q─ o          =>   Conv ─ y ─Q─ v ─Reshape─ o
 * Exact: with one scale for the tensor, coding an element does not depend on where it stands; and MaxPool picks the
 * same one, for codes order as the numbers do (scales are positive). The value between must have no other reader. */
#include "graph/qdq.h"

typedef struct {
    Graph *graph;
    Work *work;
    GraphUses uses;
    uint32_t *position; /* node -> its place in the order of the main block */
} Mover;

/* Space-to-batch and Pad bring in zeros of their own, which are other codes. */
static bool is_movable(OpId op) {
    return qdq_only_moves(op) && (op_info(op)->flags & OP_INTEGER_FORM) != 0 && op != OP_PAD && op != OP_SPACE_TO_BATCH;
}

/* The one input whose elements `node` moves to its one output; input_count where there is no such input. */
static uint32_t moved_input(const Mover *m, const Node *node) {
    uint32_t found = node->input_count;
    if (!is_movable(node->op) || node->is_constant || node->output_count != 1 || !is_value(node->outputs[0])) {
        return found;
    }
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *value = node_input(m->graph, node, k);
        if (value == NULL || value->constant != NULL) {
            continue;
        }
        bool is_data = qdq_is_operand(node, k) && value_is_float(value);
        if (found != node->input_count || !is_data) {
            return node->input_count; /* another operand, or a shape that is computed */
        }
        found = k;
    }
    return found;
}

static bool is_between(const Mover *m, ValueId id) {
    return !graph_value(m->graph, id)->is_output && m->uses.first[id.index + 1] - m->uses.first[id.index] == 1;
}

/* Integers only: `uses` does not know the values that are added, and nobody asks for those of codes. */
static bool has_one_scale(const Mover *m, const Node *coder, const Value *coded) {
    const Value *zero_point = node_input(m->graph, coder, 2);
    return coded != NULL && !value_is_float(coded) && coded->constant == NULL && coded->quant != NULL &&
           coded->quant->axis < 0 && coded->quant->scale[0] > 0 &&
           (zero_point == NULL || zero_point->constant != NULL) &&
           qdq_coding_is_its_own(m->graph, coder, coded, &m->work->scratch);
}

static ValueId add_codes(const Mover *m, const Value *codes, const Value *place) {
    Value value = *place;
    value.name = arena_format(&m->work->keep, STR_FMT "_codes", STR_ARG(place->name));
    value.dtype = codes->dtype;
    value.quant = codes->quant;
    value.is_input = value.is_output = value.is_state = false;
    value.constant = NULL;
    value.producer = NO_NODE;
    return graph_add_value(m->graph, &m->work->keep, value);
}

static void set_input(const Mover *m, Node *node, uint32_t k, ValueId id) {
    ValueId *inputs = arena_array(&m->work->keep, ValueId, node->input_count);
    for (uint32_t i = 0; i < node->input_count; i++) {
        inputs[i] = i == k ? id : node->inputs[i];
    }
    node->inputs = inputs;
}

static void set_output(const Mover *m, NodeId id, ValueId output) {
    Node *node = graph_node(m->graph, id);
    node->outputs = arena_array(&m->work->keep, ValueId, 1);
    node->outputs[0] = output;
    node->output_count = 1;
    graph_value(m->graph, output)->producer = id;
}

typedef struct {
    NodeId id;
    uint32_t input; /* through which the elements come */
} Link;

/* a -first- between -second- z becomes a -second- codes -first- z. */
static void exchange(Mover *m, Link first, Link second, ValueId codes) {
    Node *one = graph_node(m->graph, first.id), *two = graph_node(m->graph, second.id);
    ValueId start = one->inputs[first.input], end = two->outputs[0];
    graph_value(m->graph, one->outputs[0])->producer = NO_NODE;
    set_input(m, two, second.input, start);
    set_output(m, second.id, codes);
    set_input(m, one, first.input, codes);
    set_output(m, first.id, end);
    uint32_t at = m->position[first.id.index];
    m->position[first.id.index] = m->position[second.id.index];
    m->position[second.id.index] = at;
    graph_main(m->graph)->nodes[m->position[first.id.index]] = first.id;
    graph_main(m->graph)->nodes[at] = second.id;
}

/* Then the mover itself is the integer operator. */
static bool ends_in_same_codes(const Mover *m, const Node *node, const Value *codes) {
    uint32_t v = node->outputs[0].index;
    if (!is_between(m, node->outputs[0])) {
        return false;
    }
    const Node *reader = graph_node(m->graph, m->uses.use[m->uses.first[v]]);
    const Value *coded = node_output(m->graph, reader, 0);
    return op_info(reader->op)->kind == KIND_QUANTIZE && coded != NULL && qdq_same_codes(codes, coded);
}

static void sink_into(Mover *m, NodeId id) {
    const Node *node = graph_node(m->graph, id);
    uint32_t k = moved_input(m, node);
    if (k == node->input_count || !is_node(graph_value(m->graph, node->inputs[k])->producer) ||
        graph_value(m->graph, node->outputs[0])->is_output) {
        return;
    }
    NodeId above = graph_value(m->graph, node->inputs[k])->producer;
    const Node *dequantize = graph_node(m->graph, above);
    const Value *codes = node_input(m->graph, dequantize, 0);
    if (op_info(dequantize->op)->kind == KIND_DEQUANTIZE && is_between(m, node->inputs[k]) &&
        has_one_scale(m, dequantize, codes) && !ends_in_same_codes(m, node, codes)) {
        exchange(m, (Link){above, 0}, (Link){id, k}, add_codes(m, codes, graph_value(m->graph, node->outputs[0])));
    }
}

/* True where the Quantize rose by one operator. */
static bool rise(Mover *m, NodeId id) {
    const Node *quantize = graph_node(m->graph, id);
    const Value *codes = node_output(m->graph, quantize, 0);
    if (op_info(quantize->op)->kind != KIND_QUANTIZE || node_input(m->graph, quantize, 0) == NULL ||
        quantize->output_count != 1 || !has_one_scale(m, quantize, codes)) {
        return false;
    }
    NodeId above = node_input(m->graph, quantize, 0)->producer;
    if (!is_node(above) || !is_between(m, quantize->inputs[0])) {
        return false;
    }
    const Node *mover = graph_node(m->graph, above);
    uint32_t k = moved_input(m, mover);
    if (k == mover->input_count || !is_between(m, mover->inputs[k])) {
        return false;
    }
    const Value *start = graph_value(m->graph, mover->inputs[k]);
    if (is_node(start->producer) && op_info(graph_node(m->graph, start->producer)->op)->kind == KIND_DEQUANTIZE) {
        return false; /* nothing above to fold with */
    }
    exchange(m, (Link){above, k}, (Link){id, 0}, add_codes(m, codes, start));
    return true;
}

void qdq_move(Graph *graph, Work *work) {
    Mover m = {.graph = graph, .work = work, .uses = graph_uses(graph, &work->scratch)};
    m.position = arena_array(&work->scratch, uint32_t, graph->node_count);
    const Block *main = graph_main(graph);
    for (uint32_t at = 0; at < main->node_count; at++) {
        m.position[main->nodes[at].index] = at;
    }
    for (uint32_t at = 0; at < main->node_count; at++) {
        sink_into(&m, main->nodes[at]);
    }
    for (uint32_t at = 0; at < main->node_count; at++) {
        NodeId id = main->nodes[at];
        while (rise(&m, id)) {
        }
    }
}
