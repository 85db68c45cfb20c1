/* Greedy: each item in turn at the lowest offset where it fits.
 *
 * Invariant: items placed so far that share a step share no byte. The blocks that an item must avoid are sorted by
 * offset, so that one pass over them finds the lowest gap. */
#include "place/pack.h"

#include "base/checked.h"

enum { FEW_BLOCKS = 32, DIGIT_BITS = 8, DIGITS = 1 << DIGIT_BITS };

void greedy_init(Greedy *greedy, const Pack *pack, Arena *scratch) {
    *greedy = (Greedy){.pack = pack,
                       .found = arena_array(scratch, size_t, pack->count),
                       .block = arena_array(scratch, Block, pack->count),
                       .spare = arena_array(scratch, Block, pack->count),
                       .offset = arena_array(scratch, uint64_t, pack->count),
                       .most_work = UINT64_MAX};
    overlap_init(&greedy->overlap, pack, scratch);
}

static void sort_few(Block *block, size_t count) {
    for (size_t i = 1; i < count; i++) {
        Block moving = block[i];
        size_t at = i;
        for (; at > 0 && block[at - 1].offset > moving.offset; at--) {
            block[at] = block[at - 1];
        }
        block[at] = moving;
    }
}

/* One stable pass of a radix sort: by the digit of the offset that starts at bit `shift`. */
static void sort_by_digit(const Block *from, Block *to, size_t count, unsigned shift) {
    size_t start[DIGITS] = {0};
    for (size_t i = 0; i < count; i++) {
        start[(from[i].offset >> shift) % DIGITS]++;
    }
    size_t sum = 0;
    for (size_t d = 0; d < DIGITS; d++) {
        size_t here = start[d];
        start[d] = sum;
        sum += here;
    }
    for (size_t i = 0; i < count; i++) {
        to[start[(from[i].offset >> shift) % DIGITS]++] = from[i];
    }
}

/* Sorts by offset, digits in which all offsets agree skipped: thousands of blocks for each of many items are what a
 * large problem spends its time on. The result stands in greedy->block. */
static void sort_blocks(Greedy *greedy, size_t count) {
    if (count <= FEW_BLOCKS) {
        sort_few(greedy->block, count);
        return;
    }
    uint64_t differ = 0;
    for (size_t i = 1; i < count; i++) {
        differ |= greedy->block[i].offset ^ greedy->block[0].offset;
    }
    for (unsigned shift = 0; shift < 64; shift += DIGIT_BITS) {
        if ((differ >> shift) % DIGITS == 0) {
            continue;
        }
        sort_by_digit(greedy->block, greedy->spare, count, shift);
        Block *sorted = greedy->spare;
        greedy->spare = greedy->block;
        greedy->block = sorted;
    }
}

/* The lowest aligned offset of a gap that holds the item. False where it would end beyond 64 bits. */
static bool lowest_gap(const Block *block, size_t count, const PackItem *item, uint64_t *offset) {
    uint64_t top = 0; /* of the blocks passed */
    for (size_t i = 0; i < count; i++) {
        if (block[i].offset > top && block[i].offset - top >= item->size) {
            uint64_t low;
            if (checked_round_up(top, item->align, &low) && low <= block[i].offset - item->size) {
                *offset = low;
                return true;
            }
        }
        top = block[i].end > top ? block[i].end : top;
    }
    return checked_round_up(top, item->align, offset);
}

static bool place_item(Greedy *greedy, size_t index) {
    const PackItem *item = &greedy->pack->item[index];
    size_t count = overlap_find(&greedy->overlap, index, greedy->found);
    for (size_t i = 0; i < count; i++) {
        size_t other = greedy->found[i];
        uint64_t offset = greedy->offset[other];
        greedy->block[i] = (Block){offset, offset + greedy->pack->item[other].size};
    }
    sort_blocks(greedy, count);
    greedy->work += count + 1;
    uint64_t end;
    if (!lowest_gap(greedy->block, count, item, &greedy->offset[index]) ||
        !checked_add(greedy->offset[index], item->size, &end)) {
        return false;
    }
    greedy->height = end > greedy->height ? end : greedy->height;
    overlap_add(&greedy->overlap, index);
    return true;
}

/* Where the pairs that meet are more than the work that is left, it would be given up before the last item. */
static bool can_finish(const Greedy *greedy) {
    return greedy->work < greedy->most_work && greedy->pack->meetings < greedy->most_work - greedy->work;
}

bool greedy_place(Greedy *greedy, const size_t *order, uint64_t highest) {
    if (!can_finish(greedy)) {
        greedy->work = greedy->most_work;
        greedy->stuck = 0;
        return false;
    }
    overlap_reset(&greedy->overlap);
    greedy->work += greedy->pack->count / 8; /* the reset, in visits that take as long */
    greedy->height = 0;
    for (size_t i = 0; i < greedy->pack->count; i++) {
        if (greedy->work >= greedy->most_work || !place_item(greedy, order[i]) || greedy->height > highest) {
            greedy->stuck = i;
            return false;
        }
    }
    return true;
}

bool greedy_stack(Greedy *greedy, const size_t *order, uint64_t highest) {
    greedy->height = 0;
    for (size_t i = 0; i < greedy->pack->count; i++) {
        const PackItem *item = &greedy->pack->item[order[i]];
        uint64_t *offset = &greedy->offset[order[i]];
        if (!checked_round_up(greedy->height, item->align, offset) ||
            !checked_add(*offset, item->size, &greedy->height) || greedy->height > highest) {
            return false;
        }
    }
    return true;
}
