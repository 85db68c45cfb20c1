/* The layout contract evaluated a second way: storage is written out as one stream a bank, padding included, and the
 * place of each element is where the stream stands when its turn comes. Nothing is shared with the library, strides are
 * not computed at all. Written from the rules of the contract; guards are left out. */
#ifndef S0_TEST_LAYOUT_BRUTE_H
#define S0_TEST_LAYOUT_BRUTE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BRUTE_DIMS = 6, BRUTE_TERMS = 24 };

typedef struct {
    int dim; /* place in "NCHWOI" */
    bool is_bank;
    uint64_t div, mod, min, align, head; /* 0: none; div at least 1 */
} BruteTerm;

typedef struct {
    BruteTerm term[BRUTE_TERMS]; /* bank terms first */
    int count;
    uint64_t total, tail; /* at least 1, at least 0 */
} BruteCase;

/* Element k counts row-major over N C H W O I. */
typedef struct {
    uint64_t elements, *bank, *bit;
    uint64_t bank_bytes, banks_used, bank_count;
} Brute;

typedef struct {
    const BruteCase *from;
    const uint64_t *extent;
    uint64_t bits, cursor, bank, found, index[BRUTE_DIMS];
    Brute *to;
} BruteWalk;

static inline uint64_t brute_values(const BruteTerm *term, const uint64_t *extent) {
    return term->mod != 0 ? term->mod : (extent[term->dim] + term->div - 1) / term->div;
}

static inline void brute_element(BruteWalk *walk) {
    uint64_t k = 0;
    bool inside = true;
    for (int d = 0; d < BRUTE_DIMS; d++) {
        inside = inside && walk->index[d] < walk->extent[d];
        k = k * walk->extent[d] + walk->index[d];
    }
    if (inside) {
        walk->to->bank[k] = walk->bank;
        walk->to->bit[k] = walk->cursor;
        walk->found++;
    }
    walk->cursor += walk->bits;
}

/* A value past the extent is one that `min` asks for: it takes up room, and no element lies there. */
static inline void brute_level(BruteWalk *walk, int k) {
    if (k == walk->from->count) {
        brute_element(walk);
        return;
    }
    const BruteTerm *term = &walk->from->term[k];
    uint64_t values = brute_values(term, walk->extent);
    uint64_t count = values > term->min ? values : term->min;
    uint64_t before = walk->index[term->dim], begin = walk->cursor;
    for (uint64_t v = 0; v < count; v++) {
        walk->cursor += 8 * term->head;
        walk->index[term->dim] = v < values ? before + v * term->div : UINT32_MAX;
        brute_level(walk, k + 1);
    }
    while (term->align != 0 && (walk->cursor - begin) % (8 * term->align) != 0) {
        walk->cursor++;
    }
    walk->index[term->dim] = before;
}

static inline void brute_bank(BruteWalk *walk, int k) {
    if (k < walk->from->count && walk->from->term[k].is_bank) {
        const BruteTerm *term = &walk->from->term[k];
        uint64_t before = walk->index[term->dim];
        for (uint64_t v = 0; v < brute_values(term, walk->extent); v++) {
            walk->index[term->dim] = before + v * term->div;
            brute_bank(walk, k + 1);
        }
        walk->index[term->dim] = before;
        return;
    }
    walk->cursor = 0;
    walk->found = 0;
    brute_level(walk, k);
    walk->to->banks_used += walk->found > 0;
    walk->to->bank_bytes = (walk->cursor + 7) / 8;
    walk->bank++;
}

/* Needs at least one element. Free with brute_free. */
static inline Brute brute_evaluate(const BruteCase *from, const uint64_t extent[BRUTE_DIMS], uint64_t bits) {
    Brute to = {.elements = 1};
    for (int d = 0; d < BRUTE_DIMS; d++) {
        to.elements *= extent[d];
    }
    to.bank = calloc(to.elements, sizeof *to.bank);
    to.bit = calloc(to.elements, sizeof *to.bit);
    BruteWalk walk = {.from = from, .extent = extent, .bits = bits, .to = &to};
    brute_bank(&walk, 0);
    to.bank_count = walk.bank;
    while (to.bank_bytes % from->total != 0) {
        to.bank_bytes++;
    }
    to.bank_bytes += from->tail;
    return to;
}

static inline void brute_free(Brute *brute) {
    free(brute->bank);
    free(brute->bit);
}

/* ---- Text of a case, both ways */

static inline uint64_t brute_number(const char **text, char mark, uint64_t otherwise) {
    char *end;
    if (**text != mark) {
        return otherwise;
    }
    uint64_t number = strtoull(*text + 1, &end, 10);
    *text = end;
    return number;
}

/* "bank[C%64] N C/64 H@64 W": only what is well-formed. */
static inline BruteCase brute_parse(const char *text) {
    BruteCase parsed = {.total = 1};
    bool is_bank = strncmp(text, "bank[", 5) == 0;
    text += is_bank ? 5 : 0;
    while (*text != '\0') {
        if (*text == ' ' || *text == ']') {
            is_bank = is_bank && *text != ']';
            text++;
            continue;
        }
        BruteTerm *term = &parsed.term[parsed.count++];
        term->dim = (int)(strchr("NCHWOI", *text) - "NCHWOI");
        term->is_bank = is_bank;
        text++;
        term->div = brute_number(&text, '/', 1);
        term->mod = brute_number(&text, '%', 0);
        term->min = brute_number(&text, '^', 0);
        term->align = brute_number(&text, '@', 0);
        term->head = brute_number(&text, '+', 0);
    }
    return parsed;
}

static inline void brute_print_part(FILE *out, char mark, uint64_t number, uint64_t otherwise) {
    if (number != otherwise) {
        fprintf(out, "%c%llu", mark, (unsigned long long)number);
    }
}

static inline void brute_print(const BruteCase *from, char *text, size_t size) {
    FILE *out = fmemopen(text, size, "w");
    for (int k = 0; k < from->count; k++) {
        const BruteTerm *term = &from->term[k];
        bool opens = term->is_bank && k == 0;
        bool closes = term->is_bank && !from->term[k + 1].is_bank;
        fprintf(out, "%s%c", opens ? "bank[" : "", "NCHWOI"[term->dim]);
        brute_print_part(out, '/', term->div, 1);
        brute_print_part(out, '%', term->mod, 0);
        brute_print_part(out, '^', term->min, 0);
        brute_print_part(out, '@', term->align, 0);
        brute_print_part(out, '+', term->head, 0);
        fputs(closes ? "] " : " ", out);
    }
    if (from->total != 1) {
        fprintf(out, "total@%llu ", (unsigned long long)from->total);
    }
    if (from->tail != 0) {
        fprintf(out, "tail+%llu", (unsigned long long)from->tail);
    }
    fclose(out);
}

#endif
