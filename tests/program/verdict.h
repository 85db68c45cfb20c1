/* What becomes of a drawn case. */
#ifndef S0_TESTS_PROGRAM_VERDICT_H
#define S0_TESTS_PROGRAM_VERDICT_H

#include "support/work.h"

typedef enum { PASSED, FAILED, NO_VALUE_THERE, NOT_KNOWN, NO_FIT, REFUSED, OUTCOMES } Outcome;

typedef struct {
    Outcome outcome;
    char why[4096];
} Verdict;

static inline Outcome decide(Verdict *verdict, Outcome outcome, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static inline Outcome decide(Verdict *verdict, Outcome outcome, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(verdict->why, sizeof verdict->why, format, args);
    va_end(args);
    verdict->outcome = outcome;
    return outcome;
}

static inline Outcome decide_by_messages(Verdict *verdict, Outcome outcome, const Work *work, const char *what) {
    char *messages = messages_of(work);
    bool is_silent = *messages == '\0';
    decide(verdict, is_silent ? FAILED : outcome, "%s: %s", what, is_silent ? "refused without a word" : messages);
    free(messages);
    return outcome;
}

#endif
