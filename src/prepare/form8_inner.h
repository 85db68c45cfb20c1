/* A channel as the searches for its form see it. Inputs are counted from the least: input i is x = i - 128. */
#ifndef S0_PREPARE_FORM8_INNER_H
#define S0_PREPARE_FORM8_INNER_H

#include "prepare/form8.h"

enum { FORM8_LEAST = -128 };

/* Of a line y = x * slope + offset that rounds to what the reference gives, y is between y[i] - 1/2 and y[i] + 1/2;
 * below there is no bound where y[i] is the lower limit, above none where it is the upper. */
typedef struct {
    const uint8_t *table;
    S0Bytes bytes;
    int16_t y[FORM8_CODES];
    /* No slope outside can be right, whatever the offset. Of a table that no line gives `least` may be above `most`:
     * what is between them is then nearest to right. */
    double least_slope, most_slope;
} Form8Channel;

void form8_channel(const uint8_t *table, S0Bytes bytes, Form8Channel *channel);

/* The form's parameters are set where true. */
bool form8_search_product(const Form8Channel *channel, Form8 *form); /* PRODUCT */
bool form8_search_odd(const Form8Channel *channel, Form8 *form);     /* ODD */
bool form8_search_round(const Form8Channel *channel, Form8 *form);

#endif
