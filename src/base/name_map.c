/* Names to numbers. Invariant: at least a third of the slots is free, so that every probe ends. */
#include "base/name_map.h"

static NameSlot *probe(const NameMap *map, Str name) {
    /* The place of the slots in memory is the seed: it differs from run to run, and no result depends on it. */
    uint64_t hash = str_hash(name, (uint64_t)(uintptr_t)map->slot);
    size_t at = (size_t)(hash ^ hash >> 32) & (map->slots - 1);
    while (map->slot[at].is_used && !str_eq(map->slot[at].key, name)) {
        at = (at + 1) & (map->slots - 1);
    }
    return &map->slot[at];
}

static void make_room(NameMap *map) {
    if (map->count < map->slots - map->slots / 3) {
        return;
    }
    NameMap larger = {.arena = map->arena, .count = map->count, .slots = map->slots == 0 ? 16 : map->slots * 2};
    larger.slot = arena_array(map->arena, NameSlot, larger.slots);
    for (size_t k = 0; k < map->slots; k++) {
        if (map->slot[k].is_used) {
            *probe(&larger, map->slot[k].key) = map->slot[k];
        }
    }
    *map = larger;
}

uint32_t *name_map_find(const NameMap *map, Str name) {
    if (map->slots == 0) {
        return NULL;
    }
    NameSlot *slot = probe(map, name);
    return slot->is_used ? &slot->number : NULL;
}

uint32_t *name_map_add(NameMap *map, Str name, uint32_t number) {
    make_room(map);
    NameSlot *slot = probe(map, name);
    if (!slot->is_used) {
        *slot = (NameSlot){.key = name, .number = number, .is_used = true};
        map->count++;
    }
    return &slot->number;
}
