/* Programs by chance: buffers with random blocked, padded and laned views of all widths that sometimes overlap, moves
 * and chains of stages over parts of them, on three queues, with some of the waits that they need. */
#ifndef S0_TESTS_SIM_GENERATOR_H
#define S0_TESTS_SIM_GENERATOR_H

#include "sim/model.h"
#include "support/random.h"

static Made made;
static uint64_t random_state;

static uint64_t draw(uint64_t limit) { /* below it */
    return random_below(&random_state, limit);
}

static bool chance(uint64_t percent) {
    return draw(100) < percent;
}

/* ---- Views: digits of the axes in any order, each aligned and padded as it comes */

typedef struct {
    uint32_t view;
    uint64_t bytes, lanes;
} Laid;

/* Those of one axis; blocks of two views need not divide one another. Without the upper digit blocks repeat. */
static void add_levels(CmdView *view, uint64_t *extents, uint8_t axis, uint64_t extent, bool may_repeat) {
    uint64_t block = chance(40) ? 2 + draw(4) : 0;
    if (block == 0 || block >= extent) {
        extents[view->level_count] = extent;
        view->level[view->level_count++] = (CmdLevel){axis, 1, 0, 0, 0};
        return;
    }
    if (!may_repeat || chance(50)) {
        extents[view->level_count] = (extent + block - 1) / block;
        view->level[view->level_count++] = (CmdLevel){axis, block, 0, 0, 0};
    }
    extents[view->level_count] = block;
    view->level[view->level_count++] = (CmdLevel){axis, 1, block, 0, 0};
}

static void shuffle(CmdView *view, uint64_t *extents) {
    for (uint32_t k = view->level_count; k-- > 1;) {
        uint32_t other = (uint32_t)draw(k + 1);
        CmdLevel level = view->level[k];
        uint64_t extent = extents[k];
        view->level[k] = view->level[other];
        extents[k] = extents[other];
        view->level[other] = level;
        extents[other] = extent;
    }
}

/* `axes`: which of them the view has; of the others it repeats. The view of a map may have lanes, and repeats along no
 * axis that it has. */
static Laid lay_out(const uint64_t *shape, uint32_t axes, uint32_t bits, bool is_map) {
    CmdView view = {.level_count = 0};
    uint64_t extents[CMD_MAX_LEVELS];
    for (uint8_t axis = 0; axis < CMD_AXES; axis++) {
        if ((axes >> axis & 1) != 0 && shape[axis] > 1) {
            add_levels(&view, extents, axis, shape[axis], !is_map);
        }
    }
    if (chance(75)) {
        shuffle(&view, extents);
    }
    uint64_t size = bits, lanes = 1;
    bool pads = chance(40);
    for (uint32_t k = view.level_count; k-- > 0;) {
        if (is_map && lanes == 1 && extents[k] <= MODEL_LANES && chance(25)) {
            lanes = extents[k];
            view.level[k].stride_lanes = 1;
            if (chance(70)) {
                continue;
            } /* else it steps inside the lane as well */
        }
        view.level[k].stride_bits = size;
        size *= extents[k];
        size = pads && chance(40) ? (size + 31) / 32 * 32 : size;
    }
    return (Laid){made_view(&made, view), (size + 7) / 8, lanes};
}

/* ---- Buffers */

static uint64_t shape[CMD_AXES];
static uint64_t end_of[MODEL_MEMORIES]; /* of what is placed yet */
static uint64_t params_end;             /* parameters lie at the start of local memory, and nothing else does */

enum { PARAM_BYTES = 2048 };

static void place(CmdBuffer *buffer) {
    uint64_t *end = &end_of[buffer->memory];
    uint64_t start = buffer->memory == LOCAL ? PARAM_BYTES : 0;
    uint64_t offset = *end + draw(3);
    if (*end > start && chance(20)) {
        offset = start + draw(*end - start);
    }
    buffer->offset_bytes = offset;
    *end = offset + buffer->bytes > *end ? offset + buffer->bytes : *end;
}

static uint32_t add_buffer(DType dtype, uint32_t axes) {
    Laid laid = lay_out(shape, axes, dtype_bits(dtype), true);
    uint32_t number = made_buffer(&made, chance(60) ? LOCAL : FAR, dtype, 0, laid.bytes);
    CmdBuffer *buffer = &made.buffers[number];
    buffer->memory = laid.lanes > 1 ? LOCAL : buffer->memory;
    buffer->lanes = laid.lanes;
    buffer->view = laid.view;
    buffer->data = number > 0 && chance(10) ? (uint32_t)draw(number) : number;
    place(buffer);
    return number;
}

/* The axes as the host orders them; an even one in two parts. */
static void add_order(CmdBuffer *buffer, uint32_t axes) {
    CmdOrder *order = &buffer->order;
    *order = (CmdOrder){.rank = 0};
    for (uint8_t axis = 0; axis < CMD_AXES; axis++) {
        uint64_t extent = (axes >> axis & 1) != 0 ? shape[axis] : 1;
        uint64_t parts[2] = {extent, 1};
        if (extent % 2 == 0 && chance(50)) {
            parts[0] = extent / 2;
            parts[1] = 2;
        }
        for (uint32_t k = 0; k < 2; k++) {
            if (parts[k] > 1) {
                order->extent[order->rank] = parts[k];
                order->axis[order->rank++] = axis;
            }
        }
    }
    for (uint32_t k = 0; order->rank > 1 && chance(50) && k < 4; k++) {
        uint32_t a = (uint32_t)draw(order->rank), b = (uint32_t)draw(order->rank);
        uint64_t extent = order->extent[a];
        uint8_t axis = order->axis[a];
        order->extent[a] = order->extent[b];
        order->axis[a] = order->axis[b];
        order->extent[b] = extent;
        order->axis[b] = axis;
    }
}

/* ---- Stages */

static DType some_code(void) {
    static const DType codes[] = {DTYPE_I8, DTYPE_U8, DTYPE_I4, DTYPE_I16, DTYPE_I2};
    return codes[draw(5)];
}

static Stage code_stage(DType dtype) {
    Stage stage = {.from = dtype, .to = dtype};
    static const StageKind kinds[] = {STAGE_CODE_MUL,  STAGE_CODE_ADD, STAGE_CODE_REQUANTIZE,
                                      STAGE_CODE_CLIP, STAGE_INT_MUL,  STAGE_INT_DIV};
    stage.kind = kinds[draw(6)];
    stage.integer.in.scale = stage.integer.constant.scale = 0.5f;
    stage.integer.out.scale = chance(50) ? 0.5f : 0.4f;
    stage.integer.value = (int32_t)draw(7) - 3;
    assert_true(stage_code_range(dtype, &stage.integer.lo, &stage.integer.hi));
    if (stage.kind == STAGE_CODE_MUL || stage.kind == STAGE_CODE_REQUANTIZE) {
        stage.to = chance(70) ? dtype : some_code();
        assert_true(stage_code_range(stage.to, &stage.integer.lo, &stage.integer.hi));
    }
    return stage;
}

static Stage real_stage(DType dtype) {
    Stage stage = {.from = dtype, .to = dtype};
    static const StageKind kinds[] = {STAGE_MUL,  STAGE_ADD,      STAGE_RSUB, STAGE_DIV,
                                      STAGE_NORM, STAGE_QUANTIZE, STAGE_CLIP, STAGE_CAST};
    stage.kind = kinds[draw(8)];
    if (stage.kind == STAGE_NORM) {
        stage.norm.gamma = 1.5f;
        stage.norm.beta = -1;
        stage.norm.mean = 0.25f;
        stage.norm.variance = 2;
        stage.norm.epsilon = 0.001f;
    } else if (stage.kind == STAGE_QUANTIZE) {
        stage.to = some_code();
        stage.code = (StageCode){0.25f, 1};
    } else if (stage.kind == STAGE_CLIP) {
        stage.clip.lo = -0.5f;
        stage.clip.hi = 2;
    } else if (stage.kind == STAGE_CAST) {
        stage.to = chance(50) ? DTYPE_F32 : DTYPE_F16;
    } else {
        stage.number = 1.75f;
    }
    return stage;
}

static Stage some_stage(DType from) {
    if (dtype_kind(from) == DTYPE_KIND_FLOAT) {
        return real_stage(from);
    }
    if (chance(40)) {
        return (Stage){.kind = STAGE_DEQUANTIZE,
                       .from = from,
                       .to = chance(60) ? DTYPE_F32 : DTYPE_F16,
                       .code = {0.5f, (int32_t)draw(3)}};
    }
    return code_stage(from);
}

/* A parameter of its own, somewhere where nothing overlaps. */
static void add_param(CmdStage *stage, CmdParamKind kind, DType of_stage) {
    bool is_coded = (of_stage == DTYPE_F32 || of_stage == DTYPE_F16) && chance(20);
    DType dtype = is_coded ? some_code() : of_stage;
    static const uint32_t axes[] = {0, 1u << C, 1u << C, 1u << C | 1u << W, 1u << H, 63};
    if (made.program.buffer_count >= MADE_BUFFERS - 2 || made.program.view_count >= MADE_VIEWS - 8) {
        return;
    }
    uint32_t has = axes[draw(6)];
    Laid laid = lay_out(shape, has, dtype_bits(dtype), false);
    if (params_end + laid.bytes > PARAM_BYTES) {
        return;
    }
    uint32_t number = made_buffer(&made, LOCAL, dtype, params_end, laid.bytes);
    params_end += laid.bytes;
    made.buffers[number].view = laid.view;
    add_order(&made.buffers[number], has);
    made_param(stage, kind, (CmdOperand){number, made.buffers[number].view, 0});
    CmdParam *param = &stage->param[stage->param_count - 1];
    param->is_coded = is_coded;
    if (is_coded) {
        param->code = (StageCode){chance(3) ? -1.0f : 0.375f, (int32_t)draw(9) - 4};
    }
}

static void add_params(CmdStage *stage) {
    switch (stage->stage.kind) {
    case STAGE_MUL:
    case STAGE_ADD:
    case STAGE_RSUB:
    case STAGE_DIV:
        add_param(stage, CMD_PARAM_NUMBER, stage->stage.from);
        break;
    case STAGE_NORM:
        add_param(stage, CMD_PARAM_GAMMA, DTYPE_F32);
        add_param(stage, CMD_PARAM_MEAN, DTYPE_F16);
        break;
    case STAGE_CLIP:
        add_param(stage, CMD_PARAM_LO, stage->stage.from);
        break;
    case STAGE_CODE_CLIP:
        add_param(stage, CMD_PARAM_HI, stage->stage.from);
        break;
    case STAGE_INT_MUL:
    case STAGE_INT_DIV:
        add_param(stage, CMD_PARAM_VALUE, stage->stage.from);
        break;
    case STAGE_CODE_MUL:
    case STAGE_CODE_ADD:
        add_param(stage, CMD_PARAM_VALUE, some_code());
        break;
    case STAGE_DEQUANTIZE:
        add_param(stage, CMD_PARAM_SCALE, DTYPE_F32);
        break;
    case STAGE_QUANTIZE:
        add_param(stage, CMD_PARAM_ZERO_POINT, DTYPE_I8);
        break;
    default:
        break;
    }
}

/* ---- Commands */

static CmdOperand whole(uint32_t buffer) {
    uint64_t index[CMD_AXES];
    CmdOperand operand = {buffer, made.buffers[buffer].view, 0};
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        index[axis] = draw(shape[axis]);
    }
    ModelAddress at = model_address(&made.views[operand.view], index);
    if (at.lane == 0 && chance(2)) { /* a shift, which may lead out of the buffer */
        operand.offset_bits = at.bit;
    }
    return operand;
}

static void add_waits(Command *command) {
    uint32_t number = (uint32_t)(command - made.commands);
    bool waits_for_all = chance(50);
    for (uint32_t other = 0; other < number; other++) {
        if (waits_for_all || chance(40)) {
            made_wait(&made, command, other);
        }
    }
}

static void choose_box(Command *command) {
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        command->box.extent[axis] = chance(75) ? shape[axis] : 1 + draw(shape[axis]);
    }
}

static void add_move(uint32_t maps) {
    uint32_t src = (uint32_t)draw(maps), dst = (uint32_t)draw(maps);
    uint32_t bits = dtype_bits(made.buffers[dst].dtype);
    bool from_local = made.buffers[src].memory == LOCAL, to_local = made.buffers[dst].memory == LOCAL;
    CmdOp op = from_local ? (to_local ? CMD_COPY : CMD_STORE) : CMD_LOAD;
    op = chance(15) ? CMD_FILL : chance(5) ? (CmdOp)draw(3) : op;
    if (op != CMD_FILL && (bits != dtype_bits(made.buffers[src].dtype) || src == dst)) {
        return;
    }
    Command *command = made_move(&made, op, (CmdOperand){CMD_NONE, 0, 0}, whole(dst), 1);
    choose_box(command);
    add_waits(command);
    if (op == CMD_FILL) {
        command->code = random_state & (bits < 64 ? (UINT64_C(1) << bits) - 1 : UINT64_MAX);
    } else {
        command->src = whole(src);
    }
}

static uint32_t find_map(uint32_t maps, DType dtype) {
    uint32_t start = (uint32_t)draw(maps);
    for (uint32_t k = 0; k < maps; k++) {
        if (made.buffers[(start + k) % maps].dtype == dtype) {
            return (start + k) % maps;
        }
    }
    return add_buffer(dtype, 63);
}

static void choose_carry(Command *command) {
    uint32_t widest = 0;
    for (uint32_t s = 0; s + 1 < command->stage_count; s++) {
        uint32_t bits = dtype_bits(command->stages[s].stage.to);
        widest = bits > widest ? bits : widest;
    }
    command->carry = (CmdCarry)(1 + draw(3));
    bool fits_dst = widest <= dtype_bits(made.buffers[command->dst.buffer].dtype);
    bool fits_src = widest <= dtype_bits(made.buffers[command->src.buffer].dtype);
    if (command->stage_count == 1) {
        command->carry = CMD_CARRY_NONE;
    } else if (!(command->carry == CMD_CARRY_OUTPUT ? fits_dst : command->carry == CMD_CARRY_INPUT && fits_src)) {
        command->carry = CMD_CARRY_WORKSPACE;
    }
    if (command->carry == CMD_CARRY_WORKSPACE) {
        DType dtype = widest == 32 ? DTYPE_F32 : widest == 16 ? DTYPE_F16 : widest == 8 ? DTYPE_I8 : DTYPE_I4;
        uint32_t number = add_buffer(widest == 2 ? DTYPE_I2 : dtype, 63u & ~(1u << N | 1u << H));
        made.buffers[number].bytes -= made.buffers[number].bytes > 1 && chance(5);
        command->scratch = (CmdOperand){number, made.buffers[number].view, 0};
        made.buffers[number].view = CMD_NONE;
        made.buffers[number].kind = CMD_BUFFER_WORKSPACE;
    }
}

static void add_compute(uint32_t maps) {
    uint32_t src = (uint32_t)draw(maps);
    DType dtype = made.buffers[src].dtype;
    int32_t lo, hi;
    if (dtype != DTYPE_F32 && dtype != DTYPE_F16 && !stage_code_range(dtype, &lo, &hi)) {
        return;
    }
    Command *command = made_command(&made, CMD_AFFINE, CMD_COLUMN_MULTIPLY, 0);
    command->semantics = (Semantics)draw(S0_SEM_COUNT);
    for (uint32_t count = 1 + (uint32_t)draw(3); count > 0; count--) {
        CmdStage *stage = made_stage(&made, command, some_stage(dtype));
        dtype = stage->stage.to;
        if (chance(60)) {
            add_params(stage);
        }
    }
    uint32_t dst = find_map(maps, dtype);
    command->src = whole(src);
    command->dst = whole(dst);
    choose_box(command);
    choose_carry(command);
    add_waits(command);
}

static uint64_t elements_of_shape(void) {
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        elements *= shape[axis];
    }
    return elements;
}

static void make_program(uint64_t seed) {
    static const DType types[] = {DTYPE_I8,  DTYPE_I8, DTYPE_F32, DTYPE_I4,  DTYPE_I2,
                                  DTYPE_F16, DTYPE_U8, DTYPE_I16, DTYPE_I32, DTYPE_C128};
    static const uint64_t largest[CMD_AXES] = {2, 7, 3, 5, 2, 1};
    random_state = seed * UINT64_C(0x9E3779B97F4A7C15) + 1;
    made_init(&made);
    end_of[LOCAL] = PARAM_BYTES;
    end_of[FAR] = 0;
    params_end = 0;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        shape[axis] = 1 + draw(largest[axis]);
    }
    uint32_t maps = 3 + (uint32_t)draw(3);
    DType first = types[draw(9)];
    for (uint32_t k = 0; k < maps; k++) {
        uint32_t number = add_buffer(chance(60) ? first : types[draw(elements_of_shape() > 64 ? 9 : 10)], 63);
        made.buffers[number].bytes -= made.buffers[number].bytes > 1 && chance(2);
        add_order(&made.buffers[number], 63);
    }
    for (uint32_t k = 3 + (uint32_t)draw(8); k > 0; k--) {
        if (chance(60)) {
            add_move(maps);
        } else if (made.program.view_count < MADE_VIEWS - 16 && made.program.buffer_count < MADE_BUFFERS - 8) {
            add_compute(maps);
        }
    }
}

/* Packed bytes of the host. Reals are neither NaN nor infinite, and not too large. */
static size_t make_tensor(const CmdBuffer *buffer, uint8_t *packed, size_t most) {
    uint32_t width = dtype_bits(buffer->dtype);
    size_t bytes = (size_t)(model_elements(&buffer->order) * width + 7) / 8;
    bool is_real = dtype_kind(buffer->dtype) == DTYPE_KIND_FLOAT;
    assert_true(bytes <= most);
    for (size_t b = 0; b < bytes; b++) {
        bool is_top = is_real && b % (width / 8) == width / 8 - 1;
        packed[b] = (uint8_t)(is_top ? draw(2) << 7 | 0x38 | draw(8) : draw(256));
    }
    return bytes;
}

#endif
