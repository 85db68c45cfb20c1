/* TFLite: whether the file is sound, and places and spans in it. */
#include "import/tflite.h"

static Arena *texts(const Tflite *model) {
    return model->work->diags.arena;
}

bool tflite_is_sound(Tflite *model) {
    const Flatbuf *flat = &model->flat;
    if (flat->fault == NULL) {
        return true;
    }
    return diag_error(&model->work->diags,
                      (DiagText){.place = arena_text(texts(model), "byte %zu", flat->fault_at),
                                 .what = flat->fault,
                                 .got = arena_text(texts(model), "a file of %zu bytes", flat->bytes.len),
                                 .expected = "a whole TFLite model with the identifier TFL3",
                                 .hint = "check that the file was copied completely"});
}

Str tflite_place(Tflite *model, size_t at) {
    return arena_format(&model->work->keep, "byte %zu", at);
}

bool tflite_span(const Tflite *model, int64_t offset, int64_t bytes, Span *span) {
    Span file = model->flat.bytes;
    if (offset < 0 || bytes < 0 || (uint64_t)offset > file.len || (uint64_t)bytes > file.len - (uint64_t)offset) {
        return false;
    }
    *span = (Span){file.ptr + offset, (size_t)bytes};
    return true;
}
