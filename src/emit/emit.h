/* Emit: a rewritten model in the format it came in.
 *
 * The file is edited, not written anew: what the edit does not name keeps its bytes and its order, unknown fields too;
 * with nothing to edit the result is the file. What comes out passes import again. */
#ifndef S0_EMIT_EMIT_H
#define S0_EMIT_EMIT_H

#include "base/work.h"
#include "graph/edit.h"

/* `file`: the bytes that `edit->graph` was imported from. `*out` lives in `keep`, or is `file`. False with a
 * diagnostic. */
bool emit_model(const ModelEdit *edit, Span file, Work *work, Span *out);

/* One format each; emit_model picks. */
bool emit_onnx(const ModelEdit *edit, Span file, Work *work, Span *out);
bool emit_tflite(const ModelEdit *edit, Span file, Work *work, Span *out);

#endif
