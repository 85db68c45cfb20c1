/* Forms of channels of codes of 16 bits. See form16.h. */
#include "prepare/form16.h"
#include "prepare/line16.h"

#include <math.h>
#include <stdlib.h>

enum { CHUNK = 256, CODES = 65536 };

static bool fits_32_bits(int64_t value) {
    return value >= INT32_MIN && value <= INT32_MAX;
}

/* Of a zero point that the kernels add to what has been rounded, and limited to 32 bits. */
static bool is_usual(S0Codes codes) {
    return codes.zero_point >= INT16_MIN && codes.zero_point <= INT16_MAX;
}

/* ---- limits */

static int32_t clipped(int32_t code, int32_t lo, int32_t hi) {
    int32_t raised = code < lo ? lo : code;
    return raised > hi ? hi : raised;
}

/* Limiting after limiting: a clip is monotone, so that it may be made of the limits instead. */
static S0Codes clip_codes(S0Codes codes, int32_t lo, int32_t hi) {
    return (S0Codes){codes.zero_point, clipped(codes.lo, lo, hi), clipped(codes.hi, lo, hi)};
}

/* How many stages are left without the clips of codes at the end. */
static uint32_t count_without_clips(const Chain *chain) {
    uint32_t count = chain->count;
    while (count > 0 && chain->stage[count - 1].kind == BOUND_CODE_CLIP) {
        count--;
    }
    return count;
}

/* Limits after the stages [0, count), and the clips that follow. */
static S0Codes end_codes(const Chain *chain, uint32_t count, S0Codes codes) {
    for (uint32_t k = count; k < chain->count; k++) {
        codes = clip_codes(codes, chain->stage[k].codes.lo, chain->stage[k].codes.hi);
    }
    return codes;
}

/* A clip of reals before they are quantised is one of codes after: quantising is monotone. */
static S0Codes clip_by_reals(const BoundStage *clip, const BoundStage *quantize, S0Codes codes) {
    float ends[] = {clip->clip.lo, clip->clip.hi};
    int32_t limits[2];
    bound_run(quantize, limits, ends, 2);
    return clip_codes(codes, limits[0], limits[1]);
}

/* ---- codes to codes */

/* The accumulator (x - zero) * weight + bias is x * weight + offset. It is linear: what holds for the least and the
 * largest code holds between them, and the offset is its value for 0. */
typedef struct {
    int64_t weight, offset, most; /* of its absolute value */
    bool fits;
} Accumulator;

static Accumulator accumulator_of(int64_t zero, int64_t weight, int64_t bias) {
    Accumulator acc = {.weight = weight, .fits = fits_32_bits(INT16_MIN - zero) && fits_32_bits(INT16_MAX - zero)};
    if (acc.fits) {
        acc.offset = bias - zero * weight;
        int64_t least = acc.offset + INT16_MIN * weight, most = acc.offset + INT16_MAX * weight;
        acc.most = llabs(least) > llabs(most) ? llabs(least) : llabs(most);
        acc.fits = fits_32_bits(least) && fits_32_bits(most);
    }
    return acc;
}

/* The accumulator as a float, times the scale; MLAS adds the zero point in float32 before rounding, as a bias does.
 * Below 2^24 accumulator, offset and product are integers that float32 holds (|weight| is 2^9 at most then). With a
 * product alone it is rounded once, wherever that is. */
static bool find_scaled(const Chain *chain, Form16 *form) {
    const BoundStage *stage = chain->stage;
    Accumulator acc = accumulator_of(stage->scaled.zero, stage->scaled.weight, stage->scaled.bias);
    bool is_exact = acc.most < 1 << 24 || (acc.offset == 0 && llabs(acc.weight) < 1 << 24);
    if (!acc.fits || !is_exact || stage->rounding == S0_ROUND_HALF_AWAY) {
        return false;
    }
    form->kind = FORM16_REAL;
    form->codes = end_codes(chain, 1, stage->codes);
    form->weight = (float)acc.weight;
    form->offset = (float)acc.offset;
    form->scale = stage->scaled.scale;
    form->bias = 0;
    if (stage->rounding == S0_ROUND_MLAS) {
        form->bias = (float)stage->codes.zero_point;
        form->codes.zero_point = 0;
    }
    return isfinite(form->scale);
}

static bool checks(const BoundStage *stage) {
    return bound_check(stage, INT16_MIN, 0) == NULL && bound_check(stage, INT16_MAX, 0) == NULL;
}

static bool set_fixed(const Chain *chain, Accumulator acc, S0Multiplier factor, Form16 *form) {
    form->kind = FORM16_FIXED;
    form->codes = end_codes(chain, 1, chain->stage->codes);
    form->fixed_weight = (int32_t)acc.weight;
    form->fixed_offset = (int32_t)acc.offset;
    form->factor = factor;
    form->rounding = chain->stage->rounding;
    return acc.fits && checks(chain->stage);
}

/* The same operation: S0Fixed16 is s0_requantise of an accumulator that fits. */
static bool find_fixed(const Chain *chain, Form16 *form) {
    const BoundStage *stage = chain->stage;
    Accumulator acc = accumulator_of(stage->scaled.zero, stage->scaled.weight, stage->scaled.bias);
    return set_fixed(chain, acc, stage->scaled.factor, form);
}

/* TFLite's ADD, where the input has the larger scale: it is rescaled by 1/2, a power of 2, which rounds nothing as long
 * as all that is shifted out was shifted in. */
static bool find_fixed_sum(const Chain *chain, Form16 *form) {
    const BoundStage *stage = chain->stage;
    S0Multiplier in = stage->fixed_sum.in;
    int32_t left = stage->fixed_sum.left - 1 + in.shift;
    if (in.multiplier != 1 << 30 || in.shift > 0 || left < 0) {
        return false;
    }
    int64_t weight = stage->fixed_sum.sign * ((int64_t)1 << left);
    Accumulator acc = accumulator_of(stage->fixed_sum.zero, weight, stage->fixed_sum.addend);
    return set_fixed(chain, acc, stage->fixed_sum.out, form);
}

/* ---- comparing */

static void run_reals(const Form16 *form, const S0Rows *rows) {
    if (form->kind == FORM16_QUOTIENT) {
        const S0Quotients16 quotients = form16_quotients(form);
        s0_kernels_portable.quotient16(rows, &quotients);
    } else {
        const S0Reals16 reals = form16_reals(form);
        s0_kernels_portable.real16(rows, &reals);
    }
}

/* CHUNK codes from `first` on, by both. */
static bool compare_chunk(const Chain *chain, const Form16 *form, int32_t first) {
    int32_t want[CHUNK];
    int16_t x[CHUNK];
    for (int32_t i = 0; i < CHUNK; i++) {
        want[i] = first + i;
        x[i] = (int16_t)(first + i);
    }
    const S0Rows rows = {x, x, 1, CHUNK, sizeof x, sizeof x, 0};
    run_reals(form, &rows);
    chain_codes(chain, want, CHUNK);
    bool same = true;
    for (int32_t i = 0; i < CHUNK; i++) {
        same = same && want[i] == x[i];
    }
    return same;
}

/* From both ends on, where results are largest, and first differ. */
static bool compare_all(const Chain *chain, const Form16 *form) {
    bool same = true;
    for (int32_t at = 0; same && at < CODES / 2; at += CHUNK) {
        same = compare_chunk(chain, form, INT16_MIN + at) && compare_chunk(chain, form, INT16_MAX + 1 - CHUNK - at);
    }
    return same;
}

/* ---- through reals */

/* All but the rounding of the last stage; limits and zero point. */
static bool make_line(const BoundStage *stage, uint32_t count, Line16 *line, S0Codes *codes) {
    const BoundStage *last = &stage[count - 1];
    *line = (Line16){.is_sound = true};
    *codes = last->codes;
    for (uint32_t k = 0; k < count; k++) {
        bool ends = stage[k].kind == BOUND_QUANTIZE || stage[k].kind == BOUND_SCALED_SUM;
        if (ends != (k + 1 == count)) {
            return false; /* codes between */
        }
        if (stage[k].kind == BOUND_CLIP && k + 2 == count && last->kind == BOUND_QUANTIZE && !last->is_half) {
            *codes = clip_by_reals(&stage[k], last, *codes);
        } else if (!line16_stage(line, &stage[k])) {
            return false;
        }
    }
    if (last->rounding == S0_ROUND_MLAS) {
        line16_push(line, LINE_ADD, (float)last->codes.zero_point);
        codes->zero_point = 0;
    }
    return line->is_sound;
}

/* Products from number `from` on are joined until the line is the kernel's. */
static bool find_joined(const Chain *chain, const Line16 *line, uint32_t from, Form16 *form) {
    if (line16_match(line, form)) {
        return compare_all(chain, form);
    }
    bool found = false;
    for (uint32_t at = from; !found && at + 1 < line->count; at++) {
        Line16 joined = *line;
        found = line16_join(&joined, at) && find_joined(chain, &joined, at, form);
    }
    return found;
}

/* Other operations than the reference's, which may round to the same codes. */
static bool find_near(const Chain *chain, Line16 line, Form16 *form) {
    form->is_compared = true;
    line16_invert(&line);
    return find_joined(chain, &line, 0, form);
}

/* The line is the form's. By argument where it is rounded as the kernel does it, ties to even. */
static bool is_right(const Chain *chain, uint32_t count, Form16 *form) {
    form->is_compared = chain->stage[count - 1].rounding == S0_ROUND_HALF_AWAY;
    return !form->is_compared || compare_all(chain, form);
}

static bool find_line(const Chain *chain, uint32_t count, Form16 *form) {
    Line16 line;
    if (!make_line(chain->stage, count, &line, &form->codes)) {
        return false;
    }
    form->codes = end_codes(chain, count, form->codes);
    if (line16_match(&line, form)) {
        return is_right(chain, count, form);
    }
    if (find_near(chain, line, form)) {
        return true;
    }
    form->kind = FORM16_QUOTIENT;
    return line16_match_quotient(&line, form) && is_right(chain, count, form);
}

/* ---- which */

static bool find(const Chain *chain, uint32_t count, Form16 *form) {
    switch (chain->stage[0].kind) {
    case BOUND_SCALED:
        return count == 1 && find_scaled(chain, form);
    case BOUND_FIXED:
        return count == 1 && find_fixed(chain, form);
    case BOUND_FIXED_SUM:
        return count == 1 && find_fixed_sum(chain, form);
    case BOUND_SCALED_SUM:
    case BOUND_DEQUANTIZE:
    case BOUND_DEQUANTIZE_F64:
        return find_line(chain, count, form);
    default:
        return false;
    }
}

void form16_find(const Chain *chain, Form16 *form) {
    static const Form16 nothing = {.codes = {0, INT16_MIN, INT16_MAX}, .weight = 1, .scale = 1, .divisor = 1};
    uint32_t count = count_without_clips(chain);
    *form = nothing;
    form->codes = end_codes(chain, count, form->codes);
    if (count > 0 && !(find(chain, count, form) && is_usual(form->codes))) {
        *form = (Form16){.kind = FORM16_CHAIN};
    }
}

static bool same_codes(S0Codes a, S0Codes b) {
    return a.zero_point == b.zero_point && a.lo == b.lo && a.hi == b.hi;
}

bool form16_joins(const Form16 *form, const Form16 *shared) {
    bool is_kind = form->kind == shared->kind || (form->kind == FORM16_REAL && shared->kind == FORM16_QUOTIENT);
    return is_kind && same_codes(form->codes, shared->codes) &&
           (form->kind != FORM16_FIXED || form->rounding == shared->rounding);
}

const char *form16_name(Form16Kind kind) {
    static const char *const name[FORM16_KINDS] = {"real", "quotient", "fixed", "chain"};
    return name[kind];
}
