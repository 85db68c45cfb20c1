/* Which kernel of kern/affine.h computes one channel of codes of 16 bits, int16 to int16, exactly as its chain does,
 * and with which parameters. Where none does, the chain itself is run (chain_codes), exact and slow.
 *
 * That a form is right follows from an argument, given where the form is found, at no more than a few microseconds a
 * channel; or else, `is_compared`, from comparing all 65 536 codes, at about half a millisecond. A comparison that
 * fails does so at one of its first codes, as a rule. */
#ifndef S0_PREPARE_FORM16_H
#define S0_PREPARE_FORM16_H

#include "affine/chain.h"
#include "kern/affine.h"

typedef enum {
    FORM16_REAL,     /* S0Reals16 */
    FORM16_QUOTIENT, /* S0Quotients16, which takes longer */
    FORM16_FIXED,    /* S0Fixed16 */
    FORM16_CHAIN,
    FORM16_KINDS
} Form16Kind;

typedef struct {
    Form16Kind kind;
    bool is_compared;
    S0Codes codes;
    float weight, offset, scale, bias;  /* REAL, QUOTIENT */
    float divisor;                      /* QUOTIENT; else 1 */
    int32_t fixed_weight, fixed_offset; /* FIXED */
    S0Multiplier factor;
    S0Rounding rounding;
} Form16;

/* The chain goes from int16 to int16, and its reference defines it for every code. */
void form16_find(const Chain *chain, Form16 *form);

/* May `form` be a column of a call that is made for `shared`? What a call's columns share is the same; a REAL is a
 * QUOTIENT by 1. */
bool form16_joins(const Form16 *form, const Form16 *shared);

/* The parameters of one channel, which stay in the form. */
static inline S0Reals16 form16_reals(const Form16 *form) {
    return (S0Reals16){1, &form->weight, &form->offset, &form->scale, &form->bias, form->codes};
}

static inline S0Quotients16 form16_quotients(const Form16 *form) {
    return (S0Quotients16){form16_reals(form), &form->divisor};
}

static inline S0Fixed16 form16_fixed(const Form16 *form) {
    return (S0Fixed16){1, &form->fixed_weight, &form->fixed_offset, &form->factor, form->rounding, form->codes};
}

/* "real", "quotient", "fixed", "chain" */
const char *form16_name(Form16Kind kind);

#endif
