/* Commands with stages: MUL, ADD, REQUANT, AFFINE.
 *
 * They go line by line, each of one n and one h: a line is read, all its stages are computed in order, it is written.
 * What one stage hands to the next is written to the place that the command carries it in, and read again. Where
 * nothing can tell the difference, many lines are one unit.
 *
 * Elements are read and written in the order of dst's strides, and computed key by key (binding.h), so that one call
 * computes all elements of a unit that have the same numbers. */
#include "sim/binding.h"

#include "base/fault.h"

#include <math.h>
#include <string.h>

enum { AXIS_N = 0, AXIS_H = 2, SRC = 0, DST = 1, SCRATCH = 2, PLACE = 3, UNIT_ELEMENTS = 1 << 14 };

typedef struct {
    const CmdOperand *operand;
    uint32_t bits; /* of an element */
    Strips strips;
    Access access;
} Place;

typedef struct {
    Sim *sim;
    uint32_t number, stage;
    const Command *command;
    CmdBox unit;
    size_t count; /* elements of a unit */
    Walk walk;
    Place src, dst, carry;
    WalkPoint base_src, base_dst, base_carry; /* of the unit that is computed */
    Binding binding;

    uint32_t *order; /* of each element as it is read, its place in `code` and `x`; null where they are the same */
    uint8_t *packed;
    int32_t *code, *spare_code;
    float *x, *spare_x;
} Job;

/* ---- Units */

static bool may_overlap(const CmdProgram *program, uint32_t a, uint32_t b) {
    const CmdBuffer *x = &program->buffers[a], *y = &program->buffers[b];
    return x->memory == y->memory && x->offset_bytes < y->offset_bytes + y->bytes &&
           y->offset_bytes < x->offset_bytes + x->bytes;
}

static bool writes_params(const Job *job) {
    bool writes = false;
    for (uint32_t s = 0; s < job->command->stage_count; s++) {
        for (uint32_t p = 0; p < job->command->stages[s].param_count; p++) {
            uint32_t buffer = job->command->stages[s].param[p].from.buffer;
            writes = writes || may_overlap(job->sim->program, buffer, job->command->dst.buffer);
        }
    }
    return writes;
}

static bool is_same_view(const CmdView *a, const CmdView *b) {
    bool same = a->level_count == b->level_count;
    for (uint32_t k = 0; same && k < a->level_count; k++) {
        const CmdLevel *x = &a->level[k], *y = &b->level[k];
        same = x->axis == y->axis && x->div == y->div && x->mod == y->mod && x->stride_bits == y->stride_bits &&
               x->stride_lanes == y->stride_lanes;
    }
    return same;
}

static bool is_same_place(const CmdProgram *program, const CmdOperand *a, const CmdOperand *b) {
    const CmdBuffer *x = &program->buffers[a->buffer], *y = &program->buffers[b->buffer];
    return is_same_view(&program->views[a->view], &program->views[b->view]) && x->memory == y->memory &&
           x->offset_bytes * 8 + a->offset_bits == y->offset_bytes * 8 + b->offset_bits &&
           dtype_bits(x->dtype) == dtype_bits(y->dtype);
}

/* Do no two elements share a byte but by sharing a bit? */
static bool has_whole_bytes(const CmdView *view, uint64_t offset_bits, uint32_t element_bits) {
    uint64_t rest = offset_bits % 8 + element_bits % 8;
    for (uint32_t k = 0; k < view->level_count; k++) {
        rest += view->level[k].stride_bits % 8;
    }
    return rest == 0;
}

/* No line can see what another has written. */
static bool is_free_of_order(const Job *job) {
    const Command *command = job->command;
    const CmdProgram *program = job->sim->program;
    const CmdView *view = &program->views[command->dst.view];
    uint32_t bits = element_bits_of(program, command->dst.buffer);
    bool is_in_place =
        is_same_place(program, &command->src, &command->dst) && has_whole_bytes(view, command->dst.offset_bits, bits);
    bool keeps_src = is_in_place || !may_overlap(program, command->src.buffer, command->dst.buffer);
    return command->carry == CMD_CARRY_NONE && keeps_src && walk_is_apart(view, &command->box, bits) &&
           !writes_params(job);
}

/* Is what an index adds to the address the index times a stride? */
static bool is_linear(const CmdView *view, uint32_t axis) {
    bool linear = true;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        linear = linear && (level->axis != axis || (level->div == 1 && level->mod == 0));
    }
    return linear;
}

static bool all_are_linear(const Job *job, uint32_t axis) {
    const CmdView *views = job->sim->program->views;
    const Command *command = job->command;
    bool linear = is_linear(&views[command->src.view], axis) && is_linear(&views[command->dst.view], axis);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            linear = linear && is_linear(&views[command->stages[s].param[p].from.view], axis);
        }
    }
    return linear;
}

/* The most of an axis, without a rest, of which `each` elements an index are few enough. */
static uint64_t largest_part(uint64_t extent, uint64_t each) {
    uint64_t part = extent < UNIT_ELEMENTS / each ? extent : UNIT_ELEMENTS / each;
    while (part > 1 && extent % part != 0) {
        part--;
    }
    return part == 0 ? 1 : part;
}

static void cut_axis(Job *job, uint32_t axis, bool is_free) {
    uint64_t *extent = &job->unit.extent[axis];
    uint64_t elements = walk_elements(&job->unit);
    if (is_free && elements <= UNIT_ELEMENTS) {
        return;
    }
    *extent = is_free && all_are_linear(job, axis) ? largest_part(*extent, elements / *extent) : 1;
}

static void choose_unit(Job *job) {
    job->unit = job->command->box;
    bool is_free = is_free_of_order(job);
    cut_axis(job, AXIS_N, is_free);
    cut_axis(job, AXIS_H, is_free);
    job->count = (size_t)walk_elements(&job->unit);
}

/* ---- The order of elements */

/* Of one strip of places: what is innermost is one loop. */
static size_t add_places(Strip strip, uint32_t *order, size_t count) {
    StripLoop inner = {strip.run, {{0, 1}}};
    if (strip.run == 1 && strip.loop_count > 0) {
        inner = *strip.loop++;
        strip.loop_count--;
    }
    Strips strips = {1, 1, &strip};
    Cursor cursor;
    WalkPoint base = {0, 0};
    for (bool more = cursor_start(&cursor, &strips, &base); more; more = cursor_next(&cursor)) {
        for (uint64_t k = 0; k < inner.extent; k++) {
            order[count++] = (uint32_t)(cursor.at[0].bit + k * inner.step[0].bit);
        }
    }
    return count;
}

static void find_order(Job *job) {
    Frame *frame = &job->sim->frame;
    Strips strips = walk_strips(&job->walk, PLACE, PLACE, frame);
    size_t count = 0;
    if (strips.count == 1 && strips.strip[0].run == job->count) {
        job->order = NULL;
        return;
    }
    job->order = frame_array(frame, uint32_t, job->count);
    for (size_t k = 0; k < strips.count; k++) {
        count = add_places(strips.strip[k], job->order, count);
    }
}

/* ---- Reading and writing a unit */

static void take(Job *job, Place *place, WalkPoint base, DType dtype) {
    access_gather(&place->access, &place->strips, base, place->bits, job->packed);
    if (job->order == NULL) {
        elements_decode(dtype, place->bits, job->packed, job->count, job->code, job->x);
        return;
    }
    elements_decode(dtype, place->bits, job->packed, job->count, job->spare_code, job->spare_x);
    bool is_real = dtype_is_float(dtype);
    for (size_t k = 0; is_real && k < job->count; k++) {
        job->x[job->order[k]] = job->spare_x[k];
    }
    for (size_t k = 0; !is_real && k < job->count; k++) {
        job->code[job->order[k]] = job->spare_code[k];
    }
}

static void give(Job *job, Place *place, WalkPoint base, DType dtype) {
    bool is_real = dtype_is_float(dtype);
    bool is_direct = job->order == NULL;
    for (size_t k = 0; !is_direct && is_real && k < job->count; k++) {
        job->spare_x[k] = job->x[job->order[k]];
    }
    for (size_t k = 0; !is_direct && !is_real && k < job->count; k++) {
        job->spare_code[k] = job->code[job->order[k]];
    }
    elements_encode(dtype, place->bits, job->packed, job->count, is_direct ? job->code : job->spare_code,
                    is_direct ? job->x : job->spare_x);
    access_scatter(&place->access, &place->strips, base, place->bits, job->packed);
}

/* ---- Computing */

/* Where dst keeps what stands at place `place`. */
static WalkPoint address_of(const Job *job, size_t place) {
    size_t wanted = 0, passed = 0;
    while (job->order != NULL && job->order[wanted] != place) {
        wanted++;
    }
    wanted = job->order == NULL ? place : wanted;
    Cursor cursor;
    bool more = cursor_start(&cursor, &job->dst.strips, &job->base_dst);
    while (more && passed + cursor.run <= wanted) {
        passed += (size_t)cursor.run;
        more = cursor_next(&cursor);
    }
    CHECK(more);
    return (WalkPoint){cursor.at[0].lane, cursor.at[0].bit + (wanted - passed) * job->dst.bits};
}

static void fault_at(Job *job, size_t place, StageFault text) {
    if (job->sim->has_fault >> FAULT_NUMBER & 1) {
        return;
    }
    machine_number_fault(job->sim, job->number, job->stage, address_of(job, place), text);
}

/* Every stage is monotone, so an integer passes 32 bits at the least or at the largest code, or at none. */
static void check_codes(Job *job, const BoundStage *bound, size_t first, size_t count) {
    const int32_t *code = job->code + first;
    int32_t least = code[0], most = code[0];
    for (size_t k = 1; k < count; k++) {
        least = code[k] < least ? code[k] : least;
        most = code[k] > most ? code[k] : most;
    }
    if (bound_check(bound, least, 0) == NULL && (most == least || bound_check(bound, most, 0) == NULL)) {
        return;
    }
    size_t k = 0;
    while (bound_check(bound, code[k], 0) == NULL) {
        k++;
    }
    fault_at(job, first + k, bound_check(bound, code[k], 0));
}

static void check_reals(Job *job, const BoundStage *bound, size_t first, size_t count) {
    const float *x = job->x + first;
    float least = x[0], most = x[0];
    bool has_nan = false;
    for (size_t k = 0; k < count; k++) {
        has_nan = has_nan || isnan(x[k]);
        least = x[k] < least ? x[k] : least;
        most = x[k] > most ? x[k] : most;
    }
    if (!has_nan && bound_check(bound, 0, least) == NULL && bound_check(bound, 0, most) == NULL) {
        return;
    }
    for (size_t k = 0; k < count; k++) {
        StageFault fault = bound_check(bound, 0, x[k]);
        if (fault != NULL) {
            fault_at(job, first + k, fault);
            return;
        }
    }
}

static void check_run(Job *job, const BoundStage *bound, size_t first, size_t count) {
    switch (bound->kind) {
    case BOUND_QUANTIZE:
        check_reals(job, bound, first, count);
        break;
    case BOUND_DEQUANTIZE:
    case BOUND_DEQUANTIZE_F64:
    case BOUND_FIXED:
    case BOUND_FIXED_SUM:
    case BOUND_SCALED:
    case BOUND_SCALED_SUM:
        check_codes(job, bound, first, count);
        break;
    default:
        break;
    }
}

static void run_part(Job *job, const BoundKey *key, size_t first, size_t count) {
    if (key->fault != NULL) {
        fault_at(job, first, key->fault);
        memset(job->code + first, 0, count * sizeof *job->code);
        memset(job->x + first, 0, count * sizeof *job->x);
        return;
    }
    if (!key->is_safe) {
        check_run(job, &key->bound, first, count);
    }
    bound_run(&key->bound, job->code + first, job->x + first, (uint32_t)count);
}

/* Neighbouring keys that share what is bound are one run. */
static void run_stage(Job *job, uint32_t stage) {
    const Binding *binding = &job->binding;
    job->stage = stage;
    for (uint32_t key = 0; key < binding->key_count;) {
        uint32_t which = binding_which(binding, stage, key), end = key + 1;
        while (end < binding->key_count && binding_which(binding, stage, end) == which) {
            end++;
        }
        run_part(job, &binding->bound[stage][which], (size_t)key * binding->each, (size_t)(end - key) * binding->each);
        key = end;
    }
}

/* ---- The command */

static uint32_t carried_bits(const Command *command) {
    uint32_t widest = 0;
    for (uint32_t k = 0; k + 1 < command->stage_count; k++) {
        uint32_t bits = dtype_bits(command->stages[k].stage.to);
        widest = bits > widest ? bits : widest;
    }
    return widest;
}

static Place place_of(Job *job, const CmdOperand *operand, uint32_t bits, Writes writes) {
    return (Place){
        .operand = operand, .bits = bits, .access = access_of(job->sim, job->number, operand->buffer, writes)};
}

/* What is carried over src is dst's data: src has lost its own. */
static void place_operands(Job *job) {
    const Command *command = job->command;
    const CmdProgram *program = job->sim->program;
    job->src = place_of(job, &command->src, element_bits_of(program, command->src.buffer), WRITES_DST);
    job->dst = place_of(job, &command->dst, element_bits_of(program, command->dst.buffer), WRITES_DST);
    switch (command->carry) {
    case CMD_CARRY_WORKSPACE:
        job->carry = place_of(job, &command->scratch, carried_bits(command), WRITES_SCRATCH);
        break;
    case CMD_CARRY_INPUT:
        job->carry = job->src;
        job->carry.access.data = job->dst.access.data;
        break;
    default:
        job->carry = job->dst;
    }
}

static void build_walk(Job *job) {
    const CmdView *views = job->sim->program->views;
    Frame *frame = &job->sim->frame;
    job->walk = (Walk){.operand_count = 4, .lead = DST};
    job->walk.operand[SRC] = (WalkOperand){&views[job->src.operand->view], job->src.bits};
    job->walk.operand[DST] = (WalkOperand){&views[job->dst.operand->view], job->dst.bits};
    job->walk.operand[SCRATCH] = (WalkOperand){&views[job->carry.operand->view], job->carry.bits};
    job->walk.operand[PLACE] = (WalkOperand){&job->binding.places, 1};
    walk_build(&job->walk, &job->unit, frame);
    job->src.strips = walk_strips(&job->walk, SRC, SRC, frame);
    job->dst.strips = walk_strips(&job->walk, DST, DST, frame);
    job->carry.strips = walk_strips(&job->walk, SCRATCH, SCRATCH, frame);
}

static void take_memory(Job *job) {
    Frame *frame = &job->sim->frame;
    uint32_t widest = job->src.bits > job->dst.bits ? job->src.bits : job->dst.bits;
    widest = job->carry.bits > widest ? job->carry.bits : widest;
    job->packed = frame_array(frame, uint8_t, (job->count * widest + 7) / 8);
    job->code = frame_array(frame, int32_t, job->count);
    job->spare_code = frame_array(frame, int32_t, job->count);
    job->x = frame_array(frame, float, job->count);
    job->spare_x = frame_array(frame, float, job->count);
}

static WalkPoint base_of(const Job *job, const Place *place, uint64_t n, uint64_t h) {
    const CmdView *view = &job->sim->program->views[place->operand->view];
    WalkPoint at_n = walk_axis(view, AXIS_N, n), at_h = walk_axis(view, AXIS_H, h);
    return (WalkPoint){at_n.lane + at_h.lane, at_n.bit + at_h.bit + place->operand->offset_bits};
}

static void run_unit(Job *job, uint64_t n, uint64_t h) {
    const Command *command = job->command;
    job->base_src = base_of(job, &job->src, n, h);
    job->base_dst = base_of(job, &job->dst, n, h);
    job->base_carry = base_of(job, &job->carry, n, h);
    binding_read(&job->binding, n, h);
    take(job, &job->src, job->base_src, command->stages[0].stage.from);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        DType to = command->stages[s].stage.to;
        run_stage(job, s);
        if (s + 1 < command->stage_count) {
            give(job, &job->carry, job->base_carry, to);
            take(job, &job->carry, job->base_carry, to);
        }
    }
    give(job, &job->dst, job->base_dst, command->stages[command->stage_count - 1].stage.to);
}

/* A parameter has as many elements as the box along the axes on which it steps. */
static uint64_t elements_of_param(const Job *job, const CmdParam *param) {
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        uint64_t extent = job->command->box.extent[axis];
        elements *= walk_steps(&job->sim->program->views[param->from.view], axis, extent) ? extent : 1;
    }
    return elements;
}

static void book(Job *job) {
    Sim *sim = job->sim;
    const Command *command = job->command;
    uint64_t elements = walk_elements(&command->box);
    uint64_t carried = elements * (command->stage_count - 1) * job->carry.bits;
    machine_book(sim, job->number, command->src.buffer, elements * job->src.bits, false);
    machine_book(sim, job->number, command->dst.buffer, elements * job->dst.bits, true);
    machine_book(sim, job->number, job->carry.operand->buffer, carried, true);
    machine_book(sim, job->number, job->carry.operand->buffer, carried, false);
    for (uint32_t s = 0; s < command->stage_count; s++) {
        for (uint32_t p = 0; p < command->stages[s].param_count; p++) {
            const CmdParam *param = &command->stages[s].param[p];
            uint64_t bits = elements_of_param(job, param) * element_bits_of(sim->program, param->from.buffer);
            machine_book(sim, job->number, param->from.buffer, bits, false);
        }
    }
}

void machine_compute(Sim *sim, uint32_t number) {
    Job *job = frame_array(&sim->frame, Job, 1);
    *job = (Job){.sim = sim, .number = number, .command = &sim->program->commands[number]};
    const CmdBox *box = &job->command->box;
    choose_unit(job);
    place_operands(job);
    binding_init(&job->binding, sim, number, &job->unit);
    build_walk(job);
    find_order(job);
    take_memory(job);
    for (uint64_t n = 0; n < box->extent[AXIS_N]; n += job->unit.extent[AXIS_N]) {
        for (uint64_t h = 0; h < box->extent[AXIS_H]; h += job->unit.extent[AXIS_H]) {
            run_unit(job, n, h);
        }
    }
    binding_end(&job->binding);
    access_end(&job->src.access);
    access_end(&job->dst.access);
    access_end(&job->carry.access);
    book(job);
}
