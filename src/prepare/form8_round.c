/* The search for a line in float32 that rounds to the reference: the middle of the possible slopes, or one of their
 * ends (where the reference rounds ties, only one slope may be left, as 1/2), with the middle of the possible offsets.
 */
#include "prepare/form8_inner.h"

static bool offset_for(const Form8Channel *channel, float scale, float *bias) {
    double most = -1048576, least = 1048576;
    for (int i = 0; i < FORM8_CODES; i++) {
        double y = (double)channel->y[i], scaled = (double)((float)(i + FORM8_LEAST) * scale);
        double low = y - 0.5 - scaled, high = y + 0.5 - scaled;
        most = channel->y[i] != channel->bytes.lo && low > most ? low : most;
        least = channel->y[i] != channel->bytes.hi && high < least ? high : least;
    }
    *bias = (float)((most + least) / 2);
    return most <= least;
}

bool form8_search_round(const Form8Channel *channel, Form8 *form) {
    double middle = (channel->least_slope + channel->most_slope) / 2;
    const double slope[] = {middle, channel->least_slope, channel->most_slope};
    for (int k = 0; k < 3; k++) {
        *form = (Form8){.kind = FORM8_ROUND, .bytes = channel->bytes, .scale = (float)slope[k]};
        if (offset_for(channel, form->scale, &form->bias) && form8_agrees(form, channel->table) == FORM8_CODES) {
            return true;
        }
    }
    return false;
}
