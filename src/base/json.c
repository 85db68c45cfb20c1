/* The streaming JSON writer. */
#include "base/json.h"

#include "base/fault.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

void json_init(Json *json, FILE *out) {
    *json = (Json){.out = out};
}

static void new_line(Json *json) {
    if (json->depth > 0 && json->is_inline[json->depth - 1]) {
        return;
    }
    fputc('\n', json->out);
    for (uint32_t i = 0; i < json->depth; i++) {
        fputs("  ", json->out);
    }
}

/* The comma and white space before an item of the innermost object or array. */
static void next_item(Json *json) {
    if (json->depth == 0) {
        return;
    }
    uint32_t top = json->depth - 1;
    if (json->has_item[top]) {
        fputs(json->is_inline[top] ? ", " : ",", json->out);
    }
    json->has_item[top] = true;
    new_line(json);
}

static void before_value(Json *json) {
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    CHECK(json->depth == 0 || !json->is_object[json->depth - 1]);
    next_item(json);
}

static void open_level(Json *json, bool is_object, bool is_inline) {
    before_value(json);
    CHECK(json->depth < JSON_MAX_DEPTH);
    bool outer_inline = json->depth > 0 && json->is_inline[json->depth - 1];
    fputc(is_object ? '{' : '[', json->out);
    json->has_item[json->depth] = false;
    json->is_object[json->depth] = is_object;
    json->is_inline[json->depth] = is_inline || outer_inline;
    json->depth++;
}

void json_object(Json *json) {
    open_level(json, true, false);
}

void json_object_inline(Json *json) {
    open_level(json, true, true);
}

void json_array(Json *json) {
    open_level(json, false, false);
}

void json_array_inline(Json *json) {
    open_level(json, false, true);
}

void json_end(Json *json) {
    CHECK(json->depth > 0 && !json->after_key);
    uint32_t top = --json->depth;
    if (json->has_item[top] && !json->is_inline[top]) {
        new_line(json);
    }
    fputc(json->is_object[top] ? '}' : ']', json->out);
    if (json->depth == 0) {
        fputc('\n', json->out);
    }
}

/* The character that `text` begins with; how many bytes it has. */
static size_t write_character(FILE *out, Str text) {
    uint32_t character;
    size_t length = str_character(text, &character);
    if (length == 0) {
        fputs("\xEF\xBF\xBD", out);
        return 1;
    }
    if (character == '"' || character == '\\') {
        fprintf(out, "\\%c", (char)character);
    } else if (character < 0x20 || character == 0x7F) {
        fprintf(out, "\\u%04" PRIx32, character);
    } else {
        fwrite(text.ptr, 1, length, out);
    }
    return length;
}

static bool is_plain(char c) {
    return c >= 0x20 && c < 0x7F && c != '"' && c != '\\';
}

/* Runs of plain characters are written at once: documents are large, and most names have nothing else. */
static void write_quoted(FILE *out, Str text) {
    fputc('"', out);
    for (size_t i = 0; i < text.len;) {
        size_t run = 0;
        while (i + run < text.len && is_plain(text.ptr[i + run])) {
            run++;
        }
        fwrite(text.ptr + i, 1, run, out);
        i += run;
        if (i < text.len) {
            i += write_character(out, (Str){text.ptr + i, text.len - i});
        }
    }
    fputc('"', out);
}

void json_key(Json *json, const char *key) {
    CHECK(json->depth > 0 && json->is_object[json->depth - 1] && !json->after_key);
    next_item(json);
    write_quoted(json->out, str_from(key));
    fputs(": ", json->out);
    json->after_key = true;
}

void json_str(Json *json, Str value) {
    before_value(json);
    write_quoted(json->out, value);
}

void json_text(Json *json, const char *value) {
    if (value == NULL) {
        json_null(json);
    } else {
        json_str(json, str_from(value));
    }
}

void json_u64(Json *json, uint64_t value) {
    before_value(json);
    fprintf(json->out, "%" PRIu64, value);
}

void json_i64(Json *json, int64_t value) {
    before_value(json);
    fprintf(json->out, "%" PRId64, value);
}

void json_double(Json *json, double value) {
    char text[32];
    if (!isfinite(value)) {
        json_null(json);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value) {
            break;
        }
    }
    before_value(json);
    fputs(text, json->out);
}

void json_bool(Json *json, bool value) {
    before_value(json);
    fputs(value ? "true" : "false", json->out);
}

void json_null(Json *json) {
    before_value(json);
    fputs("null", json->out);
}

void json_member_str(Json *json, const char *key, Str value) {
    json_key(json, key);
    json_str(json, value);
}

void json_member_text(Json *json, const char *key, const char *value) {
    json_key(json, key);
    json_text(json, value);
}

void json_member_u64(Json *json, const char *key, uint64_t value) {
    json_key(json, key);
    json_u64(json, value);
}

void json_member_bool(Json *json, const char *key, bool value) {
    json_key(json, key);
    json_bool(json, value);
}

void json_member_null(Json *json, const char *key) {
    json_key(json, key);
    json_null(json);
}

void json_member_known(Json *json, const char *key, uint64_t value) {
    if (value == UINT64_MAX) {
        json_member_null(json, key);
    } else {
        json_member_u64(json, key, value);
    }
}
