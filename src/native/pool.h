/* Threads that wait for work. */
#ifndef S0_NATIVE_POOL_H
#define S0_NATIVE_POOL_H

#include "stride0/stride0.h"

typedef struct Pool Pool;

/* One of `parts` parts of the work, each of which is done once. */
typedef void (*PoolTask)(const void *context, uint32_t part, uint32_t parts);

/* `threads` - 1 threads, or as many fewer as the system gives. Null where memory ran out. */
Pool *pool_new(uint32_t threads, const s0_allocator *allocator);
void pool_free(Pool *pool); /* null is fine */

/* The task on at most `threads` threads, all parts done when this returns. Who is free takes the next part, so nobody
 * waits for a thread that is not awake yet. Where another caller has the pool, and in a child of the process that made
 * it, which has no threads of it, the caller does all of it alone, as one part. */
void pool_run(Pool *pool, PoolTask task, const void *context, uint32_t threads);

#endif
