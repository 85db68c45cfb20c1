/* Which bytes each command of a program reads and writes, and which commands have ended before it: found one element
 * at a time from the commands alone, without the simulated device.
 *
 * Two commands race if they are of different queues, neither has ended before the other starts, and they share a byte
 * that one of them writes. */
#ifndef S0_TESTS_LEDGER_ACCESSES_H
#define S0_TESTS_LEDGER_ACCESSES_H

#include "device/device.h"
#include "sim/model.h"

#include <string.h>

enum { IS_READ = 1, IS_WRITTEN = 2 };

typedef struct {
    const CmdProgram *program;
    uint64_t bytes[DEVICE_MAX_MEMORIES], first[DEVICE_MAX_MEMORIES]; /* of a lane; of lane 0 in a row of `byte` */
    uint64_t count;                                                  /* of all memories and lanes */
    uint8_t *byte;                                                   /* command, byte -> set of IS_… */
    bool *ended_before; /* command, other -> has the other ended before it starts? */
} Accesses;

static inline void find_memories(Accesses *all) {
    for (uint32_t m = 0; m < DEVICE_MAX_MEMORIES; m++) {
        uint64_t lanes = 0;
        for (uint32_t k = 0; k < all->program->buffer_count; k++) {
            const CmdBuffer *buffer = &all->program->buffers[k];
            uint64_t end = buffer->offset_bytes + buffer->bytes;
            if (buffer->memory == m) {
                all->bytes[m] = end > all->bytes[m] ? end : all->bytes[m];
                lanes = buffer->lanes > lanes ? buffer->lanes : lanes;
            }
        }
        all->first[m] = all->count;
        all->count += all->bytes[m] * lanes;
    }
}

static inline void mark_element(Accesses *all, uint32_t command, const CmdOperand *operand, uint32_t bits,
                                const uint64_t index[CMD_AXES], uint8_t how) {
    const CmdBuffer *buffer = &all->program->buffers[operand->buffer];
    ModelAddress at = model_address(&all->program->views[operand->view], index);
    uint64_t bit = operand->offset_bits + at.bit;
    uint64_t start = all->first[buffer->memory] + at.lane * all->bytes[buffer->memory] + buffer->offset_bytes;
    for (uint64_t byte = bit / 8; byte <= (bit + bits - 1) / 8; byte++) {
        all->byte[command * all->count + start + byte] |= how;
    }
}

static inline bool next_index(const CmdBox *box, uint64_t index[CMD_AXES]) {
    const uint64_t low[CMD_AXES] = {0};
    return model_next(index, low, box->extent);
}

static inline void mark(Accesses *all, uint32_t command, const CmdOperand *operand, uint32_t bits, uint8_t how) {
    uint64_t index[CMD_AXES] = {0};
    do {
        mark_element(all, command, operand, bits, index, how);
    } while (next_index(&all->program->commands[command].box, index));
}

static inline uint32_t bits_of_buffer(const CmdProgram *program, uint32_t buffer) {
    return dtype_bits(program->buffers[buffer].dtype);
}

static inline uint32_t widest_carried(const Command *command) {
    uint32_t widest = 0;
    for (uint32_t s = 0; s + 1 < command->stage_count; s++) {
        uint32_t bits = dtype_bits(command->stages[s].stage.to);
        widest = bits > widest ? bits : widest;
    }
    return widest;
}

static inline void mark_command(Accesses *all, uint32_t number) {
    const CmdProgram *program = all->program;
    const Command *command = &program->commands[number];
    if (command->src.buffer != CMD_NONE) {
        uint8_t how = command->carry == CMD_CARRY_INPUT ? IS_READ | IS_WRITTEN : IS_READ;
        mark(all, number, &command->src, bits_of_buffer(program, command->src.buffer), how);
    }
    mark(all, number, &command->dst, bits_of_buffer(program, command->dst.buffer), IS_WRITTEN);
    if (command->carry == CMD_CARRY_WORKSPACE) {
        mark(all, number, &command->scratch, widest_carried(command), IS_WRITTEN);
    }
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            const CmdOperand *from = &command->stages[s].param[p].from;
            mark(all, number, from, bits_of_buffer(program, from->buffer), IS_READ);
        }
    }
}

/* ---- Order: by waits, by queues, and through what either leads to */

static inline void add_before(Accesses *all, uint32_t command, uint32_t other) {
    uint32_t count = all->program->command_count;
    bool *to = &all->ended_before[command * count];
    for (uint32_t k = 0; k < count; k++) {
        to[k] = to[k] || all->ended_before[other * count + k];
    }
    to[other] = true;
}

/* Anew: after a wait has changed. */
static inline void find_order(Accesses *all) {
    const CmdProgram *program = all->program;
    uint32_t count = program->command_count;
    memset(all->ended_before, 0, (size_t)count * count * sizeof *all->ended_before);
    for (uint32_t k = 0; k < count; k++) {
        const Command *command = &program->commands[k];
        for (uint32_t w = 0; w < command->wait_count; w++) {
            add_before(all, k, command->waits[w]);
        }
        for (uint32_t other = 0; other < k; other++) {
            if (program->commands[other].queue == command->queue) {
                add_before(all, k, other);
            }
        }
    }
}

static inline Accesses find_accesses(const CmdProgram *program, Arena *arena) {
    Accesses all = {.program = program};
    find_memories(&all);
    all.byte = arena_array(arena, uint8_t, all.count * program->command_count);
    all.ended_before = arena_array(arena, bool, (size_t)program->command_count * program->command_count);
    for (uint32_t k = 0; k < program->command_count; k++) {
        mark_command(&all, k);
    }
    find_order(&all);
    return all;
}

static inline bool has_ended_before(const Accesses *all, uint32_t command, uint32_t other) {
    return all->ended_before[command * all->program->command_count + other];
}

/* `first` stands before `second` in the program. */
static inline bool is_race(const Accesses *all, uint32_t first, uint32_t second) {
    const uint8_t *a = &all->byte[first * all->count], *b = &all->byte[second * all->count];
    bool shares = false;
    if (has_ended_before(all, second, first)) {
        return false;
    }
    for (uint64_t k = 0; k < all->count && !shares; k++) {
        shares = a[k] != 0 && b[k] != 0 && ((a[k] | b[k]) & IS_WRITTEN) != 0;
    }
    return shares;
}

#endif
