/* Small constants: from bytes to cells and back. */
#include "graph/fold_tensor.h"

#include "base/fault.h"
#include "layout/packed.h"

#include <string.h>

bool tensor_new(DType dtype, const Shape *shape, Arena *arena, Tensor *tensor) {
    uint64_t count;
    DTypeKind kind = dtype_kind(dtype);
    bool has_cells = kind == DTYPE_KIND_SIGNED || kind == DTYPE_KIND_UNSIGNED || kind == DTYPE_KIND_BOOL ||
                     dtype == DTYPE_F32 || dtype == DTYPE_F64;
    if (!has_cells || dtype_bits(dtype) == 0 || !shape_elements(shape, &count) || count > FOLD_MAX_ELEMS) {
        return false;
    }
    *tensor = (Tensor){dtype, *shape, (uint32_t)count, arena_array(arena, Cell, count)};
    return true;
}

/* False where a uint64 is past what a cell holds, or a bool is neither 0 nor 1. */
static bool cell_of_word(DType dtype, uint64_t word, Cell *cell) {
    uint32_t bits = dtype_bits(dtype);
    if (dtype_is_float(dtype)) {
        cell->f = dtype_float(dtype, word);
        return true;
    }
    if (dtype_kind(dtype) == DTYPE_KIND_SIGNED && bits < 64 && (word >> (bits - 1) & 1) != 0) {
        word |= ~(uint64_t)0 << bits;
    }
    memcpy(&cell->i, &word, sizeof word);
    bool is_bool = dtype_kind(dtype) == DTYPE_KIND_BOOL;
    return is_bool ? word <= 1 : dtype_kind(dtype) != DTYPE_KIND_UNSIGNED || cell->i >= 0;
}

static uint64_t word_of_cell(DType dtype, Cell cell) {
    uint64_t word = 0;
    if (dtype == DTYPE_F32) {
        float single = (float)cell.f;
        uint32_t half;
        memcpy(&half, &single, sizeof half);
        return half;
    }
    memcpy(&word, &cell, sizeof word);
    return word;
}

bool tensor_load_stored(const Value *value, Arena *arena, Tensor *tensor) {
    const Const *constant = value->constant;
    if (constant == NULL || !constant->is_known || !tensor_new(value->dtype, &constant->stored, arena, tensor)) {
        return false;
    }
    uint32_t bits = dtype_bits(value->dtype);
    uint64_t need_bytes;
    bool is_whole = packed_bytes(tensor->count, bits, &need_bytes) && constant->bytes.len >= need_bytes;
    for (uint32_t k = 0; is_whole && k < tensor->count; k++) {
        is_whole = cell_of_word(value->dtype, packed_read(constant->bytes.ptr, k, bits), &tensor->cell[k]);
    }
    return is_whole;
}

bool tensor_load(const Value *value, Arena *arena, Tensor *tensor) {
    Tensor stored;
    int64_t stride[SHAPE_MAX_RANK];
    if (!value->has_shape || !tensor_load_stored(value, arena, &stored)) {
        return false;
    }
    if (shape_eq(&stored.shape, &value->shape)) {
        *tensor = stored;
        return true;
    }
    if (stored.shape.rank != value->shape.rank || !tensor_new(value->dtype, &value->shape, arena, tensor)) {
        return false;
    }
    shape_strides(&stored.shape, stride);
    for (uint32_t axis = 0; axis < stored.shape.rank; axis++) {
        stride[axis] = stored.shape.dim[axis] == 1 ? 0 : stride[axis];
    }
    return tensor_gather(tensor, &stored, 0, stride);
}

const Const *tensor_store(const Tensor *tensor, Arena *keep) {
    uint32_t bits = dtype_bits(tensor->dtype);
    uint64_t len = 0;
    CHECK(packed_bytes(tensor->count, bits, &len)); /* tensor_new made it small */
    uint8_t *bytes = arena_array(keep, uint8_t, (size_t)len);
    for (uint32_t k = 0; k < tensor->count; k++) {
        packed_write(bytes, k, bits, word_of_cell(tensor->dtype, tensor->cell[k]));
    }
    Const *constant = arena_new(keep, Const);
    *constant = (Const){.stored = tensor->shape, .bytes = {bytes, (size_t)len}, .is_known = true};
    return constant;
}

void shape_strides(const Shape *shape, int64_t stride[SHAPE_MAX_RANK]) {
    int64_t next = 1;
    for (uint32_t axis = shape->rank; axis-- > 0;) {
        stride[axis] = next;
        next *= shape->dim[axis];
    }
}

void shape_step(const Shape *shape, int64_t *index) {
    for (uint32_t axis = shape->rank; axis-- > 0;) {
        if (++index[axis] < shape->dim[axis]) {
            return;
        }
        index[axis] = 0;
    }
}

/* Do the least and the largest element that a walk over `shape` reads lie in `count`? */
static bool reads_inside(const Shape *shape, uint32_t count, int64_t base, const int64_t *stride) {
    int64_t low = base, high = base;
    for (uint32_t axis = 0; axis < shape->rank; axis++) {
        int64_t way, *end = stride[axis] < 0 ? &low : &high;
        if (__builtin_mul_overflow(shape->dim[axis] - 1, stride[axis], &way) ||
            __builtin_add_overflow(*end, way, end)) {
            return false;
        }
    }
    return low >= 0 && high < (int64_t)count;
}

bool tensor_gather(const Tensor *out, const Tensor *from, int64_t base, const int64_t *stride) {
    int64_t index[SHAPE_MAX_RANK] = {0};
    if (out->count > 0 && !reads_inside(&out->shape, from->count, base, stride)) {
        return false;
    }
    for (uint32_t k = 0; k < out->count; k++) {
        int64_t at = base;
        for (uint32_t axis = 0; axis < out->shape.rank; axis++) {
            at += index[axis] * stride[axis];
        }
        out->cell[k] = from->cell[at];
        shape_step(&out->shape, index);
    }
    return true;
}

bool const_ints(const Value *value, Arena *arena, Ints *ints) {
    Tensor tensor;
    if (dtype_is_float(value->dtype) || !tensor_load(value, arena, &tensor)) {
        return false;
    }
    int64_t *at = arena_array(arena, int64_t, tensor.count);
    for (uint32_t k = 0; k < tensor.count; k++) {
        at[k] = tensor.cell[k].i;
    }
    *ints = (Ints){tensor.count, at};
    return true;
}

bool const_numbers(const Value *value, Arena *arena, Floats *floats) {
    Tensor tensor;
    if (!tensor_load(value, arena, &tensor)) {
        return false;
    }
    double *at = arena_array(arena, double, tensor.count);
    for (uint32_t k = 0; k < tensor.count; k++) {
        at[k] = dtype_is_float(value->dtype) ? tensor.cell[k].f : (double)tensor.cell[k].i;
    }
    *floats = (Floats){tensor.count, at};
    return true;
}

bool const_floats(const Value *value, Arena *arena, Floats *floats) {
    return dtype_is_float(value->dtype) && const_numbers(value, arena, floats);
}

bool node_ints(const Graph *graph, const Node *node, const char *name, uint32_t k, Arena *arena, Ints *ints) {
    const Attr *attr = node_attr(node, name);
    if (attr != NULL && (attr->kind == ATTR_INTS || attr->kind == ATTR_INT)) {
        *ints = attr->kind == ATTR_INT ? (Ints){1, &attr->i} : (Ints){attr->count, attr->ints};
        return true;
    }
    const Value *input = node_input(graph, node, k);
    *ints = (Ints){0, NULL};
    return input != NULL && const_ints(input, arena, ints);
}
