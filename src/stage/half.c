/* float16, kept in a float. See half.h. */
#include "stage/half.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

float half_round(float x) {
    float magnitude = fabsf(x);
    if (!(magnitude < 65520.0f)) {
        return isnan(x) ? x : copysignf(INFINITY, x);
    }
    if (magnitude < 0x1p-14f) { /* subnormal: multiples of 2^-24, which is the last place of 0.5 */
        return copysignf((magnitude + 0.5f) - 0.5f, x);
    }
    uint32_t bits;
    memcpy(&bits, &magnitude, sizeof bits);
    bits = (bits + 0xFFF + (bits >> 13 & 1)) & ~UINT32_C(0x1FFF);
    memcpy(&magnitude, &bits, sizeof bits);
    return copysignf(magnitude, x);
}
