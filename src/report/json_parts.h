/* What several files of the JSON of a plan write. Private to the room. */
#ifndef S0_REPORT_JSON_PARTS_H
#define S0_REPORT_JSON_PARTS_H

#include "base/json.h"
#include "ledger/facts.h"

/* The key `node`: its name; null of NO_NODE. */
void json_node(Json *json, const Facts *facts, NodeId id);

void json_ids(Json *json, const char *key, const BufferId *ids, uint32_t count);

/* The key `buffers`: those that are to be listed. */
void json_ranked_ids(Json *json, const Ranking *ranking);

#endif
