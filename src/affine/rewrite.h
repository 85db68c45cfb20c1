/* A model that is being rewritten: what the rules of simplify.h share.
 *
 * Invariants:
 *   - a node that is not of the file's main graph is never changed, nor is a value that it reads;
 *   - inputs, outputs and state of the model keep name, shape, dtype and quantisation;
 *   - `uses` and `reader_count` hold after rewrite_refresh; a rule that goes through the nodes in order may rely on
 *     the readers of what it has not rewritten itself. */
#ifndef S0_AFFINE_REWRITE_H
#define S0_AFFINE_REWRITE_H

#include "affine/extents.h"
#include "affine/simplify.h"

#define NOT_IN_FILE UINT32_MAX

typedef struct {
    Graph *graph;
    const Graph *other; /* the model with other values of its free dimensions; null where none is free */
    Extents extents;    /* where there is another; empty else */
    const FileNote *note;
    SimplifyExtent extent;
    uint32_t semantics;
    uint64_t tolerance;
    bool verify;
    Work *work;

    GraphUses uses;
    uint32_t *reader_count; /* value -> inputs that read it, and the graph's outputs */
    uint32_t use_values;    /* values that the two know */

    uint32_t first_count, first_node_count; /* values and nodes before the first change */
    const bool *is_callers; /* by id below first_count: a caller may replace it, or what it is made of */
    const bool *is_strange; /* the same, null for none: an operator that is not known makes it or what it is of */

    size_t position_capacity, gone_capacity;
    uint32_t *position; /* node of the file -> position in its main graph, or NOT_IN_FILE */
    NodeFate *fates;    /* by position */
    bool *is_gone;      /* node -> dropped */
    uint32_t *gone_by;  /* node below first_node_count -> 1 + the place in the log of what dropped it */
    bool *is_told;      /* node -> why it stays has been told in this round */
    bool *is_requantised;
    size_t added_node_count, added_node_capacity, added_value_count, added_value_capacity;
    size_t listed_node_count; /* of the added nodes, those that the main block lists */
    TakenNames names;         /* none until one is asked for */
    AddedNode *added_nodes;
    ValueId *added_values;

    uint64_t evaluations_left; /* of the run that is looked at: coded.h */
    struct CodedMemo *memo;    /* proofs that were refused; null before the first */

    bool is_stale;    /* uses are older than the last change */
    bool has_changed; /* since the round began */
    size_t log_count, log_capacity, refusal_count, refusal_capacity;
    Rewrite *log;
    RewriteRefusal *refusals;
} Rewriter;

/* Makes the node list of the main block and the uses true again, where anything changed. */
void rewrite_refresh(Rewriter *rw);

/* ---- What may be relied on */

/* Of the file's main graph, still there, and calling nothing: a rule may change it. */
bool rewrite_may_change(const Rewriter *rw, NodeId id);

/* A value that disappears with its last reader. */
bool rewrite_is_internal(const Rewriter *rw, ValueId id);

/* A value that has none left, and goes. */
bool rewrite_is_unread(const Rewriter *rw, ValueId id);

/* The constant with known bytes that every caller gets; null where it is none, or callers may replace it or what it is
 * made of, or it follows from a free dimension. */
const Const *rewrite_constant(const Rewriter *rw, ValueId id);

/* The same where its shape may follow free dimensions, but neither what it stores nor that this repeats. */
const Const *rewrite_pattern(const Rewriter *rw, ValueId id);

/* May a caller replace the value, or a constant that it is made of: an initializer that is an input too? */
bool rewrite_is_callers(const Rewriter *rw, ValueId id);

/* Are the shapes equal, whatever the free dimensions are? */
bool rewrite_same_shape(const Rewriter *rw, ValueId a, ValueId b);

/* Does axis `axis` have the same extent whatever the free dimensions are? */
bool rewrite_is_fixed(const Rewriter *rw, ValueId id, uint32_t axis);

/* Same dtype, scale and zero point: codes that mean the same. */
bool rewrite_same_codes(const Rewriter *rw, ValueId a, ValueId b);

/* Bytes that the file stores in the node's attributes. */
uint64_t rewrite_node_bytes(const Rewriter *rw, NodeId id);

/* Inputs of the node that are `id`. */
uint32_t rewrite_times_read(const Node *node, ValueId id);

/* The only reader of an internal value; NO_NODE where there are more, or it may not be changed. */
NodeId rewrite_sole_reader(const Rewriter *rw, ValueId id);

/* Does a normalisation take mean and variance from its input? training_mode since opset 14, two outputs or more from 7
 * to 13, is_test = 0 before. */
bool rewrite_is_training(const Node *norm);

/* What a Relu, Clip or the like limits its input to; infinite where it does not. False for other operators, and where a
 * limit is not known. */
bool rewrite_limits(const Rewriter *rw, const Node *node, double limit[2]);

/* ---- Changes */

void rewrite_drop_node(Rewriter *rw, NodeId id);

/* Input `k` of `id` reads `value` from now on. */
void rewrite_read(Rewriter *rw, NodeId id, uint32_t k, ValueId value);

/* May every reader of `from` be given something else, so that `from` goes? */
bool rewrite_may_redirect(const Rewriter *rw, ValueId from);

/* All inputs at once; there may be more than before. */
void rewrite_set_inputs(Rewriter *rw, NodeId id, const ValueId *inputs, uint32_t count);

/* Output 0 of `id` is `value` from now on, which nothing else writes any more. */
void rewrite_write(Rewriter *rw, NodeId id, ValueId value);

/* Every reader of `from` reads `to`. False, with nothing done, where rewrite_may_redirect says no. */
bool rewrite_redirect(Rewriter *rw, ValueId from, ValueId to);

/* Node `id` gives back its input `in` as `out`, its only output that is read: readers read the input, or, where the
 * output is the model's, the producer of the input writes it. False where neither may be, and where their axes are
 * known to be different dimensions: then the node moves them from the one to the other. */
bool rewrite_bypass(Rewriter *rw, NodeId id, ValueId in, ValueId out);

/* What rewrite_add_value would make of `stem`. */
Str rewrite_fresh_name(Rewriter *rw, Str stem);

/* A constant, or a value between nodes, that the file does not have; `stem` is made a fresh name. */
ValueId rewrite_add_value(Rewriter *rw, Value value, Str stem);

/* A constant that all readers of `old` are to be given; false for `is_last` where some keep the old one. It has the
 * name of the old one where that one goes, so that people find it again. */
ValueId rewrite_add_instead(Rewriter *rw, Value value, ValueId old, bool is_last);

/* A node in front of `before`; the main block lists it after rewrite_refresh. Its outputs have it as their producer. */
NodeId rewrite_add_node(Rewriter *rw, Node node, NodeId before);

/* ---- The log: a rewrite is logged behind its changes */

void rewrite_log(Rewriter *rw, Rewrite rewrite);
/* Why node `id` stays, of `tensor` where that is not empty. */
void rewrite_refuse(Rewriter *rw, NodeId id, Str tensor, const char *reason);

/* A certificate by a lemma whose side conditions hold. `domain` tells of which inputs: "every float32". */
Certificate rewrite_lemma(const Rewriter *rw, const char *rule, const char *domain, uint32_t channels);

/* ---- The rules; each goes through the main block once */

void rule_constants(Rewriter *rw);
void rule_identities(Rewriter *rw);
const char *identities_why_not(const Rewriter *rw, NodeId id); /* of a sum with zeros that stays; else null */
void rule_clips(Rewriter *rw);
void rule_codes(Rewriter *rw);
void rule_convolution(Rewriter *rw);
void rule_unread(Rewriter *rw);

/* Tells of each run between codes that stays which form it has, and which channels block a cheaper one. */
void report_codes(Rewriter *rw);

/* Tells of each per-channel affine beside a convolution or between codes that no rule could read what blocks it. */
void report_affines(Rewriter *rw);

#endif
