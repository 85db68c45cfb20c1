/* Between which slopes a line must lie that rounds to what the reference gives.
 *
 * At a slope s each input i bounds the offset: from below by low(i) = y[i] - 1/2 - x*s, from above by high(i) =
 * y[i] + 1/2 - x*s. Where the greatest low is above the least high, the two inputs contradict each other, and
 * y[high] + 1/2 - (y[low] - 1/2) over their distance bounds the slope itself: exactly, it is a quotient of integers.
 * From outside one such step after another leads to the end of what is possible, a few steps in all (Newton's method on
 * a concave function of pieces of lines). */
#include "prepare/form8_inner.h"

#include <math.h>

enum { MOST_SLOPE = 256, STEPS = 64 };

static const float none = 1e6F; /* beyond every bound */

typedef struct {
    float low[FORM8_CODES], high[FORM8_CODES]; /* at slope 0 */
} Bounds;

static void bounds_of(const Form8Channel *channel, Bounds *bounds) {
    for (int i = 0; i < FORM8_CODES; i++) {
        float y = (float)channel->y[i];
        bounds->low[i] = form8_has_low(channel, i) ? y - 0.5F : -none;
        bounds->high[i] = form8_has_high(channel, i) ? y + 0.5F : none;
    }
}

enum { LANES = 8 };

/* The least `high` and the greatest `low`, and where: false where they do not contradict each other. */
static bool contradicts(const Bounds *bounds, float slope, int *at_high, int *at_low) {
    float low[FORM8_CODES], high[FORM8_CODES], most[LANES], least[LANES];
    for (int k = 0; k < LANES; k++) {
        most[k] = -none;
        least[k] = none;
    }
    for (int i = 0; i < FORM8_CODES; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            float moved = (float)(i + k + FORM8_LEAST) * slope;
            low[i + k] = bounds->low[i + k] - moved;
            high[i + k] = bounds->high[i + k] - moved;
            most[k] = low[i + k] > most[k] ? low[i + k] : most[k];
            least[k] = high[i + k] < least[k] ? high[i + k] : least[k];
        }
    }
    for (int k = 1; k < LANES; k++) {
        most[0] = most[k] > most[0] ? most[k] : most[0];
        least[0] = least[k] < least[0] ? least[k] : least[0];
    }
    if (most[0] <= least[0]) {
        return false;
    }
    *at_low = 0;
    while (low[*at_low] != most[0]) {
        ++*at_low;
    }
    *at_high = 0;
    while (high[*at_high] != least[0]) {
        ++*at_high;
    }
    return true;
}

/* From `slope`, upward (1) or downward (-1), as far as what contradicts it demands. */
static double end_of(const Form8Channel *channel, const Bounds *bounds, double slope, int way) {
    int high, low;
    for (int step = 0; step < STEPS && contradicts(bounds, (float)slope, &high, &low); step++) {
        double bound = (double)(channel->y[high] - channel->y[low] + 1) / (double)(high - low);
        bool is_other_way = (high > low) == (way > 0); /* an input further right with a bound from above limits above */
        if (is_other_way || (bound - slope) * way <= 0) {
            break;
        }
        slope = bound;
    }
    return slope;
}

static bool is_inside(const Form8Channel *channel, int i) {
    return form8_has_low(channel, i) && form8_has_high(channel, i);
}

/* The first and the last input that is bounded from both sides bound the slope to begin with. */
static void begin(Form8Channel *channel) {
    int first = 0, last = FORM8_CODES - 1;
    channel->least_slope = -MOST_SLOPE;
    channel->most_slope = MOST_SLOPE;
    while (first < last && !is_inside(channel, first)) {
        first++;
    }
    while (first < last && !is_inside(channel, last)) {
        last--;
    }
    if (first < last) {
        channel->least_slope = (double)(channel->y[last] - channel->y[first] - 1) / (double)(last - first);
        channel->most_slope = (double)(channel->y[last] - channel->y[first] + 1) / (double)(last - first);
    }
}

static void find_slopes(Form8Channel *channel) {
    Bounds bounds;
    bounds_of(channel, &bounds);
    begin(channel);
    channel->least_slope = end_of(channel, &bounds, channel->least_slope, 1);
    channel->most_slope = end_of(channel, &bounds, channel->most_slope, -1);
}

void form8_channel(const uint8_t *table, S0Bytes bytes, Form8Channel *channel) {
    channel->table = table;
    channel->bytes = bytes;
    channel->left_out = FORM8_NOBODY;
    for (int i = 0; i < FORM8_CODES; i++) {
        uint8_t code = (uint8_t)(i + FORM8_LEAST) ^ bytes.x_flip;
        int y = table[code] ^ bytes.y_flip;
        channel->y[i] = (int16_t)(y > INT8_MAX ? y - 256 : y);
    }
    find_slopes(channel);
}

void form8_leave_out(Form8Channel *channel, int input) {
    channel->left_out = input;
    find_slopes(channel);
}
