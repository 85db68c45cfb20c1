/* What of a peak that does not fit need not be there. Private to the room. */
#ifndef S0_LEDGER_BLAME_H
#define S0_LEDGER_BLAME_H

#include "ledger/facts.h"

/* Fills `blame` of the misfit where local memory does not fit.
 * needs   at_peak, sweeps, idle_at_peak */
void blame_gather(Facts *facts, Arena *keep);

#endif
