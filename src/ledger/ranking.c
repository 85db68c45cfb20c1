/* Rankings: buffers by the figure they are listed for. */
#include "ledger/ranking.h"

#include <stdlib.h>

static int by_bytes(const void *left, const void *right) {
    const Ranked *a = left;
    const Ranked *b = right;
    if (a->bytes != b->bytes) {
        return a->bytes > b->bytes ? -1 : 1;
    }
    return a->buffer.index < b->buffer.index ? -1 : a->buffer.index > b->buffer.index;
}

Ranking ranking_new(const Plan *plan, Arena *keep) {
    return (Ranking){.top = arena_array(keep, Ranked, plan->buffer_count)};
}

void ranking_add(Ranking *ranking, BufferId id, uint64_t bytes) {
    ranking->top[ranking->all++] = (Ranked){id, bytes};
    ranking->all_bytes += bytes;
}

void ranking_finish(Ranking *ranking, uint32_t most) {
    if (ranking->all > 0) {
        qsort(ranking->top, ranking->all, sizeof *ranking->top, by_bytes);
    }
    ranking->count = ranking->all < most ? ranking->all : most;
}
