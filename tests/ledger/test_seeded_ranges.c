/* Proves that bytes which are given away too early are always found: an alias although a second reader comes, a live
 * range one step short, a range that is not held for all operators of a tile, a bias released before its last use.
 *
 * The plan is changed as a planner with that mistake would make it, and a thief is placed over the victim, both where
 * nothing else lies. So the placement is right by the ranges that the plan now has; by those that it had the judge must
 * name the two, and the simulated device must find the read of what is overwritten. */
#include "ledger/seeds.h"

#include "place/judge.h"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Ranges as they were */

typedef struct {
    uint32_t first, last;
} Range;

static const Range *ranges_of(const Seeded *seeded) {
    const Plan *plan = seeded->plan;
    Range *ranges = arena_array(&seeded->work->keep, Range, plan->buffer_count);
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        ranges[k] = (Range){plan->buffers[k].storage_first, plan->buffers[k].storage_last};
    }
    return ranges;
}

/* Of all storages in local memory, in the places that they have, over `ranges`. */
static Judgement judge(const Seeded *seeded, const Range *ranges, BufferId *ids) {
    const Plan *plan = seeded->plan;
    Arena *keep = &seeded->work->keep;
    PlaceProblem problem = {.align_bytes = plan->device->memory[plan->device->local].align_bytes};
    problem.buffer = arena_array(keep, PlaceBuffer, plan->buffer_count);
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        const Buffer *buffer = &plan->buffers[k];
        if (buffer_is_local_storage(plan, (BufferId){k}) && buffer->physical_bytes > 0) {
            uint64_t end = round_up_to(buffer->offset + buffer->physical_bytes, problem.align_bytes);
            ids[problem.count] = (BufferId){k};
            problem.height = end > problem.height ? end : problem.height;
            problem.buffer[problem.count++] = (PlaceBuffer){buffer->physical_bytes, buffer_start_bytes(plan, buffer),
                                                            ranges[k].first, ranges[k].last, buffer->offset};
        }
    }
    assert_true(place_bound(&problem, keep, &problem.bound, NULL));
    return place_judge(&problem, keep);
}

static void expect_judgement(const Seeded *seeded, const Range *right, const Seed *seed) {
    BufferId *ids = arena_array(&seeded->work->keep, BufferId, seeded->plan->buffer_count);
    assert_int_equal(judge(seeded, ranges_of(seeded), ids).verdict, JUDGE_RIGHT);
    Judgement found = judge(seeded, right, ids);
    assert_int_equal(found.verdict, JUDGE_OVERLAP);
    uint32_t a = ids[found.a].index, b = ids[found.b].index, victim = seed->victim.index, thief = seed->thief.index;
    assert_true((a == victim && b == thief) || (a == thief && b == victim));
}

/* ---- Steps */

static bool leads_to(const Plan *plan, BufferId id, BufferId root) {
    return plan_buffer(plan, id)->storage.index == root.index;
}

static bool names(const Plan *plan, const BufferId *ids, uint32_t count, BufferId root) {
    bool found = false;
    for (uint32_t k = 0; k < count; k++) {
        found = found || leads_to(plan, ids[k], root);
    }
    return found;
}

/* The first step that writes the storage. */
static uint32_t first_write(const Plan *plan, BufferId root) {
    uint32_t s = 0;
    while (s < plan->step_count && !names(plan, plan->steps[s].writes, plan->steps[s].write_count, root)) {
        s++;
    }
    return s;
}

/* The last step that reads it; the number of steps where none does. */
static uint32_t last_read(const Plan *plan, BufferId root) {
    uint32_t last = plan->step_count;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        last = names(plan, plan->steps[s].reads, plan->steps[s].read_count, root) ? s : last;
    }
    return last;
}

/* ---- The theft */

static void settle_aliases(Plan *plan) {
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        uint64_t offset = 0;
        BufferId at = {k};
        for (; is_buffer(plan_buffer(plan, at)->alias_of); at = plan_buffer(plan, at)->alias_of) {
            offset += plan_buffer(plan, at)->alias_offset_bytes;
        }
        plan->buffers[k].offset = plan_buffer(plan, at)->offset + offset;
    }
}

/* The victim ends at step `last`, and the thief begins at its first write, `shift_bytes` into the victim. */
static void steal(Seeded *seeded, Seed *seed, uint32_t last, uint64_t shift_bytes) {
    Plan *plan = seeded->plan;
    const Range *right = ranges_of(seeded);
    Buffer *victim = plan_buffer(plan, seed->victim), *thief = plan_buffer(plan, seed->thief);
    uint64_t of_victim = buffer_start_bytes(plan, victim), of_thief = buffer_start_bytes(plan, thief);
    uint64_t align = of_victim > of_thief ? of_victim : of_thief;
    victim->last = victim->storage_last = last;
    thief->first = thief->storage_first = first_write(plan, seed->thief);
    assert_true(victim->storage_last <= thief->storage_first && victim->storage_first < victim->storage_last);
    victim->offset = round_up_to(plan->placed_bytes, align);
    thief->offset = victim->offset + shift_bytes;
    settle_aliases(plan);
    expect_judgement(seeded, right, seed);
}

/* Does plan_check end the program? */
static bool plan_check_finds(const Plan *plan) {
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        int quiet = dup2(open("/dev/null", O_WRONLY), 2);
        plan_check(plan);
        _exit(quiet < 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

/* ---- Pairs of a victim and a thief */

static bool is_map_tile(const Buffer *buffer) {
    return buffer->kind != BUFFER_PARAMETER && buffer->kind != BUFFER_WEIGHT;
}

typedef bool PairFunction(const Plan *plan, BufferId victim, BufferId thief);

/* The pair of this number among those that the function takes. Both are written by steps. */
static bool find_pair(const Plan *plan, PairFunction *takes, uint32_t which, Seed *seed) {
    uint32_t passed = 0;
    for (uint32_t v = 0; v < plan->buffer_count; v++) {
        for (uint32_t t = 0; t < plan->buffer_count; t++) {
            const BufferId victim = {v}, thief = {t};
            bool is_possible = v != t && buffer_is_local_storage(plan, victim) &&
                               buffer_is_local_storage(plan, thief) && first_write(plan, thief) < plan->step_count &&
                               last_read(plan, victim) < plan->step_count;
            if (is_possible && takes(plan, victim, thief) && passed++ == which) {
                seed->victim = victim;
                seed->thief = thief;
                return true;
            }
        }
    }
    return false;
}

/* From the last unit of the victim's bytes on: what is written line by line takes what is read last. */
static uint64_t last_unit(const Plan *plan, const Seed *seed) {
    uint64_t unit = buffer_start_bytes(plan, plan_buffer(plan, seed->thief));
    return (plan_buffer(plan, seed->victim)->physical_bytes - 1) / unit * unit;
}

/* Of tiles with all lines but one the second is a line alone, which is read before anything is written. */
static bool is_second_slot(const Plan *plan, BufferId id) {
    const PlannedSweep *planned = &plan->sweeps[0];
    return id.index == planned->in_local[1].index || id.index == planned->out_local[1].index;
}

static bool are_maps(const Plan *plan, BufferId victim, BufferId thief) {
    return is_map_tile(plan_buffer(plan, victim)) && !is_second_slot(plan, victim) && !is_second_slot(plan, thief);
}

/* The thief is first written in the step that reads the victim last. */
static bool is_one_step(const Plan *plan, BufferId victim, BufferId thief) {
    return are_maps(plan, victim, thief) && last_read(plan, victim) == first_write(plan, thief);
}

static bool end_one_step_early(Seeded *seeded, uint32_t which, Seed *seed) {
    if (!find_pair(seeded->plan, is_one_step, which, seed)) {
        return false;
    }
    steal(seeded, seed, last_read(seeded->plan, seed->victim), last_unit(seeded->plan, seed));
    assert_true(plan_check_finds(seeded->plan));
    return true;
}

/* Operators of a tile go line by line: the victim is read again after the thief is written, steps or not. */
static bool is_held_only(const Plan *plan, BufferId victim, BufferId thief) {
    const Buffer *held = plan_buffer(plan, victim);
    uint32_t read = last_read(plan, victim), written = first_write(plan, thief);
    bool are_ends = held->kind == BUFFER_INPUT && plan_buffer(plan, thief)->kind == BUFFER_OUTPUT;
    return are_ends && are_maps(plan, victim, thief) && read < written && written < held->storage_last;
}

static bool hold_nothing(Seeded *seeded, uint32_t which, Seed *seed) {
    if (!find_pair(seeded->plan, is_held_only, which, seed)) {
        return false;
    }
    steal(seeded, seed, last_read(seeded->plan, seed->victim) + 1, last_unit(seeded->plan, seed));
    return true;
}

/* A map that is written after the parameter is loaded, and not after its last use. */
static bool is_over_param(const Plan *plan, BufferId victim, BufferId thief) {
    uint32_t written = first_write(plan, thief);
    return !is_map_tile(plan_buffer(plan, victim)) && is_map_tile(plan_buffer(plan, thief)) &&
           first_write(plan, victim) < written && written <= last_read(plan, victim);
}

static bool release_param(Seeded *seeded, uint32_t which, Seed *seed) {
    if (!find_pair(seeded->plan, is_over_param, which, seed)) {
        return false;
    }
    steal(seeded, seed, first_write(seeded->plan, seed->thief), 0);
    assert_true(plan_check_finds(seeded->plan));
    return true;
}

/* ---- What is expected of it */

/* Of what lies in the storage: a buffer that a command reads. */
static bool reads_storage(const Seeded *seeded, const Command *command, BufferId root) {
    bool found = false;
    for (uint32_t k = 0; k < seeded->plan->buffer_count; k++) {
        uint32_t number = seeded->built->of_buffer[k];
        found = found || (number != CMD_NONE && leads_to(seeded->plan, (BufferId){k}, root) && reads(command, number));
    }
    return found;
}

static bool writes_storage(const Seeded *seeded, const Command *command, BufferId root) {
    bool found = false;
    for (uint32_t k = 0; k < seeded->plan->buffer_count; k++) {
        uint32_t number = seeded->built->of_buffer[k];
        found = found || (number != CMD_NONE && leads_to(seeded->plan, (BufferId){k}, root) && writes(command, number));
    }
    return found;
}

/* The first command that reads one of the two where the other was written last, or is by the command itself: it goes
 * line by line. Steps that load are listed in another order than they are run, so either may be robbed. */
static uint32_t first_robbed(const Seeded *seeded, const Seed *seed, BufferId *robbed) {
    const BufferId pair[] = {seed->victim, seed->thief};
    uint32_t owner = 2;
    for (uint32_t k = 0; k < seeded->program.command_count; k++) {
        const Command *command = &seeded->commands[k];
        for (uint32_t own = 0; own < 2; own++) {
            bool is_other = owner == 1 - own || writes_storage(seeded, command, pair[1 - own]);
            if (is_other && reads_storage(seeded, command, pair[own])) {
                *robbed = pair[own];
                return k;
            }
        }
        for (uint32_t own = 0; own < 2; own++) {
            owner = writes_storage(seeded, command, pair[own]) ? own : owner;
        }
    }
    fail_msg("no command reads what is stolen");
    return CMD_NONE;
}

static bool expect_robbed(Seeded *seeded, uint32_t which, Seed *seed) {
    (void)which;
    BufferId robbed = NO_BUFFER;
    uint32_t command = first_robbed(seeded, seed, &robbed);
    seed->expected = (Expected){.found = FOUND_FOREIGN,
                                .has_fault = true,
                                .kind = FAULT_FOREIGN,
                                .command = command,
                                .buffer = seeded_number(seeded, robbed),
                                .byte = plan_buffer(seeded->plan, seed->thief)->offset};
    return true;
}

/* ---- Aliases: over a whole map that a second sweep reads */

static bool write_over_input(Seeded *seeded, uint32_t which, Seed *seed) {
    Plan *plan = seeded->plan;
    const PlannedSweep *planned = first_sweep(seeded);
    seed->victim = planned->in_local[0];
    seed->thief = planned->out_local[0];
    Buffer *out = plan_buffer(plan, seed->thief);
    assert_int_equal(plan->sweep_count, 2);
    assert_int_equal(plan->sweeps[1].in_local[0].index, seed->victim.index);
    out->alias_of = seed->victim;
    out->alias_reason = ALIAS_IN_PLACE;
    settle_aliases(plan);
    return which == 0;
}

static bool carry_over_input(Seeded *seeded, uint32_t which, Seed *seed) {
    seed->victim = first_sweep(seeded)->in_local[0];
    seeded->plan->sweeps[0].chosen.best.choice.carry = CARRY_INPUT;
    return which == 0;
}

/* The second sweep's operator reads what the first one's has left there, and computes with it. */
static bool expect_second_reader(Seeded *seeded, uint32_t which, Seed *seed) {
    (void)which;
    uint32_t buffer = seeded_number(seeded, seed->victim), command = seeded->program.command_count - 1;
    while (seeded->commands[command].src.buffer != buffer) {
        command--;
    }
    seed->expected = (Expected){.found = FOUND_FOREIGN | FOUND_OUTPUT,
                                .has_fault = true,
                                .kind = FAULT_FOREIGN,
                                .command = command,
                                .buffer = buffer,
                                .byte = seeded->buffers[buffer].offset_bytes};
    return true;
}

enum { MOST_ROWS = ROWS - 1 };

/* A row of croutons that lies over another one begins each line where that has the same line, which is read by then: a
 * tile of one row of croutons is not harmed. */
static const char one_crouton[] = "hexagon-v73";

static const SeedRow rows[] = {
    {.name = "alias with a second reader, fused",
     .net = NET_READER,
     .options = {.schedule = SCHEDULE_FUSED, .whole_tiles = true},
     .in_plan = write_over_input,
     .in_program = expect_second_reader},
    {.name = "alias with a second reader, split",
     .net = NET_READER,
     .options = {.schedule = SCHEDULE_SPLIT, .whole_tiles = true},
     .in_plan = write_over_input,
     .in_program = expect_second_reader},
    {.name = "alias with a second reader, pipelined",
     .net = NET_READER,
     .options = {.schedule = SCHEDULE_PIPELINED, .whole_tiles = true},
     .in_plan = write_over_input,
     .in_program = expect_second_reader},
    {.name = "carried over what has a second reader",
     .net = NET_READER,
     .options = {.schedule = SCHEDULE_FUSED, .whole_tiles = true},
     .in_plan = carry_over_input,
     .in_program = expect_second_reader},
    {.name = "range one step short, fused",
     .net = NET_ONE,
     .options = {.schedule = SCHEDULE_FUSED, .whole_tiles = true},
     .in_plan = end_one_step_early,
     .in_program = expect_robbed},
    {.name = "range one step short, split",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_SPLIT, .whole_tiles = true},
     .in_plan = end_one_step_early,
     .in_program = expect_robbed},
    {.name = "range one step short, split, of reals",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_SPLIT, .whole_tiles = true},
     .in_plan = end_one_step_early,
     .in_program = expect_robbed},
    {.name = "range one step short, pipelined",
     .net = NET_ONE,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = MOST_ROWS},
     .in_plan = end_one_step_early,
     .in_program = expect_robbed,
     .harmless_on = one_crouton},
    {.name = "range not held, fused",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_FUSED, .whole_tiles = true},
     .in_plan = hold_nothing,
     .in_program = expect_robbed},
    {.name = "range not held, pipelined",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = MOST_ROWS},
     .in_plan = hold_nothing,
     .in_program = expect_robbed,
     .harmless_on = one_crouton},
    {.name = "bias released early, fused",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_FUSED, .whole_tiles = true},
     .in_plan = release_param,
     .in_program = expect_robbed},
    {.name = "bias released early, split",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_SPLIT, .tile_rows = 2},
     .in_plan = release_param,
     .in_program = expect_robbed},
    {.name = "bias released early, pipelined",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = 2},
     .in_plan = release_param,
     .in_program = expect_robbed},
};

static void test_ranges(void **state) {
    (void)state;
    run_rows(rows, sizeof rows / sizeof rows[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_ranges)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
