/* Small programs made by hand, run, and the one fault that they must have. */
#ifndef S0_TESTS_SIM_EXPECT_H
#define S0_TESTS_SIM_EXPECT_H

#include "sim/program.h"

static Made made;

/* What is expected of the only fault; CMD_NONE as `kind` where there is none. */
typedef struct {
    SimFaultKind kind;
    uint32_t command, other, buffer;
    uint64_t lane, byte;
} Expected;

static inline const SimResult *run(Work *work, Sim **sim, const uint8_t *input, size_t bytes) {
    *sim = sim_new(&made.program, &made.device, work);
    assert_non_null(*sim);
    if (bytes > 0) {
        assert_true(sim_write(*sim, 0, (Span){input, bytes}));
    }
    return sim_run(*sim);
}

static inline void expect(const uint8_t *input, size_t bytes, const Expected *expected) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    Sim *sim;
    const SimResult *result = run(&work, &sim, input, bytes);
    for (uint32_t k = 0; k < result->kept_faults && expected == NULL; k++) {
        print_error("fault %s: %s\n", sim_fault_name(result->fault[k].kind), result->fault[k].text);
    }
    assert_int_equal(result->fault_count, expected != NULL);
    if (expected != NULL) {
        const SimFault *fault = &result->fault[0];
        assert_string_equal(sim_fault_name(fault->kind), sim_fault_name(expected->kind));
        assert_int_equal(fault->command, expected->command);
        assert_int_equal(fault->other, expected->other);
        assert_int_equal(fault->buffer, expected->buffer);
        assert_int_equal(fault->lane, expected->lane);
        assert_int_equal(fault->byte, expected->byte);
    }
    work_free(&work);
}

/* Far input 0 (16 int8 at 0), local copy 1 at 64, far output 2 at 32: LOAD, STORE that waits. Returns the store. */
static inline Command *load_store(void) {
    made_init(&made);
    uint32_t view = made_line(&made, W, 8);
    made_buffer(&made, FAR, DTYPE_I8, 0, 16);
    made_buffer(&made, LOCAL, DTYPE_I8, 64, 16);
    made_buffer(&made, FAR, DTYPE_I8, 32, 16);
    made.buffers[1].data = 0;
    made_host(&made, 0, view, 16);
    made_host(&made, 2, view, 16);
    made_move(&made, CMD_LOAD, (CmdOperand){0, view, 0}, (CmdOperand){1, view, 0}, 16);
    Command *store = made_move(&made, CMD_STORE, (CmdOperand){1, view, 0}, (CmdOperand){2, view, 0}, 16);
    made_wait(&made, store, 0);
    return store;
}

static const uint8_t input[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

/* x * 3 * 2 of two lines of int8, handed on where `carry` says. */
enum { SRC_AT = 0, DST_AT = 64, SCRATCH_AT = 128 };

static inline Command *chain(CmdCarry carry) {
    made_init(&made);
    uint32_t view = made_view(&made, (CmdView){2, {{H, 1, 0, 64, 0}, {W, 1, 0, 8, 0}}});
    uint32_t line = made_line(&made, W, 8);
    made_buffer(&made, LOCAL, DTYPE_I8, SRC_AT, 16);
    made_buffer(&made, LOCAL, DTYPE_I8, DST_AT, 16);
    made_buffer(&made, LOCAL, DTYPE_I8, SCRATCH_AT, 8);
    made_host(&made, 0, line, 16);
    made_host(&made, 1, line, 16);
    Command *command = made_command(&made, CMD_AFFINE, CMD_COLUMN_MULTIPLY, 0);
    command->src = (CmdOperand){0, view, 0};
    command->dst = (CmdOperand){1, view, 0};
    command->carry = carry;
    if (carry == CMD_CARRY_WORKSPACE) {
        command->scratch = (CmdOperand){2, line, 0};
    }
    command->box.extent[H] = 2;
    command->box.extent[W] = 8;
    command->semantics = S0_SEM_TFLITE_DOUBLE;
    made_stage(&made, command, stage_of_product(3));
    made_stage(&made, command, stage_of_product(2));
    return command;
}

#endif
