/* The canonical order of a problem's buffers, and what is looked up in it. */
#include "place/pack.h"

#include "base/checked.h"
#include "base/fault.h"

#include <stdlib.h>

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
    order = order != 0 ? order : compare_u64(a->source->size, b->source->size);
    order = order != 0 ? order : compare_u64(a->source->align, b->source->align);
    return order != 0 ? order : (a->source > b->source) - (a->source < b->source);
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

void pack_count_meetings(Pack *pack) {
    pack->meetings = 0;
    for (size_t i = 0; i < pack->count; i++) {
        pack->meetings += pack_started_before(pack, pack->item[i].last) - i - 1;
    }
}

bool pack_init(Pack *pack, const PlaceProblem *problem, Arena *scratch) {
    *pack = (Pack){.item = arena_array(scratch, PackItem, problem->count), .count = problem->count};
    for (size_t i = 0; i < pack->count; i++) {
        PlaceBuffer *buffer = &problem->buffer[i];
        CHECK(buffer->size > 0 && buffer->align > 0 && buffer->first < buffer->last);
        PackItem *item = &pack->item[i];
        *item = (PackItem){.first = buffer->first, .last = buffer->last, .source = buffer};
        if (!checked_round_up(buffer->size, problem->align_bytes, &item->size) ||
            !checked_common_multiple(buffer->align, problem->align_bytes, &item->align)) {
            return false;
        }
    }
    if (pack->count > 0) {
        qsort(pack->item, pack->count, sizeof *pack->item, compare_items);
    }
    pack_count_meetings(pack);
    return true;
}

static int compare_ends(const void *left, const void *right) {
    const LifeEnd *a = left;
    const LifeEnd *b = right;
    if (a->last != b->last) {
        return a->last < b->last ? -1 : 1;
    }
    return a->item < b->item ? -1 : a->item > b->item;
}

void life_sort_ends(LifeEnd *end, size_t count) {
    if (count > 0) {
        qsort(end, count, sizeof *end, compare_ends);
    }
}

LifeEnd *pack_deaths(const Pack *pack, Arena *scratch) {
    LifeEnd *death = arena_array(scratch, LifeEnd, pack->count);
    for (size_t i = 0; i < pack->count; i++) {
        death[i] = (LifeEnd){pack->item[i].last, i};
    }
    life_sort_ends(death, pack->count);
    return death;
}

Peak pack_peak(const Pack *pack, Arena *scratch) {
    const LifeEnd *death = pack_deaths(pack, scratch);
    Peak peak = {0, 0};
    uint64_t load = 0;
    for (size_t i = 0; i < pack->count; i++) {
        for (; death->last <= pack->item[i].first; death++) {
            load -= pack->item[death->item].size;
        }
        load += pack->item[i].size;
        peak = load > peak.bytes ? (Peak){pack->item[i].first, load} : peak;
    }
    return peak;
}

uint64_t pack_height(const Pack *pack, const uint64_t *offset) {
    uint64_t height = 0;
    for (size_t i = 0; i < pack->count; i++) {
        uint64_t end = offset[i] + pack->item[i].size;
        height = end > height ? end : height;
    }
    return height;
}
