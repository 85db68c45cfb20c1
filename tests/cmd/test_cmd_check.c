/* Proves that cmd_check accepts a program that has each operation, and random ones, and that it refuses each with one
 * number changed, naming the view, buffer or command. */
#include "support/work.h"

#include "cmd/programs.h"

typedef struct {
    size_t offset, bytes; /* of what is changed, in SmallProgram */
    uint64_t value;
    const char *told;
} Change;

#define SET(member, to, clause)                                                                                        \
    { offsetof(SmallProgram, member), sizeof(((SmallProgram *)NULL)->member), (to), (clause) }
#define NEAR 1 /* an int8 buffer */

static const Change changes[] = {
    /* the program */
    SET(program.queue_count, 0, "the number of queues is 0 or too large"),
    SET(program.queue_count, CMD_MAX_QUEUES + 1, "the number of queues is 0 or too large"),
    SET(program.queue_count, 1, "command 0: there is no queue 1, the program has 1"),
    SET(program.node_count, 0, "command 0: there is no node 0, the program has 0"),
    SET(program.nodes, 0, "a table has a number of rows, but none are given"),
    SET(program.device.ptr, 0, "a name has a length, but no bytes"),
    SET(node[0].ptr, 0, "a name has a length, but no bytes"),
    /* views */
    SET(view[1].level_count, CMD_MAX_LEVELS + 1, "view 1: too many levels"),
    SET(view[0].level[1].axis, CMD_AXES, "view 0: a level is of no axis"),
    SET(view[2].level[0].div, 0, "view 2: the div of a level is 0"),
    /* buffers */
    SET(buffer[0].kind, CMD_BUFFER_KINDS, "buffer 0: it is of no kind"),
    SET(buffer[2].name.ptr, 0, "buffer 2: a name has a length, but no bytes"),
    SET(buffer[1].dtype, DTYPE_NONE, "buffer 1: its elements have no type with bits"),
    SET(buffer[1].dtype, DTYPE_STRING, "buffer 1: its elements have no type with bits"),
    SET(buffer[1].dtype, DTYPE_COUNT, "buffer 1: its elements have no type with bits"),
    SET(buffer[1].dtype, UINT32_MAX, "buffer 1: its elements have no type with bits"),
    SET(buffer[2].lanes, 0, "buffer 2: it lies in no lane"),
    SET(buffer[2].lanes, UINT64_MAX / 4, "buffer 2: its bytes do not fit 64 bits"),
    SET(buffer[2].bytes, UINT64_MAX, "buffer 2: its bytes do not fit 64 bits"),
    SET(buffer[2].offset_bytes, UINT64_MAX / 8 - 15, "buffer 2: its bytes do not fit 64 bits"),
    SET(buffer[0].view, SMALL_VIEWS, "buffer 0: there is no view 4, the program has 4"),
    SET(buffer[0].view, CMD_NONE, "buffer 0: it has an order, an offset or a constant, but no view"),
    SET(buffer[1].view_offset_bits, 1, "buffer 1: it has an order, an offset or a constant, but no view"),
    SET(buffer[0].view_offset_bits, UINT64_MAX - 86, "buffer 0: an address does not fit 64 bits"),
    SET(buffer[0].order.rank, CMD_MAX_RANK + 1, "buffer 0: the rank of the order is too large"),
    SET(buffer[0].order.axis[2], CMD_AXES, "buffer 0: a dimension of the order is of no axis"),
    SET(buffer[0].order.extent[2], UINT64_MAX / 2, "buffer 0: the extents of the order do not fit 64 bits"),
    SET(buffer[3].order.extent[0], 3, "buffer 3: a constant has 16 bytes, its order makes 12"),
    SET(buffer[3].constant_bytes, 15, "buffer 3: a constant has 15 bytes, its order makes 16"),
    SET(buffer[3].constant, 0, "buffer 3: a constant has bytes, but none are given"),
    SET(buffer[3].kind, CMD_BUFFER_INPUT, "buffer 3: a constant is no parameter"),
    /* what a command is */
    SET(command[0].op, CMD_OPS, "command 0: it is of no operation"),
    SET(command[0].op, UINT32_MAX, "command 0: it is of no operation"),
    SET(command[0].column, CMD_COLUMN_STORE, "command 0: LOAD has not this column"),
    SET(command[2].column, CMD_COLUMN_COPY, "command 2: AFFINE has not this column"),
    SET(command[3].column, CMD_COLUMN_FILL, "command 3: COPY has not this column"),
    SET(command[4].column, CMD_COLUMNS, "command 4: FILL has not this column"),
    SET(command[5].column, CMD_COLUMN_ADD, "command 5: MUL has not this column"),
    SET(command[6].column, CMD_COLUMN_MULTIPLY, "command 6: ADD has not this column"),
    SET(command[7].column, CMD_COLUMN_ADD, "command 7: REQUANT has not this column"),
    SET(command[8].column, CMD_COLUMN_LOAD_INPUT, "command 8: STORE has not this column"),
    SET(command[0].queue, 0, "command 0: the engine moves nothing"),
    SET(command[8].queue, 0, "command 8: the engine moves nothing"),
    SET(command[3].queue, 1, "command 3: the DMA only moves"),
    SET(command[2].queue, 1, "command 2: the DMA only moves"),
    SET(command[0].queue, 2, "command 0: there is no queue 2, the program has 2"),
    SET(command[7].node, 1, "command 7: there is no node 1, the program has 1"),
    SET(command[2].wait_count, CMD_MAX_WAITS + 1, "command 2: too many waits"),
    SET(command[2].waits, 0, "command 2: waits are counted, but none are given"),
    SET(affine_wait[1], 2, "command 2: it waits for command 2, which is not before it"),
    SET(store_wait[0], 9, "command 8: it waits for command 9, which is not before it"),
    /* boxes and addresses */
    SET(command[0].box.extent[2], UINT64_MAX / 12, "command 0: the extents of its box do not fit 64 bits"),
    SET(command[0].src.buffer, SMALL_BUFFERS, "command 0: src: there is no buffer 9, the program has 9"),
    SET(command[0].src.view, SMALL_VIEWS, "command 0: src: there is no view 4, the program has 4"),
    SET(command[0].src.offset_bits, UINT64_MAX - 86, "command 0: src: an address does not fit 64 bits"),
    SET(command[8].dst.buffer, CMD_NONE, "command 8: dst: there is no buffer 4294967295, the program has 9"),
    SET(command[8].dst.view, CMD_NONE, "command 8: dst: there is no view 4294967295, the program has 4"),
    SET(command[8].dst.offset_bits, UINT64_MAX, "command 8: dst: an address does not fit 64 bits"),
    SET(command[4].src.buffer, NEAR, "command 4: FILL has a src"),
    SET(command[4].code, 0x100, "command 4: the code has more bits than an element"),
    SET(command[3].src.buffer, 5, "command 3: the elements of src and dst have not the same bits"),
    SET(command[0].dst.buffer, 5, "command 0: the elements of src and dst have not the same bits"),
    SET(command[8].src.buffer, 5, "command 8: the elements of src and dst have not the same bits"),
    SET(command[3].stage_count, 1, "command 3: COPY has stages"),
    /* stages */
    SET(command[5].semantics, S0_SEM_COUNT, "command 5: its semantics are none of those there are"),
    SET(command[5].stage_count, 0, "command 5: MUL has 0 stages, at least 1 and at most 1"),
    SET(command[5].stage_count, 2, "command 5: MUL has 2 stages, at least 1 and at most 1"),
    SET(command[2].stage_count, CMD_MAX_STAGES + 1, "command 2: AFFINE has 17 stages, at least 1 and at most 16"),
    SET(command[2].stages, 0, "command 2: AFFINE has 3 stages, at least 1 and at most 16"),
    SET(mul[0].stage.kind, STAGE_CODE_ADD, "command 5: MUL has a stage CODE_ADD"),
    SET(add[0].stage.kind, STAGE_CODE_MUL, "command 6: ADD has a stage CODE_MUL"),
    SET(requant[0].stage.kind, STAGE_CODE_MUL, "command 7: REQUANT has a stage CODE_MUL"),
    SET(requant[0].stage.kind, STAGE_KINDS, "command 7: stage 0: it is of no kind"),
    SET(affine[0].stage.from, DTYPE_I16, "command 2: stage 0: it takes int16, but gets int8"),
    SET(affine[1].stage.kind, STAGE_CODE_MUL, "command 2: stage 1: it has no operation on these types"),
    SET(affine[1].stage.to, DTYPE_F16, "command 2: stage 1: it has no operation on these types"),
    SET(affine[0].stage.to, DTYPE_F16, "command 2: stage 1: it takes float32, but gets float16"),
    SET(affine[2].stage.to, DTYPE_U8, "command 2: the last stage gives uint8, but dst holds int8"),
    SET(mul[0].stage.from, DTYPE_F32, "command 5: stage 0: it has no operation on these types"),
    SET(affine[0].stage.from, DTYPE_U32, "command 2: stage 0: it has no operation on these types"),
    SET(affine[0].stage.to, DTYPE_COUNT, "command 2: stage 0: it has no operation on these types"),
    SET(command[2].dst.buffer, 5, "command 2: the last stage gives int8, but dst holds float32"),
    SET(add[0].stage.integer.negate, 3, "command 6: stage 0: negate is not 0, 1 or 2"),
    SET(add[0].stage.integer.negate, UINT32_MAX, "command 6: stage 0: negate is not 0, 1 or 2"),
    /* parameters */
    SET(affine[1].param_count, CMD_MAX_PARAMS + 1, "command 2: stage 1: too many parameters"),
    SET(affine[1].param_count, 2, "command 2: stage 1: a parameter that the stage has not, or has twice"),
    SET(affine[1].param[0].kind, CMD_PARAM_GAMMA, "command 2: stage 1: a parameter that the stage has not"),
    SET(affine[1].param[0].kind, CMD_PARAM_KINDS, "command 2: stage 1: a parameter that the stage has not"),
    SET(affine[1].param[0].from.buffer, 9, "command 2: stage 1: number: there is no buffer 9"),
    SET(affine[1].param[0].from.view, 4, "command 2: stage 1: number: there is no view 4"),
    SET(affine[1].param[0].from.buffer, NEAR, "command 2: stage 1: number: elements of this type can't be"),
    SET(affine[1].param[0].is_coded, true, "command 2: stage 1: number: elements of this type can't be"),
    SET(affine[1].param[0].from.offset_bits, UINT64_MAX, "command 2: stage 1: number: an address does not fit"),
    /* carry */
    SET(command[2].carry, CMD_CARRY_INPUT + 1, "command 2: its carry is none of those there are"),
    SET(command[2].carry, CMD_CARRY_NONE, "command 2: several stages need a carry"),
    SET(command[2].carry, CMD_CARRY_OUTPUT, "command 2: what is handed on does not fit an element of dst"),
    SET(command[2].carry, CMD_CARRY_INPUT, "command 2: what is handed on does not fit an element of src"),
    SET(command[5].carry, CMD_CARRY_WORKSPACE, "command 5: one stage carries nothing"),
    SET(command[5].scratch.buffer, 2, "command 5: scratch: a buffer that this carry does not use"),
    SET(command[2].scratch.buffer, CMD_NONE, "command 2: scratch: there is no buffer 4294967295"),
    SET(command[2].scratch.buffer, NEAR, "command 2: scratch: it is no workspace"),
    SET(command[2].scratch.view, 4, "command 2: scratch: there is no view 4"),
    SET(command[2].scratch.offset_bits, UINT64_MAX - 128 - 159 - 32, "command 2: scratch: an address does not fit"),
    /* windows */
    SET(command[9].column, CMD_COLUMN_MULTIPLY, "command 9: CONV has not this column"),
    SET(command[2].column, CMD_COLUMN_COMPUTE, "command 2: AFFINE has not this column"),
    SET(command[9].queue, 1, "command 9: the DMA only moves"),
    SET(command[9].window, 0, "command 9: it has no window"),
    SET(command[10].window, 0, "command 10: it has no window"),
    SET(command[9].box.extent[4], 2, "command 9: its box goes along axes of weights"),
    SET(conv_window.h.taps, 0, "command 9: h: taps, stride or dilation is 0"),
    SET(conv_window.w.stride, 0, "command 9: w: taps, stride or dilation is 0"),
    SET(pool_window.w.dilation, 0, "command 10: w: taps, stride or dilation is 0"),
    SET(conv_window.w.stride, UINT64_C(1) << 63, "command 9: w: an index of the window does not fit 63 bits"),
    SET(conv_window.w.stride, UINT64_C(1) << 61, "command 9: w: an index of the window does not fit 63 bits"),
    SET(conv_window.w.dilation, UINT64_C(1) << 61, "command 9: w: an index of the window does not fit 63 bits"),
    SET(conv_window.h.taps, UINT64_C(1) << 63, "command 9: h: an index of the window does not fit 63 bits"),
    SET(conv_window.h.before, UINT64_C(1) << 63, "command 9: h: an index of the window does not fit 63 bits"),
    SET(conv_window.h.before, UINT64_MAX / 4 + 1, "command 9: h: an index of the window does not fit 63 bits"),
    SET(conv_window.h.extent, UINT64_C(1) << 63, "command 9: h: an index of the window does not fit 63 bits"),
    SET(conv_window.group_src, 0, "command 9: a group has no channels"),
    SET(conv_window.group_dst, 0, "command 9: a group has no channels"),
    SET(conv_window.group_first, 2, "command 9: group.first is not below group.dst"),
    SET(conv_window.group_src, UINT64_MAX, "command 9: the channels of src do not fit 64 bits"),
    SET(conv_window.group_src, UINT64_MAX / 24, "command 9: its products do not fit 64 bits"),
    SET(conv_window.h.taps, UINT64_MAX / 8, "command 9: its products do not fit 64 bits"),
    SET(conv_window.w.extent, UINT64_MAX / 16, "command 9: src: an address does not fit 64 bits"),
    SET(command[9].weights.offset_bits, UINT64_MAX - 7, "command 9: weights: an address does not fit 64 bits"),
    SET(command[9].src.buffer, 9, "command 9: src: there is no buffer 9"),
    SET(command[9].src.buffer, 7, "command 9: src: its elements are no codes of at most 8 bits"),
    SET(command[9].weights.buffer, CMD_NONE, "command 9: weights: there is no buffer 4294967295"),
    SET(command[9].weights.buffer, 7, "command 9: weights: they are no codes of at most 8 bits"),
    SET(command[9].weights.view, 4, "command 9: weights: there is no view 4"),
    SET(conv_window.weights_zero, 128, "command 9: weights: their zero point is no code of theirs"),
    SET(conv_window.src_zero, UINT64_MAX - 128, "command 9: src: its zero point is no code of its type"),
    SET(command[9].bias.buffer, 9, "command 9: bias: there is no buffer 9"),
    SET(command[9].bias.buffer, 6, "command 9: bias: it is no int32"),
    SET(command[9].bias.offset_bits, UINT64_MAX - 7, "command 9: bias: an address does not fit 64 bits"),
    SET(conv_window.scale_count, 3, "command 9: the scales are not one, and not one a channel"),
    SET(conv_window.scale_count, 0, "command 9: the scales are not one, and not one a channel"),
    SET(conv_window.scales, 0, "command 9: the scales are not one, and not one a channel"),
    SET(pool_window.group_dst, 2, "command 10: pools and PAD have neither groups nor zero points nor scales"),
    SET(pool_window.src_zero, 1, "command 10: pools and PAD have neither groups nor zero points nor scales"),
    SET(softmax_window.group_src, 2, "command 12: SOFTMAX goes over whole groups of channels"),
    SET(softmax_window.h.taps, 2, "command 12: SOFTMAX goes over whole groups of channels"),
    SET(softmax_window.w.extent, 2, "command 12: SOFTMAX goes over whole groups of channels"),
    SET(softmax_window.src_zero, 1, "command 12: SOFTMAX goes over whole groups of channels"),
    SET(command[12].box.extent[1], 5, "command 12: SOFTMAX goes over whole groups of channels"),
    SET(softmax_window.scale_count, 0, "command 12: SOFTMAX has one scale, beta"),
    SET(sum_window.src_zero, 128, "command 13: src: its zero point is no code of its type"),
    SET(sum_window.weights_zero, 1, "command 13: a sum has neither weights nor scales"),
    SET(sum_window.scale_count, 1, "command 13: a sum has neither weights nor scales"),
    SET(sum_window.group_src, 0, "command 13: a group has no channels"),
    SET(sum[0].stage.kind, STAGE_CODE_CLIP, "command 13: its stage is not ACC_REQUANTIZE"),
    SET(command[13].stage_count, 0, "command 13: it has not one stage without parameters"),
    SET(command[13].src.buffer, 7, "command 13: src: its elements are no codes of at most 8 bits"),
    SET(pad_window.w.taps, 2, "command 14: PAD takes one element for each"),
    SET(pad_window.group_src, 2, "command 14: pools and PAD have neither groups nor zero points nor scales"),
    SET(pad_window.w.stride, 0, "command 14: w: taps, stride or dilation is 0"),
    SET(command[14].src.buffer, 7, "command 14: PAD takes one element for each"),
    SET(command[14].code, 256, "command 14: the code has more bits than an element"),
    SET(command[14].window, 0, "command 14: it has no window"),
    SET(command[14].column, CMD_COLUMN_FILL, "command 14: PAD has not this column"),
    SET(command[14].queue, 1, "command 14: the DMA only moves"),
    SET(command[9].semantics, S0_SEM_COUNT, "command 9: its semantics are none of those there are"),
    SET(command[9].stage_count, 0, "command 9: it has not one stage without parameters"),
    SET(conv[0].param_count, 1, "command 9: it has not one stage without parameters"),
    SET(command[9].carry, CMD_CARRY_OUTPUT, "command 9: one stage carries nothing"),
    SET(conv[0].stage.kind, STAGE_CODE_CLIP, "command 9: its stage is not ACC_REQUANTIZE"),
    SET(pool[0].stage.kind, STAGE_ACC_REQUANTIZE, "command 10: its stage is not CODE_CLIP"),
    SET(conv[0].stage.from, DTYPE_I8, "command 9: its stage does not go from what is summed to dst"),
    SET(conv[0].stage.to, DTYPE_U8, "command 9: its stage does not go from what is summed to dst"),
    SET(command[9].dst.buffer, 5, "command 9: its stage does not go from what is summed to dst"),
    /* tables */
    SET(command[15].column, CMD_COLUMN_COPY, "command 15: LUT has not this column"),
    SET(command[15].queue, 1, "command 15: the DMA only moves"),
    SET(command[15].src.buffer, 7, "command 15: src: its elements are no codes of at most 8 bits"),
    SET(command[15].table.buffer, CMD_NONE, "command 15: table: there is no buffer 4294967295"),
    SET(command[15].table.buffer, 7, "command 15: table: its elements have another type than those of dst"),
    SET(command[15].table.view, 4, "command 15: table: there is no view 4"),
    SET(command[15].table.offset_bits, UINT64_MAX - 8 * 256, "command 15: table: an address does not fit 64 bits"),
    SET(command[15].dst.buffer, 7, "command 15: table: its elements have another type than those of dst"),
    SET(command[15].stage_count, 1, "command 15: LUT has stages"),
};

/* The changes that a program may have: the limits themselves. */
static const Change allowed[] = {
    SET(program.queue_count, CMD_MAX_QUEUES, NULL),
    SET(program.device.len, 0, NULL),
    SET(buffer[2].lanes, UINT64_MAX / 16, NULL),
    SET(buffer[0].view_offset_bits, UINT64_MAX - 96, NULL),
    SET(command[0].src.offset_bits, UINT64_MAX - 96, NULL),
    SET(command[2].scratch.offset_bits, UINT64_MAX - 128 - 160 - 32, NULL),
    SET(command[0].box.extent[1], 0, NULL),
    SET(command[4].code, 0xFF, NULL),
    SET(command[2].column, CMD_COLUMN_REQUANTIZE, NULL),
    SET(command[0].column, CMD_COLUMN_LOAD_PARAM, NULL),
    SET(add[0].stage.integer.negate, 2, NULL),
    SET(mul[0].stage.integer.negate, 77, NULL),    /* CODE_MUL has none */
    SET(command[3].semantics, S0_SEM_COUNT, NULL), /* nor has COPY */
    SET(conv_window.w.stride, UINT64_C(1) << 60, NULL),
    SET(conv_window.h.before, UINT64_MAX / 4 - 1, NULL),
    SET(conv_window.group_first, 1, NULL), /* a tile begins and ends inside groups */
    SET(conv_window.h.extent, 0, NULL),
    SET(conv_window.scale_count, 1, NULL),
    SET(command[9].bias.buffer, CMD_NONE, NULL),
    SET(command[3].window, 0, NULL),
};

static void apply(SmallProgram *small, const Change *change) {
    small_program(small);
    uint8_t bytes[sizeof change->value];
    for (size_t k = 0; k < sizeof bytes; k++) {
        bytes[k] = (uint8_t)(change->value >> 8 * k);
    }
    memcpy((char *)small + change->offset, bytes, change->bytes);
}

static void sound_programs_pass(Work *work) {
    SmallProgram small;
    small_program(&small);
    assert_null(cmd_check(&small.program, &work->scratch));
    for (size_t k = 0; k < sizeof allowed / sizeof allowed[0]; k++) {
        apply(&small, &allowed[k]);
        const char *fault = cmd_check(&small.program, &work->scratch);
        if (fault != NULL) {
            fail_msg("allowed change %zu: %s", k, fault);
        }
    }
}

/* 12 codes in 12 bytes, 4 numbers in 16; in workspace numbers 0 and 3 lie in lane 0, 1 and 2 in lanes of their own. */
static void operands_stay_inside(Work *work) {
    static const Change outside[] = {
        SET(buffer[0].bytes, 11, "command 0: src: it reaches 12 bytes into buffer 0 ('x'), which has 11"),
        SET(buffer[1].bytes, 11, "command 0: dst: it reaches 12 bytes into buffer 1 ('x'), which has 11"),
        SET(buffer[3].bytes, 15, "command 1: src: it reaches 16 bytes into buffer 3 ('s'), which has 15"),
        SET(command[1].dst.offset_bits, 1, "command 1: dst: it reaches 17 bytes into buffer 5 ('s'), which has 16"),
        SET(buffer[2].bytes, 15, "command 2: scratch: it reaches 16 bytes into buffer 2 ('w'), which has 15"),
        SET(buffer[2].bytes, 0, "command 2: scratch: it reaches 16 bytes into buffer 2 ('w'), which has 0"),
        SET(affine[1].param[0].from.offset_bits, 8,
            "command 2: number: it reaches 17 bytes into buffer 5 ('s'), which has 16"),
        SET(buffer[8].bytes, 255, "command 15: table: it reaches 256 bytes into buffer 8 ('t'), which has 255"),
        SET(buffer[4].bytes, 0, "command 8: dst: it reaches 12 bytes into buffer 4 ('y'), which has 0"),
    };
    SmallProgram small;
    small_program(&small);
    assert_null(cmd_check_extents(&small.program, &work->scratch));
    for (size_t k = 0; k < sizeof outside / sizeof outside[0]; k++) {
        apply(&small, &outside[k]);
        assert_null(cmd_check(&small.program, &work->scratch));
        const char *fault = cmd_check_extents(&small.program, &work->scratch);
        assert_string_equal(fault == NULL ? "nothing" : fault, outside[k].told);
    }
    small_program(&small);
    small.buffer[2].lanes = 2;
    small.command[2].box.extent[1] = 3;
    assert_string_equal(cmd_check_extents(&small.program, &work->scratch),
                        "command 2: scratch: lane 2 of buffer 2 ('w'), which has 2");
    small.command[2].box.extent[3] = 0;
    assert_null(cmd_check_extents(&small.program, &work->scratch));
}

static void every_change_is_told(Work *work) {
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        SmallProgram small;
        apply(&small, &changes[k]);
        const char *fault = cmd_check(&small.program, &work->scratch);
        if (fault == NULL || strncmp(fault, changes[k].told, strlen(changes[k].told)) != 0) {
            fail_msg("change %zu: expected '%s', got '%s'", k, changes[k].told, fault == NULL ? "nothing" : fault);
        }
    }
}

/* An extent of 0 makes no elements, and hides no product that is too large for whoever multiplies the others first. */
static void an_extent_of_0_hides_nothing(Work *work) {
    SmallProgram small;
    small_program(&small);
    small.command[0].box = (CmdBox){{0, UINT64_MAX / 256, 1, 4, 1, 1}};
    const char *fault = cmd_check(&small.program, &work->scratch);
    assert_non_null(fault);
    assert_string_equal(fault, "command 0: the extents of its box do not fit 64 bits");
    small_program(&small);
    small.buffer[0].order = (CmdOrder){3, {0, UINT64_MAX / 256, 4}, {0, 1, 1}};
    fault = cmd_check(&small.program, &work->scratch);
    assert_non_null(fault);
    assert_string_equal(fault, "buffer 0: the extents of the order do not fit 64 bits");
}

/* int8 to int8 to float32 over int8: only the first is kept where the input was. */
static void the_last_stage_hands_on_nothing(Work *work) {
    SmallProgram small;
    small_program(&small);
    small.affine[1] = small.affine[0];
    small.affine[0].stage = small.requant[0].stage;
    small.command[2].stage_count = 2;
    small.command[2].dst = (CmdOperand){5, 1, 0};
    small.command[2].carry = CMD_CARRY_INPUT;
    small.command[2].scratch.buffer = CMD_NONE;
    assert_null(cmd_check(&small.program, &work->scratch));
    small.command[2].src = (CmdOperand){5, 1, 0};
    small.affine[0].stage = small.affine[2].stage;
    assert_null(cmd_check(&small.program, &work->scratch));
}

static void random_programs_pass(Work *work) {
    for (uint64_t seed = 0; seed < 2000; seed++) {
        const char *fault = cmd_check(random_program(&work->scratch, seed), &work->scratch);
        if (fault != NULL) {
            fail_msg("seed %d: %s", (int)seed, fault);
        }
        arena_reset(&work->scratch);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(sound_programs_pass),          WORK_TEST(every_change_is_told),
        WORK_TEST(an_extent_of_0_hides_nothing), WORK_TEST(the_last_stage_hands_on_nothing),
        WORK_TEST(operands_stay_inside),         WORK_TEST(random_programs_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
