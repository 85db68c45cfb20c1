/* What text_parse.c hands its commands to. */
#ifndef S0_CMD_TEXT_PARSE_H
#define S0_CMD_TEXT_PARSE_H

#include "cmd/text_scan.h"

/* The rest of a line `@NUMBER`. */
bool cmd_take_command(CmdScan *scan, Command *command);

#endif
