/* Proves: a search that has room for few changes, so that branches are cut short, never says that nothing fits where
 * something does; what it says otherwise is what the same search says with room for all. */
#include "place/draw.h"
#include "solver/search.h"
#include "support/work.h"

enum { COUNT = 9, CASES = 400, MOST_ROOM = 160 };

/* Pins make floors go up before the first decision. */
static void draw_problem(uint64_t *state, SolverBuffer buffer[static COUNT]) {
    for (size_t i = 0; i < COUNT; i++) {
        const PlaceBuffer drawn = draw_buffer(state, 7, 6);
        buffer[i] = (SolverBuffer){.size = drawn.size, .align = 1, .first = drawn.first, .last = drawn.last};
        buffer[i].is_pinned = i % 4 == 0;
        buffer[i].offset = draw_below(state, 12);
    }
}

static int compare(const void *left, const void *right) {
    return model_compare(left, right);
}

static bool never_over(void *context) {
    (void)context;
    return false;
}

static SearchEnd search_with(const Model *model, Level capacity, uint32_t room, Arena *arena) {
    uint32_t rank[COUNT];
    for (uint32_t r = 0; r < COUNT; r++) {
        rank[r] = r;
    }
    const SearchTask task = {
        .capacity = capacity, .pick = PICK_LOWEST, .rank = rank, .most_nodes = UINT64_MAX, .is_over = never_over};
    return search_run(search_new(model, 0, room, arena), &task);
}

/* How often each end came. */
typedef struct {
    size_t spent, found, exhausted;
} Ends;

static void check_rooms(const Model *model, Level capacity, Ends *ends, Work *work) {
    const SearchEnd whole = search_with(model, capacity, search_most_changes(model), &work->scratch);
    assert_int_not_equal(whole, SEARCH_SPENT);
    for (uint32_t room = 0; room < MOST_ROOM; room++) {
        const SearchEnd end = search_with(model, capacity, room, &work->scratch);
        assert_true(end == SEARCH_SPENT || end == whole);
        ends->spent += end == SEARCH_SPENT;
        ends->found += end == SEARCH_FOUND;
        ends->exhausted += end == SEARCH_EXHAUSTED;
    }
}

static void test_room(Work *work) {
    uint64_t state = 5;
    Ends ends = {0};
    for (size_t k = 0; k < CASES; k++) {
        SolverBuffer buffer[COUNT];
        Model model;
        draw_problem(&state, buffer);
        qsort(buffer, COUNT, sizeof *buffer, compare);
        assert_true(model_init(&model, buffer, COUNT, &(SolverOptions){.align_bytes = 1}, &work->scratch));
        assert_true(model.is_scaled);
        for (Level above = 0; above < 3; above++) {
            check_rooms(&model, model.bound + above, &ends, work);
        }
        arena_reset(&work->scratch);
    }
    print_message("%zu spent, %zu found, %zu exhausted\n", ends.spent, ends.found, ends.exhausted);
    assert_true(ends.spent > 0 && ends.found > 0 && ends.exhausted > 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {WORK_TEST(test_room)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
