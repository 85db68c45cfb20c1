/* A streaming JSON writer: no document is held in memory.
 *
 * Invariant: calls follow the grammar (a key before each value inside an object); breaking it is our fault and is
 * checked. Text is written as UTF-8; bytes that are not UTF-8 become U+FFFD, so that the output is always valid. */
#ifndef S0_BASE_JSON_H
#define S0_BASE_JSON_H

#include "base/str.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 16 };

typedef struct {
    FILE *out;
    uint32_t depth;
    bool has_item[JSON_MAX_DEPTH]; /* anything written yet at this depth? */
    bool is_object[JSON_MAX_DEPTH];
    bool is_inline[JSON_MAX_DEPTH]; /* written on one line */
    bool after_key;
} Json;

void json_init(Json *json, FILE *out);

void json_object(Json *json);        /* { … one member a line */
void json_object_inline(Json *json); /* { … on one line, and all inside it */
void json_array(Json *json);
void json_array_inline(Json *json);
void json_end(Json *json); /* closes the innermost; the outermost is followed by a line feed */

void json_key(Json *json, const char *key);

void json_str(Json *json, Str value);
void json_text(Json *json, const char *value); /* null writes null */
void json_u64(Json *json, uint64_t value);
void json_i64(Json *json, int64_t value);
void json_double(Json *json, double value); /* shortest text that reads back equal; NaN and infinities write null */
void json_bool(Json *json, bool value);
void json_null(Json *json);

/* key and value in one call */
void json_member_str(Json *json, const char *key, Str value);
void json_member_text(Json *json, const char *key, const char *value);
void json_member_u64(Json *json, const char *key, uint64_t value);
void json_member_bool(Json *json, const char *key, bool value);
void json_member_null(Json *json, const char *key);
void json_member_known(Json *json, const char *key, uint64_t value); /* UINT64_MAX is null */

#endif
