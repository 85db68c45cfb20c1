/* What a misfit is made of beside the peak: gathered as part of the facts. Private to the room. */
#ifndef S0_LEDGER_MISFIT_H
#define S0_LEDGER_MISFIT_H

#include "ledger/facts.h"

/* Fills `misfit`, `spare_bytes` and `excess_bytes`. */
void misfit_gather(Facts *facts, Work *work);

#endif
