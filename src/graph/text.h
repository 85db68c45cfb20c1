/* The text form of a graph: what tests are written in, and what can be printed after any pass.
 *
 *     stride0-graph 1                             first line
 *     name "person detect"                        optional
 *     main "subgraph 0"                           optional: the name of block 0
 *     format onnx 13                              onnx OPSET | tflite | text OPSET; without this line: text 21
 *     input X int8[1,12,20,28] scale=0.1 zero=0   the next input of the graph
 *     const s int8[12] = splat 1
 *     const w float32[2,3] = 1 2 3 4 5 6
 *     const e int8[1,2,4,4] stored [1,2,1,1] = hex 0a0b
 *     const u int8[2,3] = unknown                 constant, bytes not computed
 *     state v float32[1,8]
 *     value y int8[1,12,20,28]                    optional: a name that was never declared has no dtype and no shape
 *     node Mul m: X s -> y  axis=1 pads=[0,1]
 *     output y
 *     block 1 "body"                              blocks are numbered from 1, in order; block 0 is the rest
 *     input i
 *     node Relu: i -> j
 *     output j
 *     end
 *
 * One line a thing; `#` starts a comment; a line may not be broken.
 *   name     letters, digits, _ . / and - (not first), or any bytes in quotes ("\x00 \n \t \r \" \\"); `_` where an
 *            optional input or output is absent. A name stands for one value in the whole file. A value whose name
 *            is empty or not unique is called %LABEL and declared `%LABEL=NAME`
 *   type     DTYPE, or DTYPE[dim,…] where the shape is known; `?` for an unknown dtype. dim: 4, ? (free), batch (free,
 *            named), 4:batch (the file's number for a dimension that the user may bind)
 *   flags    after the type: scale= zero= axis= block= (quantisation; lists are per slice), state, sequence, dims=NCHW
 *            (the names that graph_assign_names gave the axes: it gives them anew, --layout is what tells it)
 *   node     `node OP(FILE'S NAME)@VERSION NAME: inputs -> outputs attributes`; OP is a row of ops.def, with its domain
 *            where that is not ai.onnx; (FILE'S NAME), @VERSION and NAME are optional. `folded` for `node` marks a node
 *            whose outputs are all constants
 *   attr     NAME=5 (int) 0.5 (float) "text" or word (string) [1,2] [1.0,2.0] ["a","b"] floats[] strs[]
 *            tensor(VALUE) block(1)
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
