/* Proves on random contracts, and on those of real devices, against walks over all indices: that the digits of an index
 * in a box add to those of the box's first, from multiples of the grain on, also as a view of its own; where a flat
 * view puts each element; how far a view reaches; and that lines share no byte where the view says so. */
#include "layout/boxes.h"

enum { BOX_DRAWS = 2000 };

/* ---- The grain */

static const char *check_box_adds(const View *view, const ViewBox *box) {
    const uint64_t zero[DIM_COUNT] = {0};
    LayoutShape shape = shape_of_box(view, box);
    uint64_t heads = view_address_bits(view, zero);
    uint64_t i[DIM_COUNT] = {0}, index[DIM_COUNT];
    ViewAddress first = view_address(view, box->first);
    do {
        add_first(box, i, index);
        if (view_address_bits(view, index) != first.byte * 8 + first.bit + view_address_bits(view, i) - heads) {
            return "the address in a box";
        }
        if (view_address(view, index).bank != first.bank + view_address(view, i).bank) {
            return "the lane in a box";
        }
    } while (view_next_index(&shape, i));
    return NULL;
}

/* A box as a view of its own: where each element lies, and how many bytes that is. */
static const char *check_narrow(const View *view, const ViewBox *box) {
    const uint64_t zero[DIM_COUNT] = {0};
    View part = *view;
    uint64_t i[DIM_COUNT] = {0}, index[DIM_COUNT];
    bool has_lane = view_address(view, box->first).bank != view_address(view, zero).bank;
    if (!view_narrow(&part, box)) {
        return has_lane && memcmp(&part, view, sizeof part) == 0 ? NULL : "a box that is no view";
    }
    if (has_lane || memcmp(part.shape.extent, box->extent, sizeof box->extent) != 0) {
        return "the shape of a box";
    }
    do {
        add_first(box, i, index);
        ViewAddress at = view_address(view, index), own = view_address(&part, i);
        if (own.bank != at.bank || own.byte != at.byte || own.bit != at.bit) {
            return "the address in the view of a box";
        }
    } while (view_next_index(&part.shape, i));
    return NULL;
}

/* ---- Flat views */

static const char *check_flat(const View *view) {
    View flat = *view;
    uint64_t index[DIM_COUNT] = {0};
    uint64_t last_lane = 0, all_lanes = 0;
    if (!view_flatten(&flat)) {
        return memcmp(&flat, view, sizeof flat) == 0 && view->level_count + view->bank_term_count > VIEW_MAX_LEVELS
                   ? NULL
                   : "flattening refused";
    }
    do {
        ViewAddress at = view_address(view, index), to = view_address(&flat, index);
        uint64_t found[DIM_COUNT];
        last_lane = at.bank > last_lane ? at.bank : last_lane;
        if (to.bank != 0 || to.byte != at.bank * view->bank_bytes + at.byte || to.bit != at.bit) {
            return "the address in a flat view";
        }
        if (!view_find_index(view, at.bank, at.byte * 8 + at.bit, index) ||
            !view_find_index(&flat, 0, to.byte * 8 + to.bit, found) || memcmp(found, index, sizeof found) != 0) {
            return "the element behind a flat address";
        }
    } while (view_next_index(&view->shape, index));
    if (flat.bank_term_count != 0 || flat.banks_used != 1 || flat.bank_bytes != (last_lane + 1) * view->bank_bytes) {
        return "the footprint of a flat view";
    }
    bool fits = view_all_banks_bytes(view->bank_bytes, view->banks_used, &all_lanes);
    if (!fits || flat.bank_bytes < all_lanes || (view->bank_term_count <= 1 && flat.bank_bytes != all_lanes)) {
        return "the bytes of all lanes";
    }
    return view_touched_bytes(&flat) == view_touched_bytes(view) ? NULL : "the bytes that a flat view touches";
}

/* ---- How far a view reaches */

static const char *check_reach(const View *view) {
    uint64_t index[DIM_COUNT] = {0};
    uint64_t end = 0;
    do {
        uint64_t bits = view_address_bits(view, index) + view->shape.bits;
        end = bits > end ? bits : end;
    } while (view_next_index(&view->shape, index));
    return view_extent_bytes(view) == (end + 7) / 8 ? NULL : "the bytes up to the last element";
}

/* ---- Lines */

static uint64_t line_of(const View *view, const uint64_t index[DIM_COUNT]) {
    return index[DIM_N] * view->shape.extent[DIM_H] + index[DIM_H] + 1;
}

/* Which line each byte of each lane belongs to: no other one may, unless the view says so. */
static const char *check_lines(Work *work, const View *view) {
    View flat = *view;
    uint64_t index[DIM_COUNT] = {0};
    bool share = false;
    if (!view_flatten(&flat)) {
        return NULL;
    }
    uint64_t *line = arena_array(&work->scratch, uint64_t, (size_t)view_extent_bytes(&flat));
    do {
        ViewAddress at = view_address(&flat, index);
        uint64_t own = line_of(view, index);
        for (uint64_t byte = at.byte; byte <= at.byte + (at.bit + view->shape.bits - 1) / 8; byte++) {
            share = share || (line[byte] != 0 && line[byte] != own);
            line[byte] = own;
        }
    } while (view_next_index(&view->shape, index));
    bool is_told = view_lines_share_bytes(view);
    return (share && !is_told) || (is_told && view->shape.bits % 8 == 0) ? "the bytes of lines" : NULL;
}

static const char *check_view(Work *work, uint64_t *seed, const View *view) {
    const char *wrong = check_flat(view);
    wrong = wrong != NULL ? wrong : check_reach(view);
    wrong = wrong != NULL ? wrong : check_lines(work, view);
    for (int k = 0; wrong == NULL && k < 4; k++) {
        ViewBox box = draw_box(seed, view);
        wrong = check_box_adds(view, &box);
        wrong = wrong != NULL ? wrong : check_narrow(view, &box);
    }
    return wrong;
}

typedef struct {
    uint64_t *seed;
    const Draw *draw;
} BoxDraw;

static void check_draw(Work *work, const void *argument) {
    const BoxDraw *drawn = argument;
    View view = resolve_draw(work, drawn->draw);
    const char *wrong = check_view(work, drawn->seed, &view);
    if (wrong != NULL) {
        char text[1024];
        draw_print(drawn->draw, text, sizeof text);
        fail_msg("%s: %s", wrong, text);
    }
}

static void boxes_agree_with_all_indices(void **state) {
    uint64_t seed = UINT64_C(0x5EED0002);
    (void)state;
    for (uint32_t done = 0; done < BOX_DRAWS;) {
        Draw draw = draw_contract(&seed);
        if (elements_of(draw.extent) > MOST_ELEMENTS) {
            continue;
        }
        BoxDraw argument = {&seed, &draw};
        with_work(check_draw, &argument);
        done++;
    }
}

static void boxes_of_devices_agree_with_all_indices(Work *work) {
    static const uint64_t EXTENT[][4] = {
        {2, 130, 3, 5}, {1, 1, 20, 28}, {2, 20, 17, 3}, {2, 2, 2, 2}, {1, 70, 9, 40}, {3, 5, 7, 6}, {16, 16, 16, 16},
    };
    uint64_t seed = UINT64_C(0x5EED0003);
    for (size_t c = 0; c < KNOWN_COUNT; c++) {
        for (size_t e = 0; e < sizeof EXTENT / sizeof EXTENT[0]; e++) {
            const uint64_t *x = EXTENT[e];
            View view = resolve(work, known_contracts[c], shape_nchw(e % 2 ? 4 : 8, x[0], x[1], x[2], x[3]));
            const char *wrong = check_view(work, &seed, &view);
            if (wrong != NULL) {
                fail_msg("'%s' at row %zu: %s", known_contracts[c], e, wrong);
            }
        }
    }
}

typedef struct {
    const char *contract;
    uint64_t w; /* extent */
    uint64_t grain_c, grain_w;
} KnownGrain;

static const KnownGrain known_grains[] = {
    {"N H W C@16", 40, 1, 1},
    {"N H C/16 W C%16", 40, 16, 1},
    {"bank[C%64] N C/64 H@64 W", 40, 64, 1},
    {"bank[C/4%16] N C/64 C%4 H W", 40, 64, 1},
    {"bank[C/8] N H W C%8", 40, 8, 1},
    {"when W<=16: N C/4 H C%4 W@16 | when W<=32: N C/2 H C%2 W@32 | N C H W@64", 16, 4, 1},
    {"when W<=16: N C/4 H C%4 W@16 | when W<=32: N C/2 H C%2 W@32 | N C H W@64", 32, 2, 1},
    {"when W<=16: N C/4 H C%4 W@16 | when W<=32: N C/2 H C%2 W@32 | N C H W@64", 33, 1, 1},
    {"N H/8 W/8 C/32 H%8 W/2%4 C%32 W%2", 40, 32, 8},
    {"N C H W/32+2 W%16 W/16%2", 40, 1, 32},
};

static void known_grains_come_out(Work *work) {
    for (size_t i = 0; i < sizeof known_grains / sizeof known_grains[0]; i++) {
        const KnownGrain *row = &known_grains[i];
        View view = resolve(work, row->contract, shape_nchw(8, 2, 130, 5, row->w));
        if (view_grain(&view, DIM_C) != row->grain_c || view_grain(&view, DIM_W) != row->grain_w ||
            view_grain(&view, DIM_N) != 1 || view_grain(&view, DIM_O) != 1) {
            fail_msg("row %zu, '%s'", i, row->contract);
        }
    }
    View param = resolve(work, "N C H W/32 W%32", shape_nchw(8, 1, 5, 1, 1));
    LayoutShape map = shape_nchw(8, 1, 5, 3, 40);
    assert_int_equal(view_grain(&param, DIM_W), 32);
    assert_true(view_broadcast(&param, &map));
    assert_int_equal(view_grain(&param, DIM_W), 1); /* every index reads what index 0 does */
}

/* Lanes between which others stay empty; more terms than a view holds levels; sizes that fit no more; no elements. */
static void edges_of_flattening(Work *work) {
    View view = resolve(work, "bank[C%2 H%3] N C/2 H/3 W", shape_nchw(8, 1, 2, 2, 5));
    assert_int_equal(view.banks_used, 4);
    assert_true(view_flatten(&view));
    assert_int_equal(view.bank_bytes, 5 * 5); /* lanes 0 1 3 4 */

    const char *many = "bank[N%2 N/2] C%2 C/2%2 C/4%2 C/8 H%2 H/2%2 H/4%2 H/8 W%2 W/2%2 W/4%2 W/8%2 W/16 O I/2 I%2";
    view = resolve(work, many, shape_nchw(8, 2, 3, 3, 3));
    assert_int_equal(view.level_count + view.bank_term_count, VIEW_MAX_LEVELS + 2);
    View before = view;
    assert_false(view_flatten(&view));
    assert_memory_equal(&view, &before, sizeof view);

    uint64_t half = UINT64_C(1) << 60;
    view = resolve(work, "bank[C] N H W", shape_nchw(8, 1, 1, half, 1));
    assert_true(view_flatten(&view));
    assert_int_equal(view.bank_bytes, half);
    view = resolve(work, "bank[C%4] C/4 N H W total@1152921504606846976", shape_nchw(8, 1, 3, 1, 1));
    before = view;
    assert_false(view_flatten(&view));
    assert_memory_equal(&view, &before, sizeof view);

    view = resolve(work, "bank[C%4] N C/4 H@64 W", shape_nchw(8, 2, 0, 5, 5));
    assert_int_equal(view_extent_bytes(&view), 0);
    assert_true(view_flatten(&view));
    assert_int_equal(view.bank_bytes, 0);
    assert_int_equal(view.banks_used, 0);
}

/* Four bits: lines that run on, that begin at a byte, alone, of several elements in one line. */
static void packed_lines(Work *work) {
    static const struct {
        const char *contract;
        uint64_t h, w;
        bool share;
    } rows[] = {
        {"N C H W", 2, 3, true},  {"N C H W", 2, 4, false},  {"N C H W@1", 2, 3, false},
        {"N C H W", 1, 3, false}, {"N C W H@1", 2, 3, true}, {"N C H/2 W@1 H%2", 4, 3, true},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        View view = resolve(work, rows[i].contract, shape_nchw(4, 1, 2, rows[i].h, rows[i].w));
        if (view_lines_share_bytes(&view) != rows[i].share) {
            fail_msg("row %zu, '%s'", i, rows[i].contract);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(boxes_agree_with_all_indices),
        WORK_TEST(boxes_of_devices_agree_with_all_indices),
        WORK_TEST(known_grains_come_out),
        WORK_TEST(edges_of_flattening),
        WORK_TEST(packed_lines),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
