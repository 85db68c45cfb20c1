/* Simplify: an equivalent smaller model, each rewrite with its certificate.
 *
 * The rules, in the order they run (simplify.c), each until nothing more changes:
 *
 *     constants   equal ones merged, expanded ones collapsed, folded ones stored where that does not grow the model
 *     identities  operators that give back what they are given: x * 1, x + (-0), a reshape to the same shape
 *     clips       limits inside limits
 *     codes       chains between integer codes: per-channel affines, requantise, Dequantize - operators - Quantize
 *     convolution a per-channel affine behind a convolution goes into its weights and bias; then one in front of it
 *     unread      what nobody reads any more
 * docs/rewrites.md tells of each when it is legal and why it is exact. */
#ifndef S0_AFFINE_SIMPLIFY_H
#define S0_AFFINE_SIMPLIFY_H

#include "affine/form.h"
#include "affine/proof.h"
#include "graph/edit.h"

/* What the file itself says, noted before passes add to the graph: only its own main graph can be written again. */
typedef struct {
    uint32_t value_count, node_count; /* of the file; ids below are its own */
    uint32_t main_count;
    NodeId *main_nodes;   /* by position in the file; NO_NODE where a Constant stands that is a value only */
    bool *is_annotated;   /* value -> held by annotations only */
    bool *is_held;        /* value -> a called block or its caller names it: it stays as it is */
    uint64_t *bytes;      /* value -> of a constant that the file stores, else 0 */
    uint64_t *node_bytes; /* node -> of the tensors that its attributes hold */
    uint32_t *next;       /* value -> the next one of those in the same bytes, after the last the first */
} FileNote;

/* Which rules run. */
typedef enum {
    SIMPLIFY_ALL,
    SIMPLIFY_OPERATORS, /* not those whose only gain is bytes of constants */
    SIMPLIFY_NOTHING,   /* none: what stays is told */
} SimplifyExtent;

typedef struct {
    SimplifyExtent extent;
    uint32_t semantics; /* bit set of references a certificate must hold for; 0: all of the model's format */
    uint64_t tolerance; /* LSB of codes, ulp of floats; 0: exact rewrites only */
    bool is_silent;     /* why the rest stays is not found out: it takes longer than all rewrites */
    bool verify;        /* every certificate over codes is checked again by brute force; a false one is our fault */
} SimplifyOptions;

typedef struct {
    Str node, op; /* that is rewritten; of several, the first */
    AffineForm form;
    Certificate certificate;
    uint32_t nodes;                     /* that disappear */
    int64_t constant_bytes;             /* of constants, less (negative) or more */
    uint64_t bytes_before, bytes_after; /* of a constant that is collapsed */
    bool is_verified;                   /* by brute force, from the original stages */
    uint64_t verified_evaluations;      /* and in so many of them */
} Rewrite;

typedef struct {
    Str node, op, tensor;
    const char *reason;
} RewriteRefusal;

typedef struct {
    size_t rewrite_count, refusal_count;
    const Rewrite *rewrites;
    const RewriteRefusal *refusals; /* affines that stayed, and why: the channels that blocked stand in the reason */
    uint32_t gone_count;
    const uint32_t *gone_by; /* node below gone_count -> 1 + the rewrite that took it away; 0: none did */
    uint64_t constant_bytes_before, constant_bytes_after; /* what two constants share is counted once */
    bool verify;                                          /* certificates over codes were checked again */
    ModelEdit edit;
} Simplified;

/* needs   the graph as imported, before graph_inline */
FileNote simplify_note(const Graph *graph, Arena *keep);

/* The references must be of the model's format. False with a diagnostic. */
bool simplify_check(const Graph *graph, const SimplifyOptions *options, Work *work);

/* needs   bound, inferred, named, and inlined where it is to be planned; not yet graph_fold_qdq
 * breaks  node list of the main block, inputs of nodes, uses
 * `other` is the same model bound to other values of its free dimensions, or null where it has none: it tells which
 * axes of inputs are free, and what differs between the two is not known of the model. */
void simplify_graph(Graph *graph, const Graph *other, const FileNote *note, const SimplifyOptions *options, Work *work,
                    Simplified *out);

#endif
