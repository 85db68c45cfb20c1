/* What moves and work cost on a device: the rules of docs/simulator.md, as the planner counts by them. */
#ifndef S0_SWEEP_CYCLES_H
#define S0_SWEEP_CYCLES_H

#include "base/checked.h"
#include "device/device.h"
#include "layout/runs.h"

/* Cycles of so much work at so much a cycle; a rate of 0 is not told, and unbounded. */
static inline uint64_t cycles_of(uint64_t work, uint64_t rate) {
    return rate == 0 ? 0 : ceil_div(work, rate);
}

/* How the device's DMA counts runs. */
RunRule cycles_run_rule(const Device *device);

/* Of one transfer of these runs. False where it does not fit 64 bits. */
bool cycles_of_transfer(const Device *device, const RunCost *runs, uint64_t *cycles);

#endif
