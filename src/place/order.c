/* Orders: the sequences in which greedy takes the items.
 *
 * Each is a pair of keys, larger first; ties go by the item's number, which is canonical. */
#include "place/pack.h"

#include <stdlib.h>

typedef struct {
    uint64_t major, minor;
    size_t item;
} OrderKey;

static const char *const ORDER_NAMES[ORDER_COUNT] = {
    [ORDER_SIZE] = "size",   [ORDER_AREA] = "area",         [ORDER_LIFETIME] = "lifetime",
    [ORDER_FIRST] = "first", [ORDER_CONFLICT] = "conflict", [ORDER_PRESSURE] = "pressure",
};

const char *order_name(OrderKind kind) {
    return ORDER_NAMES[kind];
}

static int compare_keys(const void *left, const void *right) {
    const OrderKey *a = left;
    const OrderKey *b = right;
    if (a->major != b->major) {
        return a->major > b->major ? -1 : 1;
    }
    if (a->minor != b->minor) {
        return a->minor > b->minor ? -1 : 1;
    }
    return a->item < b->item ? -1 : a->item > b->item;
}

static int compare_u64(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* An item's end, to look up what has died before a step. */
typedef struct {
    uint64_t last;
    Wide dead; /* the sizes of this item and of all that end no later */
} Ending;

/* Sums of sizes over time. `born[i]` is the size of the first i items, `ending` is by last. */
typedef struct {
    const Pack *pack;
    Wide *born; /* count + 1 */
    Ending *ending;
} Timeline;

static int compare_endings(const void *left, const void *right) {
    return compare_u64(&((const Ending *)left)->last, &((const Ending *)right)->last);
}

static Timeline timeline_of(const Pack *pack, Arena *scratch) {
    Timeline line = {.pack = pack,
                     .born = arena_array(scratch, Wide, pack->count + 1),
                     .ending = arena_array(scratch, Ending, pack->count)};
    for (size_t i = 0; i < pack->count; i++) {
        line.born[i + 1] = line.born[i] + pack->item[i].size;
        line.ending[i] = (Ending){pack->item[i].last, pack->item[i].size};
    }
    if (pack->count > 0) {
        qsort(line.ending, pack->count, sizeof *line.ending, compare_endings);
    }
    for (size_t i = 1; i < pack->count; i++) {
        line.ending[i].dead += line.ending[i - 1].dead;
    }
    return line;
}

/* The sizes of all items that end at `step` or before. */
static Wide dead_by(const Timeline *line, uint64_t step) {
    size_t low = 0;
    size_t high = line->pack->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (line->ending[middle].last <= step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low == 0 ? 0 : line->ending[low - 1].dead;
}

static void set_wide(OrderKey *key, Wide value) {
    key->major = (uint64_t)(value >> 64);
    key->minor = (uint64_t)value;
}

/* The sizes of all items that share a step with item i. */
static void key_by_conflict(const Pack *pack, OrderKey *key, Arena *scratch) {
    Timeline line = timeline_of(pack, scratch);
    for (size_t i = 0; i < pack->count; i++) {
        const PackItem *item = &pack->item[i];
        set_wide(&key[i], line.born[pack_started_before(pack, item->last)] - dead_by(&line, item->first));
    }
}

/* The largest load of any step that item i lives in. The load rises only where an item starts, so the loads at the
 * starts suffice, and none is above the bound, which fits 64 bits; a balanced tree over them, implicit in an array,
 * gives the largest of a range. */
static void key_by_pressure(const Pack *pack, OrderKey *key, Arena *scratch) {
    Timeline line = timeline_of(pack, scratch);
    uint64_t *load = arena_array(scratch, uint64_t, 2 * pack->count);
    for (size_t i = 0; i < pack->count; i++) {
        uint64_t step = pack->item[i].first;
        load[pack->count + i] = (uint64_t)(line.born[i + 1] - dead_by(&line, step));
    }
    for (size_t v = pack->count; v-- > 1;) {
        load[v] = load[2 * v] > load[2 * v + 1] ? load[2 * v] : load[2 * v + 1];
    }
    for (size_t i = 0; i < pack->count; i++) {
        size_t low = pack->count + pack_started_before(pack, pack->item[i].first);
        size_t high = pack->count + pack_started_before(pack, pack->item[i].last);
        uint64_t most = 0;
        for (; low < high; low /= 2, high /= 2) {
            if (low % 2 == 1) {
                most = load[low] > most ? load[low] : most;
                low++;
            }
            if (high % 2 == 1) {
                high--;
                most = load[high] > most ? load[high] : most;
            }
        }
        key[i].major = most;
        key[i].minor = pack->item[i].size;
    }
}

static void key_by_item(const Pack *pack, OrderKind kind, OrderKey *key) {
    for (size_t i = 0; i < pack->count; i++) {
        const PackItem *item = &pack->item[i];
        uint64_t lifetime_steps = item->last - item->first;
        key[i].minor = item->size;
        if (kind == ORDER_SIZE) {
            key[i].major = item->size;
            key[i].minor = lifetime_steps;
        } else if (kind == ORDER_AREA) {
            set_wide(&key[i], (Wide)item->size * lifetime_steps);
        } else if (kind == ORDER_LIFETIME) {
            key[i].major = lifetime_steps;
        } else {
            key[i].major = UINT64_MAX - item->first;
        }
    }
}

size_t *order_items(const Pack *pack, OrderKind kind, Arena *scratch) {
    size_t *order = arena_array(scratch, size_t, pack->count);
    OrderKey *key = arena_array(scratch, OrderKey, pack->count);
    if (kind == ORDER_CONFLICT) {
        key_by_conflict(pack, key, scratch);
    } else if (kind == ORDER_PRESSURE) {
        key_by_pressure(pack, key, scratch);
    } else {
        key_by_item(pack, kind, key);
    }
    for (size_t i = 0; i < pack->count; i++) {
        key[i].item = i;
    }
    if (pack->count > 0) {
        qsort(key, pack->count, sizeof *key, compare_keys);
    }
    for (size_t i = 0; i < pack->count; i++) {
        order[i] = key[i].item;
    }
    return order;
}
