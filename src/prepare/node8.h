/* The channels of a node of 8-bit codes, ready for the kernels of kern/affine.h.
 *
 * Channel first, each channel has planes of its own and so a form of its own. Channel last, one call goes over all
 * channels: they share form and limits, except that single columns are patched (Node8Way). */
#ifndef S0_PREPARE_NODE8_H
#define S0_PREPARE_NODE8_H

#include "affine/chain.h"
#include "base/work.h"
#include "prepare/form8.h"

/* The channels' references, one table after the other as in S0Tables8; flips as in S0Bytes: 0x80 for uint8. */
typedef struct {
    size_t channels; /* at least 1 */
    const uint8_t *table;
    uint8_t x_flip, y_flip;
} Node8Reference;

/* What a chain makes of each of the 256 codes of `from`, an 8-bit type, as it ends in one. */
void node8_table(const Chain *chain, DType from, uint8_t table[FORM8_CODES]);

/* ---- channel first */

typedef struct {
    size_t channels;
    const Form8 *form;         /* by channel; pass form8_products(&form[c]) and so on */
    S0Products8 products;      /* of all channels, right for those that are products without limits */
    const size_t *together;    /* by channel: so many from it on are such products; 0: it is none */
    size_t count[FORM8_KINDS]; /* channels */
} Node8First;

/* Limits are by channel. `prefers_tables`: what is no product goes by table, not by float32. Whatever the result points
 * to is in `arena`, the reference is not kept. */
void node8_first(const Node8Reference *reference, bool prefers_tables, Arena *arena, Node8First *node);

/* The same, all by tables: for rows so short that a vector does not pay. */
void node8_first_tables(const Node8Reference *reference, Arena *arena, Node8First *node);

/* ---- channel last */

typedef enum {
    NODE8_PRODUCTS, /* `products` */
    NODE8_ROUNDS,   /* `rounds` */
    NODE8_PATCHED,  /* `products`, which are wrong in the columns of patch_column: see below */
    NODE8_TABLES,   /* `tables` */
} Node8Way;

/* To patch: of the rows of one block (some KiB, so that they stay in the cache) copy each patch column of x to a buffer
 * of yours, run product8 over the block (y may be x), then make y of that column by S0Tables8{1, node8_patch(node, k)}:
 * a matrix of one column, whose rows lie side by side in the buffer and y_pitch_bytes apart in y. */
typedef struct {
    Node8Way way;
    size_t channels;
    size_t count[FORM8_KINDS];  /* channels, by the form that each would take alone under the shared limits */
    S0Products8 products;       /* PRODUCTS, PATCHED; odd_code and odd_step are null where no channel needs them */
    S0Rounds8 rounds;           /* ROUNDS */
    S0Tables8 tables;           /* TABLES: all channels; PATCHED: the patched columns alone, in their order */
    size_t patch_count;         /* PATCHED, else 0 */
    const size_t *patch_column; /* rising */
} Node8Last;

/* Limits are shared. Whatever the result points to is in `arena`, the reference is not kept. */
void node8_last(const Node8Reference *reference, Arena *arena, Node8Last *node);

void node8_last_tables(const Node8Reference *reference, Arena *arena, Node8Last *node);

/* The table of the patched column number k. */
static inline const uint8_t *node8_patch(const Node8Last *node, size_t k) {
    return node->tables.table + k * FORM8_CODES;
}

#endif
