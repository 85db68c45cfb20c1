/* What commands cost, by the rules of docs/simulator.md. */
#include "base/checked.h"
#include "sim/machine.h"

#include <stdlib.h>

/* A value that the device file does not tell is unbounded. */
static uint64_t parts_of(uint64_t amount, DeviceCost part) {
    return part.value == 0 ? 0 : ceil_div(amount, part.value);
}

static uint64_t rounded_up(uint64_t bytes, DeviceCost unit) {
    return unit.value <= 1 ? bytes : ceil_div(bytes, unit.value) * unit.value;
}

/* ---- DMA: runs of bits that are contiguous on both sides */

/* Bits [bit, end) of a lane of the destination, which come from bits that all stand `distance` before them (modulo
 * 2^64) in a lane of the source. */
typedef struct {
    uint64_t dst_lane, src_lane, distance, bit, end;
} Piece;

static int by_number(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int by_place(const void *left, const void *right) {
    const Piece *a = left, *b = right;
    int order = by_number(a->dst_lane, b->dst_lane);
    order = order != 0 ? order : by_number(a->src_lane, b->src_lane);
    order = order != 0 ? order : by_number(a->distance, b->distance);
    return order != 0 ? order : by_number(a->bit, b->bit);
}

static bool is_same_line(const Piece *a, const Piece *b) {
    return a->dst_lane == b->dst_lane && a->src_lane == b->src_lane && a->distance == b->distance;
}

/* Does `next` go on, or begin, where `piece` ends? */
static bool joins(Piece *piece, const Piece *next) {
    if (!is_same_line(piece, next) || next->bit < piece->bit || next->bit > piece->end) {
        return false;
    }
    piece->end = next->end > piece->end ? next->end : piece->end;
    return true;
}

typedef struct {
    Piece *piece;
    size_t count;
    bool is_sorted; /* each ends before the next begins, in the destination */
} Pieces;

static bool stands_before(const Piece *a, const Piece *b) {
    return a->dst_lane < b->dst_lane || (a->dst_lane == b->dst_lane && a->end <= b->bit);
}

static size_t count_runs(const Strips *strips) {
    size_t count = 0;
    for (size_t k = 0; k < strips->count; k++) {
        size_t runs = 1;
        for (uint32_t l = 0; l < strips->strip[k].loop_count; l++) {
            runs *= (size_t)strips->strip[k].loop[l].extent;
        }
        count += runs;
    }
    return count;
}

static Pieces find_pieces(Sim *sim, const Command *command, const Strips *strips, uint32_t bits) {
    Pieces pieces = {.piece = frame_array(&sim->frame, Piece, count_runs(strips)), .is_sorted = true};
    WalkPoint base[] = {{0, command->src.offset_bits}, {0, command->dst.offset_bits}};
    Cursor cursor;
    for (bool more = cursor_start(&cursor, strips, base); more; more = cursor_next(&cursor)) {
        WalkPoint src = cursor.at[0], dst = cursor.at[1];
        Piece piece = {dst.lane, src.lane, dst.bit - src.bit, dst.bit, dst.bit + cursor.run * bits};
        Piece *last = pieces.count == 0 ? NULL : &pieces.piece[pieces.count - 1];
        if (last != NULL && joins(last, &piece)) {
            continue;
        }
        pieces.is_sorted = pieces.is_sorted && (last == NULL || stands_before(last, &piece));
        pieces.piece[pieces.count++] = piece;
    }
    return pieces;
}

/* Whatever order they were found in: where each bit of the destination is written once and in ascending order,
 * neighbours have met already. */
static void join_pieces(Pieces *pieces) {
    size_t count = 0;
    if (pieces->is_sorted) {
        return;
    }
    qsort(pieces->piece, pieces->count, sizeof *pieces->piece, by_place);
    for (size_t k = 0; k < pieces->count; k++) {
        if (count == 0 || !joins(&pieces->piece[count - 1], &pieces->piece[k])) {
            pieces->piece[count++] = pieces->piece[k];
        }
    }
    pieces->count = count;
}

static uint64_t cost_of_transfer(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    const Device *device = sim->device;
    uint32_t bits = element_bits_of(sim->program, command->dst.buffer);
    Walk walk = {.operand_count = 2, .lead = 1};
    walk.operand[0] = (WalkOperand){&sim->program->views[command->src.view], bits};
    walk.operand[1] = (WalkOperand){&sim->program->views[command->dst.view], bits};
    walk_build(&walk, &command->box, &sim->frame);
    Strips strips = walk_strips(&walk, 0, 1, &sim->frame);
    Pieces pieces = find_pieces(sim, command, &strips, bits);
    join_pieces(&pieces);
    uint64_t burst_bytes = device->dma_burst_bytes.value;
    uint64_t bursts = 0, bytes = 0;
    for (size_t k = 0; k < pieces.count; k++) {
        uint64_t length = bytes_from_bits(pieces.piece[k].end - pieces.piece[k].bit);
        length = rounded_up(length, device->dma_align_bytes);
        length = length < device->dma_min_bytes.value ? device->dma_min_bytes.value : length;
        bursts += burst_bytes == 0 ? 1 : ceil_div(length, burst_bytes);
        bytes += length;
    }
    SimColumn *column = &sim->result.column[command->column];
    column->descriptors += pieces.count;
    column->bursts += bursts;
    uint64_t moved = burst_bytes == 0 ? bytes : bursts * burst_bytes;
    return device->dma_setup_cycles.value + pieces.count * device->descriptor_cycles.value +
           parts_of(moved, device->dma_bytes_cycle);
}

/* ---- The engine */

static uint64_t cost_of_stage(const Sim *sim, uint64_t elements, uint32_t from_bits, uint32_t to_bits) {
    uint32_t widest = from_bits > to_bits ? from_bits : to_bits;
    return parts_of(bytes_from_bits(elements * widest), sim->device->vector_bytes_cycle);
}

static uint64_t cost_of_engine(const Sim *sim, const Command *command, uint64_t elements) {
    uint64_t cost = sim->device->issue_cycles.value;
    for (uint32_t k = 0; k < command->stage_count; k++) {
        const Stage *stage = &command->stages[k].stage;
        cost += cost_of_stage(sim, elements, dtype_bits(stage->from), dtype_bits(stage->to));
    }
    if (command->stage_count == 0) {
        bool is_lookup = command->op == CMD_LUT;
        uint32_t bits = element_bits_of(sim->program, command->dst.buffer);
        uint32_t src_bits = is_lookup ? element_bits_of(sim->program, command->src.buffer) : bits;
        cost += cost_of_stage(sim, elements, src_bits, bits);
    }
    return cost;
}

/* Sums of products by the multipliers; a pool goes over dst once for each tap, a softmax once. */
static uint64_t cost_of_window(const Sim *sim, const Command *command, uint64_t elements) {
    uint64_t issue = sim->device->issue_cycles.value, each = machine_products(command);
    if (command->op == CMD_CONV) {
        return issue + parts_of(elements * each, sim->device->mac_cycle);
    }
    uint32_t bits = element_bits_of(sim->program, command->dst.buffer);
    each = command->op == CMD_SOFTMAX ? 1 : each;
    return issue + each * cost_of_stage(sim, elements, bits, bits);
}

uint64_t machine_cost(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    uint64_t elements = walk_elements(&command->box);
    bool is_transfer = command->op == CMD_LOAD || command->op == CMD_STORE;
    if (elements == 0) {
        return 0;
    }
    if (is_transfer) {
        return cost_of_transfer(sim, number);
    }
    return command->window != NULL ? cost_of_window(sim, command, elements) : cost_of_engine(sim, command, elements);
}

/* ---- All queues */

void machine_timeline(Sim *sim, const uint64_t *cost) {
    const CmdProgram *program = sim->program;
    uint64_t *end = arena_array(sim->arena, uint64_t, program->command_count);
    uint64_t free_at[CMD_MAX_QUEUES] = {0};
    for (uint32_t k = 0; k < program->command_count; k++) {
        const Command *command = &program->commands[k];
        uint64_t start = free_at[command->queue];
        uint64_t syncs = 0;
        for (uint32_t w = 0; w < command->wait_count; w++) {
            uint32_t other = command->waits[w];
            start = end[other] > start ? end[other] : start;
            syncs += program->commands[other].queue != command->queue;
        }
        end[k] = start + syncs * sim->device->sync_cycles.value + cost[k];
        free_at[command->queue] = end[k];
        sim->result.syncs += syncs;
        sim->result.cycles = end[k] > sim->result.cycles ? end[k] : sim->result.cycles;
    }
}
