/* A Work for a test, and what its diagnostics say. Where memory runs out the test fails. */
#ifndef TESTS_SUPPORT_WORK_H
#define TESTS_SUPPORT_WORK_H

#include "base/work.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* `work` is a variable of the function that says this: the escape comes back to it. */
#define WORK_BEGIN(work)                                                                                               \
    do {                                                                                                               \
        work_init((work), &system_allocator);                                                                          \
        if (setjmp((work)->escape) != 0) {                                                                             \
            fail_msg("out of memory");                                                                                 \
        }                                                                                                              \
    } while (0)

/* Runs `body` with a Work of its own. */
static inline void with_work(void (*body)(Work *work, const void *argument), const void *argument) {
    Work work;
    WORK_BEGIN(&work);
    body(&work, argument);
    work_free(&work);
}

/* A row of a table of tests: `body` is a void (Work *work). */
#define WORK_TEST(body)                                                                                                \
    {                                                                                                                  \
#body, work_test_run, NULL, NULL, &(WorkTest) {                                                                \
            body                                                                                                       \
        }                                                                                                              \
    }

typedef struct {
    void (*body)(Work *work);
} WorkTest;

static inline void work_test_run(void **state) {
    const WorkTest *test = *state;
    Work work;
    WORK_BEGIN(&work);
    test->body(&work);
    work_free(&work);
}

/* The diagnostics as text, to be freed. */
static inline char *messages_of(const Work *work) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    assert_non_null(out);
    diags_print(&work->diags, "", out);
    fclose(out);
    return text;
}

/* Does some diagnostic say `text` in one of its parts? */
static inline bool was_told(const Work *work, const char *text) {
    char *all = messages_of(work);
    bool found = strstr(all, text) != NULL;
    free(all);
    return found;
}

#endif
