/* What a drawn chain computes, element by element: indices by loops of its own, the parameters from the record that the
 * generator keeps, one element's arithmetic by stage/bound.h. It knows nothing of plans, views and tiles. */
#ifndef S0_TESTS_PROGRAM_REFERENCE_H
#define S0_TESTS_PROGRAM_REFERENCE_H

#include "program/drawn.h"

#include "node/stages.h"
#include "stage/bound.h"

#include <math.h>

typedef struct {
    int32_t code;
    float x;
} Number;

/* All elements of a map, in the order of the file. */
typedef struct {
    DType dtype;
    Number *at;
} Map;

static inline uint64_t elements_of(const Drawn *drawn) {
    uint64_t elements = 1;
    for (uint32_t k = 0; k < AXES; k++) {
        elements *= drawn->extent[k];
    }
    return elements;
}

/* ---- Bits and numbers */

static inline Number number_of(DType dtype, uint64_t bits) {
    Number number = {0, 0};
    uint32_t width = dtype_bits(dtype);
    if (is_real_type(dtype)) {
        number.x = (float)dtype_float(dtype, bits);
    } else {
        bool is_negative = dtype_kind(dtype) == DTYPE_KIND_SIGNED && (bits >> (width - 1) & 1) != 0;
        number.code = (int32_t)((int64_t)bits - (is_negative ? (int64_t)1 << width : 0));
    }
    return number;
}

/* Of a float that is a float16. */
static inline uint64_t half_bits(float x) {
    uint64_t sign = signbit(x) ? 0x8000 : 0;
    float size = fabsf(x);
    int exponent;
    if (isnan(x) || isinf(x)) {
        return sign | (isnan(x) ? 0x7E00 : 0x7C00);
    }
    if (size < 0x1p-14f) {
        return sign | (uint64_t)(size * 0x1p24f);
    }
    float fraction = frexpf(size, &exponent); /* 0.5 to 1 */
    return sign | (uint64_t)(exponent + 14) << 10 | ((uint64_t)(fraction * 2048) & 1023);
}

static inline uint64_t bits_of(DType dtype, Number number) {
    uint32_t bits;
    memcpy(&bits, &number.x, sizeof bits);
    return dtype == DTYPE_F32 ? bits : dtype == DTYPE_F16 ? half_bits(number.x) : (uint32_t)number.code;
}

/* ---- Parameters */

static inline Number param_at(const DrawnParam *param, const uint64_t index[AXES]) {
    uint64_t place = 0;
    for (uint32_t k = 0; k < param->rank; k++) {
        uint64_t along = index[param->axis >= 0 ? (uint32_t)param->axis : AXES - param->rank + k];
        place = place * param->extent[k] + (param->extent[k] == 1 ? 0 : along);
    }
    Number number = number_of(param->dtype, packed_read(param->packed, place, dtype_bits(param->dtype)));
    if (param->is_coded) {
        number.x = (float)(number.code - 1) * 0.25f;
    }
    return number;
}

static inline void give(Stage *stage, Gives gives, Number number) {
    switch (gives) {
    case GIVES_NUMBER:
        stage->number = number.x;
        break;
    case GIVES_VALUE:
        stage->integer.value = number.code;
        break;
    case GIVES_GAMMA:
        stage->norm.gamma = number.x;
        break;
    case GIVES_BETA:
        stage->norm.beta = number.x;
        break;
    case GIVES_MEAN:
        stage->norm.mean = number.x;
        break;
    case GIVES_VARIANCE:
        stage->norm.variance = number.x;
        break;
    case GIVES_SCALE:
        stage->code.scale = number.x;
        break;
    case GIVES_LO:
    case GIVES_HI:
        fail_msg("no limit is drawn");
        break;
    default:
        stage->code.zero_point = number.code;
    }
}

static inline const DrawnParam *find_param(const DrawnNode *node, uint32_t input) {
    for (uint32_t k = 0; k < node->param_count; k++) {
        if (node->input[k] == input) {
            return &node->param[k];
        }
    }
    fail_msg("no record of input %u of " STR_FMT, (unsigned)input, STR_ARG(node->name));
    return NULL;
}

/* ---- Maps */

/* Null, or why there is no value. */
static inline StageFault run_stage(const NodeStage *from, const DrawnNode *node, Semantics semantics,
                                   const uint64_t index[AXES], Number *number) {
    Stage stage = from->stage;
    BoundStage bound;
    for (uint32_t p = 0; p < from->param_count; p++) {
        Number given = param_at(find_param(node, from->param[p].input), index);
        give(&stage, from->param[p].gives, given);
    }
    StageFault fault = stage_bind(&stage, semantics, &bound);
    fault = fault == NULL ? bound_check(&bound, number->code, number->x) : fault;
    if (fault == NULL) {
        bound_run(&bound, &number->code, &number->x, 1);
    }
    return fault;
}

static inline void next_index(const Drawn *drawn, uint64_t index[AXES]) {
    for (uint32_t k = AXES; k-- > 0 && ++index[k] == drawn->extent[k];) {
        index[k] = 0;
    }
}

/* False where the reference has no value for some element: `why` tells. */
static inline bool run_node(const Drawn *drawn, const DrawnNode *node, const NodeStages *stages, Semantics semantics,
                            const Map *from, Map *to, const char **why) {
    uint64_t index[AXES] = {0}, count = elements_of(drawn);
    to->at = arena_array(&drawn->work->keep, Number, count);
    to->dtype = stages->stage[stages->count - 1].stage.to;
    for (uint64_t k = 0; k < count; k++, next_index(drawn, index)) {
        to->at[k] = from->at[k];
        for (uint32_t s = 0; s < stages->count; s++) {
            *why = run_stage(&stages->stage[s], node, semantics, index, &to->at[k]);
            if (*why != NULL) {
                return false;
            }
        }
    }
    return true;
}

static inline Map map_of_input(const Drawn *drawn, const uint8_t *packed) {
    Map map = {drawn->input_dtype, arena_array(&drawn->work->keep, Number, elements_of(drawn))};
    for (uint64_t k = 0; k < elements_of(drawn); k++) {
        map.at[k] = number_of(map.dtype, packed_read(packed, k, dtype_bits(map.dtype)));
    }
    return map;
}

/* As files hold it. */
static inline Span pack_map(const Drawn *drawn, const Map *map) {
    uint64_t bytes;
    assert_true(packed_bytes(elements_of(drawn), dtype_bits(map->dtype), &bytes));
    uint8_t *packed = arena_array(&drawn->work->keep, uint8_t, bytes);
    for (uint64_t k = 0; k < elements_of(drawn); k++) {
        packed_write(packed, k, dtype_bits(map->dtype), bits_of(map->dtype, map->at[k]));
    }
    return (Span){packed, (size_t)bytes};
}

#endif
