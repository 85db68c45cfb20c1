/* Fuzz target: any bytes as the JSON of a plan. They give a side that can be compared with itself, or one error. */
#include "base/fault.h"
#include "ledger/diff.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void read_and_check(Work *work, Span bytes) {
    const Side *side = side_read(bytes, "fuzz.json", work);
    CHECK((side == NULL) == (work->diags.count[DIAG_ERROR] > 0));
    if (side != NULL) {
        const DiffChange change = {CAUSE_SEVERAL, "all", side};
        const Diff *diff = diff_make(side, &change, 1, work);
        CHECK(diff->peak_live_bytes == 0 && diff->placed_bytes == 0 && diff->tensor_count == 0);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        read_and_check(&work, (Span){bytes, len});
    }
    work_free(&work);
    return 0;
}
