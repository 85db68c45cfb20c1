/* What an operator reads for a part of its output, by its definition: the measure for node_reach.
 *
 * A family of operators draws one as text and says, index by index of the output, which elements of each input it is
 * made of. For random boxes of the output those have a hull, along each axis; what node_reach says must cover it, and
 * may be larger only by what the family allows: axes that it may read whole (`loose`), and elements between those that
 * a window steps over (`slack`). */
#ifndef S0_TESTS_NODE_REACHED_H
#define S0_TESTS_NODE_REACHED_H

#include "node/reach.h"

#include "graph/passes.h"
#include "graph/text.h"
#include "support/random.h"
#include "support/work.h"

enum { REACHED_INPUTS = 24, REACHED_TEXT = 8192, REACHED_BOXES = 5, ANY_CUT = -1, ALL_CUT = -2 };

typedef struct {
    bool is_read;
    int64_t low[SHAPE_MAX_RANK], high[SHAPE_MAX_RANK];
} Hull;

typedef struct Reached Reached;
typedef void Define(Reached *r, const int64_t *out);

struct Reached {
    uint64_t random;
    bool is_equal; /* all extents are */
    size_t used;
    char text[REACHED_TEXT];
    /* what the family has drawn */
    int spatial;
    int64_t extents[16], kernel[4], stride[4], dilation[4], before[4], groups;
    int64_t axis, flag[2], list[SHAPE_MAX_RANK];
    /* what it says of it */
    Define *define;
    int64_t cut;           /* set of axes; ALL_CUT: each of them; ANY_CUT: it does not say */
    uint64_t macs, passes; /* 0: it does not say */
    uint32_t loose[REACHED_INPUTS];
    int64_t slack[REACHED_INPUTS][SHAPE_MAX_RANK];
    /* what came of it */
    const Graph *graph;
    const Node *node;
    const Shape *out, *in[REACHED_INPUTS];
    NodeReach reach;
    Hull hull[REACHED_INPUTS];
};

/* ---- Drawing */

static inline int64_t draw(Reached *r, int64_t below) {
    return (int64_t)random_below(&r->random, (uint64_t)below);
}

static inline __attribute__((format(printf, 2, 3))) void line(Reached *r, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int written = vsnprintf(r->text + r->used, REACHED_TEXT - r->used, format, args);
    va_end(args);
    r->used += (size_t)written;
    assert_true(r->used < REACHED_TEXT);
}

/* A list of numbers: "[1,2]", or with `open` of another kind. */
static inline void numbers(Reached *r, const int64_t *at, int count, const char *between) {
    for (int k = 0; k < count; k++) {
        line(r, "%s%lld", k > 0 ? between : "", (long long)at[k]);
    }
}

static inline void shape(Reached *r, const char *what, const char *name, const char *dtype, const int64_t *dim,
                         int rank) {
    line(r, "%s %s %s[", what, name, dtype);
    numbers(r, dim, rank, ",");
    line(r, "]%s\n", what[0] == 'c' ? " = splat 1" : "");
}

/* Extents of 2 to 7, all equal or all different. */
static inline void draw_extents(Reached *r, int count) {
    int64_t pool[6] = {2, 3, 4, 5, 6, 7}, same = 2 + draw(r, 4);
    for (int k = 0; k < count; k++) {
        int64_t other = k % 6 + draw(r, 6 - k % 6), swap = pool[k % 6];
        pool[k % 6] = pool[other];
        pool[other] = swap;
        r->extents[k] = r->is_equal ? same : pool[k % 6];
    }
}

/* ---- What a family marks as read */

static inline void mark(Reached *r, int k, const int64_t *index) {
    Hull *hull = &r->hull[k];
    for (uint32_t axis = 0; axis < r->in[k]->rank; axis++) {
        assert_true(index[axis] >= 0 && index[axis] < r->in[k]->dim[axis]);
        hull->low[axis] = hull->is_read && hull->low[axis] < index[axis] ? hull->low[axis] : index[axis];
        hull->high[axis] = hull->is_read && hull->high[axis] > index[axis] ? hull->high[axis] : index[axis];
    }
    hull->is_read = true;
}

/* Along the axes of `all` every index, else the one of `index`. */
static inline void mark_range(Reached *r, int k, const int64_t *index, uint32_t all) {
    int64_t low[SHAPE_MAX_RANK] = {0}, high[SHAPE_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < r->in[k]->rank; axis++) {
        bool is_all = (all >> axis & 1) != 0;
        low[axis] = is_all ? 0 : index[axis];
        high[axis] = is_all ? r->in[k]->dim[axis] - 1 : index[axis];
    }
    mark(r, k, low);
    mark(r, k, high);
}

/* The element that broadcasting by aligned position reads. */
static inline void mark_broadcast(Reached *r, int k, const int64_t *out) {
    int64_t index[SHAPE_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < r->in[k]->rank; axis++) {
        index[axis] = r->in[k]->dim[axis] == 1 ? 0 : out[r->out->rank - r->in[k]->rank + axis];
    }
    mark(r, k, index);
}

/* ---- The comparison */

static inline bool next_index(int64_t *at, const int64_t *first, const int64_t *extent, uint32_t rank) {
    for (uint32_t axis = rank; axis-- > 0;) {
        if (++at[axis] < first[axis] + extent[axis]) {
            return true;
        }
        at[axis] = first[axis];
    }
    return false;
}

static inline void compare_axis(Reached *r, int k, uint32_t axis, const int64_t *first, const int64_t *extent) {
    const AxisReach *reach = &r->reach.input[k][axis];
    const Hull *hull = &r->hull[k];
    int64_t whole = r->in[k]->dim[axis], low = 0, high = whole - 1;
    if (reach->axis != REACH_NO_AXIS) {
        assert_true(reach->axis >= 0 && reach->axis < (int32_t)r->out->rank);
        low = first[reach->axis] * (int64_t)reach->stride - reach->before;
        high = (first[reach->axis] + extent[reach->axis] - 1) * (int64_t)reach->stride - reach->before +
               (int64_t)reach->window - 1;
        low = low < 0 ? 0 : low < whole ? low : whole - 1;
        high = high < 0 ? 0 : high < whole ? high : whole - 1;
    }
    if (low > hull->low[axis] || high < hull->high[axis]) {
        fail_msg("%s\ninput %d, axis %u: reads %lld to %lld, told %lld to %lld", r->text, k, axis,
                 (long long)hull->low[axis], (long long)hull->high[axis], (long long)low, (long long)high);
    }
    bool is_loose = (r->loose[k] >> axis & 1) != 0;
    if (!is_loose && (hull->low[axis] - low > r->slack[k][axis] || high - hull->high[axis] > r->slack[k][axis])) {
        fail_msg("%s\ninput %d, axis %u: needs only %lld to %lld, told %lld to %lld", r->text, k, axis,
                 (long long)hull->low[axis], (long long)hull->high[axis], (long long)low, (long long)high);
    }
}

/* A box of the output: parts of the axes that may be cut, all of the others. */
static inline void compare_box(Reached *r) {
    int64_t first[SHAPE_MAX_RANK] = {0}, extent[SHAPE_MAX_RANK] = {0}, at[SHAPE_MAX_RANK] = {0};
    for (uint32_t axis = 0; axis < r->out->rank; axis++) {
        bool is_cut = (r->reach.cut >> axis & 1) != 0;
        extent[axis] = is_cut ? 1 + draw(r, r->out->dim[axis]) : r->out->dim[axis];
        first[axis] = draw(r, r->out->dim[axis] - extent[axis] + 1);
        at[axis] = first[axis];
    }
    memset(r->hull, 0, sizeof r->hull);
    do {
        r->define(r, at);
    } while (next_index(at, first, extent, r->out->rank));
    for (int k = 0; k < (int)r->node->input_count; k++) {
        for (uint32_t axis = 0; r->hull[k].is_read && axis < r->in[k]->rank; axis++) {
            compare_axis(r, k, axis, first, extent);
        }
    }
}

static inline Graph *reached_graph(Work *work, const char *text) {
    Graph *graph = graph_parse_text(work, (Span){(const uint8_t *)text, strlen(text)}, STR("test"));
    return graph != NULL && graph_check(graph, work) && graph_inline(graph, work) &&
                   graph_bind_dims(graph, NULL, 0, work) && graph_infer(graph, work) &&
                   graph_assign_names(graph, NULL, 0, work)
               ? graph
               : NULL;
}

/* The node that writes the graph's first output. */
static inline const Node *reached_node(const Graph *graph) {
    const Value *out = graph_value(graph, graph_main(graph)->outputs[0]);
    assert_true(is_node(out->producer));
    return graph_node(graph, out->producer);
}

/* Draws one of the family and compares it. False where what was drawn is refused or has no elements. */
static inline bool reached_once(Reached *r, void (*family)(Reached *r), Work *work) {
    r->cut = ANY_CUT;
    family(r);
    Graph *graph = reached_graph(work, r->text);
    if (graph == NULL) {
        return false;
    }
    r->graph = graph;
    r->node = reached_node(graph);
    r->out = &node_output(graph, r->node, 0)->shape;
    assert_true(r->node->input_count <= REACHED_INPUTS);
    for (uint32_t k = 0; k < r->node->input_count; k++) {
        const Value *in = node_input(graph, r->node, k);
        r->in[k] = in == NULL ? NULL : &in->shape;
    }
    for (uint32_t axis = 0; axis < r->out->rank; axis++) {
        if (r->out->dim[axis] == 0) {
            return false;
        }
    }
    r->reach = node_reach(graph, r->node, &work->scratch);
    r->cut = r->cut == ALL_CUT ? (1 << r->out->rank) - 1 : r->cut;
    if (r->cut != ANY_CUT && r->reach.cut != (uint32_t)r->cut) {
        fail_msg("%s\nmay be cut along the axes 0x%x, not 0x%llx", r->text, r->reach.cut, (unsigned long long)r->cut);
    }
    if (r->passes > 0 && r->reach.passes != r->passes) {
        fail_msg("%s\nan element is made of %llu, not %llu", r->text, (unsigned long long)r->passes,
                 (unsigned long long)r->reach.passes);
    }
    if (r->macs > 0 && r->reach.macs != r->macs) {
        fail_msg("%s\nan element is the sum of %llu products, not %llu", r->text, (unsigned long long)r->macs,
                 (unsigned long long)r->reach.macs);
    }
    for (int box = 0; box < REACHED_BOXES; box++) {
        compare_box(r);
    }
    return true;
}

typedef struct {
    const char *name;
    void (*draw)(Reached *r);
} Family;

enum { MOST_FAMILIES = 32 };

typedef struct {
    const Family *family;
    int draws;
} Reaching;

/* At least half of what a family draws must be operators that are planned. */
static inline void reached_many(const Family *family, int draws) {
    int compared = 0;
    for (int k = 0; k < draws; k++) {
        Work work;
        Reached *r = calloc(1, sizeof *r);
        assert_non_null(r);
        r->random = (uint64_t)k * 0x9E3779B97F4A7C15u + 1;
        random_next(&r->random);
        r->is_equal = k % 2 == 1;
        WORK_BEGIN(&work);
        compared += reached_once(r, family->draw, &work);
        if (getenv("S0_TELL") != NULL && r->graph == NULL) {
            char *messages = messages_of(&work);
            print_message("%s%s\n", r->text, messages);
            free(messages);
        }
        work_free(&work);
        free(r);
    }
    if (2 * compared < draws) {
        fail_msg("%s: only %d of %d were compared", family->name, compared, draws);
    }
}

static void reached_family(void **state) {
    const Reaching *reaching = *state;
    reached_many(reaching->family, reaching->draws);
}

/* Each family is a test. */
static inline int reached_all(const Family *families, size_t count, int draws) {
    struct CMUnitTest tests[MOST_FAMILIES];
    Reaching reaching[MOST_FAMILIES];
    if (count > MOST_FAMILIES) {
        abort();
    }
    for (size_t k = 0; k < count; k++) {
        reaching[k] = (Reaching){&families[k], draws};
        tests[k] = (struct CMUnitTest){families[k].name, reached_family, NULL, NULL, &reaching[k]};
    }
    return _cmocka_run_group_tests("reach", tests, count, NULL, NULL);
}

#endif
