/* Free dimensions get the user's values.
 *
 * ONNX: a free extent is DIM_FREE, with or without a name. TFLite: the extent is the file's number and a name marks
 * that shape_signature leaves it free; the number stands where the user gives none.
 *
 * Invariant: a name is one dimension, wherever it stands. INPUT:AXIS whose axis has a name binds that name, so two
 * values for it are found whichever way they are written. */
#include "graph/passes.h"

#include "base/name_map.h"
#include "base/nearest.h"

#include <inttypes.h>
#include <string.h>

/* ---- One --dim */

static bool wrong_binding(Str text, Diags *diags, const char *what) {
    return diag_error(diags,
                      (DiagText){.place = "--dim",
                                 .what = what,
                                 .got = arena_text(diags->arena, STR_FMT, STR_ARG(text)),
                                 .expected = "NAME=VALUE or INPUT:AXIS=VALUE, VALUE a whole number from 0 to 2^48"});
}

static size_t last_of(Str text, char wanted) {
    size_t at = text.len;
    while (at > 0 && text.ptr[at - 1] != wanted) {
        at--;
    }
    return at; /* behind it; 0 where there is none */
}

bool dim_binding_parse(Str text, DimBinding *binding, Diags *diags) {
    uint64_t value, axis;
    *binding = (DimBinding){.axis = -1};
    size_t behind_sign = last_of(text, '=');
    if (behind_sign < 2) {
        return wrong_binding(text, diags, "a dimension needs a name and a value");
    }
    if (!str_to_u64((Str){text.ptr + behind_sign, text.len - behind_sign}, &value) || value > INT64_MAX) {
        return wrong_binding(text, diags, "the value of a dimension can't be used");
    }
    binding->value = (int64_t)value;
    binding->name = (Str){text.ptr, behind_sign - 1};
    size_t behind_colon = last_of(binding->name, ':');
    if (behind_colon >= 2 && str_to_u64((Str){text.ptr + behind_colon, binding->name.len - behind_colon}, &axis) &&
        axis <= INT32_MAX) {
        binding->axis = (int32_t)axis;
        binding->name.len = behind_colon - 1;
    }
    return true;
}

/* ---- Which binding is meant */

/* What is known of one binding. */
typedef struct {
    Str dim;              /* the name that the axis of INPUT:AXIS has, or empty */
    bool is_contradicted; /* by an earlier binding, and the user was told */
} Meaning;

/* A binding that a key may stand for, and the next one of that key, by its number in `links`. */
typedef struct {
    size_t binding;
    uint32_t next;
} Link;

enum { NO_LINK = 0 };

typedef struct {
    Graph *graph;
    Work *work;
    DimBinding *bindings;
    Meaning *meanings;
    size_t count;
    NameMap keys; /* names of dimensions and INPUT:AXIS -> first link: a model may have as many as it has inputs */
    Link *links;  /* from 1 on */
    uint32_t link_count;
    bool changed_file_shape; /* TFLite: the shapes that follow are the file's no longer */
} Binder;

static Str dim_name(const Value *value, uint32_t axis) {
    return value->dim_name == NULL ? (Str){NULL, 0} : value->dim_name[axis];
}

/* A dimension's name may itself end in :NUMBER. */
static bool is_name_of(const DimBinding *binding, Str name) {
    if (binding->axis < 0) {
        return name.len > 0 && str_eq(binding->name, name);
    }
    size_t behind_colon = last_of(name, ':');
    uint64_t number;
    return behind_colon >= 2 && str_eq(binding->name, (Str){name.ptr, behind_colon - 1}) &&
           str_to_u64((Str){name.ptr + behind_colon, name.len - behind_colon}, &number) &&
           number == (uint64_t)binding->axis;
}

static bool is_axis_of(const DimBinding *binding, const Value *value) {
    return value->is_input && value->has_shape && binding->axis >= 0 && (uint32_t)binding->axis < value->shape.rank &&
           str_eq(binding->name, value->name);
}

static Str key_of(const Binder *b, Str name, uint64_t axis) {
    return arena_format(&b->work->scratch, STR_FMT ":%" PRIu64, STR_ARG(name), axis);
}

/* From the last binding to the first, so that each key leads to them in their order. */
static void add_link(Binder *b, Str key, size_t binding) {
    uint32_t *first = name_map_add(&b->keys, key, NO_LINK);
    b->links[++b->link_count] = (Link){binding, *first};
    *first = b->link_count;
}

static void find_meanings(Binder *b) {
    NameMap inputs = name_map(&b->work->scratch);
    b->meanings = arena_array(&b->work->scratch, Meaning, b->count);
    b->keys = name_map(&b->work->scratch);
    b->links = arena_array(&b->work->scratch, Link, 2 * b->count + 1);
    for (uint32_t v = 0; v < b->graph->value_count; v++) {
        if (b->graph->values[v].is_input) {
            *name_map_add(&inputs, b->graph->values[v].name, v) = v;
        }
    }
    for (size_t k = b->count; k-- > 0;) {
        const DimBinding *binding = &b->bindings[k];
        const uint32_t *input = name_map_find(&inputs, binding->name);
        add_link(b, binding->axis < 0 ? binding->name : key_of(b, binding->name, (uint64_t)binding->axis), k);
        if (input != NULL && is_axis_of(binding, &b->graph->values[*input])) {
            b->meanings[k].dim = dim_name(&b->graph->values[*input], (uint32_t)binding->axis);
            add_link(b, b->meanings[k].dim, k);
        }
    }
}

static bool is_meant(const Binder *b, size_t k, const Value *value, uint32_t axis) {
    const DimBinding *binding = &b->bindings[k];
    Str name = dim_name(value, axis);
    return (is_axis_of(binding, value) && (uint32_t)binding->axis == axis) || is_name_of(binding, name) ||
           (name.len > 0 && str_eq(b->meanings[k].dim, name));
}

/* The bindings of one axis: begin with `at` 0. */
typedef struct {
    const Value *value;
    uint32_t axis;
    uint32_t at, link; /* keys that were looked up; the next link */
} Meant;

/* Its dimension's name; INPUT:AXIS that this name is written as; INPUT:AXIS of its own. */
static uint32_t first_link(const Binder *b, const Meant *meant, uint32_t at) {
    Str key = dim_name(meant->value, meant->axis);
    uint64_t number;
    size_t behind_colon = last_of(key, ':');
    if (at == 1) {
        bool is_numbered =
            behind_colon >= 2 && str_to_u64((Str){key.ptr + behind_colon, key.len - behind_colon}, &number);
        key = is_numbered ? key_of(b, (Str){key.ptr, behind_colon - 1}, number) : (Str){0};
    } else if (at == 2) {
        key = meant->value->is_input ? key_of(b, meant->value->name, meant->axis) : (Str){0};
    }
    const uint32_t *first = key.len == 0 ? NULL : name_map_find(&b->keys, key);
    return first == NULL ? NO_LINK : *first;
}

/* The next binding of the axis, some of them twice. False where there is none. */
static bool next_meant(const Binder *b, Meant *meant, size_t *binding) {
    enum { KEYS = 3 };
    while (meant->link != NO_LINK || meant->at < KEYS) {
        if (meant->link == NO_LINK) {
            meant->link = first_link(b, meant, meant->at++);
            continue;
        }
        *binding = b->links[meant->link].binding;
        meant->link = b->links[meant->link].next;
        if (is_meant(b, *binding, meant->value, meant->axis)) {
            return true;
        }
    }
    return false;
}

static const char *binding_text(const Binder *b, const DimBinding *binding) {
    Arena *arena = b->work->diags.arena;
    if (binding->axis < 0) {
        return arena_text(arena, "--dim " STR_FMT "=%" PRId64, STR_ARG(binding->name), binding->value);
    }
    return arena_text(arena, "--dim " STR_FMT ":%" PRId32 "=%" PRId64, STR_ARG(binding->name), binding->axis,
                      binding->value);
}

/* Each binding is told once, however many axes it is for. */
static bool contradiction(const Binder *b, size_t k, const DimBinding *earlier, const Value *value) {
    const DimBinding *binding = &b->bindings[k];
    bool is_repeated = binding->axis == earlier->axis && str_eq(binding->name, earlier->name);
    if (!b->meanings[k].is_contradicted) {
        b->meanings[k].is_contradicted = true;
        diag_error(&b->work->diags,
                   (DiagText){.place = "--dim",
                              .tensor = value->name,
                              .what = is_repeated ? "a dimension is given twice" : "two values for one dimension",
                              .got = binding_text(b, binding),
                              .expected = binding_text(b, earlier)});
    }
    return false;
}

/* The first binding of this axis, null where there is none. False where another one disagrees. */
static bool find_binding(const Binder *b, const Value *value, uint32_t axis, const DimBinding **found) {
    const Meant all = {.value = value, .axis = axis};
    bool agree = true;
    size_t k, first = b->count;
    for (Meant meant = all; next_meant(b, &meant, &k);) {
        first = k < first ? k : first;
    }
    *found = first < b->count ? &b->bindings[first] : NULL;
    for (Meant meant = all; next_meant(b, &meant, &k);) {
        if (b->bindings[k].value != (*found)->value) {
            agree = contradiction(b, k, *found, value);
        }
    }
    return agree;
}

/* ---- Binding */

static bool refuse_free(const Binder *b, const Value *value, uint32_t axis) {
    Arena *arena = b->work->diags.arena;
    Str name = dim_name(value, axis);
    const char *hint = name.len > 0
                           ? arena_text(arena, "pass --dim " STR_FMT "=VALUE", STR_ARG(name))
                           : arena_text(arena, "pass --dim " STR_FMT ":%" PRIu32 "=VALUE", STR_ARG(value->name), axis);
    return diag_refuse(&b->work->diags,
                       (DiagText){.tensor = value->name,
                                  .what = arena_text(arena, "axis %" PRIu32 " of the input has no fixed extent", axis),
                                  .got = shape_text(arena, &value->shape).ptr,
                                  .expected = "a whole number",
                                  .hint = hint});
}

static bool bind_axis(Binder *b, Value *value, uint32_t axis) {
    const DimBinding *binding;
    int64_t *extent = &value->shape.dim[axis];
    if (!find_binding(b, value, axis, &binding)) {
        return false;
    }
    if (binding == NULL) {
        return *extent >= 0 || !value->is_input || refuse_free(b, value, axis);
    }
    if (*extent >= 0 && dim_name(value, axis).len == 0 && *extent != binding->value) {
        return diag_error(&b->work->diags, (DiagText){.place = "--dim",
                                                      .tensor = value->name,
                                                      .what = "the file fixes this dimension to another value",
                                                      .got = binding_text(b, binding),
                                                      .expected = shape_text(b->work->diags.arena, &value->shape).ptr});
    }
    b->changed_file_shape = b->changed_file_shape || (*extent >= 0 && *extent != binding->value);
    *extent = binding->value;
    return true;
}

static bool bind_value(Binder *b, Value *value) {
    if (value->is_input && !value->has_shape && !value->is_sequence) {
        return diag_refuse(&b->work->diags, (DiagText){.tensor = value->name,
                                                       .what = "the file does not state the shape of this input",
                                                       .hint = "export the model with the shapes of its inputs"});
    }
    bool sound = true;
    for (uint32_t axis = 0; value->has_shape && axis < value->shape.rank; axis++) {
        sound = bind_axis(b, value, axis) && sound;
    }
    return sound;
}

static void forget_file_shapes(Graph *graph) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        Value *value = &graph->values[v];
        if (!value->is_input && !value->is_state && value->constant == NULL) {
            value->has_shape = false;
            value->shape = (Shape){0};
            value->dim_name = NULL;
        }
    }
}

/* Before anything is bound: messages list what is free. */
static void find_used(const Binder *b) {
    for (uint32_t v = 0; v < b->graph->value_count; v++) {
        const Value *value = &b->graph->values[v];
        for (uint32_t axis = 0; value->has_shape && axis < value->shape.rank; axis++) {
            size_t k;
            for (Meant meant = {.value = value, .axis = axis}; next_meant(b, &meant, &k);) {
                b->bindings[k].was_used = true;
            }
        }
    }
}

/* "batch (X:0), Y:2": what a --dim could have meant, the first few. */
static const char *free_dims_text(const Binder *b) {
    enum { MOST_SHOWN = 8 };
    int shown = 0;
    Arena *arena = b->work->diags.arena;
    const char *text = "";
    for (uint32_t v = 0; v < b->graph->value_count; v++) {
        const Value *value = &b->graph->values[v];
        for (uint32_t axis = 0; value->is_input && value->has_shape && axis < value->shape.rank; axis++) {
            Str name = dim_name(value, axis);
            bool is_free = name.len > 0 || value->shape.dim[axis] < 0;
            if (!is_free || shown++ >= MOST_SHOWN) {
                continue;
            }
            const char *comma = text[0] == '\0' ? "" : ", ";
            text = name.len > 0
                       ? arena_text(arena, "%s%s" STR_FMT " (" STR_FMT ":%" PRIu32 ")", text, comma, STR_ARG(name),
                                    STR_ARG(value->name), axis)
                       : arena_text(arena, "%s%s" STR_FMT ":%" PRIu32, text, comma, STR_ARG(value->name), axis);
        }
    }
    return text[0] == '\0' ? "no dimension of this model is free" : text;
}

/* The name of a free dimension, or INPUT:AXIS: whichever was nearly typed. */
static const char *nearest_dim(const Binder *b, const DimBinding *binding) {
    Arena *arena = b->work->diags.arena;
    Str typed = binding->name;
    if (binding->axis >= 0) {
        typed = arena_format(arena, STR_FMT ":%" PRId32, STR_ARG(binding->name), binding->axis);
    }
    Nearest nearest = {.typed = typed};
    for (uint32_t v = 0; v < b->graph->value_count; v++) {
        const Value *value = &b->graph->values[v];
        for (uint32_t axis = 0; value->is_input && value->has_shape && axis < value->shape.rank; axis++) {
            Str name = dim_name(value, axis);
            nearest_offer(&nearest, name);
            if (name.len > 0 || value->shape.dim[axis] < 0) {
                nearest_offer(&nearest, arena_format(arena, STR_FMT ":%" PRIu32, STR_ARG(value->name), axis));
            }
        }
    }
    return nearest_hint(arena, &nearest, NULL);
}

static bool check_all_used(const Binder *b) {
    bool sound = true;
    for (size_t k = 0; k < b->count; k++) {
        if (!b->bindings[k].was_used) {
            sound = diag_error(&b->work->diags,
                               (DiagText){.place = "--dim",
                                          .what = "no dimension of this name, no input of this name and axis",
                                          .got = binding_text(b, &b->bindings[k]),
                                          .expected = free_dims_text(b),
                                          .hint = nearest_dim(b, &b->bindings[k])});
        }
    }
    return sound;
}

bool graph_check_dims(Graph *graph, DimBinding *bindings, size_t count, Work *work) {
    Binder b = {.graph = graph, .work = work, .bindings = bindings, .count = count};
    find_meanings(&b);
    find_used(&b);
    return check_all_used(&b);
}

bool graph_bind_dims(Graph *graph, DimBinding *bindings, size_t count, Work *work) {
    Binder b = {.graph = graph, .work = work, .bindings = bindings, .count = count};
    bool sound = true;
    find_meanings(&b);
    find_used(&b);
    if (!check_all_used(&b)) {
        return false; /* that an input is free then would be a second message about one slip */
    }
    for (uint32_t v = 0; v < graph->value_count; v++) {
        sound = bind_value(&b, &graph->values[v]) && sound;
    }
    if (sound && b.changed_file_shape && graph->format == FORMAT_TFLITE) {
        forget_file_shapes(graph);
    }
    return sound;
}

/* Its name, or INPUT:AXIS where it has none; once each. */
static void note_free(const Value *value, uint32_t axis, NameMap *known, DimBinding *dims, size_t *count) {
    Str name = dim_name(value, axis);
    bool has_name = name.len > 0;
    if (has_name && name_map_find(known, name) != NULL) {
        return;
    }
    if (has_name) {
        name_map_add(known, name, 0);
    }
    dims[(*count)++] = (DimBinding){.name = has_name ? name : value->name, .axis = has_name ? -1 : (int32_t)axis};
}

DimBinding *graph_free_dims(const Graph *graph, Arena *arena, size_t *count) {
    const Block *main = graph_main(graph);
    DimBinding *dims = arena_array(arena, DimBinding, (size_t)main->input_count * SHAPE_MAX_RANK);
    NameMap known = name_map(arena);
    *count = 0;
    for (uint32_t k = 0; k < main->input_count; k++) {
        const Value *value = graph_value(graph, main->inputs[k]);
        for (uint32_t axis = 0; value->has_shape && axis < value->shape.rank; axis++) {
            if (value->shape.dim[axis] < 0 || dim_name(value, axis).len > 0) {
                note_free(value, axis, &known, dims, count);
            }
        }
    }
    return dims;
}
