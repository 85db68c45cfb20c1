/* Writes protobuf bytes from a short text, so that tests state ONNX files field by field, broken ones too.
 *
 *     1:7          field 1, varint 7 (negative numbers as ten bytes)
 *     4'Relu'      field 4, a string
 *     7{ … }       field 7, a message
 *     9#00ff       field 9, these bytes
 *     !3a05        these bytes, as they are */
#ifndef S0_TESTS_IMPORT_ONNX_BYTES_H
#define S0_TESTS_IMPORT_ONNX_BYTES_H

#include <assert.h>
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint8_t data[4096];
    size_t len;
} OnnxBytes;

static void put_byte(OnnxBytes *out, unsigned byte) {
    assert(out->len < sizeof out->data);
    out->data[out->len++] = (uint8_t)byte;
}

static void put_varint(OnnxBytes *out, uint64_t number) {
    for (; number >= 0x80; number >>= 7) {
        put_byte(out, (unsigned)(number & 0x7F) | 0x80);
    }
    put_byte(out, (unsigned)number);
}

static void put_bytes(OnnxBytes *out, unsigned long field, const uint8_t *data, size_t len) {
    put_varint(out, field << 3 | 2);
    put_varint(out, len);
    for (size_t k = 0; k < len; k++) {
        put_byte(out, data[k]);
    }
}

static const char *put_hex(OnnxBytes *out, const char *at) {
    while (isxdigit((unsigned char)at[0]) && isxdigit((unsigned char)at[1])) {
        char pair[3] = {at[0], at[1], '\0'};
        put_byte(out, (unsigned)strtoul(pair, NULL, 16));
        at += 2;
    }
    return at;
}

static const char *put_fields(OnnxBytes *out, const char *at);

static const char *put_field(OnnxBytes *out, const char *at) {
    char *end;
    unsigned long field = strtoul(at, &end, 10);
    OnnxBytes inner = {.len = 0};
    at = end + 1;
    if (*end == ':') {
        put_varint(out, field << 3);
        put_varint(out, (uint64_t)strtoll(at, &end, 10));
        return end;
    }
    if (*end == '\'') {
        const char *quote = strchr(at, '\'');
        put_bytes(out, field, (const uint8_t *)at, (size_t)(quote - at));
        return quote + 1;
    }
    at = *end == '{' ? put_fields(&inner, at) : put_hex(&inner, at);
    put_bytes(out, field, inner.data, inner.len);
    return at;
}

static const char *put_fields(OnnxBytes *out, const char *at) {
    while (*at != '\0' && *at != '}') {
        if (*at == ' ') {
            at++;
        } else if (*at == '!') {
            at = put_hex(out, at + 1);
        } else {
            at = put_field(out, at);
        }
    }
    return *at == '}' ? at + 1 : at;
}

#endif
