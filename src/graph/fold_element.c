/* Element-wise operators on cells.
 *
 * Integers are computed in 64 bits and wrap; storing truncates them to their width. Float32 is computed in double and
 * rounded when stored, which for + - * / and the square root is the float32 result: double has more than twice its
 * digits and two. Operators whose float32 result depends on a library (exp, pow) are not evaluated. */
#include "graph/fold_element.h"

#include <math.h>

static int64_t wrap_add(int64_t a, int64_t b) {
    int64_t sum;
    (void)__builtin_add_overflow(a, b, &sum);
    return sum;
}

static int64_t wrap_sub(int64_t a, int64_t b) {
    int64_t difference;
    (void)__builtin_sub_overflow(a, b, &difference);
    return difference;
}

static int64_t wrap_mul(int64_t a, int64_t b) {
    int64_t product;
    (void)__builtin_mul_overflow(a, b, &product);
    return product;
}

static bool can_divide(int64_t a, int64_t b) {
    return b != 0 && !(a == INT64_MIN && b == -1);
}

static int64_t floor_mod(int64_t a, int64_t b) {
    int64_t rest = a % b;
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static bool int_division(const Node *node, int64_t a, int64_t b, int64_t *out) {
    if (!can_divide(a, b)) {
        return false;
    }
    switch (node->op) {
    case OP_DIV:
        *out = a / b;
        return true;
    case OP_FLOOR_DIV:
        *out = a / b - (a % b != 0 && (a < 0) != (b < 0));
        return true;
    case OP_MOD:
        *out = node_int(node, "fmod", 0) != 0 ? a % b : floor_mod(a, b);
        return true;
    case OP_FLOOR_MOD:
        *out = floor_mod(a, b);
        return true;
    default:
        return false;
    }
}

static bool int_pair(const Node *node, int64_t a, int64_t b, int64_t *out) {
    switch (node->op) {
    case OP_ADD:
    case OP_SUM:
        *out = wrap_add(a, b);
        return true;
    case OP_SUB:
        *out = wrap_sub(a, b);
        return true;
    case OP_MUL:
        *out = wrap_mul(a, b);
        return true;
    case OP_MAX:
        *out = a > b ? a : b;
        return true;
    case OP_MIN:
        *out = a < b ? a : b;
        return true;
    case OP_AND:
    case OP_BITWISE_AND:
        *out = a & b;
        return true;
    case OP_OR:
    case OP_BITWISE_OR:
        *out = a | b;
        return true;
    case OP_XOR:
    case OP_BITWISE_XOR:
        *out = a ^ b;
        return true;
    default:
        return int_division(node, a, b, out);
    }
}

static bool float_pair(const Node *node, double a, double b, double *out) {
    switch (node->op) {
    case OP_ADD:
        *out = a + b;
        return true;
    case OP_SUB:
        *out = a - b;
        return true;
    case OP_MUL:
        *out = a * b;
        return true;
    case OP_DIV:
        *out = a / b;
        return true;
    case OP_MAX:
        *out = isnan(a) || a > b ? a : b;
        return true;
    case OP_MIN:
        *out = isnan(a) || a < b ? a : b;
        return true;
    default:
        return false;
    }
}

static bool compare(OpId op, int order, bool is_ordered, int64_t *out) {
    switch (op) {
    case OP_EQUAL:
        *out = is_ordered && order == 0;
        return true;
    case OP_NOT_EQUAL:
        *out = !is_ordered || order != 0;
        return true;
    case OP_LESS:
        *out = is_ordered && order < 0;
        return true;
    case OP_LESS_EQUAL:
        *out = is_ordered && order <= 0;
        return true;
    case OP_GREATER:
        *out = is_ordered && order > 0;
        return true;
    case OP_GREATER_EQUAL:
        *out = is_ordered && order >= 0;
        return true;
    default:
        return false;
    }
}

static bool int_one(OpId op, int64_t x, int64_t *out) {
    switch (op) {
    case OP_NEG:
        *out = wrap_sub(0, x);
        return true;
    case OP_ABS:
        *out = x < 0 ? wrap_sub(0, x) : x;
        return true;
    case OP_SIGN:
        *out = (x > 0) - (x < 0);
        return true;
    case OP_NOT:
        *out = x == 0;
        return true;
    case OP_RELU:
        *out = x > 0 ? x : 0;
        return true;
    default:
        return false;
    }
}

static bool float_one(OpId op, double x, double *out) {
    switch (op) {
    case OP_NEG:
        *out = -x;
        return true;
    case OP_ABS:
        *out = fabs(x);
        return true;
    case OP_FLOOR:
        *out = floor(x);
        return true;
    case OP_CEIL:
        *out = ceil(x);
        return true;
    case OP_SQRT:
        *out = sqrt(x);
        return true;
    case OP_RELU:
        *out = x > 0 || isnan(x) ? x : 0;
        return true;
    default:
        return false;
    }
}

bool fold_cast(DType from, DType to, Cell x, Cell *out) {
    bool is_float = dtype_is_float(from);
    const int64_t exact = (int64_t)1 << 53; /* a double holds every integer up to here */
    if (dtype_is_float(to)) {
        if (!is_float && (x.i > exact || x.i < -exact)) {
            return false;
        }
        out->f = is_float ? x.f : (double)x.i;
        return true;
    }
    if (dtype_kind(to) == DTYPE_KIND_BOOL) {
        out->i = is_float ? x.f != 0 : x.i != 0;
        return true;
    }
    const double end = 9223372036854775808.0; /* 2^63 */
    if (is_float && !(x.f >= -end && x.f < end)) {
        return false;
    }
    out->i = is_float ? (int64_t)x.f : x.i;
    return true;
}

static bool is_comparison(OpId op) {
    int64_t ignored;
    return compare(op, 0, true, &ignored);
}

bool fold_element_fits(const Node *node, const Tensor *x, uint32_t count, DType to) {
    if (node->op == OP_CAST) {
        return count == 1;
    }
    bool is_where = node->op == OP_WHERE;
    if (is_where && (count != 3 || x[0].dtype != DTYPE_BOOL)) {
        return false;
    }
    uint32_t first = is_where ? 1 : 0;
    for (uint32_t k = first + 1; k < count; k++) {
        if (x[k].dtype != x[first].dtype) {
            return false;
        }
    }
    return to == (is_comparison(node->op) ? DTYPE_BOOL : x[first].dtype);
}

bool fold_element(const Node *node, DType dtype, const Cell *x, uint32_t count, Cell *out) {
    bool is_float = dtype_is_float(dtype);
    if (count == 1) {
        return is_float ? float_one(node->op, x[0].f, &out->f) : int_one(node->op, x[0].i, &out->i);
    }
    if (count == 2) {
        bool is_ordered = !is_float || !(isnan(x[0].f) || isnan(x[1].f));
        int order = is_float ? (x[0].f > x[1].f) - (x[0].f < x[1].f) : (x[0].i > x[1].i) - (x[0].i < x[1].i);
        return compare(node->op, order, is_ordered, &out->i) ||
               (is_float ? float_pair(node, x[0].f, x[1].f, &out->f) : int_pair(node, x[0].i, x[1].i, &out->i));
    }
    return false;
}
