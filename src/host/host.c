/* Reading a tensor from a file, by its ending; values by chance; names of files. */
#include "host/host.h"

#include "layout/packed.h"

#include <inttypes.h>
#include <string.h>

const char *host_text(Arena *arena, DType dtype, const Shape *shape) {
    return arena_text(arena, "%s %s", dtype_name(dtype), shape_text(arena, shape).ptr);
}

/* ---- Reading */

static bool packed_size(const HostTensor *tensor, uint64_t *elements, uint64_t *bytes) {
    return shape_elements(&tensor->shape, elements) && packed_bytes(*elements, dtype_bits(tensor->dtype), bytes);
}

static bool read_bin(const HostTensor *tensor, Span bytes, Work *work, Span *packed) {
    Arena *arena = work->diags.arena;
    uint64_t elements, expected = 0;
    bool fits = packed_size(tensor, &elements, &expected);
    *packed = bytes;
    return (fits && expected == bytes.len) ||
           diag_error(&work->diags,
                      (DiagText){.tensor = tensor->name,
                                 .what = "the file does not have the size of the tensor",
                                 .got = arena_text(arena, "%zu bytes", bytes.len),
                                 .expected = arena_text(arena, "%" PRIu64 " bytes for %s", expected,
                                                        host_text(arena, tensor->dtype, &tensor->shape))});
}

static bool read_pb(const HostTensor *tensor, Span bytes, const char *path, ModelFiles *files, Work *work,
                    Span *packed) {
    Value value;
    if (!import_tensor(work, bytes, path, files, &value)) {
        return false;
    }
    *packed = value.constant->bytes;
    return (value.dtype == tensor->dtype && shape_eq(&value.shape, &tensor->shape)) ||
           diag_error(&work->diags,
                      (DiagText){.tensor = tensor->name,
                                 .what = "the file holds another type or shape",
                                 .got = host_text(work->diags.arena, value.dtype, &value.shape),
                                 .expected = host_text(work->diags.arena, tensor->dtype, &tensor->shape)});
}

bool host_read(const HostTensor *tensor, const char *path, ModelFiles *files, Work *work, Span *packed) {
    Str name = str_from(path);
    work->diags.file = path;
    FileMap *map = import_add_file(&work->keep, files, name);
    if (!file_map(map, path, &work->diags)) {
        return false;
    }
    Span bytes = map->bytes;
    if (str_ends(name, STR(".npy"))) {
        return host_read_npy(tensor, bytes, work, packed);
    }
    if (str_ends(name, STR(".pb"))) {
        return read_pb(tensor, bytes, path, files, work, packed);
    }
    return str_ends(name, STR(".bin"))
               ? read_bin(tensor, bytes, work, packed)
               : diag_error(&work->diags, (DiagText){.what = "the ending of the file tells no format",
                                                     .expected = ".npy, .pb (an ONNX TensorProto) or .bin"});
}

/* ---- By chance */

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t next_random(uint64_t *state) {
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Bits of the fraction of a float; 0 of other types. */
static uint32_t fraction_bits(DType dtype) {
    return dtype == DTYPE_F32 ? 23 : dtype == DTYPE_F16 ? 10 : dtype == DTYPE_BF16 ? 7 : dtype == DTYPE_F64 ? 52 : 0;
}

/* The float m / 2^fraction for a whole m in [-2^fraction, 2^fraction): exact. */
static uint64_t random_float(uint64_t random, DType dtype) {
    uint32_t bits = dtype_bits(dtype), fraction = fraction_bits(dtype);
    uint64_t one = UINT64_C(1) << fraction, bias = (UINT64_C(1) << (bits - fraction - 2)) - 1;
    uint64_t drawn = random & (2 * one - 1); /* m + one */
    uint64_t magnitude = drawn >= one ? drawn - one : one - drawn, shift = 0;
    if (magnitude == 0) {
        return 0;
    }
    while ((magnitude << shift & one) == 0) {
        shift++;
    }
    uint64_t exponent = bias - shift; /* of float16 at least 5 */
    uint64_t sign = drawn < one ? UINT64_C(1) << (bits - 1) : 0;
    return sign | exponent << fraction | ((magnitude << shift) & (one - 1));
}

Span host_seeded(const HostTensor *tensor, uint64_t seed, Arena *arena) {
    uint64_t elements = 0, bytes = 0, state = str_hash(tensor->name, seed);
    uint32_t bits = dtype_bits(tensor->dtype);
    if (!packed_size(tensor, &elements, &bytes)) {
        return (Span){NULL, 0};
    }
    uint8_t *to = arena_array(arena, uint8_t, (size_t)bytes);
    for (uint64_t k = 0; bits <= 64 && k < elements; k++) {
        uint64_t code = next_random(&state);
        code = fraction_bits(tensor->dtype) > 0 ? random_float(code, tensor->dtype)
               : tensor->dtype == DTYPE_BOOL    ? code >> 63
                                                : code >> (64 - bits);
        packed_write(to, k, bits, code);
    }
    return (Span){to, (size_t)bytes};
}

/* ---- Names */

static bool is_safe(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-';
}

static bool is_taken(const char *name, const char *const *taken, size_t count) {
    for (size_t k = 0; k < count; k++) {
        if (strcmp(name, taken[k]) == 0) {
            return true;
        }
    }
    return false;
}

const char *host_file_name(Arena *arena, Str name, const char *const *taken, size_t count) {
    enum { MOST = 200 }; /* so that an ending and a number stay below the 255 of most file systems */
    size_t length = name.len > MOST ? MOST : name.len;
    char *safe = arena_array(arena, char, length + 2);
    for (size_t k = 0; k < length; k++) {
        bool is_hidden = k == 0 && (name.ptr[k] == '.' || name.ptr[k] == '-');
        safe[k] = is_safe(name.ptr[k]) && !is_hidden ? name.ptr[k] : '_';
    }
    safe[0] = length == 0 ? '_' : safe[0];
    const char *found = safe;
    for (size_t number = 2; is_taken(found, taken, count); number++) {
        found = arena_text(arena, "%s-%zu", safe, number);
    }
    return found;
}
