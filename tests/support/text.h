/* Text that a test puts together, such as a graph: a piece that does not fit fails the test. */
#ifndef TESTS_SUPPORT_TEXT_H
#define TESTS_SUPPORT_TEXT_H

#include "support/work.h"

enum { MOST_TEXT = 1 << 17 };

typedef struct {
    char text[MOST_TEXT];
    size_t length;
} Text;

static inline void put(Text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static inline void put(Text *text, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text->length += (size_t)vsnprintf(text->text + text->length, MOST_TEXT - text->length, format, args);
    va_end(args);
    assert_true(text->length < MOST_TEXT);
}

#endif
