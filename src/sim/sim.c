/* Lays out the memories of a program and runs it. See sim.h and machine.h. */
#include "base/checked.h"
#include "sim/machine.h"

#include <inttypes.h>

enum { MOST_ELEMENTS = 1 << 28 };  /* of one command or tensor */
enum { PRODUCTS_OF_ELEMENT = 64 }; /* a command may have as many times more */

const char *sim_fault_name(SimFaultKind kind) {
    static const char *const name[] = {"unwritten", "foreign", "race", "misaligned", "burst", "capacity", "number"};
    return name[kind];
}

static bool has_fault(const Sim *sim, SimFaultKind kind) {
    return (sim->has_fault >> kind & 1) != 0;
}

bool machine_keeps_fault(const Sim *sim, SimFaultKind kind) {
    return !has_fault(sim, kind) && sim->result.kept_faults < SIM_MOST_FAULTS;
}

void machine_fault(Sim *sim, SimFault fault) {
    SimResult *result = &sim->result;
    if (has_fault(sim, fault.kind)) {
        return;
    }
    sim->has_fault |= UINT32_C(1) << fault.kind;
    result->fault_count++;
    if (result->kept_faults < SIM_MOST_FAULTS) {
        result->fault[result->kept_faults++] = fault;
    }
}

void machine_number_fault(Sim *sim, uint32_t command, uint32_t stage, WalkPoint at, const char *text) {
    uint32_t dst = sim->program->commands[command].dst.buffer;
    machine_fault(sim, (SimFault){.kind = FAULT_NUMBER,
                                  .command = command,
                                  .other = CMD_NONE,
                                  .buffer = dst,
                                  .stage = stage,
                                  .lane = at.lane,
                                  .byte = sim->program->buffers[dst].offset_bytes + at.bit / 8,
                                  .text = text});
}

/* ---- Does the program fit the device? */

static bool refuse(Work *work, Str node, Str tensor, DiagText text) {
    text.node = node;
    text.tensor = tensor;
    return diag_refuse(&work->diags, text);
}

static bool fits_queues(const CmdProgram *program, const Device *device, Work *work) {
    uint64_t channels = device->dma_channels.value == 0 ? 1 : device->dma_channels.value;
    if (program->queue_count <= channels + 1) {
        return true;
    }
    return refuse(work, (Str){0}, (Str){0},
                  (DiagText){.what = "the program has more queues than the device",
                             .got = arena_text(&work->keep, "%" PRIu32 " queues", program->queue_count),
                             .expected = arena_text(&work->keep, "the engine and %" PRIu64 " of the DMA", channels),
                             .hint = "plan for this device"});
}

static bool fits_memory(const CmdBuffer *buffer, const Device *device, Work *work) {
    if (buffer->memory >= device->memory_count) {
        return refuse(work, buffer->node, buffer->name,
                      (DiagText){.what = "the buffer is in a memory that the device has not",
                                 .got = arena_text(&work->keep, "memory %" PRIu32, buffer->memory),
                                 .expected = arena_text(&work->keep, "less than %" PRIu32, device->memory_count),
                                 .hint = "plan for this device"});
    }
    const DeviceMemory *memory = &device->memory[buffer->memory];
    if (buffer->lanes > memory->lanes) {
        return refuse(work, buffer->node, buffer->name,
                      (DiagText){.what = "the buffer lies in more lanes than its memory has",
                                 .got = arena_text(&work->keep, "%" PRIu64 " lanes", buffer->lanes),
                                 .expected = arena_text(&work->keep, "%" PRIu64 " at most", memory->lanes),
                                 .hint = "plan for this device"});
    }
    return true;
}

/* No product passes 64 bits: cmd_check. */
static uint64_t elements_of_order(const CmdBuffer *buffer) {
    uint64_t elements = 1;
    for (uint32_t k = 0; buffer->view != CMD_NONE && k < buffer->order.rank; k++) {
        elements *= buffer->order.extent[k];
    }
    return elements;
}

static bool is_small(uint64_t elements, Str node, Str tensor, Work *work) {
    if (elements <= MOST_ELEMENTS) {
        return true;
    }
    return refuse(work, node, tensor,
                  (DiagText){.what = "more elements at once than the simulated device takes",
                             .got = arena_text(&work->keep, "%" PRIu64, elements),
                             .expected = arena_text(&work->keep, "%d at most", (int)MOST_ELEMENTS),
                             .hint = "cut it into tiles"});
}

/* Indices of src that windows cover along one axis, at most. */
static uint64_t most_covered(const CmdSlide *slide, uint64_t outputs) {
    return outputs * slide->taps < slide->extent ? outputs * slide->taps : slide->extent;
}

/* No product here is larger than that of all products, which fits 64 bits: cmd_check. */
static bool fits_windows(const CmdProgram *program, const Command *command, Work *work) {
    if (command->window == NULL || walk_elements(&command->box) == 0) {
        return true;
    }
    const CmdWindow *window = command->window;
    const uint64_t *extent = command->box.extent;
    const uint64_t counts[] = {
        walk_elements(&command->box) * machine_products(command) / PRODUCTS_OF_ELEMENT,
        extent[1] * machine_products(command),
        extent[2] * window->h.taps,
        extent[3] * window->w.taps,
        extent[0] * machine_channels(command) * most_covered(&window->h, extent[2]) *
            most_covered(&window->w, extent[3]),
    };
    bool fits = true;
    for (size_t k = 0; fits && k < sizeof counts / sizeof counts[0]; k++) {
        fits = is_small(counts[k], program->nodes[command->node], program->buffers[command->dst.buffer].name, work);
    }
    return fits;
}

static bool fits_device(const CmdProgram *program, const Device *device, Work *work) {
    bool fits = fits_queues(program, device, work);
    for (uint32_t k = 0; fits && k < program->buffer_count; k++) {
        const CmdBuffer *buffer = &program->buffers[k];
        fits =
            fits_memory(buffer, device, work) && is_small(elements_of_order(buffer), buffer->node, buffer->name, work);
    }
    for (uint32_t k = 0; fits && k < program->command_count; k++) {
        const Command *command = &program->commands[k];
        fits = is_small(walk_elements(&command->box), program->nodes[command->node],
                        program->buffers[command->dst.buffer].name, work) &&
               fits_windows(program, command, work);
    }
    return fits;
}

/* ---- Memory */

static bool has_bias(const Command *command) {
    return command->bias.buffer != CMD_NONE;
}

/* Which queues read which memory, a bit a queue. */
static void find_readers(const CmdProgram *program, uint32_t *readers) {
    for (uint32_t k = 0; k < program->command_count; k++) {
        const Command *command = &program->commands[k];
        uint32_t bit = UINT32_C(1) << command->queue;
        if (command->src.buffer != CMD_NONE) {
            readers[program->buffers[command->src.buffer].memory] |= bit;
        }
        if (command->op == CMD_CONV) {
            readers[program->buffers[command->weights.buffer].memory] |= bit;
            readers[program->buffers[has_bias(command) ? command->bias.buffer : command->src.buffer].memory] |= bit;
        }
        if (command->op == CMD_LUT) {
            readers[program->buffers[command->table.buffer].memory] |= bit;
        }
        if (command->stage_count > 1) {
            uint32_t scratch = command->carry == CMD_CARRY_WORKSPACE ? command->scratch.buffer : command->dst.buffer;
            readers[program->buffers[scratch].memory] |= bit;
        }
        for (uint32_t s = 0; s < command->stage_count; s++) {
            for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
                readers[program->buffers[command->stages[s].param[p].from.buffer].memory] |= bit;
            }
        }
    }
}

static void find_reach(const CmdProgram *program, Memory *memory) {
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        const CmdBuffer *buffer = &program->buffers[k];
        Memory *of = &memory[buffer->memory];
        uint64_t end = buffer->offset_bytes + buffer->bytes;
        of->bytes = end > of->bytes ? end : of->bytes;
        of->lane_count = buffer->lanes > of->lane_count ? buffer->lanes : of->lane_count;
    }
}

/* Of the host: all memories with their shadows, and what was touched of each buffer. */
static bool find_host_bytes(const CmdProgram *program, const Memory *memory, const uint32_t *readers, uint64_t *total) {
    bool fits = true;
    *total = 0;
    for (uint32_t m = 0; m < DEVICE_MAX_MEMORIES; m++) {
        uint64_t bytes = memory[m].bytes;
        uint64_t each = 2 + sizeof(uint32_t) * (1 + (uint64_t)__builtin_popcount(readers[m]));
        fits = fits && checked_mul(bytes, memory[m].lane_count, &bytes) && checked_mul(bytes, each, &bytes) &&
               checked_add(*total, bytes, total);
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        uint64_t bits = program->buffers[k].bytes * program->buffers[k].lanes; /* cmd_check: fits */
        fits = fits && checked_add(*total, bits / 8 + program->buffers[k].lanes * 16, total);
    }
    return fits;
}

static bool fits_host(const CmdProgram *program, const Memory *memory, const uint32_t *readers, Work *work) {
    uint64_t bytes;
    bool fits = find_host_bytes(program, memory, readers, &bytes);
    if (fits && bytes / (1024 * 1024) < SIM_MOST_MIB && program->command_count < UINT32_MAX / 4 &&
        program->buffer_count < UINT32_MAX / 4) {
        return true;
    }
    return refuse(work, (Str){0}, (Str){0},
                  (DiagText){.what = "the program needs more memory than the simulated device takes of the host",
                             .got = fits ? arena_text(&work->keep, "%" PRIu64 " bytes", bytes) : "more than 64 bits",
                             .expected = arena_text(&work->keep, "%d MiB at most", (int)SIM_MOST_MIB),
                             .hint = "plan with smaller buffers"});
}

static void make_lanes(Memory *memory, uint32_t readers, Arena *arena) {
    size_t bytes = (size_t)memory->bytes;
    memory->lane = arena_array(arena, Lane, memory->lane_count);
    for (uint64_t l = 0; l < memory->lane_count; l++) {
        Lane *lane = &memory->lane[l];
        lane->data = arena_array(arena, uint8_t, bytes);
        lane->mask = arena_array(arena, uint8_t, bytes);
        lane->event = arena_array(arena, uint32_t, bytes);
        for (uint32_t queue = 0; queue < CMD_MAX_QUEUES; queue++) {
            bool reads = (readers >> queue & 1) != 0;
            lane->reader[queue] = reads ? arena_array(arena, uint32_t, bytes) : NULL;
        }
    }
}

static void make_touched(Sim *sim) {
    const CmdProgram *program = sim->program;
    sim->touched = arena_array(sim->arena, Touched, program->buffer_count);
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        size_t lanes = (size_t)program->buffers[k].lanes;
        size_t bytes = (size_t)bytes_from_bits(program->buffers[k].bytes);
        sim->touched[k].touched = arena_array(sim->arena, uint8_t *, lanes);
        for (size_t l = 0; l < lanes; l++) {
            sim->touched[k].touched[l] = arena_array(sim->arena, uint8_t, bytes);
        }
    }
}

static void write_constants(Sim *sim) {
    for (uint32_t k = 0; k < sim->program->buffer_count; k++) {
        const CmdBuffer *buffer = &sim->program->buffers[k];
        if (buffer->constant != NULL) {
            sim_write(sim, k, (Span){buffer->constant, (size_t)buffer->constant_bytes});
        }
    }
}

Sim *sim_new(const CmdProgram *program, const Device *device, Work *work) {
    uint32_t readers[DEVICE_MAX_MEMORIES] = {0};
    if (!fits_device(program, device, work)) {
        return NULL;
    }
    Sim *sim = arena_new(&work->keep, Sim);
    sim->program = program;
    sim->device = device;
    sim->arena = &work->keep;
    sim->memory = arena_array(&work->keep, Memory, DEVICE_MAX_MEMORIES);
    frame_init(&sim->frame, &work->keep);
    find_readers(program, readers);
    find_reach(program, sim->memory);
    if (!fits_host(program, sim->memory, readers, work)) {
        return NULL;
    }
    for (uint32_t m = 0; m < DEVICE_MAX_MEMORIES; m++) {
        make_lanes(&sim->memory[m], readers[m], sim->arena);
    }
    make_touched(sim);
    sim->result.buffer = arena_array(sim->arena, SimBuffer, program->buffer_count);
    sim->clock = arena_array(sim->arena, uint32_t, (size_t)program->command_count * program->queue_count);
    write_constants(sim);
    return sim;
}

/* ---- The run */

/* Where the buffer starts: what is lost before the next start that its memory allows. */
static const char *start_text(const Sim *sim, const CmdBuffer *buffer, uint64_t align_bytes) {
    uint64_t behind = buffer->offset_bytes % align_bytes;
    return arena_text(sim->arena,
                      "the buffer starts %" PRIu64 " behind a multiple of %" PRIu64 ", %" PRIu64 " before the next",
                      behind, align_bytes, align_bytes - behind);
}

static const char *end_text(const Sim *sim, const CmdBuffer *buffer, uint64_t capacity_bytes) {
    return arena_text(sim->arena, "the buffer ends at %" PRIu64 ", %" PRIu64 " behind its memory",
                      buffer->offset_bytes + buffer->bytes, buffer->offset_bytes + buffer->bytes - capacity_bytes);
}

/* Where buffers start and end. */
static void check_buffers(Sim *sim) {
    for (uint32_t k = 0; k < sim->program->buffer_count; k++) {
        const CmdBuffer *buffer = &sim->program->buffers[k];
        const DeviceMemory *memory = &sim->device->memory[buffer->memory];
        SimFault fault = {.command = CMD_NONE, .other = CMD_NONE, .buffer = k};
        sim->has_fault = 0;
        if (buffer->bytes > 0 && buffer->offset_bytes % memory->align_bytes != 0) {
            fault.kind = FAULT_MISALIGNED;
            fault.byte = buffer->offset_bytes;
            fault.text = machine_keeps_fault(sim, fault.kind) ? start_text(sim, buffer, memory->align_bytes) : "";
            machine_fault(sim, fault);
        }
        if (buffer->offset_bytes + buffer->bytes > memory->bytes) {
            fault.kind = FAULT_CAPACITY;
            fault.byte = memory->bytes;
            fault.text = machine_keeps_fault(sim, fault.kind) ? end_text(sim, buffer, memory->bytes) : "";
            machine_fault(sim, fault);
        }
    }
}

/* The clock of a command: what has ended before it starts. */
static void set_clock(Sim *sim, uint32_t number, const uint32_t *last) {
    const CmdProgram *program = sim->program;
    const Command *command = &program->commands[number];
    uint32_t queues = program->queue_count;
    uint32_t *clock = sim->clock + (size_t)number * queues;
    for (uint32_t k = 0; k <= command->wait_count; k++) {
        bool is_wait = k < command->wait_count;
        uint32_t ended = is_wait ? command->waits[k] : last[command->queue];
        if (ended == CMD_NONE) {
            continue;
        }
        for (uint32_t queue = 0; queue < queues; queue++) {
            uint32_t before = sim->clock[(size_t)ended * queues + queue];
            before = queue == program->commands[ended].queue ? ended + 1 : before;
            clock[queue] = before > clock[queue] ? before : clock[queue];
        }
    }
}

static void run_command(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    if (walk_elements(&command->box) == 0) {
        return;
    }
    machine_check(sim, number);
    if (command->window != NULL) {
        machine_window(sim, number);
    } else if (command->stage_count > 0) {
        machine_compute(sim, number);
    } else {
        machine_move(sim, number);
    }
}

static void run_all(Sim *sim, uint64_t *cost) {
    const CmdProgram *program = sim->program;
    uint32_t last[CMD_MAX_QUEUES];
    for (uint32_t queue = 0; queue < CMD_MAX_QUEUES; queue++) {
        last[queue] = CMD_NONE;
    }
    for (uint32_t k = 0; k < program->command_count; k++) {
        const Command *command = &program->commands[k];
        SimColumn *column = &sim->result.column[command->column];
        frame_reset(&sim->frame);
        sim->has_fault = 0;
        set_clock(sim, k, last);
        last[command->queue] = k;
        run_command(sim, k);
        cost[k] = machine_cost(sim, k);
        column->commands++;
        column->cycles += cost[k];
    }
}

static void count_touched(Sim *sim) {
    for (uint32_t k = 0; k < sim->program->buffer_count; k++) {
        const CmdBuffer *buffer = &sim->program->buffers[k];
        SimBuffer *measured = &sim->result.buffer[k];
        uint64_t touched = 0;
        for (uint64_t l = 0; l < buffer->lanes; l++) {
            for (uint64_t byte = 0; byte < bytes_from_bits(buffer->bytes); byte++) {
                touched += (uint64_t)__builtin_popcount(sim->touched[k].touched[l][byte]);
            }
            measured->used_lanes = touched > measured->touched_bytes ? l + 1 : measured->used_lanes;
            measured->touched_bytes = touched;
        }
    }
}

const SimResult *sim_run(Sim *sim) {
    if (!sim->has_run) {
        uint64_t *cost = arena_array(sim->arena, uint64_t, sim->program->command_count);
        sim->has_run = true;
        check_buffers(sim);
        run_all(sim, cost);
        machine_timeline(sim, cost);
        count_touched(sim);
    }
    return &sim->result;
}
