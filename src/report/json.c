/* The plan as JSON. */
#include "report/json_rewrites.h"
#include "report/json_traffic.h"
#include "report/report.h"

#include "base/json.h"

#include <math.h>

static void write_ids(Json *json, const char *key, const BufferId *ids, uint32_t count) {
    json_key(json, key);
    json_array_inline(json);
    for (uint32_t i = 0; i < count; i++) {
        json_u64(json, ids[i].index);
    }
    json_end(json);
}

static void write_shape(Json *json, const char *key, const Shape *shape) {
    json_key(json, key);
    json_array_inline(json);
    for (uint32_t k = 0; k < shape->rank; k++) {
        json_i64(json, shape->dim[k]);
    }
    json_end(json);
}

static void write_known(Json *json, const char *key, uint64_t bytes) {
    json_key(json, key);
    if (bytes == UINT64_MAX) {
        json_null(json);
    } else {
        json_u64(json, bytes);
    }
}

static void write_node(Json *json, const Facts *facts, NodeId id) {
    json_key(json, "node");
    if (is_node(id)) {
        json_str(json, graph_node(facts->graph, id)->name);
    } else {
        json_null(json);
    }
}

/* ---- Model and device */

/* What an output can hold, and what its codes stand for. */
static void write_range(Json *json, const Value *value, const OutputRange *range) {
    bool has_one = value->quant != NULL && value->quant->count == 1;
    json_key(json, "lo");
    json_double(json, range->before[0]);
    json_key(json, "hi");
    json_double(json, range->before[1]);
    json_key(json, "scale");
    json_double(json, has_one ? (double)value->quant->scale[0] : NAN);
    json_key(json, "zero_point");
    if (has_one) {
        json_i64(json, quant_zero(value->quant, 0));
    } else {
        json_null(json);
    }
}

/* `ranges`: of outputs; else null. */
static void write_tensors(Json *json, const Facts *facts, const char *key, const ValueId *ids, uint32_t count,
                          const OutputRange *ranges) {
    json_key(json, key);
    json_array(json);
    for (uint32_t i = 0; i < count; i++) {
        const Value *value = graph_value(facts->graph, ids[i]);
        json_object_inline(json);
        json_member_str(json, "name", value->name);
        json_member_text(json, "dtype", dtype_name(value->dtype));
        write_shape(json, "shape", &value->shape);
        if (ranges != NULL) {
            write_range(json, value, &ranges[i]);
        }
        json_end(json);
    }
    json_end(json);
}

/* What was asked for, as the command line says it. */
static void write_request(Json *json, const Facts *facts) {
    json_key(json, "request");
    if (facts->options == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_text(json, "device", facts->request_device);
    json_key(json, "options");
    json_array_inline(json);
    for (const char *const *option = facts->options; *option != NULL; option++) {
        json_text(json, *option);
    }
    json_end(json);
    json_end(json);
}

static void write_model(Json *json, const Facts *facts) {
    static const char *const format[] = {"onnx", "tflite", "text"};
    const Block *block = graph_main(facts->graph);
    json_key(json, "model");
    json_object(json);
    json_member_text(json, "file", facts->file);
    json_member_text(json, "format", format[facts->graph->format]);
    json_member_u64(json, "nodes", facts->plan->node_count);
    write_tensors(json, facts, "inputs", block->inputs, block->input_count, NULL);
    write_tensors(json, facts, "outputs", block->outputs, block->output_count, facts->outputs);
    if (facts->has_qdq) {
        json_key(json, "qdq");
        json_object_inline(json);
        json_member_text(json, "reading", facts->reads_qdq_as_float ? "float" : "int");
        json_member_u64(json, "other_peak_live_bytes", facts->other_peak_live_bytes);
        json_member_u64(json, "other_placed_bytes", facts->other_placed_bytes);
        json_end(json);
    }
    json_end(json);
}

static void write_device(Json *json, const Facts *facts) {
    const Device *device = facts->device;
    const DeviceMemory *local = &device->memory[device->local];
    json_key(json, "device");
    json_object(json);
    json_member_str(json, "name", device->name);
    json_member_text(json, "file", device_path(device));
    json_member_text(json, "kind", device->kind == DEVICE_ARENA ? "arena" : "scratchpad");
    json_member_u64(json, "local_bytes", local->bytes + local->reserved_bytes);
    json_member_u64(json, "reserved_bytes", local->reserved_bytes);
    json_member_u64(json, "align_bytes", local->align_bytes);
    json_member_u64(json, "banks", local->banks);
    json_member_u64(json, "lanes", local->lanes);
    json_end(json);
}

/* ---- Totals */

static void write_totals(Json *json, const Facts *facts) {
    const Plan *plan = facts->plan;
    bool is_arena = facts->device->kind == DEVICE_ARENA;
    json_key(json, "totals");
    json_object(json);
    json_member_u64(json, "logical_bytes", plan->logical_bytes);
    json_member_u64(json, "physical_bytes", plan->physical_bytes);
    json_member_u64(json, "peak_live_bytes", plan->peak_live_bytes);
    json_member_u64(json, "placed_bytes", plan->placed_bytes);
    json_member_u64(json, "lower_bound_bytes", plan->lower_bound_bytes);
    json_member_u64(json, "capacity_bytes", plan->capacity_bytes);
    json_member_bool(json, "fits", plan_fits(plan));
    json_member_bool(json, "optimal", plan->placed_bytes == plan->lower_bound_bytes);
    json_member_u64(json, "workspace_declared_bytes", plan->by_kind[BUFFER_WORKSPACE].physical_bytes);
    json_member_null(json, "workspace_used_bytes");
    json_member_u64(json, "flash_bytes", is_arena ? plan->backing_bytes : 0);
    json_member_u64(json, "far_bytes", is_arena ? 0 : plan->backing_bytes);
    write_known(json, "flash_capacity_bytes", is_arena ? plan->backing_capacity_bytes : UINT64_MAX);
    write_known(json, "far_capacity_bytes", is_arena ? UINT64_MAX : plan->backing_capacity_bytes);
    json_end(json);
}

static void write_kinds(Json *json, const Facts *facts) {
    json_key(json, "by_kind");
    json_object(json);
    for (int kind = 0; kind < BUFFER_KIND_COUNT; kind++) {
        const KindTotals *totals = &facts->plan->by_kind[kind];
        json_key(json, buffer_kind_name((BufferKind)kind));
        json_object_inline(json);
        json_member_u64(json, "logical_bytes", totals->logical_bytes);
        json_member_u64(json, "physical_bytes", totals->physical_bytes);
        json_member_u64(json, "at_peak_bytes", totals->at_peak_bytes);
        json_end(json);
    }
    json_end(json);
}

static void write_ranked_ids(Json *json, const Ranking *ranking) {
    json_key(json, "buffers");
    json_array_inline(json);
    for (uint32_t i = 0; i < ranking->count; i++) {
        json_u64(json, ranking->top[i].buffer.index);
    }
    json_end(json);
}

static NodeId peak_node(const Plan *plan) {
    return plan->step_count == 0 ? NO_NODE : plan->steps[plan->peak_step].node;
}

static void write_peak(Json *json, const Facts *facts) {
    json_key(json, "peak");
    json_object(json);
    json_member_u64(json, "step", facts->plan->peak_step);
    write_node(json, facts, peak_node(facts->plan));
    write_ranked_ids(json, &facts->at_peak);
    json_end(json);
}

/* ---- Buffers and steps */

static void write_costs(Json *json, const Buffer *buffer) {
    json_key(json, "form_costs");
    if (buffer->costs == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    write_known(json, "channel", buffer->costs->channel_bytes);
    write_known(json, "row", buffer->costs->row_bytes);
    write_known(json, "full", buffer->costs->full_bytes);
    json_end(json);
}

static void write_alias(Json *json, const Buffer *buffer) {
    json_key(json, "alias_of");
    if (is_buffer(buffer->alias_of)) {
        json_u64(json, buffer->alias_of.index);
    } else {
        json_null(json);
    }
    json_member_text(json, "alias_reason", alias_reason_name(buffer->alias_reason));
    json_member_text(json, "refused_alias_reason", alias_refusal_name(buffer->refused_alias));
}

static void write_tensor(Json *json, const Facts *facts, const Buffer *buffer) {
    const Value *value = is_value(buffer->value) ? graph_value(facts->graph, buffer->value) : NULL;
    json_member_text(json, "dtype", dtype_name(buffer->dtype));
    write_shape(json, "shape", value == NULL ? &buffer->stored : &value->shape);
    write_shape(json, "stored_shape", &buffer->stored);
    json_key(json, "axis");
    if (buffer->axis < 0) {
        json_null(json);
    } else {
        json_i64(json, buffer->axis);
    }
    json_member_str(json, "layout", contract_text(facts->device->contract[buffer->role]));
    json_member_text(json, "broadcast", broadcast_name(buffer->broadcast));
}

static void write_idle(Json *json, const Facts *facts, BufferId id) {
    BufferKind kind = plan_buffer(facts->plan, id)->kind;
    bool is_constant = kind == BUFFER_PARAMETER || kind == BUFFER_WEIGHT;
    write_known(json, "held_steps",
                is_constant && buffer_is_local_storage(facts->plan, id) ? facts->idle_steps[id.index] : UINT64_MAX);
}

static void write_why_far(Json *json, const Facts *facts, BufferId id) {
    const FarReason *why = facts_why_far(facts->plan, id);
    json_key(json, "far_reason");
    if (why == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    write_node(json, facts, why->node);
    json_member_text(json, "column", column_name(why->column));
    json_member_u64(json, "live_bytes", why->live_bytes);
    json_member_u64(json, "room_bytes", why->room_bytes);
    json_member_bool(json, "waits", why->is_waiting);
    json_end(json);
}

static void write_storage(Json *json, const Plan *plan, const Buffer *buffer) {
    const Buffer *root = plan_buffer(plan, buffer->storage);
    json_member_u64(json, "storage", buffer->storage.index);
    json_member_u64(json, "storage_first", root->storage_first);
    json_member_u64(json, "storage_last", root->storage_last);
}

static void write_buffer(Json *json, const Facts *facts, BufferId id) {
    const Buffer *buffer = plan_buffer(facts->plan, id);
    json_object_inline(json);
    json_member_u64(json, "id", id.index);
    json_member_str(json, "name", is_value(buffer->value) ? graph_value(facts->graph, buffer->value)->name : STR(""));
    write_node(json, facts, buffer->node);
    json_member_text(json, "kind", buffer_kind_name(buffer->kind));
    write_tensor(json, facts, buffer);
    write_costs(json, buffer);
    json_member_u64(json, "logical_bytes", buffer->logical_bytes);
    json_member_u64(json, "physical_bytes", buffer->physical_bytes);
    json_member_u64(json, "banks_used", buffer->banks_used);
    json_member_str(json, "memory", facts->device->memory[buffer->memory].name);
    json_member_u64(json, "offset", buffer->offset);
    json_member_u64(json, "first", buffer->first);
    json_member_u64(json, "last", buffer->last);
    json_member_u64(json, "repeat", buffer->repeat);
    write_idle(json, facts, id);
    write_alias(json, buffer);
    json_member_text(json, "form", facts_form_name(buffer));
    json_member_text(json, "materialised_reason", buffer->materialised_reason);
    write_why_far(json, facts, id);
    write_storage(json, facts->plan, buffer);
    json_end(json);
}

static void write_step_commands(Json *json, const StepCommands *commands) {
    json_key(json, "commands");
    if (commands == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_u64(json, "first", commands->first);
    json_member_u64(json, "count", commands->count);
    json_end(json);
}

static void write_step(Json *json, const Facts *facts, uint32_t index) {
    const Step *step = &facts->plan->steps[index];
    json_object_inline(json);
    json_member_u64(json, "index", index);
    write_node(json, facts, step->node);
    json_key(json, "op");
    if (is_node(step->node)) {
        json_str(json, graph_node(facts->graph, step->node)->op_name);
    } else {
        json_null(json);
    }
    json_member_text(json, "column", column_name(step->column));
    write_ids(json, "reads", step->reads, step->read_count);
    write_ids(json, "writes", step->writes, step->write_count);
    write_ids(json, "scratch", NULL, 0);
    json_member_u64(json, "live_bytes", step->live_bytes);
    json_member_u64(json, "own_bytes", facts->whole[index].own_bytes);
    json_member_text(json, "whole_reason", whole_reason_name(facts->whole[index].reason));
    json_member_u64(json, "repeat", step->repeat);
    write_known(json, "moved_bytes", facts_step_moves(facts->plan, step).written_bytes);
    write_step_commands(json, facts->commands != NULL ? &facts->commands[index] : NULL);
    json_end(json);
}

/* Maps that local memory has no room for. */
static void write_far_maps(Json *json, const Facts *facts) {
    json_key(json, "far_maps");
    json_object(json);
    json_member_u64(json, "bytes", facts->far_maps.all_bytes);
    json_member_u64(json, "at_once_bytes", facts->plan->far_maps_bytes);
    write_ranked_ids(json, &facts->far_maps);
    json_end(json);
}

static void write_buffers_and_steps(Json *json, const Facts *facts) {
    json_key(json, "buffers");
    json_array(json);
    for (uint32_t i = 0; i < facts->plan->buffer_count; i++) {
        write_buffer(json, facts, (BufferId){i});
    }
    json_end(json);
    json_key(json, "steps");
    json_array(json);
    for (uint32_t s = 0; s < facts->plan->step_count; s++) {
        write_step(json, facts, s);
    }
    json_end(json);
}

/* ---- Misfit, refusals, warnings */

static void write_crowded(Json *json, const Facts *facts) {
    enum { MOST = 10 };
    const Misfit *misfit = &facts->misfit;
    json_member_u64(json, "other_step_count", misfit->crowded_count);
    json_key(json, "other_steps");
    json_array(json);
    for (uint32_t i = 0; i < misfit->crowded_count && i < MOST; i++) {
        json_object_inline(json);
        json_member_u64(json, "step", misfit->crowded[i].step);
        write_node(json, facts, facts->plan->steps[misfit->crowded[i].step].node);
        json_member_u64(json, "live_bytes", misfit->crowded[i].live_bytes);
        json_end(json);
    }
    json_end(json);
}

static void write_remedies(Json *json, const Plan *plan) {
    json_key(json, "remedies");
    json_array(json);
    for (uint32_t i = 0; i < plan->remedy_count; i++) {
        json_object_inline(json);
        json_member_text(json, "kind", plan->remedies[i].kind);
        json_member_u64(json, "saves_bytes", plan->remedies[i].saves_bytes);
        json_end(json);
    }
    json_end(json);
}

static void write_blame(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_key(json, "blame");
    json_array(json);
    for (uint32_t i = 0; i < misfit->blame_count; i++) {
        const Blame *blame = &misfit->blame[i];
        json_object_inline(json);
        json_member_text(json, "kind", blame_name(blame->kind));
        write_node(json, facts, blame->node);
        write_known(json, "buffer", is_buffer(blame->buffer) ? blame->buffer.index : UINT64_MAX);
        json_member_u64(json, "bytes", blame->bytes);
        json_member_u64(json, "instead_bytes", blame->instead_bytes);
        json_member_text(json, "hint", blame->hint);
        json_end(json);
    }
    json_end(json);
}

/* Of local memory: what the peak's node takes itself, why it is not cut, and what is there for other steps. */
/* Which maps of the peak's operator another one can't do with parts of. */
static void write_needed_whole(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_key(json, "needed_whole");
    json_array(json);
    for (uint32_t i = 0; i < misfit->needed_count; i++) {
        json_object_inline(json);
        json_member_str(json, "tensor", graph_value(facts->graph, misfit->needed[i].value)->name);
        write_node(json, facts, misfit->needed[i].by);
        json_end(json);
    }
    json_end(json);
}

static void write_peak_node(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_member_u64(json, "own_bytes", misfit->own_bytes);
    json_member_text(json, "whole_reason", whole_reason_name(misfit->whole));
    write_needed_whole(json, facts);
    json_member_u64(json, "waiting_bytes", misfit->waiting_bytes);
    write_ids(json, "waiting", misfit->waiting, misfit->waiting_count);
}

/* What does not fit in one memory, at the step at which most is alive there. */
typedef struct {
    Str memory;
    uint32_t step; /* NO_STEP */
    uint64_t need_bytes, capacity_bytes, excess_bytes, live_bytes;
    const Ranking *buffers;
} Excess;

static void write_excess(Json *json, const Facts *facts, const Excess *excess) {
    bool has_step = excess->step < facts->plan->step_count;
    write_known(json, "step", excess->step == NO_STEP ? UINT64_MAX : excess->step);
    write_node(json, facts, has_step ? facts->plan->steps[excess->step].node : NO_NODE);
    json_member_str(json, "memory", excess->memory);
    json_member_u64(json, "need_bytes", excess->need_bytes);
    json_member_u64(json, "capacity_bytes", excess->capacity_bytes);
    json_member_u64(json, "excess_bytes", excess->excess_bytes);
    json_member_u64(json, "live_bytes", excess->live_bytes);
    write_ranked_ids(json, excess->buffers);
}

static Excess local_excess(const Facts *facts) {
    const Plan *plan = facts->plan;
    return (Excess){STR("local"),        plan->peak_step,       plan->placed_bytes, plan->capacity_bytes,
                    facts->excess_bytes, plan->peak_live_bytes, &facts->at_peak};
}

static Excess backing_excess(const Facts *facts) {
    const Plan *plan = facts->plan;
    const Misfit *misfit = &facts->misfit;
    return (Excess){facts->device->memory[facts->device->backing].name,
                    misfit->backing_step,
                    plan->backing_bytes,
                    plan->backing_capacity_bytes,
                    misfit->backing_excess_bytes,
                    misfit->backing_live_bytes,
                    &misfit->backing};
}

static void write_backing(Json *json, const Facts *facts) {
    const Excess backing = backing_excess(facts);
    json_key(json, "backing");
    if (plan_backing_fits(facts->plan)) {
        json_null(json);
        return;
    }
    json_object(json);
    write_excess(json, facts, &backing);
    json_member_u64(json, "stay_bytes", facts->misfit.backing_stay_bytes);
    json_end(json);
}

static void write_unused(Json *json, const Facts *facts) {
    const Misfit *misfit = &facts->misfit;
    json_key(json, "unused_memory");
    if (misfit->unused == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_str(json, "name", misfit->unused->name);
    write_known(json, "bytes", misfit->unused->bytes);
    json_member_u64(json, "lanes", misfit->unused->lanes);
    json_member_str(json, "instead_of", misfit->unused_for->name);
    json_end(json);
}

static void write_misfit(Json *json, const Facts *facts) {
    json_key(json, "misfit");
    if (plan_fits(facts->plan)) {
        json_null(json);
        return;
    }
    const Excess excess = plan_local_fits(facts->plan) ? backing_excess(facts) : local_excess(facts);
    json_object(json);
    write_excess(json, facts, &excess);
    write_peak_node(json, facts);
    write_crowded(json, facts);
    write_blame(json, facts);
    write_backing(json, facts);
    write_unused(json, facts);
    write_remedies(json, facts->plan);
    json_end(json);
}

static void write_optional_str(Json *json, const char *key, Str value) {
    json_key(json, key);
    if (value.len == 0) {
        json_null(json);
    } else {
        json_str(json, value);
    }
}

static void write_refusals(Json *json, const Facts *facts) {
    json_key(json, "refusals");
    json_array(json);
    for (const Diag *diag = facts->diags->first; diag != NULL; diag = diag->next) {
        if (diag->kind != DIAG_REFUSED) {
            continue;
        }
        json_object_inline(json);
        write_optional_str(json, "node", diag->text.node);
        write_optional_str(json, "tensor", diag->text.tensor);
        json_member_text(json, "reason", diag->text.what);
        json_key(json, "readings");
        json_array_inline(json);
        for (const char *const *reading = diag->text.readings; reading != NULL && *reading != NULL; reading++) {
            json_text(json, *reading);
        }
        json_end(json);
        json_end(json);
    }
    json_refused_rewrites(json, facts->simplified);
    json_end(json);
}

static void write_warnings(Json *json, const Facts *facts, Arena *scratch) {
    json_key(json, "warnings");
    json_array(json);
    for (const Diag *diag = facts->diags->first; diag != NULL; diag = diag->next) {
        if (diag->kind == DIAG_WARNING) {
            json_str(json, diag->text.tensor.len == 0 ? str_from(diag->text.what)
                                                      : arena_format(scratch, "tensor '" STR_FMT "': %s",
                                                                     STR_ARG(diag->text.tensor), diag->text.what));
        }
    }
    for (uint32_t i = 0; i < facts->overwrite_count; i++) {
        const Overwrite *over = &facts->overwrites[i];
        Str name = facts_buffer_name(facts, over->input, scratch);
        json_str(json, arena_format(scratch, "graph input '" STR_FMT "' is overwritten at step %u", STR_ARG(name),
                                    (unsigned)over->step));
    }
    json_end(json);
}

void report_json(const Facts *facts, Arena *scratch, FILE *out) {
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_u64(&json, "schema", 1);
    write_model(&json, facts);
    write_request(&json, facts);
    write_device(&json, facts);
    write_totals(&json, facts);
    write_kinds(&json, facts);
    write_peak(&json, facts);
    write_buffers_and_steps(&json, facts);
    write_far_maps(&json, facts);
    json_traffic(&json, facts);
    json_expanded(&json, facts);
    json_rewrites(&json, facts->simplified);
    write_misfit(&json, facts);
    write_refusals(&json, facts);
    write_warnings(&json, facts, scratch);
    json_end(&json);
}
