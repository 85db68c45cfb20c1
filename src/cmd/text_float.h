/* float32 as text, bit for bit and whatever the locale: 0x1.8p+1, 0x0.8p-126 (below the smallest normal), 0, -0, inf,
 * -inf, and nan:7fc00000, a NaN by its bits. Every number has one text. */
#ifndef S0_CMD_TEXT_FLOAT_H
#define S0_CMD_TEXT_FLOAT_H

#include "base/str.h"

enum { CMD_FLOAT_TEXT = 24 };

void cmd_float_print(uint32_t bits, char text[CMD_FLOAT_TEXT]);
bool cmd_float_parse(Str text, uint32_t *bits);

#endif
