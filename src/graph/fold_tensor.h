/* Small constants with their elements in cells, for evaluation. */
#ifndef S0_GRAPH_FOLD_TENSOR_H
#define S0_GRAPH_FOLD_TENSOR_H

#include "graph/fold.h"

typedef union {
    int64_t i; /* integers and bool */
    double f;  /* float32 and float64 */
} Cell;

typedef struct {
    DType dtype;
    Shape shape;
    uint32_t count;
    Cell *cell; /* row-major */
} Tensor;

/* An empty tensor of at most FOLD_MAX_ELEMS elements. False where there are more, or the dtype has no cells. */
bool tensor_new(DType dtype, const Shape *shape, Arena *arena, Tensor *tensor);

/* The stored elements of a known constant, or all of them with what repeats repeated. */
bool tensor_load_stored(const Value *value, Arena *arena, Tensor *tensor);
bool tensor_load(const Value *value, Arena *arena, Tensor *tensor);

/* The constant that stores these elements; `shape` of the tensor is what is stored. Integers wrap to their width. */
const Const *tensor_store(const Tensor *tensor, Arena *keep);

/* Row-major strides of `shape`, in elements. */
void shape_strides(const Shape *shape, int64_t stride[SHAPE_MAX_RANK]);

/* Copies out[…] = from[base + Σ index * stride] for every index of out. False where that lies outside `from`. */
bool tensor_gather(const Tensor *out, const Tensor *from, int64_t base, const int64_t *stride);

/* Steps `index` to the next of `shape`, the last axis fastest. */
void shape_step(const Shape *shape, int64_t *index);

#endif
