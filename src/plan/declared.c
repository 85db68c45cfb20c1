/* Declared contracts, looked up by the name that the model states. Alignments are powers of two, so of several the
 * largest is one for all. */
#include "plan/declared.h"

const DeviceOperator *declared_operator(const Plan *plan, const Node *node) {
    return op_info(node->op)->kind == KIND_OPAQUE ? device_find_operator(plan->device, node->op_name) : NULL;
}

static uint64_t bytes_of(const Plan *plan, const Value *value) {
    uint64_t bytes = 0;
    if (value == NULL || value->is_sequence || !value->has_shape || dtype_bits(value->dtype) == 0) {
        return 0;
    }
    const Tensor tensor = tensor_of_value(value, ROLE_ACTIVATION);
    return tensor_bytes(plan->device, &tensor, &bytes) ? bytes : 0;
}

uint64_t declared_workspace_bytes(const Plan *plan, const Node *node) {
    const DeviceOperator *declared = declared_operator(plan, node);
    if (declared == NULL || declared->workspace == WORKSPACE_BYTES) {
        return declared == NULL ? 0 : declared->workspace_bytes;
    }
    return bytes_of(plan, declared->workspace == WORKSPACE_INPUT ? node_input(plan->graph, node, 0)
                                                                 : node_output(plan->graph, node, 0));
}

bool declared_may_alias(const Plan *plan, const Node *node) {
    const DeviceOperator *declared = declared_operator(plan, node);
    return declared != NULL && declared->may_alias;
}

static uint64_t larger_align(const Plan *plan, NodeId id, uint64_t align_bytes) {
    const DeviceOperator *declared = is_node(id) ? declared_operator(plan, graph_node(plan->graph, id)) : NULL;
    return declared != NULL && declared->align_bytes > align_bytes ? declared->align_bytes : align_bytes;
}

uint64_t declared_align_bytes(const Builder *builder, ValueId value, uint32_t memory) {
    const Plan *plan = builder->plan;
    const GraphUses *uses = &builder->uses;
    bool works_there = memory == plan->device->local || plan->device->kind == DEVICE_ARENA;
    if (!works_there || plan->device->operator_count == 0 || !is_value(value)) {
        return 1;
    }
    uint64_t align_bytes = larger_align(plan, graph_value(plan->graph, value)->producer, 1);
    for (uint32_t u = uses->first[value.index]; u < uses->first[value.index + 1]; u++) {
        align_bytes = larger_align(plan, uses->use[u], align_bytes);
    }
    return align_bytes;
}

uint64_t declared_part_align_bytes(const Plan *plan) {
    const Block *block = graph_main(plan->graph);
    uint64_t align_bytes = 1;
    for (uint32_t at = 0; plan->device->operator_count > 0 && at < block->node_count; at++) {
        align_bytes = larger_align(plan, block->nodes[at], align_bytes);
    }
    return align_bytes;
}
