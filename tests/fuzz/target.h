/* What targets that read a model share: a Work around one run, left clean whatever happens. */
#ifndef TESTS_FUZZ_TARGET_H
#define TESTS_FUZZ_TARGET_H

#include "import/import.h"

#include <setjmp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static inline int fuzz_model(Span bytes, void (*run)(Work *work, Span bytes, ModelFiles *files)) {
    Work work;
    ModelFiles files = {0};
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        run(&work, bytes, &files);
    }
    import_close(&files);
    work_free(&work);
    return 0;
}

#endif
