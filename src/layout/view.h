/* A view: offset, and for each level an extent and a stride in bits. Sizes and addresses both come from here, and
 * from nowhere else in the tree.
 *
 *     view_resolve        contract + shape -> view and footprint
 *     view_widen          a block for each element, where an engine needs one
 *     view_broadcast      the same storage read at a larger shape: strides of 0 repeat
 *     view_address        index -> bank, byte, bit
 *
 * Invariants: address in bits = offset + sum(value_k * stride_k + 8 * head_k) with value_k = (index / div) % mod;
 * every address of a view of a shape lies below 8 * bank_bytes; two indices of a resolved view (no broadcast) never
 * share an address. */
#ifndef S0_LAYOUT_VIEW_H
#define S0_LAYOUT_VIEW_H

#include "layout/contract.h"

enum { VIEW_MAX_LEVELS = 16, VIEW_MAX_BANK_TERMS = 8 };

/* One digit of an index: (index[dim] / div) % mod, mod 0 meaning none. */
typedef struct {
    Dim dim;
    uint64_t div, mod;
    uint64_t extent;      /* how many values the digit takes: mod, or ceil(D / div) */
    uint64_t stride_bits; /* 0 repeats: broadcasting. Unused in bank terms */
    uint64_t head_bits;   /* bits before the first of this level. Unused in bank terms */
} ViewLevel;

typedef struct {
    LayoutShape shape;       /* the shape it is read at */
    bool repeats[DIM_COUNT]; /* every index of this dimension reads what index 0 does: broadcasting */
    uint32_t level_count, bank_term_count;
    ViewLevel level[VIEW_MAX_LEVELS];         /* outer -> inner */
    ViewLevel bank_term[VIEW_MAX_BANK_TERMS]; /* outermost first */
    uint64_t offset_bits;
    uint64_t bank_bytes;   /* footprint of one bank: physical bytes */
    uint64_t banks_used;   /* distinct banks touched; 0 where there are no elements */
    uint64_t logical_bits; /* elements * bits of the stored shape */
    uint64_t base_bytes;   /* the offset in memory must be a multiple of this; at least 1 */
    uint32_t which_case;   /* index of the contract's case that held */
} View;

typedef enum {
    VIEW_DONE,
    VIEW_NO_CASE,  /* no guard holds for this shape */
    VIEW_UNNAMED,  /* a dimension that no term names has an extent other than 1: see `dim` */
    VIEW_OVERFLOW, /* a size does not fit 64 bits */
} ViewStatus;

/* `dim` is told for VIEW_UNNAMED and may be null. Zero elements: bank_bytes, banks_used and all strides are 0. Where
 * the answer is VIEW_DONE, 8 * bank_bytes fits 64 bits too. */
ViewStatus view_resolve(const Contract *contract, const LayoutShape *shape, View *view, Dim *dim);

/* One clause for a status, for diagnostics: "no case of the contract holds for this shape". */
const char *view_status_text(ViewStatus status);

uint64_t view_logical_bytes(const View *view); /* elements * bits, rounded to bytes once */

/* For an engine that reads each element as a block of `grain_bytes`: a view, just resolved, that has less room than a
 * block an element becomes the list of blocks, row-major over N C H W O I, in one bank; an element begins its block.
 * A grain of 0 or 1 is none. False, and the view as it was, where the size does not fit 64 bits. */
bool view_widen(View *view, uint64_t grain_bytes);

/* Banks of `bank_bytes` laid end to end, as memory without banks holds them. False where they do not fit 64 bits. */
bool view_all_banks_bytes(uint64_t bank_bytes, uint64_t banks_used, uint64_t *bytes);

/* Reads `view` at `shape`: each dimension must be equal or 1 in the storage; those of 1 get stride 0. False where
 * one is neither. */
bool view_broadcast(View *view, const LayoutShape *shape);

typedef struct {
    uint64_t bank, byte;
    uint32_t bit; /* 0 the lowest of the byte */
} ViewAddress;

/* index[d] < shape.extent[d] for every dimension (checked). */
ViewAddress view_address(const View *view, const uint64_t index[DIM_COUNT]);

/* Address as one number of bits inside its bank, without the bank. */
uint64_t view_address_bits(const View *view, const uint64_t index[DIM_COUNT]);

/* The inverse: the index of the element that owns this bit of this bank, 0 in dimensions that repeat; false where the
 * bit is padding. */
bool view_find_index(const View *view, uint64_t bank, uint64_t bit, uint64_t index[DIM_COUNT]);

/* Distinct data bytes that the addresses of this view touch over all banks, padding excluded (counted by walking
 * where levels overlap inside a byte, else by the strides). */
uint64_t view_touched_bytes(const View *view);

/* Steps `index` through `shape` in row-major order of N, C, H, W, O, I; false after the last. Start from zeros. */
bool view_next_index(const LayoutShape *shape, uint64_t index[DIM_COUNT]);

/* ---- Do two tensors with the same elements in the same order have the same address map? (Reshape, Transpose) */

/* One axis of a tensor as the graph sees it: its extent and the dimension it is part of. Several axes of one dimension
 * are folded: the later varies faster. */
typedef struct {
    uint64_t extent;
    Dim dim;
} ViewAxis;

/* A view and the axes that its elements are counted over, row-major. */
typedef struct {
    const View *view;
    const ViewAxis *axes;
    uint32_t rank; /* of `axes` */
} ViewOrder;

/* True where the k-th element of `a` has the address that the k-th element of `b` has, for every k. Decided from the
 * strides where they are a mixed radix, else by walking up to `walk_limit` elements; false where that does not suffice:
 * a copy is always correct. */
bool view_same_map(const ViewOrder *a, const ViewOrder *b, uint64_t walk_limit);

/* Digits of the number of an element, innermost first, and how far one step of each leads. Neighbours that continue
 * each other are one digit; each is at least 2, and the elements are counted in 64 bits. */
enum { VIEW_MAX_DIGITS = 64 };

typedef struct {
    uint64_t extent, step_bits, step_banks;
} ViewDigit;

typedef struct {
    uint32_t count;
    ViewDigit digit[VIEW_MAX_DIGITS];
} ViewRadix;

/* The address of the k-th element, counted over the axes in the order `perm`, outer first (null: as they are), less
 * that of the first one. False where that is no sum of digits of k (partial blocks), or there are no elements. */
bool view_radix(const ViewOrder *order, const uint32_t *perm, ViewRadix *radix);

#endif
