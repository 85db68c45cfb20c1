/* Proves: the writer's text is the JSON that the calls describe (texts written by hand after RFC 8259), always valid
 * UTF-8 whatever the bytes, doubles read back equal, and a call that breaks the grammar is noticed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json.h"
#include "support/random.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TEXT_BYTES = 4096 };

/* What `body` writes, in `text`. */
static void write_text(void (*body)(Json *json), char *text) {
    FILE *out = tmpfile();
    assert_non_null(out);
    Json json;
    json_init(&json, out);
    body(&json);
    rewind(out);
    size_t length = fread(text, 1, TEXT_BYTES - 1, out);
    text[length] = '\0';
    fclose(out);
}

static void nested(Json *json) {
    json_object(json);
    json_member_str(json, "name", STR("conv"));
    json_key(json, "shape");
    json_array_inline(json);
    json_u64(json, 1);
    json_i64(json, -2);
    json_object(json); /* inside an inline level everything is inline */
    json_member_null(json, "x");
    json_end(json);
    json_end(json);
    json_key(json, "none");
    json_array(json);
    json_end(json);
    json_key(json, "rows");
    json_array(json);
    json_object_inline(json);
    json_member_bool(json, "fits", false);
    json_member_u64(json, "bytes", UINT64_MAX);
    json_end(json);
    json_text(json, NULL);
    json_end(json);
    json_end(json);
}

static void test_nested(void **state) {
    (void)state;
    char text[TEXT_BYTES];
    write_text(nested, text);
    assert_string_equal(text, "{\n"
                              "  \"name\": \"conv\",\n"
                              "  \"shape\": [1, -2, {\"x\": null}],\n"
                              "  \"none\": [],\n"
                              "  \"rows\": [\n"
                              "    {\"fits\": false, \"bytes\": 18446744073709551615},\n"
                              "    null\n"
                              "  ]\n"
                              "}\n");
}

static void numbers(Json *json) {
    json_array_inline(json);
    json_double(json, 0.1);
    json_double(json, 1.0 / 3.0);
    json_double(json, -0.0);
    json_double(json, 1e300);
    json_double(json, (double)NAN);
    json_double(json, (double)INFINITY);
    json_i64(json, INT64_MIN);
    json_end(json);
}

static void test_numbers(void **state) {
    (void)state;
    char text[TEXT_BYTES];
    write_text(numbers, text);
    assert_string_equal(text, "[0.1, 0.3333333333333333, -0, 1e+300, null, null, -9223372036854775808]\n");
}

static double double_to_write;

static void one_double(Json *json) {
    json_double(json, double_to_write);
}

static void test_doubles_read_back(void **state) {
    (void)state;
    uint64_t seed = 11;
    char text[TEXT_BYTES];
    for (int i = 0; i < 500; i++) {
        uint64_t bits = random_next(&seed);
        memcpy(&double_to_write, &bits, sizeof bits);
        if (isfinite(double_to_write)) {
            write_text(one_double, text);
            assert_true(strtod(text, NULL) == double_to_write);
        }
    }
}

static Str string_to_write;

static void one_string(Json *json) {
    json_array_inline(json);
    json_str(json, string_to_write);
    json_end(json);
}

/* Well-formed sequences are Table 3-7 of the Unicode standard; each byte of any other becomes U+FFFD. */
#define BAD "\xEF\xBF\xBD"

static void test_strings(void **state) {
    (void)state;
    static const struct {
        Str bytes;
        const char *text;
    } cases[] = {
        {{"", 0}, "[\"\"]\n"},
        {{NULL, 0}, "[\"\"]\n"},
        {{"a\"b\\c", 5}, "[\"a\\\"b\\\\c\"]\n"},
        {{"\0\n\x1f\x7f", 4}, "[\"\\u0000\\u000a\\u001f\\u007f\"]\n"},
        {{"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9}, "[\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"]\n"},
        {{"\x80", 1}, "[\"" BAD "\"]\n"},
        {{"\xC0\x80", 2}, "[\"" BAD BAD "\"]\n"},                 /* overlong */
        {{"\xE0\x9F\xBF", 3}, "[\"" BAD BAD BAD "\"]\n"},         /* overlong */
        {{"\xED\xA0\x80", 3}, "[\"" BAD BAD BAD "\"]\n"},         /* surrogate */
        {{"\xF0\x8F\xBF\xBF", 4}, "[\"" BAD BAD BAD BAD "\"]\n"}, /* overlong */
        {{"\xF4\x90\x80\x80", 4}, "[\"" BAD BAD BAD BAD "\"]\n"}, /* past U+10FFFF */
        {{"\xE2\x82\xAC", 2}, "[\"" BAD BAD "\"]\n"},             /* cut off */
        {{"\xE2\x82x", 3}, "[\"" BAD BAD "x\"]\n"},
        {{"\xEF\xBF\xBF\xF4\x8F\xBF\xBF", 7}, "[\"\xEF\xBF\xBF\xF4\x8F\xBF\xBF\"]\n"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[TEXT_BYTES];
        string_to_write = cases[i].bytes;
        write_text(one_string, text);
        assert_string_equal(text, cases[i].text);
    }
}

static void value_without_key(Json *json) {
    json_object(json);
    json_u64(json, 1);
}

static void key_in_array(Json *json) {
    json_array(json);
    json_key(json, "k");
}

static void key_without_value(Json *json) {
    json_object(json);
    json_key(json, "k");
    json_end(json);
}

static void end_of_nothing(Json *json) {
    json_end(json);
}

static void too_deep(Json *json) {
    for (int i = 0; i <= JSON_MAX_DEPTH; i++) {
        json_array(json);
    }
}

/* Broken grammar is our own fault and ends the program: watched from outside. */
static void test_grammar_is_checked(void **state) {
    (void)state;
    void (*const body[])(Json * json) = {value_without_key, key_in_array, key_without_value, end_of_nothing, too_deep};
    for (size_t i = 0; i < sizeof body / sizeof body[0]; i++) {
        int status = 0;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            char text[TEXT_BYTES];
            if (freopen("/dev/null", "w", stderr) != NULL) {
                signal(SIGABRT, SIG_DFL);
                write_text(body[i], text);
            }
            _exit(0);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nested),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_strings),
        cmocka_unit_test(test_doubles_read_back),
        cmocka_unit_test(test_grammar_is_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
