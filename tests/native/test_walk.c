/* Walks against the addresses of the view, element by element. */
#include "native/walk.h"

#include "base/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

enum { MOST_BITS = 1 << 19 };

/* The channel that each bit belongs to, as the walk says, and 1 more; 0: padding. */
static uint32_t channel_at[MOST_BITS];

static View resolve(const char *text, const LayoutShape *shape, Work *work) {
    ContractError error;
    const Contract *contract = contract_parse(&work->keep, str_from(text), &error);
    assert_non_null(contract);
    View view;
    Dim dim;
    assert_int_equal(view_resolve(contract, shape, &view, &dim), VIEW_DONE);
    return view;
}

static void mark(const Walk *walk, const WalkStack *stack, uint32_t bits) {
    uint64_t step_bits = walk->column.stride_bits > 0 ? walk->column.stride_bits : bits;
    uint64_t columns = stack->columns;
    for (uint64_t k = 0; k < walk->plane.extent * stack->rows * columns; k++) {
        uint64_t plane = k / columns / stack->rows, row = k / columns % stack->rows, column = k % columns;
        uint64_t at = stack->offset_bits + plane * walk->plane.stride_bits + row * walk->row.stride_bits;
        at += column * step_bits;
        assert_true(at < MOST_BITS);
        assert_int_equal(channel_at[at], 0);
        channel_at[at] = (uint32_t)(stack->channel + plane + (walk->is_channel_last ? column : 0) + 1);
    }
}

/* Every element once, with its channel, and nothing else. */
static void compare(const View *view, const Walk *walk) {
    for (size_t k = 0; k < MOST_BITS; k++) {
        channel_at[k] = 0;
    }
    WalkPlace place;
    for (uint64_t k = 0; k < walk->stack_count; k++) {
        if (k % 3 == 0) {
            walk_begin(walk, k, &place);
        } else {
            walk_next(walk, &place);
        }
        mark(walk, &place.stack, view->shape.bits);
    }
    uint64_t index[DIM_COUNT] = {0};
    if (layout_elements(view->shape.extent) > 0) {
        do {
            uint64_t at = view_address_bits(view, index);
            assert_int_equal(channel_at[at], index[DIM_C] + 1);
            channel_at[at] = 0;
        } while (view_next_index(&view->shape, index));
    }
    for (size_t k = 0; k < MOST_BITS; k++) {
        assert_int_equal(channel_at[k], 0);
    }
}

typedef struct {
    const char *contract;
    uint32_t bits;
    uint64_t n, c, h, w;
    bool is_channel_last;
    uint64_t stacks; /* 0: not told */
} Row;

static const Row ROWS[] = {
    {"N C H W", 32, 1, 5, 3, 4, false, 1},
    {"N C H W", 8, 2, 3, 7, 5, false, 2},
    {"N C H W", 8, 2, 3, 1, 1, true, 0},
    {"N C H W@16", 8, 2, 3, 7, 5, false, 2},
    {"N C H W@1", 4, 2, 3, 7, 5, false, 2},
    {"N C H W", 4, 2, 3, 2, 5, false, 2},
    {"N H W C", 32, 2, 5, 3, 4, true, 1},
    {"N H W@16 C", 8, 2, 1, 3, 20, false, 0},
    {"N H W C@16", 8, 2, 5, 3, 4, true, 1},
    {"N H C/16 W C%16", 8, 2, 20, 3, 4, true, 0},
    {"N C/16 H W C%16", 16, 1, 33, 3, 4, true, 3},
    {"N C/4 H C%4 W@16", 8, 1, 10, 3, 5, false, 0},
    {"N C/16 H/2 W C%16 H%2", 8, 1, 20, 5, 3, false, 0},
    {"W H C N", 16, 3, 4, 5, 6, false, 30},
    {"N C H/4 W/4 H%4 W%4", 8, 2, 3, 6, 7, false, 0},
    {"N C H/2 W/8 H%2 W%8", 32, 1, 2, 4, 16, false, 0},
    {"H W N C", 32, 3, 4, 5, 6, true, 1},
    {"N H W C%2 C/2", 32, 2, 4, 3, 5, false, 0},
    {"H C/4 W C%2 C/2%2", 8, 1, 10, 3, 5, false, 0},
    {"W N H C%4 C/4", 16, 2, 9, 3, 5, false, 0},
    {"W H%2 C H/4 H/2%2", 32, 1, 2, 2, 2, false, 0},
    {"N W%4 W/16 H%3 H/3 C@64 W/4%4@4+4", 32, 2, 3, 5, 21, false, 0},
    {"W%4 C@64 H N%2 W/4 N/2%3 N/6@64 total@16", 8, 13, 3, 2, 9, false, 0},
    {"N H W C", 32, 1, 0, 3, 4, false, 0},
    {"N H W C", 32, 1, 1, 1, 1, false, 1},
};

static void test_every_element_once(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    for (size_t k = 0; k < sizeof ROWS / sizeof ROWS[0]; k++) {
        const Row *row = &ROWS[k];
        LayoutShape shape = layout_shape(row->bits, 4);
        shape.extent[DIM_N] = row->n;
        shape.extent[DIM_C] = row->c;
        shape.extent[DIM_H] = row->h;
        shape.extent[DIM_W] = row->w;
        View view = resolve(row->contract, &shape, &work);
        Walk walk;
        walk_init(&view, row->bits == 4 ? 1 : row->bits / 8, &walk);
        assert_true(walk.is_aligned);
        compare(&view, &walk);
        assert_int_equal(walk.is_channel_last, row->is_channel_last);
        if (row->stacks != 0) {
            assert_int_equal(walk.stack_count, row->stacks);
        }
    }
    work_free(&work);
}

typedef struct {
    const char *contract;
    uint32_t bits;
    uint64_t align_bytes;
    bool is_aligned;
} Alignment;

static const Alignment ALIGNMENTS[] = {
    {"N C H W", 4, 1, false},    {"N H W C", 4, 1, false},    {"N H W C%2 C/2", 4, 1, false},
    {"N C H W@1", 4, 1, true},   {"N C+2 H W", 32, 4, false}, {"N C+2 H W", 32, 2, true},
    {"N+1 C H W", 32, 4, false}, {"N C H W@7", 32, 4, false},
};

static void test_what_no_kernel_takes(void **state) {
    (void)state;
    Work work;
    work_init(&work, &system_allocator);
    for (size_t k = 0; k < sizeof ALIGNMENTS / sizeof ALIGNMENTS[0]; k++) {
        LayoutShape shape = layout_shape(ALIGNMENTS[k].bits, 4);
        shape.extent[DIM_C] = 3;
        shape.extent[DIM_H] = 3;
        shape.extent[DIM_W] = 5;
        View view = resolve(ALIGNMENTS[k].contract, &shape, &work);
        Walk walk;
        walk_init(&view, ALIGNMENTS[k].align_bytes, &walk);
        compare(&view, &walk);
        assert_int_equal(walk.is_aligned, ALIGNMENTS[k].is_aligned);
    }
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_element_once),
        cmocka_unit_test(test_what_no_kernel_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
