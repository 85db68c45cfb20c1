/* What inline.c and inline_loop.c share. */
#ifndef S0_GRAPH_INLINE_H
#define S0_GRAPH_INLINE_H

#include "graph/passes.h"

typedef struct {
    size_t count, capacity;
    ValueId *id;
} ValueList;

typedef struct {
    Graph *graph;
    Work *work;
    uint32_t said_count;
    const Node *said;     /* the nodes as the file has them: placing a caller changes its node */
    ValueId *map;         /* value of the file -> the value that stands for it now */
    uint32_t *call_count; /* block -> calls so far */
    bool *is_open;        /* block -> being placed */
    uint32_t depth;
    uint64_t
        spent; /* nodes placed, nodes and values copied, their names, blocks opened: what a hostile file may cost */
    size_t order_count, order_capacity;
    NodeId *order; /* nodes of the main graph, as they run */
    size_t mark_count, mark_capacity;
    uint32_t *mark; /* value -> serial of the loop that last marked it */
    uint32_t mark_serial;
} Inliner;

ValueId inline_mapped(const Inliner *in, ValueId id);
bool inline_refuse(const Inliner *in, const Node *node, const char *what);
bool inline_error(const Inliner *in, const Node *node, const char *what);

void inline_push(Inliner *in, ValueList *list, ValueId id);
/* A node of `op` that makes `to` from `from`, or from nothing where that is absent. */
void inline_emit_copy(Inliner *in, const Node *caller, OpId op, ValueId from, ValueId to);
/* Places the calling node itself, with these inputs and without its blocks. */
void inline_finish(Inliner *in, NodeId id, ValueList inputs, uint32_t output_count);

/* Opens a block for one call, places its nodes, closes it. Results are read through the map before closing. */
bool inline_open(Inliner *in, const Node *caller, BlockId id, uint32_t input_count);
bool inline_nodes(Inliner *in, BlockId id);
void inline_close(Inliner *in, BlockId id);

/* One kind of caller each; the node's inputs and outputs are already mapped. */
bool inline_call(Inliner *in, NodeId id);
bool inline_once(Inliner *in, NodeId id);
bool inline_branches(Inliner *in, NodeId id);
bool inline_loop(Inliner *in, NodeId id);

#endif
