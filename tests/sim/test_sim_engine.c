/* Proves where the engine keeps what one stage hands to the next, what becomes of parameters and inputs that are
 * overwritten, and which memories and types each command may use: bytes and faults worked out by hand. */
#include "sim/expect.h"

/* ---- Carry, in the places that can hold it */

static void expect_product(uint64_t scratch_used, uint64_t dst_written, uint64_t src_written) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    Sim *sim;
    uint64_t unwritten;
    const SimResult *result = run(&work, &sim, input, sizeof input);
    assert_int_equal(result->fault_count, 0);
    Span read = sim_read(sim, 1, &work.keep, &unwritten);
    assert_int_equal(unwritten, 0);
    for (size_t k = 0; k < 16; k++) {
        assert_int_equal(read.ptr[k], input[k] * 6);
    }
    assert_int_equal(result->buffer[2].used_bytes, scratch_used);
    assert_int_equal(result->buffer[2].touched_bytes, scratch_used);
    assert_int_equal(result->buffer[2].written_bytes, 2 * scratch_used);
    assert_int_equal(result->buffer[1].written_bytes, dst_written);
    assert_int_equal(result->buffer[0].written_bytes, src_written);
    work_free(&work);
}

static void test_carry(void **state) {
    (void)state;
    chain(CMD_CARRY_WORKSPACE);
    expect_product(8, 16, 0);
    chain(CMD_CARRY_OUTPUT);
    expect_product(0, 32, 0);
    chain(CMD_CARRY_INPUT);
    expect_product(0, 16, 16);
    made.buffers[1].offset_bytes = SRC_AT; /* in place */
    expect_product(0, 16, 16);
    chain(CMD_CARRY_OUTPUT);
    made.buffers[1].offset_bytes = SRC_AT;
    expect_product(0, 32, 0);
}

/* Both lines are carried at once in 16 bytes, of which the workspace has 8. */
static void test_workspace_too_small(void **state) {
    (void)state;
    Command *command = chain(CMD_CARRY_WORKSPACE);
    command->scratch.view = command->src.view;
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, 2, 0, SCRATCH_AT + 8});
    chain(CMD_CARRY_WORKSPACE);
    made.buffers[2].bytes = 7;
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, 2, 0, SCRATCH_AT + 7});
}

/* In place, twice the code, by a view whose second line starts `step` bytes behind the first; with one level it has no
 * lines. */
static void expect_twice(uint32_t levels, uint64_t step, const uint8_t *expected) {
    Command *command = chain(CMD_CARRY_OUTPUT);
    uint32_t view = made_view(&made, (CmdView){levels, {{W, 1, 0, 8, 0}, {H, 1, 0, step * 8, 0}}});
    made.stages[0][0].stage.integer.value = 2;
    command->stage_count = 1;
    command->carry = CMD_CARRY_NONE;
    command->src = command->dst = (CmdOperand){0, view, 0};
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    Sim *sim;
    uint64_t unwritten;
    assert_int_equal(run(&work, &sim, input, sizeof input)->fault_count, 0);
    assert_memory_equal(sim_read(sim, 0, &work.keep, &unwritten).ptr, expected, 16);
    work_free(&work);
}

/* Lines in one place, or that overlap: the second reads what the first has written. */
static void test_lines_share_their_place(void **state) {
    (void)state;
    expect_twice(1, 0, (const uint8_t[]){4, 8, 12, 16, 20, 24, 28, 32, 9, 10, 11, 12, 13, 14, 15, 16});
    expect_twice(2, 0, (const uint8_t[]){4, 8, 12, 16, 20, 24, 28, 32, 9, 10, 11, 12, 13, 14, 15, 16});
    expect_twice(2, 1, (const uint8_t[]){2, 8, 12, 16, 20, 24, 28, 32, 18, 10, 11, 12, 13, 14, 15, 16});
    expect_twice(2, 8, (const uint8_t[]){2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30, 32});
}

/* What is carried over src is lost to whoever reads src afterwards. */
static void test_input_is_lost(void **state) {
    (void)state;
    Command *command = chain(CMD_CARRY_INPUT);
    uint32_t copy = made_buffer(&made, LOCAL, DTYPE_I8, 256, 16);
    made_move(&made, CMD_COPY, (CmdOperand){0, 1, 0}, (CmdOperand){copy, 1, 0}, 16);
    (void)command;
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 1, 0, 0, 0, 0});
    made.commands[0].carry = CMD_CARRY_OUTPUT;
    expect(input, sizeof input, NULL);
}

/* A parameter over which its own command writes. */
static void test_parameter_is_overwritten(void **state) {
    (void)state;
    chain(CMD_CARRY_OUTPUT);
    uint32_t line = made_line(&made, W, 8);
    uint32_t scale = made_buffer(&made, LOCAL, DTYPE_I8, DST_AT + 10, 8);
    made_param(&made.stages[0][0], CMD_PARAM_VALUE, (CmdOperand){scale, line, 0});
    made_host(&made, scale, line, 8);
    made.buffers[scale].kind = CMD_BUFFER_PARAMETER;
    made.buffers[scale].constant = input;
    made.buffers[scale].constant_bytes = 8;
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 0, 0, scale, 0, DST_AT + 10});
    made.buffers[scale].offset_bytes = DST_AT + 16;
    expect(input, sizeof input, NULL);
}

/* A parameter for each element may be overwritten by the very line that has read it. */
static void test_output_over_parameter(void **state) {
    (void)state;
    chain(CMD_CARRY_OUTPUT);
    made.commands[0].stage_count = 1;
    made.commands[0].carry = CMD_CARRY_NONE;
    uint32_t line = made_line(&made, W, 8);
    uint32_t factors = made_buffer(&made, LOCAL, DTYPE_I8, DST_AT, 16);
    made_param(&made.stages[0][0], CMD_PARAM_VALUE, (CmdOperand){factors, made.commands[0].src.view, 0});
    made_host(&made, factors, line, 16);
    made.buffers[factors].kind = CMD_BUFFER_PARAMETER;
    made.buffers[factors].constant = input;
    made.buffers[factors].constant_bytes = 16;
    expect(input, sizeof input, NULL);
    made.buffers[factors].offset_bytes = DST_AT - 8; /* factors of line 1 lie where line 0 goes */
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 0, 0, factors, 0, DST_AT});
}

/* The engine reaches only local memory, and computes only its types; the DMA goes in one direction. */
static void test_rules(void **state) {
    (void)state;
    load_store();
    made.program.command_count = 1;
    made.commands[0].op = CMD_STORE;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 0, 0, 0});
    made.commands[0].op = CMD_COPY;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 0, 0, 0});
    load_store();
    made.program.command_count = 1;
    made.commands[0].dst.buffer = 2;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 2, 0, 32});
    chain(CMD_CARRY_WORKSPACE);
    made.device.dtypes = 1u << DTYPE_I8;
    expect(input, sizeof input, NULL);
    made.stages[0][0].stage.to = made.stages[0][1].stage.from = DTYPE_U8;
    made.stages[0][0].stage.integer.lo = 0;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 1, 0, DST_AT});
    chain(CMD_CARRY_WORKSPACE);
    made.device.dtypes = 1u << DTYPE_I8;
    made.buffers[2].memory = FAR;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 2, 0, SCRATCH_AT});
    chain(CMD_CARRY_WORKSPACE);
    made.device.dtypes = 1u << DTYPE_U8;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 0, 0, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_carry),
        cmocka_unit_test(test_workspace_too_small),
        cmocka_unit_test(test_lines_share_their_place),
        cmocka_unit_test(test_input_is_lost),
        cmocka_unit_test(test_parameter_is_overwritten),
        cmocka_unit_test(test_output_over_parameter),
        cmocka_unit_test(test_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
