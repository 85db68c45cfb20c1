/* The cells of the matrix. Proves: numbers and cells are each other's inverse; the subset `pairs` has at least 5,000
 * cells and holds each value of each axis with each of every other axis, in cells that are run; filters take what their
 * words say, and refuse others. */
#include "matrix/axes.h"

#include "support/work.h"

static void test_numbers(void **state) {
    (void)state;
    assert_int_equal(matrix_cell_count(), 7 * 5 * 4 * 4 * 4 * 3 * 2 * 4 * 2);
    for (uint32_t number = 0; number < matrix_cell_count(); number++) {
        MatrixCell cell = matrix_cell(number);
        assert_int_equal(matrix_number(&cell), number);
        for (int k = 0; k < MATRIX_AXES; k++) {
            assert_true(cell.at[k] < matrix_words[k].count);
        }
    }
}

enum { MOST_WORDS = 8 };
typedef bool Pairs[MATRIX_AXES][MOST_WORDS][MATRIX_AXES][MOST_WORDS];

static void mark(Pairs pairs, const MatrixCell *cell) {
    for (int a = 0; a < MATRIX_AXES; a++) {
        for (int b = 0; b < MATRIX_AXES; b++) {
            pairs[a][cell->at[a]][b][cell->at[b]] = true;
        }
    }
}

static void check_pairs(Pairs pairs) {
    for (uint32_t a = 0; a < MATRIX_AXES; a++) {
        for (uint32_t b = 0; b < MATRIX_AXES; b++) {
            for (uint32_t x = 0; x < matrix_words[a].count; x++) {
                for (uint32_t y = 0; y < matrix_words[b].count; y++) {
                    if (a != b && !pairs[a][x][b][y]) {
                        fail_msg("%s=%s never meets %s=%s", matrix_words[a].name, matrix_words[a].words[x],
                                 matrix_words[b].name, matrix_words[b].words[y]);
                    }
                }
            }
        }
    }
}

static void test_pairs(void **state) {
    (void)state;
    static Pairs pairs;
    MatrixFilter all;
    matrix_filter_all(&all);
    const MatrixCell base = matrix_base(&all);
    uint32_t count = 0;
    for (uint32_t number = 0; number < matrix_cell_count(); number++) {
        MatrixCell cell = matrix_cell(number);
        if (matrix_in_pairs(number) && matrix_left_out(&cell) == NULL) {
            count++;
            mark(pairs, &cell);
        }
    }
    assert_true(count >= 5000 && count < 6000);
    check_pairs(pairs);
    assert_true(matrix_in_pairs(matrix_number(&base)));
}

static uint32_t count_taken(const char *const texts[2], bool *is_read) {
    MatrixFilter filter;
    uint32_t count = 0;
    *is_read = true;
    matrix_filter_all(&filter);
    for (int k = 0; k < 2 && texts[k] != NULL; k++) {
        MatrixAxis axis;
        *is_read = *is_read && matrix_filter_read(&filter, str_from(texts[k]), &axis);
    }
    for (uint32_t number = 0; number < matrix_cell_count(); number++) {
        MatrixCell cell = matrix_cell(number);
        count += matrix_filter_takes(&filter, &cell);
    }
    return count;
}

static void test_filters(void **state) {
    (void)state;
    static const struct {
        const char *texts[2];
        uint32_t divisor; /* of all cells; 0: refused */
    } row[] = {
        {{NULL}, 1},
        {{"reader=bypass"}, 2},
        {{"dtype=int8,int16"}, 2},
        {{"dtype=int8", "align=64"}, 16},
        {{"dtype=int8,int16,int4,float32"}, 1},
        {{"form=full,full"}, 4},
        {{"contract=channel-last"}, 5},
        {{"contract=N H W C@16"}, 5 * 4},
        {{"contract=N H W C@16,N C/4 H@64 W C%4"}, 5 * 2},
        {{"contract=N H W C@16,channel-last"}, 5},
        {{"contract=bank[C%4] N C/4 H@1 W", "align=1"}, 5 * 4},
        {{"contract=N C H W@32", "contract=row-padded"}, 5 * 4},
        {{"contract=N H W C"}, 0},
        {{"contract=N H W C@"}, 0},
        {{"contract=N H W C@8"}, 0},
        {{"contract=N H W C@16 "}, 0},
        {{"contract=N C H@16"}, 0},
        {{"align=N H W C@16"}, 0},
        {{""}, 0},
        {{"="}, 0},
        {{"dtype"}, 0},
        {{"dtype="}, 0},
        {{"dtype=int8,"}, 0},
        {{"dtype=int"}, 0},
        {{"dtype=int88"}, 0},
        {{"width=int8"}, 0},
        {{"Dtype=int8"}, 0},
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++) {
        bool is_read;
        uint32_t count = count_taken(row[k].texts, &is_read);
        assert_int_equal(is_read, row[k].divisor != 0);
        if (is_read) {
            assert_int_equal(count, matrix_cell_count() / row[k].divisor);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_numbers), cmocka_unit_test(test_pairs),
                                       cmocka_unit_test(test_filters)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
