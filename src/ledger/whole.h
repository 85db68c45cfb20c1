/* Operators that work on whole maps: why, and what they take so. */
#ifndef S0_LEDGER_WHOLE_H
#define S0_LEDGER_WHOLE_H

#include "ledger/facts.h"

void whole_gather(Facts *facts, Work *work);

#endif
