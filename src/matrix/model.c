/* Networks and devices of the cells. */
#include "matrix/model.h"

#include "base/fault.h"
#include "layout/packed.h"

#include <string.h>

/* Rows and channels of a tile: neither divides every shape, so there are tails. */
enum { TILE_ROWS = 6, TILE_CHANNELS = 8 };

/* ---- Numbers */

static uint32_t hash_at(uint32_t what, uint64_t where) {
    uint64_t hash = (what + 1) * UINT64_C(0x9E3779B97F4A7C15) + where;
    hash = (hash ^ hash >> 31) * UINT64_C(0xBF58476D1CE4E5B9);
    hash = (hash ^ hash >> 29) * UINT64_C(0x94D049BB133111EB);
    return (uint32_t)(hash >> 32);
}

static uint64_t bits_of_float(float value) {
    uint32_t bits;
    memcpy(&bits, &value, sizeof bits);
    return bits;
}

/* How codes of a type stand for reals. A factor is code * scale of one: `one` is the code of 1. The map keeps its scale
 * behind each operator, so that a factor of 1 and an addend of 0 give back what they are given. */
typedef struct {
    DType dtype;
    const char *map, *factor, *addend; /* scale and zero point, as text */
    int32_t one;
    int32_t zero;            /* code of an addend of 0 */
    int32_t least, greatest; /* of general factors, and their negatives */
} Coding;

static const Coding codings[] = {
    {DTYPE_I4, " scale=0.5 zero=-1", " scale=0.5 zero=0", " scale=0.5 zero=1", 2, 1, 1, 7},
    {DTYPE_I8, " scale=0.05 zero=-3", " scale=0.015625 zero=0", " scale=0.05 zero=5", 64, 5, 16, 127},
    {DTYPE_I16, " scale=0.001 zero=0", " scale=6.103515625e-05 zero=0", " scale=0.001 zero=0", 16384, 0, 4096, 32767},
    {DTYPE_F32, "", "", "", 0, 0, 0, 0},
};

static const Coding *coding_of(const MatrixCell *cell) {
    return &codings[cell->at[AXIS_DTYPE]];
}

/* As near to 1 as the type has numbers, on either side. */
static uint64_t near_one(const Coding *coding, uint64_t channel) {
    if (coding->dtype == DTYPE_F32) {
        return bits_of_float(channel % 2 == 0 ? 1 + 0x1p-23f : 1 - 0x1p-24f);
    }
    return (uint64_t)(int64_t)(coding->one + (channel % 2 == 0 ? 1 : -1));
}

static uint64_t one_of(const Coding *coding) {
    return coding->dtype == DTYPE_F32 ? bits_of_float(1) : (uint64_t)(int64_t)coding->one;
}

static uint64_t any_factor(const Coding *coding, uint64_t channel) {
    uint32_t hash = hash_at(MATRIX_SCALE, channel);
    if (coding->dtype == DTYPE_F32) {
        return bits_of_float(((float)(hash >> 1 & 255) + 32) / 128 * (hash % 2 == 0 ? 1 : -1));
    }
    uint32_t range = (uint32_t)(coding->greatest - coding->least) + 1;
    int32_t size = coding->least + (int32_t)((hash >> 1) % range);
    return (uint64_t)(int64_t)(hash % 2 == 0 ? size : -size);
}

static uint64_t any_addend(const Coding *coding, uint64_t channel) {
    uint32_t hash = hash_at(MATRIX_BIAS, channel);
    return coding->dtype == DTYPE_F32 ? bits_of_float(((float)(hash & 511) - 256) / 64) : hash;
}

static uint64_t zero_of(const Coding *coding) {
    return coding->dtype == DTYPE_F32 ? bits_of_float(0) : (uint64_t)(int64_t)coding->zero;
}

static uint64_t number_at(const MatrixCell *cell, uint32_t param, uint64_t channel) {
    const Coding *coding = coding_of(cell);
    uint32_t kind = cell->at[AXIS_COEFFICIENTS];
    if (param == MATRIX_SCALE) {
        return kind == COEFFICIENTS_GENERAL    ? any_factor(coding, channel)
               : kind == COEFFICIENTS_NEAR_ONE ? near_one(coding, channel)
                                               : one_of(coding);
    }
    bool is_any = kind == COEFFICIENTS_GENERAL || kind == COEFFICIENTS_UNIT_SCALE;
    return is_any ? any_addend(coding, channel) : zero_of(coding);
}

static void make_numbers(const MatrixCell *cell, Arena *keep, MatrixModel *model) {
    uint32_t bits = dtype_bits(model->dtype);
    uint64_t mask = UINT64_MAX >> (64 - bits);
    model->param_count = cell->at[AXIS_FORM] == FORM_SCALAR ? 1 : model->c;
    for (uint32_t p = 0; p < MATRIX_PARAMS; p++) {
        model->param[p] = arena_array(keep, uint64_t, model->param_count);
        for (uint64_t k = 0; k < model->param_count; k++) {
            model->param[p][k] = number_at(cell, p, k) & mask;
        }
    }
}

/* Codes of the whole range; reals from -8 to 8, which the first limit cuts. */
static Span make_input(const MatrixModel *model, Arena *keep) {
    uint64_t count = model->n * model->c * model->h * model->w, bytes;
    uint32_t bits = dtype_bits(model->dtype);
    CHECK(packed_bytes(count, bits, &bytes));
    uint8_t *packed = arena_array(keep, uint8_t, bytes);
    for (uint64_t k = 0; k < count; k++) {
        uint32_t hash = hash_at(MATRIX_PARAMS, k);
        packed_write(packed, k, bits,
                     model->dtype == DTYPE_F32 ? bits_of_float(((float)(hash & 1023) - 512) / 64) : hash);
    }
    return (Span){packed, bytes};
}

/* ---- Texts */

static const char *print_param(const MatrixModel *model, const char *name, const char *coding, uint32_t param,
                               Arena *keep) {
    uint32_t bits = dtype_bits(model->dtype);
    uint64_t bytes;
    CHECK(packed_bytes(model->param_count, bits, &bytes));
    uint8_t *packed = arena_array(keep, uint8_t, bytes);
    for (uint64_t k = 0; k < model->param_count; k++) {
        packed_write(packed, k, bits, model->param[param][k]);
    }
    const char *text = arena_text(keep, "const %s %s[%u]%s = hex ", name, dtype_name(model->dtype),
                                  (unsigned)model->param_count, coding);
    for (uint64_t k = 0; k < bytes; k++) {
        text = arena_text(keep, "%s%02x", text, packed[k]);
    }
    return text;
}

static Str print_graph(const MatrixCell *cell, const MatrixModel *model, Arena *keep) {
    const Coding *coding = coding_of(cell);
    bool is_bypass = cell->at[AXIS_READER] == READER_BYPASS;
    const char *map = arena_text(keep, "%s[%u,%u,%u,%u]%s", dtype_name(model->dtype), (unsigned)model->n,
                                 (unsigned)model->h, (unsigned)model->w, (unsigned)model->c, coding->map);
    const char *text = arena_text(keep, "stride0-graph 1\nformat tflite\ninput x %s\n%s\n%s\n", map,
                                  print_param(model, "s", coding->factor, MATRIX_SCALE, keep),
                                  print_param(model, "b", coding->addend, MATRIX_BIAS, keep));
    text = arena_text(keep,
                      "%svalue p %s\nvalue t %s\nvalue y %s\nnode tflite.RELU6 limit: x -> p\n"
                      "node Mul scale: p s -> t\nnode Add bias: t b -> y\noutput y\n",
                      text, map, map, map);
    return str_from(
        !is_bypass ? text
                   : arena_text(keep, "%svalue z %s\nnode tflite.RELU_N1_TO_1 other: p -> z\noutput z\n", text, map));
}

/* The device teach, but for layouts and memory: a plane of 192K in each of four lanes. Engines read every form; which
 * one, the options say. */
static Str print_device(const MatrixCell *cell, Arena *keep) {
    bool has_lanes = cell->at[AXIS_CONTRACT] == CONTRACT_LANES;
    const char *align = matrix_word(cell, AXIS_ALIGN), *contract = matrix_contract(cell, keep);
    return str_from(arena_text(
        keep,
        "[device]\nname = matrix\nkind = scratchpad\n"
        "[memory local]\nbytes = 192K @ matrix\nalign_bytes = %s @ matrix\nlanes = %u @ matrix\n"
        "[memory far]\nbytes = unbounded @ matrix\nalign_bytes = %s @ matrix\n"
        "[contract]\nactivation = %s @ matrix\nweight = O I H W @ matrix\nparameter = %s @ matrix\n"
        "[parameter]\nscalar = 1 @ matrix\nchannel = 1 @ matrix\nrow = 1 @ matrix\nfull = 1 @ matrix\n"
        "[engine]\nvector_bytes_cycle = 16 @ matrix\nissue_cycles = 10 @ matrix\ndescriptor_cycles = 10 @ matrix\n"
        "sync_cycles = 20 @ matrix\n"
        "[dma]\nbytes_cycle = 8 @ matrix\nsetup_cycles = 50 @ matrix\nburst_bytes = 64 @ matrix\nchannels = 2 @ "
        "matrix\n",
        align, has_lanes ? 4u : 1u, align, contract, contract));
}

static void read_shape(const MatrixCell *cell, MatrixModel *model) {
    Str text = str_from(matrix_word(cell, AXIS_SHAPE));
    uint64_t *const extent[] = {&model->n, &model->c, &model->h, &model->w};
    for (int k = 0; k < 4; k++) {
        CHECK(str_to_u64(str_cut(&text, 'x'), extent[k]));
    }
}

void matrix_model(const MatrixCell *cell, Work *work, MatrixModel *model) {
    static const Strategy strategy[] = {STRATEGY_SCALAR, STRATEGY_CHANNEL, STRATEGY_ROW, STRATEGY_FULL};
    *model = (MatrixModel){.dtype = coding_of(cell)->dtype};
    read_shape(cell, model);
    make_numbers(cell, &work->keep, model);
    model->input = make_input(model, &work->keep);
    model->graph = print_graph(cell, model, &work->keep);
    model->device = print_device(cell, &work->keep);
    model->options = (PlanOptions){.strategy = strategy[cell->at[AXIS_FORM]],
                                   .expand_before = true,
                                   .in_place = true,
                                   .tile_rows = TILE_ROWS,
                                   .tile_channels = TILE_CHANNELS,
                                   .schedule = (Schedule)(SCHEDULE_FUSED + cell->at[AXIS_SCHEDULE]),
                                   .parameters = (Parameters)(PARAMETERS_RESIDENT + cell->at[AXIS_PARAMETERS])};
}
