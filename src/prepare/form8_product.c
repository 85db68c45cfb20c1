/* The search for a product of 16 bits.
 *
 * A shift f and a multiplier m given, each input bounds the addend: y * 2^f <= h(x) + addend < (y + 1) * 2^f, but for
 * what the limits free. So addends need no search, and where two inputs contradict each other they bound m: with x to
 * the right of x' and h(x) - h(x') > d, rounding can change the difference by less than 1, so m * (x - x') < 128 *
 * (d + 1) is demanded of every m. Multipliers are tried from the middle of the possible slopes outward until those
 * bounds, or patience, end it. */
#include "prepare/form8_inner.h"

#include <math.h>

enum {
    MOST_MULTIPLIER = 32767,
    MOST_SHIFT = 8,
    LEAST_SHIFT = 2,
    NONE = 1 << 20, /* beyond every bound */
    TRIES = 24,     /* multipliers of a shift */
    SHIFTS = 3,     /* at which inputs may contradict each other before none is taken for right */
    LANES = 8,
};

/* Bounds of h + addend, and with a multiplier of the addend. */
typedef struct {
    const Form8Channel *channel;
    int shift;
    int32_t low[FORM8_CODES], high[FORM8_CODES];
    int32_t multiplier;
    int32_t addend_low[FORM8_CODES], addend_high[FORM8_CODES];
    int32_t most_low, least_high; /* of all inputs */
} Trial;

static void trial_begin(Trial *trial, const Form8Channel *channel, int shift) {
    trial->channel = channel;
    trial->shift = shift;
    for (int i = 0; i < FORM8_CODES; i++) {
        int32_t y = channel->y[i];
        trial->low[i] = form8_has_low(channel, i) ? y * (1 << shift) : -NONE;
        trial->high[i] = form8_has_high(channel, i) ? (y + 1) * (1 << shift) - 1 : NONE;
    }
}

/* h of input i. What is shifted is made positive. */
static inline int32_t product_of(int i, int32_t multiplier) {
    return (((i + FORM8_LEAST) * multiplier + (1 << 23) + 64) >> 7) - (1 << 16);
}

static void trial_multiply(Trial *trial, int32_t multiplier) {
    int32_t most[LANES], least[LANES];
    for (int k = 0; k < LANES; k++) {
        most[k] = -NONE - (1 << 16);
        least[k] = NONE + (1 << 16);
    }
    trial->multiplier = multiplier;
    for (int i = 0; i < FORM8_CODES; i += LANES) {
        for (int k = 0; k < LANES; k++) {
            int32_t h = product_of(i + k, multiplier);
            int32_t low = trial->low[i + k] - h, high = trial->high[i + k] - h;
            trial->addend_low[i + k] = low;
            trial->addend_high[i + k] = high;
            most[k] = low > most[k] ? low : most[k];
            least[k] = high < least[k] ? high : least[k];
        }
    }
    for (int k = 1; k < LANES; k++) {
        most[0] = most[k] > most[0] ? most[k] : most[0];
        least[0] = least[k] < least[0] ? least[k] : least[0];
    }
    trial->most_low = most[0];
    trial->least_high = least[0];
}

/* The middle of the addends that 16 bits hold; false where there is none. */
static bool addend_between(int32_t low, int32_t high, int32_t *addend) {
    low = low < INT16_MIN ? INT16_MIN : low;
    high = high > INT16_MAX ? INT16_MAX : high;
    *addend = (low + high) / 2;
    return low <= high;
}

static int index_of(const int32_t values[FORM8_CODES], int32_t value) {
    int i = 0;
    while (values[i] != value) {
        i++;
    }
    return i;
}

/* ---- multipliers, from the middle outward */

typedef struct {
    int32_t start, least, most; /* least and most are inclusive, and narrow */
    int32_t below, above;       /* next to try */
} Span;

static double limited(double value, double least, double most) {
    return value < least ? least : value > most ? most : value;
}

/* False where no slope that is possible is a multiplier of that shift. */
static bool span_begin(const Form8Channel *channel, int shift, Span *span) {
    double unit = (double)(1 << (shift + 7));
    double least = channel->least_slope * unit, most = channel->most_slope * unit;
    if (fmin(least, most) > MOST_MULTIPLIER || fmax(least, most) < -MOST_MULTIPLIER) {
        return false;
    }
    least = limited(least, -MOST_MULTIPLIER, MOST_MULTIPLIER);
    most = limited(most, -MOST_MULTIPLIER, MOST_MULTIPLIER);
    int32_t start = (int32_t)floor((least + most) / 2 + 0.5);
    *span = (Span){start, -MOST_MULTIPLIER, MOST_MULTIPLIER, start - 1, start};
    return true;
}

/* The untried one that is nearest to the start. */
static bool span_next(Span *span, int32_t *multiplier) {
    bool has_above = span->above <= span->most, has_below = span->below >= span->least;
    bool is_above = has_above && (!has_below || span->above - span->start <= span->start - span->below);
    *multiplier = is_above ? span->above++ : span->below--;
    return has_above || has_below;
}

static int32_t floor_quotient(int32_t a, int32_t b) {
    return a / b - (a % b < 0);
}

/* What inputs that contradict each other say of every multiplier. */
static void span_narrow(Span *span, const Trial *trial, int high, int low) {
    int32_t room = 128 * (trial->high[high] - trial->low[low] + 1) - 1;
    if (high > low) {
        int32_t most = floor_quotient(room, high - low);
        span->most = most < span->most ? most : span->most;
        span->above = span->above > most ? MOST_MULTIPLIER + 1 : span->above;
        span->below = span->below > most ? most : span->below;
    } else if (high < low) {
        int32_t least = -floor_quotient(room, low - high);
        span->least = least > span->least ? least : span->least;
        span->below = span->below < least ? -MOST_MULTIPLIER - 1 : span->below;
        span->above = span->above < least ? least : span->above;
    }
}

/* ---- the form */

/* What the product makes of an input. */
static int32_t computed(const Trial *trial, int i, int32_t addend) {
    S0Bytes bytes = trial->channel->bytes;
    int32_t sum = product_of(i, trial->multiplier) + addend;
    sum = sum < INT16_MIN ? INT16_MIN : sum > INT16_MAX ? INT16_MAX : sum;
    int32_t y = (sum + (1 << 16)) / (1 << trial->shift) - (1 << (16 - trial->shift));
    return y < bytes.lo ? bytes.lo : y > bytes.hi ? bytes.hi : y;
}

static void cure(const Trial *trial, int odd, Form8 *form) {
    uint8_t step = (uint8_t)(trial->channel->y[odd] - computed(trial, odd, form->addend));
    form->kind = step != 0 ? FORM8_ODD : FORM8_PRODUCT;
    form->odd_code = (int8_t)(odd + FORM8_LEAST);
    form->odd_step = (int8_t)(step > INT8_MAX ? step - 256 : step);
}

static void set_form(const Trial *trial, int32_t addend, Form8 *form) {
    *form = (Form8){.kind = FORM8_PRODUCT,
                    .bytes = trial->channel->bytes,
                    .multiplier = (int16_t)trial->multiplier,
                    .addend = (int16_t)addend,
                    .divisor = (int16_t)(1 << (16 - trial->shift))};
    if (trial->channel->left_out != FORM8_NOBODY) {
        cure(trial, trial->channel->left_out, form);
    }
}

static void suspect(Form8Suspects *suspects, int input) {
    for (int k = 0; k < suspects->count; k++) {
        if (suspects->input[k] == input) {
            return;
        }
    }
    if (suspects->count < FORM8_SUSPECTS) {
        suspects->input[suspects->count++] = input;
    }
}

typedef enum {
    FOUND,
    CONTRADICTED,
    TOO_LARGE, /* the addend, for 16 bits */
} Outcome;

static Outcome search_shift(Trial *trial, Span *span, Form8 *form, Form8Suspects *suspects) {
    int32_t multiplier, addend;
    for (int tries = 0; tries < TRIES && span_next(span, &multiplier); tries++) {
        trial_multiply(trial, multiplier);
        if (trial->most_low <= trial->least_high) {
            bool fits = addend_between(trial->most_low, trial->least_high, &addend);
            set_form(trial, addend, form);
            return fits ? FOUND : TOO_LARGE;
        }
        int high = index_of(trial->addend_high, trial->least_high);
        int low = index_of(trial->addend_low, trial->most_low);
        span_narrow(span, trial, high, low);
        suspect(suspects, low);
        suspect(suspects, high);
    }
    return CONTRADICTED;
}

bool form8_search_product(const Form8Channel *channel, Form8 *form, Form8Suspects *suspects) {
    Trial trial;
    Span span;
    int contradicted = 0;
    for (int shift = MOST_SHIFT; shift >= LEAST_SHIFT && contradicted < SHIFTS; shift--) {
        if (!span_begin(channel, shift, &span)) {
            continue;
        }
        trial_begin(&trial, channel, shift);
        Outcome outcome = search_shift(&trial, &span, form, suspects);
        if (outcome == FOUND) {
            return true;
        }
        contradicted += outcome == CONTRADICTED;
    }
    return false;
}
