/* The binary form of a program: what `stride0 run --trace` and other tools hand on.
 *
 *     8 bytes magic and version, body, 4 bytes CRC-32 of all before
 * Little-endian; numbers of variable length (seven bits a byte, low first); the body's layout is docs/commands.md.
 * What is read is untrusted: a program that is handed out passes cmd_check. */
#ifndef S0_CMD_CODE_H
#define S0_CMD_CODE_H

#include "base/work.h"
#include "cmd/command.h"

/* Of a program that cmd_check accepts; in `arena`. */
Span cmd_encode(const CmdProgram *program, Arena *arena);

/* Null with a diagnostic that names the byte: no program, another version, a wrong checksum, a truncated or impossible
 * body. Names and constants are spans into `bytes`, which must live as long. `place` is for messages. */
const CmdProgram *cmd_decode(Span bytes, const char *place, Work *work);

#endif
