/* Codes of 16 bits by channel with NEON. See codes16.h. */
#include "kern/codes16.h"

#if defined(__aarch64__)
#include "kern/rows_neon.h"

enum { WEIGHT, OFFSET, SCALE, BIAS, DIVISOR, PARAMETERS };

/* What all channels share. */
typedef struct {
    int32x4_t zero_point, lo, hi;
} Shared;

typedef struct {
    const float *of[PARAMETERS];
    const Shared *shared;
} Arrays;

typedef struct {
    float32x4_t of[PARAMETERS];
    Shared shared;
} Lanes;

/* Whether there are divisors is a constant of all that takes `divides`. */
S0_INLINE Lanes lanes_at(const void *arrays, size_t first, int divides) {
    const Arrays *at = (const Arrays *)arrays;
    Lanes lanes = {{vld1q_f32(at->of[WEIGHT] + first), vld1q_f32(at->of[OFFSET] + first),
                    vld1q_f32(at->of[SCALE] + first), vld1q_f32(at->of[BIAS] + first), vdupq_n_f32(1)},
                   *at->shared};
    if (divides) {
        lanes.of[DIVISOR] = vld1q_f32(at->of[DIVISOR] + first);
    }
    return lanes;
}

/* A sum that saturates is limited as the sum. */
S0_INLINE int16x4_t codes4(int32x4_t value, const Shared *shared) {
    const int32x4_t sum = vqaddq_s32(value, shared->zero_point);
    return vmovn_s32(vminq_s32(vmaxq_s32(sum, shared->lo), shared->hi));
}

S0_INLINE Shared share(S0Codes codes) {
    return (Shared){vdupq_n_s32(codes.zero_point), vdupq_n_s32(codes.lo), vdupq_n_s32(codes.hi)};
}

/* The conversion saturates and makes NaN 0, as s0_round_half_even does. */
S0_INLINE int16x4_t real4(int16x4_t x, const Lanes *lanes, int divides) {
    const float32x4_t product = vmulq_f32(vcvtq_f32_s32(vmovl_s16(x)), lanes->of[WEIGHT]);
    const float32x4_t scaled = vmulq_f32(vaddq_f32(product, lanes->of[OFFSET]), lanes->of[SCALE]);
    const float32x4_t sum = vaddq_f32(scaled, lanes->of[BIAS]);
    return codes4(vcvtnq_s32_f32(divides ? vdivq_f32(sum, lanes->of[DIVISOR]) : sum), &lanes->shared);
}

S0_INLINE void store(const uint8_t *from, uint8_t *to, const Lanes *low, const Lanes *high, int divides) {
    const int16x8_t x = vreinterpretq_s16_u8(vld1q_u8(from));
    const int16x8_t y = vcombine_s16(real4(vget_low_s16(x), low, divides), real4(vget_high_s16(x), high, divides));
    vst1q_u8(to, vreinterpretq_u8_s16(y));
}

S0_INLINE void any_pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first, int divides) {
    for (size_t k = 0; k < n; k += 8) {
        const Lanes low = lanes_at(arrays, first + k, divides), high = lanes_at(arrays, first + k + 4, divides);
        store(x + 2 * k, y + 2 * k, &low, &high, divides);
    }
}

S0_INLINE void pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    any_pixels(x, y, n, arrays, first, 0);
}

S0_INLINE void divided_pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    any_pixels(x, y, n, arrays, first, 1);
}

S0_INLINE void any_plane(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first, int divides) {
    const Lanes *lanes = (const Lanes *)of;
    for (size_t k = first; k < n; k += 8) {
        store(x + 2 * k, y + 2 * k, lanes, lanes, divides);
    }
}

S0_INLINE void plane(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    any_plane(x, y, n, of, first, 0);
}

S0_INLINE void divided_plane(const uint8_t *x, uint8_t *y, size_t n, const void *of, size_t first) {
    any_plane(x, y, n, of, first, 1);
}

/* `divisor`: any numbers where `form` takes none. */
S0_INLINE void run(const S0Rows *rows, const S0Reals16 *reals, const float *divisor, S0Form form) {
    const Shared shared = share(reals->codes);
    const Arrays whole = {{reals->weight, reals->offset, reals->scale, reals->bias, divisor}, &shared};
    const Lanes lanes = {{vdupq_n_f32(reals->weight[0]), vdupq_n_f32(reals->offset[0]), vdupq_n_f32(reals->scale[0]),
                          vdupq_n_f32(reals->bias[0]), vdupq_n_f32(divisor[0])},
                         shared};
    float copies[PARAMETERS][S0_SEAM];
    Arrays seam = whole;
    form.whole = &lanes;
    form.channels = reals->channels;
    form.element_bytes = sizeof(int16_t);
    if (form.channels == 1) {
        s0_rows_neon(rows, &form);
        return;
    }
    for (int p = 0; p < PARAMETERS; p++) {
        seam.of[p] = (const float *)s0_seam_of(copies[p], whole.of[p], form.channels, sizeof(float));
    }
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_neon(rows, &form);
}

void s0_real16_neon(const S0Rows *rows, const S0Reals16 *reals) {
    if (s0_has_blocks(rows, sizeof(int16_t))) {
        run(rows, reals, reals->scale, (S0Form){.pixels = pixels, .plane = plane});
    } else {
        s0_real16_portable(rows, reals);
    }
}

void s0_real16_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Reals16 *reals) {
    s0_each_plane16(first, plane_bytes, reals, s0_real16_neon);
}

void s0_quotient16_neon(const S0Rows *rows, const S0Quotients16 *quotients) {
    if (s0_has_blocks(rows, sizeof(int16_t))) {
        run(rows, &quotients->reals, quotients->divisor, (S0Form){.pixels = divided_pixels, .plane = divided_plane});
    } else {
        s0_quotient16_portable(rows, quotients);
    }
}

/* In fixed point. As s0_multiply has it, the product is rounded at first to 31 bits and the shift to the left, ties up;
 * then, where the references round twice, to the shift to the right, ties away from zero. Shifts to the right are
 * negative here, as the instructions have them. */
typedef struct {
    const int32_t *weight, *offset;
    const S0Multiplier *factor;
    int32x4_t twice; /* all bits set, or none: there is no second rounding */
    Shared shared;
} Fixed;

typedef struct {
    int32x4_t weight, offset, multiplier;
    int32x4_t first, second; /* shifts of the product of 64 bits, of what is left */
    Shared shared;
} FixedLanes;

S0_INLINE FixedLanes fixed_lanes(const Fixed *of, int32x4_t weight, int32x4_t offset, int32x4x2_t factor) {
    const int32x4_t shift = factor.val[1], second = vandq_s32(vminq_s32(shift, vdupq_n_s32(0)), of->twice);
    const int32x4_t first = vsubq_s32(vsubq_s32(shift, second), vdupq_n_s32(31));
    return (FixedLanes){weight, offset, factor.val[0], first, second, of->shared};
}

S0_INLINE FixedLanes fixed_at(const void *arrays, size_t first) {
    const Fixed *at = (const Fixed *)arrays;
    return fixed_lanes(at, vld1q_s32(at->weight + first), vld1q_s32(at->offset + first),
                       vld2q_s32(&at->factor[first].multiplier));
}

S0_INLINE FixedLanes fixed_of_plane(const Fixed *of) {
    const int32x4x2_t factor = {{vdupq_n_s32(of->factor->multiplier), vdupq_n_s32(of->factor->shift)}};
    return fixed_lanes(of, vdupq_n_s32(of->weight[0]), vdupq_n_s32(of->offset[0]), factor);
}

S0_INLINE int32x4_t product64(int32x4_t acc, int32x4_t multiplier, int32x4_t shift) {
    const int64x2_t low = vmull_s32(vget_low_s32(acc), vget_low_s32(multiplier));
    const int64x2_t high = vmull_high_s32(acc, multiplier);
    return vcombine_s32(vqmovn_s64(vrshlq_s64(low, vmovl_s32(vget_low_s32(shift)))),
                        vqmovn_s64(vrshlq_s64(high, vmovl_high_s32(shift))));
}

/* `short_first`: all first shifts are by 31, which is one instruction's high product. In the second one, ties of
 * negative numbers go down as the number is lessened by 1. */
S0_INLINE int16x4_t fixed4(int16x4_t x, const FixedLanes *lanes, int short_first) {
    const int32x4_t acc = vmlaq_s32(lanes->offset, vmovl_s16(x), lanes->weight);
    const int32x4_t high =
        short_first ? vqrdmulhq_s32(acc, lanes->multiplier) : product64(acc, lanes->multiplier, lanes->first);
    const int32x4_t less = vshrq_n_s32(vandq_s32(high, lanes->second), 31);
    return codes4(vrshlq_s32(vqaddq_s32(high, less), lanes->second), &lanes->shared);
}

S0_INLINE void store_fixed(const uint8_t *from, uint8_t *to, const FixedLanes *lanes, int short_first) {
    const int16x8_t x = vreinterpretq_s16_u8(vld1q_u8(from));
    const int16x4_t low = fixed4(vget_low_s16(x), &lanes[0], short_first);
    vst1q_u8(to, vreinterpretq_u8_s16(vcombine_s16(low, fixed4(vget_high_s16(x), &lanes[1], short_first))));
}

S0_INLINE void fixed_pixels(const uint8_t *x, uint8_t *y, const void *arrays, size_t first, int short_first) {
    for (size_t k = 0; k < S0_BLOCK; k += 8) {
        const FixedLanes lanes[2] = {fixed_at(arrays, first + k), fixed_at(arrays, first + k + 4)};
        store_fixed(x + 2 * k, y + 2 * k, lanes, short_first);
    }
}

S0_INLINE void fixed_plane(const uint8_t *x, uint8_t *y, const void *of, int short_first) {
    const FixedLanes lanes[2] = {*(const FixedLanes *)of, *(const FixedLanes *)of};
    for (size_t k = 0; k < S0_BLOCK; k += 8) {
        store_fixed(x + 2 * k, y + 2 * k, lanes, short_first);
    }
}

S0_INLINE void short_pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    (void)n;
    fixed_pixels(x, y, arrays, first, 1);
}

S0_INLINE void short_plane(const uint8_t *x, uint8_t *y, size_t n, const void *lanes, size_t first) {
    (void)n;
    (void)first;
    fixed_plane(x, y, lanes, 1);
}

S0_INLINE void long_pixels(const uint8_t *x, uint8_t *y, size_t n, const void *arrays, size_t first) {
    (void)n;
    fixed_pixels(x, y, arrays, first, 0);
}

S0_INLINE void long_plane(const uint8_t *x, uint8_t *y, size_t n, const void *lanes, size_t first) {
    (void)n;
    (void)first;
    fixed_plane(x, y, lanes, 0);
}

S0_INLINE void run_fixed(const S0Rows *rows, const S0Fixed16 *fixed, S0Form form) {
    const int32_t twice = fixed->rounding == S0_ROUND_SINGLE ? 0 : -1;
    const Fixed whole = {fixed->weight, fixed->offset, fixed->factor, vdupq_n_s32(twice), share(fixed->codes)};
    const FixedLanes lanes = fixed_of_plane(&whole);
    int32_t weight[S0_SEAM], offset[S0_SEAM];
    S0Multiplier factor[S0_SEAM];
    Fixed seam = whole;
    form.channels = fixed->channels;
    form.element_bytes = sizeof(int16_t);
    if (form.channels == 1) {
        form.whole = &lanes;
        s0_rows_neon(rows, &form);
        return;
    }
    seam.weight = (const int32_t *)s0_seam_of(weight, whole.weight, form.channels, sizeof(int32_t));
    seam.offset = (const int32_t *)s0_seam_of(offset, whole.offset, form.channels, sizeof(int32_t));
    seam.factor = (const S0Multiplier *)s0_seam_of(factor, whole.factor, form.channels, sizeof(S0Multiplier));
    form.whole = &whole;
    form.seam = &seam;
    s0_rows_neon(rows, &form);
}

/* Of the shifts, where the instructions do what s0_multiply does, with CMSIS too; else one that is none. */
static int32_t largest_shift(const S0Fixed16 *fixed) {
    enum { LEAST = -31, MOST = 30, NONE = 31 };
    int32_t largest = LEAST;
    for (size_t c = 0; c < fixed->channels; c++) {
        const S0Multiplier factor = fixed->factor[c];
        const int is_usual = factor.shift >= LEAST && factor.shift <= MOST && factor.multiplier != INT32_MIN;
        const int32_t shift = is_usual ? factor.shift : NONE;
        largest = shift > largest ? shift : largest;
    }
    return largest;
}

void s0_fixed16_neon(const S0Rows *rows, const S0Fixed16 *fixed) {
    const int32_t largest = largest_shift(fixed);
    if (largest > 30 || !s0_has_blocks(rows, sizeof(int16_t))) {
        s0_fixed16_portable(rows, fixed);
    } else if (largest <= 0 && fixed->rounding != S0_ROUND_SINGLE) {
        run_fixed(rows, fixed, (S0Form){.pixels = short_pixels, .plane = short_plane});
    } else {
        run_fixed(rows, fixed, (S0Form){.pixels = long_pixels, .plane = long_plane});
    }
}
#endif
