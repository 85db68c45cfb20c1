/* Channels of 8-bit nodes by chance, as models have them: a slope, a code of the input and the code it becomes are
 * drawn, then the parameters of a kind of node that say so. */
#ifndef TESTS_PREPARE_CHANNELS_H
#define TESTS_PREPARE_CHANNELS_H

#include "prepare/node8.h"
#include "support/random.h"

#include <math.h>

typedef enum {
    CHANNEL_SCALE,   /* one weight and one bias, requantised */
    CHANNEL_REALS,   /* dequantised, multiplied, added to, quantised */
    CHANNEL_NORM,    /* dequantised, normalised, quantised */
    CHANNEL_MUL,     /* by a constant code; the sum of codes moves by whole codes */
    CHANNEL_MUL_ADD, /* by a constant code, then plus one: both with scales of their own, so rounded twice */
    CHANNEL_RESCALE, /* from one scale and zero point to another */
    CHANNEL_KINDS
} ChannelKind;

enum { CHANNEL_STAGES = 4 };

typedef struct {
    uint32_t count;
    DType from, to;
    Stage stage[CHANNEL_STAGES];
} Channel;

typedef struct {
    double least, most; /* of the slope's size: codes a code */
    bool any_sign;
} ChannelSlopes;

static inline const char *channel_name(ChannelKind kind) {
    static const char *const name[] = {"scale", "reals", "norm", "mul", "mul add", "rescale"};
    return name[kind];
}

static inline int32_t channel_between(uint64_t *seed, int64_t lo, int64_t hi) {
    return (int32_t)(lo + (int64_t)random_below(seed, (uint64_t)(hi - lo + 1)));
}

static inline double channel_real(uint64_t *seed, double lo, double hi) {
    return lo + (hi - lo) * (double)(random_next(seed) >> 11) / 9007199254740992.0;
}

static inline float channel_scale(uint64_t *seed) {
    return (float)exp(channel_real(seed, log(0.002), log(0.3)));
}

/* What is drawn: y = (x - x_code) * slope + y_code, about. */
typedef struct {
    double slope;
    int32_t x_code, y_code;
    StageCode in, out;
    int32_t lo, hi; /* of the output */
} ChannelDraw;

static inline Stage channel_codes(StageKind kind, const Channel *channel, const ChannelDraw *draw) {
    Stage stage = {.kind = kind, .from = channel->from, .to = channel->to};
    stage.integer.in = draw->in;
    stage.integer.constant.scale = 1;
    stage.integer.out = draw->out;
    stage.integer.lo = draw->lo;
    stage.integer.hi = draw->hi;
    return stage;
}

static inline void channel_as_scale(uint64_t *seed, const ChannelDraw *draw, Channel *channel) {
    Stage *stage = &channel->stage[0];
    int32_t most = random_below(seed, 2) != 0 ? 127 : 32767;
    int32_t weight = channel_between(seed, most / 4, most) * (draw->slope < 0 ? -1 : 1);
    *stage = channel_codes(STAGE_CODE_SCALE, channel, draw);
    stage->integer.value = weight;
    stage->integer.constant.scale = channel_scale(seed) / 100;
    double unit = (double)stage->integer.in.scale * (double)stage->integer.constant.scale;
    stage->integer.out.scale = (float)(unit * weight / draw->slope);
    double offset = (draw->y_code - draw->out.zero_point) / draw->slope - (draw->x_code - draw->in.zero_point);
    stage->integer.bias = (int32_t)lrint(offset * weight);
    channel->count = 1;
}

static inline Stage channel_of_reals(StageKind kind, float number) {
    return (Stage){.kind = kind, .from = DTYPE_F32, .to = DTYPE_F32, .number = number};
}

/* Dequantised, the two in the middle, quantised. */
static inline void channel_between_reals(const ChannelDraw *draw, Channel *channel) {
    Stage *stage = channel->stage;
    stage[0] = (Stage){.kind = STAGE_DEQUANTIZE, .from = channel->from, .to = DTYPE_F32, .code = draw->in};
    Stage *last = &stage[channel->count++];
    *last = (Stage){.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = channel->to, .code = draw->out};
}

/* Of a line through the two codes: what the reals are multiplied by, and what is added. */
static inline void channel_line(const ChannelDraw *draw, double *factor, double *addend) {
    double in = (double)draw->in.scale, out = (double)draw->out.scale;
    *factor = draw->slope * out / in;
    *addend = (draw->y_code - draw->out.zero_point) * out - (draw->x_code - draw->in.zero_point) * in * *factor;
}

static inline void channel_as_reals(const ChannelDraw *draw, Channel *channel) {
    double factor, addend;
    channel_line(draw, &factor, &addend);
    channel->stage[1] = channel_of_reals(STAGE_MUL, (float)factor);
    channel->stage[2] = channel_of_reals(STAGE_ADD, (float)addend);
    channel->count = 3;
    channel_between_reals(draw, channel);
}

static inline void channel_as_norm(uint64_t *seed, const ChannelDraw *draw, Channel *channel) {
    double factor, addend;
    channel_line(draw, &factor, &addend);
    Stage *norm = &channel->stage[1];
    *norm = channel_of_reals(STAGE_NORM, 0);
    double variance = channel_real(seed, 0.01, 4), mean = channel_real(seed, -1, 1);
    norm->norm.mean = (float)mean;
    norm->norm.variance = (float)variance;
    norm->norm.epsilon = 1e-5F;
    norm->norm.gamma = (float)(factor * sqrt(variance + 1e-5));
    norm->norm.beta = (float)(addend + factor * mean);
    channel->count = 2;
    channel_between_reals(draw, channel);
}

/* TFLite and ONNX have no negative scales: the constant's code has the sign. */
static inline void channel_as_mul(uint64_t *seed, const ChannelDraw *draw, Channel *channel) {
    Stage *stage = &channel->stage[0];
    *stage = channel_codes(STAGE_CODE_MUL, channel, draw);
    int32_t code = channel_between(seed, 20, 127) * (draw->slope < 0 ? -1 : 1);
    stage->integer.value = code;
    stage->integer.constant.scale = channel_scale(seed);
    double unit = (double)stage->integer.in.scale * (double)stage->integer.constant.scale;
    stage->integer.out.scale = (float)(unit * code / draw->slope);
    channel->count = 1;
}

static inline void channel_as_mul_add(uint64_t *seed, const ChannelDraw *draw, Channel *channel) {
    channel_as_mul(seed, draw, channel);
    Stage *sum = &channel->stage[1];
    *sum = channel_codes(STAGE_CODE_ADD, channel, draw);
    sum->from = channel->to;
    sum->integer.in = channel->stage[0].integer.out;
    sum->integer.constant.scale = sum->integer.in.scale * (float)channel_real(seed, 0.1, 1);
    sum->integer.value = channel_between(seed, -100, 100);
    sum->integer.out.scale = sum->integer.in.scale * (float)channel_real(seed, 0.6, 1.4);
    channel->count = 2;
}

static inline void channel_as_rescale(const ChannelDraw *draw, Channel *channel) {
    channel->stage[0] = channel_codes(STAGE_CODE_REQUANTIZE, channel, draw);
    channel->stage[0].integer.out.scale = (float)((double)draw->in.scale / fabs(draw->slope));
    channel->count = 1;
}

/* Of four, one is limited as by an activation. */
static inline Channel channel_draw(uint64_t *seed, ChannelKind kind, const ChannelSlopes *slopes) {
    Channel channel = {.from = random_below(seed, 2) != 0 ? DTYPE_I8 : DTYPE_U8};
    channel.to = random_below(seed, 4) != 0 ? channel.from : random_below(seed, 2) != 0 ? DTYPE_I8 : DTYPE_U8;
    ChannelDraw draw;
    int32_t x_lo, x_hi;
    (void)stage_code_range(channel.from, &x_lo, &x_hi);
    (void)stage_code_range(channel.to, &draw.lo, &draw.hi);
    draw.slope = channel_real(seed, slopes->least, slopes->most);
    draw.slope *= slopes->any_sign && random_below(seed, 2) != 0 ? -1 : 1;
    draw.x_code = channel_between(seed, x_lo, x_hi);
    draw.y_code = channel_between(seed, draw.lo, draw.hi);
    draw.in = (StageCode){channel_scale(seed), channel_between(seed, x_lo, x_hi)};
    draw.out = (StageCode){channel_scale(seed), channel_between(seed, draw.lo, draw.hi)};
    if (random_below(seed, 4) == 0) {
        draw.lo = draw.out.zero_point;
        draw.hi = channel_between(seed, draw.lo, draw.hi);
    }
    switch (kind) {
    case CHANNEL_SCALE:
        channel_as_scale(seed, &draw, &channel);
        break;
    case CHANNEL_REALS:
        channel_as_reals(&draw, &channel);
        break;
    case CHANNEL_NORM:
        channel_as_norm(seed, &draw, &channel);
        break;
    case CHANNEL_MUL:
        channel_as_mul(seed, &draw, &channel);
        break;
    case CHANNEL_MUL_ADD:
        channel_as_mul_add(seed, &draw, &channel);
        break;
    default:
        channel_as_rescale(&draw, &channel);
    }
    return channel;
}

static inline uint8_t channel_flip(DType dtype) {
    return dtype == DTYPE_U8 ? 0x80 : 0;
}

#endif
