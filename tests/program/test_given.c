/* Proves that element-wise operators run on whatever a caller gives: two maps of any two shapes that broadcast to one
 * another, one map twice, parameters and limits of any rank, of float32 and of plain integers, with a constant in the
 * place of either. Each output of the simulated device is, bit for bit, what loops over the indices compute in C's own
 * types; no access is a fault. The operands may be what other operators make. What repeats is loaded as small as it is,
 * and a map that is read twice once. What is drawn comes from the seed of the case. */
#include "program/program.h"
#include "sim/sim.h"

#include "plan/planned.h"
#include "support/random.h"
#include "support/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

enum { MOST_RANK = 4, MOST_ELEMENTS = 7 * 7 * 7 * 7, CASES = 3000 };

typedef struct {
    uint32_t rank;
    uint32_t extent[MOST_RANK];
    uint32_t count;
    bool is_constant;
    uint32_t bits[MOST_ELEMENTS]; /* of each element, in the order of the file */
} Drawn;

typedef enum { OP_PLUS, OP_MINUS, OP_TIMES, OP_OVER, OP_WITHIN } Operator;

typedef struct {
    DType dtype;
    Operator op;
    uint32_t operand_count; /* OP_WITHIN: the map and two limits; else 2 */
    bool is_twice;          /* both operands are the first */
    bool is_made;           /* what is no constant goes through a Relu first */
    Drawn operand[3], out;
} Case;

/* ---- Drawing */

static uint32_t draw_bits(uint64_t *seed, DType dtype, bool is_divisor) {
    uint32_t bits = dtype_bits(dtype);
    if (dtype == DTYPE_F32) {
        float x = ((float)random_below(seed, 4000) - 1999.5f) / 64;
        uint32_t word;
        memcpy(&word, &x, sizeof word);
        return word;
    }
    uint32_t word = (uint32_t)random_next(seed) & (UINT32_MAX >> (32 - bits));
    return is_divisor && word == 0 ? 1 : word;
}

/* A shape that broadcasts to `out`. */
static void draw_shape(uint64_t *seed, const Drawn *out, Drawn *operand) {
    bool is_whole = random_below(seed, 3) == 0;
    uint32_t dropped = is_whole ? 0 : (uint32_t)random_below(seed, out->rank + 1);
    operand->rank = out->rank - dropped;
    for (uint32_t k = 0; k < operand->rank; k++) {
        operand->extent[k] = is_whole || random_below(seed, 3) > 0 ? out->extent[k + dropped] : 1;
    }
}

static void join_shape(const Drawn *operand, Drawn *out) {
    for (uint32_t k = 0; k < operand->rank; k++) {
        uint32_t *extent = &out->extent[out->rank - operand->rank + k];
        *extent = operand->extent[k] > *extent ? operand->extent[k] : *extent;
    }
}

static void fill(uint64_t *seed, DType dtype, bool is_divisor, Drawn *tensor) {
    tensor->count = 1;
    for (uint32_t k = 0; k < tensor->rank; k++) {
        tensor->count *= tensor->extent[k];
    }
    for (uint32_t i = 0; i < tensor->count; i++) {
        tensor->bits[i] = draw_bits(seed, dtype, is_divisor);
    }
}

static void draw_twice(uint64_t *seed, Case *made) {
    made->is_twice = made->operand_count == 2 && random_below(seed, 6) == 0;
    if (made->is_twice) {
        made->operand[0].is_constant = false;
        made->operand[1] = made->operand[0];
        made->out.rank = made->operand[0].rank;
    }
}

/* Of maps that are made one has all elements: no other may become the map. */
static void draw_made(uint64_t *seed, const Drawn *whole, Case *made) {
    made->is_made = made->dtype == DTYPE_F32 && made->op < OP_OVER && !made->is_twice && random_below(seed, 2) == 0;
    if (made->is_made) {
        made->operand[0] = *whole;
        made->out.rank = whole->rank;
    }
}

/* The broadcast of two shapes need not be what they were drawn from. */
static void draw_case(uint64_t seed, Case *made) {
    static const DType dtypes[] = {DTYPE_F32, DTYPE_F32, DTYPE_U8, DTYPE_I8, DTYPE_U16, DTYPE_I16, DTYPE_I32};
    Drawn whole = {.rank = (uint32_t)random_below(&seed, MOST_RANK + 1)};
    for (uint32_t k = 0; k < whole.rank; k++) {
        whole.extent[k] = 1 + (uint32_t)random_below(&seed, 7);
    }
    made->dtype = dtypes[random_below(&seed, sizeof dtypes / sizeof dtypes[0])];
    made->op = (Operator)random_below(&seed, OP_WITHIN + 1);
    made->operand_count = made->op == OP_WITHIN ? 3 : 2;
    uint32_t constant = (uint32_t)random_below(&seed, 8); /* of a quotient only the divisor */
    made->out = (Drawn){.rank = 0};
    for (uint32_t k = 0; k < made->operand_count; k++) {
        Drawn *operand = &made->operand[k];
        draw_shape(&seed, &whole, operand);
        operand->is_constant = constant == k && (k > 0 || made->op < OP_OVER);
        if (made->op == OP_WITHIN && k > 0) {
            operand->rank = 0;
        }
        made->out.rank = operand->rank > made->out.rank ? operand->rank : made->out.rank;
    }
    draw_twice(&seed, made);
    draw_made(&seed, &whole, made);
    for (uint32_t k = 0; k < made->out.rank; k++) {
        made->out.extent[k] = 1;
    }
    for (uint32_t k = 0; k < made->operand_count; k++) {
        join_shape(&made->operand[k], &made->out);
        fill(&seed, made->dtype, made->op == OP_OVER && (k == 1 || made->is_twice), &made->operand[k]);
    }
    if (made->is_twice) {
        made->operand[1] = made->operand[0];
    }
}

/* ---- The second computation */

static uint32_t element_at(const Drawn *operand, const Drawn *out, const uint32_t index[MOST_RANK]) {
    uint32_t place = 0;
    for (uint32_t k = 0; k < operand->rank; k++) {
        uint32_t along = index[out->rank - operand->rank + k];
        place = place * operand->extent[k] + (operand->extent[k] == 1 ? 0 : along);
    }
    return operand->bits[place];
}

static uint32_t of_reals(Operator op, const uint32_t bits[3]) {
    float x[3], y;
    memcpy(x, bits, sizeof x);
    switch (op) {
    case OP_PLUS:
        y = x[0] + x[1];
        break;
    case OP_MINUS:
        y = x[0] - x[1];
        break;
    case OP_TIMES:
        y = x[0] * x[1];
        break;
    case OP_OVER:
        y = x[0] / x[1];
        break;
    default:
        y = fminf(fmaxf(x[0], x[1]), x[2]);
    }
    uint32_t word;
    memcpy(&word, &y, sizeof word);
    return word;
}

/* The low bits of a sum, difference or product depend on the low bits of its operands only. */
static uint32_t of_integers(Operator op, DType dtype, const uint32_t bits[3]) {
    uint32_t width = dtype_bits(dtype);
    bool is_signed = dtype_kind(dtype) == DTYPE_KIND_SIGNED;
    int64_t x[3];
    for (uint32_t k = 0; k < 3; k++) {
        bool is_negative = is_signed && (bits[k] >> (width - 1) & 1) != 0;
        x[k] = (int64_t)bits[k] - (is_negative ? (int64_t)1 << width : 0);
    }
    int64_t raised = x[0] < x[1] ? x[1] : x[0];
    int64_t y = op == OP_PLUS    ? x[0] + x[1]
                : op == OP_MINUS ? x[0] - x[1]
                : op == OP_TIMES ? x[0] * x[1]
                : op == OP_OVER  ? x[0] / (x[1] == 0 ? 1 : x[1])
                                 : (raised > x[2] ? x[2] : raised);
    return (uint32_t)y & (UINT32_MAX >> (32 - width));
}

static void compute(Case *made) {
    Drawn *out = &made->out;
    uint32_t index[MOST_RANK] = {0};
    bool more = true;
    for (out->count = 0; more; out->count++) {
        uint32_t bits[3] = {0};
        for (uint32_t k = 0; k < made->operand_count; k++) {
            bits[k] = element_at(&made->operand[k], out, index);
            bool is_cut = made->is_made && !made->operand[k].is_constant && bits[k] >> 31 != 0;
            bits[k] = is_cut ? 0 : bits[k]; /* by Relu */
        }
        out->bits[out->count] =
            made->dtype == DTYPE_F32 ? of_reals(made->op, bits) : of_integers(made->op, made->dtype, bits);
        more = false;
        for (uint32_t k = out->rank; !more && k-- > 0;) {
            index[k] = index[k] + 1 < out->extent[k] ? index[k] + 1 : 0;
            more = index[k] != 0;
        }
    }
}

/* ---- The graph */

static void put_operand(Text *text, const Case *made, uint32_t k) {
    const Drawn *operand = &made->operand[k];
    uint32_t bytes = dtype_bits(made->dtype) / 8;
    put(text, "%s x%u %s[", operand->is_constant ? "const" : "input", (unsigned)k, dtype_name(made->dtype));
    for (uint32_t a = 0; a < operand->rank; a++) {
        put(text, "%s%u", a == 0 ? "" : ",", (unsigned)operand->extent[a]);
    }
    put(text, "]%s", operand->is_constant ? " = hex " : "");
    for (uint32_t i = 0; operand->is_constant && i < operand->count; i++) {
        for (uint32_t b = 0; b < bytes; b++) {
            put(text, "%02x", (unsigned)(operand->bits[i] >> 8 * b & 255));
        }
    }
    put(text, "\n");
}

/* Of the first `count` operands: constants stand last. */
static uint32_t made_count(const Case *made, uint32_t count) {
    return made->is_made ? count - made->operand[count - 1].is_constant : 0;
}

static void put_graph(Text *text, const Case *made) {
    static const char *const names[] = {"Add", "Sub", "Mul", "Div", "Clip"};
    text->length = 0;
    put(text, "stride0-graph 1\nformat onnx 14\n");
    for (uint32_t k = 0; k < made->operand_count - made->is_twice; k++) {
        put_operand(text, made, k);
    }
    for (uint32_t k = 0; k < made_count(made, 2); k++) {
        put(text, "node Relu@14: x%u -> m%u\n", (unsigned)k, (unsigned)k);
    }
    put(text, "node %s@14:", names[made->op]);
    for (uint32_t k = 0; k < made->operand_count; k++) {
        put(text, " %c%u", k < made_count(made, 2) ? 'm' : 'x', made->is_twice ? 0 : (unsigned)k);
    }
    put(text, " -> y\noutput y\n");
}

/* ---- A run */

static Span packed_of(const Drawn *tensor, DType dtype, Arena *arena) {
    size_t bytes = dtype_bits(dtype) / 8;
    uint8_t *packed = arena_array(arena, uint8_t, tensor->count * bytes);
    for (uint32_t i = 0; i < tensor->count; i++) {
        for (size_t b = 0; b < bytes; b++) {
            packed[i * bytes + b] = (uint8_t)(tensor->bits[i] >> 8 * b);
        }
    }
    return (Span){packed, tensor->count * bytes};
}

static void check_result(const Case *made, const CmdProgram *program, const SimResult *result) {
    (void)made;
    if (result->fault_count > 0) {
        fail_msg("%s: %s", sim_fault_name(result->fault[0].kind), result->fault[0].text);
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        assert_int_equal(result->buffer[k].touched_bytes, program->buffers[k].estimated_bytes);
    }
    assert_int_equal(result->cycles, program->booked_cycles);
}

static void run(const Case *made, const Plan *plan, Work *work) {
    const BuiltProgram *built = program_build(plan, S0_SEM_ONNX, work);
    assert_non_null(built);
    Sim *sim = sim_new(built->program, plan->device, work);
    assert_non_null(sim);
    for (uint32_t k = 0; k < built->input_count; k++) {
        Str name = graph_value(plan->graph, built->inputs[k].value)->name;
        const Drawn *operand = &made->operand[name.ptr[1] - '0'];
        assert_true(sim_write(sim, built->inputs[k].buffer, packed_of(operand, made->dtype, &work->keep)));
    }
    check_result(made, built->program, sim_run(sim));
    uint64_t unwritten;
    assert_int_equal(built->output_count, 1);
    Span got = sim_read(sim, built->outputs[0].buffer, &work->keep, &unwritten);
    Span expected = packed_of(&made->out, made->dtype, &work->keep);
    assert_int_equal(unwritten, 0);
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.ptr, expected.ptr, got.len);
}

/* No copy is larger than what lies in far memory; the elements of a map that is read twice move once, however it is
 * cut.
 */
static void check_loads(const Case *made, const Plan *plan) {
    uint64_t moved = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        if (step->column != COLUMN_LOAD_INPUT && step->column != COLUMN_LOAD_PARAM) {
            continue;
        }
        moved += step->moved_bytes;
        for (uint32_t k = 0; k < step->write_count; k++) {
            uint64_t far_bytes = plan_buffer(plan, step->reads[k])->logical_bytes;
            assert_true(plan_buffer(plan, step->writes[k])->logical_bytes <= far_bytes);
        }
    }
    if (made->is_twice) {
        assert_int_equal(moved, (uint64_t)made->out.count * dtype_bits(made->dtype) / 8);
    }
}

/* nvdla-small reads numbers along C, and whole maps; teach whatever repeats. */
static void check_forms(const Case *made, const Plan *plan) {
    bool needs_form = str_eq(plan->device->name, STR("nvdla-small")), is_plain = made_count(made, 2) == 2;
    const Drawn *small = &made->operand[1], *out = &made->out;
    bool repeats = false, is_list = true;
    uint32_t forms = 0;
    for (uint32_t k = 0; k < out->rank; k++) {
        uint32_t own = k < out->rank - small->rank ? 1 : small->extent[k - (out->rank - small->rank)];
        is_plain = is_plain && out->extent[k] > 1;
        repeats = repeats || own < out->extent[k];
        is_list = is_list && (own == 1 || k == 1);
    }
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        forms += plan->buffers[i].is_form;
    }
    if (is_plain && out->rank == 4 && (needs_form || str_eq(plan->device->name, STR("teach")))) {
        assert_int_equal(forms, needs_form && repeats && !is_list);
    }
}

static void check_case(uint64_t seed, const char *device) {
    static Case made;
    static Text text;
    Work work;
    WORK_BEGIN(&work);
    draw_case(seed, &made);
    compute(&made);
    put_graph(&text, &made);
    PlanOptions options = {.in_place = true, .tile_rows = seed % 3 == 0 ? 1 : 0};
    options.schedule = (Schedule)(seed % SCHEDULE_COUNT);
    options.strategy = seed % 5 == 0 ? STRATEGY_FULL : STRATEGY_AUTO;
    PlanCase test = {.graph = text.text, .device = device, .options = options};
    const Plan *plan = planned_run(&test, &work);
    if (plan == NULL || plan->sweep_count != (made_count(&made, 2) == 2 ? 3 : 1)) {
        diags_print(&work.diags, "", stderr);
        fail_msg("case %" PRIu64 " on %s is no sweep: %.300s", seed, device, text.text);
    }
    print_message("case %" PRIu64 " on %s: %.60s\n", seed, device, strchr(text.text + 16, '\n') + 1);
    check_loads(&made, plan);
    check_forms(&made, plan);
    run(&made, plan, &work);
    work_free(&work);
}

static void test_given(void **state) {
    (void)state;
    static const char *const devices[] = {"teach",       "nvdla-small",   "sophgo-bm1684x", "hexagon-v73",
                                          "ascend-220x", "ethos-u55-128", "k210-kpu"};
    for (uint64_t seed = 1; seed <= CASES; seed++) {
        check_case(seed, devices[seed % (sizeof devices / sizeof devices[0])]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_given)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
