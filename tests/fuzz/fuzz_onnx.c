/* Whatever the bytes, import_onnx returns a graph that keeps the invariants, or null and a diagnostic. */
#include "base/fault.h"
#include "import/import.h"

#include <setjmp.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    Work work;
    ModelFiles files = {0};
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        Graph *graph = import_onnx(&work, (Span){data, size}, "/nonexistent/model.onnx", &files);
        CHECK((graph != NULL && graph_check(graph, &work)) || diags_failed(&work.diags));
    }
    import_close(&files);
    work_free(&work);
    return 0;
}
