/* Import: tells the format by the content and hands the bytes to its reader. */
#include "import/import.h"

#include "graph/text.h"

#include <string.h>

/* Files that are often taken for a model. No ONNX file begins like any of these. */
static const struct {
    Str start;
    const char *what;
} strangers[] = {
    {{"version https://git-lfs", 23}, "a git-lfs pointer: the model itself was not downloaded"},
    {{"<", 1}, "an HTML or XML page"},
    {{"{", 1}, "JSON"},
    {{"PK\003\004", 4}, "a ZIP archive (PyTorch and Keras save models so)"},
    {{"\037\213", 2}, "a gzip archive"},
    {{"\211HDF", 4}, "an HDF5 file (Keras saves models so)"},
    {{"\211PNG", 4}, "a PNG image"},
    {{"\377\330\377", 3}, "a JPEG image"},
    {{"GIF8", 4}, "a GIF image"},
    {{"%PDF", 4}, "a PDF document"},
    {{"\177ELF", 4}, "a program"},
    {{"#!", 2}, "a script"},
    {{"\200\002", 2}, "a Python pickle (PyTorch saves models so)"},
    {{"\223NUMPY", 6}, "a NumPy array"},
    {{"GGUF", 4}, "a GGUF model"},
};

static const char *stranger_name(Span bytes) {
    Str start = {(const char *)bytes.ptr, bytes.len};
    for (size_t k = 0; k < sizeof strangers / sizeof strangers[0]; k++) {
        if (str_starts(start, strangers[k].start)) {
            return strangers[k].what;
        }
    }
    return NULL;
}

static Graph *no_model(Work *work, const char *got, const char *hint) {
    diag_error(&work->diags, (DiagText){.what = "the file is not a model that stride0 reads",
                                        .got = got,
                                        .expected = "an ONNX file, a TFLite file, or the text form of a graph",
                                        .hint = hint});
    return NULL;
}

static Graph *read_by_content(Work *work, Span bytes, const char *path, ModelFiles *files) {
    if (bytes.len == 0) {
        return no_model(work, "an empty file", "copy or export the file again");
    }
    if (bytes.len >= 8 && memcmp(bytes.ptr + 4, "TFL3", 4) == 0) {
        return import_tflite(work, bytes, path, files);
    }
    if (str_starts((Str){(const char *)bytes.ptr, bytes.len}, STR("stride0-graph"))) {
        return graph_parse_text(work, bytes, str_from(path));
    }
    const char *stranger = stranger_name(bytes);
    if (stranger != NULL) {
        return no_model(work, stranger, "pass the model's .onnx or .tflite file");
    }
    return import_onnx(work, bytes, path, files);
}

Graph *import_span(Work *work, Span bytes, const char *path, ModelFiles *files) {
    work->diags.file = path;
    Graph *graph = read_by_content(work, bytes, path, files);
    return graph != NULL && graph_check(graph, work) ? graph : NULL;
}

Graph *import_model(Work *work, const char *path, ModelFiles *files) {
    work->diags.file = path;
    FileMap *map = import_add_file(&work->keep, files, str_from(path));
    if (!file_map(map, path, &work->diags)) {
        return NULL;
    }
    return import_span(work, map->bytes, path, files);
}

FileMap *import_add_file(Arena *keep, ModelFiles *files, Str path) {
    files->map = arena_grow(keep, files->map, files->count, &files->map_capacity, sizeof *files->map);
    files->path = arena_grow(keep, files->path, files->count, &files->path_capacity, sizeof *files->path);
    files->map[files->count] = (FileMap){0};
    files->path[files->count] = path;
    return &files->map[files->count++];
}

void import_close(ModelFiles *files) {
    for (size_t k = 0; k < files->count; k++) {
        file_unmap(&files->map[k]);
    }
    files->count = 0;
}
