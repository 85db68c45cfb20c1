/* Readers of the values in a device file. */
#include "device/value.h"

#include "base/dtype.h"
#include "base/nearest.h"

#include <inttypes.h>
#include <string.h>

/* ---- Telling what is wrong */

/* Adds a diagnostic about this entry and returns false. `what` is extended by the key. */
static bool value_error(const DeviceValue *value, const char *what, const char *expected, const char *hint) {
    Arena *arena = &value->work->keep;
    Str got = value->text.len > 0 ? value->text : value->entry->value;
    return diag_error(&value->work->diags,
                      (DiagText){.place = device_ini_place(arena, value->file, value->entry->line),
                                 .what = arena_text(arena, "[" STR_FMT "] " STR_FMT ": %s", STR_ARG(value->section),
                                                    STR_ARG(value->entry->key), what),
                                 .got = arena_text(arena, "'" STR_FMT "'", STR_ARG(got)),
                                 .expected = expected,
                                 .hint = hint,
                                 .line = value->entry->line});
}

const char *device_join(Arena *arena, const char *const *name, size_t count) {
    const char *all = "";
    for (size_t i = 0; i < count; i++) {
        all = arena_text(arena, "%s%s%s", all, i == 0 ? "" : ", ", name[i]);
    }
    return all;
}

/* "did you mean 'x'?", or null. */
static const char *suggest(Arena *arena, Str typed, const char *const *name, size_t count) {
    const char *nearest = nearest_of(typed, name, count);
    return nearest == NULL ? NULL : arena_text(arena, "did you mean '%s'?", nearest);
}

/* ---- VALUE @ SOURCE */

/* What is wrong is not the value: all of it is shown. */
static bool source_error(const DeviceValue *value, const char *what, const char *hint) {
    DeviceValue whole = *value;
    whole.text = value->entry->value;
    return value_error(&whole, what, "VALUE @ SOURCE, or VALUE @ assumed: REASON", hint);
}

static const char *no_source_hint(Str text) {
    return memchr(text.ptr, '@', text.len) != NULL ? "put a blank on both sides of '@'"
                                                   : "cite where the value comes from";
}

bool device_value_split(DeviceValue *value) {
    static const Str assumed = {"assumed", 7};
    Str all = value->entry->value;
    size_t at = 0;
    while (at < all.len && !(all.ptr[at] == '@' && (at == 0 || all.ptr[at - 1] == ' ') &&
                             (at + 1 == all.len || all.ptr[at + 1] == ' '))) {
        at++;
    }
    value->text = str_trim((Str){all.ptr, at});
    if (value->text.len == 0) {
        return source_error(value, "no value stands before the source", NULL);
    }
    value->source = at == all.len ? (Str){NULL, 0} : str_trim((Str){all.ptr + at + 1, all.len - at - 1});
    if (value->source.len == 0) {
        return source_error(value, "the value has no source", no_source_hint(value->text));
    }
    value->is_assumed = str_starts(value->source, assumed);
    if (value->is_assumed) {
        Str rest = {value->source.ptr + assumed.len, value->source.len - assumed.len};
        value->source = rest.len > 0 && rest.ptr[0] == ':' ? str_trim((Str){rest.ptr + 1, rest.len - 1}) : STR("");
        if (value->source.len == 0) {
            return source_error(value, "an assumed value needs a reason", NULL);
        }
    }
    return true;
}

/* ---- Numbers */

static bool number_error(const DeviceValue *value, DeviceRange range, const char *or_else) {
    const char *units = range.has_units ? " (K, M, G = 1024, 1024^2, 1024^3)" : "";
    const char *bounds =
        range.most == UINT64_MAX
            ? arena_text(&value->work->keep, "an integer of at least %" PRIu64 "%s%s", range.least, units, or_else)
            : arena_text(&value->work->keep, "an integer from %" PRIu64 " to %" PRIu64 "%s%s", range.least, range.most,
                         units, or_else);
    uint64_t known;
    bool is_unit = range.has_units && !str_to_bytes(value->text, &known);
    return value_error(value, "not a number in range", bounds,
                       is_unit ? nearest_bytes(&value->work->keep, value->text) : NULL);
}

static bool to_number(Str text, DeviceRange range, uint64_t *number) {
    uint64_t read;
    bool is_number = range.has_units ? str_to_bytes(text, &read) : str_to_u64(text, &read);
    if (!is_number || read < range.least || read > range.most) {
        return false;
    }
    *number = read;
    return true;
}

bool device_value_number(const DeviceValue *value, DeviceRange range, uint64_t *number) {
    return to_number(value->text, range, number) || number_error(value, range, "");
}

bool device_value_bytes_or_unbounded(const DeviceValue *value, DeviceRange range, uint64_t *bytes) {
    if (str_eq(value->text, STR("unbounded"))) {
        *bytes = UINT64_MAX;
        return true;
    }
    return to_number(value->text, range, bytes) || number_error(value, range, ", or 'unbounded'");
}

bool device_value_form(const DeviceValue *value, DeviceForm *form) {
    static const DeviceRange range = {1, 65536, false};
    *form = (DeviceForm){.is_assumed = value->is_assumed, .source = value->source};
    if (str_eq(value->text, STR("no"))) {
        return true;
    }
    form->readable = to_number(value->text, range, &form->grain_bytes);
    return form->readable || number_error(value, range, ", the grain in bytes, or 'no'");
}

bool device_value_workspace(const DeviceValue *value, DeviceRange range, DeviceOperator *of) {
    of->workspace = str_eq(value->text, STR("input"))    ? WORKSPACE_INPUT
                    : str_eq(value->text, STR("output")) ? WORKSPACE_OUTPUT
                                                         : WORKSPACE_BYTES;
    return of->workspace != WORKSPACE_BYTES || to_number(value->text, range, &of->workspace_bytes) ||
           number_error(value, range, ", or 'input' or 'output'");
}

/* ---- Words */

bool device_value_word(const DeviceValue *value, const char *const *word, size_t count, uint32_t *index) {
    for (uint32_t i = 0; i < count; i++) {
        if (str_eq(value->text, str_from(word[i]))) {
            *index = i;
            return true;
        }
    }
    return value_error(value, "unknown word", device_join(&value->work->keep, word, count),
                       suggest(&value->work->keep, value->text, word, count));
}

bool device_value_overflow(const DeviceValue *value, bool *is_local) {
    static const char *const words[] = {"local", "flash", "far"};
    *is_local = str_eq(value->text, str_from(words[0]));
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (str_eq(value->text, str_from(words[i]))) {
            return true;
        }
    }
    return value_error(value, "unknown word", "of an arena local or flash, of a scratchpad far",
                       suggest(&value->work->keep, value->text, words, sizeof words / sizeof words[0]));
}

bool device_value_switch(const DeviceValue *value, bool *is_on) {
    static const char *const words[] = {"no", "yes"};
    uint32_t index = 0;
    bool is_word = device_value_word(value, words, sizeof words / sizeof words[0], &index);
    *is_on = index == 1;
    return is_word;
}

bool device_is_name(Str text) {
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.";
    for (size_t i = 0; i < text.len; i++) {
        if (memchr(allowed, text.ptr[i], sizeof allowed - 1) == NULL) {
            return false;
        }
    }
    return text.len > 0 && text.len <= 32;
}

bool device_value_name(const DeviceValue *value, Str *name) {
    *name = value->text;
    return device_is_name(value->text) ||
           value_error(value, "not a name", "at most 32 letters, digits, '-', '_' or '.'", NULL);
}

bool device_value_contract(const DeviceValue *value, const Contract **contract) {
    Arena *arena = &value->work->keep;
    ContractError error = {0};
    *contract = contract_parse(arena, value->text, &error);
    if (*contract != NULL) {
        return true;
    }
    const char *what = arena_text(arena, "the contract is wrong in column %u: %s%s%s", error.column, error.what,
                                  error.got == NULL ? "" : ": ", error.got == NULL ? "" : error.got);
    return value_error(value, what, error.expected, NULL);
}

/* ---- Element types */

_Static_assert(DTYPE_COUNT <= 64, "a set of dtypes is one 64-bit word");

static bool dtype_error(const DeviceValue *value, Str typed) {
    const char *name[DTYPE_COUNT];
    size_t count = 0;
    for (int d = DTYPE_NONE + 1; d < DTYPE_COUNT; d++) {
        if (dtype_kind((DType)d) != DTYPE_KIND_OPAQUE) {
            name[count++] = dtype_name((DType)d);
        }
    }
    Arena *arena = &value->work->keep;
    return value_error(value, arena_text(arena, "unknown dtype '" STR_FMT "'", STR_ARG(typed)),
                       arena_text(arena, "'all', or some of %s", device_join(arena, name, count)),
                       suggest(arena, typed, name, count));
}

bool device_value_dtypes(const DeviceValue *value, uint64_t *set) {
    *set = UINT64_MAX;
    if (str_eq(value->text, STR("all"))) {
        return true;
    }
    *set = 0;
    for (Str rest = value->text; rest.len > 0;) {
        Str word = str_cut(&rest, ' ');
        if (word.len == 0) {
            continue;
        }
        DType dtype = dtype_find(word);
        if (dtype_kind(dtype) == DTYPE_KIND_OPAQUE) {
            return dtype_error(value, word);
        }
        *set |= (uint64_t)1 << dtype;
    }
    return true;
}
