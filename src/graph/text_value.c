/* Types, flags and data of values in the text form. */
#include "graph/text_value.h"

#include "base/fault.h"
#include "layout/packed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers */

static bool number_from_text(Str text, bool is_single, double *number) {
    char copy[64]; /* longer than any number that stands for itself */
    if (text.len == 0 || text.len >= sizeof copy) {
        return false;
    }
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    char *end;
    *number = is_single ? (double)strtof(copy, &end) : strtod(copy, &end);
    bool overflows = isinf(*number) && strpbrk(copy, "iI") == NULL;
    return end == copy + text.len && !overflows;
}

static bool take_float(Lexer *lexer, bool is_single, double *number) {
    if (lexer->token.kind != TOKEN_WORD || !number_from_text(lexer->token.text, is_single, number)) {
        return lex_error(lexer, is_single ? "not a number of float32" : "not a number of float64", "a number");
    }
    lex_next(lexer);
    return true;
}

bool lex_single(Lexer *lexer, double *number) {
    return take_float(lexer, true, number);
}

bool lex_double(Lexer *lexer, double *number) {
    return take_float(lexer, false, number);
}

/* ---- Types */

static bool is_name(const Lexer *lexer) {
    return lexer->token.kind == TOKEN_WORD || lexer->token.kind == TOKEN_QUOTED;
}

/* 4, ?, batch or 4:batch. */
static bool read_dim(Lexer *lexer, int64_t *extent, Str *name) {
    *extent = DIM_FREE;
    *name = (Str){0};
    if (lex_take_mark(lexer, '?')) {
        return true;
    }
    bool has_name = true;
    if (lexer->token.kind == TOKEN_WORD && str_to_i64(lexer->token.text, extent)) {
        if (*extent < 0) {
            return lex_error(lexer, "a negative extent", "0 or more");
        }
        lex_next(lexer);
        has_name = lex_take_mark(lexer, ':');
    }
    if (!has_name) {
        return true;
    }
    if (!is_name(lexer)) {
        return lex_error(lexer, "not a dimension", "a number, ?, a name, or a number : a name");
    }
    *name = lexer->token.text;
    lex_next(lexer);
    return true;
}

static bool read_shape(Lexer *lexer, Shape *shape, Str names[SHAPE_MAX_RANK]) {
    *shape = (Shape){0};
    if (!lex_expect(lexer, '[')) {
        return false;
    }
    while (!lex_is_mark(lexer, ']')) {
        if (shape->rank == SHAPE_MAX_RANK) {
            return lex_error(lexer, "too many dimensions", "8 at most");
        }
        if (shape->rank > 0 && !lex_expect(lexer, ',')) {
            return false;
        }
        if (!read_dim(lexer, &shape->dim[shape->rank], &names[shape->rank])) {
            return false;
        }
        shape->rank++;
    }
    lex_next(lexer);
    return true;
}

static void keep_dim_names(Lexer *lexer, Value *value, const Str names[SHAPE_MAX_RANK]) {
    bool has_any = false;
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        has_any = has_any || names[k].len > 0;
    }
    if (has_any) {
        Str *kept = arena_array(&lexer->work->keep, Str, value->shape.rank);
        memcpy(kept, names, value->shape.rank * sizeof *kept);
        value->dim_name = kept;
    }
}

static bool read_type(Lexer *lexer, Value *value) {
    DType dtype = lexer->token.kind == TOKEN_WORD ? dtype_find(lexer->token.text) : DTYPE_NONE;
    if (dtype == DTYPE_NONE && !lex_is_mark(lexer, '?')) {
        return true; /* no type; what stands here is a flag, or wrong as one */
    }
    value->dtype = dtype;
    lex_next(lexer);
    if (!lex_is_mark(lexer, '[')) {
        return true;
    }
    Str names[SHAPE_MAX_RANK] = {{0}};
    value->has_shape = true;
    if (!read_shape(lexer, &value->shape, names)) {
        return false;
    }
    keep_dim_names(lexer, value, names);
    return true;
}

/* ---- Flags */

typedef struct {
    Quant quant;
    bool has_quant, has_list, has_zero, has_axis;
    uint32_t zero_count;
    bool has_stored;
    Shape stored;
} Flags;

static bool read_scales(Lexer *lexer, Value *value, Flags *flags) {
    (void)value;
    Arena *keep = &lexer->work->keep;
    flags->has_list = lex_take_mark(lexer, '[');
    flags->has_quant = true;
    float *scales = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    while (!flags->has_list || !lex_is_mark(lexer, ']')) {
        double scale;
        if ((count > 0 && !lex_expect(lexer, ',')) || !lex_single(lexer, &scale)) {
            return false;
        }
        scales = arena_grow(keep, scales, count, &capacity, sizeof *scales);
        scales[count++] = (float)scale;
        if (!flags->has_list) {
            break;
        }
    }
    flags->quant.scale = scales;
    flags->quant.count = count;
    return !flags->has_list || lex_expect(lexer, ']');
}

static bool read_zeros(Lexer *lexer, Value *value, Flags *flags) {
    (void)value;
    bool is_list = lex_take_mark(lexer, '[');
    int64_t *zeros = NULL;
    size_t capacity = 0;
    uint32_t count = 0;
    while (!is_list || !lex_is_mark(lexer, ']')) {
        int64_t zero;
        if ((count > 0 && !lex_expect(lexer, ',')) || !lex_int(lexer, &zero)) {
            return false;
        }
        zeros = arena_grow(&lexer->work->keep, zeros, count, &capacity, sizeof *zeros);
        zeros[count++] = zero;
        if (!is_list) {
            break;
        }
    }
    flags->has_zero = true;
    flags->zero_count = count;
    flags->quant.zero_point = zeros;
    return !is_list || lex_expect(lexer, ']');
}

static bool read_small_int(Lexer *lexer, int64_t least, int64_t *number) {
    Lexer before = *lexer;
    if (!lex_int(lexer, number)) {
        return false;
    }
    if (*number < least || *number > INT32_MAX) {
        return lex_error(&before, "the number is out of range",
                         arena_text(lexer->work->diags.arena, "%" PRId64 " to %d", least, INT32_MAX));
    }
    return true;
}

static bool read_axis(Lexer *lexer, Value *value, Flags *flags) {
    (void)value;
    int64_t axis;
    if (!read_small_int(lexer, 0, &axis)) {
        return false;
    }
    flags->has_axis = true;
    flags->quant.axis = (int32_t)axis;
    return true;
}

static bool read_block_size(Lexer *lexer, Value *value, Flags *flags) {
    (void)value;
    int64_t block;
    if (!read_small_int(lexer, 1, &block)) {
        return false;
    }
    flags->quant.block = (uint32_t)block;
    return true;
}

static bool read_dim_letters(Lexer *lexer, Value *value, Flags *flags) {
    (void)flags;
    static const char letters[] = "NCHWOI";
    Str text = lexer->token.text;
    bool sound = lexer->token.kind == TOKEN_WORD && text.len == value->shape.rank;
    for (size_t k = 0; sound && k < text.len; k++) {
        const char *letter = memchr(letters, text.ptr[k], DIM_COUNT);
        sound = letter != NULL;
        value->dims[k] = sound ? (uint8_t)(letter - letters) : 0;
    }
    if (!sound) {
        return lex_error(lexer, "not the names of this tensor's axes", "a letter of NCHWOI for each axis");
    }
    lex_next(lexer);
    return true;
}

/* stored [1,C,1,1] */
static bool read_stored(Lexer *lexer, Flags *flags) {
    Str names[SHAPE_MAX_RANK] = {{0}};
    flags->has_stored = true;
    return read_shape(lexer, &flags->stored, names);
}

typedef bool (*ReadFlag)(Lexer *lexer, Value *value, Flags *flags);

static const struct {
    const char *name;
    ReadFlag read;
} valued_flags[] = {
    {"scale", read_scales},     {"zero", read_zeros},       {"axis", read_axis},
    {"block", read_block_size}, {"dims", read_dim_letters},
};

/* Leaves the lexer behind the `=` of NAME=; null, and the lexer where it was, where no such flag stands here. */
static ReadFlag take_valued_flag(Lexer *lexer) {
    for (size_t k = 0; k < sizeof valued_flags / sizeof valued_flags[0]; k++) {
        Lexer ahead = *lexer;
        if (lex_take_word(&ahead, valued_flags[k].name) && lex_take_mark(&ahead, '=')) {
            *lexer = ahead;
            return valued_flags[k].read;
        }
    }
    return NULL;
}

static bool read_flag(Lexer *lexer, Value *value, Flags *flags) {
    if (lex_take_word(lexer, "state")) {
        value->is_state = true;
        return true;
    }
    if (lex_take_word(lexer, "sequence")) {
        value->is_sequence = true;
        return true;
    }
    if (lex_take_word(lexer, "stored")) {
        return read_stored(lexer, flags);
    }
    ReadFlag read = take_valued_flag(lexer);
    if (read != NULL) {
        return read(lexer, value, flags);
    }
    return lex_error(lexer, "neither a type nor a flag of a value",
                     "a dtype, scale= zero= axis= block= dims= state sequence stored, or the end of the line");
}

static bool keep_quant(Lexer *lexer, Value *value, Flags *flags) {
    if (!flags->has_quant) {
        bool is_lone = flags->has_zero || flags->has_axis || flags->quant.block > 0;
        return !is_lone || lex_error(lexer, "zero=, axis= or block= without scale=", "scale=");
    }
    if (flags->has_list != flags->has_axis) {
        return lex_error(lexer, "a list of scales and axis= go together", flags->has_list ? "axis=" : "scale=[…]");
    }
    if (flags->has_zero && flags->zero_count != flags->quant.count) {
        return lex_error(lexer, "not as many zero points as scales",
                         arena_text(lexer->work->diags.arena, "%" PRIu32, flags->quant.count));
    }
    if (!flags->has_axis) {
        flags->quant.axis = -1;
    }
    Quant *quant = arena_new(&lexer->work->keep, Quant);
    *quant = flags->quant;
    value->quant = quant;
    return true;
}

/* ---- Data */

/* Code of one integer in the current token. */
static bool take_integer(Lexer *lexer, DType dtype, uint64_t *code) {
    uint32_t bits = dtype_bits(dtype);
    bool is_signed = dtype_kind(dtype) == DTYPE_KIND_SIGNED;
    uint64_t largest = dtype == DTYPE_BOOL ? 1 : UINT64_MAX >> (64 - bits + (is_signed ? 1 : 0));
    bool fits = lexer->token.kind == TOKEN_WORD;
    int64_t number = 0;
    if (fits && is_signed) {
        fits = str_to_i64(lexer->token.text, &number) && number <= (int64_t)largest && number >= -(int64_t)largest - 1;
        *code = (uint64_t)number;
    } else if (fits) {
        fits = str_to_u64(lexer->token.text, code) && *code <= largest;
    }
    if (!fits) {
        return lex_error(lexer, "not a value of the constant's dtype", dtype_name(dtype));
    }
    lex_next(lexer);
    return true;
}

static bool take_element(Lexer *lexer, DType dtype, uint64_t *code) {
    double number;
    switch (dtype) {
    case DTYPE_F32: {
        if (!lex_single(lexer, &number)) {
            return false;
        }
        float single = (float)number;
        uint32_t word;
        memcpy(&word, &single, sizeof word);
        *code = word;
        return true;
    }
    case DTYPE_F64:
        if (!lex_double(lexer, &number)) {
            return false;
        }
        memcpy(code, &number, sizeof *code);
        return true;
    default:
        return take_integer(lexer, dtype, code);
    }
}

static bool has_number_text(DType dtype) {
    DTypeKind kind = dtype_kind(dtype);
    return kind == DTYPE_KIND_SIGNED || kind == DTYPE_KIND_UNSIGNED || kind == DTYPE_KIND_BOOL || dtype == DTYPE_F32 ||
           dtype == DTYPE_F64;
}

static bool read_list(Lexer *lexer, DType dtype, uint64_t elements, Span *span) {
    if (!has_number_text(dtype)) {
        return lex_error(lexer, "values of this dtype are written as bytes", "hex and two digits a byte");
    }
    const char *expected = arena_text(lexer->work->diags.arena, "%" PRIu64 " values", elements);
    /* A value takes a byte of text at least: a shape alone can't make us allocate. */
    if (elements > lexer->line.len) {
        return lex_error(lexer, "too few values for the constant's shape", expected);
    }
    uint64_t size_bytes = 0;
    CHECK(packed_bytes(elements, dtype_bits(dtype), &size_bytes)); /* at most 8 bytes for one of text */
    uint8_t *bytes = arena_alloc(&lexer->work->keep, (size_t)size_bytes, 1);
    for (uint64_t k = 0; k < elements; k++) {
        uint64_t code;
        if (lexer->token.kind == TOKEN_END) {
            return lex_error(lexer, "too few values for the constant's shape", expected);
        }
        if (!take_element(lexer, dtype, &code)) {
            return false;
        }
        packed_write(bytes, k, dtype_bits(dtype), code);
    }
    *span = (Span){bytes, (size_t)size_bytes};
    return lexer->token.kind == TOKEN_END || lex_error(lexer, "too many values for the constant's shape", expected);
}

/* Digits may be grouped by spaces. Each token holds whole bytes. */
static bool read_hex(Lexer *lexer, Span *span) {
    uint8_t *bytes = arena_alloc(&lexer->work->keep, (lexer->line.len - lexer->at) / 2 + lexer->token.text.len, 1);
    size_t count = 0;
    for (; lexer->token.kind != TOKEN_END; lex_next(lexer)) {
        Str digits = lexer->token.text;
        bool sound = lexer->token.kind == TOKEN_WORD && digits.len % 2 == 0;
        for (size_t k = 0; sound && k < digits.len; k += 2) {
            static const char hex[] = "0123456789abcdef";
            const char *high = memchr(hex, digits.ptr[k] | 0x20, 16);
            const char *low = memchr(hex, digits.ptr[k + 1] | 0x20, 16);
            sound = high != NULL && low != NULL;
            bytes[count] = (uint8_t)(sound ? (high - hex) * 16 + (low - hex) : 0);
            count += sound;
        }
        if (!sound) {
            return lex_error(lexer, "not bytes", "two hex digits a byte");
        }
    }
    *span = (Span){bytes, count};
    return true;
}

static Shape all_ones(uint32_t rank) {
    Shape shape = {.rank = rank};
    for (uint32_t k = 0; k < rank; k++) {
        shape.dim[k] = 1;
    }
    return shape;
}

static bool read_data(Lexer *lexer, Value *value, const Flags *flags) {
    Const *constant = arena_new(&lexer->work->keep, Const);
    value->constant = constant;
    constant->is_known = !lex_take_word(lexer, "unknown");
    constant->stored = flags->has_stored ? flags->stored : value->shape;
    if (!constant->is_known) {
        return true;
    }
    if (!value->has_shape) {
        return lex_error(lexer, "a constant needs a dtype and a shape before its data", "NAME DTYPE[…] = …");
    }
    if (lex_take_word(lexer, "splat")) {
        constant->stored = all_ones(value->shape.rank);
    }
    if (lex_take_word(lexer, "hex")) {
        return read_hex(lexer, &constant->bytes);
    }
    uint64_t elements;
    if (!shape_elements(&constant->stored, &elements)) {
        return lex_error(lexer, "the constant's size is not known, or does not fit 64 bits", "fixed extents");
    }
    return read_list(lexer, value->dtype, elements, &constant->bytes);
}

bool text_declaration(Lexer *lexer, Value *value, bool is_constant) {
    Flags flags = {0};
    if (!read_type(lexer, value)) {
        return false;
    }
    while (lexer->token.kind != TOKEN_END && !lex_is_mark(lexer, '=')) {
        if (!read_flag(lexer, value, &flags)) {
            return false;
        }
    }
    if (!keep_quant(lexer, value, &flags)) {
        return false;
    }
    if (!is_constant) {
        return lexer->token.kind == TOKEN_END || lex_error(lexer, "only a const has data", "the end of the line");
    }
    return lex_expect(lexer, '=') && read_data(lexer, value, &flags) &&
           (lexer->token.kind == TOKEN_END || lex_error(lexer, "something behind the data", "the end of the line"));
}
