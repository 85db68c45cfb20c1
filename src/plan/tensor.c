/* Tensors as a device stores them: named shapes, views and sizes. */
#include "plan/tensor.h"

#include "base/checked.h"
#include "base/fault.h"
#include "layout/runs.h"

Tensor tensor_of_value(const Value *value, Role role) {
    return (Tensor){.shape = &value->shape,
                    .dims = value->dims,
                    .bits = dtype_bits(value->dtype),
                    .role = role,
                    .name = value->name};
}

Tensor tensor_of_buffer(const Graph *graph, const Buffer *buffer) {
    return (Tensor){.shape = &buffer->stored,
                    .dims = buffer->dims,
                    .bits = buffer->record_bits > 0 ? buffer->record_bits : dtype_bits(buffer->dtype),
                    .role = buffer->role,
                    .name = graph_value(graph, buffer->value)->name};
}

static bool has_zero(const Shape *shape) {
    for (uint32_t k = 0; k < shape->rank; k++) {
        if (shape->dim[k] == 0) {
            return true;
        }
    }
    return false;
}

/* A weight contract speaks of O and I; a matrix whose operator names no channels has its outer axis for O, its inner
 * for I. */
Dim tensor_dim(const Tensor *tensor, uint32_t axis) {
    Dim dim = (Dim)tensor->dims[axis];
    if (tensor->role != ROLE_WEIGHT) {
        return dim;
    }
    return dim == DIM_N ? DIM_O : dim == DIM_C ? DIM_I : dim;
}

/* Axes folded to named extents. Zero elements: all extents of the folded dimensions may be 0. */
bool tensor_extents(const Tensor *tensor, LayoutShape *shape) {
    const Shape *axes = tensor->shape;
    *shape = layout_shape(tensor->bits, axes->rank);
    if (has_zero(axes)) { /* [0, 2^40, 2^40] has no elements: its product must not overflow */
        for (uint32_t k = 0; k < axes->rank; k++) {
            shape->extent[tensor_dim(tensor, k)] = 0;
        }
        return true;
    }
    for (uint32_t k = 0; k < axes->rank; k++) {
        uint64_t *extent = &shape->extent[tensor_dim(tensor, k)];
        if (!checked_mul(*extent, (uint64_t)axes->dim[k], extent)) {
            return false;
        }
    }
    return true;
}

static const Contract *contract_of(const Device *device, const Tensor *tensor) {
    return device->contract[tensor->role];
}

static ViewStatus resolve(const Device *device, const Tensor *tensor, View *view, Dim *dim) {
    LayoutShape shape;
    if (!tensor_extents(tensor, &shape)) {
        return VIEW_OVERFLOW;
    }
    ViewStatus status = view_resolve(contract_of(device, tensor), &shape, view, dim);
    return status == VIEW_DONE && !view_widen(view, tensor->grain_bytes) ? VIEW_OVERFLOW : status;
}

bool tensor_view(const Device *device, const Tensor *tensor, Diags *diags, View *view) {
    Dim dim = DIM_N;
    ViewStatus status = resolve(device, tensor, view, &dim);
    if (status == VIEW_DONE) {
        return true;
    }
    Arena *arena = diags->arena;
    Str shape = shape_text(arena, tensor->shape);
    Str contract = contract_text(contract_of(device, tensor));
    const char *what = status == VIEW_UNNAMED
                           ? arena_text(arena, "the layout contract names no dimension %c", dim_letter(dim))
                           : view_status_text(status);
    return diag_refuse(
        diags,
        (DiagText){.tensor = tensor->name,
                   .what = what,
                   .got = arena_text(arena, STR_FMT " of %u bits an element", STR_ARG(shape), (unsigned)tensor->bits),
                   .expected =
                       arena_text(arena, "a shape that the %s contract '" STR_FMT "' of device '" STR_FMT "' takes",
                                  role_name(tensor->role), STR_ARG(contract), STR_ARG(device->name))});
}

bool tensor_find_view(const Device *device, const Tensor *tensor, View *view) {
    Dim dim;
    return resolve(device, tensor, view, &dim) == VIEW_DONE;
}

uint64_t buffer_start_bytes(const Plan *plan, const Buffer *buffer) {
    uint64_t start = 1;
    CHECK(checked_common_multiple(plan->device->memory[buffer->memory].align_bytes, buffer->align_bytes,
                                  &start)); /* of any device */
    return start;
}

bool buffer_find_view(const Plan *plan, const Buffer *buffer, View *view) {
    Tensor tensor = tensor_of_buffer(plan->graph, buffer);
    return tensor_find_view(plan->device, &tensor, view) && (buffer_is_worked_on(plan, buffer) || view_flatten(view));
}

bool buffer_backing_bytes(const Plan *plan, const Buffer *buffer, uint64_t *bytes) {
    View view;
    *bytes = buffer->physical_bytes;
    if (buffer->banks_used <= 1) {
        return true;
    }
    Tensor tensor = tensor_of_buffer(plan->graph, buffer);
    bool is_flat = tensor_find_view(plan->device, &tensor, &view) && view_flatten(&view);
    *bytes = view.bank_bytes;
    return is_flat || view_all_banks_bytes(buffer->physical_bytes, buffer->banks_used, bytes);
}

bool tensor_bytes(const Device *device, const Tensor *tensor, uint64_t *physical_bytes) {
    View view;
    if (!tensor_find_view(device, tensor, &view)) {
        return false;
    }
    *physical_bytes = view.bank_bytes;
    return true;
}

void tensor_axes(const Tensor *tensor, ViewAxis axes[SHAPE_MAX_RANK]) {
    for (uint32_t k = 0; k < tensor->shape->rank; k++) {
        axes[k] = (ViewAxis){(uint64_t)tensor->shape->dim[k], tensor_dim(tensor, k)};
    }
}

bool tensor_same_map(const Device *device, const Tensor *a, const Tensor *b) {
    View a_view, b_view;
    ViewAxis a_axes[SHAPE_MAX_RANK], b_axes[SHAPE_MAX_RANK];
    if (!tensor_find_view(device, a, &a_view) || !tensor_find_view(device, b, &b_view)) {
        return false;
    }
    tensor_axes(a, a_axes);
    tensor_axes(b, b_axes);
    const ViewOrder left = {&a_view, a_axes, a->shape->rank}, right = {&b_view, b_axes, b->shape->rank};
    return view_same_map(&left, &right, WALK_LIMIT);
}
