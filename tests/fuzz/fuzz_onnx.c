/* Whatever the bytes, import_onnx returns a graph that keeps the invariants, or null and a diagnostic. */
#include "base/fault.h"
#include "target.h"

static void import_and_check(Work *work, Span bytes, ModelFiles *files) {
    Graph *graph = import_onnx(work, bytes, "/nonexistent/model.onnx", files);
    CHECK((graph != NULL && graph_check(graph, work)) || diags_failed(&work->diags));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    return fuzz_model((Span){data, size}, import_and_check);
}
