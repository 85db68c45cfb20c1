/* Inside the judge: do bodies share a byte while they live? */
#ifndef S0_PLACE_JUDGE_SWEEP_H
#define S0_PLACE_JUDGE_SWEEP_H

#include "base/arena.h"

/* Bytes of one memory. offset + size fits 64 bits. */
typedef struct {
    uint64_t offset, size;
    uint32_t memory;
} Body;

/* A body begins or ends to live; it may do so several times over, and is dead when it has ended as often as begun. */
typedef struct {
    uint64_t step;
    size_t body;
    bool starts;
} Event;

/* By steps, ends before starts: ranges are half-open. */
void judge_sort_events(Event *event, size_t count);

/* Two bodies that live at one step and share a byte; false where there are none. The events are sorted.
 * cost  O(n log n) */
bool judge_sweep(const Body *body, size_t count, const Event *event, size_t event_count, Arena *scratch, size_t met[2]);

#endif
