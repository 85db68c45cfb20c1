/* Rounds: parts of a task, taken one by one by whoever is free.
 *
 * Invariant: a ticket tells how many parts a round has, who may take some, and which is next; so a part that is taken
 * is one of a round whose caller waits until all its parts are done, and whose task stays what it is until then. A
 * worker looks for a new round for a while before it sleeps: to wake one costs as much as a small map. */
#include "native/pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <unistd.h>

/* A worker that waits for a round, and a caller that waits for workers, who may have no processor but the caller's. */
enum { WORKER_LOOKS = 20000, CALLER_LOOKS = 1000 };

/* Parts a thread: a thread that comes late leaves its share to the others. */
enum { PARTS_A_THREAD = 4 };

/* Of a ticket: the next part, the end of its parts, the threads of the round. */
enum { PART_BITS = 24, THREAD_SHIFT = 2 * PART_BITS };

/* Apart from the others in the caches. */
typedef struct {
    _Alignas(64) _Atomic uint64_t number;
} Ticket;

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
    _Atomic uint32_t round; /* its number */
    Ticket *ticket;         /* of each thread, the caller's first */
    _Atomic uint32_t done;  /* parts */
    _Atomic bool is_over;
    PoolTask task;
    const void *context;
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

static uint32_t next_part(uint64_t ticket) {
    return (uint32_t)(ticket & ((1U << PART_BITS) - 1));
}

static uint32_t end_of_parts(uint64_t ticket) {
    return (uint32_t)(ticket >> PART_BITS & ((1U << PART_BITS) - 1));
}

static uint32_t threads_of(uint64_t ticket) {
    return (uint32_t)(ticket >> THREAD_SHIFT);
}

/* A part of that thread; false where none is left, or none for this worker. */
static bool take_part(Pool *pool, uint32_t thread, uint32_t worker, uint64_t *taken) {
    _Atomic uint64_t *ticket = &pool->ticket[thread].number;
    *taken = atomic_load_explicit(ticket, memory_order_acquire);
    while (next_part(*taken) < end_of_parts(*taken) && worker < threads_of(*taken)) {
        if (atomic_compare_exchange_weak(ticket, taken, *taken + 1)) {
            return true;
        }
    }
    return false;
}

/* Its own parts, then those of the threads behind it. */
static void take_parts(Pool *pool, uint32_t worker) {
    uint32_t threads = pool->worker_count + 1;
    for (uint32_t k = 0; k < threads; k++) {
        uint64_t taken;
        while (take_part(pool, (worker + k) % threads, worker, &taken)) {
            uint32_t parts = threads_of(taken) * PARTS_A_THREAD;
            pool->task(pool->context, next_part(taken), parts);
            atomic_fetch_add_explicit(&pool->done, 1, memory_order_release);
        }
    }
}

static void give_tickets(Pool *pool, uint32_t threads) {
    for (uint64_t thread = 0; thread < threads; thread++) {
        uint64_t first = thread * PARTS_A_THREAD, end = first + PARTS_A_THREAD;
        atomic_store_explicit(&pool->ticket[thread].number,
                              (uint64_t)threads << THREAD_SHIFT | end << PART_BITS | first, memory_order_release);
    }
}

static void *work(void *argument) {
    Worker *worker = argument;
    Pool *pool = worker->pool;
    for (uint32_t round = 0; !atomic_load(&pool->is_over);) {
        wait_for_round(pool, round);
        round = atomic_load_explicit(&pool->round, memory_order_acquire);
        take_parts(pool, worker->number);
    }
    return NULL;
}

static void wait_until_done(Pool *pool, uint32_t parts) {
    for (int look = 0; atomic_load_explicit(&pool->done, memory_order_acquire) < parts; look++) {
        if (look < CALLER_LOOKS) {
            pause_a_little();
        } else {
            sched_yield();
        }
    }
}

/* Workers see it at once, or are woken. */
static void begin_round(Pool *pool) {
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
    size_t tickets_at = sizeof(Pool) + wanted * sizeof(Worker), bytes = tickets_at + (wanted + 2) * sizeof(Ticket);
    Pool *pool = allocator->resize(allocator->ctx, NULL, 0, bytes);
    if (pool == NULL) {
        return NULL;
    }
    *pool = (Pool){.allocator = allocator, .bytes = bytes, .process = getpid()};
    pthread_mutex_init(&pool->caller, NULL);
    pthread_mutex_init(&pool->door, NULL);
    pthread_cond_init(&pool->wake, NULL);
    uintptr_t tickets = (uintptr_t)pool + tickets_at;
    pool->ticket = (Ticket *)(tickets + (0 - tickets) % sizeof(Ticket));
    for (uint32_t k = 0; k <= wanted; k++) {
        atomic_init(&pool->ticket[k].number, 0);
    }
    start_workers(pool, wanted);
    return pool;
}

static void end_workers(Pool *pool) {
    atomic_store(&pool->is_over, true);
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
    threads = threads < pool->worker_count + 1 ? threads : pool->worker_count + 1;
    pool->task = task;
    pool->context = context;
    atomic_store(&pool->done, 0);
    give_tickets(pool, threads);
    begin_round(pool);
    take_parts(pool, 0);
    wait_until_done(pool, threads * PARTS_A_THREAD);
    pthread_mutex_unlock(&pool->caller);
}
