/* What the files of the simulated device share: its memories with their shadows, and the command that runs.
 *
 * Three things are kept for each byte, each in an array of its own so that a run of bytes is one loop:
 *     mask    which bits the owner has written
 *     event   by what the byte was written last: 0 nobody, else a number that tells command and data; see machine_event
 *     reader  for each queue, 1 + the last command of it that has read the byte
 *
 * The commands are run in their order, which respects all waits. Whether two of them could have run at once is told by
 * clocks: clock[q] of a command is 1 + the last command of queue q that has ended before it starts. A queue runs in
 * order, so command k of queue q has ended before if and only if k < clock[q]. The last writer and the last reader of
 * each queue are enough: a race with an earlier one is one with the last, or was found between those two. */
#ifndef S0_SIM_MACHINE_H
#define S0_SIM_MACHINE_H

#include "sim/bits.h"
#include "sim/sim.h"
#include "sim/walk.h"

/* One lane of one memory. */
typedef struct {
    uint8_t *data, *mask;
    uint32_t *event;
    uint32_t *reader[CMD_MAX_QUEUES]; /* null where no command of the queue reads this memory */
} Lane;

typedef struct {
    uint64_t bytes; /* of a lane: as far as the buffers reach */
    uint64_t lane_count;
    Lane *lane;
} Memory;

/* What was touched through one buffer. */
typedef struct {
    uint8_t **touched; /* a bit a byte of the buffer, for each lane */
} Touched;

struct Sim {
    const CmdProgram *program;
    const Device *device;
    Arena *arena;
    Frame frame;
    Memory *memory;
    Touched *touched;
    uint32_t *clock;          /* queue_count for each command */
    struct BoundCache *bound; /* binding.c: stages of earlier commands */
    uint32_t has_fault;       /* of what is running or looked at, a bit a kind */
    bool has_run;
    SimResult result;
};

/* The two kinds of data that a command writes. */
typedef enum { WRITES_DST, WRITES_SCRATCH } Writes;

static inline uint32_t machine_host_event(uint32_t buffer) {
    return 1 + buffer;
}

static inline uint32_t machine_event(const CmdProgram *program, uint32_t command, Writes writes) {
    return 1 + program->buffer_count + command * 2 + (uint32_t)writes;
}

/* One fault a kind is counted of each command, of each tensor that the host writes and of each buffer's place. */
void machine_fault(Sim *sim, SimFault fault);

/* A number of dst, at `at` of its buffer, that the reference does not have. */
void machine_number_fault(Sim *sim, uint32_t command, uint32_t stage, WalkPoint at, const char *text);

/* Would a fault of that kind be kept now? Else its text need not be made. */
bool machine_keeps_fault(const Sim *sim, SimFaultKind kind);

/* ---- shadow.c: every access of a command goes through one of these, bound to an operand */

typedef struct {
    Sim *sim;
    uint32_t command, queue; /* command CMD_NONE: the host, before all commands */
    const uint32_t *clock;
    uint32_t buffer;
    const CmdBuffer *owner; /* the buffer */
    const Memory *memory;
    uint32_t data;  /* whose bytes it may read */
    uint32_t event; /* that it leaves where it writes */
    uint32_t good;  /* an event that it may read and write after */
    uint64_t used_bytes;
} Access;

Access access_of(Sim *sim, uint32_t command, uint32_t buffer, Writes writes);
Access access_of_host(Sim *sim, uint32_t buffer);

/* `at` is from the start of the buffer. What lies outside the memory reads as 0 and swallows what is written. */
void access_read(Access *access, WalkPoint at, uint64_t bits, uint8_t *out, uint64_t out_bit);
void access_write(Access *access, WalkPoint at, uint64_t bits, const uint8_t *in, uint64_t in_bit);

/* Has the owner written all of these bits? Nothing is marked. */
bool access_is_written(const Access *access, WalkPoint at, uint64_t bits);

/* All elements of an operand to packed ones, and back; `base` is the address of the box's first index. */
void access_gather(Access *access, const Strips *strips, WalkPoint base, uint32_t element_bits, uint8_t *packed);
void access_scatter(Access *access, const Strips *strips, WalkPoint base, uint32_t element_bits, const uint8_t *packed);

/* Adds what was used to the buffer's figures. */
void access_end(Access *access);

/* ---- move.c, compute.c, window.c: what commands do; rules.c: what they may not; cost.c: what they cost */

void machine_move(Sim *sim, uint32_t command);    /* LOAD STORE COPY FILL LUT */
void machine_compute(Sim *sim, uint32_t command); /* MUL ADD REQUANT AFFINE */
void machine_window(Sim *sim, uint32_t command);  /* CONV MAXPOOL AVGPOOL */
void machine_check(Sim *sim, uint32_t command);
uint64_t machine_cost(Sim *sim, uint32_t command); /* cycles; counts transfers */
void machine_timeline(Sim *sim, const uint64_t *cost);

/* Books `elements` of an operand as read or written, rounded up to bytes once. */
void machine_book(Sim *sim, uint32_t command, uint32_t buffer, uint64_t bits, bool is_write);

/* Of what goes over windows: channels of src that those of its box are made of; products, or codes that are gathered,
 * of an element of dst. */
static inline uint64_t machine_channels(const Command *command) {
    const CmdWindow *window = command->window;
    return ((window->group_first + command->box.extent[1] - 1) / window->group_dst + 1) * window->group_src;
}

static inline uint64_t machine_products(const Command *command) {
    return command->window->h.taps * command->window->w.taps * command->window->group_src; /* cmd_check: fits */
}

static inline uint32_t element_bits_of(const CmdProgram *program, uint32_t buffer) {
    return dtype_bits(program->buffers[buffer].dtype);
}

#endif
