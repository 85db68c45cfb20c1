/* Fuzz target: any bytes as a device file. They give a device whose invariant holds, or at least one error. */
#include "base/fault.h"
#include "device/device.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void check_device(const Device *device) {
    CHECK(device->local < device->memory_count && device->backing < device->memory_count);
    CHECK(device->memory[device->local].bytes != UINT64_MAX);
    for (uint32_t i = 0; i < device->memory_count; i++) {
        const DeviceMemory *memory = &device->memory[i];
        CHECK(memory->bytes >= 1 && memory->align_bytes >= 1 && memory->lanes >= 1 && memory->banks >= 1);
    }
    for (Role role = 0; role < ROLE_COUNT; role++) {
        CHECK(device->contract[role] != NULL);
    }
    for (size_t i = 0; i < device->fact_count; i++) {
        CHECK(device->fact[i].source.len > 0);
    }
}

static void parse_and_check(Work *work, Str text) {
    const Device *device = device_parse(work, text, STR("fuzz.ini"));
    CHECK((device == NULL) == (work->diags.count[DIAG_ERROR] > 0));
    if (device != NULL) {
        check_device(device);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    Work work;
    Str text = {(const char *)bytes, len};
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        parse_and_check(&work, text);
    }
    work_free(&work);
    return 0;
}
