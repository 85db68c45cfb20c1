/* Constants as a program holds them: the elements of the form in which far memory stores them, packed. */
#include "program/builder.h"

#include "base/fault.h"
#include "graph/collapse.h"
#include "layout/packed.h"

/* Where the element at `index` of the buffer's form stands in what the file holds: along axes on which its numbers do
 * not differ, `varying` has an extent of 1, the first stands for all. */
static uint64_t place_of(const Buffer *buffer, const Shape *held, const Shape *varying, const uint64_t *index) {
    uint32_t first = buffer->materialised_reason == NULL ? 0 : (uint32_t)buffer->start;
    uint64_t place = 0;
    for (uint32_t k = 0; k < held->rank; k++) {
        uint64_t at = varying->dim[k] == 1 ? 0 : index[first + k];
        CHECK(at < (uint64_t)held->dim[k]);
        place = place * (uint64_t)held->dim[k] + at;
    }
    return place;
}

static void next_index(const Shape *shape, uint64_t *index) {
    for (uint32_t k = shape->rank; k-- > 0;) {
        if (++index[k] < (uint64_t)shape->dim[k]) {
            return;
        }
        index[k] = 0;
    }
}

bool program_constant(const Graph *graph, const Buffer *buffer, Work *work, Span *packed) {
    const Value *value = graph_value(graph, buffer->value);
    const Const *constant = value->constant;
    uint32_t bits = dtype_bits(buffer->dtype);
    uint64_t index[SHAPE_MAX_RANK] = {0}, elements, bytes;
    if (!constant->is_known) {
        return diag_refuse(
            &work->diags,
            (DiagText){.tensor = value->name,
                       .what = "the file does not hold the numbers of this constant, which an operator reads",
                       .hint = "let the operator read the integers of the file: without --qdq float, and in the text "
                               "form with scale= "
                               "on the constant"});
    }
    CHECK(constant->stored.rank <= buffer->stored.rank && shape_elements(&buffer->stored, &elements) &&
          packed_bytes(elements, bits, &bytes));
    const Shape varying = buffer->materialised_reason == NULL ? constant->stored : const_smallest(value);
    uint8_t *to = arena_array(&work->keep, uint8_t, bytes);
    for (uint64_t k = 0; k < elements; k++) {
        for (uint32_t done = 0; done < bits; done += 64) {
            uint32_t part = bits - done < 64 ? bits - done : 64;
            CHECK(bits <= 64 || bits % 64 == 0);
            uint64_t units = bits <= 64 ? 1 : bits / 64;
            uint64_t from = place_of(buffer, &constant->stored, &varying, index) * units + done / 64;
            packed_write(to, k * units + done / 64, part, packed_read(constant->bytes.ptr, from, part));
        }
        next_index(&buffer->stored, index);
    }
    *packed = (Span){to, (size_t)bytes};
    return true;
}
