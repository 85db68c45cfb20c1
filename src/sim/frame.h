/* Memory of one command: taken from the front of a block that all commands share, given back at once.
 *
 * What does not fit the block is taken from the arena, and the next block is twice what was wanted, so a run takes a
 * few times what its largest command needs. What is handed out is not zeroed. */
#ifndef S0_SIM_FRAME_H
#define S0_SIM_FRAME_H

#include "base/arena.h"

typedef struct {
    Arena *arena;
    uint8_t *block;
    size_t bytes, used;
    size_t wanted; /* since the last reset, also beyond the block */
} Frame;

void frame_init(Frame *frame, Arena *arena);
void frame_reset(Frame *frame);

/* `count` elements of `bytes` each, aligned for any type. */
void *frame_take(Frame *frame, size_t count, size_t bytes);

#define frame_array(frame, type, count) ((type *)frame_take((frame), (count), sizeof(type)))

#endif
