/* The search for a line in float32 that rounds to the reference: the middle of the possible slopes, with the middle of
 * the offsets that it leaves. Where the reference rounds ties to even there may be one of each only, as 1/2 and 0; the
 * bounds of slopes are exact then, see form8_slopes.c. */
#include "prepare/form8_inner.h"

/* Beyond every offset, and small enough for the kernel. */
static const double none = 1048576;

bool form8_search_round(const Form8Channel *channel, Form8 *form) {
    float scale = (float)((channel->least_slope + channel->most_slope) / 2);
    double most_low = -none, least_high = none;
    for (int i = 0; i < FORM8_CODES; i++) {
        double y = (double)channel->y[i], scaled = (double)((float)(i + FORM8_LEAST) * scale);
        double low = form8_has_low(channel, i) ? y - 0.5 - scaled : -none;
        double high = form8_has_high(channel, i) ? y + 0.5 - scaled : none;
        most_low = low > most_low ? low : most_low;
        least_high = high < least_high ? high : least_high;
    }
    *form = (Form8){
        .kind = FORM8_ROUND, .bytes = channel->bytes, .scale = scale, .bias = (float)((most_low + least_high) / 2)};
    return most_low <= least_high;
}
