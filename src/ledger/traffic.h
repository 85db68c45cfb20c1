/* Traffic: gathered as part of the facts. Private to the room. */
#ifndef S0_LEDGER_TRAFFIC_H
#define S0_LEDGER_TRAFFIC_H

#include "ledger/facts.h"

/* Fills `traffic` and `copies`. */
void traffic_gather(Facts *facts, Arena *keep);

#endif
