/* The channels of a node together: what they share, and which way they go where one call goes over all. */
#include "prepare/node8.h"

void node8_table(const Chain *chain, DType from, uint8_t table[FORM8_CODES]) {
    int32_t codes[FORM8_CODES];
    for (int i = 0; i < FORM8_CODES; i++) {
        codes[i] = from == DTYPE_I8 && i > INT8_MAX ? i - 256 : i;
    }
    chain_codes(chain, codes, FORM8_CODES);
    for (int i = 0; i < FORM8_CODES; i++) {
        table[i] = (uint8_t)codes[i];
    }
}
