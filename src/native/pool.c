/* A round: its number, its task, and how many have not ended it.
 *
 * Invariant: a round begins when the one before has ended, and only its caller begins it. A worker looks at the number
 * for a while before it sleeps: to wake one costs as much as a small map. */
#include "native/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A worker that waits for a round, and a caller that waits for workers, who may have no processor but the caller's. */
enum { WORKER_LOOKS = 20000, CALLER_LOOKS = 1000 };

typedef struct {
    Pool *pool;
    pthread_t thread;
    uint32_t number; /* from 1 */
} Worker;

struct Pool {
    const s0_allocator *allocator;
    size_t bytes;
    pid_t process;          /* that has the threads: a child of it has none */
    pthread_mutex_t caller; /* held by who runs a round */
    pthread_mutex_t door;   /* of `round` and `sleepers` */
    pthread_cond_t wake;
    uint32_t sleepers;
    _Atomic uint32_t round;
    _Atomic uint32_t working;
    bool is_over;
    PoolTask task;
    const void *context;
    uint32_t count; /* workers of this round, the caller among them */
    uint32_t worker_count;
    Worker worker[];
};

static void pause_a_little(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

static void sleep_until_round(Pool *pool, uint32_t seen) {
    pthread_mutex_lock(&pool->door);
    pool->sleepers++;
    while (atomic_load(&pool->round) == seen) {
        pthread_cond_wait(&pool->wake, &pool->door);
    }
    pool->sleepers--;
    pthread_mutex_unlock(&pool->door);
}

static void wait_for_round(Pool *pool, uint32_t seen) {
    for (int look = 0; look < WORKER_LOOKS; look++) {
        if (atomic_load_explicit(&pool->round, memory_order_acquire) != seen) {
            return;
        }
        pause_a_little();
    }
    sleep_until_round(pool, seen);
}

static void *work(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->pool;
    for (uint32_t round = 0;; round++) {
        wait_for_round(pool, round);
        if (pool->is_over) {
            return NULL;
        }
        if (worker->number < pool->count) {
            pool->task(pool->context, worker->number, pool->count);
        }
        atomic_fetch_sub_explicit(&pool->working, 1, memory_order_release);
    }
}

static void wait_for_workers(Pool *pool) {
    for (int look = 0; atomic_load_explicit(&pool->working, memory_order_acquire) > 0; look++) {
        if (look < CALLER_LOOKS) {
            pause_a_little();
        } else {
            sched_yield();
        }
    }
}

static void begin_round(Pool *pool) {
    atomic_store(&pool->working, pool->worker_count);
    pthread_mutex_lock(&pool->door);
    atomic_fetch_add(&pool->round, 1);
    if (pool->sleepers > 0) {
        pthread_cond_broadcast(&pool->wake);
    }
    pthread_mutex_unlock(&pool->door);
}

/* Signals are the program's: no worker takes one. */
static void start_workers(Pool *pool, uint32_t wanted) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    for (; pool->worker_count < wanted; pool->worker_count++) {
        Worker *worker = &pool->worker[pool->worker_count];
        *worker = (Worker){.pool = pool, .number = pool->worker_count + 1};
        if (pthread_create(&worker->thread, NULL, work, worker) != 0) {
            break;
        }
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

Pool *pool_new(uint32_t threads, const s0_allocator *allocator) {
    uint32_t wanted = threads > 1 ? threads - 1 : 0;
    size_t bytes = sizeof(Pool) + wanted * sizeof(Worker);
    Pool *pool = allocator->resize(allocator->ctx, NULL, 0, bytes);
    if (pool == NULL) {
        return NULL;
    }
    *pool = (Pool){.allocator = allocator, .bytes = bytes, .process = getpid()};
    pthread_mutex_init(&pool->caller, NULL);
    pthread_mutex_init(&pool->door, NULL);
    pthread_cond_init(&pool->wake, NULL);
    start_workers(pool, wanted);
    return pool;
}

static void end_workers(Pool *pool) {
    pool->is_over = true;
    begin_round(pool);
    for (uint32_t k = 0; k < pool->worker_count; k++) {
        pthread_join(pool->worker[k].thread, NULL);
    }
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->door);
    pthread_mutex_destroy(&pool->caller);
}

void pool_free(Pool *pool) {
    if (pool == NULL) {
        return;
    }
    if (pool->process == getpid()) {
        end_workers(pool);
    }
    pool->allocator->resize(pool->allocator->ctx, pool, pool->bytes, 0);
}

void pool_run(Pool *pool, PoolTask task, const void *context, uint32_t threads) {
    bool is_alone = threads <= 1 || pool->worker_count == 0 || pool->process != getpid();
    if (is_alone || pthread_mutex_trylock(&pool->caller) != 0) {
        task(context, 0, 1);
        return;
    }
    pool->task = task;
    pool->context = context;
    pool->count = threads < pool->worker_count + 1 ? threads : pool->worker_count + 1;
    begin_round(pool);
    task(context, 0, pool->count);
    wait_for_workers(pool);
    pthread_mutex_unlock(&pool->caller);
}
