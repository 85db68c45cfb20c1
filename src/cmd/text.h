/* The text form of a program: one line a view, a buffer and a command, for people and tests.
 *
 * cmd_parse of what cmd_print wrote gives the same program, bit for bit: floats are written exactly. */
#ifndef S0_CMD_TEXT_H
#define S0_CMD_TEXT_H

#include "base/work.h"
#include "cmd/command.h"

#include <stdio.h>

void cmd_print(const CmdProgram *program, FILE *out);

/* Null with a diagnostic that names line and column. A program that is handed out passes cmd_check. */
const CmdProgram *cmd_parse(Str text, const char *place, Work *work);

#endif
