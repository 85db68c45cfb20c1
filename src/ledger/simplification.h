/* What simplifying a model changed: the figures that `stride0 simplify` prints. */
#ifndef S0_LEDGER_SIMPLIFICATION_H
#define S0_LEDGER_SIMPLIFICATION_H

#include "affine/simplify.h"

/* Of local memory; and what is placed in memories that take the overflow of others. */
typedef struct {
    uint64_t live_bytes, placed_bytes, further_bytes;
} Peak;

/* What an output can hold, told by its codes or by the operator that writes it; infinite where neither limits it. */
typedef struct {
    Str name;
    double before[2], after[2];
} OutputRange;

/* Rewrites of one rule. */
typedef struct {
    const char *rule;
    uint32_t count, nodes, verified;
    uint64_t evaluations, verified_evaluations;
    uint64_t max_error; /* LSB of codes, or ulp of floats */
    bool is_ulp;
    int64_t constant_bytes; /* less (negative) or more */
} RuleTotal;

typedef struct {
    const char *file;
    const Graph *graph; /* as rewritten */
    const Simplified *simplified;
    uint32_t nodes_before, nodes_after; /* of the file's main graph */
    uint64_t file_bytes_before, file_bytes_after;
    SimplifyExtent extent;          /* fewer rules than all: the file would not have been smaller with them */
    const char *device;             /* of the peaks */
    const char *no_peaks;           /* why there are none, else null */
    Peak before, after_held, after; /* `after_held`: planned with the choices that the original's plan made */
    bool is_peak_of_maps;           /* constants lie in flash, the peaks are of local memory */
    uint32_t verified_count;        /* certificates that were checked again, where --verify asks for it */
    uint64_t verified_evaluations;
    uint32_t rule_count, output_count;
    const RuleTotal *rules; /* in the order they first came */
    const OutputRange *outputs;
} Simplification;

/* Rewrites by rule, in the order they first came. */
const RuleTotal *simplification_rules(const Simplified *simplified, Arena *arena, uint32_t *count);

/* What disappeared. */
typedef struct {
    uint32_t constant_count, map_count;
    uint64_t constant_bytes;
    const ValueId *constants; /* most bytes first */
    const ValueId *maps;      /* values between nodes, in the order of the file */
} Vanished;

Vanished simplification_vanished(const Simplified *simplified, Arena *arena);

/* The rewrite that took a node away, or a value: with its operator, or as a constant. Null where none did. */
const Rewrite *simplification_of_node(const Simplified *simplified, NodeId id);
const Rewrite *simplification_of_value(const Simplified *simplified, ValueId id);

/* Fills `rules` and the numbers of nodes. */
void simplification_count(Simplification *facts, Arena *keep);

/* The ranges of the outputs of a graph into `ranges[…].before` or, with `is_after`, `.after`. */
void simplification_ranges(const Graph *graph, bool is_after, OutputRange *ranges);

#endif
