/* The JSON of `stride0 simplify`: docs/json.md lists the keys. */
#include "report/json_rewrites.h"
#include "report/simplification.h"

static void write_model(Json *json, const Simplification *facts) {
    static const char *const format[] = {"onnx", "tflite", "text"};
    json_key(json, "model");
    json_object(json);
    json_member_text(json, "file", facts->file);
    json_member_text(json, "format", format[facts->graph->format]);
    json_end(json);
    json_key(json, "device");
    json_object(json);
    json_member_text(json, "name", facts->device);
    json_end(json);
}

static void write_peak(Json *json, const Simplification *facts, const char *key, Peak peak) {
    json_key(json, key);
    if (facts->no_peaks != NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_u64(json, "peak_live_bytes", peak.live_bytes);
    json_member_u64(json, "placed_bytes", peak.placed_bytes);
    json_member_u64(json, "overflow_placed_bytes", peak.further_bytes);
    json_end(json);
}

static void write_figures(Json *json, const char *key, uint32_t nodes, uint64_t constant_bytes, uint64_t file_bytes) {
    json_key(json, key);
    json_object_inline(json);
    json_member_u64(json, "nodes", nodes);
    json_member_u64(json, "constant_bytes", constant_bytes);
    json_member_u64(json, "file_bytes", file_bytes);
    json_end(json);
}

static void write_peaks(Json *json, const Simplification *facts) {
    json_key(json, "peaks");
    json_object(json);
    write_peak(json, facts, "before", facts->before);
    write_peak(json, facts, "after_held", facts->after_held);
    write_peak(json, facts, "after", facts->after);
    json_member_text(json, "why_none", facts->no_peaks);
    json_end(json);
}

static void write_verified(Json *json, const Simplification *facts) {
    json_key(json, "verified");
    if (!facts->simplified->verify) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_member_u64(json, "certificates", facts->verified_count);
    json_member_u64(json, "evaluations", facts->verified_evaluations);
    json_end(json);
}

static void write_range(Json *json, const char *key, const double range[2]) {
    json_key(json, key);
    json_array_inline(json);
    json_double(json, range[0]);
    json_double(json, range[1]);
    json_end(json);
}

static void write_outputs(Json *json, const Simplification *facts) {
    json_key(json, "outputs");
    json_array(json);
    for (uint32_t k = 0; k < facts->output_count; k++) {
        json_object_inline(json);
        json_member_str(json, "name", facts->outputs[k].name);
        write_range(json, "before", facts->outputs[k].before);
        write_range(json, "after", facts->outputs[k].after);
        json_end(json);
    }
    json_end(json);
}

void report_simplification_json(const Simplification *facts, FILE *out) {
    const Simplified *done = facts->simplified;
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_u64(&json, "schema", 1);
    write_model(&json, facts);
    write_figures(&json, "before", facts->nodes_before, done->constant_bytes_before, facts->file_bytes_before);
    write_figures(&json, "after", facts->nodes_after, done->constant_bytes_after, facts->file_bytes_after);
    write_peaks(&json, facts);
    json_rewrites(&json, done);
    write_verified(&json, facts);
    json_key(&json, "refusals");
    json_array(&json);
    json_refused_rewrites(&json, done);
    json_end(&json);
    write_outputs(&json, facts);
    json_end(&json);
}
