/* A pool does each part of the work once. */
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

enum { ROUNDS = 2000, MOST_WORKERS = 8, MOST_PARTS = 64, CALLERS = 3, WHOLE = 64 };

/* How often each part was done, and of how many. */
typedef struct {
    _Atomic uint32_t *came; /* of each part */
    _Atomic uint32_t *parts;
} Visit;

static void visit(const void *context, uint32_t part, uint32_t parts) {
    const Visit *visits = context;
    atomic_fetch_add(&visits->came[part], 1);
    atomic_store(visits->parts, parts);
}

static void test_each_part_once_a_round(void **state) {
    (void)state;
    for (uint32_t threads = 0; threads <= 5; threads++) {
        Pool *pool = pool_new(threads, &system_allocator);
        assert_non_null(pool);
        _Atomic uint32_t came[MOST_PARTS] = {0}, parts = 0;
        Visit visits = {came, &parts};
        for (uint32_t round = 1; round <= ROUNDS; round++) {
            uint32_t wanted = round % MOST_WORKERS;
            pool_run(pool, visit, &visits, wanted);
            assert_int_equal(parts > 1, wanted > 1 && threads > 1);
            for (uint32_t k = 0; k < MOST_PARTS; k++) {
                assert_int_equal(came[k], k < parts ? 1 : 0);
                came[k] = 0;
            }
        }
        pool_free(pool);
    }
}

typedef struct {
    Pool *pool;
    _Atomic uint64_t done;
} Caller;

/* All parts of a round make the same sum. */
static void count_done(const void *context, uint32_t part, uint32_t parts) {
    const Caller *caller = context;
    (void)part;
    atomic_fetch_add((_Atomic uint64_t *)&caller->done, WHOLE / parts);
}

static void *call(void *argument) {
    Caller *caller = argument;
    for (int round = 0; round < ROUNDS; round++) {
        pool_run(caller->pool, count_done, caller, 2);
    }
    return NULL;
}

/* The whole each, whether it had a second worker or not. */
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
        assert_int_equal(caller[k].done, (uint64_t)WHOLE * ROUNDS);
    }
    pool_free(pool);
}

/* A child has no workers, and ends all the same. */
static void test_a_child_runs_alone(void **state) {
    (void)state;
    Pool *pool = pool_new(3, &system_allocator);
    _Atomic uint32_t came[MOST_PARTS] = {0}, parts = 0;
    Visit visits = {came, &parts};
    pid_t child = fork();
    if (child == 0) {
        alarm(20);
        pool_run(pool, visit, &visits, 3);
        pool_free(pool);
        _exit(came[0] == 1 && parts == 1 ? 0 : 1);
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
        cmocka_unit_test(test_each_part_once_a_round),
        cmocka_unit_test(test_callers_do_not_wait_for_each_other),
        cmocka_unit_test(test_a_child_runs_alone),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
