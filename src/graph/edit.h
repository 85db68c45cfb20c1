/* What rewriting did to a model, told so that an emitter can write its file again.
 *
 * Only nodes of the file's own main graph are ever dropped or changed, and only constants and values between nodes
 * disappear: inputs, outputs and state of the model keep name, shape, dtype and quantisation. Whatever an edit does not
 * name is written byte for byte as it was read. */
#ifndef S0_GRAPH_EDIT_H
#define S0_GRAPH_EDIT_H

#include "base/name_map.h"
#include "graph/graph.h"

typedef enum {
    NODE_AS_FILED, /* its bytes are copied */
    NODE_REWIRED,  /* other inputs or outputs than in the file; all else is copied */
    NODE_DROPPED,
} NodeFate;

/* A node the file does not have; it goes before node `before` of the file's main graph (their count: at the end). */
typedef struct {
    NodeId id;
    uint32_t before;
} AddedNode;

typedef struct {
    const Graph *graph; /* as rewritten: nodes have their new inputs and outputs, values their new quantisation */

    uint32_t file_node_count; /* of the file's main graph */
    const NodeId *file_nodes; /* position in the file -> node */
    const NodeFate *fates;    /* by position in the file */

    uint32_t added_node_count;
    const AddedNode *added_nodes; /* by `before`, then in the order they run */

    uint32_t file_value_count;  /* ids below are values of the file */
    const bool *is_dropped;     /* by id below file_value_count: nobody names the value any more */
    const bool *is_requantised; /* by id below file_value_count: its quantisation is not the file's */
    uint32_t added_value_count; /* constants and values between nodes that the file does not have; names are fresh */
    const ValueId *added_values;
} ModelEdit;

/* Names that are taken. Invariant: of each name's numbers those below `next` are: `b0` and `b1` behind `b`. */
typedef struct {
    NameMap next; /* name -> the number to try first behind it */
} TakenNames;

/* Those of all values and nodes. */
TakenNames graph_taken_names(const Graph *graph, Arena *arena);

/* A name that is not taken: `stem`, which lives as long, or stem with the least number behind it that makes it one. */
Str graph_fresh_name(TakenNames *names, Str stem, Arena *keep);

void graph_take_name(TakenNames *names, Str name);

#endif
