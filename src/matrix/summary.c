/* The summary of the matrix: for a terminal, and as the page docs/matrix.md in Markdown. */
#include "matrix/table.h"

#include "cmd/wire.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Tables: Markdown, or aligned for a terminal */

typedef struct {
    const Matrix *matrix;
    bool is_plain;
    Arena *arena; /* of all cells */
    FILE *out;
    uint32_t columns, rows, words; /* of the columns so many are words, and lie on the left */
    const char **cell;
    size_t count, capacity;
} Sheet;

enum { MOST_COLUMNS = 9 };

static void sheet_row(Sheet *sheet, const char *const *cells) {
    for (uint32_t k = 0; k < sheet->columns; k++) {
        sheet->cell = arena_grow(sheet->arena, sheet->cell, sheet->count, &sheet->capacity, sizeof *sheet->cell);
        sheet->cell[sheet->count++] = cells[k];
    }
    sheet->rows++;
}

static void sheet_init(Sheet *sheet, uint32_t words, uint32_t columns, const char *const *heads) {
    sheet->columns = columns;
    sheet->words = words;
    sheet->rows = 0;
    sheet->cell = NULL;
    sheet->count = sheet->capacity = 0;
    sheet_row(sheet, heads);
}

static void print_aligned(const Sheet *sheet) {
    int width[MOST_COLUMNS] = {0};
    for (size_t k = 0; k < sheet->count; k++) {
        int length = (int)strlen(sheet->cell[k]), *most = &width[k % sheet->columns];
        *most = length > *most ? length : *most;
    }
    for (size_t k = 0; k < sheet->count; k++) {
        uint32_t column = (uint32_t)(k % sheet->columns);
        fprintf(sheet->out, "  %*s%s", column < sheet->words ? -width[column] : width[column], sheet->cell[k],
                column + 1 < sheet->columns ? "" : "\n");
    }
}

static void print_markdown(const Sheet *sheet) {
    for (size_t k = 0; k < sheet->count; k++) {
        bool is_end = (k + 1) % sheet->columns == 0;
        fprintf(sheet->out, "| %s%s", sheet->cell[k], is_end ? " |\n" : " ");
        for (uint32_t column = 0; column < sheet->columns && k + 1 == sheet->columns; column++) {
            fprintf(sheet->out, "%s%s",
                    column < sheet->words ? "|---" : "|---:", column + 1 < sheet->columns ? "" : "|\n");
        }
    }
}

static void sheet_end(const Sheet *sheet) {
    (sheet->is_plain ? print_aligned : print_markdown)(sheet);
    arena_reset(sheet->arena);
}

static void print_heading(const Sheet *sheet, const char *heading) {
    fprintf(sheet->out, sheet->is_plain ? "\n%s\n\n" : "\n## %s\n\n", heading);
}

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

/* "18,480 (+3,300)": how much, and how much more than the base. A terminal is too narrow for both: the base's row says
 * how much, the others how much more, and "=" where it is as much. */
static const char *figure(const Sheet *sheet, uint64_t value, uint64_t base, bool is_base) {
    Arena *arena = sheet->arena;
    const char *whole = arena_number(arena, value).ptr, *sign = value < base ? "-" : "+";
    const char *more =
        arena_text(arena, "%s%s", sign, arena_number(arena, value < base ? base - value : value - base).ptr);
    if (sheet->is_plain) {
        return is_base ? whole : value == base ? "=" : more;
    }
    return value == base ? whole : arena_text(arena, "%s (%s)", whole, more);
}

static void add_row(Sheet *sheet, const char *axis, const char *word, const MatrixRow *row, const MatrixRow *base) {
    const uint64_t of_row[] = {row->logical_bytes, row->physical_bytes, row->peak_live_bytes, row->workspace_used_bytes,
                               row->param_bytes,   row->moved_bytes,    row->cycles};
    const uint64_t of_base[] = {
        base->logical_bytes, base->physical_bytes, base->peak_live_bytes, base->workspace_used_bytes,
        base->param_bytes,   base->moved_bytes,    base->cycles};
    const char *cells[MOST_COLUMNS] = {axis, word};
    for (uint32_t k = 0; k + 2 < MOST_COLUMNS; k++) {
        cells[k + 2] = figure(sheet, of_row[k], of_base[k], row == base);
    }
    sheet_row(sheet, cells);
}

static void add_axis(Sheet *sheet, MatrixAxis axis, const MatrixRow *base) {
    const Matrix *matrix = sheet->matrix;
    bool is_first = true;
    for (uint32_t k = 0; k < matrix_words[axis].count; k++) {
        MatrixCell cell = matrix->base;
        cell.at[axis] = (uint8_t)k;
        const MatrixRow *row = find_row(matrix, &cell);
        if (row != NULL && k != matrix->base.at[axis]) {
            add_row(sheet, is_first ? matrix_words[axis].name : "", matrix_word(&cell, axis), row, base);
            is_first = false;
        }
    }
}

static void print_star(Sheet *sheet) {
    const MatrixRow *base = find_row(sheet->matrix, &sheet->matrix->base);
    if (base == NULL) {
        return;
    }
    print_heading(sheet, "What each value costs");
    if (sheet->is_plain) {
        fprintf(sheet->out,
                "the first row is the cell %s;\neach other row differs in that one value, and says by how much\n\n",
                matrix_title(&sheet->matrix->base, sheet->arena));
    } else {
        fprintf(sheet->out,
                "The first row is the cell `%s`; each other row differs from it in that "
                "one value, and the difference stands in brackets.\n\n",
                matrix_title(&sheet->matrix->base, sheet->arena));
    }
    sheet_init(sheet, 2, MOST_COLUMNS,
               (const char *const[]){"axis", "value", "logical", "physical", "peak live", "workspace", "parameters",
                                     "moved", "cycles"});
    add_row(sheet, "", "", base, base);
    for (MatrixAxis axis = 0; axis < MATRIX_AXES; axis++) {
        add_axis(sheet, axis, base);
    }
    sheet_end(sheet);
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

static const char *mean(Arena *arena, double logarithms, uint32_t pairs) {
    return arena_text(arena, "%.2f", exp(logarithms / pairs));
}

static void add_ratio(Sheet *sheet, MatrixAxis axis, uint32_t word) {
    const Ratio ratio = ratio_of(sheet->matrix, axis, word);
    Arena *arena = sheet->arena;
    if (ratio.pairs > 0) {
        sheet_row(sheet,
                  (const char *const[]){matrix_words[axis].name, matrix_words[axis].words[word],
                                        matrix_words[axis].words[sheet->matrix->base.at[axis]],
                                        arena_text(arena, "%" PRIu32, ratio.pairs),
                                        mean(arena, ratio.physical, ratio.pairs), mean(arena, ratio.peak, ratio.pairs),
                                        mean(arena, ratio.moved, ratio.pairs), mean(arena, ratio.cycles, ratio.pairs)});
    }
}

static void print_ratios(Sheet *sheet) {
    sheet_init(
        sheet, 3, MOST_COLUMNS - 1,
        (const char *const[]){"axis", "value", "instead of", "pairs", "physical", "peak live", "moved", "cycles"});
    for (MatrixAxis axis = 0; axis < MATRIX_AXES; axis++) {
        for (uint32_t word = 0; word < matrix_words[axis].count; word++) {
            if (word != sheet->matrix->base.at[axis]) {
                add_ratio(sheet, axis, word);
            }
        }
    }
    if (sheet->rows == 1) {
        return; /* no two cells differ in one value */
    }
    print_heading(sheet, "How many times as much");
    fprintf(sheet->out,
            "%s all pairs of cells that differ in one value only: the geometric mean of how%cmany times as much the "
            "first value takes as the second%s\n\n",
            sheet->is_plain ? "over" : "Over", sheet->is_plain ? '\n' : ' ', sheet->is_plain ? "" : ".");
    sheet_end(sheet);
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

static void print_all(Sheet *sheet) {
    const Matrix *matrix = sheet->matrix;
    Arena *arena = sheet->arena;
    FILE *out = sheet->out;
    fprintf(out, "%s cells of the %s, each run on the simulated device: %s equal to the reference, audit exact.\n",
            arena_number(arena, matrix->count).ptr,
            matrix->is_all    ? "whole product"
            : sheet->is_plain ? "subset pairs"
                              : "subset `pairs`",
            matrix->equal_count == matrix->count ? "all" : arena_number(arena, matrix->equal_count).ptr);
    fprintf(out,
            "%s cells are left out: rows of whole bytes that are padded to one byte are channel-first once more.\n",
            arena_number(arena, matrix->left_out).ptr);
    fprintf(out, "CRC-32 of the table as CSV: %08" PRIx32 ".\n", checksum(matrix, arena));
    print_star(sheet);
    print_ratios(sheet);
}

void matrix_print_summary(const Matrix *matrix, Arena *arena, FILE *out) {
    Sheet sheet = {.matrix = matrix, .is_plain = true, .arena = arena, .out = out};
    print_all(&sheet);
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
    "The CSV has these columns and no others, after the axes; its `contract` is the text in full, with the alignment "
    "in "
    "it.\n"
    "JSON has further `moved_bytes`, what transfers carry in all (*moved* in the tables here), `far_param_bytes`, of "
    "it "
    "of\n"
    "parameters, and `crc32` of each output. Tables here are in the same units.\n\n"
    "`--filter AXIS=VALUE,...` leaves the cells with one of these values; a contract may stand by its name or as the "
    "column\n"
    "has it, with one alignment: `--filter contract=channel-first`, `--filter 'contract=N C H@16 W'`. The subset is a "
    "twentieth\n"
    "of the product, filtered or not: `--all --filter dtype=float32` is every cell of a value.\n\n"
    "Why channel-last costs six times the cycles of channel-first: a tile holds 8 of a pixel's 12 channels, so each "
    "pixel of a\n"
    "tile is a run of its own, and a descriptor. In the first cell below loads and stores of maps take 2,240 "
    "descriptors, 22,400\n"
    "of its 27,586 cycles; channel-first they take 96, one a channel of a tile. With tiles of all channels it is 1,120 "
    "and 15,010\n"
    "cycles: padding to 16 bytes still parts the pixels.\n\n"
    "Networks and devices are the matrix' own. What each choice costs for yours: `stride0 plan MODEL -d DEVICE` "
    "compares what\n"
    "it chose with what lost ([json.md](json.md#traffic), `traffic.alternatives`), `stride0 run` measures it, and "
    "`stride0\n"
    "diff MODEL -d DEVICE --b schedule=split` ([diff.md](diff.md)) says what another option would change.\n\n";

void matrix_print_document(const Matrix *matrix, Arena *arena, FILE *out) {
    Sheet sheet = {.matrix = matrix, .arena = arena, .out = out};
    fputs(introduction, out);
    print_all(&sheet);
}
