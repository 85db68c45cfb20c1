/* Random networks, planned and then played through: does every read find the bytes that were written for it?
 *
 * The player knows nothing of how a plan was made. It holds one tag a byte of local memory: the buffer whose step wrote
 * it. A step's reads must find, byte by byte, the tags of what they read: a view finds its source's, an output written
 * in parts finds each part's. Offsets, live ranges, aliases and their order are all wrong in some way that this sees.
 * Also: the sums of a plan, and that writing in place never raises the peak. */
#include "planned.h"

#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLANS = 3000, MOST_NODES = 24, TEXT_BYTES = 16384, MOST_BYTES = 1 << 16 };

/* ---- Random networks as text */

typedef struct {
    int h, w, c;
} Map;

typedef struct {
    char text[TEXT_BYTES];
    size_t used;
    Map map[4 * MOST_NODES + 8];
    int values;
    uint64_t random;
} Network;

static __attribute__((format(printf, 2, 3))) void line(Network *network, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int written = vsnprintf(network->text + network->used, TEXT_BYTES - network->used, format, args);
    va_end(args);
    network->used += (size_t)written;
    assert_true(network->used < TEXT_BYTES);
}

static int draw(Network *network, int below) {
    return (int)random_below(&network->random, (uint64_t)below);
}

static int add_value(Network *network, Map map) {
    network->map[network->values] = map;
    line(network, "value v%d int8[1,%d,%d,%d]\n", network->values, map.h, map.w, map.c);
    return network->values++;
}

/* Rather a recent value, so that chains grow and old values die. */
static int pick(Network *network) {
    int back = draw(network, 4) == 0 ? network->values : (network->values < 4 ? network->values : 4);
    return network->values - 1 - draw(network, back);
}

static int pick_like(Network *network, Map map) {
    for (int i = network->values - 1; i >= 0; i--) {
        const Map *other = &network->map[i];
        if (other->h == map.h && other->w == map.w && other->c == map.c && draw(network, 3) > 0) {
            return i;
        }
    }
    return -1;
}

static void add_elementwise(Network *network, int node) {
    int a = pick(network);
    int b = pick_like(network, network->map[a]);
    int out = add_value(network, network->map[a]);
    if (b >= 0 && draw(network, 2) == 0) {
        line(network, "node Add n%d: v%d v%d -> v%d\n", node, a, b, out);
    } else if (draw(network, 3) == 0) {
        line(network, "node Mul n%d: v%d k -> v%d\n", node, a, out);
    } else {
        line(network, "node Relu n%d: v%d -> v%d\n", node, a, out);
    }
}

static void add_pool(Network *network, int node) {
    int a = pick(network);
    int out = add_value(network, network->map[a]);
    line(network, "node AveragePool n%d: v%d -> v%d kernel_shape=[1,1] strides=[1,1] auto_pad=\"VALID\"\n", node, a,
         out);
}

static void add_concat(Network *network, int node) {
    int axis = 1 + draw(network, 3);
    int a = pick(network);
    int b = draw(network, 4) == 0 ? a : pick_like(network, network->map[a]);
    if (b < 0) {
        add_pool(network, node);
        return;
    }
    Map map = network->map[a];
    int *grown[] = {&map.h, &map.w, &map.c};
    *grown[axis - 1] *= 2;
    if (map.h * map.w * map.c > 4096) {
        add_pool(network, node);
        return;
    }
    int out = add_value(network, map);
    line(network, "node Concat n%d: v%d v%d -> v%d axis=%d\n", node, a, b, out, axis);
}

static void add_split(Network *network, int node) {
    int a = pick(network);
    int axis = 1 + draw(network, 3);
    Map map = network->map[a];
    int *cut[] = {&map.h, &map.w, &map.c};
    if (*cut[axis - 1] % 2 != 0) {
        add_pool(network, node);
        return;
    }
    *cut[axis - 1] /= 2;
    int first = add_value(network, map);
    int second = add_value(network, map);
    line(network, "const a%d int32[1] = %d\n", node, axis);
    line(network, "node tflite.SPLIT n%d: a%d v%d -> v%d v%d num_splits=2\n", node, node, a, first, second);
}

static void add_reshape(Network *network, int node) {
    int a = pick(network);
    Map map = network->map[a];
    Map out_map = draw(network, 2) == 0 ? (Map){map.w, map.h, map.c} : (Map){1, map.h * map.w, map.c};
    int out = add_value(network, out_map);
    line(network, "const s%d int32[4] = 1 %d %d %d\n", node, out_map.h, out_map.w, out_map.c);
    line(network, "node Reshape n%d: v%d s%d -> v%d\n", node, a, node, out);
}

static void add_transpose(Network *network, int node) {
    int a = pick(network);
    Map map = network->map[a];
    int out = add_value(network, (Map){map.w, map.h, map.c});
    line(network, "const p%d int32[4] = 0 2 1 3\n", node);
    line(network, "node Transpose n%d: v%d p%d -> v%d\n", node, a, node, out);
}

static void add_node(Network *network, int node) {
    void (*const kinds[])(Network *, int) = {add_elementwise, add_elementwise, add_elementwise, add_pool,
                                             add_concat,      add_split,       add_reshape,     add_transpose};
    kinds[draw(network, (int)(sizeof kinds / sizeof *kinds))](network, node);
}

static void make_network(Network *network, uint64_t seed) {
    network->used = 0;
    network->values = 0;
    network->random = seed;
    line(network, "stride0-graph 1\nformat tflite\nconst k int8[1] = 3\n");
    Map map = {1 + draw(network, 4), 1 + draw(network, 4), draw(network, 2) == 0 ? 16 : 1 + draw(network, 20)};
    int inputs = 1 + draw(network, 2);
    for (int i = 0; i < inputs; i++) {
        network->map[network->values] = map;
        line(network, "input v%d int8[1,%d,%d,%d]\n", network->values++, map.h, map.w, map.c);
    }
    int nodes = 1 + draw(network, MOST_NODES);
    for (int node = 0; node < nodes; node++) {
        add_node(network, node);
    }
    int outputs = 1 + draw(network, 3);
    for (int i = 0; i < outputs && i < network->values; i++) {
        line(network, "output v%d\n", network->values - 1 - i);
    }
}

/* ---- Playing a plan */

typedef struct {
    const Network *network;
    const Plan *plan;
    uint32_t tag[MOST_BYTES]; /* of each byte of local memory: the buffer that a step wrote there, or UINT32_MAX */
    bool *is_written;         /* buffer -> does a step write it, or the caller? */
} Player;

static bool is_whole(const Plan *plan, uint32_t id, uint32_t part) {
    return plan->buffers[part].alias_of.index == id && plan->buffers[part].alias_reason == ALIAS_CONCAT;
}

/* Bytes [begin, end) of buffer `id` must hold what was written for it; both counted from its own start. */
static void expect(const Player *player, uint32_t id, uint64_t begin, uint64_t end) {
    const Plan *plan = player->plan;
    const Buffer *buffer = &plan->buffers[id];
    if (player->is_written[id]) {
        for (uint64_t at = begin; at < end; at++) {
            uint32_t tag = player->tag[buffer->offset + at];
            if (tag != id) {
                fail_msg("byte %llu of buffer %u holds what was written for buffer %u\n%s", (unsigned long long)at,
                         (unsigned)id, (unsigned)tag, player->network->text);
            }
        }
        return;
    }
    bool has_parts = false;
    for (uint32_t part = 0; part < plan->buffer_count; part++) {
        const Buffer *inner = &plan->buffers[part];
        if (!is_whole(plan, id, part)) {
            continue;
        }
        has_parts = true;
        uint64_t from = inner->alias_offset_bytes > begin ? inner->alias_offset_bytes : begin;
        uint64_t inner_end = inner->alias_offset_bytes + inner->logical_bytes;
        uint64_t to = inner_end < end ? inner_end : end;
        if (from < to) {
            expect(player, part, from - inner->alias_offset_bytes, to - inner->alias_offset_bytes);
        }
    }
    if (!has_parts) {
        assert_int_not_equal(buffer->alias_of.index, UINT32_MAX);
        expect(player, buffer->alias_of.index, begin + buffer->alias_offset_bytes, end + buffer->alias_offset_bytes);
    }
}

static void write_tags(Player *player, uint32_t id) {
    const Buffer *buffer = &player->plan->buffers[id];
    for (uint64_t at = 0; at < buffer->logical_bytes; at++) {
        player->tag[buffer->offset + at] = id;
    }
}

static bool is_local(const Plan *plan, uint32_t id) {
    return plan->buffers[id].memory == plan->device->local;
}

static void begin_play(Player *player, const Plan *plan) {
    player->plan = plan;
    player->is_written = calloc(plan->buffer_count, sizeof *player->is_written);
    memset(player->tag, 0xff, sizeof player->tag);
    assert_true(plan->placed_bytes <= MOST_BYTES);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        for (uint32_t i = 0; i < plan->steps[s].write_count; i++) {
            player->is_written[plan->steps[s].writes[i].index] = true;
        }
    }
    for (uint32_t id = 0; id < plan->buffer_count; id++) {
        bool is_callers = plan->device->kind == DEVICE_ARENA && is_local(plan, id) &&
                          graph_value(plan->graph, plan->buffers[id].value)->is_input;
        if (is_callers) {
            player->is_written[id] = true;
            write_tags(player, id);
        }
    }
}

static void play(Player *player, const Plan *plan) {
    begin_play(player, plan);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        for (uint32_t i = 0; i < step->read_count; i++) {
            uint32_t id = step->reads[i].index;
            if (is_local(plan, id)) {
                expect(player, id, 0, plan->buffers[id].logical_bytes);
            }
        }
        for (uint32_t i = 0; i < step->write_count; i++) {
            if (is_local(plan, step->writes[i].index)) {
                write_tags(player, step->writes[i].index);
            }
        }
    }
    for (uint32_t v = 0; v < plan->graph->value_count && plan->device->kind == DEVICE_ARENA; v++) {
        if (plan->graph->values[v].is_output) {
            BufferId id = plan->of_value[v];
            expect(player, id.index, 0, plan_buffer(plan, id)->logical_bytes);
        }
    }
    free(player->is_written);
}

static void check_sums(const Plan *plan) {
    uint64_t physical = 0;
    uint64_t at_peak = 0;
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        physical += plan->by_kind[kind].physical_bytes;
        at_peak += plan->by_kind[kind].at_peak_bytes;
    }
    assert_int_equal(physical, plan->physical_bytes);
    assert_int_equal(at_peak, plan->peak_live_bytes);
    assert_true(plan->peak_live_bytes <= plan->lower_bound_bytes);
    assert_true(plan->lower_bound_bytes <= plan->placed_bytes);
}

/* ---- Tests */

/* mcu-cm stores NHWC without padding inside a map, so a buffer's first logical_bytes bytes are its elements. */
static void count_aliases(const Plan *plan, size_t seen[ALIAS_INTO_CONSUMER + 1]) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        seen[plan->buffers[i].alias_reason]++;
    }
}

static void play_network(Network *network, uint64_t seed, bool pin, size_t seen[ALIAS_INTO_CONSUMER + 1]) {
    static Player player;
    Planned planned;
    uint64_t peak[2];
    make_network(network, seed);
    for (int in_place = 0; in_place < 2; in_place++) {
        PlanCase test = {
            network->text, "mcu-cm", NULL, {.in_place = in_place != 0, .pin_inputs = pin, .pin_outputs = pin}};
        if (!planned_make(&planned, &test)) {
            diags_print(&planned.work.diags, "", stdout);
            fail_msg("seed %llu was refused:\n%s", (unsigned long long)seed, network->text);
        }
        player.network = network;
        play(&player, planned.plan);
        check_sums(planned.plan);
        count_aliases(planned.plan, seen);
        peak[in_place] = planned.plan->peak_live_bytes;
        planned_free(&planned);
    }
    assert_true(peak[1] <= peak[0]);
}

static void test_random_networks(void **state) {
    (void)state;
    static Network network;
    size_t seen[ALIAS_INTO_CONSUMER + 1] = {0};
    for (uint64_t seed = 1; seed <= PLANS; seed++) {
        play_network(&network, seed, seed % 5 == 0, seen);
    }
    for (int reason = ALIAS_VIEW; reason <= ALIAS_INTO_CONSUMER; reason++) {
        print_message("%zu aliases by %s\n", seen[reason], alias_reason_name((AliasReason)reason));
        assert_true(seen[reason] > 10); /* else the networks do not show that kind */
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
