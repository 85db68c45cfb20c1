/* Codes of 16 bits by float32 and a true quotient, with AVX-512.
 *
 * y = limit(round(((x * weight + offset) * scale + bias) / divisor) + zero_point, lo, hi), always all of it: what
 * divides takes so long that parameters may be read where they lie. */
#include "kern/codes16_avx512.h"

#if defined(__x86_64__)
void s0_quotient16_avx512(const S0Rows *rows, const S0Quotients16 *quotients) {
    if (!s0_is_near16(quotients->reals.codes)) {
        s0_quotient16_portable(rows, quotients);
    } else {
        s0_exact16(rows, &quotients->reals, quotients->divisor, S0_QUOTIENT16);
    }
}
#endif
