/* Tensors as a device stores them: views and sizes, asked from the layout contract and from nowhere else. */
#ifndef S0_PLAN_TENSOR_H
#define S0_PLAN_TENSOR_H

#include "plan/plan.h"

/* Elements of two address maps that may be compared one by one where strides alone do not decide. */
enum { WALK_LIMIT = 1 << 14 };

/* A tensor to be stored: its shape, what each axis is called, its elements. */
typedef struct {
    const Shape *shape;
    const uint8_t *dims; /* Dim of each axis */
    uint32_t bits;       /* of one element */
    Role role;
    Str name;             /* for messages */
    uint64_t grain_bytes; /* of the block that the engine reads an element as: see view_widen */
} Tensor;

Tensor tensor_of_value(const Value *value, Role role);

/* What the buffer stores; not for workspace. */
Tensor tensor_of_buffer(const Graph *graph, const Buffer *buffer);

/* The dimension that an axis is stored as. */
Dim tensor_dim(const Tensor *tensor, uint32_t axis);

/* Its extents by dimension: axes of one dimension folded. False where a product does not fit 64 bits. */
bool tensor_extents(const Tensor *tensor, LayoutShape *shape);

/* The view of `tensor` under the device's contract of its role. False with a diagnostic that names tensor, shape and
 * contract where no case holds, a dimension is unnamed or a size does not fit 64 bits. */
bool tensor_view(const Device *device, const Tensor *tensor, Diags *diags, View *view);

/* As tensor_view, for a layout that is only considered: no diagnostic. */
bool tensor_find_view(const Device *device, const Tensor *tensor, View *view);

/* How all of the buffer lies: in flash or far memory its lanes one after the other, as view_flatten has them. False,
 * without a diagnostic, where the contract has no answer or that takes more levels than a view has. */
bool buffer_find_view(const Plan *plan, const Buffer *buffer, View *view);

/* What the buffer takes in flash or far memory, which have no lanes: those of a banked layout lie there one after the
 * other, also the empty ones between those that hold elements. False where it does not fit 64 bits. */
bool buffer_backing_bytes(const Plan *plan, const Buffer *buffer, uint64_t *bytes);

/* Physical bytes of one bank; for the costs of forms that are not chosen: false where the contract has no answer. */
bool tensor_bytes(const Device *device, const Tensor *tensor, uint64_t *physical_bytes);

/* Is element k of one where element k of the other is, for every k? False also where the contract has no answer. */
bool tensor_same_map(const Device *device, const Tensor *a, const Tensor *b);

/* Axes as the layout room wants them for view_same_map. */
void tensor_axes(const Tensor *tensor, ViewAxis axes[SHAPE_MAX_RANK]);

#endif
