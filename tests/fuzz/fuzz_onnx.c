/* Whatever the bytes, import_onnx returns a graph that keeps the invariants, or null and a diagnostic. */
#include "base/fault.h"
#include "import/import.h"

#include <setjmp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void import_and_check(Work *work, Span bytes, ModelFiles *files) {
    Graph *graph = import_onnx(work, bytes, "/nonexistent/model.onnx", files);
    CHECK((graph != NULL && graph_check(graph, work)) || diags_failed(&work->diags));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Work work;
    ModelFiles files = {0};
    Span bytes = {data, size};
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        import_and_check(&work, bytes, &files);
    }
    import_close(&files);
    work_free(&work);
    return 0;
}
