/* A reader of JSON that is told what to expect: no document is held in memory, nothing is allocated but texts with
 * escapes.
 *
 *     JsonReader json = json_reader(bytes);
 *     json_read_object(&json);
 *     while (json_read_key(&json, arena, &key)) {
 *         ok = str_eq(key, STR("size")) ? json_read_u64(&json, &size) : json_skip(&json);
 *     }
 *     if (!json_read_end(&json)) { json.what at byte json.at }
 *
 * Invariant: after the first thing that is wrong every call is false and reads nothing, so that a caller may look at
 * the end. Whatever the bytes, each call ends. RFC 8259; a number is read as the caller asks for it. */
#ifndef S0_BASE_JSON_READ_H
#define S0_BASE_JSON_READ_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct {
    Span bytes;
    size_t at;
    bool is_fresh;    /* just behind an opening bracket */
    const char *what; /* is wrong at byte `at`; null while all is well */
} JsonReader;

JsonReader json_reader(Span bytes);

bool json_read_object(JsonReader *json);                        /* { */
bool json_read_key(JsonReader *json, Arena *arena, Str *key);   /* of the next member; false at } */
bool json_read_array(JsonReader *json);                         /* [ */
bool json_read_item(JsonReader *json);                          /* stands at the next item; false at ] */
bool json_read_str(JsonReader *json, Arena *arena, Str *value); /* of the file's bytes where it has no escapes */
bool json_read_u64(JsonReader *json, uint64_t *value);
bool json_read_i64(JsonReader *json, int64_t *value);
bool json_read_double(JsonReader *json, double *value);
bool json_read_null(JsonReader *json); /* takes it if it stands there; else false, and nothing is wrong */
bool json_skip(JsonReader *json);      /* any value */
bool json_read_end(JsonReader *json);  /* nothing stands behind the value, and nothing was wrong */

#endif
