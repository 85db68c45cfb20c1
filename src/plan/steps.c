/* Steps of nodes over whole tensors, as columns on the device: loads, the nodes, stores. */
#include "plan/declared.h"

#include "base/checked.h"
#include "base/fault.h"
#include "graph/box.h"

#include <string.h>

enum { MOST_COMPARED = 64 };

void list_add(IdList *list, BufferId id, Arena *arena) {
    if (!is_buffer(id)) {
        return;
    }
    for (uint32_t i = 0; i < list->count && i < MOST_COMPARED; i++) {
        if (list->ids[i].index == id.index) {
            return;
        }
    }
    list->ids = arena_grow(arena, list->ids, list->count, &list->capacity, sizeof *list->ids);
    list->ids[list->count++] = id;
}

void list_append(IdList *list, BufferId id, Arena *arena) {
    if (is_buffer(id)) {
        list->ids = arena_grow(arena, list->ids, list->count, &list->capacity, sizeof *list->ids);
        list->ids[list->count++] = id;
    }
}

Step *emit_step(Builder *builder, NodeId node, Column column, const IdList *reads, const IdList *writes) {
    Plan *plan = builder->plan;
    plan->steps =
        arena_grow(&builder->work->keep, plan->steps, plan->step_count, &plan->step_capacity, sizeof *plan->steps);
    plan->steps[plan->step_count] = (Step){.node = node,
                                           .column = column,
                                           .read_count = reads->count,
                                           .write_count = writes->count,
                                           .reads = reads->ids,
                                           .writes = writes->ids,
                                           .repeat = 1,
                                           .sweep = NOT_IN_SWEEP};
    return &plan->steps[plan->step_count++];
}

Column column_of(const Node *node) {
    switch (op_info(node->op)->kind) {
    case KIND_QUANTIZE:
    case KIND_DEQUANTIZE:
        return COLUMN_REQUANTIZE;
    case KIND_RESHAPE:
    case KIND_TRANSPOSE:
    case KIND_SLICE:
    case KIND_CONCAT:
    case KIND_EXPAND:
    case KIND_STATE:
        return COLUMN_COPY;
    default:
        break;
    }
    if (node->op == OP_MUL || node->op == OP_DIV) {
        return COLUMN_MULTIPLY;
    }
    return node->op == OP_ADD || node->op == OP_SUB ? COLUMN_ADD : COLUMN_COMPUTE;
}

/* ---- Loads */

/* A parameter in a larger form than it is stored in. */
typedef struct {
    NodeId node;       /* its first reader */
    BufferId of, form; /* of: the local copy that the engine makes it of; NO_BUFFER: it is one number */
} MadeForm;

typedef struct {
    NodeId first_node;
    IdList inputs_from, inputs_to; /* graph inputs: far -> local */
    IdList params_from, params_to; /* constants: far or flash -> local */
    uint32_t form_count;
    size_t form_capacity;
    MadeForm *forms;
} Loads;

static bool load_input(Builder *builder, ValueId id, Loads *loads) {
    Plan *plan = builder->plan;
    BufferId far;
    BufferId local;
    if (is_buffer(plan->of_value[id.index])) {
        return true;
    }
    if (!lower_backing(builder, id, &far) || !lower_value(builder, id, &local)) {
        return false;
    }
    list_append(&loads->inputs_from, far, &builder->work->keep);
    list_append(&loads->inputs_to, local, &builder->work->keep);
    return true;
}

static void emit_inputs(Builder *builder, const Loads *loads) {
    if (loads->inputs_to.count > 0) {
        emit_step(builder, loads->first_node, COLUMN_LOAD_INPUT, &loads->inputs_from, &loads->inputs_to);
    }
}

static void emit_forms(Builder *builder, const Loads *loads) {
    Arena *keep = &builder->work->keep;
    for (uint32_t i = 0; i < loads->form_count; i++) {
        const MadeForm *made = &loads->forms[i];
        IdList from = {0}, to = {0};
        list_append(&from, made->of, keep);
        list_append(&to, made->form, keep);
        emit_step(builder, made->node, is_buffer(made->of) ? COLUMN_COPY : COLUMN_FILL, &from, &to);
    }
}

/* Forms are made before inputs are loaded, so that what they are made of may have left the inputs' place. */
static void emit_loads(Builder *builder, const Loads *loads) {
    bool is_arena = builder->plan->device->kind == DEVICE_ARENA;
    if (loads->form_count == 0) {
        emit_inputs(builder, loads);
    }
    if (loads->params_to.count > 0) {
        emit_step(builder, loads->first_node, is_arena ? COLUMN_FILL : COLUMN_LOAD_PARAM, &loads->params_from,
                  &loads->params_to);
    }
    if (loads->form_count > 0) {
        emit_forms(builder, loads);
        emit_inputs(builder, loads);
    }
}

/* What only tells the planner something, and what another constant of the node stands for. */
bool is_configuration(const Builder *builder, const Node *node, uint32_t k) {
    return op_input_role(node->op, k) == 'k' || lower_is_held(builder, node, k);
}

void count_configuration(Builder *builder, ValueId id) {
    const Value *value = graph_value(builder->plan->graph, id);
    builder->plan->planning_only_constants++;
    builder->plan->planning_only_bytes += value->constant->bytes.len;
}

static void add_form(Loads *loads, NodeId node, const OperandRead *read, Arena *arena) {
    if (read->is_made) {
        loads->forms = arena_grow(arena, loads->forms, loads->form_count, &loads->form_capacity, sizeof *loads->forms);
        loads->forms[loads->form_count++] = (MadeForm){node, read->loaded, read->buffer};
    }
}

/* What one input of a node is read from; a constant or a graph input that is not in place yet joins the loads. */
static bool read_input(Builder *builder, NodeId node_id, uint32_t k, uint32_t group, Loads *loads, IdList *list) {
    Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, node_id);
    ValueId id = node->inputs[k];
    Arena *arena = &builder->work->keep;
    if (!is_value(id)) {
        return true;
    }
    const Value *value = graph_value(plan->graph, id);
    OperandRead read = {.from = NO_BUFFER, .is_made = false};
    if (value->constant != NULL && is_configuration(builder, node, k)) {
        count_configuration(builder, id);
        return true;
    }
    if (value->constant == NULL) {
        bool is_far = plan->device->kind == DEVICE_SCRATCHPAD && value->is_input;
        if ((is_far && !load_input(builder, id, loads)) || !lower_value(builder, id, &read.buffer)) {
            return false;
        }
    } else if (!lower_operand(builder, node_id, k, group, &read)) {
        return false;
    }
    list_add(list, read.buffer, arena);
    if (is_buffer(read.from)) {
        list_append(&loads->params_from, read.from, arena);
        list_append(&loads->params_to, read.loaded, arena);
    }
    add_form(loads, node_id, &read, arena);
    return true;
}

/* What one node of a group does, kept until the group's loads are emitted. */
typedef struct {
    NodeId node;
    IdList reads, writes;
} NodeStep;

/* Of an operator on a variable it is the one that its handle names, which stands last. */
static bool is_state_of(const Graph *graph, const Node *node, uint32_t k) {
    const Value *value = node_input(graph, node, k);
    OpKind kind = op_info(node->op)->kind;
    bool may_be =
        op_input_role(node->op, k) == 's' || kind == KIND_OPAQUE || (kind == KIND_STATE && k + 1 == node->input_count);
    return value != NULL && value->is_state && may_be;
}

/* Of the variable that an assignment names it reads nothing. */
static bool reads_input(const Graph *graph, const Node *node, uint32_t k) {
    return node->op != OP_ASSIGN_VARIABLE || !is_state_of(graph, node, k);
}

/* A recurrent cell or an unknown operator goes on from its state: it reads and writes it. */
static bool writes_input(const Graph *graph, const Node *node, uint32_t k) {
    return node->op != OP_READ_VARIABLE && is_state_of(graph, node, k);
}

static bool node_reads(Builder *builder, uint32_t group, Loads *loads, NodeStep *work) {
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, work->node);
    for (uint32_t k = 0; k < node->input_count; k++) {
        if (reads_input(graph, node, k) && !read_input(builder, work->node, k, group, loads, &work->reads)) {
            return false;
        }
        if (writes_input(graph, node, k) && !read_input(builder, work->node, k, group, loads, &work->writes)) {
            return false;
        }
    }
    return true;
}

/* ---- Views */

/* The output becomes an alias of its source. An expanded output keeps the bytes of what it repeats. */
static void join_view(Builder *builder, BufferId output, const ViewRule *rule, OpKind kind) {
    Plan *plan = builder->plan;
    BufferId source = plan->of_value[rule->source.index];
    Buffer *buffer = plan_buffer(plan, output);
    const Buffer *from = plan_buffer(plan, source);
    buffer->alias_of = source;
    buffer->alias_offset_bytes = rule->offset_bytes;
    buffer->alias_reason = rule->reason;
    if (kind == KIND_EXPAND) {
        buffer->stored = from->stored;
        memcpy(buffer->dims, from->dims, sizeof buffer->dims);
        buffer->logical_bytes = from->logical_bytes;
        buffer->physical_bytes = from->physical_bytes;
        buffer->banks_used = from->banks_used;
    }
}

static void note_refusal(Builder *builder, BufferId output, const ViewRule *rule) {
    Plan *plan = builder->plan;
    if (rule->refusal == REFUSED_NONE || !is_buffer(output)) {
        return;
    }
    plan_buffer(plan, output)->refused_alias = rule->refusal;
    plan_buffer(plan, output)->refused_candidate =
        rule->refusal == REFUSED_CONSTANT ? NO_BUFFER : plan->of_value[rule->source.index];
}

/* Outputs that are rules are joined; the others are what the node's step writes. */
static bool node_writes(Builder *builder, NodeId id, Loads *loads, IdList *writes, uint32_t *rules) {
    Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, id);
    OpKind kind = op_info(node->op)->kind;
    for (uint32_t k = 0; k < node->output_count; k++) {
        ViewRule rule;
        BufferId output;
        if (!is_value(node->outputs[k])) {
            continue;
        }
        if (!view_rule(builder, id, k, &rule) || !lower_value(builder, node->outputs[k], &output)) {
            return false;
        }
        bool is_input = rule.is_rule && graph_value(plan->graph, rule.source)->is_input;
        if (is_input && plan->device->kind == DEVICE_SCRATCHPAD && !load_input(builder, rule.source, loads)) {
            return false;
        }
        if (rule.is_rule && is_buffer(output) && lower_value(builder, rule.source, &(BufferId){0})) {
            join_view(builder, output, &rule, kind);
            ++*rules;
        } else {
            note_refusal(builder, output, &rule);
            list_add(writes, output, &builder->work->keep);
        }
    }
    return true;
}

/* ---- Nodes */

/* Names a variable and does nothing at run time. */
static bool names_a_resource(const Graph *graph, const Node *node) {
    const Value *output = node_output(graph, node, 0);
    return op_info(node->op)->kind == KIND_STATE && output != NULL && dtype_bits(output->dtype) == 0;
}

/* What the kernel of a custom operator takes beside its operands. */
static void add_declared_workspace(Builder *builder, const Node *node, NodeStep *work) {
    const Plan *plan = builder->plan;
    const DeviceOperator *declared = declared_operator(plan, node);
    uint64_t bytes = declared_workspace_bytes(plan, node);
    if (bytes == 0) {
        return;
    }
    Buffer workspace = {.value = NO_VALUE,
                        .node = work->node,
                        .kind = BUFFER_WORKSPACE,
                        .role = ROLE_ACTIVATION,
                        .memory = plan->device->local,
                        .axis = -1,
                        .logical_bytes = bytes,
                        .physical_bytes = bytes,
                        .banks_used = 1,
                        .align_bytes = declared->align_bytes};
    list_add(&work->writes, add_buffer(builder, workspace), &builder->work->keep);
}

static bool prepare_node(Builder *builder, NodeId id, uint32_t group, Loads *loads, NodeStep *work, bool *is_rule) {
    const Graph *graph = builder->plan->graph;
    const Node *node = graph_node(graph, id);
    uint32_t rules = 0;
    bool ok;
    work->node = id;
    *is_rule = names_a_resource(graph, node);
    if (*is_rule) {
        return true;
    }
    *is_rule = concat_in_place(builder, id, &ok);
    if (*is_rule || !ok) {
        return ok;
    }
    if (!node_writes(builder, id, loads, &work->writes, &rules)) {
        return false;
    }
    *is_rule = rules > 0 && work->writes.count == 0;
    if (*is_rule) {
        return true;
    }
    bool done = node_reads(builder, group, loads, work);
    add_declared_workspace(builder, node, work);
    return done;
}

static bool add_store(Builder *builder, ValueId id, IdList *from, IdList *to) {
    BufferId far;
    bool done = lower_backing(builder, id, &far);
    list_append(from, done ? builder->plan->of_value[id.index] : NO_BUFFER, &builder->work->keep);
    list_append(to, done ? far : NO_BUFFER, &builder->work->keep);
    return done;
}

bool store_whole(Builder *builder, NodeId node, ValueId id) {
    IdList from = {0};
    IdList to = {0};
    if (!graph_value(builder->plan->graph, id)->is_output) {
        return true;
    }
    bool done = add_store(builder, id, &from, &to);
    if (done) {
        emit_step(builder, node, COLUMN_STORE, &from, &to);
    }
    return done;
}

bool load_whole(Builder *builder, NodeId node, ValueId id) {
    Loads loads = {.first_node = node};
    bool done = load_input(builder, id, &loads);
    if (done) {
        emit_loads(builder, &loads);
    }
    return done;
}

static void emit_stores(Builder *builder, const NodeStep *work, bool *ok) {
    Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, work->node);
    IdList from = {0};
    IdList to = {0};
    for (uint32_t k = 0; *ok && k < node->output_count; k++) {
        const Value *value = node_output(plan->graph, node, k);
        *ok = value == NULL || !value->is_output || add_store(builder, node->outputs[k], &from, &to);
    }
    if (*ok && from.count > 0) {
        emit_step(builder, work->node, COLUMN_STORE, &from, &to);
    }
}

bool build_whole(Builder *builder, Group group) {
    Plan *plan = builder->plan;
    const Block *block = graph_main(plan->graph);
    NodeStep *works = arena_array(&builder->work->scratch, NodeStep, group.last - group.first);
    uint32_t count = 0;
    Loads loads = {.first_node = block->nodes[group.first]};
    for (uint32_t at = group.first; at < group.last; at++) {
        NodeId id = block->nodes[at];
        bool is_rule = false;
        if (graph_node(plan->graph, id)->is_constant) {
            continue;
        }
        if (!prepare_node(builder, id, group.number, &loads, &works[count], &is_rule)) {
            return false;
        }
        plan->view_nodes += is_rule;
        count++;
    }
    emit_loads(builder, &loads);
    bool ok = true;
    for (uint32_t i = 0; i < count; i++) {
        const Node *node = graph_node(plan->graph, works[i].node);
        if (works[i].reads.count + works[i].writes.count > 0) {
            emit_step(builder, works[i].node, column_of(node), &works[i].reads, &works[i].writes);
        }
        if (plan->device->kind == DEVICE_SCRATCHPAD) {
            emit_stores(builder, &works[i], &ok);
        }
    }
    return ok;
}
