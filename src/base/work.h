/* What every stage of one compile is handed: two arenas and the diagnostics.
 *
 * `keep` lives as long as the result, `scratch` is reset after each stage by the page that lists the stages.
 * Out of memory leaves through `escape`: the caller that owns the Work runs setjmp(work.escape) once. */
#ifndef S0_BASE_WORK_H
#define S0_BASE_WORK_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct {
    jmp_buf escape;
    Arena keep;
    Arena scratch;
    Diags diags;
} Work;

/* In the caller's memory; the Work must not move afterwards, the arenas point into it. */
void work_init(Work *work, const s0_allocator *allocator);
void work_free(Work *work);

#endif
