/* What a device that was read is asked: the names of its kinds, and where a value of it comes from. */
#include "device/device.h"

const char *device_kind_name(DeviceKind kind) {
    static const char *const name[] = {[DEVICE_ARENA] = "arena", [DEVICE_SCRATCHPAD] = "scratchpad"};
    return name[kind];
}

const char *form_name(Form form) {
    static const char *const name[FORM_COUNT] = {
        [FORM_SCALAR] = "scalar", [FORM_CHANNEL] = "channel", [FORM_ROW] = "row", [FORM_FULL] = "full"};
    return name[form];
}

const char *role_name(Role role) {
    static const char *const name[ROLE_COUNT] = {
        [ROLE_ACTIVATION] = "activation", [ROLE_WEIGHT] = "weight", [ROLE_PARAMETER] = "parameter"};
    return name[role];
}

const DeviceFact *device_fact(const Device *device, const char *section, const char *key) {
    for (size_t i = 0; i < device->fact_count; i++) {
        const DeviceFact *fact = &device->fact[i];
        if (str_eq(fact->section, str_from(section)) && str_eq(fact->key, str_from(key))) {
            return fact;
        }
    }
    return NULL;
}

Str device_bare_operator(Str name) {
    static const Str custom = {"CUSTOM:", 7};
    return str_starts(name, custom) ? (Str){name.ptr + custom.len, name.len - custom.len} : name;
}

const char *device_path(const Device *device) {
    static const Str preset = {"preset:", 7};
    bool is_preset = str_starts(device->file, preset) &&
                     device_find_preset((Str){device->file.ptr + preset.len, device->file.len - preset.len}) != NULL;
    return is_preset ? NULL : device->file.ptr;
}

const DeviceOperator *device_find_operator(const Device *device, Str name) {
    Str bare = device_bare_operator(name);
    for (uint32_t i = 0; i < device->operator_count; i++) {
        if (str_eq(device->operators[i].name, bare)) {
            return &device->operators[i];
        }
    }
    return NULL;
}

bool device_is_described_only(const Device *device, const DeviceFact *fact) {
    static const Str memory = {"memory ", 7};
    if (!str_starts(fact->section, memory)) {
        bool is_cost = str_eq(fact->section, STR("engine")) || str_eq(fact->section, STR("dma"));
        return is_cost && device->kind == DEVICE_ARENA;
    }
    Str name = str_trim((Str){fact->section.ptr + memory.len, fact->section.len - memory.len});
    bool is_planned = false;
    for (uint32_t m = 0; m < device->memory_count; m++) {
        bool is_used = m == device->local || m == device->backing || device->memory[m].overflow != OVERFLOW_NONE;
        is_planned = is_planned || (is_used && str_eq(name, device->memory[m].name));
    }
    return !is_planned || str_eq(fact->key, STR("banks"));
}
