/* What several files of the JSON of a plan write. */
#include "report/json_parts.h"

void json_ids(Json *json, const char *key, const BufferId *ids, uint32_t count) {
    json_key(json, key);
    json_array_inline(json);
    for (uint32_t i = 0; i < count; i++) {
        json_u64(json, ids[i].index);
    }
    json_end(json);
}

void json_node(Json *json, const Facts *facts, NodeId id) {
    json_key(json, "node");
    if (is_node(id)) {
        json_str(json, graph_node(facts->graph, id)->name);
    } else {
        json_null(json);
    }
}

void json_ranked_ids(Json *json, const Ranking *ranking) {
    json_key(json, "buffers");
    json_array_inline(json);
    for (uint32_t i = 0; i < ranking->count; i++) {
        json_u64(json, ranking->top[i].buffer.index);
    }
    json_end(json);
}
