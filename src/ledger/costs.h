/* What runs of a plan cost: gathered as part of the facts. Private to the room. */
#ifndef S0_LEDGER_COSTS_H
#define S0_LEDGER_COSTS_H

#include "ledger/facts.h"

/* Fills `has_costs`, `first_run` and `steady`; of an arena, whose operators work where their data are, only what moves.
 * needs   traffic */
void costs_gather(Facts *facts, Work *work);

#endif
