/* External data of ONNX: elements that stand in another file of the model's folder. */
#ifndef S0_IMPORT_EXTERNAL_H
#define S0_IMPORT_EXTERNAL_H

#include "import/import.h"

/* An entry of a tensor: where its elements are. */
typedef struct {
    Str location;
    uint64_t offset_bytes, length_bytes;
    bool has_length;
} ExternalData;

/* What is to be read, and for whom. */
typedef struct {
    const char *model_path;
    ExternalData data;
    uint64_t need_bytes;
    DiagText who; /* names node and tensor in diagnostics */
} ExternalRequest;

/* The bytes of `request->data`, `need_bytes` of them; each file is mapped once. The location must be relative, without
 * `..` and without symbolic links on the way, so that it stays in the folder of the model. */
bool external_read(Work *work, const ExternalRequest *request, ModelFiles *files, Span *bytes);

#endif
