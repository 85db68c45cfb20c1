/* A pool does all the work, once. */
#include "native/pool.h"

#include "base/arena.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROUNDS = 2000, MOST_WORKERS = 8, CALLERS = 3 };

/* How often each worker came, and how many there were to be. */
typedef struct {
    _Atomic uint32_t *came; /* of each worker */
    _Atomic uint32_t *sum;
} Visit;

static void visit(const void *context, uint32_t worker, uint32_t count) {
    const Visit *visits = context;
    atomic_fetch_add(&visits->came[worker], 1);
    if (worker == 0) {
        atomic_fetch_add(visits->sum, count);
    }
}

static void test_each_worker_once_a_round(void **state) {
    (void)state;
    for (uint32_t threads = 0; threads <= 5; threads++) {
        Pool *pool = pool_new(threads, &system_allocator);
        assert_non_null(pool);
        _Atomic uint32_t came[MOST_WORKERS] = {0};
        _Atomic uint32_t sum = 0;
        Visit visits = {came, &sum};
        for (uint32_t round = 1; round <= ROUNDS; round++) {
            uint32_t wanted = round % MOST_WORKERS;
            uint32_t before = sum;
            pool_run(pool, visit, &visits, wanted);
            uint32_t workers = sum - before;
            uint32_t have = threads > 1 ? threads : 1;
            assert_int_equal(workers, wanted < 1 ? 1 : wanted < have ? wanted : have);
            for (uint32_t k = 0; k < MOST_WORKERS; k++) {
                assert_int_equal(came[k], k < workers ? 1 : 0);
                came[k] = 0;
            }
        }
        pool_free(pool);
    }
}

typedef struct {
    Pool *pool;
    _Atomic uint32_t done;
} Caller;

static void count_done(const void *context, uint32_t worker, uint32_t count) {
    const Caller *caller = context;
    (void)worker;
    atomic_fetch_add((_Atomic uint32_t *)&caller->done, count == 1 ? 2 : 1);
}

static void *call(void *argument) {
    Caller *caller = argument;
    for (int round = 0; round < ROUNDS; round++) {
        pool_run(caller->pool, count_done, caller, 2);
    }
    return NULL;
}

/* Two halves each, whether it had a second worker or not. */
static void test_callers_do_not_wait_for_each_other(void **state) {
    (void)state;
    Pool *pool = pool_new(2, &system_allocator);
    Caller caller[CALLERS];
    pthread_t thread[CALLERS];
    for (int k = 0; k < CALLERS; k++) {
        caller[k] = (Caller){.pool = pool};
        assert_int_equal(pthread_create(&thread[k], NULL, call, &caller[k]), 0);
    }
    for (int k = 0; k < CALLERS; k++) {
        pthread_join(thread[k], NULL);
        assert_int_equal(caller[k].done, 2 * ROUNDS);
    }
    pool_free(pool);
}

/* A child has no workers, and ends all the same. */
static void test_a_child_runs_alone(void **state) {
    (void)state;
    Pool *pool = pool_new(3, &system_allocator);
    _Atomic uint32_t came[MOST_WORKERS] = {0};
    _Atomic uint32_t sum = 0;
    Visit visits = {came, &sum};
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        pool_run(pool, visit, &visits, 3);
        pool_free(pool);
        _exit(sum == 1 ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    pool_free(pool);
}

static void *refuse(void *context, void *memory, size_t old_bytes, size_t new_bytes) {
    (void)context;
    (void)memory;
    (void)old_bytes;
    (void)new_bytes;
    return NULL;
}

static void test_no_memory(void **state) {
    (void)state;
    s0_allocator allocator = {refuse, NULL};
    assert_null(pool_new(2, &allocator));
    pool_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_worker_once_a_round),
        cmocka_unit_test(test_callers_do_not_wait_for_each_other),
        cmocka_unit_test(test_a_child_runs_alone),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
