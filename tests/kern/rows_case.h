/* Matrices for the tests of kernels over rows: x and y lie beside pages that nobody may touch, and what is not an
 * element holds a pattern that must be there afterwards.
 *
 *     RowsTest test = rows_test_new(most bytes of a matrix);
 *     S0Rows rows = rows_test_lay(&test, &(RowsCase){...});
 *     for each element: write rows_x(...) first, then rows_want(...), what y is to be
 *     run the kernel on rows
 *     rows_test_check(&test);
 *     rows_test_free(&test); */
#ifndef TESTS_KERN_ROWS_CASE_H
#define TESTS_KERN_ROWS_CASE_H

#include "native/variant.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

/* Memory between two pages that fault. */
typedef struct {
    uint8_t *map, *bytes;
    size_t count, page;
} Guarded;

static inline Guarded guarded_new(size_t at_least) {
    Guarded g = {.page = (size_t)sysconf(_SC_PAGESIZE)};
    g.count = (at_least / g.page + 1) * g.page;
    int zeros = open("/dev/zero", O_RDWR);
    assert_true(zeros >= 0);
    g.map = mmap(NULL, g.count + 2 * g.page, PROT_NONE, MAP_PRIVATE, zeros, 0);
    assert_true(g.map != MAP_FAILED);
    (void)close(zeros);
    g.bytes = g.map + g.page;
    assert_int_equal(mprotect(g.bytes, g.count, PROT_READ | PROT_WRITE), 0);
    return g;
}

static inline void guarded_free(const Guarded *g) {
    assert_int_equal(munmap(g->map, g->count + 2 * g->page), 0);
}

/* Where `bytes` lie that are `gap` bytes from one of the pages. */
typedef struct {
    size_t gap;
    int at_front;
} Place;

static inline uint8_t *guarded_place(const Guarded *g, size_t bytes, Place place) {
    assert_true(bytes + place.gap <= g->count);
    return place.at_front ? g->bytes + place.gap : g->bytes + g->count - bytes - place.gap;
}

/* Parameters right at a page. */
static inline void *guarded_copy(const Guarded *g, const void *from, size_t bytes, int at_front) {
    return memcpy(guarded_place(g, bytes, (Place){0, at_front}), from, bytes);
}

typedef struct {
    size_t rows, row_bytes, columns;
    size_t x_pad, y_pad; /* bytes from the end of a row to the next; y_pad is not looked at in place */
    Place x, y;          /* y is not looked at in place */
    int in_place, streams;
} RowsCase;

typedef struct {
    Guarded x, y;
    uint8_t *x_before, *want; /* as x, y are laid out */
    S0Rows rows;
    const uint8_t *x_bytes; /* the kernel's x and y, which may be one */
    uint8_t *y_bytes;
} RowsTest;

static inline RowsTest rows_test_new(size_t most_bytes) {
    RowsTest test = {.x = guarded_new(most_bytes), .y = guarded_new(most_bytes)};
    test.x_before = malloc(test.x.count);
    test.want = malloc(test.y.count);
    assert_true(test.x_before != NULL && test.want != NULL);
    return test;
}

static inline void rows_test_free(RowsTest *test) {
    guarded_free(&test->x);
    guarded_free(&test->y);
    free(test->x_before);
    free(test->want);
}

static inline size_t rows_extent(size_t rows, size_t row_bytes, size_t pad) {
    return rows == 0 ? 0 : (rows - 1) * (row_bytes + pad) + row_bytes;
}

static inline S0Rows rows_test_lay(RowsTest *test, const RowsCase *c) {
    memset(test->x.bytes, 0xA5, test->x.count);
    memset(test->y.bytes, 0x5A, test->y.count);
    memset(test->x_before, 0xA5, test->x.count);
    memset(test->want, 0x5A, test->y.count);
    size_t y_pad = c->in_place ? c->x_pad : c->y_pad;
    uint8_t *x = guarded_place(&test->x, rows_extent(c->rows, c->row_bytes, c->x_pad), c->x);
    uint8_t *y = guarded_place(&test->y, rows_extent(c->rows, c->row_bytes, y_pad), c->in_place ? c->x : c->y);
    test->rows = (S0Rows){.x = c->in_place ? y : x,
                          .y = y,
                          .rows = c->rows,
                          .columns = c->columns,
                          .x_pitch_bytes = c->row_bytes + c->x_pad,
                          .y_pitch_bytes = c->row_bytes + y_pad,
                          .streams = c->streams};
    test->x_bytes = test->rows.x;
    test->y_bytes = y;
    return test->rows;
}

/* Writes bytes of row `row` of x, `at` bytes from its beginning. */
static inline void rows_x(RowsTest *test, size_t row, size_t at, const void *from, size_t bytes) {
    size_t offset = row * test->rows.x_pitch_bytes + at;
    if (test->x_bytes == test->y_bytes) {
        memcpy(test->y_bytes + offset, from, bytes);
    } else {
        offset += (size_t)(test->x_bytes - test->x.bytes);
        memcpy(test->x.bytes + offset, from, bytes);
        memcpy(test->x_before + offset, from, bytes);
    }
}

/* The same bytes as they are to be in y. */
static inline void rows_want(RowsTest *test, size_t row, size_t at, const void *from, size_t bytes) {
    size_t offset = (size_t)(test->y_bytes - test->y.bytes) + row * test->rows.y_pitch_bytes + at;
    memcpy(test->want + offset, from, bytes);
}

/* Fails at the first byte that is not what it should be, inside the matrices or outside. */
static inline void rows_test_check(const RowsTest *test) {
    if (memcmp(test->x.bytes, test->x_before, test->x.count) != 0) {
        fail_msg("x was written");
    }
    for (size_t i = 0; memcmp(test->y.bytes, test->want, test->y.count) != 0 && i < test->y.count; i++) {
        if (test->y.bytes[i] != test->want[i]) {
            long at = (long)i - (long)(test->y_bytes - test->y.bytes);
            fail_msg("%zu x %zu: byte %ld of y is %02x, not %02x", test->rows.rows, test->rows.columns, at,
                     test->y.bytes[i], test->want[i]);
        }
    }
}

/* The tables this processor can run, the portable one last. */
#if defined(__x86_64__)
enum { ROWS_TABLES = 3 };
#else
enum { ROWS_TABLES = 2 };
#endif

static inline int rows_tables(const S0Kernels *tables[ROWS_TABLES]) {
    const S0Kernels *const *list = variant_list();
    int count = 0;
    while (list[count] != NULL) {
        tables[count] = list[count];
        count++;
    }
    if (count < ROWS_TABLES) {
        print_message("SKIPPED: kernels better than %s: this processor has not what they need\n", tables[0]->name);
    }
    return count;
}

#endif
