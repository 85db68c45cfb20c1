/* A file that is one TensorProto, as the test data of ONNX models is. */
#include "import/onnx.h"

bool import_tensor(Work *work, Span bytes, const char *path, ModelFiles *files, Value *value) {
    static const uint8_t nothing[1]; /* an empty file has no bytes to point at */
    bytes.ptr = bytes.len == 0 ? nothing : bytes.ptr;
    Onnx onnx = {.file = {.file = bytes, .work = work}, .work = work, .path = path, .files = files};
    const Field message = {.bytes = bytes, .at = bytes.ptr};
    work->diags.file = path;
    return onnx_read_tensor(&onnx, (Str){0}, &message, value);
}
