/* Proves: records and fields come as RFC 4180 says, whatever ends the lines; what is wrong is told at its line and
 * column; and of random bytes every record stands in the text, in order, and is made of its fields. */
#include "base/csv.h"
#include "support/random.h"
#include "support/work.h"

#include <inttypes.h>

/* Each record is told as LINE:[VALUE|VALUE]. */
static const struct {
    const char *text, *told;
    const char *what; /* null: nothing is wrong */
    uint64_t line, column;
} ROW[] = {
    {"", "", NULL, 0, 0},
    {"\n\r\n \t\n", "", NULL, 0, 0},
    {"a", "1:[a]", NULL, 0, 0},
    {"a,b\n1,2\n", "1:[a|b]2:[1|2]", NULL, 0, 0},
    {"a,b\r\n1,2\r\n", "1:[a|b]2:[1|2]", NULL, 0, 0},
    {"a,b\r1,2\r", "1:[a|b]2:[1|2]", NULL, 0, 0},
    {"\xEF\xBB\xBF"
     "a,b",
     "1:[a|b]", NULL, 0, 0},
    {"a\n\n \nb", "1:[a]4:[b]", NULL, 0, 0},
    {",\n,,", "1:[|]2:[||]", NULL, 0, 0},
    {" a , b\t", "1:[a|b]", NULL, 0, 0},
    {"\" a \",\"b,c\"", "1:[ a |b,c]", NULL, 0, 0},
    {"\"a\"\"b\", \"\" ,\"\"\"\"", "1:[a\"b||\"]", NULL, 0, 0},
    {"\"a\nb\r\nc\rd\",e\nf", "1:[a\nb\r\nc\rd|e]5:[f]", NULL, 0, 0},
    {"5\",a\"b", "1:[5\"|a\"b]", NULL, 0, 0},
    {"a\n1,\"b", "1:[a]", "a quote is never closed", 2, 3},
    {"a\n\"b\" c", "1:[a]", "text stands behind a closing quote", 2, 5},
    {"a\n\"b\nc\"d", "1:[a]", "text stands behind a closing quote", 3, 3},
    {"\"", "", "a quote is never closed", 1, 1},
};

static void test_rows(Work *work) {
    for (size_t i = 0; i < sizeof ROW / sizeof *ROW; i++) {
        CsvReader csv = csv_reader(str_from(ROW[i].text), &work->keep);
        const char *told = "";
        while (csv_read(&csv)) {
            told = arena_text(&work->keep, "%s%" PRIu64 ":[", told, csv.line);
            for (size_t k = 0; k < csv.field_count; k++) {
                told = arena_text(&work->keep, "%s%s" STR_FMT, told, k == 0 ? "" : "|", STR_ARG(csv.field[k].value));
            }
            told = arena_text(&work->keep, "%s]", told);
        }
        assert_string_equal(told, ROW[i].told);
        assert_false(csv_read(&csv));
        if (ROW[i].what == NULL) {
            assert_null(csv.what);
            continue;
        }
        assert_string_equal(csv.what, ROW[i].what);
        assert_int_equal(csv.line, ROW[i].line);
        assert_int_equal(csv.column, ROW[i].column);
    }
}

/* The fields and the commas between them are the record. */
static void check_record(const CsvReader *csv) {
    const char *at = csv->record.ptr;
    for (size_t k = 0; k < csv->field_count; k++) {
        assert_ptr_equal(csv->field[k].text.ptr, at);
        at += csv->field[k].text.len;
        assert_true(k + 1 == csv->field_count || *at == ',');
        at++;
    }
    assert_ptr_equal(at, csv->record.ptr + csv->record.len + 1);
    assert_ptr_equal(csv->ending.ptr, csv->record.ptr + csv->record.len);
}

static void test_random(Work *work) {
    enum { ROUNDS = 20000, MOST = 24 };
    static const char letters[] = ",,,\"\"\n\r a1";
    uint64_t state = 7;
    size_t wrong = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        const size_t len = (size_t)random_below(&state, MOST);
        char *text = malloc(len + 1); /* of its exact size, so that a read past the end is seen */
        assert_non_null(text);
        for (size_t k = 0; k < len; k++) {
            text[k] = letters[random_below(&state, sizeof letters - 1)];
        }
        CsvReader csv = csv_reader((Str){text, len}, &work->scratch);
        const char *end = text;
        uint64_t line = 0;
        while (csv_read(&csv)) {
            assert_true(csv.record.ptr >= end && csv.line > line);
            end = csv.ending.ptr + csv.ending.len;
            line = csv.line;
            check_record(&csv);
        }
        assert_true(csv.what == NULL ? csv.rest.len == 0 : csv.line > line && csv.column >= 1);
        wrong += csv.what != NULL;
        free(text);
        arena_reset(&work->scratch);
    }
    assert_in_range(wrong, ROUNDS / 10, ROUNDS * 9 / 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_rows), WORK_TEST(test_random)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
