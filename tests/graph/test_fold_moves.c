/* Proves that what folds, of operators that move elements, equals an evaluation index by index, whatever the file says
 * of the output's shape: bounds of slices wild, axes counted from either end, extents of 0. Also that a walk over
 * elements that would leave its input is not begun. */
#include "support.h"

#include "graph/fold_tensor.h"
#include "graph/passes.h"
#include "support/random.h"

enum { MOVE_RANK = 3, MOVES_EACH = 400 };

typedef struct {
    uint64_t random;
    FILE *out;
} Draw;

static uint32_t below(Draw *d, uint32_t count) {
    return (uint32_t)random_below(&d->random, count);
}

/* The input holds its own positions. */
typedef struct {
    uint32_t rank, axis;
    int64_t x[MOVE_RANK], out[MOVE_RANK];
    int64_t list[MOVE_RANK], steps[MOVE_RANK], picks[8];
} Move;

/* `draw` states what stands behind "node " and fills the extents of y; `from` turns an index of y into one of x. */
typedef struct {
    const char *name;
    void (*draw)(Draw *d, Move *m);
    void (*from)(const Move *m, int64_t *at);
} MoveFamily;

static void state_list(Draw *d, const char *name, const int64_t *at, uint32_t count) {
    fprintf(d->out, "const %s int64[%u] =", name, count);
    for (uint32_t k = 0; k < count; k++) {
        fprintf(d->out, " %lld", (long long)at[k]);
    }
    fputc('\n', d->out);
}

static void draw_transpose(Draw *d, Move *m) {
    for (uint32_t k = 0; k < m->rank; k++) {
        uint32_t other = below(d, k + 1);
        m->list[k] = m->list[other];
        m->list[other] = k;
    }
    fprintf(d->out, "node Transpose: x -> y perm=[");
    for (uint32_t k = 0; k < m->rank; k++) {
        m->out[k] = m->x[m->list[k]];
        fprintf(d->out, "%s%lld", k > 0 ? "," : "", (long long)m->list[k] - (below(d, 2) == 0 ? m->rank : 0));
    }
    fputs("]\n", d->out);
}

static void from_transpose(const Move *m, int64_t *at) {
    int64_t out[MOVE_RANK] = {0};
    memcpy(out, at, sizeof out);
    for (uint32_t k = 0; k < m->rank; k++) {
        at[m->list[k]] = out[k];
    }
}

/* As Python counts: clamped, from the end where negative. */
static int64_t python_bound(int64_t at, int64_t extent, bool is_forward) {
    int64_t low = is_forward ? 0 : -1, high = is_forward ? extent : extent - 1;
    at = at < -extent ? low : at < 0 ? at + extent : at;
    return at > high ? high : at;
}

static void draw_slice(Draw *d, Move *m) {
    static const int64_t wild[] = {INT64_MIN, INT64_MAX, -65536, 65536, 0, -1, 1, 2}, steps[] = {1, 2, -1, -2};
    int64_t starts[MOVE_RANK], ends[MOVE_RANK], axes[MOVE_RANK];
    for (uint32_t k = 0; k < m->rank; k++) {
        starts[k] = wild[below(d, 8)];
        ends[k] = wild[below(d, 8)];
        axes[k] = (int64_t)k - (below(d, 2) == 0 ? m->rank : 0);
        m->steps[k] = below(d, 16) == 0 ? wild[below(d, 2)] : steps[below(d, 4)];
        bool is_forward = m->steps[k] > 0;
        int64_t end = python_bound(ends[k], m->x[k], is_forward), at = python_bound(starts[k], m->x[k], is_forward);
        m->list[k] = at;
        for (bool ends_here = false; !ends_here && (is_forward ? at < end : at > end); m->out[k]++) {
            ends_here = __builtin_add_overflow(at, m->steps[k], &at);
        }
    }
    state_list(d, "s", starts, m->rank);
    state_list(d, "e", ends, m->rank);
    state_list(d, "a", axes, m->rank);
    state_list(d, "t", m->steps, m->rank);
    fputs("node Slice: x s e a t -> y\n", d->out);
}

static void from_slice(const Move *m, int64_t *at) {
    for (uint32_t k = 0; k < m->rank; k++) {
        at[k] = m->list[k] + (at[k] == 0 ? 0 : at[k] * m->steps[k]);
    }
}

static void draw_tile(Draw *d, Move *m) {
    for (uint32_t k = 0; k < m->rank; k++) {
        m->list[k] = below(d, 4);
        m->out[k] = m->x[k] * m->list[k];
    }
    state_list(d, "n", m->list, m->rank);
    fputs("node Tile: x n -> y\n", d->out);
}

static void from_tile(const Move *m, int64_t *at) {
    for (uint32_t k = 0; k < m->rank; k++) {
        at[k] %= m->x[k];
    }
}

static void draw_gather(Draw *d, Move *m) {
    uint32_t count = m->x[m->axis] == 0 ? 0 : below(d, 5);
    memcpy(m->out, m->x, sizeof m->out);
    m->out[m->axis] = count;
    for (uint32_t k = 0; k < count; k++) {
        m->picks[k] = (int64_t)below(d, 2 * (uint32_t)m->x[m->axis]) - m->x[m->axis];
    }
    state_list(d, "i", m->picks, count);
    fprintf(d->out, "node Gather: x i -> y axis=%d\n", (int)m->axis - (below(d, 2) == 0 ? (int)m->rank : 0));
}

static void from_gather(const Move *m, int64_t *at) {
    int64_t pick = m->picks[at[m->axis]];
    at[m->axis] = pick < 0 ? pick + m->x[m->axis] : pick;
}

/* The second of three parts. */
static void draw_split(Draw *d, Move *m) {
    int64_t extent = m->x[m->axis], first = below(d, (uint32_t)extent + 1);
    int64_t second = below(d, (uint32_t)(extent - first) + 1), parts[] = {first, second, extent - first - second};
    memcpy(m->out, m->x, sizeof m->out);
    m->out[m->axis] = second;
    m->list[0] = first;
    state_list(d, "s", parts, 3);
    fprintf(d->out, "value p int32[7]\nvalue q int32[1,9]\nnode Split: x s -> p y q axis=%u\n", m->axis);
}

static void from_split(const Move *m, int64_t *at) {
    at[m->axis] += m->list[0];
}

static void draw_concat(Draw *d, Move *m) {
    memcpy(m->out, m->x, sizeof m->out);
    m->list[0] = below(d, 2);
    m->out[m->axis] = m->list[0] == 0 ? m->x[m->axis] : 2 * m->x[m->axis];
    fprintf(d->out, "node Concat: x%s -> y axis=%u\n", m->list[0] == 0 ? "" : " x", m->axis);
}

static void from_concat(const Move *m, int64_t *at) {
    at[m->axis] %= m->x[m->axis];
}

static const MoveFamily moves[] = {
    {"Transpose", draw_transpose, from_transpose},
    {"Slice", draw_slice, from_slice},
    {"Tile", draw_tile, from_tile},
    {"Gather", draw_gather, from_gather},
    {"Split", draw_split, from_split},
    {"Concat", draw_concat, from_concat},
};

static void draw_move(Draw *d, const MoveFamily *family, Move *m) {
    static const char *const wrong[] = {"", "[]", "[0]", "[7,1]", "[5000]", "[1,1,1,1,1,1,1,9223372036854775807]"};
    int64_t elements = 1;
    m->rank = 1 + below(d, MOVE_RANK);
    m->axis = below(d, m->rank);
    fputs("format onnx 13\nconst x int32[", d->out);
    for (uint32_t k = 0; k < m->rank; k++) {
        m->x[k] = below(d, 12) == 0 ? 0 : 1 + below(d, 4);
        elements *= m->x[k];
        fprintf(d->out, "%s%lld", k > 0 ? "," : "", (long long)m->x[k]);
    }
    fputs("] =", d->out);
    for (int64_t k = 0; k < elements; k++) {
        fprintf(d->out, " %lld", (long long)k);
    }
    fprintf(d->out, "\nvalue y int32%s\n", wrong[below(d, 6)]);
    family->draw(d, m);
    fputs("output y\n", d->out);
}

/* The position in x that stands at position `k` of y. */
static int64_t moved(const MoveFamily *family, const Move *m, int64_t k) {
    int64_t at[MOVE_RANK] = {0}, place = 0;
    for (uint32_t axis = m->rank; axis-- > 0;) {
        at[axis] = k % m->out[axis];
        k /= m->out[axis];
    }
    family->from(m, at);
    for (uint32_t axis = 0; axis < m->rank; axis++) {
        assert_true(at[axis] >= 0 && at[axis] < m->x[axis]);
        place = place * m->x[axis] + at[axis];
    }
    return place;
}

static void check_move(Work *work, const MoveFamily *family, const Move *m, const char *body) {
    Graph *graph = parse_sound(work, body);
    Ints ints;
    if (!graph_infer(graph, work) || !const_ints(value_of(graph, "y"), &work->keep, &ints)) {
        diags_print(&work->diags, "", stderr);
        fail_msg("%s\n%s does not fold", body, family->name);
    }
    int64_t elements = 1;
    for (uint32_t k = 0; k < m->rank; k++) {
        assert_int_equal(value_of(graph, "y")->shape.dim[k], m->out[k]);
        elements *= m->out[k];
    }
    assert_int_equal(ints.count, elements);
    for (uint32_t k = 0; k < ints.count; k++) {
        if (ints.at[k] != moved(family, m, k)) {
            fail_msg("%s\nelement %u is %lld, not %lld", body, k, (long long)ints.at[k],
                     (long long)moved(family, m, k));
        }
    }
}

static void draw_and_check_move(const MoveFamily *family, uint64_t turn) {
    Work work;
    char *body = NULL;
    size_t length = 0;
    Move m = {0};
    Draw d = {.random = (turn + 1) * 0x9E3779B97F4A7C15u};
    d.out = open_memstream(&body, &length);
    assert_non_null(d.out);
    draw_move(&d, family, &m);
    fclose(d.out);
    WORK_BEGIN(&work);
    check_move(&work, family, &m, body);
    work_free(&work);
    free(body);
}

static void test_moves(void **state) {
    (void)state;
    for (size_t k = 0; k < sizeof moves / sizeof moves[0]; k++) {
        for (uint64_t turn = 0; turn < MOVES_EACH; turn++) {
            draw_and_check_move(&moves[k], turn);
        }
    }
}

/* Walks over an input of 6 elements. */
static void test_walks(void **state) {
    static const struct {
        int64_t base, extent[2], stride[2];
        bool fits;
    } walks[] = {
        {0, {2, 3}, {3, 1}, true},          {5, {2, 3}, {-3, -1}, true},        {2, {2, 3}, {3, -1}, true},
        {1, {2, 3}, {3, 1}, false},         {4, {2, 3}, {-3, -1}, false},       {-1, {1, 1}, {0, 0}, false},
        {6, {1, 1}, {0, 0}, false},         {5, {1, 1}, {1, 1}, true},          {0, {2, 3}, {INT64_MAX, 1}, false},
        {0, {2, 3}, {INT64_MIN, 1}, false}, {0, {2, 3}, {1, INT64_MAX}, false}, {99, {0, 3}, {1, 1}, true},
    };
    Cell from_cell[6], cell[6];
    memset(from_cell, 0, sizeof from_cell);
    const Tensor from = {.dtype = DTYPE_I64, .count = 6, .cell = from_cell};
    (void)state;
    for (size_t k = 0; k < sizeof walks / sizeof walks[0]; k++) {
        const int64_t *extent = walks[k].extent;
        const Tensor out = {.shape = {.rank = 2, .dim = {extent[0], extent[1]}},
                            .count = (uint32_t)(extent[0] * extent[1]),
                            .cell = cell};
        assert_int_equal(tensor_gather(&out, &from, walks[k].base, walks[k].stride), walks[k].fits);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_walks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
