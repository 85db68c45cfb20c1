/* Things of two plans under one name: lists that are sorted, and walked side by side. */
#ifndef S0_LEDGER_KEYED_H
#define S0_LEDGER_KEYED_H

#include "ledger/side.h"

typedef struct {
    uint32_t group; /* things of two groups never have one name */
    Str key;
    uint32_t tie; /* what comes first of one name: of a constant the form that the operator reads, then its load */
    uint32_t index;
} Keyed;

enum { KEYED_CONSTANT, KEYED_MAP, KEYED_WORKSPACE };

/* Of a buffer: constants, maps and workspace apart, by the tensor, workspace by its node. */
Keyed keyed_buffer(const Side *side, uint32_t index);

/* By group, key, tie and index. */
void keyed_sort(Keyed *items, uint32_t count);

/* By group and key alone: <0, 0, >0. */
int keyed_order(const Keyed *a, const Keyed *b);

/* Is one of that group and key in the sorted list? */
bool keyed_has(const Keyed *items, uint32_t count, const Keyed *wanted);

#endif
