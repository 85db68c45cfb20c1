/* Numbers and names for people. */
#include "report/text.h"

#include <inttypes.h>

Str text_number(Arena *arena, uint64_t number) {
    return number == UINT64_MAX ? STR("-") : arena_number(arena, number);
}

Str text_device(Arena *arena, const Device *device) {
    Str name = clean_text(arena, device->name);
    const char *path = device_path(device);
    return path == NULL
               ? name
               : arena_format(arena, STR_FMT " of " STR_FMT, STR_ARG(name), STR_ARG(clean_text(arena, str_from(path))));
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
    if (most < 3) {
        return (Str){text.ptr, character_start(text, most)};
    }
    return arena_format(arena, "%.*s..", (int)character_start(text, most - 2), text.ptr);
}

/* The first and the last characters; the end gets what the beginning leaves. */
static Str cut_middle(Arena *arena, Str text, uint32_t room, uint32_t sixths) {
    uint32_t front = sixths * room / 6;
    size_t head = character_start(text, front);
    size_t tail = character_start(text, text_width(text) - (room - front));
    return arena_format(arena, "%.*s..%.*s", (int)head, text.ptr, (int)(text.len - tail), text.ptr + tail);
}

Str text_clip_name(Arena *arena, Str name, TextCut cut) {
    enum { DOTS = 2, LEAST = 2 * DOTS + 2 };
    if (text_width(name) <= cut.most || cut.most < LEAST) {
        return text_clip(arena, name, cut.most);
    }
    if (cut.skip == 0) {
        return cut_middle(arena, name, cut.most - DOTS, cut.sixths);
    }
    size_t start = character_start(name, cut.skip);
    Str rest = {name.ptr + start, name.len - start};
    if (text_width(rest) + DOTS > cut.most) {
        rest = cut_middle(arena, rest, cut.most - 2 * DOTS, cut.sixths);
    }
    return arena_format(arena, ".." STR_FMT, STR_ARG(rest));
}

Str text_steps(Arena *arena, uint32_t first, uint32_t last) {
    return arena_format(arena, "[%" PRIu32 ",%" PRIu32 ")", first, last);
}
