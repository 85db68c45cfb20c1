/* What `stride0 inspect` found, for its two views. */
#ifndef S0_CLI_INSPECT_H
#define S0_CLI_INSPECT_H

#include "graph/graph.h"

/* One row of the table of operators. */
typedef struct {
    Str op; /* as the file states it */
    uint64_t count;
    bool is_known; /* has a row in graph/ops.def */
    bool has_layout;
} OperatorCount;

typedef struct {
    const char *file;
    uint64_t file_bytes;
    const Graph *graph;    /* as the file states it */
    const Graph *complete; /* with inferred shapes and names of the axes; null where the passes did not get through */
    uint32_t operator_count;
    OperatorCount *operators;                /* most frequent first, then by name */
    uint64_t constant_count, constant_bytes; /* bytes as stored in the file */
    uint64_t state_count;
    uint64_t free_dim_count; /* of the inputs */
    Arena *arena;
} InspectFacts;

/* The value as inference completed it, or as the file states it. */
const Value *cli_inspect_value(const InspectFacts *facts, ValueId id);

/* "NHWC": the dimension of each axis; empty where the names are not known. */
const char *cli_inspect_axes(const InspectFacts *facts, ValueId id);

/* "[batch,3,H,W]": free dimensions by their names. */
const char *cli_inspect_shape(Arena *arena, const Value *value);

/* The first lines of both views for people. */
void cli_inspect_print_model(FILE *out, const InspectFacts *facts);

void cli_inspect_print(FILE *out, const InspectFacts *facts);
void cli_inspect_print_names(FILE *out, const InspectFacts *facts);
void cli_inspect_write_json(FILE *out, const void *inspect_facts);

#endif
