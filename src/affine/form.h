/* Forms: what a per-channel affine costs at least.
 *
 *     remove < add_int < { bias, requant, shift } < muladd < lut < refuse
 * A node takes the cheapest form that expresses every channel; the join of bias and requant is muladd. */
#ifndef S0_AFFINE_FORM_H
#define S0_AFFINE_FORM_H

#include "affine/proof.h"

typedef enum {
    AFFINE_REMOVE,  /* every code stays what it is */
    AFFINE_ADD_INT, /* a translation of codes, saturated */
    AFFINE_BIAS,    /* a = 1: an addend only */
    AFFINE_REQUANT, /* b = 0: a factor only */
    AFFINE_SHIFT,   /* b = 0 and the factor on codes is a power of 2 */
    AFFINE_MULADD,
    AFFINE_LUT, /* a function of one code, but no affine one */
    AFFINE_REFUSE,
} AffineForm;

const char *affine_form_name(AffineForm form); /* "add_int" */

/* What one channel is. x and y are the reals that the codes at both ends stand for; what limits codes or reals on the
 * way counts as x, it is the evaluation that sees it.
 *
 * A label says what is proven, on the whole domain and under every reference:
 *     REMOVE   each code comes out as it went in; `a` and `b` may still differ from 1 and 0 by less than shows
 *     ADD_INT  min(max(code + shift, lo), hi) for some lo < hi
 *     BIAS, REQUANT, SHIFT, MULADD
 *              there is one integer stage, a code times a weight plus an addend, requantised and limited, that gives
 *              the same codes. It rounds as the reference itself does, or, the same for all references, as one of
 *              tflite-single and tflite-double. Which label it is: a and b, as folded in double, tell
 *     LUT      none of those was found, or a table is needed: a function of at most 65 536 codes
 *     REFUSE   a reference has no value for it, or it does not start and end with codes */
typedef struct {
    AffineForm form;
    double a, b;     /* real y = a * x + b, folded in double */
    int32_t shift;   /* ADD_INT: codes moved by this; SHIFT: the factor is 2^shift */
    uint32_t fits;   /* bit set of forms that express the channel, `form` the cheapest of them */
    const char *why; /* it is no cheaper form; null for REMOVE */
} ChannelForm;

/* needs   a chain that starts and ends with codes
 * The cheapest form of a channel under every reference of `semantics`, proven over the domain as proof.h does. */
ChannelForm affine_channel_form(const Stage *stage, uint32_t count, Domain domain, uint32_t semantics, Work *work);

/* The form of a node: the cheapest that expresses every channel, and no cheaper than the join of their forms. A channel
 * that only moves codes is no REQUANT where its zero points say otherwise: beside one the node is a MULADD. `blocked`
 * lists the channels whose form is worse than `best`. */
typedef struct {
    AffineForm form, best; /* of the node; of its cheapest channel */
    uint32_t blocked_count;
    const uint32_t *blocked;
} NodeForm;

NodeForm affine_node_form(const ChannelForm *channel, uint32_t count, Arena *keep);

#endif
