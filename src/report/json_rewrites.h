/* What a plan changed of the model, in its JSON: rewrites, and the order of operators. Private to the room. */
#ifndef S0_REPORT_JSON_REWRITES_H
#define S0_REPORT_JSON_REWRITES_H

#include "base/json.h"
#include "ledger/facts.h"

/* The key `expanded_in_file`. */
void json_expanded(Json *json, const Facts *facts);

/* The key `rewrites`; empty where `simplified` is null. */
void json_rewrites(Json *json, const Simplified *simplified);

/* The key `order`; null where `order` is. */
void json_order(Json *json, const Facts *facts);

/* What stays, as elements of the open array `refusals`. */
void json_refused_rewrites(Json *json, const Simplified *simplified);

#endif
