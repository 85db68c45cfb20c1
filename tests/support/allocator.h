/* An allocator that counts: what is live, whether sizes passed back are those asked for, and which call is to fail. */
#ifndef TESTS_SUPPORT_ALLOCATOR_H
#define TESTS_SUPPORT_ALLOCATOR_H

#include "stride0/stride0.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    size_t calls;      /* allocations asked for so far */
    size_t fail_at;    /* the call that fails, from 1; 0 for none */
    size_t live_bytes; /* by the sizes that the caller stated */
    bool told_wrong_size;
} CountingAllocator;

/* Each block is preceded by its size, so that a wrong size told back is noticed. */
enum { COUNTING_HEADER = 64 };

static inline void *counting_resize(void *ctx, void *ptr, size_t old_bytes, size_t new_bytes) {
    CountingAllocator *counter = ctx;
    char *block = ptr == NULL ? NULL : (char *)ptr - COUNTING_HEADER;
    size_t true_bytes = 0;
    if (block != NULL) {
        memcpy(&true_bytes, block, sizeof true_bytes);
    }
    counter->told_wrong_size |= true_bytes != old_bytes;
    if (new_bytes > 0 && ++counter->calls == counter->fail_at) {
        return NULL;
    }
    counter->live_bytes += new_bytes;
    counter->live_bytes -= old_bytes;
    if (new_bytes == 0) {
        free(block);
        return NULL;
    }
    char *moved = realloc(block, COUNTING_HEADER + new_bytes);
    if (moved == NULL) {
        abort();
    }
    memcpy(moved, &new_bytes, sizeof new_bytes);
    return moved + COUNTING_HEADER;
}

static inline s0_allocator counting_allocator(CountingAllocator *counter) {
    return (s0_allocator){counting_resize, counter};
}

#endif
