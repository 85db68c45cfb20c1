/* Devices by name or path, and what to suggest where there is none. */
#include "base/file.h"
#include "base/nearest.h"
#include "device/device.h"
#include "device/ini.h"

#include <string.h>

const DevicePreset *device_find_preset(Str name) {
    for (size_t i = 0; i < device_preset_count; i++) {
        if (str_eq(name, str_from(device_presets[i].name))) {
            return &device_presets[i];
        }
    }
    return NULL;
}

const char *device_preset_names(Arena *arena) {
    const char *names = "";
    for (size_t i = 0; i < device_preset_count; i++) {
        names = arena_text(arena, "%s%s%s", names, i == 0 ? "" : ", ", device_presets[i].name);
    }
    return names;
}

Str device_suggest(Arena *arena, Str typed) {
    Str all = {NULL, 0};
    for (size_t i = 0; i < device_preset_count; i++) {
        Str name = str_from(device_presets[i].name);
        if (nearest_is_near(typed, name)) {
            all = arena_format(arena, STR_FMT "%s" STR_FMT, STR_ARG(all), all.len == 0 ? "" : " or ", STR_ARG(name));
        }
    }
    return all;
}

/* "./box.ini" where that is a file and "box" was typed, or "./box"; only a path names a file. */
static Str suggest_file(Arena *arena, Str typed) {
    static const char *const ending[] = {".ini", ""};
    for (size_t i = 0; typed.len > 0 && i < sizeof ending / sizeof ending[0]; i++) {
        const char *path = arena_text(arena, "./" STR_FMT "%s", STR_ARG(typed), ending[i]);
        if (file_is_regular(path)) {
            return str_from(path);
        }
    }
    return (Str){NULL, 0};
}

static const Device *unknown_preset(Work *work, Str typed) {
    Arena *arena = &work->keep;
    Str file = suggest_file(arena, typed);
    Str near = file.len > 0 ? file : device_suggest(arena, typed);
    diag_error(
        &work->diags,
        (DiagText){.what = "no device has this name",
                   .got = arena_text(arena, "'" STR_FMT "'", STR_ARG(typed)),
                   .expected = arena_text(arena, "%s, or the path of an .ini file", device_preset_names(arena)),
                   .hint = near.len == 0 ? NULL : arena_text(arena, "did you mean " STR_FMT "?", STR_ARG(near))});
    return NULL;
}

/* The buffer is allocated first: nothing may be allocated while the file is mapped. */
static const Device *load_file(Work *work, Str path_text) {
    const char *path = arena_text(&work->keep, STR_FMT, STR_ARG(path_text));
    char *text = arena_array(&work->scratch, char, DEVICE_INI_MAX_BYTES + 1);
    FileMap map;
    if (!file_map(&map, path, &work->diags)) {
        return NULL;
    }
    /* one byte over the limit is enough for the reader to refuse the file */
    size_t len = map.bytes.len > DEVICE_INI_MAX_BYTES ? DEVICE_INI_MAX_BYTES + 1 : map.bytes.len;
    if (len > 0) {
        memcpy(text, map.bytes.ptr, len);
    }
    file_unmap(&map);
    return device_parse(work, (Str){text, len}, str_from(path));
}

const Device *device_load(Work *work, Str name_or_path) {
    const DevicePreset *preset = device_find_preset(name_or_path);
    if (preset != NULL) {
        return device_parse(work, str_from(preset->text), arena_format(&work->keep, "preset:%s", preset->name));
    }
    bool is_path = name_or_path.len > 0 &&
                   (memchr(name_or_path.ptr, '/', name_or_path.len) != NULL || str_ends(name_or_path, STR(".ini")));
    return is_path ? load_file(work, name_or_path) : unknown_preset(work, name_or_path);
}
