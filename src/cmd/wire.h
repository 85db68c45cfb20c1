/* What encode.c and decode.c agree on: the layout of docs/commands.md.
 *
 * A command is written as what differs from the one before it of the same operation; the tiles of a map then differ in
 * two offsets. Numbers that name things or places are written as differences, of either sign. */
#ifndef S0_CMD_WIRE_H
#define S0_CMD_WIRE_H

#include "cmd/command.h"

#define CMD_MAGIC "S0CM"

enum { CMD_MAGIC_BYTES = 4, CMD_HEAD_BYTES = 8, CMD_SUM_BYTES = 4 };

/* The groups of a command, in the order in which those that differ follow its operation and the set of their bits. */
enum {
    WIRE_SRC = 1 << 0,
    WIRE_DST = 1 << 1,
    WIRE_WAITS = 1 << 2,
    WIRE_BOX = 1 << 3,
    WIRE_STAGES = 1 << 4,
    WIRE_NODE = 1 << 5,
    WIRE_PLACE = 1 << 6, /* column and queue */
    WIRE_CODE = 1 << 7,
    WIRE_COMPUTE = 1 << 8, /* semantics and carry */
    WIRE_SCRATCH = 1 << 9,
    WIRE_WINDOW = 1 << 10,
    WIRE_WEIGHTS = 1 << 11,
    WIRE_BIAS = 1 << 12,
    WIRE_TABLE = 1 << 13,
    WIRE_ALL = (1 << 14) - 1
};

/* The last command of each operation, and its number. */
typedef struct {
    Command command[CMD_OPS];
    uint32_t number[CMD_OPS];
} WireLast;

/* Before the first of an operation: no operands, extents of 1. */
WireLast cmd_wire_start(void);

/* The window of the last one; what is usual where it had none. */
CmdWindow cmd_wire_window(const Command *last);

/* What stood in the place of stage `k`, or of parameter `k` of a stage; zero where nothing did. */
CmdStage cmd_wire_stage(const Command *last, uint32_t k);
CmdParam cmd_wire_param(const CmdStage *last, uint32_t k);

/* The CRC-32 of Ethernet, zip and PNG: reflected polynomial 0xEDB88320 (ISO/IEC 8802-3). */
uint32_t cmd_crc32(const uint8_t *bytes, size_t count);

#endif
