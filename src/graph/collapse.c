/* Which axes of a constant repeat, and its elements without the repeats. */
#include "graph/collapse.h"

#include "base/fault.h"
#include "layout/packed.h"

/* Does every slice along `axis` hold what the first one holds? */
static bool repeats_along(const Shape *shape, uint32_t axis, Span bytes, uint32_t bits) {
    uint64_t outer = 1;
    uint64_t inner = 1;
    uint64_t extent = (uint64_t)shape->dim[axis];
    for (uint32_t k = 0; k < axis; k++) {
        outer *= (uint64_t)shape->dim[k];
    }
    for (uint32_t k = axis + 1; k < shape->rank; k++) {
        inner *= (uint64_t)shape->dim[k];
    }
    for (uint64_t o = 0; o < outer; o++) {
        uint64_t first = o * extent * inner;
        for (uint64_t i = 1; i < extent; i++) {
            if (!packed_same(bytes.ptr, bits, inner, first, first + i * inner)) {
                return false;
            }
        }
    }
    return true;
}

Shape const_smallest(const Value *value) {
    const Const *constant = value->constant;
    Shape stored = constant->stored;
    uint32_t bits = dtype_bits(value->dtype);
    uint64_t elements;
    if (!constant->is_known || bits == 0 || !shape_elements(&stored, &elements) || elements <= 1) {
        return stored;
    }
    Shape smallest = stored;
    for (uint32_t axis = 0; axis < stored.rank; axis++) {
        if (stored.dim[axis] > 1 && repeats_along(&stored, axis, constant->bytes, bits)) {
            smallest.dim[axis] = 1;
        }
    }
    return smallest;
}

/* Position of element `index` of the smaller shape among the stored ones, both row-major. */
static uint64_t stored_index(const Shape *stored, const Shape *smallest, uint64_t index) {
    uint64_t at = 0;
    uint64_t stride = 1;
    for (uint32_t k = stored->rank; k-- > 0;) {
        uint64_t extent = (uint64_t)smallest->dim[k];
        at += index % extent * stride;
        index /= extent;
        stride *= (uint64_t)stored->dim[k];
    }
    return at;
}

Span const_collapse(const Value *value, const Shape *smallest, Arena *keep) {
    const Const *constant = value->constant;
    uint32_t bits = dtype_bits(value->dtype);
    uint64_t elements = 0;
    uint64_t bytes = 0;
    CHECK(constant->is_known && shape_elements(smallest, &elements) && packed_bytes(elements, bits, &bytes));
    uint8_t *packed = arena_array(keep, uint8_t, (size_t)bytes);
    for (uint64_t i = 0; i < elements; i++) {
        uint64_t from = stored_index(&constant->stored, smallest, i);
        packed_write(packed, i, bits, packed_read(constant->bytes.ptr, from, bits));
    }
    return (Span){packed, (size_t)bytes};
}
