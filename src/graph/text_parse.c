/* The text form, read: one statement a line, names resolved as they are met.
 *
 * A broken line is reported and skipped, so that one run shows several faults. */
#include "base/name_map.h"
#include "graph/text.h"
#include "graph/text_value.h"

#include <inttypes.h>
#include <string.h>

/* A list of ids that grows. */
typedef struct {
    size_t count, capacity;
    ValueId *id;
} ValueList;

typedef struct {
    Str name;
    ValueList inputs, outputs;
    size_t node_count, node_capacity;
    NodeId *nodes;
} OpenBlock;

typedef struct {
    Lexer lexer;
    Work *work;
    Graph *graph;
    NameMap names, labels;
    bool *is_declared; /* value -> had its own line with a type */
    size_t declared_capacity;
    OpenBlock main, inner;
    bool is_inside; /* between block and end */
} Parser;

static void push_value(Parser *p, ValueList *list, ValueId id) {
    list->id = arena_grow(&p->work->keep, list->id, list->count, &list->capacity, sizeof *list->id);
    list->id[list->count++] = id;
}

static OpenBlock *open_block(Parser *p) {
    return p->is_inside ? &p->inner : &p->main;
}

/* ---- Names */

static bool is_name(const Lexer *lexer) {
    return lexer->token.kind == TOKEN_WORD || lexer->token.kind == TOKEN_QUOTED;
}

static bool is_reference(const Lexer *lexer) {
    return is_name(lexer) || lexer->token.kind == TOKEN_LABEL;
}

static bool take_name(Lexer *lexer, Str *name) {
    if (!is_name(lexer)) {
        return lex_error(lexer, "a name is missing", "a name");
    }
    *name = lexer->token.text;
    lex_next(lexer);
    return true;
}

static ValueId new_value(Parser *p, Str name) {
    Str source =
        arena_format(&p->work->keep, "line %" PRIu32 " column %zu", p->lexer.line_number, p->lexer.token.column);
    ValueId id =
        graph_add_value(p->graph, &p->work->keep, (Value){.name = name, .producer = NO_NODE, .source = source});
    p->is_declared = arena_grow(&p->work->scratch, p->is_declared, id.index, &p->declared_capacity, sizeof(bool));
    p->is_declared[id.index] = false;
    return id;
}

/* The value the current token names, made where it is new; NO_VALUE for `_`. */
static bool take_value(Parser *p, ValueId *id) {
    Lexer *lexer = &p->lexer;
    *id = NO_VALUE;
    if (lex_take_word(lexer, "_")) {
        return true;
    }
    if (!is_reference(lexer)) {
        return lex_error(lexer, "the name of a value is missing", "a name, %LABEL or _");
    }
    NameMap *map = lexer->token.kind == TOKEN_LABEL ? &p->labels : &p->names;
    Str name = lexer->token.text;
    uint32_t *known = name_map_find(map, name);
    if (known != NULL) {
        id->index = *known;
    } else {
        *id = new_value(p, map == &p->labels ? (Str){NULL, 0} : name);
        name_map_add(map, name, id->index);
    }
    lex_next(lexer);
    return true;
}

static bool take_present_value(Parser *p, ValueId *id) {
    Lexer at = p->lexer;
    return take_value(p, id) && (is_value(*id) || lex_error(&at, "a value that is absent", "a name"));
}

/* ---- Declarations */

/* NAME or %LABEL=NAME, with what follows. A name alone refers to what is, or will be, declared elsewhere. */
static bool declare(Parser *p, ValueId *id, bool is_constant) {
    Lexer *lexer = &p->lexer;
    Lexer at = *lexer;
    bool has_label = lexer->token.kind == TOKEN_LABEL;
    if (!take_present_value(p, id)) {
        return false;
    }
    if (has_label && lex_take_mark(lexer, '=') && !take_name(lexer, &graph_value(p->graph, *id)->name)) {
        return false;
    }
    if (lexer->token.kind == TOKEN_END && !is_constant) {
        return true;
    }
    if (p->is_declared[id->index]) {
        return lex_error(&at, "the value is declared twice", "one declaration");
    }
    p->is_declared[id->index] = true;
    return text_declaration(lexer, graph_value(p->graph, *id), is_constant);
}

static bool read_const(Parser *p) {
    ValueId id;
    return declare(p, &id, true);
}

static bool read_value(Parser *p) {
    ValueId id;
    return declare(p, &id, false);
}

static bool read_state(Parser *p) {
    ValueId id;
    if (!declare(p, &id, false)) {
        return false;
    }
    graph_value(p->graph, id)->is_state = true;
    return true;
}

static bool read_input(Parser *p) {
    ValueId id;
    if (!declare(p, &id, false)) {
        return false;
    }
    push_value(p, &open_block(p)->inputs, id);
    graph_value(p->graph, id)->is_input |= !p->is_inside;
    return true;
}

static bool read_output(Parser *p) {
    ValueId id;
    if (!declare(p, &id, false)) {
        return false;
    }
    push_value(p, &open_block(p)->outputs, id);
    graph_value(p->graph, id)->is_output |= !p->is_inside;
    return true;
}

/* ---- Attributes */

static bool is_float_text(Str text) {
    int64_t number;
    return !str_to_i64(text, &number);
}

static bool starts_number(const Lexer *lexer) {
    Str text = lexer->token.text;
    if (lexer->token.kind != TOKEN_WORD || text.len == 0) {
        return false;
    }
    char first = text.ptr[0] == '-' && text.len > 1 ? text.ptr[1] : text.ptr[0];
    return (first >= '0' && first <= '9') || str_eq(text, STR("nan")) || str_eq(text, STR("inf")) ||
           str_eq(text, STR("-inf"));
}

/* The items of a list up to its ], each read as `kind`; lists of no items keep a null array. */
static bool read_items(Parser *p, Attr *attr) {
    Lexer *lexer = &p->lexer;
    Arena *keep = &p->work->keep;
    size_t capacity = 0;
    int64_t *ints = NULL;
    float *floats = NULL;
    Str *strs = NULL;
    for (attr->count = 0; !lex_is_mark(lexer, ']'); attr->count++) {
        uint32_t at = attr->count;
        double number = 0;
        bool sound = at == 0 || lex_expect(lexer, ',');
        if (sound && attr->kind == ATTR_INTS) {
            ints = arena_grow(keep, ints, at, &capacity, sizeof *ints);
            sound = lex_int(lexer, &ints[at]);
        } else if (sound && attr->kind == ATTR_FLOATS) {
            floats = arena_grow(keep, floats, at, &capacity, sizeof *floats);
            sound = lex_single(lexer, &number);
            floats[at] = (float)number;
        } else if (sound) {
            strs = arena_grow(keep, strs, at, &capacity, sizeof *strs);
            sound = take_name(lexer, &strs[at]);
        }
        if (!sound) {
            return false;
        }
    }
    if (attr->kind == ATTR_INTS) {
        attr->ints = ints;
    } else if (attr->kind == ATTR_FLOATS) {
        attr->floats = floats;
    } else {
        attr->strs = strs;
    }
    return lex_expect(lexer, ']');
}

/* A list is of floats where any item is one: [1,2.5]. */
static AttrKind list_kind(const Lexer *lexer) {
    Lexer ahead = *lexer;
    AttrKind kind = ATTR_INTS;
    while (ahead.token.kind != TOKEN_END && ahead.token.kind != TOKEN_WRONG && !lex_is_mark(&ahead, ']')) {
        if (is_name(&ahead) && !starts_number(&ahead)) {
            return ATTR_STRS;
        }
        if (is_name(&ahead) && is_float_text(ahead.token.text)) {
            kind = ATTR_FLOATS;
        }
        lex_next(&ahead);
    }
    return kind;
}

static bool read_tensor(Parser *p, Attr *attr) {
    attr->kind = ATTR_TENSOR;
    return lex_expect(&p->lexer, '(') && take_present_value(p, &attr->tensor) && lex_expect(&p->lexer, ')');
}

static bool read_block_number(Parser *p, Attr *attr) {
    int64_t number;
    Lexer at = p->lexer;
    attr->kind = ATTR_BLOCK;
    if (!lex_expect(&p->lexer, '(') || !lex_int(&p->lexer, &number)) {
        return false;
    }
    if (number < 1 || number >= UINT32_MAX) {
        return lex_error(&at, "no block has this number", "1 or more");
    }
    attr->block = (BlockId){(uint32_t)number};
    return lex_expect(&p->lexer, ')');
}

static bool read_scalar(Parser *p, Attr *attr) {
    Lexer *lexer = &p->lexer;
    if (starts_number(lexer) && is_float_text(lexer->token.text)) {
        attr->kind = ATTR_FLOAT;
        return lex_double(lexer, &attr->f);
    }
    if (starts_number(lexer)) {
        attr->kind = ATTR_INT;
        return lex_int(lexer, &attr->i);
    }
    attr->kind = ATTR_STR;
    return take_name(lexer, &attr->s);
}

static bool read_attr_value(Parser *p, Attr *attr) {
    Lexer *lexer = &p->lexer;
    if (lex_is_mark(lexer, '[')) {
        lex_next(lexer);
        attr->kind = list_kind(lexer);
        return read_items(p, attr);
    }
    Lexer ahead = *lexer;
    Token word = lexer->token;
    lex_next(&ahead);
    bool is_list = word.kind == TOKEN_WORD && lex_is_mark(&ahead, '[');
    bool is_call = word.kind == TOKEN_WORD && lex_is_mark(&ahead, '(');
    if (!is_list && !is_call) {
        return read_scalar(p, attr);
    }
    if (is_list && (str_eq(word.text, STR("floats")) || str_eq(word.text, STR("strs")))) {
        attr->kind = str_eq(word.text, STR("floats")) ? ATTR_FLOATS : ATTR_STRS;
        *lexer = ahead;
        lex_next(lexer);
        return read_items(p, attr);
    }
    if (is_call && (str_eq(word.text, STR("tensor")) || str_eq(word.text, STR("block")))) {
        *lexer = ahead;
        return str_eq(word.text, STR("tensor")) ? read_tensor(p, attr) : read_block_number(p, attr);
    }
    return lex_error(lexer, "unknown form of an attribute", "[…], floats[…], strs[…], tensor(VALUE) or block(NUMBER)");
}

static bool read_attrs(Parser *p, Node *node) {
    size_t capacity = 0;
    while (p->lexer.token.kind != TOKEN_END) {
        Attr attr = {0};
        if (!take_name(&p->lexer, &attr.name) || !lex_expect(&p->lexer, '=') || !read_attr_value(p, &attr)) {
            return false;
        }
        node->attrs = arena_grow(&p->work->keep, node->attrs, node->attr_count, &capacity, sizeof attr);
        node->attrs[node->attr_count++] = attr;
    }
    return true;
}

/* ---- Nodes */

/* OP as a row of ops.def is written: Conv, tflite.DepthwiseConv2D; the domain of a TFLite row may be left out. */
static OpId find_op(Str text) {
    OpId op = op_find(STR(""), text);
    if (op == OP_NONE) {
        op = op_find(STR("tflite"), text);
    }
    size_t dot = text.len;
    while (op == OP_NONE && dot > 0 && text.ptr[dot - 1] != '.') {
        dot--;
    }
    if (op == OP_NONE && dot > 0) {
        op = op_find((Str){text.ptr, dot - 1}, (Str){text.ptr + dot, text.len - dot});
    }
    return op;
}

/* OP(FILE'S NAME)@VERSION */
static bool read_op(Parser *p, Node *node) {
    Lexer *lexer = &p->lexer;
    Lexer at = *lexer;
    if (!take_name(lexer, &node->op_name)) {
        return false;
    }
    node->op = find_op(node->op_name);
    if (node->op == OP_NONE) {
        return lex_error(&at, "unknown operator", "a row of ops.def, or Custom(NAME) for what has none");
    }
    if (lex_take_mark(lexer, '(') && (!take_name(lexer, &node->op_name) || !lex_expect(lexer, ')'))) {
        return false;
    }
    node->version = op_info(node->op)->domain[0] == '\0' && p->graph->opset > 0 ? p->graph->opset : 1;
    if (!lex_take_mark(lexer, '@')) {
        return true;
    }
    int64_t version;
    at = *lexer;
    if (!lex_int(lexer, &version)) {
        return false;
    }
    if (version < INT32_MIN || version > INT32_MAX) {
        return lex_error(&at, "the version is out of range", "a number of 32 bits");
    }
    node->version = (int32_t)version;
    return true;
}

static bool read_node_name(Parser *p, Node *node) {
    Lexer *lexer = &p->lexer;
    if (lex_take_mark(lexer, ':')) {
        node->name = arena_format(&p->work->keep, STR_FMT "#%" PRIu32, STR_ARG(node->op_name), node->source_index);
        return true;
    }
    return take_name(lexer, &node->name) && lex_expect(lexer, ':');
}

static bool is_attr_next(const Lexer *lexer) {
    Lexer ahead = *lexer;
    lex_next(&ahead);
    return is_name(lexer) && lex_is_mark(&ahead, '=');
}

static bool read_node_of(Parser *p, bool is_constant) {
    Lexer *lexer = &p->lexer;
    OpenBlock *block = open_block(p);
    Node node = {.source_index = (uint32_t)block->node_count, .is_constant = is_constant};
    ValueList inputs = {0}, outputs = {0};
    ValueId id;
    if (!read_op(p, &node) || !read_node_name(p, &node)) {
        return false;
    }
    while (lexer->token.kind != TOKEN_ARROW) {
        if (!take_value(p, &id)) {
            return false;
        }
        push_value(p, &inputs, id);
    }
    lex_next(lexer);
    while (lexer->token.kind != TOKEN_END && !is_attr_next(lexer)) {
        if (!take_value(p, &id)) {
            return false;
        }
        push_value(p, &outputs, id);
    }
    if (!read_attrs(p, &node)) {
        return false;
    }
    node.inputs = inputs.id;
    node.input_count = (uint32_t)inputs.count;
    node.outputs = outputs.id;
    node.output_count = (uint32_t)outputs.count;
    block->nodes =
        arena_grow(&p->work->keep, block->nodes, block->node_count, &block->node_capacity, sizeof *block->nodes);
    block->nodes[block->node_count++] = graph_add_node(p->graph, &p->work->keep, node);
    return true;
}

static bool read_node(Parser *p) {
    return read_node_of(p, false);
}

static bool read_folded(Parser *p) {
    return read_node_of(p, true);
}

/* ---- Blocks and the head */

static Block closed(const OpenBlock *open) {
    return (Block){.name = open->name,
                   .input_count = (uint32_t)open->inputs.count,
                   .output_count = (uint32_t)open->outputs.count,
                   .node_count = (uint32_t)open->node_count,
                   .inputs = open->inputs.id,
                   .outputs = open->outputs.id,
                   .nodes = open->nodes};
}

static bool read_block(Parser *p) {
    Lexer *lexer = &p->lexer;
    Lexer at = *lexer;
    int64_t number;
    if (p->is_inside) {
        return lex_error(lexer, "a block inside a block", "end");
    }
    if (!lex_int(lexer, &number)) {
        return false;
    }
    p->is_inside = true;
    p->inner = (OpenBlock){0};
    if (number != (int64_t)p->graph->block_count) {
        return lex_error(&at, "blocks are numbered in order",
                         arena_text(p->work->diags.arena, "%" PRIu32, p->graph->block_count));
    }
    return lexer->token.kind == TOKEN_END || take_name(lexer, &p->inner.name);
}

static bool read_end(Parser *p) {
    if (!p->is_inside) {
        return lex_error(&p->lexer, "no block is open", "a statement of the main graph");
    }
    p->is_inside = false;
    graph_add_block(p->graph, &p->work->keep, closed(&p->inner));
    return true;
}

static bool read_graph_name(Parser *p) {
    return take_name(&p->lexer, &p->graph->name);
}

static bool read_main_name(Parser *p) {
    return take_name(&p->lexer, &p->main.name);
}

static bool read_format(Parser *p) {
    Lexer *lexer = &p->lexer;
    Graph *graph = p->graph;
    if (lex_take_word(lexer, "tflite")) {
        graph->format = FORMAT_TFLITE;
        graph->channels_last = true;
        graph->opset = 0;
        return true;
    }
    bool is_onnx = lex_take_word(lexer, "onnx");
    if (!is_onnx && !lex_take_word(lexer, "text")) {
        return lex_error(lexer, "unknown format", "onnx OPSET, tflite or text OPSET");
    }
    graph->format = is_onnx ? FORMAT_ONNX : FORMAT_TEXT;
    graph->channels_last = false;
    int64_t opset;
    if (!lex_int(lexer, &opset)) {
        return false;
    }
    if (opset < 0 || opset > INT32_MAX) {
        return lex_error(lexer, "no such opset", "a small whole number");
    }
    graph->opset = (int32_t)opset;
    return true;
}

static bool read_statement(Parser *p) {
    static const struct {
        const char *word;
        bool (*read)(Parser *p);
    } statements[] = {
        {"node", read_node},     {"const", read_const},   {"value", read_value},     {"input", read_input},
        {"output", read_output}, {"state", read_state},   {"folded", read_folded},   {"block", read_block},
        {"end", read_end},       {"format", read_format}, {"name", read_graph_name}, {"main", read_main_name},
    };
    for (size_t k = 0; k < sizeof statements / sizeof statements[0]; k++) {
        if (lex_take_word(&p->lexer, statements[k].word)) {
            return statements[k].read(p) &&
                   (p->lexer.token.kind == TOKEN_END ||
                    lex_error(&p->lexer, "something behind the statement", "the end of the line"));
        }
    }
    return lex_error(&p->lexer, "not a statement",
                     "name format input output const state value node folded block or end");
}

static bool read_head(Parser *p, Str *rest) {
    lex_line(&p->lexer, str_cut(rest, '\n'), 1);
    if (!lex_take_word(&p->lexer, "stride0-graph") || !lex_take_word(&p->lexer, "1") ||
        p->lexer.token.kind != TOKEN_END) {
        return lex_error(&p->lexer, "not a graph in text form", "stride0-graph 1");
    }
    return true;
}

static bool read_lines(Parser *p, Str rest) {
    bool sound = true;
    for (uint32_t number = 2; rest.ptr != NULL; number++) {
        lex_line(&p->lexer, str_cut(&rest, '\n'), number);
        if (p->lexer.token.kind != TOKEN_END) {
            sound = read_statement(p) && sound;
        }
    }
    if (p->is_inside) {
        sound = lex_error(&p->lexer, "a block does not end", "end");
    }
    return sound;
}

Graph *graph_parse_text(Work *work, Span text, Str name) {
    enum { NEWEST_OPSET = 21 };
    Parser p = {.work = work, .lexer = {.work = work}};
    p.names = name_map(&work->scratch);
    p.labels = name_map(&work->scratch);
    p.graph = graph_new(&work->keep, name, FORMAT_TEXT);
    p.graph->opset = NEWEST_OPSET;
    BlockId main = graph_add_block(p.graph, &work->keep, (Block){0});
    Str rest = {(const char *)text.ptr, text.len};
    if (!read_head(&p, &rest) || !read_lines(&p, rest)) {
        return NULL;
    }
    p.graph->blocks[main.index] = closed(&p.main);
    return p.graph;
}
