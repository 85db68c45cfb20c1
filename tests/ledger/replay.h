/* A plan replayed byte by byte on the simulated device, whatever its operators are.
 *
 * What a plan claims of local memory needs no arithmetic to be tried: each step reads all bytes of what it reads,
 * writes all bytes of what it writes, and must then still find both: what it wrote, and what it read, except where it
 * writes in place. Graph outputs and pinned inputs must be there at the end. Whoever is written over too early, lies
 * across another or ends behind the memory is a fault of the device, at the operator and the byte. A view holds the
 * data of the buffer it leads to; what is written in place over a buffer is other data. Nothing here reads ranges or
 * sums of the plan: only steps, offsets, sizes and aliases. */
#ifndef S0_TESTS_LEDGER_REPLAY_H
#define S0_TESTS_LEDGER_REPLAY_H

#include "plan/plan.h"
#include "sim/sim.h"
#include "support/work.h"

enum { REPLAY_LOCAL, REPLAY_FAR, REPLAY_W = 3 };

typedef struct {
    const Plan *plan;
    Arena *arena;
    CmdProgram program;
    Device device;      /* local memory as large as the plan says */
    CmdBuffer *buffers; /* of the plan, by number; then one of far memory that all reads go to */
    Str *nodes;         /* of each step; then the caller */
    Command *commands;
    size_t command_capacity;
    CmdView view;
} Replay;

static inline bool replay_is_local(const Replay *replay, BufferId id) {
    return plan_buffer(replay->plan, id)->memory == replay->plan->device->local;
}

/* Each waits for the one before it: time is the step. */
static inline Command *replay_add(Replay *replay, CmdOp op, uint32_t step, BufferId id) {
    uint32_t number = replay->program.command_count++;
    replay->commands = arena_grow(replay->arena, replay->commands, number, &replay->command_capacity, sizeof(Command));
    replay->program.commands = replay->commands;
    uint32_t *wait = arena_array(replay->arena, uint32_t, 1);
    *wait = number - 1;
    Command *command = &replay->commands[number];
    *command = (Command){.op = op, .node = step, .wait_count = number > 0, .waits = wait, .queue = op == CMD_STORE};
    command->column = op == CMD_STORE ? CMD_COLUMN_STORE : op == CMD_COPY ? CMD_COLUMN_COPY : CMD_COLUMN_FILL;
    command->box = (CmdBox){{1, 1, 1, replay->buffers[id.index].bytes, 1, 1}};
    command->src.buffer = command->dst.buffer = command->scratch.buffer = CMD_NONE;
    return command;
}

static inline void replay_read(Replay *replay, uint32_t step, BufferId id) {
    if (replay_is_local(replay, id)) {
        Command *command = replay_add(replay, CMD_STORE, step, id);
        command->src.buffer = id.index;
        command->dst.buffer = replay->plan->buffer_count;
    }
}

static inline void replay_write(Replay *replay, uint32_t step, BufferId id) {
    if (replay_is_local(replay, id)) {
        replay_add(replay, CMD_FILL, step, id)->dst.buffer = id.index;
    }
}

/* What a copy moves: of a slice its part, of a concat each part; of lanes those of the first. */
static inline uint64_t replay_moved_bytes(const Buffer *buffer) {
    return buffer->logical_bytes < buffer->physical_bytes ? buffer->logical_bytes : buffer->physical_bytes;
}

static inline void replay_copy(Replay *replay, uint32_t step, BufferId from, BufferId to) {
    if (replay_is_local(replay, from) && replay_is_local(replay, to)) {
        uint64_t read = replay_moved_bytes(plan_buffer(replay->plan, from));
        uint64_t written = replay_moved_bytes(plan_buffer(replay->plan, to));
        Command *copy = replay_add(replay, CMD_COPY, step, from);
        copy->box.extent[REPLAY_W] = read < written ? read : written;
        copy->src.buffer = from.index;
        copy->dst.buffer = to.index;
    }
}

/* Does the step write in place over what it reads? Either may be the one that lies in the other. */
static inline bool replay_is_overwritten(const Replay *replay, const Step *step, BufferId read) {
    const Buffer *from = plan_buffer(replay->plan, read);
    for (uint32_t k = 0; k < step->write_count; k++) {
        const Buffer *to = plan_buffer(replay->plan, step->writes[k]);
        bool is_in_place = to->alias_reason == ALIAS_IN_PLACE || from->alias_reason == ALIAS_IN_PLACE;
        if (is_in_place && to->storage.index == from->storage.index) {
            return true;
        }
    }
    return false;
}

static inline void replay_step(Replay *replay, uint32_t number) {
    const Step *step = &replay->plan->steps[number];
    for (uint32_t k = 0; k < step->read_count; k++) {
        replay_read(replay, number, step->reads[k]);
    }
    for (uint32_t k = 0; k < step->write_count; k++) {
        replay_write(replay, number, step->writes[k]);
    }
    for (uint32_t k = 0; k < step->read_count && step->column == COLUMN_COPY; k++) {
        replay_copy(replay, number, step->reads[k], step->writes[0]);
    }
    for (uint32_t k = 0; k < step->read_count; k++) {
        if (!replay_is_overwritten(replay, step, step->reads[k])) {
            replay_read(replay, number, step->reads[k]);
        }
    }
    for (uint32_t k = 0; k < step->write_count; k++) {
        replay_read(replay, number, step->writes[k]);
    }
}

static inline bool replay_is_written(const Plan *plan, uint32_t buffer) {
    for (uint32_t s = 0; s < plan->step_count; s++) {
        for (uint32_t k = 0; k < plan->steps[s].write_count; k++) {
            if (plan->steps[s].writes[k].index == buffer) {
                return true;
            }
        }
    }
    return false;
}

static inline uint32_t replay_data(const Plan *plan, uint32_t buffer) {
    while (plan->buffers[buffer].alias_reason != ALIAS_NONE && plan->buffers[buffer].alias_reason != ALIAS_IN_PLACE) {
        buffer = plan->buffers[buffer].alias_of.index;
    }
    return buffer;
}

static inline void replay_buffers(Replay *replay) {
    const Plan *plan = replay->plan;
    uint64_t most = 0;
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        const Buffer *buffer = &plan->buffers[k];
        bool is_local = buffer->memory == plan->device->local;
        replay->buffers[k] =
            (CmdBuffer){.kind = CMD_BUFFER_ACTIVATION, .dtype = DTYPE_I8, .lanes = 1, .view = CMD_NONE};
        replay->buffers[k].name =
            is_value(buffer->value) ? graph_value(plan->graph, buffer->value)->name : STR("workspace");
        replay->buffers[k].bytes = is_local ? buffer->physical_bytes : 0;
        replay->buffers[k].offset_bytes = is_local ? buffer->offset : 0;
        replay->buffers[k].data = replay_data(plan, k);
        most = replay->buffers[k].bytes > most ? replay->buffers[k].bytes : most;
    }
    replay->buffers[plan->buffer_count] = replay->buffers[0];
    replay->buffers[plan->buffer_count].name = STR("sink");
    replay->buffers[plan->buffer_count].memory = REPLAY_FAR;
    replay->buffers[plan->buffer_count].offset_bytes = 0;
    replay->buffers[plan->buffer_count].bytes = most;
    replay->buffers[plan->buffer_count].data = plan->buffer_count;
}

static inline void replay_commands(Replay *replay) {
    const Plan *plan = replay->plan;
    uint32_t end = plan->step_count;
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        BufferKind kind = plan->buffers[k].kind;
        if (kind == BUFFER_STATE || (kind == BUFFER_INPUT && !replay_is_written(plan, k))) {
            replay_write(replay, end, (BufferId){k});
        }
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        replay->nodes[s] = is_node(plan->steps[s].node) ? graph_node(plan->graph, plan->steps[s].node)->name : STR("");
        replay_step(replay, s);
    }
    for (uint32_t k = 0; k < plan->buffer_count && plan->device->kind == DEVICE_ARENA; k++) {
        BufferKind kind = plan->buffers[k].kind;
        if (kind == BUFFER_OUTPUT || (kind == BUFFER_INPUT && plan->options.pin_inputs)) {
            replay_read(replay, end, (BufferId){k});
        }
    }
}

static inline Replay replay_of(const Plan *plan, Work *work) {
    Replay replay = {.plan = plan, .arena = &work->keep};
    replay.view = (CmdView){1, {{REPLAY_W, 1, 0, 8, 0}}};
    replay.buffers = arena_array(&work->keep, CmdBuffer, plan->buffer_count + 1);
    replay.nodes = arena_array(&work->keep, Str, plan->step_count + 1);
    replay.nodes[plan->step_count] = STR("the caller");
    replay.device = (Device){.kind = DEVICE_SCRATCHPAD, .memory_count = 2, .backing = REPLAY_FAR, .dtypes = UINT64_MAX};
    replay.device.memory[REPLAY_LOCAL] = plan->device->memory[plan->device->local];
    replay.device.memory[REPLAY_LOCAL].bytes = plan->placed_bytes;
    replay.device.memory[REPLAY_FAR] = (DeviceMemory){.bytes = UINT64_MAX, .align_bytes = 1, .lanes = 1, .banks = 1};
    replay.device.dma_channels.value = 1;
    replay_buffers(&replay);
    replay_commands(&replay);
    return replay;
}

/* The program as it now stands: whoever changed an offset or the memory sees what it does. */
static inline const SimResult *replay_run(Replay *replay, Work *work) {
    replay->program = (CmdProgram){.queue_count = 2,
                                   .node_count = replay->plan->step_count + 1,
                                   .nodes = replay->nodes,
                                   .view_count = 1,
                                   .views = &replay->view,
                                   .buffer_count = replay->plan->buffer_count + 1,
                                   .buffers = replay->buffers,
                                   .command_count = replay->program.command_count,
                                   .commands = replay->commands};
    const char *wrong = cmd_check(&replay->program, &work->keep);
    if (wrong != NULL) {
        fail_msg("%s", wrong);
    }
    Sim *sim = sim_new(&replay->program, &replay->device, work);
    assert_non_null(sim);
    return sim_run(sim);
}

/* Runs it, and fails the test with the first fault. */
static inline const SimResult *replay_must_run(const char *what, Replay *replay, Work *work) {
    const SimResult *result = replay_run(replay, work);
    if (result->fault_count > 0) {
        const SimFault *fault = &result->fault[0];
        Str node = fault->command == CMD_NONE ? STR("") : replay->nodes[replay->commands[fault->command].node];
        fail_msg("%s: '" STR_FMT "': tensor '" STR_FMT "', byte %llu: %s: %s", what, STR_ARG(node),
                 STR_ARG(replay->buffers[fault->buffer].name), (unsigned long long)fault->byte,
                 sim_fault_name(fault->kind), fault->text);
    }
    return result;
}

/* Where the highest buffer ends, and that rounded up to the memory's unit. */
static inline uint64_t replay_end(const Replay *replay) {
    uint64_t end = 0;
    for (uint32_t k = 0; k < replay->plan->buffer_count; k++) {
        uint64_t own = replay->buffers[k].offset_bytes + replay->buffers[k].bytes;
        end = own > end ? own : end;
    }
    return end;
}

static inline uint64_t replay_placed(const Replay *replay) {
    uint64_t unit = replay->device.memory[REPLAY_LOCAL].align_bytes;
    return (replay_end(replay) + unit - 1) / unit * unit;
}

/* The plan's buffer of that tensor in local memory. */
static inline uint32_t replay_find(const Replay *replay, const char *name) {
    for (uint32_t k = 0; k < replay->plan->buffer_count; k++) {
        if (replay_is_local(replay, (BufferId){k}) && str_eq(replay->buffers[k].name, str_from(name))) {
            return k;
        }
    }
    fail_msg("no local buffer '%s'", name);
    return 0;
}

#endif
