/* `stride0 inspect --json`: every operator and every tensor, for programs that compare them with another reading. */
#include "cli/inspect.h"

#include "base/json.h"

/* CRC-32 of IEEE 802.3, four bits at a time: the value that zlib's crc32 gives. */
static uint32_t crc32(Span bytes) {
    static const uint32_t table[16] = {0x00000000, 0x1DB71064, 0x3B6E20C8, 0x26D930AC, 0x76DC4190, 0x6B6B51F4,
                                       0x4DB26158, 0x5005713C, 0xEDB88320, 0xF00F9344, 0xD6D6A3E8, 0xCB61B38C,
                                       0x9B64C2B0, 0x86D3D2D4, 0xA00AE278, 0xBDBDF21C};
    uint32_t crc = UINT32_MAX;
    for (size_t i = 0; i < bytes.len; i++) {
        crc ^= bytes.ptr[i];
        crc = (crc >> 4) ^ table[crc & 15];
        crc = (crc >> 4) ^ table[crc & 15];
    }
    return ~crc;
}

static void write_names(Json *json, const char *key, const Graph *graph, const ValueId *ids, uint32_t count) {
    json_key(json, key);
    json_array_inline(json);
    for (uint32_t i = 0; i < count; i++) {
        if (is_value(ids[i])) {
            json_str(json, graph_value(graph, ids[i])->name);
        } else {
            json_null(json);
        }
    }
    json_end(json);
}

static void write_shape(Json *json, const char *key, const Shape *shape) {
    json_key(json, key);
    json_array_inline(json);
    for (uint32_t k = 0; k < shape->rank; k++) {
        if (shape->dim[k] == DIM_FREE) {
            json_null(json);
        } else {
            json_i64(json, shape->dim[k]);
        }
    }
    json_end(json);
}

static void write_quant(Json *json, const Quant *quant) {
    json_key(json, "quant");
    if (quant == NULL) {
        json_null(json);
        return;
    }
    json_object_inline(json);
    json_key(json, "scale");
    json_array(json);
    for (uint32_t i = 0; i < quant->count; i++) {
        json_double(json, (double)quant->scale[i]);
    }
    json_end(json);
    json_key(json, "zero_point");
    json_array(json);
    for (uint32_t i = 0; i < quant->count; i++) {
        json_i64(json, quant_zero(quant, i));
    }
    json_end(json);
    json_key(json, "axis");
    json_i64(json, quant->axis);
    json_member_u64(json, "block", quant->block);
    json_end(json);
}

static void write_constant(Json *json, const Const *constant) {
    if (constant == NULL || !constant->is_known) {
        json_member_null(json, "stored_shape");
        json_member_null(json, "constant_bytes");
        json_member_null(json, "crc32");
        return;
    }
    write_shape(json, "stored_shape", &constant->stored);
    json_member_u64(json, "constant_bytes", constant->bytes.len);
    json_member_u64(json, "crc32", crc32(constant->bytes));
}

static void write_tensor(Json *json, const InspectFacts *facts, ValueId id) {
    const Value *stated = graph_value(facts->graph, id);
    const Value *value = cli_inspect_value(facts, id);
    json_object(json);
    json_member_str(json, "name", stated->name);
    json_member_text(json, "dtype", value->dtype == DTYPE_NONE ? NULL : dtype_name(value->dtype));
    if (value->has_shape) {
        write_shape(json, "shape", &value->shape);
    } else {
        json_member_null(json, "shape");
    }
    json_member_text(json, "axes", facts->complete == NULL ? NULL : cli_inspect_axes(facts, id));
    write_quant(json, stated->quant);
    write_constant(json, stated->constant);
    json_member_bool(json, "is_input", stated->is_input);
    json_member_bool(json, "is_output", stated->is_output);
    json_member_bool(json, "is_state", stated->is_state);
    json_end(json);
}

static void write_operator(Json *json, const Graph *graph, NodeId id, uint32_t block) {
    const Node *node = graph_node(graph, id);
    json_object_inline(json);
    json_member_str(json, "name", node->name);
    json_member_str(json, "op", node->op_name);
    json_key(json, "version");
    json_i64(json, node->version);
    json_member_u64(json, "subgraph", block);
    write_names(json, "inputs", graph, node->inputs, node->input_count);
    write_names(json, "outputs", graph, node->outputs, node->output_count);
    json_end(json);
}

static void write_model(Json *json, const InspectFacts *facts) {
    static const char *const format_name[] = {
        [FORMAT_ONNX] = "onnx", [FORMAT_TFLITE] = "tflite", [FORMAT_TEXT] = "text"};
    const Graph *graph = facts->graph;
    json_key(json, "model");
    json_object(json);
    json_member_text(json, "file", facts->file);
    json_member_u64(json, "file_bytes", facts->file_bytes);
    json_member_text(json, "format", format_name[graph->format]);
    json_member_str(json, "name", graph->name);
    json_key(json, "opset");
    json_i64(json, graph->opset);
    json_member_u64(json, "nodes", graph->node_count);
    json_member_u64(json, "tensors", graph->value_count);
    json_member_u64(json, "constants", facts->constant_count);
    json_member_u64(json, "constant_bytes", facts->constant_bytes);
    json_member_bool(json, "is_complete", facts->complete != NULL);
    json_end(json);
}

static void write_subgraphs(Json *json, const Graph *graph) {
    json_key(json, "subgraphs");
    json_array(json);
    for (uint32_t b = 0; b < graph->block_count; b++) {
        const Block *block = &graph->blocks[b];
        json_object_inline(json);
        json_member_str(json, "name", block->name);
        json_member_u64(json, "nodes", block->node_count);
        write_names(json, "inputs", graph, block->inputs, block->input_count);
        write_names(json, "outputs", graph, block->outputs, block->output_count);
        json_end(json);
    }
    json_end(json);
}

static void write_counts(Json *json, const InspectFacts *facts) {
    json_key(json, "operator_counts");
    json_array(json);
    for (uint32_t i = 0; i < facts->operator_count; i++) {
        json_object_inline(json);
        json_member_str(json, "op", facts->operators[i].op);
        json_member_u64(json, "count", facts->operators[i].count);
        json_member_bool(json, "is_known", facts->operators[i].is_known);
        json_end(json);
    }
    json_end(json);
}

void cli_inspect_write_json(FILE *out, const void *inspect_facts) {
    const InspectFacts *facts = inspect_facts;
    const Graph *graph = facts->graph;
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_u64(&json, "schema", 1);
    write_model(&json, facts);
    write_counts(&json, facts);
    write_subgraphs(&json, graph);
    json_key(&json, "operators");
    json_array(&json);
    for (uint32_t b = 0; b < graph->block_count; b++) {
        for (uint32_t i = 0; i < graph->blocks[b].node_count; i++) {
            write_operator(&json, graph, graph->blocks[b].nodes[i], b);
        }
    }
    json_end(&json);
    json_key(&json, "tensors");
    json_array(&json);
    for (uint32_t i = 0; i < graph->value_count; i++) {
        write_tensor(&json, facts, (ValueId){i});
    }
    json_end(&json);
    json_end(&json);
}
