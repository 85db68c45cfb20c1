/* Proves that the presets say what is published: capacities, banks, alignments, layouts, forms and records stand here a
 * second time, from the documents; that their contracts lay out any shape of any width; and that they give the sizes
 * which the vendors' own formulas give. */
#include "box.h"

static const Device *load(Work *work, const char *name) {
    const Device *device = device_load(work, str_from(name));
    if (device == NULL) {
        diags_print(&work->diags, name, stderr);
    }
    assert_non_null(device);
    return device;
}

static void assert_text(Str got, const char *expected) {
    if (!str_eq(got, str_from(expected))) {
        fail_msg("got '" STR_FMT "', expected '%s'", STR_ARG(got), expected);
    }
}

/* ---- What is published */

enum { NO = 0 }; /* a form that the engine can't read */

typedef struct {
    const char *name;
    DeviceKind kind;
    uint64_t local_bytes, reserved_bytes, lanes, banks, align_bytes;
    const char *activation;
    uint64_t scalar, channel, row, full; /* grain in bytes */
    uint32_t record_bits;
    uint64_t dma_align_bytes, dma_burst_bytes; /* 0: not published */
} Published;

static const Published published[] = {
    {.name = "mcu-cm",
     .kind = DEVICE_ARENA,
     .local_bytes = 262144,
     .lanes = 1,
     .banks = 1,
     .align_bytes = 16,
     .activation = "N H W C total@16",
     .scalar = 1,
     .channel = 1,
     .row = 1,
     .full = 1},
    {.name = "ethos-u55-128",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 393216,
     .lanes = 1,
     .banks = 1,
     .align_bytes = 16,
     .activation = "N H C/16 W C%16 total@16",
     .scalar = 1,
     .channel = 1,
     .row = 1,
     .full = 1,
     .record_bits = 80,
     .dma_align_bytes = 16,
     .dma_burst_bytes = 128},
    {.name = "nvdla-small",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 32 * 4096,
     .lanes = 1,
     .banks = 32,
     .align_bytes = 8,
     .activation = "when C==1: N C H W@32 | when bits==16: N C/4 H W C%4 | when bits==32: N C/2 H W C%2 | N C/8 H W "
                   "C%8",
     .scalar = 1,
     .channel = 1,
     .row = NO,
     .full = 1,
     .dma_align_bytes = 8,
     .dma_burst_bytes = 8},
    {.name = "sophgo-bm1684x",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 262144,
     .lanes = 64,
     .banks = 16,
     .align_bytes = 64,
     .activation = "bank[C%64] N C/64 H@64 W",
     .scalar = 1,
     .channel = 1,
     .row = 1,
     .full = 1,
     .dma_align_bytes = 512,
     .dma_burst_bytes = 512},
    {.name = "k210-kpu",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 2097152,
     .lanes = 1,
     .banks = 1,
     .align_bytes = 64,
     .activation = "when W<=16: N C/4 H C%4 W@16 | when W<=32: N C/2 H C%2 W@32 | N C H W@64",
     .scalar = NO,
     .channel = 8,
     .row = NO,
     .full = NO,
     .record_bits = 64,
     .dma_align_bytes = 8,
     .dma_burst_bytes = 8},
    {.name = "rk3588-npu",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 12 * 32768,
     .lanes = 1,
     .banks = 12,
     .align_bytes = 16,
     .activation = "when C in {1,3,4}: N H W@16 C | when bits==16: N C/8 H W C%8 | when bits==32: N C/4 H W C%4 | N "
                   "C/16 H W C%16",
     .scalar = 1,
     .channel = 4,
     .row = NO,
     .full = 1,
     .dma_align_bytes = 16,
     .dma_burst_bytes = 16},
    {.name = "ascend-220x",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 48 * 4096,
     .lanes = 1,
     .banks = 48,
     .align_bytes = 32,
     .activation = "when bits<=4: N C/64 H W C%64 | when bits==8: N C/32 H W C%32 | when bits==16: N C/16 H W C%16 | "
                   "N C/8 H W C%8",
     .scalar = 1,
     .channel = 32,
     .row = NO,
     .full = 1,
     .dma_align_bytes = 32,
     .dma_burst_bytes = 512},
    {.name = "hexagon-v73",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 8388608,
     .lanes = 1,
     .banks = 1,
     .align_bytes = 128,
     .activation = "when bits<=8: N H/8 W/8 C/32 H%8 W%8 C%32 base@2048 | when bits==16: N H/8 W/4 C/32 H%8 W/2%2 "
                   "C%32 W%2 base@2048 | N H/8 W/2 C/32 H%8 W%2 C%32 base@2048",
     .scalar = 128,
     .channel = 128,
     .row = NO,
     .full = 1},
    {.name = "gap8",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 64000 - 3500 - 7 * 3400,
     .reserved_bytes = 3500 + 7 * 3400,
     .lanes = 1,
     .banks = 1,
     .align_bytes = 4,
     .activation = "N H W C",
     .scalar = 1,
     .channel = 1,
     .row = 1,
     .full = 1,
     .dma_align_bytes = 1,
     .dma_burst_bytes = 1},
    {.name = "max78000",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 32768,
     .lanes = 16,
     .banks = 1,
     .align_bytes = 4,
     .activation = "when C==1: bank[C%16] N C/16 H@4 W | bank[C/4%16] N H W C/64 C%4",
     .scalar = NO,
     .channel = 1,
     .row = NO,
     .full = NO,
     .dma_align_bytes = 4,
     .dma_burst_bytes = 4},
    {.name = "teach",
     .kind = DEVICE_SCRATCHPAD,
     .local_bytes = 16384,
     .lanes = 1,
     .banks = 1,
     .align_bytes = 16,
     .activation = "when C==1: N H W@16 C | N H W C@16",
     .scalar = 1,
     .channel = 1,
     .row = 1,
     .full = 1},
};

enum { PUBLISHED_COUNT = sizeof published / sizeof published[0] };

static void check_forms(const Device *device, const Published *row) {
    const uint64_t grain[FORM_COUNT] = {
        [FORM_SCALAR] = row->scalar, [FORM_CHANNEL] = row->channel, [FORM_ROW] = row->row, [FORM_FULL] = row->full};
    for (Form form = 0; form < FORM_COUNT; form++) {
        assert_int_equal(device->form[form].grain_bytes, grain[form]);
        assert_int_equal(device->form[form].readable, grain[form] != NO);
    }
    assert_int_equal(device->record_bits, row->record_bits);
}

static void check_published(Work *work, const Published *row) {
    const Device *device = load(work, row->name);
    const DeviceMemory *local = &device->memory[device->local];
    print_message("%s\n", row->name);
    assert_text(device->name, row->name);
    assert_int_equal(device->kind, row->kind);
    assert_text(local->name, "local");
    assert_int_equal(local->bytes, row->local_bytes);
    assert_int_equal(local->reserved_bytes, row->reserved_bytes);
    assert_int_equal(local->lanes, row->lanes);
    assert_int_equal(local->banks, row->banks);
    assert_int_equal(local->align_bytes, row->align_bytes);
    assert_text(device->memory[device->backing].name, row->kind == DEVICE_ARENA ? "flash" : "far");
    assert_text(contract_text(device->contract[ROLE_ACTIVATION]), row->activation);
    check_forms(device, row);
    if (row->dma_align_bytes != 0) {
        assert_int_equal(device->dma_align_bytes.value, row->dma_align_bytes);
        assert_false(device->dma_align_bytes.is_assumed);
        assert_int_equal(device->dma_burst_bytes.value, row->dma_burst_bytes);
        assert_false(device->dma_burst_bytes.is_assumed);
    }
}

static void presets_say_what_is_published(Work *work) {
    assert_int_equal(device_preset_count, PUBLISHED_COUNT);
    for (size_t i = 0; i < PUBLISHED_COUNT; i++) {
        assert_string_equal(device_presets[i].name, published[i].name); /* the order of the documentation */
        check_published(work, &published[i]);
    }
}

static void further_constants(Work *work) {
    static const struct {
        const char *device, *section, *key, *value;
        bool is_assumed;
    } constants[] = {
        {"mcu-cm", "memory local", "bytes", "256K", true},
        {"ethos-u55-128", "memory shram", "bytes", "24K", false},
        {"ethos-u55-128", "memory shram", "banks", "24", false},
        {"ethos-u55-128", "dma", "bytes_cycle", "8", false},
        {"nvdla-small", "engine", "requantise", "half-away", false},
        {"sophgo-bm1684x", "engine", "vector_bytes_cycle", "4096", false},
        {"k210-kpu", "dma", "bytes_cycle", "8", false},
        {"gap8", "memory far", "bytes", "512000", false},
        {"gap8", "memory l3", "bytes", "8000000", false},
        {"gap8", "dma", "max_bytes", "131071", false},
        {"max78000", "memory weights", "bytes", "6912", false}, /* 64 of them are 432 KiB */
        {"max78000", "memory weights", "lanes", "64", false},
        {"max78000", "memory bias", "bytes", "512", false},
        {"max78000", "memory bias", "lanes", "4", false},
        {"hexagon-v73", "parameter", "channel", "128", true},
        {"ascend-220x", "parameter", "channel", "32", false},
        {"teach", "contract", "activation", "when C==1: N H W@16 C | N H W C@16", true},
    };
    for (size_t i = 0; i < sizeof constants / sizeof constants[0]; i++) {
        const Device *device = load(work, constants[i].device);
        const DeviceFact *fact = device_fact(device, constants[i].section, constants[i].key);
        assert_non_null(fact);
        assert_text(fact->value, constants[i].value);
        assert_int_equal(fact->is_assumed, constants[i].is_assumed);
        assert_true(fact->source.len > 0 && fact->line > 0);
    }
}

/* ---- Every shape has a layout */

static const uint32_t all_bits[] = {1, 2, 3, 4, 8, 16, 20, 32, 64, 80, 128};
static const uint64_t some_extents[] = {0, 1, 3, 4, 16, 17, 33, 65};

static void check_grid(const Device *device, Role role, uint32_t bits) {
    enum { CHOICES = sizeof some_extents / sizeof some_extents[0] };
    for (size_t k = 0; k < (size_t)CHOICES * CHOICES * CHOICES; k++) {
        LayoutShape shape = layout_shape(bits, 4);
        shape.extent[role == ROLE_WEIGHT ? DIM_O : DIM_N] = 1 + k % 3;
        shape.extent[role == ROLE_WEIGHT ? DIM_I : DIM_C] = some_extents[k % CHOICES];
        shape.extent[DIM_H] = some_extents[k / CHOICES % CHOICES];
        shape.extent[DIM_W] = some_extents[k / CHOICES / CHOICES];
        View view;
        ViewStatus status = view_resolve(device->contract[role], &shape, &view, NULL);
        if (status != VIEW_DONE) {
            fail_msg(STR_FMT " %s %u bits: %s", STR_ARG(device->name), role_name(role), bits, view_status_text(status));
        }
        assert_true(view_logical_bytes(&view) <= view.bank_bytes * (view.banks_used == 0 ? 1 : view.banks_used));
    }
}

static void every_shape_has_a_layout(Work *work) {
    for (size_t i = 0; i < device_preset_count; i++) {
        const Device *device = device_check(work, str_from(device_presets[i].name));
        assert_non_null(device);
        for (Role role = 0; role < ROLE_COUNT; role++) {
            for (size_t b = 0; b < sizeof all_bits / sizeof all_bits[0]; b++) {
                check_grid(device, role, all_bits[b]);
            }
        }
    }
    assert_null(work->diags.first); /* device_check has nothing to warn of either */
}

/* ---- The sizes of the vendors' formulas */

typedef struct {
    const char *device;
    Role role;
    uint32_t bits;
    uint64_t n, c, h, w;
    uint64_t bank_bytes, banks_used;
    const char *source;
} Size;

static const Size sizes[] = {
    {"mcu-cm", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 6720, 1, "TFLM"},
    {"mcu-cm", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 560, 1, "TFLM"},
    {"mcu-cm", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 320, 1, "TFLM"},
    {"mcu-cm", ROLE_ACTIVATION, 4, 1, 5, 7, 9, 160, 1, "TFLM: 157.5 bytes to 16"},
    {"ethos-u55-128", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 8960, 1, "vela tensor.py"},
    {"ethos-u55-128", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 8960, 1, "vela tensor.py"},
    {"ethos-u55-128", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 1008, 1, "vela tensor.py"},
    {"ethos-u55-128", ROLE_PARAMETER, 80, 1, 12, 1, 1, 128, 1, "vela weight_compressor.py"},
    {"ethos-u55-128", ROLE_PARAMETER, 8, 1, 12, 1, 1, 16, 1, "vela: NHWC"},
    {"ethos-u55-128", ROLE_PARAMETER, 8, 1, 12, 20, 28, 6720, 1, "vela: NHWC"},
    {"nvdla-small", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 8960, 1, "Surface.cpp"},
    {"nvdla-small", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 640, 1, "Surface.cpp: pixel R8"},
    {"nvdla-small", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 504, 1, "Surface.cpp"},
    {"nvdla-small", ROLE_PARAMETER, 32, 1, 12, 1, 1, 48, 1, "Surface.cpp BatchNormDataDesc: 2 x int16"},
    {"sophgo-bm1684x", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 576, 12, "Arch.cpp"},
    {"sophgo-bm1684x", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 576, 1, "Arch.cpp"},
    {"sophgo-bm1684x", ROLE_ACTIVATION, 4, 1, 12, 20, 28, 320, 12, "Arch.cpp"},
    {"sophgo-bm1684x", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 64, 5, "Arch.cpp"},
    {"sophgo-bm1684x", ROLE_PARAMETER, 8, 1, 12, 1, 1, 1, 12, "LayerGroupUtil.cpp"},
    {"sophgo-bm1684x", ROLE_PARAMETER, 8, 1, 12, 20, 28, 576, 12, "LayerGroupUtil.cpp"},
    {"k210-kpu", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 7680, 1, "runtime_op_utility.h"},
    {"k210-kpu", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 1280, 1, "runtime_op_utility.h"},
    {"k210-kpu", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 896, 1, "runtime_op_utility.h"},
    {"k210-kpu", ROLE_ACTIVATION, 8, 1, 3, 2, 80, 768, 1, "runtime_op_utility.h"},
    {"k210-kpu", ROLE_PARAMETER, 64, 1, 12, 1, 1, 96, 1, "runtime_types.h"},
    {"rk3588-npu", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 8960, 1, "RKNN guide"},
    {"rk3588-npu", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 640, 1, "RKNN guide"},
    {"rk3588-npu", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 1008, 1, "RKNN guide"},
    {"ascend-220x", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 17920, 1, "aclFormat"},
    {"ascend-220x", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 17920, 1, "aclFormat"},
    {"ascend-220x", ROLE_ACTIVATION, 16, 1, 12, 20, 28, 17920, 1, "aclFormat"},
    {"ascend-220x", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 2016, 1, "aclFormat"},
    {"ascend-220x", ROLE_PARAMETER, 32, 1, 12, 20, 28, 26880, 1, "full map, fp32"},
    {"hexagon-v73", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 24576, 1, "conv2d.h"},
    {"hexagon-v73", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 24576, 1, "conv2d.h"},
    {"hexagon-v73", ROLE_ACTIVATION, 16, 1, 12, 20, 28, 43008, 1, "conv2d.h"},
    {"hexagon-v73", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 4096, 1, "conv2d.h"},
    {"hexagon-v73", ROLE_ACTIVATION, 16, 1, 5, 7, 9, 6144, 1, "conv2d.h"},
    {"gap8", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 6720, 1, "packed"},
    {"gap8", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 560, 1, "packed"},
    {"max78000", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 2240, 3, "README"},
    {"max78000", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 560, 1, "README: CHW"},
    {"max78000", ROLE_ACTIVATION, 8, 1, 5, 7, 9, 252, 2, "README"},
    {"max78000", ROLE_ACTIVATION, 8, 1, 100, 2, 2, 32, 16, "README: multipass, 25 groups of 4 in 16 instances"},
    {"max78000", ROLE_PARAMETER, 8, 1, 12, 1, 1, 12, 1, "bias memory"},
    {"teach", ROLE_ACTIVATION, 8, 1, 12, 20, 28, 20 * 28 * 16, 1, "a pixel is 16 bytes"},
    {"teach", ROLE_ACTIVATION, 8, 1, 1, 20, 28, 20 * 32, 1, "a line is 32 bytes"},
    {"teach", ROLE_PARAMETER, 8, 1, 12, 1, 1, 16, 1, "one pixel"},
    {"teach", ROLE_PARAMETER, 8, 1, 1, 1, 1, 16, 1, "one line"},
    {"teach", ROLE_PARAMETER, 8, 1, 12, 20, 28, 8960, 1, "as the map"},
    {"teach", ROLE_PARAMETER, 8, 1, 12, 1, 28, 28 * 16, 1, "a row of pixels"},
};

static void sizes_are_the_vendors(Work *work) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const Size *size = &sizes[i];
        const Device *device = load(work, size->device);
        LayoutShape shape = layout_shape(size->bits, 4);
        shape.extent[DIM_N] = size->n;
        shape.extent[DIM_C] = size->c;
        shape.extent[DIM_H] = size->h;
        shape.extent[DIM_W] = size->w;
        View view;
        assert_int_equal(view_resolve(device->contract[size->role], &shape, &view, NULL), VIEW_DONE);
        if (view.bank_bytes != size->bank_bytes || view.banks_used != size->banks_used) {
            fail_msg("%s %s of %u bits, C %u: %u x %u, expected %u x %u (%s)", size->device, role_name(size->role),
                     size->bits, (unsigned)size->c, (unsigned)view.bank_bytes, (unsigned)view.banks_used,
                     (unsigned)size->bank_bytes, (unsigned)size->banks_used, size->source);
        }
    }
}

/* ---- The embedded text is the file's */

static void embedded_text_is_the_file(void **state) {
    (void)state;
    for (size_t i = 0; i < device_preset_count; i++) {
        static char text[65536];
        char path[4096];
        snprintf(path, sizeof path, "%s/devices/%s.ini", S0_SOURCE_DIR, device_presets[i].name);
        FILE *file = fopen(path, "rb");
        assert_non_null(file);
        size_t len = fread(text, 1, sizeof text - 1, file);
        fclose(file);
        text[len] = '\0';
        assert_string_equal(device_presets[i].text, text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(presets_say_what_is_published),    WORK_TEST(further_constants),
        WORK_TEST(every_shape_has_a_layout),         WORK_TEST(sizes_are_the_vendors),
        cmocka_unit_test(embedded_text_is_the_file),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
