/* The public API of affines: a handle over what is prepared. */
#include "prepared.h"

#include <inttypes.h>

enum { MOST_THREADS = 1024 };

struct s0_affine {
    Work work;
    const s0_allocator *allocator;
    bool is_ready;
    Native native;
    s0_affine_facts facts;
};

static bool prepare(s0_affine *affine, const s0_affine_options *options) {
    Diags *diags = &affine->work.diags;
    if (options == NULL) {
        return diag_error(diags, (DiagText){.place = "options", .what = "there are none"});
    }
    if (options->threads > MOST_THREADS) {
        return diag_error(diags, (DiagText){.place = "option threads",
                                            .what = "too many",
                                            .got = arena_text(&affine->work.keep, "%" PRIu32, options->threads),
                                            .expected = "at most 1024"});
    }
    return prepared_read(options, &affine->native, &affine->facts, &affine->work);
}

s0_status s0_affine_new(const s0_affine_options *options, const s0_allocator *allocator, s0_affine **handle) {
    allocator = allocator == NULL ? &system_allocator : allocator;
    s0_affine *affine = allocator->resize(allocator->ctx, NULL, 0, sizeof *affine);
    *handle = NULL;
    if (affine == NULL) {
        return S0_NO_MEMORY;
    }
    *affine = (s0_affine){.allocator = allocator};
    work_init(&affine->work, allocator);
    *handle = affine; /* before setjmp: what is set after it is lost when memory runs out */
    if (setjmp(affine->work.escape) != 0) {
        s0_affine_free(*handle);
        *handle = NULL;
        return S0_NO_MEMORY;
    }
    if (!prepare(affine, options)) {
        return diags_status(&affine->work.diags);
    }
    if (options->threads > 1) {
        affine->native.pool = pool_new(options->threads, affine->allocator);
        if (affine->native.pool == NULL) {
            longjmp(affine->work.escape, 1);
        }
    }
    affine->is_ready = true;
    arena_reset(&affine->work.scratch);
    return S0_DONE;
}

void s0_affine_free(s0_affine *affine) {
    if (affine == NULL) {
        return;
    }
    pool_free(affine->native.pool);
    work_free(&affine->work);
    affine->allocator->resize(affine->allocator->ctx, affine, sizeof *affine, 0);
}

s0_status s0_affine_print_messages(const s0_affine *affine, FILE *out) {
    if (affine == NULL) { /* what s0_affine_new leaves where memory ran out */
        fputs("error: out of memory\n", out);
        return S0_NO_MEMORY;
    }
    diags_print(&affine->work.diags, "", out);
    return S0_DONE;
}

bool s0_affine_facts_of(const s0_affine *affine, s0_affine_facts *facts) {
    if (affine == NULL || !affine->is_ready) {
        return false;
    }
    *facts = affine->facts;
    return true;
}

void s0_affine_run(const s0_affine *affine, const void *x, void *y, uint32_t threads) {
    if (affine != NULL && affine->is_ready) {
        native_run(&affine->native, x, y, threads);
    }
}
