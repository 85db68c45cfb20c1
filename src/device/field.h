/* The keys of a device file, each listed once: what its value is, whether it must stand, its range, where it goes. */
#ifndef S0_DEVICE_FIELD_H
#define S0_DEVICE_FIELD_H

#include "device/value.h"

typedef enum {
    FIELD_NAME,
    FIELD_KIND,
    FIELD_CAPACITY,
    FIELD_NUMBER,
    FIELD_COST,
    FIELD_BITS,
    FIELD_CONTRACT,
    FIELD_FORM,
    FIELD_DTYPES,
    FIELD_REQUANTISE,
    FIELD_WORKSPACE,
    FIELD_SWITCH,
    FIELD_OVERFLOW,
} DeviceFieldKind;

typedef enum { OPTIONAL, REQUIRED } DeviceNeed;

typedef struct {
    const char *section; /* "memory" stands for every [memory NAME], "operator" for every [operator NAME] */
    const char *key;
    DeviceFieldKind kind;
    DeviceNeed need;
    size_t offset; /* of the target in Device, DeviceMemory or DeviceOperator */
    DeviceRange range;
} DeviceField;

enum { DEVICE_FIELD_COUNT = 34 };

extern const DeviceField device_fields[DEVICE_FIELD_COUNT];

#endif
