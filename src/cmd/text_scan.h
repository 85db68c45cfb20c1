/* Reading a line of the text form: marks, words, numbers, and faults that point at a column. For text_*.c only.
 *
 * Every take_… skips blanks first, tells what is missing and returns false; every accept_… leaves the line as it was
 * where the thing is not there. `;` ends a line. */
#ifndef S0_CMD_TEXT_SCAN_H
#define S0_CMD_TEXT_SCAN_H

#include "base/work.h"
#include "cmd/command.h"

typedef struct {
    Work *work;
    const char *place;
    Str line; /* without its end */
    size_t line_number;
    size_t at;
} CmdScan;

/* A diagnostic at byte `at` of the line. False. */
bool cmd_scan_fault(const CmdScan *scan, size_t at, const char *what, const char *expected);

bool cmd_scan_too_many(const CmdScan *scan, size_t at, const char *what, uint32_t most);

void cmd_scan_blanks(CmdScan *scan);
bool cmd_scan_is_end(CmdScan *scan);

bool cmd_accept_mark(CmdScan *scan, const char *mark);
bool cmd_accept_here(CmdScan *scan, const char *mark); /* without blanks before it */
bool cmd_accept_word(CmdScan *scan, const char *word);

/* Does this word, or the end of the line, stand here? Nothing is taken. */
bool cmd_scan_is_word(CmdScan *scan, const char *word);

bool cmd_take_mark(CmdScan *scan, const char *mark);
bool cmd_take_here(CmdScan *scan, const char *mark);
bool cmd_take_word(CmdScan *scan, const char *word);

/* Decimal or 0x…, at most `most`. */
bool cmd_take_number(CmdScan *scan, uint64_t most, uint64_t *number);
bool cmd_take_u32(CmdScan *scan, uint32_t *number);
bool cmd_take_i32(CmdScan *scan, uint32_t *bits);
bool cmd_take_i64(CmdScan *scan, uint64_t *bits);
bool cmd_take_float(CmdScan *scan, uint32_t *bits);

bool cmd_take_quoted(CmdScan *scan, Str *text); /* a copy */
bool cmd_take_hex(CmdScan *scan, Span *bytes);  /* up to the next blank; may be none */

/* A word that is one of `count` names: its number. `what` is what it is: "an operation". */
bool cmd_take_name(CmdScan *scan, const char *what, const char *(*name)(uint32_t), uint32_t count, uint32_t *number);
bool cmd_take_dtype(CmdScan *scan, DType *dtype);

/* c16: a letter of an axis and its number; false without a fault where none begins here. */
bool cmd_scan_is_axis(CmdScan *scan);
bool cmd_take_axis(CmdScan *scan, uint8_t *axis);

bool cmd_take_operand(CmdScan *scan, CmdOperand *operand); /* b1.v2+30 */

#endif
