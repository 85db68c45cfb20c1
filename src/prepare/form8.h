/* A fast form of one channel of 8-bit codes: of those that the kernels of kern/affine.h compute, the cheapest that
 * gives what the reference gives for each of the 256 codes.
 *
 * The reference comes as a table: table[x] is the code of x, both as unsigned bytes (an int8 of -1 is 255), as in
 * S0Tables8. Nothing else is known of a channel, so a form is right whatever the semantics; and a form is never
 * believed: form8_find evaluates it by form8_computes, which states the formulas of kern/affine.h and shares nothing
 * with the search, and takes the next one where a single code differs. */
#ifndef S0_PREPARE_FORM8_H
#define S0_PREPARE_FORM8_H

#include "kern/affine.h"

#include <stdbool.h>

enum { FORM8_CODES = 256 };

/* The cheapest first. */
typedef enum {
    FORM8_PRODUCT, /* product8 */
    FORM8_ODD,     /* product8, where one input is cured by odd_code, odd_step */
    FORM8_ROUND,   /* round8 */
    FORM8_TABLE,   /* table8 */
    FORM8_KINDS
} Form8Kind;

typedef struct {
    Form8Kind kind;
    S0Bytes bytes;
    int16_t multiplier, addend, divisor; /* PRODUCT, ODD */
    int8_t odd_code, odd_step;           /* ODD; of PRODUCT odd_step is 0, which changes nothing */
    float scale, bias;                   /* ROUND */
    const uint8_t *table;                /* TABLE: the one that was given */
} Form8;

/* The flips given, and the least and the most code of the table as limits: no other limits allow more forms. */
S0Bytes form8_limits(const uint8_t table[FORM8_CODES], uint8_t x_flip, uint8_t y_flip);

/* Both together: the limits of two tables that share them. */
S0Bytes form8_join(S0Bytes a, S0Bytes b);

/* in      the table; flips, and limits that all its codes keep (else only a table fits)
 * out     the first of PRODUCT, ODD, ROUND, TABLE that is right for all codes
 * cost    some microseconds; a channel that needs a table tens of them */
void form8_find(const uint8_t table[FORM8_CODES], S0Bytes bytes, Form8 *form);

/* The same for one form alone; false where none was found. ODD takes PRODUCT too. */
bool form8_find_product(const uint8_t table[FORM8_CODES], S0Bytes bytes, Form8 *form);
bool form8_find_round(const uint8_t table[FORM8_CODES], S0Bytes bytes, Form8 *form);

/* What the form's kernel makes of a code; both as in a table. */
uint8_t form8_computes(const Form8 *form, uint8_t code);

/* For how many codes the form gives what the table gives. */
int form8_agrees(const Form8 *form, const uint8_t table[FORM8_CODES]);

const char *form8_name(Form8Kind kind); /* "product" */

/* One channel as the kernels read it; the parameters are read in the form. */
static inline S0Products8 form8_products(const Form8 *form) {
    int is_odd = form->kind == FORM8_ODD;
    return (S0Products8){.channels = 1,
                         .multiplier = &form->multiplier,
                         .addend = &form->addend,
                         .divisor = &form->divisor,
                         .odd_code = is_odd ? &form->odd_code : NULL,
                         .odd_step = is_odd ? &form->odd_step : NULL,
                         .bytes = form->bytes};
}

static inline S0Rounds8 form8_rounds(const Form8 *form) {
    return (S0Rounds8){.channels = 1, .scale = &form->scale, .bias = &form->bias, .bytes = form->bytes};
}

static inline S0Tables8 form8_tables(const Form8 *form) {
    return (S0Tables8){.channels = 1, .table = form->table};
}

#endif
