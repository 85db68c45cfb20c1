/* Buffers of a program: those of the plan that commands touch, where the plan has placed them. */
#include "program/builder.h"

#include "base/fault.h"
#include "plan/tensor.h"

static CmdBufferKind kind_of(BufferKind kind) {
    switch (kind) {
    case BUFFER_INPUT:
        return CMD_BUFFER_INPUT;
    case BUFFER_OUTPUT:
        return CMD_BUFFER_OUTPUT;
    case BUFFER_WEIGHT:
    case BUFFER_PARAMETER:
        return CMD_BUFFER_PARAMETER;
    case BUFFER_WORKSPACE:
        return CMD_BUFFER_WORKSPACE;
    default:
        return CMD_BUFFER_ACTIVATION;
    }
}

/* The buffer whose data it holds: another shape or a part of a tensor is the same data, what is written in place of
 * another is not. */
static uint32_t data_of(const Plan *plan, BufferId id) {
    const Buffer *buffer = plan_buffer(plan, id);
    while (is_buffer(buffer->alias_of) && buffer->alias_reason != ALIAS_IN_PLACE) {
        id = buffer->alias_of;
        buffer = plan_buffer(plan, id);
    }
    return id.index;
}

static CmdBuffer make_buffer(const Plan *plan, BufferId id, DType dtype) {
    const Buffer *buffer = plan_buffer(plan, id);
    bool is_line = !is_value(buffer->value);
    CmdBuffer made = {.kind = kind_of(buffer->kind),
                      .name = is_line ? STR("workspace") : graph_value(plan->graph, buffer->value)->name,
                      .node = is_node(buffer->node) ? graph_node(plan->graph, buffer->node)->name : STR(""),
                      .dtype = is_line ? dtype : buffer->dtype,
                      .memory = buffer->memory,
                      .offset_bytes = buffer->offset,
                      .bytes = buffer->physical_bytes,
                      .lanes = 1,
                      .data = data_of(plan, id),
                      .view = CMD_NONE};
    return made;
}

uint32_t program_buffer(ProgramBuilder *builder, BufferId id, DType dtype) {
    const Plan *plan = builder->plan;
    uint32_t *number = &builder->of_buffer[id.index];
    if (*number == CMD_NONE) {
        Work *work = builder->work;
        *number = builder->program->buffer_count;
        builder->buffers =
            arena_grow(&work->keep, builder->buffers, *number, &builder->buffer_capacity, sizeof *builder->buffers);
        builder->uses =
            arena_grow(&work->scratch, builder->uses, *number, &builder->uses_capacity, sizeof *builder->uses);
        builder->buffers[*number] = make_buffer(plan, id, dtype);
        builder->uses[*number] = (Uses){0};
        builder->program->buffer_count++;
    }
    return *number;
}

CmdOperand program_operand(ProgramBuilder *builder, uint32_t buffer, const View *view,
                           const uint64_t first[DIM_COUNT]) {
    uses_add(&builder->uses[buffer], view, &builder->work->scratch);
    return (CmdOperand){buffer, program_view(builder, view), view_address_bits(view, first)};
}

CmdOperand program_box_operand(ProgramBuilder *builder, uint32_t buffer, const View *view, const ViewBox *box) {
    uses_add_box(&builder->uses[buffer], view, box, builder->begun, &builder->work->scratch);
    return (CmdOperand){buffer, program_view(builder, view), view_address_bits(view, box->first)};
}

CmdOperand program_windows_operand(ProgramBuilder *builder, uint32_t buffer, const View *view,
                                   const UseWindows along[DIM_COUNT], const uint64_t first[DIM_COUNT]) {
    uses_add_windows(&builder->uses[buffer], view, along, builder->begun, &builder->work->scratch);
    return (CmdOperand){buffer, program_view(builder, view), view_address_bits(view, first)};
}

bool program_whole_view(const ProgramBuilder *builder, const Buffer *buffer, View *view) {
    const Plan *plan = builder->plan;
    Tensor tensor = tensor_of_buffer(plan->graph, buffer);
    if (buffer_find_view(plan, buffer, view)) {
        return true;
    }
    return tensor_view(plan->device, &tensor, &builder->work->diags, view) &&
           diag_refuse(&builder->work->diags,
                       (DiagText){.tensor = tensor.name,
                                  .what = "the lanes of its layout, end to end, take more levels "
                                          "than a view has",
                                  .hint = "give the device a contract with fewer terms"});
}

/* ---- What the host sees */

static CmdOrder order_of(const Graph *graph, const Buffer *buffer) {
    Tensor tensor = tensor_of_buffer(graph, buffer);
    ViewAxis axes[SHAPE_MAX_RANK];
    CmdOrder order = {.rank = tensor.shape->rank};
    tensor_axes(&tensor, axes);
    for (uint32_t k = 0; k < order.rank; k++) {
        order.extent[k] = axes[k].extent;
        order.axis[k] = (uint8_t)axes[k].dim;
    }
    return order;
}

bool program_show(ProgramBuilder *builder, BufferId id) {
    const Plan *plan = builder->plan;
    const Buffer *buffer = plan_buffer(plan, id);
    uint32_t number = program_buffer(builder, id, DTYPE_NONE);
    CmdBuffer *made = &builder->buffers[number];
    Span packed = {NULL, 0};
    View view;
    if (made->view != CMD_NONE) {
        return true;
    }
    bool is_constant = graph_value(plan->graph, buffer->value)->constant != NULL;
    if (!program_whole_view(builder, buffer, &view) ||
        (is_constant && !program_constant(plan->graph, buffer, builder->work, &packed))) {
        return false;
    }
    const uint64_t first[DIM_COUNT] = {0};
    CHECK(buffer_backing_bytes(plan, buffer, &made->bytes));
    made->view = program_view(builder, &view);
    made->view_offset_bits = view_address_bits(&view, first);
    made->order = order_of(plan->graph, buffer);
    made->constant = packed.ptr;
    made->constant_bytes = packed.len;
    uses_reserve(&builder->uses[number], &view);
    return true;
}

/* Of two slots one may only ever hold the smaller tile at the end; both are made for a full one. */
static void join_slots(const ProgramBuilder *builder, const BufferId slot[2], uint64_t *footprint_bytes) {
    if (!is_buffer(slot[0]) || !is_buffer(slot[1])) {
        return;
    }
    uint32_t a = builder->of_buffer[slot[0].index], b = builder->of_buffer[slot[1].index];
    if (a != CMD_NONE && b != CMD_NONE) {
        uint64_t more = footprint_bytes[a] > footprint_bytes[b] ? footprint_bytes[a] : footprint_bytes[b];
        footprint_bytes[a] = footprint_bytes[b] = more;
    }
}

static void join_all_slots(const ProgramBuilder *builder, uint64_t *footprint_bytes) {
    for (uint32_t s = 0; s < builder->plan->sweep_count; s++) {
        const PlannedSweep *planned = &builder->plan->sweeps[s];
        join_slots(builder, planned->in_local, footprint_bytes);
        join_slots(builder, planned->out_local, footprint_bytes);
        for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
            join_slots(builder, planned->params[i].local, footprint_bytes);
        }
    }
}

const uint64_t *program_finish_buffers(ProgramBuilder *builder) {
    uint64_t *footprint_bytes = arena_array(&builder->work->keep, uint64_t, builder->program->buffer_count);
    for (uint32_t k = 0; k < builder->program->buffer_count; k++) {
        CmdBuffer *buffer = &builder->buffers[k];
        buffer->lanes = uses_lanes(&builder->uses[k]);
        buffer->estimated_bytes = uses_touched_bytes(&builder->uses[k], &builder->work->scratch);
        footprint_bytes[k] = builder->uses[k].reserved_bytes;
    }
    join_all_slots(builder, footprint_bytes);
    return footprint_bytes;
}
