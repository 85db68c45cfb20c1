/* Proves that element-wise operators of two maps that other operators make run, in one tile and in several, from local
 * memory and from far memory: ADD, SUB and MUL of codes as TFLite's reference kernels compute them, of reals, and of
 * reals that codes stand for. Each output is what the definitions of docs/semantics.md give, written here a second time
 * in exact integers; no access is a fault, and bytes and cycles are as the plan counts them. */
#include "graph/passes.h"
#include "graph/text.h"
#include "program/program.h"
#include "sim/sim.h"

#include "support/random.h"
#include "support/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

enum { AXES = 4, MOST_ELEMENTS = 2 * 5 * 5 * 9, CASES = 600 };

typedef enum { OF_TFLITE, OF_REALS, OF_CODED } Family;
typedef enum { PLUS, MINUS, TIMES, OVER } Operator;

typedef struct {
    float scale;
    int32_t zero;
} Coding;

typedef struct {
    uint32_t extent[AXES], count;
    int32_t code[MOST_ELEMENTS]; /* OF_TFLITE */
    float real[MOST_ELEMENTS];   /* else */
} Map;

typedef struct {
    Family family;
    Operator op;
    DType dtype; /* of codes */
    Semantics semantics;
    uint32_t activation; /* 0, RELU, RELU6 */
    bool is_same;        /* the second map is the first one */
    Coding coding[3];    /* of both maps and of the result */
    Map in[2], out;
} Case;

/* ---- Drawing */

static Coding draw_coding(uint64_t *seed, DType dtype) {
    int32_t zero = (int32_t)random_below(seed, 40) + (dtype == DTYPE_U8 ? 100 : -20);
    float scale = (float)(random_below(seed, 1000) + 24) / 8191.0f;
    return (Coding){scale, dtype == DTYPE_I16 ? 0 : zero};
}

static void range_of(DType dtype, int32_t *lo, int32_t *hi) {
    *lo = dtype == DTYPE_U8 ? 0 : dtype == DTYPE_I8 ? -128 : -32768;
    *hi = dtype == DTYPE_U8 ? 255 : dtype == DTYPE_I8 ? 127 : 32767;
}

/* Reals are above 0, so that they may divide. */
static void draw_map(uint64_t *seed, const Case *made, Map *map) {
    int32_t lo, hi;
    range_of(made->dtype, &lo, &hi);
    map->count = map->extent[0] * map->extent[1] * map->extent[2] * map->extent[3];
    for (uint32_t k = 0; k < map->count; k++) {
        map->code[k] = lo + (int32_t)random_below(seed, (uint64_t)(hi - lo) + 1);
        map->real[k] = (float)(1 + random_below(seed, 5000)) / 512;
    }
}

static void draw_case(uint64_t seed, Case *made) {
    static const DType types[] = {DTYPE_I8, DTYPE_I8, DTYPE_U8, DTYPE_I16};
    static const Semantics references[] = {S0_SEM_TFLITE_DOUBLE, S0_SEM_TFLITE_SINGLE, S0_SEM_TFLITE_DOUBLE_F32,
                                           S0_SEM_CMSIS};
    static const uint32_t most[AXES] = {2, 5, 5, 9};
    uint32_t family = (uint32_t)random_below(&seed, 6), smaller = (uint32_t)random_below(&seed, 4);
    made->family = family < 4 ? OF_TFLITE : family == 4 ? OF_REALS : OF_CODED;
    made->dtype = types[random_below(&seed, made->family == OF_TFLITE ? 4 : 3)];
    made->op = (Operator)random_below(&seed, made->dtype == DTYPE_I16 ? 1 : made->family == OF_REALS ? 4 : 3);
    made->semantics = made->family == OF_TFLITE ? references[random_below(&seed, 4)] : S0_SEM_ONNX;
    made->activation = made->family == OF_TFLITE ? (uint32_t)random_below(&seed, 3) : 0;
    for (uint32_t k = 0; k < 3; k++) {
        made->coding[k] = draw_coding(&seed, made->dtype);
    }
    smaller = made->op == OVER && smaller == 0 ? 1 : smaller; /* a dividend is the map */
    for (uint32_t a = 0; a < AXES; a++) {
        uint32_t whole = 1 + (uint32_t)random_below(&seed, most[a]);
        made->out.extent[a] = made->in[0].extent[a] = made->in[1].extent[a] = whole;
        if (smaller < 2 && random_below(&seed, 2) == 0) {
            made->in[smaller].extent[a] = 1;
        }
    }
    draw_map(&seed, made, &made->in[0]);
    draw_map(&seed, made, &made->in[1]);
    draw_map(&seed, made, &made->out);
    made->is_same = smaller > 1 && random_below(&seed, 6) == 0;
    if (made->is_same) {
        made->in[1] = made->in[0];
        made->coding[1] = made->coding[0];
    }
}

/* ---- TFLite's arithmetic, in exact integers */

static int64_t floor_shift(int64_t x, int bits) {
    int64_t whole = x / ((int64_t)1 << bits), rest = x % ((int64_t)1 << bits);
    return rest < 0 ? whole - 1 : whole;
}

static int64_t half_up(int64_t x, int bits) {
    return bits == 0 ? x : floor_shift(x + ((int64_t)1 << (bits - 1)), bits);
}

static int64_t half_away(int64_t x, int bits) {
    int64_t size = x < 0 ? -x : x;
    int64_t result = bits == 0 ? size : (size + ((int64_t)1 << (bits - 1))) >> bits;
    return x < 0 ? -result : result;
}

static int64_t requantise(int64_t x, double factor, Semantics semantics) {
    int exponent;
    int64_t multiplier = (int64_t)round(frexp(factor, &exponent) * 2147483648.0);
    if (multiplier == INT64_C(1) << 31) {
        multiplier /= 2;
        exponent++;
    }
    int right = exponent < 0 ? -exponent : 0, left = exponent > 0 ? exponent : 0;
    if (semantics == S0_SEM_TFLITE_SINGLE) {
        return half_up(x * multiplier, 31 - exponent);
    }
    return half_away(half_up(x * multiplier * ((int64_t)1 << left), 31), right);
}

static double factor_of_product(const Case *made) {
    float in = made->coding[0].scale, other = made->coding[1].scale, out = made->coding[2].scale;
    float product = in * other;
    float narrow = product / out;
    return made->semantics == S0_SEM_TFLITE_DOUBLE_F32 ? (double)narrow : (double)in * (double)other / (double)out;
}

static int64_t tflite_value(const Case *made, int64_t a, int64_t b) {
    if (made->op == TIMES) {
        return requantise(a * b, factor_of_product(made), made->semantics);
    }
    int left = made->dtype == DTYPE_I16 ? 15 : 20;
    double first = (double)made->coding[0].scale, second = (double)made->coding[1].scale;
    double twice = 2 * fmax(first, second), whole = (double)((int64_t)1 << left);
    int64_t x = requantise(a * (INT64_C(1) << left), first / twice, made->semantics);
    int64_t y = requantise(b * (INT64_C(1) << left), second / twice, made->semantics);
    return requantise(made->op == PLUS ? x + y : x - y, twice / (whole * (double)made->coding[2].scale),
                      made->semantics);
}

static int32_t tflite_code(const Case *made, int32_t a, int32_t b) {
    int32_t lo, hi;
    const Coding *out = &made->coding[2];
    range_of(made->dtype, &lo, &hi);
    int64_t six = out->zero + (int64_t)round(6.0 / (double)out->scale);
    int64_t least = made->activation > 0 && out->zero > lo ? out->zero : lo;
    int64_t most = made->activation == 2 && six < hi ? six : hi;
    a = a < made->coding[0].zero ? made->coding[0].zero : a; /* the RELU that makes it */
    b = b < made->coding[1].zero ? made->coding[1].zero : b;
    int64_t code = out->zero + tflite_value(made, a - made->coding[0].zero, b - made->coding[1].zero);
    return (int32_t)(code < least ? least : code > most ? most : code);
}

/* ---- ONNX's */

static float of_reals(Operator op, float a, float b) {
    return op == PLUS ? a + b : op == MINUS ? a - b : op == TIMES ? a * b : a / b;
}

static int32_t quantised(const Case *made, float x, uint32_t k) {
    int32_t lo, hi;
    range_of(made->dtype, &lo, &hi);
    float steps = rintf(x / made->coding[k].scale) + (float)made->coding[k].zero;
    return steps < (float)lo ? lo : steps > (float)hi ? hi : (int32_t)steps;
}

static float dequantised(const Case *made, int32_t code, uint32_t k) {
    return (float)(code - made->coding[k].zero) * made->coding[k].scale;
}

static int32_t of_coded(const Case *made, float a, float b) {
    float x = dequantised(made, quantised(made, a, 0), 0), y = dequantised(made, quantised(made, b, 1), 1);
    return quantised(made, of_reals(made->op, x, y), 2);
}

/* ---- All elements */

static uint32_t place_in(const Map *map, const uint32_t index[AXES]) {
    uint32_t place = 0;
    for (uint32_t a = 0; a < AXES; a++) {
        place = place * map->extent[a] + (map->extent[a] == 1 ? 0 : index[a]);
    }
    return place;
}

static void compute(Case *made) {
    Map *out = &made->out;
    for (uint32_t k = 0; k < out->count; k++) {
        uint32_t index[AXES], rest = k;
        for (uint32_t a = AXES; a-- > 0;) {
            index[a] = rest % out->extent[a];
            rest /= out->extent[a];
        }
        uint32_t first = place_in(&made->in[0], index), second = place_in(&made->in[1], index);
        out->code[k] = made->family == OF_TFLITE ? tflite_code(made, made->in[0].code[first], made->in[1].code[second])
                                                 : of_coded(made, made->in[0].real[first], made->in[1].real[second]);
        out->real[k] = of_reals(made->op, made->in[0].real[first], made->in[1].real[second]);
    }
}

/* ---- The graph */

static void put_value(Text *text, const Case *made, const char *word, const char *name, uint32_t k) {
    const Map *map = k < 2 ? &made->in[k] : &made->out;
    const char *dtype = made->family == OF_TFLITE ? dtype_name(made->dtype) : "float32";
    put(text, "%s %s %s[%u,%u,%u,%u]", word, name, dtype, (unsigned)map->extent[0], (unsigned)map->extent[1],
        (unsigned)map->extent[2], (unsigned)map->extent[3]);
    if (made->family == OF_TFLITE) {
        put(text, " scale=%.9g zero=%d", (double)made->coding[k].scale, (int)made->coding[k].zero);
    }
    put(text, "\n");
}

static const char *second_of(const Case *made) {
    return made->is_same ? "a" : "b";
}

static void put_tflite(Text *text, const Case *made) {
    static const char *const operators[] = {"Add", "Sub", "Mul"};
    static const char *const activations[] = {"NONE", "RELU", "RELU6"};
    put_value(text, made, "value", "a", 0);
    put_value(text, made, "value", "b", 1);
    put_value(text, made, "value", "y", 2);
    put(text, "node Relu: x -> a\nnode Relu: z -> b\nnode %s: a %s -> y activation=\"%s\"\noutput y\n",
        operators[made->op], second_of(made), activations[made->activation]);
}

static void put_onnx(Text *text, const Case *made) {
    static const char *const operators[] = {"Add", "Sub", "Mul", "Div"};
    const char *name = operators[made->op];
    if (made->family == OF_REALS) {
        put(text, "node Relu@14: x -> a\nnode Relu@14: z -> b\nnode %s@14: a %s -> y\noutput y\n", name,
            second_of(made));
        return;
    }
    for (uint32_t k = 0; k < 3; k++) {
        put(text, "const s%u float32[] = %.9g\nconst z%u %s[] = %d\n", (unsigned)k, (double)made->coding[k].scale,
            (unsigned)k, dtype_name(made->dtype), (int)made->coding[k].zero);
    }
    put(text,
        "node QuantizeLinear@13: x s0 z0 -> p\nnode QuantizeLinear@13: z s1 z1 -> q\n"
        "node DequantizeLinear@13: p s0 z0 -> a\nnode DequantizeLinear@13: q s1 z1 -> b\n"
        "node %s@14: a %s -> t\nnode QuantizeLinear@13: t s2 z2 -> y\noutput y\n",
        name, second_of(made));
}

static void put_graph(Text *text, const Case *made) {
    text->length = 0;
    put(text, "stride0-graph 1\nformat %s\n", made->family == OF_TFLITE ? "tflite" : "onnx 14");
    put_value(text, made, "input", "x", 0);
    put_value(text, made, "input", "z", 1);
    made->family == OF_TFLITE ? put_tflite(text, made) : put_onnx(text, made);
    put(text, made->is_same ? "output b\n" : "");
}

/* ---- A run */

static const Device *device_of(uint64_t seed, Work *work) {
    static const char *const bytes[] = {"64K", "64K", "512", "256", "128"};
    static const char *const maps[] = {"N H W C", "N C H W", "N C/4 H W C%4"};
    const char *text =
        arena_text(&work->keep,
                   "[device]\nname = box\nkind = scratchpad\n"
                   "[memory local]\nbytes = %s @ test\nalign_bytes = 4 @ test\nlanes = 1 @ test\n"
                   "[memory far]\nbytes = unbounded @ test\nalign_bytes = 4 @ test\n"
                   "[contract]\nactivation = %s @ test\nweight = O I H W @ test\nparameter = C @ test\n"
                   "[parameter]\nscalar = 1 @ test\nchannel = 1 @ test\nrow = 1 @ test\nfull = 1 @ test\n"
                   "[engine]\nvector_bytes_cycle = 16 @ test\nissue_cycles = 10 @ test\n"
                   "descriptor_cycles = 10 @ test\nsync_cycles = 20 @ test\n"
                   "[dma]\nbytes_cycle = 8 @ test\nsetup_cycles = 50 @ test\nmax_bytes = 64K @ test\n",
                   bytes[seed % 5], maps[seed / 5 % 3]);
    const Device *device = device_parse(work, str_from(text), STR("box.ini"));
    assert_non_null(device);
    return device;
}

static const Plan *plan_of(const Text *text, const Case *made, const Device *device, uint64_t seed, Work *work) {
    PlanOptions options = {.in_place = seed % 2 == 0, .schedule = (Schedule)(seed % SCHEDULE_COUNT)};
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text->text, text->length}, STR("maps"));
    LayoutBinding layout = {.tensor = STR("x"), .is_channel_second = true};
    bool is_ready = graph != NULL && graph_check(graph, work) && graph_infer(graph, work) &&
                    graph_assign_names(graph, &layout, made->family == OF_TFLITE ? 0 : 1, work) &&
                    graph_fold_qdq(graph, work);
    return is_ready ? plan_make(graph, device, &options, work) : NULL;
}

static bool has_reals(const Case *made, bool is_out) {
    return made->family == OF_REALS || (made->family == OF_CODED && !is_out);
}

/* Little-endian, as files hold them. */
static Span packed_of(const Case *made, const Map *map, Arena *arena) {
    bool is_real = has_reals(made, map == &made->out);
    size_t bytes = is_real ? 4 : dtype_bits(made->dtype) / 8;
    uint8_t *packed = arena_array(arena, uint8_t, map->count * bytes);
    for (uint32_t k = 0; k < map->count; k++) {
        uint32_t word = (uint32_t)map->code[k];
        if (is_real) {
            memcpy(&word, &map->real[k], sizeof word);
        }
        for (size_t b = 0; b < bytes; b++) {
            packed[k * bytes + b] = (uint8_t)(word >> 8 * b);
        }
    }
    return (Span){packed, map->count * bytes};
}

static void check_result(const CmdProgram *program, const SimResult *result) {
    if (result->fault_count > 0) {
        fail_msg("%s: %s", sim_fault_name(result->fault[0].kind), result->fault[0].text);
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        assert_int_equal(result->buffer[k].touched_bytes, program->buffers[k].estimated_bytes);
    }
    assert_int_equal(result->cycles, program->booked_cycles);
}

static void run(const Case *made, const Plan *plan, Work *work) {
    const BuiltProgram *built = program_build(plan, made->semantics, work);
    if (built == NULL) {
        diags_print(&work->diags, "", stderr);
        fail();
    }
    assert_null(cmd_check_extents(built->program, &work->scratch));
    Sim *sim = sim_new(built->program, plan->device, work);
    assert_non_null(sim);
    for (uint32_t k = 0; k < built->input_count; k++) {
        bool is_first = graph_value(plan->graph, built->inputs[k].value)->name.ptr[0] == 'x';
        const Map *map = &made->in[is_first ? 0 : 1];
        assert_true(sim_write(sim, built->inputs[k].buffer, packed_of(made, map, &work->keep)));
    }
    check_result(built->program, sim_run(sim));
    uint64_t unwritten;
    Span got = sim_read(sim, built->outputs[0].buffer, &work->keep, &unwritten);
    Span expected = packed_of(made, &made->out, &work->keep);
    assert_int_equal(unwritten, 0);
    assert_int_equal(got.len, expected.len);
    assert_memory_equal(got.ptr, expected.ptr, got.len);
}

typedef struct {
    uint32_t runs, cut, far; /* all, sweeps of two maps in several tiles, and those with the second map in far memory */
} Seen;

static void count_sweep(const PlannedSweep *sweep, Seen *seen) {
    bool is_map = sweep->sweep.param_count > 0 && sweep->sweep.params[0].is_map;
    seen->cut += is_map && sweep->chosen.best.cost.tiles > 1;
    seen->far += is_map && sweep->sweep.params[0].is_far;
}

static void check_case(uint64_t seed, Seen *seen) {
    static Case made;
    static Text text;
    Work work;
    WORK_BEGIN(&work);
    draw_case(seed * UINT64_C(0x9E3779B97F4A7C15) + 1, &made);
    compute(&made);
    put_graph(&text, &made);
    print_message("case %" PRIu64 "\n", seed);
    const Plan *plan = plan_of(&text, &made, device_of(seed, &work), seed, &work);
    if (plan == NULL) {
        diags_print(&work.diags, "", stderr);
        fail_msg("case %" PRIu64 " has no plan: %s", seed, text.text);
    }
    if (plan_fits(plan)) {
        seen->runs++;
        for (uint32_t s = 0; s < plan->sweep_count; s++) {
            count_sweep(&plan->sweeps[s], seen);
        }
        run(&made, plan, &work);
    }
    work_free(&work);
}

static void test_two_maps(void **state) {
    (void)state;
    Seen seen = {0};
    for (uint64_t seed = 0; seed < CASES; seed++) {
        check_case(seed, &seen);
    }
    print_message("%u runs, %u in tiles, %u from far memory\n", (unsigned)seen.runs, (unsigned)seen.cut,
                  (unsigned)seen.far);
    assert_true(seen.runs > CASES / 2 && seen.cut > CASES / 20 && seen.far > CASES / 20);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_two_maps)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
