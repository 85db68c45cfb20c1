/* Numbers and names for people. */
#include "report/text.h"

#include <inttypes.h>
#include <string.h>

Str text_number(Arena *arena, uint64_t number) {
    char digits[24];
    if (number == UINT64_MAX) {
        return STR("-");
    }
    int length = snprintf(digits, sizeof digits, "%" PRIu64, number);
    char *text = arena_alloc(arena, (size_t)(length + length / 3 + 1), 1);
    char *end = text;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0) {
            *end++ = ',';
        }
        *end++ = digits[i];
    }
    return (Str){text, (size_t)(end - text)};
}

/* Bytes of the character at `s`, 0 where none is well-formed. C1 controls (U+0080 to U+009F) count as malformed. */
static size_t character_length(const uint8_t *s, size_t left) {
    size_t length = s[0] < 0x80 ? 1 : s[0] < 0xC2 ? 0 : s[0] < 0xE0 ? 2 : s[0] < 0xF0 ? 3 : s[0] < 0xF5 ? 4 : 0;
    if (length == 0 || length > left || (s[0] == 0xC2 && s[1] < 0xA0)) {
        return 0;
    }
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xC0) != 0x80) {
            return 0;
        }
    }
    return length;
}

Str text_clean(Arena *arena, Str name) {
    char *text = arena_alloc(arena, name.len + 1, 1);
    const uint8_t *s = (const uint8_t *)name.ptr;
    size_t used = 0;
    for (size_t i = 0; i < name.len;) {
        size_t length = character_length(s + i, name.len - i);
        bool is_harmless = length > 1 || (length == 1 && s[i] >= 0x20 && s[i] != 0x7F);
        if (is_harmless) {
            memcpy(text + used, s + i, length);
            used += length;
        } else {
            text[used++] = '?';
        }
        i += length == 0 ? 1 : length;
    }
    return (Str){text, used};
}

static bool starts_character(char c) {
    return ((uint8_t)c & 0xC0) != 0x80;
}

uint32_t text_width(Str text) {
    uint32_t width = 0;
    for (size_t i = 0; i < text.len; i++) {
        width += starts_character(text.ptr[i]);
    }
    return width;
}

/* Byte at which character `index` starts. */
static size_t character_start(Str text, uint32_t index) {
    uint32_t seen = 0;
    for (size_t i = 0; i < text.len; i++) {
        if (starts_character(text.ptr[i]) && seen++ == index) {
            return i;
        }
    }
    return text.len;
}

Str text_clip(Arena *arena, Str text, uint32_t most) {
    uint32_t width = text_width(text);
    if (width <= most) {
        return text;
    }
    if (most < 5) {
        return (Str){text.ptr, character_start(text, most)};
    }
    uint32_t front = (most - 2) / 2; /* the end of a name tells more: it gets the odd one */
    uint32_t back = most - 2 - front;
    size_t head = character_start(text, front);
    size_t tail = character_start(text, width - back);
    return arena_format(arena, "%.*s..%.*s", (int)head, text.ptr, (int)(text.len - tail), text.ptr + tail);
}

Str text_steps(Arena *arena, uint32_t first, uint32_t last) {
    return arena_format(arena, "[%" PRIu32 ",%" PRIu32 ")", first, last);
}
