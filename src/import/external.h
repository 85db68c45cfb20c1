/* External data of ONNX: elements that stand in another file of the model's folder. */
#ifndef S0_IMPORT_EXTERNAL_H
#define S0_IMPORT_EXTERNAL_H

#include "import/import.h"

typedef struct {
    Str location;
    uint64_t offset_bytes, length_bytes;
    bool has_length;
} ExternalData;

/* The bytes of `data`, `need_bytes` of them; each file is mapped once. `who` names node and tensor in diagnostics.
 * The location must be relative, without `..` and without symbolic links on the way, so that it stays in the folder of
 * `model_path`. */
bool external_read(Work *work, const char *model_path, ModelFiles *files, const ExternalData *data, uint64_t need_bytes,
                   DiagText who, Span *bytes);

#endif
