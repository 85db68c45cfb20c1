/* Commands without arithmetic: LOAD, STORE, COPY, FILL, LUT; and what the host writes and reads.
 *
 * A move reads all that it takes before it writes anything. */
#include "base/checked.h"
#include "sim/machine.h"

#include <string.h>

enum { SRC, DST, AXIS_C = 1 };

void machine_book(Sim *sim, uint32_t command, uint32_t buffer, uint64_t bits, bool is_write) {
    SimColumn *column = &sim->result.column[sim->program->commands[command].column];
    SimBuffer *of = &sim->result.buffer[buffer];
    uint64_t bytes = bytes_from_bits(bits);
    if (is_write) {
        column->written_bytes += bytes;
        of->written_bytes += bytes;
    } else {
        column->read_bytes += bytes;
        of->read_bytes += bytes;
    }
}

static const CmdView *view_of(const Sim *sim, uint32_t view) {
    return &sim->program->views[view];
}

static void fill_all(uint8_t *packed, uint64_t elements, uint32_t bits, uint64_t code) {
    uint8_t bytes[16] = {0}; /* an element has at most 128 bits */
    for (uint32_t k = 0; k < 8; k++) {
        bytes[k] = (uint8_t)(code >> k * 8);
    }
    for (uint64_t k = 0; k < elements; k++) {
        bits_copy(packed, k * bits, bytes, 0, bits);
    }
}

static void read_source(Sim *sim, uint32_t number, const Walk *walk, uint8_t *packed) {
    const Command *command = &sim->program->commands[number];
    uint32_t bits = walk->operand[SRC].bits;
    Access src = access_of(sim, number, command->src.buffer, WRITES_DST);
    Strips strips = walk_strips(walk, SRC, SRC, &sim->frame);
    access_gather(&src, &strips, (WalkPoint){0, command->src.offset_bits}, bits, packed);
    access_end(&src);
    machine_book(sim, number, command->src.buffer, walk->elements * bits, false);
}

/* An element for each value of a code, packed. */
static uint8_t *read_table(Sim *sim, uint32_t number, uint32_t code_bits) {
    const CmdOperand *table = &sim->program->commands[number].table;
    const CmdView *view = view_of(sim, table->view);
    uint32_t bits = element_bits_of(sim->program, table->buffer);
    uint64_t count = cmd_table_extent(code_bits);
    uint8_t *packed = frame_array(&sim->frame, uint8_t, bytes_from_bits(count * bits));
    Access access = access_of(sim, number, table->buffer, WRITES_DST);
    for (uint64_t k = 0; k < count; k++) {
        WalkPoint at = walk_axis(view, AXIS_C, k);
        access_read(&access, (WalkPoint){at.lane, at.bit + table->offset_bits}, bits, packed, k * bits);
    }
    access_end(&access);
    machine_book(sim, number, table->buffer, count * bits, false);
    return packed;
}

/* Each code of src becomes the element in its place. */
static void look_up(Sim *sim, uint32_t number, const Walk *walk, uint8_t *packed) {
    uint32_t code_bits = walk->operand[SRC].bits, bits = walk->operand[DST].bits;
    const uint8_t *table = read_table(sim, number, code_bits);
    uint8_t *codes = frame_array(&sim->frame, uint8_t, bytes_from_bits(walk->elements * code_bits));
    read_source(sim, number, walk, codes);
    for (uint64_t k = 0; k < walk->elements; k++) {
        uint8_t code = 0;
        bits_copy(&code, 0, codes, k * code_bits, code_bits);
        bits_copy(packed, k * bits, table, (uint64_t)code * bits, bits);
    }
}

void machine_move(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    bool is_fill = command->op == CMD_FILL, is_lookup = command->op == CMD_LUT;
    uint32_t bits = element_bits_of(sim->program, command->dst.buffer);
    uint32_t src_bits = is_lookup ? element_bits_of(sim->program, command->src.buffer) : bits;
    const CmdView *dst_view = view_of(sim, command->dst.view);
    Walk walk = {.operand_count = 2, .lead = DST};
    walk.operand[SRC] = (WalkOperand){is_fill ? dst_view : view_of(sim, command->src.view), src_bits};
    walk.operand[DST] = (WalkOperand){dst_view, bits};
    walk_build(&walk, &command->box, &sim->frame);
    uint8_t *packed = frame_array(&sim->frame, uint8_t, bytes_from_bits(walk.elements * bits));
    if (is_fill) {
        fill_all(packed, walk.elements, bits, command->code);
    } else if (is_lookup) {
        look_up(sim, number, &walk, packed);
    } else {
        read_source(sim, number, &walk, packed);
    }
    Access dst = access_of(sim, number, command->dst.buffer, WRITES_DST);
    Strips strips = walk_strips(&walk, DST, DST, &sim->frame);
    access_scatter(&dst, &strips, (WalkPoint){0, command->dst.offset_bits}, bits, packed);
    access_end(&dst);
    machine_book(sim, number, command->dst.buffer, walk.elements * bits, true);
}

/* ---- The host */

/* Where an index stands in the packed tensor, as a view: each part of an axis is a digit of it. */
static CmdView view_of_order(const CmdOrder *order, uint32_t bits, CmdBox *box) {
    CmdView view = {.level_count = order->rank};
    uint64_t stride_bits = bits;
    *box = (CmdBox){{1, 1, 1, 1, 1, 1}};
    for (uint32_t k = order->rank; k-- > 0;) {
        uint64_t *extent = &box->extent[order->axis[k]];
        uint64_t div = *extent == 0 ? 1 : *extent;
        view.level[k] = (CmdLevel){order->axis[k], div, order->extent[k], stride_bits, 0};
        *extent *= order->extent[k];
        stride_bits *= order->extent[k];
    }
    return view;
}

typedef struct {
    Walk walk;
    Strips strips; /* of the packed tensor, and of the buffer */
    CmdView packed;
} HostWalk;

enum { PACKED, STORED };

static void host_walk(const Sim *sim, uint32_t number, HostWalk *host, Frame *frame) {
    const CmdBuffer *buffer = &sim->program->buffers[number];
    uint32_t bits = dtype_bits(buffer->dtype);
    CmdBox box;
    host->packed = view_of_order(&buffer->order, bits, &box);
    host->walk = (Walk){.operand_count = 2, .lead = STORED};
    host->walk.operand[PACKED] = (WalkOperand){&host->packed, bits};
    host->walk.operand[STORED] = (WalkOperand){view_of(sim, buffer->view), bits};
    walk_build(&host->walk, &box, frame);
    host->strips = walk_strips(&host->walk, PACKED, STORED, frame);
}

static bool has_tensor(const Sim *sim, uint32_t number) {
    return number < sim->program->buffer_count && sim->program->buffers[number].view != CMD_NONE;
}

bool sim_write(Sim *sim, uint32_t number, Span packed) {
    if (!has_tensor(sim, number)) {
        return false;
    }
    const CmdBuffer *buffer = &sim->program->buffers[number];
    uint32_t bits = dtype_bits(buffer->dtype);
    HostWalk host;
    Cursor cursor;
    frame_reset(&sim->frame);
    host_walk(sim, number, &host, &sim->frame);
    if (packed.len != bytes_from_bits(host.walk.elements * bits)) {
        return false;
    }
    Access access = access_of_host(sim, number);
    WalkPoint base[] = {{0, 0}, {0, buffer->view_offset_bits}};
    sim->has_fault = 0;
    for (bool more = cursor_start(&cursor, &host.strips, base); more; more = cursor_next(&cursor)) {
        access_write(&access, cursor.at[STORED], cursor.run * bits, packed.ptr, cursor.at[PACKED].bit);
    }
    return true;
}

static uint64_t read_run(const Access *access, const Cursor *cursor, uint32_t bits, uint8_t *packed) {
    uint64_t unwritten = 0;
    bool is_whole = access_is_written(access, cursor->at[STORED], cursor->run * bits);
    uint64_t step = is_whole ? cursor->run : 1;
    for (uint64_t k = 0; k < cursor->run; k += step) {
        WalkPoint at = {cursor->at[STORED].lane, cursor->at[STORED].bit + k * bits};
        if (!is_whole && !access_is_written(access, at, bits)) {
            unwritten++;
            continue;
        }
        bits_copy(packed, cursor->at[PACKED].bit + k * bits, access->memory->lane[at.lane].data,
                  access->owner->offset_bytes * 8 + at.bit, step * bits);
    }
    return unwritten;
}

Span sim_read(const Sim *sim, uint32_t number, Arena *arena, uint64_t *unwritten) {
    *unwritten = 0;
    if (!has_tensor(sim, number)) {
        return (Span){NULL, 0};
    }
    const CmdBuffer *buffer = &sim->program->buffers[number];
    uint32_t bits = dtype_bits(buffer->dtype);
    HostWalk host;
    Cursor cursor;
    Frame frame;
    frame_init(&frame, arena);
    host_walk(sim, number, &host, &frame);
    size_t bytes = (size_t)bytes_from_bits(host.walk.elements * bits);
    uint8_t *packed = arena_alloc(arena, bytes, 1);
    Access access = access_of_host((Sim *)sim, number);
    WalkPoint base[] = {{0, 0}, {0, buffer->view_offset_bits}};
    for (bool more = cursor_start(&cursor, &host.strips, base); more; more = cursor_next(&cursor)) {
        *unwritten += read_run(&access, &cursor, bits, packed);
    }
    return (Span){packed, bytes};
}
