/* From INI entries to a Device: a table (field.c) says what each key is; what the table can't say is checked at the
 * end.
 *
 *     device_ini_read      text -> sections and entries with lines
 *     read_sections        the sections exist; memories get their place
 *     read_entries         each key by its table entry
 *     check_present        no required key is missing
 *     device_find_memories    the memories of its kind are there
 *     device_check_together   what holds between values: alignment, banks and lanes, DMA limits
 *
 * All faults are told at once, but the text's (device_ini_read), which end the reading, and those between values, which
 * are looked for where all values are sound. */
#include "base/fault.h"
#include "base/nearest.h"
#include "device/field.h"
#include "device/together.h"

#include <inttypes.h>
#include <string.h>

static const char *const requantise_names[] = {"tflite-double", "tflite-single", "onnx", "half-away"};
static const char *const section_names[] = {"device",   "memory local", "memory flash", "memory far",
                                            "contract", "parameter",    "engine",       "dma"};
static const char *const named_sections[] = {"memory", "operator"};
static const char *const first_memories[] = {"local", "flash", "far"};
enum { FIRST_MEMORIES = sizeof first_memories / sizeof first_memories[0] };

typedef struct {
    Work *work;
    Str file;
    const DeviceIni *ini;
    Device *device;
    DeviceFact *fact;
    const char *table[DEVICE_INI_MAX_SECTIONS]; /* Field.section of each section; null where unknown */
    void *record[DEVICE_INI_MAX_SECTIONS];      /* what its values go to: the device, a memory or an operator */
    DeviceOperator *operators;
    bool seen[DEVICE_INI_MAX_SECTIONS][DEVICE_FIELD_COUNT];
    bool has_kind; /* that was read and is one */
} Reader;

/* `line` 0 stands for the file as a whole. Returns false. */
static bool file_error(Reader *reader, uint32_t line, DiagText text) {
    text.place = line == 0 ? arena_text(&reader->work->keep, STR_FMT, STR_ARG(reader->file))
                           : device_ini_place(&reader->work->keep, reader->file, line);
    text.line = line;
    return diag_error(&reader->work->diags, text);
}

/* ---- Sections */

/* Has it the key that only a memory has? */
static bool is_like_memory(const Reader *reader, const DeviceIniSection *section) {
    bool has_bytes = false;
    for (uint32_t i = 0; i < reader->ini->entry_count; i++) {
        const DeviceIniEntry *entry = &reader->ini->entry[i];
        has_bytes = has_bytes || (&reader->ini->section[entry->section] == section && str_eq(entry->key, STR("bytes")));
    }
    return has_bytes && device_is_name(section->name);
}

static const char *section_hint(const Reader *reader, const DeviceIniSection *section) {
    enum { COUNT_OF_NAMES = sizeof section_names / sizeof section_names[0] };
    static const Str memory = {"memory ", 7};
    Arena *arena = &reader->work->keep;
    const char *nearest = nearest_of(section->name, section_names, COUNT_OF_NAMES);
    bool is_memory = nearest != NULL && str_starts(str_from(nearest), memory);
    if (!is_memory && is_like_memory(reader, section)) {
        return arena_text(arena, "did you mean [memory " STR_FMT "]?", STR_ARG(section->name));
    }
    return nearest == NULL ? NULL : arena_text(arena, "did you mean [%s]?", nearest);
}

static bool section_error(Reader *reader, const DeviceIniSection *section) {
    enum { COUNT_OF_NAMES = sizeof section_names / sizeof section_names[0] };
    Arena *arena = &reader->work->keep;
    return file_error(reader, section->line,
                      (DiagText){.what = "unknown section",
                                 .got = arena_text(arena, "'" STR_FMT "'", STR_ARG(section->name)),
                                 .expected = arena_text(arena, "%s, memory NAME for a further memory, or operator NAME",
                                                        device_join(arena, section_names, COUNT_OF_NAMES)),
                                 .hint = section_hint(reader, section)});
}

/* What a plan fills first costs nothing where the file does not say otherwise. */
static uint64_t usual_price(Str memory) {
    for (size_t i = 0; i < FIRST_MEMORIES; i++) {
        if (str_eq(memory, str_from(first_memories[i]))) {
            return 0;
        }
    }
    return 1;
}

static bool read_memory_section(Reader *reader, uint32_t index, Str name) {
    Device *device = reader->device;
    uint32_t line = reader->ini->section[index].line;
    if (!device_is_name(name)) {
        return file_error(reader, line,
                          (DiagText){.what = "not a name of a memory",
                                     .got = arena_text(&reader->work->keep, "'" STR_FMT "'", STR_ARG(name)),
                                     .expected = "at most 32 letters, digits, '-', '_' or '.'"});
    }
    for (uint32_t i = 0; i < device->memory_count; i++) {
        if (str_eq(device->memory[i].name, name)) {
            return file_error(reader, line, (DiagText){.what = "a memory stands twice"});
        }
    }
    if (device->memory_count == DEVICE_MAX_MEMORIES) {
        return file_error(
            reader, line,
            (DiagText){.what = arena_text(&reader->work->keep, "more than %d memories", DEVICE_MAX_MEMORIES)});
    }
    reader->table[index] = "memory";
    DeviceMemory *memory = &device->memory[device->memory_count++];
    *memory = (DeviceMemory){.name = name, .lanes = 1, .banks = 1, .price = usual_price(name)};
    reader->record[index] = memory;
    return true;
}

/* A model may call an operator anything. */
static bool read_operator_section(Reader *reader, uint32_t index, Str name) {
    Device *device = reader->device;
    uint32_t line = reader->ini->section[index].line;
    name = device_bare_operator(name);
    if (name.len == 0) {
        return file_error(
            reader, line,
            (DiagText){.what = "an operator has no name", .expected = "[operator NAME], as stride0 inspect lists it"});
    }
    if (device_find_operator(device, name) != NULL) {
        return file_error(reader, line, (DiagText){.what = "an operator stands twice"});
    }
    DeviceOperator *operator_ = &reader->operators[device->operator_count++];
    *operator_ = (DeviceOperator){.name = name, .section = reader->ini->section[index].name, .align_bytes = 1};
    reader->table[index] = "operator";
    reader->record[index] = operator_;
    return true;
}

static bool is_named_table(const char *section) {
    bool is_named = false;
    for (size_t i = 0; i < sizeof named_sections / sizeof named_sections[0]; i++) {
        is_named = is_named || strcmp(section, named_sections[i]) == 0;
    }
    return is_named;
}

static bool read_section(Reader *reader, uint32_t index) {
    static const Str memory = {"memory ", 7}, operator_ = {"operator ", 9};
    Str name = reader->ini->section[index].name;
    if (str_starts(name, memory)) {
        return read_memory_section(reader, index, str_trim((Str){name.ptr + memory.len, name.len - memory.len}));
    }
    if (str_starts(name, operator_)) {
        return read_operator_section(reader, index,
                                     str_trim((Str){name.ptr + operator_.len, name.len - operator_.len}));
    }
    reader->record[index] = reader->device;
    for (size_t i = 0; i < DEVICE_FIELD_COUNT && reader->table[index] == NULL; i++) {
        bool is_it = !is_named_table(device_fields[i].section) && str_eq(name, str_from(device_fields[i].section));
        reader->table[index] = is_it ? device_fields[i].section : NULL;
    }
    return reader->table[index] != NULL || section_error(reader, &reader->ini->section[index]);
}

static bool read_sections(Reader *reader) {
    bool all = true;
    for (uint32_t i = 0; i < reader->ini->section_count; i++) {
        all = read_section(reader, i) && all;
    }
    return all;
}

/* ---- Entries */

static bool key_error(Reader *reader, const DeviceIniEntry *entry, const char *table) {
    const char *key[DEVICE_FIELD_COUNT];
    size_t count = 0;
    Arena *arena = &reader->work->keep;
    for (size_t i = 0; i < DEVICE_FIELD_COUNT; i++) {
        if (strcmp(device_fields[i].section, table) == 0) {
            key[count++] = device_fields[i].key;
        }
    }
    const char *nearest = nearest_of(entry->key, key, count);
    return file_error(reader, entry->line,
                      (DiagText){.what = arena_text(arena, "unknown key in [" STR_FMT "]",
                                                    STR_ARG(reader->ini->section[entry->section].name)),
                                 .got = arena_text(arena, "'" STR_FMT "'", STR_ARG(entry->key)),
                                 .expected = device_join(arena, key, count),
                                 .hint = nearest == NULL ? NULL : arena_text(arena, "did you mean '%s'?", nearest)});
}

static bool store_capacity(const DeviceValue *value, DeviceRange range, DeviceMemory *memory) {
    memory->is_assumed = value->is_assumed;
    memory->source = value->source;
    return str_eq(memory->name, STR("local")) ? device_value_number(value, range, &memory->bytes)
                                              : device_value_bytes_or_unbounded(value, range, &memory->bytes);
}

static bool store_cost(const DeviceValue *value, DeviceRange range, DeviceCost *cost) {
    cost->is_assumed = value->is_assumed;
    cost->source = value->source;
    return device_value_number(value, range, &cost->value);
}

static bool store_kind(const DeviceValue *value, DeviceKind *kind) {
    uint32_t index = 0;
    const char *const names[] = {device_kind_name(DEVICE_ARENA), device_kind_name(DEVICE_SCRATCHPAD)};
    bool is_known = device_value_word(value, names, sizeof names / sizeof names[0], &index);
    *kind = (DeviceKind)index;
    return is_known;
}

static bool store_requantise(const DeviceValue *value, Str *id) {
    uint32_t index = 0;
    bool is_known =
        device_value_word(value, requantise_names, sizeof requantise_names / sizeof requantise_names[0], &index);
    *id = str_from(requantise_names[index]);
    return is_known;
}

static bool store_bits(const DeviceValue *value, DeviceRange range, uint32_t *bits) {
    uint64_t number = 0;
    bool is_number = device_value_number(value, range, &number);
    *bits = (uint32_t)number;
    return is_number;
}

static bool store_overflow(const DeviceValue *value, DeviceOverflow *overflow) {
    bool is_local = false;
    bool is_known = device_value_overflow(value, &is_local);
    *overflow = is_local ? OVERFLOW_LOCAL : OVERFLOW_BACKING;
    return is_known;
}

static bool store(const DeviceValue *value, const DeviceField *field, void *base) {
    void *target = (char *)base + field->offset;
    switch (field->kind) {
    case FIELD_NAME:
        return device_value_name(value, target);
    case FIELD_KIND:
        return store_kind(value, target);
    case FIELD_REQUANTISE:
        return store_requantise(value, target);
    case FIELD_CAPACITY:
        return store_capacity(value, field->range, base);
    case FIELD_NUMBER:
        return device_value_number(value, field->range, target);
    case FIELD_COST:
        return store_cost(value, field->range, target);
    case FIELD_BITS:
        return store_bits(value, field->range, target);
    case FIELD_CONTRACT:
        return device_value_contract(value, target);
    case FIELD_FORM:
        return device_value_form(value, target);
    case FIELD_WORKSPACE:
        return device_value_workspace(value, field->range, base);
    case FIELD_SWITCH:
        return device_value_switch(value, target);
    case FIELD_OVERFLOW:
        return store_overflow(value, target);
    case FIELD_DTYPES:
        return device_value_dtypes(value, target);
    }
    fault(__FILE__, __LINE__, "every kind of value has a reader");
}

static void keep_fact(Reader *reader, const DeviceValue *value) {
    reader->fact[reader->device->fact_count++] = (DeviceFact){.section = value->section,
                                                              .key = value->entry->key,
                                                              .value = value->text,
                                                              .is_assumed = value->is_assumed,
                                                              .source = value->source,
                                                              .line = value->entry->line};
}

static bool read_field(Reader *reader, const DeviceIniEntry *entry, const DeviceField *field) {
    DeviceValue value = {.work = reader->work,
                         .file = reader->file,
                         .section = reader->ini->section[entry->section].name,
                         .entry = entry,
                         .text = entry->value};
    bool has_source = field->kind != FIELD_NAME && field->kind != FIELD_KIND;
    if (has_source && !device_value_split(&value)) {
        return false;
    }
    if (!store(&value, field, reader->record[entry->section])) {
        return false;
    }
    reader->has_kind = reader->has_kind || field->kind == FIELD_KIND;
    if (has_source) {
        keep_fact(reader, &value);
    }
    return true;
}

static bool read_entry(Reader *reader, const DeviceIniEntry *entry) {
    const char *table = reader->table[entry->section];
    for (size_t i = 0; i < DEVICE_FIELD_COUNT; i++) {
        if (strcmp(device_fields[i].section, table) == 0 && str_eq(entry->key, str_from(device_fields[i].key))) {
            reader->seen[entry->section][i] = true;
            return read_field(reader, entry, &device_fields[i]);
        }
    }
    return key_error(reader, entry, table);
}

static bool read_entries(Reader *reader) {
    bool all = true;
    for (uint32_t i = 0; i < reader->ini->entry_count; i++) {
        const DeviceIniEntry *entry = &reader->ini->entry[i];
        if (reader->table[entry->section] != NULL) {
            all = read_entry(reader, entry) && all;
        }
    }
    return all;
}

/* ---- What is missing */

static bool missing_key(Reader *reader, uint32_t line, const char *section, const char *key) {
    Arena *arena = &reader->work->keep;
    return file_error(reader, line,
                      (DiagText){.what = "a required key is missing",
                                 .expected = arena_text(arena, "[%s] %s", section, key),
                                 .hint = "docs/devices.md says what each key means"});
}

/* One fault for the section, with all keys that it needs; `first` is the first of them in the table. */
static bool missing_section(Reader *reader, size_t first) {
    const char *section = device_fields[first].section;
    const char *keys = device_fields[first].key;
    Arena *arena = &reader->work->keep;
    for (size_t k = first + 1; k < DEVICE_FIELD_COUNT; k++) {
        if (device_fields[k].need == REQUIRED && strcmp(device_fields[k].section, section) == 0) {
            keys = arena_text(arena, "%s, %s", keys, device_fields[k].key);
        }
    }
    return file_error(reader, 0,
                      (DiagText){.what = "a required section is missing",
                                 .expected = arena_text(arena, "[%s] with %s", section, keys),
                                 .hint = "docs/devices.md says what each key means"});
}

static bool is_first_needed(size_t k) {
    for (size_t i = 0; i < k; i++) {
        if (device_fields[i].need == REQUIRED && strcmp(device_fields[i].section, device_fields[k].section) == 0) {
            return false;
        }
    }
    return true;
}

static bool check_field(Reader *reader, size_t k) {
    const DeviceField *field = &device_fields[k];
    bool all = true;
    if (field->need == OPTIONAL) {
        return true;
    }
    bool has_section = false;
    for (uint32_t i = 0; i < reader->ini->section_count; i++) {
        bool is_here = reader->table[i] != NULL && strcmp(reader->table[i], field->section) == 0;
        has_section = has_section || is_here;
        if (is_here && !reader->seen[i][k]) {
            const DeviceIniSection *section = &reader->ini->section[i];
            const char *name = arena_text(&reader->work->keep, STR_FMT, STR_ARG(section->name));
            all = missing_key(reader, section->line, name, field->key);
        }
    }
    bool is_missing = !has_section && !is_named_table(field->section);
    if (is_missing && is_first_needed(k)) {
        return missing_section(reader, k);
    }
    return all && !is_missing;
}

static bool check_present(Reader *reader) {
    bool all = true;
    for (size_t k = 0; k < DEVICE_FIELD_COUNT; k++) {
        all = check_field(reader, k) && all;
    }
    return all;
}

/* From here on `bytes` is what tensors may take. */
static void take_reserved(Device *device) {
    for (uint32_t i = 0; i < device->memory_count; i++) {
        device->memory[i].bytes -= device->memory[i].reserved_bytes;
    }
}

const Device *device_parse(Work *work, Str text, Str file) {
    const Diags before = work->diags;
    const DeviceIni *ini = device_ini_read(work, text, file);
    if (ini == NULL) {
        return NULL;
    }
    Reader *reader = arena_new(&work->scratch, Reader);
    Device *device = arena_new(&work->keep, Device);
    *reader = (Reader){.work = work, .file = file, .ini = ini, .device = device};
    reader->fact = arena_array(&work->keep, DeviceFact, ini->entry_count);
    device->file = arena_str(&work->keep, file);
    reader->operators = arena_array(&work->keep, DeviceOperator, ini->section_count);
    device->operators = reader->operators;
    device->dtypes = UINT64_MAX;
    device->fact = reader->fact;
    bool known = read_sections(reader);
    bool sound = read_entries(reader) && known;
    sound = check_present(reader) && sound;
    sound = device_find_memories(work, device, reader->has_kind) && sound;
    sound = sound && device_check_together(work, device);
    diags_sort(&work->diags, before);
    if (!sound) {
        return NULL;
    }
    take_reserved(device);
    return device;
}
