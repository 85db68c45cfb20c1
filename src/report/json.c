/* The plan as JSON. */
#include "report/json_misfit.h"
#include "report/json_parts.h"
#include "report/json_rewrites.h"
#include "report/json_traffic.h"
#include "report/report.h"

#include "base/json.h"

#include <math.h>

static void write_shape(Json *json, const char *key, const Shape *shape) {
    json_key(json, key);
    json_array_inline(json);
    for (uint32_t k = 0; k < shape->rank; k++) {
        json_i64(json, shape->dim[k]);
    }
    json_end(json);
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
    if (facts->other != NULL) {
        json_key(json, "qdq");
        json_object_inline(json);
        json_member_text(json, "reading", facts->reads_qdq_as_float ? "float" : "int");
        json_member_u64(json, "other_peak_live_bytes", facts->other->peak_live_bytes);
        json_member_u64(json, "other_placed_bytes", facts->other->placed_bytes);
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
    json_member_known(json, "flash_capacity_bytes", is_arena ? plan->backing_capacity_bytes : UINT64_MAX);
    json_member_known(json, "far_capacity_bytes", is_arena ? UINT64_MAX : plan->backing_capacity_bytes);
    json_end(json);
}

/* Memories that take the overflow of another, whether or not something lies there. */
static void write_overflow(Json *json, const Facts *facts) {
    const Device *device = facts->device;
    json_key(json, "overflow");
    json_array(json);
    for (uint32_t m = 0; m < device->memory_count; m++) {
        const DeviceMemory *memory = &device->memory[m];
        const PlanOverflow *there = &facts->plan->overflow[m];
        if (memory->overflow == OVERFLOW_NONE) {
            continue;
        }
        json_object_inline(json);
        json_member_str(json, "memory", memory->name);
        json_member_str(json, "of", device->memory[device_first(device, m)].name);
        json_member_u64(json, "price", memory->price);
        json_member_known(json, "capacity_bytes", memory->bytes);
        json_member_u64(json, "align_bytes", memory->align_bytes);
        json_member_u64(json, "storages", there->storage_count);
        json_member_u64(json, "physical_bytes", there->physical_bytes);
        json_member_u64(json, "placed_bytes", there->placed_bytes);
        json_member_u64(json, "lower_bound_bytes", there->lower_bound_bytes);
        json_member_bool(json, "cheapest", there->is_cheapest);
        json_end(json);
    }
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

static NodeId peak_node(const Plan *plan) {
    return plan->step_count == 0 ? NO_NODE : plan->steps[plan->peak_step].node;
}

static void write_peak(Json *json, const Facts *facts) {
    json_key(json, "peak");
    json_object(json);
    json_member_u64(json, "step", facts->plan->peak_step);
    json_node(json, facts, peak_node(facts->plan));
    json_ranked_ids(json, &facts->at_peak);
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
    json_member_known(json, "channel", buffer->costs->channel_bytes);
    json_member_known(json, "row", buffer->costs->row_bytes);
    json_member_known(json, "full", buffer->costs->full_bytes);
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
    json_member_known(json, "held_steps",
                      is_constant && buffer_is_local_storage(facts->plan, id) ? facts->idle_steps[id.index]
                                                                              : UINT64_MAX);
}

static void write_why_far(Json *json, const Facts *facts, BufferId id) {
    const FarReason *why = facts_why_far(facts->plan, id);
    json_key(json, "far_reason");
    if (why == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_node(json, facts, why->node);
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
    json_member_u64(json, "storage_align_bytes", buffer_start_bytes(plan, root));
}

static void write_buffer(Json *json, const Facts *facts, BufferId id) {
    const Buffer *buffer = plan_buffer(facts->plan, id);
    json_object_inline(json);
    json_member_u64(json, "id", id.index);
    json_member_str(json, "name", is_value(buffer->value) ? graph_value(facts->graph, buffer->value)->name : STR(""));
    json_node(json, facts, buffer->node);
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
    json_node(json, facts, step->node);
    json_key(json, "op");
    if (is_node(step->node)) {
        json_str(json, graph_node(facts->graph, step->node)->op_name);
    } else {
        json_null(json);
    }
    json_member_text(json, "column", column_name(step->column));
    json_ids(json, "reads", step->reads, step->read_count);
    json_ids(json, "writes", step->writes, step->write_count);
    json_ids(json, "scratch", NULL, 0);
    json_member_u64(json, "live_bytes", step->live_bytes);
    json_member_u64(json, "own_bytes", facts->whole[index].own_bytes);
    json_member_text(json, "whole_reason", whole_reason_name(facts->whole[index].reason));
    json_member_u64(json, "repeat", step->repeat);
    json_member_known(json, "moved_bytes", facts_step_moves(facts->plan, step).written_bytes);
    write_step_commands(json, facts->commands != NULL ? &facts->commands[index] : NULL);
    json_end(json);
}

/* Maps that local memory has no room for. */
static void write_far_maps(Json *json, const Facts *facts) {
    json_key(json, "far_maps");
    json_object(json);
    json_member_u64(json, "bytes", facts->far_maps.all_bytes);
    json_member_u64(json, "at_once_bytes", facts->plan->far_maps_bytes);
    json_ranked_ids(json, &facts->far_maps);
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

/* ---- Refusals, warnings */

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
    write_overflow(&json, facts);
    write_kinds(&json, facts);
    write_peak(&json, facts);
    json_order(&json, facts);
    write_buffers_and_steps(&json, facts);
    write_far_maps(&json, facts);
    json_traffic(&json, facts);
    json_expanded(&json, facts);
    json_rewrites(&json, facts->simplified);
    json_misfit(&json, facts);
    write_refusals(&json, facts);
    write_warnings(&json, facts, scratch);
    json_end(&json);
}
