/* A device file to break, and helpers that all device tests share. */
#ifndef S0_TESTS_DEVICE_BOX_H
#define S0_TESTS_DEVICE_BOX_H

#include "device/check.h"
#include "support/work.h"

#include <stdlib.h>
#include <string.h>

static inline bool has_part(const char *text, const char *part) {
    return part == NULL || (text != NULL && strstr(text, part) != NULL);
}

static const char *const good[] = {
    "[device]",                           /* 1 */
    "name = box",                         /* 2 */
    "kind = scratchpad",                  /* 3 */
    "[memory local]",                     /* 4 */
    "bytes = 16K @ guide",                /* 5 */
    "align_bytes = 16 @ guide",           /* 6 */
    "[memory far]",                       /* 7 */
    "bytes = unbounded @ guide",          /* 8 */
    "align_bytes = 16 @ guide",           /* 9 */
    "[contract]",                         /* 10 */
    "activation = N H W C@16 @ guide",    /* 11 */
    "weight = O H W I @ guide",           /* 12 */
    "parameter = N H W C @ guide",        /* 13 */
    "[parameter]",                        /* 14 */
    "scalar = 1 @ guide",                 /* 15 */
    "channel = 1 @ guide",                /* 16 */
    "row = no @ guide",                   /* 17 */
    "full = 1 @ guide",                   /* 18 */
    "[engine]",                           /* 19 */
    "requantise = onnx @ guide",          /* 20 */
    "vector_bytes_cycle = 16 @ guide",    /* 21 */
    "mac_cycle = 64 @ guide",             /* 22 */
    "issue_cycles = 10 @ assumed: quick", /* 23 */
    "descriptor_cycles = 0 @ guide",      /* 24 */
    "sync_cycles = 20 @ guide",           /* 25 */
    "[dma]",                              /* 26 */
    "bytes_cycle = 8 @ guide",            /* 27 */
    "setup_cycles = 50 @ guide",          /* 28 */
    "burst_bytes = 64 @ guide",           /* 29 */
    "min_bytes = 1 @ guide",              /* 30 */
    "max_bytes = 64K @ guide",            /* 31 */
    "align_bytes = 4 @ guide",            /* 32 */
    "channels = 2 @ guide",               /* 33 */
};

enum { LINE_COUNT = sizeof good / sizeof good[0], TEXT_BYTES = 70000 };

/* The good text with line `number` (from 1) replaced; 0 replaces none. Returns its length. */
static inline size_t write_text(char *text, size_t number, const char *put, size_t put_bytes, const char *end) {
    size_t len = 0;
    for (size_t i = 0; i < LINE_COUNT; i++) {
        const char *line = i + 1 == number ? put : good[i];
        size_t bytes = i + 1 == number ? put_bytes : strlen(good[i]);
        memcpy(text + len, line, bytes);
        memcpy(text + len + bytes, end, strlen(end));
        len += bytes + strlen(end);
    }
    return len;
}

/* A heap copy of exactly the text's size, so that reading past it is seen. */
static inline const Device *parse_copy(Work *work, const char *text, size_t len) {
    char *copy = malloc(len > 0 ? len : 1);
    assert_non_null(copy);
    memcpy(copy, text, len);
    const Device *device = device_parse(work, (Str){copy, len}, STR("box.ini"));
    free(copy);
    return device;
}

#endif
