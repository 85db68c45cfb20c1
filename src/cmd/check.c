/* The invariants of a program: whatever passes may be walked without a further look at its numbers. */
#include "cmd/check.h"

#include "base/checked.h"
#include "cmd/parts.h"

#include <inttypes.h>

enum { MOST_ELEMENT_BITS = 128 };

const char *cmd_fault_of(const CmdCheck *check, const char *what, const char *fault) {
    return fault == NULL ? NULL : arena_text(check->arena, "%s: %s", what, fault);
}

static const char *no_such(const CmdCheck *check, const char *what, uint32_t number, uint32_t count) {
    return arena_text(check->arena, "there is no %s %" PRIu32 ", the program has %" PRIu32, what, number, count);
}

static bool is_name(Str name) {
    return name.len == 0 || name.ptr != NULL;
}

/* ---- Addresses */

static bool multiply_extent(uint64_t extent, uint64_t *product) {
    return checked_mul(*product, extent == 0 ? 1 : extent, product);
}

/* Bits of the widest elements. Extents of 0 count as 1, so that no order of multiplying overflows. */
static bool box_fits(const CmdBox *box) {
    uint64_t bits = MOST_ELEMENT_BITS;
    bool fits = true;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        fits = fits && multiply_extent(box->extent[axis], &bits);
    }
    return fits;
}

static uint64_t largest_digit(const CmdLevel *level, uint64_t extent) {
    uint64_t digit = extent == 0 ? 0 : (extent - 1) / level->div;
    return level->mod != 0 && digit >= level->mod ? level->mod - 1 : digit;
}

static bool add_product(uint64_t a, uint64_t b, uint64_t *sum) {
    uint64_t product;
    return checked_mul(a, b, &product) && checked_add(*sum, product, sum);
}

/* The end of the last element, counted from the start of the memory, and the last lane. Digits of one axis need not be
 * largest at once: this may refuse what would just fit, and never takes what does not. */
static bool addresses_fit(const CmdView *view, uint64_t start_bits, const CmdBox *box) {
    uint64_t bits = start_bits, lane = 0;
    bool fits = true;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        uint64_t digit = largest_digit(level, box->extent[level->axis]);
        fits = fits && add_product(digit, level->stride_bits, &bits) && add_product(digit, level->stride_lanes, &lane);
    }
    return fits;
}

const char *cmd_check_operand(const CmdCheck *check, const CmdOperand *operand, const CmdBox *box,
                              uint32_t element_bits) {
    const CmdProgram *program = check->program;
    if (operand->buffer >= program->buffer_count) {
        return no_such(check, "buffer", operand->buffer, program->buffer_count);
    }
    if (operand->view >= program->view_count) {
        return no_such(check, "view", operand->view, program->view_count);
    }
    const CmdBuffer *buffer = &program->buffers[operand->buffer];
    uint64_t start = buffer->offset_bytes * 8;
    bool fits = checked_add(start, operand->offset_bits, &start) &&
                checked_add(start, element_bits == 0 ? dtype_bits(buffer->dtype) : element_bits, &start);
    return fits && addresses_fit(&program->views[operand->view], start, box) ? NULL : "an address does not fit 64 bits";
}

/* ---- Views and buffers */

static const char *check_view(const CmdView *view) {
    if (view->level_count > CMD_MAX_LEVELS) {
        return "too many levels";
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        if (view->level[k].axis >= CMD_AXES) {
            return "a level is of no axis";
        }
        if (view->level[k].div == 0) {
            return "the div of a level is 0";
        }
    }
    return NULL;
}

/* The whole tensor: what its order makes of each axis. */
static const char *box_of_order(const CmdOrder *order, CmdBox *box) {
    uint64_t bits = MOST_ELEMENT_BITS;
    *box = (CmdBox){{1, 1, 1, 1, 1, 1}};
    if (order->rank > CMD_MAX_RANK) {
        return "the rank of the order is too large";
    }
    for (uint32_t k = 0; k < order->rank; k++) {
        if (order->axis[k] >= CMD_AXES) {
            return "a dimension of the order is of no axis";
        }
        if (!multiply_extent(order->extent[k], &bits)) {
            return "the extents of the order do not fit 64 bits";
        }
        box->extent[order->axis[k]] *= order->extent[k]; /* at most `bits` */
    }
    return NULL;
}

static uint64_t elements_of(const CmdBox *box) {
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        elements *= box->extent[axis]; /* box_of_order */
    }
    return elements;
}

static const char *check_constant(const CmdCheck *check, const CmdBuffer *buffer, uint64_t elements) {
    if (buffer->constant == NULL) {
        return buffer->constant_bytes == 0 ? NULL : "a constant has bytes, but none are given";
    }
    if (buffer->kind != CMD_BUFFER_PARAMETER) {
        return "a constant is no parameter";
    }
    uint64_t bytes = bytes_from_bits(elements * dtype_bits(buffer->dtype));
    return buffer->constant_bytes == bytes
               ? NULL
               : arena_text(check->arena, "a constant has %" PRIu64 " bytes, its order makes %" PRIu64,
                            buffer->constant_bytes, bytes);
}

static const char *check_tensor(const CmdCheck *check, const CmdBuffer *buffer, uint32_t number) {
    CmdBox box;
    if (buffer->view == CMD_NONE) {
        bool is_empty = buffer->order.rank == 0 && buffer->constant == NULL && buffer->constant_bytes == 0 &&
                        buffer->view_offset_bits == 0;
        return is_empty ? NULL : "it has an order, an offset or a constant, but no view";
    }
    const char *fault = box_of_order(&buffer->order, &box);
    if (fault != NULL) {
        return fault;
    }
    CmdOperand whole = {number, buffer->view, buffer->view_offset_bits};
    fault = cmd_check_operand(check, &whole, &box, 0);
    return fault != NULL ? fault : check_constant(check, buffer, elements_of(&box));
}

static const char *check_buffer(const CmdCheck *check, const CmdBuffer *buffer, uint32_t number) {
    uint64_t end_bytes, all_bytes;
    if ((uint32_t)buffer->kind >= CMD_BUFFER_KINDS) {
        return "it is of no kind";
    }
    if (!is_name(buffer->name) || !is_name(buffer->node)) {
        return "a name has a length, but no bytes";
    }
    if (!cmd_is_dtype(buffer->dtype)) {
        return "its elements have no type with bits";
    }
    if (buffer->lanes == 0) {
        return "it lies in no lane";
    }
    if (!checked_add(buffer->offset_bytes, buffer->bytes, &end_bytes) || !checked_mul(end_bytes, 8, &end_bytes) ||
        !checked_mul(buffer->bytes, buffer->lanes, &all_bytes)) {
        return "its bytes do not fit 64 bits";
    }
    return check_tensor(check, buffer, number);
}

/* ---- Commands */

static bool column_fits(CmdOp op, CmdColumn column) {
    switch (op) {
    case CMD_LOAD:
        return column == CMD_COLUMN_LOAD_INPUT || column == CMD_COLUMN_LOAD_PARAM;
    case CMD_STORE:
        return column == CMD_COLUMN_STORE;
    case CMD_COPY:
        return column == CMD_COLUMN_COPY;
    case CMD_FILL:
        return column == CMD_COLUMN_FILL;
    case CMD_MUL:
        return column == CMD_COLUMN_MULTIPLY;
    case CMD_ADD:
        return column == CMD_COLUMN_ADD;
    case CMD_REQUANT:
        return column == CMD_COLUMN_REQUANTIZE;
    case CMD_LUT:
    case CMD_CONV:
    case CMD_MAXPOOL:
    case CMD_AVGPOOL:
    case CMD_SOFTMAX:
    case CMD_SUM:
    case CMD_PAD:
        return column == CMD_COLUMN_COMPUTE;
    default:
        return column == CMD_COLUMN_MULTIPLY || column == CMD_COLUMN_ADD || column == CMD_COLUMN_REQUANTIZE;
    }
}

static const char *check_head(const CmdCheck *check, const Command *command) {
    const CmdProgram *program = check->program;
    if ((uint32_t)command->op >= CMD_OPS) {
        return "it is of no operation";
    }
    if ((uint32_t)command->column >= CMD_COLUMNS || !column_fits(command->op, command->column)) {
        return arena_text(check->arena, "%s has not this column", cmd_op_name(command->op));
    }
    if (command->queue >= program->queue_count) {
        return no_such(check, "queue", command->queue, program->queue_count);
    }
    if (cmd_is_move(command->op) != (command->queue > 0)) {
        return cmd_is_move(command->op) ? "the engine moves nothing: LOAD and STORE are on queues from 1"
                                        : "the DMA only moves: this operation is on queue 0";
    }
    return command->node < program->node_count ? NULL : no_such(check, "node", command->node, program->node_count);
}

static const char *check_waits(const CmdCheck *check, const Command *command, uint32_t number) {
    if (command->wait_count > CMD_MAX_WAITS) {
        return "too many waits";
    }
    if (command->wait_count > 0 && command->waits == NULL) {
        return "waits are counted, but none are given";
    }
    for (uint32_t k = 0; k < command->wait_count; k++) {
        if (command->waits[k] >= number) {
            return arena_text(check->arena, "it waits for command %" PRIu32 ", which is not before it",
                              command->waits[k]);
        }
    }
    return NULL;
}

static const char *check_operands(const CmdCheck *check, const Command *command) {
    const char *fault = NULL;
    if (!box_fits(&command->box)) {
        return "the extents of its box do not fit 64 bits";
    }
    if (cmd_has_src(command->op) && !cmd_has_window(command->op)) {
        fault = cmd_fault_of(check, "src", cmd_check_operand(check, &command->src, &command->box, 0));
    } else if (command->op == CMD_FILL && command->src.buffer != CMD_NONE) {
        fault = "FILL has a src";
    }
    return fault != NULL ? fault
                         : cmd_fault_of(check, "dst", cmd_check_operand(check, &command->dst, &command->box, 0));
}

/* The table has a place for whatever bits a code of src has. */
static const char *check_table(const CmdCheck *check, const Command *command) {
    const CmdBuffer *buffers = check->program->buffers;
    uint32_t bits = dtype_bits(buffers[command->src.buffer].dtype);
    if (bits > CMD_MOST_TABLE_BITS) {
        return "src: its elements are no codes of at most 8 bits";
    }
    CmdBox box = {{1, cmd_table_extent(bits), 1, 1, 1, 1}};
    const char *fault = cmd_fault_of(check, "table", cmd_check_operand(check, &command->table, &box, 0));
    bool is_same = fault != NULL || buffers[command->table.buffer].dtype == buffers[command->dst.buffer].dtype;
    return is_same ? fault : "table: its elements have another type than those of dst";
}

/* Of commands that have no stages. */
static const char *check_move(const CmdCheck *check, const Command *command) {
    const CmdBuffer *buffers = check->program->buffers;
    uint32_t dst_bits = dtype_bits(buffers[command->dst.buffer].dtype);
    if (command->stage_count > 0) {
        return arena_text(check->arena, "%s has stages", cmd_op_name(command->op));
    }
    if (command->op == CMD_LUT) {
        return check_table(check, command);
    }
    if (command->op == CMD_FILL) {
        return dst_bits >= 64 || command->code >> dst_bits == 0 ? NULL : "the code has more bits than an element";
    }
    return dtype_bits(buffers[command->src.buffer].dtype) == dst_bits
               ? NULL
               : "the elements of src and dst have not the same bits";
}

static const char *check_command(const CmdCheck *check, const Command *command, uint32_t number) {
    const char *fault = check_head(check, command);
    fault = fault != NULL ? fault : check_waits(check, command, number);
    fault = fault != NULL ? fault : check_operands(check, command);
    if (fault != NULL) {
        return fault;
    }
    return cmd_has_window(command->op)   ? cmd_check_window(check, command)
           : cmd_has_stages(command->op) ? cmd_check_stages(check, command)
                                         : check_move(check, command);
}

/* ---- Programs */

static const char *check_program(const CmdProgram *program) {
    if (program->queue_count == 0 || program->queue_count > CMD_MAX_QUEUES) {
        return "the number of queues is 0 or too large";
    }
    if (!is_name(program->device) || !is_name(program->model)) {
        return "a name has a length, but no bytes";
    }
    bool has_all = (program->node_count == 0 || program->nodes != NULL) &&
                   (program->view_count == 0 || program->views != NULL) &&
                   (program->buffer_count == 0 || program->buffers != NULL) &&
                   (program->command_count == 0 || program->commands != NULL);
    if (!has_all) {
        return "a table has a number of rows, but none are given";
    }
    for (uint32_t k = 0; k < program->node_count; k++) {
        if (!is_name(program->nodes[k])) {
            return "a name has a length, but no bytes";
        }
    }
    return NULL;
}

static const char *numbered(Arena *arena, const char *what, uint32_t number, const char *fault) {
    return arena_text(arena, "%s %" PRIu32 ": %s", what, number, fault);
}

static const char *check_storage(const CmdCheck *check) {
    const CmdProgram *program = check->program;
    for (uint32_t k = 0; k < program->view_count; k++) {
        const char *fault = check_view(&program->views[k]);
        if (fault != NULL) {
            return numbered(check->arena, "view", k, fault);
        }
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        const char *fault = check_buffer(check, &program->buffers[k], k);
        if (fault != NULL) {
            return numbered(check->arena, "buffer", k, fault);
        }
    }
    return NULL;
}

const char *cmd_check(const CmdProgram *program, Arena *scratch) {
    CmdCheck check = {program, scratch};
    const char *fault = check_program(program);
    fault = fault != NULL ? fault : check_storage(&check);
    for (uint32_t k = 0; fault == NULL && k < program->command_count; k++) {
        fault = check_command(&check, &program->commands[k], k);
        fault = fault == NULL ? NULL : numbered(scratch, "command", k, fault);
    }
    return fault;
}
