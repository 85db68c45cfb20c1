/* float16, kept in a float. See half.h. */
#include "stage/half.h"

#include "kern/half.h"

float half_round(float x) {
    return s0_half_widen(s0_half_narrow(x));
}
