/* Proves that files of tensors are read as what they hold, or refused.
 *
 * The files are made here byte by byte, by NumPy's own description of its format (numpy.lib.format) and protobuf's wire
 * format; what is written is compared with such bytes. Every beginning of a file, and every file with one byte spoiled,
 * must end in a result or a message. */
#include "host/host.h"

#include "layout/packed.h"
#include "support/work.h"

#include <math.h>
#include <string.h>

typedef struct {
    uint8_t byte[512];
    size_t count;
} Bytes;

static void put(Bytes *bytes, const void *data, size_t count) {
    assert_true(bytes->count + count <= sizeof bytes->byte);
    memcpy(bytes->byte + bytes->count, data, count);
    bytes->count += count;
}

/* A file of version `major` with this dictionary and these elements. */
static Bytes npy(uint8_t major, const char *text, const void *data, size_t count) {
    Bytes bytes = {.count = 0};
    size_t length = strlen(text);
    const uint8_t low[4] = {(uint8_t)length, (uint8_t)(length >> 8), 0, 0}, version[2] = {major, 0};
    put(&bytes, "\x93NUMPY", 6);
    put(&bytes, version, 2);
    put(&bytes, low, major == 1 ? 2 : 4);
    put(&bytes, text, length);
    put(&bytes, data, count);
    return bytes;
}

static HostTensor tensor_of(DType dtype, uint32_t rank, int64_t a, int64_t b) {
    return (HostTensor){STR("x"), dtype, {rank, {a, b}}};
}

static Span span_of(const Bytes *bytes) {
    return (Span){bytes->byte, bytes->count};
}

/* ---- Reading */

static void expect_read(const HostTensor *tensor, Bytes file, const void *expected, size_t count) {
    Work work;
    Span packed = {NULL, 0};
    WORK_BEGIN(&work);
    assert_true(host_read_npy(tensor, span_of(&file), &work, &packed));
    assert_int_equal(packed.len, count);
    assert_memory_equal(packed.ptr, expected, count);
    work_free(&work);
}

static void test_orders_and_versions(void **state) {
    (void)state;
    const uint8_t rows[6] = {1, 2, 3, 4, 5, 6}, columns[6] = {1, 4, 2, 5, 3, 6};
    const HostTensor tensor = tensor_of(DTYPE_I8, 2, 2, 3);
    for (uint8_t major = 1; major <= 3; major++) {
        expect_read(&tensor, npy(major, "{'descr': '|i1', 'fortran_order': False, 'shape': (2, 3), }   \n", rows, 6),
                    rows, 6);
        expect_read(&tensor, npy(major, "{'shape':(2,3),'fortran_order':True,\"descr\":'|i1'}", columns, 6), rows, 6);
    }
    const HostTensor scalar = tensor_of(DTYPE_F32, 0, 0, 0), empty = tensor_of(DTYPE_F32, 2, 0, 3);
    expect_read(&scalar, npy(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", "\x00\x00\x80\x3f", 4),
                "\x00\x00\x80\x3f", 4);
    expect_read(&empty, npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }", "", 0), "", 0);
}

/* -8 7 -1 in four bits, low first: 8 | 7 << 4, f. */
static void test_narrow(void **state) {
    (void)state;
    const HostTensor signed_ = tensor_of(DTYPE_I4, 1, 3, 0), unsigned_ = tensor_of(DTYPE_U4, 1, 3, 0);
    expect_read(&signed_, npy(1, "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }", "\xf8\x07\xff", 3),
                "\x78\x0f", 2);
    expect_read(&unsigned_, npy(1, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }", "\x00\x0f\x01", 3),
                "\xf0\x01", 2);
}

#define HEAD(descr, order, shape) "{'descr': '" descr "', 'fortran_order': " order ", 'shape': " shape ", }"

static void test_refused(void **state) {
    (void)state;
    static const struct {
        DType dtype;
        const char *head;
        size_t bytes;
        const char *what, *got;
    } row[] = {
        {DTYPE_F32, HEAD(">f4", "False", "(2,)"), 8, "big-endian", ">f4"},
        {DTYPE_F32, HEAD("<f8", "False", "(2,)"), 16, "another type", "<f8"},
        {DTYPE_F32, HEAD("<i4", "False", "(2,)"), 8, "another type", "<i4"},
        {DTYPE_I8, HEAD("|u1", "False", "(2,)"), 2, "another type", "|u1"},
        {DTYPE_C64, HEAD("<c8", "False", "(2,)"), 16, "no word for the type", "complex64"},
        {DTYPE_I8, HEAD("|i1", "False", "(2, 1)"), 2, "another shape", "[2,1]"},
        {DTYPE_I8, HEAD("|i1", "False", "(3,)"), 3, "another shape", "[3]"},
        {DTYPE_I8, HEAD("|i1", "False", "(2,)"), 1, "size of its shape", "1 bytes of elements"},
        {DTYPE_I8, HEAD("|i1", "False", "(2,)"), 3, "size of its shape", "3 bytes of elements"},
        {DTYPE_I4, HEAD("|i1", "False", "(2,)"), 2, "does not fit the type", "byte 0x41"},
        {DTYPE_BOOL, HEAD("|b1", "False", "(2,)"), 2, "does not fit the type", "byte 0x41"},
        {DTYPE_I8, HEAD("|i1", "Maybe", "(2,)"), 2, "can't be read", NULL},
        {DTYPE_I8, HEAD("|i1", "False", "(18446744073709551616,)"), 2, "can't be read", NULL},
        {DTYPE_I8, HEAD("|i1", "False", "(9223372036854775808,)"), 2, "can't be read", NULL},
        {DTYPE_I8, HEAD("|i1", "False", "(9223372036854775807, 9223372036854775807)"), 2, "another shape", NULL},
        {DTYPE_I8, HEAD("|i1", "False", "(1, 1, 1, 1, 1, 1, 1, 1, 2)"), 2, "can't be read", NULL},
        {DTYPE_I8, HEAD("|i1", "False", "(-2,)"), 2, "can't be read", NULL},
        {DTYPE_I8, HEAD("|i1", "False", "(2, 'a')"), 2, "can't be read", NULL},
        {DTYPE_I8, "{'descr': [('a', '|i1')], 'fortran_order': False, 'shape': (2,)}", 2, "can't be read", NULL},
        {DTYPE_I8, "{'descr': '|i1', 'descr': '|i1', 'fortran_order': False, 'shape': (2,)}", 2, "can't be read", NULL},
        {DTYPE_I8, "{'descr': '|i1', 'shape': (2,)}", 2, "can't be read", NULL},
        {DTYPE_I8, "{'descr': '|i1', 'fortran_order': False, 'shape': (2,)} + 1", 2, "can't be read", NULL},
        {DTYPE_I8, "{'descr': '|i1", 2, "can't be read", NULL},
        {DTYPE_I8, "", 2, "can't be read", NULL},
    };
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        const HostTensor tensor = tensor_of(row[k].dtype, 1, 2, 0);
        Bytes file = npy(1, row[k].head, "AAAAAAAAAAAAAAAA", row[k].bytes);
        Work work;
        Span packed;
        WORK_BEGIN(&work);
        assert_false(host_read_npy(&tensor, span_of(&file), &work, &packed));
        const DiagText *text = &work.diags.first->text;
        if (strstr(text->what, row[k].what) == NULL || (row[k].got != NULL && strcmp(text->got, row[k].got) != 0)) {
            fail_msg("row %zu: '%s', got '%s'", k, text->what, text->got);
        }
        work_free(&work);
    }
}

/* A head of 4 GiB, told by a file of 20 bytes, is refused by its length. */
static void test_bomb(void **state) {
    (void)state;
    static const uint8_t file[20] = "\x93NUMPY\x02\x00\xff\xff\xff\xff{'descr'";
    const HostTensor tensor = tensor_of(DTYPE_I8, 1, 2, 0);
    Work work;
    Span packed;
    WORK_BEGIN(&work);
    assert_false(host_read_npy(&tensor, (Span){file, sizeof file}, &work, &packed));
    assert_string_equal(work.diags.first->text.what, "the NumPy file ends in its head");
    assert_string_equal(work.diags.first->text.expected, "4294967295 bytes");
    work_free(&work);
}

static void try_bytes(const HostTensor *tensor, const uint8_t *from, size_t count) {
    Work work;
    Span packed;
    uint8_t *exact = malloc(count + (count == 0)); /* so that a byte behind the end is seen */
    memcpy(exact, from, count);
    WORK_BEGIN(&work);
    bool done = host_read_npy(tensor, (Span){exact, count}, &work, &packed);
    assert_true(done || diags_failed(&work.diags));
    work_free(&work);
    free(exact);
}

static void test_spoiled(void **state) {
    (void)state;
    const HostTensor tensor = tensor_of(DTYPE_I4, 2, 2, 3);
    Bytes file = npy(1, HEAD("|i1", "True", "(2, 3)"), "\x01\x02\x03\x04\x05\x06", 6);
    for (size_t count = 0; count <= file.count; count++) {
        try_bytes(&tensor, file.byte, count);
    }
    for (size_t at = 0; at < file.count; at++) {
        static const uint8_t mask[] = {0x01, 0x80, 0xff, 0x10, 0x20};
        for (size_t k = 0; k < sizeof mask; k++) {
            file.byte[at] ^= mask[k];
            try_bytes(&tensor, file.byte, file.count);
            file.byte[at] ^= mask[k];
        }
    }
}

/* ---- By ending */

static void write_file(const char *path, const void *data, size_t count) {
    FILE *out = fopen(path, "wb");
    assert_non_null(out);
    assert_int_equal(fwrite(data, 1, count, out), count);
    assert_int_equal(fclose(out), 0);
}

/* Null where it is read; else what was wrong. */
static const char *read_file(const HostTensor *tensor, const char *path, uint8_t *to, char *what) {
    Work work;
    ModelFiles files = {0};
    Span packed;
    WORK_BEGIN(&work);
    bool done = host_read(tensor, path, &files, &work, &packed);
    if (done) {
        memcpy(to, packed.ptr, packed.len);
    } else {
        snprintf(what, 200, "%s", work.diags.first->text.what);
    }
    import_close(&files);
    work_free(&work);
    return done ? NULL : what;
}

/* TensorProto: dims 2 (field 1, varint), data_type 3 = int8 (field 2), raw_data (field 9). */
static void test_endings(void **state) {
    (void)state;
    static const char proto[] = "\x08\x02\x10\x03\x4a\x02\x05\xfb";
    char folder[] = "/tmp/s0_host_XXXXXX", pb[64], bin[64], txt[64], what[200];
    const HostTensor tensor = tensor_of(DTYPE_I8, 1, 2, 0), other = tensor_of(DTYPE_U8, 1, 2, 0);
    const HostTensor longer = tensor_of(DTYPE_I8, 1, 3, 0);
    uint8_t got[2];
    assert_non_null(mkdtemp(folder));
    snprintf(pb, sizeof pb, "%s/a.pb", folder);
    snprintf(bin, sizeof bin, "%s/a.bin", folder);
    snprintf(txt, sizeof txt, "%s/a.txt", folder);
    write_file(pb, proto, sizeof proto - 1);
    write_file(bin, "\x05\xfb", 2);
    write_file(txt, "\x05\xfb", 2);
    assert_null(read_file(&tensor, pb, got, what));
    assert_memory_equal(got, "\x05\xfb", 2);
    assert_string_equal(read_file(&other, pb, got, what), "the file holds another type or shape");
    assert_string_equal(read_file(&longer, pb, got, what), "the file holds another type or shape");
    assert_null(read_file(&tensor, bin, got, what));
    assert_memory_equal(got, "\x05\xfb", 2);
    assert_string_equal(read_file(&longer, bin, got, what), "the file does not have the size of the tensor");
    assert_string_equal(read_file(&tensor, txt, got, what), "the ending of the file tells no format");
    for (size_t count = 0; count + 1 < sizeof proto; count++) {
        write_file(pb, proto, count);
        assert_non_null(read_file(&tensor, pb, got, what));
    }
    remove(pb);
    remove(bin);
    remove(txt);
    remove(folder);
}

/* ---- Writing */

static void test_written(void **state) {
    (void)state;
    static const struct {
        HostTensor tensor;
        const char *packed, *head, *data;
        size_t packed_bytes, data_bytes;
    } row[] = {
        {{{"a", 1}, DTYPE_I4, {1, {3}}},
         "\x78\x0f",
         "{'descr': '|i1', 'fortran_order': False, 'shape': (3,), }",
         "\xf8\x07\xff",
         2,
         3},
        {{{"b", 1}, DTYPE_U4, {2, {1, 2}}},
         "\xf1",
         "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2), }",
         "\x01\x0f",
         1,
         2},
        {{{"c", 1}, DTYPE_F32, {0, {0}}},
         "\x01\x02\x03\x04",
         "{'descr': '<f4', 'fortran_order': False, 'shape': (), }",
         "\x01\x02\x03\x04",
         4,
         4},
        {{{"d", 1}, DTYPE_BF16, {1, {1}}},
         "\x80\x3f",
         "{'descr': '<V2', 'fortran_order': False, 'shape': (1,), }",
         "\x80\x3f",
         2,
         2},
    };
    for (size_t k = 0; k < sizeof row / sizeof row[0]; k++) {
        char *text = NULL;
        size_t count = 0;
        FILE *out = open_memstream(&text, &count);
        host_write_npy(&row[k].tensor, (Span){(const uint8_t *)row[k].packed, row[k].packed_bytes}, out);
        fclose(out);
        size_t data = count - row[k].data_bytes;
        assert_int_equal(data % 64, 0);
        assert_memory_equal(text, "\x93NUMPY\x01\x00", 8);
        assert_int_equal((uint8_t)text[8] + 256 * (uint8_t)text[9], data - 10);
        assert_memory_equal(text + 10, row[k].head, strlen(row[k].head));
        assert_int_equal(text[data - 1], '\n');
        assert_memory_equal(text + data, row[k].data, row[k].data_bytes);
        Bytes again = {.count = 0};
        put(&again, text, count);
        expect_read(&row[k].tensor, again, row[k].packed, row[k].packed_bytes);
        free(text);
    }
}

/* ---- By chance */

static void test_seeded(void **state) {
    (void)state;
    static const DType floats[] = {DTYPE_F32, DTYPE_F16, DTYPE_BF16, DTYPE_F64};
    enum { MANY = 4096 };
    Work work;
    WORK_BEGIN(&work);
    for (size_t f = 0; f < sizeof floats / sizeof floats[0]; f++) {
        const HostTensor tensor = tensor_of(floats[f], 1, MANY, 0);
        Span a = host_seeded(&tensor, 7, &work.keep), b = host_seeded(&tensor, 7, &work.keep);
        Span c = host_seeded(&tensor, 8, &work.keep);
        double least = 2, most = -2, sum = 0;
        assert_memory_equal(a.ptr, b.ptr, a.len);
        assert_int_not_equal(memcmp(a.ptr, c.ptr, a.len), 0);
        for (uint64_t k = 0; k < MANY; k++) {
            double x = dtype_float(floats[f], packed_read(a.ptr, k, dtype_bits(floats[f])));
            least = x < least ? x : least;
            most = x > most ? x : most;
            sum += x;
        }
        assert_true(least >= -1 && least < -0.98 && most < 1 && most > 0.98);
        assert_true(fabs(sum / MANY) < 0.05); /* 5 standard deviations of the mean of uniform ones are 0.045 */
    }
    const HostTensor codes = tensor_of(DTYPE_I4, 1, MANY, 0), bools = tensor_of(DTYPE_BOOL, 1, MANY, 0);
    uint32_t seen = 0, either = 0;
    Span a = host_seeded(&codes, 0, &work.keep), b = host_seeded(&bools, 0, &work.keep);
    for (uint64_t k = 0; k < MANY; k++) {
        seen |= UINT32_C(1) << packed_read(a.ptr, k, 4);
        assert_true(b.ptr[k] <= 1);
        either |= UINT32_C(1) << b.ptr[k];
    }
    assert_int_equal(seen, 0xffff);
    assert_int_equal(either, 3);
    work_free(&work);
}

static void test_names(void **state) {
    (void)state;
    Work work;
    WORK_BEGIN(&work);
    const char *taken[] = {"a_b", "a_b-2"};
    char longest[1000];
    memset(longest, 'x', sizeof longest);
    assert_string_equal(host_file_name(&work.keep, STR("a/b"), NULL, 0), "a_b");
    assert_string_equal(host_file_name(&work.keep, STR("a/b"), taken, 2), "a_b-3");
    assert_string_equal(host_file_name(&work.keep, STR("../../etc"), NULL, 0), "_._.._etc");
    assert_string_equal(host_file_name(&work.keep, STR(""), NULL, 0), "_");
    assert_string_equal(host_file_name(&work.keep, STR("-rf"), NULL, 0), "_rf");
    assert_string_equal(host_file_name(&work.keep, STR("\xc3\xa4\n"), NULL, 0), "___");
    assert_int_equal(strlen(host_file_name(&work.keep, (Str){longest, sizeof longest}, NULL, 0)), 200);
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_orders_and_versions),
                                       cmocka_unit_test(test_narrow),
                                       cmocka_unit_test(test_refused),
                                       cmocka_unit_test(test_bomb),
                                       cmocka_unit_test(test_spoiled),
                                       cmocka_unit_test(test_endings),
                                       cmocka_unit_test(test_written),
                                       cmocka_unit_test(test_seeded),
                                       cmocka_unit_test(test_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
