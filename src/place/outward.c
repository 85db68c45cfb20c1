/* Outward: the stack, then its two sides; once or twice.
 *
 * Invariant: what has an offset is placed for good and lies below the ceiling. */
#include "place/outward.h"

#include "place/broad.h"
#include "place/side.h"

#include <stdlib.h>
#include <string.h>

static const uint64_t NOWHERE = UINT64_MAX;

/* Residents that may be visited, for each pair of items that meets, and for each item. */
static const uint64_t WORK_A_MEETING = 16;
static const uint64_t WORK_A_BUFFER = 12000;
static const uint64_t WORK = 100000000;

/* One way through visits each meeting once or twice; where that is much of the work, none is begun. */
enum { PART_OF_ONE_WAY = 4 };

/* From the middle of the fullest stretch where from the fullest step it ends more than this part above the bound. */
enum { PART_ABOVE = 50 };

typedef enum { AFTER, BEFORE } Way;

typedef struct {
    const Pack *pack;
    Arena *arena;
    uint64_t fullest; /* step, where it begins */
    uint64_t *offset; /* of each item, NOWHERE where it is not placed */
    uint64_t ceiling, highest;
    Side side;
} Outward;

/* ---- The stack */

/* An item of the stack: how far it reaches to either side. */
typedef struct {
    uint64_t before, after; /* steps, at least 1 */
    size_t item;
} Layer;

static bool is_low(const Layer *layer) {
    return layer->after < layer->before;
}

/* From the bottom up: first those that are gone sooner to the right. */
static int compare_layers(const void *left, const void *right) {
    const Layer *a = left;
    const Layer *b = right;
    if (is_low(a) != is_low(b)) {
        return is_low(a) ? -1 : 1;
    }
    if (is_low(a) && a->after != b->after) {
        return a->after < b->after ? -1 : 1;
    }
    if (!is_low(a) && a->before != b->before) {
        return a->before > b->before ? -1 : 1;
    }
    return a->item < b->item ? -1 : a->item > b->item;
}

static size_t sort_layers(const Outward *outward, Layer *layer) {
    size_t count = 0;
    for (size_t i = 0; i < outward->pack->count; i++) {
        const PackItem *item = &outward->pack->item[i];
        if (item->first <= outward->fullest && outward->fullest < item->last) {
            layer[count++] = (Layer){outward->fullest + 1 - item->first, item->last - outward->fullest, i};
        }
    }
    qsort(layer, count, sizeof *layer, compare_layers);
    return count;
}

/* Each layer in the lowest hole that alignment left, else on top. */
static bool place_stack(Outward *outward) {
    Layer *layer = arena_array(outward->arena, Layer, outward->pack->count);
    size_t count = sort_layers(outward, layer);
    Pack stack = {.item = arena_array(outward->arena, PackItem, count), .count = count};
    size_t *order = arena_array(outward->arena, size_t, count);
    uint64_t *offset = arena_array(outward->arena, uint64_t, count);
    for (size_t k = 0; k < count; k++) {
        stack.item[k] = outward->pack->item[layer[k].item];
        stack.item[k].first = 0;
        stack.item[k].last = 1;
        order[k] = k;
    }
    uint64_t height;
    if (!first_fit(&stack, order, outward->arena, offset, &height)) {
        return false;
    }
    for (size_t k = 0; k < count; k++) {
        outward->offset[layer[k].item] = offset[k];
    }
    outward->ceiling = height > outward->ceiling ? height : outward->ceiling;
    return outward->ceiling <= outward->highest;
}

/* ---- The sides */

/* When an item is there, in steps away from the fullest one. False where it never is. */
static bool reach(const PackItem *item, uint64_t fullest, Way way, uint64_t *from, uint64_t *until) {
    if (way == AFTER) {
        *from = item->first > fullest ? item->first - fullest : 0;
        *until = item->last > fullest ? item->last - fullest : 0;
    } else {
        *from = item->last <= fullest ? fullest + 1 - item->last : 0;
        *until = item->first <= fullest ? fullest + 1 - item->first : 0;
    }
    return *until > 0;
}

/* What is to be placed on a side, and what is placed there. */
static void collect(Outward *outward, Way way) {
    Side *side = &outward->side;
    side->count = side->known_count = 0;
    for (size_t i = 0; i < outward->pack->count; i++) {
        const PackItem *item = &outward->pack->item[i];
        uint64_t from;
        uint64_t until;
        uint64_t offset = outward->offset[i];
        if (!reach(item, outward->fullest, way, &from, &until)) {
            continue;
        }
        if (offset != NOWHERE) {
            side->known[side->known_count++] = (Resident){offset, offset + item->size, from, until};
        } else {
            side->arrival[side->count++] =
                (Arrival){.from = from, .until = until, .size = item->size, .align = item->align, .item = i};
        }
    }
}

static void keep_side(Outward *outward) {
    const Side *side = &outward->side;
    for (size_t k = 0; k < side->count; k++) {
        size_t item = side->arrival[k].item;
        outward->offset[item] = side->offset[item];
    }
}

/* Of several ways the one that needs the lowest ceiling; no second one is begun after `work`. */
static bool place_side(Outward *outward, Way way, uint64_t work) {
    static const SideTaste TASTE[] = {{0.5, 1}, {0.15, 1}, {0.25, 1}, {0.35, 1}, {0.05, 1},
                                      {0.5, 4}, {0.15, 4}, {0.25, 4}, {0.35, 4}, {0.05, 4}};
    Side *side = &outward->side;
    collect(outward, way);
    uint64_t least = outward->ceiling;
    uint64_t highest = outward->highest;
    bool is_placed = false;
    for (size_t i = 0; i < sizeof TASTE / sizeof *TASTE && (i == 0 || side->work < work); i++) {
        side->ceiling = least;
        if (side_place(side, TASTE[i], highest)) {
            keep_side(outward);
            is_placed = true;
            outward->ceiling = side->ceiling;
            highest = side->ceiling - 1;
        }
        if (is_placed && outward->ceiling == least) {
            break;
        }
    }
    return is_placed;
}

static uint64_t most_work(const Pack *pack) {
    uint64_t most = WORK + pack->count * WORK_A_BUFFER;
    if (pack->meetings > most / PART_OF_ONE_WAY) {
        return 0;
    }
    uint64_t wished = WORK_A_MEETING * (pack->meetings + pack->count);
    return wished < most ? wished : most;
}

/* From `fullest` on; tired after `work`. */
static bool place_from(Outward *outward, uint64_t fullest, uint64_t bound, uint64_t work) {
    outward->fullest = fullest;
    outward->ceiling = bound;
    for (size_t i = 0; i < outward->pack->count; i++) {
        outward->offset[i] = NOWHERE;
    }
    side_begin(&outward->side, 2 * work);
    return place_stack(outward) && place_side(outward, AFTER, work / 2) && place_side(outward, BEFORE, work);
}

bool outward_place(const Pack *pack, uint64_t highest, Arena *scratch, uint64_t *offset, uint64_t *height) {
    Peak peak = pack_peak(pack, scratch);
    Outward outward = {.pack = pack, .arena = scratch, .offset = offset, .highest = highest};
    side_init(&outward.side, pack, scratch);
    uint64_t work = most_work(pack) / 2;
    bool is_placed = place_from(&outward, peak.step, peak.bytes, work);
    if (is_placed) {
        *height = pack_height(pack, offset);
        outward.highest = *height - 1;
    }
    if (work == 0 || outward.highest < peak.bytes || outward.highest - peak.bytes < peak.bytes / PART_ABOVE) {
        return is_placed;
    }
    outward.offset = arena_array(scratch, uint64_t, pack->count);
    if (!place_from(&outward, broad_peak(pack, scratch), peak.bytes, work / 2)) {
        return is_placed;
    }
    memcpy(offset, outward.offset, pack->count * sizeof *offset);
    *height = pack_height(pack, offset);
    return true;
}
