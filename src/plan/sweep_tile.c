/* Tiles of a sweep: shapes, how they lie in local memory, and what they need there. */
#include "plan/sweep.h"

#include "base/checked.h"

const char *schedule_name(Schedule schedule) {
    static const char *const name[] = {"auto", "fused", "split", "pipelined"};
    return name[schedule];
}

uint32_t sweep_slots(const SweepChoice *choice) {
    return choice->schedule == SCHEDULE_PIPELINED ? 2 : 1;
}

/* ---- What belongs to a part of the map */

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

static bool is_cut(const Sweep *sweep, const SweepChoice *choice, uint32_t d) {
    return choice->tile[d] < sweep->out.shape.extent[d];
}

/* A parameter that was expanded along the rows or the map is only ever there for the tile. */
bool sweep_stays(const SweepChoice *choice, const Sweep *sweep, const SweepOperand *param) {
    for (int d = 0; d < DIM_COUNT; d++) {
        uint32_t of = param->reach[d].of;
        if (of != REACH_ALL && is_cut(sweep, choice, of) && (of != DIM_C || !choice->is_resident)) {
            return false;
        }
    }
    return true;
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

uint64_t sweep_box_bytes(const SweepOperand *operand, const ViewBox *box) {
    uint64_t bits = operand->shape.bits;
    for (int d = 0; d < DIM_COUNT; d++) {
        bits *= box->extent[d]; /* of a part of a view, whose bits fit 64 bits */
    }
    return bytes_from_bits(bits);
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
        return ok && (tail == 0 || !is_cut(sweep, choice, of) || add_extent(extents, extent));
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
    *parts = (Parts){.at = {0}};
    for (int d = 0; ok && d < DIM_COUNT; d++) {
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

/* A line has one n and one h, and its place is used again by the next. */
bool sweep_workspace(const Sweep *sweep, const uint64_t extent[DIM_COUNT], uint32_t bits, bool is_line, View *view,
                     uint64_t *bytes) {
    LayoutShape shape = sweep->in.shape;
    LayoutShape all;
    shape.bits = bits;
    for (int d = 0; d < DIM_COUNT; d++) {
        shape.extent[d] = extent[d];
    }
    all = shape;
    if (is_line) {
        shape.extent[DIM_N] = shape.extent[DIM_N] == 0 ? 0 : 1;
        shape.extent[DIM_H] = shape.extent[DIM_H] == 0 ? 0 : 1;
    }
    if (view_resolve(sweep->device->contract[ROLE_ACTIVATION], &shape, view, NULL) != VIEW_DONE) {
        return false;
    }
    *bytes = view_extent_bytes(view);
    return view_broadcast(view, &all);
}

uint32_t sweep_carried_bits(const Sweep *sweep, Schedule schedule) {
    return schedule == SCHEDULE_SPLIT ? sweep->inner_bits : sweep->carried_bits;
}

/* ---- Needs */

typedef struct {
    uint64_t align_bytes, sum;
} Sum;

static bool add_bytes(Sum *sum, uint64_t bytes, uint32_t times) {
    uint64_t rounded;
    bool ok = checked_round_up(bytes, sum->align_bytes, &rounded);
    for (uint32_t i = 0; ok && i < times; i++) {
        ok = checked_add(sum->sum, rounded, &sum->sum);
    }
    return ok;
}

static bool add_operand(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, Sum *sum) {
    uint64_t bytes;
    bool is_param = operand != &sweep->in && operand != &sweep->out;
    uint32_t times = is_param && sweep_stays(choice, sweep, operand) ? 1 : sweep_slots(choice);
    return !operand->is_far || (sweep_operand_bytes(sweep, choice, operand, &bytes) && add_bytes(sum, bytes, times));
}

/* For any tile. */
static bool add_workspace(const Sweep *sweep, const SweepChoice *choice, uint32_t bits, bool is_line, Sum *sum) {
    uint64_t most = 0;
    Parts parts;
    bool ok = find_parts(sweep, choice, &sweep->in, &parts), more = ok;
    for (; ok && more; more = next_part(&parts)) {
        uint64_t extent[DIM_COUNT], bytes = 0;
        View view;
        part_extent(&parts, extent);
        ok = sweep_workspace(sweep, extent, bits, is_line, &view, &bytes);
        most = bytes > most ? bytes : most;
    }
    return ok && add_bytes(sum, most, is_line ? sweep_slots(choice) : 1);
}

/* SPLIT: while a node runs there is what it takes and what it gives. */
static bool split_need(const Sweep *sweep, const SweepChoice *choice, Sum params, uint64_t *need) {
    *need = 0;
    for (uint32_t k = 0; k < sweep->node_count; k++) {
        Sum sum = params;
        for (uint32_t side = 0; side < 2; side++) {
            bool is_end = side == 0 ? k == 0 : k + 1 == sweep->node_count;
            const SweepOperand *end = side == 0 ? &sweep->in : &sweep->out;
            bool ok = is_end ? add_operand(sweep, choice, end, &sum)
                             : add_workspace(sweep, choice, sweep->between_bits[side == 0 ? k - 1 : k], false, &sum);
            if (!ok) {
                return false;
            }
        }
        *need = sum.sum > *need ? sum.sum : *need;
    }
    return true;
}

static bool carry_is_possible(const Sweep *sweep, const SweepChoice *choice) {
    uint32_t bits = sweep_carried_bits(sweep, choice->schedule);
    bool is_split = choice->schedule == SCHEDULE_SPLIT;
    switch (choice->carry) {
    case CARRY_NONE:
        return bits == 0;
    case CARRY_OUTPUT:
        return bits > 0 && !is_split && bits <= sweep->out.shape.bits;
    case CARRY_INPUT:
        return bits > 0 && !is_split && bits <= sweep->in.shape.bits && sweep->in.is_far;
    default:
        return bits > 0;
    }
}

static bool is_whole(const Sweep *sweep, const SweepChoice *choice) {
    bool is_whole = true;
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        is_whole = is_whole && !is_cut(sweep, choice, d);
    }
    return is_whole;
}

/* What is written over the input takes whole bytes: one that the next line still reads must not be among them. */
static bool input_lines_share_bytes(const Sweep *sweep, const SweepChoice *choice) {
    bool share = false;
    for (uint32_t tails = 0; !share && sweep->in.shape.bits % 8 != 0 && tails < 1u << DIM_COUNT; tails++) {
        uint64_t extent[DIM_COUNT];
        View view;
        for (int d = 0; d < DIM_COUNT; d++) {
            uint64_t tile = choice->tile[d];
            extent[d] = (tails >> d & 1) != 0 && tile > 0 ? sweep->in.shape.extent[d] % tile : tile;
        }
        share = sweep_local_view(sweep, &sweep->in, extent, &view) && view_lines_share_bytes(&view);
    }
    return share;
}

/* Each element of the output lies where the input's lies: of one contract, width and shape. An output that is whole in
 * local memory takes the place of a whole copy only. */
static bool may_write_over(const Sweep *sweep, const SweepChoice *choice) {
    return sweep->may_write_over && sweep->in.is_far &&
           (sweep->out.is_far || (is_whole(sweep, choice) && choice->schedule == SCHEDULE_FUSED)) &&
           sweep->in.shape.bits == sweep->out.shape.bits && sweep->in.role == sweep->out.role &&
           sweep->in.shape.rank == sweep->out.shape.rank;
}

static bool fits_transfer(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand) {
    uint64_t most = sweep->device->dma_max_bytes.value, bits = operand->shape.bits, extent[DIM_COUNT];
    bool ok = sweep_part_extent(sweep, choice, operand, extent);
    for (int d = 0; ok && d < DIM_COUNT; d++) {
        ok = checked_mul(bits, extent[d], &bits);
    }
    return !operand->is_far || most == 0 || (ok && bytes_from_bits(bits) <= most);
}

static bool is_possible(const Sweep *sweep, const SweepChoice *choice) {
    bool is_over = choice->over_input || choice->carry == CARRY_INPUT;
    bool ok = carry_is_possible(sweep, choice) && (!choice->over_input || may_write_over(sweep, choice)) &&
              !(is_over && input_lines_share_bytes(sweep, choice)) && fits_transfer(sweep, choice, &sweep->in) &&
              fits_transfer(sweep, choice, &sweep->out);
    for (uint32_t i = 0; ok && i < sweep->param_count; i++) {
        ok = fits_transfer(sweep, choice, &sweep->params[i]);
    }
    return ok;
}

bool sweep_need(const Sweep *sweep, const SweepChoice *choice, uint64_t *bytes) {
    Sum sum = {.align_bytes = sweep->device->memory[sweep->device->local].align_bytes};
    if (!is_possible(sweep, choice)) {
        return false;
    }
    for (uint32_t i = 0; i < sweep->param_count; i++) {
        if (!add_operand(sweep, choice, &sweep->params[i], &sum)) {
            return false;
        }
    }
    if (choice->carry == CARRY_WORKSPACE &&
        !add_workspace(sweep, choice, sweep_carried_bits(sweep, choice->schedule), true, &sum)) {
        return false;
    }
    if (choice->schedule == SCHEDULE_SPLIT) {
        return split_need(sweep, choice, sum, bytes);
    }
    bool ok = add_operand(sweep, choice, &sweep->in, &sum) &&
              (choice->over_input || add_operand(sweep, choice, &sweep->out, &sum));
    *bytes = sum.sum;
    return ok;
}
