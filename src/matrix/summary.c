/* The summary of the matrix, in Markdown. */
#include "matrix/table.h"

#include "cmd/wire.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* ---- One axis after another, beside the base */

static const MatrixRow *find_row(const Matrix *matrix, const MatrixCell *cell) {
    uint32_t number = matrix_number(cell), first = 0, end = matrix->count; /* numbers rise */
    while (first < end) {
        uint32_t middle = first + (end - first) / 2;
        bool is_behind = matrix->number[middle] < number;
        first = is_behind ? middle + 1 : first;
        end = is_behind ? end : middle;
    }
    return first < matrix->count && matrix->number[first] == number ? &matrix->row[first] : NULL;
}

/* "18,480 | +3,300": how much, and how much more than the base. */
static const char *figure(uint64_t value, uint64_t base, Arena *arena) {
    const char *sign = value < base ? "-" : "+";
    uint64_t difference = value < base ? base - value : value - base;
    const char *rest = difference == 0 ? "" : arena_text(arena, " (%s%s)", sign, arena_number(arena, difference).ptr);
    return arena_text(arena, "%s%s", arena_number(arena, value).ptr, rest);
}

static void print_row(const char *axis, const char *word, const MatrixRow *row, const MatrixRow *base, Arena *arena,
                      FILE *out) {
    fprintf(out, "| %s | %s | %s | %s | %s | %s | %s | %s | %s |\n", axis, word,
            figure(row->logical_bytes, base->logical_bytes, arena),
            figure(row->physical_bytes, base->physical_bytes, arena),
            figure(row->peak_live_bytes, base->peak_live_bytes, arena),
            figure(row->workspace_used_bytes, base->workspace_used_bytes, arena),
            figure(row->param_bytes, base->param_bytes, arena), figure(row->moved_bytes, base->moved_bytes, arena),
            figure(row->cycles, base->cycles, arena));
}

static void print_axis(const Matrix *matrix, MatrixAxis axis, const MatrixRow *base, Arena *arena, FILE *out) {
    bool is_first = true;
    for (uint32_t k = 0; k < matrix_words[axis].count; k++) {
        MatrixCell cell = matrix->base;
        cell.at[axis] = (uint8_t)k;
        const MatrixRow *row = find_row(matrix, &cell);
        if (row != NULL && k != matrix->base.at[axis]) {
            print_row(is_first ? matrix_words[axis].name : "", matrix_word(&cell, axis), row, base, arena, out);
            is_first = false;
        }
        arena_reset(arena);
    }
}

static void print_star(const Matrix *matrix, Arena *arena, FILE *out) {
    const MatrixRow *base = find_row(matrix, &matrix->base);
    if (base == NULL) {
        return;
    }
    fprintf(out,
            "\n## What each value costs\n\nThe first row is the cell `%s`; each other row differs from it in that "
            "one value, and the difference stands in brackets.\n\n",
            matrix_title(&matrix->base, arena));
    fputs("| axis | value | logical | physical | peak live | workspace | parameters | moved | cycles |\n"
          "|---|---|---:|---:|---:|---:|---:|---:|---:|\n",
          out);
    print_row("", "", base, base, arena, out);
    for (MatrixAxis axis = 0; axis < MATRIX_AXES; axis++) {
        print_axis(matrix, axis, base, arena, out);
    }
}

/* ---- Pairs of cells that differ in one value only */

/* Sums of logarithms of how many times as much the one has as the other. */
typedef struct {
    uint32_t pairs;
    double physical, peak, moved, cycles;
} Ratio;

static double times(uint64_t value, uint64_t base) {
    return log((double)value / (double)base); /* neither is ever 0: maps are stored, moved and alive */
}

static void add_pair(Ratio *ratio, const MatrixRow *row, const MatrixRow *base) {
    ratio->pairs++;
    ratio->physical += times(row->physical_bytes, base->physical_bytes);
    ratio->peak += times(row->peak_live_bytes, base->peak_live_bytes);
    ratio->moved += times(row->moved_bytes, base->moved_bytes);
    ratio->cycles += times(row->cycles, base->cycles);
}

static Ratio ratio_of(const Matrix *matrix, MatrixAxis axis, uint32_t word) {
    Ratio ratio = {0};
    for (uint32_t k = 0; k < matrix->count; k++) {
        MatrixCell cell = matrix_cell(matrix->number[k]);
        if (cell.at[axis] == word) {
            cell.at[axis] = matrix->base.at[axis];
            const MatrixRow *base = find_row(matrix, &cell);
            if (base != NULL) {
                add_pair(&ratio, &matrix->row[k], base);
            }
        }
    }
    return ratio;
}

static void print_ratio(const Matrix *matrix, MatrixAxis axis, uint32_t word, FILE *out) {
    const Ratio ratio = ratio_of(matrix, axis, word);
    const double pairs = ratio.pairs;
    if (ratio.pairs > 0) {
        fprintf(out, "| %s | %s | %s | %" PRIu32 " | %.2f | %.2f | %.2f | %.2f |\n", matrix_words[axis].name,
                matrix_words[axis].words[word], matrix_words[axis].words[matrix->base.at[axis]], ratio.pairs,
                exp(ratio.physical / pairs), exp(ratio.peak / pairs), exp(ratio.moved / pairs),
                exp(ratio.cycles / pairs));
    }
}

static void print_ratios(const Matrix *matrix, FILE *out) {
    fputs("\n## How many times as much\n\nOver all pairs of cells that differ in one value only: the geometric mean of "
          "how "
          "many times as much the first value takes as the second.\n\n"
          "| axis | value | instead of | pairs | physical | peak live | moved | cycles |\n"
          "|---|---|---|---:|---:|---:|---:|---:|\n",
          out);
    for (MatrixAxis axis = 0; axis < MATRIX_AXES; axis++) {
        for (uint32_t word = 0; word < matrix_words[axis].count; word++) {
            if (word != matrix->base.at[axis]) {
                print_ratio(matrix, axis, word, out);
            }
        }
    }
}

/* ---- The whole */

/* Of every figure of every cell, so that one line of the summary stands for all. */
static uint32_t checksum(const Matrix *matrix, Arena *arena) {
    char *text = NULL;
    size_t length = 0;
    FILE *memory = open_memstream(&text, &length);
    if (memory == NULL) {
        return 0;
    }
    matrix_print_csv(matrix, arena, memory);
    uint32_t crc = fclose(memory) == 0 ? cmd_crc32((const uint8_t *)text, length) : 0;
    free(text);
    return crc;
}

void matrix_print_summary(const Matrix *matrix, Arena *arena, FILE *out) {
    fprintf(out, "%s cells of the %s, each run on the simulated device: %s equal to the reference, audit exact.\n",
            arena_number(arena, matrix->count).ptr, matrix->is_all ? "whole product" : "subset `pairs`",
            matrix->equal_count == matrix->count ? "all" : arena_number(arena, matrix->equal_count).ptr);
    fprintf(out,
            "%s cells are left out: rows of whole bytes that are padded to one byte are channel-first once more.\n",
            arena_number(arena, matrix->left_out).ptr);
    fprintf(out, "CRC-32 of the table as CSV: %08" PRIx32 ".\n", checksum(matrix, arena));
    print_star(matrix, arena, out);
    print_ratios(matrix, out);
}

/* ---- The document */

static const char introduction[] =
    "# The test matrix\n\n"
    "What broadcast strategies cost, measured. `stride0 matrix --markdown docs/matrix.md` makes this page, and the "
    "check\n"
    "of each change compares it.\n\n"
    "Each cell is a network `x -> RELU6 -> MUL s -> ADD b -> y` with one factor and one addend a channel, planned for "
    "a\n"
    "scratchpad in tiles of 6 rows by 8 channels, run on the simulated device and compared with a reference that goes\n"
    "element by element and knows no layout. The device is `teach` but for layouts and memory: 8 bytes a cycle, 50 "
    "cycles to\n"
    "set a transfer up, 10 a descriptor, 20 a wait; the engine 10 to begin and 16 bytes a cycle (`stride0 devices "
    "teach`).\n\n"
    "| axis | values |\n|---|---|\n"
    "| `shape` | of the map, N C H W: all different, C = H, C = W, all equal, one channel, channels that fill no "
    "block, "
    "two maps |\n"
    "| `contract` | `channel-first` N C H@A W, `channel-last` N H W C@A, `blocked` N C/4 H@A W C%4, `lanes` bank[C%4] "
    "N "
    "C/4 H@A W, `row-padded` N C H W@A ([contracts.md](contracts.md)); A is `align` |\n"
    "| `dtype` | of map and parameters; integers are TFLite's codes with scale and zero point |\n"
    "| `align` | bytes: in the contract, and of every buffer |\n"
    "| `form` | `scalar` one number; `channel` one a channel; `row` and `full` the same numbers expanded along a row, "
    "or "
    "over the map, before they are loaded, as compilers do that have no stride of 0 (`--expand before`) |\n"
    "| `schedule` | a tile line by line, operator by operator, or two tiles in flight |\n"
    "| `reader` | `bypass`: what RELU6 gives has another reader, so it stays whole in local memory |\n"
    "| `coefficients` | `unit_scale`: s is 1; `unit_scale_zero_bias`: b is 0 too; `near_one`: s is the nearest other "
    "number, b is 0 |\n"
    "| `parameters` | whole for all tiles, or by the part that a tile reads |\n\n"
    "| column | meaning |\n|---|---|\n"
    "| `logical_bytes`, `physical_bytes` | of the map: elements times bits; what the contract reserves, of one bank |\n"
    "| `peak_live_bytes` | the most that is alive in local memory at once, of one bank |\n"
    "| `workspace_declared_bytes`, `workspace_used_bytes` | scratch of the operators: always equal |\n"
    "| `param_bytes` | of parameters that come into local memory, in the form that is read |\n"
    "| `transfers`, `cycles` | commands of the DMA; until the last command has ended ([simulator.md](simulator.md)) |\n"
    "| `max_error_lsb`, `equal` | largest difference to the reference, in codes or ulp; 1 where there is none and the "
    "audit of every byte is exact |\n\n"
    "JSON has further `far_param_bytes` and `moved_bytes`, what transfers carry of parameters and in all, and `crc32` "
    "of "
    "each output. Tables here are in the same units.\n\n";

void matrix_print_document(const Matrix *matrix, Arena *arena, FILE *out) {
    fputs(introduction, out);
    matrix_print_summary(matrix, arena, out);
}
