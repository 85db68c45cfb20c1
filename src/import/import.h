/* Import: the bytes of a model file become a graph.
 *
 * The format is told by the content: "TFL3" at byte 4 is TFLite, "stride0-graph" at the start is the text form, all
 * else is read as ONNX. Constants stay spans of `bytes` (or of external files mapped into `files`), which must outlive
 * the graph. Nothing in a file is trusted: every length, offset and index is checked, nesting is bounded. */
#ifndef S0_IMPORT_IMPORT_H
#define S0_IMPORT_IMPORT_H

#include "base/file.h"
#include "graph/graph.h"

/* The model's file and the external-data files it names, mapped. */
typedef struct {
    size_t count, map_capacity, path_capacity;
    FileMap *map;
    Str *path;
} ModelFiles;

/* Null with diagnostics. `path` is told for external data, which may not leave the model's folder. Whatever comes
 * back, and also where memory runs out, import_close must be called on `files`. */
Graph *import_model(Work *work, const char *path, ModelFiles *files);
void import_close(ModelFiles *files);

/* The same of bytes in memory, which came from `path` or go there. */
Graph *import_span(Work *work, Span bytes, const char *path, ModelFiles *files);

/* An empty slot of `files` for the file at `path`, to be mapped into. The arrays live in `keep`. */
FileMap *import_add_file(Arena *keep, ModelFiles *files, Str path);

/* A file that is one ONNX TensorProto, as a constant value. False with a diagnostic. */
bool import_tensor(Work *work, Span bytes, const char *path, ModelFiles *files, Value *value);

/* One format each; import_model picks. */
Graph *import_onnx(Work *work, Span bytes, const char *path, ModelFiles *files);
Graph *import_tflite(Work *work, Span bytes, const char *path, ModelFiles *files);

#endif
