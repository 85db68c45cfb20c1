/* A contract, parsed: what contract.h keeps opaque. Private to this room.
 *
 * Invariant of a case that contract_parse returned: over `chain`, the terms of each dimension stand by rising div,
 * begin with div 1, each next div is div * mod, and the last and only the last has no mod. */
#ifndef S0_LAYOUT_CONTRACT_CASE_H
#define S0_LAYOUT_CONTRACT_CASE_H

#include "layout/contract.h"

/* A level, or a term of bank[…] (min, align and head 0). */
typedef struct {
    Dim dim;
    bool is_bank;
    uint64_t div, mod;                     /* mod 0: none */
    uint64_t min, align_bytes, head_bytes; /* align 0: none, not even to a byte (rule 6) */
    size_t at, end;                        /* of its text in the contract's, half-open */
} ContractTerm;

typedef enum { COMPARE_EQ, COMPARE_NE, COMPARE_LT, COMPARE_LE, COMPARE_GT, COMPARE_GE, COMPARE_IN } CompareOp;

/* What a guard may ask for: a dimension by its Dim, or one of these. */
enum { GUARD_BITS = DIM_COUNT, GUARD_RANK };

typedef struct {
    bool starts_or; /* 'or' stands before it; else 'and', or nothing */
    uint32_t var;
    CompareOp op;
    uint64_t *value; /* one, or those of the set */
    size_t value_count;
} Compare;

typedef struct {
    Compare *compare;
    size_t count; /* 0: no guard, always holds */
} Guard;

typedef struct {
    Guard guard;
    ContractTerm *bank_term, *level; /* outermost first */
    const ContractTerm **chain;      /* all of them by dimension, then by div */
    uint32_t bank_term_count, level_count;
    bool names[DIM_COUNT];
    uint64_t total_bytes, base_bytes, tail_bytes;
} ContractCase;

struct Contract {
    Str text;
    ContractCase *item;
    size_t count;
};

bool guard_holds(const Guard *guard, const LayoutShape *shape);

#endif
