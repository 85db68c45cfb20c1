/* Memory of one command. See frame.h. */
#include "sim/frame.h"

#include "base/checked.h"

enum { FRAME_ALIGN = 64, FRAME_SMALLEST = 1 << 16 }; /* a cache line: loops over arrays begin at one */

void frame_init(Frame *frame, Arena *arena) {
    *frame = (Frame){.arena = arena};
}

void frame_reset(Frame *frame) {
    if (frame->wanted > frame->bytes) {
        size_t bytes = frame->wanted < FRAME_SMALLEST ? FRAME_SMALLEST : frame->wanted;
        uint8_t *block = arena_alloc(frame->arena, bytes + FRAME_ALIGN, 2);
        size_t skip = (FRAME_ALIGN - (uintptr_t)block % FRAME_ALIGN) % FRAME_ALIGN;
        frame->block = block + skip;
        frame->bytes = bytes * 2;
    }
    frame->used = 0;
    frame->wanted = 0;
}

void *frame_take(Frame *frame, size_t count, size_t bytes) {
    uint64_t need;
    if (!checked_mul(count, bytes, &need) || !checked_round_up(need, FRAME_ALIGN, &need) || need > SIZE_MAX / 8) {
        return arena_alloc(frame->arena, count, bytes);
    }
    need = need == 0 ? FRAME_ALIGN : need; /* never null */
    frame->wanted += (size_t)need;
    if (frame->bytes - frame->used < need) {
        return arena_alloc(frame->arena, (size_t)need, 1);
    }
    void *result = frame->block + frame->used;
    frame->used += (size_t)need;
    return result;
}
