/* Proves that runs of bytes, cells and clocks find what a model finds that goes bit by bit: random programs over random
 * blocked, padded and laned views of all widths, with and without faults, give the same bytes, written bits, faults,
 * touched bytes, traffic, transfers and cycles. */
#include "sim/generator.h"

#include "sim/machine.h"

enum { PROGRAMS = 3000 };

static Model model;
/* ---- Comparing */

static uint32_t faults[MADE_COMMANDS];

/* By command; false where not all of them were kept. */
static bool gather_faults(const SimResult *result) {
    memset(faults, 0, sizeof faults);
    for (uint32_t k = 0; k < result->kept_faults; k++) {
        if (result->fault[k].command != CMD_NONE) {
            faults[result->fault[k].command] |= 1u << result->fault[k].kind;
        }
    }
    return result->fault_count == result->kept_faults;
}

/* The first race is found at the same command: the clocks look only at the last of each queue. */
static void compare_faults(const SimResult *result, uint64_t seed) {
    bool has_raced = false;
    bool has_all = gather_faults(result);
    for (uint32_t k = 0; k < made.program.command_count && has_all; k++) {
        uint32_t race = 1u << FAULT_RACE;
        uint32_t expected = has_raced ? model.faults[k] & ~race : model.faults[k];
        uint32_t found = has_raced ? faults[k] & ~race : faults[k];
        if (found != expected) {
            print_error("seed %d command %d: faults %x, not %x\n", (int)seed, (int)k, found, expected);
            fail();
        }
        has_raced = has_raced || (expected & race) != 0;
    }
}

static void compare_memory(const Sim *sim, uint64_t seed) {
    for (uint32_t m = 0; m < MODEL_MEMORIES; m++) {
        for (uint64_t l = 0; l < sim->memory[m].lane_count; l++) {
            for (uint64_t b = 0; b < sim->memory[m].bytes * 8; b++) {
                const Lane *lane = &sim->memory[m].lane[l];
                ModelBit bit = model.byte[m][l][b / 8].bit[b % 8];
                bool has_bit = (lane->mask[b / 8] >> b % 8 & 1) == bit.written;
                if (!has_bit || (lane->data[b / 8] >> b % 8 & 1) != bit.value) {
                    print_error("seed %d memory %d lane %d bit %d\n", (int)seed, (int)m, (int)l, (int)b);
                    fail();
                }
            }
        }
    }
}

static void compare_touched(const SimResult *result, uint64_t seed) {
    for (uint32_t k = 0; k < made.program.buffer_count; k++) {
        uint64_t touched = 0;
        for (uint64_t l = 0; l < made.buffers[k].lanes; l++) {
            for (uint64_t b = 0; b < made.buffers[k].bytes; b++) {
                touched += model.touched[k][l][b];
            }
        }
        if (touched != result->buffer[k].touched_bytes || model.used_bytes[k] != result->buffer[k].used_bytes) {
            print_error("seed %d buffer %d: touched\n", (int)seed, (int)k);
            fail();
        }
    }
}

/* ---- Transfers, from where each bit of the destination comes from */

typedef struct {
    uint64_t descriptors, bursts;
} Transfers;

/* Ends with a run of `bits` bits. */
static void end_run(Transfers *transfers, uint64_t bits) {
    uint64_t bytes = (bits + 7) / 8;
    bytes = (bytes + 3) / 4 * 4; /* set_costs: align_bytes 4, min_bytes 8, burst_bytes 4 */
    bytes = bytes < 8 ? 8 : bytes;
    transfers->descriptors += bits > 0;
    transfers->bursts += bits > 0 ? bytes / 4 : 0;
}

static Transfers find_transfers(const Command *command) {
    static ModelAddress from[MODEL_LANES][MODEL_BYTES * 8];
    static bool is_there[MODEL_LANES][MODEL_BYTES * 8];
    const uint64_t low[CMD_AXES] = {0};
    uint64_t index[CMD_AXES] = {0};
    uint32_t bits = dtype_bits(made.buffers[command->dst.buffer].dtype);
    uint64_t reach = 2 * 8 * made.buffers[command->dst.buffer].bytes + 256; /* views may be shorter than it */
    reach = reach > MODEL_BYTES * 8 ? MODEL_BYTES * 8 : reach;
    for (uint32_t l = 0; l < MODEL_LANES; l++) {
        memset(is_there[l], 0, reach);
    }
    do {
        ModelAddress dst = model_address(&made.views[command->dst.view], index);
        ModelAddress src = model_address(&made.views[command->src.view], index);
        for (uint32_t k = 0; k < bits; k++) {
            from[dst.lane][dst.bit + k] = (ModelAddress){src.lane, src.bit + k};
            is_there[dst.lane][dst.bit + k] = true;
        }
    } while (model_next(index, low, command->box.extent));
    Transfers transfers = {0, 0};
    for (uint64_t l = 0; l < made.buffers[command->dst.buffer].lanes; l++) {
        uint64_t run = 0;
        for (uint64_t b = 0; b < reach; b++) {
            bool goes_on = run > 0 && is_there[l][b] && from[l][b].lane == from[l][b - 1].lane &&
                           from[l][b].bit == from[l][b - 1].bit + 1;
            if (!goes_on) {
                end_run(&transfers, run);
                run = 0;
            }
            run += is_there[l][b];
        }
        end_run(&transfers, run);
    }
    return transfers;
}

static uint64_t up(uint64_t amount, uint64_t part) {
    return (amount + part - 1) / part;
}

static void set_costs(void) {
    made.device.dma_setup_cycles = made_cost(50);
    made.device.descriptor_cycles = made_cost(10);
    made.device.dma_burst_bytes = made_cost(4);
    made.device.dma_min_bytes = made_cost(8);
    made.device.dma_align_bytes = made_cost(4);
    made.device.dma_bytes_cycle = made_cost(3);
    made.device.issue_cycles = made_cost(5);
    made.device.vector_bytes_cycle = made_cost(6);
    made.device.sync_cycles = made_cost(7);
}

/* docs/simulator.md, for these costs. */
static uint64_t cycles_of(const Command *command, Transfers *transfers) {
    uint64_t elements = 1, cycles = 5;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        elements *= command->box.extent[axis];
    }
    *transfers = (Transfers){0, 0};
    if (command->op == CMD_LOAD || command->op == CMD_STORE) {
        *transfers = find_transfers(command);
        return 50 + transfers->descriptors * 10 + up(transfers->bursts * 4, 3);
    }
    for (uint32_t s = 0; s < command->stage_count; s++) {
        uint32_t from = dtype_bits(command->stages[s].stage.from), to = dtype_bits(command->stages[s].stage.to);
        cycles += up(up(elements * (from > to ? from : to), 8), 6);
    }
    uint32_t bits = dtype_bits(made.buffers[command->dst.buffer].dtype);
    return command->stage_count > 0 ? cycles : cycles + up(up(elements * bits, 8), 6);
}

static void compare_costs(const SimResult *result, uint64_t seed) {
    SimColumn column[CMD_COLUMNS] = {{0}};
    uint64_t end[MADE_COMMANDS], last = 0, free_at[3] = {0, 0, 0};
    for (uint32_t k = 0; k < made.program.command_count; k++) {
        const Command *command = &made.commands[k];
        Transfers transfers;
        uint64_t cost = cycles_of(command, &transfers), start = free_at[command->queue], syncs = 0;
        for (uint32_t w = 0; w < command->wait_count; w++) {
            start = end[command->waits[w]] > start ? end[command->waits[w]] : start;
            syncs += made.commands[command->waits[w]].queue != command->queue;
        }
        end[k] = free_at[command->queue] = start + 7 * syncs + cost;
        last = end[k] > last ? end[k] : last;
        column[command->column].cycles += cost;
        column[command->column].descriptors += transfers.descriptors;
        column[command->column].bursts += transfers.bursts;
    }
    for (uint32_t c = 0; c < CMD_COLUMNS; c++) {
        if (column[c].descriptors != result->column[c].descriptors || column[c].bursts != result->column[c].bursts ||
            column[c].cycles != result->column[c].cycles) {
            print_error("seed %d column %d: %d descriptors, not %d\n", (int)seed, (int)c,
                        (int)result->column[c].descriptors, (int)column[c].descriptors);
            fail();
        }
    }
    assert_int_equal(last, result->cycles);
}

/* The host reads in its order what lies there, and 0 for elements that lack a bit. */
static void compare_output(const Sim *sim, uint32_t number, Arena *arena) {
    const CmdBuffer *buffer = &made.buffers[number];
    uint32_t bits = dtype_bits(buffer->dtype);
    uint64_t unwritten, missing = 0;
    Span read = sim_read(sim, number, arena, &unwritten);
    for (uint64_t e = 0; buffer->view != CMD_NONE && e < model_elements(&buffer->order); e++) {
        uint64_t index[CMD_AXES];
        uint8_t value[128];
        bool has_all = true;
        model_index(&buffer->order, e, index);
        ModelAddress at = model_address(&made.views[buffer->view], index);
        for (uint32_t k = 0; k < bits; k++) {
            const ModelByte *byte = &model.byte[buffer->memory][at.lane][buffer->offset_bytes + (at.bit + k) / 8];
            has_all = has_all && byte->data == buffer->data && byte->bit[(at.bit + k) % 8].written;
            value[k] = byte->bit[(at.bit + k) % 8].value;
        }
        for (uint32_t k = 0; k < bits; k++) {
            uint64_t bit = e * bits + k;
            uint32_t found = read.ptr[bit / 8] >> bit % 8 & 1;
            if (found != (has_all ? value[k] : 0)) {
                fail_msg("buffer %d element %d", (int)number, (int)e);
            }
        }
        missing += !has_all;
    }
    assert_int_equal(missing, unwritten);
}

typedef struct {
    uint32_t clean, outside, racing, computing;
} Seen;

static void run_one(uint64_t seed, Work *work, Seen *seen) {
    make_program(seed);
    set_costs();
    const char *wrong = cmd_check(&made.program, &work->scratch);
    if (wrong != NULL) {
        print_error("seed %d: %s\n", (int)seed, wrong);
        fail();
    }
    Sim *sim = sim_new(&made.program, &made.device, work);
    assert_non_null(sim);
    model_init(&model, &made.program);
    for (uint32_t k = 0; k < made.program.buffer_count; k++) {
        uint8_t packed[MODEL_BYTES];
        if (made.buffers[k].view != CMD_NONE && chance(90)) {
            size_t bytes = make_tensor(&made.buffers[k], packed, sizeof packed);
            assert_true(sim_write(sim, k, (Span){packed, bytes}));
            model_host(&model, k, packed);
        }
    }
    const SimResult *result = sim_run(sim);
    model_run(&model);
    compare_costs(result, seed);
    seen->outside += model.is_outside;
    if (model.is_outside) {
        return;
    }
    compare_faults(result, seed);
    compare_memory(sim, seed);
    compare_touched(result, seed);
    for (uint32_t k = 0; k < made.program.buffer_count; k++) {
        compare_output(sim, k, &work->keep);
    }
    seen->clean += result->fault_count == 0;
    for (uint32_t k = 0; k < made.program.command_count; k++) {
        seen->racing += (model.faults[k] >> FAULT_RACE & 1) != 0;
        seen->computing += made.commands[k].stage_count > 0 && model.faults[k] == 0;
    }
}

static void test_programs(void **state) {
    (void)state;
    Seen seen = {0, 0, 0, 0};
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        Work work;
        work_init(&work, &system_allocator);
        if (setjmp(work.escape)) {
            fail();
        }
        run_one(seed, &work, &seen);
        work_free(&work);
    }
    print_message("%d programs: %d without a fault, %d outside a buffer; %d races, %d computed\n", (int)PROGRAMS,
                  (int)seen.clean, (int)seen.outside, (int)seen.racing, (int)seen.computing);
    assert_true(seen.clean > PROGRAMS / 10 && seen.racing > PROGRAMS / 20 && seen.computing > PROGRAMS / 10);
}

/* ---- Whatever the numbers are */

static uint64_t some_number(void) {
    static const uint64_t numbers[] = {
        0, 1, 2, 7, 64, 1000, 4097, UINT64_C(1) << 31, UINT64_C(1) << 60, UINT64_MAX / 16};
    return numbers[draw(10)] + draw(2);
}

static void spoil(void) {
    CmdBuffer *buffer = &made.buffers[draw(made.program.buffer_count)];
    CmdView *view = &made.views[draw(made.program.view_count)];
    CmdLevel *level = &view->level[view->level_count == 0 ? 0 : draw(view->level_count)];
    Command *command = &made.commands[made.program.command_count == 0 ? 0 : draw(made.program.command_count)];
    uint64_t *numbers[] = {&buffer->offset_bytes,
                           &buffer->bytes,
                           &buffer->lanes,
                           &buffer->view_offset_bits,
                           &level->div,
                           &level->mod,
                           &level->stride_bits,
                           &level->stride_lanes,
                           &command->src.offset_bits,
                           &command->dst.offset_bits,
                           &command->scratch.offset_bits};
    *numbers[draw(sizeof numbers / sizeof *numbers)] = some_number();
    if (chance(20)) {
        command->box.extent[draw(CMD_AXES)] = draw(12);
    }
}

/* What cmd_check accepts runs, or is refused, and never harms; sanitizers see to the rest. */
static void test_hostile(void **state) {
    (void)state;
    uint32_t ran = 0;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        Work work;
        work_init(&work, &system_allocator);
        if (setjmp(work.escape)) {
            fail();
        }
        make_program(seed + PROGRAMS);
        for (uint64_t k = draw(4); k > 0; k--) {
            spoil();
        }
        bool is_sound = cmd_check(&made.program, &work.scratch) == NULL;
        Sim *sim = is_sound ? sim_new(&made.program, &made.device, &work) : NULL;
        if (sim != NULL) {
            sim_run(sim);
            for (uint32_t k = 0; k < made.program.buffer_count; k++) {
                uint64_t unwritten;
                sim_read(sim, k, &work.keep, &unwritten);
            }
            ran++;
        }
        work_free(&work);
    }
    assert_true(ran > PROGRAMS / 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_programs),
        cmocka_unit_test(test_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
