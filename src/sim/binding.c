/* Reads the parameters of a command and binds its stages. See binding.h. */
#include "sim/binding.h"

#include <string.h>

enum { AXIS_N = 0, AXIS_H = 2, PARAM = 0, KEY = 1 };

static const Command *command_of(const Binding *binding) {
    return &binding->sim->program->commands[binding->command];
}

static bool any_steps(const Binding *binding, uint32_t axis, uint64_t extent) {
    const Command *command = command_of(binding);
    bool steps = false;
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            uint32_t view = command->stages[s].param[p].from.view;
            steps = steps || walk_steps(&binding->sim->program->views[view], axis, extent);
        }
    }
    return steps;
}

/* An axis without a level adds nothing to the key. */
static void make_keys(Binding *binding, const CmdBox *unit) {
    uint64_t weight = 1;
    binding->view = (CmdView){.level_count = 0};
    for (uint32_t axis = CMD_AXES; axis-- > 0;) {
        binding->keys.extent[axis] = 1;
        if (any_steps(binding, axis, unit->extent[axis])) {
            binding->keys.extent[axis] = unit->extent[axis];
            binding->view.level[binding->view.level_count++] = (CmdLevel){(uint8_t)axis, 1, 0, weight, 0};
            weight *= unit->extent[axis];
        }
    }
    binding->key_count = (uint32_t)weight; /* at most the elements of the unit */
}

/* Key by key, and inside a key by index. */
static void make_places(Binding *binding, const CmdBox *unit) {
    uint64_t weight = 1;
    binding->places = (CmdView){.level_count = 0};
    for (uint32_t axis = CMD_AXES; axis-- > 0;) {
        if (unit->extent[axis] > 1 && binding->keys.extent[axis] == 1) {
            binding->places.level[binding->places.level_count++] = (CmdLevel){(uint8_t)axis, 1, 0, weight, 0};
            weight *= unit->extent[axis];
        }
    }
    for (uint32_t k = 0; k < binding->view.level_count; k++) {
        CmdLevel *level = &binding->places.level[binding->places.level_count++];
        *level = binding->view.level[k];
        level->stride_bits *= weight;
    }
    binding->each = (uint32_t)weight;
}

/* Does a parameter differ from unit to unit? */
static bool is_split(const Binding *binding, const CmdBox *unit, const CmdView *view, uint32_t axis) {
    uint64_t extent = command_of(binding)->box.extent[axis];
    return extent > unit->extent[axis] && walk_steps(view, axis, extent);
}

/* The key of each element. The cells of a walk come segment by segment, which is not always the order of keys. */
static const uint32_t *order_of_keys(const Binding *binding, const Walk *walk) {
    Frame *frame = &binding->sim->frame;
    if (walk->cell_count == 1) {
        return NULL;
    }
    Strips strips = walk_strips(walk, KEY, KEY, frame);
    uint32_t *order = frame_array(frame, uint32_t, binding->key_count);
    size_t count = 0;
    Cursor cursor;
    WalkPoint base = {0, 0};
    for (bool more = cursor_start(&cursor, &strips, &base); more; more = cursor_next(&cursor)) {
        for (uint64_t k = 0; k < cursor.run; k++) {
            order[count++] = (uint32_t)(cursor.at[0].bit + k);
        }
    }
    return order;
}

/* To the reals that the stage computes in. */
static void bind_decode(const Binding *binding, const Stage *stage, BoundParam *bound) {
    const CmdParam *param = bound->param;
    const CmdProgram *program = binding->sim->program;
    Stage decode = {.kind = STAGE_DEQUANTIZE, .from = program->buffers[param->from.buffer].dtype, .code = param->code};
    decode.to = dtype_is_float(stage->from) ? stage->from : stage->to;
    bound->fault = param->is_coded ? stage_bind(&decode, command_of(binding)->semantics, &bound->decode) : NULL;
}

static BoundParam plan_param(const Binding *binding, const CmdParam *param, const CmdBox *unit) {
    Sim *sim = binding->sim;
    const CmdView *view = &sim->program->views[param->from.view];
    Walk walk = {.operand_count = 2, .lead = KEY};
    walk.operand[PARAM] = (WalkOperand){view, element_bits_of(sim->program, param->from.buffer)};
    walk.operand[KEY] = (WalkOperand){&binding->view, 1};
    walk_build(&walk, &binding->keys, &sim->frame);
    return (BoundParam){.param = param,
                        .is_once = !is_split(binding, unit, view, AXIS_N) && !is_split(binding, unit, view, AXIS_H),
                        .strips = walk_strips(&walk, PARAM, PARAM, &sim->frame),
                        .order = order_of_keys(binding, &walk),
                        .number = frame_array(&sim->frame, uint32_t, binding->key_count)};
}

void binding_init(Binding *binding, Sim *sim, uint32_t number, const CmdBox *unit) {
    *binding = (Binding){.sim = sim, .command = number};
    const Command *command = command_of(binding);
    make_keys(binding, unit);
    make_places(binding, unit);
    binding->which = frame_array(&sim->frame, uint32_t, (size_t)command->stage_count * binding->key_count);
    binding->packed = frame_array(&sim->frame, uint8_t, (size_t)binding->key_count * sizeof(uint32_t));
    binding->code = frame_array(&sim->frame, int32_t, binding->key_count);
    binding->x = frame_array(&sim->frame, float, binding->key_count);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        const CmdStage *stage = &command->stages[s];
        binding->bound[s] = frame_array(&sim->frame, BoundKey, stage->param_count == 0 ? 1 : binding->key_count);
        for (uint32_t p = 0; p < stage->param_count; p++) {
            binding->param[s][p] = plan_param(binding, &stage->param[p], unit);
            bind_decode(binding, &stage->stage, &binding->param[s][p]);
        }
    }
}

/* ---- Reading */

static void read_packed(const Binding *binding, const BoundParam *from, uint64_t n, uint64_t h) {
    Sim *sim = binding->sim;
    const CmdOperand *operand = &from->param->from;
    const CmdView *view = &sim->program->views[operand->view];
    WalkPoint at_n = walk_axis(view, AXIS_N, n), at_h = walk_axis(view, AXIS_H, h);
    WalkPoint base = {at_n.lane + at_h.lane, at_n.bit + at_h.bit + operand->offset_bits};
    Access access = access_of(sim, binding->command, operand->buffer, WRITES_DST);
    access_gather(&access, &from->strips, base, element_bits_of(sim->program, operand->buffer), binding->packed);
    access_end(&access);
}

static void read_param(const Binding *binding, const BoundParam *from, uint64_t n, uint64_t h) {
    const CmdBuffer *buffer = &binding->sim->program->buffers[from->param->from.buffer];
    bool is_real = dtype_is_float(buffer->dtype);
    read_packed(binding, from, n, h);
    elements_decode(buffer->dtype, dtype_bits(buffer->dtype), binding->packed, binding->key_count, binding->code,
                    binding->x);
    if (from->param->is_coded && from->fault == NULL) {
        bound_run(&from->decode, binding->code, binding->x, binding->key_count);
        is_real = true;
    }
    for (size_t k = 0; k < binding->key_count; k++) {
        uint32_t *to = &from->number[from->order == NULL ? k : from->order[k]];
        memcpy(to, is_real ? (const void *)&binding->x[k] : (const void *)&binding->code[k], sizeof *to);
    }
}

/* ---- Binding */

static void set_param(Stage *stage, CmdParamKind kind, uint32_t number) {
    void *to[CMD_PARAM_KINDS] = {
        [CMD_PARAM_NUMBER] = &stage->number,    [CMD_PARAM_VALUE] = &stage->integer.value,
        [CMD_PARAM_GAMMA] = &stage->norm.gamma, [CMD_PARAM_BETA] = &stage->norm.beta,
        [CMD_PARAM_MEAN] = &stage->norm.mean,   [CMD_PARAM_VARIANCE] = &stage->norm.variance,
        [CMD_PARAM_SCALE] = &stage->code.scale, [CMD_PARAM_ZERO_POINT] = &stage->code.zero_point,
        [CMD_PARAM_LO] = &stage->clip.lo,       [CMD_PARAM_HI] = &stage->clip.hi,
    };
    if (stage->kind == STAGE_CODE_CLIP) {
        to[CMD_PARAM_LO] = &stage->integer.lo;
        to[CMD_PARAM_HI] = &stage->integer.hi;
    }
    memcpy(to[kind], &number, sizeof number);
}

static bool is_same(const BoundParam *param, uint32_t count, uint32_t a, uint32_t b) {
    bool same = true;
    for (uint32_t p = 0; p < count; p++) {
        same = same && param[p].number[a] == param[p].number[b];
    }
    return same;
}

/* Tiles of one operator bind the same stages: the last of each slot are kept for all commands. */
enum { CACHE_SLOTS = 512 };

typedef struct {
    bool is_used;
    Semantics semantics;
    Stage stage;
    BoundKey bound;
} CacheSlot;

struct BoundCache {
    CacheSlot slot[CACHE_SLOTS];
};

/* A stage of reals has a value for each of them, but for TFLite's cast of a quotient. */
static bool is_safe(const Stage *stage, const BoundStage *bound) {
    int32_t lo, hi;
    if (!stage_code_range(stage->from, &lo, &hi)) {
        return bound->kind != BOUND_QUANTIZE || bound->rounding != S0_ROUND_HALF_AWAY;
    }
    return bound_check(bound, lo, 0) == NULL && bound_check(bound, hi, 0) == NULL; /* stages are monotone */
}

static const BoundKey *bind_cached(Sim *sim, const Stage *stage, Semantics semantics, uint32_t hash) {
    if (sim->bound == NULL) {
        sim->bound = arena_new(sim->arena, struct BoundCache);
    }
    CacheSlot *slot = &sim->bound->slot[hash % CACHE_SLOTS];
    if (!slot->is_used || slot->semantics != semantics || !stage_eq(&slot->stage, stage)) {
        *slot = (CacheSlot){.is_used = true, .semantics = semantics, .stage = *stage};
        slot->bound.fault = stage_bind(stage, semantics, &slot->bound.bound);
        slot->bound.is_safe = slot->bound.fault == NULL && is_safe(stage, &slot->bound.bound);
    }
    return &slot->bound;
}

/* Neighbouring keys whose numbers are the same share what is bound. */
static void bind_stage(Binding *binding, uint32_t s) {
    const Command *command = command_of(binding);
    const CmdStage *from = &command->stages[s];
    const BoundParam *param = binding->param[s];
    uint32_t *which = binding->which + (size_t)s * binding->key_count;
    uint32_t count = 0;
    for (uint32_t key = 0; key < binding->key_count; key++) {
        if (key == 0 || !is_same(param, from->param_count, key - 1, key)) {
            Stage stage = from->stage;
            uint32_t hash = s * 37 + (uint32_t)stage.kind;
            for (uint32_t p = 0; p < from->param_count; p++) {
                set_param(&stage, from->param[p].kind, param[p].number[key]);
                hash = (hash ^ param[p].number[key]) * 0x9E3779B1u;
                hash ^= hash >> 15;
            }
            binding->bound[s][count] = *bind_cached(binding->sim, &stage, command->semantics, hash);
            for (uint32_t p = 0; p < from->param_count; p++) {
                StageFault *fault = &binding->bound[s][count].fault;
                *fault = *fault != NULL ? *fault : param[p].fault;
            }
            count++;
        }
        which[key] = count - 1;
    }
}

void binding_read(Binding *binding, uint64_t n, uint64_t h) {
    const Command *command = command_of(binding);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        bool is_new = !binding->is_read;
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            const BoundParam *param = &binding->param[s][p];
            if (!param->is_once || !binding->is_read) {
                read_param(binding, param, n, h);
                is_new = true;
            }
        }
        if (is_new) {
            bind_stage(binding, s);
        }
    }
    binding->is_read = true;
}

/* Those that are read unit by unit have been read as late as they are needed. */
void binding_end(Binding *binding) {
    const Command *command = command_of(binding);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            if (binding->param[s][p].is_once) {
                read_packed(binding, &binding->param[s][p], 0, 0);
            }
        }
    }
}
