/* Nodes as stages: what a per-channel operator computes of one element, and which of its inputs are parameters.
 *
 * Only the numbers that are part of the graph itself (quantisation, attributes, limits) are immediates here; constants
 * stay inputs, which the device reads from memory, and so do parameters that a caller gives. */
#ifndef S0_NODE_STAGES_H
#define S0_NODE_STAGES_H

#include "graph/passes.h"
#include "stage/stage.h"

/* Which number of a stage an input gives. */
typedef enum {
    GIVES_NUMBER,
    GIVES_VALUE,
    GIVES_GAMMA,
    GIVES_BETA,
    GIVES_MEAN,
    GIVES_VARIANCE,
    GIVES_SCALE,
    GIVES_ZERO_POINT,
    GIVES_LO,
    GIVES_HI,
} Gives;

/* DEQUANTIZE, CAST, the operator, CAST, its activation, QUANTIZE */
enum { NODE_MOST_STAGES = 6, STAGE_MOST_PARAMS = 4 };

/* A coded parameter is stored as integer codes, but the stage takes reals: each is dequantised as it is read, as a
 * DEQUANTIZE stage with `code` does from the input's type to the stage's. */
typedef struct {
    Gives gives;
    uint32_t input; /* of the node */
    bool is_coded;
    StageCode code;
} StageParam;

typedef struct {
    Stage stage;
    uint32_t param_count;
    StageParam param[STAGE_MOST_PARAMS];
} NodeStage;

typedef struct {
    uint32_t data_input; /* the map; all other inputs are parameters, or have no elements at run time */
    bool is_spread;      /* the map is a graph input that repeats along axes of the result */
    uint32_t count;
    NodeStage stage[NODE_MOST_STAGES]; /* in order; what one gives the next takes */
} NodeStages;

/* needs   shapes, dtypes, names; before or after graph_fold_qdq
 * False where the node is no per-channel operator whose arithmetic is known: `why` tells, in one clause. The map keeps
 * its shape, but for what `is_spread` tells; every parameter broadcasts to it by its operator's rule. */
bool node_stages(const Graph *graph, const Node *node, NodeStages *stages, const char **why);

/* Limits the codes that `stage` gives as the node's fused activation limits reals. False, and why, where the activation
 * is no limit or leaves no code. */
bool node_limit_codes(const Node *node, Stage *stage, const char **why);

#endif
