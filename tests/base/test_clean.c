/* Harmless text. Proves: what is well-formed and visible passes byte for byte; every control character, every sequence
 * that RFC 3629 forbids, separators of lines and marks of direction become '?'; both ways of cleaning say the same; and
 * over all values of a character exactly those classes are replaced. */
#include "base/clean.h"
#include "support/work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void check(Str dirty, const char *expected, Work *work) {
    char *printed = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&printed, &size);
    assert_non_null(out);
    clean_print(dirty, out);
    fclose(out);
    assert_string_equal(printed, expected);
    free(printed);
    Str clean = clean_text(&work->keep, dirty);
    assert_int_equal(clean.len, strlen(expected));
    assert_memory_equal(clean.ptr, expected, clean.len);
}

static void test_cases(Work *work) {
    static const struct {
        const char *text, *clean;
    } cases[] = {
        {"", ""},
        {"conv/1", "conv/1"},
        {"\033[2Jx", "?[2Jx"},
        {"a\nb\tc\177\r", "a?b?c??"},
        {"\xC2\x9B"
         "31m",
         "?31m"}, /* the C1 form of ESC [ */
        {"gr\xC3\xBC\xC3\x9F", "gr\xC3\xBC\xC3\x9F"},
        {"\xE5\xB1\x82", "\xE5\xB1\x82"},
        {"\xF0\x9F\x98\x80", "\xF0\x9F\x98\x80"},
        {"\xC3", "?"},                /* cut off */
        {"\xFF\xC0\x80", "???"},      /* no UTF-8 */
        {"\xE0\x8A\x8A", "???"},      /* a line feed in three bytes */
        {"\xED\xA0\x80", "???"},      /* a surrogate */
        {"\xF4\x90\x80\x80", "????"}, /* past U+10FFFF */
        {"a\xE2\x80\xAE"
         "b",
         "a?b"}, /* right-to-left override */
        {"a\xE2\x80\xA8"
         "b",
         "a?b"}, /* line separator */
        {"\xC3(", "?("},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check(str_from(cases[i].text), cases[i].clean, work);
    }
    check((Str){"a\0b", 3}, "a?b", work);
}

/* UTF-8 by its bit patterns. */
static size_t encode(uint32_t c, char *text) {
    if (c < 0x80) {
        text[0] = (char)c;
        return 1;
    }
    size_t length = c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (c & 0x3F));
        c >>= 6;
    }
    static const uint8_t head[] = {0, 0, 0xC0, 0xE0, 0xF0};
    text[0] = (char)(head[length] | c);
    return length;
}

static void test_all_characters(void **state) {
    (void)state;
    uint32_t replaced = 0;
    for (uint32_t c = 0; c <= 0x10FFFF; c++) {
        char text[4];
        bool is_harmless;
        size_t length = encode(c, text);
        bool is_whole = clean_character((Str){text, length}, &is_harmless) == length;
        assert_true(is_whole || (c >= 0xD800 && c <= 0xDFFF));
        replaced += !is_harmless;
    }
    /* 32 + DEL and 32 of C1; 2048 surrogates; U+2028 and 2029; 12 characters with the property Bidi_Control */
    assert_int_equal(replaced, 32 + 1 + 32 + 2048 + 2 + 12);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_cases),
        cmocka_unit_test(test_all_characters),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
