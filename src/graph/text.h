/* The text form of a graph: what tests are written in, and what can be printed after any pass.
 * docs/text.md has the lines. Beyond them, for what passes leave:
 *   value    `dims=NCHW`: the names of the axes; graph_assign_names gives them anew, --layout is what tells it
 *   node     `node OP(FILE'S NAME)@VERSION NAME: …`; `folded` for `node` marks one whose outputs are all constants
 *
 * parse(print(g)) equals g, up to the order of nodes between blocks and to where the text has them (source_index,
 * source). The text carries graphs that graph_check rejects; call it after parsing. */
#ifndef S0_GRAPH_TEXT_H
#define S0_GRAPH_TEXT_H

#include "graph/graph.h"

/* `scratch` holds the table of names while it prints. */
void graph_print_text(const Graph *graph, Arena *scratch, FILE *out);

/* Null with diagnostics, each with line and column. `text` must live as long as the graph. */
Graph *graph_parse_text(Work *work, Span text, Str name);

#endif
