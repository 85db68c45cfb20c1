/* Constants that follow from constants: folding a node, and reading a constant's elements.
 *
 * A folded output is a rule over stored bytes (Const): element-wise operators are evaluated on the stored elements
 * only, so what repeats goes on repeating and costs nothing. Bytes are computed where at most FOLD_MAX_ELEMS elements
 * are stored; past that, and for what is not evaluated here, the output is constant with is_known false. */
#ifndef S0_GRAPH_FOLD_H
#define S0_GRAPH_FOLD_H

#include "graph/graph.h"

enum {
    FOLD_MAX_ELEMS = 4096,       /* of one constant */
    FOLD_BUDGET_ELEMS = 1 << 24, /* read and written by one graph: what a file of many nodes may cost */
};

typedef struct {
    uint32_t count;
    const int64_t *at;
} Ints;

typedef struct {
    uint32_t count;
    const double *at;
} Floats;

/* All elements of a known constant of an integer or bool type, row-major. False where it is not one, or has more than
 * FOLD_MAX_ELEMS. */
bool const_ints(const Value *value, Arena *arena, Ints *ints);
bool const_floats(const Value *value, Arena *arena, Floats *floats);  /* float32 and float64 */
bool const_numbers(const Value *value, Arena *arena, Floats *floats); /* any of them, as double */

/* The integers of attribute `name` of a node (an INT is a list of one), or else of its constant input `k`. False where
 * neither is known. */
bool node_ints(const Graph *graph, const Node *node, const char *name, uint32_t k, Arena *arena, Ints *ints);

/* The axes [first, last) that a Shape operator lists: attributes start and end, counted from 0 and clamped. */
void shape_window(const Node *node, uint32_t rank, int64_t *first, int64_t *last);

/* needs   shapes and dtypes of the node's inputs and outputs
 * Makes the outputs constants where the node's inputs are (or its input's shape decides: Shape, Size), and sets
 * is_constant. Operators that are impure, opaque or call blocks never fold. Bytes are computed of the first
 * `stated_count` outputs, whose shapes follow from the node's inputs; a shape that only the file states gives a
 * constant of unknown bytes. `*budget_elems` is what may still be read and written, FOLD_BUDGET_ELEMS at the start;
 * where it is used up, constants are of unknown bytes. */
void fold_node(Graph *graph, Work *work, Node *node, uint32_t stated_count, uint64_t *budget_elems);

#endif
