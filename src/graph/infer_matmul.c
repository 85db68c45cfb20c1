/* Shape rules of matrix products. */
#include "graph/infer.h"

static bool bad_product(Infer *in, uint32_t a, uint32_t b) {
    const Value *left = infer_optional(in, a);
    const Value *right = infer_optional(in, b);
    return infer_error(
        in, b, "the matrices do not fit",
        arena_text(&in->work->keep, "%s of '" STR_FMT "'", infer_shape_text(in, &right->shape), STR_ARG(right->name)),
        arena_text(&in->work->keep, "a factor for %s of '" STR_FMT "'", infer_shape_text(in, &left->shape),
                   STR_ARG(left->name)));
}

/* One factor: leading axes, then rows and columns. */
typedef struct {
    Shape batch;
    int64_t rows, columns;
} Factor;

static Factor read_factor(const Shape *shape, bool is_transposed) {
    Factor factor = {.batch = *shape};
    factor.batch.rank -= 2;
    int64_t last[2] = {shape->dim[shape->rank - 2], shape->dim[shape->rank - 1]};
    factor.rows = last[is_transposed];
    factor.columns = last[!is_transposed];
    return factor;
}

/* NumPy's matmul of inputs `a` and `b`: a vector is a row on the left and a column on the right, and drops out. */
static bool matmul_shape(Infer *in, uint32_t a, uint32_t b, const bool is_transposed[2], Shape *out) {
    const Value *left = infer_need(in, a);
    const Value *right = infer_need(in, b);
    if (left == NULL || right == NULL) {
        return false;
    }
    Shape l = left->shape, r = right->shape;
    if (l.rank == 0 || r.rank == 0) {
        return bad_product(in, a, b);
    }
    bool is_row = l.rank == 1, is_column = r.rank == 1;
    if (is_row) {
        l = (Shape){.rank = 2, .dim = {1, l.dim[0]}};
    }
    if (is_column) {
        r = (Shape){.rank = 2, .dim = {r.dim[0], 1}};
    }
    Factor x = read_factor(&l, is_transposed[0] && !is_row);
    Factor w = read_factor(&r, is_transposed[1] && !is_column);
    *out = x.batch;
    if (x.columns != w.rows || !shape_broadcast(out, &w.batch)) {
        return bad_product(in, a, b);
    }
    return (is_row || infer_push(in, out, x.rows)) && (is_column || infer_push(in, out, w.columns));
}

bool infer_matmul(Infer *in) {
    const bool plain[2] = {false, false};
    Shape out;
    return matmul_shape(in, 0, 1, plain, &out) && infer_out(in, 0, infer_need(in, 0)->dtype, &out);
}

bool infer_matmul_integer(Infer *in) {
    const bool plain[2] = {false, false};
    Shape out;
    return matmul_shape(in, 0, 1, plain, &out) && infer_out(in, 0, DTYPE_I32, &out);
}

bool infer_qlinear_matmul(Infer *in) {
    const bool plain[2] = {false, false};
    const Value *zero_point = node_input(in->graph, in->node, 7);
    Shape out;
    return matmul_shape(in, 0, 3, plain, &out) &&
           infer_out(in, 0, zero_point == NULL ? DTYPE_NONE : zero_point->dtype, &out);
}

bool infer_matmul_to_float(Infer *in) {
    const bool plain[2] = {false, false};
    const Value *scale = node_input(in->graph, in->node, 2);
    Shape out;
    return matmul_shape(in, 0, 1, plain, &out) && infer_out(in, 0, scale == NULL ? DTYPE_F32 : scale->dtype, &out);
}

bool infer_batch_matmul(Infer *in) {
    const bool is_transposed[2] = {node_int(in->node, "adj_x", 0) != 0, node_int(in->node, "adj_y", 0) != 0};
    Shape out;
    return matmul_shape(in, 0, 1, is_transposed, &out) && infer_out(in, 0, DTYPE_NONE, &out);
}

bool infer_gemm(Infer *in) {
    const Value *a = infer_need(in, 0);
    const Value *b = infer_need(in, 1);
    if (a == NULL || b == NULL) {
        return false;
    }
    if (a->shape.rank != 2 || b->shape.rank != 2) {
        return infer_error(in, a->shape.rank != 2 ? 0 : 1, "Gemm multiplies matrices",
                           infer_shape_text(in, a->shape.rank != 2 ? &a->shape : &b->shape), "rank 2");
    }
    Factor x = read_factor(&a->shape, node_int(in->node, "transA", 0) != 0);
    Factor w = read_factor(&b->shape, node_int(in->node, "transB", 0) != 0);
    if (x.columns != w.rows) {
        return bad_product(in, 0, 1);
    }
    Shape out = {.rank = 2, .dim = {x.rows, w.columns}};
    const Value *c = infer_optional(in, 2);
    Shape sum = out;
    if (c != NULL && (!shape_broadcast(&sum, &c->shape) || !shape_eq(&sum, &out))) {
        return infer_error(in, 2, "the bias does not broadcast to the product", infer_shape_text(in, &c->shape),
                           arena_text(&in->work->keep, "a shape that repeats along %s", infer_shape_text(in, &out)));
    }
    return infer_out(in, 0, a->dtype, &out);
}

/* TFLite: weights are [outputs, inputs]; leading axes of the data stay, or become one batch axis. */
bool infer_fully_connected(Infer *in) {
    const Value *x = infer_need(in, 0);
    const Value *w = infer_need(in, 1);
    int64_t elements;
    if (x == NULL || w == NULL || !infer_product(in, &x->shape, 0, x->shape.rank, &elements)) {
        return false;
    }
    bool keeps = node_int(in->node, "keep_num_dims", 0) != 0;
    int64_t columns = w->shape.rank == 2 ? w->shape.dim[1] : 0;
    bool fits = columns > 0 && elements % columns == 0 && x->shape.rank > 0;
    if (!fits || (keeps && x->shape.dim[x->shape.rank - 1] != columns)) {
        return bad_product(in, 0, 1);
    }
    Shape out = {.rank = 2, .dim = {elements / columns, w->shape.dim[0]}};
    if (keeps) {
        out = x->shape;
        out.dim[out.rank - 1] = w->shape.dim[0];
    }
    return infer_out(in, 0, DTYPE_NONE, &out);
}

/* Einsum: the extent of each letter. `...` counts as letters '0' + axis, aligned from the right. */
typedef struct {
    bool is_known[128];
    int64_t extent[128];
    uint32_t ellipsis; /* axes that `...` stands for in the widest operand */
    uint8_t uses[128]; /* operands that name the letter */
} Letters;

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* The letters of one term, without blanks; `...` becomes `axes` digits that end at '7'. False where it is malformed. */
static bool read_term(Str term, uint32_t axes, char letters[SHAPE_MAX_RANK], uint32_t *count) {
    *count = 0;
    for (size_t k = 0; k < term.len; k++) {
        if (term.ptr[k] == ' ') {
            continue;
        }
        bool is_dots = term.len - k >= 3 && term.ptr[k] == '.' && term.ptr[k + 1] == '.' && term.ptr[k + 2] == '.';
        uint32_t more = is_dots ? axes : 1;
        if ((!is_dots && !is_letter(term.ptr[k])) || *count + more > SHAPE_MAX_RANK) {
            return false;
        }
        for (uint32_t axis = 0; axis < more; axis++) {
            letters[(*count)++] = is_dots ? (char)('0' + SHAPE_MAX_RANK - axes + axis) : term.ptr[k];
        }
        k += is_dots ? 2 : 0;
    }
    return true;
}

static uint32_t plain_letters(Str term, bool *has_dots) {
    uint32_t count = 0;
    *has_dots = false;
    for (size_t k = 0; k < term.len; k++) {
        count += is_letter(term.ptr[k]);
        *has_dots = *has_dots || term.ptr[k] == '.';
    }
    return count;
}

static bool read_operand(Str term, const Shape *shape, Letters *all) {
    char letters[SHAPE_MAX_RANK];
    uint32_t count;
    bool has_dots;
    uint32_t plain = plain_letters(term, &has_dots);
    uint32_t axes = has_dots && shape->rank >= plain ? shape->rank - plain : 0;
    if (!read_term(term, axes, letters, &count) || count != shape->rank) {
        return false;
    }
    all->ellipsis = axes > all->ellipsis ? axes : all->ellipsis;
    for (uint32_t k = 0; k < count; k++) {
        unsigned char letter = (unsigned char)letters[k];
        int64_t extent = shape->dim[k];
        all->uses[letter]++;
        if (!all->is_known[letter] || all->extent[letter] == 1) {
            all->extent[letter] = extent;
            all->is_known[letter] = true;
        } else if (extent != 1 && extent != all->extent[letter]) {
            return false;
        }
    }
    return true;
}

/* Without "->": the ellipsis, then the letters that stand once, in the order of the alphabet. */
static bool implicit_output(Infer *in, const Letters *all, Shape *out) {
    for (uint32_t letter = 0; letter < 128; letter++) {
        bool is_axis = letter < 'A' ? all->is_known[letter] : all->uses[letter] == 1;
        if (is_axis && !infer_push(in, out, all->extent[letter])) {
            return false;
        }
    }
    return true;
}

bool infer_einsum(Infer *in) {
    Str equation = node_str(in->node, "equation");
    Letters all = {.ellipsis = 0};
    size_t arrow = 0;
    while (arrow + 1 < equation.len && !(equation.ptr[arrow] == '-' && equation.ptr[arrow + 1] == '>')) {
        arrow++;
    }
    bool has_arrow = arrow + 1 < equation.len;
    Str operands = {equation.ptr, has_arrow ? arrow : equation.len};
    for (uint32_t k = 0; k < in->node->input_count; k++) {
        const Value *x = infer_need(in, k);
        if (x == NULL) {
            return false;
        }
        if (!read_operand(str_trim(str_cut(&operands, ',')), &x->shape, &all)) {
            return infer_error(in, k, "the equation does not fit the operand", infer_shape_text(in, &x->shape),
                               arena_str(&in->work->keep, equation).ptr);
        }
    }
    Shape out = {.rank = 0};
    if (!has_arrow) {
        return implicit_output(in, &all, &out) && infer_out(in, 0, DTYPE_NONE, &out);
    }
    char letters[SHAPE_MAX_RANK];
    uint32_t count;
    Str term = str_trim((Str){equation.ptr + arrow + 2, equation.len - arrow - 2});
    bool fits = read_term(term, all.ellipsis, letters, &count);
    for (uint32_t k = 0; fits && k < count; k++) {
        fits = all.is_known[(unsigned char)letters[k]];
        out.dim[out.rank++] = all.extent[(unsigned char)letters[k]];
    }
    return fits ? infer_out(in, 0, infer_need(in, 0)->dtype, &out)
                : infer_error(in, 0, "the equation's output names an unknown letter",
                              arena_str(&in->work->keep, equation).ptr, NULL);
}
