/* From a plan to a program, step by step: sweeps, whole loads and whole stores. */
#include "program/program.h"

#include "base/checked.h"
#include "base/fault.h"
#include "layout/packed.h"
#include "node/command.h"
#include "node/table.h"
#include "plan/plan_cost.h"
#include "program/builder.h"
#include "sweep/cycles.h"
#include "sweep/parts.h"

#include <inttypes.h>

/* ---- Whole tensors */

static CmdColumn column_of(Column column) {
    return column == COLUMN_LOAD_INPUT   ? CMD_COLUMN_LOAD_INPUT
           : column == COLUMN_LOAD_PARAM ? CMD_COLUMN_LOAD_PARAM
                                         : CMD_COLUMN_STORE;
}

static bool find_views(ProgramBuilder *builder, const Step *step, uint32_t k, View *from, View *to) {
    const Plan *plan = builder->plan;
    return program_whole_view(builder, plan_buffer(plan, step->reads[k]), from) &&
           program_whole_view(builder, plan_buffer(plan, step->writes[k]), to);
}

static void write_part(ProgramBuilder *builder, Command command, const View *from, const View *to, const ViewBox *box) {
    for (int d = 0; d < DIM_COUNT; d++) {
        command.box.extent[d] = box->extent[d];
    }
    command.src = program_operand(builder, command.src.buffer, from, box->first);
    command.dst = program_operand(builder, command.dst.buffer, to, box->first);
    program_add(builder, command, NULL, 0);
}

static const Value *value_of_move(const Plan *plan, const Step *step, uint32_t k) {
    return graph_value(plan->graph, plan_buffer(plan, step->reads[k])->value);
}

static bool write_whole(ProgramBuilder *builder, const Step *step, uint32_t k) {
    const CmdOperand none = {CMD_NONE, CMD_NONE, 0};
    const Device *device = builder->plan->device;
    bool is_store = step->column == COLUMN_STORE, more = true;
    View from, to;
    if (!program_show(builder, is_store ? step->writes[k] : step->reads[k]) ||
        !find_views(builder, step, k, &from, &to)) {
        return false;
    }
    Command command = {.op = is_store ? CMD_STORE : CMD_LOAD,
                       .column = column_of(step->column),
                       .queue = is_store ? (uint8_t)cycles_store_queue(device) : 1,
                       .node = program_node(builder, step->node),
                       .scratch = none};
    command.src.buffer = program_buffer(builder, step->reads[k], DTYPE_NONE);
    command.dst.buffer = program_buffer(builder, step->writes[k], DTYPE_NONE);
    MoveParts parts = move_parts(device, &from, &to);
    if (!parts.fits) {
        return diag_refuse(&builder->work->diags,
                           (DiagText){.tensor = value_of_move(builder->plan, step, k)->name,
                                      .what = "a block of its layout is more than a transfer of the device takes",
                                      .hint = "give the device larger transfers, or contracts with smaller blocks"});
    }
    ViewBox box = move_first(&parts);
    for (; more; more = move_next(&parts, &box)) {
        write_part(builder, command, &from, &to, &box);
    }
    return true;
}

static bool write_moves(ProgramBuilder *builder, const Step *step) {
    CHECK(step->read_count == step->write_count);
    program_begin(builder);
    for (uint32_t k = 0; k < step->read_count; k++) {
        if (!write_whole(builder, step, k)) {
            return false;
        }
    }
    return true;
}

/* ---- What has no command */

/* An operator that has a command, but did not become a sweep. */
static const char *no_tile(const Plan *plan, const Node *node) {
    const Value *map = node_output(plan->graph, node, 0);
    uint64_t elements = 0, bytes = 0, most = plan->device->dma_max_bytes.value;
    bool is_counted =
        map != NULL && shape_elements(&map->shape, &elements) && packed_bytes(elements, dtype_bits(map->dtype), &bytes);
    if (is_counted && elements == 0) {
        return "its result has no elements, so that there is nothing to compute";
    }
    if (node_has_table(plan->graph, node) && most > 0 && most < TABLE_CODES) {
        return "its table of 256 bytes is longer than a transfer of the device";
    }
    if (is_counted && plan->options.whole_tiles && most > 0 && bytes > most) {
        return "--tile none leaves its map whole, which is longer than a transfer of the device";
    }
    return "no tile of it has a layout on the device, is as short as a transfer and leaves no more than 65,536 tiles; "
           "or "
           "what it reads goes along some of the axes that are one dimension of its map, or calls them otherwise";
}

const char *program_why_not(const ProgramBuilder *builder, const Node *node) {
    const Graph *graph = builder->plan->graph;
    const char *no_stages, *no_command, *no_table;
    uint8_t table[TABLE_CODES];
    NodeStages stages;
    NodeCommand command;
    if (node_stages(graph, node, &stages, &no_stages) ||
        node_command(graph, node, &builder->work->scratch, &command, &no_command) ||
        node_table(graph, node, builder->semantics, table, &no_table)) {
        return no_tile(builder->plan, node);
    }
    return no_command != NULL ? no_command : no_table != NULL ? no_table : no_stages;
}

static bool refuse_step(const ProgramBuilder *builder, const Step *step) {
    const Node *node = is_node(step->node) ? graph_node(builder->plan->graph, step->node) : NULL;
    const char *why = node == NULL ? "no sweep goes over it" : program_why_not(builder, node);
    Arena *arena = builder->work->diags.arena;
    return diag_refuse(&builder->work->diags,
                       (DiagText){.node = node != NULL ? node_title(arena, node) : STR(""),
                                  .what = arena_text(arena, "no command runs this operator: %s", why),
                                  .hint = "run one chain of the network with --node"});
}

static bool check_device(const Plan *plan, Work *work) {
    if (plan->device->kind == DEVICE_SCRATCHPAD) {
        return true;
    }
    return diag_refuse(&work->diags,
                       (DiagText){.what = "only a device that loads and stores runs commands",
                                  .got = device_kind_name(plan->device->kind),
                                  .expected = device_kind_name(DEVICE_SCRATCHPAD),
                                  .hint = "-d teach, or another of which stride0 devices says that it runs"});
}

static bool has_operator(const Plan *plan, const PlannedSweep *planned) {
    return plan_command(plan, planned->nodes[0]) != NULL && !operator_has_records(plan, planned);
}

static bool has_command(const Plan *plan, const Step *step) {
    const PlannedSweep *planned = step->sweep == NOT_IN_SWEEP ? NULL : &plan->sweeps[step->sweep];
    return planned == NULL
               ? column_is_transfer(step->column)
               : program_has_types(plan, planned) && (planned->stages != NULL || has_operator(plan, planned));
}

bool program_is_possible(const Plan *plan) {
    bool is_possible = plan->device->kind == DEVICE_SCRATCHPAD;
    for (uint32_t s = 0; is_possible && s < plan->step_count;) {
        const Step *step = &plan->steps[s];
        is_possible = has_command(plan, step);
        s = step->sweep == NOT_IN_SWEEP ? s + 1 : plan->sweeps[step->sweep].last_step;
    }
    return is_possible;
}

/* Commands of a step that moves whole tensors. */
static uint64_t moves_of(ProgramBuilder *builder, const Step *step) {
    uint64_t sum = 0;
    for (uint32_t k = 0; column_is_transfer(step->column) && k < step->read_count; k++) {
        View from, to;
        sum += find_views(builder, step, k, &from, &to) ? move_parts(builder->plan->device, &from, &to).count : 0;
    }
    return sum;
}

/* All of a sweep's. */
static uint64_t commands_of_sweep(const PlannedSweep *planned) {
    uint64_t sum = 0;
    for (int kind = 0; kind < SWEEP_KINDS; kind++) {
        uint64_t count = planned->chosen.best.cost.column[kind].commands;
        sum = checked_add(sum, count, &sum) ? sum : UINT64_MAX;
    }
    return sum;
}

/* Where the commands of each step begin; UINT64_MAX past 64 bits. All steps of a sweep begin where it does. */
static uint64_t number_steps(ProgramBuilder *builder, StepCommands *steps) {
    const Plan *plan = builder->plan;
    uint64_t sum = 0;
    for (uint32_t s = 0; s < plan->step_count;) {
        const Step *step = &plan->steps[s];
        bool is_in_sweep = step->sweep != NOT_IN_SWEEP;
        const PlannedSweep *planned = is_in_sweep ? &plan->sweeps[step->sweep] : NULL;
        uint64_t first = sum, count = is_in_sweep ? commands_of_sweep(planned) : moves_of(builder, step);
        uint32_t last = is_in_sweep ? planned->last_step : s + 1;
        sum = checked_add(sum, count, &sum) ? sum : UINT64_MAX;
        for (; s < last; s++) {
            steps[s] = (StepCommands){first, count};
        }
    }
    return sum;
}

const StepCommands *program_step_commands(const Plan *plan, Work *work) {
    ProgramBuilder builder = {.plan = plan, .work = work};
    StepCommands *steps = arena_array(&work->keep, StepCommands, plan->step_count);
    bool fits = program_is_possible(plan) && number_steps(&builder, steps) <= PROGRAM_MOST_COMMANDS;
    return fits ? steps : NULL;
}

/* How many commands the plan takes; false with a diagnostic where they are too many. */
static bool count_commands(ProgramBuilder *builder, uint32_t *count) {
    Work *work = builder->work;
    Arena *arena = work->diags.arena;
    builder->steps = arena_array(&work->scratch, StepCommands, builder->plan->step_count);
    uint64_t sum = number_steps(builder, builder->steps);
    if (sum <= PROGRAM_MOST_COMMANDS) {
        *count = (uint32_t)sum;
        return true;
    }
    return diag_refuse(&work->diags,
                       (DiagText){.what = "the plan takes more commands than a program holds",
                                  .got = sum != UINT64_MAX ? arena_text(arena, "%" PRIu64, sum) : "more than 64 bits",
                                  .expected = arena_text(arena, "at most %d", (int)PROGRAM_MOST_COMMANDS),
                                  .hint = "give it more local memory with --budget, so that tiles are larger"});
}

/* ---- A program */

static void init_builder(ProgramBuilder *builder, const Plan *plan, Semantics semantics, Work *work) {
    CmdProgram *program = arena_new(&work->keep, CmdProgram);
    *builder = (ProgramBuilder){.plan = plan, .work = work, .semantics = semantics, .program = program};
    builder->of_node = arena_array(&work->scratch, uint32_t, (size_t)plan->graph->node_count + 1);
    builder->of_buffer = arena_array(&work->keep, uint32_t, plan->buffer_count);
    for (uint32_t k = 0; k <= plan->graph->node_count; k++) {
        builder->of_node[k] = CMD_NONE;
    }
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        builder->of_buffer[k] = CMD_NONE;
    }
    for (uint32_t queue = 0; queue < PROGRAM_QUEUES; queue++) {
        builder->last[queue] = CMD_NONE;
    }
}

static bool write_steps(ProgramBuilder *builder) {
    const Plan *plan = builder->plan;
    for (uint32_t s = 0; s < plan->step_count;) {
        const Step *step = &plan->steps[s];
        bool is_in_sweep = step->sweep != NOT_IN_SWEEP;
        if (!is_in_sweep && !column_is_transfer(step->column)) {
            return refuse_step(builder, step);
        }
        CHECK(builder->steps[s].first == builder->program->command_count);
        if (!(is_in_sweep ? program_sweep(builder, &plan->sweeps[step->sweep]) : write_moves(builder, step))) {
            return false;
        }
        s = is_in_sweep ? plan->sweeps[step->sweep].last_step : s + 1;
    }
    return true;
}

/* The buffer of far memory of an input or output; NO_BUFFER where nobody reads it. */
static BufferId find_far(const Plan *plan, ValueId id) {
    for (uint32_t k = 0; k < plan->buffer_count; k++) {
        if (plan->buffers[k].value.index == id.index && !buffer_is_worked_on(plan, &plan->buffers[k])) {
            return (BufferId){k};
        }
    }
    return NO_BUFFER;
}

static bool show_all(ProgramBuilder *builder, const ValueId *values, uint32_t count, const HostBuffer **shown,
                     uint32_t *shown_count) {
    HostBuffer *all = arena_array(&builder->work->keep, HostBuffer, count);
    *shown = all;
    *shown_count = 0;
    for (uint32_t k = 0; k < count; k++) {
        BufferId id = find_far(builder->plan, values[k]);
        if (is_buffer(id) && !program_show(builder, id)) {
            return false;
        }
        if (is_buffer(id)) {
            all[(*shown_count)++] = (HostBuffer){values[k], builder->of_buffer[id.index]};
        }
    }
    return true;
}

static bool book_cycles(const Plan *plan, Work *work, CmdProgram *program) {
    PlanCost cost;
    if (!plan_cost(plan, NULL, &work->scratch, &cost)) {
        return diag_refuse(&work->diags, (DiagText){.what = "the cycles of the plan do not fit 64 bits",
                                                    .hint = "look at [engine] and [dma] of the device file"});
    }
    program->booked_cycles = cost.cycles;
    return true;
}

const BuiltProgram *program_build(const Plan *plan, Semantics semantics, Work *work) {
    const Block *main = graph_main(plan->graph);
    BuiltProgram *built = arena_new(&work->keep, BuiltProgram);
    ProgramBuilder builder;
    uint32_t count = 0;
    if (!check_device(plan, work)) {
        return NULL;
    }
    init_builder(&builder, plan, semantics, work);
    if (!count_commands(&builder, &count)) {
        return NULL;
    }
    builder.commands = arena_array(&work->keep, Command, count);
    if (!write_steps(&builder) ||
        !show_all(&builder, main->inputs, main->input_count, &built->inputs, &built->input_count) ||
        !show_all(&builder, main->outputs, main->output_count, &built->outputs, &built->output_count)) {
        return NULL;
    }
    built->footprint_bytes = program_finish_buffers(&builder);
    if (!book_cycles(plan, work, builder.program)) {
        return NULL;
    }
    CmdProgram *program = builder.program;
    program->device = plan->device->name;
    program->model = plan->graph->name;
    program->queue_count = cycles_store_queue(plan->device) + 1;
    program->nodes = builder.nodes;
    program->views = builder.views;
    program->buffers = builder.buffers;
    program->commands = builder.commands;
    built->program = program;
    built->of_buffer = builder.of_buffer;
    const char *wrong = cmd_check(program, work->diags.arena);
    CHECK(wrong == NULL);
    return built;
}
