/* Lowering: every value that has bytes gets a buffer, every constant a form. */
#include "plan/builder.h"

#include <string.h>

static BufferId add_buffer(Builder *builder, Buffer buffer) {
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
    uint64_t align = device->memory[buffer->memory].align_bytes;
    buffer->logical_bytes = view_logical_bytes(&view);
    buffer->physical_bytes = view.bank_bytes;
    buffer->banks_used = view.banks_used;
    buffer->align_bytes = align > view.base_bytes ? align : view.base_bytes;
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

/* ---- Constants */

static bool is_broadcast_operand(const Operand *operand) {
    return operand->broadcast != BROADCAST_NONE;
}

/* The parameter stream of an engine that takes one record a channel (bias, scale, shift) in place of plain vectors. */
static bool is_record_stream(const Builder *builder, const Node *node, uint32_t k) {
    return builder->plan->device->record_bits > 0 && op_info(node->op)->kind == KIND_COMPUTE &&
           op_input_role(node->op, k) == 'c';
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

/* Bytes of a larger form, laid out like the map, with elements of at least `grain_bytes`; UINT64_MAX where the device
 * has no layout for it. */
static uint64_t form_bytes(const Builder *builder, const Operand *operand, const Value *value, Form form,
                           uint64_t grain_bytes) {
    Shape shape = operand_form_shape(operand, form);
    Tensor tensor = {.shape = &shape,
                     .dims = operand->map->dims,
                     .bits = dtype_bits(value->dtype),
                     .role = ROLE_ACTIVATION,
                     .name = value->name,
                     .grain_bytes = grain_bytes};
    uint64_t bytes;
    return tensor_bytes(builder->plan->device, &tensor, &bytes) ? bytes : UINT64_MAX;
}

static const FormCosts *form_costs(Builder *builder, const Operand *operand, const Value *value,
                                   uint64_t compact_bytes) {
    if (!is_broadcast_operand(operand)) {
        return NULL;
    }
    FormCosts *costs = arena_new(&builder->work->keep, FormCosts);
    costs->channel_bytes = compact_bytes;
    costs->row_bytes = form_bytes(builder, operand, value, FORM_ROW, 0);
    costs->full_bytes = form_bytes(builder, operand, value, FORM_FULL, 0);
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
                     .role = tensor.role,
                     .memory = memory,
                     .stored = operand->stored,
                     .broadcast = operand->broadcast,
                     .axis = operand->axis};
    memcpy(made->dims, operand->dims, sizeof made->dims);
    if (!size_buffer(builder, &tensor, made)) {
        return false;
    }
    made->costs = form_costs(builder, operand, value, made->physical_bytes);
    return true;
}

bool lower_backing(Builder *builder, ValueId id, BufferId *buffer) {
    *buffer = builder->backing[id.index];
    if (is_buffer(*buffer)) {
        return true;
    }
    bool made = add_value_buffer(builder, id, builder->plan->device->backing, buffer);
    builder->backing[id.index] = *buffer;
    return made;
}

/* Do both contracts and names put every element at the same address? */
static bool is_same_map(Builder *builder, const Buffer *a, const Buffer *b) {
    const Buffer *side[] = {a, b};
    View view[2];
    ViewAxis axes[2][SHAPE_MAX_RANK];
    for (uint32_t i = 0; i < 2; i++) {
        const Tensor tensor = tensor_of_buffer(builder->plan->graph, side[i]);
        if (!tensor_find_view(builder->plan->device, &tensor, &view[i])) {
            return false;
        }
        tensor_axes(&tensor, axes[i]);
    }
    const ViewOrder left = {&view[0], axes[0], a->stored.rank};
    const ViewOrder right = {&view[1], axes[1], b->stored.rank};
    return view_same_map(&left, &right, WALK_LIMIT);
}

static bool is_same_form(Builder *builder, const Buffer *a, const Buffer *b) {
    return a->role == b->role && a->logical_bytes == b->logical_bytes && a->physical_bytes == b->physical_bytes &&
           shape_eq(&a->stored, &b->stored) &&
           (memcmp(a->dims, b->dims, a->stored.rank) == 0 || is_same_map(builder, a, b));
}

/* The buffer in flash or far memory of a constant, in the form that this reader takes. Two readers may take two forms
 * (a bias of equal numbers is one number to an addition, and a vector to a convolution): each is stored once. */
static bool lower_constant(Builder *builder, NodeId reader, uint32_t k, const Operand *operand, BufferId *buffer) {
    Plan *plan = builder->plan;
    BufferId *link = &builder->backing[graph_node(plan->graph, reader)->inputs[k].index];
    Buffer made;
    if (!stored_constant(builder, reader, k, operand, plan->device->backing, &made)) {
        return false;
    }
    BufferId first = *link;
    for (*buffer = first; is_buffer(*buffer); *buffer = plan_buffer(plan, *buffer)->next_form) {
        if (is_same_form(builder, plan_buffer(plan, *buffer), &made)) {
            return true;
        }
    }
    *buffer = *link = add_buffer(builder, made);
    plan_buffer(plan, *buffer)->next_form = first;
    return true;
}

/* ---- The form a node reads */

static Form form_of_broadcast(Broadcast broadcast) {
    switch (broadcast) {
    case BROADCAST_SCALAR:
        return FORM_SCALAR;
    case BROADCAST_CHANNEL:
        return FORM_CHANNEL;
    case BROADCAST_ROW:
        return FORM_ROW;
    default:
        return FORM_FULL;
    }
}

static Form form_asked(Strategy strategy) {
    static const Form form[] = {[STRATEGY_AUTO] = FORM_SCALAR,
                                [STRATEGY_SCALAR] = FORM_SCALAR,
                                [STRATEGY_CHANNEL] = FORM_CHANNEL,
                                [STRATEGY_ROW] = FORM_ROW,
                                [STRATEGY_FULL] = FORM_FULL};
    return form[strategy];
}

static Broadcast broadcast_of_form(Form form) {
    static const Broadcast broadcast[] = {[FORM_SCALAR] = BROADCAST_SCALAR,
                                          [FORM_CHANNEL] = BROADCAST_CHANNEL,
                                          [FORM_ROW] = BROADCAST_ROW,
                                          [FORM_FULL] = BROADCAST_FULL};
    return broadcast[form];
}

/* The expanded copy of a parameter. It is laid out like the map it is read beside. */
static void expand(const Operand *operand, Form form, Buffer *made) {
    made->stored = operand_form_shape(operand, form);
    made->broadcast = broadcast_of_form(form);
    made->axis = form == FORM_FULL ? operand->axis : operand->spread_axis;
    made->role = ROLE_ACTIVATION;
    memcpy(made->dims, operand->map->dims, sizeof made->dims);
}

/* Some engines read an element only as a whole block: a local copy has one for each. */
static Tensor copy_tensor(const Plan *plan, const Buffer *copy, Form form) {
    Tensor tensor = tensor_of_buffer(plan->graph, copy);
    tensor.grain_bytes = plan->device->form[form].grain_bytes;
    return tensor;
}

/* What a local copy of `compact` in `form` would occupy; UINT64_MAX where the device has no layout for it. */
static uint64_t copy_bytes(const Builder *builder, const Operand *operand, const Buffer *compact, Form form) {
    const Plan *plan = builder->plan;
    const Value *value = graph_value(plan->graph, compact->value);
    if (form != form_of_broadcast(operand->broadcast)) {
        return form_bytes(builder, operand, value, form, plan->device->form[form].grain_bytes);
    }
    Tensor tensor = copy_tensor(plan, compact, form);
    uint64_t bytes;
    return tensor_bytes(plan->device, &tensor, &bytes) ? bytes : UINT64_MAX;
}

static bool operand_has_map(const Operand *operand) {
    uint64_t elements;
    return shape_elements(&operand->map->shape, &elements) && elements > 0;
}

typedef struct {
    Form form;
    const char *reason; /* why it is larger than what is stored; null where it is not */
} FormChoice;

/* The engine's first form from `least` on; a whole map is what every engine reads. */
static Form first_readable(const Device *device, Form least) {
    Form form = least;
    while (form < FORM_FULL && !device->form[form].readable) {
        form++;
    }
    return form;
}

/* The form that a local copy takes: the one the user asked for, or else, of those that the engine reads, the one of the
 * fewest bytes. That is the most compact one but where each of its elements takes a whole block. */
static FormChoice choose_form(const Builder *builder, const Operand *operand, const Buffer *compact) {
    const Plan *plan = builder->plan;
    Form stored = form_of_broadcast(operand->broadcast);
    Form asked = form_asked(plan->options.strategy);
    FormChoice choice = {first_readable(plan->device, asked > stored ? asked : stored), NULL};
    if (choice.form > stored) {
        choice.reason = choice.form == asked ? "asked for by --strategy" : "the engine reads no smaller form in place";
    }
    bool is_free = plan->options.strategy == STRATEGY_AUTO && plan->device->kind == DEVICE_SCRATCHPAD;
    bool has_elements = compact->logical_bytes > 0 && operand_has_map(operand);
    for (Form form = choice.form + 1; is_free && has_elements && form < FORM_COUNT; form++) {
        bool is_smaller = plan->device->form[form].readable && copy_bytes(builder, operand, compact, form) <
                                                                   copy_bytes(builder, operand, compact, choice.form);
        if (is_smaller) {
            choice = (FormChoice){form, "smaller than the compact form on this device"};
        }
    }
    return choice;
}

/* A parameter that is broadcast takes the form its reader reads. */
static bool apply_form(Builder *builder, const Operand *operand, FormChoice choice, Buffer *made) {
    made->materialised_reason = choice.reason;
    if (choice.reason != NULL || choice.form == FORM_FULL) {
        expand(operand, choice.form, made);
    }
    Tensor tensor = copy_tensor(builder->plan, made, choice.form);
    if (!size_buffer(builder, &tensor, made)) {
        return false;
    }
    if (choice.reason == NULL && made->costs != NULL) {
        FormCosts *costs = arena_new(&builder->work->keep, FormCosts);
        *costs = *made->costs;
        costs->channel_bytes = made->physical_bytes;
        made->costs = costs;
    }
    return true;
}

/* Do both hold the same elements in the same order? What was expanded goes along an axis of its reader's map; a form
 * that stayed compact is a list of numbers, whatever axis they go along. */
static bool is_same_copy(Builder *builder, const Buffer *held, const Buffer *wanted) {
    bool is_expanded = wanted->materialised_reason != NULL;
    return is_same_form(builder, held, wanted) && (held->materialised_reason != NULL) == is_expanded &&
           (!is_expanded || held->axis == wanted->axis);
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

bool lower_operand(Builder *builder, NodeId node_id, uint32_t k, uint32_t group, OperandRead *read) {
    Plan *plan = builder->plan;
    const Node *node = graph_node(plan->graph, node_id);
    Operand operand;
    Buffer made;
    BufferId backing;
    read->from = NO_BUFFER;
    if (!operand_of(plan, node, k, builder->work, &operand) ||
        !lower_constant(builder, node_id, k, &operand, &backing)) {
        return false;
    }
    bool has_form =
        node_is_elementwise(node) && is_broadcast_operand(&operand) && operand.broadcast != BROADCAST_PARTIAL;
    if (!stored_constant(builder, node_id, k, &operand, plan->device->local, &made)) {
        return false;
    }
    FormChoice choice = {FORM_FULL, NULL};
    if (has_form) {
        choice = choose_form(builder, &operand, &made);
    }
    if (plan->device->kind == DEVICE_ARENA && choice.reason == NULL) {
        read->buffer = backing; /* in place, from flash */
        return true;
    }
    if (has_form && !apply_form(builder, &operand, choice, &made)) {
        return false;
    }
    if (reuse_copy(builder, &made, group, &read->buffer)) {
        return true;
    }
    read->from = backing;
    read->buffer = add_buffer(builder, made);
    builder->resident[made.value.index] = read->buffer;
    builder->resident_group[made.value.index] = group;
    return true;
}
