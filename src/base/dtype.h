/* Element types. The table is base/dtype.def. */
#ifndef S0_BASE_DTYPE_H
#define S0_BASE_DTYPE_H

#include "base/str.h"

typedef enum {
    DTYPE_NONE, /* an absent optional value */
#define DTYPE(id, name, bits, kind, onnx, tflite) DTYPE_##id,
#include "base/dtype.def"
#undef DTYPE
    DTYPE_COUNT
} DType;

typedef enum {
    DTYPE_KIND_FLOAT,
    DTYPE_KIND_SIGNED,
    DTYPE_KIND_UNSIGNED,
    DTYPE_KIND_BOOL,
    DTYPE_KIND_COMPLEX,
    DTYPE_KIND_OPAQUE, /* no bytes in a plan: strings, resource handles */
} DTypeKind;

const char *dtype_name(DType dtype); /* "int8" */
uint32_t dtype_bits(DType dtype);    /* of one element; 0 for DTYPE_NONE and opaque types */
DTypeKind dtype_kind(DType dtype);
DType dtype_find(Str name);            /* DTYPE_NONE where there is none */
DType dtype_from_onnx(int64_t code);   /* TensorProto.DataType; DTYPE_NONE where unknown */
int64_t dtype_to_onnx(DType dtype);    /* the inverse; -1 where the format has no such type */
DType dtype_from_tflite(int64_t code); /* TensorType; DTYPE_NONE where unknown */

static inline bool dtype_is_float(DType dtype) {
    return dtype_kind(dtype) == DTYPE_KIND_FLOAT;
}

/* The number that a code of float64, float32, float16 or bfloat16 stands for. */
double dtype_float(DType dtype, uint64_t code);

/* Bits of a dtype's name or of a record b1 … b128 ("b80"); 0 where neither. For `stride0 layout --dtype`. */
uint32_t dtype_bits_of_name(Str name);

#endif
