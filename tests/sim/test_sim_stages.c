/* Proves that a command with stages computes of each element what stage/bound.h computes of it alone, whatever the
 * layout and however many lines are computed at once: maps larger than a unit, parameters along every axis. */
#include "sim/program.h"
#include "stage/bound.h"
#include "support/random.h"

enum { MAP_N = 2, MAP_C = 20, MAP_H = 24, MAP_W = 36, ELEMENTS = MAP_N * MAP_C * MAP_H * MAP_W };

static Made made;
static int8_t values[ELEMENTS];

/* From the outer to the inner level: an axis, or a block of one. */
typedef struct {
    const char *name;
    CmdView view;
    uint64_t bytes; /* of one lane */
    uint64_t lanes;
} Layout;

#define LEVEL(axis, div, mod, bytes, lanes)                                                                            \
    { axis, div, mod, (bytes)*8, lanes }

static const Layout layouts[] = {
    {"n h w c",
     {4, {LEVEL(N, 1, 0, 24 * 36 * 20, 0), LEVEL(H, 1, 0, 36 * 20, 0), LEVEL(W, 1, 0, 20, 0), LEVEL(C, 1, 0, 1, 0)}},
     ELEMENTS,
     1},
    {"n c h w",
     {4, {LEVEL(N, 1, 0, 20 * 24 * 36, 0), LEVEL(C, 1, 0, 24 * 36, 0), LEVEL(H, 1, 0, 36, 0), LEVEL(W, 1, 0, 1, 0)}},
     ELEMENTS,
     1},
    {"n h c/16 w c%16",
     {5,
      {LEVEL(N, 1, 0, 24 * 2 * 36 * 16, 0), LEVEL(H, 1, 0, 2 * 36 * 16, 0), LEVEL(C, 16, 0, 36 * 16, 0),
       LEVEL(W, 1, 0, 16, 0), LEVEL(C, 1, 16, 1, 0)}},
     2 * 24 * 2 * 36 * 16,
     1},
    {"lanes c%4, n c/4 h@64 w",
     {5,
      {LEVEL(C, 1, 4, 0, 1), LEVEL(N, 1, 0, 5 * 24 * 64, 0), LEVEL(C, 4, 0, 24 * 64, 0), LEVEL(H, 1, 0, 64, 0),
       LEVEL(W, 1, 0, 1, 0)}},
     2 * 5 * 24 * 64,
     4},
    {"h/5 n w h%5 c",
     {5,
      {LEVEL(H, 5, 0, 2 * 36 * 5 * 20, 0), LEVEL(N, 1, 0, 36 * 5 * 20, 0), LEVEL(W, 1, 0, 5 * 20, 0),
       LEVEL(H, 1, 5, 20, 0), LEVEL(C, 1, 0, 1, 0)}},
     5 * 2 * 36 * 5 * 20,
     1},
};

enum { LAYOUTS = sizeof layouts / sizeof *layouts };

/* A parameter of one byte an index along these axes. */
typedef struct {
    const char *name;
    bool has[CMD_AXES];
} Broadcast;

static const Broadcast forms[] = {
    {"scalar", {0}},        {"channel", {[C] = true}},          {"row", {[C] = true, [W] = true}},
    {"line", {[H] = true}}, {"full", {true, true, true, true}},
};

enum { FORMS = sizeof forms / sizeof *forms };

static const uint64_t extents[CMD_AXES] = {MAP_N, MAP_C, MAP_H, MAP_W, 1, 1};

static CmdView view_of_form(const Broadcast *form, uint64_t *elements) {
    CmdView view = {.level_count = 0};
    *elements = 1;
    for (uint8_t axis = 0; axis < CMD_AXES; axis++) {
        if (form->has[axis]) {
            view.level[view.level_count++] = (CmdLevel){axis, 1, 0, *elements * 8, 0};
            *elements *= extents[axis];
        }
    }
    return view;
}

static uint32_t add_map(const Layout *layout) {
    uint32_t number = made_buffer(&made, LOCAL, DTYPE_I8, 0, layout->bytes);
    CmdBuffer *buffer = &made.buffers[number];
    buffer->offset_bytes = number == 0 ? 0 : made.buffers[number - 1].offset_bytes + made.buffers[number - 1].bytes;
    buffer->lanes = layout->lanes;
    buffer->view = made_view(&made, layout->view);
    buffer->order = (CmdOrder){4, {MAP_N, MAP_C, MAP_H, MAP_W}, {N, C, H, W}};
    return number;
}

static CmdOperand add_form(const Broadcast *form, const int8_t *codes) {
    uint64_t elements;
    CmdView view = view_of_form(form, &elements);
    uint32_t number = made_buffer(&made, LOCAL, DTYPE_I8, 0, elements);
    CmdBuffer *buffer = &made.buffers[number];
    buffer->offset_bytes = made.buffers[number - 1].offset_bytes + made.buffers[number - 1].bytes;
    buffer->kind = CMD_BUFFER_PARAMETER;
    buffer->view = made_view(&made, view);
    buffer->constant = (const uint8_t *)codes;
    buffer->constant_bytes = elements;
    for (uint32_t k = view.level_count; k-- > 0;) {
        buffer->order.extent[buffer->order.rank] = extents[view.level[k].axis];
        buffer->order.axis[buffer->order.rank++] = view.level[k].axis;
    }
    return (CmdOperand){number, buffer->view, 0};
}

static Stage stage_of_sum(void) {
    Stage stage = stage_of_product(1);
    stage.kind = STAGE_CODE_ADD;
    stage.integer.in.scale = stage.integer.constant.scale = stage.integer.out.scale = 0.25f;
    return stage;
}

static int8_t param_at(const Broadcast *form, const int8_t *codes, const uint64_t *index) {
    uint64_t at = 0, weight = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        at += form->has[axis] ? index[axis] * weight : 0;
        weight *= form->has[axis] ? extents[axis] : 1;
    }
    return codes[at];
}

static int8_t expected_at(const Broadcast *form, const uint64_t *index, int8_t value) {
    Stage stage[] = {stage_of_product(param_at(form, values, index)), stage_of_sum()};
    int32_t code = value;
    float x = 0;
    stage[1].integer.value = param_at(&forms[1], values + 7, index);
    for (uint32_t s = 0; s < 2; s++) {
        BoundStage bound;
        assert_null(stage_bind(&stage[s], S0_SEM_TFLITE_DOUBLE, &bound));
        bound_run(&bound, &code, &x, 1);
    }
    return (int8_t)code;
}

/* The first stage has the form, the second a parameter a channel. As one command that carries, or as two in place. */
static void make_program(const Layout *src, const Layout *dst, const Broadcast *form, bool is_one) {
    made_init(&made);
    made.device.memory[LOCAL].bytes = UINT64_MAX;
    uint32_t from = add_map(src), to = add_map(dst);
    CmdOperand factor = add_form(form, values), addend = add_form(&forms[1], values + 7);
    for (uint32_t k = 0; k < (is_one ? 1 : 2); k++) {
        Command *command = made_command(&made, CMD_AFFINE, CMD_COLUMN_MULTIPLY, 0);
        command->src = (CmdOperand){k == 0 ? from : to, made.buffers[k == 0 ? from : to].view, 0};
        command->dst = (CmdOperand){to, made.buffers[to].view, 0};
        command->carry = is_one ? CMD_CARRY_OUTPUT : CMD_CARRY_NONE;
        memcpy(command->box.extent, extents, sizeof extents);
        command->semantics = S0_SEM_TFLITE_DOUBLE;
        if (k == 0) {
            made_param(made_stage(&made, command, stage_of_product(0)), CMD_PARAM_VALUE, factor);
        }
        if (k == 1 || is_one) {
            made_param(made_stage(&made, command, stage_of_sum()), CMD_PARAM_VALUE, addend);
        }
    }
}

static void compare(Span result, const Broadcast *form, const char *from, const char *to) {
    uint64_t at = 0;
    uint64_t index[CMD_AXES] = {0};
    assert_int_equal(result.len, ELEMENTS);
    for (index[N] = 0; index[N] < MAP_N; index[N]++) {
        for (index[C] = 0; index[C] < MAP_C; index[C]++) {
            for (index[H] = 0; index[H] < MAP_H; index[H]++) {
                for (index[W] = 0; index[W] < MAP_W; index[W]++, at++) {
                    if ((int8_t)result.ptr[at] != expected_at(form, index, values[at])) {
                        fail_msg("%s to %s, %s: element %d", from, to, form->name, (int)at);
                    }
                }
            }
        }
    }
}

static void run(uint32_t src, uint32_t dst, const Broadcast *form, bool is_one) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fail();
    }
    make_program(&layouts[src], &layouts[dst], form, is_one);
    Sim *sim = sim_new(&made.program, &made.device, &work);
    assert_non_null(sim);
    assert_true(sim_write(sim, 0, (Span){(const uint8_t *)values, ELEMENTS}));
    const SimResult *result = sim_run(sim);
    assert_int_equal(result->fault_count, 0);
    assert_int_equal(result->buffer[0].touched_bytes, ELEMENTS);
    uint64_t unwritten;
    Span read = sim_read(sim, 1, &work.keep, &unwritten);
    assert_int_equal(unwritten, 0);
    compare(read, form, layouts[src].name, layouts[dst].name);
    work_free(&work);
}

static void test_layouts(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (size_t k = 0; k < ELEMENTS; k++) {
        values[k] = (int8_t)(random_below(&seed, 61) - 30);
    }
    for (uint32_t src = 0; src < LAYOUTS; src++) {
        for (uint32_t form = 0; form < FORMS; form++) {
            uint32_t dst = (src + form) % LAYOUTS;
            run(src, dst, &forms[form], form % 2 == 0);
            run(src, dst, &forms[form], form % 2 != 0);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
