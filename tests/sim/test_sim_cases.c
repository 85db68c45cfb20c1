/* Cases G1, G2, G4, G8 and M1 from the field as commands: sizes of odd bytes, which no plan asks for.
 *
 * Proves: that a kernel that declares 64 bytes of scratch and writes 65 is found at byte 64 of it, and one that
 * declares 0 at byte 0; that scratch nobody touches measures 0; that three buffers of two phases run in 940 bytes and
 * not in 939; that a copy from one layout to another is measured with all its bytes, read and written, in the column of
 * copies, and moves each element to its place. */
#include "sim/expect.h"
#include "support/work.h"

/* ---- G1, G2, G8: a line of `touched` bytes between two stages */

static void scratch(uint64_t declared_bytes, uint64_t touched) {
    Command *command = chain(CMD_CARRY_WORKSPACE);
    made.views[0].level[0].stride_bits = 8 * touched;
    made.buffers[0].bytes = made.buffers[1].bytes = touched;
    made.buffers[1].offset_bytes = 256;
    made.buffers[2].bytes = declared_bytes;
    made.buffers[2].offset_bytes = 512;
    made.buffers[0].order.extent[0] = made.buffers[1].order.extent[0] = touched;
    command->box.extent[H] = 1;
    command->box.extent[W] = touched;
}

static const uint8_t some_codes[128] = {1};

static void scratch_case(uint64_t declared_bytes, uint64_t touched, const Expected *expected) {
    scratch(declared_bytes, touched);
    expect(some_codes, touched, expected);
}

static void test_scratch(void **state) {
    (void)state;
    scratch_case(64, 64, NULL);
    scratch_case(64, 65, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, 2, 0, 512 + 64});
    scratch_case(52, 52, NULL);
    scratch_case(51, 52, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, 2, 0, 512 + 51});
    scratch_case(0, 52, &(Expected){FAULT_FOREIGN, 0, CMD_NONE, 2, 0, 512});
}

/* The operator, and the first byte that is not its own. */
static void test_said(Work *work) {
    Sim *sim;
    scratch(64, 65);
    const SimFault *fault = &run(work, &sim, some_codes, 65)->fault[0];
    assert_string_equal(fault->text, "writes byte 64 of a buffer of 64");
    assert_true(str_eq(made.program.nodes[made.commands[fault->command].node], STR("node")));
}

static void test_needless_scratch(Work *work) {
    Sim *sim;
    load_store();
    uint32_t scratch = made_buffer(&made, LOCAL, DTYPE_I8, 256, 48);
    made.buffers[scratch].kind = CMD_BUFFER_WORKSPACE;
    const SimResult *result = run(work, &sim, input, sizeof input);
    assert_int_equal(result->fault_count, 0);
    assert_int_equal(result->buffer[scratch].used_bytes, 0);
    assert_int_equal(result->buffer[scratch].touched_bytes, 0);
}

/* ---- G4: 300 bytes that stay, 640 of the first phase, 500 of the second */

static Command *use(CmdOp op, uint32_t buffer, uint32_t other) {
    uint64_t bytes = made.buffers[op == CMD_FILL ? buffer : other].bytes;
    CmdOperand src = op == CMD_FILL ? (CmdOperand){CMD_NONE, 0, 0} : (CmdOperand){other, 0, 0};
    return made_move(&made, op, src, (CmdOperand){buffer, 0, 0}, bytes);
}

static void phases(uint64_t local_bytes, uint64_t second_at) {
    made_init(&made);
    made_line(&made, W, 8);
    made.device.memory[LOCAL].bytes = local_bytes;
    uint32_t stays = made_buffer(&made, LOCAL, DTYPE_I8, 0, 300);
    uint32_t first = made_buffer(&made, LOCAL, DTYPE_I8, 300, 640);
    uint32_t second = made_buffer(&made, LOCAL, DTYPE_I8, second_at, 500);
    use(CMD_FILL, stays, 0);
    use(CMD_FILL, first, 0);
    use(CMD_COPY, first, stays);
    use(CMD_FILL, second, 0);
    use(CMD_COPY, second, stays);
}

static void test_phases(void **state) {
    (void)state;
    phases(940, 300);
    expect(NULL, 0, NULL);
    phases(939, 300);
    expect(NULL, 0, &(Expected){FAULT_CAPACITY, CMD_NONE, CMD_NONE, 1, 0, 939});
    phases(800, 300);
    expect(NULL, 0, &(Expected){FAULT_CAPACITY, CMD_NONE, CMD_NONE, 1, 0, 800});
    phases(940, 299); /* the second phase over what stays */
    expect(NULL, 0, &(Expected){FAULT_FOREIGN, 4, 3, 0, 0, 299});
}

/* ---- M1: from N C H W to N H W C */

static CmdView view_of(const uint64_t stride_elems[4]) {
    CmdView view = {.level_count = 4};
    for (uint8_t axis = N; axis <= W; axis++) {
        view.level[axis] = (CmdLevel){axis, 1, 0, 8 * stride_elems[axis], 0};
    }
    return view;
}

static uint8_t code_at(uint64_t place) {
    return (uint8_t)(place * 37 + place / 251);
}

/* Buffers of local memory: 0 the source, as the host gives it, 1 the copy. */
static void layout_copy(const uint64_t e[4]) {
    const uint64_t second[] = {e[C] * e[H] * e[W], e[H] * e[W], e[W], 1};
    const uint64_t last[] = {e[C] * e[H] * e[W], 1, e[W] * e[C], e[C]};
    uint64_t count = e[N] * second[N];
    made_init(&made);
    made.device.memory[LOCAL].bytes = 2 * count;
    uint32_t from = made_view(&made, view_of(second)), to = made_view(&made, view_of(last));
    uint32_t flat = made_line(&made, W, 8);
    for (uint32_t k = 0; k < 2; k++) {
        made_buffer(&made, LOCAL, DTYPE_I8, k * count, count);
        made_host(&made, k, flat, count);
    }
    Command *copy = made_move(&made, CMD_COPY, (CmdOperand){0, from, 0}, (CmdOperand){1, to, 0}, e[W]);
    memcpy(copy->box.extent, e, 4 * sizeof *e);
}

static void check_layout_copy(const uint64_t e[4], Work *work) {
    uint64_t count = e[N] * e[C] * e[H] * e[W], unwritten, place = 0;
    uint8_t *codes = arena_array(&work->keep, uint8_t, count);
    for (uint64_t k = 0; k < count; k++) {
        codes[k] = code_at(k);
    }
    Sim *sim;
    layout_copy(e);
    const SimResult *result = run(work, &sim, codes, count);
    const SimColumn *copies = &result->column[CMD_COLUMN_COPY];
    assert_int_equal(result->fault_count, 0);
    assert_int_equal(copies->commands, 1);
    assert_int_equal(copies->read_bytes, count);
    assert_int_equal(copies->written_bytes, count);
    assert_int_equal(result->buffer[0].read_bytes, count);
    assert_int_equal(result->buffer[1].written_bytes, count);
    Span copy = sim_read(sim, 1, &work->keep, &unwritten);
    for (uint64_t n = 0; n < e[N]; n++) {
        for (uint64_t h = 0; h < e[H]; h++) {
            for (uint64_t w = 0; w < e[W]; w++) {
                for (uint64_t c = 0; c < e[C]; c++) {
                    assert_int_equal(copy.ptr[place++], code_at(((n * e[C] + c) * e[H] + h) * e[W] + w));
                }
            }
        }
    }
}

static void test_layout_copies(void **state) {
    (void)state;
    static const uint64_t extents[][4] = {{1, 3, 64, 64}, {2, 3, 5, 7}, {4, 4, 4, 4}};
    for (size_t k = 0; k < sizeof extents / sizeof extents[0]; k++) {
        Work work;
        WORK_BEGIN(&work);
        check_layout_copy(extents[k], &work);
        work_free(&work);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_scratch), WORK_TEST(test_said),
                                       WORK_TEST(test_needless_scratch), cmocka_unit_test(test_phases),
                                       cmocka_unit_test(test_layout_copies)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
