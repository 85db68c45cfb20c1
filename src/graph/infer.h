/* Shape rules: what infer.c hands to a rule, and what rules share.
 *
 * A rule reads the shapes of the node's inputs and the values of its constant inputs, and states each output with
 * infer_out, which compares with what the file states (what of it binds, contradicts() in infer.c says). Inputs are
 * whole when a rule runs and no extent passes EXTENT_MAX, so sums of a few extents stay inside 64 bits; numbers of
 * attributes and constants are the file's and may be anything. */
#ifndef S0_GRAPH_INFER_H
#define S0_GRAPH_INFER_H

#include "graph/fold.h"
#include "graph/graph.h"

#define EXTENT_MAX ((int64_t)1 << 48) /* of one axis; more is refused before anything is multiplied */
#define ATTR_MAX   ((int64_t)1 << 31) /* of a stride, dilation, pad, kernel extent: larger is an error */

typedef struct {
    Graph *graph;
    Work *work;
    Node *node;
    uint64_t fold_budget_elems;
    uint32_t stated_count; /* outputs of the node, from the first on, whose shapes its rule gave and not the file */
    bool forgives;         /* an error of a node leaves its outputs unknown, see graph_infer_known */
    uint32_t stale_count;  /* shapes in the file that their operators contradict */
    DiagText first_stale;
} Infer;

typedef enum {
    INTS_ABSENT,  /* neither attribute nor input */
    INTS_KNOWN,   /* read */
    INTS_UNKNOWN, /* an input that is not a known constant: take the file's shapes */
} IntsState;

/* The rules: infer_NAME for every NAME of ops.def. False: a diagnostic tells why. */
#define OP(id, name, domain, tflite, kind, inputs, infer, flags) bool infer_##infer(Infer *in);
#include "graph/ops.def"
#undef OP

/* Input `k`, which the operator requires with a shape; null with a diagnostic where it has none. */
const Value *infer_need(Infer *in, uint32_t k);
/* Input `k` with a shape; null without complaint where it is absent. */
const Value *infer_optional(const Infer *in, uint32_t k);

/* States output `k`, if the node has one. DTYPE_NONE keeps what the file says. */
bool infer_out(Infer *in, uint32_t k, DType dtype, const Shape *shape);

/* Can a tensor have the shape that a rule gave a value which is no output of the node? False with a diagnostic. */
bool infer_fits(Infer *in, const Value *value);

/* Messages about input `k`; all return false. */
bool infer_error(Infer *in, uint32_t k, const char *what, const char *got, const char *expected);
bool infer_refuse(Infer *in, uint32_t k, const char *what, const char *hint);
bool infer_no_broadcast(Infer *in, uint32_t k, const char *got, const char *expected); /* with what to do */
const char *infer_shape_text(Infer *in, const Shape *shape);

/* Appends an extent; refused where the rank would pass SHAPE_MAX_RANK. */
bool infer_push(Infer *in, Shape *shape, int64_t extent);
bool infer_push_all(Infer *in, Shape *shape, const Shape *more, uint32_t first, uint32_t last);

/* `axis` counted from 0, from -rank … rank-1. */
bool infer_axis(Infer *in, int64_t axis, uint32_t rank, uint32_t *counted);

/* Integers of an attribute (an INT is a list of one); of a constant input; of either. */
IntsState infer_attr_ints(Infer *in, const char *name, Ints *ints);
IntsState infer_input_ints(Infer *in, uint32_t k, Ints *ints);
IntsState infer_ints(Infer *in, const char *name, uint32_t k, Ints *ints);

/* As infer_ints, for axes: a mask of the axes of a value of `rank`. False with a diagnostic. */
bool infer_axes(Infer *in, Ints ints, uint32_t rank, uint32_t *mask);

/* Elements of axes [first, last), checked. False with a diagnostic that names the node. */
bool infer_product(Infer *in, const Shape *shape, uint32_t first, uint32_t last, int64_t *product);

/* Aligns `more` to `shape` from the right; an extent of 1 repeats. False where they do not agree; no diagnostic. */
bool shape_broadcast(Shape *shape, const Shape *more);

/* Inputs [first, last) broadcast together; one that is absent is passed over. */
bool infer_broadcast_inputs(Infer *in, uint32_t first, uint32_t last, Shape *shape);

/* Takes the file's shapes because the values of `k` are needed and not known. */
bool infer_from_file(Infer *in, const char *hint);

static inline bool infer_is_tflite(const Infer *in) {
    return in->graph->format == FORMAT_TFLITE;
}

#endif
