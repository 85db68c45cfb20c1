/* Emit: the writer of the format that the file has. */
#include "emit/emit.h"

bool emit_model(const ModelEdit *edit, Span file, Work *work, Span *out) {
    if (str_starts((Str){(const char *)file.ptr, file.len}, STR("stride0-graph"))) {
        return diag_error(&work->diags, (DiagText){.what = "the text form of a graph is for reading only",
                                                   .expected = "an ONNX or TFLite file",
                                                   .hint = "simplify the model that the text was made from"});
    }
    return edit->graph->format == FORMAT_TFLITE ? emit_tflite(edit, file, work, out) : emit_onnx(edit, file, work, out);
}
