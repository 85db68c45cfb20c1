/* A map from names to numbers: open addressing, in an arena. */
#ifndef S0_BASE_NAME_MAP_H
#define S0_BASE_NAME_MAP_H

#include "base/arena.h"

typedef struct {
    Str key;
    uint32_t number;
    bool is_used;
} NameSlot;

typedef struct {
    Arena *arena;
    size_t count, slots; /* slots is 0 or a power of two */
    NameSlot *slot;
} NameMap;

static inline NameMap name_map(Arena *arena) {
    return (NameMap){.arena = arena};
}

/* Null where the name is absent. */
uint32_t *name_map_find(const NameMap *map, Str name);

/* The number kept under `name`: `number` where the name is new, else the older one, unchanged. */
uint32_t *name_map_add(NameMap *map, Str name, uint32_t number);

#endif
