/* Proves that a fault of an estimate, a stride, a workspace or a tail is always found, and by whom: each row spoils one
 * thing of a plan or a program that is right, on every scratchpad. What the figures would be is worked out here from
 * extents and alignments alone. */
#include "ledger/accesses.h"
#include "ledger/seeds.h"

/* ---- Estimates: what the planner says of a map's distinct bytes */

/* Elements that stand one after another without a gap of bits, by the contract of the device: those of a pixel, of a
 * line, or of a lane. */
static uint64_t packed_run(const Seeded *seeded) {
    Str device = seeded->plan->device->name;
    return str_eq(device, STR("sophgo-bm1684x")) ? ROWS * COLUMNS
           : str_eq(device, STR("k210-kpu"))     ? COLUMNS
                                                 : CHANNELS;
}

static uint64_t touched_bytes(const Seeded *seeded) {
    uint64_t run = packed_run(seeded), bits = seeded->net->is_nibbles ? 4 : 8;
    return ELEMENTS / run * ((run * bits + 7) / 8);
}

static bool spoil_estimate(Seeded *seeded, BufferId id, uint64_t mistaken, Seed *seed) {
    uint64_t right = touched_bytes(seeded);
    if (!is_buffer(id)) {
        return false;
    }
    uint32_t k = seeded_number(seeded, id);
    assert_int_equal(seeded->buffers[k].estimated_bytes, right);
    assert_int_not_equal(mistaken, right);
    seeded->buffers[k].estimated_bytes = mistaken;
    seed->expected = (Expected){
        .found = FOUND_TOUCHED, .buffer = k, .what = "touched bytes", .planned = mistaken, .measured = right};
    return true;
}

/* The input's tile and the output's, then the same in far memory. */
static BufferId any_map(const Seeded *seeded, uint32_t which) {
    const PlannedSweep *planned = first_sweep(seeded);
    return which < 2    ? map_tile(seeded, which)
           : which == 2 ? planned->in_far
           : which == 3 ? planned->out_far
                        : NO_BUFFER;
}

static BufferId any_input(const Seeded *seeded, uint32_t which) {
    return any_map(seeded, 2 * which);
}

static bool round_rows_up(Seeded *seeded, uint32_t which, Seed *seed) {
    const Device *device = seeded->plan->device;
    uint64_t row = round_up_to(CHANNELS * COLUMNS, device->memory[device->local].align_bytes);
    return spoil_estimate(seeded, any_map(seeded, which), ROWS * row, seed);
}

static bool round_elements_up(Seeded *seeded, uint32_t which, Seed *seed) {
    return spoil_estimate(seeded, any_input(seeded, which), ELEMENTS, seed);
}

static bool round_half_bytes_down(Seeded *seeded, uint32_t which, Seed *seed) {
    return spoil_estimate(seeded, any_input(seeded, which), ELEMENTS / 2, seed);
}

static bool estimate_padding_twice(Seeded *seeded, uint32_t which, Seed *seed) {
    BufferId id = any_map(seeded, which);
    if (!is_buffer(id)) {
        return false;
    }
    const Buffer *buffer = plan_buffer(seeded->plan, id);
    uint64_t all = buffer->physical_bytes * buffer->banks_used;
    return spoil_estimate(seeded, id, all + (all - touched_bytes(seeded)), seed);
}

/* ---- Footprints: what a map reserves */

/* What an operand addresses, element by element. */
typedef struct {
    uint64_t reach_bytes; /* from the start of its buffer */
    bool overlaps;        /* two elements have one address */
} Walked;

static Walked walk(Seeded *seeded, const CmdBox *box, const CmdOperand *operand) {
    const CmdView *view = &seeded->views[operand->view];
    uint64_t index[CMD_AXES] = {0}, lanes = 1, bits = 1;
    Walked walked = {0};
    do {
        ModelAddress at = model_address(view, index);
        lanes = at.lane >= lanes ? at.lane + 1 : lanes;
        bits = at.bit >= bits ? at.bit + 1 : bits;
    } while (next_index(box, index));
    bool *seen = arena_array(&seeded->work->keep, bool, lanes *bits);
    do {
        ModelAddress at = model_address(view, index);
        walked.overlaps = walked.overlaps || seen[at.lane * bits + at.bit];
        seen[at.lane * bits + at.bit] = true;
    } while (next_index(box, index));
    walked.reach_bytes = (operand->offset_bits + bits - 1) / 8 + 1;
    return walked;
}

static bool spoil_reserve(Seeded *seeded, uint32_t which, int64_t paddings, Seed *seed) {
    seed->victim = map_tile(seeded, which);
    if (!is_buffer(seed->victim)) {
        return false;
    }
    Buffer *buffer = plan_buffer(seeded->plan, seed->victim);
    uint64_t padding = buffer->physical_bytes - touched_bytes(seeded) / buffer->banks_used;
    assert_true(padding > 0);
    seed->bytes = buffer->physical_bytes;
    buffer->physical_bytes += (uint64_t)paddings * padding;
    return true;
}

static bool reserve_padding_twice(Seeded *seeded, uint32_t which, Seed *seed) {
    return spoil_reserve(seeded, which, 1, seed);
}

static bool reserve_no_padding(Seeded *seeded, uint32_t which, Seed *seed) {
    return spoil_reserve(seeded, which, -1, seed);
}

static bool expect_reserve(Seeded *seeded, uint32_t which, Seed *seed) {
    (void)which;
    uint32_t k = seeded_number(seeded, seed->victim), command = first_writer(seeded, k);
    const Command *writer = &seeded->commands[command];
    uint64_t bytes = seeded->buffers[k].bytes;
    seed->expected = (Expected){.found = FOUND_RESERVED,
                                .has_fault = walk(seeded, &writer->box, &writer->dst).reach_bytes > bytes,
                                .kind = FAULT_FOREIGN,
                                .command = command,
                                .buffer = k,
                                .byte = ANY,
                                .what = "reserved bytes",
                                .planned = bytes,
                                .measured = seed->bytes};
    return true;
}

/* ---- Workspace: a byte less, a byte more */

static bool spoil_workspace(Seeded *seeded, uint32_t which, Seed *seed) {
    Plan *plan = seeded->plan;
    uint32_t passed = 0;
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        if (plan->buffers[k].kind == BUFFER_WORKSPACE && passed++ == which / 2) {
            seed->victim = (BufferId){k};
            seed->bytes = plan->buffers[k].physical_bytes;
            plan->buffers[k].physical_bytes += which % 2 == 0 ? UINT64_MAX : 1;
            return true;
        }
    }
    return false;
}

static bool expect_workspace(Seeded *seeded, uint32_t which, Seed *seed) {
    uint32_t k = seeded_number(seeded, seed->victim), command = first_writer(seeded, k);
    const CmdBuffer *buffer = &seeded->buffers[k];
    assert_int_equal(buffer->bytes, which % 2 == 0 ? seed->bytes - 1 : seed->bytes + 1);
    seed->expected = (Expected){.found = FOUND_WORKSPACE,
                                .has_fault = which % 2 == 0,
                                .kind = FAULT_FOREIGN,
                                .command = command,
                                .buffer = k,
                                .byte = buffer->offset_bytes + buffer->bytes,
                                .what = "used workspace",
                                .planned = buffer->bytes,
                                .measured = seed->bytes};
    return true;
}

/* ---- Strides: of each operand and level, an alignment more, an alignment less */

/* Where the operand is to be changed: of a parameter in stages of the command's own. */
static CmdOperand *find_operand(Seeded *seeded, uint32_t command, uint32_t number) {
    Command *of = &seeded->commands[command];
    CmdOperand *const plain[] = {&of->src, &of->dst, &of->scratch};
    if (number < 3) {
        return plain[number];
    }
    number -= 3;
    for (uint32_t s = 0; s < of->stage_count; s++) {
        if (number < of->stages[s].param_count) {
            CmdStage *own = copy_of(&seeded->work->keep, of->stages, of->stage_count, sizeof *own);
            of->stages = own;
            return &own[s].param[number].from;
        }
        number -= of->stages[s].param_count;
    }
    return NULL;
}

static bool moves_along(const CmdBox *box, const CmdLevel *level) {
    return box->extent[level->axis] > level->div && level->mod != 1 && level->stride_bits > 0;
}

static bool spoil_level(Seeded *seeded, uint32_t command, CmdOperand *operand, uint32_t which, Seed *seed) {
    const Command *of = &seeded->commands[command];
    const CmdBuffer *buffer = &seeded->buffers[operand->buffer];
    CmdView *view = &seeded->views[seeded->program.view_count];
    CmdLevel *level = &view->level[which / 2];
    *view = seeded->views[operand->view];
    uint64_t align_bits = seeded->plan->device->memory[buffer->memory].align_bytes * 8;
    bool is_less = which % 2 == 1;
    if (!moves_along(&of->box, level) || (is_less && level->stride_bits < align_bits)) {
        return false;
    }
    level->stride_bits = is_less ? level->stride_bits - align_bits : level->stride_bits + align_bits;
    operand->view = seeded->program.view_count++;
    seed->expected = (Expected){.has_fault = walk(seeded, &of->box, operand).reach_bytes > buffer->bytes,
                                .kind = FAULT_FOREIGN,
                                .command = command,
                                .buffer = operand->buffer,
                                .byte = ANY};
    return true;
}

/* Does an earlier command use the buffer in the same place and view? */
static bool is_repeated(Seeded *seeded, uint32_t command, uint32_t number, const CmdOperand *operand) {
    for (uint32_t k = 0; k < command; k++) {
        const CmdOperand *other = find_operand(seeded, k, number);
        if (other != NULL && other->buffer == operand->buffer && other->view == operand->view) {
            return true;
        }
    }
    return false;
}

/* Counts the faults of the operand; true where it has the one that is looked for, which is seeded then. */
static bool spoil_operand(Seeded *seeded, uint32_t command, CmdOperand *operand, uint32_t *left, Seed *seed) {
    const CmdOperand kept = *operand;
    const uint32_t view_count = seeded->program.view_count;
    for (uint32_t k = 0; k < 2 * seeded->views[kept.view].level_count; k++) {
        if (spoil_level(seeded, command, operand, k, seed) && (*left)-- == 0) {
            return true;
        }
        seeded->program.view_count = view_count;
        *operand = kept;
    }
    return false;
}

static bool spoil_stride(Seeded *seeded, uint32_t which, Seed *seed) {
    uint32_t left = which;
    for (uint32_t command = 0; command < seeded->program.command_count; command++) {
        CmdOperand *operand;
        for (uint32_t number = 0; (operand = find_operand(seeded, command, number)) != NULL; number++) {
            bool is_new = operand->buffer != CMD_NONE && !is_repeated(seeded, command, number, operand);
            if (is_new && spoil_operand(seeded, command, operand, &left, seed)) {
                return true;
            }
        }
    }
    return false;
}

/* Does an operand move along the level of the view? Then its buffer says how it is aligned. */
static const CmdBuffer *find_mover(const Seeded *seeded, uint32_t view, const CmdLevel *level) {
    for (uint32_t k = 0; k < seeded->program.command_count; k++) {
        const Command *of = &seeded->commands[k];
        if (moves_along(&of->box, level) && (of->src.view == view || of->dst.view == view)) {
            return &seeded->buffers[of->src.view == view ? of->src.buffer : of->dst.buffer];
        }
    }
    return NULL;
}

/* Does some move reach outside its buffer now, or take one place for two elements? Else the tensor only lies otherwise
 * in its own bytes, for all that read and write it. */
static bool has_harm(Seeded *seeded) {
    for (uint32_t k = 0; k < seeded->program.command_count; k++) {
        const Command *of = &seeded->commands[k];
        const CmdOperand *const operands[] = {&of->src, &of->dst};
        for (size_t o = 0; o < 2 && (of->op == CMD_LOAD || of->op == CMD_STORE); o++) {
            Walked walked = walk(seeded, &of->box, operands[o]);
            if (walked.overlaps || walked.reach_bytes > seeded->buffers[operands[o]->buffer].bytes) {
                return true;
            }
        }
    }
    return false;
}

/* In all commands at once, and where the host reads and writes. */
static bool spoil_view(Seeded *seeded, uint32_t which, Seed *seed) {
    (void)seed;
    uint32_t passed = 0;
    for (uint32_t v = 0; v < seeded->program.view_count; v++) {
        for (uint32_t k = 0; k < 2 * seeded->views[v].level_count; k++) {
            CmdLevel *level = &seeded->views[v].level[k / 2];
            const CmdBuffer *mover = find_mover(seeded, v, level);
            uint64_t align_bits = mover == NULL ? 0 : seeded->plan->device->memory[mover->memory].align_bytes * 8;
            bool is_less = k % 2 == 1, is_fault = mover != NULL && (!is_less || level->stride_bits >= align_bits);
            const uint64_t kept = level->stride_bits;
            if (is_fault) {
                level->stride_bits = is_less ? kept - align_bits : kept + align_bits;
            }
            if (is_fault && has_harm(seeded) && passed++ == which) {
                return true;
            }
            level->stride_bits = kept;
        }
    }
    return false;
}

/* ---- Tails: commands of the last and smaller tile left out */

enum { TAIL_ROWS = ROWS % 2 };

static bool is_tail(const Command *command) {
    return command->column != CMD_COLUMN_LOAD_PARAM && command->box.extent[2] == TAIL_ROWS;
}

/* 0 all of them, 1 the load, 2 what computes, 3 the store. */
static bool is_dropped(const Command *command, uint32_t which) {
    bool is_load = command->op == CMD_LOAD, is_store = command->op == CMD_STORE;
    return is_tail(command) && (which == 0 || (which == 1 ? is_load : which == 3 ? is_store : !is_load && !is_store));
}

static void renumber_waits(Seeded *seeded, Command *command, const uint32_t *number_of) {
    uint32_t *waits = arena_array(&seeded->work->keep, uint32_t, command->wait_count), count = 0;
    for (uint32_t w = 0; w < command->wait_count; w++) {
        waits[count] = number_of[command->waits[w]];
        count += waits[count] != CMD_NONE;
    }
    command->waits = waits;
    command->wait_count = count;
}

static bool drop_tail(Seeded *seeded, uint32_t which, Seed *seed) {
    uint32_t count = 0, all = seeded->program.command_count;
    uint32_t *number_of = arena_array(&seeded->work->keep, uint32_t, all);
    for (uint32_t k = 0; k < all; k++) {
        Command command = seeded->commands[k];
        bool goes = is_dropped(&command, which);
        number_of[k] = goes ? CMD_NONE : count;
        renumber_waits(seeded, &command, number_of);
        seeded->commands[count] = command;
        count += !goes;
    }
    seeded->program.command_count = count;
    seed->expected.found = FOUND_TRAFFIC | FOUND_OUTPUT | (which == 0 || which == 3 ? FOUND_MISSING : 0);
    assert_true(count < all || which > 3);
    return which <= 3;
}

static const SeedRow rows[] = {
    {.name = "estimator rounding changed: each row up",
     .net = NET_CODES,
     .options = {.whole_tiles = true},
     .in_program = round_rows_up},
    {.name = "estimator rounding changed: each element up",
     .net = NET_NIBBLES,
     .options = {.whole_tiles = true},
     .in_program = round_elements_up},
    {.name = "estimator rounding changed: half a byte down",
     .net = NET_NIBBLES,
     .options = {.whole_tiles = true},
     .in_program = round_half_bytes_down},
    {.name = "padding counted twice, estimated",
     .net = NET_CODES,
     .options = {.whole_tiles = true},
     .in_program = estimate_padding_twice},
    {.name = "padding counted twice, reserved",
     .net = NET_CODES,
     .options = {.whole_tiles = true},
     .in_plan = reserve_padding_twice,
     .in_program = expect_reserve},
    {.name = "padding not counted",
     .net = NET_CODES,
     .options = {.whole_tiles = true},
     .in_plan = reserve_no_padding,
     .in_program = expect_reserve},
    {.name = "workspace off by one, fused",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_FUSED, .tile_rows = 2},
     .in_plan = spoil_workspace,
     .in_program = expect_workspace},
    {.name = "workspace off by one, split",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_SPLIT, .tile_rows = 2},
     .in_plan = spoil_workspace,
     .in_program = expect_workspace},
    {.name = "workspace off by one, pipelined",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = 2},
     .in_plan = spoil_workspace,
     .in_program = expect_workspace},
    {.name = "stride off by one alignment, fused",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_FUSED, .tile_rows = 2},
     .in_program = spoil_stride},
    {.name = "stride off by one alignment, split",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_SPLIT, .tile_rows = 2},
     .in_program = spoil_stride},
    {.name = "stride off by one alignment, pipelined",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = 2},
     .in_program = spoil_stride},
    {.name = "stride off by one alignment everywhere, fused",
     .net = NET_REALS,
     .options = {.schedule = SCHEDULE_FUSED, .tile_rows = 2},
     .in_program = spoil_view},
    {.name = "stride off by one alignment everywhere, pipelined",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = 2},
     .in_program = spoil_view},
    {.name = "tail dropped, fused",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_FUSED, .tile_rows = 2},
     .in_program = drop_tail},
    {.name = "tail dropped, split",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_SPLIT, .tile_rows = 2},
     .in_program = drop_tail},
    {.name = "tail dropped, pipelined",
     .net = NET_CODES,
     .options = {.schedule = SCHEDULE_PIPELINED, .tile_rows = 2},
     .in_program = drop_tail},
};

static void test_faults(void **state) {
    (void)state;
    run_rows(rows, sizeof rows / sizeof rows[0]);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_faults)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
