/* Rankings: buffers by the figure they are listed for. Private to the room. */
#ifndef S0_LEDGER_RANKING_H
#define S0_LEDGER_RANKING_H

#include "ledger/facts.h"

/* Empty, with room for every buffer of the plan. */
Ranking ranking_new(const Plan *plan, Arena *keep);

/* At most once a buffer. The caller knows that the sum of all `bytes` fits 64 bits. */
void ranking_add(Ranking *ranking, BufferId id, uint64_t bytes);

/* Most bytes first, ties in the order of the plan; the first `most` are to be listed. */
void ranking_finish(Ranking *ranking, uint32_t most);

#endif
