/* Random networks, planned for every preset and then played through: does every read find the elements it is meant to?
 *
 * The player knows nothing of how a plan was made. The network is drawn with one tag an element: an operator that
 * computes makes new ones, a reshape, transposition, concatenation or split passes on those of its inputs. Each byte of
 * local and of far memory holds the tag of what was written there, at the address that the layout contract gives the
 * element. What a step reads must find its tags, byte by byte; so must the caller at the end. Offsets, live ranges,
 * aliases, their order, and loads and stores are all wrong in some way that this sees. A constant has one tag for all
 * its bytes. Also: the sums of a plan, that writing in place never raises the peak, and that an order of operators that
 * was chosen for memory is never worse than the file's, and allowed. */
#include "network.h"

enum { PLANS = 2000 };

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
    size_t alias[ALIAS_INTO_CONSUMER + 1], column[COLUMN_COUNT], banked, reordered, lowest;
} Seen;

static void count_seen(const Plan *plan, Seen *seen) {
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        seen->alias[plan->buffers[i].alias_reason]++;
        seen->banked += is_local(plan, i) && plan->buffers[i].banks_used > 1;
    }
    for (uint32_t s = 0; s < plan->step_count; s++) {
        seen->column[plan->steps[s].column]++;
    }
    seen->reordered += plan->order != NULL && plan->order->moved > 0;
    seen->lowest += plan->order != NULL && plan->order->is_lowest;
}

/* Half of the networks on the one arena, the others on each preset in turn. */
static const char *device_of(uint64_t seed) {
    return seed % 2 == 0 ? "mcu-cm" : device_presets[seed / 2 % device_preset_count].name;
}

static void play_network(Network *network, uint64_t seed, Seen *seen) {
    enum { APART, IN_PLACE, REORDERED, WAYS };
    uint64_t peak[WAYS], placed[WAYS];
    bool pin = seed % 5 == 0;
    make_network(network, seed, MOST_NODES);
    for (int way = 0; way < WAYS; way++) {
        Planned planned;
        PlanCase test = {network->text,
                         device_of(seed),
                         NULL,
                         {.in_place = way != APART,
                          .pin_inputs = pin,
                          .pin_outputs = pin,
                          .order_memory = way == REORDERED,
                          .strategy = seed % 7 == 0 ? STRATEGY_FULL : STRATEGY_AUTO,
                          .budget_bytes = UINT64_MAX}};
        if (!planned_make(&planned, &test)) {
            diags_print(&planned.work.diags, "", stdout);
            fail_msg("seed %llu was refused:\n%s", (unsigned long long)seed, network->text);
        }
        play(&(Player){.network = network, .plan = planned.plan, .arena = &planned.work.scratch});
        check_sums(planned.plan);
        count_seen(planned.plan, seen);
        peak[way] = planned.plan->peak_live_bytes;
        placed[way] = planned.plan->placed_bytes;
        planned_free(&planned);
    }
    assert_true(peak[IN_PLACE] <= peak[APART]);
    assert_true(placed[REORDERED] <= placed[IN_PLACE]);
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
    print_message("%zu plans in another order than the file's, %zu with the lowest peak\n", seen.reordered,
                  seen.lowest);
    assert_true(seen.reordered > 10 && seen.lowest > 10);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_random_networks)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
