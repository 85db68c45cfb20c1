/* Element types: look-ups in the table of dtype.def. */
#include "base/dtype.h"

#include "base/fault.h"

#include <string.h>

typedef struct {
    const char *name;
    uint32_t bits;
    DTypeKind kind;
    int32_t onnx, tflite;
} DTypeInfo;

static const DTypeInfo table[DTYPE_COUNT] = {
    [DTYPE_NONE] = {"none", 0, DTYPE_KIND_OPAQUE, -1, -1},
#define DTYPE(id, name, bits, kind, onnx, tflite) [DTYPE_##id] = {name, bits, DTYPE_KIND_##kind, onnx, tflite},
#include "base/dtype.def"
#undef DTYPE
};

const char *dtype_name(DType dtype) {
    return table[dtype].name;
}

uint32_t dtype_bits(DType dtype) {
    return table[dtype].bits;
}

DTypeKind dtype_kind(DType dtype) {
    return table[dtype].kind;
}

DType dtype_find(Str name) {
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        if (str_eq(str_from(table[d].name), name)) {
            return (DType)d;
        }
    }
    return DTYPE_NONE;
}

DType dtype_from_onnx(int64_t code) {
    for (int d = DTYPE_NONE + 1; code >= 0 && d < DTYPE_COUNT; d++) {
        if (table[d].onnx == code) {
            return (DType)d;
        }
    }
    return DTYPE_NONE;
}

int64_t dtype_to_onnx(DType dtype) {
    return table[dtype].onnx;
}

DType dtype_from_tflite(int64_t code) {
    for (int d = DTYPE_NONE + 1; code >= 0 && d < DTYPE_COUNT; d++) {
        if (table[d].tflite == code) {
            return (DType)d;
        }
    }
    return DTYPE_NONE;
}

static uint32_t float_of_half(uint32_t half) {
    uint32_t sign = (half & 0x8000) << 16;
    uint32_t exponent = (half >> 10) & 0x1F;
    uint32_t mantissa = half & 0x3FF;
    if (exponent == 0) { /* zero and subnormal numbers */
        float tiny = (float)mantissa * 0x1p-24f;
        uint32_t word;
        memcpy(&word, &tiny, sizeof word);
        return sign | word;
    }
    uint32_t wide = exponent == 0x1F ? 0xFF : exponent + 127 - 15;
    return sign | wide << 23 | mantissa << 13;
}

double dtype_float(DType dtype, uint64_t code) {
    if (dtype == DTYPE_F64) {
        double wide;
        memcpy(&wide, &code, sizeof wide);
        return wide;
    }
    CHECK(dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16);
    uint32_t low = dtype == DTYPE_F16    ? float_of_half((uint32_t)code)
                   : dtype == DTYPE_BF16 ? (uint32_t)code << 16 /* the upper half of a float32 */
                                         : (uint32_t)code;
    float number;
    memcpy(&number, &low, sizeof number);
    return (double)number;
}

uint32_t dtype_bits_of_name(Str name) {
    uint64_t bits;
    if (str_starts(name, STR("b")) && str_to_u64((Str){name.ptr + 1, name.len - 1}, &bits)) {
        return bits >= 1 && bits <= 128 ? (uint32_t)bits : 0;
    }
    return dtype_bits(dtype_find(name));
}
