/* A comparison as JSON. */
#include "report/diff.h"

#include "base/json.h"

static void write_i64(Json *json, const char *key, int64_t value) {
    json_key(json, key);
    json_i64(json, value);
}

static void write_further(Json *json, const Side *side) {
    json_key(json, "overflow");
    json_array(json);
    for (uint32_t k = 0; k < side->further_count; k++) {
        json_object_inline(json);
        json_member_str(json, "memory", side->further[k].name);
        json_member_u64(json, "placed_bytes", side->further[k].placed_bytes);
        json_member_known(json, "capacity_bytes", side->further[k].capacity_bytes);
        json_end(json);
    }
    json_end(json);
}

static void write_side(Json *json, const char *key, const Side *side) {
    json_key(json, key);
    json_object(json);
    json_member_text(json, "file", side->file);
    json_member_text(json, "plan_file", side->plan_file);
    json_member_str(json, "device", side->device);
    json_key(json, "options");
    if (side->options == NULL) {
        json_null(json);
    } else {
        json_array_inline(json);
        for (const char *const *option = side->options; *option != NULL; option++) {
            json_text(json, *option);
        }
        json_end(json);
    }
    json_member_u64(json, "nodes", side->nodes);
    json_member_u64(json, "peak_live_bytes", side->peak_live_bytes);
    json_member_u64(json, "placed_bytes", side->placed_bytes);
    json_member_u64(json, "capacity_bytes", side->capacity_bytes);
    json_member_str(json, "backing", side->backing);
    json_member_u64(json, "backing_bytes", side->backing_bytes);
    json_member_known(json, "backing_capacity_bytes", side->backing_capacity_bytes);
    write_further(json, side);
    json_member_bool(json, "fits", side_fits(side));
    json_end(json);
}

static void write_causes(Json *json, const int64_t *causes) {
    json_key(json, "causes");
    json_object_inline(json);
    for (Cause cause = 0; cause < CAUSE_COUNT; cause++) {
        write_i64(json, cause_name(cause), causes[cause]);
    }
    json_end(json);
}

static void write_steps(Json *json, const Diff *diff) {
    json_key(json, "steps");
    json_array(json);
    for (uint32_t k = 0; k < diff->step_count; k++) {
        const DiffStep *step = &diff->steps[k];
        json_object_inline(json);
        json_member_text(json, "what", step->what);
        json_member_text(json, "cause", cause_name(step->cause));
        json_member_u64(json, "peak_live_bytes", step->peak_live_bytes);
        json_member_u64(json, "placed_bytes", step->placed_bytes);
        write_causes(json, step->causes);
        json_end(json);
    }
    json_end(json);
}

static void write_tensors(Json *json, const Diff *diff) {
    json_key(json, "tensors");
    json_array(json);
    for (uint32_t k = 0; k < diff->tensor_count; k++) {
        const DiffTensor *tensor = &diff->tensors[k];
        json_object_inline(json);
        json_member_str(json, "name", tensor->name);
        json_member_text(json, "kind", tensor->is_constant ? "constant" : tensor->is_workspace ? "workspace" : "map");
        json_member_known(json, "a_bytes", tensor->is_in_a ? tensor->a_bytes : UINT64_MAX);
        json_member_known(json, "b_bytes", tensor->is_in_b ? tensor->b_bytes : UINT64_MAX);
        json_member_known(json, "a_local_bytes", tensor->is_local_in_a ? tensor->a_local_bytes : UINT64_MAX);
        json_member_known(json, "b_local_bytes", tensor->is_local_in_b ? tensor->b_local_bytes : UINT64_MAX);
        json_end(json);
    }
    json_end(json);
}

static void write_output(Json *json, const char *key, const SideOutput *output) {
    json_key(json, key);
    if (output == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_str(json, "dtype", output->dtype);
    json_key(json, "shape");
    json_array_inline(json);
    for (uint32_t k = 0; k < output->shape.rank; k++) {
        json_i64(json, output->shape.dim[k]);
    }
    json_end(json);
    json_member_bool(json, "is_known", output->is_ranged);
    json_key(json, "lo");
    json_double(json, output->lo);
    json_key(json, "hi");
    json_double(json, output->hi);
    json_key(json, "scale");
    json_double(json, output->scale);
    write_i64(json, "zero_point", output->zero_point);
    json_end(json);
}

static void write_outputs(Json *json, const Diff *diff) {
    json_member_bool(json, "outputs_stay", diff->outputs_stay);
    json_key(json, "outputs");
    json_array(json);
    for (uint32_t k = 0; k < diff->output_count; k++) {
        const DiffOutput *output = &diff->outputs[k];
        json_object_inline(json);
        json_member_str(json, "name", output->a == NULL ? output->b->name : output->a->name);
        json_member_bool(json, "stays", output->is_same && output->is_known);
        write_output(json, "a", output->a);
        write_output(json, "b", output->b);
        json_end(json);
    }
    json_end(json);
}

void report_diff_json(const Diff *diff, FILE *out) {
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_u64(&json, "schema", 1);
    write_side(&json, "a", diff->a);
    write_side(&json, "b", diff->b);
    json_key(&json, "change");
    json_object_inline(&json);
    write_i64(&json, "peak_live_bytes", diff->peak_live_bytes);
    write_i64(&json, "placed_bytes", diff->placed_bytes);
    write_i64(&json, "backing_bytes", diff->backing_bytes);
    json_end(&json);
    write_causes(&json, diff->causes);
    write_steps(&json, diff);
    write_tensors(&json, diff);
    write_outputs(&json, diff);
    json_end(&json);
}
