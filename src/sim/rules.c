/* What a command may not do whatever lies in memory: reach memories that its queue does not connect, compute types that
 * the engine does not, move more than the DMA takes at once. */
#include "base/checked.h"
#include "sim/machine.h"

static void add_fault(Sim *sim, uint32_t number, uint32_t buffer, const char *text) {
    machine_fault(sim, (SimFault){.kind = FAULT_BURST,
                                  .command = number,
                                  .other = CMD_NONE,
                                  .buffer = buffer,
                                  .byte = sim->program->buffers[buffer].offset_bytes,
                                  .text = text});
}

static bool is_local(const Sim *sim, uint32_t buffer) {
    return sim->program->buffers[buffer].memory == sim->device->local;
}

/* ---- DMA */

static void check_transfer(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    uint64_t bits = walk_elements(&command->box) * element_bits_of(sim->program, command->dst.buffer);
    uint64_t most = sim->device->dma_max_bytes.value;
    bool is_load = command->op == CMD_LOAD;
    if (is_local(sim, command->src.buffer) == is_load) {
        add_fault(sim, number, command->src.buffer, is_load ? "loads from local memory" : "stores from other memory");
    }
    if (is_local(sim, command->dst.buffer) != is_load) {
        add_fault(sim, number, command->dst.buffer, is_load ? "loads into other memory" : "stores into local memory");
    }
    if (most != 0 && bytes_from_bits(bits) > most) {
        add_fault(sim, number, command->dst.buffer, "moves more than the DMA takes at once");
    }
}

/* ---- The engine */

static void check_reach(Sim *sim, uint32_t number, uint32_t buffer) {
    if (buffer != CMD_NONE && !is_local(sim, buffer)) {
        add_fault(sim, number, buffer, "the engine reaches only local memory");
    }
}

static void check_dtype(Sim *sim, uint32_t number, uint32_t buffer, DType dtype) {
    if ((sim->device->dtypes >> dtype & 1) == 0) {
        add_fault(sim, number, buffer, "the engine does not compute this type");
    }
}

static void check_type(Sim *sim, uint32_t number, uint32_t buffer) {
    check_dtype(sim, number, buffer, sim->program->buffers[buffer].dtype);
}

static void check_engine(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    check_reach(sim, number, command->src.buffer);
    check_reach(sim, number, command->dst.buffer);
    check_reach(sim, number, command->scratch.buffer);
    if (command->op == CMD_CONV) {
        check_reach(sim, number, command->weights.buffer);
        check_reach(sim, number, command->bias.buffer);
        check_type(sim, number, command->weights.buffer);
    }
    if (command->op == CMD_LUT) {
        check_reach(sim, number, command->table.buffer);
    }
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            check_reach(sim, number, command->stages[s].param[p].from.buffer);
        }
    }
    if (command->stage_count > 0 || command->op == CMD_LUT) {
        check_type(sim, number, command->src.buffer);
        check_type(sim, number, command->dst.buffer);
    }
    for (uint32_t s = 0; s < command->stage_count; s++) {
        check_dtype(sim, number, command->dst.buffer, command->stages[s].stage.to); /* handed on, or what is written */
    }
}

void machine_check(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    if (command->op == CMD_LOAD || command->op == CMD_STORE) {
        check_transfer(sim, number);
    } else {
        check_engine(sim, number);
    }
}
