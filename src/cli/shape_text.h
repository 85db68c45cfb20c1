/* Shapes and indices as they are typed: 1x12x20x28 is N C H W, 12 alone is C, and letters name the dimensions where
 * others are meant: O16xI12xH3xW3. */
#ifndef S0_CLI_SHAPE_TEXT_H
#define S0_CLI_SHAPE_TEXT_H

#include "base/work.h"
#include "layout/shape.h"

typedef struct {
    LayoutShape shape;
    uint32_t count;             /* of dimensions that were typed */
    Dim dim[DIM_COUNT];         /* in the order they were typed */
    uint32_t column[DIM_COUNT]; /* column of each, from 1 */
} NamedShape;

/* False with a diagnostic that points at the column. */
bool cli_parse_shape(Work *work, const char *text, uint32_t bits, NamedShape *named);

/* An index for each dimension of `named`, in its order: 0,3,7,1. */
bool cli_parse_index(Work *work, const char *text, const NamedShape *named, uint64_t index[DIM_COUNT]);

/* Where `dim` was typed, from 1; 1 where it was not. */
uint32_t cli_shape_column(const NamedShape *named, Dim dim);

#endif
