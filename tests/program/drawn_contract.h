/* The layout contracts of a drawn case: those that devices have, or text of the grammar by chance. */
#ifndef S0_TESTS_PROGRAM_DRAWN_CONTRACT_H
#define S0_TESTS_PROGRAM_DRAWN_CONTRACT_H

#include "program/drawn.h"

enum { LAYOUT_MOST_TERMS = 12, LAYOUT_MOST_BANKS = 32 };

/* What a contract's genes choose, from the first of them on; 0 is the plainest. */
typedef enum {
    LAYOUT_KIND,
    LAYOUT_SPLITS, /* and one for each of N C H W */
    LAYOUT_ORDER = LAYOUT_SPLITS + 4,
    LAYOUT_BANKS,
    LAYOUT_DETAILS,
    LAYOUT_ENDS,
    LAYOUT_GUARD,
    LAYOUT_GENE_COUNT
} LayoutGene;

_Static_assert((int)LAYOUT_GENE_COUNT <= (int)LAYOUT_GENES, "each has a gene");

/* ---- Those of devices */

static inline uint64_t drawn_align(const Drawn *drawn) {
    static const uint8_t align[] = {1, 16, 32, 64, 4, 12};
    return align[gene(drawn, GENE_ALIGN, 6)];
}

enum { KNOWN_LAYOUTS = 14 };

/* %A and %B are the alignment and the block of the case. */
static inline void print_known_layout(const Drawn *drawn, FILE *out, uint32_t which) {
    static const char *const text[KNOWN_LAYOUTS] = {
        "N C H W",
        "N H W C",
        "when C==1: N H W@%A C | N H W C@%A",
        "N H C/%B W C%%B",
        "N C/%B H W C%%B",
        "bank[C%%B] N C/%B H@%A W",
        "N C H W@%A",
        "when W<=16: N C/4 H C%4 W@16 | when W<=32: N C/2 H C%2 W@32 | N C H W@64",
        "N C/%B H/2 W/4 H%2 C%%B W%4",
        "bank[W%2] N H W/2 C@%A",
        "N H+3 W C@%A",
        "N C H W@1 total@%A",
        "when bits==4: N C H W@1 | N C H W",
        "N C/%B H^3 W C%%B@%A",
    };
    static const unsigned block[] = {4, 8, 16};
    for (const char *c = text[which]; *c != '\0'; c++) {
        if (c[0] == '%' && (c[1] == 'A' || c[1] == 'B')) {
            fprintf(out, "%u", c[1] == 'A' ? (unsigned)drawn_align(drawn) : block[gene(drawn, GENE_BLOCK, 3)]);
            c++;
        } else {
            fputc(*c, out);
        }
    }
}

/* ---- By chance */

typedef struct {
    char dim;
    uint32_t div, mod; /* 1, 0: all of the dimension */
} LayoutTerm;

typedef struct {
    const Drawn *drawn;
    FILE *out;
    uint32_t first;  /* gene */
    uint32_t number; /* of the case of the contract: each is another one */
} LayoutDraw;

static inline uint32_t layout_gene(const LayoutDraw *draw, LayoutGene which, uint32_t choices) {
    return gene(draw->drawn, draw->first + which, choices);
}

/* A number of its own for each place of a case. */
static inline uint32_t layout_chance(const LayoutDraw *draw, LayoutGene which, uint32_t where, uint32_t choices) {
    uint64_t hash = (uint64_t)layout_gene(draw, which, 27720) * 8 + draw->number * 4 + 1;
    hash = (hash * UINT64_C(0x9E3779B97F4A7C15)) ^ where;
    hash = (hash ^ hash >> 32) * UINT64_C(0xBF58476D1CE4E5B9);
    return (uint32_t)(hash >> 33) % choices;
}

/* A dimension in one digit, in two or in three. */
static inline uint32_t split_dimension(const LayoutDraw *draw, uint32_t d, LayoutTerm *term) {
    static const uint8_t blocks[] = {2, 4, 8, 3, 16};
    uint32_t how = layout_gene(draw, (LayoutGene)(LAYOUT_SPLITS + d), 6);
    uint32_t inner = blocks[layout_gene(draw, (LayoutGene)(LAYOUT_SPLITS + d), 30) / 6];
    char dim = "NCHW"[d];
    if (how < 3 || (how == 3 && d != 1)) {
        *term = (LayoutTerm){dim, 1, 0};
        return 1;
    }
    term[0] = (LayoutTerm){dim, how == 5 ? inner * 2 : inner, 0};
    term[1] = how == 5 ? (LayoutTerm){dim, inner, 2} : (LayoutTerm){dim, 1, inner};
    term[2] = (LayoutTerm){dim, 1, inner};
    return how == 5 ? 3 : 2;
}

/* Blocks of all dimensions first, then what is inside them; or any order. */
static inline uint32_t draw_terms(const LayoutDraw *draw, LayoutTerm term[LAYOUT_MOST_TERMS]) {
    LayoutTerm digits[4][3];
    uint32_t have[4], count = 0;
    for (uint32_t d = 0; d < 4; d++) {
        have[d] = split_dimension(draw, d, digits[d]);
    }
    for (uint32_t digit = 0; digit < 3; digit++) {
        for (uint32_t d = 0; d < 4; d++) {
            if (digit < have[d]) {
                term[count++] = digits[d][digit];
            }
        }
    }
    for (uint32_t k = count; k-- > 1 && layout_gene(draw, LAYOUT_ORDER, 3) > 0;) {
        uint32_t other = layout_chance(draw, LAYOUT_ORDER, k, k + 1);
        LayoutTerm swapped = term[k];
        term[k] = term[other];
        term[other] = swapped;
    }
    return count;
}

static inline void print_term(const LayoutDraw *draw, const LayoutTerm *term) {
    fputc(term->dim, draw->out);
    if (term->div > 1) {
        fprintf(draw->out, "/%u", (unsigned)term->div);
    }
    if (term->mod > 0) {
        fprintf(draw->out, "%%%u", (unsigned)term->mod);
    }
}

/* Digits that choose a bank, taken out of the levels; returns how many are left. */
static inline uint32_t draw_banks(const LayoutDraw *draw, LayoutTerm *term, uint32_t count) {
    uint32_t left = 0, banks = 1;
    for (uint32_t k = 0; k < count; k++) {
        bool is_bank =
            layout_gene(draw, LAYOUT_BANKS, 3) == 2 && term[k].mod > 0 && banks * term[k].mod <= LAYOUT_MOST_BANKS;
        if (is_bank) {
            fputs(banks == 1 ? "bank[" : " ", draw->out);
            print_term(draw, &term[k]);
            banks *= term[k].mod;
        } else {
            term[left++] = term[k];
        }
    }
    fputs(banks > 1 ? "] " : "", draw->out);
    return left;
}

/* Large ones outside, where they cost little. */
static inline void print_details(const LayoutDraw *draw, uint32_t level, uint32_t levels_inside) {
    static const uint8_t align[] = {1, 2, 4, 8, 3, 16, 32, 12};
    if (layout_gene(draw, LAYOUT_DETAILS, 3) == 0) {
        return;
    }
    uint32_t chance = layout_chance(draw, LAYOUT_DETAILS, level, 12),
             more = layout_chance(draw, LAYOUT_DETAILS, level + 64, 8);
    if (chance == 1 || chance == 2) {
        fprintf(draw->out, "^%u", 1 + (unsigned)more);
    }
    if (chance >= 2 && chance < 6) {
        fprintf(draw->out, "@%u", (unsigned)align[levels_inside == 0 ? more % 3 : more]);
    }
    if (chance == 5 || chance == 6) {
        fprintf(draw->out, "+%u", 1 + (unsigned)more % 3);
    }
}

static inline void print_case(const LayoutDraw *draw) {
    LayoutTerm term[LAYOUT_MOST_TERMS];
    uint32_t count = draw_banks(draw, term, draw_terms(draw, term));
    for (uint32_t k = 0; k < count; k++) {
        fputs(k > 0 ? " " : "", draw->out);
        print_term(draw, &term[k]);
        print_details(draw, k, count - 1 - k);
    }
    uint32_t ends = layout_gene(draw, LAYOUT_ENDS, 12);
    if (ends >= 6 && ends % 2 == 0) {
        fprintf(draw->out, " total@%u", 1u << layout_chance(draw, LAYOUT_ENDS, 1, 7));
    }
    if (ends == 9) {
        fprintf(draw->out, " base@%u", (unsigned)(layout_chance(draw, LAYOUT_ENDS, 2, 8) + 1) * 8);
    }
    if (ends >= 6 && ends % 3 == 1) {
        fprintf(draw->out, " tail+%u", (unsigned)layout_chance(draw, LAYOUT_ENDS, 3, 20));
    }
}

static inline void print_random_layout(const Drawn *drawn, FILE *out, uint32_t first) {
    static const char *const guard[] = {"C==1",   "W<=4", "H>2 and W<8", "bits in {4,16}", "rank==4 or C>=8",
                                        "bits<8", "N!=1", "C in {1,3,4}"};
    LayoutDraw draw = {drawn, out, first, 0};
    uint32_t choice = layout_gene(&draw, LAYOUT_GUARD, 24);
    print_case(&draw);
    if (choice % 3 == 2) {
        fprintf(out, " | when %s: ", guard[choice / 3]);
        draw.number = 1;
        print_case(&draw);
    }
}

/* ---- Of maps and of parameters */

enum { LONGEST_LAYOUT = 170 }; /* a line of a device file has 197 bytes */

/* "a | when G: b" as "when G: b | a"; without the case of a guard where that is too long for a line. */
static inline void order_cases(char **text) {
    char *guarded = strstr(*text, " | ");
    if (guarded != NULL) {
        *guarded = '\0';
        size_t length;
        char *ordered;
        FILE *out = open_memstream(&ordered, &length);
        fprintf(out, "%s | %s", guarded + 3, *text);
        fclose(out);
        if (length <= LONGEST_LAYOUT) {
            free(*text);
            *text = ordered;
        } else {
            free(ordered);
        }
    }
}

static inline void draw_layout(Drawn *drawn, uint32_t role, uint32_t first, uint32_t known) {
    size_t length;
    FILE *out = open_memstream(&drawn->layout[role], &length);
    drawn->is_random_layout[role] = gene(drawn, first + LAYOUT_KIND, 2) == 1;
    if (drawn->is_random_layout[role]) {
        print_random_layout(drawn, out, first);
    } else {
        print_known_layout(drawn, out, known);
    }
    fclose(out);
    if (drawn->is_random_layout[role]) {
        order_cases(&drawn->layout[role]);
    }
}

/* Texts are to be freed. */
static inline void draw_layouts(Drawn *drawn) {
    uint32_t known = gene(drawn, GENE_CONTRACT, KNOWN_LAYOUTS), parameter = gene(drawn, GENE_PARAMETER, 6);
    draw_layout(drawn, 0, GENE_LAYOUT, known);
    if (parameter == 1) {
        drawn->layout[1] = strdup(drawn->layout[0]);
        drawn->is_random_layout[1] = drawn->is_random_layout[0];
    } else {
        draw_layout(drawn, 1, GENE_PARAMETER_LAYOUT,
                    parameter == 2   ? 1
                    : parameter == 3 ? 4
                    : parameter == 4 ? known
                                     : 0);
    }
}

#endif
