/* Lowering: every value that has bytes gets a buffer, every constant a form. */
#include "plan/declared.h"

#include "base/checked.h"
#include "base/fault.h"
#include "node/input.h"

#include <string.h>

BufferId add_buffer(Builder *builder, Buffer buffer) {
    Plan *plan = builder->plan;
    buffer.alias_of = NO_BUFFER;
    buffer.storage = (BufferId){plan->buffer_count};
    buffer.refused_candidate = NO_BUFFER;
    buffer.next_form = NO_BUFFER;
    buffer.refused_by = NO_NODE;
    plan->buffers = arena_grow(&builder->work->keep, plan->buffers, plan->buffer_count, &plan->buffer_capacity,
                               sizeof *plan->buffers);
    plan->buffers[plan->buffer_count] = buffer;
    return (BufferId){plan->buffer_count++};
}

/* Sizes, banks and alignment of `buffer` when `tensor` is stored in it. */
static bool size_buffer(Builder *builder, const Tensor *tensor, Buffer *buffer) {
    const Device *device = builder->plan->device;
    View view;
    if (!tensor_view(device, tensor, &builder->work->diags, &view)) {
        return false;
    }
    buffer->logical_bytes = view_logical_bytes(&view);
    buffer->physical_bytes = view.bank_bytes;
    buffer->banks_used = view.banks_used;
    CHECK(checked_common_multiple(view.base_bytes, declared_align_bytes(builder, buffer->value, buffer->memory),
                                  &buffer->align_bytes)); /* of any device */
    return true;
}

/* The node that writes the value, else the first that reads it: null for an input that nobody reads. */
static const Node *node_at(const Builder *builder, ValueId id) {
    const Graph *graph = builder->plan->graph;
    const Value *value = graph_value(graph, id);
    const GraphUses *uses = &builder->uses;
    if (is_node(value->producer)) {
        return graph_node(graph, value->producer);
    }
    uint32_t first = uses->first[id.index];
    return first < uses->first[id.index + 1] ? graph_node(graph, uses->use[first]) : NULL;
}

static bool refuse_without_bytes(Builder *builder, ValueId id) {
    const Value *value = graph_value(builder->plan->graph, id);
    const Node *node = node_at(builder, id);
    bool is_string = value->dtype == DTYPE_STRING;
    return diag_refuse(&builder->work->diags,
                       (DiagText){.node = node == NULL ? STR("") : node_title(&builder->work->keep, node),
                                  .tensor = value->name,
                                  .what = value->is_sequence ? "a sequence, map or optional has no byte layout"
                                          : is_string        ? "strings have no byte layout"
                                                             : "the element type or shape of the tensor is not known",
                                  .got = value->is_sequence ? NULL : dtype_name(value->dtype),
                                  .expected = "a tensor of numbers with a shape"});
}

/* Resource handles name a variable and occupy nothing. */
static bool has_no_bytes(const Value *value) {
    return value->dtype == DTYPE_RESOURCE || value->dtype == DTYPE_VARIANT;
}

static BufferKind kind_of_value(const Value *value) {
    if (value->is_state) {
        return BUFFER_STATE;
    }
    if (value->constant != NULL) {
        return BUFFER_PARAMETER; /* an output that is a constant, where it lies */
    }
    if (value->is_input) {
        return BUFFER_INPUT;
    }
    return value->is_output ? BUFFER_OUTPUT : BUFFER_ACTIVATION;
}

static bool add_value_buffer(Builder *builder, ValueId id, uint32_t memory, BufferId *buffer) {
    const Value *value = graph_value(builder->plan->graph, id);
    if (value->is_sequence || !value->has_shape || dtype_bits(value->dtype) == 0) {
        return refuse_without_bytes(builder, id);
    }
    Buffer made = {.value = id,
                   .node = value->producer,
                   .kind = kind_of_value(value),
                   .dtype = value->dtype,
                   .role = ROLE_ACTIVATION,
                   .memory = memory,
                   .stored = value->shape,
                   .axis = -1};
    memcpy(made.dims, value->dims, sizeof made.dims);
    Tensor tensor = tensor_of_value(value, ROLE_ACTIVATION);
    if (!size_buffer(builder, &tensor, &made)) {
        return false;
    }
    *buffer = add_buffer(builder, made);
    return true;
}

bool lower_value(Builder *builder, ValueId id, BufferId *buffer) {
    Plan *plan = builder->plan;
    *buffer = plan->of_value[id.index];
    if (is_buffer(*buffer) || has_no_bytes(graph_value(plan->graph, id))) {
        return true;
    }
    bool made = add_value_buffer(builder, id, plan->device->local, buffer);
    plan->of_value[id.index] = *buffer;
    return made;
}

/* ---- The parameter stream of a convolution: one record a channel (bias, scale, shift) in place of plain vectors */

/* No operator has more inputs that differ in their role; what lies behind is no weight and no bias. */
enum { MOST_ROLES = 32 };

/* A recurrent cell has weights and biases of several gates: no records. */
static bool has_record_stream(const Builder *builder, const Node *node) {
    uint32_t weights = 0;
    for (uint32_t k = 0; k < node->input_count && k < MOST_ROLES; k++) {
        weights += op_input_role(node->op, k) == 'w';
    }
    return builder->plan->device->record_bits > 0 && op_info(node->op)->kind == KIND_COMPUTE && weights == 1;
}

static bool may_hold_records(const Graph *graph, const Node *node, uint32_t k, uint64_t *elements) {
    const Value *value = node_input(graph, node, k);
    return value != NULL && value->constant != NULL && op_input_role(node->op, k) == 'c' &&
           shape_elements(&value->shape, elements);
}

/* The constant that stands for the stream: the longest of those that are one number a channel, of equals the last. */
static uint32_t record_input(const Graph *graph, const Node *node) {
    uint32_t found = UINT32_MAX;
    uint64_t most = 0;
    for (uint32_t k = 0; k < node->input_count && k < MOST_ROLES; k++) {
        uint64_t elements;
        if (may_hold_records(graph, node, k, &elements) && elements >= most) {
            found = k;
            most = elements;
        }
    }
    return found;
}

static bool is_record_stream(const Builder *builder, const Node *node, uint32_t k) {
    return op_input_role(node->op, k) == 'c' && has_record_stream(builder, node) &&
           record_input(builder->plan->graph, node) == k;
}

bool lower_is_held(const Builder *builder, const Node *node, uint32_t k) {
    return op_input_role(node->op, k) == 'c' && has_record_stream(builder, node) &&
           record_input(builder->plan->graph, node) != k;
}

/* ---- Constants as they are stored */

static bool is_broadcast_operand(const Operand *operand) {
    return operand->broadcast != BROADCAST_NONE;
}

static Tensor operand_tensor(const Builder *builder, const Node *node, uint32_t k, const Value *value,
                             const Operand *operand) {
    bool is_weight = op_input_role(node->op, k) == 'w';
    Tensor tensor = tensor_of_value(value, is_weight ? ROLE_WEIGHT : ROLE_PARAMETER);
    tensor.shape = &operand->stored;
    tensor.dims = operand->dims;
    if (is_record_stream(builder, node, k)) {
        tensor.bits = builder->plan->device->record_bits;
    }
    return tensor;
}

/* Of a kernel that reads one number a channel, what is stored is the channel form, also where it is a record. */
static const FormCosts *costs_of(Builder *builder, const Node *node, uint32_t k, const Operand *operand,
                                 const Buffer *made) {
    if (!is_broadcast_operand(operand)) {
        return NULL;
    }
    FormCosts *costs = form_costs(builder, operand, made);
    bool is_list = !node_is_elementwise(node) && op_input_role(node->op, k) == 'c' && operand->form <= FORM_CHANNEL;
    costs->compact_bytes = node_is_elementwise(node) ? costs->compact_bytes : made->physical_bytes;
    costs->channel_bytes = is_list ? made->physical_bytes : costs->channel_bytes;
    return costs;
}

/* A constant as it is stored: smallest form, under the contract of its role. */
static bool stored_constant(Builder *builder, NodeId reader, uint32_t k, const Operand *operand, uint32_t memory,
                            Buffer *made) {
    const Node *node = graph_node(builder->plan->graph, reader);
    ValueId id = node->inputs[k];
    const Value *value = graph_value(builder->plan->graph, id);
    if (value->is_sequence || dtype_bits(value->dtype) == 0) {
        return refuse_without_bytes(builder, id);
    }
    Tensor tensor = operand_tensor(builder, node, k, value, operand);
    *made = (Buffer){.value = id,
                     .node = reader,
                     .kind = tensor.role == ROLE_WEIGHT ? BUFFER_WEIGHT : BUFFER_PARAMETER,
                     .dtype = value->dtype,
                     .record_bits = is_record_stream(builder, node, k) ? builder->plan->device->record_bits : 0,
                     .role = tensor.role,
                     .memory = memory,
                     .stored = operand->stored,
                     .broadcast = operand->broadcast,
                     .axis = operand->axis};
    memcpy(made->dims, operand->dims, sizeof made->dims);
    if (!size_buffer(builder, &tensor, made)) {
        return false;
    }
    made->costs = costs_of(builder, node, k, operand, made);
    return true;
}

bool lower_backing(Builder *builder, ValueId id, BufferId *buffer) {
    *buffer = builder->plan->backing[id.index];
    if (is_buffer(*buffer)) {
        return true;
    }
    bool made = add_value_buffer(builder, id, builder->plan->device->backing, buffer);
    builder->plan->backing[id.index] = *buffer;
    return made;
}

/* Do both contracts and names put every element at the same address? */
static bool is_same_map(const Builder *builder, const Buffer *a, const Buffer *b) {
    const Graph *graph = builder->plan->graph;
    const Tensor left = tensor_of_buffer(graph, a), right = tensor_of_buffer(graph, b);
    return tensor_same_map(builder->plan->device, &left, &right);
}

static bool is_same_form(const Builder *builder, const Buffer *a, const Buffer *b) {
    return a->role == b->role && a->logical_bytes == b->logical_bytes && a->physical_bytes == b->physical_bytes &&
           shape_eq(&a->stored, &b->stored) &&
           (memcmp(a->dims, b->dims, a->stored.rank) == 0 || is_same_map(builder, a, b));
}

/* Do both hold the same elements in the same order? What was expanded repeats along axes of its reader's map; a form
 * that stayed compact is a list of numbers, whatever axis they go along. */
static bool is_same_copy(const Builder *builder, const Buffer *held, const Buffer *wanted) {
    bool is_expanded = wanted->materialised_reason != NULL;
    return is_same_form(builder, held, wanted) && (held->materialised_reason != NULL) == is_expanded &&
           (!is_expanded || held->varies == wanted->varies);
}

/* The buffer in flash or far memory of a constant in the form `made`. Two readers may take two forms (a bias of equal
 * numbers is one number to an addition, and a vector to a convolution): each is stored once. */
static BufferId keep_form(Builder *builder, const Buffer *made) {
    Plan *plan = builder->plan;
    BufferId *link = &plan->backing[made->value.index], first = *link, buffer = first;
    while (is_buffer(buffer) && !is_same_copy(builder, plan_buffer(plan, buffer), made)) {
        buffer = plan_buffer(plan, buffer)->next_form;
    }
    if (!is_buffer(buffer)) {
        buffer = *link = add_buffer(builder, *made);
        plan_buffer(plan, buffer)->next_form = first;
    }
    return buffer;
}

static bool lower_constant(Builder *builder, NodeId reader, uint32_t k, const Operand *operand, BufferId *buffer) {
    Buffer made;
    if (!stored_constant(builder, reader, k, operand, builder->plan->device->backing, &made)) {
        return false;
    }
    *buffer = keep_form(builder, &made);
    return true;
}

/* ---- The form a node reads */

/* A parameter that is broadcast takes the form its reader reads. */
static bool apply_form(Builder *builder, const Operand *operand, FormChoice choice, Buffer *made) {
    made->materialised_reason = choice.reason;
    Tensor tensor = form_store(builder, operand, choice.form, made);
    return size_buffer(builder, &tensor, made);
}

/* A copy that the group before, or another node of this group, has loaded serves again. */
static bool reuse_copy(Builder *builder, const Buffer *wanted, uint32_t group, BufferId *buffer) {
    uint32_t value = wanted->value.index;
    *buffer = builder->resident[value];
    if (!is_buffer(*buffer) || builder->resident_group[value] + 1 < group ||
        !is_same_copy(builder, plan_buffer(builder->plan, *buffer), wanted)) {
        return false;
    }
    builder->resident_group[value] = group;
    return true;
}

/* What a caller gives lies in far memory as any input does. */
static bool lower_far(Builder *builder, NodeId node_id, uint32_t k, const Operand *operand, BufferId *backing) {
    ValueId id = graph_node(builder->plan->graph, node_id)->inputs[k];
    bool is_constant = graph_value(builder->plan->graph, id)->constant != NULL;
    return is_constant ? lower_constant(builder, node_id, k, operand, backing) : lower_backing(builder, id, backing);
}

/* --expand before: far memory holds what is read, and it is loaded like that. What the engine reads at once is of no
 * matter there. */
static bool store_form(Builder *builder, const Buffer *read, Buffer *stored, BufferId *backing) {
    Buffer far = *read;
    far.memory = builder->plan->device->backing;
    *stored = *read;
    const Tensor tensor = tensor_of_buffer(builder->plan->graph, &far);
    if (!size_buffer(builder, &tensor, &far)) {
        return false;
    }
    *backing = keep_form(builder, &far);
    return true;
}

static bool is_stored_form(const Builder *builder, const Buffer *read) {
    const Plan *plan = builder->plan;
    return plan->options.expand_before && plan->device->kind == DEVICE_SCRATCHPAD &&
           read->materialised_reason != NULL && read->start >= 0 &&
           graph_value(plan->graph, read->value)->constant != NULL;
}

bool lower_copy(Builder *builder, NodeId node_id, uint32_t k, BufferId *backing, Buffer *stored, Buffer *read) {
    Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, node_id);
    Operand operand;
    if (!operand_of(plan, node, k, builder->work, &operand) ||
        !stored_constant(builder, node_id, k, &operand, plan->device->local, stored)) {
        return false;
    }
    *read = *stored;
    bool has_form = node_is_elementwise(node) && is_broadcast_operand(&operand);
    FormChoice choice = {operand.form, NULL};
    if (has_form) {
        choice = form_choose(builder, &operand, stored);
    }
    bool is_in_place = plan->device->kind == DEVICE_ARENA && choice.reason == NULL;
    if (has_form && !is_in_place && !apply_form(builder, &operand, choice, read)) {
        return false;
    }
    if (is_stored_form(builder, read)) {
        return store_form(builder, read, stored, backing);
    }
    bool done = lower_far(builder, node_id, k, &operand, backing);
    stored->kind = read->kind = done ? plan_buffer(plan, *backing)->kind : stored->kind;
    return done;
}

bool lower_is_number(const Plan *plan, BufferId far) {
    const Buffer *buffer = plan_buffer(plan, far);
    uint64_t elements;
    return graph_value(plan->graph, buffer->value)->constant != NULL && buffer->record_bits == 0 &&
           dtype_bits(buffer->dtype) <= 64 && shape_elements(&buffer->stored, &elements) && elements == 1;
}

/* Does what is read hold more elements than what is stored? */
static bool has_more(const Builder *builder, const Buffer *read, const Buffer *stored) {
    const Graph *graph = builder->plan->graph;
    const Tensor larger = tensor_of_buffer(graph, read), smaller = tensor_of_buffer(graph, stored);
    LayoutShape a, b;
    CHECK(tensor_extents(&larger, &a) && tensor_extents(&smaller, &b)); /* both have a size */
    return memcmp(a.extent, b.extent, sizeof a.extent) != 0;
}

/* A copy of what lies at `backing` is loaded as it is stored. Where the node reads a larger form the engine makes that
 * of it, or of its number. */
static void add_copies(Builder *builder, BufferId backing, Buffer stored, Buffer made, OperandRead *read) {
    read->is_made = builder->plan->device->kind == DEVICE_SCRATCHPAD && has_more(builder, &made, &stored);
    if (!read->is_made) {
        read->from = backing;
        read->buffer = read->loaded = add_buffer(builder, made);
        return;
    }
    made.is_form = true;
    if (!lower_is_number(builder->plan, backing)) {
        stored.costs = NULL; /* what the parameter costs is told of its form */
        read->from = backing;
        read->loaded = add_buffer(builder, stored);
    }
    read->buffer = add_buffer(builder, made);
}

bool lower_operand(Builder *builder, NodeId node_id, uint32_t k, uint32_t group, OperandRead *read) {
    Buffer stored, made;
    BufferId backing;
    *read = (OperandRead){.from = NO_BUFFER, .loaded = NO_BUFFER};
    if (!lower_copy(builder, node_id, k, &backing, &stored, &made)) {
        return false;
    }
    if (builder->plan->device->kind == DEVICE_ARENA && made.materialised_reason == NULL) {
        read->buffer = backing; /* in place, from flash */
        return true;
    }
    if (reuse_copy(builder, &made, group, &read->buffer)) {
        return true;
    }
    add_copies(builder, backing, stored, made, read);
    builder->resident[made.value.index] = read->buffer;
    builder->resident_group[made.value.index] = group;
    return true;
}
