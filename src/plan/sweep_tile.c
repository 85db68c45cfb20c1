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

/* Dimensions that are cut. */
static bool is_cut(const Sweep *sweep, const SweepChoice *choice, int d) {
    return choice->tile[d] < sweep->in.shape.extent[d];
}

/* A parameter that was expanded along the rows or the map is only ever there for the tile. */
bool sweep_stays(const SweepChoice *choice, const Sweep *sweep, const SweepOperand *param) {
    for (int d = 0; d < DIM_COUNT; d++) {
        if (param->shape.extent[d] > 1 && is_cut(sweep, choice, d) && (d != DIM_C || !choice->is_resident)) {
            return false;
        }
    }
    return true;
}

ViewBox sweep_box(const SweepOperand *operand, const ViewBox *map_box) {
    ViewBox box = *map_box;
    for (int d = 0; d < DIM_COUNT; d++) {
        if (operand->shape.extent[d] == 1) {
            box.first[d] = 0;
            box.extent[d] = box.extent[d] == 0 ? 0 : 1;
        }
    }
    return box;
}

uint64_t sweep_box_bytes(const SweepOperand *operand, const ViewBox *map_box) {
    ViewBox box = sweep_box(operand, map_box);
    uint64_t bits = operand->shape.bits;
    for (int d = 0; d < DIM_COUNT; d++) {
        bits *= box.extent[d]; /* of a part of a view, whose bits fit 64 bits */
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

/* Extents of the operand's part of a tile that is full, but for the dimensions of `tails`. False: no such tile. */
static bool part_extent(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, uint32_t tails,
                        uint64_t extent[DIM_COUNT]) {
    bool stays = operand != &sweep->in && operand != &sweep->out && sweep_stays(choice, sweep, operand);
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t whole = sweep->in.shape.extent[d], tail = choice->tile[d] == 0 ? 0 : whole % choice->tile[d];
        bool is_tail = (tails >> d & 1) != 0;
        if (is_tail && (tail == 0 || !is_cut(sweep, choice, d))) {
            return false;
        }
        uint64_t own = is_tail ? tail : choice->tile[d];
        extent[d] = stays ? operand->shape.extent[d] : operand->shape.extent[d] == 1 && own > 0 ? 1 : own;
    }
    return true;
}

bool sweep_operand_bytes(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand, uint64_t *bytes) {
    *bytes = 0;
    for (uint32_t tails = 0; tails < 1u << DIM_COUNT; tails++) {
        uint64_t extent[DIM_COUNT];
        View view;
        if (!part_extent(sweep, choice, operand, tails, extent)) {
            continue;
        }
        if (!sweep_local_view(sweep, operand, extent, &view)) {
            return false;
        }
        *bytes = view.bank_bytes > *bytes ? view.bank_bytes : *bytes;
    }
    return true;
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
    for (uint32_t tails = 0; tails < 1u << DIM_COUNT; tails++) {
        uint64_t extent[DIM_COUNT], bytes;
        View view;
        if (!part_extent(sweep, choice, &sweep->in, tails, extent)) {
            continue;
        }
        if (!sweep_workspace(sweep, extent, bits, is_line, &view, &bytes)) {
            return false;
        }
        most = bytes > most ? bytes : most;
    }
    return add_bytes(sum, most, is_line ? sweep_slots(choice) : 1);
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

static bool is_map(const Sweep *sweep, const SweepChoice *choice) {
    bool is_map = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        is_map = is_map && !is_cut(sweep, choice, d);
    }
    return is_map;
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
    return sweep->in.is_far && (sweep->out.is_far || (is_map(sweep, choice) && choice->schedule == SCHEDULE_FUSED)) &&
           sweep->in.shape.bits == sweep->out.shape.bits && sweep->in.role == sweep->out.role &&
           sweep->in.shape.rank == sweep->out.shape.rank;
}

static bool fits_transfer(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand) {
    uint64_t most = sweep->device->dma_max_bytes.value, extent[DIM_COUNT];
    uint64_t bits = operand->shape.bits;
    bool ok = part_extent(sweep, choice, operand, 0, extent);
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
