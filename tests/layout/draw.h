/* Seeded draws of contracts and shapes, small enough to walk every bit, and a shrinker for those that fail. */
#ifndef S0_TEST_LAYOUT_DRAW_H
#define S0_TEST_LAYOUT_DRAW_H

#include "layout/brute.h"

typedef struct {
    BruteCase item;
    uint64_t extent[BRUTE_DIMS];
    uint64_t bits;
} Draw;

static inline uint64_t draw_below(uint64_t *state, uint64_t limit) {
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state * 0x2545F4914F6CDD1DU >> 33) % limit;
}

static inline bool draw_one_in(uint64_t *state, uint64_t n) {
    return draw_below(state, n) == 0;
}

/* One to three digits: the last has no mod. */
static inline void draw_dim(uint64_t *state, int dim, BruteCase *item) {
    uint64_t digits = 1 + draw_below(state, 3);
    uint64_t div = 1;
    for (uint64_t k = 0; k < digits; k++) {
        uint64_t mod =
            k + 1 == digits ? 0 : draw_below(state, 4) + (k == 0 ? 1 : 2); /* %1 twice would be a duplicate */
        item->term[item->count++] = (BruteTerm){.dim = dim, .is_bank = draw_one_in(state, 8), .div = div, .mod = mod};
        div *= mod;
    }
}

static inline void draw_order(uint64_t *state, BruteCase *item) {
    for (int k = item->count - 1; k > 0; k--) {
        int other = (int)draw_below(state, (uint64_t)k + 1);
        BruteTerm term = item->term[k];
        item->term[k] = item->term[other];
        item->term[other] = term;
    }
}

/* Bank terms to the front, in order; a case needs a level. */
static inline void draw_partition(BruteCase *item) {
    BruteCase sorted = *item;
    int count = 0;
    item->term[0].is_bank = false;
    sorted.term[0].is_bank = false;
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < item->count; k++) {
            if (item->term[k].is_bank == (pass == 0)) {
                sorted.term[count++] = item->term[k];
            }
        }
    }
    *item = sorted;
}

static inline void draw_padding(uint64_t *state, BruteCase *item) {
    static const uint64_t ALIGN[] = {1, 2, 3, 4, 8};
    for (int k = 0; k < item->count; k++) {
        BruteTerm *term = &item->term[k];
        if (term->is_bank) {
            continue;
        }
        term->min = draw_one_in(state, 6) ? 1 + draw_below(state, 5) : 0;
        term->align = draw_one_in(state, 5) ? ALIGN[draw_below(state, sizeof ALIGN / sizeof ALIGN[0])] : 0;
        term->head = draw_one_in(state, 8) ? 1 + draw_below(state, 3) : 0;
    }
    item->total = draw_one_in(state, 4) ? 1 + draw_below(state, 16) : 1;
    item->tail = draw_one_in(state, 4) ? draw_below(state, 9) : 0;
}

static inline Draw draw_contract(uint64_t *state) {
    static const uint64_t BITS[] = {1, 2, 3, 4, 4, 5, 8, 8, 8, 12, 16, 20, 32, 80, 128};
    Draw draw = {.item = {.total = 1}};
    bool all_equal = draw_one_in(state, 6);
    uint64_t equal = 1 + draw_below(state, 4);
    int dims = 1 + (int)draw_below(state, 4);
    for (int d = 0; d < BRUTE_DIMS; d++) {
        draw.extent[d] = 1;
    }
    for (int d = 0; d < dims; d++) {
        int dim = d == 0 ? (int)draw_below(state, BRUTE_DIMS) : (int)draw_below(state, 4);
        bool is_named = false;
        for (int k = 0; k < draw.item.count; k++) {
            is_named = is_named || draw.item.term[k].dim == dim;
        }
        if (!is_named) {
            draw.extent[dim] = all_equal ? equal : 1 + draw_below(state, 7);
            draw_dim(state, dim, &draw.item);
        }
    }
    draw_order(state, &draw.item);
    draw_partition(&draw.item);
    if (draw_one_in(state, 2)) {
        draw_padding(state, &draw.item);
    }
    draw.bits = BITS[draw_below(state, sizeof BITS / sizeof BITS[0])];
    return draw;
}

static inline void draw_print(const Draw *draw, char *text, size_t size) {
    char contract[512];
    brute_print(&draw->item, contract, sizeof contract);
    FILE *out = fmemopen(text, size, "w");
    fprintf(out, "'%s' of %llu bits at N C H W O I =", contract, (unsigned long long)draw->bits);
    for (int d = 0; d < BRUTE_DIMS; d++) {
        fprintf(out, " %llu", (unsigned long long)draw->extent[d]);
    }
    fclose(out);
}

/* What is wrong with a draw, or null. */
typedef const char *(*DrawCheck)(const Draw *draw);

/* The k-th way to make a draw smaller; false where there is none. */
static inline bool draw_smaller(const Draw *draw, int k, Draw *smaller) {
    *smaller = *draw;
    if (k < BRUTE_DIMS) {
        smaller->extent[k] -= smaller->extent[k] > 1;
        return true;
    }
    k -= BRUTE_DIMS;
    if (k == 0) {
        smaller->item.total = 1;
        smaller->item.tail = 0;
        return true;
    }
    if (k == 1) {
        smaller->bits = 8;
        return true;
    }
    k -= 2;
    if (k / 3 >= draw->item.count) {
        return false;
    }
    BruteTerm *term = &smaller->item.term[k / 3];
    *(k % 3 == 0 ? &term->min : k % 3 == 1 ? &term->align : &term->head) = 0;
    return true;
}

/* The smallest failing draw that steps from a failing one lead to. */
static inline Draw draw_shrink(Draw draw, DrawCheck check) {
    bool again = true;
    while (again) {
        Draw smaller;
        again = false;
        for (int k = 0; draw_smaller(&draw, k, &smaller); k++) {
            bool differs = memcmp(&smaller, &draw, sizeof draw) != 0;
            if (differs && check(&smaller) != NULL) {
                draw = smaller;
                again = true;
            }
        }
    }
    return draw;
}

#endif
