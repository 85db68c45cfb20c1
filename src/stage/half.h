/* float16, kept in a float. */
#ifndef S0_STAGE_HALF_H
#define S0_STAGE_HALF_H

/* The float16 nearest to `x`, ties to even; infinite from 65520 on. Of a float32 sum, difference, product, quotient or
 * root of two float16 it is the result of the float16 operation: 24 bits are twice 11 and 2 more, so rounding twice is
 * rounding once (Figueroa 1995). */
float half_round(float x);

#endif
