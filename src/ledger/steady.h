/* What a second run need not load again. Private to the room. */
#ifndef S0_LEDGER_STEADY_H
#define S0_LEDGER_STEADY_H

#include "ledger/facts.h"

/* Of each buffer: does nothing write it in later runs? Constants that stay in local memory, and those of which a form
 * stays. Fills all but `run`. */
const bool *steady_find(const Plan *plan, Steady *steady, Arena *keep, Arena *scratch);

#endif
