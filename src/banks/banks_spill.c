/* Spilling: the cheapest bank keeps the buffers that it has room for, the others go on to the next.
 *
 * Where too much is live, the buffer goes that lives longest from there on: all cost the same a byte, and it frees its
 * bytes for the most steps (source: Belady 1966, the page that is needed last). That is by sums of live sizes; where
 * the bank can't hold what was kept, the sums are held lower and lower. Then the largest that left come back if they
 * fit. */
#include "banks/banks_inner.h"

#include "base/checked.h"
#include "place/pack.h"
#include "solver/spans.h"

#include <stdlib.h>

enum { LEVELS = 16, MOST_LOWERED = 8, MOST_BROUGHT_BACK = 24, MOST_FOR_BRINGING_BACK = 4096 };

typedef struct {
    uint64_t first, last, size; /* the range without its gaps */
    size_t buffer;
    bool is_free; /* it may leave the bank */
    bool has_left;
} Spilled;

typedef struct {
    Banks *banks;
    uint32_t bank;
    Spilled *item; /* those that are in the bank or may be, by first step */
    size_t *by_last;
    size_t *chosen; /* scratch */
    size_t count;
} Spill;

static int compare_first(const void *left, const void *right) {
    const Spilled *a = left;
    const Spilled *b = right;
    if (a->first != b->first) {
        return a->first < b->first ? -1 : 1;
    }
    if (a->last != b->last) {
        return a->last < b->last ? -1 : 1;
    }
    if (a->size != b->size) {
        return a->size < b->size ? -1 : 1;
    }
    return a->buffer < b->buffer ? -1 : a->buffer > b->buffer;
}

/* Those that `where` puts here, and those that are free. */
static void spill_init(Spill *spill, Banks *banks, uint32_t bank, const uint32_t *where) {
    const BanksProblem *problem = banks->problem;
    *spill = (Spill){.banks = banks,
                     .bank = bank,
                     .item = arena_array(banks->scratch, Spilled, problem->count),
                     .by_last = arena_array(banks->scratch, size_t, problem->count),
                     .chosen = arena_array(banks->scratch, size_t, problem->count)};
    for (size_t i = 0; i < problem->count; i++) {
        const SolverBuffer *buffer = &problem->buffer[i];
        bool is_free = where[i] == BANK_ANY && banks_allow(banks, bank, buffer);
        if (is_free || where[i] == bank) {
            Spilled *item = &spill->item[spill->count++];
            *item = (Spilled){.first = buffer->first, .last = buffer->last, .buffer = i, .is_free = is_free};
            banks->has_overflowed |= !checked_round_up(buffer->size, problem->bank[bank].align_bytes, &item->size);
        }
    }
    if (spill->count > 0) {
        qsort(spill->item, spill->count, sizeof *spill->item, compare_first);
    }
}

static void sort_by_last(Spill *spill) {
    LifeEnd *ending = arena_array(spill->banks->scratch, LifeEnd, spill->count);
    for (size_t k = 0; k < spill->count; k++) {
        ending[k] = (LifeEnd){spill->item[k].last, k};
    }
    life_sort_ends(ending, spill->count);
    for (size_t k = 0; k < spill->count; k++) {
        spill->by_last[k] = ending[k].item;
    }
}

/* Of the live items the free one that ends last, the largest of those; `count` where there is none. The dead are
 * dropped from live[]. */
static size_t longest(const Spill *spill, size_t *live, size_t *live_count, uint64_t step) {
    size_t found = spill->count, kept = 0;
    for (size_t k = 0; k < *live_count; k++) {
        const Spilled *item = &spill->item[live[k]];
        if (item->last <= step || item->has_left) {
            continue;
        }
        live[kept++] = live[k];
        const Spilled *best = found == spill->count ? NULL : &spill->item[found];
        if (item->is_free &&
            (best == NULL || item->last > best->last || (item->last == best->last && item->size > best->size))) {
            found = live[k];
        }
    }
    *live_count = kept;
    return found;
}

/* Lets buffers leave until no sum of live sizes is over `level`, as far as those that may leave allow it. */
static void spill_to(Spill *spill, uint64_t level) {
    size_t *live = spill->chosen;
    size_t live_count = 0, ended = 0;
    Wide sum = 0;
    for (size_t k = 0; k < spill->count; k++) {
        spill->item[k].has_left = false;
    }
    for (size_t k = 0; k < spill->count; k++) {
        const uint64_t step = spill->item[k].first;
        for (; ended < spill->count && spill->item[spill->by_last[ended]].last <= step; ended++) {
            const Spilled *item = &spill->item[spill->by_last[ended]];
            sum -= item->has_left ? 0 : item->size;
        }
        sum += spill->item[k].size;
        live[live_count++] = k;
        size_t gone = sum > level ? longest(spill, live, &live_count, step) : spill->count;
        while (gone < spill->count) {
            spill->item[gone].has_left = true;
            sum -= spill->item[gone].size;
            gone = sum > level ? longest(spill, live, &live_count, step) : spill->count;
        }
    }
}

static bool does_fit(const Spill *spill) {
    size_t *member = spill->chosen;
    size_t count = 0;
    for (size_t k = 0; k < spill->count; k++) {
        if (!spill->item[k].has_left) {
            member[count++] = spill->item[k].buffer;
        }
    }
    return banks_fit(spill->banks, spill->bank, member, count, NULL) == FIT_YES;
}

static int compare_sizes(const void *left, const void *right) {
    const Spilled *a = *(Spilled *const *)left;
    const Spilled *b = *(Spilled *const *)right;
    if (a->size != b->size) {
        return a->size > b->size ? -1 : 1;
    }
    return compare_first(a, b);
}

static void bring_back(const Spill *spill) {
    Spilled **gone = arena_array(spill->banks->scratch, Spilled *, spill->count);
    size_t count = 0;
    for (size_t k = 0; k < spill->count; k++) {
        if (spill->item[k].has_left) {
            gone[count++] = &spill->item[k];
        }
    }
    if (count > 0) {
        qsort(gone, count, sizeof *gone, compare_sizes);
    }
    for (size_t k = 0; k < count && k < MOST_BROUGHT_BACK && !spill->banks->has_overflowed; k++) {
        gone[k]->has_left = false;
        gone[k]->has_left = !does_fit(spill);
    }
}

/* Fills one bank. */
static void fill(Spill *spill, uint32_t *where) {
    const uint64_t capacity = spill->banks->problem->bank[spill->bank].capacity;
    bool fits = false;
    sort_by_last(spill);
    for (uint64_t k = 0; k < MOST_LOWERED && !fits && !spill->banks->has_overflowed; k++) {
        spill_to(spill, capacity - k * (capacity / LEVELS));
        fits = does_fit(spill);
    }
    if (!fits) {
        spill_to(spill, 0);
    } else if (spill->count <= MOST_FOR_BRINGING_BACK) {
        bring_back(spill);
    }
    for (size_t k = 0; k < spill->count; k++) {
        if (!spill->item[k].has_left) {
            where[spill->item[k].buffer] = spill->bank;
        }
    }
}

bool banks_spill(Banks *banks, uint32_t *where) {
    const uint32_t count = banks->problem->bank_count;
    for (uint32_t k = 0; k + 1 < count; k++) {
        const ArenaMark mark = arena_mark(banks->scratch);
        Spill spill;
        spill_init(&spill, banks, banks->order[k], where);
        fill(&spill, where);
        arena_back(banks->scratch, mark);
    }
    const uint32_t last = banks->order[count - 1];
    Spill spill;
    spill_init(&spill, banks, last, where);
    for (size_t k = 0; k < spill.count; k++) {
        where[spill.item[k].buffer] = last;
    }
    bool fits = !banks->has_overflowed && does_fit(&spill);
    for (size_t i = 0; i < banks->problem->count; i++) {
        fits = fits && where[i] != BANK_ANY;
    }
    return fits;
}
