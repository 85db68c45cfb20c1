/* The channels of a node of 16-bit codes, ready for the kernels of kern/affine.h.
 *
 * Channel first, each channel goes by its own form. Channel last, one call goes over all channels of the form that most
 * of them share; the others are patched behind it, as in node8.h. */
#ifndef S0_PREPARE_NODE16_H
#define S0_PREPARE_NODE16_H

#include "base/arena.h"
#include "prepare/form16.h"

typedef struct {
    size_t channels;
    const Chain *chain; /* of each channel; kept, not copied */
    const Form16 *form; /* of each channel */
    size_t count[FORM16_KINDS];
    Form16Kind shared;       /* CHAIN: none is shared, all columns are patched */
    S0Reals16 reals;         /* of all channels where REAL is shared; those of patched columns are not right */
    S0Quotients16 quotients; /* where QUOTIENT is */
    S0Fixed16 fixed;         /* where FIXED is */
    size_t patch_count;
    const size_t *patch_column; /* rising */
    S0Reals16 planes;           /* set by node16_join: all channels, right for those that are REAL, but for the codes */
    const size_t *together;     /* by it, a channel: so many from it on are REAL with the same codes; 0: it is none */
} Node16;

/* `chain`: one a channel, at least one, each as form16_find takes it. */
void node16_find(const Chain *chain, size_t channels, Arena *arena, Node16 *node);

/* For channel first: neighbours that one call computes, from what node16_find found. */
void node16_join(Node16 *node, Arena *arena);

#endif
