/* What element-wise operators would leave at the peak if they worked row by row.
 *
 * In all steps of such an operator, its loads and stores too, one row of each map that it reads or writes is in local
 * memory, and the map itself in far memory. What else is alive there is as planned: parameters, state, and maps that it
 * does not touch. Steps of other operators are as planned. */
#include "plan/tiles.h"

#include "plan/builder.h"

/* The steps of one node, and the storages of their maps. */
typedef struct {
    const Plan *plan;
    uint32_t first, last; /* steps, half-open */
    uint32_t count;
    BufferId *maps;      /* count of them, storages */
    uint64_t *row_bytes; /* of each storage; 0 where no step touches it */
} Tiled;

/* Physical bytes of a row of the map; all of a map whose row the contract has no layout for. */
static uint64_t row_bytes(const Plan *plan, const Buffer *buffer) {
    Shape row = buffer->stored;
    uint64_t bytes;
    for (uint32_t k = 0; k < row.rank; k++) {
        row.dim[k] = buffer->dims[k] == DIM_H && row.dim[k] > 0 ? 1 : row.dim[k];
    }
    Tensor tensor = tensor_of_value(graph_value(plan->graph, buffer->value), buffer->role);
    tensor.shape = &row;
    tensor.dims = buffer->dims;
    return tensor_bytes(plan->device, &tensor, &bytes) && bytes < buffer->physical_bytes ? bytes
                                                                                         : buffer->physical_bytes;
}

static bool is_map(const Plan *plan, const Buffer *buffer) {
    return buffer->memory == plan->device->local && buffer->kind != BUFFER_STATE && is_value(buffer->value) &&
           graph_value(plan->graph, buffer->value)->constant == NULL && buffer->physical_bytes > 0;
}

/* Of several maps in one storage the largest row counts; a part of a storage keeps it whole. */
static void touch_map(Tiled *tiled, BufferId id) {
    const Plan *plan = tiled->plan;
    const Buffer *buffer = plan_buffer(plan, id);
    const Buffer *storage = plan_buffer(plan, buffer->storage);
    if (!is_map(plan, buffer) || storage->kind == BUFFER_STATE) {
        return;
    }
    bool is_whole = buffer->physical_bytes == storage->physical_bytes;
    uint64_t bytes = is_whole ? row_bytes(plan, buffer) : storage->physical_bytes;
    uint64_t *known = &tiled->row_bytes[buffer->storage.index];
    if (*known == 0) {
        tiled->maps[tiled->count++] = buffer->storage;
    }
    *known = bytes > *known ? bytes : *known;
}

static void touch_maps(Tiled *tiled) {
    for (uint32_t s = tiled->first; s < tiled->last; s++) {
        const Step *step = &tiled->plan->steps[s];
        for (uint32_t i = 0; i < step->read_count; i++) {
            touch_map(tiled, step->reads[i]);
        }
        for (uint32_t i = 0; i < step->write_count; i++) {
            touch_map(tiled, step->writes[i]);
        }
    }
}

static uint64_t live_bytes(const Tiled *tiled, uint32_t s) {
    uint64_t live = tiled->plan->steps[s].live_bytes;
    for (uint32_t i = 0; i < tiled->count; i++) {
        const Buffer *storage = plan_buffer(tiled->plan, tiled->maps[i]);
        bool is_live = storage_is_live(storage, s);
        live -= is_live ? storage->physical_bytes - tiled->row_bytes[tiled->maps[i].index] : 0;
    }
    return live;
}

static bool is_tileable(const Plan *plan, NodeId node) {
    return plan->device->kind == DEVICE_SCRATCHPAD && is_node(node) &&
           node_is_elementwise(graph_node(plan->graph, node));
}

/* Of the steps first … last; forgets their maps. */
static uint64_t peak_of_node(Tiled *tiled) {
    uint64_t peak = 0;
    tiled->count = 0;
    if (is_tileable(tiled->plan, tiled->plan->steps[tiled->first].node)) {
        touch_maps(tiled);
    }
    for (uint32_t s = tiled->first; s < tiled->last; s++) {
        uint64_t live = live_bytes(tiled, s);
        peak = live > peak ? live : peak;
    }
    for (uint32_t i = 0; i < tiled->count; i++) {
        tiled->row_bytes[tiled->maps[i].index] = 0;
    }
    return peak;
}

uint64_t tiled_peak_bytes(const Plan *plan, Arena *scratch) {
    Tiled tiled = {.plan = plan,
                   .maps = arena_array(scratch, BufferId, plan->buffer_count),
                   .row_bytes = arena_array(scratch, uint64_t, plan->buffer_count)};
    uint64_t peak = plan->step_count == 0 ? plan->peak_live_bytes : 0;
    for (; tiled.first < plan->step_count; tiled.first = tiled.last) {
        tiled.last = tiled.first + 1;
        while (tiled.last < plan->step_count &&
               plan->steps[tiled.last].node.index == plan->steps[tiled.first].node.index) {
            tiled.last++;
        }
        uint64_t of_node = peak_of_node(&tiled);
        peak = of_node > peak ? of_node : peak;
    }
    return peak;
}
