/* External data: the location is checked component by component before anything is opened. */
#include "import/external.h"
#include "base/checked.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static bool is_symbolic_link(const char *path) {
    struct stat info;
    return lstat(path, &info) == 0 && S_ISLNK(info.st_mode);
}

enum { LONGEST_PATH = 4096 };

/* Appends `part` to the text of `len` bytes in `path`. False where it is too long. */
static bool append(char path[LONGEST_PATH], size_t *len, Str part) {
    if (part.len >= LONGEST_PATH - *len) {
        return false;
    }
    memcpy(path + *len, part.ptr, part.len);
    *len += part.len;
    path[*len] = '\0';
    return true;
}

static Str folder_of(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? STR("") : (Str){path, (size_t)(slash - path) + 1};
}

/* Null, or what is wrong with the location; `path` is what to open. */
static const char *resolve(const char *model_path, Str location, char path[LONGEST_PATH]) {
    size_t len = 0;
    if (location.len == 0 || memchr(location.ptr, '\0', location.len) != NULL) {
        return "the external data's location is not a file name";
    }
    if (location.ptr[0] == '/') {
        return "the external data's location is absolute";
    }
    bool fits = append(path, &len, folder_of(model_path));
    while (fits && location.len > 0) {
        Str part = str_cut(&location, '/');
        if (str_eq(part, STR(".."))) {
            return "the external data's location may leave the model's folder";
        }
        fits = append(path, &len, part);
        if (fits && is_symbolic_link(path)) {
            return "the external data's location is a symbolic link, which may leave the model's folder";
        }
        fits = fits && (location.len == 0 || append(path, &len, STR("/")));
    }
    return fits ? NULL : "the external data's location is too long";
}

/* Its file, mapped now or before; the slot is there before the mapping, so that nothing is lost on the way. */
static const FileMap *find_file(Work *work, ModelFiles *files, const char *path) {
    for (size_t k = 0; k < files->count; k++) {
        if (str_eq(files->path[k], str_from(path))) {
            return &files->map[k];
        }
    }
    Str kept = arena_str(&work->keep, str_from(path));
    FileMap *map = import_add_file(&work->keep, files, kept);
    if (!file_map(map, kept.ptr, &work->diags)) {
        files->count--;
        return NULL;
    }
    return map;
}

/* Whose bytes the file holds that could not be read, as just told. */
static void explain_missing(Diags *diags, const DiagText *who) {
    DiagText *text = &diags->last->text;
    text->node = who->node;
    text->tensor = who->tensor;
    text->expected = "the file that holds the tensor's elements, where the model says";
    text->hint = "copy the file to beside the model, or export the model with its weights inside";
}

bool external_read(Work *work, const ExternalRequest *request, ModelFiles *files, Span *bytes) {
    Arena *arena = &work->keep;
    const ExternalData *data = &request->data;
    const uint64_t need_bytes = request->need_bytes;
    DiagText who = request->who;
    char path[LONGEST_PATH];
    who.what = resolve(request->model_path, data->location, path);
    if (who.what != NULL) {
        who.got = arena_text(arena, "location '" STR_FMT "'", STR_ARG(data->location));
        who.expected = "a file in the model's folder, by a relative path";
        who.hint = "put the file itself, not a link to it, beside the model and export the model again";
        return diag_error(&work->diags, who);
    }
    const FileMap *map = find_file(work, files, path);
    if (map == NULL) {
        explain_missing(&work->diags, &who);
        return false;
    }
    who.what = "the external data does not have the size of the tensor";
    if (data->has_length && data->length_bytes != need_bytes) {
        who.got = arena_text(arena, "length %" PRIu64, data->length_bytes);
        who.expected = arena_text(arena, "%" PRIu64 " bytes", need_bytes);
        return diag_error(&work->diags, who);
    }
    uint64_t end;
    if (!checked_add(data->offset_bytes, need_bytes, &end) || end > map->bytes.len) {
        who.what = "the external data lies outside its file";
        who.got = arena_text(arena, "%" PRIu64 " bytes from byte %" PRIu64, need_bytes, data->offset_bytes);
        who.expected = arena_text(arena, "the %zu bytes of %s", map->bytes.len, path);
        who.hint = "copy the file again, or export the model again";
        return diag_error(&work->diags, who);
    }
    *bytes = need_bytes == 0 ? (Span){NULL, 0} : (Span){map->bytes.ptr + data->offset_bytes, (size_t)need_bytes};
    return true;
}
