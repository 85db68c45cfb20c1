/* The simulated device once more, as plain as can be: one bit at a time, every address from the digits of its index, no
 * runs and no clocks. It shares with src/sim only the stages themselves, which stage/bound.h evaluates. */
#ifndef S0_TESTS_SIM_MODEL_H
#define S0_TESTS_SIM_MODEL_H

#include "sim/program.h"
#include "stage/bound.h"

#include <math.h>

enum { MODEL_BYTES = 16384, MODEL_LANES = 4, MODEL_MEMORIES = 2, MODEL_HOST = MADE_COMMANDS };

typedef struct {
    uint8_t value, written;
} ModelBit;

typedef struct {
    ModelBit bit[8];
    uint32_t data;             /* whose bits they are; CMD_NONE */
    uint32_t readers, writers; /* commands */
} ModelByte;

typedef struct {
    const CmdProgram *program;
    uint64_t bytes[MODEL_MEMORIES], lanes[MODEL_MEMORIES]; /* as far as buffers reach */
    uint64_t used_bytes[MADE_BUFFERS];
    uint32_t before[MADE_COMMANDS];     /* commands that have ended before */
    uint32_t faults[MADE_COMMANDS + 1]; /* a bit a kind */
    uint32_t command;                   /* that runs; MODEL_HOST */
    bool is_outside;                    /* something was accessed outside its buffer */
    ModelByte byte[MODEL_MEMORIES][MODEL_LANES][MODEL_BYTES];
    bool touched[MADE_BUFFERS][MODEL_LANES][MODEL_BYTES];
} Model;

typedef struct {
    uint8_t bit[128];
} ModelElement;

typedef struct {
    uint64_t lane, bit;
} ModelAddress;

static inline ModelAddress model_address(const CmdView *view, const uint64_t *index) {
    ModelAddress at = {0, 0};
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        uint64_t digit = index[level->axis] / level->div;
        if (level->mod != 0) {
            digit %= level->mod;
        }
        at.lane += digit * level->stride_lanes;
        at.bit += digit * level->stride_bits;
    }
    return at;
}

/* The next index inside [low, high), the last axis fastest. */
static inline bool model_next(uint64_t *index, const uint64_t *low, const uint64_t *high) {
    for (uint32_t axis = CMD_AXES; axis-- > 0;) {
        if (++index[axis] < high[axis]) {
            return true;
        }
        index[axis] = low[axis];
    }
    return false;
}

static inline void model_fault(Model *model, SimFaultKind kind) {
    model->faults[model->command] |= 1u << kind;
}

/* The byte of a bit of a buffer; null where there is no memory. */
static inline ModelByte *model_look(Model *model, uint32_t buffer, uint64_t lane, uint64_t bit) {
    const CmdBuffer *of = &model->program->buffers[buffer];
    uint64_t byte = bit / 8;
    if (model->command != MODEL_HOST && byte + 1 > model->used_bytes[buffer]) {
        model->used_bytes[buffer] = byte + 1;
    }
    if (lane >= of->lanes || byte >= of->bytes) {
        model_fault(model, FAULT_FOREIGN);
        model->is_outside = true;
    } else if (model->command != MODEL_HOST) {
        model->touched[buffer][lane][byte] = true;
    }
    bool is_there = lane < model->lanes[of->memory] && of->offset_bytes + byte < model->bytes[of->memory];
    return is_there ? &model->byte[of->memory][lane][of->offset_bytes + byte] : NULL;
}

static inline void model_race(Model *model, uint32_t others) {
    uint32_t own = model->command == MODEL_HOST ? 0 : 1u << model->command;
    if (model->command != MODEL_HOST && (others & ~own & ~model->before[model->command]) != 0) {
        model_fault(model, FAULT_RACE);
    }
}

static inline uint8_t model_read_bit(Model *model, uint32_t buffer, uint32_t data, ModelAddress at) {
    ModelByte *byte = model_look(model, buffer, at.lane, at.bit);
    if (byte == NULL) {
        return 0;
    }
    model_race(model, byte->writers);
    byte->readers |= 1u << model->command;
    if (byte->data != CMD_NONE && byte->data != data) {
        model_fault(model, FAULT_FOREIGN);
    } else if (!byte->bit[at.bit % 8].written) {
        model_fault(model, FAULT_UNWRITTEN);
    }
    return byte->bit[at.bit % 8].value;
}

static inline void model_write_bit(Model *model, uint32_t buffer, uint32_t data, ModelAddress at, uint8_t value) {
    ModelByte *byte = model_look(model, buffer, at.lane, at.bit);
    if (byte == NULL) {
        return;
    }
    if (model->command != MODEL_HOST) {
        model_race(model, byte->writers | byte->readers);
        byte->writers |= 1u << model->command;
    }
    if (byte->data != data) {
        for (uint32_t k = 0; k < 8; k++) {
            byte->bit[k].written = 0;
        }
    }
    byte->data = data;
    byte->bit[at.bit % 8] = (ModelBit){value, 1};
}

typedef struct {
    CmdOperand operand;
    uint32_t bits, data;
} ModelPlace;

static inline ModelElement model_read(Model *model, ModelPlace from, const uint64_t *index) {
    ModelElement element = {{0}};
    ModelAddress at = model_address(&model->program->views[from.operand.view], index);
    for (uint32_t k = 0; k < from.bits; k++) {
        ModelAddress bit = {at.lane, from.operand.offset_bits + at.bit + k};
        element.bit[k] = model_read_bit(model, from.operand.buffer, from.data, bit);
    }
    return element;
}

static inline void model_write(Model *model, ModelPlace to, const uint64_t *index, const ModelElement *element) {
    ModelAddress at = model_address(&model->program->views[to.operand.view], index);
    for (uint32_t k = 0; k < to.bits; k++) {
        ModelAddress bit = {at.lane, to.operand.offset_bits + at.bit + k};
        model_write_bit(model, to.operand.buffer, to.data, bit, element->bit[k]);
    }
}

static inline ModelPlace model_place(const Model *model, CmdOperand operand) {
    const CmdBuffer *buffer = &model->program->buffers[operand.buffer];
    return (ModelPlace){operand, dtype_bits(buffer->dtype), buffer->data};
}

/* ---- Numbers: float16 by its definition, sign * fraction * 2^exponent */

static inline float model_magnitude(uint32_t half) { /* without its sign; ascends to infinity */
    int exponent = (int)(half >> 10);
    float value = ldexpf((float)(exponent == 0 ? half : 1024 + (half & 1023)), (exponent == 0 ? 1 : exponent) - 25);
    return exponent == 31 ? INFINITY : value;
}

static inline float model_half(uint32_t half) {
    uint32_t nan = (half & 0x8000) << 16 | 0x7F800000 | (half & 1023) << 13;
    float value = model_magnitude(half & 0x7FFF);
    if ((half & 0x7FFF) > 0x7C00) {
        memcpy(&value, &nan, sizeof value);
        return value;
    }
    return (half & 0x8000) != 0 ? -value : value;
}

/* The code that means it, of all that there are. */
static inline uint32_t model_half_code(float x) {
    uint32_t low = 0, high = 0x7C00, bits;
    memcpy(&bits, &x, sizeof bits);
    uint32_t sign = bits >> 16 & 0x8000;
    if (x != x) {
        uint32_t payload = bits >> 13 & 1023;
        return sign | 0x7C00 | (payload == 0 ? 512 : payload);
    }
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (model_magnitude(middle) < fabsf(x)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return sign | low;
}

typedef struct {
    int32_t code;
    float x;
} ModelNumber;

static inline ModelNumber model_number(DType dtype, const ModelElement *element) {
    uint32_t bits = 0;
    uint32_t width = dtype_bits(dtype);
    ModelNumber number = {0, 0};
    for (uint32_t k = 0; k < width; k++) {
        bits |= (uint32_t)element->bit[k] << k;
    }
    if (dtype == DTYPE_F32) {
        memcpy(&number.x, &bits, sizeof bits);
    } else if (dtype == DTYPE_F16) {
        number.x = model_half(bits);
    } else {
        bool is_negative = dtype_kind(dtype) == DTYPE_KIND_SIGNED && element->bit[width - 1] != 0;
        int64_t code = (int64_t)bits - (is_negative ? (int64_t)1 << width : 0);
        number.code = (int32_t)code;
    }
    return number;
}

static inline ModelElement model_element(DType dtype, ModelNumber number) {
    ModelElement element = {{0}};
    uint32_t bits = (uint32_t)number.code;
    if (dtype == DTYPE_F32) {
        memcpy(&bits, &number.x, sizeof bits);
    } else if (dtype == DTYPE_F16) {
        bits = model_half_code(number.x);
    }
    for (uint32_t k = 0; k < dtype_bits(dtype); k++) {
        element.bit[k] = bits >> k & 1;
    }
    return element;
}

/* ---- Commands */

enum { MODEL_ELEMENTS = 1024 };

static inline void model_move(Model *model, const Command *command) {
    static ModelElement element[MODEL_ELEMENTS];
    const uint64_t low[CMD_AXES] = {0};
    uint64_t index[CMD_AXES] = {0};
    size_t count = 0;
    ModelPlace dst = model_place(model, command->dst);
    do {
        assert_true(count < MODEL_ELEMENTS);
        if (command->op == CMD_FILL) {
            for (uint32_t k = 0; k < dst.bits; k++) {
                element[count].bit[k] = k < 64 && (command->code >> k & 1) != 0;
            }
            count++;
        } else {
            element[count++] = model_read(model, model_place(model, command->src), index);
        }
    } while (model_next(index, low, command->box.extent));
    count = 0;
    do {
        model_write(model, dst, index, &element[count++]);
    } while (model_next(index, low, command->box.extent));
}

static inline bool model_steps(const Model *model, const CmdParam *param, uint32_t axis, const CmdBox *box) {
    const CmdView *view = &model->program->views[param->from.view];
    bool steps = false;
    for (uint64_t i = 0; i < box->extent[axis]; i++) {
        uint64_t index[CMD_AXES] = {0};
        index[axis] = i;
        ModelAddress at = model_address(view, index);
        steps = steps || at.lane != 0 || at.bit != 0;
    }
    return steps;
}

/* Reads parameters for all elements of [low, high): those that step along n or h, or the others. */
static inline void model_read_params(Model *model, const Command *command, bool stepping, const uint64_t *low,
                                     const uint64_t *high) {
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            const CmdParam *param = &command->stages[s].param[p];
            bool steps = model_steps(model, param, N, &command->box) || model_steps(model, param, H, &command->box);
            uint64_t index[CMD_AXES];
            memcpy(index, low, sizeof index);
            if (steps != stepping) {
                continue;
            }
            do {
                model_read(model, model_place(model, param->from), index);
            } while (model_next(index, low, high));
        }
    }
}

/* The number that lies there, without looking at faults. */
static inline ModelNumber model_param(Model *model, const CmdParam *param, const uint64_t *index) {
    const CmdBuffer *buffer = &model->program->buffers[param->from.buffer];
    ModelElement element = {{0}};
    ModelAddress at = model_address(&model->program->views[param->from.view], index);
    for (uint32_t k = 0; k < dtype_bits(buffer->dtype); k++) {
        uint64_t bit = at.bit + param->from.offset_bits + k;
        uint64_t byte = buffer->offset_bytes + bit / 8;
        if (at.lane < model->lanes[buffer->memory] && byte < model->bytes[buffer->memory]) {
            element.bit[k] = model->byte[buffer->memory][at.lane][byte].bit[bit % 8].value;
        }
    }
    return model_number(buffer->dtype, &element);
}

static inline void model_set(Stage *stage, CmdParamKind kind, ModelNumber number) {
    switch (kind) {
    case CMD_PARAM_NUMBER:
        stage->number = number.x;
        break;
    case CMD_PARAM_VALUE:
        stage->integer.value = number.code;
        break;
    case CMD_PARAM_GAMMA:
        stage->norm.gamma = number.x;
        break;
    case CMD_PARAM_BETA:
        stage->norm.beta = number.x;
        break;
    case CMD_PARAM_MEAN:
        stage->norm.mean = number.x;
        break;
    case CMD_PARAM_VARIANCE:
        stage->norm.variance = number.x;
        break;
    case CMD_PARAM_SCALE:
        stage->code.scale = number.x;
        break;
    case CMD_PARAM_LO:
        if (stage->kind == STAGE_CODE_CLIP) {
            stage->integer.lo = number.code;
        } else {
            stage->clip.lo = number.x;
        }
        break;
    case CMD_PARAM_HI:
        if (stage->kind == STAGE_CODE_CLIP) {
            stage->integer.hi = number.code;
        } else {
            stage->clip.hi = number.x;
        }
        break;
    default:
        stage->code.zero_point = number.code;
    }
}

static inline ModelNumber model_stage(Model *model, const Command *command, const Stage *stage, ModelNumber number) {
    BoundStage bound;
    memset(&bound, 0, sizeof bound);
    if (stage_bind(stage, command->semantics, &bound) != NULL) {
        model_fault(model, FAULT_NUMBER);
        return (ModelNumber){0, 0};
    }
    if (bound_check(&bound, number.code, number.x) != NULL) {
        model_fault(model, FAULT_NUMBER);
    }
    bound_run(&bound, &number.code, &number.x, 1);
    return number;
}

/* Codes that stand for reals of the stage's type. False where they stand for none. */
static inline bool model_decode(const Model *model, const Command *command, uint32_t s, const CmdParam *param,
                                ModelNumber *number) {
    const Stage *stage = &command->stages[s].stage;
    Stage decode = {.kind = STAGE_DEQUANTIZE, .code = param->code};
    BoundStage bound;
    if (!param->is_coded) {
        return true;
    }
    decode.from = model->program->buffers[param->from.buffer].dtype;
    decode.to = stage->from == DTYPE_F32 || stage->from == DTYPE_F16 ? stage->from : stage->to;
    if (stage_bind(&decode, command->semantics, &bound) != NULL) {
        return false;
    }
    bound_run(&bound, &number->code, &number->x, 1);
    return true;
}

typedef struct {
    size_t count;
    uint64_t index[MODEL_ELEMENTS][CMD_AXES];
    Stage stage[MODEL_ELEMENTS][4];
    bool has_no_number[MODEL_ELEMENTS][4]; /* a parameter's codes stand for none */
    ModelNumber number[MODEL_ELEMENTS];
} ModelLine;

static inline void model_line_list(ModelLine *line, const uint64_t *low, const uint64_t *high) {
    uint64_t index[CMD_AXES];
    memcpy(index, low, sizeof index);
    line->count = 0;
    do {
        memcpy(line->index[line->count++], index, sizeof index);
    } while (model_next(index, low, high));
}

/* Stages of each element, with the parameters of one kind of them set. */
static inline void model_line_stages(Model *model, const Command *command, ModelLine *line) {
    for (size_t e = 0; e < line->count; e++) {
        for (uint32_t s = 0; s < command->stage_count; s++) {
            line->stage[e][s] = command->stages[s].stage;
            line->has_no_number[e][s] = false;
            for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
                const CmdParam *param = &command->stages[s].param[p];
                ModelNumber number = model_param(model, param, line->index[e]);
                line->has_no_number[e][s] |= !model_decode(model, command, s, param, &number);
                model_set(&line->stage[e][s], param->kind, number);
            }
        }
    }
}

static inline ModelPlace model_carry(const Model *model, const Command *command) {
    ModelPlace place = model_place(model, command->dst);
    if (command->carry == CMD_CARRY_INPUT) {
        uint32_t data = place.data;
        place = model_place(model, command->src);
        place.data = data;
    } else if (command->carry == CMD_CARRY_WORKSPACE) {
        place = model_place(model, command->scratch);
        place.bits = 0;
        for (uint32_t s = 0; s + 1 < command->stage_count; s++) {
            uint32_t bits = dtype_bits(command->stages[s].stage.to);
            place.bits = bits > place.bits ? bits : place.bits;
        }
    }
    return place;
}

static inline void model_line(Model *model, const Command *command, ModelLine *line) {
    ModelPlace carry = model_carry(model, command);
    for (size_t e = 0; e < line->count; e++) {
        ModelElement element = model_read(model, model_place(model, command->src), line->index[e]);
        line->number[e] = model_number(command->stages[0].stage.from, &element);
    }
    for (uint32_t s = 0; s < command->stage_count; s++) {
        DType to = command->stages[s].stage.to;
        ModelPlace place = s + 1 < command->stage_count ? carry : model_place(model, command->dst);
        for (size_t e = 0; e < line->count; e++) {
            if (line->has_no_number[e][s]) {
                model_fault(model, FAULT_NUMBER);
                line->number[e] = (ModelNumber){0, 0};
            } else {
                line->number[e] = model_stage(model, command, &line->stage[e][s], line->number[e]);
            }
            ModelElement element = model_element(to, line->number[e]);
            model_write(model, place, line->index[e], &element);
        }
        for (size_t e = 0; e < line->count && s + 1 < command->stage_count; e++) {
            ModelElement element = model_read(model, carry, line->index[e]);
            line->number[e] = model_number(to, &element);
        }
    }
}

/* Parameters that do not step along n and h are those of the start; a test must not overwrite them. */
static inline void model_compute(Model *model, const Command *command) {
    static ModelLine line;
    const uint64_t zero[CMD_AXES] = {0};
    uint64_t low[CMD_AXES] = {0}, high[CMD_AXES];
    model_read_params(model, command, false, zero, command->box.extent);
    for (uint64_t n = 0; n < command->box.extent[N]; n++) {
        for (uint64_t h = 0; h < command->box.extent[H]; h++) {
            memcpy(high, command->box.extent, sizeof high);
            low[N] = n;
            high[N] = n + 1;
            low[H] = h;
            high[H] = h + 1;
            model_line_list(&line, low, high);
            model_read_params(model, command, true, low, high);
            model_line_stages(model, command, &line);
            model_line(model, command, &line);
        }
    }
    model_read_params(model, command, false, zero, command->box.extent);
}

/* ---- Programs */

static inline void model_init(Model *model, const CmdProgram *program) {
    memset(model, 0, offsetof(Model, byte));
    model->program = program;
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        const CmdBuffer *buffer = &program->buffers[k];
        uint64_t end = buffer->offset_bytes + buffer->bytes;
        assert_true(end <= MODEL_BYTES && buffer->lanes <= MODEL_LANES);
        model->bytes[buffer->memory] = end > model->bytes[buffer->memory] ? end : model->bytes[buffer->memory];
        bool more = buffer->lanes > model->lanes[buffer->memory];
        model->lanes[buffer->memory] = more ? buffer->lanes : model->lanes[buffer->memory];
    }
    for (uint32_t m = 0; m < MODEL_MEMORIES; m++) {
        for (uint64_t l = 0; l < model->lanes[m]; l++) {
            memset(model->byte[m][l], 0, model->bytes[m] * sizeof model->byte[m][l][0]);
            for (uint64_t b = 0; b < model->bytes[m]; b++) {
                model->byte[m][l][b].data = CMD_NONE;
            }
        }
    }
    for (uint32_t k = 0; k < program->buffer_count; k++) {
        for (uint64_t l = 0; l < program->buffers[k].lanes; l++) {
            memset(model->touched[k][l], 0, program->buffers[k].bytes);
        }
    }
}

static inline uint64_t model_elements(const CmdOrder *order) {
    uint64_t elements = 1;
    for (uint32_t k = 0; k < order->rank; k++) {
        elements *= order->extent[k];
    }
    return elements;
}

/* The index of the element that stands at `number` of the file. */
static inline void model_index(const CmdOrder *order, uint64_t number, uint64_t *index) {
    uint64_t digit[CMD_MAX_RANK];
    memset(index, 0, CMD_AXES * sizeof *index);
    for (uint32_t k = order->rank; k-- > 0;) {
        digit[k] = number % order->extent[k];
        number /= order->extent[k];
    }
    for (uint32_t k = 0; k < order->rank; k++) {
        index[order->axis[k]] = index[order->axis[k]] * order->extent[k] + digit[k];
    }
}

static inline void model_host(Model *model, uint32_t number, const uint8_t *packed) {
    const CmdBuffer *buffer = &model->program->buffers[number];
    uint32_t bits = dtype_bits(buffer->dtype);
    ModelPlace place = model_place(model, (CmdOperand){number, buffer->view, buffer->view_offset_bits});
    model->command = MODEL_HOST;
    for (uint64_t e = 0; e < model_elements(&buffer->order); e++) {
        uint64_t index[CMD_AXES];
        ModelElement element = {{0}};
        model_index(&buffer->order, e, index);
        for (uint32_t k = 0; k < bits; k++) {
            uint64_t bit = e * bits + k;
            element.bit[k] = packed[bit / 8] >> bit % 8 & 1;
        }
        model_write(model, place, index, &element);
    }
}

/* LOAD goes from far to local memory, STORE back, everything else stays in local memory. */
static inline void model_memories(Model *model, const Command *command) {
    const CmdBuffer *buffers = model->program->buffers;
    bool is_move = command->op == CMD_LOAD || command->op == CMD_STORE;
    bool fits = buffers[command->dst.buffer].memory == (command->op == CMD_STORE ? FAR : LOCAL);
    if (command->src.buffer != CMD_NONE) {
        fits = fits && buffers[command->src.buffer].memory == (command->op == CMD_LOAD ? FAR : LOCAL);
    }
    if (!is_move && command->scratch.buffer != CMD_NONE) {
        fits = fits && buffers[command->scratch.buffer].memory == LOCAL;
    }
    if (!fits) {
        model_fault(model, FAULT_BURST);
    }
}

static inline void model_run(Model *model) {
    const CmdProgram *program = model->program;
    for (uint32_t k = 0; k < program->command_count; k++) {
        const Command *command = &program->commands[k];
        for (uint32_t other = 0; other < k; other++) {
            bool waits = program->commands[other].queue == command->queue;
            for (uint32_t w = 0; w < command->wait_count; w++) {
                waits = waits || command->waits[w] == other;
            }
            model->before[k] |= waits ? model->before[other] | 1u << other : 0;
        }
    }
    for (uint32_t k = 0; k < program->command_count; k++) {
        model->command = k;
        model_memories(model, &program->commands[k]);
        if (program->commands[k].stage_count > 0) {
            model_compute(model, &program->commands[k]);
        } else {
            model_move(model, &program->commands[k]);
        }
    }
}

#endif
