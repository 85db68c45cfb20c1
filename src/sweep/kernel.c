/* The kernel contract, and the sum of what a sweep needs by it. */
#include "sweep/kernel.h"

#include "base/checked.h"
#include "base/fault.h"

/* ---- Tiles */

/* Of a tile that is the last and smaller one along the dimensions in `tails`. False where there is none. */
static bool tile_extent(const Sweep *sweep, const SweepChoice *choice, uint32_t tails, uint64_t extent[DIM_COUNT]) {
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        bool is_tail = (tails >> d & 1) != 0;
        bool has_tail = sweep_is_cut(sweep, choice, d) && choice->tile[d] > 0;
        uint64_t tail = has_tail ? sweep->out.shape.extent[d] % choice->tile[d] : 0;
        if (is_tail && tail == 0) {
            return false;
        }
        extent[d] = is_tail ? tail : choice->tile[d];
    }
    return true;
}

/* ---- What a choice can't be */

uint32_t kernel_carried_bits(const Sweep *sweep, Schedule schedule) {
    return schedule == SCHEDULE_SPLIT ? sweep->inner_bits : sweep->carried_bits;
}

static const char read_again[] = "a stage reads the input as its parameter too";

static const char *refuse_carry(const Sweep *sweep, const SweepChoice *choice) {
    uint32_t bits = kernel_carried_bits(sweep, choice->schedule);
    const SweepOperand *in_tile_of = choice->carry == CARRY_OUTPUT  ? &sweep->out
                                     : choice->carry == CARRY_INPUT ? &sweep->in
                                                                    : NULL;
    if ((choice->carry == CARRY_NONE) != (bits == 0)) {
        return bits == 0 ? "no stage hands anything on" : "what stages hand on has no place";
    }
    if (in_tile_of == NULL) {
        return NULL;
    }
    if (choice->schedule == SCHEDULE_SPLIT) {
        return "a node of several has a tile of neither the input nor the output";
    }
    if (bits > in_tile_of->shape.bits) {
        return "what stages hand on is wider than an element of the tile that is to carry it";
    }
    if (choice->carry == CARRY_INPUT && sweep->in_is_param) {
        return read_again;
    }
    return choice->carry == CARRY_OUTPUT || sweep->in.is_far ? NULL : "the input is no copy of the sweep's own";
}

/* What is written over the input takes whole bytes: one that the next line still reads must not be among them. */
static const char *refuse_lines(const Sweep *sweep, const SweepChoice *choice) {
    bool share = false;
    for (uint32_t tails = 0; !share && sweep->in.shape.bits % 8 != 0 && tails < 1u << DIM_COUNT; tails++) {
        uint64_t extent[DIM_COUNT];
        View view;
        share = tile_extent(sweep, choice, tails, extent) && sweep_local_view(sweep, &sweep->in, extent, &view) &&
                view_lines_share_bytes(&view);
    }
    return share ? "lines of the input share bytes" : NULL;
}

static bool is_whole(const Sweep *sweep, const SweepChoice *choice) {
    bool is_whole = true;
    for (uint32_t d = 0; d < DIM_COUNT; d++) {
        is_whole = is_whole && !sweep_is_cut(sweep, choice, d);
    }
    return is_whole;
}

/* Each element of the output lies where the input's lies: of one contract, width and shape. An output that is whole in
 * local memory takes the place of a whole copy only. */
static const char *refuse_over(const Sweep *sweep, const SweepChoice *choice) {
    if (!sweep->may_write_over) {
        return "an element of the output needs more than that one of the input";
    }
    if (sweep->in_is_param) {
        return read_again;
    }
    if (!sweep->in.is_far) {
        return "the input is no copy of the sweep's own";
    }
    if (!sweep->out.is_far && !(is_whole(sweep, choice) && choice->schedule == SCHEDULE_FUSED)) {
        return "the output is whole in local memory, and the input's copy is not";
    }
    bool is_same = sweep->in.shape.bits == sweep->out.shape.bits && sweep->in.role == sweep->out.role &&
                   sweep->in.shape.rank == sweep->out.shape.rank;
    return is_same ? NULL : "elements of the output do not lie where those of the input do";
}

static bool fits_transfer(const Sweep *sweep, const SweepChoice *choice, const SweepOperand *operand) {
    uint64_t most = sweep->device->dma_max_bytes.value, bits = operand->shape.bits, extent[DIM_COUNT];
    if (!sweep_is_loaded(operand) || most == 0) {
        return true;
    }
    bool ok = sweep_part_extent(sweep, choice, operand, extent);
    for (int d = 0; ok && d < DIM_COUNT; d++) {
        ok = checked_mul(bits, extent[d], &bits);
    }
    return ok && bytes_from_bits(bits) <= most;
}

static const char *refuse_moves(const Sweep *sweep, const SweepChoice *choice) {
    bool fits = fits_transfer(sweep, choice, &sweep->in) && fits_transfer(sweep, choice, &sweep->out);
    for (uint32_t i = 0; fits && i < sweep->param_count; i++) {
        fits = fits_transfer(sweep, choice, &sweep->params[i]);
    }
    return fits ? NULL : "a part of an operand is more than a transfer of the device takes";
}

static const char *refuse(const Sweep *sweep, const SweepChoice *choice) {
    const char *why = refuse_carry(sweep, choice);
    why = why == NULL && choice->over_input ? refuse_over(sweep, choice) : why;
    why = why == NULL && (choice->over_input || choice->carry == CARRY_INPUT) ? refuse_lines(sweep, choice) : why;
    return why == NULL ? refuse_moves(sweep, choice) : why;
}

/* ---- The contract */

KernelContract kernel_contract(const Sweep *sweep, const SweepChoice *choice) {
    uint32_t bits = choice->carry == CARRY_WORKSPACE ? kernel_carried_bits(sweep, choice->schedule) : 0;
    return (KernelContract){.sweep = sweep,
                            .choice = choice,
                            .refused = refuse(sweep, choice),
                            .slots = is_whole(sweep, choice) ? 1 : sweep_slots(choice),
                            .map_count = choice->schedule == SCHEDULE_SPLIT ? sweep->node_count - 1 : 0,
                            .line_bits = bits,
                            .has_line = bits > 0 || sweep->workspace_bytes > 0,
                            .align_bytes = sweep->align_bytes > 0 ? sweep->align_bytes : 1};
}

bool kernel_workspace(const KernelContract *contract, uint32_t which, const uint64_t extent[DIM_COUNT], View *view,
                      uint64_t *bytes) {
    const Sweep *sweep = contract->sweep;
    bool is_line = which == KERNEL_LINE;
    LayoutShape all = sweep->in.shape;
    if (is_line && contract->line_bits == 0) {
        *view = (View){.banks_used = 1, .base_bytes = 1};
        *bytes = sweep->workspace_bytes;
        return true;
    }
    all.bits = is_line ? contract->line_bits : sweep->between_bits[which];
    for (int d = 0; d < DIM_COUNT; d++) {
        all.extent[d] = extent[d];
    }
    LayoutShape shape = all;
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

static bool add_operand(const KernelContract *contract, const SweepOperand *operand, Sum *sum) {
    const Sweep *sweep = contract->sweep;
    uint64_t bytes;
    bool is_param = operand != &sweep->in && operand != &sweep->out;
    bool is_one = operand->is_form || (is_param && sweep_stays(contract->choice, sweep, operand));
    uint32_t times = is_one ? 1 : contract->slots;
    return !sweep_is_loaded(operand) ||
           (sweep_operand_bytes(sweep, contract->choice, operand, &bytes) && add_bytes(sum, bytes, times));
}

/* For any tile. */
static bool add_workspace(const KernelContract *contract, uint32_t which, Sum *sum) {
    uint64_t most = 0;
    bool ok = true;
    for (uint32_t tails = 0; ok && tails < 1u << DIM_COUNT; tails++) {
        uint64_t extent[DIM_COUNT], bytes = 0;
        View view;
        ok = !tile_extent(contract->sweep, contract->choice, tails, extent) ||
             kernel_workspace(contract, which, extent, &view, &bytes);
        most = bytes > most ? bytes : most;
    }
    return ok && add_bytes(sum, most, which == KERNEL_LINE ? contract->slots : 1);
}

/* What node `n` leaves to the next, or in the sweep's output. */
static bool add_result(const KernelContract *contract, uint32_t n, Sum *sum) {
    return n < contract->map_count ? add_workspace(contract, n, sum)
                                   : add_operand(contract, &contract->sweep->out, sum);
}

/* SPLIT: while a node runs there is what it takes and what it gives. */
static bool split_need(const KernelContract *contract, Sum around, uint64_t *need) {
    bool ok = true;
    *need = 0;
    for (uint32_t n = 0; ok && n < contract->sweep->node_count; n++) {
        Sum sum = around;
        ok = (n == 0 ? add_operand(contract, &contract->sweep->in, &sum) : add_result(contract, n - 1, &sum)) &&
             add_result(contract, n, &sum);
        *need = sum.sum > *need ? sum.sum : *need;
    }
    return ok;
}

/* What the engine reads of parameters; and what forms are made of. */
static bool add_params(const KernelContract *contract, Sum *read, Sum *copied) {
    bool ok = true;
    for (uint32_t i = 0; ok && i < contract->sweep->param_count; i++) {
        const SweepOperand *param = &contract->sweep->params[i];
        ok = add_operand(contract, sweep_read(param), read) &&
             (param->form == NULL || add_operand(contract, param, copied));
    }
    return ok;
}

/* Beside parameters. */
static bool maps_need(const KernelContract *contract, Sum sum, uint64_t *bytes) {
    const Sweep *sweep = contract->sweep;
    bool ok = !contract->has_line || add_workspace(contract, KERNEL_LINE, &sum);
    if (ok && contract->choice->schedule == SCHEDULE_SPLIT) {
        return split_need(contract, sum, bytes);
    }
    ok = ok && add_operand(contract, &sweep->in, &sum) &&
         (contract->choice->over_input || add_operand(contract, &sweep->out, &sum));
    *bytes = sum.sum;
    return ok;
}

/* What forms are made of stays for the next tile; where there is one, forms are made before the maps are there. */
bool kernel_need(const Sweep *sweep, const SweepChoice *choice, uint64_t *bytes) {
    const KernelContract contract = kernel_contract(sweep, choice);
    Sum sum = {.align_bytes = 1};
    uint64_t making;
    CHECK(checked_common_multiple(sweep->device->memory[sweep->device->local].align_bytes, contract.align_bytes,
                                  &sum.align_bytes)); /* of any device */
    Sum copied = sum;
    if (contract.refused != NULL || !add_params(&contract, &sum, &copied) ||
        !checked_add(sum.sum, copied.sum, &making)) {
        return false;
    }
    sum.sum = is_whole(sweep, choice) ? sum.sum : making;
    bool ok = maps_need(&contract, sum, bytes);
    *bytes = ok && making > *bytes ? making : *bytes;
    return ok;
}
