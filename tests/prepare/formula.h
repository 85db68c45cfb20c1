/* What the 8-bit kernels compute, from the words of kern/affine.h: in doubles, which hold all of it exactly, with floor
 * for what is rounded down. Shares nothing with src/prepare. */
#ifndef TESTS_PREPARE_FORMULA_H
#define TESTS_PREPARE_FORMULA_H

#include "kern/affine.h"

#include <math.h>

static inline double formula_limit(double value, double lo, double hi) {
    return value < lo ? lo : value > hi ? hi : value;
}

/* As signed: uint8 counts from 128. */
static inline int formula_in(S0Bytes bytes, uint8_t code) {
    return bytes.x_flip != 0 ? code - 128 : (int8_t)code;
}

static inline uint8_t formula_out(S0Bytes bytes, double y) {
    return (uint8_t)((int)y + (bytes.y_flip != 0 ? 128 : 0)); /* modulo 256 */
}

static inline uint8_t formula_product(const S0Products8 *p, size_t channel, uint8_t code) {
    int x = formula_in(p->bytes, code);
    double h = floor(((double)x * 256 * p->multiplier[channel] + 16384) / 32768);
    double sum = formula_limit(h + p->addend[channel], -32768, 32767);
    double y = formula_limit(floor(sum * p->divisor[channel] / 65536), p->bytes.lo, p->bytes.hi);
    if (p->odd_code != NULL && x == p->odd_code[channel]) {
        y += p->odd_step[channel];
    }
    return formula_out(p->bytes, y);
}

static inline uint8_t formula_round(const S0Rounds8 *r, size_t channel, uint8_t code) {
    float scaled = (float)formula_in(r->bytes, code) * r->scale[channel];
    float sum = scaled + r->bias[channel];
    return formula_out(r->bytes, formula_limit(nearbyint((double)sum), r->bytes.lo, r->bytes.hi));
}

/* What kern/affine.h demands of the parameters. */
static inline int formula_takes_product(const S0Products8 *p, size_t channel) {
    int divisor = p->divisor[channel];
    return p->multiplier[channel] != INT16_MIN && divisor >= 256 && divisor <= 16384 &&
           (divisor & (divisor - 1)) == 0 && p->bytes.lo <= p->bytes.hi &&
           (p->odd_code == NULL) == (p->odd_step == NULL);
}

static inline int formula_takes_round(const S0Rounds8 *r, size_t channel) {
    double scale = fabs((double)r->scale[channel]), bias = fabs((double)r->bias[channel]);
    return isfinite(scale) && isfinite(bias) && scale * 128 + bias < 4194304 && r->bytes.lo <= r->bytes.hi;
}

#endif
