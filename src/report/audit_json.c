/* The JSON of `stride0 run`: docs/json.md lists the keys. */
#include "report/audit.h"

#include "base/json.h"

#include <inttypes.h>

static void write_head(Json *json, const Facts *facts, const Audit *audit) {
    static const char *const format[] = {"onnx", "tflite", "text"};
    json_member_u64(json, "schema", 1);
    json_key(json, "model");
    json_object(json);
    json_member_text(json, "file", facts->file);
    json_member_text(json, "format", format[facts->graph->format]);
    json_end(json);
    json_key(json, "device");
    json_object(json);
    json_member_str(json, "name", facts->device->name);
    json_member_text(json, "file", device_path(facts->device));
    json_end(json);
    json_member_text(json, "semantics", audit == NULL ? NULL : s0_semantics_name(audit->semantics));
    json_member_text(json, "node", audit == NULL ? NULL : audit->node);
}

static void write_totals(Json *json, const Plan *plan, const Audit *audit) {
    json_key(json, "totals");
    json_object(json);
    json_member_u64(json, "peak_live_bytes", plan->peak_live_bytes);
    json_member_u64(json, "placed_bytes", plan->placed_bytes);
    json_member_u64(json, "capacity_bytes", plan->capacity_bytes);
    json_member_bool(json, "fits", plan_fits(plan));
    json_member_u64(json, "workspace_declared_bytes", plan->by_kind[BUFFER_WORKSPACE].physical_bytes);
    if (audit == NULL) {
        json_member_null(json, "workspace_used_bytes");
    } else {
        json_member_u64(json, "workspace_used_bytes", audit->used_bytes);
    }
    json_end(json);
}

/* ---- Inputs and outputs */

static void write_tensor(Json *json, const AuditTensor *tensor) {
    char crc[9];
    snprintf(crc, sizeof crc, "%08" PRIx32, tensor->crc32);
    json_object_inline(json);
    json_member_str(json, "name", tensor->tensor.name);
    json_member_text(json, "dtype", dtype_name(tensor->tensor.dtype));
    json_key(json, "shape");
    json_array_inline(json);
    for (uint32_t k = 0; k < tensor->tensor.shape.rank; k++) {
        json_i64(json, tensor->tensor.shape.dim[k]);
    }
    json_end(json);
    json_member_text(json, "crc32", crc);
}

/* Of an output: where it was written, and how it differs from what is expected. */
static void write_output(Json *json, const AuditTensor *output, HostTolerance tolerance) {
    const HostDifference *found = &output->difference;
    write_tensor(json, output);
    json_member_u64(json, "unwritten_elements", output->unwritten);
    json_member_text(json, "npy", output->npy_path);
    json_member_text(json, "bin", output->bin_path);
    json_key(json, "expected");
    if (output->file == NULL) {
        json_null(json);
    } else {
        json_object_inline(json);
        json_member_text(json, "file", output->file);
        json_member_u64(json, "tolerance", tolerance.steps);
        json_key(json, "absolute");
        json_double(json, tolerance.apart);
        json_member_u64(json, "elements", found->elements);
        json_member_u64(json, "different", found->different);
        json_member_u64(json, "largest", found->largest);
        json_member_text(json, "unit", host_difference_unit(output->tensor.dtype));
        json_key(json, "apart");
        json_double(json, found->apart);
        json_member_bool(json, "nan", found->has_nan);
        json_member_u64(json, "first", found->first);
        json_end(json);
    }
    json_end(json);
}

static void write_tensors(Json *json, const Audit *audit) {
    json_key(json, "inputs");
    json_array(json);
    for (uint32_t k = 0; k < audit->input_count; k++) {
        const AuditTensor *input = &audit->inputs[k];
        write_tensor(json, input);
        json_member_text(json, "file", input->file);
        if (input->file == NULL) {
            json_member_u64(json, "seed", audit->seed);
        } else {
            json_member_null(json, "seed");
        }
        json_end(json);
    }
    json_end(json);
    json_key(json, "outputs");
    json_array(json);
    for (uint32_t k = 0; k < audit->output_count; k++) {
        write_output(json, &audit->outputs[k], audit->tolerance);
    }
    json_end(json);
}

/* ---- The audit */

static void write_number_or_null(Json *json, const char *key, uint32_t number) {
    if (number == CMD_NONE) {
        json_member_null(json, key);
    } else {
        json_member_u64(json, key, number);
    }
}

static void write_fault(Json *json, const CmdProgram *program, const SimFault *fault) {
    const CmdBuffer *buffer = &program->buffers[fault->buffer];
    bool has_command = fault->command != CMD_NONE;
    json_object_inline(json);
    json_member_text(json, "kind", sim_fault_name(fault->kind));
    write_number_or_null(json, "command", fault->command);
    write_number_or_null(json, "other", fault->other);
    json_member_str(json, "node", has_command ? program->nodes[program->commands[fault->command].node] : buffer->node);
    json_member_str(json, "tensor", buffer->name);
    json_member_u64(json, "memory", buffer->memory);
    json_member_u64(json, "lane", fault->lane);
    json_member_u64(json, "byte", fault->byte);
    json_member_text(json, "what", fault->text);
    json_end(json);
}

static void write_difference(Json *json, const AuditDifference *found) {
    json_object_inline(json);
    json_member_text(json, "what", found->what);
    json_member_str(json, "where", found->where);
    write_number_or_null(json, "buffer", found->buffer);
    json_member_u64(json, "planned", found->planned);
    json_member_u64(json, "measured", found->measured);
    json_end(json);
}

static void write_buffer(Json *json, const CmdBuffer *buffer, const SimBuffer *measured) {
    bool is_workspace = buffer->kind == CMD_BUFFER_WORKSPACE;
    json_object_inline(json);
    json_member_str(json, "name", buffer->name);
    json_member_text(json, "kind", cmd_kind_name(buffer->kind));
    json_member_u64(json, "memory", buffer->memory);
    json_member_u64(json, "offset", buffer->offset_bytes);
    json_member_u64(json, "bytes", buffer->bytes);
    json_member_u64(json, "lanes", buffer->lanes);
    json_member_u64(json, "declared_bytes", is_workspace ? buffer->bytes : 0);
    json_member_u64(json, "used_bytes", is_workspace ? measured->used_bytes : 0);
    json_member_u64(json, "estimated_bytes", buffer->estimated_bytes);
    json_member_u64(json, "touched_bytes", measured->touched_bytes);
    json_member_u64(json, "read_bytes", measured->read_bytes);
    json_member_u64(json, "written_bytes", measured->written_bytes);
    json_end(json);
}

static void write_audit(Json *json, const Audit *audit) {
    json_key(json, "audit");
    json_object(json);
    json_member_bool(json, "exact", audit->is_exact);
    json_member_u64(json, "declared_bytes", audit->declared_bytes);
    json_member_u64(json, "used_bytes", audit->used_bytes);
    json_member_u64(json, "estimated_bytes", audit->estimated_bytes);
    json_member_u64(json, "touched_bytes", audit->touched_bytes);
    json_member_u64(json, "fault_count", audit->result->fault_count);
    json_key(json, "faults");
    json_array(json);
    for (uint32_t k = 0; k < audit->result->kept_faults; k++) {
        write_fault(json, audit->program, &audit->result->fault[k]);
    }
    json_end(json);
    json_key(json, "differences");
    json_array(json);
    for (uint32_t k = 0; k < audit->difference_count; k++) {
        write_difference(json, &audit->differences[k]);
    }
    json_end(json);
    json_key(json, "buffers");
    json_array(json);
    for (uint32_t k = 0; k < audit->program->buffer_count; k++) {
        write_buffer(json, &audit->program->buffers[k], &audit->result->buffer[k]);
    }
    json_end(json);
    json_end(json);
}

/* ---- Traffic */

static void write_traffic_of(Json *json, const char *key, const AuditTraffic *traffic, bool has_bytes) {
    json_key(json, key);
    json_object_inline(json);
    if (has_bytes) {
        json_member_u64(json, "bytes", traffic->bytes);
    } else {
        json_member_null(json, "bytes");
    }
    json_member_u64(json, "commands", traffic->commands);
    json_member_u64(json, "descriptors", traffic->descriptors);
    json_member_u64(json, "bursts", traffic->bursts);
    json_member_u64(json, "cycles", traffic->cycles);
    json_end(json);
}

static void write_traffic(Json *json, const Audit *audit) {
    json_key(json, "traffic");
    json_object(json);
    json_key(json, "by_column");
    json_object(json);
    for (int k = 0; k < AUDIT_COLUMNS; k++) {
        const AuditColumn *column = &audit->column[k];
        json_key(json, column->name);
        json_object(json);
        write_traffic_of(json, "booked", &column->booked, k != AUDIT_COMPUTE);
        write_traffic_of(json, "measured", &column->measured, k != AUDIT_COMPUTE);
        json_member_u64(json, "read_bytes", column->read_bytes);
        json_member_u64(json, "written_bytes", column->written_bytes);
        json_end(json);
    }
    json_end(json);
    json_end(json);
}

static void write_pair(Json *json, const char *key, uint64_t booked, uint64_t measured) {
    json_key(json, key);
    json_object_inline(json);
    json_member_u64(json, "booked", booked);
    json_member_u64(json, "measured", measured);
    json_end(json);
}

void report_audit_json(const Facts *facts, const Audit *audit, FILE *out) {
    Json json;
    json_init(&json, out);
    json_object(&json);
    write_head(&json, facts, audit);
    write_totals(&json, facts->plan, audit);
    if (audit == NULL) {
        json_member_null(&json, "audit");
    } else {
        write_tensors(&json, audit);
        write_audit(&json, audit);
        write_traffic(&json, audit);
        write_pair(&json, "cycles", audit->booked_cycles, audit->measured_cycles);
        write_pair(&json, "waits", audit->booked_syncs, audit->measured_syncs);
    }
    json_end(&json);
}
