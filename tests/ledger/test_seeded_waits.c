/* Proves that a wait that is left out is always found: on every scratchpad and in every schedule each wait of each
 * command is taken away alone. Where two commands may then touch a byte at once, of which one writes, the simulated
 * device must call a race two commands that do; else it must find nothing. What may happen at once is told by
 * accesses.h, byte by byte, without the simulated device. */
#include "ledger/accesses.h"
#include "ledger/seeded.h"

typedef struct {
    const char *name;
    Net net;
    PlanOptions options;
    bool has_barrier; /* between two sweeps: all of one before all of the other, whether they share a byte or not */
} Row;

static const Row rows[] = {
    {.name = "fused", .net = NET_REALS, .options = {.schedule = SCHEDULE_FUSED}},
    {.name = "fused, over the input", .net = NET_CODES, .options = {.schedule = SCHEDULE_FUSED, .in_place = true}},
    {.name = "split", .net = NET_CODES, .options = {.schedule = SCHEDULE_SPLIT}},
    {.name = "pipelined", .net = NET_CODES, .options = {.schedule = SCHEDULE_PIPELINED}},
    {.name = "pipelined, over it", .net = NET_CODES, .options = {.schedule = SCHEDULE_PIPELINED, .in_place = true}},
    {.name = "pipelined, with workspace", .net = NET_REALS, .options = {.schedule = SCHEDULE_PIPELINED}},
    {.name = "two sweeps", .net = NET_READER, .options = {.schedule = SCHEDULE_PIPELINED}, .has_barrier = true},
};

typedef struct {
    uint32_t races, redundant, harmless; /* another chain of waits orders the two; they share no byte */
} Count;

static void take_wait(Seeded *seeded, uint32_t command, uint32_t which) {
    Command *of = &seeded->commands[command];
    uint32_t *left = arena_array(&seeded->work->keep, uint32_t, of->wait_count), count = 0;
    for (uint32_t k = 0; k < of->wait_count; k++) {
        left[count] = of->waits[k];
        count += k != which;
    }
    of->waits = left;
    of->wait_count = count;
}

static bool has_race(const Accesses *all) {
    for (uint32_t second = 0; second < all->program->command_count; second++) {
        for (uint32_t first = 0; first < second; first++) {
            if (is_race(all, first, second)) {
                return true;
            }
        }
    }
    return false;
}

/* Every fault is a race of two commands that may touch a byte at once, at a byte that both touch. */
static void check_faults(const Seeded *seeded, const Accesses *all) {
    const SimResult *result = seeded->audit.result;
    for (uint32_t k = 0; k < result->kept_faults; k++) {
        const SimFault *fault = &result->fault[k];
        const CmdBuffer *buffer = &seeded->program.buffers[fault->buffer];
        uint64_t at = all->first[buffer->memory] + fault->lane * all->bytes[buffer->memory] + fault->byte;
        uint8_t one = all->byte[fault->command * all->count + at], other = all->byte[fault->other * all->count + at];
        assert_int_equal(fault->kind, FAULT_RACE);
        assert_true(is_race(all, fault->other, fault->command));
        assert_true(one != 0 && other != 0 && ((one | other) & IS_WRITTEN) != 0);
    }
}

static void check_wait(Seeded *seeded, Accesses *all, uint32_t command, uint32_t which, Count *count) {
    Command *of = &seeded->commands[command];
    const Command kept = *of;
    uint32_t other = of->waits[which];
    take_wait(seeded, command, which);
    find_order(all);
    seeded_run(seeded);
    bool may_race = has_race(all), is_found = (seeded_found(seeded) & FOUND_RACE) != 0;
    if (may_race != is_found) {
        fail_msg("the wait of @%u for @%u: %s", (unsigned)command, (unsigned)other,
                 may_race ? "no race is found" : "a race is found where none is");
    }
    check_faults(seeded, all);
    count->races += may_race;
    count->redundant += !may_race && has_ended_before(all, command, other);
    count->harmless += !may_race && !has_ended_before(all, command, other);
    *of = kept;
}

static void check_program(Work *work, const Row *row, const char *device) {
    PlanOptions options = row->options;
    options.tile_rows = 2;
    Seeded seeded = seeded_plan(row->net, device, options, work);
    Count count = {0};
    seeded_build(&seeded);
    seeded_run(&seeded);
    assert_int_equal(seeded_found(&seeded), 0);
    Accesses all = find_accesses(&seeded.program, &work->keep);
    assert_false(has_race(&all));
    for (uint32_t k = 0; k < seeded.program.command_count; k++) {
        for (uint32_t w = 0; w < seeded.program.commands[k].wait_count; w++) {
            check_wait(&seeded, &all, k, w, &count);
        }
    }
    print_message("%s, %s: %u races, %u needless waits, %u that order no byte\n", device, row->name,
                  (unsigned)count.races, (unsigned)count.redundant, (unsigned)count.harmless);
    assert_true(count.races > 0);
    assert_true(row->has_barrier || count.harmless == 0);
}

static void check_row(const Row *row, const char *device) {
    Work work;
    WORK_BEGIN(&work);
    check_program(&work, row, device);
    work_free(&work);
}

static void test_each_wait(void **state) {
    (void)state;
    for (size_t d = 0; d < SCRATCHPADS; d++) {
        for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
            check_row(&rows[k], scratchpads[d]);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_wait)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
