/* What a second run need not load again. Private to the room. */
#ifndef S0_LEDGER_STEADY_H
#define S0_LEDGER_STEADY_H

#include "ledger/facts.h"

/* Which constants stay in local memory from run to run: one a buffer. Fills all but `run`. */
const bool *steady_find(const Plan *plan, Steady *steady, Arena *keep, Arena *scratch);

#endif
