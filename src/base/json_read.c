/* Reading JSON, a token at a time. */
#include "base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

JsonReader json_reader(Span bytes) {
    return (JsonReader){.bytes = bytes};
}

static bool wrong(JsonReader *json, const char *what) {
    json->what = json->what == NULL ? what : json->what;
    return false;
}

/* The next character that is no blank, not taken; 0 at the end, and once anything was wrong. */
static char peek(JsonReader *json) {
    while (json->what == NULL && json->at < json->bytes.len) {
        char c = (char)json->bytes.ptr[json->at];
        if (c != ' ' && c != '\t' && c != '\n' && c != '\r') {
            return c;
        }
        json->at++;
    }
    return 0;
}

static bool take(JsonReader *json, char c, const char *what) {
    if (peek(json) != c) {
        return wrong(json, what);
    }
    json->at++;
    return true;
}

static bool open_bracket(JsonReader *json, char c, const char *what) {
    json->is_fresh = take(json, c, what);
    return json->is_fresh;
}

/* Is there one more? Takes the comma before it, or the bracket that closes. */
static bool more(JsonReader *json, char close) {
    bool is_fresh = json->is_fresh;
    char c = peek(json);
    json->is_fresh = false;
    if (c == close) {
        json->at++;
        return false;
    }
    return is_fresh ? c != 0 || wrong(json, "the text ends here") : take(json, ',', "a comma or a closing bracket");
}

bool json_read_object(JsonReader *json) {
    return open_bracket(json, '{', "an object");
}

bool json_read_array(JsonReader *json) {
    return open_bracket(json, '[', "an array");
}

bool json_read_item(JsonReader *json) {
    return more(json, ']');
}

bool json_read_key(JsonReader *json, Arena *arena, Str *key) {
    return more(json, '}') && json_read_str(json, arena, key) && take(json, ':', "a colon");
}

/* ---- Texts */

/* The bytes between the quotes, escapes and all. */
static bool scan_text(JsonReader *json, Str *raw, bool *has_escape) {
    *has_escape = false;
    if (!take(json, '"', "a text in quotes")) {
        return false;
    }
    size_t start = json->at;
    for (; json->at < json->bytes.len; json->at++) {
        uint8_t c = json->bytes.ptr[json->at];
        if (c == '"') {
            *raw = (Str){(const char *)json->bytes.ptr + start, json->at++ - start};
            return true;
        }
        if (c < 0x20) {
            return wrong(json, "a text without control characters");
        }
        *has_escape |= c == '\\';
        json->at += c == '\\';
    }
    json->at = json->bytes.len;
    return wrong(json, "the closing quote of a text");
}

static int hex_digit(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* "u" and four digits at `i`; -1 where they don't stand there. */
static int32_t unit_at(Str raw, size_t i) {
    int32_t unit = 0;
    if (raw.len < 5 || i > raw.len - 5 || raw.ptr[i] != 'u') {
        return -1;
    }
    for (size_t k = 1; k <= 4; k++) {
        int digit = hex_digit(raw.ptr[i + k]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

static size_t put_character(char *text, size_t len, uint32_t c) {
    if (c < 0x80) {
        text[len++] = (char)c;
    } else if (c < 0x800) {
        text[len++] = (char)(0xC0 | c >> 6);
        text[len++] = (char)(0x80 | (c & 0x3F));
    } else if (c < 0x10000) {
        text[len++] = (char)(0xE0 | c >> 12);
        text[len++] = (char)(0x80 | (c >> 6 & 0x3F));
        text[len++] = (char)(0x80 | (c & 0x3F));
    } else {
        text[len++] = (char)(0xF0 | c >> 18);
        text[len++] = (char)(0x80 | (c >> 12 & 0x3F));
        text[len++] = (char)(0x80 | (c >> 6 & 0x3F));
        text[len++] = (char)(0x80 | (c & 0x3F));
    }
    return len;
}

/* What the escape behind a backslash at `*i` stands for, with the second half of a pair; `*i` is moved to its last
 * byte. False where it is none. */
static bool escaped(Str raw, size_t *i, uint32_t *c) {
    static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
    const char *simple = raw.ptr[*i] == '\0' ? NULL : strchr(from, raw.ptr[*i]);
    int32_t unit = unit_at(raw, *i);
    if (simple != NULL) {
        *c = (uint32_t)to[simple - from];
        return true;
    }
    if (unit < 0) {
        return false;
    }
    *i += 4;
    *c = (uint32_t)unit;
    bool is_high = unit >= 0xD800 && unit < 0xDC00;
    int32_t low = is_high && raw.len - *i > 2 && raw.ptr[*i + 1] == '\\' ? unit_at(raw, *i + 2) : -1;
    if (low >= 0xDC00 && low < 0xE000) {
        *c = 0x10000 + (((uint32_t)unit - 0xD800) << 10) + ((uint32_t)low - 0xDC00);
        *i += 6;
    } else if (unit >= 0xD800 && unit < 0xE000) {
        *c = 0xFFFD; /* half a pair */
    }
    return true;
}

bool json_read_str(JsonReader *json, Arena *arena, Str *value) {
    bool has_escape;
    Str raw;
    if (!scan_text(json, &raw, &has_escape)) {
        return false;
    }
    *value = raw;
    if (!has_escape) {
        return true;
    }
    char *text = arena_array(arena, char, raw.len + 1); /* no escape is shorter than what it stands for */
    size_t len = 0;
    for (size_t i = 0; i < raw.len; i++) {
        uint32_t c = 0;
        if (raw.ptr[i] != '\\') {
            text[len++] = raw.ptr[i];
        } else if (i + 1 < raw.len && (i++, escaped(raw, &i, &c))) {
            len = put_character(text, len, c);
        } else {
            return wrong(json, "an escape that JSON has");
        }
    }
    *value = (Str){text, len};
    return true;
}

/* ---- Numbers and words */

static bool scan_word(JsonReader *json, Str *word) {
    size_t start = (peek(json), json->at);
    while (json->what == NULL && json->at < json->bytes.len) {
        char c = (char)json->bytes.ptr[json->at];
        bool is_part = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '+' || c == '.';
        if (!is_part) {
            break;
        }
        json->at++;
    }
    *word = (Str){(const char *)json->bytes.ptr + start, json->at - start};
    return json->what == NULL && word->len > 0;
}

bool json_read_u64(JsonReader *json, uint64_t *value) {
    JsonReader before = *json;
    Str word;
    if (scan_word(json, &word) && str_to_u64(word, value)) {
        return true;
    }
    json->at = before.at;
    return wrong(json, "a whole number from 0 to 18446744073709551615");
}

bool json_read_i64(JsonReader *json, int64_t *value) {
    JsonReader before = *json;
    Str word;
    if (scan_word(json, &word) && str_to_i64(word, value)) {
        return true;
    }
    json->at = before.at;
    return wrong(json, "a whole number");
}

/* Digits at either end, and no letters but of an exponent: strtod takes more than JSON has. */
static bool is_decimal(Str word) {
    bool ok =
        word.ptr[word.len - 1] >= '0' && word.ptr[word.len - 1] <= '9' && word.ptr[0] != '+' && word.ptr[0] != '.';
    for (size_t i = 0; i < word.len && ok; i++) {
        char c = word.ptr[i];
        ok = (c >= '0' && c <= '9') || c == '-' || c == '+' || c == '.' || c == 'e' || c == 'E';
    }
    return ok;
}

bool json_read_double(JsonReader *json, double *value) {
    enum { MOST = 40 };
    JsonReader before = *json;
    char text[MOST + 1] = {0}, *end = text;
    Str word;
    if (scan_word(json, &word) && word.len <= MOST && is_decimal(word)) {
        memcpy(text, word.ptr, word.len);
        *value = strtod(text, &end);
    }
    if (end != text && *end == '\0' && isfinite(*value)) {
        return true;
    }
    json->at = before.at;
    return wrong(json, "a number");
}

bool json_read_null(JsonReader *json) {
    JsonReader before = *json;
    Str word;
    if (scan_word(json, &word) && str_eq(word, STR("null"))) {
        return true;
    }
    *json = before;
    return false;
}

static bool skip_word(JsonReader *json) {
    double number;
    size_t at = json->at;
    Str word;
    bool is_word = scan_word(json, &word) &&
                   (str_eq(word, STR("null")) || str_eq(word, STR("true")) || str_eq(word, STR("false")));
    if (is_word) {
        return true;
    }
    json->at = at;
    return json_read_double(json, &number) || wrong(json, "a value");
}

/* Brackets are counted, not called: the kinds of those that are open are the bits of `kinds`, the innermost the lowest.
 */
bool json_skip(JsonReader *json) {
    enum { MOST_DEPTH = 64 };
    uint64_t kinds = 0; /* 1: an object */
    uint32_t depth = 0;
    Str text;
    bool unused;
    do {
        bool is_object = kinds & 1;
        if (depth > 0 && !more(json, is_object ? '}' : ']')) {
            depth--;
            kinds >>= 1;
            continue;
        }
        if (depth > 0 && is_object && !(scan_text(json, &text, &unused) && take(json, ':', "a colon"))) {
            return false;
        }
        char c = peek(json);
        if (c != '{' && c != '[') {
            bool ok = c == '"' ? scan_text(json, &text, &unused) : skip_word(json);
            if (!ok) {
                return false;
            }
            continue;
        }
        if (depth == MOST_DEPTH) {
            return wrong(json, "fewer brackets in each other");
        }
        json->at++;
        json->is_fresh = true;
        depth++;
        kinds = kinds << 1 | (c == '{');
    } while (depth > 0 && json->what == NULL);
    return json->what == NULL;
}

bool json_read_end(JsonReader *json) {
    peek(json);
    return json->what == NULL && (json->at == json->bytes.len || wrong(json, "nothing behind the last bracket"));
}
