/* Arenas: a list of blocks, the newest being filled from the front. */
#include "base/arena.h"

#include "base/checked.h"

#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = alignof(max_align_t), SMALLEST_BLOCK = 1 << 14, LARGEST_BLOCK = 1 << 22 };

struct ArenaBlock {
    ArenaBlock *older;
    size_t bytes; /* of the whole block, this header included */
    alignas(max_align_t) uint8_t data[];
};

static void *system_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    (void)ctx;
    (void)old_bytes;
    if (new_bytes == 0) {
        free(ptr);
        return NULL;
    }
    return realloc(ptr, new_bytes);
}

const s0_allocator system_allocator = {system_resize, NULL};

void arena_init(Arena *arena, const s0_allocator *allocator, jmp_buf *escape) {
    *arena = (Arena){.allocator = allocator, .escape = escape};
}

static void free_blocks(Arena *arena, ArenaBlock *block, const ArenaBlock *end) {
    while (block != end) {
        ArenaBlock *older = block->older;
        arena->allocator->resize(arena->allocator->ctx, block, block->bytes, 0);
        block = older;
    }
}

void arena_reset(Arena *arena) {
    if (arena->blocks != NULL) {
        free_blocks(arena, arena->blocks->older, NULL);
        arena->blocks->older = NULL;
    }
    arena->used = 0;
}

void arena_free(Arena *arena) {
    free_blocks(arena, arena->blocks, NULL);
    arena->blocks = NULL;
    arena->used = 0;
}

ArenaMark arena_mark(const Arena *arena) {
    return (ArenaMark){arena->blocks, arena->used};
}

void arena_back(Arena *arena, ArenaMark mark) {
    free_blocks(arena, arena->blocks, mark.blocks);
    arena->blocks = mark.blocks;
    arena->used = mark.used;
}

static _Noreturn void out_of_memory(const Arena *arena) {
    longjmp(*arena->escape, 1);
}

static size_t room_left(const Arena *arena) {
    return arena->blocks == NULL ? 0 : arena->blocks->bytes - offsetof(ArenaBlock, data) - arena->used;
}

/* Blocks double, so that a large compile makes few of them and a small one stays small. */
static void add_block(Arena *arena, uint64_t data_bytes) {
    uint64_t bytes = arena->blocks == NULL ? SMALLEST_BLOCK : arena->blocks->bytes * 2;
    bytes = bytes > LARGEST_BLOCK ? LARGEST_BLOCK : bytes;
    uint64_t need;
    if (!checked_add(data_bytes, offsetof(ArenaBlock, data), &need) || need > SIZE_MAX) {
        out_of_memory(arena);
    }
    bytes = bytes < need ? need : bytes;
    ArenaBlock *block = arena->allocator->resize(arena->allocator->ctx, NULL, 0, (size_t)bytes);
    if (block == NULL) {
        out_of_memory(arena);
    }
    block->older = arena->blocks;
    block->bytes = (size_t)bytes;
    arena->blocks = block;
    arena->used = 0;
}

void *arena_alloc(Arena *arena, size_t count, size_t bytes) {
    uint64_t need;
    if (!checked_mul(count, bytes, &need) || !checked_round_up(need, ALIGNMENT, &need)) {
        out_of_memory(arena);
    }
    if (room_left(arena) < need || arena->blocks == NULL) {
        add_block(arena, need);
    }
    void *result = arena->blocks->data + arena->used;
    arena->used += (size_t)need;
    return memset(result, 0, (size_t)need);
}

void *arena_grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t bytes) {
    if (count < *capacity) {
        return items;
    }
    uint64_t larger;
    if (!checked_mul(*capacity, 2, &larger) || larger > SIZE_MAX) {
        out_of_memory(arena);
    }
    larger = larger < 8 ? 8 : larger;
    void *grown = arena_alloc(arena, (size_t)larger, bytes);
    if (count > 0) {
        memcpy(grown, items, count * bytes);
    }
    *capacity = (size_t)larger;
    return grown;
}

Str arena_str(Arena *arena, Str s) {
    char *copy = arena_alloc(arena, s.len + 1, 1);
    if (s.len > 0) {
        memcpy(copy, s.ptr, s.len);
    }
    return (Str){copy, s.len};
}

const char *arena_vtext(Arena *arena, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    char *text = arena_alloc(arena, length < 0 ? 1 : (size_t)length + 1, 1);
    if (length > 0) {
        vsnprintf(text, (size_t)length + 1, format, again);
    }
    va_end(again);
    return text;
}

const char *arena_text(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vtext(arena, format, args);
    va_end(args);
    return text;
}

Str arena_format(Arena *arena, const char *format, ...) {
    va_list args;
    va_start(args, format);
    const char *text = arena_vtext(arena, format, args);
    va_end(args);
    return str_from(text);
}

Str arena_number(Arena *arena, uint64_t number) {
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *text = arena_alloc(arena, (size_t)(length + length / 3 + 1), 1);
    char *end = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *end++ = ',';
        }
        *end++ = digits[i];
    }
    return (Str){text, (size_t)(end - text)};
}
