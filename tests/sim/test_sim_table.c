/* Proves what a table makes of codes of 8 and of 4 bits, in place and not; that all of a table is read, wherever its
 * view puts it; which bytes are faults, and what the command costs: worked out by hand. */
#include "sim/expect.h"

enum { CODES = 0, RESULT = 1, TABLE = 2, CODES_AT = 0, RESULT_AT = 32, TABLE_AT = 64, MOST_TABLE = 256 };

static const uint8_t given[] = {0, 1, 2, 3, 127, 128, 254, 255, 7, 7, 9, 200, 64, 65, 66, 100};
static uint8_t table[MOST_TABLE];

/* 16 codes and the table come from the host, as constants and inputs do. */
static Command *look_up(DType codes, uint64_t count) {
    made_init(&made);
    uint32_t bits = dtype_bits(codes);
    uint32_t line = made_line(&made, W, bits), result = made_line(&made, W, 8), places = made_line(&made, C, 8);
    made_buffer(&made, LOCAL, codes, CODES_AT, 16);
    made_buffer(&made, LOCAL, DTYPE_U8, RESULT_AT, 16);
    made_buffer(&made, LOCAL, DTYPE_U8, TABLE_AT, count);
    made_host(&made, CODES, line, 16 * 8 / bits);
    made_host(&made, RESULT, result, 16);
    made.buffers[TABLE].view = places;
    made.buffers[TABLE].order = (CmdOrder){1, {count}, {C}};
    made.buffers[TABLE].kind = CMD_BUFFER_PARAMETER;
    made.buffers[TABLE].constant = table;
    made.buffers[TABLE].constant_bytes = count;
    for (uint32_t k = 0; k < MOST_TABLE; k++) {
        table[k] = (uint8_t)(k * 37 + 11);
    }
    Command *command = made_command(&made, CMD_LUT, CMD_COLUMN_COMPUTE, 0);
    command->src = (CmdOperand){CODES, line, 0};
    command->dst = (CmdOperand){RESULT, result, 0};
    command->table = (CmdOperand){TABLE, places, 0};
    command->box.extent[W] = 16;
    return command;
}

static void expect_codes(uint32_t buffer, const uint8_t *expected, size_t bytes, uint64_t table_bytes,
                         uint64_t cycles) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    Sim *sim;
    uint64_t unwritten;
    const SimResult *result = run(&work, &sim, given, 16);
    assert_int_equal(result->fault_count, 0);
    assert_memory_equal(sim_read(sim, buffer, &work.keep, &unwritten).ptr, expected, bytes);
    assert_int_equal(result->buffer[TABLE].read_bytes, table_bytes);
    assert_int_equal(result->buffer[TABLE].touched_bytes, table_bytes);
    assert_int_equal(result->column[CMD_COLUMN_COMPUTE].cycles, cycles);
    work_free(&work);
}

static void set_costs(void) {
    made.device.issue_cycles = made_cost(10);
    made.device.vector_bytes_cycle = made_cost(3);
}

static void test_codes(void **state) {
    (void)state;
    uint8_t expected[16];
    for (uint32_t k = 0; k < 16; k++) {
        expected[k] = (uint8_t)(given[k] * 37 + 11);
    }
    look_up(DTYPE_I8, 256); /* the code's bits are the number, whatever their sign */
    set_costs();
    expect_codes(RESULT, expected, 16, 256, 10 + 6);
    look_up(DTYPE_U8, 256);
    made.buffers[RESULT].offset_bytes = CODES_AT;
    expect_codes(RESULT, expected, 16, 256, 0);
}

/* The first 16 of 32 codes: the low half of a byte comes first. The wider side counts. */
static void test_narrow_codes(void **state) {
    (void)state;
    uint8_t expected[16];
    look_up(DTYPE_I4, 16);
    for (uint32_t k = 0; k < 16; k++) {
        expected[k] = (uint8_t)((given[k / 2] >> k % 2 * 4 & 15) * 37 + 11);
    }
    set_costs();
    expect_codes(RESULT, expected, 16, 16, 10 + 6);
}

/* Results of 4 bits, in a table of 4 bits a place: its 200th is the low half of byte 100. The codes count. */
static void test_narrow_results(void **state) {
    (void)state;
    uint8_t expected[8] = {0};
    Command *command = look_up(DTYPE_U8, 256);
    uint32_t line = made_line(&made, W, 4), places = made_line(&made, C, 4);
    made.buffers[RESULT].dtype = made.buffers[TABLE].dtype = DTYPE_U4;
    made.buffers[RESULT].view = command->dst.view = line;
    made.buffers[TABLE].view = command->table.view = places;
    made.buffers[TABLE].constant_bytes = 128;
    for (uint32_t k = 0; k < 16; k++) {
        uint32_t place = given[k], half = table[place / 2] >> place % 2 * 4 & 15;
        expected[k / 2] |= (uint8_t)(half << k % 2 * 4);
    }
    set_costs();
    expect_codes(RESULT, expected, 8, 128, 10 + 6);
}

/* Every fourth place in a lane of its own: 64 bytes of each. */
static void test_table_in_lanes(void **state) {
    (void)state;
    uint8_t expected[16];
    Command *command = look_up(DTYPE_U8, 256);
    uint32_t lanes = made_view(&made, (CmdView){2, {{C, 4, 0, 8, 0}, {C, 1, 4, 0, 1}}});
    for (uint32_t k = 0; k < 16; k++) {
        expected[k] = (uint8_t)(given[k] * 37 + 11);
    }
    made.buffers[TABLE].lanes = 4;
    made.buffers[TABLE].bytes = 64;
    made.buffers[TABLE].view = command->table.view = lanes;
    expect_codes(RESULT, expected, 16, 256, 0);
}

static void test_faults(void **state) {
    (void)state;
    look_up(DTYPE_I8, 256);
    made.buffers[TABLE].bytes = 255;
    made.buffers[TABLE].order.extent[0] = made.buffers[TABLE].constant_bytes = 255;
    expect(given, 16, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, TABLE, 0, TABLE_AT + 255});
    look_up(DTYPE_I8, 256);
    made.buffers[TABLE].order.extent[0] = made.buffers[TABLE].constant_bytes = 100;
    expect(given, 16, &(Expected){FAULT_UNWRITTEN, 0, CMD_NONE, TABLE, 0, TABLE_AT + 100});
    look_up(DTYPE_I8, 256);
    made.buffers[TABLE].memory = FAR;
    expect(given, 16, &(Expected){FAULT_BURST, 0, CMD_NONE, TABLE, 0, TABLE_AT});
    look_up(DTYPE_I8, 256);
    made.device.dtypes = ~(UINT64_C(1) << DTYPE_I8);
    expect(given, 16, &(Expected){FAULT_BURST, 0, CMD_NONE, CODES, 0, 0});
    look_up(DTYPE_I8, 256);
    expect(NULL, 0, &(Expected){FAULT_UNWRITTEN, 0, CMD_NONE, CODES, 0, 0});
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_codes), cmocka_unit_test(test_narrow_codes),
                                       cmocka_unit_test(test_narrow_results), cmocka_unit_test(test_table_in_lanes),
                                       cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
