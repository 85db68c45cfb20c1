/* The commands of a sweep: one for each event of sweep_walk. */
#include "plan/node_command.h"
#include "program/builder.h"

#include "base/fault.h"
#include "graph/box.h"
#include "layout/packed.h"
#include "plan/tensor.h"
#include "sweep/kernel.h"

#include <string.h>

/* The part of an operand that a tile's buffer holds, as it lies there. Tiles of one shape follow one another. */
typedef struct {
    bool is_known;
    uint64_t extent[DIM_COUNT];
    View view;
} LocalPart;

enum { COMMAND_SLOTS = 2 };

typedef struct {
    ProgramBuilder *builder;
    const PlannedSweep *planned;
    const SweepChoice *choice;
    KernelContract kernel;
    uint32_t last_of_key[WAIT_KEYS];
    LocalPart in, out, *params;   /* params: one for each */
    LocalPart *forms;             /* of each parameter */
    const CmdStage **last_stages; /* node, or all nodes; slot -> stages of the last command */
    NodeCommand command;          /* of an operator that is not per-channel */
    const CmdStage *command_stage;
    const char *why; /* a tile has no command; else null */
} Writing;

static const uint64_t at_zero[DIM_COUNT] = {0};

/* ---- Operands */

static CmdOperand part_operand(Writing *writing, const SweepOperand *operand, LocalPart *part, uint32_t buffer,
                               const uint64_t extent[DIM_COUNT], const uint64_t first[DIM_COUNT]) {
    if (!part->is_known || memcmp(part->extent, extent, sizeof part->extent) != 0) {
        CHECK(sweep_local_view(&writing->planned->sweep, operand, extent, &part->view));
        memcpy(part->extent, extent, sizeof part->extent);
        part->is_known = true;
    }
    return program_operand(writing->builder, buffer, &part->view, first);
}

/* Of a map in local memory: a tile of its own, or a box of what lies there whole. */
static CmdOperand map_operand(Writing *writing, bool is_in, uint32_t slot, const ViewBox *box) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *operand = is_in ? &planned->sweep.in : &planned->sweep.out;
    const BufferId *local = is_in ? planned->in_local : planned->out_local;
    uint32_t buffer = program_buffer(writing->builder, local[operand->is_far ? slot : 0], DTYPE_NONE);
    return part_operand(writing, operand, is_in ? &writing->in : &writing->out, buffer, box->extent,
                        operand->is_far ? at_zero : box->first);
}

static BufferId local_of(const PlannedSweep *planned, uint32_t i, uint32_t slot) {
    const BufferId *local = planned->params[i].local;
    return local[is_buffer(local[1]) ? slot : 0];
}

/* Of a parameter: the part of a tile, or a box of one that stays, or of a map that lies there whole. `box` is of the
 * parameter. */
static CmdOperand param_operand(Writing *writing, uint32_t i, uint32_t slot, const ViewBox *box) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *operand = &planned->sweep.params[i];
    bool stays = sweep_stays(writing->choice, &planned->sweep, operand);
    uint32_t buffer = program_buffer(writing->builder, local_of(planned, i, slot), DTYPE_NONE);
    return part_operand(writing, operand, &writing->params[i], buffer, stays ? operand->shape.extent : box->extent,
                        stays || !operand->is_far ? box->first : at_zero);
}

/* What the engine reads of a parameter for a box of the map. */
static CmdOperand read_operand(Writing *writing, uint32_t i, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *param = &planned->sweep.params[i];
    if (param->form == NULL) {
        ViewBox box = sweep_box(param, &event->box);
        return param_operand(writing, i, event->slot, &box);
    }
    ViewBox box = sweep_form_box(param, &event->box);
    uint32_t buffer = program_buffer(writing->builder, planned->params[i].form, DTYPE_NONE);
    return part_operand(writing, param->form, &writing->forms[i], buffer, box.extent, at_zero);
}

/* A parameter or its form, which repeats over `box` of a tensor of that shape; `box` begins where it does. */
static CmdOperand repeat_over(Writing *writing, const SweepOperand *operand, BufferId id, LayoutShape shape,
                              const ViewBox *box) {
    const Sweep *sweep = &writing->planned->sweep;
    bool stays = !operand->is_far || sweep_stays(writing->choice, sweep, operand);
    LayoutShape held = operand->shape;
    View view;
    for (int d = 0; d < DIM_COUNT; d++) {
        held.extent[d] = !stays && held.extent[d] > box->extent[d] ? box->extent[d] : held.extent[d];
        shape.extent[d] = held.extent[d] == 1 ? box->extent[d] : held.extent[d];
    }
    CHECK(sweep_local_view(sweep, operand, held.extent, &view) && view_broadcast(&view, &shape));
    return program_operand(writing->builder, program_buffer(writing->builder, id, DTYPE_NONE), &view,
                           stays ? box->first : at_zero);
}

/* A parameter in the slot, which repeats over `box` of its form. */
static CmdOperand repeated_operand(Writing *writing, uint32_t i, uint32_t slot, const ViewBox *box) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *param = &planned->sweep.params[i];
    return repeat_over(writing, param, local_of(planned, i, slot), param->form->shape, box);
}

/* What goes in for a box of the map: of a map, or of what repeats to be one. */
static CmdOperand input_operand(Writing *writing, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    uint32_t i = planned->in_param;
    if (i == NO_PARAM) {
        return map_operand(writing, true, event->slot, &event->box);
    }
    const SweepOperand *read = sweep_read(&planned->sweep.params[i]);
    ViewBox box = sweep_box(read, &event->box);
    memcpy(box.extent, event->box.extent, sizeof box.extent);
    bool is_form = is_buffer(planned->params[i].form);
    return repeat_over(writing, read, is_form ? planned->params[i].form : local_of(planned, i, event->slot),
                       planned->sweep.in.shape, &box);
}

/* A line that each stage leaves its result in, or a map between two nodes. */
static CmdOperand workspace_operand(Writing *writing, BufferId id, const SweepEvent *event, uint32_t which,
                                    DType dtype) {
    View view;
    uint64_t bytes;
    CHECK(kernel_workspace(&writing->kernel, which, event->box.extent, &view, &bytes));
    return program_operand(writing->builder, program_buffer(writing->builder, id, dtype), &view, at_zero);
}

/* ---- Commands */

static Command new_command(const SweepEvent *event, const ViewBox *box) {
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    Command command = {
        .queue = (uint8_t)event->queue, .src = none, .dst = none, .scratch = none, .weights = none, .bias = none};
    memcpy(command.box.extent, box->extent, sizeof command.box.extent);
    return command;
}

static void add_command(Writing *writing, Command command, const SweepEvent *event) {
    uint32_t waits[WAIT_KEYS], count = 0;
    for (uint32_t key = 0; key < WAIT_KEYS; key++) {
        if ((event->waits >> key & 1) != 0 && writing->last_of_key[key] != CMD_NONE) {
            waits[count++] = writing->last_of_key[key];
        }
    }
    uint32_t number = program_add(writing->builder, command, waits, count);
    for (uint32_t key = 0; key < WAIT_KEYS; key++) {
        writing->last_of_key[key] = event->key == 1u << key ? number : writing->last_of_key[key];
    }
}

static CmdOperand far_operand(Writing *writing, BufferId id, const SweepOperand *operand, const ViewBox *box) {
    return program_box_operand(writing->builder, program_buffer(writing->builder, id, DTYPE_NONE), &operand->whole,
                               box);
}

static void write_move(Writing *writing, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    Command command = new_command(event, &event->box);
    if (event->kind == SWEEP_STORE) {
        command.op = CMD_STORE;
        command.column = CMD_COLUMN_STORE;
        command.node = program_node(writing->builder, planned->nodes[planned->node_count - 1]);
        command.src = map_operand(writing, false, event->slot, &event->box);
        command.dst = far_operand(writing, planned->out_far, &planned->sweep.out, &event->box);
    } else if (event->kind == SWEEP_LOAD_INPUT) {
        command.op = CMD_LOAD;
        command.column = CMD_COLUMN_LOAD_INPUT;
        command.node = program_node(writing->builder, planned->nodes[0]);
        command.src = far_operand(writing, planned->in_far, &planned->sweep.in, &event->box);
        command.dst = map_operand(writing, true, event->slot, &event->box);
    } else {
        const SweepParam *param = &planned->params[event->which];
        command.op = CMD_LOAD;
        command.column = planned->sweep.params[event->which].is_map ? CMD_COLUMN_LOAD_INPUT : CMD_COLUMN_LOAD_PARAM;
        command.node = program_node(writing->builder, planned->nodes[param->node]);
        command.src = far_operand(writing, param->far, &planned->sweep.params[event->which], &event->box);
        command.dst = param_operand(writing, event->which, event->slot, &event->box);
    }
    add_command(writing, command, event);
}

/* ---- Forms */

static uint64_t number_of(Writing *writing, const Buffer *far) {
    Span packed;
    CHECK(program_constant(writing->builder->plan->graph, far, writing->builder->work, &packed));
    return packed_read(packed.ptr, 0, dtype_bits(far->dtype));
}

static void write_form(Writing *writing, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    const SweepParam *param = &planned->params[event->which];
    Command command = new_command(event, &event->box);
    uint32_t buffer = program_buffer(writing->builder, param->form, DTYPE_NONE);
    command.node = program_node(writing->builder, planned->nodes[param->node]);
    if (event->kind == SWEEP_FILL) {
        command.op = CMD_FILL;
        command.column = CMD_COLUMN_FILL;
        command.code = number_of(writing, plan_buffer(writing->builder->plan, param->far));
    } else {
        command.op = CMD_COPY;
        command.column = CMD_COLUMN_COPY;
        command.src = repeated_operand(writing, event->which, event->slot, &event->box);
    }
    command.dst = part_operand(writing, planned->sweep.params[event->which].form, &writing->forms[event->which], buffer,
                               event->box.extent, at_zero);
    add_command(writing, command, event);
}

/* ---- What computes */

static CmdParamKind kind_of(Gives gives) {
    static const CmdParamKind kind[] = {
        [GIVES_NUMBER] = CMD_PARAM_NUMBER, [GIVES_VALUE] = CMD_PARAM_VALUE,
        [GIVES_GAMMA] = CMD_PARAM_GAMMA,   [GIVES_BETA] = CMD_PARAM_BETA,
        [GIVES_MEAN] = CMD_PARAM_MEAN,     [GIVES_VARIANCE] = CMD_PARAM_VARIANCE,
        [GIVES_SCALE] = CMD_PARAM_SCALE,   [GIVES_ZERO_POINT] = CMD_PARAM_ZERO_POINT,
        [GIVES_LO] = CMD_PARAM_LO,         [GIVES_HI] = CMD_PARAM_HI,
    };
    return kind[gives];
}

/* Stages of nodes [first, last). */
static uint32_t write_stages(Writing *writing, const SweepEvent *event, uint32_t first, uint32_t last,
                             CmdStage stages[CMD_MAX_STAGES]) {
    const PlannedSweep *planned = writing->planned;
    uint32_t count = 0, use = 0;
    while (use < planned->use_count && planned->uses[use].node < first) {
        use++;
    }
    for (uint32_t n = first; n < last; n++) {
        for (uint32_t s = 0; s < planned->stages[n].count; s++) {
            const NodeStage *from = &planned->stages[n].stage[s];
            CmdStage *to = &stages[count++];
            CHECK(count <= CMD_MAX_STAGES && from->param_count <= CMD_MAX_PARAMS);
            memset(to, 0, sizeof *to);
            to->stage = from->stage;
            for (uint32_t p = 0; p < from->param_count; p++, use++) {
                uint32_t param = planned->uses[use].param;
                CmdParam *of = &to->param[to->param_count++];
                of->kind = kind_of(from->param[p].gives);
                of->from = param == MAP_AS_PARAM ? input_operand(writing, event) : read_operand(writing, param, event);
                of->is_coded = from->param[p].is_coded;
                of->code = from->param[p].is_coded ? from->param[p].code : (StageCode){0, 0};
            }
        }
    }
    return count;
}

/* Tiles mostly have the stages of the last one. */
static const CmdStage *keep_stages(Writing *writing, const CmdStage *stages, uint32_t count, const CmdStage **last) {
    size_t bytes = count * sizeof *stages;
    if (*last == NULL || memcmp(*last, stages, bytes) != 0) {
        CmdStage *kept = arena_array(&writing->builder->work->keep, CmdStage, count);
        memcpy(kept, stages, bytes);
        *last = kept;
    }
    return *last;
}

static uint32_t widest_handed_on(const CmdStage *stages, uint32_t count) {
    uint32_t widest = 0;
    for (uint32_t k = 1; k < count; k++) {
        widest = dtype_bits(stages[k].stage.from) > dtype_bits(stages[widest].stage.from) || widest == 0 ? k : widest;
    }
    return widest;
}

static void set_carry(Writing *writing, Command *command, const SweepEvent *event) {
    static const CmdCarry carry[] = {[CARRY_NONE] = CMD_CARRY_NONE,
                                     [CARRY_OUTPUT] = CMD_CARRY_OUTPUT,
                                     [CARRY_INPUT] = CMD_CARRY_INPUT,
                                     [CARRY_WORKSPACE] = CMD_CARRY_WORKSPACE};
    const PlannedSweep *planned = writing->planned;
    if (command->stage_count == 1) {
        return;
    }
    command->carry = carry[writing->choice->carry];
    if (command->carry == CMD_CARRY_WORKSPACE) {
        uint32_t widest = widest_handed_on(command->stages, command->stage_count);
        command->scratch = workspace_operand(writing, planned->workspace[event->slot], event, KERNEL_LINE,
                                             command->stages[widest].stage.from);
    }
}

/* The first stage that is no coder names what a command of several does. */
static CmdColumn column_of(const CmdStage *stages, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        StageKind kind = stages[k].stage.kind;
        if (kind != STAGE_DEQUANTIZE && kind != STAGE_QUANTIZE) {
            return cmd_column_of(kind);
        }
    }
    return cmd_column_of(stages[0].stage.kind);
}

static CmdOperand between_operand(Writing *writing, const SweepEvent *event, uint32_t n) {
    const PlannedSweep *planned = writing->planned;
    const NodeStages *node = &planned->stages[n];
    return workspace_operand(writing, planned->handed[2 * n + event->slot], event, n,
                             node->stage[node->count - 1].stage.to);
}

static void write_compute(Writing *writing, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    bool is_all = event->which == SWEEP_ALL_NODES;
    uint32_t first = is_all ? 0 : event->which, last = is_all ? planned->node_count : event->which + 1;
    CmdStage stages[CMD_MAX_STAGES];
    Command command = new_command(event, &event->box);
    command.stage_count = write_stages(writing, event, first, last, stages);
    command.stages = keep_stages(writing, stages, command.stage_count,
                                 &writing->last_stages[(size_t)first * COMMAND_SLOTS + event->slot]);
    command.op = command.stage_count == 1 ? cmd_op_of(stages[0].stage.kind) : CMD_AFFINE;
    command.column = column_of(stages, command.stage_count);
    command.node = program_node(writing->builder, planned->nodes[first]);
    command.semantics = writing->builder->semantics;
    command.src = first == 0 ? input_operand(writing, event) : between_operand(writing, event, first - 1);
    command.dst = last == planned->node_count ? map_operand(writing, false, event->slot, &event->box)
                                              : between_operand(writing, event, last - 1);
    set_carry(writing, &command, event);
    add_command(writing, command, event);
}

/* ---- What goes over windows */

/* Of a tile whose first index of dst is `at`, and whose part of src begins at index `from`. */
static CmdSlide tile_slide(const CmdSlide *whole, uint64_t at, uint64_t from) {
    CmdSlide slide = *whole;
    slide.before += (int64_t)from - (int64_t)(at * whole->stride);
    slide.extent -= from;
    CHECK(from == 0 || slide.before <= 0); /* what lies before the part is no padding */
    return slide;
}

static const CmdWindow *tile_window(const Writing *writing, const ViewBox *out, const ViewBox *in) {
    const CmdWindow *whole = &writing->command.window;
    CmdWindow *window = arena_new(&writing->builder->work->keep, CmdWindow);
    *window = *whole;
    window->h = tile_slide(&whole->h, out->first[DIM_H], in->first[DIM_H]);
    window->w = tile_slide(&whole->w, out->first[DIM_W], in->first[DIM_W]);
    window->group_first = out->first[DIM_C] % whole->group_dst;
    if (whole->scale_count > 1) {
        window->scales = whole->scales + out->first[DIM_C];
        window->scale_count = (uint32_t)out->extent[DIM_C];
    }
    return window;
}

static bool no_tile(Writing *writing, const char *why) {
    writing->why = why;
    return false;
}

/* Weights that lie there as rows, read as windows. */
static bool unfold_weights(Writing *writing, uint32_t i, CmdOperand *weights) {
    const NodeCommand *command = &writing->command;
    const View *view = &writing->params[i].view;
    uint64_t rows = view->shape.extent[DIM_O], inputs = view->shape.extent[DIM_I];
    const ViewAxis from[] = {{rows, DIM_O}, {inputs, DIM_I}};
    const ViewBox all = {.extent = {1, 1, 1, 1, 1, 1}};
    ViewAxis as[SHAPE_MAX_RANK + 1] = {{rows, DIM_O}};
    ViewRadix radix;
    memcpy(as + 1, command->flat, command->flat_rank * sizeof *as);
    return (view_radix(&(ViewOrder){view, from, 2}, NULL, &radix) &&
            program_reorder(writing->builder, &radix, (ProgramAxes){command->flat_rank + 1, as}, &all, weights)) ||
           no_tile(writing, "its weights lie in blocks that no view reads as windows");
}

static bool set_factors(Writing *writing, const SweepEvent *event, Command *command) {
    const PlannedSweep *planned = writing->planned;
    bool ok = true;
    for (uint32_t i = 0; ok && i < planned->sweep.param_count; i++) {
        bool is_weights = planned->params[i].input == WINDOW_WEIGHTS;
        CmdOperand *operand = is_weights ? &command->weights : &command->bias;
        ViewBox box = sweep_box(&planned->sweep.params[i], &event->box);
        *operand = param_operand(writing, i, event->slot, &box);
        ok = box.first[is_weights ? DIM_O : DIM_C] == event->box.first[DIM_C] ||
             no_tile(writing, "a tile begins inside a block of its factors");
        ok = ok && (!is_weights || writing->command.flat_rank == 0 || unfold_weights(writing, i, operand));
    }
    return ok;
}

/* The map from the first channel's group on: of groups before it the tile may have channels too. */
static bool set_source(Writing *writing, const SweepEvent *event, const ViewBox *in, CmdOperand *src) {
    const PlannedSweep *planned = writing->planned;
    const CmdWindow *window = &writing->command.window;
    bool is_far = planned->sweep.in.is_far;
    uint64_t channel = event->box.first[DIM_C] / window->group_dst * window->group_src, first[DIM_COUNT];
    memcpy(first, is_far ? at_zero : in->first, sizeof first);
    first[DIM_C] = is_far ? channel - in->first[DIM_C] : channel; /* a part begins at most there */
    uint32_t buffer = program_buffer(writing->builder, planned->in_local[is_far ? event->slot : 0], DTYPE_NONE);
    *src = part_operand(writing, &planned->sweep.in, &writing->in, buffer, in->extent, first);
    return (in->first[DIM_N] == event->box.first[DIM_N] && first[DIM_C] % view_grain(&writing->in.view, DIM_C) == 0) ||
           no_tile(writing, "a tile begins inside a block of what it reads");
}

static bool set_window(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    command->semantics = writing->builder->semantics;
    command->stage_count = 1;
    command->stages = writing->command_stage;
    command->dst = map_operand(writing, false, event->slot, &event->box);
    command->window = tile_window(writing, &event->box, in);
    return set_source(writing, event, in, &command->src) && set_factors(writing, event, command);
}

/* ---- What moves */

/* The axes of a tensor of which a part of `extent` lies there. False where it is cut along a dimension of several. */
static bool axes_of_part(const Value *value, const uint64_t extent[DIM_COUNT], ViewAxis axes[SHAPE_MAX_RANK]) {
    const Tensor tensor = tensor_of_value(value, ROLE_ACTIVATION);
    uint64_t product[DIM_COUNT] = {1, 1, 1, 1, 1, 1}, longest[DIM_COUNT] = {1, 1, 1, 1, 1, 1};
    tensor_axes(&tensor, axes);
    for (uint32_t k = 0; k < tensor.shape->rank; k++) {
        product[axes[k].dim] *= axes[k].extent; /* of a view, whose bits fit 64 bits */
        longest[axes[k].dim] = axes[k].extent > longest[axes[k].dim] ? axes[k].extent : longest[axes[k].dim];
    }
    for (uint32_t k = 0; k < tensor.shape->rank; k++) {
        Dim d = axes[k].dim;
        if (extent[d] != product[d] && longest[d] != product[d]) {
            return false;
        }
        axes[k].extent = axes[k].extent == product[d] && product[d] != 1 ? extent[d] : axes[k].extent;
    }
    return true;
}

/* A map that a copy reads or writes: the box of it that belongs to a tile. */
typedef struct {
    const Value *value;
    const SweepOperand *map;
    const View *view; /* of the part that lies there for the tile, or of what lies there whole */
    ViewBox box;
} CopySide;

/* The operand of a side by the index of the other one: its elements are counted over `perm`. */
static bool set_order(Writing *writing, const CopySide *side, const uint32_t *perm, const CopySide *index,
                      CmdOperand *operand) {
    ViewAxis axes[SHAPE_MAX_RANK], as[SHAPE_MAX_RANK];
    ViewBox box = index->box;
    ViewRadix radix;
    if (side->map->is_far) {
        memset(box.first, 0, sizeof box.first);
    }
    return axes_of_part(side->value, side->view->shape.extent, axes) &&
           axes_of_part(index->value, side->map->is_far ? box.extent : index->map->shape.extent, as) &&
           view_radix(&(ViewOrder){side->view, axes, side->value->shape.rank}, perm, &radix) &&
           program_reorder(writing->builder, &radix, (ProgramAxes){index->value->shape.rank, as}, &box, operand);
}

/* As it lies there, from its first element on; `whole` where that is to be the first of all. */
static CmdOperand side_operand(Writing *writing, bool is_in, uint32_t slot, const CopySide *side, bool whole) {
    ViewBox box = whole && !side->map->is_far ? view_whole_box(&side->map->shape) : side->box;
    return map_operand(writing, is_in, slot, &box);
}

/* By the index of dst; or by that of src, which may lie in blocks that are not full. */
static bool set_copy(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    const PlannedSweep *planned = writing->planned;
    const Graph *graph = writing->builder->plan->graph;
    const Node *node = graph_node(graph, planned->nodes[0]);
    const uint32_t *perm = writing->command.perm;
    const CopySide src = {node_input(graph, node, node_data_input(node)), &planned->sweep.in, &writing->in.view, *in};
    const CopySide dst = {node_output(graph, node, 0), &planned->sweep.out, &writing->out.view, event->box};
    uint32_t back[SHAPE_MAX_RANK];
    for (uint32_t k = 0; k < SHAPE_MAX_RANK; k++) {
        back[perm[k]] = k;
    }
    command->column = CMD_COLUMN_COPY;
    command->src = side_operand(writing, true, event->slot, &src, true);
    command->dst = side_operand(writing, false, event->slot, &dst, false);
    if (set_order(writing, &src, perm, &dst, &command->src)) {
        return true;
    }
    memcpy(command->box.extent, in->extent, sizeof command->box.extent);
    command->src = side_operand(writing, true, event->slot, &src, false);
    command->dst = side_operand(writing, false, event->slot, &dst, true);
    return set_order(writing, &dst, back, &src, &command->dst) ||
           no_tile(writing, "its elements lie in blocks that no view reads in another order");
}

/* The command of an operator that is not per-channel. */
static void write_operator(Writing *writing, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    ViewBox in = sweep_box(&planned->sweep.in, &event->box);
    Command command = new_command(event, &event->box);
    command.op = writing->command.op;
    command.column = CMD_COLUMN_COMPUTE;
    command.node = program_node(writing->builder, planned->nodes[0]);
    if (command.op == CMD_COPY ? set_copy(writing, event, &in, &command) : set_window(writing, event, &in, &command)) {
        add_command(writing, command, event);
    }
}

static void hear(void *context, const SweepEvent *event) {
    Writing *writing = context;
    if (writing->why != NULL) {
        return;
    }
    if (event->kind == SWEEP_COMPUTE && writing->planned->stages == NULL) {
        write_operator(writing, event);
    } else if (event->kind == SWEEP_COMPUTE) {
        write_compute(writing, event);
    } else if (event->kind == SWEEP_COPY || event->kind == SWEEP_FILL) {
        write_form(writing, event);
    } else {
        write_move(writing, event);
    }
}

/* ---- A sweep */

static bool check_params(const ProgramBuilder *builder, const PlannedSweep *planned) {
    const Graph *graph = builder->plan->graph;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const SweepParam *param = &planned->params[i];
        const Node *node = graph_node(graph, planned->nodes[param->node]);
        if (!sweep_fits_map(&sweep_read(&planned->sweep.params[i])->shape, &planned->sweep.in.shape)) {
            return diag_refuse(&builder->work->diags,
                               (DiagText){.node = node->name,
                                          .tensor = node_input(graph, node, param->input)->name,
                                          .what = "the parameter goes along some of the axes that are one dimension "
                                                  "of its map, so no command reads it",
                                          .hint = "run one chain with --node"});
        }
    }
    return true;
}

static bool refuse(const Writing *writing, const char *why) {
    const ProgramBuilder *builder = writing->builder;
    const Node *node = graph_node(builder->plan->graph, writing->planned->nodes[0]);
    Arena *arena = builder->work->diags.arena;
    return diag_refuse(&builder->work->diags,
                       (DiagText){.node = node_title(arena, node),
                                  .what = arena_text(arena, "no command runs this operator: %s", why),
                                  .hint = "run one chain of the network with --node"});
}

/* Of an operator that is not per-channel. */
static bool find_command(Writing *writing) {
    const ProgramBuilder *builder = writing->builder;
    const PlannedSweep *planned = writing->planned;
    const Graph *graph = builder->plan->graph;
    Arena *keep = &builder->work->keep;
    CmdStage *stage = arena_new(keep, CmdStage);
    const char *why;
    if (!node_command(graph, graph_node(graph, planned->nodes[0]), keep, &writing->command, &why)) {
        return refuse(writing, why != NULL ? why : "no command computes it");
    }
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        const SweepParam *param = &planned->params[i];
        if (plan_buffer(builder->plan, param->far)->record_bits > 0) {
            return refuse(writing, "its bias is part of records");
        }
        CHECK(param->input == WINDOW_WEIGHTS || param->input == WINDOW_BIAS);
    }
    stage->stage = writing->command.stage;
    writing->command_stage = stage;
    return true;
}

bool program_sweep(ProgramBuilder *builder, const PlannedSweep *planned) {
    Arena *scratch = &builder->work->scratch;
    const SweepChoice *choice = &planned->chosen.best.choice;
    Writing writing = {
        .builder = builder, .planned = planned, .choice = choice, .kernel = kernel_contract(&planned->sweep, choice)};
    if (!(planned->stages == NULL ? find_command(&writing) : check_params(builder, planned)) ||
        (planned->sweep.in.is_far && !program_show(builder, planned->in_far)) ||
        (planned->sweep.out.is_far && !program_show(builder, planned->out_far))) {
        return false;
    }
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        if (planned->sweep.params[i].is_far && !program_show(builder, planned->params[i].far)) {
            return false;
        }
    }
    for (uint32_t key = 0; key < WAIT_KEYS; key++) {
        writing.last_of_key[key] = CMD_NONE;
    }
    writing.params = arena_array(scratch, LocalPart, planned->sweep.param_count);
    writing.forms = arena_array(scratch, LocalPart, planned->sweep.param_count);
    writing.last_stages = arena_array(scratch, const CmdStage *, (size_t)planned->node_count *COMMAND_SLOTS);
    program_begin(builder);
    sweep_walk(&planned->sweep, writing.choice, (SweepListener){.hear = hear, .context = &writing});
    return writing.why == NULL || refuse(&writing, writing.why);
}
