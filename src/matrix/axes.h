/* The axes of the test matrix, their values, and the cells: one value of each axis.
 *
 * Cells are numbered, the last axis fastest, so that a number means the same cell in every run. */
#ifndef S0_MATRIX_AXES_H
#define S0_MATRIX_AXES_H

#include "base/arena.h"
#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>

typedef enum {
    AXIS_SHAPE,        /* of the map, N C H W */
    AXIS_CONTRACT,     /* family of layouts */
    AXIS_DTYPE,        /* of the map and the parameters */
    AXIS_ALIGN,        /* bytes, in the contract and of buffers */
    AXIS_FORM,         /* in which the engine reads the parameters */
    AXIS_SCHEDULE,     /* of the operators over a tile */
    AXIS_READER,       /* single: the affine alone reads its map; bypass: another operator too */
    AXIS_COEFFICIENTS, /* numbers of the affine */
    AXIS_PARAMETERS,   /* stay whole for all tiles, or come by part */
    MATRIX_AXES
} MatrixAxis;

/* Places of the values in matrix_words. */
enum {
    CONTRACT_CHANNEL_FIRST,
    CONTRACT_CHANNEL_LAST,
    CONTRACT_BLOCKED,
    CONTRACT_LANES,
    CONTRACT_ROW_PADDED,
    MATRIX_CONTRACTS
};
enum { READER_SINGLE, READER_BYPASS };
enum { COEFFICIENTS_GENERAL, COEFFICIENTS_UNIT_SCALE, COEFFICIENTS_IDENTITY, COEFFICIENTS_NEAR_ONE };

typedef struct {
    const char *name;         /* "shape" */
    uint32_t count;           /* of values */
    const char *const *words; /* "1x12x20x28" */
} MatrixWords;

extern const MatrixWords matrix_words[MATRIX_AXES];

typedef struct {
    uint8_t at[MATRIX_AXES]; /* place of the value among the axis' words */
} MatrixCell;

uint32_t matrix_cell_count(void);
MatrixCell matrix_cell(uint32_t number);
uint32_t matrix_number(const MatrixCell *cell);

const char *matrix_word(const MatrixCell *cell, MatrixAxis axis);

/* The contract of the map in full, with the alignment in it: "N H W C@16". */
const char *matrix_contract(const MatrixCell *cell, Arena *arena);

/* Why a cell is left out: its contract makes it another cell once more. Null where it is not. */
const char *matrix_left_out(const MatrixCell *cell);

/* Is it in the subset `pairs`? That holds about one cell in twenty, chosen by its number: each value of each axis with
 * each of every other one; and each cell that differs from the base in one axis only. */
bool matrix_in_pairs(uint32_t number);

/* Values that cells may have: of each axis a set, bit k for the k-th word; and of each contract a set of alignments. */
typedef struct {
    uint32_t allowed[MATRIX_AXES];
    uint32_t aligns[MATRIX_CONTRACTS];
} MatrixFilter;

void matrix_filter_all(MatrixFilter *filter);

/* "AXIS=WORD" or "AXIS=WORD,WORD": fewer cells. A contract may stand as its text, with its alignment. False where there
 * is no such axis (`axis` is MATRIX_AXES) or no such word of it. */
bool matrix_filter_read(MatrixFilter *filter, Str text, MatrixAxis *axis);

bool matrix_filter_takes(const MatrixFilter *filter, const MatrixCell *cell);

/* The cell that all others of the summary differ from in one axis: 1x12x20x28 int8, channel-last, 16 bytes, channel
 * form, fused, single, general, resident; where the filter has no such value, the first that it has. */
MatrixCell matrix_base(const MatrixFilter *filter);

#endif
