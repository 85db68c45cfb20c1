/* The JSON of a plan as a side of a comparison. Keys that it does not need are skipped, whatever they hold; what it
 * needs must be there, and must hold together: a file that was edited by hand is told so, not compared. */
#include "ledger/side.h"

#include "base/json_read.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

typedef struct {
    JsonReader json;
    Work *work;
    Side *side;
    size_t buffer_capacity, output_capacity;
    bool has_schema, has_peak, has_buffers, has_steps;
    bool is_arena;
    uint64_t behind[2], behind_capacity[2]; /* of flash and of far memory */
    uint64_t schema;
    const char *lacks; /* a key that a record does not have; null */
} Reader;

bool side_is_json(Span bytes) {
    Str text = str_trim((Str){(const char *)bytes.ptr, bytes.len});
    bool is_tflite = bytes.len >= 8 && memcmp(bytes.ptr + 4, "TFL3", 4) == 0;
    return !is_tflite && text.len > 0 && text.ptr[0] == '{';
}

static bool read_text(Reader *reader, Str *value) {
    *value = (Str){0};
    return json_read_null(&reader->json) || json_read_str(&reader->json, &reader->work->keep, value);
}

static bool read_u32(Reader *reader, uint32_t *value) {
    uint64_t wide;
    if (!json_read_u64(&reader->json, &wide)) {
        return false;
    }
    if (wide >= UINT32_MAX) {
        reader->json.what = "a whole number below 4294967295";
        return false;
    }
    *value = (uint32_t)wide;
    return true;
}

static bool read_shape(Reader *reader, Shape *shape) {
    JsonReader *json = &reader->json;
    *shape = (Shape){0};
    json_read_array(json);
    while (json_read_item(json)) {
        if (shape->rank == SHAPE_MAX_RANK) {
            json->what = "at most 8 extents";
            return false;
        }
        if (!json_read_i64(json, &shape->dim[shape->rank++])) {
            return false;
        }
    }
    return json->what == NULL;
}

/* A record must have all keys of a list: bit k of `seen` for key k. */
static bool has_all(Reader *reader, uint32_t seen, const char *const *keys, size_t count) {
    for (size_t k = 0; k < count && reader->json.what == NULL; k++) {
        if ((seen >> k & 1) == 0) {
            reader->lacks = keys[k];
            reader->json.what = "a key that the plan's JSON has";
        }
    }
    return reader->json.what == NULL;
}

static size_t find_key(Str key, const char *const *keys, size_t count) {
    size_t k = 0;
    while (k < count && !str_eq(key, str_from(keys[k]))) {
        k++;
    }
    return k;
}

/* ---- Buffers */

enum { BUFFER_KEYS = 10 };
static const char *const buffer_keys[BUFFER_KEYS] = {"name",          "node",           "dtype",  "kind",  "shape",
                                                     "logical_bytes", "physical_bytes", "memory", "first", "last"};

static bool read_kind(Reader *reader, BufferKind *kind) {
    Str name;
    if (!json_read_str(&reader->json, &reader->work->keep, &name)) {
        return false;
    }
    for (int k = 0; k < BUFFER_KIND_COUNT; k++) {
        if (str_eq(name, str_from(buffer_kind_name((BufferKind)k)))) {
            *kind = (BufferKind)k;
            return true;
        }
    }
    reader->json.what = "a kind of buffer";
    return false;
}

static bool read_buffer_member(Reader *reader, size_t key, SideBuffer *buffer) {
    Str memory = {0};
    switch (key) {
    case 0:
        return read_text(reader, &buffer->name);
    case 1:
        return read_text(reader, &buffer->node);
    case 2:
        return read_text(reader, &buffer->dtype);
    case 3:
        return read_kind(reader, &buffer->kind);
    case 4:
        return read_shape(reader, &buffer->shape);
    case 5:
        return json_read_u64(&reader->json, &buffer->logical_bytes);
    case 6:
        return json_read_u64(&reader->json, &buffer->physical_bytes);
    case 7:
        (void)read_text(reader, &memory);
        buffer->is_local = str_eq(memory, STR("local"));
        return reader->json.what == NULL;
    case 8:
        return read_u32(reader, &buffer->first);
    case 9:
        return read_u32(reader, &buffer->last);
    default:
        return json_skip(&reader->json);
    }
}

/* Keys that have no place in the list: a form is null of most, a storage is newer than the schema. */
static bool read_link(Reader *reader, Str key, SideBuffer *buffer, bool *has_storage) {
    if (str_eq(key, STR("storage"))) {
        *has_storage = true;
        return read_u32(reader, &buffer->storage);
    }
    buffer->is_form = !json_read_null(&reader->json);
    return !buffer->is_form || json_skip(&reader->json);
}

static bool read_buffer(Reader *reader) {
    Side *side = reader->side;
    uint32_t seen = 0;
    SideBuffer buffer = {0};
    bool has_storage = false;
    Str key;
    json_read_object(&reader->json);
    while (json_read_key(&reader->json, &reader->work->keep, &key)) {
        size_t k = find_key(key, buffer_keys, BUFFER_KEYS);
        bool is_link = str_eq(key, STR("storage")) || str_eq(key, STR("form"));
        seen |= k < BUFFER_KEYS ? 1U << k : 0;
        if (!(is_link ? read_link(reader, key, &buffer, &has_storage) : read_buffer_member(reader, k, &buffer))) {
            return false;
        }
    }
    if (!has_storage && reader->json.what == NULL) {
        return has_all(reader, 0, (const char *const[]){"storage"}, 1);
    }
    side->buffers = arena_grow(&reader->work->keep, side->buffers, side->buffer_count, &reader->buffer_capacity,
                               sizeof *side->buffers);
    side->buffers[side->buffer_count++] = buffer;
    return has_all(reader, seen, buffer_keys, BUFFER_KEYS);
}

static bool read_buffers(Reader *reader) {
    reader->has_buffers = true;
    json_read_array(&reader->json);
    while (json_read_item(&reader->json)) {
        if (!read_buffer(reader)) {
            return false;
        }
    }
    return reader->json.what == NULL;
}

static bool read_steps(Reader *reader) {
    reader->has_steps = true;
    json_read_array(&reader->json);
    while (json_read_item(&reader->json) && json_skip(&reader->json)) {
        reader->side->step_count++;
    }
    return reader->json.what == NULL;
}

/* ---- Model, outputs, what was asked for, totals */

/* A limit; null is none. */
static bool read_limit(Reader *reader, double none, double *limit) {
    *limit = none;
    return json_read_null(&reader->json) || json_read_double(&reader->json, limit);
}

static bool read_output_member(Reader *reader, Str key, SideOutput *output) {
    if (str_eq(key, STR("name"))) {
        return read_text(reader, &output->name);
    }
    if (str_eq(key, STR("dtype"))) {
        return read_text(reader, &output->dtype);
    }
    if (str_eq(key, STR("shape"))) {
        return read_shape(reader, &output->shape);
    }
    if (str_eq(key, STR("lo"))) {
        output->is_ranged = true;
        return read_limit(reader, -INFINITY, &output->lo);
    }
    if (str_eq(key, STR("hi"))) {
        return read_limit(reader, INFINITY, &output->hi);
    }
    if (str_eq(key, STR("scale"))) {
        return read_limit(reader, NAN, &output->scale);
    }
    if (str_eq(key, STR("zero_point"))) {
        return json_read_null(&reader->json) || json_read_i64(&reader->json, &output->zero_point);
    }
    return json_skip(&reader->json);
}

static bool read_outputs(Reader *reader) {
    Side *side = reader->side;
    Str key;
    json_read_array(&reader->json);
    while (json_read_item(&reader->json)) {
        SideOutput output = {.lo = -INFINITY, .hi = INFINITY, .scale = NAN};
        json_read_object(&reader->json);
        while (json_read_key(&reader->json, &reader->work->keep, &key)) {
            if (!read_output_member(reader, key, &output)) {
                return false;
            }
        }
        side->outputs = arena_grow(&reader->work->keep, side->outputs, side->output_count, &reader->output_capacity,
                                   sizeof *side->outputs);
        side->outputs[side->output_count++] = output;
    }
    return reader->json.what == NULL;
}

static bool read_model(Reader *reader) {
    Str key, file = {0};
    json_read_object(&reader->json);
    while (json_read_key(&reader->json, &reader->work->keep, &key)) {
        bool ok = str_eq(key, STR("file"))      ? read_text(reader, &file)
                  : str_eq(key, STR("nodes"))   ? json_read_u64(&reader->json, &reader->side->nodes)
                  : str_eq(key, STR("outputs")) ? read_outputs(reader)
                                                : json_skip(&reader->json);
        if (!ok) {
            return false;
        }
    }
    reader->side->file = arena_str(&reader->work->keep, file).ptr;
    return reader->json.what == NULL;
}

static bool read_options(Reader *reader) {
    Arena *keep = &reader->work->keep;
    const char **options = NULL;
    size_t count = 0, capacity = 0;
    Str text;
    json_read_array(&reader->json);
    while (json_read_item(&reader->json)) {
        if (!json_read_str(&reader->json, keep, &text)) {
            return false;
        }
        options = arena_grow(keep, options, count, &capacity, sizeof *options);
        options[count++] = arena_str(keep, text).ptr;
    }
    options = arena_grow(keep, options, count, &capacity, sizeof *options);
    options[count] = NULL;
    reader->side->options = options;
    return reader->json.what == NULL;
}

static bool read_request(Reader *reader) {
    Str key, device = {0};
    if (json_read_null(&reader->json)) {
        return true;
    }
    json_read_object(&reader->json);
    while (json_read_key(&reader->json, &reader->work->keep, &key)) {
        bool ok = str_eq(key, STR("device"))    ? read_text(reader, &device)
                  : str_eq(key, STR("options")) ? read_options(reader)
                                                : json_skip(&reader->json);
        if (!ok) {
            return false;
        }
    }
    reader->side->request_device = device.len == 0 ? NULL : arena_str(&reader->work->keep, device).ptr;
    return reader->json.what == NULL;
}

static bool read_device(Reader *reader) {
    Str key, kind = {0};
    json_read_object(&reader->json);
    while (json_read_key(&reader->json, &reader->work->keep, &key)) {
        bool ok = str_eq(key, STR("name"))   ? read_text(reader, &reader->side->device)
                  : str_eq(key, STR("kind")) ? read_text(reader, &kind)
                                             : json_skip(&reader->json);
        if (!ok) {
            return false;
        }
    }
    reader->is_arena = str_eq(kind, STR("arena"));
    return reader->json.what == NULL;
}

static bool read_totals(Reader *reader) {
    enum { NEEDED = 5, ALL = 7 };
    static const char *const keys[ALL] = {"peak_live_bytes", "placed_bytes",         "capacity_bytes",    "flash_bytes",
                                          "far_bytes",       "flash_capacity_bytes", "far_capacity_bytes"};
    uint64_t *const figures[ALL] = {&reader->side->peak_live_bytes,
                                    &reader->side->placed_bytes,
                                    &reader->side->capacity_bytes,
                                    &reader->behind[0],
                                    &reader->behind[1],
                                    &reader->behind_capacity[0],
                                    &reader->behind_capacity[1]};
    uint32_t seen = 0;
    Str key;
    reader->has_peak = true;
    json_read_object(&reader->json);
    while (json_read_key(&reader->json, &reader->work->keep, &key)) {
        size_t k = find_key(key, keys, ALL);
        bool is_unbounded = k >= NEEDED && k < ALL && json_read_null(&reader->json);
        seen |= k < ALL ? 1U << k : 0;
        if (!is_unbounded && !(k < ALL ? json_read_u64(&reader->json, figures[k]) : json_skip(&reader->json))) {
            return false;
        }
    }
    return has_all(reader, seen, keys, NEEDED);
}

static bool read_further(Reader *reader) {
    Side *side = reader->side;
    Str key;
    json_read_array(&reader->json);
    while (json_read_item(&reader->json)) {
        SideFurther further = {.capacity_bytes = UINT64_MAX};
        json_read_object(&reader->json);
        while (json_read_key(&reader->json, &reader->work->keep, &key)) {
            bool ok = str_eq(key, STR("memory"))         ? read_text(reader, &further.name)
                      : str_eq(key, STR("placed_bytes")) ? json_read_u64(&reader->json, &further.placed_bytes)
                      : str_eq(key, STR("capacity_bytes"))
                          ? json_read_null(&reader->json) || json_read_u64(&reader->json, &further.capacity_bytes)
                          : json_skip(&reader->json);
            if (!ok) {
                return false;
            }
        }
        if (side->further_count == DEVICE_MAX_MEMORIES) {
            reader->json.what = "as many memories as a device may have";
            return false;
        }
        side->further[side->further_count++] = further;
    }
    return reader->json.what == NULL;
}

static bool read_member(Reader *reader, Str key) {
    static const struct {
        const char *key;
        bool (*read)(Reader *reader);
    } parts[] = {{"model", read_model},   {"request", read_request},  {"device", read_device},
                 {"totals", read_totals}, {"overflow", read_further}, {"buffers", read_buffers},
                 {"steps", read_steps}};
    if (str_eq(key, STR("schema"))) {
        reader->has_schema = true;
        return json_read_u64(&reader->json, &reader->schema);
    }
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++) {
        if (str_eq(key, str_from(parts[k].key))) {
            return parts[k].read(reader);
        }
    }
    return json_skip(&reader->json);
}

/* A device has one of both. */
static void choose_backing(Reader *reader) {
    uint32_t which = reader->is_arena ? 0 : 1;
    reader->side->backing = reader->is_arena ? STR("flash") : STR("far");
    reader->side->backing_bytes = reader->behind[which];
    reader->side->backing_capacity_bytes = reader->behind_capacity[which];
}

/* ---- What must hold together */

static const char *contradiction(const Side *side, Work *work) {
    Arena *keep = &work->keep;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < side->buffer_count; i++) {
        const SideBuffer *buffer = &side->buffers[i];
        if (buffer->first > buffer->last || buffer->last > side->step_count) {
            return arena_text(keep, "the range of buffer %" PRIu32 " is not one of its steps", i);
        }
        const SideBuffer *root = buffer->storage < side->buffer_count ? &side->buffers[buffer->storage] : NULL;
        if (root == NULL || root->storage != buffer->storage || root->is_local != buffer->is_local) {
            return arena_text(keep, "the storage of buffer %" PRIu32 " is none", i);
        }
        if ((buffer->physical_bytes | side->placed_bytes | side->backing_bytes) >> 62 != 0 ||
            (sum += buffer->physical_bytes) >> 62 != 0) {
            return "its bytes are more than 2^62";
        }
    }
    for (uint32_t k = 0; k < side->further_count; k++) {
        if (side->further[k].placed_bytes >> 62 != 0) {
            return "its bytes are more than 2^62";
        }
    }
    uint64_t peak = side_peak(side, &work->scratch);
    if (peak != side->peak_live_bytes) {
        return arena_text(keep, "%" PRIu64 " bytes are alive at most, and its peak_live_bytes is %" PRIu64, peak,
                          side->peak_live_bytes);
    }
    return side->placed_bytes < peak ? "its placed_bytes is less than its peak_live_bytes" : NULL;
}

static const char *lacking(const Reader *reader) {
    return !reader->has_schema    ? "no key schema"
           : reader->schema != 1  ? "another schema"
           : !reader->has_peak    ? "no key totals"
           : !reader->has_buffers ? "no key buffers"
           : !reader->has_steps   ? "no key steps"
                                  : NULL;
}

const Side *side_read(Span bytes, const char *path, Work *work) {
    Reader reader = {.json = json_reader(bytes),
                     .work = work,
                     .side = arena_new(&work->keep, Side),
                     .behind_capacity = {UINT64_MAX, UINT64_MAX}};
    DiagText wrong = {.what = "the file is no plan that stride0 plan --json wrote"};
    bool is_other = false;
    Str key;
    reader.side->file = "";
    reader.side->plan_file = path;
    work->diags.file = path;
    json_read_object(&reader.json);
    while (!is_other && json_read_key(&reader.json, &work->keep, &key) && read_member(&reader, key)) {
        is_other = reader.has_schema && reader.schema != 1;
    }
    choose_backing(&reader);
    bool is_read = is_other || json_read_end(&reader.json);
    wrong.hint = "write it anew: stride0 plan MODEL -d DEVICE --json FILE";
    if (!is_read) {
        wrong.place = arena_text(&work->keep, "byte %zu", reader.json.at);
        wrong.got = reader.json.at >= bytes.len ? "the end of the file" : NULL;
        wrong.expected = reader.lacks != NULL ? arena_text(&work->keep, "the key %s", reader.lacks) : reader.json.what;
    } else if (lacking(&reader) != NULL) {
        wrong.got = is_other ? arena_text(&work->keep, "schema %" PRIu64, reader.schema) : lacking(&reader);
        wrong.expected = "schema 1, totals, buffers and steps";
    } else {
        wrong.got = contradiction(reader.side, work);
    }
    bool is_sound = is_read && lacking(&reader) == NULL && wrong.got == NULL;
    return is_sound || diag_error(&work->diags, wrong) ? reader.side : NULL;
}
