/* What a command is written against, and the sum at the end. */
#include "cmd/wire.h"

#include "cmd/parts.h"

WireLast cmd_wire_start(void) {
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    WireLast last = {0};
    for (uint32_t op = 0; op < CMD_OPS; op++) {
        last.command[op] = (Command){
            .op = (CmdOp)op, .src = none, .dst = none, .table = none, .scratch = none, .weights = none, .bias = none};
        for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
            last.command[op].box.extent[axis] = 1;
        }
    }
    return last;
}

CmdWindow cmd_wire_window(const Command *last) {
    return last->window == NULL ? cmd_usual_window() : *last->window;
}

CmdStage cmd_wire_stage(const Command *last, uint32_t k) {
    return k < last->stage_count ? last->stages[k] : (CmdStage){0};
}

CmdParam cmd_wire_param(const CmdStage *last, uint32_t k) {
    return k < last->param_count ? last->param[k] : (CmdParam){0};
}

uint32_t cmd_crc32(const uint8_t *bytes, size_t count) {
    static const uint32_t of_digit[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                          0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                          0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t sum = UINT32_MAX;
    for (size_t k = 0; k < count; k++) {
        sum ^= bytes[k];
        sum = sum >> 4 ^ of_digit[sum & 15];
        sum = sum >> 4 ^ of_digit[sum & 15];
    }
    return ~sum;
}
