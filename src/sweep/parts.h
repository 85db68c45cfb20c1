/* A whole tensor that the DMA moves, in parts that are each no more than it takes at once. */
#ifndef S0_SWEEP_PARTS_H
#define S0_SWEEP_PARTS_H

#include "device/device.h"
#include "layout/runs.h"

typedef struct {
    uint64_t extent[DIM_COUNT]; /* of the tensor */
    uint64_t part[DIM_COUNT];   /* of all parts but the last along a dimension */
    Dim order[DIM_COUNT];       /* outermost in memory first: what stands together moves together */
    uint64_t count;
    bool fits; /* a part is no more than the DMA takes: not where a block of both layouts is more */
} MoveParts;

/* Of a tensor that lies as `from` and `to` say. */
MoveParts move_parts(const Device *device, const View *from, const View *to);

/* Parts of the same extents: one of them, and how many there are. Bit d of `tails`: those at the end of dimension d
 * that are smaller; false where there is none. */
bool move_kind(const MoveParts *parts, uint32_t tails, ViewBox *box, uint64_t *times);

/* The first part, then the next; false after the last. */
ViewBox move_first(const MoveParts *parts);
bool move_next(const MoveParts *parts, ViewBox *box);

#endif
