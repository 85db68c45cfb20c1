/* Windows that slide: read from attributes with their checks, and counted. */
#include "graph/infer_window.h"

bool infer_need_spatial(Infer *in, const Value *x, uint32_t k) {
    return x->shape.rank >= 3 || infer_error(in, k, "the value has no spatial axis", infer_shape_text(in, &x->shape),
                                             "batch, channels and at least one spatial axis");
}

/* `count` numbers of attribute `name` between `least` and ATTR_MAX; all `absent` where there is none. */
static bool read_numbers(Infer *in, const char *name, uint32_t count, int64_t absent, int64_t *number) {
    Ints ints;
    IntsState state = infer_attr_ints(in, name, &ints);
    if (state == INTS_KNOWN && ints.count != count) {
        return infer_error(in, 0, arena_text(&in->work->keep, "attribute '%s' does not fit the input", name),
                           arena_text(&in->work->keep, "%u numbers", ints.count),
                           arena_text(&in->work->keep, "%u", count));
    }
    for (uint32_t k = 0; k < count; k++) {
        number[k] = state == INTS_KNOWN ? ints.at[k] : absent;
        if (number[k] < (absent > 0) || number[k] > ATTR_MAX) {
            return infer_error(in, 0, arena_text(&in->work->keep, "attribute '%s' is out of range", name),
                               arena_text(&in->work->keep, "%lld", (long long)number[k]),
                               absent > 0 ? "1 to 2^31" : "0 to 2^31");
        }
    }
    return true;
}

static bool read_mode(Infer *in, PadMode *mode) {
    static const struct {
        const char *word;
        PadMode mode;
    } modes[] = {{"NOTSET", PAD_EXPLICIT},
                 {"", PAD_EXPLICIT},
                 {"SAME_UPPER", PAD_SAME_UPPER},
                 {"SAME_LOWER", PAD_SAME_LOWER},
                 {"VALID", PAD_VALID}};
    Str word = node_str(in->node, "auto_pad");
    for (size_t k = 0; k < sizeof modes / sizeof modes[0]; k++) {
        if (str_eq(word, str_from(modes[k].word))) {
            *mode = modes[k].mode;
            return true;
        }
    }
    return infer_error(in, 0, "attribute 'auto_pad' is unknown", arena_str(&in->work->keep, word).ptr,
                       "NOTSET, SAME_UPPER, SAME_LOWER or VALID");
}

static bool read_kernel(Infer *in, const int64_t *kernel, Window *window) {
    Ints ints;
    if (kernel == NULL && infer_attr_ints(in, "kernel_shape", &ints) == INTS_ABSENT) {
        return infer_error(in, 0, "attribute 'kernel_shape' is missing", NULL, "one extent a spatial axis");
    }
    if (!read_numbers(in, "kernel_shape", window->rank, 1, window->kernel)) {
        return false;
    }
    bool is_stated = infer_attr_ints(in, "kernel_shape", &ints) == INTS_KNOWN;
    for (uint32_t k = 0; kernel != NULL && k < window->rank; k++) {
        if (is_stated && window->kernel[k] != kernel[k]) {
            return infer_error(in, 1, "attribute 'kernel_shape' contradicts the weights",
                               arena_text(&in->work->keep, "%lld", (long long)window->kernel[k]),
                               arena_text(&in->work->keep, "%lld", (long long)kernel[k]));
        }
        if (kernel[k] < 1 || kernel[k] > ATTR_MAX) {
            return infer_error(in, 1, "the kernel's extent is out of range",
                               arena_text(&in->work->keep, "%lld", (long long)kernel[k]), "1 to 2^31");
        }
        window->kernel[k] = kernel[k];
    }
    return true;
}

bool window_read(Infer *in, uint32_t rank, const int64_t *kernel, Window *window) {
    *window = (Window){.rank = rank, .ceil = node_int(in->node, "ceil_mode", 0) != 0};
    return read_mode(in, &window->mode) && read_kernel(in, kernel, window) &&
           read_numbers(in, "strides", rank, 1, window->stride) &&
           read_numbers(in, "dilations", rank, 1, window->dilation) &&
           read_numbers(in, "pads", 2 * rank, 0, window->pad);
}

bool window_count(Infer *in, const Window *window, uint32_t k, int64_t extent, int64_t *count) {
    int64_t stride = window->stride[k];
    if (window->mode == PAD_SAME_UPPER || window->mode == PAD_SAME_LOWER) {
        *count = extent / stride + (extent % stride != 0);
        return true;
    }
    int64_t begin = window->mode == PAD_VALID ? 0 : window->pad[k];
    int64_t end = window->mode == PAD_VALID ? 0 : window->pad[window->rank + k];
    int64_t reach = (window->kernel[k] - 1) * window->dilation[k] + 1;
    int64_t room = extent + begin + end - reach;
    if (extent == 0) {
        *count = 0;
        return true;
    }
    if (room < 0) {
        return infer_error(in, 0,
                           arena_text(&in->work->keep, "the window is larger than spatial axis %u with its pads", k),
                           arena_text(&in->work->keep, "a window of %lld", (long long)reach),
                           arena_text(&in->work->keep, "at most %lld", (long long)(extent + begin + end)));
    }
    *count = room / stride + 1;
    bool starts_inside = (*count) * stride < extent + begin;
    if (window->ceil && room % stride != 0 && starts_inside) {
        (*count)++;
    }
    return true;
}
