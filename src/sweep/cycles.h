/* What moves and work cost on a device, and which queue they go through: the rules of docs/simulator.md, as the planner
 * counts by them. */
#ifndef S0_SWEEP_CYCLES_H
#define S0_SWEEP_CYCLES_H

#include "base/checked.h"
#include "device/device.h"
#include "layout/runs.h"

/* Cycles of so much work at so much a cycle; a rate of 0 is not told, and unbounded. */
static inline uint64_t cycles_of(uint64_t work, uint64_t rate) {
    return rate == 0 ? 0 : ceil_div(work, rate);
}

/* Of one stage that the vector engine goes over so many bytes with. */
static inline uint64_t cycles_of_pass(const Device *device, uint64_t bytes) {
    return cycles_of(bytes, device->vector_bytes_cycle.value);
}

/* Of `elements` that are each the sum of `macs` products. False where that does not fit 64 bits. */
bool cycles_of_products(const Device *device, uint64_t elements, uint64_t macs, uint64_t *cycles);

/* The queue that stores go through; loads have queue 1, the engine queue 0. */
uint32_t cycles_store_queue(const Device *device);

/* How the device's DMA counts runs. */
RunRule cycles_run_rule(const Device *device);

/* Of one transfer of these runs. False where it does not fit 64 bits. */
bool cycles_of_transfer(const Device *device, const RunCost *runs, uint64_t *cycles);

#endif
