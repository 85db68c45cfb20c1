/* Harmless text: which characters of a file may reach a terminal. */
#include "base/clean.h"

#include <string.h>

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
    size_t length = str_character(text, &character);
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
