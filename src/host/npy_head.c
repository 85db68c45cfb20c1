/* The head of a file in NumPy's format: a magic number, a version, a length, and the text of a Python dictionary with
 * the keys descr, fortran_order and shape (numpy.lib.format). Only what NumPy itself writes is read: strings without
 * escapes, True and False, a tuple of whole numbers. */
#include "host/npy.h"

#include <inttypes.h>
#include <string.h>

/* A reader of the dictionary: what is left, and where it began. */
typedef struct {
    Str rest;
    const char *begin;
    size_t offset; /* of `begin` in the file */
    Work *work;
} Scan;

static bool wrong(const Scan *scan, const char *what, const char *got, const char *expected) {
    size_t at = scan->offset + (size_t)(scan->rest.ptr - scan->begin);
    return diag_error(&scan->work->diags, (DiagText){.place = arena_text(scan->work->diags.arena, "byte %zu", at),
                                                     .what = what,
                                                     .got = got,
                                                     .expected = expected,
                                                     .hint = "write the file again with numpy.save"});
}

static bool unreadable(const Scan *scan, const char *expected) {
    return wrong(scan, "the head of the NumPy file can't be read", NULL, expected);
}

static void skip_space(Scan *scan) {
    while (scan->rest.len > 0 && str_is_space(*scan->rest.ptr)) {
        scan->rest.ptr++;
        scan->rest.len--;
    }
}

static bool take(Scan *scan, Str word) {
    skip_space(scan);
    if (!str_starts(scan->rest, word)) {
        return false;
    }
    scan->rest.ptr += word.len;
    scan->rest.len -= word.len;
    return true;
}

static bool take_string(Scan *scan, Str *text) {
    skip_space(scan);
    if (scan->rest.len == 0 || (*scan->rest.ptr != '\'' && *scan->rest.ptr != '"')) {
        return unreadable(scan, "a string in quotes: arrays of records are not read");
    }
    Str rest = {scan->rest.ptr + 1, scan->rest.len - 1};
    const char *end = memchr(rest.ptr, *scan->rest.ptr, rest.len);
    if (end == NULL) {
        return unreadable(scan, "the end of the string");
    }
    *text = (Str){rest.ptr, (size_t)(end - rest.ptr)};
    scan->rest = (Str){end + 1, rest.len - text->len - 1};
    return true;
}

static bool take_bool(Scan *scan, bool *value) {
    *value = take(scan, STR("True"));
    return *value || take(scan, STR("False")) || unreadable(scan, "True or False");
}

static bool take_extent(Scan *scan, Shape *shape) {
    Str digits = {scan->rest.ptr, 0};
    uint64_t extent;
    while (digits.len < scan->rest.len && digits.ptr[digits.len] >= '0' && digits.ptr[digits.len] <= '9') {
        digits.len++;
    }
    if (!str_to_u64(digits, &extent) || extent > INT64_MAX) {
        return unreadable(scan, "an extent that fits 63 bits");
    }
    if (shape->rank == SHAPE_MAX_RANK) {
        return unreadable(scan, "at most 8 dimensions");
    }
    shape->dim[shape->rank++] = (int64_t)extent;
    return take(scan, digits);
}

static bool take_shape(Scan *scan, Shape *shape) {
    *shape = (Shape){0};
    if (!take(scan, STR("("))) {
        return unreadable(scan, "a tuple of extents");
    }
    while (!take(scan, STR(")"))) {
        skip_space(scan);
        if (!take_extent(scan, shape)) {
            return false;
        }
        skip_space(scan);
        bool is_last = scan->rest.len > 0 && *scan->rest.ptr == ')';
        if (!is_last && !take(scan, STR(","))) {
            return unreadable(scan, "a comma or the end of the tuple");
        }
    }
    return true;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

static bool take_member(Scan *scan, NpyHead *head, int *has) {
    Str key;
    if (!take_string(scan, &key)) {
        return false;
    }
    int which = str_eq(key, STR("descr"))           ? HAS_DESCR
                : str_eq(key, STR("fortran_order")) ? HAS_ORDER
                : str_eq(key, STR("shape"))         ? HAS_SHAPE
                                                    : 0;
    if (which == 0 || (*has & which) != 0) {
        return unreadable(scan, "descr, fortran_order and shape, each once");
    }
    *has |= which;
    if (!take(scan, STR(":"))) {
        return unreadable(scan, "a colon");
    }
    return which == HAS_DESCR   ? take_string(scan, &head->descr)
           : which == HAS_ORDER ? take_bool(scan, &head->is_fortran)
                                : take_shape(scan, &head->shape);
}

static bool take_dictionary(Scan *scan, NpyHead *head) {
    int has = 0;
    if (!take(scan, STR("{"))) {
        return unreadable(scan, "a dictionary");
    }
    while (!take(scan, STR("}"))) {
        if (!take_member(scan, head, &has)) {
            return false;
        }
        skip_space(scan);
        bool is_last = scan->rest.len > 0 && *scan->rest.ptr == '}';
        if (!is_last && !take(scan, STR(","))) {
            return unreadable(scan, "a comma or the end of the dictionary");
        }
    }
    skip_space(scan);
    return (has == HAS_ALL && scan->rest.len == 0) || unreadable(scan, "descr, fortran_order and shape, and no more");
}

/* Bytes of the length field of a version; 0 where there is no such version. */
static size_t length_bytes(uint8_t major) {
    return major == 1 ? 2 : major == 2 || major == 3 ? 4 : 0;
}

bool npy_read_head(Span bytes, Work *work, NpyHead *head) {
    const char *text = (const char *)bytes.ptr;
    Scan scan = {.rest = {text, bytes.len}, .begin = text, .work = work};
    size_t fixed = NPY_MAGIC_BYTES + NPY_VERSION_BYTES, length = 0;
    if (bytes.len < fixed || memcmp(bytes.ptr, NPY_MAGIC, NPY_MAGIC_BYTES) != 0) {
        return wrong(&scan, "the file is not in NumPy's format", NULL, "\\x93NUMPY at its beginning");
    }
    size_t field = length_bytes(bytes.ptr[NPY_MAGIC_BYTES]);
    if (field == 0) {
        return wrong(&scan, "the version of the NumPy file is not known",
                     arena_text(work->diags.arena, "%d", bytes.ptr[NPY_MAGIC_BYTES]), "1, 2 or 3");
    }
    if (bytes.len < fixed + field) {
        return wrong(&scan, "the NumPy file ends in its head", NULL, NULL);
    }
    for (size_t k = field; k-- > 0;) {
        length = length << 8 | bytes.ptr[fixed + k];
    }
    head->data = fixed + field + length;
    if (length > bytes.len - fixed - field) {
        return wrong(&scan, "the NumPy file ends in its head",
                     arena_text(work->diags.arena, "%zu bytes", bytes.len - fixed - field),
                     arena_text(work->diags.arena, "%zu bytes", length));
    }
    scan.offset = fixed + field;
    scan.begin = text + scan.offset;
    scan.rest = (Str){scan.begin, length};
    return take_dictionary(&scan, head);
}
