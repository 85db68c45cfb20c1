/* Fuzz target: any bytes as a TFLite file. They give a graph that holds its invariants, or at least one error or
 * refusal; no input costs more than the work that flatbuf.h allows. */
#include "base/fault.h"
#include "import/import.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

/* Every constant lies in the input. */
static void check_spans(const Graph *graph, Span file) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        const Const *constant = graph->values[v].constant;
        if (constant != NULL && constant->bytes.len > 0) {
            CHECK(constant->bytes.ptr >= file.ptr);
            CHECK(constant->bytes.len <= file.len - (size_t)(constant->bytes.ptr - file.ptr));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len) {
    Work work;
    Span file = {bytes, len};
    work_init(&work, &system_allocator);
    if (setjmp(work.escape) == 0) {
        const Graph *graph = import_tflite(&work, file, "fuzz.tflite", NULL);
        CHECK((graph == NULL) == diags_failed(&work.diags));
        if (graph != NULL) {
            check_spans(graph, file);
            bool sound = graph_check(graph, &work);
            CHECK(sound != diags_failed(&work.diags));
        }
    }
    work_free(&work);
    return 0;
}
