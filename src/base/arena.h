/* Arenas: memory that is given back all at once.
 *
 * Invariant: every pointer from an arena is valid until arena_reset or arena_free of that arena. An allocation never
 * returns null: where the allocator refuses, control leaves through the arena's escape, the one way out of a compile
 * (Work in work.h sets it up), so no caller tests for null and no half-built structure is seen. */
#ifndef S0_BASE_ARENA_H
#define S0_BASE_ARENA_H

#include "base/str.h"
#include "stride0/stride0.h"

#include <setjmp.h>
#include <stdarg.h>

typedef struct ArenaBlock ArenaBlock;

typedef struct {
    const s0_allocator *allocator;
    jmp_buf *escape;
    ArenaBlock *blocks; /* newest first; the newest is the one being filled */
    size_t used;        /* bytes used of the newest block */
} Arena;

/* How far an arena is filled. */
typedef struct {
    ArenaBlock *blocks;
    size_t used;
} ArenaMark;

extern const s0_allocator system_allocator;

void arena_init(Arena *arena, const s0_allocator *allocator, jmp_buf *escape);
void arena_reset(Arena *arena); /* forgets everything, keeps at most one block */
void arena_free(Arena *arena);

/* Forgets all that was allocated since the mark, marks since then too: for trials, each in the room of the one before.
 */
ArenaMark arena_mark(const Arena *arena);
void arena_back(Arena *arena, ArenaMark mark);

/* `count` zeroed elements of `bytes` each, aligned for any type. count * bytes is checked. */
void *arena_alloc(Arena *arena, size_t count, size_t bytes);

#define arena_new(arena, type)          ((type *)arena_alloc((arena), 1, sizeof(type)))
#define arena_array(arena, type, count) ((type *)arena_alloc((arena), (count), sizeof(type)))

/* A larger copy of `items` when `count` has reached `*capacity`, else `items` itself: push with
 *     v->item = arena_grow(a, v->item, v->count, &v->capacity, sizeof *v->item);  v->item[v->count++] = x; */
void *arena_grow(Arena *arena, void *items, size_t count, size_t *capacity, size_t bytes);

/* Copies and formatted text, ended by NUL (which `len` does not count). */
Str arena_str(Arena *arena, Str s);
Str arena_format(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
const char *arena_text(Arena *arena, const char *format, ...) __attribute__((format(printf, 2, 3)));
Str arena_number(Arena *arena, uint64_t number); /* "1,234,567" */
const char *arena_vtext(Arena *arena, const char *format, va_list args);

#endif
