/* TFLite: resource variables become state values, so that their bytes are counted; see tflite.h. */
#include "import/tflite.h"

#include "base/name_map.h"

#include <string.h>

typedef struct {
    Tflite *model;
    NameMap by_key; /* container and shared_name -> value */
} Variables;

static bool refuse(const Variables *v, const Node *node, Str tensor, const char *what, const char *got,
                   const char *expected) {
    return diag_refuse(&v->model->work->diags, (DiagText){.node = node->name,
                                                          .tensor = tensor,
                                                          .what = what,
                                                          .got = got,
                                                          .expected = expected,
                                                          .hint = "convert the model with its variables frozen"});
}

/* The VAR_HANDLE that made the handle; null with a diagnostic. */
static const Node *handle_of(const Variables *v, const Node *node) {
    const Graph *graph = v->model->graph;
    const Value *handle = node_input(graph, node, 0);
    const Node *maker = handle != NULL && is_node(handle->producer) ? graph_node(graph, handle->producer) : NULL;
    if (maker != NULL && maker->op == OP_VAR_HANDLE) {
        return maker;
    }
    refuse(v, node, handle == NULL ? (Str){NULL, 0} : handle->name,
           "the variable is not known: no VAR_HANDLE of this subgraph makes its handle", NULL, NULL);
    return NULL;
}

/* container / shared_name; the container is empty in most files. */
static Str variable_name(const Variables *v, const Node *handle) {
    Str container = node_str(handle, "container");
    Str shared = node_str(handle, "shared_name");
    return container.len == 0
               ? shared
               : arena_format(&v->model->work->keep, STR_FMT "/" STR_FMT, STR_ARG(container), STR_ARG(shared));
}

/* Two pairs never have one key: the length tells where the container ends. */
static Str variable_key(const Variables *v, const Node *handle) {
    Str container = node_str(handle, "container");
    return arena_format(&v->model->work->scratch, "%zu:" STR_FMT STR_FMT, container.len, STR_ARG(container),
                        STR_ARG(node_str(handle, "shared_name")));
}

/* What is read or assigned here must be what was elsewhere. */
static bool agree(const Variables *v, const Node *node, Value *state, const Value *seen) {
    Arena *texts = tflite_texts(v->model);
    bool knows_both = state->has_shape && seen->has_shape;
    if (state->dtype == seen->dtype && (!knows_both || shape_eq(&state->shape, &seen->shape))) {
        if (!state->has_shape) {
            state->has_shape = seen->has_shape;
            state->shape = seen->shape;
        }
        return true;
    }
    const char *got =
        arena_text(texts, "%s" STR_FMT, dtype_name(seen->dtype), STR_ARG(shape_text(texts, &seen->shape)));
    const char *expected =
        arena_text(texts, "%s" STR_FMT, dtype_name(state->dtype), STR_ARG(shape_text(texts, &state->shape)));
    return refuse(v, node, state->name, "a variable has two shapes or types", got, expected);
}

/* The state value of the node's variable; false with a diagnostic. */
static bool find_variable(Variables *v, const Node *node, const Value *seen, ValueId *id) {
    Graph *graph = v->model->graph;
    const Node *handle = handle_of(v, node);
    if (handle == NULL) {
        return false;
    }
    Str key = variable_key(v, handle);
    uint32_t *known = name_map_find(&v->by_key, key);
    if (known != NULL) {
        *id = (ValueId){*known};
        return agree(v, node, graph_value(graph, *id), seen);
    }
    Value state = {.name = variable_name(v, handle),
                   .dtype = seen->dtype,
                   .has_shape = seen->has_shape,
                   .shape = seen->shape,
                   .dim_name = seen->dim_name,
                   .quant = seen->quant,
                   .is_state = true,
                   .producer = NO_NODE,
                   .source = node_input(graph, node, 0)->source};
    *id = graph_add_value(graph, &v->model->work->keep, state);
    name_map_add(&v->by_key, key, id->index);
    return true;
}

static void append_input(Tflite *model, Node *node, ValueId id) {
    ValueId *inputs = arena_array(&model->work->keep, ValueId, (size_t)node->input_count + 1);
    memcpy(inputs, node->inputs, node->input_count * sizeof *inputs);
    inputs[node->input_count++] = id;
    node->inputs = inputs;
}

bool tflite_add_variables(Tflite *model) {
    Graph *graph = model->graph;
    Variables v = {.model = model, .by_key = name_map(&model->work->scratch)};
    for (uint32_t n = 0; n < graph->node_count; n++) {
        Node *node = &graph->nodes[n];
        bool reads = node->op == OP_READ_VARIABLE;
        if (!reads && node->op != OP_ASSIGN_VARIABLE) {
            continue;
        }
        const Value *seen = reads ? node_output(graph, node, 0) : node_input(graph, node, 1);
        ValueId id;
        if (seen == NULL) {
            return diag_error(&model->work->diags, (DiagText){.node = node->name,
                                                              .what = "a variable's operator lacks its tensor",
                                                              .expected = "a handle and the tensor read or assigned"});
        }
        Value copy = *seen; /* the values may move when one is added */
        if (!find_variable(&v, node, &copy, &id)) {
            return false;
        }
        append_input(model, node, id);
    }
    return true;
}
