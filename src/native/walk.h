/* Walk: a stored map as matrices that kernels take, channel last where a channel's neighbour is the next channel,
 * channel first elsewhere.
 *
 *     for every loop's every value: `plane` matrices of `row` x `column`, one channel after the other
 *
 * A dimension may end inside a block: then the counts of rows and columns follow from the indices. */
#ifndef S0_NATIVE_WALK_H
#define S0_NATIVE_WALK_H

#include "layout/view.h"

/* A digit of an index: how often, how far apart in the storage, how much of the dimension a step is. */
typedef struct {
    Dim dim;
    uint64_t extent, stride_bits;
    uint64_t div;
    bool is_cut; /* the dimension ends inside one of its blocks */
} WalkLevel;

typedef struct {
    uint64_t extent[DIM_COUNT];
    uint64_t offset_bits;
    bool is_aligned;      /* all begins at whole bytes, and at multiples of what was asked for */
    bool is_channel_last; /* the columns are channels */
    WalkLevel column, row;
    WalkLevel plane;                 /* once where channels are columns, or do not follow one another */
    WalkLevel loop[VIEW_MAX_LEVELS]; /* outer to inner */
    uint32_t loop_count;
    uint64_t stack_count; /* product of the loops; 0 where there are no elements */
} Walk;

/* Of a view without banks. */
void walk_init(const View *view, uint64_t align_bytes, Walk *walk);

/* The matrices of all planes at one value of the loops. */
typedef struct {
    uint64_t offset_bits;   /* of the first */
    uint64_t rows, columns; /* of each; 0 of either: padding only */
    uint64_t channel;       /* of the first plane, or of the first column */
} WalkStack;

/* Where a walk stands. */
typedef struct {
    uint64_t digit[VIEW_MAX_LEVELS]; /* of each loop */
    uint64_t index[DIM_COUNT];
    WalkStack stack;
} WalkPlace;

/* stack < stack_count. */
void walk_begin(const Walk *walk, uint64_t stack, WalkPlace *place);

/* The one after it; after the last one what the place tells is not said. */
void walk_next(const Walk *walk, WalkPlace *place);

#endif
