/* Graph inputs that are overwritten: gathered as part of the facts. Private to the room. */
#ifndef S0_LEDGER_OVERWRITES_H
#define S0_LEDGER_OVERWRITES_H

#include "ledger/facts.h"

/* Fills `overwrites`, in the order of addresses. Nothing on a scratchpad: there the inputs stay in far memory. */
void overwrites_gather(Facts *facts, Work *work);

#endif
