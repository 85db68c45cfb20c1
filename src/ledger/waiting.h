/* What of the peak the step's own node uses, and what waits there for others: part of the facts. Private to the room.
 */
#ifndef S0_LEDGER_WAITING_H
#define S0_LEDGER_WAITING_H

#include "ledger/facts.h"

/* Fills `own_bytes` and `waiting` of the misfit.
 * needs   at_peak */
void waiting_gather(Facts *facts, Arena *keep);

#endif
