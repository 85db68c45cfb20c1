/* The clocks of a device's queues, over all steps of a plan: docs/simulator.md.
 *
 * Inside a step or sweep an event waits for what it says. The first one of each queue also waits for all that the
 * other queues have had to do before: between two steps there is a barrier. */
#ifndef S0_SWEEP_TIMELINE_H
#define S0_SWEEP_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>

enum { TIMELINE_QUEUES = 3 }; /* the engine, loads, stores; with one DMA channel loads and stores share the second */
enum { TIMELINE_KEYS = 6 };   /* what an event inside a sweep may wait for: the last one of a key */

typedef struct {
    uint64_t queue_end[TIMELINE_QUEUES], key_end[TIMELINE_KEYS];
    uint32_t has_begun;                /* set of queues that have had an event of this step */
    uint64_t barrier[TIMELINE_QUEUES]; /* ends before the step */
    uint32_t used;                     /* set of queues that had an event before the step */
    uint32_t known;                    /* set of keys that had an event in this step */
} Timeline;

/* One thing that a queue does. */
typedef struct {
    uint32_t queue;
    uint32_t waits;  /* set of keys */
    uint32_t key;    /* set of the one it is; 0: none */
    uint64_t cycles; /* its own */
} TimelineEvent;

void timeline_begin(Timeline *timeline);

/* How many other events it waits for; false in `ok` where an end does not fit 64 bits. */
uint64_t timeline_add(Timeline *timeline, const TimelineEvent *event, uint64_t sync_cycles, bool *ok);

uint64_t timeline_end(const Timeline *timeline);

#endif
