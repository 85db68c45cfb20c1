/* Cycles of products and of transfers. */
#include "sweep/cycles.h"

static uint64_t at_least_1(uint64_t value) {
    return value > 0 ? value : 1;
}

bool cycles_of_products(const Device *device, uint64_t elements, uint64_t macs, uint64_t *cycles) {
    uint64_t work = 0;
    bool fits = checked_mul(elements, macs, &work);
    *cycles = fits ? cycles_of(work, device->mac_cycle.value) : 0;
    return fits;
}

uint32_t cycles_store_queue(const Device *device) {
    return device->dma_channels.value >= 2 ? 2 : 1;
}

RunRule cycles_run_rule(const Device *device) {
    return (RunRule){.align_bytes = at_least_1(device->dma_align_bytes.value),
                     .min_bytes = at_least_1(device->dma_min_bytes.value),
                     .burst_bytes = device->dma_burst_bytes.value};
}

bool cycles_of_transfer(const Device *device, const RunCost *runs, uint64_t *cycles) {
    return checked_mul(runs->descriptors, device->descriptor_cycles.value, cycles) &&
           checked_add(*cycles, device->dma_setup_cycles.value, cycles) &&
           checked_add(*cycles, cycles_of(runs->burst_bytes_moved, device->dma_bytes_cycle.value), cycles);
}
