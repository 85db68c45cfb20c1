/* A simulated device: runs a program, checks every byte, and measures.
 *
 * It is the independent witness of the planner. It sees commands and the memories and costs of a device file, nothing
 * of plans, layouts or models; addresses come from the commands' own views, by a walker of its own. Three things are
 * kept for each byte: its bits, who wrote them last, and who read them since.
 *
 * Faults (FAULT_*) name command, node, tensor, memory, lane and byte:
 *     unwritten   bits are read that nobody wrote, or padding is used as data
 *     foreign     bytes are read that another buffer's data has overwritten, or written outside the buffer
 *     race        two commands of different queues touch a byte, one writes, and neither waits for the other
 *     misaligned  a buffer does not start where its memory lets one start
 *     burst       a transfer is longer than the DMA takes, memories are not those that its queue connects (LOAD: into
 *                 local memory; STORE: out of it; the engine: inside), or the engine does not compute the type
 *     capacity    a buffer ends behind its memory or its lanes
 *     number      the reference has no value for an element: an accumulator passes 32 bits, a scale is not positive
 *
 * What things cost, of which sim_run books cycles and sweep/timeline.h the same by its own way: docs/simulator.md. */
#ifndef S0_SIM_SIM_H
#define S0_SIM_SIM_H

#include "cmd/command.h"
#include "device/device.h"

typedef enum {
    FAULT_UNWRITTEN,
    FAULT_FOREIGN,
    FAULT_RACE,
    FAULT_MISALIGNED,
    FAULT_BURST,
    FAULT_CAPACITY,
    FAULT_NUMBER,
    FAULT_KINDS
} SimFaultKind;

/* That are kept; the run goes on, and counts one of each kind for each command. */
enum { SIM_MOST_FAULTS = 16 };

typedef struct {
    SimFaultKind kind;
    uint32_t command; /* CMD_NONE: the host writes, or the buffer lies there */
    uint32_t other;   /* that wrote or read the byte before; CMD_NONE */
    uint32_t buffer;
    uint32_t stage;      /* of FAULT_NUMBER: of those of the command; 0 where it has none */
    uint64_t lane, byte; /* from the start of the memory */
    const char *text;    /* one clause: "reads a byte that nobody wrote" */
} SimFault;

/* What was measured of one buffer, of commands alone: the host's reading and writing does not count. An operand is as
 * many elements as the box has, a parameter as many as the box has along the axes on which it steps; what is carried is
 * written and read once from each stage to the next. */
typedef struct {
    uint64_t touched_bytes; /* distinct, over all lanes, inside the buffer */
    uint64_t used_lanes;    /* one more than the last lane that was touched */
    uint64_t used_bytes;    /* one more than the last that was touched, of any lane, from the start of the buffer */
    uint64_t read_bytes, written_bytes; /* of all commands: elements times bits, rounded up once an operand */
} SimBuffer;

typedef struct {
    uint64_t read_bytes, written_bytes; /* sums over operands, as of buffers */
    uint64_t commands;
    uint64_t descriptors, bursts; /* of DMA; 0 for the engine */
    uint64_t cycles;              /* of the commands alone, without waiting */
} SimColumn;

typedef struct {
    uint64_t fault_count; /* all of them */
    uint32_t kept_faults;
    SimFault fault[SIM_MOST_FAULTS];
    SimBuffer *buffer; /* buffer_count of the program */
    SimColumn column[CMD_COLUMNS];
    uint64_t syncs;  /* waits for another queue */
    uint64_t cycles; /* until the last command has ended */
} SimResult;

typedef struct Sim Sim;

/* Lays out memory for a program that cmd_check accepts, with its constants. Null with a diagnostic where the program
 * does not fit the device's number of memories, queues or lanes, or would take more than SIM_MOST_MIB of the host. The
 * program and the device must live as long. */
enum { SIM_MOST_MIB = 4096 };
Sim *sim_new(const CmdProgram *program, const Device *device, Work *work);

/* The bytes of a tensor that the host gives, packed in the buffer's order as files hold them; `count` must be what the
 * shape makes. */
bool sim_write(Sim *sim, uint32_t buffer, Span packed);

/* The elements of a buffer that has a view, packed in its order; unwritten ones are 0 and counted in `unwritten`. */
Span sim_read(const Sim *sim, uint32_t buffer, Arena *arena, uint64_t *unwritten);

/* Runs all commands. Once. */
const SimResult *sim_run(Sim *sim);

const char *sim_fault_name(SimFaultKind kind); /* "unwritten" */

#endif
