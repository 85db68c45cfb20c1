/* Proves of the JSON reader that it takes what RFC 8259 takes and nothing else, that texts come out as they were
 * written, escapes and all, and that every prefix of a document ends in an error at a byte of it. */
#include "base/json_read.h"

#include "base/json.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static JsonReader reader_of(const char *text) {
    return json_reader((Span){(const uint8_t *)text, strlen(text)});
}

static bool is_document(const char *text) {
    JsonReader json = reader_of(text);
    return json_skip(&json) && json_read_end(&json);
}

static void test_grammar(void **state) {
    static const char *const good[] = {"{}",
                                       " [ ] ",
                                       "null",
                                       "true",
                                       "false",
                                       "0",
                                       "-1",
                                       "12.5e-3",
                                       "\"\"",
                                       "[1,2]",
                                       "{\"a\":[{}],\"b\":{\"c\":null}}",
                                       "[[[[]]]]",
                                       "\"\\u00e9\\n\\\"\"",
                                       "\t[\r\n1 ]"};
    static const char *const bad[] = {"",        "{",        "[",          "]",     "{]",    "[}",  "[1,]", "[,1]",
                                      "{\"a\"}", "{\"a\":}", "{\"a\":1,}", "{a:1}", "[1 2]", "nul", "True", "+1",
                                      ".5",      "5.",       "0x10",       "nan",   "inf",   "1e",  "--1",  "\"",
                                      "\"\\\"",  "\"\n\"",   "{} {}",      "[1]]",  "'a'"};
    (void)state;
    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        if (!is_document(good[k])) {
            fail_msg("refused: %s", good[k]);
        }
    }
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        if (is_document(bad[k])) {
            fail_msg("taken: %s", bad[k]);
        }
    }
}

/* 64 brackets in each other are taken, 65 are not, and a million end as well. */
static void test_depth(void **state) {
    enum { MANY = 1000000 };
    char *text = malloc(MANY + 1);
    (void)state;
    assert_non_null(text);
    memset(text, '[', MANY);
    text[MANY] = '\0';
    assert_false(is_document(text));
    memset(text + 64, ']', 64);
    text[128] = '\0';
    assert_true(is_document(text));
    memset(text, '[', 65);
    memset(text + 65, ']', 65);
    text[130] = '\0';
    assert_false(is_document(text));
    free(text);
}

static void check_text(Work *work, const char *text, const char *expected) {
    JsonReader json = reader_of(text);
    Str got;
    bool ok = json_read_str(&json, &work->keep, &got) && json_read_end(&json);
    if (ok != (expected != NULL) || (ok && !str_eq(got, str_from(expected)))) {
        fail_msg("%s", text);
    }
}

static void test_texts(Work *work) {
    check_text(work, "\"plain\"", "plain");
    check_text(work, "\"\\\"\\\\\\/\\b\\f\\n\\r\\t\"", "\"\\/\b\f\n\r\t");
    check_text(work, "\"\\u0041\\u00e9\\u20AC\"", "A\xC3\xA9\xE2\x82\xAC");
    check_text(work, "\"\\ud83d\\ude00!\"", "\xF0\x9F\x98\x80!");
    check_text(work, "\"\\ud83d!\"", "\xEF\xBF\xBD!"); /* half a pair */
    check_text(work, "\"\\ude00\"", "\xEF\xBF\xBD");
    check_text(work, "\"\\u12\"", NULL);
    check_text(work, "\"\\x\"", NULL);
    check_text(work, "\"\\", NULL);
}

/* What the writer writes the reader reads. */
static void test_written(Work *work) {
    static const char odd[] = "a\"b\\c\x01\x1f/\xC3\xA9\xF0\x9F\x98\x80\n";
    char *text = NULL;
    size_t length;
    FILE *out = open_memstream(&text, &length);
    Json writer;
    Str key, value;
    uint64_t most;
    int64_t least;
    double tenth;
    json_init(&writer, out);
    json_object(&writer);
    json_member_text(&writer, odd, odd);
    json_member_u64(&writer, "most", UINT64_MAX);
    json_key(&writer, "least");
    json_i64(&writer, INT64_MIN);
    json_key(&writer, "tenth");
    json_double(&writer, 0.1);
    json_member_null(&writer, "none");
    json_end(&writer);
    assert_int_equal(fclose(out), 0);
    JsonReader json = json_reader((Span){(const uint8_t *)text, length});
    assert_true(json_read_object(&json));
    assert_true(json_read_key(&json, &work->keep, &key) && json_read_str(&json, &work->keep, &value));
    assert_true(str_eq(key, str_from(odd)) && str_eq(value, str_from(odd)));
    assert_true(json_read_key(&json, &work->keep, &key) && json_read_u64(&json, &most) && most == UINT64_MAX);
    assert_true(json_read_key(&json, &work->keep, &key) && json_read_i64(&json, &least) && least == INT64_MIN);
    assert_true(json_read_key(&json, &work->keep, &key) && json_read_double(&json, &tenth) && tenth == 0.1);
    assert_true(json_read_key(&json, &work->keep, &key) && json_read_null(&json));
    assert_false(json_read_key(&json, &work->keep, &key));
    assert_true(json_read_end(&json));
    free(text);
}

static void test_prefixes(void **state) {
    static const char text[] = "{\"a\": [1, -2.5e3, \"x\\u0041\", null], \"b\": {\"c\": true}}";
    (void)state;
    assert_true(is_document(text));
    for (size_t length = 0; length + 1 < sizeof text; length++) {
        uint8_t *exact = malloc(length + (length == 0)); /* so that a byte read behind it is seen */
        assert_non_null(exact);
        memcpy(exact, text, length);
        JsonReader json = json_reader((Span){exact, length});
        assert_false(json_skip(&json) && json_read_end(&json));
        assert_non_null(json.what);
        assert_true(json.at <= length);
        free(exact);
    }
}

/* Numbers of the wrong kind are told where they begin. */
static void test_numbers(void **state) {
    uint64_t number;
    (void)state;
    JsonReader json = reader_of("  18446744073709551616");
    assert_false(json_read_u64(&json, &number));
    assert_true(json.at <= 2 && json.what != NULL);
    json = reader_of("1.5");
    assert_false(json_read_u64(&json, &number));
    json = reader_of("\"7\"");
    assert_false(json_read_u64(&json, &number));
    assert_false(json_read_null(&json)); /* nothing is read after that */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_grammar), cmocka_unit_test(test_depth),    WORK_TEST(test_texts),
        WORK_TEST(test_written),        cmocka_unit_test(test_prefixes), cmocka_unit_test(test_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
