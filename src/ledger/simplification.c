/* Counting rewrites, and what outputs can hold. */
#include "ledger/simplification.h"

#include "affine/affine.h"

#include <math.h>
#include <stdlib.h>
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

const RuleTotal *simplification_rules(const Simplified *simplified, Arena *arena, uint32_t *count) {
    RuleTotal *rules = arena_array(arena, RuleTotal, simplified->rewrite_count);
    *count = 0;
    for (size_t i = 0; i < simplified->rewrite_count; i++) {
        const Rewrite *rewrite = &simplified->rewrites[i];
        const Certificate *certificate = &rewrite->certificate;
        RuleTotal *total = total_of(rules, count, certificate->rule);
        total->count++;
        total->nodes += rewrite->nodes;
        total->verified += rewrite->is_verified;
        total->verified_evaluations += rewrite->verified_evaluations;
        total->evaluations += certificate->evaluations;
        total->is_ulp = certificate->class == PROOF_INTERVAL;
        total->constant_bytes += rewrite->constant_bytes;
        total->max_error =
            certificate->max_error_lsb > total->max_error ? certificate->max_error_lsb : total->max_error;
    }
    return rules;
}

typedef struct {
    uint64_t bytes;
    ValueId id;
} Gone;

static int most_bytes_first(const void *left, const void *right) {
    const Gone *a = left, *b = right;
    return a->bytes != b->bytes ? (a->bytes < b->bytes ? 1 : -1) : a->id.index < b->id.index ? -1 : 1;
}

Vanished simplification_vanished(const Simplified *simplified, Arena *arena) {
    const ModelEdit *edit = &simplified->edit;
    Gone *constants = arena_array(arena, Gone, edit->file_value_count);
    ValueId *maps = arena_array(arena, ValueId, edit->file_value_count);
    Vanished vanished = {.maps = maps};
    for (uint32_t v = 0; v < edit->file_value_count; v++) {
        const Value *value = graph_value(edit->graph, (ValueId){v});
        if (edit->is_dropped[v] && value->constant == NULL) {
            maps[vanished.map_count++] = (ValueId){v};
        } else if (edit->is_dropped[v]) {
            constants[vanished.constant_count++] = (Gone){value->constant->bytes.len, {v}};
            vanished.constant_bytes += value->constant->bytes.len;
        }
    }
    if (vanished.constant_count > 1) {
        qsort(constants, vanished.constant_count, sizeof *constants, most_bytes_first);
    }
    ValueId *ids = arena_array(arena, ValueId, vanished.constant_count);
    for (uint32_t k = 0; k < vanished.constant_count; k++) {
        ids[k] = constants[k].id;
    }
    vanished.constants = ids;
    return vanished;
}

const Rewrite *simplification_of_node(const Simplified *simplified, NodeId id) {
    bool is_one = simplified != NULL && is_node(id) && id.index < simplified->gone_count;
    uint32_t by = is_one ? simplified->gone_by[id.index] : 0;
    return by > 0 && by <= simplified->rewrite_count ? &simplified->rewrites[by - 1] : NULL;
}

static bool names(const ValueId *ids, uint32_t count, ValueId id) {
    for (uint32_t k = 0; k < count; k++) {
        if (ids[k].index == id.index) {
            return true;
        }
    }
    return false;
}

const Rewrite *simplification_of_value(const Simplified *simplified, ValueId id) {
    if (simplified == NULL || id.index >= simplified->edit.file_value_count || !simplified->edit.is_dropped[id.index]) {
        return NULL;
    }
    const Graph *graph = simplified->edit.graph;
    for (size_t i = 0; i < simplified->rewrite_count; i++) {
        const Rewrite *rewrite = &simplified->rewrites[i];
        if (rewrite->nodes == 0 && str_eq(rewrite->node, graph_value(graph, id)->name)) {
            return rewrite;
        }
    }
    for (uint32_t n = 0; n < simplified->gone_count; n++) {
        const Node *node = graph_node(graph, (NodeId){n});
        const Rewrite *rewrite = simplification_of_node(simplified, (NodeId){n});
        if (rewrite != NULL &&
            (names(node->outputs, node->output_count, id) || names(node->inputs, node->input_count, id))) {
            return rewrite;
        }
    }
    return NULL;
}

void simplification_count(Simplification *facts, Arena *keep) {
    const ModelEdit *edit = &facts->simplified->edit;
    facts->rules = simplification_rules(facts->simplified, keep, &facts->rule_count);
    facts->nodes_after = edit->added_node_count;
    for (uint32_t k = 0; k < facts->rule_count; k++) {
        facts->verified_count += facts->rules[k].verified;
        facts->verified_evaluations += facts->rules[k].verified_evaluations;
    }
    for (uint32_t at = 0; at < edit->file_node_count; at++) {
        bool is_one = is_node(edit->file_nodes[at]);
        facts->nodes_before += is_one;
        facts->nodes_after += is_one && edit->fates[at] != NODE_DROPPED;
    }
}

/* ---- Ranges */

/* Reals that the codes of a value stand for. */
static bool coded_range(const Value *value, double range[2]) {
    bool is_code = !value_is_float(value) && dtype_bits(value->dtype) <= 16;
    if (value->quant == NULL || value->quant->count != 1 || !is_code) {
        return false;
    }
    Domain codes = affine_codes_of(value->dtype);
    double scale = (double)value->quant->scale[0];
    double zero = (double)quant_zero(value->quant, 0);
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
