/* Proves how the elements of two tensors are said to differ.
 *
 * Distances are counted on the number line: all codes of a type are sorted by the number they stand for, -0 before 0,
 * and the distance of two is that of their places. Of types of 8 and 16 bits that is done for all codes; of wider ones
 * for the ends of the line. What is counted of a tensor, and what numbers are apart, follows by hand. */
#include "host/difference.h"

#include "layout/packed.h"
#include "support/work.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    double number;
    bool is_negative;
    uint64_t code;
} Placed;

static int by_number(const void *left, const void *right) {
    const Placed *a = left, *b = right;
    if (a->number != b->number) {
        return a->number < b->number ? -1 : 1;
    }
    return a->is_negative == b->is_negative ? 0 : a->is_negative ? -1 : 1;
}

static double number_of(DType dtype, uint64_t code) {
    uint32_t bits = dtype_bits(dtype);
    double unsigned_ = (double)code, range = ldexp(1, (int)bits);
    return dtype_kind(dtype) == DTYPE_KIND_FLOAT    ? dtype_float(dtype, code)
           : dtype_kind(dtype) == DTYPE_KIND_SIGNED ? (unsigned_ >= range / 2 ? unsigned_ - range : unsigned_)
                                                    : unsigned_;
}

static HostDifference difference_of(DType dtype, uint64_t got, uint64_t expected, uint64_t tolerance) {
    const HostTensor tensor = {STR("x"), dtype, {1, {1}}};
    uint8_t a[8] = {0}, b[8] = {0};
    size_t bytes = (dtype_bits(dtype) + 7) / 8;
    packed_write(a, 0, dtype_bits(dtype), got);
    packed_write(b, 0, dtype_bits(dtype), expected);
    return host_difference(&tensor, (Span){a, bytes}, (Span){b, bytes}, (HostTolerance){tolerance, 0});
}

static void check_line(DType dtype) {
    uint64_t codes = (uint64_t)1 << dtype_bits(dtype), count = 0;
    Placed *line = calloc((size_t)codes, sizeof *line);
    assert_non_null(line);
    for (uint64_t code = 0; code < codes; code++) {
        double number = number_of(dtype, code);
        if (!isnan(number)) {
            line[count++] = (Placed){number, signbit(number) != 0, code};
        }
    }
    qsort(line, (size_t)count, sizeof *line, by_number);
    uint64_t stride = codes > 256 ? 251 : 1;
    for (uint64_t a = 0; a < count; a += stride) {
        for (uint64_t b = 0; b < count; b += stride) {
            uint64_t far = a > b ? a - b : b - a;
            HostDifference found = difference_of(dtype, line[a].code, line[b].code, 0);
            assert_int_equal(found.largest, far);
            assert_int_equal(found.different, far > 0);
            assert_false(found.has_nan);
            assert_int_equal(difference_of(dtype, line[a].code, line[b].code, far).different, 0);
            assert_int_equal(difference_of(dtype, line[a].code, line[b].code, far - 1).different, far > 0);
        }
    }
    free(line);
}

static void test_number_line(void **state) {
    static const DType dtypes[] = {DTYPE_I2,  DTYPE_U4,  DTYPE_I4,  DTYPE_I8,  DTYPE_U8,
                                   DTYPE_I16, DTYPE_U16, DTYPE_F16, DTYPE_BF16};
    (void)state;
    for (size_t k = 0; k < sizeof dtypes / sizeof dtypes[0]; k++) {
        print_message("%s\n", dtype_name(dtypes[k]));
        check_line(dtypes[k]);
    }
}

static const struct {
    DType dtype;
    uint64_t a, b, far;
    bool has_nan;
} ends[] = {
    {DTYPE_I32, 0x80000000, 0x7fffffff, UINT32_MAX, false},
    {DTYPE_I64, 0x8000000000000000, 0x7fffffffffffffff, UINT64_MAX, false},
    {DTYPE_U64, 0, UINT64_MAX, UINT64_MAX, false},
    {DTYPE_F32, 0xff800000, 0x7f800000, 2 * UINT64_C(0x7f800000) + 1, false}, /* both infinities */
    {DTYPE_F32, 0x80000000, 0x00000000, 1, false},                            /* -0 and 0 */
    {DTYPE_F32, 0x3f800000, 0x40000000, 1 << 23, false},                      /* 1 and 2 */
    {DTYPE_F64, 0xfff0000000000000, 0x7ff0000000000000, 2 * UINT64_C(0x7ff0000000000000) + 1, false},
    {DTYPE_F32, 0x7fc00000, 0x7f800000, 0, true}, /* a NaN and a number */
    {DTYPE_F32, 0x7fc00000, 0xffc00001, 0, false},
    {DTYPE_F16, 0x7e00, 0x0000, 0, true},
    {DTYPE_BOOL, 0, 1, 1, false},
};

static void test_ends(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof ends / sizeof ends[0]; k++) {
        print_message("%s %zu\n", dtype_name(ends[k].dtype), k);
        for (int swapped = 0; swapped < 2; swapped++) {
            uint64_t a = swapped ? ends[k].b : ends[k].a, b = swapped ? ends[k].a : ends[k].b;
            HostDifference found = difference_of(ends[k].dtype, a, b, UINT64_MAX);
            assert_true(found.largest == ends[k].far);
            assert_int_equal(found.has_nan, ends[k].has_nan);
            assert_int_equal(found.different, ends[k].has_nan); /* no tolerance allows that */
        }
    }
}

/* Five numbers, of which the third and the fifth differ, by 2 and by 7. */
static void test_tensor(void **state) {
    static const uint8_t got[] = {1, 2, 3, 4, 5}, expected[] = {1, 2, 5, 4, 0xfe};
    static const struct {
        uint64_t tolerance, different, first;
    } row[] = {{0, 2, 2}, {1, 2, 2}, {2, 1, 4}, {6, 1, 4}, {7, 0, 0}};
    const HostTensor tensor = {STR("x"), DTYPE_I8, {1, {5}}};
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        HostDifference found =
            host_difference(&tensor, (Span){got, 5}, (Span){expected, 5}, (HostTolerance){row[k].tolerance, 0});
        assert_int_equal(found.elements, 5);
        assert_int_equal(found.largest, 7);
        assert_int_equal(found.different, row[k].different);
        assert_int_equal(found.first, row[k].first);
    }
    assert_string_equal(host_difference_unit(DTYPE_I8), "codes");
    assert_string_equal(host_difference_unit(DTYPE_F16), "ulp");
    assert_string_equal(host_difference_unit(DTYPE_C64), "ulp");
}

/* Two complex numbers: the imaginary part of the second is 1 ulp away. */
static void test_complex(void **state) {
    static const uint8_t got[16] = {0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 128, 63, 1, 0, 128, 63};
    static const uint8_t expected[16] = {0, 0, 128, 63, 0, 0, 0, 0, 0, 0, 128, 63, 0, 0, 128, 63};
    const HostTensor tensor = {STR("x"), DTYPE_C64, {1, {2}}};
    (void)state;
    HostDifference found = host_difference(&tensor, (Span){got, 16}, (Span){expected, 16}, (HostTolerance){0, 0});
    assert_int_equal(found.elements, 2);
    assert_int_equal(found.different, 1);
    assert_int_equal(found.first, 1);
    assert_int_equal(found.largest, 1);
}

/* 1 and 1.5, half apart and many ulp; 1e30 and the infinity; a NaN. Codes are compared by codes, whatever is apart. */
static void test_apart(void **state) {
    static const struct {
        DType dtype;
        uint64_t a, b;
        double apart; /* allowed */
        double found; /* and found */
        uint64_t different;
    } row[] = {
        {DTYPE_F32, 0x3f800000, 0x3fc00000, 0.5, 0.5, 0},
        {DTYPE_F32, 0x3f800000, 0x3fc00000, 0.49, 0.5, 1},
        {DTYPE_F16, 0x3c00, 0xbc00, 2, 2, 0},
        {DTYPE_F64, 0x3ff0000000000000, 0, 1, 1, 0},
        {DTYPE_F32, 0x7149f2ca, 0x7f800000, 1e300, INFINITY, 1},
        {DTYPE_F32, 0x7f800000, 0x7f800000, 0, 0, 0},
        {DTYPE_F32, 0x7fc00000, 0x3f800000, 1e300, 0, 1},
        {DTYPE_I8, 1, 2, 100, 0, 1},
    };
    (void)state;
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        const HostTensor tensor = {STR("x"), row[k].dtype, {1, {1}}};
        uint8_t a[8] = {0}, b[8] = {0};
        size_t bytes = dtype_bits(row[k].dtype) / 8;
        packed_write(a, 0, dtype_bits(row[k].dtype), row[k].a);
        packed_write(b, 0, dtype_bits(row[k].dtype), row[k].b);
        HostDifference found =
            host_difference(&tensor, (Span){a, bytes}, (Span){b, bytes}, (HostTolerance){0, row[k].apart});
        assert_int_equal(found.different, row[k].different);
        assert_true(found.apart == row[k].found);
    }
}

static void check_text(Work *work, const void *row) {
    static const uint8_t codes[] = {0x80, 0x7f, 0xff}, nibbles[] = {0x8f}, floats[] = {0x9a, 0x99, 0x99, 0x3e};
    static const uint8_t complex[] = {0, 0, 128, 63, 0, 0, 0, 192};
    const HostTensor signed_ = {STR("x"), DTYPE_I8, {1, {3}}}, unsigned_ = {STR("x"), DTYPE_U8, {1, {3}}};
    const HostTensor four = {STR("x"), DTYPE_I4, {1, {2}}}, real = {STR("x"), DTYPE_F32, {1, {1}}};
    const HostTensor pair = {STR("x"), DTYPE_C64, {1, {1}}};
    const Shape map = {4, {1, 4, 5, 6}}, number = {0, {0}};
    (void)row;
    assert_string_equal(host_element_text(&signed_, (Span){codes, 3}, 0, &work->keep), "-128");
    assert_string_equal(host_element_text(&signed_, (Span){codes, 3}, 1, &work->keep), "127");
    assert_string_equal(host_element_text(&signed_, (Span){codes, 3}, 2, &work->keep), "-1");
    assert_string_equal(host_element_text(&unsigned_, (Span){codes, 3}, 2, &work->keep), "255");
    assert_string_equal(host_element_text(&four, (Span){nibbles, 1}, 1, &work->keep), "-8");
    assert_string_equal(host_element_text(&real, (Span){floats, 4}, 0, &work->keep), "0.300000012");
    assert_string_equal(host_element_text(&pair, (Span){complex, 8}, 0, &work->keep), "(1, -2)");
    assert_string_equal(host_index_text(&map, ((0 * 4 + 3) * 5 + 4) * 6 + 5, &work->keep), "[0,3,4,5]");
    assert_string_equal(host_index_text(&map, 6, &work->keep), "[0,0,1,0]");
    assert_string_equal(host_index_text(&number, 0, &work->keep), "[]");
}

static void test_text(void **state) {
    (void)state;
    with_work(check_text, NULL);
}

static void test_empty(void **state) {
    const HostTensor tensor = {STR("x"), DTYPE_F32, {1, {0}}};
    (void)state;
    HostDifference found = host_difference(&tensor, (Span){NULL, 0}, (Span){NULL, 0}, (HostTolerance){0, 0});
    assert_int_equal(found.elements, 0);
    assert_int_equal(found.different, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_number_line), cmocka_unit_test(test_ends),
                                       cmocka_unit_test(test_apart),       cmocka_unit_test(test_text),
                                       cmocka_unit_test(test_tensor),      cmocka_unit_test(test_complex),
                                       cmocka_unit_test(test_empty)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
