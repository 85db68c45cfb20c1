/* The text form, read: a statement a line, the first fault ends it. */
#include "cmd/text_parse.h"

#include "cmd/parts.h"
#include "cmd/text.h"

#include <inttypes.h>

typedef struct {
    CmdScan scan;
    CmdProgram program;
    Str *nodes;
    CmdView *views;
    CmdBuffer *buffers;
    Command *commands;
    size_t node_room, view_room, buffer_room, command_room;
} Parser;

/* Rows are numbered in order; room for one more. */
static bool take_row(Parser *p, void **rows, uint32_t count, size_t *room, size_t bytes) {
    CmdScan *scan = &p->scan;
    uint32_t number;
    cmd_scan_blanks(scan);
    size_t begin = scan->at;
    if (!cmd_take_u32(scan, &number)) {
        return false;
    }
    if (number != count || number == CMD_NONE) {
        return cmd_scan_fault(scan, begin, "rows are numbered in order",
                              arena_text(scan->work->diags.arena, "%" PRIu32, count));
    }
    *rows = arena_grow(&scan->work->keep, *rows, count, room, bytes);
    return true;
}

/* ---- Views */

static bool take_level(CmdScan *scan, CmdLevel *level) {
    *level = (CmdLevel){.div = 1};
    return cmd_take_axis(scan, &level->axis) &&
           (!cmd_accept_here(scan, "/") || cmd_take_number(scan, UINT64_MAX, &level->div)) &&
           (!cmd_accept_here(scan, "%") || cmd_take_number(scan, UINT64_MAX, &level->mod)) &&
           (!cmd_accept_here(scan, "*") || cmd_take_number(scan, UINT64_MAX, &level->stride_bits)) &&
           (!cmd_accept_here(scan, "#") || cmd_take_number(scan, UINT64_MAX, &level->stride_lanes));
}

static bool read_view(Parser *p) {
    CmdScan *scan = &p->scan;
    void *rows = p->views;
    if (!cmd_take_mark(scan, "v") || !take_row(p, &rows, p->program.view_count, &p->view_room, sizeof(CmdView))) {
        return false;
    }
    p->views = rows;
    CmdView *view = &p->views[p->program.view_count++];
    *view = (CmdView){0};
    while (!cmd_scan_is_end(scan)) {
        if (view->level_count == CMD_MAX_LEVELS) {
            return cmd_scan_too_many(scan, scan->at, "too many levels", CMD_MAX_LEVELS);
        }
        if (!take_level(scan, &view->level[view->level_count++])) {
            return false;
        }
    }
    return true;
}

/* ---- Buffers */

static bool take_order(CmdScan *scan, CmdOrder *order) {
    while (cmd_scan_is_axis(scan)) {
        if (order->rank == CMD_MAX_RANK) {
            return cmd_scan_too_many(scan, scan->at, "too many dimensions", CMD_MAX_RANK);
        }
        uint32_t k = order->rank++;
        if (!cmd_take_axis(scan, &order->axis[k]) || !cmd_take_number(scan, UINT64_MAX, &order->extent[k])) {
            return false;
        }
    }
    return true;
}

/* view vN+OFFSET order … [constant HEX] */
static bool take_tensor(CmdScan *scan, CmdBuffer *buffer) {
    Span constant;
    buffer->view = CMD_NONE;
    if (!cmd_accept_word(scan, "view")) {
        return true;
    }
    if (!cmd_take_mark(scan, "v") || !cmd_take_u32(scan, &buffer->view) || !cmd_take_here(scan, "+") ||
        !cmd_take_number(scan, UINT64_MAX, &buffer->view_offset_bits) || !cmd_take_word(scan, "order") ||
        !take_order(scan, &buffer->order)) {
        return false;
    }
    if (!cmd_accept_word(scan, "constant")) {
        return true;
    }
    if (!cmd_take_hex(scan, &constant)) {
        return false;
    }
    buffer->constant = constant.ptr;
    buffer->constant_bytes = constant.len;
    return true;
}

static const char *kind_name(uint32_t kind) {
    return cmd_kind_name((CmdBufferKind)kind);
}

static bool take_buffer(CmdScan *scan, CmdBuffer *buffer) {
    uint32_t kind;
    *buffer = (CmdBuffer){.lanes = 1};
    if (!cmd_take_name(scan, "no kind of buffer", kind_name, CMD_BUFFER_KINDS, &kind)) {
        return false;
    }
    buffer->kind = (CmdBufferKind)kind;
    return cmd_take_dtype(scan, &buffer->dtype) && cmd_take_quoted(scan, &buffer->name) &&
           (!cmd_accept_word(scan, "node") || cmd_take_quoted(scan, &buffer->node)) && cmd_take_word(scan, "memory") &&
           cmd_take_u32(scan, &buffer->memory) && cmd_take_word(scan, "at") &&
           cmd_take_number(scan, UINT64_MAX, &buffer->offset_bytes) && cmd_take_word(scan, "bytes") &&
           cmd_take_number(scan, UINT64_MAX, &buffer->bytes) &&
           (!cmd_accept_word(scan, "lanes") || cmd_take_number(scan, UINT64_MAX, &buffer->lanes)) &&
           cmd_take_word(scan, "data") && cmd_take_u32(scan, &buffer->data) && cmd_take_word(scan, "touched") &&
           cmd_take_number(scan, UINT64_MAX, &buffer->estimated_bytes) && take_tensor(scan, buffer);
}

static bool read_buffer(Parser *p) {
    void *rows = p->buffers;
    if (!cmd_take_mark(&p->scan, "b") ||
        !take_row(p, &rows, p->program.buffer_count, &p->buffer_room, sizeof(CmdBuffer))) {
        return false;
    }
    p->buffers = rows;
    return take_buffer(&p->scan, &p->buffers[p->program.buffer_count++]);
}

/* ---- The rest */

static bool read_node(Parser *p) {
    void *rows = p->nodes;
    if (!take_row(p, &rows, p->program.node_count, &p->node_room, sizeof(Str))) {
        return false;
    }
    p->nodes = rows;
    return cmd_take_quoted(&p->scan, &p->nodes[p->program.node_count++]);
}

static bool read_command(Parser *p) {
    void *rows = p->commands;
    if (!take_row(p, &rows, p->program.command_count, &p->command_room, sizeof(Command))) {
        return false;
    }
    p->commands = rows;
    return cmd_take_command(&p->scan, &p->commands[p->program.command_count++]);
}

static bool read_device(Parser *p) {
    return cmd_take_quoted(&p->scan, &p->program.device);
}

static bool read_model(Parser *p) {
    return cmd_take_quoted(&p->scan, &p->program.model);
}

static bool read_queues(Parser *p) {
    return cmd_take_u32(&p->scan, &p->program.queue_count);
}

static bool read_cycles(Parser *p) {
    return cmd_take_number(&p->scan, UINT64_MAX, &p->program.booked_cycles);
}

static bool read_statement(Parser *p) {
    static const struct {
        const char *word;
        bool (*read)(Parser *p);
    } statements[] = {{"node", read_node},   {"view", read_view},     {"buffer", read_buffer}, {"device", read_device},
                      {"model", read_model}, {"queues", read_queues}, {"cycles", read_cycles}};
    if (cmd_accept_mark(&p->scan, "@")) {
        return read_command(p);
    }
    for (size_t k = 0; k < sizeof statements / sizeof statements[0]; k++) {
        if (cmd_accept_word(&p->scan, statements[k].word)) {
            return statements[k].read(p);
        }
    }
    return cmd_scan_fault(&p->scan, p->scan.at, "no statement",
                          "device, model, queues, cycles, node, view, buffer or @ and a number");
}

static bool read_head(Parser *p) {
    if (!cmd_accept_word(&p->scan, "stride0-commands")) {
        return cmd_scan_fault(&p->scan, 0, "no program of commands", "stride0-commands 2");
    }
    cmd_scan_blanks(&p->scan);
    size_t begin = p->scan.at;
    uint32_t version;
    return cmd_take_u32(&p->scan, &version) &&
           (version == CMD_VERSION || cmd_scan_fault(&p->scan, begin, "a program of another version", "2"));
}

static bool read_line(Parser *p, Str line) {
    CmdScan *scan = &p->scan;
    scan->line = line;
    scan->at = 0;
    scan->line_number++;
    if (scan->line_number > 1 && cmd_scan_is_end(scan)) {
        return true;
    }
    if (!(scan->line_number == 1 ? read_head(p) : read_statement(p))) {
        return false;
    }
    return cmd_scan_is_end(scan) ||
           cmd_scan_fault(scan, scan->at, "the statement does not end here", "the end of the line");
}

const CmdProgram *cmd_parse(Str text, const char *place, Work *work) {
    Parser p = {.scan = {.work = work, .place = place}};
    Str rest = {text.ptr != NULL ? text.ptr : "", text.len};
    do {
        if (!read_line(&p, str_cut(&rest, '\n'))) {
            return NULL;
        }
    } while (rest.ptr != NULL);
    CmdProgram *program = arena_new(&work->keep, CmdProgram);
    *program = p.program;
    program->nodes = p.nodes;
    program->views = p.views;
    program->buffers = p.buffers;
    program->commands = p.commands;
    const char *fault = cmd_check(program, work->diags.arena);
    if (fault != NULL) {
        diag_error(&work->diags, (DiagText){.place = place, .what = fault});
        return NULL;
    }
    return program;
}
