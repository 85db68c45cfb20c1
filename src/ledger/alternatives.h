/* The ways that the sweeps of a plan could have gone. Private to the room. */
#ifndef S0_LEDGER_ALTERNATIVES_H
#define S0_LEDGER_ALTERNATIVES_H

#include "ledger/facts.h"

/* Fills `sweeps`. */
void alternatives_gather(Facts *facts, Work *work);

#endif
