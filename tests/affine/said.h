/* Text-form graphs that random tests make, sentence by sentence. */
#ifndef S0_TESTS_AFFINE_SAID_H
#define S0_TESTS_AFFINE_SAID_H

#include "base/arena.h"

#include <stdarg.h>
#include <stdio.h>

/* `text` and what is said now; at most 1023 bytes of it. */
static inline const char *said(Arena *arena, const char *text, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static inline const char *said(Arena *arena, const char *text, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    return arena_text(arena, "%s%s", text, line);
}

/* Of a maker with a `text` and a `work`. */
#define say(maker, ...) ((maker)->text = said(&(maker)->work->keep, (maker)->text, __VA_ARGS__))

#endif
