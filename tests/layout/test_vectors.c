/* Proves the sizes of layouts that vendors document: every row of facts/layout-vectors.tsv, the same at N = 2 against
 * a stream written out by brute force, the table of storages in the design, and sizes that went wrong elsewhere. */
#include "layout/brute.h"
#include "layout/support.h"

#include "base/file.h"

#include <stdio.h>

/* ---- facts/layout-vectors.tsv */

typedef struct {
    Str name, layout;
    uint64_t total_align, n, c, h, w, bits, logical_bytes, bank_bytes, banks_used;
} Row;

static uint64_t next_number(Str *line) {
    uint64_t number = 0;
    if (!str_to_u64(str_cut(line, '\t'), &number)) {
        fail_msg("a row of the table of vectors has no number where one should be");
    }
    return number;
}

static Row parse_row(Str line) {
    Row row = {.name = str_cut(&line, '\t')};
    row.layout = str_cut(&line, '\t');
    row.total_align = next_number(&line);
    row.n = next_number(&line);
    row.c = next_number(&line);
    row.h = next_number(&line);
    row.w = next_number(&line);
    row.bits = next_number(&line);
    row.logical_bytes = next_number(&line);
    row.bank_bytes = next_number(&line);
    row.banks_used = next_number(&line);
    return row;
}

static void check_row(Work *work, const Row *row) {
    const char *text = arena_text(&work->keep, STR_FMT " total@%u", STR_ARG(row->layout), (unsigned)row->total_align);
    View view = resolve(work, text, shape_nchw((uint32_t)row->bits, row->n, row->c, row->h, row->w));
    if (view_logical_bytes(&view) != row->logical_bytes || view.bank_bytes != row->bank_bytes ||
        view.banks_used != row->banks_used) {
        fail_msg(STR_FMT ": %u, %u a bank, %u banks; not %u, %u, %u", STR_ARG(row->name),
                 (unsigned)view_logical_bytes(&view), (unsigned)view.bank_bytes, (unsigned)view.banks_used,
                 (unsigned)row->logical_bytes, (unsigned)row->bank_bytes, (unsigned)row->banks_used);
    }
}

/* The stream against the file too, so that the second method is known to be right where it is used alone. */
static void check_brute(Work *work, const Row *row, uint64_t n) {
    const char *layout = arena_text(&work->keep, STR_FMT, STR_ARG(row->layout));
    const char *text = arena_text(&work->keep, "%s total@%u", layout, (unsigned)row->total_align);
    View view = resolve(work, text, shape_nchw((uint32_t)row->bits, n, row->c, row->h, row->w));
    BruteCase stream = brute_parse(layout);
    stream.total = row->total_align;
    const uint64_t extent[BRUTE_DIMS] = {n, row->c, row->h, row->w, 1, 1};
    Brute brute = brute_evaluate(&stream, extent, row->bits);
    if (n == row->n) {
        assert_int_equal(brute.bank_bytes, row->bank_bytes);
        assert_int_equal(brute.banks_used, row->banks_used);
    }
    if (view.bank_bytes != brute.bank_bytes || view.banks_used != brute.banks_used) {
        fail_msg(STR_FMT " at N = %u: %u a bank, %u banks; the stream has %u, %u", STR_ARG(row->name), (unsigned)n,
                 (unsigned)view.bank_bytes, (unsigned)view.banks_used, (unsigned)brute.bank_bytes,
                 (unsigned)brute.banks_used);
    }
    brute_free(&brute);
}

static void check_file(Work *work, Span bytes) {
    Str rest = {(const char *)bytes.ptr, bytes.len};
    size_t rows = 0;
    str_cut(&rest, '\n');
    while (rest.len > 0) {
        Str line = str_cut(&rest, '\n');
        if (str_trim(line).len > 0) {
            Row row = parse_row(line);
            check_row(work, &row);
            check_brute(work, &row, row.n);
            check_brute(work, &row, 2);
            arena_reset(&work->keep);
            rows++;
        }
    }
    print_message("%zu rows\n", rows);
    assert_true(rows > 100);
}

static void vendors_sizes_come_out(void **state) {
    (void)state;
    FileMap map;
    Work work;
    WORK_BEGIN(&work);
    if (S0_SHARED_DIR[0] == '\0') {
        work_free(&work);
        print_message("skipped: needs facts/layout-vectors.tsv of S0_SHARED\n");
        skip();
    }
    assert_true(file_map(&map, S0_SHARED_DIR "/facts/layout-vectors.tsv", &work.diags));
    arena_reset(&work.keep);
    check_file(&work, map.bytes);
    file_unmap(&map);
    work_free(&work);
}

/* ---- Sizes that are known by hand */

typedef struct {
    const char *what, *contract;
    uint32_t bits;
    uint64_t n, c, h, w;
    uint64_t logical_bytes, bank_bytes, banks_used;
} Size;

#define PIXELS "when C==1: N H W@16 C | N H W C@16"
#define K210   "when W<=16: N C/4 H C%4 W@16 | when W<=32: N C/2 H C%2 W@32 | N C H W@64"
#define TILE   "N H W/32 C/32 W%32 C%32"

static const Size sizes[] = {
    /* the table of storages */
    {"pixels aligned to 16", PIXELS, 8, 1, 12, 20, 28, 6720, 20 * 28 * 16, 1},
    {"pixels, one channel", PIXELS, 8, 1, 1, 20, 28, 560, 20 * 32, 1},
    {"pixels, C = H = W", PIXELS, 8, 1, 7, 7, 7, 343, 7 * 7 * 16, 1},
    {"Arm NHCWB16", "N H C/16 W C%16", 8, 1, 17, 2, 3, 102, 2 * 2 * 3 * 16, 1},
    {"NVDLA feature", "N C/32 H W C%32", 8, 1, 33, 2, 3, 198, 2 * 2 * 3 * 32, 1},
    {"Sophgo lane memory", "bank[C%64] N C/64 H@64 W", 8, 1, 65, 5, 13, 4225, 2 * 128, 64},
    {"Sophgo, two batches", "bank[C%64] N C/64 H@64 W", 8, 2, 12, 20, 28, 13440, 2 * 576, 12},
    {"K210 narrow", K210, 8, 1, 5, 7, 16, 560, 2 * 7 * 4 * 16, 1},
    {"K210 middle", K210, 8, 1, 5, 7, 17, 595, 3 * 7 * 2 * 32, 1},
    {"K210 wide", K210, 8, 1, 5, 7, 33, 1155, 5 * 7 * 64, 1},
    {"int4 rows", "N C H W@1", 4, 1, 3, 5, 7, 53, 3 * 5 * 4, 1},
    /* A4: a constant along C of i32, the last dimension padded to 32 elements */
    {"A4 kept", "N H W C", 32, 96, 1, 1, 1, 384, 384, 1},
    {"A4 materialised", "N H W C@128", 32, 96, 1, 5, 333, 639360, 20459520, 1},
    /* H4: padded outputs */
    {"H4 C2 = 16", "N C/16 H W C%16", 8, 1, 21, 5, 7, 735, 1120, 1},
    {"H4 rows to 16", "N H W C@16", 8, 1, 21, 3, 9, 567, 864, 1},
    /* H7: tiles of 32 x 32 over the last two axes, which are W and C */
    {"H7 trailing 1, 2", TILE, 32, 64 * 3, 2, 8, 1, 12288, 6291456, 1},
    {"H7 one axis", TILE, 8, 1, 1000, 1, 1, 1000, 32768, 1},
    {"H7 scale", TILE, 16, 512, 1, 96, 1, 98304, 100663296, 1},
    /* I: bits round up once */
    {"I1 31 of 1 bit", "C", 1, 1, 31, 1, 1, 4, 4, 1},
    {"I1 7 of 2 bits", "C", 2, 1, 7, 1, 1, 2, 2, 1},
    {"I1 1 of 4 bits", "C", 4, 1, 1, 1, 1, 1, 1, 1},
    {"I1 5 of 3 bits", "C", 3, 1, 5, 1, 1, 2, 2, 1},
    {"I1 5 x 7 of 4 bits", "H W", 4, 1, 1, 5, 7, 18, 18, 1},
    {"I1 1 of 1 bit", "C", 1, 1, 1, 1, 1, 1, 1, 1},
    {"I2 5 of 4 bits", "C", 4, 1, 5, 1, 1, 3, 3, 1},
    {"I3 dense", "H W", 4, 1, 1, 3, 17, 26, 26, 1},
    {"I3 rows to bytes", "H W@1", 4, 1, 1, 3, 17, 26, 27, 1},
    {"I3 rows to 4", "H W@4", 4, 1, 1, 3, 17, 26, 36, 1},
    {"I3 rows to 16", "H W@16", 4, 1, 1, 3, 17, 26, 48, 1},
    {"I4 51 of 4 bits", "C", 4, 1, 51, 1, 1, 26, 26, 1},
    {"I7 7 x 9 of 4 bits", "H W", 4, 1, 1, 7, 9, 32, 32, 1},
    /* J: exact beyond 32 bits, nothing at all for nothing */
    {"J1 wraps to 65536", "H W", 8, 1, 1, 65537, 65536, 4295032832, 4295032832, 1},
    {"J1 wraps to 2 in 32 bits", "H W", 8, 1, 1, 3, 1431655766, 4294967298, 4294967298, 1},
    {"J1 goes negative", "H W", 8, 1, 1, 46341, 46341, 2147488281, 2147488281, 1},
    {"J4 bits first", "C", 32, 1, 150000000, 1, 1, 600000000, 600000000, 1},
    {"J5 no channel", PIXELS, 8, 1, 0, 4, 4, 0, 0, 0},
    {"J5 no batch", "bank[C%64] N C/64 H@64 W total@16 tail+5", 8, 0, 3, 2, 2, 0, 0, 0},
    {"J5 no element, huge", "N C H W", 8, 1, 0, UINT64_C(1) << 40, UINT64_C(1) << 40, 0, 0, 0},
    /* the further parts of the grammar, in the order in which they apply */
    {"min before align", "H W^10@16", 8, 1, 1, 3, 9, 27, 48, 1},
    {"min is no rounding", "H W^16", 8, 1, 1, 2, 17, 34, 34, 1},
    {"head in each step", "H W+2", 8, 1, 1, 2, 3, 6, 2 * 3 * 3, 1},
    {"total, then tail", "H W total@16 base@64 tail+5", 8, 1, 1, 3, 9, 27, 37, 1},
};

static void known_sizes_come_out(Work *work) {
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const Size *size = &sizes[i];
        View view = resolve(work, size->contract, shape_nchw(size->bits, size->n, size->c, size->h, size->w));
        if (view_logical_bytes(&view) != size->logical_bytes || view.bank_bytes != size->bank_bytes ||
            view.banks_used != size->banks_used) {
            fail_msg("%s: %llu, %llu a bank, %llu banks", size->what, (unsigned long long)view_logical_bytes(&view),
                     (unsigned long long)view.bank_bytes, (unsigned long long)view.banks_used);
        }
    }
    assert_int_equal(resolve(work, "H W base@64", shape_nchw(8, 1, 1, 3, 9)).base_bytes, 64);
    assert_int_equal(resolve(work, "H W", shape_nchw(8, 1, 1, 3, 9)).base_bytes, 1);
}

/* ---- What does not fit 64 bits is said, wherever it happens */

typedef struct {
    const char *contract;
    uint32_t bits;
    uint64_t c, h, w;
} Large;

static const Large large[] = {
    {"H W C", 8, 1, UINT64_C(1) << 32, UINT64_C(1) << 32},                       /* J1: wraps to 0 even in 64 bits */
    {"H W C", 8, 1, 1, UINT64_C(1) << 61},                                       /* elements fit, bits do not */
    {"H W C@9223372036854775808", 8, 1, 1, 1},                                   /* the align in bits */
    {"H W C@2305843009213693951", 8, 1, 1, 2},                                   /* aligned steps */
    {"H W C^18446744073709551615", 8, 1, 1, 1},                                  /* min */
    {"H W C+18446744073709551615", 8, 1, 1, 1},                                  /* head in bits */
    {"H W C+2305843009213693951", 8, 1, 1, 1},                                   /* head and element */
    {"H W C total@18446744073709551615", 8, 1, 1, 1},                            /* the bank in bits */
    {"H W C tail+18446744073709551615", 8, 1, 1, 1},                             /* tail */
    {"bank[H%4294967296 W%4294967296] H/4294967296 W/4294967296 C", 8, 1, 1, 1}, /* numbers of banks */
};

static void overflow_is_told(Work *work) {
    for (size_t i = 0; i < sizeof large / sizeof large[0]; i++) {
        View view;
        LayoutShape shape = shape_nchw(large[i].bits, 1, large[i].c, large[i].h, large[i].w);
        if (view_resolve(parse(work, large[i].contract), &shape, &view, NULL) != VIEW_OVERFLOW) {
            fail_msg("row %zu, '%s', resolved to %llu bytes", i, large[i].contract,
                     (unsigned long long)view.bank_bytes);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(vendors_sizes_come_out),
        WORK_TEST(known_sizes_come_out),
        WORK_TEST(overflow_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
