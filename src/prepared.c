/* Options are read in this order: dtype, layout, sizes, parameters; the parameters of codes become chains. */
#include "prepared.h"

#include "affine/chain.h"
#include "layout/runs.h"
#include "native/variant.h"
#include "stage/half.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RANK = 4, CODES4 = 16, MOST_STAGES = 5, MOST_WEIGHT = 32767, MOST_TEXT = 1000 };

typedef struct {
    const s0_affine_options *options;
    DType dtype;
    Semantics semantics;
    int32_t least, greatest; /* codes of the dtype */
    Native *native;
    s0_affine_facts *facts;
    Work *work;
} Reading;

static bool bad(Reading *reading, const char *field, const char *got, const char *expected) {
    return diag_error(&reading->work->diags, (DiagText){.place = arena_text(&reading->work->keep, "option %s", field),
                                                        .what = "the value can't be used",
                                                        .got = got,
                                                        .expected = expected});
}

static bool bad_many(Reading *reading, const char *fields, const char *got, const char *expected) {
    return diag_error(&reading->work->diags, (DiagText){.place = arena_text(&reading->work->keep, "options %s", fields),
                                                        .what = "the values can't be used",
                                                        .got = got,
                                                        .expected = expected});
}

static const char *number(Reading *reading, double value) {
    return arena_text(&reading->work->keep, "%.9g", value);
}

static const char *integer(Reading *reading, int32_t value) {
    return arena_text(&reading->work->keep, "%" PRId32, value);
}

/* ---- What the maps are */

static bool read_dtype(Reading *reading) {
    static const DType TAKEN[] = {DTYPE_F32, DTYPE_F16, DTYPE_I8, DTYPE_U8, DTYPE_I16, DTYPE_I4, DTYPE_U4};
    const char *name = reading->options->dtype;
    reading->dtype = name == NULL ? DTYPE_NONE : dtype_find(str_from(name));
    for (size_t k = 0; k < sizeof TAKEN / sizeof TAKEN[0]; k++) {
        if (reading->dtype == TAKEN[k]) {
            stage_code_range(reading->dtype, &reading->least, &reading->greatest);
            return true;
        }
    }
    return bad(reading, "dtype", name == NULL ? "none" : arena_text(&reading->work->keep, "%.40s", name),
               "float32, float16, int8, uint8, int16, int4 or uint4");
}

static const Contract *read_layout(Reading *reading) {
    const char *text = reading->options->layout == NULL ? "N C H W" : reading->options->layout;
    Work *work = reading->work;
    if (strlen(text) > MOST_TEXT) {
        bad(reading, "layout", arena_text(&work->keep, "%zu bytes", strlen(text)), "at most 1,000 bytes");
        return NULL;
    }
    ContractError error = {0};
    Str kept = arena_str(&work->keep, str_from(text));
    const Contract *contract = contract_parse(&work->keep, kept, &error);
    if (contract == NULL) {
        diag_error(&work->diags,
                   (DiagText){.place = arena_text(&work->keep, "option layout, column %" PRIu32, error.column),
                              .what = error.what,
                              .got = error.got,
                              .expected = error.expected,
                              .hint = strchr(text, ' ') == NULL ? "put blanks between levels: N H W C" : NULL,
                              .excerpt = kept,
                              .column = error.column});
    }
    return contract;
}

static LayoutShape shape_of(const Reading *reading) {
    const s0_affine_options *options = reading->options;
    LayoutShape shape = layout_shape(dtype_bits(reading->dtype), RANK);
    shape.extent[DIM_N] = options->n;
    shape.extent[DIM_C] = options->c;
    shape.extent[DIM_H] = options->h;
    shape.extent[DIM_W] = options->w;
    return shape;
}

static bool resolve(Reading *reading, const Contract *contract, View *view) {
    LayoutShape shape = shape_of(reading);
    Dim dim;
    ViewStatus status = view_resolve(contract, &shape, view, &dim);
    if (status == VIEW_DONE) {
        return true;
    }
    const uint64_t *extent = shape.extent;
    Arena *keep = &reading->work->keep;
    return diag_error(&reading->work->diags,
                      (DiagText){.place = "options layout, n, c, h, w",
                                 .what = view_status_text(status),
                                 .got = arena_text(keep, "%s, %" PRIu64 ", %" PRIu64 ", %" PRIu64 ", %" PRIu64,
                                                   contract_text(contract).ptr, extent[DIM_N], extent[DIM_C],
                                                   extent[DIM_H], extent[DIM_W]),
                                 .expected = status == VIEW_UNNAMED
                                                 ? arena_text(keep, "a level for %c, or 1 of it", dim_letter(dim))
                                                 : NULL});
}

static bool lay_out(Reading *reading) {
    const Contract *contract = read_layout(reading);
    View view;
    if (contract == NULL || !resolve(reading, contract, &view)) {
        return false;
    }
    if (!view_flatten(&view)) {
        return bad(reading, "layout", contract_text(contract).ptr, "fewer levels, or banks that fit 64 bits together");
    }
    native_lay_out(reading->native, &view, dtype_is_float(reading->dtype) ? view.shape.bits / 8 : 1);
    return true;
}

/* ---- Reals */

static const char *semantics_names(Reading *reading) {
    Arena *keep = &reading->work->keep;
    const char *names = s0_semantics_name(0);
    for (int k = 1; k < S0_SEM_COUNT; k++) {
        names = arena_text(keep, "%s, %s", names, s0_semantics_name((Semantics)k));
    }
    return names;
}

static bool read_semantics(Reading *reading) {
    const char *name = reading->options->semantics == NULL ? "onnx" : reading->options->semantics;
    return s0_semantics_find(name, strlen(name), &reading->semantics) ||
           bad(reading, "semantics", name, semantics_names(reading));
}

static bool read_finite(Reading *reading, const char *field, const float *given) {
    for (uint64_t c = 0; given != NULL && c < reading->options->c; c++) {
        if (!isfinite(given[c])) {
            return bad(reading, arena_text(&reading->work->keep, "%s[%" PRIu64 "]", field, c),
                       number(reading, (double)given[c]), "a finite number");
        }
    }
    return true;
}

/* `count` of them; all `otherwise` where none are given. Null, and a message, where one is not finite. */
static const float *read_reals(Reading *reading, const char *field, const float *given, float otherwise) {
    size_t count = (size_t)reading->options->c;
    float *real = arena_array(&reading->work->keep, float, count);
    for (size_t k = 0; k < count; k++) {
        real[k] = given == NULL ? otherwise : given[k];
        if (reading->dtype == DTYPE_F16) {
            real[k] = half_round(real[k]);
        }
        if (!isfinite(real[k])) {
            bad(reading, arena_text(&reading->work->keep, "%s[%zu]", field, k), number(reading, (double)given[k]),
                reading->dtype == DTYPE_F16 ? "a finite number of float16" : "a finite number");
            return NULL;
        }
    }
    return real;
}

/* What is of codes means nothing for floats. */
static bool has_no_codes(Reading *reading) {
    const s0_affine_options *options = reading->options;
    const struct {
        const char *field;
        bool is_set;
    } of_codes[] = {
        {"weight", options->weight != NULL},          {"addend", options->addend != NULL},
        {"is_limited", options->is_limited},          {"x_zero_point", options->x_zero_point != 0},
        {"y_zero_point", options->y_zero_point != 0},
    };
    for (size_t k = 0; k < sizeof of_codes / sizeof of_codes[0]; k++) {
        if (of_codes[k].is_set) {
            return bad(reading, of_codes[k].field, "a value", "none with floats: it is of codes");
        }
    }
    return true;
}

static bool read_floats(Reading *reading) {
    const s0_affine_options *options = reading->options;
    if (!has_no_codes(reading) || !read_semantics(reading)) {
        return false;
    }
    S0Floats floats = {.channels = (size_t)options->c,
                       .scale = read_reals(reading, "scale", options->scale, 1),
                       .bias = read_reals(reading, "bias", options->bias, 0)};
    if (floats.scale == NULL || floats.bias == NULL) {
        return false;
    }
    native_take_floats(reading->native, &floats, reading->dtype == DTYPE_F16, &reading->work->keep);
    reading->facts->floats = options->c;
    return true;
}

/* ---- Codes */

static bool is_code(const Reading *reading, int32_t code) {
    return reading->least <= code && code <= reading->greatest;
}

static bool read_coding(Reading *reading, const char *which, float scale, int32_t zero_point) {
    Arena *keep = &reading->work->keep;
    if (!(scale > 0) || !isfinite(scale)) {
        return bad(reading, arena_text(keep, "%s_scale", which), number(reading, (double)scale),
                   "a finite number above 0");
    }
    if (!is_code(reading, zero_point)) {
        return bad(reading, arena_text(keep, "%s_zero_point", which), integer(reading, zero_point),
                   arena_text(keep, "%" PRId32 " to %" PRId32, reading->least, reading->greatest));
    }
    return true;
}

static bool read_limits(Reading *reading) {
    const s0_affine_options *options = reading->options;
    if (!options->is_limited && (options->lo != 0 || options->hi != 0)) {
        return bad_many(reading, "lo, hi", "limits", "is_limited = true with them");
    }
    if (!options->is_limited ||
        (is_code(reading, options->lo) && is_code(reading, options->hi) && options->lo <= options->hi)) {
        return true;
    }
    Arena *keep = &reading->work->keep;
    return bad_many(reading, "lo, hi", arena_text(keep, "%" PRId32 ", %" PRId32, options->lo, options->hi),
                    arena_text(keep, "lo up to hi, from %" PRId32 " to %" PRId32, reading->least, reading->greatest));
}

static bool read_weights(Reading *reading) {
    const s0_affine_options *options = reading->options;
    if (options->weight == NULL) {
        return options->addend == NULL || bad(reading, "addend", "codes", "none without weight: give bias");
    }
    if (options->bias != NULL) {
        return bad(reading, "bias", "numbers", "none with weight: give addend");
    }
    for (uint64_t c = 0; c < options->c; c++) {
        if (options->weight[c] < -MOST_WEIGHT || options->weight[c] > MOST_WEIGHT) {
            return bad(reading, arena_text(&reading->work->keep, "weight[%" PRIu64 "]", c),
                       integer(reading, options->weight[c]), "-32767 to 32767");
        }
    }
    return true;
}

/* TFLite's kernels of int16 ignore or refuse one. */
static bool read_zero_points(Reading *reading) {
    const s0_affine_options *options = reading->options;
    bool has = options->x_zero_point != 0 || options->y_zero_point != 0;
    bool is_wrong = has && reading->dtype == DTYPE_I16 && s0_semantics_format(reading->semantics) == S0_FORMAT_TFLITE;
    return !is_wrong ||
           diag_refuse(&reading->work->diags,
                       (DiagText){.place = "options x_zero_point, y_zero_point",
                                  .what = arena_text(&reading->work->keep, "the reference %s has none of int16",
                                                     s0_semantics_name(reading->semantics)),
                                  .expected = "0"});
}

static bool read_coded(Reading *reading) {
    const s0_affine_options *options = reading->options;
    return read_finite(reading, "scale", options->scale) && read_finite(reading, "bias", options->bias) &&
           read_coding(reading, "x", options->x_scale, options->x_zero_point) &&
           read_coding(reading, "y", options->y_scale, options->y_zero_point) && read_limits(reading) &&
           read_weights(reading) && read_semantics(reading) && read_zero_points(reading);
}

static uint32_t integer_stages(const Reading *reading, uint64_t channel, Stage *stage) {
    const s0_affine_options *options = reading->options;
    stage[0] = (Stage){.kind = STAGE_CODE_SCALE, .from = reading->dtype, .to = reading->dtype};
    stage[0].integer.in = (StageCode){options->x_scale, options->x_zero_point};
    stage[0].integer.constant.scale = options->scale == NULL ? 1 : options->scale[channel];
    stage[0].integer.out = (StageCode){options->y_scale, options->y_zero_point};
    stage[0].integer.value = options->weight[channel];
    stage[0].integer.bias = options->addend == NULL ? 0 : options->addend[channel];
    stage[0].integer.lo = options->is_limited ? options->lo : reading->least;
    stage[0].integer.hi = options->is_limited ? options->hi : reading->greatest;
    return 1;
}

static uint32_t real_stages(const Reading *reading, uint64_t channel, Stage *stage) {
    const s0_affine_options *options = reading->options;
    DType codes = reading->dtype;
    uint32_t count = 0;
    stage[count++] = (Stage){
        .kind = STAGE_DEQUANTIZE, .from = codes, .to = DTYPE_F32, .code = {options->x_scale, options->x_zero_point}};
    if (options->scale != NULL) {
        stage[count++] =
            (Stage){.kind = STAGE_MUL, .from = DTYPE_F32, .to = DTYPE_F32, .number = options->scale[channel]};
    }
    if (options->bias != NULL) {
        stage[count++] =
            (Stage){.kind = STAGE_ADD, .from = DTYPE_F32, .to = DTYPE_F32, .number = options->bias[channel]};
    }
    stage[count++] = (Stage){
        .kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = codes, .code = {options->y_scale, options->y_zero_point}};
    if (options->is_limited) {
        stage[count] = (Stage){.kind = STAGE_CODE_CLIP, .from = codes, .to = codes};
        stage[count].integer.lo = options->lo;
        stage[count++].integer.hi = options->hi;
    }
    return count;
}

/* One channel as its reference computes it; `arena` keeps its stages. */
static bool bind(Reading *reading, uint64_t channel, Arena *arena, Chain *chain) {
    Stage stage[MOST_STAGES];
    uint32_t count = reading->options->weight == NULL ? real_stages(reading, channel, stage)
                                                      : integer_stages(reading, channel, stage);
    StageFault fault = chain_bind(stage, count, reading->semantics, arena, chain);
    return fault == NULL ||
           diag_refuse(&reading->work->diags,
                       (DiagText){.place = arena_text(&reading->work->keep, "channel %" PRIu64, channel),
                                  .what = arena_text(&reading->work->keep, "the reference %s has no value: %s",
                                                     s0_semantics_name(reading->semantics), fault)});
}

static void count_forms8(const Native *native, s0_affine_facts *facts) {
    const size_t *count = native->walk.is_channel_last ? native->last.count : native->first.count;
    facts->products = count[FORM8_PRODUCT];
    facts->odd_products = count[FORM8_ODD];
    facts->rounds = count[FORM8_ROUND];
    facts->tables = count[FORM8_TABLE];
}

/* What a chain makes of the codes of a channel. */
typedef void (*FillTable)(const Reading *reading, const Chain *chain, uint8_t *table);

/* A table of so many codes for each channel; null, and a message, where a channel has no value. */
static const uint8_t *read_tables(Reading *reading, size_t codes, FillTable fill) {
    Work *work = reading->work;
    size_t channels = (size_t)reading->options->c;
    uint8_t *table = arena_alloc(&work->keep, channels, codes);
    for (size_t c = 0; c < channels; c++) {
        ArenaMark mark = arena_mark(&work->scratch);
        Chain chain;
        if (!bind(reading, c, &work->scratch, &chain)) {
            return NULL;
        }
        fill(reading, &chain, table + c * codes);
        arena_back(&work->scratch, mark);
    }
    return table;
}

static void fill_bytes(const Reading *reading, const Chain *chain, uint8_t *table) {
    node8_table(chain, reading->dtype, table);
}

static bool read_codes8(Reading *reading) {
    const uint8_t *table = read_tables(reading, FORM8_CODES, fill_bytes);
    if (table == NULL) {
        return false;
    }
    uint8_t flip = reading->dtype == DTYPE_U8 ? 0x80 : 0;
    Node8Reference reference = {
        .channels = (size_t)reading->options->c, .table = table, .x_flip = flip, .y_flip = flip};
    native_take_codes8(reading->native, &reference, &reading->work->keep);
    count_forms8(reading->native, reading->facts);
    return true;
}

static bool read_codes16(Reading *reading) {
    Arena *keep = &reading->work->keep;
    size_t channels = (size_t)reading->options->c;
    Chain *chain = arena_array(keep, Chain, channels);
    for (size_t c = 0; c < channels; c++) {
        if (!bind(reading, c, keep, &chain[c])) {
            return false;
        }
    }
    native_take_codes16(reading->native, chain, channels, keep);
    const size_t *count = reading->native->codes16.count;
    reading->facts->rounds = count[FORM16_REAL] + count[FORM16_QUOTIENT];
    reading->facts->fixed = count[FORM16_FIXED];
    reading->facts->chains = count[FORM16_CHAIN];
    return true;
}

/* Each of the 16 codes of a channel, by its bits. */
static void fill_nibbles(const Reading *reading, const Chain *chain, uint8_t *table) {
    for (int32_t code = reading->least; code <= reading->greatest; code++) {
        table[code & (CODES4 - 1)] = (uint8_t)(chain_code(chain, code) & (CODES4 - 1));
    }
}

static bool read_codes4(Reading *reading) {
    size_t channels = (size_t)reading->options->c;
    const uint8_t *table = read_tables(reading, CODES4, fill_nibbles);
    if (table == NULL) {
        return false;
    }
    native_take_nibbles(reading->native, &(S0Tables4){.channels = channels, .table = table});
    reading->facts->tables = channels;
    return true;
}

static bool read_codes(Reading *reading) {
    if (!read_coded(reading)) {
        return false;
    }
    if (reading->options->c == 0) {
        return true;
    }
    switch (dtype_bits(reading->dtype)) {
    case 4:
        return read_codes4(reading);
    case 8:
        return read_codes8(reading);
    default:
        return read_codes16(reading);
    }
}

bool prepared_read(const s0_affine_options *options, Native *native, s0_affine_facts *facts, Work *work) {
    Reading reading = {.options = options, .native = native, .facts = facts, .work = work};
    native->kernels = variant_choose();
    native->cache_bytes = variant_cache_bytes();
    if (native->kernels == NULL) {
        return diag_error(&work->diags,
                          (DiagText){.place = "STRIDE0_CPU in the environment",
                                     .what = "it names no kernels of this processor",
                                     .expected = "portable, or a name that the processor suits, as avx2"});
    }
    if (!read_dtype(&reading) || !lay_out(&reading)) {
        return false;
    }
    bool is_done = dtype_is_float(reading.dtype) ? read_floats(&reading) : read_codes(&reading);
    facts->kernels = native->kernels->name;
    facts->x_bytes = native->map_bytes;
    return is_done;
}
