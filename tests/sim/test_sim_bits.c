/* Proves that runs of bits are copied as single bits would be, that all float16 are read and written as their
 * definition says, and that codes of all widths survive. */
#include "sim/model.h"

#include "sim/bits.h"
#include "support/random.h"

enum { BYTES = 24 };

static uint32_t bit_of(const uint8_t *bytes, uint64_t bit) {
    return bytes[bit / 8] >> bit % 8 & 1;
}

static void test_copy(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (uint32_t k = 0; k < 20000; k++) {
        uint8_t from[BYTES], to[BYTES], before[BYTES];
        uint64_t bits = random_below(&seed, BYTES * 8 - 16);
        uint64_t at_from = random_below(&seed, BYTES * 8 - bits + 1), at_to = random_below(&seed, BYTES * 8 - bits + 1);
        bool clears = random_below(&seed, 4) == 0;
        for (uint32_t b = 0; b < BYTES; b++) {
            from[b] = (uint8_t)random_next(&seed);
            to[b] = before[b] = (uint8_t)random_next(&seed);
        }
        if (clears) {
            bits_clear(to, at_to, bits);
        } else {
            bits_copy(to, at_to, from, at_from, bits);
        }
        for (uint64_t b = 0; b < BYTES * 8; b++) {
            bool is_inside = b >= at_to && b < at_to + bits;
            uint32_t copied = is_inside && !clears ? bit_of(from, at_from + b - at_to) : 0;
            assert_int_equal(bit_of(to, b), is_inside ? copied : bit_of(before, b));
        }
    }
}

static void test_half(void **state) {
    (void)state;
    for (uint32_t half = 0; half < 0x10000; half++) {
        float x = bits_from_half((uint16_t)half), expected = model_half(half);
        assert_true(same_float(x, expected));
        assert_int_equal(bits_to_half(x), half);
        assert_int_equal(model_half_code(x), half);
    }
}

/* Whatever of a payload is lost, a NaN stays one. */
static void test_nan(void **state) {
    (void)state;
    const uint32_t nan[] = {0x7F800001, 0xFF801FFF, 0x7F802000, 0xFFFFFFFF};
    const uint16_t expected[] = {0x7E00, 0xFE00, 0x7C01, 0xFFFF};
    for (uint32_t k = 0; k < 4; k++) {
        float x;
        memcpy(&x, &nan[k], sizeof x);
        assert_int_equal(bits_to_half(x), expected[k]);
    }
}

/* Alone in its element, and in the low bits of a wider one. */
static void test_codes(void **state) {
    (void)state;
    static const DType types[] = {DTYPE_I2, DTYPE_U2,  DTYPE_I4,  DTYPE_U4,  DTYPE_I8,
                                  DTYPE_U8, DTYPE_I16, DTYPE_U16, DTYPE_I32, DTYPE_F16};
    uint64_t seed = 3;
    for (uint32_t k = 0; k < 2000; k++) {
        DType dtype = types[k % 10];
        uint32_t bits = dtype_bits(dtype), wide = bits << random_below(&seed, bits == 32 ? 1 : 2);
        uint8_t packed[13 * 4 + 8], again[13 * 4 + 8];
        int32_t code[13] = {0};
        float x[13] = {0};
        for (uint32_t b = 0; b < sizeof packed; b++) {
            packed[b] = (uint8_t)random_next(&seed);
        }
        elements_decode(dtype, wide, packed, 13, code, x);
        elements_encode(dtype, wide, again, 13, code, x);
        for (uint32_t e = 0; e < 13; e++) {
            ModelElement element = {{0}};
            for (uint32_t b = 0; b < wide; b++) {
                element.bit[b] = b < bits ? (uint8_t)bit_of(packed, (uint64_t)e * wide + b) : 0;
                assert_int_equal(bit_of(again, (uint64_t)e * wide + b), element.bit[b]);
            }
            ModelNumber number = model_number(dtype, &element);
            assert_int_equal(code[e], number.code);
            assert_true(same_float(x[e], number.x));
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_copy),
        cmocka_unit_test(test_half),
        cmocka_unit_test(test_nan),
        cmocka_unit_test(test_codes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
