/* Boxes of a view, and what moving one costs a DMA: the runs of bits that stand one after another on both sides.
 *
 * A box is a part of a stored shape: from index `first` on, `extent` of each dimension. Its first index must be a
 * multiple of the view's grain. Then the digits of an index inside the box add to those of the first one:
 *
 *     address(first + i) - address(first) = address(i) - address(0), and so the lane. */
#ifndef S0_LAYOUT_RUNS_H
#define S0_LAYOUT_RUNS_H

#include "layout/view.h"

typedef struct {
    uint64_t first[DIM_COUNT], extent[DIM_COUNT];
} ViewBox;

/* Every index of the shape. */
ViewBox view_whole_box(const LayoutShape *shape);

/* What a box's first index along `dim` must be a multiple of: the largest div of a level or a bank term; 1 where the
 * dimension repeats. */
uint64_t view_grain(const View *view, Dim dim);

/* The box as a view of its own, in the storage of the whole: its index 0 is the box's first. False, and the view as it
 * was, where that is no multiple of the grain or lies in another lane than index 0. */
bool view_narrow(View *view, const ViewBox *box);

/* The view as a memory without lanes holds it: lane k begins at k * bank_bytes, and the lanes up to the last that holds
 * an element become bank_bytes. Those are banks_used of them, except where terms of several digits leave lanes between
 * them empty. False, and the view as it was, where a size does not fit 64 bits or the terms are more than
 * VIEW_MAX_LEVELS. */
bool view_flatten(View *view);

/* Bytes of one lane up to the last bit that an index of the shape addresses in any: bank_bytes without what stands
 * behind. 0 where there are no elements. */
uint64_t view_extent_bytes(const View *view);

/* Does some byte hold elements of two lines, each of one n and one h? Then nothing may be written over what it lies in,
 * line by line. */
bool view_lines_share_bytes(const View *view);

/* How transfers count: docs/simulator.md. Each at least 1; burst_bytes 0: unbounded, one burst a run. */
typedef struct {
    uint64_t align_bytes, min_bytes, burst_bytes;
} RunRule;

typedef struct {
    uint64_t descriptors; /* runs: longest pieces of `to` whose bits stand in `from` one after another as well */
    uint64_t bursts;
    uint64_t burst_bytes_moved; /* bursts * burst_bytes; of unbounded bursts the bytes themselves */
} RunCost;

/* A box of `from` moves to a box of `to`: the extents of both are equal. `from` may repeat, `to` may not.
 * False where a sum does not fit 64 bits.
 *
 * Takes a time that does not grow with the box, only with the number of digits, a power of it where many dimensions
 * have partial blocks; and with the extent of a dimension whose divs in `to` and in `from` do not divide one another:
 * its indices are walked. */
bool view_run_cost(const View *to, const ViewBox *to_box, const View *from, const ViewBox *from_box,
                   const RunRule *rule, RunCost *cost);

#endif
