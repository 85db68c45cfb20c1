/* ModelProto: versions, operator sets and functions, then the graph. */
#include "import/onnx.h"

#include <inttypes.h>

bool onnx_error(const Onnx *onnx, const uint8_t *at, DiagText text) {
    text.place = wire_place(&onnx->file, at).ptr;
    return diag_error(&onnx->work->diags, text);
}

bool onnx_refuse(const Onnx *onnx, const uint8_t *at, DiagText text) {
    text.place = wire_place(&onnx->file, at).ptr;
    return diag_refuse(&onnx->work->diags, text);
}

/* ---- Operator sets and functions */

static bool read_opset(Onnx *onnx, const Field *field) {
    Wire wire = wire_open(&onnx->file, ONNX_OPSET, field->bytes);
    Field part;
    Str domain = {0};
    uint64_t version = 0;
    while (wire_next(&wire, &part)) {
        if (part.number == ONNX_OPSET_DOMAIN) {
            domain = field_str(&part);
        } else {
            version = part.scalar;
        }
    }
    if (!wire_done(&wire)) {
        return false;
    }
    if (str_eq(domain, STR("ai.onnx"))) {
        domain = STR("");
    }
    Arena *keep = &onnx->work->keep;
    if (version == 0 || version > INT32_MAX) {
        return onnx_error(
            onnx, field->at,
            (DiagText){.what = arena_text(keep, "the version of operator set '" STR_FMT "' is wrong", STR_ARG(domain)),
                       .got = arena_text(keep, "%" PRId64, (int64_t)version),
                       .expected = "a number from 1"});
    }
    if (*name_map_add(&onnx->opsets, domain, (uint32_t)version) != version) {
        return onnx_error(
            onnx, field->at,
            (DiagText){.what = arena_text(keep, "operator set '" STR_FMT "' has two versions", STR_ARG(domain))});
    }
    return true;
}

static bool read_function(Onnx *onnx, const Field *field) {
    Wire wire = wire_open(&onnx->file, ONNX_FUNCTION, field->bytes);
    Field part;
    Str name = {0};
    Str domain = {0};
    while (wire_next(&wire, &part)) {
        *(part.number == ONNX_FUNCTION_NAME ? &name : &domain) = field_str(&part);
    }
    bool is_standard = domain.len == 0 || str_eq(domain, STR("ai.onnx"));
    Str title =
        is_standard ? name : arena_format(&onnx->work->scratch, STR_FMT "." STR_FMT, STR_ARG(domain), STR_ARG(name));
    name_map_add(&onnx->functions, title, 0);
    return wire_done(&wire);
}

static void settle_opset(Onnx *onnx) {
    if (onnx->ir_version < ONNX_FIRST_IR_WITH_OPSETS) {
        name_map_add(&onnx->opsets, STR(""), 1);
    }
    const uint32_t *version = name_map_find(&onnx->opsets, STR(""));
    onnx->graph->opset = version == NULL ? 0 : (int32_t)*version;
    if (onnx->graph->opset > OPSET_KNOWN) {
        Arena *keep = &onnx->work->keep;
        diag_warn(&onnx->work->diags,
                  (DiagText){.what = "the model's operator set is newer than the newest one that stride0 knows",
                             .got = arena_text(keep, "version %" PRId32, onnx->graph->opset),
                             .expected = arena_text(keep, "1 to %d", OPSET_KNOWN),
                             .hint = arena_text(
                                 keep, "export for version %d or older if an operator of this model has changed since",
                                 OPSET_KNOWN)});
    }
}

/* ---- The model */

static bool read_model_field(Onnx *onnx, Field *graph, const Field *field) {
    switch (field->number) {
    case ONNX_MODEL_IR_VERSION:
        onnx->ir_version = field->scalar > INT32_MAX ? INT32_MAX : (int64_t)field->scalar;
        return true;
    case ONNX_MODEL_OPSET_IMPORT:
        return read_opset(onnx, field);
    case ONNX_MODEL_FUNCTIONS:
        return read_function(onnx, field);
    default:
        if (graph->number != 0) {
            return onnx_error(onnx, field->at, (DiagText){.what = "the model has two graphs", .expected = "one"});
        }
        *graph = *field;
        return true;
    }
}

/* `graph` keeps number 0 where there is none. */
static bool read_model(Onnx *onnx, Field *graph) {
    Wire wire = wire_open(&onnx->file, ONNX_MODEL, onnx->file.file);
    Field field;
    bool sound = true;
    while (wire_next(&wire, &field)) {
        sound = read_model_field(onnx, graph, &field) && sound;
    }
    return wire_done(&wire) && sound;
}

/* Does the file begin as every writer begins one: with the IR version, or else with a graph or operator set that lies
 * inside the file? Bytes of another kind are not taken for a damaged model. */
static bool looks_like_onnx(const Onnx *onnx) {
    enum { TAG_IR_VERSION = 0x08, TAG_PRODUCER = 0x12, TAG_GRAPH = 0x3A, TAG_OPSET = 0x42 };
    uint8_t first = onnx->file.file.ptr[0];
    if (first == TAG_IR_VERSION) {
        return onnx->file.file.len > 1 && onnx->file.file.ptr[1] != 0 && onnx->file.file.ptr[1] < 0x80;
    }
    return first == TAG_GRAPH || first == TAG_OPSET || first == TAG_PRODUCER;
}

static bool is_text_byte(uint8_t byte) {
    return (byte >= ' ' && byte < 0x7F) || byte == '\t' || byte == '\r' || byte == '\n';
}

static const char *first_bytes(Arena *arena, Span bytes) {
    static const char digits[] = "0123456789abcdef";
    enum { SHOWN = 8 };
    size_t count = bytes.len < SHOWN ? bytes.len : SHOWN;
    char text[3 * SHOWN + 1];
    bool is_text = true;
    for (size_t k = 0; k < count; k++) {
        text[3 * k] = digits[bytes.ptr[k] >> 4];
        text[3 * k + 1] = digits[bytes.ptr[k] & 15];
        text[3 * k + 2] = ' ';
        is_text = is_text && is_text_byte(bytes.ptr[k]);
    }
    if (is_text) {
        return arena_text(arena, "text that begins with \"%.*s\"", (int)count, (const char *)bytes.ptr);
    }
    return arena_text(arena, "bytes that begin with %.*s", (int)(3 * count) - 1, text);
}

static Graph *no_model(Onnx *onnx) {
    diag_error(&onnx->work->diags, (DiagText){.what = "the file is not a model that stride0 reads",
                                              .got = first_bytes(&onnx->work->keep, onnx->file.file),
                                              .expected = "an ONNX file, a TFLite file, or the text form of a graph",
                                              .hint = "pass the model's .onnx or .tflite file"});
    return NULL;
}

/* One warning: files that list every weight as an input are common. */
static void warn_of_defaults(const Onnx *onnx) {
    uint32_t count = onnx->default_count;
    if (count > 0) {
        diag_warn(&onnx->work->diags,
                  (DiagText){.what = arena_text(&onnx->work->keep,
                                                "%" PRIu32 " initializer%s also %s, which callers may set: %s; "
                                                "plan takes %s, simplify does not",
                                                count, count == 1 ? " is" : "s are", count == 1 ? "an input" : "inputs",
                                                onnx->defaults, count == 1 ? "it as a constant" : "them as constants"),
                             .hint = "remove inputs that no caller sets, and initializers of those that one does"});
    }
}

static Graph *read_main_graph(Onnx *onnx, const Field *graph) {
    if (graph->number == 0) {
        onnx_error(onnx, onnx->file.file.ptr + onnx->file.file.len,
                   (DiagText){.what = "the model has no graph",
                              .got = arena_text(&onnx->work->keep, "%zu bytes", onnx->file.file.len),
                              .expected = "a field 'graph' in ModelProto",
                              .hint = "the file is cut short or damaged: copy or export it again"});
        return NULL;
    }
    BlockId main_graph;
    settle_opset(onnx);
    bool sound = onnx_read_graph(onnx, graph->bytes, NULL, &main_graph) && onnx_set_quant(onnx);
    if (!sound) {
        return NULL;
    }
    warn_of_defaults(onnx);
    onnx->graph->name = graph_main(onnx->graph)->name;
    return onnx->graph;
}

Graph *import_onnx(Work *work, Span bytes, const char *path, ModelFiles *files) {
    Onnx onnx = {.file = {.file = bytes, .work = work},
                 .work = work,
                 .graph = graph_new(&work->keep, (Str){0}, FORMAT_ONNX),
                 .path = path,
                 .files = files,
                 .opsets = name_map(&work->scratch),
                 .functions = name_map(&work->scratch),
                 .unknown_ops = name_map(&work->scratch)};
    Field graph = {0};
    if (bytes.len == 0 || !looks_like_onnx(&onnx)) {
        return no_model(&onnx);
    }
    return read_model(&onnx, &graph) ? read_main_graph(&onnx, &graph) : NULL;
}
