/* Operators that are not per-channel, as the command that computes them: what a convolution, a pool or a fully
 * connected layer on codes makes, what only moves elements, and what has a table (node/table.h). Who plans asks whether
 * there is a command, who writes programs asks for it. Definitions: docs/semantics.md. */
#ifndef S0_NODE_COMMAND_H
#define S0_NODE_COMMAND_H

#include "cmd/command.h"
#include "graph/graph.h"
#include "layout/view.h"

enum { WINDOW_WEIGHTS = 1, WINDOW_BIAS = 2 }; /* inputs of the node */

typedef struct {
    CmdOp op;
    CmdWindow window; /* of the whole map, with the scales of all its channels */
    Stage stage;
    uint64_t code; /* PAD: the bits of an element beyond the edges */

    /* CONV whose weights have one axis, I, for all that is read of an image: the axes that it is made of, outer first,
     * as weights have them (H W I); else 0 */
    uint32_t flat_rank;
    ViewAxis flat[SHAPE_MAX_RANK];

    /* SUM, MAXPOOL of a reduction: the dimensions as which the axes of src are read, where they are others than its own
     */
    bool is_renamed;
    uint8_t src_dims[SHAPE_MAX_RANK];

    /* COPY: axes of the input in the order in which the output counts its elements; those that there are not, as they
     * are */
    uint32_t perm[SHAPE_MAX_RANK];
} NodeCommand;

/* needs   shapes, names
 * False where no command computes the node: `why` tells, in one clause; null where it is no such operator at all. */
bool node_command(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why);

/* ---- Private to the room: by family, as node_command */

bool node_window(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why);
bool node_pad(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why);
bool node_move(const Graph *graph, const Node *node, Arena *arena, NodeCommand *command, const char **why);

#endif
