/* Proves that sweep_cost, which leaves out rounds that are all alike, is what a count over every single event gives.
 *
 * Sweeps are drawn: shapes, windows, parameters along any dimension, what is far and what is local, layouts, costs, one
 * and two DMA channels, each schedule, with and without residents, and two in a row. The count listens to sweep_walk
 * without leaving anything out. It finds the runs of a move element by element from the addresses on both sides, and
 * keeps clocks of its own, by the rules of docs/simulator.md. Also: the tiles are as many as the map has, and
 * sweep_least_cycles is never more than what a sweep takes. Some sweeps have more than 100 000 tiles. */
#include "sweep/sweep.h"

#include "support/random.h"
#include "support/work.h"

enum { SWEEPS = 1500, LARGE_SWEEPS = 3, MOST_PARAMS = 3, MOST_ELEMENTS = 1 << 12 };

typedef struct {
    uint64_t random;
    Device device;
    Sweep sweep;
    SweepOperand params[MOST_PARAMS];
    uint32_t stage_count[2], stage_bits[4], between_bits[1];
    SweepChoice choice;
} Drawn;

static uint64_t draw(Drawn *drawn, uint64_t below) {
    return random_below(&drawn->random, below);
}

/* ---- The count */

typedef struct {
    uint64_t from, to, from_lane, to_lane;
} Bits;

typedef struct {
    const Sweep *sweep;
    SweepCost cost;
    uint64_t queue_end[3], key_end[6], barrier[3], before;
    bool has_key[6], has_run[3], was_used[3];
} Count;

static uint64_t up(uint64_t value, uint64_t by) {
    return (value + by - 1) / by;
}

static int by_target(const void *a, const void *b) {
    const Bits *x = a, *y = b;
    uint64_t left = x->to_lane != y->to_lane ? x->to_lane : x->to,
             right = x->to_lane != y->to_lane ? y->to_lane : y->to;
    return left < right ? -1 : left > right;
}

/* Where each element of the box lies on both sides, in the order of the destination. */
static uint64_t find_bits(const View *far, const View *local, const SweepEvent *event, Bits *bits) {
    LayoutShape box = far->shape;
    uint64_t at[DIM_COUNT] = {0}, count = 0;
    memcpy(box.extent, event->box.extent, sizeof box.extent);
    do {
        uint64_t there[DIM_COUNT];
        for (int d = 0; d < DIM_COUNT; d++) {
            there[d] = at[d] + event->box.first[d];
        }
        ViewAddress a = view_address(far, there), b = view_address(local, at);
        bool is_store = event->kind == SWEEP_STORE;
        uint64_t far_bit = 8 * a.byte + a.bit, local_bit = 8 * b.byte + b.bit;
        assert_true(count < MOST_ELEMENTS);
        bits[count++] =
            is_store ? (Bits){local_bit, far_bit, b.bank, a.bank} : (Bits){far_bit, local_bit, a.bank, b.bank};
    } while (view_next_index(&box, at));
    qsort(bits, count, sizeof *bits, by_target);
    return count;
}

static void count_run(const Device *device, uint64_t run_bits, ColumnCost *column, uint64_t *moved) {
    uint64_t bytes = up(run_bits, 8), align = device->dma_align_bytes.value, least = device->dma_min_bytes.value;
    uint64_t burst = device->dma_burst_bytes.value;
    bytes = align > 0 ? up(bytes, align) * align : bytes;
    bytes = bytes < least ? least : bytes;
    uint64_t bursts = burst > 0 ? up(bytes, burst) : 1;
    column->descriptors++;
    column->bursts += bursts;
    *moved += burst > 0 ? bursts * burst : bytes;
}

static uint64_t count_move(Count *count, const SweepEvent *event, ColumnCost *column) {
    static Bits bits[MOST_ELEMENTS];
    const Device *device = count->sweep->device;
    const SweepOperand *operand = event->kind == SWEEP_LOAD_INPUT ? &count->sweep->in
                                  : event->kind == SWEEP_STORE    ? &count->sweep->out
                                                                  : &count->sweep->params[event->which];
    View local;
    assert_true(sweep_local_view(count->sweep, operand, event->box.extent, &local));
    uint64_t elements = find_bits(&operand->whole, &local, event, bits), width = operand->shape.bits, run = 0;
    uint64_t moved = 0, descriptors = column->descriptors, rate = device->dma_bytes_cycle.value;
    for (uint64_t k = 0; k < elements; k++) {
        run += width;
        bool goes_on = k + 1 < elements && bits[k + 1].to == bits[k].to + width &&
                       bits[k + 1].from == bits[k].from + width && bits[k + 1].to_lane == bits[k].to_lane &&
                       bits[k + 1].from_lane == bits[k].from_lane;
        if (!goes_on) {
            count_run(device, run, column, &moved);
            run = 0;
        }
    }
    column->bytes += up(elements * width, 8);
    descriptors = column->descriptors - descriptors;
    return device->dma_setup_cycles.value + descriptors * device->descriptor_cycles.value +
           (rate > 0 ? up(moved, rate) : 0);
}

static uint64_t count_compute(const Count *count, const SweepEvent *event) {
    const Sweep *sweep = count->sweep;
    uint64_t elements = 1, cycles = 0, engine = sweep->device->vector_bytes_cycle.value, at = 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        elements *= event->box.extent[d];
    }
    for (uint32_t node = 0; node < sweep->node_count; node++) {
        for (uint32_t stage = 0; stage < sweep->stage_count[node]; stage++, at++) {
            bool runs = event->which == SWEEP_ALL_NODES || event->which == node;
            cycles += runs && engine > 0 ? up(up(elements * sweep->stage_bits[at], 8), engine) : 0;
        }
    }
    uint64_t rate = sweep->device->mac_cycle.value;
    cycles = sweep->macs > 0     ? (rate > 0 ? up(elements * sweep->macs, rate) : 0)
             : sweep->passes > 0 ? cycles * sweep->passes
                                 : cycles;
    return sweep->device->issue_cycles.value + cycles;
}

static uint64_t latest(const uint64_t *end) {
    uint64_t most = end[0] > end[1] ? end[0] : end[1];
    return most > end[2] ? most : end[2];
}

/* The first of each queue waits for all that the other queues have had to do before the sweep. */
static void count_time(Count *count, const SweepEvent *event, uint64_t cycles) {
    uint64_t start = count->queue_end[event->queue], waits = 0;
    for (uint32_t other = 0; other < 3 && !count->has_run[event->queue]; other++) {
        if (other != event->queue && count->was_used[other]) {
            start = count->barrier[other] > start ? count->barrier[other] : start;
            waits++;
        }
    }
    for (uint32_t key = 0; key < 6; key++) {
        if ((event->waits >> key & 1) != 0 && count->has_key[key]) {
            start = count->key_end[key] > start ? count->key_end[key] : start;
            waits++;
        }
        if ((event->key >> key & 1) != 0) {
            count->has_key[key] = false;
        }
    }
    count->has_run[event->queue] = true;
    count->queue_end[event->queue] = start + waits * count->sweep->device->sync_cycles.value + cycles;
    for (uint32_t key = 0; key < 6; key++) {
        if ((event->key >> key & 1) != 0) {
            count->has_key[key] = true;
            count->key_end[key] = count->queue_end[event->queue];
        }
    }
    count->cost.syncs += waits;
}

static void count_event(void *context, const SweepEvent *event) {
    Count *count = context;
    bool is_map = event->kind == SWEEP_LOAD_PARAM && count->sweep->params[event->which].is_map;
    ColumnCost *column = &count->cost.column[is_map ? SWEEP_LOAD_INPUT : event->kind];
    uint64_t cycles = event->kind == SWEEP_COMPUTE ? count_compute(count, event) : count_move(count, event, column);
    column->commands++;
    column->cycles += cycles;
    count->cost.tiles += event->kind == SWEEP_COMPUTE && (event->which == SWEEP_ALL_NODES || event->which == 0);
    count_time(count, event, cycles);
}

/* One more sweep on the same clocks. */
static void count_sweep(Count *count, const Drawn *drawn) {
    count->before = latest(count->queue_end);
    memcpy(count->barrier, count->queue_end, sizeof count->barrier);
    for (int queue = 0; queue < 3; queue++) {
        count->was_used[queue] = count->was_used[queue] || count->has_run[queue];
        count->has_run[queue] = false;
    }
    memset(count->has_key, 0, sizeof count->has_key);
    count->sweep = &drawn->sweep;
    count->cost = (SweepCost){0};
    sweep_walk(&drawn->sweep, &drawn->choice, (SweepListener){count_event, NULL, count});
    count->cost.cycles = latest(count->queue_end) - count->before;
}

/* ---- Drawing */

static DeviceCost cost(Drawn *drawn, uint64_t below) {
    return (DeviceCost){.value = draw(drawn, below)};
}

static void draw_device(Drawn *drawn, const Device *preset) {
    Device *device = &drawn->device;
    *device = *preset;
    device->dma_channels.value = 1 + draw(drawn, 2);
    device->vector_bytes_cycle = cost(drawn, 9);
    device->mac_cycle = cost(drawn, 9);
    device->issue_cycles = cost(drawn, 40);
    device->descriptor_cycles = cost(drawn, 6);
    device->sync_cycles = cost(drawn, 20);
    device->dma_bytes_cycle = cost(drawn, 9);
    device->dma_setup_cycles = cost(drawn, 60);
    device->dma_burst_bytes = cost(drawn, 20);
    device->dma_min_bytes = cost(drawn, 20);
    device->dma_align_bytes = cost(drawn, 9);
}

static bool lay_out(const Drawn *drawn, SweepOperand *operand) {
    return view_resolve(drawn->device.contract[operand->role], &operand->shape, &operand->whole, NULL) == VIEW_DONE &&
           (!operand->is_far || view_flatten(&operand->whole));
}

/* Of dimension `d`: all of it, index for index, or a window along some dimension of the map. */
static void draw_reach(Drawn *drawn, SweepOperand *operand, int d) {
    uint64_t form = draw(drawn, 4), of = draw(drawn, 4) > 0 ? (uint64_t)d : draw(drawn, DIM_W + 1);
    uint64_t map = drawn->sweep.out.shape.extent[of];
    Reach *reach = &operand->reach[d];
    *reach = (Reach){.of = (uint32_t)of, .stride = 1, .window = 1};
    operand->shape.extent[d] = map;
    if (form == 0) {
        reach->of = REACH_ALL;
        operand->shape.extent[d] = 1 + draw(drawn, 3);
    } else if (form == 1) {
        reach->stride = 1 + draw(drawn, 3);
        reach->window = 1 + draw(drawn, 4);
        reach->before = (int64_t)draw(drawn, 6) - 2;
        int64_t covered =
            (int64_t)((map - 1) * reach->stride + reach->window) - reach->before - (int64_t)draw(drawn, 4);
        operand->shape.extent[d] = covered > 0 ? (uint64_t)covered : 1;
    }
}

static bool draw_operand(Drawn *drawn, SweepOperand *operand, Role role) {
    static const uint32_t widths[] = {8, 8, 16, 32, 4};
    operand->shape = drawn->sweep.out.shape;
    operand->shape.bits = widths[draw(drawn, 5)];
    operand->role = role;
    operand->is_far = draw(drawn, 5) > 0;
    operand->is_map = draw(drawn, 2) == 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        operand->reach[d] = (Reach){.of = REACH_ALL, .stride = 1, .window = 1};
        if (d <= DIM_W) {
            draw_reach(drawn, operand, d);
        }
    }
    bool ok = lay_out(drawn, operand);
    for (int d = 0; ok && d < DIM_COUNT; d++) {
        operand->reach[d].grain = view_grain(&operand->whole, (Dim)d);
    }
    return ok;
}

static uint64_t multiple(uint64_t value, uint64_t of) {
    return up(value, of) * of;
}

/* A tile begins where blocks begin of all that goes along with the map, index for index. */
static void widen_tile(Drawn *drawn, const SweepOperand *operand) {
    for (int d = 0; d < DIM_COUNT; d++) {
        const Reach *reach = &operand->reach[d];
        if (reach_is_same(reach)) {
            drawn->choice.tile[reach->of] = multiple(drawn->choice.tile[reach->of], reach->grain);
        }
    }
}

static bool is_aligned(const Drawn *drawn, const SweepOperand *operand) {
    bool aligned = true;
    for (int d = 0; d < DIM_COUNT; d++) {
        const Reach *reach = &operand->reach[d];
        aligned = aligned && (!reach_is_same(reach) || drawn->choice.tile[reach->of] % reach->grain == 0);
    }
    return aligned;
}

static void draw_choice(Drawn *drawn, uint64_t largest) {
    SweepChoice *choice = &drawn->choice;
    choice->schedule = SCHEDULE_FUSED + (Schedule)draw(drawn, 3);
    choice->over_input = draw(drawn, 3) == 0;
    choice->is_resident = draw(drawn, 2) == 0;
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t whole = drawn->sweep.out.shape.extent[d];
        choice->tile[d] = draw(drawn, 4) == 0 ? whole : 1 + draw(drawn, whole < largest ? whole : largest);
    }
    widen_tile(drawn, &drawn->sweep.in);
    widen_tile(drawn, &drawn->sweep.out);
    for (uint32_t i = 0; i < drawn->sweep.param_count; i++) {
        widen_tile(drawn, &drawn->params[i]);
    }
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t whole = drawn->sweep.out.shape.extent[d];
        choice->tile[d] = choice->tile[d] < whole ? choice->tile[d] : whole;
    }
}

static void draw_engine(Drawn *drawn) {
    Sweep *sweep = &drawn->sweep;
    sweep->node_count = 1 + (uint32_t)draw(drawn, 2);
    for (int k = 0; k < 4; k++) {
        drawn->stage_bits[k] = (uint32_t)4 << draw(drawn, 4);
        drawn->stage_count[k % 2] = 1 + (uint32_t)draw(drawn, 2);
    }
    drawn->between_bits[0] = 8;
    sweep->stage_count = drawn->stage_count;
    sweep->stage_bits = drawn->stage_bits;
    sweep->between_bits = drawn->between_bits;
    sweep->macs = draw(drawn, 3) == 0 ? 1 + draw(drawn, 40) : 0;
    sweep->passes = draw(drawn, 3) == 0 ? 1 + draw(drawn, 5) : 0;
}

/* No part has more elements than can be counted one by one. */
static bool has_small_parts(const Drawn *drawn, const SweepOperand *operand, bool stays) {
    uint64_t extent[DIM_COUNT], elements = 1;
    bool ok = stays || sweep_part_extent(&drawn->sweep, &drawn->choice, operand, extent);
    for (int d = 0; ok && d < DIM_COUNT; d++) {
        elements *= stays ? operand->shape.extent[d] : extent[d];
    }
    return ok && elements <= MOST_ELEMENTS;
}

static bool draw_sweep(Drawn *drawn, const Device *preset, const uint64_t extent[4], uint64_t largest) {
    Sweep *sweep = &drawn->sweep;
    draw_device(drawn, preset);
    *sweep = (Sweep){.device = &drawn->device, .params = drawn->params, .cut = SWEEP_ALL_DIMS};
    sweep->out = (SweepOperand){.role = ROLE_ACTIVATION, .is_far = draw(drawn, 5) > 0};
    sweep->out.shape =
        (LayoutShape){.extent = {extent[0], extent[1], extent[2], extent[3], 1, 1}, .bits = 8, .rank = 4};
    bool ok = lay_out(drawn, &sweep->out);
    if (ok) {
        sweep_follow(&sweep->out, &sweep->out.shape);
        ok = draw_operand(drawn, &sweep->in, ROLE_ACTIVATION);
    }
    uint32_t params = (uint32_t)draw(drawn, MOST_PARAMS + 1);
    for (uint32_t i = 0; ok && i < params; i++) {
        ok = draw_operand(drawn, &drawn->params[i], ROLE_ACTIVATION);
    }
    sweep->param_count = params;
    if (!ok) {
        return false;
    }
    draw_engine(drawn);
    draw_choice(drawn, largest);
    ok = is_aligned(drawn, &sweep->in) && is_aligned(drawn, &sweep->out) && has_small_parts(drawn, &sweep->in, false) &&
         has_small_parts(drawn, &sweep->out, false);
    for (uint32_t i = 0; ok && i < params; i++) {
        ok = is_aligned(drawn, &drawn->params[i]) &&
             has_small_parts(drawn, &drawn->params[i], sweep_stays(&drawn->choice, sweep, &drawn->params[i]));
    }
    return ok;
}

/* ---- The comparison */

static void must_agree(const Drawn *drawn, uint64_t seed, const SweepCost *told, const SweepCost *counted) {
    static const char *const column[] = {"load input", "load parameters", "compute", "store"};
    static const char *const sum[] = {"bytes", "commands", "descriptors", "bursts", "cycles"};
    uint64_t tiles = 1;
    for (int d = 0; d < DIM_COUNT; d++) {
        tiles *= up(drawn->sweep.out.shape.extent[d], drawn->choice.tile[d]);
    }
    assert_int_equal(counted->tiles, tiles);
    if (told->tiles != counted->tiles || told->cycles != counted->cycles || told->syncs != counted->syncs) {
        fail_msg("seed %llu: %llu tiles, %llu cycles, %llu waits; counted %llu, %llu, %llu", (unsigned long long)seed,
                 (unsigned long long)told->tiles, (unsigned long long)told->cycles, (unsigned long long)told->syncs,
                 (unsigned long long)counted->tiles, (unsigned long long)counted->cycles,
                 (unsigned long long)counted->syncs);
    }
    for (int k = 0; k < SWEEP_KINDS; k++) {
        const ColumnCost *a = &told->column[k], *b = &counted->column[k];
        uint64_t pairs[5][2] = {{a->bytes, b->bytes},
                                {a->commands, b->commands},
                                {a->descriptors, b->descriptors},
                                {a->bursts, b->bursts},
                                {a->cycles, b->cycles}};
        for (int s = 0; s < 5; s++) {
            if (pairs[s][0] != pairs[s][1]) {
                fail_msg("seed %llu, %s: %llu %s, counted %llu", (unsigned long long)seed, column[k],
                         (unsigned long long)pairs[s][0], sum[s], (unsigned long long)pairs[s][1]);
            }
        }
    }
}

/* Once from an idle device, then again behind itself. */
static void compare(const Drawn *drawn, uint64_t seed) {
    Timeline timeline = {0};
    SweepMoves moves = {0};
    Count count = {0};
    for (int turn = 0; turn < 2; turn++) {
        SweepCost told;
        assert_true(sweep_cost(&drawn->sweep, &drawn->choice, &moves, &timeline, &told));
        count_sweep(&count, drawn);
        must_agree(drawn, seed, &told, &count.cost);
        if (turn == 0 && sweep_least_cycles(&drawn->sweep, &drawn->choice) > told.cycles) {
            fail_msg("seed %llu: at least %llu cycles, but it takes %llu", (unsigned long long)seed,
                     (unsigned long long)sweep_least_cycles(&drawn->sweep, &drawn->choice),
                     (unsigned long long)told.cycles);
        }
    }
}

static const Device *preset_of(uint64_t seed, Work *work) {
    static const char *const presets[] = {"teach",          "rk3588-npu",  "nvdla-small",
                                          "sophgo-bm1684x", "ascend-220x", "gap8"};
    return device_load(work, str_from(presets[seed % (sizeof presets / sizeof presets[0])]));
}

static uint64_t seed_of(uint64_t k) {
    const char *text = getenv("S0_SEED");
    return k + (text == NULL ? 1 : strtoull(text, NULL, 10));
}

static void test_small_sweeps(Work *work) {
    uint64_t compared = 0;
    for (uint64_t k = 0; k < SWEEPS; k++) {
        uint64_t seed = seed_of(k);
        Drawn drawn = {.random = seed * 0x9E3779B97F4A7C15u};
        uint64_t same = 1 + draw(&drawn, 9), extent[4];
        bool is_equal = draw(&drawn, 4) == 0;
        for (int d = 0; d < 4; d++) {
            extent[d] = is_equal ? same : 1 + draw(&drawn, d == DIM_N ? 4 : 20);
        }
        if (draw_sweep(&drawn, preset_of(draw(&drawn, 6), work), extent, 5)) {
            compare(&drawn, seed);
            compared++;
        }
    }
    assert_true(3 * compared > SWEEPS);
}

/* Tiles of a few elements of maps that are long along one or two dimensions. */
static void test_large_sweeps(Work *work) {
    static const uint64_t extents[][4] = {{2, 3, 300, 150}, {1, 2, 500, 201}, {5, 40, 50, 51}, {1, 260, 9, 90}};
    uint64_t large = 0, largest = 0;
    for (uint64_t k = 0; large < LARGE_SWEEPS && k < 4000; k++) {
        uint64_t seed = seed_of(k), tiles = 1;
        Drawn drawn = {.random = seed * 0xD1342543DE82EF95u};
        bool is_drawn = draw_sweep(&drawn, preset_of(draw(&drawn, 6), work), extents[k % 4], 2);
        for (int d = 0; is_drawn && d < DIM_COUNT; d++) {
            tiles *= up(drawn.sweep.out.shape.extent[d], drawn.choice.tile[d]);
        }
        if (is_drawn && tiles > 60000) {
            compare(&drawn, seed);
            large++;
            largest = tiles > largest ? tiles : largest;
        }
    }
    assert_int_equal(large, LARGE_SWEEPS);
    assert_true(largest > 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(test_small_sweeps),
        WORK_TEST(test_large_sweeps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
