/* Every byte that is read or written passes here. See machine.h. */
#include "sim/machine.h"

#include <inttypes.h>
#include <string.h>

/* ---- Who wrote, and when */

static bool is_host(const CmdProgram *program, uint32_t event) {
    return event <= program->buffer_count;
}

static uint32_t command_of(const CmdProgram *program, uint32_t event) {
    return is_host(program, event) ? CMD_NONE : (event - 1 - program->buffer_count) / 2;
}

static uint32_t data_of(const CmdProgram *program, uint32_t event) {
    if (is_host(program, event)) {
        return program->buffers[event - 1].data;
    }
    const Command *command = &program->commands[command_of(program, event)];
    bool is_scratch = (event - 1 - program->buffer_count) % 2 == WRITES_SCRATCH;
    return program->buffers[is_scratch ? command->scratch.buffer : command->dst.buffer].data;
}

/* Has the writer ended before this command starts, or is it this command? */
static bool is_before(const Access *access, uint32_t event) {
    uint32_t writer = command_of(access->sim->program, event);
    if (writer == CMD_NONE || writer == access->command || access->command == CMD_NONE) {
        return true;
    }
    uint32_t queue = access->sim->program->commands[writer].queue;
    return queue == access->queue || writer < access->clock[queue];
}

static void add_fault(Access *access, SimFaultKind kind, uint32_t other, WalkPoint byte, const char *text) {
    machine_fault(access->sim, (SimFault){.kind = kind,
                                          .command = access->command,
                                          .other = other,
                                          .buffer = access->buffer,
                                          .lane = byte.lane,
                                          .byte = byte.bit,
                                          .text = text});
}

/* ---- Runs of bytes in the arrays of a lane */

enum { BLOCK = 16 };

/* How many of `count` events, at least 1, are the same as the first? */
static size_t same_events(const uint32_t *event, size_t count) {
    size_t i = 0;
    for (; count - i >= BLOCK; i += BLOCK) {
        uint32_t difference = 0;
        for (size_t k = 0; k < BLOCK; k++) {
            difference |= event[i + k] ^ event[0];
        }
        if (difference != 0) {
            break;
        }
    }
    while (i < count && event[i] == event[0]) {
        i++;
    }
    return i;
}

/* The first byte that lacks a bit of `need`; `count` where there is none. */
static size_t first_lacking(const uint8_t *mask, size_t count, uint8_t need) {
    size_t i = 0;
    for (; count - i >= BLOCK; i += BLOCK) {
        uint8_t common = 0xFF;
        for (size_t k = 0; k < BLOCK; k++) {
            common &= mask[i + k];
        }
        if ((common & need) != need) {
            break;
        }
    }
    while (i < count && (mask[i] & need) == need) {
        i++;
    }
    return i;
}

/* The first byte that a command from `clock` on has read; `count` where there is none. */
static size_t first_reader(const uint32_t *reader, size_t count, uint32_t clock) {
    size_t i = 0;
    for (; count - i >= BLOCK; i += BLOCK) {
        uint32_t is_later = 0;
        for (size_t k = 0; k < BLOCK; k++) {
            is_later |= reader[i + k] > clock;
        }
        if (is_later != 0) {
            break;
        }
    }
    while (i < count && reader[i] <= clock) {
        i++;
    }
    return i;
}

static void fill(uint32_t *to, size_t count, uint32_t value) {
    for (size_t i = 0; i < count; i++) {
        to[i] = value;
    }
}

/* A range of bytes of one lane; `need` are the bits of each that are accessed. */
typedef struct {
    const Lane *lane;
    uint64_t number; /* of the lane */
    uint64_t byte;   /* from the start of the memory */
    size_t count;
    uint8_t need;
} Bytes;

/* ---- Reading */

/* Bytes that one event wrote; sees to it that this command may read them. */
static void judge_read(Access *access, const Bytes *bytes, uint64_t byte, size_t count) {
    const CmdProgram *program = access->sim->program;
    uint32_t event = bytes->lane->event[byte];
    WalkPoint at = {bytes->number, byte};
    if (event != access->good) {
        uint32_t writer = event == 0 ? CMD_NONE : command_of(program, event);
        if (event != 0 && !is_before(access, event)) {
            add_fault(access, FAULT_RACE, writer, at, "reads what a command that it does not wait for writes");
        }
        if (event != 0 && data_of(program, event) != access->data) {
            add_fault(access, FAULT_FOREIGN, writer, at, "reads what another buffer's data has overwritten");
            return;
        }
        access->good = event == 0 || !is_before(access, event) ? access->good : event;
    }
    size_t lacking = first_lacking(bytes->lane->mask + byte, count, bytes->need);
    if (lacking < count) {
        at.bit += lacking;
        add_fault(access, FAULT_UNWRITTEN, CMD_NONE, at, "reads bits that nobody has written");
    }
}

static void read_bytes(Access *access, const Bytes *bytes) {
    for (size_t done = 0; done < bytes->count;) {
        size_t same = same_events(bytes->lane->event + bytes->byte + done, bytes->count - done);
        judge_read(access, bytes, bytes->byte + done, same);
        done += same;
    }
    uint32_t *reader = access->command == CMD_NONE ? NULL : bytes->lane->reader[access->queue];
    if (reader != NULL) {
        fill(reader + bytes->byte, bytes->count, access->command + 1);
    }
}

/* ---- Writing */

static void find_readers(Access *access, const Bytes *bytes) {
    for (uint32_t queue = 0; queue < access->sim->program->queue_count; queue++) {
        const uint32_t *reader = bytes->lane->reader[queue];
        if (reader == NULL || queue == access->queue) {
            continue;
        }
        size_t first = first_reader(reader + bytes->byte, bytes->count, access->clock[queue]);
        if (first < bytes->count) {
            WalkPoint at = {bytes->number, bytes->byte + first};
            add_fault(access, FAULT_RACE, reader[at.bit] - 1, at,
                      "overwrites what a command that it does not wait for reads");
        }
    }
}

/* Bytes that one event wrote before: another data's bits are lost, of the own ones those stay that are not written. */
static void take_over(Access *access, const Bytes *bytes, uint64_t byte, size_t count) {
    uint32_t event = bytes->lane->event[byte];
    if (event != access->good && event != 0) {
        if (!is_before(access, event)) {
            add_fault(access, FAULT_RACE, command_of(access->sim->program, event), (WalkPoint){bytes->number, byte},
                      "overwrites what a command that it does not wait for writes");
        }
    }
    uint8_t *mask = bytes->lane->mask + byte;
    if (bytes->need == 0xFF) {
        memset(mask, 0xFF, count);
        return;
    }
    bool is_own = event != 0 && data_of(access->sim->program, event) == access->data;
    for (size_t i = 0; i < count; i++) {
        mask[i] = is_own ? mask[i] | bytes->need : bytes->need;
    }
}

static void write_bytes(Access *access, const Bytes *bytes) {
    uint32_t *event = bytes->lane->event + bytes->byte;
    for (size_t done = 0; done < bytes->count;) {
        size_t same = same_events(event + done, bytes->count - done);
        take_over(access, bytes, bytes->byte + done, same);
        done += same;
    }
    if (access->command != CMD_NONE) {
        find_readers(access, bytes);
    }
    fill(event, bytes->count, access->event);
}

/* ---- Accesses: bounds, what was touched, and the bits themselves */

static void touch(Access *access, uint64_t lane, uint64_t first, uint64_t count) {
    uint8_t *touched = access->sim->touched[access->buffer].touched[lane];
    uint64_t end = first + count;
    uint64_t from = first / 8, to = (end - 1) / 8;
    if (from == to) {
        touched[from] |= bits_mask(from, first, end);
        return;
    }
    touched[from] |= bits_mask(from, first, end);
    touched[to] |= bits_mask(to, first, end);
    memset(touched + from + 1, 0xFF, to - from - 1);
}

/* Adds the fault of what lies outside: in a lane that the buffer has not, or `byte` bytes behind its start. */
static void add_outside(Access *access, uint64_t lane, uint64_t byte, bool is_write) {
    const CmdBuffer *owner = access->owner;
    bool has_lane = lane < owner->lanes;
    const char *text = "";
    if (machine_keeps_fault(access->sim, FAULT_FOREIGN)) {
        text =
            arena_text(access->sim->arena, "%s %s %" PRIu64 " of a buffer of %" PRIu64, is_write ? "writes" : "reads",
                       has_lane ? "byte" : "lane", has_lane ? byte : lane, has_lane ? owner->bytes : owner->lanes);
    }
    add_fault(access, FAULT_FOREIGN, CMD_NONE, (WalkPoint){lane, owner->offset_bytes + byte}, text);
}

/* Bytes [first, end) of the buffer and beyond; false where none of them are in the memory. Tells what is outside. */
static void look_at_bounds(Access *access, uint64_t lane, uint64_t first, uint64_t end, bool is_write) {
    const CmdBuffer *owner = access->owner;
    bool has_lane = lane < owner->lanes;
    if (access->command != CMD_NONE) {
        access->used_bytes = end > access->used_bytes ? end : access->used_bytes;
        uint64_t inside = end < owner->bytes ? end : owner->bytes;
        if (has_lane && first < inside) {
            touch(access, lane, first, inside - first);
        }
    }
    if (!has_lane || end > owner->bytes) {
        add_outside(access, lane, has_lane && first < owner->bytes ? owner->bytes : first, is_write);
    }
}

typedef void Visit(Access *access, const Bytes *bytes);

/* The bytes of bits [bit, end) of a lane: those of which only some bits are meant come first and last. */
static void visit(Access *access, uint64_t lane, uint64_t bit, uint64_t end, Visit *each) {
    Bytes bytes = {.lane = &access->memory->lane[lane], .number = lane, .byte = bit / 8, .count = 1};
    uint64_t last = (end - 1) / 8;
    if (bit % 8 != 0 || end - bit < 8) {
        bytes.need = bits_mask(bytes.byte, bit, end);
        each(access, &bytes);
        bytes.byte++;
    }
    uint64_t whole_end = end / 8;
    if (bytes.byte < whole_end) {
        bytes.count = (size_t)(whole_end - bytes.byte);
        bytes.need = 0xFF;
        each(access, &bytes);
        bytes.byte = whole_end;
        bytes.count = 1;
    }
    if (bytes.byte <= last) {
        bytes.need = bits_mask(bytes.byte, bit, end);
        each(access, &bytes);
    }
}

/* Bits that lie in the memory at all, from the start of the memory: at most `bits`. */
static uint64_t bits_in_memory(const Access *access, WalkPoint at, uint64_t bits) {
    uint64_t start = access->owner->offset_bytes * 8;
    uint64_t limit = access->memory->bytes * 8;
    if (at.lane >= access->memory->lane_count || start >= limit || at.bit >= limit - start) {
        return 0;
    }
    uint64_t room = limit - start - at.bit;
    return bits < room ? bits : room;
}

void access_read(Access *access, WalkPoint at, uint64_t bits, uint8_t *out, uint64_t out_bit) {
    look_at_bounds(access, at.lane, at.bit / 8, (at.bit + bits - 1) / 8 + 1, false);
    uint64_t there = bits_in_memory(access, at, bits);
    if (there > 0) {
        uint64_t bit = access->owner->offset_bytes * 8 + at.bit;
        visit(access, at.lane, bit, bit + there, read_bytes);
        bits_copy(out, out_bit, access->memory->lane[at.lane].data, bit, there);
    }
    if (there < bits) {
        bits_clear(out, out_bit + there, bits - there);
    }
}

void access_write(Access *access, WalkPoint at, uint64_t bits, const uint8_t *in, uint64_t in_bit) {
    look_at_bounds(access, at.lane, at.bit / 8, (at.bit + bits - 1) / 8 + 1, true);
    uint64_t there = bits_in_memory(access, at, bits);
    if (there > 0) {
        uint64_t bit = access->owner->offset_bytes * 8 + at.bit;
        visit(access, at.lane, bit, bit + there, write_bytes);
        bits_copy(access->memory->lane[at.lane].data, bit, in, in_bit, there);
    }
}

bool access_is_written(const Access *access, WalkPoint at, uint64_t bits) {
    bool is_written = bits_in_memory(access, at, bits) == bits;
    uint64_t bit = access->owner->offset_bytes * 8 + at.bit, end = bit + bits;
    for (uint64_t byte = bit / 8; is_written && byte <= (end - 1) / 8; byte++) {
        const Lane *lane = &access->memory->lane[at.lane];
        uint8_t need = bits_mask(byte, bit, end);
        is_written = lane->event[byte] != 0 && (lane->mask[byte] & need) == need &&
                     data_of(access->sim->program, lane->event[byte]) == access->data;
    }
    return is_written;
}

/* ---- Operands */

Access access_of(Sim *sim, uint32_t command, uint32_t buffer, Writes writes) {
    const CmdBuffer *owner = &sim->program->buffers[buffer];
    return (Access){
        .sim = sim,
        .command = command,
        .queue = sim->program->commands[command].queue,
        .clock = sim->clock + (size_t)command * sim->program->queue_count,
        .buffer = buffer,
        .owner = owner,
        .memory = &sim->memory[owner->memory],
        .data = owner->data,
        .event = machine_event(sim->program, command, writes),
    };
}

Access access_of_host(Sim *sim, uint32_t buffer) {
    const CmdBuffer *owner = &sim->program->buffers[buffer];
    return (Access){
        .sim = sim,
        .command = CMD_NONE,
        .buffer = buffer,
        .owner = owner,
        .memory = &sim->memory[owner->memory],
        .data = owner->data,
        .event = machine_host_event(buffer),
    };
}

void access_end(Access *access) {
    SimBuffer *buffer = &access->sim->result.buffer[access->buffer];
    buffer->used_bytes = access->used_bytes > buffer->used_bytes ? access->used_bytes : buffer->used_bytes;
}

void access_gather(Access *access, const Strips *strips, WalkPoint base, uint32_t element_bits, uint8_t *packed) {
    Cursor cursor;
    uint64_t bit = 0;
    for (bool more = cursor_start(&cursor, strips, &base); more; more = cursor_next(&cursor)) {
        access_read(access, cursor.at[0], cursor.run * element_bits, packed, bit);
        bit += cursor.run * element_bits;
    }
}

void access_scatter(Access *access, const Strips *strips, WalkPoint base, uint32_t element_bits,
                    const uint8_t *packed) {
    Cursor cursor;
    uint64_t bit = 0;
    for (bool more = cursor_start(&cursor, strips, &base); more; more = cursor_next(&cursor)) {
        access_write(access, cursor.at[0], cursor.run * element_bits, packed, bit);
        bit += cursor.run * element_bits;
    }
}
