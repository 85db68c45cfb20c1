/* Values of a device file: `VALUE @ SOURCE`, and the few kinds that VALUE can be.
 *
 * Every reader returns false with one diagnostic (file, line, key, got, expected) where the text is not of its kind. */
#ifndef S0_DEVICE_VALUE_H
#define S0_DEVICE_VALUE_H

#include "device/device.h"
#include "device/ini.h"

/* One entry being read. */
typedef struct {
    Work *work;
    Str file;
    Str section;
    const DeviceIniEntry *entry;
    Str text; /* what stands before " @ " */
    Str source;
    bool is_assumed;
} DeviceValue;

/* The bounds of a number, both allowed; `has_units` lets it end in K, M or G. */
typedef struct {
    uint64_t least, most;
    bool has_units;
} DeviceRange;

/* Splits entry->value into text, source and is_assumed. */
bool device_value_split(DeviceValue *value);

bool device_value_number(const DeviceValue *value, DeviceRange range, uint64_t *number);
bool device_value_bytes_or_unbounded(const DeviceValue *value, DeviceRange range, uint64_t *bytes);

/* One of `count` words, by index. */
bool device_value_word(const DeviceValue *value, const char *const *word, size_t count, uint32_t *index);

/* A name of letters, digits, '-', '_' and '.', at most 32 bytes. */
bool device_value_name(const DeviceValue *value, Str *name);

bool device_value_contract(const DeviceValue *value, const Contract **contract);

/* "no", or the grain in bytes. */
bool device_value_form(const DeviceValue *value, DeviceForm *form);

/* Bytes, or whose bytes: "input" or "output". */
bool device_value_workspace(const DeviceValue *value, DeviceRange range, DeviceOperator *of);

/* The name of a memory that may overflow. */
bool device_value_overflow(const DeviceValue *value, bool *is_local);

/* "yes" or "no". */
bool device_value_switch(const DeviceValue *value, bool *is_on);

/* "all", or names of dtypes. */
bool device_value_dtypes(const DeviceValue *value, uint64_t *set);

bool device_is_name(Str text);

/* The names as one text, "a, b, c". */
const char *device_join(Arena *arena, const char *const *name, size_t count);

#endif
