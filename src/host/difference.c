/* Differences of elements: codes are put in the order of their numbers, then subtracted. */
#include "host/difference.h"

#include "base/fault.h"
#include "layout/packed.h"

#include <inttypes.h>
#include <math.h>

/* A complex number is two floats. */
typedef struct {
    DType dtype;
    uint32_t bits, parts;
} Part;

static Part part_of(DType dtype) {
    uint32_t bits = dtype_bits(dtype);
    if (dtype_kind(dtype) == DTYPE_KIND_COMPLEX) {
        return (Part){bits == 64 ? DTYPE_F32 : DTYPE_F64, bits / 2, 2};
    }
    return (Part){dtype, bits, 1};
}

/* Floats whose codes are read as numbers. */
static bool is_number(DType dtype) {
    return dtype == DTYPE_F64 || dtype == DTYPE_F32 || dtype == DTYPE_F16 || dtype == DTYPE_BF16;
}

static bool is_nan(DType dtype, uint64_t code) {
    return is_number(dtype) && isnan(dtype_float(dtype, code));
}

/* Codes in the order of the numbers that they stand for. */
static uint64_t rank(DType dtype, uint64_t code) {
    uint64_t sign = (uint64_t)1 << (dtype_bits(dtype) - 1), all = sign | (sign - 1);
    switch (dtype_kind(dtype)) {
    case DTYPE_KIND_SIGNED:
        return code ^ sign;
    case DTYPE_KIND_FLOAT:
        return (code & sign) != 0 ? ~code & all : code | sign;
    default:
        return code;
    }
}

uint64_t host_distance(DType dtype, uint64_t a, uint64_t b) {
    uint64_t rank_a = rank(dtype, a), rank_b = rank(dtype, b);
    return rank_a > rank_b ? rank_a - rank_b : rank_b - rank_a;
}

/* As numbers; equal infinities are not apart. */
static double apart_of(DType dtype, uint64_t a, uint64_t b) {
    return a == b || !is_number(dtype) ? 0 : fabs(dtype_float(dtype, a) - dtype_float(dtype, b));
}

/* Of one element. Is it more than allowed? */
static bool add_element(const Part *part, const uint64_t *got, const uint64_t *expected, HostTolerance tolerance,
                        HostDifference *found) {
    bool differs = false;
    for (uint32_t p = 0; p < part->parts; p++) {
        bool got_nan = is_nan(part->dtype, got[p]), expected_nan = is_nan(part->dtype, expected[p]);
        uint64_t by = got_nan || expected_nan ? 0 : host_distance(part->dtype, got[p], expected[p]);
        double apart = got_nan || expected_nan ? 0 : apart_of(part->dtype, got[p], expected[p]);
        bool is_near = by <= tolerance.steps || (is_number(part->dtype) && apart <= tolerance.apart);
        found->has_nan = found->has_nan || got_nan != expected_nan;
        found->largest = by > found->largest ? by : found->largest;
        found->apart = apart > found->apart ? apart : found->apart;
        differs = differs || got_nan != expected_nan || !is_near;
    }
    return differs;
}

HostDifference host_difference(const HostTensor *tensor, Span got, Span expected, HostTolerance tolerance) {
    const Part part = part_of(tensor->dtype);
    HostDifference found = {0};
    CHECK(part.bits >= 1 && part.bits <= 64 && got.len == expected.len);
    CHECK(shape_elements(&tensor->shape, &found.elements));
    for (uint64_t k = 0; k < found.elements; k++) {
        uint64_t a[2] = {0}, b[2] = {0};
        for (uint32_t p = 0; p < part.parts; p++) {
            a[p] = packed_read(got.ptr, k * part.parts + p, part.bits);
            b[p] = packed_read(expected.ptr, k * part.parts + p, part.bits);
        }
        if (add_element(&part, a, b, tolerance, &found)) {
            found.first = found.different == 0 ? k : found.first;
            found.different++;
        }
    }
    return found;
}

const char *host_difference_unit(DType dtype) {
    DTypeKind kind = dtype_kind(part_of(dtype).dtype);
    return kind == DTYPE_KIND_FLOAT ? "ulp" : "codes";
}

/* ---- For people */

static const char *number_text(DType dtype, uint64_t code, Arena *arena) {
    uint64_t sign = (uint64_t)1 << (dtype_bits(dtype) - 1);
    if (is_number(dtype)) {
        return arena_text(arena, dtype == DTYPE_F64 ? "%.17g" : "%.9g", dtype_float(dtype, code));
    }
    if (dtype_kind(dtype) == DTYPE_KIND_SIGNED && (code & sign) != 0) {
        return arena_text(arena, "-%" PRIu64, sign - (code & (sign - 1)));
    }
    return dtype_kind(dtype) == DTYPE_KIND_FLOAT ? arena_text(arena, "0x%" PRIx64, code)
                                                 : arena_text(arena, "%" PRIu64, code);
}

const char *host_element_text(const HostTensor *tensor, Span packed, uint64_t k, Arena *arena) {
    const Part part = part_of(tensor->dtype);
    const char *text[2] = {"", ""};
    for (uint32_t p = 0; p < part.parts; p++) {
        text[p] = number_text(part.dtype, packed_read(packed.ptr, k * part.parts + p, part.bits), arena);
    }
    return part.parts == 1 ? text[0] : arena_text(arena, "(%s, %s)", text[0], text[1]);
}

const char *host_index_text(const Shape *shape, uint64_t k, Arena *arena) {
    const char *text = "";
    for (uint32_t d = shape->rank; d-- > 0;) {
        uint64_t extent = (uint64_t)shape->dim[d];
        text = arena_text(arena, "%" PRIu64 "%s%s", k % extent, text[0] == '\0' ? "" : ",", text);
        k /= extent;
    }
    return arena_text(arena, "[%s]", text);
}
