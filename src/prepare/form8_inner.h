/* A channel as the searches for its form see it. Inputs are counted from the least: input i is x = i - 128. */
#ifndef S0_PREPARE_FORM8_INNER_H
#define S0_PREPARE_FORM8_INNER_H

#include "prepare/form8.h"

enum { FORM8_LEAST = -128 };

enum { FORM8_NOBODY = -1 };

/* Of a line y = x * slope + offset that rounds to what the reference gives, y is between y[i] - 1/2 and y[i] + 1/2;
 * below there is no bound where y[i] is the lower limit, above none where it is the upper, and neither is of the input
 * that is left out. */
typedef struct {
    const uint8_t *table;
    S0Bytes bytes;
    int left_out; /* an input, or FORM8_NOBODY */
    int16_t y[FORM8_CODES];
    /* No slope outside can be right, whatever the offset. Of a table that no line gives `least` may be above `most`:
     * what is between them is then nearest to right. */
    double least_slope, most_slope;
} Form8Channel;

static inline bool form8_has_low(const Form8Channel *channel, int i) {
    return channel->y[i] != channel->bytes.lo && i != channel->left_out;
}

static inline bool form8_has_high(const Form8Channel *channel, int i) {
    return channel->y[i] != channel->bytes.hi && i != channel->left_out;
}

void form8_channel(const uint8_t *table, S0Bytes bytes, Form8Channel *channel);
void form8_leave_out(Form8Channel *channel, int input);

/* Inputs that contradicted others: without one of them the rest may be in order. The likeliest first. */
enum { FORM8_SUSPECTS = 4 };

typedef struct {
    int count, input[FORM8_SUSPECTS];
} Form8Suspects;

/* A product that is right for every input but the one that is left out, which is made odd if need be. */
bool form8_search_product(const Form8Channel *channel, Form8 *form, Form8Suspects *suspects);
bool form8_search_round(const Form8Channel *channel, Form8 *form);

#endif
