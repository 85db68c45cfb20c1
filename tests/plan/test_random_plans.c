/* Random networks, planned for every preset and then played through: does every read find the elements it is meant to?
 *
 * The player knows nothing of how a plan was made. The network is drawn with one tag an element: an operator that
 * computes makes new ones, a reshape, transposition, concatenation or split passes on those of its inputs. Each byte of
 * local and of far memory holds the tag of what was written there, at the address that the layout contract gives the
 * element. What a step reads must find its tags, byte by byte; so must the caller at the end. Offsets, live ranges,
 * aliases, their order, and loads and stores are all wrong in some way that this sees. A constant has one tag for all
 * its bytes. Also: the sums of a plan, and that writing in place never raises the peak. */
#include "planned.h"

#include "support/random.h"

#include <stdio.h>
#include <stdlib.h>

enum { PLANS = 2000, MOST_NODES = 20, MOST_VALUES = 2 * MOST_NODES + 2, MOST_ELEMS = 1024, TEXT_BYTES = 16384 };

/* ---- Random networks as text */

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

static int elems(Map map) {
    return map.h * map.w * map.c;
}

static int extent(Map map, int axis) {
    return axis == 1 ? map.h : axis == 2 ? map.w : map.c;
}

static Map with_extent(Map map, int axis, int extent) {
    return (Map){axis == 1 ? extent : map.h, axis == 2 ? extent : map.w, axis == 3 ? extent : map.c};
}

/* A value with tags of its own. */
static int add_value(Network *network, Map map, const char *word) {
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
static void pass_box(Network *network, int from, int at, int to, int to_at, int axis, int count) {
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

/* A parameter of one number, or of one a channel. */
static void add_mul(Network *network, int node, int a, int out) {
    int count = draw(network, 2) == 0 ? 1 : network->map[a].c;
    line(network, "const k%d int8[%d] =", node, count);
    for (int i = 1; i <= count; i++) {
        line(network, " %d", i);
    }
    line(network, "\nnode Mul n%d: v%d k%d -> v%d\n", node, a, node, out);
}

static void add_elementwise(Network *network, int node) {
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

static void add_pool(Network *network, int node) {
    int a = pick(network);
    int out = add_value(network, network->map[a], "value");
    line(network, "node AveragePool n%d: v%d -> v%d kernel_shape=[1,1] strides=[1,1] auto_pad=\"VALID\"\n", node, a,
         out);
}

static void add_concat(Network *network, int node) {
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

static void add_split(Network *network, int node) {
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

static void add_reshape(Network *network, int node) {
    int a = pick(network);
    Map map = network->map[a];
    Map out_map = draw(network, 2) == 0 ? (Map){map.w, map.h, map.c} : (Map){1, map.h * map.w, map.c};
    int out = add_value(network, out_map, "value");
    memcpy(network->tag[out], network->tag[a], sizeof network->tag[a]);
    line(network, "const s%d int32[4] = 1 %d %d %d\n", node, out_map.h, out_map.w, out_map.c);
    line(network, "node Reshape n%d: v%d s%d -> v%d\n", node, a, node, out);
}

static void add_transpose(Network *network, int node) {
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

static void add_node(Network *network, int node) {
    void (*const kinds[])(Network *, int) = {add_elementwise, add_elementwise, add_elementwise, add_pool,
                                             add_concat,      add_split,       add_reshape,     add_transpose};
    kinds[draw(network, (int)(sizeof kinds / sizeof *kinds))](network, node);
}

static void make_network(Network *network, uint64_t seed) {
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

static const uint32_t NOTHING = UINT32_MAX;

/* The bytes of a memory, bank after bank. */
typedef struct {
    uint32_t *tag;
    uint64_t bank_bytes;
} Memory;

/* What a buffer's bytes hold where it is whole, with the address of each. */
typedef struct {
    uint64_t count;
    uint64_t *at; /* into Memory.tag */
    uint32_t *tag;
} Content;

typedef struct {
    const Network *network;
    const Plan *plan;
    Memory local, backing;
    Content *content; /* of each buffer */
    Arena *arena;
} Player;

static bool is_local(const Plan *plan, uint32_t id) {
    return plan->buffers[id].memory == plan->device->local;
}

static Memory *memory_of(Player *player, uint32_t id) {
    return is_local(player->plan, id) ? &player->local : &player->backing;
}

/* In local memory the banks are separate address spaces; behind it, where there is one, they lie end to end. */
static uint64_t address(const Player *player, uint32_t id, uint64_t bank, uint64_t byte) {
    const Buffer *buffer = &player->plan->buffers[id];
    uint64_t stride = is_local(player->plan, id) ? player->local.bank_bytes : buffer->physical_bytes;
    return buffer->offset + bank * stride + byte;
}

static void fill_constant(const Player *player, uint32_t id, Content *content) {
    const Buffer *buffer = &player->plan->buffers[id];
    content->count = buffer->banks_used * buffer->physical_bytes;
    content->at = arena_array(player->arena, uint64_t, content->count);
    content->tag = arena_array(player->arena, uint32_t, content->count);
    for (uint64_t i = 0; i < content->count; i++) {
        content->at[i] = address(player, id, i / buffer->physical_bytes, i % buffer->physical_bytes);
        content->tag[i] = NOTHING - 1 - buffer->value.index;
    }
}

/* The element's index by dimension; axes of one dimension are one index, the inner moves fastest. */
static void index_of(const Buffer *buffer, uint64_t elem, uint64_t index[DIM_COUNT]) {
    uint64_t weight[DIM_COUNT];
    for (int d = 0; d < DIM_COUNT; d++) {
        index[d] = 0;
        weight[d] = 1;
    }
    for (uint32_t k = buffer->stored.rank; k-- > 0;) {
        uint64_t dim = (uint64_t)buffer->stored.dim[k];
        index[buffer->dims[k]] += elem % dim * weight[buffer->dims[k]];
        weight[buffer->dims[k]] *= dim;
        elem /= dim;
    }
}

static void fill_map(const Player *player, uint32_t id, const uint32_t *tags, Content *content) {
    const Buffer *buffer = &player->plan->buffers[id];
    LayoutShape shape = layout_shape(dtype_bits(buffer->dtype), buffer->stored.rank);
    View view;
    for (uint32_t k = 0; k < buffer->stored.rank; k++) {
        shape.extent[buffer->dims[k]] *= (uint64_t)buffer->stored.dim[k];
    }
    assert_int_equal(view_resolve(player->plan->device->contract[ROLE_ACTIVATION], &shape, &view, NULL), VIEW_DONE);
    content->count = buffer->logical_bytes; /* int8 */
    content->at = arena_array(player->arena, uint64_t, content->count);
    content->tag = arena_array(player->arena, uint32_t, content->count);
    for (uint64_t i = 0; i < content->count; i++) {
        uint64_t index[DIM_COUNT];
        index_of(buffer, i, index);
        ViewAddress found = view_address(&view, index);
        content->at[i] = address(player, id, found.bank, found.byte);
        content->tag[i] = tags[i];
    }
}

/* Values are called v0, v1, … in the order they were drawn. */
static const uint32_t *tags_of(const Player *player, const Value *value) {
    char name[16] = {0};
    memcpy(name, value->name.ptr, value->name.len < sizeof name ? value->name.len : sizeof name - 1);
    return player->network->tag[strtoul(name + 1, NULL, 10)];
}

static void expect(Player *player, uint32_t id, const char *who) {
    const Content *content = &player->content[id];
    const Memory *memory = memory_of(player, id);
    for (uint64_t i = 0; i < content->count; i++) {
        if (memory->tag[content->at[i]] != content->tag[i]) {
            fail_msg("%s: byte %llu of buffer %u of memory %u holds another element on %s\n%s", who,
                     (unsigned long long)i, (unsigned)id, (unsigned)player->plan->buffers[id].memory,
                     player->plan->device->name.ptr, player->network->text);
        }
    }
}

static void write(Player *player, uint32_t id) {
    const Content *content = &player->content[id];
    for (uint64_t i = 0; i < content->count; i++) {
        memory_of(player, id)->tag[content->at[i]] = content->tag[i];
    }
}

static Memory new_memory(Arena *arena, uint64_t bank_bytes, uint64_t banks) {
    Memory memory = {arena_array(arena, uint32_t, bank_bytes * banks), bank_bytes};
    memset(memory.tag, 0xff, bank_bytes * banks * sizeof *memory.tag);
    return memory;
}

/* What is there before the first step: constants, and the caller's inputs. */
static void begin_play(Player *player) {
    const Plan *plan = player->plan;
    uint64_t banks = 1;
    for (uint32_t id = 0; id < plan->buffer_count; id++) {
        banks = plan->buffers[id].banks_used > banks ? plan->buffers[id].banks_used : banks;
    }
    player->local = new_memory(player->arena, plan->placed_bytes, banks);
    player->backing = new_memory(player->arena, plan->backing_bytes, 1);
    player->content = arena_array(player->arena, Content, plan->buffer_count);
    for (uint32_t id = 0; id < plan->buffer_count; id++) {
        const Value *value = graph_value(plan->graph, plan->buffers[id].value);
        bool is_callers = !is_local(plan, id) || plan->device->kind == DEVICE_ARENA;
        if (value->constant != NULL) {
            fill_constant(player, id, &player->content[id]);
        } else {
            fill_map(player, id, tags_of(player, value), &player->content[id]);
        }
        if ((value->constant != NULL && !is_local(plan, id)) || (value->is_input && is_callers)) {
            write(player, id);
        }
    }
}

static void end_play(Player *player) {
    const Plan *plan = player->plan;
    uint32_t found = 0;
    for (uint32_t id = 0; id < plan->buffer_count; id++) {
        bool is_output = graph_value(plan->graph, plan->buffers[id].value)->is_output;
        if (is_output && (!is_local(plan, id) || plan->device->kind == DEVICE_ARENA)) {
            expect(player, id, "the caller");
            found++;
        }
    }
    assert_int_equal(found, graph_main(plan->graph)->output_count);
}

static void play(Player *player) {
    const Plan *plan = player->plan;
    begin_play(player);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        const Step *step = &plan->steps[s];
        for (uint32_t i = 0; i < step->read_count; i++) {
            expect(player, step->reads[i].index, column_name(step->column));
        }
        for (uint32_t i = 0; i < step->write_count; i++) {
            write(player, step->writes[i].index);
        }
    }
    end_play(player);
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

/* What the plans must show, else the networks are too tame. */
typedef struct {
    size_t alias[ALIAS_INTO_CONSUMER + 1], column[COLUMN_COUNT], banked;
} Seen;

static void count_seen(const Plan *plan, Seen *seen) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        seen->alias[plan->buffers[i].alias_reason]++;
        seen->banked += is_local(plan, i) && plan->buffers[i].banks_used > 1;
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        seen->column[plan->steps[s].column]++;
    }
}

/* Half of the networks on the one arena, the others on each preset in turn. */
static const char *device_of(uint64_t seed) {
    return seed % 2 == 0 ? "mcu-cm" : device_presets[seed / 2 % device_preset_count].name;
}

static void play_network(Network *network, uint64_t seed, Seen *seen) {
    Planned planned;
    uint64_t peak[2];
    bool pin = seed % 5 == 0;
    make_network(network, seed);
    for (int in_place = 0; in_place < 2; in_place++) {
        PlanCase test = {network->text,
                         device_of(seed),
                         NULL,
                         {.in_place = in_place != 0,
                          .pin_inputs = pin,
                          .pin_outputs = pin,
                          .strategy = seed % 7 == 0 ? STRATEGY_FULL : STRATEGY_AUTO,
                          .budget_bytes = UINT64_MAX}};
        if (!planned_make(&planned, &test)) {
            diags_print(&planned.work.diags, "", stdout);
            fail_msg("seed %llu was refused:\n%s", (unsigned long long)seed, network->text);
        }
        play(&(Player){.network = network, .plan = planned.plan, .arena = &planned.work.scratch});
        check_sums(planned.plan);
        count_seen(planned.plan, seen);
        peak[in_place] = planned.plan->peak_live_bytes;
        planned_free(&planned);
    }
    assert_true(peak[1] <= peak[0]);
}

static void test_random_networks(void **state) {
    (void)state;
    static Network network;
    Seen seen = {0};
    for (uint64_t seed = 1; seed <= PLANS; seed++) {
        play_network(&network, seed, &seen);
    }
    for (int reason = ALIAS_VIEW; reason <= ALIAS_INTO_CONSUMER; reason++) {
        print_message("%zu aliases by %s\n", seen.alias[reason], alias_reason_name((AliasReason)reason));
        assert_true(seen.alias[reason] > 10);
    }
    for (int column = 0; column < COLUMN_COUNT; column++) {
        print_message("%zu steps of %s\n", seen.column[column], column_name((Column)column));
        assert_true(seen.column[column] > 10 || column == COLUMN_REQUANTIZE);
    }
    print_message("%zu buffers over several banks\n", seen.banked);
    assert_true(seen.banked > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
