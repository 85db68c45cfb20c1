/* Parsing shapes and indices. */
#include "cli/shape_text.h"

#include <inttypes.h>
#include <string.h>

/* A text being read part by part, and what it is called in messages. */
typedef struct {
    Work *work;
    const char *name; /* "SHAPE" */
    Str whole, rest;
    uint32_t column;  /* of the part read last */
    const char *hint; /* for whatever is wrong, or null */
} Reader;

static Str next_part(Reader *reader, char separator) {
    reader->column = (uint32_t)(reader->rest.ptr - reader->whole.ptr) + 1;
    return str_cut(&reader->rest, separator);
}

static bool wrong(const Reader *reader, const char *what, Str got, const char *expected) {
    Arena *arena = &reader->work->keep;
    return diag_error(&reader->work->diags,
                      (DiagText){.place = arena_text(arena, "%s, column %" PRIu32, reader->name, reader->column),
                                 .what = what,
                                 .got = got.len == 0 ? "nothing" : arena_text(arena, "'" STR_FMT "'", STR_ARG(got)),
                                 .expected = expected,
                                 .hint = reader->hint,
                                 .excerpt = reader->whole,
                                 .column = reader->column});
}

/* Cuts the letter off `part`; false where it begins with none. */
static bool take_letter(Str *part, Dim *dim) {
    for (int k = 0; k < DIM_COUNT && part->len > 0; k++) {
        if (dim_letter((Dim)k) == part->ptr[0]) {
            *dim = (Dim)k;
            *part = (Str){part->ptr + 1, part->len - 1};
            return true;
        }
    }
    return false;
}

static bool is_named(const NamedShape *named, Dim dim) {
    for (uint32_t k = 0; k < named->count; k++) {
        if (named->dim[k] == dim) {
            return true;
        }
    }
    return false;
}

static bool parse_extent(Reader *reader, NamedShape *named, uint32_t *letter_count) {
    Str part = next_part(reader, 'x');
    Str number = part;
    Dim dim = DIM_N;
    uint64_t extent;
    bool has_letter = take_letter(&number, &dim);
    if (named->count == DIM_COUNT) {
        return wrong(reader, "too many dimensions", part, "at most the six N C H W O I");
    }
    if (!str_to_u64(number, &extent)) {
        return wrong(reader, "not an extent", part, "a number, or one of the letters N C H W O I and a number");
    }
    if (has_letter && is_named(named, dim)) {
        return wrong(reader, "the dimension stands twice", part, "each letter once");
    }
    named->column[named->count] = reader->column;
    named->dim[named->count] = dim;
    named->shape.extent[has_letter ? dim : (Dim)named->count] = extent;
    named->count++;
    *letter_count += has_letter;
    return true;
}

/* Names for extents without letters: position alone tells them. */
static bool name_by_position(Reader *reader, NamedShape *named) {
    if (named->count == 1) {
        named->dim[0] = DIM_C;
        named->shape.extent[DIM_C] = named->shape.extent[0];
        named->shape.extent[DIM_N] = 1;
        return true;
    }
    reader->column = 1;
    if (named->count != 4) {
        return wrong(reader, "the dimensions can't be told", reader->whole,
                     "four extents (N C H W), one (C), or a letter before each: O16xI12xH3xW3");
    }
    for (int k = 0; k < 4; k++) {
        named->dim[k] = (Dim)k;
    }
    return true;
}

/* [1,48,48,16] and 1*48*48*16 are shapes too, in other notations: how they are written here. Null where `text` is none
 * of them. */
static const char *notation_hint(Arena *arena, const char *text) {
    char *shape = arena_alloc(arena, strlen(text) + 1, 1);
    size_t length = 0;
    for (; *text != '\0'; text++) {
        if (strchr("[](){} ", *text) == NULL) {
            shape[length++] = strchr(",;*X", *text) == NULL ? *text : 'x';
        }
    }
    bool is_shape = length > 0 && shape[0] != 'x' && shape[length - 1] != 'x' && strstr(shape, "xx") == NULL &&
                    strspn(shape, "0123456789xNCHWOI") == length;
    return is_shape ? arena_text(arena, "write %s", shape) : NULL;
}

bool cli_parse_shape(Work *work, const char *text, uint32_t bits, NamedShape *named) {
    Reader reader = {.work = work, .name = "SHAPE", .whole = str_from(text), .rest = str_from(text)};
    uint32_t letter_count = 0;
    if (strpbrk(text, "[](){} ,;*X") != NULL) {
        reader.hint = notation_hint(&work->keep, text);
    }
    *named = (NamedShape){.shape = layout_shape(bits, 0)};
    while (reader.rest.ptr != NULL) {
        if (!parse_extent(&reader, named, &letter_count)) {
            return false;
        }
    }
    named->shape.rank = named->count;
    if (letter_count == named->count) {
        return true;
    }
    if (letter_count > 0) {
        reader.column = 1;
        return wrong(&reader, "some dimensions have a letter and some have none", reader.whole, "all or none");
    }
    return name_by_position(&reader, named);
}

bool cli_parse_index(Work *work, const char *text, const NamedShape *named, uint64_t index[DIM_COUNT]) {
    Reader reader = {.work = work, .name = "--address", .whole = str_from(text), .rest = str_from(text)};
    uint32_t count = 0;
    for (int dim = 0; dim < DIM_COUNT; dim++) {
        index[dim] = 0;
    }
    while (reader.rest.ptr != NULL) {
        Str part = next_part(&reader, ',');
        if (count == named->count) {
            return wrong(&reader, "more indices than dimensions", part, "an index for each dimension of SHAPE");
        }
        Dim dim = named->dim[count++];
        if (!str_to_u64(part, &index[dim]) || index[dim] >= named->shape.extent[dim]) {
            return wrong(&reader, "not an index of this dimension", part,
                         arena_text(&work->keep, "a number below %" PRIu64 ", the extent of %c",
                                    named->shape.extent[dim], dim_letter(dim)));
        }
    }
    return count == named->count || wrong(&reader, "fewer indices than dimensions", reader.whole,
                                          "an index for each dimension of SHAPE, such as 0,3,7,1");
}

uint32_t cli_shape_column(const NamedShape *named, Dim dim) {
    for (uint32_t k = 0; k < named->count; k++) {
        if (named->dim[k] == dim) {
            return named->column[k];
        }
    }
    return 1;
}
