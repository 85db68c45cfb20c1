/* Cells that are run. Proves of several hundred: logical and physical bytes are those of a formula by hand for each
 * family of layouts; parameters that stay are N*H*W as many bytes as whole maps as they are as one number a channel,
 * and W as many as rows; simulated outputs are the reference's; workspace is used to the byte; and the number of
 * threads changes nothing. */
#include "matrix/run.h"

#include "support/work.h"

#include <inttypes.h>

static void make(Work *work, uint32_t jobs, const char *const *filters, Matrix *matrix) {
    MatrixOptions options = {.is_all = true, .jobs = jobs};
    matrix_filter_all(&options.filter);
    for (; *filters != NULL; filters++) {
        MatrixAxis axis;
        assert_true(matrix_filter_read(&options.filter, str_from(*filters), &axis));
    }
    if (!matrix_run(&options, work, matrix)) {
        fail_msg("%s", messages_of(work));
    }
}

typedef struct {
    uint64_t n, c, h, w, bits, align;
} Numbers;

static Numbers numbers_of(const MatrixCell *cell) {
    static const uint64_t bits[] = {4, 8, 16, 32}, aligns[] = {1, 16, 32, 64};
    Numbers numbers = {.bits = bits[cell->at[AXIS_DTYPE]], .align = aligns[cell->at[AXIS_ALIGN]]};
    assert_int_equal(sscanf(matrix_word(cell, AXIS_SHAPE), "%" SCNu64 "x%" SCNu64 "x%" SCNu64 "x%" SCNu64, &numbers.n,
                            &numbers.c, &numbers.h, &numbers.w),
                     4);
    return numbers;
}

/* Bytes of so many elements, rounded up to the alignment. */
static uint64_t aligned(const Numbers *of, uint64_t elements) {
    uint64_t bytes = (elements * of->bits + 7) / 8;
    return (bytes + of->align - 1) / of->align * of->align;
}

static uint64_t physical_by_hand(const MatrixCell *cell, const Numbers *of) {
    uint64_t blocks = (of->c + 3) / 4;
    switch (cell->at[AXIS_CONTRACT]) {
    case CONTRACT_CHANNEL_FIRST:
        return of->n * of->c * aligned(of, of->h * of->w);
    case CONTRACT_CHANNEL_LAST:
        return of->n * of->h * of->w * aligned(of, of->c);
    case CONTRACT_BLOCKED:
        return of->n * blocks * aligned(of, of->h * of->w * 4);
    case CONTRACT_LANES:
        return of->n * blocks * aligned(of, of->h * of->w);
    default:
        return of->n * of->c * of->h * aligned(of, of->w);
    }
}

static const MatrixRow *row_of(const Matrix *matrix, MatrixCell cell, uint8_t form) {
    cell.at[AXIS_FORM] = form;
    for (uint32_t k = 0; k < matrix->count; k++) {
        if (matrix->number[k] == matrix_number(&cell)) {
            return &matrix->row[k];
        }
    }
    fail_msg("no such cell");
    return NULL;
}

/* Of whole bytes an element. */
static void check_ratios(const Matrix *matrix, const MatrixCell *cell, const Numbers *of) {
    uint64_t compact = row_of(matrix, *cell, 1)->param_bytes;
    assert_int_equal(compact, 2 * of->c * of->bits / 8);
    assert_int_equal(row_of(matrix, *cell, 0)->param_bytes, 2 * of->bits / 8);
    assert_int_equal(row_of(matrix, *cell, 2)->param_bytes, of->w * compact);
    assert_int_equal(row_of(matrix, *cell, 3)->param_bytes, of->n * of->h * of->w * compact);
}

static void check_cell(const Matrix *matrix, uint32_t k) {
    const MatrixCell cell = matrix_cell(matrix->number[k]);
    const MatrixRow *row = &matrix->row[k];
    const Numbers numbers = numbers_of(&cell);
    assert_true(row->is_equal);
    assert_int_equal(row->max_error_lsb, 0);
    assert_int_equal(row->workspace_declared_bytes, row->workspace_used_bytes);
    assert_int_equal(row->logical_bytes, (numbers.n * numbers.c * numbers.h * numbers.w * numbers.bits + 7) / 8);
    assert_int_equal(row->physical_bytes, physical_by_hand(&cell, &numbers));
    if (numbers.bits >= 8) {
        check_ratios(matrix, &cell, &numbers);
    }
}

static void test_cells(Work *work) {
    static const char *const filters[] = {"shape=1x13x20x28,2x12x20x28,1x1x20x28",
                                          "align=1,32",
                                          "reader=single",
                                          "coefficients=general",
                                          "parameters=resident",
                                          NULL};
    Matrix matrix;
    make(work, 2, filters, &matrix);
    assert_int_equal(matrix.count + matrix.left_out, 3 * 5 * 4 * 2 * 4 * 3);
    assert_int_equal(matrix.left_out, 3 * 3 * 4 * 3); /* row-padded, one byte, not int4 */
    assert_int_equal(matrix.equal_count, matrix.count);
    for (uint32_t k = 0; k < matrix.count; k++) {
        check_cell(&matrix, k);
    }
}

static void test_jobs(Work *work) {
    static const char *const filters[] = {"shape=1x13x20x28", "contract=blocked", "align=16", "form=channel", NULL};
    Matrix one, three;
    make(work, 1, filters, &one);
    make(work, 3, filters, &three);
    assert_int_equal(one.count, 4 * 3 * 2 * 4 * 2);
    assert_int_equal(one.count, three.count);
    assert_memory_equal(one.row, three.row, one.count * sizeof *one.row);
}

/* An affine that changes nothing has no parameters and no cycles but those of the map's way. */
static void test_nothing_left(Work *work) {
    static const char *const filters[] = {"shape=1x12x20x28",
                                          "contract=channel-last",
                                          "align=16",
                                          "schedule=fused",
                                          "coefficients=unit_scale_zero_bias",
                                          "dtype=int8,int16",
                                          NULL};
    Matrix matrix;
    make(work, 2, filters, &matrix);
    for (uint32_t k = 0; k < matrix.count; k++) {
        assert_int_equal(matrix.row[k].param_bytes, 0);
        assert_int_equal(matrix.row[k].workspace_used_bytes, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_cells), WORK_TEST(test_jobs), WORK_TEST(test_nothing_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
