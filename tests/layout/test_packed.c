/* Proves of packed elements, against bits set and looked at one by one: at every width from 1 to 64, at every position
 * from the first to one that ends the bytes, an element is read and written whole, and its neighbours are left alone.
 * Runs of elements are compared to their last bit. The buffers end with the last element, so that a byte read or
 * written past it is seen by a sanitiser. */
#include "layout/packed.h"
#include "layout/support.h"

#include <stdlib.h>
#include <string.h>

enum { ELEMENTS = 19, MOST_BITS = 64, ROUNDS = 4 };

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return *state >> 32;
}

static bool bit_of(const uint8_t *bytes, uint64_t at) {
    return bytes[at / 8] >> at % 8 & 1;
}

/* Value of the bits from `begin` on, lowest first. */
static uint64_t number_at(const uint8_t *bytes, uint64_t begin, uint32_t bits) {
    uint64_t number = 0;
    for (uint32_t k = bits; k-- > 0;) {
        number = 2 * number + bit_of(bytes, begin + k);
    }
    return number;
}

static uint8_t *random_bytes(uint64_t *state, size_t len) {
    uint8_t *bytes = malloc(len);
    for (size_t k = 0; k < len; k++) {
        bytes[k] = (uint8_t)draw(state);
    }
    return bytes;
}

static void check_width(uint64_t *state, uint32_t bits) {
    size_t len = 0;
    while (len * 8 < ELEMENTS * (size_t)bits) {
        len++;
    }
    uint8_t *bytes = random_bytes(state, len);
    uint8_t *before = malloc(len);
    for (uint32_t index = 0; index < ELEMENTS; index++) {
        uint64_t begin = (uint64_t)index * bits;
        uint64_t code = draw(state) << 32 | draw(state); /* bits above the width must not be written */
        assert_int_equal(packed_read(bytes, index, bits), number_at(bytes, begin, bits));
        memcpy(before, bytes, len);
        packed_write(bytes, index, bits, code);
        for (uint64_t at = 0; at < len * 8; at++) {
            bool is_inside = at >= begin && at < begin + bits;
            bool expected = is_inside ? code >> (at - begin) & 1 : bit_of(before, at);
            if (bit_of(bytes, at) != expected) {
                fail_msg("%u bits, element %u: bit %u", bits, index, (unsigned)at);
            }
        }
    }
    free(before);
    free(bytes);
}

static void elements_are_read_and_written_whole(void **unused) {
    (void)unused;
    uint64_t state = 7;
    for (uint32_t bits = 1; bits <= MOST_BITS; bits++) {
        for (int round = 0; round < ROUNDS; round++) {
            check_width(&state, bits);
        }
    }
}

/* Elements of an odd place hold ones, the others zeros: runs are the same two places on, not one place on, and not
 * where one bit of them differs. */
static void check_runs(uint32_t bits) {
    uint8_t bytes[ELEMENTS * MOST_BITS / 8] = {0};
    for (uint32_t index = 1; index < ELEMENTS; index += 2) {
        packed_write(bytes, index, bits, UINT64_MAX);
    }
    for (uint32_t count = 1; count <= ELEMENTS - 2; count++) {
        uint64_t last = count - 1;
        assert_true(packed_same(bytes, bits, count, 0, 2));
        assert_false(packed_same(bytes, bits, count, 0, 1));
        packed_write(bytes, 2 + last, bits, packed_read(bytes, last, bits) ^ UINT64_C(1) << (bits - 1));
        assert_false(packed_same(bytes, bits, count, 0, 2));
        assert_true(packed_same(bytes, bits, last, 0, 2));
        packed_write(bytes, 2 + last, bits, packed_read(bytes, last, bits));
    }
}

static void runs_are_compared_to_their_last_bit(void **unused) {
    (void)unused;
    for (uint32_t bits = 1; bits <= MOST_BITS; bits++) {
        check_runs(bits);
    }
}

/* Bytes as the formats state them: TFLite and ONNX put the first of two int4 into the low nibble, and numbers of
 * several bytes begin with the lowest. */
static void known_bytes_come_out(void **unused) {
    (void)unused;
    static const uint8_t bytes[] = {0x21, 0x43, 0x65, 0x87, 0xA9, 0xCB, 0xED, 0x0F};
    static const struct {
        uint32_t bits;
        uint64_t index, code;
    } rows[] = {
        {2, 0, 1},       {2, 2, 2},       {2, 5, 0},           {2, 31, 0},          {4, 0, 1},
        {4, 1, 2},       {4, 3, 4},       {4, 15, 0},          {8, 0, 0x21},        {8, 7, 0x0F},
        {16, 1, 0x8765}, {16, 3, 0x0FED}, {32, 0, 0x87654321}, {32, 1, 0x0FEDCBA9}, {64, 0, 0x0FEDCBA987654321},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        assert_int_equal(packed_read(bytes, rows[i].index, rows[i].bits), rows[i].code);
    }
}

static void sizes_are_rounded_once_and_checked(void **unused) {
    (void)unused;
    static const struct {
        uint64_t elements;
        uint32_t bits;
        bool fits;
        uint64_t bytes;
    } rows[] = {
        {0, 4, true, 0},
        {1, 4, true, 1},
        {2, 4, true, 1},
        {3, 4, true, 2},
        {5, 2, true, 2},
        {7, 8, true, 7},
        {3, 80, true, 30},
        {5, 0, true, 0},
        {UINT64_MAX, 1, true, UINT64_C(1) << 61}, /* rounding up must not overflow either */
        {UINT64_MAX / 8, 8, true, UINT64_MAX / 8},
        {UINT64_MAX / 8 + 1, 8, false, 0},
        {UINT64_C(1) << 60, 16, false, 0},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        uint64_t bytes = 0;
        assert_int_equal(packed_bytes(rows[i].elements, rows[i].bits, &bytes), rows[i].fits);
        assert_int_equal(bytes, rows[i].bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_read_and_written_whole),
        cmocka_unit_test(runs_are_compared_to_their_last_bit),
        cmocka_unit_test(known_bytes_come_out),
        cmocka_unit_test(sizes_are_rounded_once_and_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
