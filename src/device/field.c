/* The keys of a device file: the table. docs/devices.md says what they mean. */
#include "device/field.h"

#include <stddef.h>

#define AT(member)          offsetof(Device, member)
#define AT_MEMORY(member)   offsetof(DeviceMemory, member)
#define AT_OPERATOR(member) offsetof(DeviceOperator, member)
#define BYTES(least)                                                                                                   \
    { least, (uint64_t)1 << 40, true }
#define COUNT(least, most)                                                                                             \
    { least, most, false }

const DeviceField device_fields[DEVICE_FIELD_COUNT] = {
    {"device", "name", FIELD_NAME, REQUIRED, AT(name), COUNT(0, 0)},
    {"device", "kind", FIELD_KIND, REQUIRED, AT(kind), COUNT(0, 0)},

    {"memory", "bytes", FIELD_CAPACITY, REQUIRED, AT_MEMORY(bytes), BYTES(1)},
    {"memory", "reserved_bytes", FIELD_NUMBER, OPTIONAL, AT_MEMORY(reserved_bytes), BYTES(0)},
    {"memory", "align_bytes", FIELD_NUMBER, REQUIRED, AT_MEMORY(align_bytes), {1, 1 << 20, true}},
    {"memory", "lanes", FIELD_NUMBER, OPTIONAL, AT_MEMORY(lanes), COUNT(1, 65536)},
    {"memory", "banks", FIELD_NUMBER, OPTIONAL, AT_MEMORY(banks), COUNT(1, 65536)},
    {"memory", "overflow", FIELD_OVERFLOW, OPTIONAL, AT_MEMORY(overflow), COUNT(0, 0)},
    {"memory", "price", FIELD_NUMBER, OPTIONAL, AT_MEMORY(price), COUNT(0, 1 << 20)},

    {"contract", "activation", FIELD_CONTRACT, REQUIRED, AT(contract[ROLE_ACTIVATION]), COUNT(0, 0)},
    {"contract", "weight", FIELD_CONTRACT, REQUIRED, AT(contract[ROLE_WEIGHT]), COUNT(0, 0)},
    {"contract", "parameter", FIELD_CONTRACT, REQUIRED, AT(contract[ROLE_PARAMETER]), COUNT(0, 0)},

    {"parameter", "scalar", FIELD_FORM, REQUIRED, AT(form[FORM_SCALAR]), COUNT(0, 0)},
    {"parameter", "channel", FIELD_FORM, REQUIRED, AT(form[FORM_CHANNEL]), COUNT(0, 0)},
    {"parameter", "row", FIELD_FORM, REQUIRED, AT(form[FORM_ROW]), COUNT(0, 0)},
    {"parameter", "full", FIELD_FORM, REQUIRED, AT(form[FORM_FULL]), COUNT(0, 0)},
    {"parameter", "record_bits", FIELD_BITS, OPTIONAL, AT(record_bits), COUNT(0, 128)},

    {"engine", "dtypes", FIELD_DTYPES, OPTIONAL, AT(dtypes), COUNT(0, 0)},
    {"engine", "requantise", FIELD_REQUANTISE, OPTIONAL, AT(requantise), COUNT(0, 0)},
    {"engine", "vector_bytes_cycle", FIELD_COST, OPTIONAL, AT(vector_bytes_cycle), COUNT(1, 1 << 20)},
    {"engine", "mac_cycle", FIELD_COST, OPTIONAL, AT(mac_cycle), COUNT(1, 1 << 24)},
    {"engine", "issue_cycles", FIELD_COST, OPTIONAL, AT(issue_cycles), COUNT(0, 1 << 20)},
    {"engine", "descriptor_cycles", FIELD_COST, OPTIONAL, AT(descriptor_cycles), COUNT(0, 1 << 20)},
    {"engine", "sync_cycles", FIELD_COST, OPTIONAL, AT(sync_cycles), COUNT(0, 1 << 20)},

    {"dma", "bytes_cycle", FIELD_COST, OPTIONAL, AT(dma_bytes_cycle), COUNT(1, 1 << 20)},
    {"dma", "setup_cycles", FIELD_COST, OPTIONAL, AT(dma_setup_cycles), COUNT(0, 1 << 20)},
    {"dma", "burst_bytes", FIELD_COST, OPTIONAL, AT(dma_burst_bytes), BYTES(1)},
    {"dma", "min_bytes", FIELD_COST, OPTIONAL, AT(dma_min_bytes), BYTES(1)},
    {"dma", "max_bytes", FIELD_COST, OPTIONAL, AT(dma_max_bytes), BYTES(1)},
    {"dma", "align_bytes", FIELD_COST, OPTIONAL, AT(dma_align_bytes), BYTES(1)},
    {"dma", "channels", FIELD_COST, OPTIONAL, AT(dma_channels), COUNT(1, 1024)},

    {"operator", "workspace", FIELD_WORKSPACE, OPTIONAL, 0, BYTES(0)},
    {"operator", "align_bytes", FIELD_NUMBER, OPTIONAL, AT_OPERATOR(align_bytes), {1, 1 << 20, true}},
    {"operator", "alias", FIELD_SWITCH, OPTIONAL, AT_OPERATOR(may_alias), COUNT(0, 0)},
};

_Static_assert(sizeof device_fields / sizeof device_fields[0] == DEVICE_FIELD_COUNT, "the count is the table's");
