/* The commands of a sweep: one for each event of sweep_walk. */
#include "program/writing.h"

#include "base/fault.h"
#include "layout/packed.h"

#include <string.h>

static const uint64_t at_zero[DIM_COUNT] = {0};

/* ---- Operands */

CmdOperand writing_part(Writing *writing, const SweepOperand *operand, LocalPart *part, uint32_t buffer,
                        const uint64_t extent[DIM_COUNT], const uint64_t first[DIM_COUNT]) {
    if (!part->is_known || memcmp(part->extent, extent, sizeof part->extent) != 0) {
        CHECK(sweep_local_view(&writing->planned->sweep, operand, extent, &part->view));
        memcpy(part->extent, extent, sizeof part->extent);
        part->is_known = true;
    }
    return program_operand(writing->builder, buffer, &part->view, first);
}

CmdOperand writing_map(Writing *writing, bool is_in, uint32_t slot, const ViewBox *box) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *operand = is_in ? &planned->sweep.in : &planned->sweep.out;
    const BufferId *local = is_in ? planned->in_local : planned->out_local;
    uint32_t buffer = program_buffer(writing->builder, local[operand->is_far ? slot : 0], DTYPE_NONE);
    return writing_part(writing, operand, is_in ? &writing->in : &writing->out, buffer, box->extent,
                        operand->is_far ? at_zero : box->first);
}

static BufferId local_of(const PlannedSweep *planned, uint32_t i, uint32_t slot) {
    const BufferId *local = planned->params[i].local;
    return local[is_buffer(local[1]) ? slot : 0];
}

/* Of a parameter: the part of a tile, or a box of one that stays, or of a map that lies there whole. `box` is of the
 * parameter. */
CmdOperand writing_param(Writing *writing, uint32_t i, uint32_t slot, const ViewBox *box) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *operand = &planned->sweep.params[i];
    bool stays = sweep_stays(writing->choice, &planned->sweep, operand);
    uint32_t buffer = program_buffer(writing->builder, local_of(planned, i, slot), DTYPE_NONE);
    return writing_part(writing, operand, &writing->params[i], buffer, stays ? operand->shape.extent : box->extent,
                        stays || !operand->is_far ? box->first : at_zero);
}

/* What the engine reads of a parameter for a box of the map. */
static CmdOperand read_operand(Writing *writing, uint32_t i, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    const SweepOperand *param = &planned->sweep.params[i];
    if (param->form == NULL) {
        ViewBox box = sweep_box(param, &event->box);
        return writing_param(writing, i, event->slot, &box);
    }
    ViewBox box = sweep_form_box(param, &event->box);
    uint32_t buffer = program_buffer(writing->builder, planned->params[i].form, DTYPE_NONE);
    return writing_part(writing, param->form, &writing->forms[i], buffer, box.extent, at_zero);
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
        return writing_map(writing, true, event->slot, &event->box);
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

Command writing_command(const SweepEvent *event, const ViewBox *box) {
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    Command command = {.queue = (uint8_t)event->queue,
                       .src = none,
                       .dst = none,
                       .table = none,
                       .scratch = none,
                       .weights = none,
                       .bias = none};
    memcpy(command.box.extent, box->extent, sizeof command.box.extent);
    return command;
}

void writing_add(Writing *writing, Command command, const SweepEvent *event) {
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
    Command command = writing_command(event, &event->box);
    if (event->kind == SWEEP_STORE) {
        command.op = CMD_STORE;
        command.column = CMD_COLUMN_STORE;
        command.node = program_node(writing->builder, planned->nodes[planned->node_count - 1]);
        command.src = writing_map(writing, false, event->slot, &event->box);
        command.dst = far_operand(writing, planned->out_far, &planned->sweep.out, &event->box);
    } else if (event->kind == SWEEP_LOAD_INPUT) {
        command.op = CMD_LOAD;
        command.column = CMD_COLUMN_LOAD_INPUT;
        command.node = program_node(writing->builder, planned->nodes[0]);
        command.src = far_operand(writing, planned->in_far, &planned->sweep.in, &event->box);
        command.dst = writing_map(writing, true, event->slot, &event->box);
    } else {
        const SweepParam *param = &planned->params[event->which];
        command.op = CMD_LOAD;
        command.column = planned->sweep.params[event->which].is_map ? CMD_COLUMN_LOAD_INPUT : CMD_COLUMN_LOAD_PARAM;
        command.node = program_node(writing->builder, planned->nodes[param->node]);
        command.src = far_operand(writing, param->far, &planned->sweep.params[event->which], &event->box);
        command.dst = writing_param(writing, event->which, event->slot, &event->box);
    }
    writing_add(writing, command, event);
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
    Command command = writing_command(event, &event->box);
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
    command.dst = writing_part(writing, planned->sweep.params[event->which].form, &writing->forms[event->which], buffer,
                               event->box.extent, at_zero);
    writing_add(writing, command, event);
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
    Command command = writing_command(event, &event->box);
    command.stage_count = write_stages(writing, event, first, last, stages);
    command.stages = keep_stages(writing, stages, command.stage_count,
                                 &writing->last_stages[(size_t)first * COMMAND_SLOTS + event->slot]);
    command.op = command.stage_count == 1 ? cmd_op_of(stages[0].stage.kind) : CMD_AFFINE;
    command.column = column_of(stages, command.stage_count);
    command.node = program_node(writing->builder, planned->nodes[first]);
    command.semantics = writing->builder->semantics;
    command.src = first == 0 ? input_operand(writing, event) : between_operand(writing, event, first - 1);
    command.dst = last == planned->node_count ? writing_map(writing, false, event->slot, &event->box)
                                              : between_operand(writing, event, last - 1);
    set_carry(writing, &command, event);
    writing_add(writing, command, event);
}

static void hear(void *context, const SweepEvent *event) {
    Writing *writing = context;
    if (writing->why != NULL) {
        return;
    }
    if (event->kind == SWEEP_COMPUTE && writing->planned->stages == NULL) {
        operator_write(writing, event);
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

bool program_sweep(ProgramBuilder *builder, const PlannedSweep *planned) {
    Arena *scratch = &builder->work->scratch;
    const SweepChoice *choice = &planned->chosen.best.choice;
    Writing writing = {
        .builder = builder, .planned = planned, .choice = choice, .kernel = kernel_contract(&planned->sweep, choice)};
    if (!program_check_types(builder, planned) ||
        !(planned->stages == NULL ? operator_find(&writing) : check_params(builder, planned)) ||
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
    return writing.why == NULL || operator_refuse(&writing, writing.why);
}
