/* Named shapes: the extents a layout contract speaks about.
 *
 * Invariant: a dimension that a tensor lacks has extent 1. Axes of a tensor are mapped to these names by the graph
 * (graph/names.h); nothing here guesses an axis from its size. */
#ifndef S0_LAYOUT_SHAPE_H
#define S0_LAYOUT_SHAPE_H

#include <stdint.h>

/* N batch, C channel, H and W spatial; O and I the output and input channels of weights. */
typedef enum { DIM_N, DIM_C, DIM_H, DIM_W, DIM_O, DIM_I, DIM_COUNT } Dim;

typedef struct {
    uint64_t extent[DIM_COUNT]; /* elements; 0 is a legal extent */
    uint32_t bits;              /* of one element, 1 to 128 */
    uint32_t rank;              /* of the tensor, for guards */
} LayoutShape;

/* All extents 1. */
LayoutShape layout_shape(uint32_t bits, uint32_t rank);

/* How many elements so many indices of each dimension are: of a view or a part of one, whose bits fit 64 bits. */
uint64_t layout_elements(const uint64_t extent[DIM_COUNT]);

char dim_letter(Dim dim);

#endif
