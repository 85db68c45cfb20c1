/* INI text with line numbers: what inih reads, and errors for what it would pass over.
 *
 * inih as Debian builds it tells its handler no line number, cuts a value at " ;", joins indented lines, lets keys and
 * sections stand twice and cuts lines that its buffer can't hold. Each is an error here, with its line. Accepted:
 * comments on lines of their own (# or ;), blank lines, line ends CR LF, a byte order mark at the start. */
#ifndef S0_DEVICE_INI_H
#define S0_DEVICE_INI_H

#include "base/work.h"

enum { DEVICE_INI_MAX_BYTES = 65536, DEVICE_INI_MAX_SECTIONS = 32, DEVICE_INI_MAX_KEYS = 256 };

typedef struct {
    Str name;
    uint32_t line;
} DeviceIniSection;

typedef struct {
    uint32_t section; /* index into DeviceIni.section */
    uint32_t line;
    Str key, value; /* neither is empty */
} DeviceIniEntry;

typedef struct {
    DeviceIniSection section[DEVICE_INI_MAX_SECTIONS];
    DeviceIniEntry entry[DEVICE_INI_MAX_KEYS];
    uint32_t section_count, entry_count; /* in the order of the text; no name twice */
} DeviceIni;

/* Null where anything is wrong, with one diagnostic for each line that is. Copies what it keeps. */
const DeviceIni *device_ini_read(Work *work, Str text, Str file);

/* "FILE:LINE" */
const char *device_ini_place(Arena *arena, Str file, uint32_t line);

#endif
