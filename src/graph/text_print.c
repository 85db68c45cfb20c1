/* The text form, written: every value in the order of its id, then the nodes of each block. */
#include "base/name_map.h"
#include "graph/text.h"
#include "layout/packed.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const Graph *graph;
    FILE *out;
    bool *needs_label;    /* value -> its name is empty or stands for several */
    bool inputs_in_order; /* the inputs can be declared where they stand among the values */
} Printer;

/* ---- Names and numbers */

static bool is_bare(Str name) {
    bool is_plain = name.len > 0 && name.ptr[0] != '-' && !str_eq(name, STR("_"));
    for (size_t k = 0; is_plain && k < name.len; k++) {
        char c = name.ptr[k];
        bool is_letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        is_plain = is_letter || c == '_' || c == '.' || c == '/' || c == '-';
    }
    return is_plain;
}

static void print_quoted(Printer *p, Str text) {
    fputc('"', p->out);
    for (size_t k = 0; k < text.len; k++) {
        unsigned char c = (unsigned char)text.ptr[k];
        if (c == '"' || c == '\\') {
            fprintf(p->out, "\\%c", c);
        } else if (c < 0x20 || c == 0x7F) {
            fprintf(p->out, "\\x%02x", c);
        } else {
            fputc(c, p->out);
        }
    }
    fputc('"', p->out);
}

static void print_name(Printer *p, Str name) {
    if (is_bare(name)) {
        fwrite(name.ptr, 1, name.len, p->out);
    } else {
        print_quoted(p, name);
    }
}

static void print_value_name(Printer *p, ValueId id) {
    if (!is_value(id)) {
        fputc('_', p->out);
    } else if (p->needs_label[id.index]) {
        fprintf(p->out, "%%%" PRIu32, id.index);
    } else {
        print_name(p, graph_value(p->graph, id)->name);
    }
}

/* The shortest text that reads back as the same number, and reads as no whole number. */
static void print_number(FILE *out, double number, bool is_single) {
    char text[40];
    for (int digits = is_single ? 6 : 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, number);
        if ((is_single ? (double)strtof(text, NULL) : strtod(text, NULL)) == number) {
            break;
        }
    }
    if (isnan(number)) {
        snprintf(text, sizeof text, "nan");
    }
    fputs(text, out);
    if (strpbrk(text, ".enai") == NULL) {
        fputs(".0", out);
    }
}

/* ---- Values */

static void print_dim(Printer *p, const Value *value, uint32_t k) {
    Str name = value->dim_name == NULL ? (Str){NULL, 0} : value->dim_name[k];
    int64_t extent = value->shape.dim[k];
    if (extent >= 0) {
        fprintf(p->out, "%" PRId64, extent);
    } else if (name.len == 0) {
        fputc('?', p->out);
    }
    if (name.len > 0) {
        int64_t number;
        fputs(extent >= 0 ? ":" : "", p->out);
        if (str_to_i64(name, &number)) {
            print_quoted(p, name); /* "4" the name, not 4 the extent */
        } else {
            print_name(p, name);
        }
    }
}

static void print_type(Printer *p, const Value *value) {
    if (value->dtype == DTYPE_NONE && !value->has_shape) {
        return;
    }
    fprintf(p->out, " %s", value->dtype == DTYPE_NONE ? "?" : dtype_name(value->dtype));
    if (!value->has_shape) {
        return;
    }
    fputc('[', p->out);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        fputs(k > 0 ? "," : "", p->out);
        print_dim(p, value, k);
    }
    fputc(']', p->out);
}

static void print_quant(Printer *p, const Quant *quant) {
    bool is_list = quant->axis >= 0;
    fputs(is_list ? " scale=[" : " scale=", p->out);
    for (uint32_t k = 0; k < quant->count; k++) {
        fputs(k > 0 ? "," : "", p->out);
        print_number(p->out, (double)quant->scale[k], true);
    }
    fputs(is_list ? "]" : "", p->out);
    if (quant->zero_point != NULL) {
        fputs(is_list ? " zero=[" : " zero=", p->out);
        for (uint32_t k = 0; k < quant->count; k++) {
            fprintf(p->out, "%s%" PRId64, k > 0 ? "," : "", quant->zero_point[k]);
        }
        fputs(is_list ? "]" : "", p->out);
    }
    if (is_list) {
        fprintf(p->out, " axis=%" PRId32, quant->axis);
    }
    if (quant->block > 0) {
        fprintf(p->out, " block=%" PRIu32, quant->block);
    }
}

/* Axes that graph_assign_names has not named are all N; then nothing is written. */
static void print_dims(Printer *p, const Value *value) {
    uint8_t any = 0;
    for (uint32_t k = 0; value->has_shape && k < value->shape.rank; k++) {
        any |= value->dims[k];
    }
    if (any == 0) {
        return;
    }
    fputs(" dims=", p->out);
    for (uint32_t k = 0; k < value->shape.rank; k++) {
        fputc("NCHWOI"[value->dims[k] % DIM_COUNT], p -> out);
    }
}

/* ---- Constants */

static uint64_t element_code(const Const *constant, uint64_t k, uint32_t bits) {
    return packed_read(constant->bytes.ptr, k, bits);
}

static bool is_float_with_text(DType dtype) {
    return dtype == DTYPE_F32 || dtype == DTYPE_F64;
}

static void print_element(Printer *p, const Value *value, uint64_t k) {
    uint32_t bits = dtype_bits(value->dtype);
    uint64_t code = element_code(value->constant, k, bits);
    if (is_float_with_text(value->dtype)) {
        print_number(p->out, dtype_float(value->dtype, code), value->dtype == DTYPE_F32);
    } else if (dtype_kind(value->dtype) != DTYPE_KIND_SIGNED) {
        fprintf(p->out, "%" PRIu64, code);
    } else {
        uint64_t sign = (uint64_t)1 << (bits - 1);
        uint64_t magnitude = (code & sign) != 0 ? sign - (code & (sign - 1)) : code;
        fprintf(p->out, "%s%" PRIu64, (code & sign) != 0 ? "-" : "", magnitude);
    }
}

/* Is 0 what the last byte has room for behind the elements? */
static bool is_spare_zero(const Const *constant, uint64_t elements, uint32_t bits) {
    uint64_t bytes;
    for (uint64_t k = elements; packed_bytes(k + 1, bits, &bytes) && bytes <= constant->bytes.len; k++) {
        if (element_code(constant, k, bits) != 0) {
            return false;
        }
    }
    return true;
}

/* Spare bits of the last byte are lost in a list, NaNs lose what they carry, booleans are 0 or 1. */
static bool list_is_exact(const Value *value, uint64_t elements) {
    uint32_t bits = dtype_bits(value->dtype);
    for (uint64_t k = 0; k < elements; k++) {
        uint64_t code = element_code(value->constant, k, bits);
        if ((value->dtype == DTYPE_BOOL && code > 1) ||
            (is_float_with_text(value->dtype) && isnan(dtype_float(value->dtype, code)))) {
            return false;
        }
    }
    return is_spare_zero(value->constant, elements, bits);
}

static bool has_list(const Value *value, uint64_t *elements) {
    DTypeKind kind = dtype_kind(value->dtype);
    bool has_text = kind == DTYPE_KIND_SIGNED || kind == DTYPE_KIND_UNSIGNED || kind == DTYPE_KIND_BOOL ||
                    is_float_with_text(value->dtype);
    uint64_t bytes;
    return has_text && shape_elements(&value->constant->stored, elements) &&
           packed_bytes(*elements, dtype_bits(value->dtype), &bytes) && bytes == value->constant->bytes.len &&
           list_is_exact(value, *elements);
}

static bool is_splat(const Value *value) {
    bool all_ones = true, repeats = false;
    for (uint32_t k = 0; k < value->constant->stored.rank; k++) {
        all_ones = all_ones && value->constant->stored.dim[k] == 1;
        repeats = repeats || value->shape.dim[k] != 1;
    }
    return value->constant->is_known && all_ones && repeats && value->constant->stored.rank == value->shape.rank;
}

static void print_stored(Printer *p, const Value *value) {
    if (shape_eq(&value->constant->stored, &value->shape) || is_splat(value)) {
        return;
    }
    fputs(" stored [", p->out);
    for (uint32_t k = 0; k < value->constant->stored.rank; k++) {
        fprintf(p->out, "%s%" PRId64, k > 0 ? "," : "", value->constant->stored.dim[k]);
    }
    fputc(']', p->out);
}

static void print_data(Printer *p, const Value *value) {
    uint64_t elements = 0;
    fputs(" =", p->out);
    if (!value->constant->is_known) {
        fputs(" unknown", p->out);
        return;
    }
    fputs(is_splat(value) ? " splat" : "", p->out);
    if (has_list(value, &elements)) {
        for (uint64_t k = 0; k < elements; k++) {
            fputc(' ', p->out);
            print_element(p, value, k);
        }
        return;
    }
    fputs(" hex ", p->out);
    for (size_t k = 0; k < value->constant->bytes.len; k++) {
        fprintf(p->out, "%02x", value->constant->bytes.ptr[k]);
    }
}

/* ---- Declarations */

static const char *keyword(const Printer *p, const Value *value) {
    if (value->constant != NULL) {
        return "const";
    }
    if (value->is_input && p->inputs_in_order) {
        return "input";
    }
    return value->is_state ? "state" : "value";
}

static void print_value(Printer *p, ValueId id) {
    const Value *value = graph_value(p->graph, id);
    const char *word = keyword(p, value);
    fprintf(p->out, "%s ", word);
    print_value_name(p, id);
    if (p->needs_label[id.index] && value->name.len > 0) {
        fputc('=', p->out);
        print_name(p, value->name);
    }
    print_type(p, value);
    fputs(value->is_state && strcmp(word, "state") != 0 ? " state" : "", p->out);
    fputs(value->is_sequence ? " sequence" : "", p->out);
    if (value->quant != NULL) {
        print_quant(p, value->quant);
    }
    print_dims(p, value);
    if (value->constant != NULL) {
        print_stored(p, value);
        print_data(p, value);
    }
    fputc('\n', p->out);
}

/* ---- Nodes */

static void print_list(Printer *p, const Attr *attr) {
    bool is_ints = attr->kind == ATTR_INTS;
    fputs(attr->count > 0 || is_ints ? "" : attr->kind == ATTR_FLOATS ? "floats" : "strs", p->out);
    fputc('[', p->out);
    for (uint32_t k = 0; k < attr->count; k++) {
        fputs(k > 0 ? "," : "", p->out);
        if (is_ints) {
            fprintf(p->out, "%" PRId64, attr->ints[k]);
        } else if (attr->kind == ATTR_FLOATS) {
            print_number(p->out, (double)attr->floats[k], true);
        } else {
            print_quoted(p, attr->strs[k]);
        }
    }
    fputc(']', p->out);
}

static void print_attr(Printer *p, const Attr *attr) {
    fputc(' ', p->out);
    print_name(p, attr->name);
    fputc('=', p->out);
    switch (attr->kind) {
    case ATTR_INT:
        fprintf(p->out, "%" PRId64, attr->i);
        break;
    case ATTR_FLOAT:
        print_number(p->out, attr->f, false);
        break;
    case ATTR_STR:
        print_quoted(p, attr->s);
        break;
    case ATTR_INTS:
    case ATTR_FLOATS:
    case ATTR_STRS:
        print_list(p, attr);
        break;
    case ATTR_TENSOR:
        fputs("tensor(", p->out);
        print_value_name(p, attr->tensor);
        fputc(')', p->out);
        break;
    case ATTR_BLOCK:
        fprintf(p->out, "block(%" PRIu32 ")", attr->block.index);
        break;
    }
}

static void print_op(Printer *p, const Node *node) {
    const OpInfo *info = op_info(node->op);
    bool has_domain = info->domain[0] != '\0';
    fprintf(p->out, "%s%s%s", info->domain, has_domain ? "." : "", info->name);
    Str row = str_from(info->name);
    Str tail = node->op_name;
    bool is_same = str_eq(tail, row);
    if (has_domain && str_starts(tail, str_from(info->domain))) {
        size_t skip = strlen(info->domain) + 1;
        is_same = tail.len > skip && str_eq((Str){tail.ptr + skip, tail.len - skip}, row);
    } else if (has_domain) {
        is_same = false;
    }
    if (!is_same) {
        fputc('(', p->out);
        print_name(p, node->op_name);
        fputc(')', p->out);
    }
    if (node->version != (!has_domain && p->graph->opset > 0 ? p->graph->opset : 1)) {
        fprintf(p->out, "@%" PRId32, node->version);
    }
}

static void print_node(Printer *p, const Node *node) {
    fputs(node->is_constant ? "folded " : "node ", p->out);
    print_op(p, node);
    fputc(' ', p->out);
    print_name(p, node->name);
    fputc(':', p->out);
    for (uint32_t k = 0; k < node->input_count; k++) {
        fputc(' ', p->out);
        print_value_name(p, node->inputs[k]);
    }
    fputs(" ->", p->out);
    for (uint32_t k = 0; k < node->output_count; k++) {
        fputc(' ', p->out);
        print_value_name(p, node->outputs[k]);
    }
    fputs(node->attr_count > 0 ? " " : "", p->out);
    for (uint32_t k = 0; k < node->attr_count; k++) {
        print_attr(p, &node->attrs[k]);
    }
    fputc('\n', p->out);
}

static void print_references(Printer *p, const char *word, const ValueId *ids, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        fprintf(p->out, "%s ", word);
        print_value_name(p, ids[k]);
        fputc('\n', p->out);
    }
}

static void print_nodes(Printer *p, const Block *block) {
    for (uint32_t n = 0; n < block->node_count; n++) {
        print_node(p, graph_node(p->graph, block->nodes[n]));
    }
    print_references(p, "output", block->outputs, block->output_count);
}

/* ---- The whole */

static void find_labels(Printer *p, Arena *scratch) {
    NameMap names = name_map(scratch);
    p->needs_label = arena_array(scratch, bool, p->graph->value_count);
    for (uint32_t v = 0; v < p->graph->value_count; v++) {
        Str name = p->graph->values[v].name;
        uint32_t first = name.len == 0 ? v : *name_map_add(&names, name, v);
        p->needs_label[v] = name.len == 0 || first != v;
        p->needs_label[first] = p->needs_label[v] || p->needs_label[first];
    }
}

static bool inputs_are_ordered(const Graph *graph) {
    const Block *block = graph_main(graph);
    for (uint32_t k = 0; k < block->input_count; k++) {
        const Value *value = graph_value(graph, block->inputs[k]);
        if (!value->is_input || value->constant != NULL ||
            (k > 0 && block->inputs[k].index <= block->inputs[k - 1].index)) {
            return false;
        }
    }
    return true;
}

static void print_head(Printer *p) {
    const Graph *graph = p->graph;
    fputs("stride0-graph 1\n", p->out);
    if (graph->name.len > 0) {
        fputs("name ", p->out);
        print_name(p, graph->name);
        fputc('\n', p->out);
    }
    if (graph_main(graph)->name.len > 0) {
        fputs("main ", p->out);
        print_name(p, graph_main(graph)->name);
        fputc('\n', p->out);
    }
    if (graph->format == FORMAT_TFLITE) {
        fputs("format tflite\n", p->out);
    } else {
        fprintf(p->out, "format %s %" PRId32 "\n", graph->format == FORMAT_ONNX ? "onnx" : "text", graph->opset);
    }
}

static void print_blocks(Printer *p) {
    for (uint32_t b = 1; b < p->graph->block_count; b++) {
        const Block *block = &p->graph->blocks[b];
        fprintf(p->out, "block %" PRIu32 " ", b);
        print_name(p, block->name);
        fputc('\n', p->out);
        print_references(p, "input", block->inputs, block->input_count);
        print_nodes(p, block);
        fputs("end\n", p->out);
    }
}

void graph_print_text(const Graph *graph, Arena *scratch, FILE *out) {
    Printer p = {.graph = graph, .out = out, .inputs_in_order = inputs_are_ordered(graph)};
    find_labels(&p, scratch);
    print_head(&p);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        print_value(&p, (ValueId){v});
    }
    if (!p.inputs_in_order) {
        print_references(&p, "input", graph_main(graph)->inputs, graph_main(graph)->input_count);
    }
    print_nodes(&p, graph_main(graph));
    print_blocks(&p);
}
