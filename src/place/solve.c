/* The packer's one page: canonical order, bound, greedy orders until one reaches the bound, the lowest kept. */
#include "place/pack.h"

#include "base/checked.h"
#include "base/fault.h"

#include <stdlib.h>

/* Items visited after which no further order is begun. */
static const uint64_t MOST_WORK = 20000000;

static int compare_u64(uint64_t a, uint64_t b) {
    return a < b ? -1 : a > b;
}

static int compare_items(const void *left, const void *right) {
    const PackItem *a = left;
    const PackItem *b = right;
    int order = compare_u64(a->first, b->first);
    order = order != 0 ? order : compare_u64(a->last, b->last);
    order = order != 0 ? order : compare_u64(a->size, b->size);
    order = order != 0 ? order : compare_u64(a->align, b->align);
    return order != 0 ? order : compare_u64(a->source, b->source);
}

size_t pack_started_before(const Pack *pack, uint64_t step) {
    size_t low = 0;
    size_t high = pack->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (pack->item[middle].first < step) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool common_multiple(uint64_t a, uint64_t b, uint64_t *multiple) {
    uint64_t divisor = a;
    for (uint64_t rest = b; rest != 0;) {
        uint64_t next = divisor % rest;
        divisor = rest;
        rest = next;
    }
    return checked_mul(a / divisor, b, multiple);
}

/* False where a size or an alignment in whole units does not fit 64 bits. */
static bool pack_init(Pack *pack, const PlaceProblem *problem, Arena *scratch) {
    *pack = (Pack){arena_array(scratch, PackItem, problem->count), problem->count};
    for (size_t i = 0; i < pack->count; i++) {
        const PlaceBuffer *buffer = &problem->buffer[i];
        CHECK(buffer->size > 0 && buffer->align > 0 && buffer->first < buffer->last);
        PackItem *item = &pack->item[i];
        *item = (PackItem){.first = buffer->first, .last = buffer->last, .source = i};
        if (!checked_round_up(buffer->size, problem->align_bytes, &item->size) ||
            !common_multiple(buffer->align, problem->align_bytes, &item->align)) {
            return false;
        }
    }
    if (pack->count > 0) {
        qsort(pack->item, pack->count, sizeof *pack->item, compare_items);
    }
    return true;
}

static void keep_offsets(PlaceProblem *problem, const Greedy *greedy) {
    for (size_t i = 0; i < greedy->pack->count; i++) {
        problem->buffer[greedy->pack->item[i].source].offset = greedy->offset[i];
    }
}

bool place_solve(PlaceProblem *problem, Work *work) {
    CHECK(problem->align_bytes > 0);
    Pack pack;
    uint64_t bound;
    if (!pack_init(&pack, problem, &work->scratch) || !place_bound(problem, &work->scratch, &bound, NULL)) {
        return false;
    }
    Greedy greedy;
    greedy_init(&greedy, &pack, &work->scratch);
    const char *method = NULL;
    uint64_t highest = UINT64_MAX; /* that is worth having */
    for (OrderKind kind = 0; kind < ORDER_COUNT && greedy.work < MOST_WORK; kind++) {
        if (!greedy_place(&greedy, order_items(&pack, kind, &work->scratch), highest)) {
            continue;
        }
        keep_offsets(problem, &greedy);
        problem->height = greedy.height;
        method = order_name(kind);
        if (greedy.height == bound) {
            break;
        }
        highest = greedy.height - 1;
    }
    if (method == NULL) {
        return false;
    }
    problem->bound = bound;
    problem->method = method;
    return true;
}
