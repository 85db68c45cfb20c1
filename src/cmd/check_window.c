/* The invariants of what goes over windows of src: no index of any operand passes 63 bits, groups have channels, types
 * are those of the products. */
#include "base/checked.h"
#include "cmd/check.h"
#include "cmd/parts.h"

enum { AXIS_N, AXIS_C, AXIS_H, AXIS_W, AXIS_O, AXIS_I };

/* What codes are multiplied: no sum of products passes 64 bits. */
static bool is_factor(DType dtype) {
    int32_t lo, hi;
    return stage_code_range(dtype, &lo, &hi) && dtype_bits(dtype) <= 8;
}

static bool is_code_of(int64_t code, DType dtype) {
    int32_t lo, hi;
    return stage_code_range(dtype, &lo, &hi) && code >= lo && code <= hi;
}

/* ---- Windows */

static bool slide_fits(const CmdSlide *slide, uint64_t outputs) {
    uint64_t last, dilated;
    return slide->before > INT64_MIN / 2 && slide->before < INT64_MAX / 2 && slide->extent <= INT64_MAX &&
           checked_mul(outputs == 0 ? 0 : outputs - 1, slide->stride, &last) &&
           checked_mul(slide->taps - 1, slide->dilation, &dilated) && checked_add(last, dilated, &last) &&
           last < INT64_MAX / 2;
}

static const char *check_slide(const CmdSlide *slide, uint64_t outputs) {
    if (slide->taps == 0 || slide->stride == 0 || slide->dilation == 0) {
        return "taps, stride or dilation is 0";
    }
    return slide_fits(slide, outputs) ? NULL : "an index of the window does not fit 63 bits";
}

/* `channels` of src. */
static const char *check_groups(const CmdWindow *window, uint64_t outputs, uint64_t *channels) {
    uint64_t end;
    if (window->group_src == 0 || window->group_dst == 0) {
        return "a group has no channels";
    }
    if (window->group_first >= window->group_dst) {
        return "group.first is not below group.dst";
    }
    bool fits = checked_add(window->group_first, outputs == 0 ? 0 : outputs - 1, &end) &&
                checked_mul(end / window->group_dst + 1, window->group_src, channels);
    return fits ? NULL : "the channels of src do not fit 64 bits";
}

static bool products_fit(const Command *command) {
    const CmdWindow *window = command->window;
    uint64_t count = 1;
    bool fits = checked_mul(window->h.taps, window->w.taps, &count) && checked_mul(count, window->group_src, &count);
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        uint64_t extent = command->box.extent[axis];
        fits = fits && checked_mul(count, extent == 0 ? 1 : extent, &count);
    }
    return fits;
}

static const char *check_indices(const CmdCheck *check, const Command *command) {
    const CmdWindow *window = command->window;
    const uint64_t *extent = command->box.extent;
    CmdBox src = {{extent[AXIS_N], 0, window->h.extent, window->w.extent, 1, 1}};
    if (extent[AXIS_O] != 1 || extent[AXIS_I] != 1) {
        return "its box goes along axes of weights";
    }
    const char *fault = cmd_fault_of(check, "h", check_slide(&window->h, extent[AXIS_H]));
    fault = fault != NULL ? fault : cmd_fault_of(check, "w", check_slide(&window->w, extent[AXIS_W]));
    fault = fault != NULL ? fault : check_groups(window, extent[AXIS_C], &src.extent[AXIS_C]);
    if (fault == NULL && !products_fit(command)) {
        fault = "its products do not fit 64 bits";
    }
    return fault != NULL ? fault : cmd_fault_of(check, "src", cmd_check_operand(check, &command->src, &src, 0));
}

/* ---- Products */

static const char *check_weights(const CmdCheck *check, const Command *command) {
    const CmdWindow *window = command->window;
    CmdBox box = {{1, 1, window->h.taps, window->w.taps, command->box.extent[AXIS_C], window->group_src}};
    const char *fault = cmd_check_operand(check, &command->weights, &box, 0);
    if (fault != NULL) {
        return fault;
    }
    DType dtype = check->program->buffers[command->weights.buffer].dtype;
    if (!is_factor(dtype)) {
        return "they are no codes of at most 8 bits";
    }
    return is_code_of(window->weights_zero, dtype) ? NULL : "their zero point is no code of theirs";
}

static const char *check_bias(const CmdCheck *check, const Command *command) {
    CmdBox box = {{1, command->box.extent[AXIS_C], 1, 1, 1, 1}};
    if (command->bias.buffer == CMD_NONE) {
        return NULL;
    }
    const char *fault = cmd_check_operand(check, &command->bias, &box, 0);
    bool is_sum = fault == NULL && check->program->buffers[command->bias.buffer].dtype == DTYPE_I32;
    return fault != NULL || is_sum ? fault : "it is no int32";
}

static const char *check_conv(const CmdCheck *check, const Command *command, DType src) {
    const CmdWindow *window = command->window;
    bool has_scales = window->scale_count == 1 || window->scale_count == command->box.extent[AXIS_C];
    if (!is_code_of(window->src_zero, src)) {
        return "src: its zero point is no code of its type";
    }
    if (!has_scales || (window->scale_count > 0 && window->scales == NULL)) {
        return "the scales are not one, and not one a channel";
    }
    const char *fault = cmd_fault_of(check, "weights", check_weights(check, command));
    return fault != NULL ? fault : cmd_fault_of(check, "bias", check_bias(check, command));
}

static const char *check_pool(const CmdWindow *window) {
    bool is_apart = window->group_src == 1 && window->group_dst == 1;
    bool is_plain = window->src_zero == 0 && window->weights_zero == 0 && window->scale_count == 0;
    return is_apart && is_plain ? NULL : "pools and PAD have neither groups nor zero points nor scales";
}

static bool is_one(const CmdSlide *slide) {
    return slide->taps == 1 && slide->stride == 1 && slide->dilation == 1 && slide->before == 0;
}

static const char *check_softmax(const Command *command) {
    const CmdWindow *window = command->window;
    bool has_rows = window->group_src == window->group_dst && window->group_first == 0 &&
                    command->box.extent[AXIS_C] % window->group_dst == 0;
    bool is_plain = window->src_zero == 0 && window->weights_zero == 0 && is_one(&window->h) && is_one(&window->w);
    if (!has_rows || !is_plain || window->h.extent < command->box.extent[AXIS_H] ||
        window->w.extent < command->box.extent[AXIS_W]) {
        return "SOFTMAX goes over whole groups of channels, index by index";
    }
    return window->scale_count == 1 && window->scales != NULL ? NULL : "SOFTMAX has one scale, beta";
}

static const char *check_sum(const CmdWindow *window, DType src) {
    if (window->weights_zero != 0 || window->scale_count != 0) {
        return "a sum has neither weights nor scales";
    }
    return is_code_of(window->src_zero, src) ? NULL : "src: its zero point is no code of its type";
}

static const char *check_made(const CmdCheck *check, const Command *command, DType src) {
    switch (command->op) {
    case CMD_SUM:
        return check_sum(command->window, src);
    case CMD_CONV:
        return check_conv(check, command, src);
    case CMD_SOFTMAX:
        return check_softmax(command);
    default:
        return check_pool(command->window);
    }
}

/* ---- The stage */

/* Elements go as they are, and have no stage. */
static const char *check_pad(const CmdCheck *check, const Command *command, DType src) {
    uint32_t bits = dtype_bits(check->program->buffers[command->dst.buffer].dtype);
    const CmdWindow *window = command->window;
    const char *fault = check_pool(window);
    if (fault != NULL || command->stage_count > 0) {
        return fault != NULL ? fault : "PAD has stages";
    }
    if (window->h.taps != 1 || window->w.taps != 1 || dtype_bits(src) != bits || bits > 64) {
        return "PAD takes one element for each, of the same bits, 64 at most";
    }
    return bits == 64 || command->code >> bits == 0 ? NULL : "the code has more bits than an element";
}

static const char *check_stage(const CmdCheck *check, const Command *command, DType src) {
    bool is_conv = command->op == CMD_CONV || command->op == CMD_SUM;
    DType dst = check->program->buffers[command->dst.buffer].dtype;
    if ((uint32_t)command->semantics >= S0_SEM_COUNT) {
        return "its semantics are none of those there are";
    }
    if (command->stage_count != 1 || command->stages == NULL || command->stages[0].param_count > 0) {
        return "it has not one stage without parameters";
    }
    if (command->carry != CMD_CARRY_NONE || command->scratch.buffer != CMD_NONE) {
        return "one stage carries nothing";
    }
    const Stage *stage = &command->stages[0].stage;
    if (stage->kind != (is_conv ? STAGE_ACC_REQUANTIZE : STAGE_CODE_CLIP)) {
        return is_conv ? "its stage is not ACC_REQUANTIZE" : "its stage is not CODE_CLIP";
    }
    int32_t lo, hi;
    bool goes = stage->from == (is_conv ? DTYPE_I32 : src) && stage->to == dst && stage_code_range(dst, &lo, &hi);
    return goes && (is_conv || src == dst) ? NULL : "its stage does not go from what is summed to dst";
}

const char *cmd_check_window(const CmdCheck *check, const Command *command) {
    if (command->window == NULL) {
        return "it has no window";
    }
    const char *fault = check_indices(check, command);
    if (fault != NULL) {
        return fault;
    }
    DType src = check->program->buffers[command->src.buffer].dtype;
    if (command->op == CMD_PAD) {
        return check_pad(check, command, src);
    }
    if (!is_factor(src)) {
        return "src: its elements are no codes of at most 8 bits";
    }
    fault = check_made(check, command, src);
    return fault != NULL ? fault : check_stage(check, command, src);
}
