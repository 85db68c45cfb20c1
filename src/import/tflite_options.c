/* TFLite: builtin_options and custom_options as attributes, by the table tflite_options.def. */
#include "import/tflite_options.h"

#include "import/tflite.h"

#include <inttypes.h>

const TfliteOption tflite_options[] = {
#define OPTION(table, name, form, absent, slot0, slot1, slot2)                                                         \
    {table, FORM_##form, absent, {slot0, slot1, slot2}, name},
#include "import/tflite_options.def"
#undef OPTION
};

const uint32_t tflite_option_count = sizeof tflite_options / sizeof tflite_options[0];

/* One operator's options being read. */
typedef struct {
    Tflite *model;
    Node *node;
    FlatTable table;
    const TfliteOption *option;
    Attr *attr; /* to fill */
} Reader;

static bool option_error(const Reader *r, const char *what, int64_t got, const char *expected) {
    Arena *arena = r->model->work->diags.arena;
    return diag_error(&r->model->work->diags, (DiagText){.place = tflite_place(r->model, r->table.at).ptr,
                                                         .node = r->node->name,
                                                         .what = arena_text(arena, "%s: %s", r->option->name, what),
                                                         .got = arena_text(arena, "%" PRId64, got),
                                                         .expected = expected});
}

static int64_t read_field(const Reader *r, uint32_t k, FlatType type) {
    return flat_int(&r->model->flat, &r->table, (uint32_t)r->option->slot[k], type, r->option->absent);
}

/* ---- Forms. Each returns false with a diagnostic, and clears attr->name where there is nothing to say. */

static bool read_number(const Reader *r, FlatType type) {
    r->attr->kind = ATTR_INT;
    r->attr->i = read_field(r, 0, type);
    return true;
}

static bool read_float(const Reader *r) {
    r->attr->kind = ATTR_FLOAT;
    r->attr->f = (double)flat_float(&r->model->flat, &r->table, (uint32_t)r->option->slot[0], r->option->absent);
    return true;
}

static bool read_str(const Reader *r) {
    r->attr->kind = ATTR_STR;
    r->attr->s = flat_str(&r->model->flat, &r->table, (uint32_t)r->option->slot[0]);
    return true;
}

static bool read_each(const Reader *r) {
    int64_t *ints = arena_array(&r->model->work->keep, int64_t, TFLITE_OPTION_SLOTS);
    r->attr->kind = ATTR_INTS;
    r->attr->ints = ints;
    while (r->attr->count < TFLITE_OPTION_SLOTS && r->option->slot[r->attr->count] >= 0) {
        ints[r->attr->count] = read_field(r, r->attr->count, FLAT_I32);
        r->attr->count++;
    }
    return true;
}

static bool read_ints(const Reader *r, uint32_t element_bytes) {
    uint32_t slot = (uint32_t)r->option->slot[0];
    FlatVector vector = flat_vector(&r->model->flat, &r->table, slot, element_bytes);
    bool is_absent = r->option->form == FORM_SOME ? vector.count == 0 : !flat_has(&r->model->flat, &r->table, slot);
    if (is_absent) {
        r->attr->name = (Str){0};
        return true;
    }
    int64_t *ints = arena_array(&r->model->work->keep, int64_t, vector.count);
    for (uint32_t k = 0; k < vector.count; k++) {
        ints[k] = flat_int_at(&r->model->flat, &vector, k);
    }
    r->attr->kind = ATTR_INTS;
    r->attr->count = vector.count;
    r->attr->ints = ints;
    return true;
}

static bool read_floats(const Reader *r) {
    FlatVector vector = flat_vector(&r->model->flat, &r->table, (uint32_t)r->option->slot[0], 4);
    float *floats = arena_array(&r->model->work->keep, float, vector.count);
    for (uint32_t k = 0; k < vector.count; k++) {
        floats[k] = flat_float_at(&r->model->flat, &vector, k);
    }
    r->attr->kind = ATTR_FLOATS;
    r->attr->count = vector.count;
    r->attr->floats = floats;
    return true;
}

/* The enum as a word; an empty word says nothing. */
static bool read_word(const Reader *r, const char *const *words, uint32_t count, const char *expected) {
    int64_t number = read_field(r, 0, FLAT_U8);
    if (number >= count) {
        return option_error(r, "the number has no meaning", number, expected);
    }
    r->attr->kind = ATTR_STR;
    r->attr->s = str_from(words[number]);
    if (r->attr->s.len == 0) {
        r->attr->name = (Str){0};
    }
    return true;
}

static bool read_dtype(const Reader *r) {
    int64_t type = read_field(r, 0, FLAT_I8);
    DType dtype = dtype_from_tflite(type);
    if (dtype == DTYPE_NONE) {
        return option_error(r, "the element type is not known", type, "a TensorType");
    }
    r->attr->kind = ATTR_INT;
    r->attr->i = dtype_to_onnx(dtype);
    return true;
}

static bool set_block(const Reader *r, Attr *attr, int64_t index) {
    if (index < 0 || index >= r->model->subgraph_count) {
        return option_error(r, "calls a subgraph that the model does not have", index,
                            arena_text(r->model->work->diags.arena, "one of %" PRIu32, r->model->subgraph_count));
    }
    attr->kind = ATTR_BLOCK;
    attr->block = (BlockId){(uint32_t)index};
    return true;
}

static bool read_block(const Reader *r, FlatType type) {
    return set_block(r, r->attr, read_field(r, 0, type));
}

/* Reads one field, of any form but BLOCKS. */
static bool read_option(const Reader *r) {
    static const char *const paddings[] = {"SAME_UPPER", "VALID"};
    static const char *const activations[] = {"", "RELU", "RELU_N1_TO_1", "RELU6", "TANH", "SIGN_BIT"};
    static const char *const mirrors[] = {"reflect", "symmetric"};
    static const char *const gelus[] = {"none", "tanh"};
    switch ((TfliteForm)r->option->form) {
    case FORM_INT:
        return read_number(r, FLAT_I32);
    case FORM_UINT:
        return read_number(r, FLAT_U32);
    case FORM_LONG:
        return read_number(r, FLAT_I64);
    case FORM_BYTE:
        return read_number(r, FLAT_I8);
    case FORM_BOOL:
        return read_number(r, FLAT_BOOL);
    case FORM_FLOAT:
        return read_float(r);
    case FORM_STR:
        return read_str(r);
    case FORM_EACH:
        return read_each(r);
    case FORM_INTS:
    case FORM_SOME:
        return read_ints(r, 4);
    case FORM_LONGS:
        return read_ints(r, 8);
    case FORM_FLOATS:
        return read_floats(r);
    case FORM_DTYPE:
        return read_dtype(r);
    case FORM_PADDING:
        return read_word(r, paddings, 2, "0 SAME or 1 VALID");
    case FORM_ACTIVATION:
        return read_word(r, activations, 6, "0 NONE to 5 SIGN_BIT");
    case FORM_MIRROR:
        return read_word(r, mirrors, 2, "0 REFLECT or 1 SYMMETRIC");
    case FORM_GELU:
        return read_word(r, gelus, 2, "0 or 1");
    case FORM_BLOCK:
        return read_block(r, FLAT_I32);
    case FORM_BLOCKS:
    case FORM_COUNT:
        break;
    }
    return false;
}

/* ---- Operators */

/* Room for one more attribute at node->attrs[node->attr_count]. */
static Attr *next_attr(Tflite *model, Node *node, size_t *capacity, const char *name) {
    node->attrs = arena_grow(&model->work->keep, node->attrs, node->attr_count, capacity, sizeof(Attr));
    Attr *attr = &node->attrs[node->attr_count];
    *attr = (Attr){.name = str_from(name)};
    return attr;
}

static bool read_branches(Reader *r, size_t *capacity) {
    FlatVector vector = flat_vector(&r->model->flat, &r->table, (uint32_t)r->option->slot[0], 4);
    for (uint32_t k = 0; k < vector.count; k++) {
        const char *name = arena_text(&r->model->work->keep, "%s%" PRIu32, r->option->name, k);
        Attr *attr = next_attr(r->model, r->node, capacity, name);
        if (!set_block(r, attr, flat_int_at(&r->model->flat, &vector, k))) {
            return false;
        }
        r->node->attr_count++;
    }
    return true;
}

static bool read_table(Reader *r, int64_t number, size_t *capacity) {
    for (uint32_t k = 0; k < tflite_option_count && tflite_options[k].table <= number; k++) {
        if (tflite_options[k].table != number) {
            continue;
        }
        r->option = &tflite_options[k];
        if (r->option->form == FORM_BLOCKS) {
            if (!read_branches(r, capacity)) {
                return false;
            }
            continue;
        }
        r->attr = next_attr(r->model, r->node, capacity, r->option->name);
        if (!read_option(r)) {
            return false;
        }
        r->node->attr_count += r->attr->name.len > 0;
    }
    return true;
}

/* Kept as they are: what they mean is the operator's own affair. */
static bool read_custom(Tflite *model, const FlatTable *operator_, Node *node, size_t *capacity) {
    Span bytes = flat_bytes(&model->flat, operator_, OPERATOR_CUSTOM_OPTIONS);
    int64_t offset = flat_int(&model->flat, operator_, OPERATOR_LARGE_CUSTOM_OFFSET, FLAT_U64, 0);
    int64_t size = flat_int(&model->flat, operator_, OPERATOR_LARGE_CUSTOM_SIZE, FLAT_U64, 0);
    if (offset > 1 && !tflite_span(model, offset, size, &bytes)) {
        Arena *arena = model->work->diags.arena;
        return diag_error(&model->work->diags,
                          (DiagText){.place = tflite_place(model, operator_->at).ptr,
                                     .node = node->name,
                                     .what = "the operator's options lie outside the file",
                                     .got = arena_text(arena, "%" PRId64 " bytes at byte %" PRId64, size, offset),
                                     .expected = arena_text(arena, "inside %zu bytes", model->flat.bytes.len)});
    }
    if (bytes.len > 0) {
        Attr *attr = next_attr(model, node, capacity, "custom_options");
        attr->kind = ATTR_STR;
        attr->s = (Str){(const char *)bytes.ptr, bytes.len};
        node->attr_count++;
    }
    return true;
}

bool tflite_read_options(Tflite *model, const FlatTable *operator_, Node *node) {
    Flatbuf *flat = &model->flat;
    size_t capacity = 0;
    Reader r = {.model = model, .node = node, .table = flat_table(flat, operator_, OPERATOR_OPTIONS)};
    int64_t first = flat_int(flat, operator_, OPERATOR_OPTIONS_TYPE, FLAT_U8, 0);
    if (r.table.bytes > 0 && !read_table(&r, first, &capacity)) {
        return false;
    }
    r.table = flat_table(flat, operator_, OPERATOR_OPTIONS_2);
    int64_t second = flat_int(flat, operator_, OPERATOR_OPTIONS_2_TYPE, FLAT_U8, 0);
    if (r.table.bytes > 0 && !read_table(&r, SECOND + second, &capacity)) {
        return false;
    }
    return read_custom(model, operator_, node, &capacity);
}
