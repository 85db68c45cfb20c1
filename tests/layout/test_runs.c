/* Proves on random pairs of contracts, and on all pairs of those of real devices, that the cost of moving a box is that
 * of its runs counted bit by bit; that rows calculated by hand come out; and that no box is too large. */
#include "layout/boxes.h"

enum { COST_DRAWS = 4000 };

/* ---- Runs, counted bit by bit */

typedef struct {
    uint64_t lane, bit; /* in the source; lane UINT64_MAX: no data of the box */
} Source;

static uint64_t whole_units(uint64_t bytes, uint64_t unit) {
    uint64_t units = 0;
    while (units * unit < bytes) {
        units++;
    }
    return units;
}

static void count_run(const RunRule *rule, uint64_t bits, RunCost *cost) {
    uint64_t bytes = whole_units(whole_units(bits, 8), rule->align_bytes) * rule->align_bytes;
    bytes = bytes < rule->min_bytes ? rule->min_bytes : bytes;
    uint64_t burst_bytes = rule->burst_bytes == 0 ? bytes : rule->burst_bytes;
    cost->descriptors++;
    cost->bursts += whole_units(bytes, burst_bytes);
    cost->burst_bytes_moved += whole_units(bytes, burst_bytes) * burst_bytes;
}

static void mark_sources(const View *to, const ViewBox *to_box, const View *from, const ViewBox *from_box,
                         Source *source) {
    LayoutShape shape = shape_of_box(to, to_box);
    uint64_t i[DIM_COUNT] = {0}, index[DIM_COUNT];
    do {
        add_first(to_box, i, index);
        ViewAddress target = view_address(to, index);
        add_first(from_box, i, index);
        ViewAddress at = view_address(from, index);
        for (uint64_t bit = 0; bit < shape.bits; bit++) {
            uint64_t place = target.bank * to->bank_bytes * 8 + target.byte * 8 + target.bit + bit;
            source[place] = (Source){at.bank, at.byte * 8 + at.bit + bit};
        }
    } while (view_next_index(&shape, i));
}

static RunCost count_runs(const View *to, const ViewBox *to_box, const View *from, const ViewBox *from_box,
                          const RunRule *rule) {
    uint64_t lanes = 1;
    RunCost cost = {0};
    for (uint32_t k = 0; k < to->bank_term_count; k++) {
        lanes *= to->bank_term[k].extent;
    }
    uint64_t lane_bits = to->bank_bytes * 8;
    Source *source = malloc(lanes * lane_bits * sizeof *source);
    memset(source, 0xFF, lanes * lane_bits * sizeof *source);
    mark_sources(to, to_box, from, from_box, source);
    for (uint64_t lane = 0; lane < lanes; lane++) {
        const Source *at = &source[lane * lane_bits];
        uint64_t run_bits = 0;
        for (uint64_t bit = 0; bit < lane_bits; bit++) {
            bool is_data = at[bit].lane != UINT64_MAX;
            run_bits += is_data;
            bool goes_on = is_data && bit + 1 < lane_bits && at[bit + 1].lane == at[bit].lane &&
                           at[bit + 1].bit == at[bit].bit + 1;
            if (run_bits > 0 && !goes_on) {
                count_run(rule, run_bits, &cost);
                run_bits = 0;
            }
        }
    }
    free(source);
    return cost;
}

static bool same_cost(const RunCost *a, const RunCost *b) {
    return a->descriptors == b->descriptors && a->bursts == b->bursts && a->burst_bytes_moved == b->burst_bytes_moved;
}

static RunRule draw_rule(uint64_t *seed) {
    return (RunRule){1 + draw_below(seed, 5), 1 + draw_below(seed, 9), draw_below(seed, 7)};
}

/* Two boxes of one extent: as far as both views have room. */
static void draw_boxes(uint64_t *seed, const View *to, const View *from, ViewBox *to_box, ViewBox *from_box) {
    *to_box = draw_box(seed, to);
    *from_box = draw_box(seed, from);
    for (int d = 0; d < DIM_COUNT; d++) {
        uint64_t to_room = to->shape.extent[d] - to_box->first[d];
        uint64_t from_room = from->shape.extent[d] - from_box->first[d];
        uint64_t room = to_room < from_room ? to_room : from_room;
        bool is_full = draw_one_in(seed, 2);
        to_box->extent[d] = is_full || to_box->extent[d] > room ? room : to_box->extent[d];
        from_box->extent[d] = to_box->extent[d];
    }
}

/* What is wrong, or null. */
static const char *check_cost(uint64_t *seed, const View *to, const View *from) {
    ViewBox to_box, from_box;
    RunRule rule = draw_rule(seed);
    RunCost got;
    draw_boxes(seed, to, from, &to_box, &from_box);
    if (!view_run_cost(to, &to_box, from, &from_box, &rule, &got)) {
        return "a cost refused";
    }
    RunCost expected = count_runs(to, &to_box, from, &from_box, &rule);
    if (!same_cost(&got, &expected)) {
        print_message("got %u runs %u bursts, expected %u runs %u bursts, box", (unsigned)got.descriptors,
                      (unsigned)got.bursts, (unsigned)expected.descriptors, (unsigned)expected.bursts);
        for (int d = 0; d < DIM_COUNT; d++) {
            print_message(" %u/%u+%u", (unsigned)to_box.first[d], (unsigned)from_box.first[d],
                          (unsigned)to_box.extent[d]);
        }
        print_message("\n");
        return "the cost of runs";
    }
    return NULL;
}

/* Another contract over the dimensions of `draw`. */
static Draw draw_like(uint64_t *seed, const Draw *draw) {
    Draw other = *draw;
    other.item = (BruteCase){.total = 1};
    for (int k = 0; k < draw->item.count; k++) {
        if (draw->item.term[k].mod == 0) {
            draw_dim(seed, draw->item.term[k].dim, &other.item);
        }
    }
    draw_order(seed, &other.item);
    draw_partition(&other.item);
    if (draw_one_in(seed, 2)) {
        draw_padding(seed, &other.item);
    }
    return other;
}

typedef struct {
    uint32_t same, equal, repeated, laned;
} Seen;

/* Extents of the source: those of the destination, more, or 1 that repeat. */
static Draw draw_source(uint64_t *seed, const Draw *to, Seen *seen) {
    bool is_same = draw_one_in(seed, 3), is_repeated = draw_one_in(seed, 4), is_equal = draw_one_in(seed, 3);
    Draw from = is_same ? *to : draw_like(seed, to);
    for (int k = 0; k < to->item.count; k++) {
        uint64_t *extent = &from.extent[to->item.term[k].dim];
        if (to->item.term[k].mod == 0 && !is_equal) {
            *extent = is_repeated && draw_one_in(seed, 2) ? 1 : *extent + draw_below(seed, 6);
        }
    }
    seen->same += is_same;
    seen->equal += is_same && is_equal;
    return from;
}

static const char *check_pair(uint64_t *seed, Work *work, const Draw *to_draw, const Draw *from_draw, Seen *seen) {
    View to = resolve_draw(work, to_draw), from = resolve_draw(work, from_draw);
    LayoutShape shape = from.shape;
    bool is_repeated = false;
    for (int d = 0; d < DIM_COUNT; d++) {
        bool repeats = from.shape.extent[d] == 1 && to.shape.extent[d] > 1;
        shape.extent[d] = repeats ? to.shape.extent[d] : shape.extent[d];
        is_repeated = is_repeated || repeats;
    }
    if (is_repeated && !view_broadcast(&from, &shape)) {
        return "a broadcast refused";
    }
    seen->repeated += is_repeated;
    seen->laned += to.bank_term_count > 0 && from.bank_term_count > 0;
    const char *wrong = NULL;
    for (int k = 0; wrong == NULL && k < 3; k++) {
        wrong = check_cost(seed, &to, &from);
    }
    return wrong;
}

typedef struct {
    uint64_t *seed;
    const Draw *to, *from;
    Seen *seen;
} PairDraw;

static void check_draws(Work *work, const void *argument) {
    const PairDraw *drawn = argument;
    const char *wrong = check_pair(drawn->seed, work, drawn->to, drawn->from, drawn->seen);
    if (wrong != NULL) {
        char to[1024], from[1024];
        draw_print(drawn->to, to, sizeof to);
        draw_print(drawn->from, from, sizeof from);
        fail_msg("%s: %s from %s", wrong, to, from);
    }
}

static void costs_agree_with_all_bits(void **state) {
    uint64_t seed = UINT64_C(0x5EED0004);
    Seen seen = {0};
    (void)state;
    for (uint32_t done = 0; done < COST_DRAWS;) {
        Draw to = draw_contract(&seed);
        for (int k = 0; k < to.item.count; k++) {
            bool grows = to.item.term[k].mod == 0 && draw_one_in(&seed, 2);
            to.extent[to.item.term[k].dim] += grows ? draw_below(&seed, 9) : 0;
        }
        if (elements_of(to.extent) > MOST_ELEMENTS) {
            continue;
        }
        Draw from = draw_source(&seed, &to, &seen);
        PairDraw argument = {&seed, &to, &from, &seen};
        with_work(check_draws, &argument);
        done++;
    }
    print_message("%u draws: one contract %u, of one extent %u, repeated %u, lanes on both sides %u\n", COST_DRAWS,
                  seen.same, seen.equal, seen.repeated, seen.laned);
    assert_true(seen.equal > COST_DRAWS / 20 && seen.repeated > COST_DRAWS / 20 && seen.laned > COST_DRAWS / 40);
}

/* Every pair of the contracts of devices; a parameter repeated; and what view_flatten and view_widen make of views. */
static void costs_of_devices_agree_with_all_bits(Work *work) {
    static const uint64_t EXTENT[][4] = {
        {2, 20, 3, 5}, {1, 1, 9, 10}, {1, 70, 2, 3}, {2, 12, 9, 3}, {3, 3, 3, 3}, {1, 5, 2, 40},
    };
    static const uint32_t BITS[] = {8, 4, 32, 80, 8, 4};
    uint64_t seed = UINT64_C(0x5EED0005);
    for (size_t c = 0; c < KNOWN_COUNT * KNOWN_COUNT; c++) {
        for (size_t e = 0; e < sizeof EXTENT / sizeof EXTENT[0]; e++) {
            const char *left = known_contracts[c / KNOWN_COUNT], *right = known_contracts[c % KNOWN_COUNT];
            const uint64_t *x = EXTENT[e];
            LayoutShape shape = shape_nchw(BITS[e], x[0], x[1], x[2], x[3]);
            View to = resolve(work, left, shape), from = resolve(work, right, shape), flat = from, blocks = to;
            View param = resolve(work, right, shape_nchw(BITS[e], 1, x[1], 1, 1));
            assert_true(view_flatten(&flat) && view_widen(&blocks, 16) && view_broadcast(&param, &shape));
            const char *wrong = check_cost(&seed, &to, &from);
            wrong = wrong != NULL ? wrong : check_cost(&seed, &to, &flat);
            wrong = wrong != NULL ? wrong : check_cost(&seed, &flat, &to);
            wrong = wrong != NULL ? wrong : check_cost(&seed, &blocks, &from);
            wrong = wrong != NULL ? wrong : check_cost(&seed, &to, &param);
            if (wrong != NULL) {
                fail_msg("'%s' from '%s' at row %zu: %s", left, right, e, wrong);
            }
        }
    }
}

/* ---- Runs by hand */

typedef struct {
    const char *what, *to, *from;
    uint32_t bits;
    uint64_t to_extent[4], from_extent[4]; /* N C H W */
    uint64_t to_first_c, from_first_c;
    uint64_t extent[4]; /* of the box; 1 in from_extent repeats */
    RunRule rule;
    RunCost cost;
} KnownCost;

#define TIGHT                                                                                                          \
    { 1, 1, 0 }

static const KnownCost known_costs[] = {
    {"a dense map, whole",
     "N H W C",
     "N H W C",
     8,
     {1, 12, 20, 28},
     {1, 12, 20, 28},
     0,
     0,
     {1, 12, 20, 28},
     TIGHT,
     {1, 1, 6720}},
    {"the same in bursts of 64",
     "N H W C",
     "N H W C",
     8,
     {1, 12, 20, 28},
     {1, 12, 20, 28},
     0,
     0,
     {1, 12, 20, 28},
     {1, 1, 64},
     {1, 105, 6720}},
    {"16 channels of 64 a pixel",
     "N H W C",
     "N H W C",
     8,
     {1, 16, 20, 28},
     {1, 64, 20, 28},
     0,
     16,
     {1, 16, 20, 28},
     {1, 1, 32},
     {560, 560, 560 * 32}},
    {"and back",
     "N H W C",
     "N H W C",
     8,
     {1, 64, 20, 28},
     {1, 16, 20, 28},
     48,
     0,
     {1, 16, 20, 28},
     {1, 1, 6},
     {560, 560 * 3, 560 * 18}},
    {"two lines of a map of 20",
     "N H W C",
     "N H W C",
     8,
     {1, 12, 2, 28},
     {1, 12, 20, 28},
     0,
     0,
     {1, 12, 2, 28},
     TIGHT,
     {1, 1, 672}},
    {"12 channels in a block of 16",
     "N H C/16 W C%16",
     "N H W C",
     8,
     {1, 12, 20, 28},
     {1, 12, 20, 28},
     0,
     0,
     {1, 12, 20, 28},
     {16, 1, 16},
     {560, 560, 8960}},
    {"20 channels in two blocks: 16 and 4 a pixel",
     "N H C/16 W C%16",
     "N H W C",
     8,
     {1, 20, 3, 28},
     {1, 20, 3, 28},
     0,
     0,
     {1, 20, 3, 28},
     TIGHT,
     {2 * 84, 2 * 84, 84 * 20}},
    {"the same of one pixel a line: 20 together",
     "N H C/16 W C%16",
     "N H W C",
     8,
     {1, 20, 3, 1},
     {1, 20, 3, 1},
     0,
     0,
     {1, 20, 3, 1},
     TIGHT,
     {3, 3, 60}},
    {"the blocks of one line, both sides alike: the first whole, of the second 4 a pixel",
     "N H C/16 W C%16",
     "N H C/16 W C%16",
     8,
     {1, 20, 1, 28},
     {1, 20, 1, 28},
     0,
     0,
     {1, 20, 1, 28},
     TIGHT,
     {28, 28, 28 * 20}},
    {"a vector at each pixel",
     "N H W C",
     "N H W C",
     8,
     {1, 12, 20, 28},
     {1, 12, 1, 1},
     0,
     0,
     {1, 12, 20, 28},
     {4, 16, 8},
     {560, 560 * 2, 560 * 16}},
    {"one value everywhere",
     "N H W C",
     "N H W C",
     8,
     {1, 1, 20, 28},
     {1, 1, 1, 1},
     0,
     0,
     {1, 1, 20, 28},
     TIGHT,
     {560, 560, 560}},
    {"lines of 5 nibbles, each at a byte",
     "N C H W@1",
     "N C H W",
     4,
     {2, 3, 4, 5},
     {2, 3, 4, 5},
     0,
     0,
     {2, 3, 4, 5},
     TIGHT,
     {24, 24, 24 * 3}},
    {"5 channels in 5 lanes",
     "bank[C%64] N C/64 H W",
     "N C H W",
     8,
     {1, 5, 4, 7},
     {1, 5, 4, 7},
     0,
     0,
     {1, 5, 4, 7},
     TIGHT,
     {5, 5, 140}},
    {"lane k to lane k",
     "bank[C%4] N C/4 H W",
     "bank[C%4] N C/4 H W",
     8,
     {1, 12, 4, 7},
     {1, 12, 4, 7},
     0,
     0,
     {1, 12, 4, 7},
     TIGHT,
     {4, 4, 336}},
    {"no elements", "N H W C", "N H W C", 8, {1, 12, 0, 28}, {1, 12, 0, 28}, 0, 0, {1, 12, 0, 28}, TIGHT, {0, 0, 0}},
};

static ViewBox box_of(const uint64_t extent[4], uint64_t first_c) {
    LayoutShape shape = shape_nchw(8, extent[0], extent[1], extent[2], extent[3]);
    ViewBox box = view_whole_box(&shape);
    box.first[DIM_C] = first_c;
    return box;
}

static bool find_cost(Work *work, const KnownCost *row, RunCost *cost) {
    const uint64_t *t = row->to_extent, *f = row->from_extent;
    View to = resolve(work, row->to, shape_nchw(row->bits, t[0], t[1], t[2], t[3]));
    View from = resolve(work, row->from, shape_nchw(row->bits, f[0], f[1], f[2], f[3]));
    ViewBox to_box = box_of(row->extent, row->to_first_c), from_box = box_of(row->extent, row->from_first_c);
    LayoutShape shape = from.shape;
    for (int d = 0; d < DIM_COUNT; d++) {
        shape.extent[d] = shape.extent[d] == 1 ? to.shape.extent[d] : shape.extent[d];
    }
    assert_true(view_broadcast(&from, &shape));
    return view_run_cost(&to, &to_box, &from, &from_box, &row->rule, cost);
}

static void known_costs_come_out(Work *work) {
    for (size_t i = 0; i < sizeof known_costs / sizeof known_costs[0]; i++) {
        const KnownCost *row = &known_costs[i];
        RunCost cost;
        if (!find_cost(work, row, &cost) || !same_cost(&cost, &row->cost)) {
            fail_msg("%s: %u runs, %u bursts of %u bytes", row->what, (unsigned)cost.descriptors, (unsigned)cost.bursts,
                     (unsigned)cost.burst_bytes_moved);
        }
    }
}

/* Maps that no walk would come to the end of. */
static const KnownCost huge_costs[] = {
    {"a dense map",
     "N H W C",
     "N H W C",
     8,
     {1, 1 << 20, 1 << 20, 1 << 20},
     {1, 1 << 20, 1 << 20, 1 << 20},
     0,
     0,
     {1, 1 << 20, 1 << 20, 1 << 20},
     TIGHT,
     {1, 1, UINT64_C(1) << 60}},
    {"a dense map in blocks, the last of 4 channels",
     "N H C/16 W C%16",
     "N H W C",
     8,
     {1, 1044, 1 << 20, 1 << 20},
     {1, 1044, 1 << 20, 1 << 20},
     0,
     0,
     {1, 1044, 1 << 20, 1 << 20},
     TIGHT,
     {UINT64_C(66) << 40, UINT64_C(66) << 40, UINT64_C(1044) << 40}},
    {"a value repeated over lines of blocks that do not divide one another",
     "N H C W/3 W%3",
     "N H C W/2 W%2",
     8,
     {1, 1, 1, UINT64_C(3) << 40},
     {1, 1, 1, 1},
     0,
     0,
     {1, 1, 1, UINT64_C(3) << 40},
     TIGHT,
     {UINT64_C(3) << 40, UINT64_C(3) << 40, UINT64_C(3) << 40}},
    {"blocks of 2^41 and of 3 * 2^40, none of which ends inside the line",
     "N H C W/2199023255552 W%2199023255552",
     "N H C W/3298534883328 W%3298534883328",
     8,
     {1, 1, 1, UINT64_C(1) << 40},
     {1, 1, 1, UINT64_C(1) << 40},
     0,
     0,
     {1, 1, 1, UINT64_C(1) << 40},
     TIGHT,
     {1, 1, UINT64_C(1) << 40}},
    {"all digits the wrong way round: no two neighbours meet",
     "bank[W%2 W/2%2 W/4%2 W/8%2 W/16%2 W/32%2 W/64%2 W/128%2] W/256%2 W/512%2 W/1024%2 W/2048%2 W/4096%2 W/8192%2 "
     "W/16384%2 W/32768%2 W/65536%2 W/131072%2 W/262144%2 W/524288%2 W/1048576 C H",
     "C H W",
     8,
     {1, 1, 1, 1398101},
     {1, 1, 1, 1398101},
     0,
     0,
     {1, 1, 1, 1398101},
     TIGHT,
     {1398101, 1398101, 1398101}},
};

static void cost_does_not_grow_with_the_box(Work *work) {
    for (size_t i = 0; i < sizeof huge_costs / sizeof huge_costs[0]; i++) {
        RunCost cost;
        if (!find_cost(work, &huge_costs[i], &cost) || !same_cost(&cost, &huge_costs[i].cost)) {
            fail_msg("%s", huge_costs[i].what);
        }
    }
    KnownCost past = huge_costs[1];
    RunCost cost;
    past.rule.min_bytes = UINT64_C(1) << 18; /* 66 * 2^40 runs of 2^18 bytes: 2^64 and more */
    assert_false(find_cost(work, &past, &cost));
    past = huge_costs[0];
    past.rule = (RunRule){UINT64_MAX, 1, 0};
    assert_true(find_cost(work, &past, &cost));
    past.rule = (RunRule){(UINT64_C(1) << 60) - 1, 1, UINT64_MAX};
    assert_true(find_cost(work, &past, &cost));
    past.rule = (RunRule){1, UINT64_MAX, 2};
    assert_false(find_cost(work, &past, &cost)); /* 2^63 bursts of 2 bytes */
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(costs_agree_with_all_bits),
        WORK_TEST(costs_of_devices_agree_with_all_bits),
        WORK_TEST(known_costs_come_out),
        WORK_TEST(cost_does_not_grow_with_the_box),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
