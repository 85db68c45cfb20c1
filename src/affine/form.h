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

/* The cheapest form that expresses both. */
AffineForm affine_form_join(AffineForm a, AffineForm b);

/* What one channel is: the reference is its stages, evaluated on the whole domain. */
typedef struct {
    AffineForm form;
    double a, b;     /* real y = a * x + b, folded in double */
    int32_t shift;   /* ADD_INT: codes moved by this; SHIFT: the factor is 2^shift */
    const char *why; /* it is no cheaper form; null for REMOVE */
} ChannelForm;

/* needs   an integer chain, or a real one whose ends are coded by `in` and `out`
 * The cheapest form of a channel under every reference of `semantics`, proven by enumeration over the domain. */
ChannelForm affine_channel_form(const Stage *stage, uint32_t count, Domain domain, uint32_t semantics, Work *work);

/* The form of a node: the join over its channels. `blocked` lists those that are worse than `best`. */
typedef struct {
    AffineForm form, best; /* of the node; of its cheapest channel */
    uint32_t blocked_count;
    const uint32_t *blocked;
} NodeForm;

NodeForm affine_node_form(const ChannelForm *channel, uint32_t count, Arena *keep);

#endif
