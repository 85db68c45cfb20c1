/* Relief of a plan that does not fit: which maps go to far memory, and which operators go tile by tile.
 *
 * Step by step, where more is alive than there is room: the operator there goes by tiles, if it may; then, as long as
 * that is not enough, the largest maps that only wait there go, then the largest that the operator itself reads or
 * writes. A map goes with all that share its storage. Parts of constants and of what went are counted as if they took
 * no room: what they really take the next plan tells. */
#include "plan/builder.h"

#include "node/input.h"
#include "plan/whole.h"

typedef struct {
    const Plan *plan;
    const GraphUses *uses;
    Relief *relief;
    uint64_t room_bytes;
    uint32_t *next, *first_at;         /* storages by the step they begin at */
    uint32_t *member_next, *member_of; /* values by the storage they lie in */
    bool *is_gone, *is_touched;        /* storage: it goes; an operator at the step reads or writes it */
    uint32_t active_count, *active;    /* storages alive at the step */
    bool has_changed;
} Relieving;

#define END UINT32_MAX

Relief *relief_new(const Graph *graph, Work *work) {
    Arena *arena = &work->scratch;
    Relief *relief = arena_new(arena, Relief);
    relief->is_far = arena_array(arena, bool, graph->value_count);
    relief->why = arena_array(&work->keep, FarReason, graph->value_count);
    relief->stays = arena_array(arena, bool, graph->value_count);
    relief->whole_for = arena_array(&work->keep, NodeId, graph->value_count);
    for (uint32_t v = 0; v < graph->value_count; v++) {
        relief->whole_for[v] = NO_NODE;
    }
    relief->in_tiles = arena_array(arena, bool, graph->node_count);
    return relief;
}

static uint32_t *list_of(Arena *scratch, uint32_t count) {
    uint32_t *list = arena_array(scratch, uint32_t, count);
    for (uint32_t i = 0; i < count; i++) {
        list[i] = END;
    }
    return list;
}

static void list_storages(Relieving *r, Arena *scratch) {
    const Plan *plan = r->plan;
    r->next = list_of(scratch, plan->buffer_count);
    r->first_at = list_of(scratch, plan->step_count + 1);
    r->member_next = list_of(scratch, plan->graph->value_count);
    r->member_of = list_of(scratch, plan->buffer_count);
    r->is_gone = arena_array(scratch, bool, plan->buffer_count);
    r->is_touched = arena_array(scratch, bool, plan->buffer_count);
    r->active = arena_array(scratch, uint32_t, plan->buffer_count);
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_local_storage(plan, (BufferId){i}) && buffer->physical_bytes > 0) {
            r->next[i] = r->first_at[buffer->storage_first];
            r->first_at[buffer->storage_first] = i;
        }
    }
    for (uint32_t v = 0; v < plan->graph->value_count; v++) {
        BufferId id = plan->of_value[v];
        if (is_buffer(id)) {
            uint32_t storage = plan_buffer(plan, id)->storage.index;
            r->member_next[v] = r->member_of[storage];
            r->member_of[storage] = v;
        }
    }
}

/* ---- What may go */

static bool value_may_go(const Relieving *r, uint32_t v) {
    const Value *value = &r->plan->graph->values[v];
    bool may = !r->relief->stays[v] && value_is_map(value);
    if (may && is_node(value->producer)) {
        may = operator_takes_parts(r->plan->graph, value->producer) &&
              !node_has_state(r->plan->graph, graph_node(r->plan->graph, value->producer));
    }
    for (uint32_t u = r->uses->first[v]; may && u < r->uses->first[v + 1]; u++) {
        NodeId reader = r->uses->use[u]; /* a constant only asks for the shape */
        may = graph_node(r->plan->graph, reader)->is_constant || operator_takes_parts(r->plan->graph, reader);
    }
    return may;
}

/* Parts of a tile, workspace and constants are no value's own. */
static bool storage_may_go(const Relieving *r, uint32_t storage) {
    bool may = r->member_of[storage] != END && !r->is_gone[storage];
    for (uint32_t v = r->member_of[storage]; may && v != END; v = r->member_next[v]) {
        may = value_may_go(r, v);
    }
    return may;
}

/* Does the operator make or read any of it? An operator is several steps, not all of which do. */
static bool is_of_node(const Relieving *r, NodeId node, uint32_t storage) {
    const Graph *graph = r->plan->graph;
    bool is_own = r->is_touched[storage];
    for (uint32_t v = r->member_of[storage]; is_node(node) && v != END; v = r->member_next[v]) {
        is_own = is_own || graph->values[v].producer.index == node.index;
        for (uint32_t u = r->uses->first[v]; !is_own && u < r->uses->first[v + 1]; u++) {
            is_own = r->uses->use[u].index == node.index;
        }
    }
    return is_own;
}

static void send_away(Relieving *r, const Step *step, uint32_t storage) {
    const FarReason why = {step->node, step->column, step->live_bytes, r->room_bytes,
                           !is_of_node(r, step->node, storage)};
    r->is_gone[storage] = true;
    r->has_changed = true;
    for (uint32_t v = r->member_of[storage]; v != END; v = r->member_next[v]) {
        r->relief->is_far[v] = true;
        r->relief->why[v] = why;
    }
}

/* The largest that may go, among those that the step touches or those that it does not; END where there is none. */
static uint32_t largest(const Relieving *r, bool is_touched) {
    uint32_t found = END;
    for (uint32_t i = 0; i < r->active_count; i++) {
        uint32_t at = r->active[i];
        uint64_t bytes = r->plan->buffers[at].physical_bytes;
        if (r->is_touched[at] == is_touched && (found == END || bytes > r->plan->buffers[found].physical_bytes) &&
            storage_may_go(r, at)) {
            found = at;
        }
    }
    return found;
}

/* ---- One step */

static void touch(const Relieving *r, const BufferId *ids, uint32_t count, bool is_touched) {
    for (uint32_t i = 0; i < count; i++) {
        r->is_touched[plan_buffer(r->plan, ids[i])->storage.index] = is_touched;
    }
}

/* Has it been a whole constant of a step that will go by tiles? */
static bool is_cut_constant(const Relieving *r, uint32_t at) {
    BufferKind kind = r->plan->buffers[at].kind;
    return r->is_touched[at] && (kind == BUFFER_WEIGHT || kind == BUFFER_PARAMETER);
}

static uint64_t staying_bytes(const Relieving *r, bool cuts) {
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < r->active_count; i++) {
        uint32_t at = r->active[i];
        bool goes = r->is_gone[at] || (cuts && is_cut_constant(r, at));
        bytes += goes ? 0 : r->plan->buffers[at].physical_bytes;
    }
    return bytes;
}

static bool begin_tiles(Relieving *r, const Step *step) {
    bool begins = is_node(step->node) && step->sweep == NOT_IN_SWEEP && !r->relief->in_tiles[step->node.index] &&
                  operator_takes_parts(r->plan->graph, step->node);
    if (begins) {
        r->relief->in_tiles[step->node.index] = true;
        r->has_changed = true;
    }
    return begins;
}

static void relieve_step(Relieving *r, const Step *step) {
    touch(r, step->reads, step->read_count, true);
    touch(r, step->writes, step->write_count, true);
    bool begins = begin_tiles(r, step);
    for (int touched = 0; touched < 2; touched++) {
        uint32_t at = 0;
        while (at != END && staying_bytes(r, begins) > r->room_bytes) {
            at = largest(r, touched == 1);
            if (at != END) {
                send_away(r, step, at);
            }
        }
    }
    touch(r, step->reads, step->read_count, false);
    touch(r, step->writes, step->write_count, false);
}

static void enter_step(Relieving *r, uint32_t s) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < r->active_count; i++) {
        if (r->plan->buffers[r->active[i]].storage_last > s) {
            r->active[kept++] = r->active[i];
        }
    }
    r->active_count = kept;
    for (uint32_t at = r->first_at[s]; at != END; at = r->next[at]) {
        r->active[r->active_count++] = at;
    }
}

/* Where all steps would fit but for gaps between buffers, there has to be so much less. */
static uint64_t room_of(const Plan *plan) {
    uint64_t over = plan->placed_bytes - plan->capacity_bytes;
    bool has_gaps = plan->peak_live_bytes <= plan->capacity_bytes;
    return has_gaps ? plan->capacity_bytes - (over < plan->capacity_bytes ? over : plan->capacity_bytes)
                    : plan->capacity_bytes;
}

bool relieve(const Plan *plan, const GraphUses *uses, Relief *relief, Arena *scratch) {
    Relieving r = {.plan = plan, .uses = uses, .relief = relief, .room_bytes = room_of(plan)};
    list_storages(&r, scratch);
    for (uint32_t s = 0; s < plan->step_count; s++) {
        enter_step(&r, s);
        if (plan->steps[s].live_bytes > r.room_bytes) {
            relieve_step(&r, &plan->steps[s]);
        }
    }
    return r.has_changed;
}
