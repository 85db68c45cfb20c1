/* Cases A, H, I, J and M5 from the field: how many bytes a tensor takes, whole graphs through the whole way.
 *
 * Proves: constants that repeat are stored once, collapsed where that is bit-identical and nowhere else; logical and
 * physical bytes of padded, blocked and packed storage; sizes past 32 bits are exact, nothing at all takes nothing; a
 * budget of exactly the reported bytes is enough. Every figure is derived here from shapes, or stands in the case. */
#include "cases.h"

#include "support/random.h"

/* ---- A1, A2: what repeats is a rule */

typedef struct {
    const char *what;
    const char *text;
    uint64_t constant_bytes;
    Broadcast broadcast;
    int32_t axis;
} Rule;

static const Rule rules[] = {
    {"A1: Tile of a channel vector",
     "format onnx 13\ninput X float32[1,48,360,640]\nconst s float32[1,48,1,1] = 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 "
     "16 "
     "17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48\n"
     "const n int64[4] = 1 1 360 640\nnode Tile t: s n -> e\nnode Mul m: X e -> Y\noutput Y\n",
     48 * 4, BROADCAST_CHANNEL, 1},
    {"A1: Expand of a channel vector",
     "format onnx 13\ninput X float32[1,48,360,640]\nconst s float32[1,48,1,1] = unknown\n"
     "const n int64[4] = 1 48 360 640\nnode Expand t: s n -> e\nnode Mul m: X e -> Y\noutput Y\n",
     48 * 4, BROADCAST_CHANNEL, 1},
    {"A1: all equal, along axis 2",
     "format onnx 13\ninput X float32[4,4,4,4]\nconst s float32[1,1,4,1] = 1 2 3 4\nconst n int64[4] = 4 4 1 4\n"
     "node Tile t: s n -> e\nnode Mul m: X e -> Y\noutput Y\n",
     4 * 4, BROADCAST_CHANNEL, 2},
    {"A1: BROADCAST_TO",
     "format tflite\ninput X int8[1,36,64,3]\nconst s int8[3] = 1 2 3\nconst n int32[4] = 1 36 64 3\nvalue e int8\n"
     "value Y int8[1,36,64,3]\nnode Expand t: s n -> e\nnode Mul m: X e -> Y\noutput Y\n",
     3, BROADCAST_CHANNEL, 3},
    {"A2: ConstantOfShape",
     "format onnx 13\ninput X float32[1,32,128,128]\nconst n int64[4] = 1 32 128 128\nconst v float32[1] = 1\n"
     "node ConstantOfShape t: n -> e value=tensor(v)\nnode Add m: X e -> Y\noutput Y\n",
     4, BROADCAST_SCALAR, -1},
    {"A2: FILL",
     "format tflite\ninput X int8[1,8,9,3]\nconst n int32[4] = 1 8 9 3\nconst v int8[] = 7\nvalue e int8\n"
     "value Y int8[1,8,9,3]\nnode tflite.FILL t: n v -> e\nnode Add m: X e -> Y\noutput Y\n",
     1, BROADCAST_SCALAR, -1},
    {"A1: Expand to further axes",
     "format onnx 13\ninput X float32[64,5]\nconst s float32[5] = 1 2 3 4 5\nconst n int64[2] = 64 5\n"
     "node Expand t: s n -> e\nnode Mul m: X e -> Y\noutput Y\n",
     5 * 4, BROADCAST_CHANNEL, 1},
};

static void test_rules(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++) {
        const Rule *row = &rules[i];
        Planned planned;
        case_must_plan(&planned, &(Case){.text = row->text, .device = "mcu-cm"});
        const Buffer *buffer = case_buffer_at(&planned, "m", "e");
        if (case_constant_bytes(planned.plan) != row->constant_bytes || buffer->broadcast != row->broadcast ||
            buffer->axis != row->axis) {
            fail_msg("%s: %llu bytes, %s along %d", row->what, (unsigned long long)case_constant_bytes(planned.plan),
                     broadcast_name(buffer->broadcast), (int)buffer->axis);
        }
        planned_free(&planned);
    }
}

/* ---- A2: constants that arrive expanded */

/* A dense constant over [A,B,C,D] whose value depends on the axes of `mask` alone, plus `odd` at the last element. */
static char *dense_text(const char *dtype, uint32_t mask, bool odd, Extents extents) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    uint64_t extent[4];
    uint64_t count = 1;
    for (uint32_t k = 0; k < 4; k++) {
        extent[k] = (uint64_t)case_extent((char)('A' + k), extents);
        count *= extent[k];
    }
    fprintf(out, "format onnx 21\ninput X %s[A,B,C,D]\nconst s %s[A,B,C,D] =", dtype, dtype);
    for (uint64_t i = 0; i < count; i++) {
        uint64_t rest = i;
        uint64_t value = odd && i + 1 == count ? 7 : 0;
        for (uint32_t k = 4; k-- > 0; rest /= extent[k]) {
            value ^= (mask >> k & 1) != 0 && rest % extent[k] != 0 ? UINT64_C(1) << k : 0;
        }
        fprintf(out, " %d", (int)value - 8);
    }
    fputs("\nnode Add m: X s -> Y\noutput Y\n", out);
    fclose(out);
    return text;
}

static void check_dense(const char *dtype, uint32_t bits, uint32_t mask, Extents extents) {
    Planned planned;
    char *text = dense_text(dtype, mask, false, extents);
    case_must_plan(&planned, &(Case){.text = text, .device = "mcu-cm", .extents = extents});
    const Buffer *buffer = case_buffer_at(&planned, "m", "s");
    uint64_t elements = 1;
    for (uint32_t k = 0; k < 4; k++) {
        int64_t kept = (mask >> k & 1) != 0 ? case_extent((char)('A' + k), extents) : 1;
        assert_int_equal(buffer->stored.dim[k], kept);
        elements *= (uint64_t)kept;
    }
    assert_int_equal(buffer->logical_bytes, (elements * bits + 7) / 8);
    planned_free(&planned);
    free(text);
}

/* One element that differs keeps every byte. */
static void check_odd(const char *dtype, Extents extents) {
    Planned planned;
    char *text = dense_text(dtype, 0, true, extents);
    case_must_plan(&planned, &(Case){.text = text, .device = "mcu-cm", .extents = extents});
    const Buffer *buffer = case_buffer_at(&planned, "m", "s");
    assert_int_equal(buffer->broadcast, BROADCAST_FULL);
    assert_true(shape_eq(&buffer->stored, &graph_value(planned.plan->graph, buffer->value)->shape));
    planned_free(&planned);
    free(text);
}

static void test_dense_constants_collapse(void **state) {
    (void)state;
    static const struct {
        const char *name;
        uint32_t bits;
    } dtypes[] = {{"int4", 4}, {"int8", 8}, {"float32", 32}};
    for (size_t t = 0; t < sizeof dtypes / sizeof dtypes[0]; t++) {
        for (Extents extents = ALL_DIFFERENT; extents < EXTENTS_COUNT; extents++) {
            for (uint32_t mask = 0; mask < 16; mask++) {
                check_dense(dtypes[t].name, dtypes[t].bits, mask, extents);
            }
            check_odd(dtypes[t].name, extents);
        }
    }
}

/* 2 097 152 bytes of ones are 4; 0 and -0 are equal and not the same bits, one NaN twice is. */
static void test_bits_decide(void **state) {
    (void)state;
    static const struct {
        const char *values;
        Broadcast broadcast;
    } pairs[] = {{"hex 0000000000000080", BROADCAST_CHANNEL},
                 {"hex 0000c07f0000c07f", BROADCAST_SCALAR},
                 {"hex 0000c07f0100c07f", BROADCAST_CHANNEL}};
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        Planned planned;
        char text[256];
        snprintf(text, sizeof text,
                 "format onnx 13\ninput X float32[2]\nconst s float32[2] = %s\nnode Add m: X s -> Y\noutput Y\n",
                 pairs[i].values);
        case_must_plan(&planned, &(Case){.text = text});
        assert_int_equal(case_buffer_at(&planned, "m", "s")->broadcast, pairs[i].broadcast);
        planned_free(&planned);
    }
}

/* ---- A4, H4, H7, I: logical and physical */

typedef struct {
    const char *what;
    const char *type; /* of the map; ONNX, no operator says what its axes are */
    const char *contract;
    const char *layout;
    uint64_t logical_bytes, physical_bytes;
} Storage;

#define TILES_F32 "N H W^32 C@128"

static const Storage storages[] = {
    {"H4: 21 channels in blocks of 16", "int8[1,21,5,7]", "N C/16 H W C%16", "X=NCHW", 735, 1120},
    {"H4: rows to 16", "int8[3,9,21]", "N H W C@16", NULL, 567, 864},
    {"H4: all equal", "int8[7,7,7]", "N H W C@16", NULL, 343, 7 * 7 * 16},
    {"H7: last dimensions of 1 and 2", "float32[1,64,3,8,1,2]", TILES_F32, NULL, 12288, 6291456},
    {"H7: one dimension", "int8[1000]", "N H W^32 C@32", NULL, 1000, 32768},
    {"H7: a scale", "bfloat16[512,96,1,1]", "N H W^32 C@64", NULL, 98304, 100663296},
    {"I1: odd rows of four bits", "int4[5,7]", "N H W C", NULL, 18, 18},
    {"I1: one element", "int4[1]", "N H W C", NULL, 1, 1},
    {"I1: two bits", "int2[7]", "N H W C", NULL, 2, 2},
    {"I2: five elements", "int4[5]", "N H W C", NULL, 3, 3},
    {"I3: dense", "int4[3,17]", "N H W C", NULL, 26, 26},
    {"I3: rows to bytes", "int4[3,17]", "N H W C@1", NULL, 26, 27},
    {"I3: rows to 4", "int4[3,17]", "N H W C@4", NULL, 26, 36},
    {"I3: rows to 16", "int4[3,17]", "N H W C@16", NULL, 26, 48},
    {"I4: a copy is as long as the tensor", "int4[51]", "N H W C", NULL, 26, 26},
    {"J1: 65 536 in 32 bits", "int8[65537,65536]", "N H W C", NULL, 4295032832, 4295032832},
    {"J1: 2 in 32 bits", "int8[3,1431655766]", "N H W C", NULL, 4294967298, 4294967298},
    {"J1: negative in 32 bits", "int8[46341,46341]", "N H W C", NULL, 2147488281, 2147488281},
    {"J4: more bits than 32 bits count", "float32[150000000]", "N H W C", NULL, 600000000, 600000000},
    {"J5: no channel", "float32[1,0,4,4]", "N H W C@16 total@64", NULL, 0, 0},
    {"J5: no batch", "int8[0,3,2,2]", "N H W C@16 total@64", NULL, 0, 0},
    {"J5: no element, whatever stands beside", "int8[0,1099511627776,1099511627776]", "N H W C", NULL, 0, 0},
};

static void test_storages(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof storages / sizeof storages[0]; i++) {
        const Storage *row = &storages[i];
        Planned planned;
        char text[256];
        snprintf(text, sizeof text, "format onnx 13\ninput X %s\nnode Relu n: X -> Y\noutput Y\n", row->type);
        case_must_plan(
            &planned,
            &(Case){.text = text, .contract = row->contract, .layout = row->layout, .options = {.whole_tiles = true}});
        for (uint32_t b = 0; b < planned.plan->buffer_count; b++) { /* far and local, input and output */
            const Buffer *buffer = &planned.plan->buffers[b];
            if (buffer->logical_bytes != row->logical_bytes || buffer->physical_bytes != row->physical_bytes) {
                fail_msg("%s: %llu logical, %llu physical", row->what, (unsigned long long)buffer->logical_bytes,
                         (unsigned long long)buffer->physical_bytes);
            }
        }
        planned_free(&planned);
    }
}

/* A4: 96 numbers along axis 1, on an engine that pads the last dimension to 32 elements. */
static void test_channel_vector_in_tiles(void **state) {
    (void)state;
    Planned planned;
    const Case c = {.text =
                        "format onnx 13\ninput X int32[1,96,5,333,1]\nconst s int32[1,96,5,333,1] stored [1,96,1,1,1] "
                        "= unknown\nnode Add m: X s -> Y\noutput Y\n",
                    .contract = "N H W C@128",
                    .options = {.whole_tiles = true}};
    case_must_plan(&planned, &c);
    const Buffer *vector = case_buffer_at(&planned, "m", "s");
    assert_int_equal(vector->logical_bytes, 384);
    assert_int_equal(vector->physical_bytes, 384);
    assert_int_equal(vector->axis, 1);
    assert_int_equal(vector->costs->full_bytes, 20459520);
    const Buffer *map = case_buffer_at(&planned, "m", "X");
    assert_int_equal(map->logical_bytes, 639360);
    assert_int_equal(map->physical_bytes, 32 * map->logical_bytes);
    planned_free(&planned);
}

/* ---- J: what does not fit, what is nothing */

static void test_sizes_past_64_bits(void **state) {
    (void)state;
    static const char *const types[] = {"int8[4294967296,4294967296]", "float64[4294967296,1073741824]",
                                        "int8[281474976710656,65536]", "float32[281474976710656,16384]"};
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        Planned planned;
        char text[256];
        snprintf(text, sizeof text, "input big %s\nnode Relu n: big -> Y\noutput Y\n", types[i]);
        assert_false(case_make(&planned, &(Case){.text = text}));
        assert_true(case_was_told(&planned, "'big'") && case_was_told(&planned, "64 bits"));
        planned_free(&planned);
    }
}

/* J5: no element is no byte, no traffic and still a buffer; the parameters of what is not there keep their axis. */
static void test_nothing(void **state) {
    (void)state;
    static const struct {
        const char *text;
        uint64_t parameter_bytes;
    } rows[] = {
        {"format onnx 13\ninput X float32[1,0,4,4]\nconst s float32[0] =\n"
         "node BatchNormalization n: X s s s s -> Y\noutput Y\n",
         0},
        {"format onnx 13\ninput X float32[0,3,2,2]\nconst s float32[3] = 1 2 3\n"
         "node BatchNormalization n: X s s s s -> Y\noutput Y\n",
         12},
    };
    for (size_t i = 0; i < 2; i++) {
        for (int device = 0; device < 2; device++) {
            Planned planned;
            case_must_plan(&planned, &(Case){.text = rows[i].text, .device = device == 0 ? "teach" : "mcu-cm"});
            assert_int_equal(case_buffer_at(&planned, "n", "Y")->physical_bytes, 0);
            assert_int_equal(case_buffer_at(&planned, "n", "X")->physical_bytes, 0);
            const Buffer *parameter = case_buffer_at(&planned, "n", "s");
            assert_int_equal(parameter->logical_bytes, rows[i].parameter_bytes);
            assert_int_equal(parameter->axis, 1);
            assert_int_equal(parameter->costs->full_bytes, 0);
            assert_true(plan_fits(planned.plan));
            planned_free(&planned);
        }
    }
}

/* ---- H1: sizes of 70 and 80, M5: exactly enough */

static void test_two_aligned_buffers(void **state) {
    (void)state;
    static const struct {
        const char *device;
        uint64_t placed_bytes;
    } rows[] = {{"mcu-cm", 80 + 80}, {"gap8", 72 + 80}};
    for (size_t i = 0; i < 2; i++) {
        Planned planned;
        case_must_plan(&planned,
                       &(Case){.text = "input a int8[70]\nvalue c int8[80]\nnode Custom n: a -> c\noutput c\n",
                               .device = rows[i].device});
        assert_int_equal(planned.plan->placed_bytes, rows[i].placed_bytes);
        planned_free(&planned);
    }
}

/* A random chain with skips: every node reads two of the values before it. */
static void write_network(FILE *out, uint64_t *random) {
    enum { NODES = 12 };
    fprintf(out, "input v0 int8[%u]\n", 1 + (unsigned)random_below(random, 300));
    for (unsigned k = 1; k <= NODES; k++) {
        fprintf(out, "value v%u int8[%u]\n", k, 1 + (unsigned)random_below(random, 300));
        fprintf(out, "node Custom n%u: v%u v%u -> v%u\n", k, k - 1, (unsigned)random_below(random, k), k);
    }
    fprintf(out, "output v%d\n", NODES);
}

static bool fits_in(const char *text, const char *device, uint64_t budget_bytes) {
    Planned planned;
    case_must_plan(&planned, &(Case){.text = text,
                                     .device = device,
                                     .options = {.in_place = true, .whole_tiles = true, .budget_bytes = budget_bytes}});
    bool fits = plan_fits(planned.plan);
    assert_true(fits || planned.plan->remedy_count > 0);
    planned_free(&planned);
    return fits;
}

static void test_exactly_enough(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 60; i++) {
        static const char *const devices[] = {"mcu-cm", "teach", "gap8"};
        const char *device = devices[i % 3];
        char *text = NULL;
        size_t length = 0;
        Planned planned;
        FILE *out = open_memstream(&text, &length);
        write_network(out, &random);
        fclose(out);
        case_must_plan(&planned, &(Case){.text = text, .device = device, .options = {.in_place = true}});
        uint64_t need = planned.plan->placed_bytes;
        planned_free(&planned);
        assert_true(fits_in(text, device, need));
        assert_false(fits_in(text, device, need - 1));
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rules),
        cmocka_unit_test(test_dense_constants_collapse),
        cmocka_unit_test(test_bits_decide),
        cmocka_unit_test(test_storages),
        cmocka_unit_test(test_channel_vector_in_tiles),
        cmocka_unit_test(test_sizes_past_64_bits),
        cmocka_unit_test(test_nothing),
        cmocka_unit_test(test_two_aligned_buffers),
        cmocka_unit_test(test_exactly_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
