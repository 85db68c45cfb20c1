/* Tiles of a sweep: which part of an operand belongs to one, and how it lies in local memory. */
#include "sweep/sweep.h"

#include "base/checked.h"

#include <string.h>

const char *schedule_name(Schedule schedule) {
    static const char *const name[] = {"auto", "fused", "split", "pipelined"};
    return name[schedule];
}

uint32_t sweep_slots(const SweepChoice *choice) {
    return choice->schedule == SCHEDULE_PIPELINED ? 2 : 1;
}

/* ---- What belongs to a part of the map */

bool sweep_fits_map(const LayoutShape *param, const LayoutShape *map) {
    bool fits = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        fits = fits && (param->extent[d] == 1 || param->extent[d] == map->extent[d]);
    }
    return fits;
}

void sweep_follow(SweepOperand *operand, const LayoutShape *map) {
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        bool is_along = operand->shape.extent[d] > 1 && operand->shape.extent[d] == map->extent[d];
        operand->reach[d] = (Reach){
            .of = is_along ? d : REACH_ALL, .stride = 1, .window = 1, .grain = view_grain(&operand->whole, (Dim)d)};
    }
}

bool reach_is_same(const Reach *reach) {
    return reach->of != REACH_ALL && reach->stride == 1 && reach->before == 0 && reach->window == 1;
}

bool sweep_is_cut(const Sweep *sweep, const SweepChoice *choice, uint32_t d) {
    return choice->tile[d] < sweep->out.shape.extent[d];
}

const SweepOperand *sweep_read(const SweepOperand *param) {
    return param->form != NULL ? param->form : param;
}

bool sweep_is_loaded(const SweepOperand *param) {
    return param->is_far && !(param->is_number && param->form != NULL);
}

/* What goes along the rows is only ever there for the tile. */
bool sweep_stays(const SweepChoice *choice, const Sweep *sweep, const SweepOperand *param) {
    if (param->is_form) {
        return false;
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        uint32_t of = param->reach[d].of;
        if (of != REACH_ALL && sweep_is_cut(sweep, choice, of) && (of != DIM_C || !choice->is_resident)) {
            return false;
        }
    }
    return true;
}

bool sweep_reloads(const SweepChoice *choice, const Sweep *sweep) {
    SweepChoice resident = *choice;
    bool reloads = false;
    resident.is_resident = true;
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        const SweepOperand *param = &sweep->params[i];
        reloads = reloads || (!sweep_stays(choice, sweep, param) && sweep_stays(&resident, sweep, param));
    }
    return reloads;
}

/* Element `k` of the window at `index`, or the nearest that there is. */
static uint64_t place_window(const Reach *reach, uint64_t index, uint64_t k, uint64_t whole) {
    int64_t at = (int64_t)(index * reach->stride + k) - reach->before;
    return at < 0 ? 0 : (uint64_t)at < whole ? (uint64_t)at : whole - 1;
}

/* Along dimension `d` of the operand, of the part of the map at `first`. A part begins where a block does. */
static void find_part(const SweepOperand *operand, int d, uint64_t first, uint64_t extent, uint64_t *part_first,
                      uint64_t *part_extent) {
    const Reach *reach = &operand->reach[d];
    uint64_t whole = operand->shape.extent[d];
    if (reach->of == REACH_ALL || whole == 0 || extent == 0) {
        *part_first = 0;
        *part_extent = extent == 0 ? 0 : whole;
        return;
    }
    uint64_t begin = place_window(reach, first, 0, whole);
    uint64_t last = place_window(reach, first + extent - 1, reach->window - 1, whole);
    *part_first = begin - begin % reach->grain;
    *part_extent = last - *part_first + 1;
}

ViewBox sweep_box(const SweepOperand *operand, const ViewBox *map_box) {
    ViewBox box;
    for (int d = 0; d < DIM_COUNT; d++) {
        uint32_t of = operand->reach[d].of == REACH_ALL ? (uint32_t)d : operand->reach[d].of;
        find_part(operand, d, map_box->first[of], map_box->extent[of], &box.first[d], &box.extent[d]);
    }
    return box;
}

ViewBox sweep_form_box(const SweepOperand *param, const ViewBox *map_box) {
    ViewBox box = sweep_box(param->form, map_box);
    const ViewBox from = sweep_box(param, map_box);
    memcpy(box.first, from.first, sizeof box.first);
    return box;
}

uint64_t sweep_box_bytes(const SweepOperand *operand, const ViewBox *box) {
    return bytes_from_bits(operand->shape.bits * layout_elements(box->extent));
}

bool sweep_local_view(const Sweep *sweep, const SweepOperand *operand, const uint64_t extent[DIM_COUNT], View *view) {
    LayoutShape shape = operand->shape;
    if (!operand->is_far) {
        *view = operand->whole;
        return true;
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        shape.extent[d] = extent[d];
    }
    return view_resolve(sweep->device->contract[operand->role], &shape, view, NULL) == VIEW_DONE &&
           view_widen(view, operand->grain_bytes);
}

/* ---- Sizes */

/* The extents that parts of an operand have along one dimension. */
typedef struct {
    uint32_t count;
    uint64_t extent[8];
} Extents;

/* And along all: a number of each, counted through. */
typedef struct {
    Extents along[DIM_COUNT];
    uint32_t at[DIM_COUNT];
} Parts;

static bool add_extent(Extents *extents, uint64_t extent) {
    for (uint32_t k = 0; k < extents->count; k++) {
        if (extents->extent[k] == extent) {
            return true;
        }
    }
    if (extents->count == sizeof extents->extent / sizeof extents->extent[0]) {
        return false;
    }
    extents->extent[extents->count++] = extent;
    return true;
}

/* A window that moves, or ends early, has other extents at both ends, and may begin anywhere in a block. */
static bool find_extents(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, int d,
                         Extents *extents) {
    const Reach *reach = &operand->reach[d];
    uint32_t of = reach->of == REACH_ALL ? (uint32_t)d : reach->of;
    uint64_t whole = sweep->out.shape.extent[of], tile = choice->tile[of], tail = tile == 0 ? 0 : whole % tile;
    uint64_t first, extent;
    bool is_same = reach_is_same(reach) && operand->shape.extent[d] == whole;
    if (reach->of == REACH_ALL || is_same) {
        find_part(operand, d, 0, tile, &first, &extent);
        bool ok = add_extent(extents, extent);
        find_part(operand, d, whole - tail, tail, &first, &extent);
        return ok && (tail == 0 || !sweep_is_cut(sweep, choice, of) || add_extent(extents, extent));
    }
    bool ok = true;
    for (uint64_t at = 0; ok && at < whole; at += tile) {
        find_part(operand, d, at, whole - at < tile ? whole - at : tile, &first, &extent);
        ok = add_extent(extents, extent);
    }
    return ok;
}

/* False where there are more kinds of parts than anyone would want. */
static bool find_parts(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, Parts *parts) {
    bool stays = operand != &sweep->in && operand != &sweep->out && sweep_stays(choice, sweep, operand);
    bool ok = true;
    for (int d = 0; ok && d < DIM_COUNT; d++) {
        parts->at[d] = parts->along[d].count = 0; /* the extents need not be cleared, of as many as there are calls */
        ok = stays ? add_extent(&parts->along[d], operand->shape.extent[d])
                   : find_extents(sweep, choice, operand, d, &parts->along[d]);
    }
    return ok;
}

static void part_extent(const Parts *parts, uint64_t extent[DIM_COUNT]) {
    for (int d = 0; d < DIM_COUNT; d++) {
        extent[d] = parts->along[d].extent[parts->at[d]];
    }
}

static bool next_part(Parts *parts) {
    for (int d = 0; d < DIM_COUNT; d++) {
        if (++parts->at[d] < parts->along[d].count) {
            return true;
        }
        parts->at[d] = 0;
    }
    return false;
}

bool sweep_part_extent(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand,
                       uint64_t extent[DIM_COUNT]) {
    Parts parts;
    bool ok = find_parts(sweep, choice, operand, &parts);
    for (int d = 0; ok && d < DIM_COUNT; d++) {
        extent[d] = 0;
        for (uint32_t k = 0; k < parts.along[d].count; k++) {
            extent[d] = parts.along[d].extent[k] > extent[d] ? parts.along[d].extent[k] : extent[d];
        }
    }
    return ok;
}

bool sweep_operand_bytes(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, uint64_t *bytes) {
    Parts parts;
    bool ok = find_parts(sweep, choice, operand, &parts), more = ok;
    for (*bytes = 0; ok && more; more = next_part(&parts)) {
        uint64_t extent[DIM_COUNT];
        View view;
        part_extent(&parts, extent);
        ok = sweep_local_view(sweep, operand, extent, &view);
        *bytes = ok && view.bank_bytes > *bytes ? view.bank_bytes : *bytes;
    }
    return ok;
}
