/* Which placed items share a step with a given one: a tree over the items by first step.
 *
 *     latest[1] = 9              items by first:   0   1   2   3
 *       2 = 9        3 = 7       placed `last`s:   9   -   5   7
 *     4=9  5=0     6=5  7=7
 *
 * An item shares a step with [first, last) if it starts before `last`, so it is in a prefix of the items, and ends
 * after `first`, so no node with latest <= first holds one. */
#include "place/pack.h"

#include <string.h>

void overlap_init(Overlap *overlap, const Pack *pack, Arena *scratch) {
    size_t leaves = 1;
    while (leaves < pack->count) {
        leaves *= 2;
    }
    *overlap = (Overlap){.pack = pack, .leaves = leaves, .latest = arena_array(scratch, uint64_t, 2 * leaves)};
}

void overlap_reset(Overlap *overlap) {
    memset(overlap->latest, 0, 2 * overlap->leaves * sizeof *overlap->latest);
}

void overlap_add(Overlap *overlap, size_t item) {
    uint64_t last = overlap->pack->item[item].last;
    for (size_t v = overlap->leaves + item; v > 0 && overlap->latest[v] < last; v /= 2) {
        overlap->latest[v] = last;
    }
}

/* The node after v and all below it, from left to right; 0 after the last. */
static size_t next_node(size_t v) {
    while (v % 2 == 1) {
        v /= 2;
    }
    return v == 0 ? 0 : v + 1;
}

size_t overlap_find(const Overlap *overlap, size_t item, size_t *found) {
    uint64_t first = overlap->pack->item[item].first;
    size_t prefix = pack_started_before(overlap->pack, overlap->pack->item[item].last);
    size_t count = 0;
    for (size_t v = 1; v != 0;) {
        if (overlap->latest[v] <= first) {
            v = next_node(v);
        } else if (v < overlap->leaves) {
            v *= 2;
        } else if (v - overlap->leaves < prefix) {
            found[count++] = v - overlap->leaves;
            v = next_node(v);
        } else {
            break;
        }
    }
    return count;
}
