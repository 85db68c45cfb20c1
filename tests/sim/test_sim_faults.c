/* Proves that each kind of fault is found alone, at the right command and byte, and that programs without a fault have
 * none: programs of a few commands, with bytes, cycles and figures worked out by hand. */
#include "sim/expect.h"
#include "support/allocator.h"

static void test_none(void **state) {
    (void)state;
    load_store();
    expect(input, sizeof input, NULL);
}

static void test_unwritten(void **state) {
    (void)state;
    load_store();
    made.commands[0].box.extent[W] = 13;
    expect(input, sizeof input, &(Expected){FAULT_UNWRITTEN, 1, CMD_NONE, 1, 0, 64 + 13});
}

/* Padding: one byte between elements that nobody writes. */
static void test_padding(void **state) {
    (void)state;
    load_store();
    uint32_t wide = made_line(&made, W, 16);
    made.buffers[1].bytes = 32;
    made.commands[0].dst.view = wide;
    expect(input, sizeof input, &(Expected){FAULT_UNWRITTEN, 1, CMD_NONE, 1, 0, 64 + 1});
}

static void test_host_gives_nothing(void **state) {
    (void)state;
    load_store();
    made.program.command_count = 1;
    expect(NULL, 0, &(Expected){FAULT_UNWRITTEN, 0, CMD_NONE, 0, 0, 0});
}

/* The copy's bytes are also those of buffer 3, which is filled in between. */
static void test_foreign(void **state) {
    (void)state;
    load_store();
    uint32_t other = made_buffer(&made, LOCAL, DTYPE_I8, 70, 2);
    Command store = made.commands[1];
    made.program.command_count = 1;
    Command *fill = made_move(&made, CMD_FILL, (CmdOperand){CMD_NONE, 0, 0}, (CmdOperand){other, 0, 0}, 2);
    made_wait(&made, fill, 0);
    Command *again = made_command(&made, CMD_STORE, CMD_COLUMN_STORE, 2);
    const uint32_t *waits = again->waits;
    *again = store;
    again->waits = waits;
    again->wait_count = 0;
    made_wait(&made, again, 1);
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 2, 1, 1, 0, 70});
    made.buffers[other].data = 0; /* the same data may be there */
    expect(input, sizeof input, NULL);
}

static void test_outside(void **state) {
    (void)state;
    load_store();
    made.buffers[2].bytes = 15;
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 1, CMD_NONE, 2, 0, 32 + 15});
    load_store();
    made.buffers[2].bytes = 40;
    made.commands[1].dst.offset_bits = 40 * 8; /* behind it and behind all that is laid out */
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 1, CMD_NONE, 2, 0, 32 + 40});
}

static void test_outside_lanes(void **state) {
    (void)state;
    load_store();
    made.views[1] = (CmdView){1, {{W, 1, 0, 0, 1}}};
    made.program.view_count = 2;
    made.buffers[1].lanes = 4;
    made.commands[0].dst.view = made.commands[1].src.view = 1;
    made.commands[0].box.extent[W] = made.commands[1].box.extent[W] = 4;
    expect(input, sizeof input, NULL);
    made.commands[0].box.extent[W] = 5;
    expect(input, sizeof input, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, 1, 4, 64});
}

static void test_race_of_read(void **state) {
    (void)state;
    Command *store = load_store();
    store->wait_count = 0;
    expect(input, sizeof input, &(Expected){FAULT_RACE, 1, 0, 1, 0, 64});
}

/* LOAD, STORE, and a LOAD into the same bytes that does not wait for the store. */
static Command *second_load(void) {
    load_store();
    Command *load = made_move(&made, CMD_LOAD, made.commands[0].src, made.commands[0].dst, 3);
    load->dst.offset_bits = 8 * 8;
    return load;
}

static void test_race_of_write(void **state) {
    (void)state;
    Command *load = second_load();
    expect(input, sizeof input, &(Expected){FAULT_RACE, 2, 1, 1, 0, 64 + 8});
    load = second_load();
    made_wait(&made, load, 1);
    expect(input, sizeof input, NULL);
}

/* A wait for a command that itself waits is enough. */
static void test_waits_are_transitive(void **state) {
    (void)state;
    load_store();
    uint32_t other = made_buffer(&made, LOCAL, DTYPE_I8, 128, 4);
    Command *fill = made_move(&made, CMD_FILL, (CmdOperand){CMD_NONE, 0, 0}, (CmdOperand){other, 0, 0}, 4);
    made_wait(&made, fill, 1);
    Command *load = made_move(&made, CMD_LOAD, made.commands[0].src, made.commands[0].dst, 16);
    made_wait(&made, load, 2);
    expect(input, sizeof input, NULL);
    load->wait_count = 0;
    expect(input, sizeof input, &(Expected){FAULT_RACE, 3, 1, 1, 0, 64});
}

static void test_two_writes_race(void **state) {
    (void)state;
    load_store();
    made.program.command_count = 1;
    Command *fill = made_move(&made, CMD_FILL, (CmdOperand){CMD_NONE, 0, 0}, (CmdOperand){1, 0, 0}, 1);
    fill->dst.offset_bits = 15 * 8;
    expect(input, sizeof input, &(Expected){FAULT_RACE, 1, 0, 1, 0, 64 + 15});
}

static void test_misaligned(void **state) {
    (void)state;
    load_store();
    made.device.memory[LOCAL].align_bytes = 64;
    expect(input, sizeof input, NULL);
    made.device.memory[LOCAL].align_bytes = 128;
    expect(input, sizeof input, &(Expected){FAULT_MISALIGNED, CMD_NONE, CMD_NONE, 1, 0, 64});
}

static void test_capacity(void **state) {
    (void)state;
    load_store();
    made.device.memory[LOCAL].bytes = 80;
    expect(input, sizeof input, NULL);
    made.device.memory[LOCAL].bytes = 79;
    expect(input, sizeof input, &(Expected){FAULT_CAPACITY, CMD_NONE, CMD_NONE, 1, 0, 79});
}

static void test_burst(void **state) {
    (void)state;
    load_store();
    made.device.dma_max_bytes = made_cost(16);
    expect(input, sizeof input, NULL);
    made.commands[0].box.extent[W] = 15;
    made.commands[1].box.extent[W] = 15;
    made.device.dma_max_bytes = made_cost(14);
    made.program.command_count = 1;
    expect(input, sizeof input, &(Expected){FAULT_BURST, 0, CMD_NONE, 1, 0, 64});
}

/* Element 5 of a quantiser that casts: 3e9 / 1 has no int32. */
static void test_number(void **state) {
    (void)state;
    made_init(&made);
    uint32_t floats = made_line(&made, W, 32), codes = made_line(&made, W, 8);
    float x[8] = {1, 2, 3, -4, 5, 3e9f, 7, 8};
    made_buffer(&made, LOCAL, DTYPE_F32, 0, 32);
    made_buffer(&made, LOCAL, DTYPE_I8, 64, 8);
    made_host(&made, 0, floats, 8);
    Command *command = made_command(&made, CMD_REQUANT, CMD_COLUMN_REQUANTIZE, 0);
    command->src = (CmdOperand){0, floats, 0};
    command->dst = (CmdOperand){1, codes, 0};
    command->box.extent[W] = 8;
    command->semantics = S0_SEM_TFLITE_DOUBLE;
    made_stage(&made, command, (Stage){.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = DTYPE_I8, .code = {1, 0}});
    expect((const uint8_t *)x, sizeof x, &(Expected){FAULT_NUMBER, 0, CMD_NONE, 1, 0, 64 + 5});
    x[5] = 6;
    expect((const uint8_t *)x, sizeof x, NULL);
    made.stages[0][0].stage.code.scale = -1; /* can't be bound */
    expect((const uint8_t *)x, sizeof x, &(Expected){FAULT_NUMBER, 0, CMD_NONE, 1, 0, 64});
    made.stages[0][0].stage.code.scale = 1;
    uint32_t nan = 0x7FC00000;
    memcpy(&x[2], &nan, sizeof nan);
    expect((const uint8_t *)x, sizeof x, &(Expected){FAULT_NUMBER, 0, CMD_NONE, 1, 0, 64 + 2});
}

/* ---- int4: two buffers share a byte */

static void test_nibbles(void **state) {
    (void)state;
    made_init(&made);
    uint32_t view = made_line(&made, W, 4);
    made_buffer(&made, LOCAL, DTYPE_I4, 0, 2); /* 3 nibbles, then one of buffer 1 */
    made_buffer(&made, LOCAL, DTYPE_I4, 1, 1);
    made_buffer(&made, LOCAL, DTYPE_I4, 16, 2);
    made_host(&made, 0, view, 3);
    uint8_t nibbles[] = {0x21, 0x03};
    made_move(&made, CMD_COPY, (CmdOperand){0, view, 0}, (CmdOperand){2, view, 0}, 3);
    expect(nibbles, sizeof nibbles, NULL);
    made.commands[0].box.extent[W] = 4;
    expect(nibbles, sizeof nibbles, &(Expected){FAULT_UNWRITTEN, 0, CMD_NONE, 0, 0, 1});
    made.commands[0].box.extent[W] = 3;
    Command *fill = made_move(&made, CMD_FILL, (CmdOperand){CMD_NONE, 0, 0}, (CmdOperand){1, view, 4}, 1);
    Command *copy = made_move(&made, CMD_COPY, (CmdOperand){0, view, 0}, (CmdOperand){2, view, 0}, 3);
    expect(nibbles, sizeof nibbles, &(Expected){FAULT_FOREIGN, 2, 1, 0, 0, 1});
    made.buffers[1].data = 0; /* the same data: bits stay */
    expect(nibbles, sizeof nibbles, NULL);
    made.buffers[1].data = 1; /* buffer 1 has not written the nibble that was buffer 0's */
    copy->src = (CmdOperand){1, view, 0};
    copy->box.extent[W] = 1;
    (void)fill;
    expect(nibbles, sizeof nibbles, &(Expected){FAULT_UNWRITTEN, 2, CMD_NONE, 1, 0, 1});
    copy->src.offset_bits = 4;
    expect(nibbles, sizeof nibbles, NULL);
}

/* ---- Figures and cycles, by hand */

static void set_costs(void) {
    Device *device = &made.device;
    device->dma_setup_cycles = made_cost(50);
    device->descriptor_cycles = made_cost(10);
    device->sync_cycles = made_cost(7);
    device->issue_cycles = made_cost(3);
    device->dma_bytes_cycle = made_cost(8);
    device->dma_burst_bytes = made_cost(64);
    device->dma_min_bytes = made_cost(4);
    device->dma_align_bytes = made_cost(8);
    device->vector_bytes_cycle = made_cost(16);
}

/* LOAD of 16 bytes in one run: 50 + 10 + 64 / 8 = 68. FILL of 20 bytes: 3 + ceil(20 / 16) = 5. STORE with a stride:
 * 16 runs of 1 byte, each a burst of its own: 50 + 160 + 16 * 64 / 8 = 338; it waits for both, in two queues that are
 * not its own: starts at max(68, 5) and pays 2 * 7, ends at 420. The fill waits for nothing. */
static void test_timeline(void **state) {
    (void)state;
    Command *store = load_store();
    uint32_t apart = made_line(&made, W, 16);
    store->dst.view = apart;
    made.buffers[2].bytes = 31;
    made.buffers[2].view = CMD_NONE;
    Command last = *store;
    uint32_t other = made_buffer(&made, LOCAL, DTYPE_I8, 200, 20);
    made.program.command_count = 1;
    made_move(&made, CMD_FILL, (CmdOperand){CMD_NONE, 0, 0}, (CmdOperand){other, 0, 0}, 20);
    store = made_command(&made, CMD_STORE, CMD_COLUMN_STORE, 2);
    last.waits = store->waits;
    last.wait_count = 0;
    *store = last;
    made_wait(&made, store, 0);
    made_wait(&made, store, 1);
    set_costs();
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    Sim *sim;
    const SimResult *result = run(&work, &sim, input, sizeof input);
    const SimColumn *column = result->column;
    assert_int_equal(result->fault_count, 0);
    assert_int_equal(column[CMD_COLUMN_LOAD_INPUT].cycles, 68);
    assert_int_equal(column[CMD_COLUMN_LOAD_INPUT].descriptors, 1);
    assert_int_equal(column[CMD_COLUMN_LOAD_INPUT].bursts, 1);
    assert_int_equal(column[CMD_COLUMN_FILL].cycles, 5);
    assert_int_equal(column[CMD_COLUMN_STORE].cycles, 338);
    assert_int_equal(column[CMD_COLUMN_STORE].descriptors, 16);
    assert_int_equal(column[CMD_COLUMN_STORE].bursts, 16);
    assert_int_equal(result->syncs, 2);
    assert_int_equal(result->cycles, 68 + 14 + 338);
    assert_int_equal(result->buffer[1].touched_bytes, 16);
    assert_int_equal(result->buffer[2].touched_bytes, 16);
    assert_int_equal(result->buffer[2].used_bytes, 31);
    assert_int_equal(result->buffer[1].read_bytes, 16);
    assert_int_equal(result->buffer[1].written_bytes, 16);
    assert_int_equal(result->buffer[other].written_bytes, 20);
    assert_int_equal(column[CMD_COLUMN_STORE].read_bytes, 16);
    assert_int_equal(column[CMD_COLUMN_STORE].commands, 1);
    work_free(&work);
}

/* A command without elements costs nothing. */
static void test_empty(void **state) {
    (void)state;
    load_store();
    set_costs();
    made.commands[0].box.extent[C] = 0;
    made.commands[1].box.extent[W] = 0;
    made.commands[1].wait_count = 0;
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    Sim *sim;
    const SimResult *result = run(&work, &sim, input, sizeof input);
    assert_int_equal(result->fault_count, 0);
    assert_int_equal(result->cycles, 0);
    uint64_t unwritten;
    Span read = sim_read(sim, 2, &work.keep, &unwritten);
    assert_int_equal(read.len, 16);
    assert_int_equal(unwritten, 16);
    work_free(&work);
}

/* ---- What does not fit the device */

static void test_refused(void **state) {
    (void)state;
    for (uint32_t k = 0; k < 5; k++) {
        Work work;
        work_init(&work, &system_allocator);
        if (setjmp(work.escape)) {
            fail();
        }
        load_store();
        switch (k) {
        case 0:
            made.buffers[1].memory = 2;
            break;
        case 1:
            made.buffers[1].lanes = 5;
            break;
        case 2:
            made.device.dma_channels = made_cost(1);
            break;
        case 3:
            made.buffers[2].offset_bytes = UINT64_C(1) << 33;
            break;
        default:
            made.commands[0].box.extent[C] = UINT64_C(1) << 26;
        }
        assert_null(sim_new(&made.program, &made.device, &work));
        assert_int_equal(diags_status(&work.diags), S0_REFUSED);
        assert_non_null(work.diags.first->text.expected);
        work_free(&work);
    }
}

static void test_host_counts(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    load_store();
    Sim *sim = sim_new(&made.program, &made.device, &work);
    assert_false(sim_write(sim, 0, (Span){input, 15}));
    assert_false(sim_write(sim, 1, (Span){input, 16})); /* has no view */
    assert_false(sim_write(sim, 9, (Span){input, 16}));
    assert_true(sim_write(sim, 0, (Span){input, 16}));
    sim_run(sim);
    uint64_t unwritten;
    Span read = sim_read(sim, 2, &work.keep, &unwritten);
    assert_int_equal(unwritten, 0);
    assert_memory_equal(read.ptr, input, 16);
    work_free(&work);
}

/* Every allocation that fails leaves by the escape, and nothing stays behind. */
static void test_out_of_memory(void **state) {
    (void)state;
    volatile bool has_run = false;
    for (size_t fail_at = 1; !has_run; fail_at++) {
        static CountingAllocator counter;
        static s0_allocator allocator;
        static Work work;
        counter = (CountingAllocator){.fail_at = fail_at};
        allocator = counting_allocator(&counter);
        chain(CMD_CARRY_WORKSPACE);
        made.buffers[2].bytes = 1 << 22;
        work_init(&work, &allocator);
        if (setjmp(work.escape) == 0) {
            Sim *sim;
            run(&work, &sim, input, sizeof input);
            has_run = true;
        }
        work_free(&work);
        assert_int_equal(counter.live_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_unwritten),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_host_gives_nothing),
        cmocka_unit_test(test_foreign),
        cmocka_unit_test(test_outside),
        cmocka_unit_test(test_outside_lanes),
        cmocka_unit_test(test_race_of_read),
        cmocka_unit_test(test_race_of_write),
        cmocka_unit_test(test_waits_are_transitive),
        cmocka_unit_test(test_two_writes_race),
        cmocka_unit_test(test_misaligned),
        cmocka_unit_test(test_capacity),
        cmocka_unit_test(test_burst),
        cmocka_unit_test(test_number),
        cmocka_unit_test(test_nibbles),
        cmocka_unit_test(test_timeline),
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_host_counts),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
