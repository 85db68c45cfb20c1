/* Rule 5 of the layout contract: the terms of a dimension take its index apart into digits, each exactly once.
 *
 * Sorted by div they begin with div 1, each next div is div * mod, exactly one, the last, has no mod. This is what
 * makes an index and its digits determine each other, and addresses unique. */
#include "base/checked.h"
#include "layout/contract_scan.h"
#include "layout/view.h"

#include <inttypes.h>

/* By dimension, then div, then mod, none last: C%1 C is a chain. */
static bool is_before(const ContractTerm *a, const ContractTerm *b) {
    if (a->dim != b->dim) {
        return a->dim < b->dim;
    }
    if (a->div != b->div) {
        return a->div < b->div;
    }
    return a->mod - 1 < b->mod - 1; /* mod 0 wraps to the largest */
}

/* Stable, so that of two equal terms the later one is told. */
static void insert(const ContractTerm **chain, size_t count, const ContractTerm *term) {
    size_t k = count;
    while (k > 0 && is_before(term, chain[k - 1])) {
        chain[k] = chain[k - 1];
        k--;
    }
    chain[k] = term;
}

static void sort_terms(Scan *scan, ContractCase *item) {
    size_t total = (size_t)item->bank_term_count + item->level_count;
    item->chain = arena_array(scan->arena, const ContractTerm *, total);
    for (size_t k = 0; k < total; k++) {
        bool is_bank = k < item->bank_term_count;
        const ContractTerm *term = is_bank ? &item->bank_term[k] : &item->level[k - item->bank_term_count];
        insert(item->chain, k, term);
        item->names[term->dim] = true;
    }
}

static bool term_error(Scan *scan, const ContractTerm *term, const char *what, const char *expected) {
    scan_error(scan, term->at, what, expected);
    scan->error->got = scan_quote(scan, term->at, term->end);
    return false;
}

static bool check_first(Scan *scan, const ContractTerm *term) {
    if (term->div == 1) {
        return true;
    }
    char letter = dim_letter(term->dim);
    return term_error(scan, term, "the innermost digit of this dimension is not stored",
                      arena_text(scan->arena, "%c%%%" PRIu64 " beside it", letter, term->div));
}

static bool check_last(Scan *scan, const ContractTerm *term) {
    uint64_t next;
    if (term->mod == 0) {
        return true;
    }
    if (!checked_mul(term->div, term->mod, &next)) {
        return term_error(scan, term, "div * mod is too large", "a product below 2^64");
    }
    return term_error(scan, term, "the outermost digit of this dimension is not stored",
                      arena_text(scan->arena, "%c/%" PRIu64 " beside it", dim_letter(term->dim), next));
}

static bool check_next(Scan *scan, const ContractTerm *term, const ContractTerm *next) {
    char letter = dim_letter(term->dim);
    uint64_t end;
    if (term->div == next->div && term->mod == next->mod) {
        return term_error(scan, next, "the term stands twice", "each digit of a dimension once");
    }
    if (term->mod == 0 && next->div % term->div == 0) {
        uint64_t mod = next->div / term->div;
        return term_error(scan, term, "the term needs a mod, for a further digit of the dimension follows it",
                          term->div == 1 ? arena_text(scan->arena, "%c%%%" PRIu64, letter, mod)
                                         : arena_text(scan->arena, "%c/%" PRIu64 "%%%" PRIu64, letter, term->div, mod));
    }
    if (term->mod == 0 || !checked_mul(term->div, term->mod, &end)) {
        return term_error(scan, next, "the div does not continue the digits of this dimension",
                          "a multiple of the div before it");
    }
    return next->div == end || term_error(scan, next, "the div does not continue the digits of this dimension",
                                          arena_text(scan->arena, "div %" PRIu64 ", the div * mod of '%s'", end,
                                                     scan_quote(scan, term->at, term->end)));
}

bool contract_check_case(Scan *scan, ContractCase *item) {
    sort_terms(scan, item);
    size_t total = (size_t)item->bank_term_count + item->level_count;
    for (size_t k = 0; k < total; k++) {
        const ContractTerm *term = item->chain[k];
        bool is_first = k == 0 || item->chain[k - 1]->dim != term->dim;
        bool is_last = k + 1 == total || item->chain[k + 1]->dim != term->dim;
        if (is_first && !check_first(scan, term)) {
            return false;
        }
        if (is_last ? !check_last(scan, term) : !check_next(scan, term, item->chain[k + 1])) {
            return false;
        }
    }
    return true;
}
