/* Proves: the interval structure finds exactly the placed items that share a step, and the orders follow their keys,
 * both against a scan of all pairs; first fit places as greedy does, also where its holes fill many pages; greedy gives
 * up where its work is spent. */
#include "place/draw.h"
#include "place/pack.h"
#include "support/work.h"

#include <stdlib.h>
#include <string.h>

enum { MOST = 70, STEPS = 25, ROUNDS = 300 };

static int compare_firsts(const void *left, const void *right) {
    uint64_t a = ((const PackItem *)left)->first;
    uint64_t b = ((const PackItem *)right)->first;
    return a < b ? -1 : a > b;
}

static Pack draw_pack(uint64_t *state, PackItem item[static MOST]) {
    Pack pack = {.item = item, .count = 1 + draw_below(state, MOST)};
    for (size_t i = 0; i < pack.count; i++) {
        PlaceBuffer buffer = draw_buffer(state, 50, STEPS);
        item[i] = (PackItem){.first = buffer.first, .last = buffer.last, .size = buffer.size, .align = 1};
    }
    qsort(item, pack.count, sizeof *item, compare_firsts);
    return pack;
}

static bool share_a_step(const PackItem *a, const PackItem *b) {
    return a->first < b->last && b->first < a->last;
}

static void check_found(const Overlap *overlap, const bool *placed, size_t item, size_t *found) {
    bool is_found[MOST] = {false};
    size_t count = overlap_find(overlap, item, found);
    for (size_t i = 0; i < count; i++) {
        assert_true(found[i] < overlap->pack->count);
        assert_false(is_found[found[i]]);
        is_found[found[i]] = true;
    }
    for (size_t i = 0; i < overlap->pack->count; i++) {
        bool expected = placed[i] && share_a_step(&overlap->pack->item[i], &overlap->pack->item[item]);
        assert_int_equal(is_found[i], expected);
    }
}

static void test_overlap(void **unused) {
    (void)unused;
    uint64_t state = 5;
    for (size_t round = 0; round < ROUNDS; round++) {
        PackItem item[MOST];
        size_t found[MOST];
        bool placed[MOST] = {false};
        Pack pack = draw_pack(&state, item);
        Work work;
        WORK_BEGIN(&work);
        Overlap overlap;
        overlap_init(&overlap, &pack, &work.scratch);
        for (size_t turn = 0; turn < pack.count; turn++) {
            check_found(&overlap, placed, draw_below(&state, pack.count), found);
            size_t added = draw_below(&state, pack.count);
            placed[added] = true;
            overlap_add(&overlap, added);
        }
        overlap_reset(&overlap);
        memset(placed, 0, sizeof placed);
        check_found(&overlap, placed, 0, found);
        work_free(&work);
    }
}

static uint64_t load_at(const Pack *pack, uint64_t step) {
    uint64_t load = 0;
    for (size_t i = 0; i < pack->count; i++) {
        load += pack->item[i].first <= step && step < pack->item[i].last ? pack->item[i].size : 0;
    }
    return load;
}

static uint64_t conflict_of(const Pack *pack, const PackItem *item) {
    uint64_t sum = 0;
    for (size_t i = 0; i < pack->count; i++) {
        sum += share_a_step(&pack->item[i], item) ? pack->item[i].size : 0;
    }
    return sum;
}

static uint64_t pressure_of(const Pack *pack, const PackItem *item) {
    uint64_t most = 0;
    for (uint64_t step = item->first; step < item->last; step++) {
        uint64_t load = load_at(pack, step);
        most = load > most ? load : most;
    }
    return most;
}

/* What the order must not increase by. */
static uint64_t major_key(const Pack *pack, OrderKind kind, const PackItem *item) {
    switch (kind) {
    case ORDER_SIZE:
        return item->size;
    case ORDER_AREA:
        return item->size * (item->last - item->first);
    case ORDER_LIFETIME:
        return item->last - item->first;
    case ORDER_FIRST:
        return 1000 - item->first;
    case ORDER_CONFLICT:
        return conflict_of(pack, item);
    case ORDER_PRESSURE:
        return pressure_of(pack, item);
    case ORDER_COUNT:
        break;
    }
    fail();
    return 0;
}

static void test_orders(void **unused) {
    (void)unused;
    uint64_t state = 17;
    for (size_t round = 0; round < ROUNDS; round++) {
        PackItem item[MOST];
        Pack pack = draw_pack(&state, item);
        Work work;
        WORK_BEGIN(&work);
        for (OrderKind kind = 0; kind < ORDER_COUNT; kind++) {
            const size_t *order = order_items(&pack, kind, &work.scratch);
            bool seen[MOST] = {false};
            for (size_t i = 0; i < pack.count; i++) {
                assert_true(order[i] < pack.count && !seen[order[i]]);
                seen[order[i]] = true;
                assert_true(i == 0 ||
                            major_key(&pack, kind, &item[order[i - 1]]) >= major_key(&pack, kind, &item[order[i]]));
            }
        }
        work_free(&work);
    }
}

/* `count` items that come one a step: some stay to the end, the others die from the middle on in any order and leave
 * holes between. All are multiples of one alignment, so no hole is ever refused for it. */
static void draw_comb(uint64_t *state, PackItem *item, size_t count) {
    for (size_t i = 0; i < count; i++) {
        bool stays = i % 2 == 1 || i > count / 2;
        uint64_t last = stays ? 2 * count + draw_below(state, count) : count / 2 + 1 + draw_below(state, count / 2);
        item[i] = (PackItem){i, last, 16 * (1 + draw_below(state, 40)), 16, NULL};
    }
}

static void check_first_fit(const Pack *pack) {
    Work work;
    WORK_BEGIN(&work);
    const size_t *order = order_items(pack, ORDER_FIRST, &work.scratch);
    Greedy greedy;
    greedy_init(&greedy, pack, &work.scratch);
    assert_true(greedy_place(&greedy, order, UINT64_MAX));
    uint64_t *offset = arena_array(&work.scratch, uint64_t, pack->count);
    uint64_t height;
    assert_true(first_fit(pack, order, &work.scratch, offset, &height));
    assert_int_equal(height, greedy.height);
    assert_memory_equal(offset, greedy.offset, pack->count * sizeof *offset);
    work_free(&work);
}

static void test_first_fit(void **unused) {
    (void)unused;
    enum { MANY = 3000 };
    static PackItem many[MANY];
    uint64_t state = 23;
    for (size_t round = 0; round < ROUNDS; round++) {
        Pack pack = draw_pack(&state, many);
        for (size_t i = 0; i < pack.count; i++) {
            many[i].align = 1 + draw_below(&state, 9);
        }
        check_first_fit(&pack);
    }
    draw_comb(&state, many, MANY);
    check_first_fit(&(Pack){.item = many, .count = MANY});
}

/* All items live at once: the i-th visits i others and itself, so half of the sum does not suffice. */
static void test_work_is_spent(void **unused) {
    (void)unused;
    PackItem item[MOST];
    size_t order[MOST];
    for (size_t i = 0; i < MOST; i++) {
        item[i] = (PackItem){0, 1, 16, 16, NULL};
        order[i] = i;
    }
    Pack pack = {.item = item, .count = MOST};
    Work work;
    WORK_BEGIN(&work);
    Greedy greedy;
    greedy_init(&greedy, &pack, &work.scratch);
    assert_true(greedy_place(&greedy, order, UINT64_MAX));
    assert_int_equal(greedy.height, 16 * MOST);
    greedy.most_work = greedy.work + MOST * (MOST + 1) / 4;
    assert_false(greedy_place(&greedy, order, UINT64_MAX));
    assert_in_range(greedy.work, greedy.most_work, greedy.most_work + MOST);
    assert_true(greedy_stack(&greedy, order, 16 * MOST));
    assert_false(greedy_stack(&greedy, order, 16 * MOST - 1));
    work_free(&work);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_overlap), cmocka_unit_test(test_orders),
                                       cmocka_unit_test(test_first_fit), cmocka_unit_test(test_work_is_spent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
