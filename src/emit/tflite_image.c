/* TFLite: the bytes of a FlatBuffer being edited: numbers, references, and tables and vectors appended to it. */
#include "emit/tflite.h"

#include "base/fault.h"

#include <string.h>

enum { VTABLE_HEADER_BYTES = 4, LARGEST_NUMBER_BYTES = 8 };

FlatImage emit_image(Work *work, size_t len) {
    FlatImage image = {.work = work, .len = len, .capacity = len};
    image.bytes = arena_array(&work->scratch, uint8_t, len);
    return image;
}

FlatTable emit_image_root(FlatImage *image) {
    FlatTable root;
    flat_open(&image->flat, (Span){image->bytes, image->len}, "TFL3", &root);
    image->flat.work_left = UINT64_MAX;
    return root;
}

static uint64_t get(const FlatImage *image, size_t at, uint32_t bytes) {
    uint64_t number = 0;
    for (uint32_t k = bytes; k > 0; k--) {
        number = number << 8 | image->bytes[at + k - 1];
    }
    return number;
}

void emit_set(FlatImage *image, size_t at, uint64_t number, uint32_t bytes) {
    CHECK(at <= image->len && bytes <= image->len - at);
    for (uint32_t k = 0; k < bytes; k++) {
        image->bytes[at + k] = (uint8_t)(number >> (8 * k));
    }
}

void emit_set_ref(FlatImage *image, size_t at, size_t target) {
    CHECK(target > at);
    emit_set(image, at, target - at, FLAT_REF_BYTES);
}

/* `bytes` zeros at the end, the first where `at + before` is a multiple of `align`; where they begin. */
static size_t append(FlatImage *image, uint64_t bytes, uint32_t before, uint32_t align) {
    size_t start = image->len;
    while ((start + before) % align != 0) {
        start++;
    }
    size_t end = start + (size_t)bytes;
    CHECK(bytes <= SIZE_MAX / 4 && start < SIZE_MAX / 4);
    if (end > image->capacity) {
        image->capacity = 2 * end;
        uint8_t *larger = arena_array(&image->work->scratch, uint8_t, image->capacity);
        memcpy(larger, image->bytes, image->len);
        image->bytes = larger;
    }
    image->len = end;
    image->flat.bytes = (Span){image->bytes, image->len};
    return start;
}

/* The field list, then the table: cells by falling size, so that each is aligned. */
size_t emit_add_table(FlatImage *image, const uint8_t *field_bytes, uint32_t slots) {
    uint32_t vtable_bytes = VTABLE_HEADER_BYTES + 2 * slots, bytes = FLAT_REF_BYTES;
    size_t vtable = append(image, vtable_bytes, 0, FLAT_REF_BYTES);
    for (uint32_t size = FLAT_REF_BYTES; size > 0; size /= 2) {
        for (uint32_t slot = 0; slot < slots; slot++) {
            if (field_bytes[slot] == size) {
                emit_set(image, vtable + VTABLE_HEADER_BYTES + 2 * (size_t)slot, bytes, 2);
                bytes += size;
            }
        }
    }
    size_t table = append(image, bytes, 0, FLAT_REF_BYTES);
    emit_set(image, vtable, vtable_bytes, 2);
    emit_set(image, vtable + 2, bytes, 2);
    emit_set(image, table, table - vtable, FLAT_REF_BYTES);
    return table;
}

/* Only of tables that emit_add_table made. */
size_t emit_field(const FlatImage *image, size_t table, uint32_t slot) {
    size_t vtable = table - (size_t)get(image, table, FLAT_REF_BYTES);
    size_t offset = (size_t)get(image, vtable + VTABLE_HEADER_BYTES + 2 * (size_t)slot, 2);
    CHECK(offset != 0);
    return table + offset;
}

void emit_set_field(FlatImage *image, size_t table, uint32_t slot, uint64_t number, uint32_t bytes) {
    emit_set(image, emit_field(image, table, slot), number, bytes);
}

size_t emit_add_vector(FlatImage *image, size_t at, uint64_t count, uint32_t element_bytes, uint32_t align) {
    CHECK(count <= UINT32_MAX && element_bytes <= LARGEST_NUMBER_BYTES);
    size_t start = append(image, FLAT_REF_BYTES + count * element_bytes, FLAT_REF_BYTES, align);
    emit_set_ref(image, at, start);
    emit_set(image, start, count, FLAT_REF_BYTES);
    return start + FLAT_REF_BYTES;
}

void emit_add_text(FlatImage *image, size_t at, Str text) {
    size_t start = emit_add_vector(image, at, text.len, 1, FLAT_REF_BYTES);
    if (text.len > 0) {
        memcpy(image->bytes + start, text.ptr, text.len);
    }
    append(image, 1, 0, 1);
}
