/* Reading a line of the text form. */
#include "cmd/text_scan.h"

#include "cmd/parts.h"
#include "cmd/text_float.h"

#include <inttypes.h>
#include <string.h>

enum { LONGEST_SHOWN = 32 };

static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

static bool is_word_byte(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
           c == '-' || c == '+' || c == ':';
}

bool cmd_scan_fault(const CmdScan *scan, size_t at, const char *what, const char *expected) {
    Arena *arena = scan->work->diags.arena;
    Str line = scan->line;
    size_t end = at < line.len ? at + 1 : line.len;
    while (end < line.len && end - at < LONGEST_SHOWN && !is_blank(line.ptr[end])) {
        end++;
    }
    const char *got = at < line.len ? arena_str(arena, (Str){line.ptr + at, end - at}).ptr : "the end of the line";
    return diag_error(&scan->work->diags, (DiagText){.place = arena_text(arena, "%s: line %zu column %zu", scan->place,
                                                                         scan->line_number, at + 1),
                                                     .what = what,
                                                     .got = got,
                                                     .expected = expected});
}

bool cmd_scan_too_many(const CmdScan *scan, size_t at, const char *what, uint32_t most) {
    return cmd_scan_fault(scan, at, what, arena_text(scan->work->diags.arena, "at most %" PRIu32, most));
}

/* ---- Marks and words */

void cmd_scan_blanks(CmdScan *scan) {
    while (scan->at < scan->line.len && is_blank(scan->line.ptr[scan->at])) {
        scan->at++;
    }
}

bool cmd_scan_is_end(CmdScan *scan) {
    cmd_scan_blanks(scan);
    return scan->at == scan->line.len || scan->line.ptr[scan->at] == ';';
}

bool cmd_accept_here(CmdScan *scan, const char *mark) {
    size_t length = strlen(mark);
    if (scan->line.len - scan->at < length || memcmp(scan->line.ptr + scan->at, mark, length) != 0) {
        return false;
    }
    scan->at += length;
    return true;
}

bool cmd_accept_mark(CmdScan *scan, const char *mark) {
    cmd_scan_blanks(scan);
    return cmd_accept_here(scan, mark);
}

/* The word that begins here; empty where none does. */
static Str word_here(const CmdScan *scan) {
    size_t end = scan->at;
    while (end < scan->line.len && is_word_byte(scan->line.ptr[end])) {
        end++;
    }
    return (Str){scan->line.ptr + scan->at, end - scan->at};
}

bool cmd_accept_word(CmdScan *scan, const char *word) {
    cmd_scan_blanks(scan);
    Str here = word_here(scan);
    bool is_there = str_eq(here, str_from(word));
    scan->at += is_there ? here.len : 0;
    return is_there;
}

bool cmd_scan_is_word(CmdScan *scan, const char *word) {
    return cmd_scan_is_end(scan) || str_eq(word_here(scan), str_from(word));
}

static bool missing(const CmdScan *scan, const char *expected) {
    return cmd_scan_fault(scan, scan->at, "something else is expected", expected);
}

bool cmd_take_here(CmdScan *scan, const char *mark) {
    return cmd_accept_here(scan, mark) || missing(scan, mark);
}

bool cmd_take_mark(CmdScan *scan, const char *mark) {
    return cmd_accept_mark(scan, mark) || missing(scan, mark);
}

bool cmd_take_word(CmdScan *scan, const char *word) {
    return cmd_accept_word(scan, word) || missing(scan, word);
}

/* ---- Numbers */

static int hex_digit(char c) {
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char peek(const CmdScan *scan) {
    return scan->at < scan->line.len ? scan->line.ptr[scan->at] : '\0';
}

static bool digits_to_u64(CmdScan *scan, uint32_t base, uint64_t *number) {
    size_t begin = scan->at;
    bool fits = true;
    *number = 0;
    for (int digit = hex_digit(peek(scan)); digit >= 0 && (uint32_t)digit < base; digit = hex_digit(peek(scan))) {
        fits = fits && *number <= (UINT64_MAX - (uint32_t)digit) / base;
        *number = fits ? *number * base + (uint32_t)digit : 0;
        scan->at++;
    }
    return fits && scan->at > begin;
}

bool cmd_take_number(CmdScan *scan, uint64_t most, uint64_t *number) {
    cmd_scan_blanks(scan);
    size_t begin = scan->at;
    bool is_number = digits_to_u64(scan, cmd_accept_here(scan, "0x") ? 16 : 10, number);
    return (is_number && *number <= most) ||
           cmd_scan_fault(scan, begin, "no number that may stand here",
                          arena_text(scan->work->diags.arena, "a number of at most %" PRIu64, most));
}

bool cmd_take_u32(CmdScan *scan, uint32_t *number) {
    uint64_t wide = 0;
    bool is_number = cmd_take_number(scan, UINT32_MAX, &wide);
    *number = (uint32_t)wide;
    return is_number;
}

bool cmd_take_i32(CmdScan *scan, uint32_t *bits) {
    cmd_scan_blanks(scan);
    int64_t number = 0;
    Str word = word_here(scan);
    if (!str_to_i64(word, &number) || number < INT32_MIN || number > INT32_MAX) {
        return cmd_scan_fault(scan, scan->at, "no whole number of 32 bits", "-2147483648 to 2147483647");
    }
    scan->at += word.len;
    *bits = (uint32_t)(int32_t)number;
    return true;
}

bool cmd_take_i64(CmdScan *scan, uint64_t *bits) {
    cmd_scan_blanks(scan);
    int64_t number = 0;
    Str word = word_here(scan);
    if (!str_to_i64(word, &number)) {
        return cmd_scan_fault(scan, scan->at, "no whole number of 64 bits", "a sign, then digits");
    }
    scan->at += word.len;
    memcpy(bits, &number, sizeof number);
    return true;
}

bool cmd_take_float(CmdScan *scan, uint32_t *bits) {
    cmd_scan_blanks(scan);
    Str word = word_here(scan);
    if (!cmd_float_parse(word, bits)) {
        return cmd_scan_fault(scan, scan->at, "no float", "0x1.8p+1, 0x0.8p-126, 0, -0, inf, -inf or nan:7fc00000");
    }
    scan->at += word.len;
    return true;
}

/* ---- Bytes */

static bool take_hex_byte(CmdScan *scan, uint8_t *byte) {
    int high = hex_digit(peek(scan));
    int low = scan->at + 1 < scan->line.len ? hex_digit(scan->line.ptr[scan->at + 1]) : -1;
    if (high < 0 || low < 0) {
        return cmd_scan_fault(scan, scan->at, "no byte", "two hexadecimal digits");
    }
    *byte = (uint8_t)(high * 16 + low);
    scan->at += 2;
    return true;
}

static bool take_escape(CmdScan *scan, uint8_t *byte) {
    if (cmd_accept_here(scan, "x")) {
        return take_hex_byte(scan, byte);
    }
    char c = peek(scan);
    if (c != '"' && c != '\\') {
        return cmd_scan_fault(scan, scan->at, "no such escape", "\\\" \\\\ or \\x and two hexadecimal digits");
    }
    *byte = (uint8_t)c;
    scan->at++;
    return true;
}

/* Bytes up to the quote that ends the name, or the line. */
static size_t quoted_bytes(const CmdScan *scan) {
    Str line = scan->line;
    size_t at = scan->at;
    while (at < line.len && line.ptr[at] != '"') {
        at += line.ptr[at] == '\\' && at + 1 < line.len ? 2 : 1;
    }
    return at - scan->at;
}

bool cmd_take_quoted(CmdScan *scan, Str *text) {
    if (!cmd_take_mark(scan, "\"")) {
        return false;
    }
    size_t end = scan->at + quoted_bytes(scan);
    uint8_t *bytes = arena_alloc(&scan->work->keep, end - scan->at + 1, 1);
    *text = (Str){(const char *)bytes, 0};
    while (scan->at < end) {
        uint8_t byte = (uint8_t)scan->line.ptr[scan->at++];
        if (byte == '\\' && !take_escape(scan, &byte)) {
            return false;
        }
        bytes[text->len++] = byte;
    }
    return cmd_accept_here(scan, "\"") || cmd_scan_fault(scan, end, "a name does not end on its line", "\"");
}

bool cmd_take_hex(CmdScan *scan, Span *bytes) {
    cmd_scan_blanks(scan);
    size_t count = word_here(scan).len / 2;
    uint8_t *copy = arena_alloc(&scan->work->keep, count + 1, 1);
    *bytes = (Span){copy, count};
    for (size_t k = 0; k < count; k++) {
        if (!take_hex_byte(scan, &copy[k])) {
            return false;
        }
    }
    return true;
}

/* ---- Names */

bool cmd_take_name(CmdScan *scan, const char *what, const char *(*name)(uint32_t), uint32_t count, uint32_t *number) {
    cmd_scan_blanks(scan);
    Str word = word_here(scan);
    for (*number = 0; *number < count; ++*number) {
        if (str_eq(word, str_from(name(*number)))) {
            scan->at += word.len;
            return true;
        }
    }
    Arena *arena = scan->work->diags.arena;
    const char *all = name(0);
    for (uint32_t k = 1; k < count; k++) {
        all = arena_text(arena, "%s %s", all, name(k));
    }
    return cmd_scan_fault(scan, scan->at, what, all);
}

bool cmd_take_dtype(CmdScan *scan, DType *dtype) {
    cmd_scan_blanks(scan);
    Str word = word_here(scan);
    *dtype = dtype_find(word);
    if (dtype_bits(*dtype) == 0) {
        return cmd_scan_fault(scan, scan->at, "no type of elements", "int8, float32 or another that has bits");
    }
    scan->at += word.len;
    return true;
}

static uint32_t axis_here(const CmdScan *scan) {
    uint32_t axis = 0;
    while (axis < CMD_AXES && peek(scan) != cmd_axis_letter(axis)) {
        axis++;
    }
    return axis;
}

bool cmd_scan_is_axis(CmdScan *scan) {
    cmd_scan_blanks(scan);
    char next = scan->at + 1 < scan->line.len ? scan->line.ptr[scan->at + 1] : '\0';
    return axis_here(scan) < CMD_AXES && next >= '0' && next <= '9';
}

bool cmd_take_axis(CmdScan *scan, uint8_t *axis) {
    cmd_scan_blanks(scan);
    *axis = (uint8_t)axis_here(scan);
    if (*axis == CMD_AXES) {
        return cmd_scan_fault(scan, scan->at, "no axis", "n, c, h, w, o or i");
    }
    scan->at++;
    return true;
}

bool cmd_take_operand(CmdScan *scan, CmdOperand *operand) {
    return cmd_take_mark(scan, "b") && cmd_take_u32(scan, &operand->buffer) && cmd_take_here(scan, ".v") &&
           cmd_take_u32(scan, &operand->view) && cmd_take_here(scan, "+") &&
           cmd_take_number(scan, UINT64_MAX, &operand->offset_bits);
}
