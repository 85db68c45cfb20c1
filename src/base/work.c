/* The context of one compile. */
#include "base/work.h"

void work_init(Work *work, const s0_allocator *allocator) {
    arena_init(&work->keep, allocator, &work->escape);
    arena_init(&work->scratch, allocator, &work->escape);
    work->diags = (Diags){.arena = &work->keep};
}

void work_free(Work *work) {
    arena_free(&work->scratch);
    arena_free(&work->keep);
    work->diags = (Diags){0};
}
