/* Proves that view_same_map says "same" exactly where every element of two tensors, counted in the same order, has the
 * same address: on reshapes and transposes known by hand, and on random pairs against a walk over all elements. */
#include "layout/brute.h"
#include "layout/draw.h"
#include "layout/support.h"

enum { DRAWS = 20000, MOST_AXES = 8, NO_LIMIT = 1 << 30 };

typedef struct {
    const char *contract;
    uint32_t rank;
    ViewAxis axis[MOST_AXES]; /* outermost first; folded axes share a dimension */
    int broadcast;            /* letter of a dimension that is stored once, or 0 */
} Side;

static LayoutShape side_shape(const Side *side, uint32_t bits) {
    LayoutShape shape = layout_shape(bits, side->rank);
    for (uint32_t k = 0; k < side->rank; k++) {
        shape.extent[side->axis[k].dim] *= side->axis[k].extent;
    }
    return shape;
}

static View side_view(Work *work, const Side *side, uint32_t bits) {
    LayoutShape shape = side_shape(side, bits), stored = shape;
    for (int d = 0; d < DIM_COUNT; d++) {
        stored.extent[d] = side->broadcast == dim_letter((Dim)d) ? 1 : shape.extent[d];
    }
    View view = resolve(work, side->contract, stored);
    assert_true(view_broadcast(&view, &shape));
    return view;
}

/* ---- By hand */

typedef struct {
    const char *what;
    Side a, b;
    bool same, needs_walk;
} Pair;

#define AXES(...) .axis = {__VA_ARGS__}

static const Pair pairs[] = {
    {"itself", {"N C H W", 2, AXES({3, DIM_H}, {5, DIM_W})}, {"N C H W", 2, AXES({3, DIM_H}, {5, DIM_W})}, true, false},
    {"dense reshape",
     {"N C H W", 2, AXES({4, DIM_H}, {6, DIM_W})},
     {"N C H W", 3, AXES({2, DIM_C}, {3, DIM_H}, {4, DIM_W})},
     true,
     false},
    {"rows that end elsewhere",
     {"N C H W@16", 2, AXES({4, DIM_H}, {6, DIM_W})},
     {"N C H W@16", 2, AXES({6, DIM_H}, {4, DIM_W})},
     false,
     false},
    {"padded rows kept",
     {"N C H W@16", 2, AXES({4, DIM_H}, {6, DIM_W})},
     {"N C H W@16", 3, AXES({2, DIM_C}, {2, DIM_H}, {6, DIM_W})},
     true,
     false},
    {"transpose",
     {"N C H W", 2, AXES({6, DIM_W}, {4, DIM_H})},
     {"N C H W", 2, AXES({6, DIM_H}, {4, DIM_W})},
     false,
     false},
    {"transpose of a line",
     {"N C H W", 2, AXES({6, DIM_W}, {1, DIM_H})},
     {"N C H W", 2, AXES({6, DIM_H}, {1, DIM_W})},
     true,
     false},
    {"NCHW to NHWC in two layouts",
     {"N C H W", 3, AXES({5, DIM_H}, {7, DIM_W}, {3, DIM_C})},
     {"N W C H", 3, AXES({5, DIM_H}, {7, DIM_W}, {3, DIM_C})},
     false,
     false},
    {"the same order under other names",
     {"N H W C", 3, AXES({5, DIM_H}, {7, DIM_W}, {3, DIM_C})},
     {"O I W H", 3, AXES({5, DIM_I}, {7, DIM_W}, {3, DIM_H})},
     true,
     false},
    {"a block taken apart",
     {"N H C/4 W C%4", 3, AXES({8, DIM_C}, {2, DIM_H}, {3, DIM_W})},
     {"N H C/4 W C%4", 4, AXES({2, DIM_C}, {4, DIM_C}, {2, DIM_H}, {3, DIM_W})},
     true,
     false},
    {"a block and its dimension",
     {"C/4 W C%4", 3, AXES({2, DIM_C}, {3, DIM_W}, {4, DIM_C})},
     {"H W C", 3, AXES({2, DIM_H}, {3, DIM_W}, {4, DIM_C})},
     true,
     false},
    {"a partial block",
     {"N C/4 H W C%4", 2, AXES({6, DIM_C}, {3, DIM_W})},
     {"N C/4 H W C%4", 3, AXES({2, DIM_C}, {3, DIM_C}, {3, DIM_W})},
     true,
     true},
    {"part of one block",
     {"N C/16 H W C%16", 2, AXES({6, DIM_C}, {3, DIM_W})},
     {"N H W C@16", 2, AXES({6, DIM_C}, {3, DIM_W})},
     true,
     false},
    {"other banks",
     {"bank[C%2] C/2 W", 2, AXES({4, DIM_C}, {3, DIM_W})},
     {"bank[C%4] C/4 W", 2, AXES({4, DIM_C}, {3, DIM_W})},
     false,
     false},
    {"the same banks",
     {"bank[C%2] C/2 W", 2, AXES({4, DIM_C}, {3, DIM_W})},
     {"bank[H] C W", 3, AXES({2, DIM_C}, {2, DIM_H}, {3, DIM_W})},
     true,
     false},
    {"banks against a repeat",
     {"bank[C W] N", 2, AXES({2, DIM_C}, {2, DIM_W})},
     {"bank[C W] N", 2, AXES({2, DIM_C}, {2, DIM_W}), 'C'},
     false,
     false},
    {"another head", {"C W", 1, AXES({3, DIM_W})}, {"C+2 W", 1, AXES({3, DIM_W})}, false, false},
    {"fewer elements", {"C W", 1, AXES({3, DIM_W})}, {"C W", 1, AXES({4, DIM_W})}, false, false},
    {"no elements", {"C W", 2, AXES({0, DIM_C}, {3, DIM_W})}, {"W C", 1, AXES({0, DIM_W})}, true, false},
    {"one element", {"C W@16", 0, AXES({1, DIM_C})}, {"N", 0, AXES({1, DIM_C})}, true, false},
    {"a repeat and its elements",
     {"C W", 2, AXES({3, DIM_C}, {4, DIM_W}), 'C'},
     {"C W", 2, AXES({3, DIM_C}, {4, DIM_W})},
     false,
     false},
    {"two repeats",
     {"C W", 2, AXES({6, DIM_C}, {4, DIM_W}), 'C'},
     {"H C W", 3, AXES({2, DIM_C}, {3, DIM_C}, {4, DIM_W}), 'C'},
     true,
     false},
};

static bool same(const View *a, const Side *a_side, const View *b, const Side *b_side, uint64_t walk_limit) {
    const ViewOrder left = {a, a_side->axis, a_side->rank};
    const ViewOrder right = {b, b_side->axis, b_side->rank};
    return view_same_map(&left, &right, walk_limit);
}

static void known_pairs_are_decided(Work *work) {
    for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const Pair *pair = &pairs[i];
        View a = side_view(work, &pair->a, 8), b = side_view(work, &pair->b, 8);
        bool walked = same(&a, &pair->a, &b, &pair->b, NO_LIMIT);
        bool at_once = same(&a, &pair->a, &b, &pair->b, 0);
        if (walked != pair->same || at_once != (pair->same && !pair->needs_walk)) {
            fail_msg("%s: %d, without walking %d", pair->what, walked, at_once);
        }
    }
}

static void other_axes_or_bits_are_never_the_same(Work *work) {
    const Side side = {"C W", 2, AXES({3, DIM_C}, {4, DIM_W})};
    const Side wrong = {"C W", 2, AXES({4, DIM_C}, {3, DIM_W})};
    View view = side_view(work, &side, 8), wide = side_view(work, &side, 16);
    assert_false(same(&view, &side, &view, &wrong, NO_LIMIT));
    assert_false(same(&view, &side, &wide, &side, NO_LIMIT));
    const Side apart = {"C W@16", 1, AXES({3, DIM_C})}; /* the addresses agree, the elements are wider */
    view = side_view(work, &apart, 8);
    wide = side_view(work, &apart, 16);
    assert_false(same(&view, &apart, &wide, &apart, NO_LIMIT));
}

/* ---- Random pairs of 24 elements, so that many agree */

static const char *const contracts[] = {
    "N C H W",
    "N H W C",
    "N H C W",
    "N C H W@4",
    "N H W C@3",
    "N C/2 H W C%2",
    "N H C/4 W C%4",
    "bank[C%2] N C/2 H W",
    "N C H/2 W/2 H%2 W%2",
    "N C H W/2 W%2",
    "bank[C] N H W",
    "N C/3 H C%3 W",
    "N C H W^4",
    "C N/2 W N%2 H",
    "N H W C/2%2 C%2 C/4",
};

static Side draw_side(uint64_t *seed) {
    static const uint64_t FACTORS[] = {2, 2, 2, 3};
    Side side = {.contract = contracts[draw_below(seed, sizeof contracts / sizeof contracts[0])],
                 .rank = 1 + (uint32_t)draw_below(seed, 5)};
    for (uint32_t k = 0; k < side.rank; k++) {
        side.axis[k] = (ViewAxis){1, (Dim)draw_below(seed, 4)};
    }
    for (size_t f = 0; f < sizeof FACTORS / sizeof FACTORS[0]; f++) {
        side.axis[draw_below(seed, side.rank)].extent *= FACTORS[f];
    }
    side.broadcast = draw_one_in(seed, 5) ? "NCHW"[draw_below(seed, 4)] : 0;
    return side;
}

/* Half of the partners are the same tensor with an axis folded or its factors moved. */
static Side draw_partner(uint64_t *seed, const Side *side) {
    Side partner = *side;
    if (draw_one_in(seed, 2) || side->rank == MOST_AXES) {
        return draw_side(seed);
    }
    uint32_t cut = (uint32_t)draw_below(seed, side->rank);
    uint64_t inner = side->axis[cut].extent % 2 == 0 ? 2 : 1;
    for (uint32_t k = side->rank; k > cut; k--) {
        partner.axis[k] = side->axis[k - 1];
    }
    partner.rank++;
    partner.axis[cut].extent = side->axis[cut].extent / inner;
    partner.axis[cut + 1].extent = inner;
    return partner;
}

/* Address of element k by counting up one axis at a time, the last fastest. */
static bool walk_is_same(const View *a, const Side *a_side, const View *b, const Side *b_side) {
    const View *view[2] = {a, b};
    const Side *side[2] = {a_side, b_side};
    uint64_t at[2][MOST_AXES + 1] = {{0}};
    for (uint64_t element = 0; element < 24; element++) {
        ViewAddress address[2];
        for (int s = 0; s < 2; s++) {
            uint64_t index[DIM_COUNT] = {0};
            for (uint32_t k = 0; k < side[s]->rank; k++) {
                index[side[s]->axis[k].dim] = index[side[s]->axis[k].dim] * side[s]->axis[k].extent + at[s][k];
            }
            address[s] = view_address(view[s], index);
            for (uint32_t k = side[s]->rank; k-- > 0;) {
                at[s][k] = (at[s][k] + 1) % side[s]->axis[k].extent;
                if (at[s][k] != 0) {
                    break;
                }
            }
        }
        if (address[0].bank != address[1].bank || address[0].byte != address[1].byte ||
            address[0].bit != address[1].bit) {
            return false;
        }
    }
    return true;
}

static void print_side(const Side *side) {
    print_message("'%s'", side->contract);
    for (uint32_t k = 0; k < side->rank; k++) {
        print_message(" %c%u", dim_letter(side->axis[k].dim), (unsigned)side->axis[k].extent);
    }
    print_message("%s%c\n", side->broadcast != 0 ? ", once " : "", side->broadcast != 0 ? side->broadcast : ' ');
}

static void random_pairs_agree_with_a_walk(Work *work) {
    uint64_t seed = UINT64_C(0x5EED0002);
    uint32_t agree = 0, at_once = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        Side a_side = draw_side(&seed), b_side = draw_partner(&seed, &a_side);
        uint32_t bits = draw_one_in(&seed, 3) ? 4 : 8;
        View a = side_view(work, &a_side, bits), b = side_view(work, &b_side, bits);
        bool expected = walk_is_same(&a, &a_side, &b, &b_side);
        bool got = same(&a, &a_side, &b, &b_side, 24);
        bool quick = same(&a, &a_side, &b, &b_side, 23);
        if (got != expected || (quick && !expected)) {
            print_side(&a_side);
            print_side(&b_side);
            fail_msg("draw %u: %d, without walking %d, by brute force %d", i, got, quick, expected);
        }
        agree += expected;
        at_once += quick;
        arena_reset(&work->keep);
    }
    print_message("%u draws, %u agree, %u of them from strides alone\n", (unsigned)DRAWS, agree, at_once);
    assert_true(agree > DRAWS / 10 && agree < DRAWS / 10 * 9 && at_once > agree / 2 && at_once < agree);
}

/* ---- Digits of an element's number */

/* Number `element`, counted over the axes in the order `perm`, as an index; the last of `perm` fastest. */
static void index_by_order(const Side *side, const uint32_t *perm, uint64_t element, uint64_t index[DIM_COUNT]) {
    uint64_t at[MOST_AXES + 1] = {0};
    for (uint32_t k = side->rank; k-- > 0;) {
        at[perm[k]] = element % side->axis[perm[k]].extent;
        element /= side->axis[perm[k]].extent;
    }
    for (uint32_t k = 0; k < side->rank; k++) {
        index[side->axis[k].dim] = index[side->axis[k].dim] * side->axis[k].extent + at[k];
    }
}

static bool digits_lead_there(const View *view, const Side *side, const uint32_t *perm, const ViewRadix *radix) {
    const uint64_t origin[DIM_COUNT] = {0};
    const ViewAddress zero = view_address(view, origin);
    bool there = true;
    for (uint64_t element = 0; element < 24; element++) {
        uint64_t index[DIM_COUNT] = {0}, rest = element, bits = zero.byte * 8 + zero.bit, bank = zero.bank;
        for (uint32_t k = 0; k < radix->count; k++) {
            bits += rest % radix->digit[k].extent * radix->digit[k].step_bits;
            bank += rest % radix->digit[k].extent * radix->digit[k].step_banks;
            rest /= radix->digit[k].extent;
        }
        index_by_order(side, perm, element, index);
        ViewAddress address = view_address(view, index);
        there = there && rest == 0 && address.byte * 8 + address.bit == bits && address.bank == bank;
    }
    return there;
}

/* Whole blocks always have digits: the contracts without a partial block of 24 elements are counted. */
static void digits_lead_to_every_element(Work *work) {
    uint64_t seed = UINT64_C(0x5EED0003);
    uint32_t found = 0;
    for (uint32_t i = 0; i < DRAWS; i++) {
        Side side = draw_side(&seed);
        uint32_t perm[MOST_AXES] = {0};
        for (uint32_t k = 0; k < side.rank; k++) {
            uint32_t place = (uint32_t)draw_below(&seed, k + 1);
            perm[k] = perm[place];
            perm[place] = k;
        }
        View view = side_view(work, &side, draw_one_in(&seed, 3) ? 4 : 8);
        const ViewOrder order = {&view, side.axis, side.rank};
        ViewRadix radix;
        bool has = view_radix(&order, perm, &radix);
        if (has && !digits_lead_there(&view, &side, perm, &radix)) {
            print_side(&side);
            fail_msg("draw %u: its digits lead elsewhere", i);
        }
        found += has;
        arena_reset(&work->keep);
    }
    print_message("%u of %u draws have digits\n", found, (unsigned)DRAWS);
    assert_true(found > DRAWS / 10 * 8);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        WORK_TEST(known_pairs_are_decided),
        WORK_TEST(other_axes_or_bits_are_never_the_same),
        WORK_TEST(random_pairs_agree_with_a_walk),
        WORK_TEST(digits_lead_to_every_element),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
