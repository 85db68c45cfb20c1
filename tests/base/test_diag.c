/* Proves: diagnostics print place, node, tensor, got, expected, readings, caret and hint in one stable form; the
 * gravest of several is the status; no text of a file steers a terminal or forges a line; and a flood of them is
 * bounded without losing the status or the count. */
#include "support/work.h"

#include <string.h>

enum { TEXT_BYTES = 16384 };

static void print_to(const Diags *diags, const char *prefix, char *text) {
    FILE *out = tmpfile();
    assert_non_null(out);
    diags_print(diags, prefix, out);
    rewind(out);
    size_t length = fread(text, 1, TEXT_BYTES - 1, out);
    text[length] = '\0';
    fclose(out);
}

static void test_print(Work *work) {
    char text[TEXT_BYTES];
    static const char *const readings[] = {"axis 1 (C)", "axis 3 (W)", NULL};
    diag_refuse(&work->diags, (DiagText){.place = "byte 12",
                                         .node = STR("mul"),
                                         .tensor = STR("scale"),
                                         .what = "the axis is ambiguous",
                                         .got = "[28]",
                                         .expected = "[1,28,1,1]",
                                         .readings = readings,
                                         .hint = "pass --axis scale=1"});
    diag_warn(&work->diags, (DiagText){.what = "only this"});
    print_to(&work->diags, "m.onnx", text);
    assert_string_equal(text, "m.onnx: refused: byte 12: node 'mul': tensor 'scale': the axis is ambiguous\n"
                              "  got       [28]\n"
                              "  expected  [1,28,1,1]\n"
                              "  reading   axis 1 (C)\n"
                              "  reading   axis 3 (W)\n"
                              "  do        pass --axis scale=1\n"
                              "m.onnx: warning: only this\n");
}

/* Whatever a file puts into any text: no byte of it steers the terminal, and no line of output starts with its words.
 */
static void test_hostile(Work *work) {
    static const char hostile[] = "x\nstride0: error: forged\r\033[2J\xFF";
    static const char *const readings[] = {hostile, NULL};
    char text[TEXT_BYTES];
    work->diags.file = hostile;
    diag_error(&work->diags, (DiagText){.place = "here",
                                        .node = str_from(hostile),
                                        .tensor = str_from(hostile),
                                        .what = hostile,
                                        .got = hostile,
                                        .expected = hostile,
                                        .readings = readings,
                                        .hint = hostile,
                                        .excerpt = str_from(hostile),
                                        .column = 3});
    diag_error(&work->diags, (DiagText){.place = hostile, .what = "same file"});
    print_to(&work->diags, hostile, text);
#define HARMLESS "x?stride0: error: forged??[2J?"
    assert_string_equal(text, HARMLESS ": error: " HARMLESS ": here: node '" HARMLESS "': tensor '" HARMLESS
                                       "': " HARMLESS "\n  " HARMLESS "\n    ^\n"
                                       "  got       " HARMLESS "\n"
                                       "  expected  " HARMLESS "\n"
                                       "  reading   " HARMLESS "\n"
                                       "  do        " HARMLESS "\n" HARMLESS ": error: " HARMLESS ": same file\n");
#undef HARMLESS
}

/* The file stands before the place, unless it is the place. */
static void test_file(Work *work) {
    char text[TEXT_BYTES];
    work->diags.file = "m.onnx";
    diag_error(&work->diags, (DiagText){.what = "one"});
    diag_error(&work->diags, (DiagText){.place = "byte 7", .what = "two"});
    diag_error(&work->diags, (DiagText){.place = "m.onnx", .what = "three"});
    print_to(&work->diags, "stride0", text);
    assert_string_equal(text, "stride0: error: m.onnx: one\n"
                              "stride0: error: m.onnx: byte 7: two\n"
                              "stride0: error: m.onnx: three\n");
}

/* The caret stands under the byte: behind a tab, behind characters of several bytes, and one past the end. */
static void test_caret(Work *work) {
    static const struct {
        const char *excerpt;
        uint32_t column;
        const char *text;
    } cases[] = {
        {"N H Q", 5, "error: wrong\n  N H Q\n      ^\n"}, {"N", 1, "error: wrong\n  N\n  ^\n"},
        {"\tN", 2, "error: wrong\n  \tN\n  \t^\n"},       {"\xC3\xA9N", 3, "error: wrong\n  \xC3\xA9N\n   ^\n"},
        {"NH", 3, "error: wrong\n  NH\n    ^\n"},         {"", 1, "error: wrong\n"},
        {"\x80\xC3N", 3, "error: wrong\n  ??N\n    ^\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        Diags diags = {.arena = &work->keep};
        char text[TEXT_BYTES];
        diag_error(&diags,
                   (DiagText){.what = "wrong", .excerpt = str_from(cases[i].excerpt), .column = cases[i].column});
        print_to(&diags, "", text);
        assert_string_equal(text, cases[i].text);
    }
}

static void test_gravest_is_the_status(Work *work) {
    static const struct {
        DiagKind kind;
        s0_status status;
    } steps[] = {{DIAG_WARNING, S0_DONE},
                 {DIAG_GREW, S0_NO_FIT},
                 {DIAG_NO_FIT, S0_NO_FIT},
                 {DIAG_REFUSED, S0_REFUSED},
                 {DIAG_ERROR, S0_BAD_INPUT}};
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        diag_add(&work->diags, steps[i].kind, (DiagText){.what = "x"});
        assert_int_equal(diags_status(&work->diags), steps[i].status);
        assert_int_equal(diags_failed(&work->diags), steps[i].status != S0_DONE);
    }
}

static void test_flood(Work *work) {
    char text[TEXT_BYTES];
    for (int i = 0; i < 10000; i++) {
        diag_warn(&work->diags, (DiagText){.what = "again"});
    }
    diag_error(&work->diags, (DiagText){.what = "the one that matters"});
    assert_int_equal(diags_status(&work->diags), S0_BAD_INPUT);
    assert_int_equal(work->diags.count[DIAG_WARNING], 10000);
    print_to(&work->diags, NULL, text);
    assert_non_null(strstr(text, "error: the one that matters\n"));
    size_t lines = 0;
    unsigned long more = 0;
    for (const char *s = text; *s != '\0'; s++) {
        lines += *s == '\n';
    }
    assert_true(lines < 100);
    assert_int_equal(sscanf(strstr(text, "\n("), "\n(%lu more of the same kinds)", &more), 1);
    assert_int_equal(lines - 1 + more, 10001); /* the last line is the count itself */
}

/* What was there stays in front; of one line, in the order in which it came; what has no line comes last. */
static void test_sort(Work *work) {
    static const uint32_t lines[] = {0, 7, 3, 9, 3, 0, 1};
    static const char *const whats[] = {"0", "7", "3", "9", "3 too", "0 too", "1"};
    static const char *const sorted[] = {"before", "1", "3", "3 too", "7", "9", "0", "0 too", "behind"};
    diag_error(&work->diags, (DiagText){.what = "before", .line = 100});
    const Diags before = work->diags;
    for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
        diag_error(&work->diags, (DiagText){.what = whats[k], .line = lines[k]});
    }
    diags_sort(&work->diags, before);
    diag_error(&work->diags, (DiagText){.what = "behind", .line = 2});
    const Diag *diag = work->diags.first;
    for (size_t k = 0; k < sizeof sorted / sizeof *sorted; k++, diag = diag->next) {
        assert_non_null(diag);
        assert_string_equal(diag->text.what, sorted[k]);
    }
    assert_null(diag);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_print),
        WORK_TEST(test_hostile),
        WORK_TEST(test_file),
        WORK_TEST(test_caret),
        WORK_TEST(test_gravest_is_the_status),
        WORK_TEST(test_flood),
        WORK_TEST(test_sort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
