/* What a sweep has in local memory for a tile: parts of maps and parameters, workspace, what operators hand on. */
#include "plan/making.h"

#include "base/checked.h"
#include "base/fault.h"

#include <string.h>

/* Clips the axes of `stored` to a part of `extent`. */
static void clip_shape(const Tensor *tensor, const uint64_t extent[DIM_COUNT], Shape *stored) {
    for (uint32_t k = 0; k < stored->rank; k++) {
        uint64_t own = extent[tensor_dim(tensor, k)];
        stored->dim[k] = (uint64_t)stored->dim[k] > own ? (int64_t)own : stored->dim[k];
    }
}

/* `bytes` of one lane, for the part of a tile that `view` shows. */
static BufferId add_tile_buffer(const Making *making, Buffer buffer, const View *view, uint64_t bytes) {
    const Device *device = making->builder->plan->device;
    buffer.memory = device->local;
    buffer.alias_reason = ALIAS_NONE;
    buffer.logical_bytes = view_logical_bytes(view);
    buffer.physical_bytes = bytes;
    buffer.banks_used = view->banks_used;
    CHECK(
        checked_common_multiple(view->base_bytes, making->kernel.align_bytes, &buffer.align_bytes)); /* of any device */
    return add_buffer(making->builder, buffer);
}

/* `whole` as a record, cut to the largest part of a tile. */
static BufferId add_part(const Making *making, Buffer whole, const SweepOperand *operand) {
    const PlannedSweep *planned = making->planned;
    const SweepChoice *choice = &planned->chosen.best.choice;
    const Tensor tensor = tensor_of_buffer(making->builder->plan->graph, &whole);
    uint64_t extent[DIM_COUNT], bytes;
    View view;
    CHECK(sweep_part_extent(&planned->sweep, choice, operand, extent) &&
          sweep_local_view(&planned->sweep, operand, extent, &view) &&
          sweep_operand_bytes(&planned->sweep, choice, operand, &bytes));
    clip_shape(&tensor, extent, &whole.stored);
    whole.is_form = operand->is_form;
    return add_tile_buffer(making, whole, &view, bytes);
}

static BufferId add_map_part(const Making *making, BufferId far, const SweepOperand *operand) {
    return add_part(making, *plan_buffer(making->builder->plan, far), operand);
}

/* As far as the tiles of a slot reach: workspace is declared to the byte. */
typedef struct {
    const KernelContract *kernel;
    uint32_t which, slot;
    uint32_t seen[2]; /* sets of tails, of 6 bits: of those below 32, and others */
    View view;        /* of the tile that reaches farthest */
    uint64_t bytes;
} Farthest;

static void find_farthest(void *context, const SweepEvent *event) {
    Farthest *reach = context;
    uint32_t *seen = &reach->seen[event->tails / 32], bit = 1u << event->tails % 32;
    View view;
    uint64_t bytes;
    if (event->kind != SWEEP_COMPUTE || event->slot != reach->slot || (*seen & bit) != 0) {
        return;
    }
    *seen |= bit;
    CHECK(kernel_workspace(reach->kernel, reach->which, event->box.extent, &view, &bytes));
    if (bytes > reach->bytes) {
        reach->view = view;
        reach->bytes = bytes;
    }
}

static BufferId add_workspace(const Making *making, Buffer buffer, Farthest reach) {
    const PlannedSweep *planned = making->planned;
    sweep_walk(&planned->sweep, &planned->chosen.best.choice,
               (SweepListener){.hear = find_farthest, .context = &reach});
    buffer.kind = BUFFER_WORKSPACE;
    BufferId id = add_tile_buffer(making, buffer, &reach.view, reach.bytes);
    plan_buffer(making->builder->plan, id)->logical_bytes = reach.bytes;
    return id;
}

/* What node `n` hands on, as a buffer without bytes yet. */
static Buffer handed_buffer(const Making *making, uint32_t n) {
    const PlannedSweep *planned = making->planned;
    const Graph *graph = making->builder->plan->graph;
    ValueId id = graph_node(graph, planned->nodes[n])->outputs[0];
    const Value *value = graph_value(graph, id);
    Buffer buffer = {.value = id,
                     .node = planned->nodes[n],
                     .kind = BUFFER_ACTIVATION,
                     .dtype = value->dtype,
                     .role = ROLE_ACTIVATION,
                     .memory = making->builder->plan->device->local,
                     .stored = value->shape,
                     .axis = -1};
    memcpy(buffer.dims, value->dims, sizeof buffer.dims);
    const Tensor tensor = tensor_of_value(value, ROLE_ACTIVATION);
    clip_shape(&tensor, planned->chosen.best.choice.tile, &buffer.stored);
    return buffer;
}

/* It lies in the output's tile, over the input's, or in workspace. */
static BufferId add_carried(const Making *making, uint32_t n, BufferId carrier) {
    Plan *plan = making->builder->plan;
    Buffer buffer = handed_buffer(making, n);
    const Buffer *storage = plan_buffer(plan, carrier);
    buffer.logical_bytes = storage->logical_bytes;
    buffer.physical_bytes = storage->physical_bytes;
    buffer.banks_used = storage->banks_used;
    buffer.align_bytes = storage->align_bytes;
    BufferId id = add_buffer(making->builder, buffer);
    plan_buffer(plan, id)->alias_of = carrier;
    plan_buffer(plan, id)->alias_reason = ALIAS_IN_PLACE;
    return id;
}

static BufferId carrier_of(const PlannedSweep *planned, uint32_t slot) {
    switch (planned->chosen.best.choice.carry) {
    case CARRY_OUTPUT:
        return planned->out_local[planned->sweep.out.is_far ? slot : 0];
    case CARRY_INPUT:
        return planned->in_local[slot];
    default:
        return planned->workspace[slot];
    }
}

static void add_handed(const Making *making, uint32_t slot) {
    PlannedSweep *planned = making->planned;
    for (uint32_t n = 0; n + 1 < planned->node_count; n++) {
        Farthest map = {.kernel = &making->kernel, .which = n, .slot = slot};
        planned->handed[2 * n + slot] = n < making->kernel.map_count
                                            ? add_workspace(making, handed_buffer(making, n), map)
                                            : add_carried(making, n, carrier_of(planned, slot));
    }
}

/* What stays whole in local memory may die here or not: build_in_place finds out. */
static void note_over_input(const Making *making, uint32_t slot) {
    const PlannedSweep *planned = making->planned;
    Buffer *out = plan_buffer(making->builder->plan, planned->out_local[slot]);
    if (planned->chosen.best.choice.over_input) {
        out->alias_of = planned->in_local[slot];
        out->alias_reason = ALIAS_IN_PLACE;
    } else if (planned->sweep.in.is_far && planned->sweep.in.shape.bits != planned->sweep.out.shape.bits) {
        out->refused_alias = REFUSED_DTYPE;
        out->refused_candidate = planned->in_local[slot];
    }
}

static void add_params(const Making *making, uint32_t slot) {
    PlannedSweep *planned = making->planned;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const SweepOperand *operand = &making->params[i];
        bool stays = sweep_stays(&planned->chosen.best.choice, &planned->sweep, operand);
        if (sweep_is_loaded(operand) && (slot == 0 || !stays)) {
            planned->params[i].local[slot] = add_part(making, making->param_copy[i], operand);
        }
        if (operand->form != NULL && slot == 0) {
            planned->params[i].form = add_part(making, making->param_read[i], operand->form);
        }
    }
}

static void add_line(const Making *making, uint32_t slot) {
    PlannedSweep *planned = making->planned;
    const Buffer buffer = {.value = NO_VALUE, .node = planned->nodes[0], .role = ROLE_ACTIVATION, .axis = -1};
    const Farthest line = {.kernel = &making->kernel, .which = KERNEL_LINE, .slot = slot};
    if (making->kernel.has_line) {
        planned->workspace[slot] = add_workspace(making, buffer, line);
    }
}

void add_buffers(Making *making) {
    PlannedSweep *planned = making->planned;
    const Sweep *sweep = &planned->sweep;
    planned->handed = arena_array(&making->builder->work->keep, BufferId, 2 * (size_t)planned->node_count);
    making->kernel = kernel_contract(sweep, &planned->chosen.best.choice);
    for (uint32_t slot = 0; slot < making->kernel.slots; slot++) {
        if (sweep->in.is_far) {
            planned->in_local[slot] = add_map_part(making, planned->in_far, &sweep->in);
        }
        if (sweep->out.is_far) {
            planned->out_local[slot] = add_map_part(making, planned->out_far, &sweep->out);
        }
        if (sweep->out.is_far || slot == 0) {
            note_over_input(making, slot);
        }
        add_line(making, slot);
        add_params(making, slot);
        add_handed(making, slot);
    }
}
