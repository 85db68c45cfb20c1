/* Inside the packer: one problem in canonical order, and the parts that work on it.
 *
 * Invariant: the items are sorted by all their fields, so items that compare equal are interchangeable and everything
 * computed from item numbers alone is the same for every order of the caller's buffers. All sizes and alignments are
 * multiples of the memory's unit, so that every offset and the height are too. */
#ifndef S0_PLACE_PACK_H
#define S0_PLACE_PACK_H

#include "place/place.h"

/* Products and sums of sizes that serve as sort keys only. */
__extension__ typedef unsigned __int128 Wide;

typedef struct {
    uint64_t first, last; /* steps, half-open */
    uint64_t size;        /* bytes, a multiple of the unit */
    uint64_t align;       /* bytes, a multiple of the unit */
    PlaceBuffer *source;  /* the caller's */
} PackItem;

typedef struct {
    PackItem *item; /* by first, last, size, align, then by the caller's size and align */
    size_t count;
    uint64_t meetings; /* pairs of items that share a step */
} Pack;

/* A step and what lives there. */
typedef struct {
    uint64_t step, bytes;
} Peak;

/* False where a size or an alignment in whole units does not fit 64 bits. */
bool pack_init(Pack *pack, const PlaceProblem *problem, Arena *scratch);

/* Of items that stand in order. */
void pack_count_meetings(Pack *pack);

/* How many of the items, from the front, start before `step`. */
size_t pack_started_before(const Pack *pack, uint64_t step);

/* The first step at which an item does not live any more. */
typedef struct {
    uint64_t last;
    size_t item;
} LifeEnd;

/* By steps, then by item. */
void life_sort_ends(LifeEnd *end, size_t count);

/* When items die, soonest first. */
LifeEnd *pack_deaths(const Pack *pack, Arena *scratch);

/* The first step with the largest load, which fits 64 bits. */
Peak pack_peak(const Pack *pack, Arena *scratch);

/* Where the highest item ends. */
uint64_t pack_height(const Pack *pack, const uint64_t *offset);

/* The orders in which greedy takes the items, best first by experience. */
typedef enum {
    ORDER_SIZE,
    ORDER_AREA,
    ORDER_LIFETIME,
    ORDER_FIRST,
    ORDER_CONFLICT,
    ORDER_PRESSURE,
    ORDER_COUNT,
} OrderKind;

const char *order_name(OrderKind kind);

/* Item numbers in the order `kind`, from `scratch`. cost O(n log n). */
size_t *order_items(const Pack *pack, OrderKind kind, Arena *scratch);

/* The items placed so far, found by the steps they live in: a balanced tree over the items, implicit in an array
 * (the children of node v are 2v and 2v+1), that holds the largest `last` of the placed items below each node. */
typedef struct {
    const Pack *pack;
    size_t leaves;    /* a power of two, at least count */
    uint64_t *latest; /* 2 * leaves; 0 where nothing below is placed */
} Overlap;

void overlap_init(Overlap *overlap, const Pack *pack, Arena *scratch);
void overlap_reset(Overlap *overlap);
void overlap_add(Overlap *overlap, size_t item);

/* Writes the placed items that share a step with `item` to found[] (room for all items) and returns how many.
 * cost O(log n + k log n) */
size_t overlap_find(const Overlap *overlap, size_t item, size_t *found);

/* A block of addresses in use. */
typedef struct {
    uint64_t offset, end; /* bytes */
} Block;

typedef struct {
    const Pack *pack;
    Overlap overlap;
    size_t *found; /* room for all items, as are the two below */
    Block *block, *spare;
    uint64_t *offset;   /* out: of each item */
    uint64_t height;    /* out: bytes */
    size_t stuck;       /* out: where in the order it was given up */
    uint64_t work;      /* items visited since greedy_init */
    uint64_t most_work; /* where it is given up; greedy_init sets no limit */
} Greedy;

void greedy_init(Greedy *greedy, const Pack *pack, Arena *scratch);

/* Each item in turn at the lowest offset where it fits. False where it would be higher than
 * `highest` or beyond 64 bits, or where the work is spent: given up there. */
bool greedy_place(Greedy *greedy, const size_t *order, uint64_t highest);

/* Each item on top of the one before. False where that is higher than `highest`. Where all live at once and it is no
 * higher than their sum, this is what greedy places. cost O(n) */
bool greedy_stack(Greedy *greedy, const size_t *order, uint64_t highest);

/* What greedy places in the order of ORDER_FIRST, found without a visit to the items that live at once: the offset of
 * each item, and the height. But for an item that many holes hold only unaligned: it goes to the top. False beyond 64
 * bits. cost O(n sqrt n), and almost always O(n log n). */
bool first_fit(const Pack *pack, const size_t *order, Arena *scratch, uint64_t *offset, uint64_t *height);

#endif
