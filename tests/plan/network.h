/* Random networks as text, of maps that operators make, reshape, transpose, join and split. Each element has a tag:
 * what computes makes new ones, what only moves passes them on. */
#ifndef S0_TESTS_PLAN_NETWORK_H
#define S0_TESTS_PLAN_NETWORK_H

#include "planned.h"

#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_NODES = 20, MOST_VALUES = 2 * MOST_NODES + 2, MOST_ELEMS = 1024, TEXT_BYTES = 16384 };

typedef struct {
    int h, w, c;
} Map;

typedef struct {
    char text[TEXT_BYTES];
    size_t used;
    Map map[MOST_VALUES];
    uint32_t tag[MOST_VALUES][MOST_ELEMS]; /* of each element, row-major */
    uint32_t tags;                         /* given so far */
    int values;
    uint64_t random;
} Network;

static inline __attribute__((format(printf, 2, 3))) void line(Network *network, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int written = vsnprintf(network->text + network->used, TEXT_BYTES - network->used, format, args);
    va_end(args);
    network->used += (size_t)written;
    assert_true(network->used < TEXT_BYTES);
}

static inline int draw(Network *network, int below) {
    return (int)random_below(&network->random, (uint64_t)below);
}

static inline int elems(Map map) {
    return map.h * map.w * map.c;
}

static inline int extent(Map map, int axis) {
    return axis == 1 ? map.h : axis == 2 ? map.w : map.c;
}

static inline Map with_extent(Map map, int axis, int extent) {
    return (Map){axis == 1 ? extent : map.h, axis == 2 ? extent : map.w, axis == 3 ? extent : map.c};
}

/* A value with tags of its own. */
static inline int add_value(Network *network, Map map, const char *word) {
    int id = network->values++;
    assert_true(id < MOST_VALUES && elems(map) <= MOST_ELEMS);
    network->map[id] = map;
    for (int i = 0; i < elems(map); i++) {
        network->tag[id][i] = network->tags++;
    }
    line(network, "%s v%d int8[1,%d,%d,%d]\n", word, id, map.h, map.w, map.c);
    return id;
}

/* Passes on the tags of a box of `from`, `at` along `axis`, to the same place of `to`, `to_at` along it. */
static inline void pass_box(Network *network, int from, int at, int to, int to_at, int axis, int count) {
    Map source = network->map[from];
    Map target = network->map[to];
    Map box = with_extent(source, axis, count);
    for (int i = 0; i < elems(box); i++) {
        int h = i / (box.w * box.c);
        int w = i / box.c % box.w;
        int c = i % box.c;
        int source_index = ((h + (axis == 1) * at) * source.w + w + (axis == 2) * at) * source.c + c + (axis == 3) * at;
        int index =
            ((h + (axis == 1) * to_at) * target.w + w + (axis == 2) * to_at) * target.c + c + (axis == 3) * to_at;
        network->tag[to][index] = network->tag[from][source_index];
    }
}

/* Rather a recent value, so that chains grow and old values die. */
static inline int pick(Network *network) {
    int back = draw(network, 4) == 0 ? network->values : (network->values < 4 ? network->values : 4);
    return network->values - 1 - draw(network, back);
}

static inline int pick_like(Network *network, Map map) {
    for (int i = network->values - 1; i >= 0; i--) {
        const Map *other = &network->map[i];
        if (other->h == map.h && other->w == map.w && other->c == map.c && draw(network, 3) > 0) {
            return i;
        }
    }
    return -1;
}

/* A parameter of one number, or of one a channel. */
static inline void add_mul(Network *network, int node, int a, int out) {
    int count = draw(network, 2) == 0 ? 1 : network->map[a].c;
    line(network, "const k%d int8[%d] =", node, count);
    for (int i = 1; i <= count; i++) {
        line(network, " %d", i);
    }
    line(network, "\nnode Mul n%d: v%d k%d -> v%d\n", node, a, node, out);
}

static inline void add_elementwise(Network *network, int node) {
    int a = pick(network);
    int b = pick_like(network, network->map[a]);
    int out = add_value(network, network->map[a], "value");
    if (b >= 0 && draw(network, 2) == 0) {
        line(network, "node Add n%d: v%d v%d -> v%d\n", node, a, b, out);
    } else if (draw(network, 3) == 0) {
        add_mul(network, node, a, out);
    } else {
        line(network, "node Relu n%d: v%d -> v%d\n", node, a, out);
    }
}

static inline void add_pool(Network *network, int node) {
    int a = pick(network);
    int out = add_value(network, network->map[a], "value");
    line(network, "node AveragePool n%d: v%d -> v%d kernel_shape=[1,1] strides=[1,1] auto_pad=\"VALID\"\n", node, a,
         out);
}

static inline void add_concat(Network *network, int node) {
    int axis = 1 + draw(network, 3);
    int a = pick(network);
    int b = draw(network, 4) == 0 ? a : pick_like(network, network->map[a]);
    Map map = network->map[a];
    int count = extent(map, axis);
    if (b < 0 || 2 * elems(map) > MOST_ELEMS) {
        add_pool(network, node);
        return;
    }
    int out = add_value(network, with_extent(map, axis, 2 * count), "value");
    pass_box(network, a, 0, out, 0, axis, count);
    pass_box(network, b, 0, out, count, axis, count);
    line(network, "node Concat n%d: v%d v%d -> v%d axis=%d\n", node, a, b, out, axis);
}

static inline void add_split(Network *network, int node) {
    int a = pick(network);
    int axis = 1 + draw(network, 3);
    Map map = network->map[a];
    int count = extent(map, axis) / 2;
    if (extent(map, axis) % 2 != 0) {
        add_pool(network, node);
        return;
    }
    int first = add_value(network, with_extent(map, axis, count), "value");
    int second = add_value(network, with_extent(map, axis, count), "value");
    pass_box(network, a, 0, first, 0, axis, count);
    pass_box(network, a, count, second, 0, axis, count);
    line(network, "const a%d int32[1] = %d\n", node, axis);
    line(network, "node tflite.SPLIT n%d: a%d v%d -> v%d v%d num_splits=2\n", node, node, a, first, second);
}

static inline void add_reshape(Network *network, int node) {
    int a = pick(network);
    Map map = network->map[a];
    Map out_map = draw(network, 2) == 0 ? (Map){map.w, map.h, map.c} : (Map){1, map.h * map.w, map.c};
    int out = add_value(network, out_map, "value");
    memcpy(network->tag[out], network->tag[a], sizeof network->tag[a]);
    line(network, "const s%d int32[4] = 1 %d %d %d\n", node, out_map.h, out_map.w, out_map.c);
    line(network, "node Reshape n%d: v%d s%d -> v%d\n", node, a, node, out);
}

static inline void add_transpose(Network *network, int node) {
    int a = pick(network);
    Map map = network->map[a];
    int out = add_value(network, (Map){map.w, map.h, map.c}, "value");
    for (int i = 0; i < elems(map); i++) {
        int h = i / (map.w * map.c);
        int w = i / map.c % map.w;
        network->tag[out][(w * map.h + h) * map.c + i % map.c] = network->tag[a][i];
    }
    line(network, "const p%d int32[4] = 0 2 1 3\n", node);
    line(network, "node Transpose n%d: v%d p%d -> v%d\n", node, a, node, out);
}

static inline void add_node(Network *network, int node) {
    void (*const kinds[])(Network *, int) = {add_elementwise, add_elementwise, add_elementwise, add_pool,
                                             add_concat,      add_split,       add_reshape,     add_transpose};
    kinds[draw(network, (int)(sizeof kinds / sizeof *kinds))](network, node);
}

static inline void make_network(Network *network, uint64_t seed, int most_nodes) {
    network->used = 0;
    network->values = 0;
    network->tags = 0;
    network->random = seed;
    line(network, "stride0-graph 1\nformat tflite\n");
    Map map = {1 + draw(network, 4), 1 + draw(network, 4), draw(network, 2) == 0 ? 16 : 1 + draw(network, 20)};
    int inputs = 1 + draw(network, 2);
    for (int i = 0; i < inputs; i++) {
        add_value(network, map, "input");
    }
    int nodes = 1 + draw(network, most_nodes);
    for (int node = 0; node < nodes; node++) {
        add_node(network, node);
    }
    int outputs = 1 + draw(network, 3);
    for (int i = 0; i < outputs && i < network->values; i++) {
        line(network, "output v%d\n", network->values - 1 - i);
    }
}

#endif
