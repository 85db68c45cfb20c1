/* Proves: what an arena hands out is aligned, zeroed and disjoint; a size that overflows and an allocator that refuses
 * both leave through the escape, whichever allocation it is; and every byte is given back, with its true size. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/work.h"
#include "support/allocator.h"
#include "support/random.h"

#include <stdalign.h>
#include <stdio.h>

static bool guarded(Work *work, void (*body)(Work *work)) {
    if (setjmp(work->escape) != 0) {
        return false;
    }
    body(work);
    return true;
}

static bool run(CountingAllocator *counter, void (*body)(Work *work)) {
    Work work;
    s0_allocator allocator = counting_allocator(counter);
    work_init(&work, &allocator);
    bool done = guarded(&work, body);
    work_free(&work);
    assert_int_equal(counter->live_bytes, 0);
    assert_false(counter->told_wrong_size);
    return done;
}

/* Each block is filled with its own number; none may have been written over by a later one. */
static void fill_blocks(Work *work) {
    enum { COUNT = 500 };
    uint8_t *block[COUNT];
    size_t bytes[COUNT];
    uint64_t seed = 3;
    for (size_t i = 0; i < COUNT; i++) {
        bytes[i] = (size_t)(random_next(&seed) % (i % 50 == 0 ? 100000 : 300));
        block[i] = arena_alloc(&work->keep, bytes[i], 1);
        assert_int_equal((uintptr_t)block[i] % alignof(max_align_t), 0);
        for (size_t k = 0; k < bytes[i]; k++) {
            assert_int_equal(block[i][k], 0);
            block[i][k] = (uint8_t)(i % 255 + 1);
        }
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t k = 0; k < bytes[i]; k++) {
            assert_int_equal(block[i][k], i % 255 + 1);
        }
    }
}

static void test_blocks(void **state) {
    (void)state;
    CountingAllocator counter = {0};
    assert_true(run(&counter, fill_blocks));
    assert_true(counter.calls > 1);
}

/* After a reset memory is zeroed again although its block was used before. */
static void reset_and_reuse(Work *work) {
    for (int round = 0; round < 3; round++) {
        uint32_t *numbers = arena_array(&work->scratch, uint32_t, 1000);
        for (size_t i = 0; i < 1000; i++) {
            assert_int_equal(numbers[i], 0);
            numbers[i] = UINT32_MAX;
        }
        arena_reset(&work->scratch);
    }
}

static void test_reset(void **state) {
    (void)state;
    CountingAllocator counter = {0};
    assert_true(run(&counter, reset_and_reuse));
    assert_int_equal(counter.calls, 1);
}

/* What was there before the mark stays, and trials of any size take the room of the one before. */
static void mark_and_go_back(Work *work) {
    Arena *arena = &work->scratch;
    uint32_t *kept = arena_array(arena, uint32_t, 100);
    kept[99] = 7;
    const ArenaMark outer = arena_mark(arena);
    const uint8_t *first = arena_alloc(arena, 8, 1);
    for (size_t round = 0; round < 100; round++) {
        arena_back(arena, outer);
        uint8_t *small = arena_alloc(arena, 8, 1);
        assert_ptr_equal(small, first);
        assert_int_equal(small[7], 0);
        small[7] = 1;
        const ArenaMark inner = arena_mark(arena);
        arena_alloc(arena, 1000 * round, 1);
        arena_alloc(arena, 100000, 1);
        arena_back(arena, inner);
        assert_true(small[7] == 1 && kept[99] == 7);
    }
    arena_back(arena, outer);
}

static void mark_nothing(Work *work) {
    const ArenaMark mark = arena_mark(&work->scratch);
    arena_alloc(&work->scratch, 100000, 1);
    arena_back(&work->scratch, mark);
    assert_null(work->scratch.blocks);
}

static void test_marks(void **state) {
    (void)state;
    CountingAllocator counter = {0};
    assert_true(run(&counter, mark_and_go_back));
    assert_true(run(&counter, mark_nothing));
}

static void ask_past_size_max(Work *work) {
    arena_alloc(&work->keep, SIZE_MAX / 2, 3);
}

static void ask_all_but_header(Work *work) {
    arena_alloc(&work->keep, SIZE_MAX - 16, 1);
}

static void grow_past_size_max(Work *work) {
    size_t capacity = SIZE_MAX / 2 + 2;
    arena_grow(&work->keep, NULL, capacity, &capacity, 1);
}

static void test_overflow_escapes(void **state) {
    (void)state;
    CountingAllocator counter = {0};
    assert_false(run(&counter, ask_past_size_max));
    assert_false(run(&counter, ask_all_but_header));
    assert_false(run(&counter, grow_past_size_max));
    assert_int_equal(counter.calls, 0); /* the allocator was not even asked */
}

/* One of each kind of allocation, over several blocks. */
static void everything(Work *work) {
    uint64_t *items = NULL;
    size_t capacity = 0;
    for (size_t i = 0; i < 5000; i++) {
        items = arena_grow(&work->keep, items, i, &capacity, sizeof *items);
        items[i] = i * i;
    }
    for (size_t i = 0; i < 5000; i++) {
        assert_int_equal(items[i], i * i);
    }
    Str copy = arena_str(&work->scratch, STR("copied"));
    assert_string_equal(copy.ptr, "copied");
    Str empty = arena_str(&work->scratch, (Str){NULL, 0});
    assert_string_equal(empty.ptr, "");
    assert_string_equal(arena_text(&work->scratch, "%d and %s", 7, "eight"), "7 and eight");
    assert_int_equal(arena_format(&work->scratch, "%05d", 42).len, 5);
    arena_alloc(&work->scratch, 1 << 20, 1);
    diag_warn(&work->diags, (DiagText){.what = "a warning"});
}

static void test_every_allocation_fails(void **state) {
    (void)state;
    CountingAllocator all = {0};
    assert_true(run(&all, everything));
    assert_true(all.calls > 5);
    for (size_t n = 1; n <= all.calls; n++) {
        CountingAllocator counter = {.fail_at = n};
        assert_false(run(&counter, everything));
        assert_int_equal(counter.calls, n); /* nothing was asked for after the refusal */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_reset),
        cmocka_unit_test(test_marks),
        cmocka_unit_test(test_overflow_escapes),
        cmocka_unit_test(test_every_allocation_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
