/* Nearest names. Proves: the distance is that of an independent recursive definition over all pairs of short words, and
 * equal ends, however long, change nothing; what is offered first wins a tie; long names with a slip are found; nothing
 * is suggested for what is not near. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/nearest.h"
#include "support/work.h"

#include <string.h>

static size_t smallest(size_t a, size_t b) {
    return a < b ? a : b;
}

/* The definition, without a table: the last letters are deleted, inserted, replaced or swapped. */
static size_t defined_distance(const char *a, size_t a_len, const char *b, size_t b_len) {
    if (a_len == 0 || b_len == 0) {
        return a_len + b_len;
    }
    size_t replaced = defined_distance(a, a_len - 1, b, b_len - 1) + (a[a_len - 1] != b[b_len - 1]);
    size_t moved = 1 + smallest(defined_distance(a, a_len - 1, b, b_len), defined_distance(a, a_len, b, b_len - 1));
    size_t best = smallest(replaced, moved);
    if (a_len > 1 && b_len > 1 && a[a_len - 1] == b[b_len - 2] && a[a_len - 2] == b[b_len - 1]) {
        best = smallest(best, 1 + defined_distance(a, a_len - 2, b, b_len - 2));
    }
    return best;
}

/* Words over `abc`, by number: "", a, b, c, aa, … up to four letters. */
enum { WORDS = 1 + 3 + 9 + 27 + 81 };

static size_t word(uint32_t number, char letters[8]) {
    size_t len = 0;
    for (; number > 0; number = (number - 1) / 3) {
        letters[len++] = (char)('a' + (number - 1) % 3);
    }
    return len;
}

static void test_distance(void **state) {
    (void)state;
    for (uint32_t i = 0; i < WORDS * WORDS; i++) {
        char a[8], b[8], long_a[208], long_b[208];
        size_t a_len = word(i / WORDS, a);
        size_t b_len = word(i % WORDS, b);
        size_t expected = defined_distance(a, a_len, b, b_len);
        assert_int_equal(nearest_distance((Str){a, a_len}, (Str){b, b_len}), expected);
        memset(long_a, '/', sizeof long_a);
        memset(long_b, '/', sizeof long_b);
        memcpy(long_a + 100, a, a_len);
        memcpy(long_b + 100, b, b_len);
        assert_int_equal(nearest_distance((Str){long_a, 200 + a_len}, (Str){long_b, 200 + b_len}), expected);
    }
}

static void test_nearest(void **state) {
    (void)state;
#define LONG_NAME "/model/backbone/stage2/stage2.0/branch1/branch1.2/"
    static const struct {
        const char *typed, *name[3], *nearest;
    } rows[] = {
        {"taech", {"gap8", "teach", "reach"}, "teach"},
        {"bac", {"baa", "bab", "bad"}, "baa"}, /* a tie: the first */
        {"xyzw", {"gap8", "teach", "reach"}, NULL},
        {"nope", {"sophgo-bm1684x", "gap8", "teach"}, NULL}, /* two of four letters are no slip of its beginning */
        {"sohpgo", {"gap8", "sophgo-bm1684x", "teach"}, "sophgo-bm1684x"},
        {LONG_NAME "Conv_output0",
         {LONG_NAME "Relu_output_0", LONG_NAME "Conv_output_0", "x"},
         LONG_NAME "Conv_output_0"},
        {"Conv_output_0", {"x", LONG_NAME LONG_NAME "Conv_output_0", "y"}, LONG_NAME LONG_NAME "Conv_output_0"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *nearest = nearest_of(str_from(rows[i].typed), rows[i].name, 3);
        assert_true((nearest == NULL) == (rows[i].nearest == NULL));
        if (nearest != NULL) {
            assert_string_equal(nearest, rows[i].nearest);
        }
    }
}

static void check_bytes(Work *work, const void *argument) {
    (void)argument;
    static const struct {
        const char *typed, *hint; /* null: nothing is meant */
    } rows[] = {
        {"8MB", "did you mean 8M?"},
        {"8 MiB", "did you mean 8M?"},
        {"64k", "did you mean 64K?"},
        {"64kb", "did you mean 64K?"},
        {"1024KB", "did you mean 1M?"},
        {"2 GiB", "did you mean 2G?"},
        {"0x800000", "did you mean 8M?"},
        {"0x1F", "did you mean 31?"},
        {"4096B", "did you mean 4096?"},
        {"8,388,608", "did you mean 8388608?"},
        {"1 byte", "did you mean 1?"},
        {"1500KB", "did you mean 1500K?"},
        {"0", NULL},
        {"", NULL},
        {"K", NULL},
        {"x", NULL},
        {"0x", NULL},
        {"-1", NULL},
        {"1.5K", NULL},
        {"18446744073709551616", NULL},
        {"17179869184G", NULL},
        {"8 furlongs", NULL},
        {",8", NULL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const char *hint = nearest_bytes(&work->keep, str_from(rows[i].typed));
        print_message("%s\n", rows[i].typed);
        assert_true((hint == NULL) == (rows[i].hint == NULL));
        if (hint != NULL) {
            assert_string_equal(hint, rows[i].hint);
        }
    }
}

static void test_bytes(void **state) {
    (void)state;
    with_work(check_bytes, NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_distance), cmocka_unit_test(test_nearest),
                                       cmocka_unit_test(test_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
