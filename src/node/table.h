/* Nodes that a table computes: an operator of one map of 8-bit codes is as many codes as there are, whatever its
 * arithmetic. The table is a constant that the node reads, as the device loads it: 256 bytes. Definitions:
 * docs/semantics.md. */
#ifndef S0_NODE_TABLE_H
#define S0_NODE_TABLE_H

#include "graph/graph.h"
#include "kern/semantics.h"

enum { TABLE_INPUT = 1, TABLE_CODES = 256 }; /* input of the node */

/* Does the node read a table, that node_add_tables gave it? */
bool node_has_table(const Graph *graph, const Node *node);

/* The code that the node makes of each code, as bytes in the order of the code's bits. False where no reference is
 * known: `why` tells, in one clause; null where it is no such operator at all. */
bool node_table(const Graph *graph, const Node *node, Semantics semantics, uint8_t table[TABLE_CODES],
                const char **why);

/* Gives each node of the main block whose table is known its constant.
 * needs   shapes; after whatever rewrites the graph */
void node_add_tables(Graph *graph, Semantics semantics, Arena *keep);

#endif
