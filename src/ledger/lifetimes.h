/* How long constants are alive beside the steps that use them. Private to the room. */
#ifndef S0_LEDGER_LIFETIMES_H
#define S0_LEDGER_LIFETIMES_H

#include "ledger/facts.h"

/* Fills `idle_steps` and `idle_at_peak`. */
void lifetimes_gather(Facts *facts, Work *work);

#endif
