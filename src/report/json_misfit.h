/* Why a plan does not fit, in its JSON. Private to the room. */
#ifndef S0_REPORT_JSON_MISFIT_H
#define S0_REPORT_JSON_MISFIT_H

#include "base/json.h"
#include "ledger/facts.h"

/* The key `misfit`: null where the plan fits. */
void json_misfit(Json *json, const Facts *facts);

#endif
