/* Counting rewrites, and what outputs can hold. */
#include "ledger/simplification.h"

#include "affine/affine.h"

#include <math.h>
#include <string.h>

static RuleTotal *total_of(RuleTotal *rules, uint32_t *count, const char *rule) {
    for (uint32_t k = 0; k < *count; k++) {
        if (strcmp(rules[k].rule, rule) == 0) {
            return &rules[k];
        }
    }
    rules[*count] = (RuleTotal){.rule = rule};
    return &rules[(*count)++];
}

void simplification_count(Simplification *facts, Arena *keep) {
    const Simplified *done = facts->simplified;
    RuleTotal *rules = arena_array(keep, RuleTotal, done->rewrite_count);
    for (size_t i = 0; i < done->rewrite_count; i++) {
        const Rewrite *rewrite = &done->rewrites[i];
        const Certificate *certificate = &rewrite->certificate;
        RuleTotal *total = total_of(rules, &facts->rule_count, certificate->rule);
        total->count++;
        total->nodes += rewrite->nodes;
        total->verified += rewrite->is_verified;
        total->evaluations += certificate->evaluations;
        total->constant_bytes += rewrite->constant_bytes;
        total->max_error =
            certificate->max_error_lsb > total->max_error ? certificate->max_error_lsb : total->max_error;
    }
    facts->rules = rules;
    facts->nodes_after = done->edit.added_node_count;
    for (uint32_t at = 0; at < done->edit.file_node_count; at++) {
        bool is_one = is_node(done->edit.file_nodes[at]);
        facts->nodes_before += is_one;
        facts->nodes_after += is_one && done->edit.fates[at] != NODE_DROPPED;
    }
}

/* ---- Ranges */

/* Reals that the codes of a value stand for. */
static bool coded_range(const Value *value, double range[2]) {
    bool is_code = dtype_kind(value->dtype) != DTYPE_KIND_FLOAT && dtype_bits(value->dtype) <= 16;
    if (value->quant == NULL || value->quant->count != 1 || !is_code) {
        return false;
    }
    Domain codes = affine_codes_of(value->dtype);
    double scale = (double)value->quant->scale[0];
    double zero = value->quant->zero_point == NULL ? 0 : (double)value->quant->zero_point[0];
    range[0] = ((double)codes.lo - zero) * scale;
    range[1] = ((double)codes.hi - zero) * scale;
    return true;
}

static void real_range(const Graph *graph, const Value *value, double range[2]) {
    const Node *node = is_node(value->producer) ? graph_node(graph, value->producer) : NULL;
    range[0] = -INFINITY;
    range[1] = INFINITY;
    if (node == NULL) {
        return;
    }
    switch (node->op) {
    case OP_SOFTMAX:
    case OP_SIGMOID:
        range[0] = 0;
        range[1] = 1;
        break;
    case OP_TANH:
        range[0] = -1;
        range[1] = 1;
        break;
    case OP_RELU:
    case OP_EXP:
    case OP_ABS:
        range[0] = 0;
        break;
    case OP_RELU6:
        range[0] = 0;
        range[1] = 6;
        break;
    default:
        break;
    }
}

void simplification_ranges(const Graph *graph, bool is_after, OutputRange *ranges) {
    const Block *main = graph_main(graph);
    for (uint32_t k = 0; k < main->output_count; k++) {
        const Value *value = graph_value(graph, main->outputs[k]);
        double *range = is_after ? ranges[k].after : ranges[k].before;
        ranges[k].name = value->name;
        if (!coded_range(value, range)) {
            real_range(graph, value, range);
        }
    }
}
