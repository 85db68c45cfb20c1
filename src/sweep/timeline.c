/* The clocks of a device's queues. See timeline.h. */
#include "sweep/timeline.h"

#include "base/checked.h"

static uint64_t later(uint64_t a, uint64_t b) {
    return a > b ? a : b;
}

void timeline_begin(Timeline *timeline) {
    timeline->used |= timeline->has_begun;
    timeline->has_begun = 0;
    timeline->known = 0;
    for (uint32_t queue = 0; queue < TIMELINE_QUEUES; queue++) {
        timeline->barrier[queue] = timeline->queue_end[queue];
    }
}

static void pass_barrier(Timeline *timeline, uint32_t queue, uint64_t *start, uint64_t *waits) {
    if ((timeline->has_begun >> queue & 1) != 0) {
        return;
    }
    timeline->has_begun |= 1u << queue;
    for (uint32_t other = 0; other < TIMELINE_QUEUES; other++) {
        if (other != queue && (timeline->used >> other & 1) != 0) {
            *start = later(*start, timeline->barrier[other]);
            ++*waits;
        }
    }
}

uint64_t timeline_add(Timeline *timeline, const TimelineEvent *event, uint64_t sync_cycles, bool *ok) {
    uint64_t end = timeline->queue_end[event->queue], waits = 0, syncs;
    pass_barrier(timeline, event->queue, &end, &waits);
    for (uint32_t key = 0; key < TIMELINE_KEYS; key++) {
        if ((event->waits & timeline->known) >> key & 1) {
            end = later(end, timeline->key_end[key]);
            waits++;
        }
    }
    *ok = *ok && checked_mul(waits, sync_cycles, &syncs) && checked_add(end, syncs, &end) &&
          checked_add(end, event->cycles, &end);
    for (uint32_t key = 0; key < TIMELINE_KEYS; key++) {
        timeline->key_end[key] = (event->key >> key & 1) != 0 ? end : timeline->key_end[key];
    }
    timeline->known |= event->key;
    timeline->queue_end[event->queue] = end;
    return waits;
}

uint64_t timeline_end(const Timeline *timeline) {
    uint64_t end = 0;
    for (uint32_t queue = 0; queue < TIMELINE_QUEUES; queue++) {
        end = later(end, timeline->queue_end[queue]);
    }
    return end;
}
