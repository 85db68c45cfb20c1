/* Proves: the FlatBuffers reader finds each kind of field where it is, gives defaults where it is not, never hands out
 * anything outside the buffer, and names the first thing that is wrong; shared tables can't make it work without end.
 * The buffer is put together byte by byte from the format's description (flatbuffers.dev/internals). */
#include "import/flatbuf.h"

#include "support/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Where things stand; nothing is aligned, on purpose. */
enum {
    VTABLE = 8,
    SLOTS = 9,
    TABLE = 31,
    TABLE_BYTES = 37,
    STRING = TABLE + TABLE_BYTES,
    INTS = STRING + 4 + 2,
    TABLES = INTS + 4 + 8,
    INNER_VTABLE = TABLES + 4 + 4,
    INNER = INNER_VTABLE + 6,
    FILE_BYTES = INNER + 5,
};
/* The fields' offsets in the table, by slot. */
enum { I8 = 4, I32 = 5, F32 = 9, STR_AT = 13, INTS_AT = 17, INNER_AT = 21, U64 = 25, TABLES_AT = 33 };

static void put(uint8_t *bytes, size_t at, uint64_t number, size_t count) {
    for (size_t k = 0; k < count; k++) {
        bytes[at + k] = (uint8_t)(number >> (8 * k));
    }
}

static void put_offset(uint8_t *bytes, size_t at, size_t target) {
    put(bytes, at, target - at, 4);
}

/* Slot 0 int8 -3, 1 absent, 2 int32 70000, 3 float 1.5, 4 "ab", 5 {7, -8}, 6 a table {true}, 7 uint64 2^63, 8 {that
 * table}. */
static void build(uint8_t bytes[FILE_BYTES]) {
    static const uint16_t offset[SLOTS] = {I8, 0, I32, F32, STR_AT, INTS_AT, INNER_AT, U64, TABLES_AT};
    memset(bytes, 0, FILE_BYTES);
    put_offset(bytes, 0, TABLE);
    memcpy(bytes + 4, "TEST", 4);
    put(bytes, VTABLE, 4 + 2 * SLOTS, 2);
    put(bytes, VTABLE + 2, TABLE_BYTES, 2);
    for (size_t k = 0; k < SLOTS; k++) {
        put(bytes, VTABLE + 4 + 2 * k, offset[k], 2);
    }
    put(bytes, TABLE, TABLE - VTABLE, 4);
    put(bytes, TABLE + I8, 0xFD, 1);
    put(bytes, TABLE + I32, 70000, 4);
    put(bytes, TABLE + F32, 0x3FC00000, 4);
    put_offset(bytes, TABLE + STR_AT, STRING);
    put_offset(bytes, TABLE + INTS_AT, INTS);
    put_offset(bytes, TABLE + INNER_AT, INNER);
    put(bytes, TABLE + U64, (uint64_t)1 << 63, 8);
    put_offset(bytes, TABLE + TABLES_AT, TABLES);
    put(bytes, STRING, 2, 4);
    memcpy(bytes + STRING + 4, "ab", 2);
    put(bytes, INTS, 2, 4);
    put(bytes, INTS + 4, 7, 4);
    put(bytes, INTS + 8, 0xFFFFFFF8, 4);
    put(bytes, TABLES, 1, 4);
    put_offset(bytes, TABLES + 4, INNER);
    put(bytes, INNER_VTABLE, 6, 2);
    put(bytes, INNER_VTABLE + 2, 5, 2);
    put(bytes, INNER_VTABLE + 4, 4, 2);
    put(bytes, INNER, INNER - INNER_VTABLE, 4);
    put(bytes, INNER + 4, 1, 1);
}

static FlatTable open_built(uint8_t bytes[FILE_BYTES], Flatbuf *flat) {
    FlatTable root;
    build(bytes);
    assert_true(flat_open(flat, (Span){bytes, FILE_BYTES}, "TEST", &root));
    return root;
}

static void test_fields_are_found(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    Flatbuf flat;
    FlatTable root = open_built(bytes, &flat);
    assert_int_equal(flat_int(&flat, &root, 0, FLAT_I8, 0), -3);
    assert_int_equal(flat_int(&flat, &root, 0, FLAT_U8, 0), 253);
    assert_int_equal(flat_int(&flat, &root, 2, FLAT_I32, 0), 70000);
    assert_true(flat_float(&flat, &root, 3, 0) == 1.5F);
    assert_true(str_eq(flat_str(&flat, &root, 4), STR("ab")));
    FlatVector ints = flat_vector(&flat, &root, 5, 4);
    assert_int_equal(ints.count, 2);
    assert_int_equal(flat_int_at(&flat, &ints, 0), 7);
    assert_int_equal(flat_int_at(&flat, &ints, 1), -8);
    FlatTable inner = flat_table(&flat, &root, 6);
    assert_int_equal(flat_int(&flat, &inner, 0, FLAT_BOOL, 0), 1);
    FlatVector tables = flat_tables(&flat, &root, 8);
    assert_int_equal(tables.count, 1);
    assert_int_equal(flat_table_at(&flat, &tables, 0).at, INNER);
    assert_int_equal(flat_int(&flat, &root, 7, FLAT_I64, 0), INT64_MIN);
    assert_null(flat.fault);
}

static void test_absent_fields_have_defaults(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    Flatbuf flat;
    FlatTable root = open_built(bytes, &flat);
    static const uint32_t absent[] = {1, SLOTS, 1000, UINT32_MAX};
    for (size_t k = 0; k < sizeof absent / sizeof *absent; k++) {
        assert_false(flat_has(&flat, &root, absent[k]));
        assert_int_equal(flat_int(&flat, &root, absent[k], FLAT_I32, 42), 42);
        assert_true(flat_float(&flat, &root, absent[k], 0.25F) == 0.25F);
        assert_int_equal(flat_str(&flat, &root, absent[k]).len, 0);
        assert_int_equal(flat_vector(&flat, &root, absent[k], 8).count, 0);
        FlatTable none = flat_table(&flat, &root, absent[k]);
        assert_int_equal(flat_int(&flat, &none, 0, FLAT_I32, 7), 7);
    }
    assert_null(flat.fault);
}

/* Reads all there is; the fault, or null. */
static const char *read_all(Span file) {
    Flatbuf flat;
    FlatTable root;
    if (flat_open(&flat, file, "TEST", &root)) {
        flat_int(&flat, &root, 0, FLAT_I8, 0);
        flat_int(&flat, &root, 2, FLAT_I32, 0);
        flat_float(&flat, &root, 3, 0);
        Str str = flat_str(&flat, &root, 4);
        FlatVector ints = flat_vector(&flat, &root, 5, 4);
        FlatVector tables = flat_tables(&flat, &root, 8);
        volatile uint64_t sum = 0; /* touch what was handed out: AddressSanitizer watches */
        for (size_t k = 0; k < str.len; k++) {
            sum = sum + (uint8_t)str.ptr[k];
        }
        for (uint32_t k = 0; k < ints.count; k++) {
            sum = sum + (uint64_t)flat_int_at(&flat, &ints, k);
        }
        for (uint32_t k = 0; k < tables.count; k++) {
            FlatTable table = flat_table_at(&flat, &tables, k);
            flat_int(&flat, &table, 0, FLAT_BOOL, 0);
        }
        FlatTable inner = flat_table(&flat, &root, 6);
        flat_int(&flat, &inner, 0, FLAT_BOOL, 0);
    }
    return flat.fault;
}

static const struct {
    const char *name;
    size_t at;
    uint64_t number;
    size_t bytes;
    const char *fault; /* part of it */
} BROKEN[] = {
    {"wrong identifier", 4, 'X', 1, "identifier"},
    {"root behind the end", 0, FILE_BYTES, 4, "begins outside"},
    {"root cut by the end", 0, FILE_BYTES - 3, 4, "begins outside"},
    {"root far away", 0, UINT32_MAX, 4, "begins outside"},
    {"vtable in front of the file", TABLE, TABLE + 1, 4, "field list lies outside"},
    {"vtable behind the file", TABLE, (uint64_t)-FILE_BYTES, 4, "field list lies outside"},
    {"vtable too small", VTABLE, 2, 2, "wrong size"},
    {"vtable of odd size", VTABLE, 21, 2, "wrong size"},
    {"vtable reaches out", VTABLE, FILE_BYTES, 2, "wrong size"},
    {"table too small", VTABLE + 2, 3, 2, "past the end"},
    {"table reaches out", VTABLE + 2, FILE_BYTES - TABLE + 1, 2, "past the end"},
    {"field over the table's start", VTABLE + 4, 3, 2, "outside its table"},
    {"field behind the table", VTABLE + 4, TABLE_BYTES, 2, "outside its table"},
    {"field cut by the table's end", VTABLE + 8, TABLE_BYTES - 3, 2, "outside its table"},
    {"string behind the end", TABLE + STR_AT, FILE_BYTES, 4, "begins outside"},
    {"string offset huge", TABLE + STR_AT, UINT32_MAX, 4, "begins outside"},
    {"string too long", STRING, FILE_BYTES - STRING - 3, 4, "past the end"},
    {"vector too long", INTS, UINT32_MAX, 4, "past the end"},
    {"vector one too long", INTS, (FILE_BYTES - INTS - 4) / 4 + 1, 4, "past the end"},
    {"table of a vector outside", TABLES + 4, FILE_BYTES, 4, "begins outside"},
};

static void test_broken_buffers_are_named(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof BROKEN / sizeof *BROKEN; k++) {
        uint8_t bytes[FILE_BYTES];
        build(bytes);
        assert_null(read_all((Span){bytes, sizeof bytes}));
        put(bytes, BROKEN[k].at, BROKEN[k].number, BROKEN[k].bytes);
        const char *fault = read_all((Span){bytes, sizeof bytes});
        if (fault == NULL || strstr(fault, BROKEN[k].fault) == NULL) {
            fail_msg("%s: got '%s', expected '%s'", BROKEN[k].name, fault == NULL ? "no fault" : fault,
                     BROKEN[k].fault);
        }
    }
}

/* In memory of exactly that size, so that AddressSanitizer sees a byte too far. */
static const char *read_exactly(const uint8_t *bytes, size_t len) {
    uint8_t *copy = malloc(len + 1);
    assert_non_null(copy);
    memcpy(copy + 1, bytes, len); /* odd address: no read may need alignment */
    const char *fault = read_all((Span){copy + 1, len});
    free(copy);
    return fault;
}

static void test_any_cut_is_noticed(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    build(bytes);
    for (size_t len = 0; len < FILE_BYTES; len++) {
        assert_non_null(read_exactly(bytes, len));
    }
    assert_null(read_exactly(bytes, FILE_BYTES));
}

static void test_any_bytes_are_read_inside(void **state) {
    (void)state;
    uint64_t seed = 7;
    for (int round = 0; round < 20000; round++) {
        uint8_t bytes[FILE_BYTES];
        build(bytes);
        for (uint64_t edits = 1 + random_below(&seed, 4); edits > 0; edits--) {
            bytes[random_below(&seed, FILE_BYTES)] = (uint8_t)random_next(&seed);
        }
        read_exactly(bytes, FILE_BYTES);
    }
}

static void test_a_number_past_63_bits_is_a_fault(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    Flatbuf flat;
    FlatTable root = open_built(bytes, &flat);
    assert_int_equal(flat_int(&flat, &root, 7, FLAT_U64, 5), 5);
    assert_string_equal(flat.fault, "a number is too large");
    assert_int_equal(flat.fault_at, TABLE + U64);
}

/* A file that names one table again and again may cost 64 units a byte of its size, and no more. */
static void test_work_is_bounded(void **state) {
    (void)state;
    uint8_t bytes[FILE_BYTES];
    Flatbuf flat;
    FlatTable root = open_built(bytes, &flat);
    size_t reached = 0;
    while (flat_table(&flat, &root, 6).bytes > 0) {
        reached++;
        assert_true(reached <= 64 * FILE_BYTES);
    }
    assert_non_null(strstr(flat.fault, "too many places"));
    assert_true(reached > FILE_BYTES / 4); /* more than one buffer could honestly hold */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_fields_are_found),          cmocka_unit_test(test_absent_fields_have_defaults),
        cmocka_unit_test(test_broken_buffers_are_named),  cmocka_unit_test(test_any_cut_is_noticed),
        cmocka_unit_test(test_any_bytes_are_read_inside), cmocka_unit_test(test_a_number_past_63_bits_is_a_fault),
        cmocka_unit_test(test_work_is_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
