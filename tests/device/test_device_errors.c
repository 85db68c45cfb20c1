/* Proves that each kind of fault in a device file is told with its file, line, what was got and what was expected, and
 * that faults of all kinds are told together. */
#include "box.h"

typedef struct {
    size_t line;          /* replaced */
    const char *put;      /* by this */
    const char *place;    /* "box.ini:LINE", or "box.ini" */
    const char *what;     /* part of it */
    const char *got;      /* part; null: any */
    const char *expected; /* part; null: any */
    const char *hint;     /* part; null: any */
    size_t put_bytes;     /* 0: strlen(put) */
} Broken;

#define FURTHER "channels = 2 @ guide\n[memory spare]\nbytes = 1K @ guide\nalign_bytes = 4 @ guide\n"

static const Broken broken[] = {
    /* the text */
    {1, "# no section", "box.ini:2", "before the first section", "'name'", NULL, NULL, 0},
    {1, "[device", "box.ini:1", "not closed", "'[device'", "[NAME]", NULL, 0},
    {1, "[]", "box.ini:1", "not closed", "'[]'", "[NAME]", NULL, 0},
    {1, "[device] x", "box.ini:1", "not closed", "'[device] x'", NULL, NULL, 0},
    {2, "name box", "box.ini:2", "neither a key, a section nor a comment", "'name box'", "key = value", NULL, 0},
    {2, "name: box", "box.ini:2", "neither a key, a section nor a comment", "'name: box'", "key = value", NULL, 0},
    {2, "name: a = b", "box.ini:2", "neither a key, a section nor a comment", "'name: a = b'", "key = value", NULL, 0},
    {2, "name =", "box.ini:2", "neither a key, a section nor a comment", "'name ='", "key = value", NULL, 0},
    {2, "= box", "box.ini:2", "neither a key, a section nor a comment", "'= box'", "key = value", NULL, 0},
    {6, "  align_bytes = 16 @ guide", "box.ini:6", "indented", "'align_bytes = 16 @ guide'", NULL, "one line", 0},
    {6, "\talign_bytes = 16 @ guide", "box.ini:6", "indented", NULL, NULL, "one line", 0},
    {5, "bytes = 16K @ guide ; page 3", "box.ini:5", "' ;' would cut", "page 3", NULL, "line of its own", 0},
    {5, "bytes = 16K @ guide\nbytes = 8K @ guide", "box.ini:6", "stands twice", "'bytes'", NULL, "line 5", 0},
    {7, "[memory local]", "box.ini:7", "stands twice", "'[memory local]'", NULL, "line 4", 0},
    {7, "[memory  local]", "box.ini:7", "a memory stands twice", NULL, NULL, NULL, 0},
    {2, "name = b\0x", "box.ini:2", "control character", "byte 0x00 in column 9", "printable", NULL, 10},
    {2, "name = b\rx", "box.ini:2", "control character", "byte 0x0d in column 9", "printable", NULL, 0},
    {2, "name = b\x1bx", "box.ini:2", "control character", "byte 0x1b in column 9", "printable", NULL, 0},
    /* operators */
    {33, "channels = 2 @ guide\n[operator A b]\nworkspace = lots @ guide", "box.ini:35", "not a number in range",
     "'lots'", "or 'input' or 'output'", NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nworkspace = -1 @ guide", "box.ini:35", "not a number in range", "'-1'",
     "from 0 to", NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nworkspace = 2048G @ guide", "box.ini:35", "not a number in range",
     "'2048G'", NULL, NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nworkspace = 64", "box.ini:35", "no source", "'64'", NULL, NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nworkspace = 1 @ a\nworkspace = 2 @ a", "box.ini:36", "stands twice",
     NULL, NULL, "line 35", 0},
    {33, "channels = 2 @ guide\n[operator A b]\nalign_bytes = 0 @ guide", "box.ini:35", "not a number in range", "'0'",
     NULL, NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nalign_bytes = 2M @ guide", "box.ini:35", "not a number in range",
     "'2M'", NULL, NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nalign_bytes = 48 @ guide", "box.ini:35",
     "[operator A b] align_bytes is no power of two", "48", NULL, NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nalias = maybe @ guide", "box.ini:35", "unknown word", "'maybe'",
     "no, yes", NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\nwork = 1 @ guide", "box.ini:35", "unknown key in [operator A b]",
     "'work'", "workspace, align_bytes, alias", NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\n[operator  A b]", "box.ini:35", "an operator stands twice", NULL, NULL,
     NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\n[operator CUSTOM:A b]", "box.ini:35", "an operator stands twice", NULL,
     NULL, NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\n[operator CUSTOM:]", "box.ini:35", "an operator has no name", NULL,
     "[operator NAME]", NULL, 0},
    {33, "channels = 2 @ guide\n[operator A b]\n[operator]", "box.ini:35", "unknown section", "'operator'",
     "operator NAME", NULL, 0},
    /* sections and keys */
    {4, "[memory]", "box.ini:4", "unknown section", "'memory'", "memory local", "[memory far]", 0},
    {4, "[memory lo/cal]", "box.ini:4", "not a name of a memory", "'lo/cal'", "letters", NULL, 0},
    {10, "[contracts]", "box.ini:10", "unknown section", "'contracts'", "memory NAME", "[contract]", 0},
    {10, "[Contract]", "box.ini:10", "unknown section", "'Contract'", "memory NAME", "[contract]", 0},
    {6, "allign_bytes = 16 @ guide", "box.ini:6", "unknown key in [memory local]", "'allign_bytes'",
     "bytes, reserved_bytes, align_bytes, lanes, banks, overflow, price", "'align_bytes'", 0},
    {27, "bytes_per_cycle = 8 @ guide", "box.ini:27", "unknown key in [dma]", "'bytes_per_cycle'", "bytes_cycle",
     "'bytes_cycle'", 0},
    {2, "names = box", "box.ini:2", "unknown key in [device]", "'names'", "name, kind", "'name'", 0},
    {2, "", "box.ini:1", "required key is missing", NULL, "[device] name", "docs/devices.md", 0},
    {3, "", "box.ini:1", "required key is missing", NULL, "[device] kind", NULL, 0},
    {5, "", "box.ini:4", "required key is missing", NULL, "[memory local] bytes", NULL, 0},
    {9, "", "box.ini:7", "required key is missing", NULL, "[memory far] align_bytes", NULL, 0},
    {12, "", "box.ini:10", "required key is missing", NULL, "[contract] weight", NULL, 0},
    {17, "", "box.ini:14", "required key is missing", NULL, "[parameter] row", NULL, 0},
    {4, "[memory near]", "box.ini", "any kind needs a memory 'local'", NULL, "[memory local]", NULL, 0},
    {3, "kind = arena", "box.ini", "kind arena needs a memory 'flash'", NULL, "[memory flash]", NULL, 0},
    /* values */
    {3, "kind = gpu", "box.ini:3", "[device] kind: unknown word", "'gpu'", "arena, scratchpad", NULL, 0},
    {3, "kind = scratchpat", "box.ini:3", "[device] kind: unknown word", NULL, NULL, "'scratchpad'", 0},
    {2, "name = my box", "box.ini:2", "not a name", "'my box'", "letters", NULL, 0},
    {5, "bytes = 16K", "box.ini:5", "[memory local] bytes: the value has no source", "'16K'", "VALUE @ SOURCE", "cite",
     0},
    {5, "bytes = 16K @", "box.ini:5", "the value has no source", "'16K @'", "VALUE @ SOURCE", NULL, 0},
    {5, "bytes = 16K@guide", "box.ini:5", "the value has no source", "'16K@guide'", "VALUE @ SOURCE",
     "blank on both sides", 0},
    {5, "bytes = 16KB @ guide", "box.ini:5", "not a number in range", "'16KB'", NULL, "did you mean 16K?", 0},
    {5, "bytes = 0x4000 @ guide", "box.ini:5", "not a number in range", "'0x4000'", NULL, "did you mean 16K?", 0},
    {5, "bytes = @ guide", "box.ini:5", "no value stands before the source", "'@ guide'", "VALUE @ SOURCE", NULL, 0},
    {5, "bytes = 16K @ assumed", "box.ini:5", "needs a reason", "'16K @ assumed'", "assumed: REASON", NULL, 0},
    {5, "bytes = 16K @ assumed:", "box.ini:5", "needs a reason", "'16K @ assumed:'", "assumed: REASON", NULL, 0},
    {5, "bytes = 0 @ guide", "box.ini:5", "not a number in range", "'0'", "from 1 to", NULL, 0},
    {5, "bytes = 16k @ guide", "box.ini:5", "not a number in range", "'16k'", "K, M, G", NULL, 0},
    {5, "bytes = -1 @ guide", "box.ini:5", "not a number in range", "'-1'", "from 1 to", NULL, 0},
    {5, "bytes = unbounded @ guide", "box.ini:5", "not a number in range", "'unbounded'", "from 1 to", NULL, 0},
    {5, "bytes = 99999999999999999999 @ guide", "box.ini:5", "not a number in range", NULL, "from 1 to", NULL, 0},
    {5, "bytes = 18014398509481984K @ guide", "box.ini:5", "not a number in range", NULL, "from 1 to", NULL, 0},
    {8, "bytes = endless @ guide", "box.ini:8", "not a number in range", "'endless'", "'unbounded'", NULL, 0},
    {6, "align_bytes = 0 @ guide", "box.ini:6", "not a number in range", "'0'", "from 1 to", NULL, 0},
    {5, "bytes = 16K @ guide\nreserved_bytes = 16369 @ a log", "box.ini:6", "leaves no room in memory 'local'",
     "16369 bytes", "at most 16368", NULL, 0},
    {8, "bytes = unbounded @ guide\nreserved_bytes = 1 @ a log", "box.ini:9", "memory 'far', which is unbounded",
     "1 bytes", "as a number", NULL, 0},
    {33, FURTHER "overflow = near @ guide", "box.ini:37", "[memory spare] overflow: unknown word", "'near'",
     "of an arena local or flash, of a scratchpad far", NULL, 0},
    {33, "channels = 2 @ guide\n[psram]\nbytes = 8M @ guide\nalign_bytes = 32 @ guide", "box.ini:34", "unknown section",
     "'psram'", "memory NAME", "did you mean [memory psram]?", 0},
    {33, FURTHER "overflow = flash @ guide", "box.ini:37", "[memory spare] can't take that overflow",
     "overflow = flash, of kind scratchpad", "far", NULL, 0},
    {33, FURTHER "overflow = local @ guide", "box.ini:37", "[memory spare] can't take that overflow",
     "overflow = local, of kind scratchpad", "goes to far memory anyway", NULL, 0},
    {9, "align_bytes = 16 @ guide\noverflow = far @ guide", "box.ini:10", "[memory far] can't take that overflow", NULL,
     "beside local", NULL, 0},
    {33, FURTHER "price = 1M @ guide", "box.ini:37", "not a number in range", "'1M'", "from 0 to 1048576", NULL, 0},
    {33, FURTHER "price = -1 @ guide", "box.ini:37", "not a number in range", "'-1'", "from 0 to 1048576", NULL, 0},
    {6, "align_bytes = 32K @ guide", "box.ini:6", "smaller than its alignment", "16384 bytes, aligned to 32768", NULL,
     NULL, 0},
    {6, "align_bytes = 16 @ guide\nlanes = 0 @ guide", "box.ini:7", "not a number in range", "'0'", NULL, NULL, 0},
    {11, "activation = N H W Q @ guide", "box.ini:11", "wrong in column 7", "'N H W Q'", NULL, NULL, 0},
    {11, "activation = N H W C%16 @ guide", "box.ini:11", "the contract is wrong", "'N H W C%16'", NULL, NULL, 0},
    /* what can never work */
    {11, "activation = bank[C%2] N C/2 H W @ guide", "box.ini:11", "more banks than local memory has lanes", "2 banks",
     "at most 1, the lanes of [memory local]", "set lanes in [memory local]", 0},
    {12, "weight = when H==1: O I H W | bank[O%4 I%4] O/4 I/4 H W @ guide", "box.ini:12", "weight has more banks",
     "16 banks", "at most 1,", NULL, 0},
    {13, "parameter = bank[C] N H W @ guide", "box.ini:13", "parameter has more banks", "without a %mod", "at most 1,",
     "a %mod", 0},
    {12, "weight = bank[O%4294967296 I%4294967296] O/4294967296 I/4294967296 H W @ guide", "box.ini:12", "more banks",
     NULL, "at most 1,", NULL, 0},
    {11, "activation = N H W C base@18446744073709551615 @ guide", "box.ini:11", "activation has a base too large",
     "base@18446744073709551615 and align_bytes = ", "below 2^64", NULL, 0},
    {11, "activation = N H W @ guide", "box.ini:11", "activation names no level of C", "'N H W'", "N C H W", NULL, 0},
    {13, "parameter = H W @ guide", "box.ini:13", "parameter names no level of C", NULL, "N C H W", NULL, 0},
    {12, "weight = N C H W @ guide", "box.ini:12", "weight names no level of O", "'N C H W'", "O I H W", NULL, 0},
    {12, "weight = O C H W @ guide", "box.ini:12", "weight names no level of I", "'O C H W'", "O I H W", NULL, 0},
    {15, "scalar = yes @ guide", "box.ini:15", "not a number in range", "'yes'", "or 'no'", NULL, 0},
    {16, "channel = 0 @ guide", "box.ini:16", "not a number in range", "'0'", "or 'no'", NULL, 0},
    {18, "full = 1 @ guide\nrecord_bits = 129 @ guide", "box.ini:19", "not a number in range", "'129'", "to 128", NULL,
     0},
    {20, "requantise = tflite @ guide", "box.ini:20", "unknown word", "'tflite'", "tflite-double", "'tflite-double'",
     0},
    {20, "requantise = onnx @ guide\ndtypes = int8 uint88 @ guide", "box.ini:21", "unknown dtype 'uint88'",
     "'int8 uint88'", "uint8", "'uint8'", 0},
    {20, "requantise = onnx @ guide\ndtypes = string @ guide", "box.ini:21", "unknown dtype 'string'", NULL, NULL, NULL,
     0},
    {27, "bytes_cycle = 0 @ guide", "box.ini:27", "not a number in range", "'0'", "from 1 to", NULL, 0},
    {30, "min_bytes = 128K @ guide", "box.ini:30", "min_bytes is larger than max_bytes", "131072 and 65536", NULL, NULL,
     0},
    {32, "align_bytes = 128K @ guide", "box.ini:32", "align_bytes is larger than max_bytes", "131072 and 65536", NULL,
     NULL, 0},
};

static bool is_told(const Diags *diags, const Broken *row) {
    for (const Diag *diag = diags->first; diag != NULL; diag = diag->next) {
        const DiagText *text = &diag->text;
        if (diag->kind == DIAG_ERROR && text->place != NULL && strcmp(text->place, row->place) == 0 &&
            has_part(text->what, row->what) && has_part(text->got, row->got) &&
            has_part(text->expected, row->expected) && has_part(text->hint, row->hint)) {
            return true;
        }
    }
    return false;
}

static void check_broken(Work *work, const void *arg) {
    static char text[TEXT_BYTES];
    const Broken *row = arg;
    size_t put_bytes = row->put_bytes > 0 ? row->put_bytes : strlen(row->put);
    const Device *device = parse_copy(work, text, write_text(text, row->line, row->put, put_bytes, "\n"));
    if (device != NULL || !is_told(&work->diags, row)) {
        print_message("line %zu: %s\n", row->line, row->put);
        diags_print(&work->diags, "", stderr);
        fail_msg("expected %s: %s", row->place, row->what);
    }
}

static void faults_are_told_with_their_line(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof broken / sizeof broken[0]; i++) {
        with_work(check_broken, &broken[i]);
    }
}

static void check_three_faults(Work *work, const void *row) {
    (void)row;
    static char text[TEXT_BYTES];
    static const char put[] = "bytes = 0 @ guide\nalign = 1 @ guide\nbanks = x @ guide";
    assert_null(parse_copy(work, text, write_text(text, 5, put, sizeof put - 1, "\n")));
    assert_int_equal(work->diags.count[DIAG_ERROR], 3);
}

/* A wrong value, an unknown key, a missing key, a missing section and a missing memory: one run tells all five, in the
 * order of their lines; a missing key is told at its section. */
static void check_kinds_of_faults(Work *work, const void *row) {
    (void)row;
    static const char text[] = "[device]\nname = box\nkind = arena\nkinds = x\n[memory local]\nbytes = 0 @ guide\n"
                               "[contract]\nactivation = N H W C @ g\nweight = O I H W @ g\nparameter = N H W C @ g\n";
    static const char *const what[] = {"unknown key", "required key is missing", "not a number in range",
                                       "required section is missing", "needs a memory 'flash'"};
    assert_null(device_parse(work, (Str){text, sizeof text - 1}, STR("box.ini")));
    assert_int_equal(work->diags.count[DIAG_ERROR], 5);
    const Diag *diag = work->diags.first;
    for (size_t i = 0; i < 5; i++, diag = diag->next) {
        assert_true(has_part(diag->text.what, what[i]));
    }
}

static void all_faults_are_told(void **state) {
    (void)state;
    with_work(check_three_faults, NULL);
    with_work(check_kinds_of_faults, NULL);
}

/* ---- What can never work, where more than one line says it */

/* The good text with lanes of local memory, an activation contract, and 'no' or 1 for each form. */
static const Device *parse_box(Work *work, const char *lanes, const char *activation, const char *full) {
    static char text[TEXT_BYTES];
    size_t len = 0;
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const char *put = i == 5 ? lanes : i == 10 ? activation : i == 17 ? full : good[i];
        put = i == 14 ? "scalar = no @ guide" : i == 15 ? "channel = no @ guide" : put;
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\n", put);
    }
    return parse_copy(work, text, len);
}

static void check_lanes(Work *work, const void *row) {
    (void)row;
    static const char activation[] = "activation = when C==1: N C H W | bank[C/4%16] N H W C/64 C%4 @ guide";
    assert_non_null(parse_box(work, "align_bytes = 16 @ guide\nlanes = 16 @ guide", activation, good[17]));
    assert_null(work->diags.first);
    assert_null(parse_box(work, "align_bytes = 16 @ guide\nlanes = 15 @ guide", activation, good[17]));
    assert_string_equal(work->diags.first->text.place, "box.ini:12");
    assert_true(has_part(work->diags.first->text.got, "16 banks"));
    assert_true(has_part(work->diags.first->text.expected, "at most 15,"));
}

static void check_no_form(Work *work, const void *row) {
    (void)row;
    assert_null(parse_box(work, good[5], good[10], "full = no @ guide"));
    assert_int_equal(work->diags.count[DIAG_ERROR], 1);
    assert_string_equal(work->diags.first->text.place, "box.ini:15");
    assert_true(has_part(work->diags.first->text.what, "no form can be read"));
}

static void what_can_never_work_is_refused(void **state) {
    (void)state;
    with_work(check_lanes, NULL);
    with_work(check_no_form, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_never_work_is_refused),
        cmocka_unit_test(faults_are_told_with_their_line),
        cmocka_unit_test(all_faults_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
