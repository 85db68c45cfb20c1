/* Stages of reals as products, sums and quotients of one number each, and whether real16 or quotient16 can do them.
 *
 * It starts with an integer x of 17 bits, and every operation is rounded to float32. A line is rewritten only where no
 * result changes: factors 1 and sums with 0 go; quotients by powers of 2 are products; and products with powers of 2 go
 * into the last factor before them, and into what was added since. That is exact as long as nothing leaves float32's
 * normal numbers: all numbers are 0 or 2^-30 to 2^30, and there are few of them. */
#ifndef S0_PREPARE_LINE16_H
#define S0_PREPARE_LINE16_H

#include "prepare/form16.h"

typedef enum {
    LINE_MUL,
    LINE_ADD,
    LINE_DIV,
} LineOp;

enum { LINE_MOST = 8 };

typedef struct {
    uint32_t count;
    bool is_sound; /* not: a number is out of range, or there are too many */
    struct {
        LineOp op;
        float number;
    } step[LINE_MOST];
} Line16;

void line16_push(Line16 *line, LineOp op, float number);

/* The operations of a stage that gives reals or takes them: (DE)QUANTIZE without its rounding, FOLDED_NORM and so on.
 * False where the stage has others. */
bool line16_stage(Line16 *line, const BoundStage *stage);

/* Writes weight, offset, scale and bias. False where the line is not one product, sum, product and sum. */
bool line16_match(const Line16 *line, Form16 *form);

/* The same with one quotient at the end, and the divisor. */
bool line16_match_quotient(const Line16 *line, Form16 *form);

/* Makes quotients products with the nearest reciprocal: close, but not the same. */
void line16_invert(Line16 *line);

/* Makes one product of two, number `at` and the next: close, but not the same. False where one of them is no product.
 */
bool line16_join(Line16 *line, uint32_t at);

#endif
