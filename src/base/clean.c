/* Harmless text: which characters of a file may reach a terminal. */
#include "base/clean.h"

#include <string.h>

/* Length and value of the well-formed character at the start of `text` (RFC 3629); 0 where there is none. */
static size_t decode(Str text, uint32_t *character) {
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    uint8_t first = (uint8_t)text.ptr[0];
    size_t length = first < 0x80 ? 1 : first < 0xC0 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF8 ? 4 : 0;
    if (length == 0 || length > text.len) {
        return 0;
    }
    *character = length == 1 ? first : first & (0x7Fu >> length);
    for (size_t i = 1; i < length; i++) {
        uint8_t next = (uint8_t)text.ptr[i];
        if ((next & 0xC0) != 0x80) {
            return 0;
        }
        *character = *character << 6 | (next & 0x3F);
    }
    bool is_surrogate = *character >= 0xD800 && *character <= 0xDFFF;
    return *character < least[length] || *character > 0x10FFFF || is_surrogate ? 0 : length;
}

static bool is_control(uint32_t c) {
    return c < 0x20 || (c >= 0x7F && c < 0xA0);
}

/* Separators of lines and paragraphs, and the marks, embeddings, overrides and isolates of the bidirectional
 * algorithm. */
static bool is_line_or_direction(uint32_t c) {
    return c == 0x061C || c == 0x200E || c == 0x200F || (c >= 0x2028 && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
}

size_t clean_character(Str text, bool *is_harmless) {
    uint32_t character = 0;
    size_t length = decode(text, &character);
    *is_harmless = length > 0 && !is_control(character) && !is_line_or_direction(character);
    return length == 0 ? 1 : length;
}

Str clean_text(Arena *arena, Str text) {
    char *clean = arena_alloc(arena, text.len + 1, 1);
    size_t used = 0;
    for (size_t i = 0; i < text.len;) {
        bool is_harmless;
        size_t length = clean_character((Str){text.ptr + i, text.len - i}, &is_harmless);
        if (is_harmless) {
            memcpy(clean + used, text.ptr + i, length);
            used += length;
        } else {
            clean[used++] = '?';
        }
        i += length;
    }
    return (Str){clean, used};
}

void clean_print(Str text, FILE *out) {
    for (size_t i = 0; i < text.len;) {
        bool is_harmless;
        size_t length = clean_character((Str){text.ptr + i, text.len - i}, &is_harmless);
        if (is_harmless) {
            fwrite(text.ptr + i, 1, length, out);
        } else {
            fputc('?', out);
        }
        i += length;
    }
}
