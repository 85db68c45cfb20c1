/* What the rules share: who reads what, what may be changed, and the changes themselves. */
#include "affine/rewrite.h"

#include "base/fault.h"
#include "graph/passes.h"

#include <string.h>

/* ---- Refreshing */

/* Without the nodes that are gone. */
static void close_ranks(Rewriter *rw) {
    Block *main = graph_main(rw->graph);
    uint32_t kept = 0;
    for (uint32_t at = 0; at < main->node_count; at++) {
        if (!rw->is_gone[main->nodes[at].index]) {
            main->nodes[kept++] = main->nodes[at];
        }
    }
    main->node_count = kept;
}

static bool is_of_file(const Rewriter *rw, NodeId id) {
    return id.index < rw->note->node_count && rw->position[id.index] != NOT_IN_FILE;
}

/* The nodes that came since, each in front of its node; of several, the older first. */
static void list_added(Rewriter *rw) {
    Block *main = graph_main(rw->graph);
    uint32_t came = (uint32_t)(rw->added_node_count - rw->listed_node_count), count = 0;
    if (came == 0) {
        return;
    }
    const AddedNode *added = rw->added_nodes + rw->listed_node_count;
    uint32_t *last = arena_array(&rw->work->scratch, uint32_t, rw->note->main_count); /* + 1; 0: none */
    uint32_t *older = arena_array(&rw->work->scratch, uint32_t, came);
    NodeId *nodes = arena_array(&rw->work->keep, NodeId, (size_t)main->node_count + came);
    for (uint32_t k = 0; k < came; k++) {
        older[k] = last[added[k].before];
        last[added[k].before] = k + 1;
    }
    for (uint32_t at = main->node_count; at > 0; at--) {
        NodeId id = main->nodes[at - 1];
        nodes[main->node_count + came - ++count] = id;
        for (uint32_t k = is_of_file(rw, id) ? last[rw->position[id.index]] : 0; k > 0; k = older[k - 1]) {
            nodes[main->node_count + came - ++count] = added[k - 1].id;
        }
    }
    main->nodes = nodes;
    main->node_count += came;
    rw->listed_node_count = rw->added_node_count;
}

void rewrite_refresh(Rewriter *rw) {
    const Graph *graph = rw->graph;
    Arena *scratch = &rw->work->scratch;
    if (!rw->is_stale) {
        return;
    }
    list_added(rw);
    close_ranks(rw);
    rw->uses = graph_uses(graph, scratch);
    rw->reader_count = arena_array(scratch, uint32_t, graph->value_count);
    rw->use_values = graph->value_count;
    for (uint32_t v = 0; v < graph->value_count; v++) {
        rw->reader_count[v] = rw->uses.first[v + 1] - rw->uses.first[v] + graph->values[v].is_output;
    }
    rw->is_stale = false;
}

/* ---- What may be relied on */

static bool is_added(const Rewriter *rw, NodeId id) {
    return id.index >= rw->first_node_count;
}

bool rewrite_may_change(const Rewriter *rw, NodeId id) {
    if (!is_node(id) || rw->is_gone[id.index] || !(is_of_file(rw, id) || is_added(rw, id))) {
        return false;
    }
    const Node *node = graph_node(rw->graph, id);
    return op_info(node->op)->kind != KIND_CONTROL && !node->is_opaque;
}

static bool is_held(const Rewriter *rw, ValueId id) {
    return id.index < rw->note->value_count && rw->note->is_held[id.index];
}

uint64_t rewrite_node_bytes(const Rewriter *rw, NodeId id) {
    return id.index < rw->note->node_count ? rw->note->node_bytes[id.index] : 0;
}

uint32_t rewrite_times_read(const Node *node, ValueId id) {
    uint32_t times = 0;
    for (uint32_t k = 0; k < node->input_count; k++) {
        times += node->inputs[k].index == id.index;
    }
    return times;
}

bool rewrite_is_internal(const Rewriter *rw, ValueId id) {
    const Value *value = graph_value(rw->graph, id);
    return !value->is_input && !value->is_output && !value->is_state && !is_held(rw, id);
}

bool rewrite_is_unread(const Rewriter *rw, ValueId id) {
    return !graph_value(rw->graph, id)->is_default && rewrite_is_internal(rw, id) && rw->reader_count[id.index] == 0;
}

static bool same_constant(const Const *a, const Const *b) {
    return b != NULL && b->is_known && shape_eq(&a->stored, &b->stored) && a->bytes.len == b->bytes.len &&
           (a->bytes.len == 0 || memcmp(a->bytes.ptr, b->bytes.ptr, a->bytes.len) == 0);
}

static const Value *other_value(const Rewriter *rw, ValueId id) {
    return rw->other != NULL && id.index < rw->other->value_count ? &rw->other->values[id.index]
                                                                  : graph_value(rw->graph, id);
}

bool rewrite_is_callers(const Rewriter *rw, ValueId id) {
    return id.index < rw->first_count && rw->is_callers[id.index];
}

const Const *rewrite_pattern(const Rewriter *rw, ValueId id) {
    bool is_strange = rw->is_strange != NULL && id.index < rw->first_count && rw->is_strange[id.index];
    if (!is_value(id) || is_strange || rewrite_is_callers(rw, id)) {
        return NULL;
    }
    const Value *value = graph_value(rw->graph, id);
    const Const *constant = value->constant;
    bool is_known = constant != NULL && constant->is_known && !value->is_state &&
                    !(id.index < rw->extents.value_count && rw->extents.is_bound[id.index]);
    return is_known && same_constant(constant, other_value(rw, id)->constant) ? constant : NULL;
}

/* 0 where it is fixed; what rewrites have added is. */
static uint32_t extent_id(const Rewriter *rw, ValueId id, uint32_t axis) {
    return id.index < rw->extents.value_count ? rw->extents.ids[id.index][axis] : 0;
}

bool rewrite_is_fixed(const Rewriter *rw, ValueId id, uint32_t axis) {
    return axis < graph_value(rw->graph, id)->shape.rank && extent_id(rw, id, axis) == 0;
}

const Const *rewrite_constant(const Rewriter *rw, ValueId id) {
    const Const *constant = rewrite_pattern(rw, id);
    for (uint32_t axis = 0; constant != NULL && axis < graph_value(rw->graph, id)->shape.rank; axis++) {
        if (!rewrite_is_fixed(rw, id, axis)) {
            return NULL;
        }
    }
    return constant;
}

bool rewrite_same_shape(const Rewriter *rw, ValueId a, ValueId b) {
    const Value *x = graph_value(rw->graph, a);
    const Value *y = graph_value(rw->graph, b);
    if (!x->has_shape || !y->has_shape || !shape_eq(&x->shape, &y->shape)) {
        return false;
    }
    for (uint32_t axis = 0; axis < x->shape.rank; axis++) {
        if (extent_id(rw, a, axis) != extent_id(rw, b, axis)) {
            return false;
        }
    }
    return true;
}

bool rewrite_same_codes(const Rewriter *rw, ValueId a, ValueId b) {
    const Value *x = graph_value(rw->graph, a);
    const Value *y = graph_value(rw->graph, b);
    return x->dtype == y->dtype && quant_eq(x->quant, y->quant);
}

NodeId rewrite_sole_reader(const Rewriter *rw, ValueId id) {
    if (id.index >= rw->use_values || !rewrite_is_internal(rw, id) || rw->reader_count[id.index] != 1) {
        return NO_NODE;
    }
    uint32_t first = rw->uses.first[id.index];
    if (rw->uses.first[id.index + 1] - first != 1) {
        return NO_NODE; /* read by what was rewritten since: the next round sees it */
    }
    NodeId reader = rw->uses.use[first];
    bool is_it = rewrite_may_change(rw, reader) && rewrite_times_read(graph_node(rw->graph, reader), id) == 1;
    return is_it ? reader : NO_NODE;
}

bool rewrite_is_training(const Node *norm) {
    bool is_old = norm->version < 7 && node_int(norm, "is_test", 0) == 0;
    return is_old || norm->output_count > 1 || node_int(norm, "training_mode", 0) != 0;
}

/* ---- Changes */

static void mark_changed(Rewriter *rw) {
    rw->has_changed = true;
    rw->is_stale = true;
}

static void mark_rewired(Rewriter *rw, NodeId id) {
    if (is_of_file(rw, id)) {
        rw->fates[rw->position[id.index]] = NODE_REWIRED;
    }
    mark_changed(rw);
}

static void stop_reading(Rewriter *rw, ValueId id) {
    if (is_value(id) && id.index < rw->use_values) {
        rw->reader_count[id.index]--;
    }
}

static void start_reading(Rewriter *rw, ValueId id) {
    if (is_value(id) && id.index < rw->use_values) {
        rw->reader_count[id.index]++;
    }
}

void rewrite_drop_node(Rewriter *rw, NodeId id) {
    CHECK(rewrite_may_change(rw, id));
    const Node *node = graph_node(rw->graph, id);
    for (uint32_t k = 0; k < node->input_count; k++) {
        stop_reading(rw, node->inputs[k]);
    }
    for (uint32_t k = 0; k < node->output_count; k++) {
        Value *output = node_output(rw->graph, node, k);
        if (output != NULL && output->producer.index == id.index) {
            output->producer = NO_NODE;
        }
    }
    rw->is_gone[id.index] = true;
    if (!is_added(rw, id)) {
        rw->gone_by[id.index] = (uint32_t)rw->log_count + 1; /* it is logged next */
    }
    if (is_of_file(rw, id)) {
        rw->fates[rw->position[id.index]] = NODE_DROPPED;
    }
    mark_changed(rw);
}

void rewrite_set_inputs(Rewriter *rw, NodeId id, const ValueId *inputs, uint32_t count) {
    CHECK(rewrite_may_change(rw, id));
    Node *node = graph_node(rw->graph, id);
    ValueId *list = arena_array(&rw->work->keep, ValueId, count); /* the old one may be another block's too */
    for (uint32_t k = 0; k < node->input_count; k++) {
        stop_reading(rw, node->inputs[k]);
    }
    for (uint32_t k = 0; k < count; k++) {
        list[k] = inputs[k];
        start_reading(rw, inputs[k]);
    }
    node->inputs = list;
    node->input_count = count;
    mark_rewired(rw, id);
}

void rewrite_read(Rewriter *rw, NodeId id, uint32_t k, ValueId value) {
    const Node *node = graph_node(rw->graph, id);
    ValueId *inputs = arena_array(&rw->work->scratch, ValueId, node->input_count);
    CHECK(k < node->input_count);
    memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    inputs[k] = value;
    rewrite_set_inputs(rw, id, inputs, node->input_count);
}

void rewrite_write(Rewriter *rw, NodeId id, ValueId value) {
    CHECK(rewrite_may_change(rw, id));
    Node *node = graph_node(rw->graph, id);
    ValueId *outputs = arena_array(&rw->work->keep, ValueId, node->output_count);
    memcpy(outputs, node->outputs, node->output_count * sizeof *outputs);
    graph_value(rw->graph, outputs[0])->producer = NO_NODE;
    graph_value(rw->graph, value)->producer = id;
    outputs[0] = value;
    node->outputs = outputs;
    mark_rewired(rw, id);
}

/* Who reads it may be given something else; it may still be an output of the model. Who began to read it since the
 * uses were counted is not among them: then the next round sees it. */
static bool readers_may_change(const Rewriter *rw, ValueId from) {
    if (from.index >= rw->use_values || is_held(rw, from)) {
        return false;
    }
    uint32_t known = graph_value(rw->graph, from)->is_output;
    NodeId last = NO_NODE; /* a node that reads it twice stands twice, side by side */
    for (uint32_t u = rw->uses.first[from.index]; u < rw->uses.first[from.index + 1]; u++) {
        NodeId reader = rw->uses.use[u];
        if (rw->is_gone[reader.index] || reader.index == last.index) {
            continue;
        }
        if (!rewrite_may_change(rw, reader)) {
            return false;
        }
        known += rewrite_times_read(graph_node(rw->graph, reader), from);
        last = reader;
    }
    return known == rw->reader_count[from.index];
}

static void redirect(Rewriter *rw, ValueId from, ValueId to) {
    for (uint32_t u = rw->uses.first[from.index]; u < rw->uses.first[from.index + 1]; u++) {
        NodeId reader = rw->uses.use[u];
        const Node *node = graph_node(rw->graph, reader);
        for (uint32_t k = 0; k < node->input_count && !rw->is_gone[reader.index]; k++) {
            if (node->inputs[k].index == from.index) {
                rewrite_read(rw, reader, k, to);
            }
        }
    }
}

bool rewrite_may_redirect(const Rewriter *rw, ValueId from) {
    return rewrite_is_internal(rw, from) && readers_may_change(rw, from);
}

bool rewrite_redirect(Rewriter *rw, ValueId from, ValueId to) {
    if (!rewrite_may_redirect(rw, from)) {
        return false;
    }
    redirect(rw, from, to);
    return true;
}

/* May the producer of `from` write `to` in its place, and who read `from` read `to`? */
static bool may_take_place(const Rewriter *rw, ValueId to, ValueId from) {
    const Value *value = graph_value(rw->graph, from), *place = graph_value(rw->graph, to);
    return place->is_output && !is_held(rw, to) && rewrite_same_shape(rw, from, to) && rewrite_is_internal(rw, from) &&
           value->constant == NULL && rewrite_may_change(rw, value->producer) && readers_may_change(rw, from);
}

static void take_place(Rewriter *rw, ValueId to, ValueId from) {
    NodeId producer = graph_value(rw->graph, from)->producer;
    redirect(rw, from, to);
    Node *node = graph_node(rw->graph, producer);
    ValueId *outputs = arena_array(&rw->work->keep, ValueId, node->output_count);
    for (uint32_t k = 0; k < node->output_count; k++) {
        bool is_it = is_value(node->outputs[k]) && node->outputs[k].index == from.index;
        outputs[k] = is_it ? to : node->outputs[k];
    }
    node->outputs = outputs;
    graph_value(rw->graph, to)->producer = producer;
    graph_value(rw->graph, from)->producer = NO_NODE;
    mark_rewired(rw, producer);
}

/* Who reads it takes it under any names. */
static bool all_may_copy(const Rewriter *rw, ValueId id) {
    bool all = true;
    for (uint32_t u = rw->uses.first[id.index]; u < rw->uses.first[id.index + 1]; u++) {
        NodeId reader = rw->uses.use[u];
        all = all && (rw->is_gone[reader.index] || graph_may_copy(graph_node(rw->graph, reader)));
    }
    return all;
}

bool rewrite_bypass(Rewriter *rw, NodeId id, ValueId in, ValueId out) {
    if (!rewrite_may_change(rw, id) || graph_value(rw->graph, in)->is_state) {
        return false; /* state may be written before it is read later */
    }
    bool is_read = rewrite_may_redirect(rw, out);
    if ((!is_read && !may_take_place(rw, out, in)) ||
        (!graph_join_axes(rw->graph, in, out) && !(is_read && all_may_copy(rw, out)))) {
        return false;
    }
    rewrite_drop_node(rw, id);
    if (is_read) {
        redirect(rw, out, in);
    } else {
        take_place(rw, out, in);
    }
    return true;
}

static ValueId add_value(Rewriter *rw, Value value) {
    Arena *keep = &rw->work->keep;
    ValueId id = graph_add_value(rw->graph, keep, value);
    rw->added_values =
        arena_grow(keep, rw->added_values, rw->added_value_count, &rw->added_value_capacity, sizeof *rw->added_values);
    rw->added_values[rw->added_value_count++] = id;
    mark_changed(rw);
    return id;
}

Str rewrite_fresh_name(Rewriter *rw, Str stem) {
    Arena *keep = &rw->work->keep;
    if (rw->names.next.count == 0) {
        rw->names = graph_taken_names(rw->graph, keep);
    }
    return graph_fresh_name(&rw->names, stem, keep);
}

ValueId rewrite_add_value(Rewriter *rw, Value value, Str stem) {
    value.name = rewrite_fresh_name(rw, stem);
    graph_take_name(&rw->names, value.name);
    return add_value(rw, value);
}

/* Does the value go when nobody reads it any more, with what makes it? */
static bool goes_unread(const Rewriter *rw, ValueId id) {
    NodeId producer = graph_value(rw->graph, id)->producer;
    bool goes =
        !is_node(producer) || (rewrite_may_change(rw, producer) && graph_node(rw->graph, producer)->is_constant &&
                               graph_node(rw->graph, producer)->output_count == 1);
    return goes && rewrite_is_internal(rw, id) && !rewrite_is_callers(rw, id);
}

ValueId rewrite_add_instead(Rewriter *rw, Value value, ValueId old, bool is_last) {
    Str name = graph_value(rw->graph, old)->name;
    value.name = name;
    return is_last && name.len > 0 && goes_unread(rw, old) ? add_value(rw, value) : rewrite_add_value(rw, value, name);
}

NodeId rewrite_add_node(Rewriter *rw, Node node, NodeId before) {
    CHECK(is_of_file(rw, before));
    Arena *keep = &rw->work->keep;
    NodeId id = graph_add_node(rw->graph, keep, node);
    size_t capacity = rw->gone_capacity;
    rw->is_told = arena_grow(keep, rw->is_told, id.index, &capacity, sizeof *rw->is_told);
    rw->is_gone = arena_grow(keep, rw->is_gone, id.index, &rw->gone_capacity, sizeof *rw->is_gone);
    rw->is_told[id.index] = rw->is_gone[id.index] = false;
    rw->added_nodes =
        arena_grow(keep, rw->added_nodes, rw->added_node_count, &rw->added_node_capacity, sizeof *rw->added_nodes);
    rw->added_nodes[rw->added_node_count++] = (AddedNode){id, rw->position[before.index]};
    for (uint32_t k = 0; k < node.input_count; k++) {
        start_reading(rw, node.inputs[k]);
    }
    mark_changed(rw);
    return id;
}

/* ---- The log */

void rewrite_log(Rewriter *rw, Rewrite rewrite) {
    rw->log = arena_grow(&rw->work->keep, rw->log, rw->log_count, &rw->log_capacity, sizeof *rw->log);
    rw->log[rw->log_count++] = rewrite;
}

void rewrite_refuse(Rewriter *rw, NodeId id, Str tensor, const char *reason) {
    const Node *node = graph_node(rw->graph, id);
    rw->refusals =
        arena_grow(&rw->work->keep, rw->refusals, rw->refusal_count, &rw->refusal_capacity, sizeof *rw->refusals);
    rw->refusals[rw->refusal_count++] = (RewriteRefusal){node->name, node->op_name, tensor, reason};
    rw->is_told[id.index] = true;
}

Certificate rewrite_lemma(const Rewriter *rw, const char *rule, const char *domain, uint32_t channels) {
    return (Certificate){.class = PROOF_LEMMA,
                         .rule = rule,
                         .semantics = rw->semantics,
                         .domain = {.why = domain},
                         .channels = channels};
}
