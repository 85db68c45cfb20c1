/* Threads that wait for work. */
#ifndef S0_NATIVE_POOL_H
#define S0_NATIVE_POOL_H

#include "stride0/stride0.h"

typedef struct Pool Pool;

/* What each of `count` workers does; `worker` counts from 0, which is the caller. */
typedef void (*PoolTask)(const void *context, uint32_t worker, uint32_t count);

/* `threads` - 1 threads, or as many fewer as the system gives. Null where memory ran out. */
Pool *pool_new(uint32_t threads, const s0_allocator *allocator);
void pool_free(Pool *pool); /* null is fine */

/* The task on at most `threads` threads, done when this returns. Where another caller has the pool, and in a child of
 * the process that made it, which has no threads of it, it is one worker alone. */
void pool_run(Pool *pool, PoolTask task, const void *context, uint32_t threads);

#endif
