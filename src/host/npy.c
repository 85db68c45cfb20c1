/* Tensors in NumPy's format. Its elements are whole bytes: those below a byte are widened, with their sign. */
#include "host/npy.h"

#include "layout/packed.h"

#include <inttypes.h>
#include <string.h>

const char *npy_descr(DType dtype) {
    switch (dtype) {
    case DTYPE_F16:
        return "<f2";
    case DTYPE_F32:
        return "<f4";
    case DTYPE_F64:
        return "<f8";
    case DTYPE_BF16:
        return "<V2"; /* as the package ml_dtypes writes it */
    case DTYPE_I2:
    case DTYPE_I4:
    case DTYPE_I8:
        return "|i1";
    case DTYPE_U2:
    case DTYPE_U4:
    case DTYPE_U8:
        return "|u1";
    case DTYPE_I16:
        return "<i2";
    case DTYPE_U16:
        return "<u2";
    case DTYPE_I32:
        return "<i4";
    case DTYPE_U32:
        return "<u4";
    case DTYPE_I64:
        return "<i8";
    case DTYPE_U64:
        return "<u8";
    case DTYPE_BOOL:
        return "|b1";
    default:
        return NULL;
    }
}

uint32_t npy_bits(DType dtype) {
    return dtype_bits(dtype) < 8 ? 8 : dtype_bits(dtype);
}

/* The byte order of one byte, and of raw ones, says nothing. */
bool npy_holds(Str descr, DType dtype) {
    const char *wanted = npy_descr(dtype);
    if (wanted == NULL || descr.len != 3 || memcmp(descr.ptr + 1, wanted + 1, 2) != 0) {
        return false;
    }
    return descr.ptr[0] == wanted[0] || (descr.ptr[0] == '|' && descr.ptr[1] == 'V') ||
           (descr.ptr[2] == '1' && (descr.ptr[0] == '<' || descr.ptr[0] == '>' || descr.ptr[0] == '='));
}

bool host_is_npy(DType dtype) {
    return npy_descr(dtype) != NULL;
}

/* ---- Reading */

static bool wrong(const HostTensor *tensor, Work *work, DiagText text) {
    text.tensor = tensor->name;
    return diag_error(&work->diags, text);
}

/* NumPy cuts a float's digits off where a code would round. */
static const char *type_hint(const NpyHead *head, DType dtype, const char *wanted, Arena *arena) {
    bool has_floats = head->descr.len >= 2 && (head->descr.ptr[1] == 'f' || head->descr.ptr[1] == 'c');
    bool is_code = dtype_kind(dtype) == DTYPE_KIND_SIGNED || dtype_kind(dtype) == DTYPE_KIND_UNSIGNED;
    return has_floats && is_code
               ? arena_text(arena,
                            "codes, not numbers: quantise them, numpy.clip(numpy.rint(array / scale + zero_point), "
                            "LEAST, MOST).astype('%s'); stride0 inspect tells scale and zero point",
                            wanted)
               : arena_text(arena, "convert it with array.astype('%s')", wanted);
}

static bool check_type(const HostTensor *tensor, const NpyHead *head, Work *work) {
    Arena *arena = work->diags.arena;
    const char *wanted = npy_descr(tensor->dtype);
    if (npy_holds(head->descr, tensor->dtype)) {
        return true;
    }
    if (wanted == NULL) {
        return wrong(tensor, work,
                     (DiagText){.what = "NumPy's format has no word for the type of this input",
                                .got = dtype_name(tensor->dtype),
                                .hint = "give it as .bin or as .pb"});
    }
    bool is_swapped = str_starts(head->descr, STR(">"));
    return wrong(tensor, work,
                 (DiagText){.what = is_swapped ? "the elements of the file are big-endian or of another type"
                                               : "the elements of the file are of another type",
                            .got = arena_text(arena, STR_FMT, STR_ARG(head->descr)),
                            .expected = arena_text(arena, "%s, %s", wanted, dtype_name(tensor->dtype)),
                            .hint = type_hint(head, tensor->dtype, wanted, arena)});
}

static bool check_head(const HostTensor *tensor, const NpyHead *head, Work *work) {
    Arena *arena = work->diags.arena;
    return check_type(tensor, head, work) && (shape_eq(&head->shape, &tensor->shape) ||
                                              wrong(tensor, work,
                                                    (DiagText){.what = "the file has another shape",
                                                               .got = shape_text(arena, &head->shape).ptr,
                                                               .expected = shape_text(arena, &tensor->shape).ptr}));
}

/* Does the byte hold a number of fewer bits? */
static bool is_narrow(DType dtype, uint64_t byte) {
    uint32_t bits = dtype_bits(dtype);
    if (dtype == DTYPE_BOOL) {
        return byte <= 1;
    }
    if (bits >= 8) {
        return true;
    }
    uint64_t half = UINT64_C(1) << (bits - 1);
    return dtype_kind(dtype) == DTYPE_KIND_SIGNED ? ((byte + half) & 0xff) < 2 * half : byte < 2 * half;
}

static bool next_index(const Shape *shape, uint64_t *index) {
    for (uint32_t k = shape->rank; k-- > 0;) {
        if (++index[k] < (uint64_t)shape->dim[k]) {
            return true;
        }
        index[k] = 0;
    }
    return false;
}

/* Where the file has the element: in Fortran order the first index goes fastest. */
static uint64_t place_of(const NpyHead *head, const uint64_t *index) {
    uint64_t place = 0;
    for (uint32_t k = 0; k < head->shape.rank; k++) {
        uint32_t axis = head->is_fortran ? head->shape.rank - 1 - k : k;
        place = place * (uint64_t)head->shape.dim[axis] + index[axis];
    }
    return place;
}

static bool pack(const HostTensor *tensor, const NpyHead *head, const uint8_t *from, uint64_t elements, Work *work,
                 uint8_t *to) {
    uint64_t index[SHAPE_MAX_RANK] = {0};
    uint32_t bits = dtype_bits(tensor->dtype), file_bits = npy_bits(tensor->dtype);
    for (uint64_t k = 0; k < elements; k++, next_index(&head->shape, index)) {
        uint64_t code = packed_read(from, place_of(head, index), file_bits);
        if (!is_narrow(tensor->dtype, code)) {
            return wrong(tensor, work,
                         (DiagText){.place = arena_text(work->diags.arena, "element %" PRIu64, k),
                                    .what = "the number does not fit the type of the input",
                                    .got = arena_text(work->diags.arena, "byte 0x%02" PRIx64, code),
                                    .expected = dtype_name(tensor->dtype)});
        }
        packed_write(to, k, bits, code);
    }
    return true;
}

bool host_read_npy(const HostTensor *tensor, Span bytes, Work *work, Span *packed) {
    Arena *arena = work->diags.arena;
    NpyHead head;
    uint64_t elements = 0, file_bytes = 0, own_bytes = 0;
    if (!npy_read_head(bytes, work, &head) || !check_head(tensor, &head, work)) {
        return false;
    }
    bool fits = shape_elements(&tensor->shape, &elements) &&
                packed_bytes(elements, npy_bits(tensor->dtype), &file_bytes) &&
                packed_bytes(elements, dtype_bits(tensor->dtype), &own_bytes);
    if (!fits || bytes.len - head.data != file_bytes) {
        return wrong(tensor, work,
                     (DiagText){.what = "the file does not have the size of its shape",
                                .got = arena_text(arena, "%zu bytes of elements", bytes.len - head.data),
                                .expected = fits ? arena_text(arena, "%" PRIu64, file_bytes) : "less than 2^64",
                                .hint = "copy or write the file again"});
    }
    uint8_t *to = arena_array(&work->keep, uint8_t, (size_t)own_bytes);
    *packed = (Span){to, (size_t)own_bytes};
    return pack(tensor, &head, bytes.ptr + head.data, elements, work, to);
}

/* ---- Writing */

/* Python's tuple: "(1, 2)", "(3,)", "()". Returns its length; `out` may be null. */
static int write_shape(const Shape *shape, FILE *out) {
    char text[32];
    int length = 2;
    if (out != NULL) {
        fputc('(', out);
    }
    for (uint32_t k = 0; k < shape->rank; k++) {
        bool has_comma = k + 1 < shape->rank || shape->rank == 1;
        length += snprintf(text, sizeof text, "%" PRId64 "%s%s", shape->dim[k], has_comma ? "," : "",
                           k + 1 < shape->rank ? " " : "");
        if (out != NULL) {
            fputs(text, out);
        }
    }
    if (out != NULL) {
        fputc(')', out);
    }
    return length;
}

/* Spaces and a line feed let the elements begin at a multiple of 64, as NumPy does it. */
static void write_head(const HostTensor *tensor, FILE *out) {
    static const char before[] = "{'descr': '", between[] = "', 'fortran_order': False, 'shape': ", after[] = ", }";
    const char *descr = npy_descr(tensor->dtype);
    size_t fixed = NPY_MAGIC_BYTES + NPY_VERSION_BYTES + 2;
    size_t text = sizeof before + sizeof between + sizeof after - 3 + strlen(descr) +
                  (size_t)write_shape(&tensor->shape, NULL) + 1;
    size_t length = (fixed + text + 63) / 64 * 64 - fixed;
    fputs(NPY_MAGIC, out);
    fputc(1, out);
    fputc(0, out);
    fputc((int)(length & 0xff), out);
    fputc((int)(length >> 8), out);
    fprintf(out, "%s%s%s", before, descr, between);
    write_shape(&tensor->shape, out);
    fputs(after, out);
    fprintf(out, "%*s\n", (int)(length - text), "");
}

static uint64_t widen(DType dtype, uint64_t code) {
    uint32_t bits = dtype_bits(dtype);
    bool is_negative = bits < 8 && dtype_kind(dtype) == DTYPE_KIND_SIGNED && (code >> (bits - 1) & 1) != 0;
    return is_negative ? code | (UINT64_C(0xff) << bits & 0xff) : code;
}

void host_write_npy(const HostTensor *tensor, Span packed, FILE *out) {
    uint64_t elements = 0;
    uint32_t bits = dtype_bits(tensor->dtype), file_bits = npy_bits(tensor->dtype);
    if (npy_descr(tensor->dtype) == NULL || !shape_elements(&tensor->shape, &elements)) {
        return;
    }
    write_head(tensor, out);
    if (bits == file_bits) {
        (void)fwrite(packed.ptr, 1, packed.len, out); /* who closes the file looks for errors */
        return;
    }
    for (uint64_t k = 0; k < elements; k++) {
        fputc((int)widen(tensor->dtype, packed_read(packed.ptr, k, bits)), out);
    }
}
