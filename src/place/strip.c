/* Which items are small, and the two parts put together.
 *
 * Invariant: a part has its items in the order of the whole, so it is canonical too. */
#include "place/strip.h"

#include "base/checked.h"
#include "place/outward.h"

#include <stdlib.h>

/* Where fewer pairs of items meet, all are placed outward. */
static const uint64_t MOST_MEETINGS = 10000000;

/* Small are the smallest that together make up this part of all bytes times steps. */
enum { PART_OF_SMALL = 1024 };

typedef struct {
    uint64_t size;
    double area; /* bytes times steps */
} Sized;

static int compare_sizes(const void *left, const void *right) {
    uint64_t a = ((const Sized *)left)->size;
    uint64_t b = ((const Sized *)right)->size;
    return a < b ? -1 : a > b;
}

/* The size up to which items are small, 0 where none is. */
static uint64_t largest_small(const Pack *pack, Arena *scratch) {
    Sized *sized = arena_array(scratch, Sized, pack->count);
    double most = 0;
    for (size_t i = 0; i < pack->count; i++) {
        const PackItem *item = &pack->item[i];
        sized[i] = (Sized){item->size, (double)item->size * (double)(item->last - item->first)};
        most += sized[i].area / PART_OF_SMALL;
    }
    qsort(sized, pack->count, sizeof *sized, compare_sizes);
    double area = 0;
    size_t next = 0;
    for (; next < pack->count && area + sized[next].area <= most; next++) {
        area += sized[next].area;
    }
    return next == 0 ? 0 : sized[next].size - 1;
}

/* The alignment that suits all small items; false where that is more than a small item takes. */
static bool align_of_small(const Pack *pack, uint64_t largest, uint64_t *align) {
    *align = 1;
    for (size_t i = 0; i < pack->count; i++) {
        const PackItem *item = &pack->item[i];
        if (item->size <= largest && (!checked_common_multiple(*align, item->align, align) || *align > largest)) {
            return false;
        }
    }
    return true;
}

static Pack part_of(const Pack *pack, uint64_t largest, bool is_small, Arena *scratch) {
    Pack part = {.item = arena_array(scratch, PackItem, pack->count)};
    for (size_t i = 0; i < pack->count; i++) {
        if ((pack->item[i].size <= largest) == is_small) {
            part.item[part.count++] = pack->item[i];
        }
    }
    pack_count_meetings(&part);
    return part;
}

/* Items are in the order of their first steps. */
static bool place_small(const Pack *small, Arena *scratch, uint64_t *offset, uint64_t *height) {
    size_t *order = arena_array(scratch, size_t, small->count);
    for (size_t i = 0; i < small->count; i++) {
        order[i] = i;
    }
    return first_fit(small, order, scratch, offset, height);
}

static bool place_parts(const Pack *pack, uint64_t largest, uint64_t align, uint64_t highest, Arena *scratch,
                        uint64_t *offset) {
    Pack small = part_of(pack, largest, true, scratch);
    Pack large = part_of(pack, largest, false, scratch);
    uint64_t *small_offset = arena_array(scratch, uint64_t, pack->count);
    uint64_t *large_offset = arena_array(scratch, uint64_t, pack->count);
    uint64_t strip;
    uint64_t base;
    uint64_t most;
    if (!place_small(&small, scratch, small_offset, &strip) || !checked_add(strip, align, &most) || most > highest ||
        !outward_place(&large, highest - most, scratch, large_offset, &base) || !checked_round_up(base, align, &base)) {
        return false;
    }
    size_t next_small = 0;
    size_t next_large = 0;
    for (size_t i = 0; i < pack->count; i++) {
        bool is_small = pack->item[i].size <= largest;
        offset[i] = is_small ? base + small_offset[next_small++] : large_offset[next_large++];
    }
    return true;
}

bool strip_place(const Pack *pack, uint64_t highest, Arena *scratch, uint64_t *offset, uint64_t *height) {
    uint64_t largest = pack->meetings > MOST_MEETINGS ? largest_small(pack, scratch) : 0;
    uint64_t align;
    if (largest == 0 || !align_of_small(pack, largest, &align)) {
        return outward_place(pack, highest, scratch, offset, height);
    }
    if (!place_parts(pack, largest, align, highest, scratch, offset)) {
        return false;
    }
    *height = pack_height(pack, offset);
    return true;
}
