/* Traffic and cycles in the JSON of a plan. Private to the room. */
#ifndef S0_REPORT_JSON_TRAFFIC_H
#define S0_REPORT_JSON_TRAFFIC_H

#include "base/json.h"
#include "ledger/facts.h"

/* The key `traffic`. */
void json_traffic(Json *json, const Facts *facts);

#endif
