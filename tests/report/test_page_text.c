/* Text for people. Proves: separators of numbers; that clipping keeps the width and, of a name, both
 * ends; that names that differ in one place stay different in a table; that tables are aligned, end no line in blanks
 * and are never wider than asked. */
#include "report/text.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check_str(Str found, const char *expected) {
    if (!str_eq(found, str_from(expected))) {
        fail_msg("got '" STR_FMT "', expected '%s'", STR_ARG(found), expected);
    }
}

static void test_numbers(Work *work) {
    static const struct {
        uint64_t number;
        const char *text;
    } cases[] = {{0, "0"},
                 {999, "999"},
                 {1000, "1,000"},
                 {20459520, "20,459,520"},
                 {UINT64_MAX - 1, "18,446,744,073,709,551,614"},
                 {UINT64_MAX, "-"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_str(text_number(&work->keep, cases[i].number), cases[i].text);
    }
}

static void test_clip(Work *work) {
    check_str(text_clip(&work->keep, STR("abcdefghij"), 10), "abcdefghij");
    check_str(text_clip(&work->keep, STR("abcdefghij"), 9), "abcdefg..");
    check_str(text_clip(&work->keep, STR("abcdefghij"), 5), "abc..");
    check_str(text_clip(&work->keep, STR("abcdefghij"), 3), "a..");
    check_str(text_clip(&work->keep, STR("abcdefghij"), 2), "ab");
    check_str(text_clip(&work->keep, STR("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\xA9\xC3\xA8"), 5),
              "\xC3\xA4\xC3\xB6\xC3\xBC..");
    for (uint32_t most = 0; most < 12; most++) {
        uint32_t width = text_width(text_clip(&work->keep, STR("abcdefghij"), most));
        assert_int_equal(width, most < 10 ? most : 10);
    }
}

static void check_name(const char *name, TextCut cut, const char *expected, Work *work) {
    check_str(text_clip_name(&work->keep, str_from(name), cut), expected);
}

static void test_clip_name(Work *work) {
    check_name("abcdefghij", (TextCut){10, 2, 0}, "abcdefghij", work);
    check_name("abcdefghij", (TextCut){8, 2, 0}, "ab..ghij", work);
    check_name("abcdefghij", (TextCut){8, 0, 0}, "..efghij", work);
    check_name("abcdefghij", (TextCut){8, 5, 0}, "abcde..j", work);
    check_name("\xC3\xA4\xC3\xB6\xC3\xBC\xC3\x9F\xC3\x84\xC3\xA9\xC3\xA8", (TextCut){6, 3, 0},
               "\xC3\xA4\xC3\xB6..\xC3\xA9\xC3\xA8", work);
    check_name("abcdefghij", (TextCut){3, 2, 0}, "a..", work);
    check_name("abcdefghijklmnop", (TextCut){8, 3, 3}, "..de..op", work);
    check_name("abcdefghijklmnop", (TextCut){8, 3, 10}, "..klmnop", work);
    for (uint32_t most = 0; most < 12; most++) {
        for (uint32_t sixths = 0; sixths < 6; sixths++) {
            uint32_t width = text_width(text_clip_name(&work->keep, STR("abcdefghij"), (TextCut){most, sixths, 0}));
            assert_int_equal(width, most < 10 ? most : 10);
        }
    }
}

/* What is printed; free it. */
static char *print(const Table *table, uint32_t width) {
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    table_print(table, 2, width, out);
    fclose(out);
    return text;
}

static void test_table(Work *work) {
    static const char *const heads[] = {"bytes", "kind", "name"};
    Table table;
    table_init(&table, &work->keep, "rln");
    table_head(&table, heads);
    table_number(&table, 1234);
    table_text(&table, "input");
    table_text(&table, "abcdefghijklmnopqrst");
    table_number(&table, 5);
    table_text(&table, "");
    table_text(&table, "");
    char *wide = print(&table, 100);
    assert_string_equal(wide, "  bytes  kind   name\n"
                              "  1,234  input  abcdefghijklmnopqrst\n"
                              "      5\n");
    char *narrow = print(&table, 26);
    assert_string_equal(narrow, "  bytes  kind   name\n"
                                "  1,234  input  ab..opqrst\n"
                                "      5\n");
    free(wide);
    free(narrow);
}

/* Names that differ in one place only, wherever that is, stay apart in a column that is too narrow for them. */
static void test_names_stay_apart(Work *work) {
    enum { LENGTH = 40, ROOM = 20 };
    for (size_t place = 0; place < LENGTH; place++) {
        char one[LENGTH + 1];
        char other[LENGTH + 1];
        memset(one, 'x', LENGTH);
        one[LENGTH] = '\0';
        memcpy(other, one, sizeof one);
        other[place] = 'y';
        Table table;
        table_init(&table, &work->keep, "n");
        table_text(&table, one);
        table_text(&table, other);
        char *text = print(&table, ROOM);
        size_t length = strcspn(text, "\n") + 1;
        if (strncmp(text, text + length, length) == 0) {
            fail_msg("alike, although they differ at %zu:\n%s", place, text);
        }
        assert_int_equal(strlen(text), 2 * (ROOM + 1));
        free(text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_clip_name), WORK_TEST(test_names_stay_apart), WORK_TEST(test_numbers), WORK_TEST(test_clip),
        WORK_TEST(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
