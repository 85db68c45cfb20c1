/* Proves that what a device file may say is read as meant: line ends, comments, limits, options, names and paths; that
 * a check warns of shapes left out; that running out of memory anywhere leaves cleanly; that hostile bytes end in a
 * diagnostic. */
#include "box.h"

#include "base/dtype.h"

#include <unistd.h>

static void check_box(const Device *device) {
    assert_non_null(device);
    assert_true(str_eq(device->name, STR("box")));
    assert_int_equal(device->kind, DEVICE_SCRATCHPAD);
    assert_int_equal(device->memory_count, 2);
    assert_int_equal(device->memory[device->local].bytes, 16384);
    assert_true(str_eq(device->memory[device->local].source, STR("guide")));
    assert_true(device->memory[device->backing].bytes == UINT64_MAX);
    assert_true(str_eq(contract_text(device->contract[ROLE_ACTIVATION]), STR("N H W C@16")));
    assert_false(device->form[FORM_ROW].readable);
    assert_int_equal(device->record_bits, 0);
    assert_true(device->dtypes == UINT64_MAX);
    assert_int_equal(device->dma_max_bytes.value, 65536);
    assert_true(device->issue_cycles.is_assumed);
    assert_true(str_eq(device->issue_cycles.source, STR("quick")));
    assert_false(device->mac_cycle.is_assumed);
    assert_int_equal(device->fact_count, 24);
}

typedef struct {
    const char *put; /* in place of the first line */
    const char *end; /* of each line */
    size_t cut;      /* line ends missing at the end of the text */
} Way;

static void check_way(Work *work, const void *arg) {
    static char text[TEXT_BYTES];
    const Way *way = arg;
    size_t len = write_text(text, 1, way->put, strlen(way->put), way->end);
    check_box(parse_copy(work, text, len - way->cut * strlen(way->end)));
    assert_null(work->diags.first);
}

static void what_is_allowed_is_read(void **state) {
    (void)state;
    static const Way ways[] = {
        {"[device]", "\n", 0},
        {"[device]", "\r\n", 0},
        {"\xef\xbb\xbf[device]", "\n", 0},
        {"\xef\xbb\xbf# a comment; with ; signs\n\n   \n  ; another\n[ device ]", "\n", 0},
        {"[device]", "\n", 1},
        {"[device]", "\r\n", 1},
    };
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        with_work(check_way, &ways[i]);
    }
}

static void check_memory_spare(Work *work, const void *row) {
    (void)row;
    static char text[TEXT_BYTES];
    static const char put[] =
        "channels = 2 @ guide\n[memory spare]\nbytes = 3K @ guide @ page 2\n"
        "align_bytes = 3 @ guide\nlanes = 4 @ guide\nbanks = 2 @ guide\noverflow = far @ a script";
    const Device *device = parse_copy(work, text, write_text(text, LINE_COUNT, put, sizeof put - 1, "\n"));
    assert_non_null(device);
    assert_int_equal(device->memory_count, 3);
    const DeviceMemory *spare = &device->memory[2];
    assert_int_equal(spare->bytes, 3072);
    assert_int_equal(spare->align_bytes, 3);
    assert_int_equal(spare->lanes, 4);
    assert_int_equal(spare->banks, 2);
    assert_true(str_eq(spare->source, STR("guide @ page 2")));
    assert_int_equal(spare->overflow, OVERFLOW_BACKING);
    assert_int_equal(spare->price, 1); /* that of a further memory, where the file does not tell */
    assert_int_equal(device->memory[device->local].price, 0);
    assert_int_equal(device->memory[device->backing].overflow, OVERFLOW_NONE);
}

/* What the runtime keeps is taken from what tensors may use, of every memory with bounds, and has its source. */
static void check_reserved(Work *work, const void *row) {
    (void)row;
    static char text[TEXT_BYTES];
    static const char put[] = "align_bytes = 16 @ guide\nreserved_bytes = 3K @ a log";
    const Device *device = parse_copy(work, text, write_text(text, 6, put, sizeof put - 1, "\n"));
    assert_non_null(device);
    assert_int_equal(device->memory[device->local].bytes, 16384 - 3072);
    assert_int_equal(device->memory[device->local].reserved_bytes, 3072);
    assert_true(device->memory[device->backing].bytes == UINT64_MAX);
    assert_int_equal(device->memory[device->backing].reserved_bytes, 0);
    assert_true(str_eq(device_fact(device, "memory local", "reserved_bytes")->source, STR("a log")));
}

static void check_dtypes(Work *work, const void *row) {
    (void)row;
    static char text[TEXT_BYTES];
    static const char put[] = "requantise = onnx @ guide\ndtypes = int8  uint8 float32 @ guide";
    const Device *device = parse_copy(work, text, write_text(text, 20, put, sizeof put - 1, "\n"));
    assert_non_null(device);
    assert_true(device->dtypes == ((uint64_t)1 << DTYPE_I8 | (uint64_t)1 << DTYPE_U8 | (uint64_t)1 << DTYPE_F32));
}

/* Neither [engine] nor [dma] need stand: no figure of a plan rests on them. */
static void check_without_engine(Work *work, const void *row) {
    (void)row;
    static char text[TEXT_BYTES];
    size_t len = write_text(text, 0, "", 0, "\n");
    text[len] = '\0';
    const Device *device = parse_copy(work, text, (size_t)(strstr(text, "[engine]") - text));
    assert_non_null(device);
    assert_null(work->diags.first);
    assert_int_equal(device->requantise.len, 0);
    assert_true(device->dtypes == UINT64_MAX);
    assert_int_equal(device->mac_cycle.value, 0);
    assert_int_equal(device->dma_max_bytes.value, 0);
}

static void check_described_only(Work *work, const void *row) {
    (void)row;
    static const struct {
        const char *section, *key;
        bool is_described_only;
    } keys[] = {
        {"memory local", "bytes", false}, {"memory far", "bytes", false},    {"memory weights", "bytes", true},
        {"memory bias", "lanes", true},   {"contract", "activation", false}, {"parameter", "channel", false},
        {"engine", "mac_cycle", false},   {"dma", "bytes_cycle", false},     {"memory local", "lanes", false},
    };
    const Device *device = device_load(work, STR("max78000"));
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        const DeviceFact *fact = device_fact(device, keys[i].section, keys[i].key);
        assert_non_null(fact);
        assert_int_equal(device_is_described_only(device, fact), keys[i].is_described_only);
    }
}

static void optional_values_are_read(void **state) {
    (void)state;
    with_work(check_memory_spare, NULL);
    with_work(check_reserved, NULL);
    with_work(check_dtypes, NULL);
    with_work(check_without_engine, NULL);
    with_work(check_described_only, NULL);
}

/* ---- Limits */

typedef struct {
    size_t bytes; /* of one line */
    bool fits;
} Length;

static void check_length(Work *work, const void *arg) {
    static char text[TEXT_BYTES];
    static const char start[] = "bytes = 16K @ ";
    const Length *length = arg;
    char line[400];
    memset(line, 'x', sizeof line);
    memcpy(line, start, sizeof start - 1);
    const Device *device = parse_copy(work, text, write_text(text, 5, line, length->bytes, "\n"));
    assert_int_equal(device != NULL, length->fits);
    if (length->fits) {
        assert_int_equal(device->memory[device->local].source.len, length->bytes - (sizeof start - 1));
    } else {
        assert_string_equal(work->diags.first->text.place, "box.ini:5");
        assert_string_equal(work->diags.first->text.what, "a line is too long");
    }
}

static void check_size(Work *work, const void *row) {
    (void)row;
    static char text[TEXT_BYTES];
    memset(text, '\n', sizeof text);
    assert_null(parse_copy(work, text, 65537));
    assert_string_equal(work->diags.first->text.what, "the file is too large for a device");
    assert_null(parse_copy(work, text, 65536)); /* it is read, and everything is missing */
    assert_true(has_part(work->diags.last->text.what, "needs a memory 'local'"));
    assert_null(parse_copy(work, text, 0));
}

static void lines_and_files_have_limits(void **state) {
    (void)state;
    static const Length lengths[] = {{150, true}, {197, true}, {198, false}, {199, false}, {200, false}, {399, false}};
    for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        with_work(check_length, &lengths[i]);
    }
    with_work(check_size, NULL);
}

/* ---- By name and by path */

typedef struct {
    const char *typed, *what, *hint;
} Typed;

static void check_typed(Work *work, const void *arg) {
    const Typed *row = arg;
    assert_null(device_load(work, str_from(row->typed)));
    assert_int_equal(work->diags.count[DIAG_ERROR], 1);
    assert_string_equal(work->diags.first->text.what, row->what);
    assert_true(has_part(work->diags.first->text.hint, row->hint));
}

static void check_path(Work *work, const void *row) {
    (void)row;
    const Device *by_path = device_load(work, STR(S0_SOURCE_DIR "/devices/teach.ini"));
    const Device *by_name = device_load(work, STR("teach"));
    assert_non_null(by_path);
    assert_non_null(by_name);
    assert_true(str_eq(by_path->name, by_name->name));
    assert_true(str_eq(by_name->file, STR("preset:teach")));
}

static void names_and_paths(void **state) {
    (void)state;
    static const Typed rows[] = {
        {"mcu", "no device has this name", "did you mean mcu-cm?"},
        {"ethos-u55", "no device has this name", "did you mean ethos-u55-128?"},
        {"bm1684x", "no device has this name", "did you mean sophgo-bm1684x?"},
        {"sohpgo", "no device has this name", "did you mean sophgo-bm1684x?"},
        {"TEACH", "no device has this name", NULL},
        {"nothing-like-it", "no device has this name", NULL},
        {"", "no device has this name", NULL},
        {"missing.ini", "can't open the file", NULL},
        {"/", "can't read the file", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        with_work(check_typed, &rows[i]);
    }
    with_work(check_path, NULL);
}

/* ---- What a check adds */

typedef struct {
    size_t line;
    const char *put, *what;
} LeftOut;

static char path[] = "/tmp/stride0-device-XXXXXX";

static void check_left_out(Work *work, const void *arg) {
    static char text[TEXT_BYTES];
    const LeftOut *row = arg;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    fwrite(text, 1, write_text(text, row->line, row->put, strlen(row->put), "\n"), file);
    fclose(file);
    assert_non_null(device_check(work, str_from(path)));
    assert_int_equal(work->diags.count[DIAG_WARNING], row->what != NULL);
    if (row->what != NULL) {
        char place[64];
        snprintf(place, sizeof place, "%s:%zu", path, row->line);
        assert_string_equal(work->diags.first->text.place, place);
        assert_true(has_part(work->diags.first->text.what, row->what));
    }
}

static void a_check_warns_of_shapes_left_out(void **state) {
    (void)state;
    static const LeftOut rows[] = {
        {0, "", NULL},
        {11, "activation = when C==1: N H W@16 C @ guide", "activation leaves shapes out"},
        {11, "activation = N W C @ guide", "activation leaves shapes out"},
        {12, "weight = O I H @ guide", "weight leaves shapes out"},
        {13, "parameter = when bits<=32: N H W C @ guide", "parameter leaves shapes out"},
        {11, "activation = when C<=4: N H W@16 C @ guide", "activation leaves shapes out"},
        {11, "activation = when C<=5000: N H W C @ guide", "activation: the last case has a guard"},
        {11, "activation = when C<=4: N H W C | when C>4: N C H W @ guide", "activation: the last case has a guard"},
        {11, "activation = N H W C O @ guide", "activation names O"},
        {12, "weight = N O I H W @ guide", "weight names N"},
    };
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        with_work(check_left_out, &rows[i]);
    }
    remove(path);
}

/* ---- Out of memory at each allocation */

/* Allows `left` allocations, then none. */
static void *resize_some(void *ctx, void *block, size_t old_bytes, size_t new_bytes) {
    size_t *left = ctx;
    if (new_bytes > 0 && (*left)-- == 0) {
        *left = 0;
        return NULL;
    }
    return system_allocator.resize(system_allocator.ctx, block, old_bytes, new_bytes);
}

/* True where `allocations` sufficed. The sanitizer's leak check sees what an escape would lose. */
static bool loads_within(size_t allocations, const char *name) {
    size_t left = allocations;
    const s0_allocator allocator = {resize_some, &left};
    Work work;
    work_init(&work, &allocator);
    if (setjmp(work.escape) != 0) {
        work_free(&work);
        return false;
    }
    device_load(&work, str_from(name));
    work_free(&work);
    return true;
}

static void out_of_memory_leaves_cleanly(void **state) {
    (void)state;
    static const char *const names[] = {"teach", "sophgo-bm1684x", "no such device", S0_SOURCE_DIR "/devices/gap8.ini",
                                        "missing.ini"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        size_t allocations = 0;
        while (!loads_within(allocations, names[i])) {
            allocations++;
            assert_true(allocations < 10000);
        }
        assert_true(allocations > 0);
    }
}

/* ---- Hostile bytes: a small cousin of the fuzz target, for every run */

static uint32_t next_random(uint32_t *state) {
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void check_hostile(Work *work, const void *arg) {
    static char text[TEXT_BYTES];
    static const char tokens[] = "\n\r\t\0 =:;#@[]|%^/+,K9\xff\xef";
    uint32_t *seed = (uint32_t *)(uintptr_t)arg;
    size_t len = write_text(text, 0, "", 0, "\n");
    for (uint32_t edits = 1 + next_random(seed) % 8; edits > 0; edits--) {
        text[next_random(seed) % len] = tokens[next_random(seed) % sizeof tokens];
    }
    len -= next_random(seed) % 4 == 0 ? next_random(seed) % len : 0;
    const Device *device = parse_copy(work, text, len);
    assert_true((device == NULL) == (work->diags.count[DIAG_ERROR] > 0));
}

static void hostile_bytes_end_in_a_diagnostic(void **state) {
    (void)state;
    uint32_t seed = 12345;
    for (int round = 0; round < 2000; round++) {
        with_work(check_hostile, &seed);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_allowed_is_read),           cmocka_unit_test(optional_values_are_read),
        cmocka_unit_test(lines_and_files_have_limits),       cmocka_unit_test(names_and_paths),
        cmocka_unit_test(a_check_warns_of_shapes_left_out),  cmocka_unit_test(out_of_memory_leaves_cleanly),
        cmocka_unit_test(hostile_bytes_end_in_a_diagnostic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
