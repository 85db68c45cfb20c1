/* Concat in place: every input is written straight into the output, and the concat makes no step. */
#include "plan/builder.h"

#include "graph/box.h"

/* One scale for all, which a slice along any axis keeps; codes that say nothing are not requantised. */
static bool same_codes(const Quant *part, const Quant *whole) {
    return part == NULL || whole == NULL || (whole->count == 1 && quant_eq(part, whole));
}

/* The caller fills an input of an arena where it lies; its input and its output are two pointers. */
static AliasRefusal input_refusal(const Builder *builder, const Value *part, const Value *whole, const Buffer *buffer) {
    const Plan *plan = builder->plan;
    bool is_input = part->is_input || buffer->holds_input;
    if (!is_input || plan->device->kind != DEVICE_ARENA) {
        return REFUSED_NONE;
    }
    if (plan->options.pin_inputs) {
        return REFUSED_PINNED;
    }
    return whole->is_output ? REFUSED_GRAPH_OUTPUT : REFUSED_NONE;
}

/* A part can be written straight into the whole where a step writes it, into bytes of its own, for this reader alone.
 */
static AliasRefusal part_refusal(const Builder *builder, const Node *node, uint32_t k) {
    const Plan *plan = builder->plan;
    const Value *part = node_input(plan->graph, node, k);
    const Value *whole = node_output(plan->graph, node, 0);
    if (part == NULL || part->constant != NULL) {
        return REFUSED_CONSTANT;
    }
    BufferId buffer = plan->of_value[node->inputs[k].index];
    if (part->is_state) {
        return REFUSED_STATE;
    }
    if (part->is_output) {
        return REFUSED_GRAPH_OUTPUT;
    }
    if (!is_buffer(buffer) || is_buffer(plan_buffer(plan, buffer)->alias_of)) {
        return REFUSED_PINNED; /* its place is settled already: another concat's, or a view's */
    }
    AliasRefusal refusal = input_refusal(builder, part, whole, plan_buffer(plan, buffer));
    if (refusal != REFUSED_NONE) {
        return refusal;
    }
    return same_codes(part->quant, whole->quant) ? REFUSED_NONE : REFUSED_OPERATOR; /* else the concat requantises */
}

/* Parts are compared with each other, so a concat of more than BOX_MOST_PARTS is a copy. */
static bool is_repeated(const Node *node, uint32_t k) {
    for (uint32_t before = 0; before < k; before++) {
        if (node->inputs[before].index == node->inputs[k].index) {
            return true;
        }
    }
    return false;
}

/* Where a part's padding reaches into the next, a kernel that writes whole rows would write over its neighbour. */
static bool parts_keep_clear(const Plan *plan, const Node *node, const uint64_t *offsets) {
    for (uint32_t k = 0; k + 1 < node->input_count; k++) {
        const Buffer *part = plan_buffer(plan, plan->of_value[node->inputs[k].index]);
        if (offsets[k + 1] < offsets[k] || offsets[k + 1] - offsets[k] < part->physical_bytes) {
            return false;
        }
    }
    return true;
}

static bool all_parts_fit(Builder *builder, NodeId id, uint64_t *offsets) {
    const Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, id);
    bool fit = node->input_count > 0 && node->input_count <= BOX_MOST_PARTS &&
               !(node_output(plan->graph, node, 0)->is_output && plan->options.pin_outputs);
    for (uint32_t k = 0; k < node->input_count && node->input_count <= BOX_MOST_PARTS; k++) {
        AliasRefusal refusal = is_repeated(node, k) ? REFUSED_LATER_READER : part_refusal(builder, node, k);
        if (refusal == REFUSED_NONE && concat_part(builder, id, k, &offsets[k], &refusal)) {
            continue;
        }
        fit = false;
        BufferId part = is_value(node->inputs[k]) ? plan->of_value[node->inputs[k].index] : NO_BUFFER;
        if (is_buffer(part) && !is_buffer(plan_buffer(plan, part)->alias_of)) {
            plan_buffer(plan, part)->refused_alias = refusal;
        }
    }
    return fit && parts_keep_clear(plan, node, offsets);
}

static bool takes_input(const Builder *builder, const Node *node) {
    for (uint32_t k = 0; k < node->input_count; k++) {
        const Value *part = node_input(builder->plan->graph, node, k);
        if (part != NULL && part->is_input) {
            return true;
        }
    }
    return false;
}

bool concat_in_place(Builder *builder, NodeId id, bool *ok) {
    Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, id);
    BufferId whole;
    *ok = true;
    if (op_info(node->op)->kind != KIND_CONCAT || !builder->plan->choice.sub_views || node->output_count != 1 ||
        !is_value(node->outputs[0])) {
        return false;
    }
    if (!builder->plan->choice.input_parts && takes_input(builder, node)) {
        return false;
    }
    uint64_t *offsets = arena_array(&builder->work->scratch, uint64_t, node->input_count);
    if (!all_parts_fit(builder, id, offsets)) {
        return false;
    }
    *ok = lower_value(builder, node->outputs[0], &whole);
    for (uint32_t k = 0; *ok && k < node->input_count; k++) {
        Buffer *part = plan_buffer(plan, plan->of_value[node->inputs[k].index]);
        bool is_input = part->kind == BUFFER_INPUT || part->holds_input;
        plan_buffer(plan, whole)->holds_input = plan_buffer(plan, whole)->holds_input || is_input;
        part->alias_of = whole;
        part->alias_offset_bytes = offsets[k];
        part->alias_reason = ALIAS_CONCAT;
        part->refused_alias = REFUSED_NONE;
    }
    return *ok;
}
