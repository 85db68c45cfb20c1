/* Proves on random contracts and shapes, against a stream written out by brute force: sizes; addresses, unique, inside
 * the footprint, filling it where nothing pads; their inverse bit by bit; bytes touched; and all of that read through
 * a broadcast, and in blocks. A draw that fails is shrunk and printed. */
#include "layout/draw.h"
#include "layout/support.h"

enum { DRAWS = 3000 };

static LayoutShape shape_of(const Draw *draw) {
    LayoutShape shape = layout_shape((uint32_t)draw->bits, 4);
    memcpy(shape.extent, draw->extent, sizeof draw->extent);
    return shape;
}

/* ---- The properties, each null or what is wrong */

static const char *check_sizes(const Draw *draw, const Brute *brute, const View *view) {
    if (view->bank_bytes != brute->bank_bytes) {
        return "bank_bytes";
    }
    if (view->banks_used != brute->banks_used) {
        return "banks_used";
    }
    return view->logical_bits == brute->elements * draw->bits ? NULL : "logical_bits";
}

static const char *check_addresses(const Brute *brute, const View *view) {
    uint64_t index[DIM_COUNT] = {0};
    uint64_t k = 0;
    do {
        ViewAddress address = view_address(view, index);
        if (address.bank != brute->bank[k] || address.byte * 8 + address.bit != brute->bit[k] || address.bit > 7) {
            return "address";
        }
        if (view_address_bits(view, index) != brute->bit[k]) {
            return "address in bits";
        }
        k++;
    } while (view_next_index(&view->shape, index));
    return k == brute->elements ? NULL : "the number of indices";
}

/* Which element owns each bit of each bank: its number + 1, 0 for padding. */
static uint32_t *new_owners(const Draw *draw, const Brute *brute, const View *view, const char **wrong) {
    uint64_t bank_bits = view->bank_bytes * 8;
    uint64_t addressed = (view->bank_bytes - draw->item.tail) * 8;
    uint32_t *owner = calloc(brute->bank_count * bank_bits, sizeof *owner);
    for (uint64_t k = 0; k < brute->elements; k++) {
        if (brute->bit[k] + draw->bits > addressed) {
            *wrong = "an element outside the footprint";
            return owner;
        }
        for (uint64_t bit = 0; bit < draw->bits; bit++) {
            uint32_t *slot = &owner[brute->bank[k] * bank_bits + brute->bit[k] + bit];
            if (*slot != 0) {
                *wrong = "two elements share a bit";
                return owner;
            }
            *slot = (uint32_t)k + 1;
        }
    }
    return owner;
}

static uint64_t element_number(const Draw *draw, const uint64_t index[DIM_COUNT]) {
    uint64_t k = 0;
    for (int d = 0; d < BRUTE_DIMS; d++) {
        k = k * draw->extent[d] + index[d];
    }
    return k;
}

static const char *check_inverse(const Draw *draw, const Brute *brute, const View *view, const uint32_t *owner) {
    uint64_t index[DIM_COUNT];
    for (uint64_t bank = 0; bank < brute->bank_count; bank++) {
        for (uint64_t bit = 0; bit < view->bank_bytes * 8; bit++) {
            bool found = view_find_index(view, bank, bit, index);
            if ((found ? element_number(draw, index) + 1 : 0) != owner[bank * view->bank_bytes * 8 + bit]) {
                return "the element that owns a bit";
            }
        }
    }
    return view_find_index(view, brute->bank_count, 0, index) ? "a bank past the last" : NULL;
}

static const char *check_touched(const Brute *brute, const View *view, const uint32_t *owner) {
    uint64_t touched = 0;
    for (uint64_t byte = 0; byte < brute->bank_count * view->bank_bytes; byte++) {
        bool is_data = false;
        for (uint64_t bit = 0; bit < 8; bit++) {
            is_data = is_data || owner[byte * 8 + bit] != 0;
        }
        touched += is_data;
    }
    return view_touched_bytes(view) == touched ? NULL : "touched bytes";
}

/* Nothing pads: no min, align, total, tail, and every block is full. */
static bool is_tight(const Draw *draw) {
    bool tight = draw->item.total == 1 && draw->item.tail == 0;
    for (int k = 0; k < draw->item.count; k++) {
        const BruteTerm *term = &draw->item.term[k];
        tight = tight && term->min == 0 && term->align == 0 && !term->is_bank;
        tight = tight && draw->extent[term->dim] % (term->div * (term->mod == 0 ? 1 : term->mod)) == 0;
    }
    return tight;
}

static const char *check_tight(const Draw *draw, const Brute *brute, const View *view) {
    uint64_t largest = 0;
    for (uint64_t k = 0; k < brute->elements; k++) {
        largest = brute->bit[k] > largest ? brute->bit[k] : largest;
    }
    return !is_tight(draw) || view->bank_bytes == (largest + draw->bits + 7) / 8 ? NULL : "a tight footprint";
}

/* Every dimension of extent 1 read at 3, in two steps. */
static const char *check_broadcast(const View *stored) {
    View view = *stored;
    LayoutShape shape = stored->shape;
    uint64_t index[DIM_COUNT] = {0};
    for (int d = 0; d < DIM_COUNT; d++) {
        shape.extent[d] = stored->shape.extent[d] == 1 ? 3 : shape.extent[d];
        if ((d == DIM_C || d == DIM_COUNT - 1) && !view_broadcast(&view, &shape)) {
            return "a broadcast refused";
        }
    }
    do {
        uint64_t source[DIM_COUNT];
        for (int d = 0; d < DIM_COUNT; d++) {
            source[d] = stored->shape.extent[d] == 1 ? 0 : index[d];
        }
        ViewAddress got = view_address(&view, index), expected = view_address(stored, source);
        uint64_t found[DIM_COUNT];
        if (got.bank != expected.bank || got.byte != expected.byte || got.bit != expected.bit) {
            return "a broadcast address";
        }
        if (!view_find_index(&view, got.bank, got.byte * 8 + got.bit, found) ||
            memcmp(found, source, sizeof found) != 0) {
            return "the element behind a broadcast address";
        }
    } while (view_next_index(&shape, index));
    return view_touched_bytes(&view) == view_touched_bytes(stored) ? NULL : "bytes touched through a broadcast";
}

static const char *check_refused_broadcast(const View *stored) {
    for (int d = 0; d < DIM_COUNT; d++) {
        View view = *stored;
        LayoutShape shape = stored->shape;
        shape.extent[d]++;
        if (stored->shape.extent[d] > 1 && (view_broadcast(&view, &shape) || memcmp(&view, stored, sizeof view) != 0)) {
            return "a broadcast of an extent that is not 1, or a view changed by its refusal";
        }
    }
    return NULL;
}

/* Blocks of `grain` bytes: as many as there are elements, one behind the other, or what the contract gives if more. */
static const char *check_blocks(const Brute *brute, const View *stored, uint64_t grain) {
    View view = *stored;
    uint64_t index[DIM_COUNT] = {0}, found[DIM_COUNT], k = 0;
    if (!view_widen(&view, grain)) {
        return "blocks refused";
    }
    if (grain <= 1 || 8 * grain <= stored->shape.bits || brute->elements * grain <= brute->bank_bytes) {
        return memcmp(&view, stored, sizeof view) == 0 ? NULL : "a view widened that has room";
    }
    if (view.bank_bytes != brute->elements * grain || view.banks_used != 1) {
        return "the footprint of blocks";
    }
    do {
        ViewAddress at = view_address(&view, index);
        if (at.bank != 0 || at.byte != k++ * grain || at.bit != 0) {
            return "the address of a block";
        }
        if (!view_find_index(&view, 0, 8 * at.byte, found) || memcmp(found, index, sizeof found) != 0) {
            return "the element of a block";
        }
    } while (view_next_index(&view.shape, index));
    uint64_t data_bytes = (stored->shape.bits + 7) / 8;
    return view_touched_bytes(&view) == brute->elements * data_bytes ? NULL : "bytes touched in blocks";
}

static const char *check_all(const Draw *draw, const Brute *brute, const View *view) {
    const char *wrong = check_sizes(draw, brute, view);
    if (wrong != NULL) {
        return wrong;
    }
    uint32_t *owner = new_owners(draw, brute, view, &wrong);
    wrong = wrong != NULL ? wrong : check_addresses(brute, view);
    wrong = wrong != NULL ? wrong : check_inverse(draw, brute, view, owner);
    wrong = wrong != NULL ? wrong : check_touched(brute, view, owner);
    wrong = wrong != NULL ? wrong : check_tight(draw, brute, view);
    wrong = wrong != NULL ? wrong : check_broadcast(view);
    wrong = wrong != NULL ? wrong : check_refused_broadcast(view);
    for (uint64_t grain = 0; wrong == NULL && grain < 40; grain = 2 * grain + 1) {
        wrong = check_blocks(brute, view, grain);
    }
    free(owner);
    return wrong;
}

static const char *check_draw(const Draw *draw) {
    char text[512];
    ContractError error = {0};
    Work work;
    View view;
    LayoutShape shape = shape_of(draw);
    brute_print(&draw->item, text, sizeof text);
    WORK_BEGIN(&work);
    const Contract *contract = contract_parse(&work.keep, str_from(text), &error);
    const char *wrong = contract == NULL ? "the text is refused" : NULL;
    if (contract != NULL && view_resolve(contract, &shape, &view, NULL) != VIEW_DONE) {
        wrong = "the shape is refused";
    }
    if (wrong == NULL) {
        Brute brute = brute_evaluate(&draw->item, draw->extent, draw->bits);
        wrong = check_all(draw, &brute, &view);
        brute_free(&brute);
    }
    work_free(&work);
    return wrong;
}

/* Elements and padding that a stream of the draw holds, roughly. */
static uint64_t stream_cells(const Draw *draw) {
    uint64_t cells = 1;
    for (int k = 0; k < draw->item.count; k++) {
        uint64_t values = brute_values(&draw->item.term[k], draw->extent);
        cells *= values > draw->item.term[k].min ? values : draw->item.term[k].min;
    }
    return cells;
}

static void views_agree_with_the_stream(void **state) {
    uint64_t seed = UINT64_C(0x5EED0001);
    uint32_t tight = 0, banked = 0, done = 0;
    (void)state;
    while (done < DRAWS) {
        Draw draw = draw_contract(&seed);
        if (stream_cells(&draw) > 800) {
            continue;
        }
        const char *wrong = check_draw(&draw);
        if (wrong != NULL) {
            char text[1024];
            draw = draw_shrink(draw, check_draw);
            draw_print(&draw, text, sizeof text);
            fail_msg("draw %u: %s; shrunk to %s: %s", done, wrong, text, check_draw(&draw));
        }
        tight += is_tight(&draw);
        banked += draw.item.term[0].is_bank;
        done++;
    }
    print_message("%u draws, %u without padding, %u with banks\n", done, tight, banked);
    assert_true(tight > DRAWS / 20 && banked > DRAWS / 20);
}

/* ---- By hand: one address that each rule decides */

typedef struct {
    const char *contract;
    uint32_t bits;
    uint64_t n, c, h, w; /* extents */
    uint64_t at[4];      /* index */
    uint64_t bank, byte;
    uint32_t bit;
} Known;

static const Known known[] = {
    {"N C H W", 8, 1, 12, 20, 28, {0, 3, 7, 1}, 0, 3 * 560 + 7 * 28 + 1, 0},
    {"N H W C@16", 8, 1, 12, 20, 28, {0, 3, 7, 1}, 0, (7 * 28 + 1) * 16 + 3, 0},
    {"N H C/16 W C%16", 8, 1, 20, 2, 3, {0, 17, 1, 2}, 0, ((1 * 2 + 1) * 3 + 2) * 16 + 1, 0},
    {"bank[C%64] N C/64 H@64 W", 8, 1, 130, 2, 3, {0, 67, 1, 2}, 3, 64 + 3 + 2, 0},
    {"bank[C%2 H%3] C/2 H/3 W", 8, 1, 4, 6, 5, {0, 3, 5, 4}, 1 * 3 + 2, 10 + 5 + 4, 0},
    {"C", 4, 1, 5, 1, 1, {0, 2, 0, 0}, 0, 1, 0}, /* I2: the low nibble first */
    {"C", 4, 1, 5, 1, 1, {0, 3, 0, 0}, 0, 1, 4},
    {"H W", 4, 1, 1, 3, 17, {0, 0, 1, 0}, 0, 8, 4},   /* I3: the second row begins inside a byte */
    {"H W@1", 4, 1, 1, 3, 17, {0, 0, 1, 0}, 0, 9, 0}, /* or on one */
    {"C", 80, 1, 12, 1, 1, {0, 3, 0, 0}, 0, 30, 0},   /* records of 10 bytes */
    {"N C H W/32+2 W%16 W/16%2", 4, 1, 1, 2, 64, {0, 0, 1, 49}, 0, 2 * 18 + 18 + 2 + 1, 4}, /* Q4_0: scale, then pairs
                                                                                             */
};

static void known_addresses_come_out(Work *work) {
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        const Known *row = &known[i];
        View view = resolve(work, row->contract, shape_nchw(row->bits, row->n, row->c, row->h, row->w));
        uint64_t index[DIM_COUNT] = {0};
        index[DIM_N] = row->at[0];
        index[DIM_C] = row->at[1];
        index[DIM_H] = row->at[2];
        index[DIM_W] = row->at[3];
        ViewAddress address = view_address(&view, index);
        if (address.bank != row->bank || address.byte != row->byte || address.bit != row->bit) {
            fail_msg("row %zu, '%s': bank %u, byte %u, bit %u", i, row->contract, (unsigned)address.bank,
                     (unsigned)address.byte, address.bit);
        }
    }
}

/* A parameter of 12 channels, read at a map it does not fill: 12 bytes touched, not 6 720. */
static void parameter_touches_its_own_bytes(Work *work) {
    View view = resolve(work, "N H W C@16", shape_nchw(8, 1, 12, 1, 1));
    LayoutShape map = shape_nchw(8, 1, 12, 20, 28);
    assert_true(view_broadcast(&view, &map));
    assert_int_equal(view.bank_bytes, 16);
    assert_int_equal(view_touched_bytes(&view), 12);
    LayoutShape none = shape_nchw(8, 0, 12, 20, 28);
    View empty = resolve(work, "N H W C@16", none);
    assert_int_equal(view_touched_bytes(&empty), 0);
    view = resolve(work, "N H W C@16", shape_nchw(8, 1, 12, 1, 1));
    assert_true(view_broadcast(&view, &none)); /* 1 repeats 0 times too */
    assert_int_equal(view_touched_bytes(&view), 0);
}

/* 5 channels of a byte in 5 blocks of 32; no block where a byte is one; and a size that fits no more. */
static void grain_gives_each_element_a_block(Work *work) {
    uint64_t index[DIM_COUNT] = {[DIM_C] = 3};
    View view = resolve(work, "N C H W total@64", shape_nchw(8, 1, 5, 1, 1));
    assert_true(view_widen(&view, 32));
    assert_int_equal(view.bank_bytes, 160);
    assert_int_equal(view_logical_bytes(&view), 5);
    assert_int_equal(view_address(&view, index).byte, 96);
    view = resolve(work, "N C H W", shape_nchw(4, 1, 5, 1, 1));
    assert_true(view_widen(&view, 1));
    assert_int_equal(view.bank_bytes, 3);
    assert_false(view_widen(&view, UINT64_MAX / 8));
    assert_false(view_widen(&view, UINT64_MAX / 8 + 1));
    assert_int_equal(view.bank_bytes, 3);
    view = resolve(work, "N C H W", shape_nchw(8, 0, 5, 1, 1));
    assert_true(view_widen(&view, UINT64_MAX));
    assert_int_equal(view.bank_bytes, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(views_agree_with_the_stream),
        WORK_TEST(known_addresses_come_out),
        WORK_TEST(parameter_touches_its_own_bytes),
        WORK_TEST(grain_gives_each_element_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
