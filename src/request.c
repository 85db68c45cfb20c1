/* From words to a Request. Nothing of the model or the device is known here. */
#include "request.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

const char *const request_strategies[] = {
    [STRATEGY_AUTO] = "auto", [STRATEGY_SCALAR] = "scalar", [STRATEGY_CHANNEL] = "channel",
    [STRATEGY_ROW] = "row",   [STRATEGY_FULL] = "full",     NULL};

const char *const request_schedules[] = {[SCHEDULE_AUTO] = "auto",
                                         [SCHEDULE_FUSED] = "fused",
                                         [SCHEDULE_SPLIT] = "split",
                                         [SCHEDULE_PIPELINED] = "pipelined",
                                         NULL};

const char *const request_expands[] = {"auto", "before", NULL};

const char *const request_orders[] = {"file", "memory", NULL};

const char *const request_parameters[] = {
    [PARAMETERS_AUTO] = "auto", [PARAMETERS_RESIDENT] = "resident", [PARAMETERS_RELOADED] = "reloaded", NULL};

bool request_bad_value(Work *work, const char *option, const char *got, const char *expected) {
    return diag_error(&work->diags, (DiagText){.place = arena_text(&work->keep, "option %s", option),
                                               .what = "the value can't be used",
                                               .got = got,
                                               .expected = expected});
}

static size_t count_texts(const char *const *texts) {
    size_t count = 0;
    while (texts != NULL && texts[count] != NULL) {
        count++;
    }
    return count;
}

/* Cuts "name=value" at the last '=', for names of tensors may have some. False where there is none or a part is empty.
 */
static bool split_binding(const char *text, Str *name, Str *value) {
    Str whole = str_from(text);
    size_t end = whole.len;
    while (end > 0 && whole.ptr[end - 1] != '=') {
        end--;
    }
    if (end <= 1 || end == whole.len) {
        return false;
    }
    *name = (Str){whole.ptr, end - 1};
    *value = (Str){whole.ptr + end, whole.len - end};
    return true;
}

/* A batch of 0 is legal, and rarely meant. */
static void warn_of_zero(const char *text, const DimBinding *dim, Work *work) {
    if (dim->value == 0) {
        diag_warn(&work->diags, (DiagText){.place = "option --dim",
                                           .what = "the dimension is 0: its tensors have no element, and take no byte",
                                           .got = text,
                                           .hint = "give 1 or more to see what the model needs"});
    }
}

static bool read_dims(const char *const *texts, Request *request, Work *work) {
    size_t count = count_texts(texts);
    request->dims = arena_array(&work->keep, DimBinding, count);
    for (size_t i = 0; i < count; i++) {
        if (!dim_binding_parse(str_from(texts[i]), &request->dims[i], &work->diags)) {
            return false;
        }
        warn_of_zero(texts[i], &request->dims[i], work);
    }
    request->dim_count = count;
    return true;
}

static bool read_layouts(const char *const *texts, Request *request, Work *work) {
    size_t count = count_texts(texts);
    request->layouts = arena_array(&work->keep, LayoutBinding, count);
    for (size_t i = 0; i < count; i++) {
        Str tensor = {0};
        Str order = {0};
        bool is_binding = split_binding(texts[i], &tensor, &order);
        bool is_channel_second = str_eq(order, STR("NCHW"));
        if (!is_binding || (!is_channel_second && !str_eq(order, STR("NHWC")))) {
            return request_bad_value(work, "--layout", texts[i], "TENSOR=NCHW or TENSOR=NHWC");
        }
        request->layouts[i] = (LayoutBinding){.tensor = tensor, .is_channel_second = is_channel_second};
    }
    request->layout_count = count;
    return true;
}

static bool is_bound(const PlanOptions *plan, Str tensor) {
    for (size_t i = 0; i < plan->axis_count; i++) {
        if (str_eq(plan->axes[i].tensor, tensor)) {
            return true;
        }
    }
    return false;
}

static bool read_axes(const char *const *texts, PlanOptions *plan, Work *work) {
    size_t count = count_texts(texts);
    plan->axes = arena_array(&work->keep, AxisBinding, count);
    for (size_t i = 0; i < count; i++) {
        Str tensor = {0};
        Str axis = {0};
        uint64_t number = 0;
        if (!split_binding(texts[i], &tensor, &axis) || !str_to_u64(axis, &number) || number >= SHAPE_MAX_RANK) {
            return request_bad_value(work, "--axis", texts[i],
                                     "TENSOR=K, K the axis of the map, counted from 0 and below 8");
        }
        if (is_bound(plan, tensor)) {
            return request_bad_value(work, "--axis", texts[i], "one axis for a tensor");
        }
        plan->axes[plan->axis_count++] = (AxisBinding){.tensor = tensor, .axis = (int32_t)number};
    }
    return true;
}

static bool read_heuristic(const char *name, PlanOptions *plan, Work *work) {
    if (name == NULL) {
        return true;
    }
    if (strcmp(name, "size") != 0) {
        return request_bad_value(work, "--axis-heuristic", name, "size");
    }
    plan->axis_by_size = true;
    diag_warn(
        &work->diags,
        (DiagText){.place = "--axis-heuristic size",
                   .what =
                       "axes may be read by size. Priority: --axis, the operator's definition, aligned position, and "
                       "only for a vector of an unknown operator the one axis of its output with as many "
                       "elements; two such axes are refused"});
    return true;
}

/* The place of `name` in a list that NULL ends; its first for none. */
static bool read_word(const char *option, const char *const *words, const char *name, int *index, Work *work) {
    const char *list = "";
    *index = 0;
    for (int i = 0; name != NULL && words[i] != NULL; i++) {
        if (strcmp(words[i], name) == 0) {
            *index = i;
            return true;
        }
        list = arena_text(&work->keep, "%s%s%s", list, i == 0 ? "" : ", ", words[i]);
    }
    return name == NULL || request_bad_value(work, option, name, list);
}

static bool read_words(const s0_plan_options *options, PlanOptions *plan, Work *work) {
    int strategy, schedule, parameters, expand, order;
    bool done = read_word("--strategy", request_strategies, options->strategy, &strategy, work) &&
                read_word("--schedule", request_schedules, options->schedule, &schedule, work) &&
                read_word("--parameters", request_parameters, options->parameters, &parameters, work) &&
                read_word("--expand", request_expands, options->expand, &expand, work) &&
                read_word("--order", request_orders, options->order, &order, work);
    plan->strategy = done ? (Strategy)strategy : STRATEGY_AUTO;
    plan->schedule = done ? (Schedule)schedule : SCHEDULE_AUTO;
    plan->expand_before = done && expand == 1;
    plan->order_memory = done && order == 1;
    plan->parameters = done ? (Parameters)parameters : PARAMETERS_AUTO;
    return done;
}

static bool read_tile(const char *tile, PlanOptions *plan, Work *work) {
    plan->whole_tiles = tile != NULL && strcmp(tile, "none") == 0;
    if (tile == NULL || plan->whole_tiles || strcmp(tile, "auto") == 0) {
        return true;
    }
    const char *cross = strchr(tile, 'x');
    Str rows = {tile, cross == NULL ? strlen(tile) : (size_t)(cross - tile)};
    bool ok = str_to_u64(rows, &plan->tile_rows) && plan->tile_rows > 0 &&
              (cross == NULL || (str_to_u64(str_from(cross + 1), &plan->tile_channels) && plan->tile_channels > 0));
    return ok || request_bad_value(work, "--tile", tile,
                                   "auto, none, ROWS or ROWSxCHANNELS, each from 1 to 18446744073709551615");
}

static bool check_model(const char *model, Work *work) {
    return model != NULL || diag_error(&work->diags, (DiagText){.what = "the model is missing",
                                                                .expected = "the path of an ONNX or TFLite file"});
}

static bool check_device(const char *device, Work *work) {
    Arena *arena = &work->keep;
    return device != NULL ||
           diag_error(&work->diags,
                      (DiagText){.what = "the device is missing",
                                 .expected = arena_text(arena, "-d DEVICE: %s, or the path of a device file",
                                                        device_preset_names(arena)),
                                 .hint = "stride0 devices describes them"});
}

bool request_read(const s0_plan_options *options, Request *request, Work *work) {
    *request = (Request){.model = options->model,
                         .device = options->device,
                         .qdq_float = options->qdq_float,
                         .as_filed = options->as_filed};
    request->plan = (PlanOptions){.in_place = !options->no_in_place,
                                  .pin_inputs = options->pin_inputs,
                                  .pin_outputs = options->pin_outputs,
                                  .budget_bytes = options->budget_bytes};
    return check_model(options->model, work) && read_words(options, &request->plan, work) &&
           read_tile(options->tile, &request->plan, work) && read_axes(options->axes, &request->plan, work) &&
           read_heuristic(options->axis_heuristic, &request->plan, work) && read_dims(options->dims, request, work) &&
           read_layouts(options->layouts, request, work);
}

bool request_read_plan(const s0_plan_options *options, Request *request, Work *work) {
    return check_model(options->model, work) && check_device(options->device, work) &&
           request_read(options, request, work);
}

/* ---- A Request to words */

typedef struct {
    Arena *arena;
    size_t count, capacity;
    const char **item; /* ended by null */
} Words;

static void add_end(Words *words) {
    words->item = arena_grow(words->arena, words->item, words->count, &words->capacity, sizeof *words->item);
    words->item[words->count] = NULL;
}

static __attribute__((format(printf, 3, 4))) void add_word(Words *words, bool is_asked, const char *format, ...) {
    va_list args;
    va_start(args, format);
    if (is_asked) {
        words->item[words->count++] = arena_vtext(words->arena, format, args);
        add_end(words);
    }
    va_end(args);
}

static void add_tile(Words *words, const PlanOptions *plan) {
    add_word(words, plan->whole_tiles, "--tile=none");
    if (plan->tile_channels > 0) {
        add_word(words, true, "--tile=%" PRIu64 "x%" PRIu64, plan->tile_rows, plan->tile_channels);
    } else {
        add_word(words, plan->tile_rows > 0, "--tile=%" PRIu64, plan->tile_rows);
    }
}

/* What the graph is that is planned. */
static void add_bindings(Words *words, const Request *request) {
    for (size_t i = 0; i < request->dim_count; i++) {
        const DimBinding *dim = &request->dims[i];
        const char *axis = dim->axis < 0 ? "" : arena_text(words->arena, ":%" PRId32, dim->axis);
        add_word(words, true, "--dim=" STR_FMT "%s=%" PRId64, STR_ARG(dim->name), axis, dim->value);
    }
    for (size_t i = 0; i < request->layout_count; i++) {
        const LayoutBinding *layout = &request->layouts[i];
        add_word(words, true, "--layout=" STR_FMT "=%s", STR_ARG(layout->tensor),
                 layout->is_channel_second ? "NCHW" : "NHWC");
    }
    for (size_t i = 0; i < request->plan.axis_count; i++) {
        const AxisBinding *axis = &request->plan.axes[i];
        add_word(words, true, "--axis=" STR_FMT "=%" PRId32, STR_ARG(axis->tensor), axis->axis);
    }
    add_word(words, request->plan.axis_by_size, "--axis-heuristic=size");
    add_word(words, request->qdq_float, "--qdq=float");
    add_word(words, request->as_filed, "--simplify=none");
}

const char *const *request_texts(const Request *request, Arena *arena) {
    Words words = {.arena = arena};
    const PlanOptions *plan = &request->plan;
    add_end(&words);
    add_bindings(&words, request);
    add_word(&words, plan->strategy != STRATEGY_AUTO, "--strategy=%s", request_strategies[plan->strategy]);
    add_word(&words, plan->expand_before, "--expand=before");
    add_word(&words, plan->pin_inputs, "--pin-inputs");
    add_word(&words, plan->pin_outputs, "--pin-outputs");
    add_word(&words, !plan->in_place, "--inplace=none");
    add_word(&words, plan->order_memory, "--order=memory");
    add_word(&words, plan->parameters != PARAMETERS_AUTO, "--parameters=%s", request_parameters[plan->parameters]);
    add_word(&words, plan->schedule != SCHEDULE_AUTO, "--schedule=%s", request_schedules[plan->schedule]);
    add_tile(&words, plan);
    add_word(&words, plan->budget_bytes > 0, "--budget=%" PRIu64, plan->budget_bytes);
    return words.item;
}
