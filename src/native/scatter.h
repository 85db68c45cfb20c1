/* Layouts whose rows no kernel can read: packed codes that begin inside a byte, floats off their alignment. */
#ifndef S0_NATIVE_SCATTER_H
#define S0_NATIVE_SCATTER_H

#include "native/native.h"

/* All of the map, element by element, by the addresses of the view: right for every layout without banks, and slow. */
void scatter_run(const Native *native, const uint8_t *x, uint8_t *y);

#endif
