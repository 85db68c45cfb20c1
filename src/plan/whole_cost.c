/* What the engine does at a step over whole maps: products, or passes of stages over what it makes. */
#include "plan/whole_cost.h"

#include "node/input.h"
#include "node/reach.h"
#include "plan/tensor.h"
#include "sweep/cycles.h"

/* One pass over `elements` of so many bits each. */
static bool pass_cycles(const Device *device, uint64_t elements, uint32_t bits, uint64_t *cycles) {
    uint64_t all;
    if (!checked_mul(elements, bits, &all)) {
        return false;
    }
    *cycles = cycles_of_pass(device, bytes_from_bits(all));
    return true;
}

/* A stage goes over the wider of what goes in and what comes out. */
static bool stages_cycles(const Device *device, const NodeStages *stages, uint64_t elements, uint64_t *cycles) {
    bool ok = true;
    *cycles = 0;
    for (uint32_t s = 0; ok && s < stages->count; s++) {
        uint32_t from = dtype_bits(stages->stage[s].stage.from), to = dtype_bits(stages->stage[s].stage.to);
        uint64_t one;
        ok = pass_cycles(device, elements, from > to ? from : to, &one) && checked_add(*cycles, one, cycles);
    }
    return ok;
}

/* Bits of the first map that it reads; 0 where it reads none. */
static uint32_t bits_read(const Graph *graph, const Node *node) {
    int32_t first = node_first_map(graph, node);
    return first == NO_INPUT ? 0 : dtype_bits(node_input(graph, node, (uint32_t)first)->dtype);
}

static bool passes_cycles(const Plan *plan, const Node *node, uint64_t passes, uint64_t *cycles) {
    uint32_t from = bits_read(plan->graph, node);
    bool ok = true;
    *cycles = 0;
    for (uint32_t k = 0; ok && k < node->output_count; k++) {
        const Value *out = node_output(plan->graph, node, k);
        uint64_t elements, one;
        if (out == NULL || !out->has_shape || out->is_sequence) {
            continue;
        }
        uint32_t to = dtype_bits(out->dtype);
        ok = shape_elements(&out->shape, &elements) &&
             pass_cycles(plan->device, elements, from > to ? from : to, &one) && checked_add(*cycles, one, cycles);
    }
    return ok && checked_mul(*cycles, passes, cycles);
}

bool whole_work_is_assumed(const Graph *graph, const Node *node, Arena *scratch) {
    return !node_reach(graph, node, scratch).is_known;
}

bool whole_work(const Plan *plan, const Node *node, Arena *scratch, uint64_t *cycles, bool *is_assumed) {
    const NodeReach reach = node_reach(plan->graph, node, scratch);
    const Value *out = node_output(plan->graph, node, 0);
    NodeStages stages;
    const char *why;
    uint64_t elements = 0;
    *is_assumed = !reach.is_known;
    if (out != NULL && out->has_shape && !shape_elements(&out->shape, &elements)) {
        return false;
    }
    if (reach.macs > 0) {
        return cycles_of_products(plan->device, elements, reach.macs, cycles);
    }
    return node_stages(plan->graph, node, &stages, &why) ? stages_cycles(plan->device, &stages, elements, cycles)
                                                         : passes_cycles(plan, node, reach.passes, cycles);
}
