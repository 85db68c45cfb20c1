/* The commands of operators that are not per-channel: what goes over windows, and what moves. */
#include "program/writing.h"

#include "base/fault.h"
#include "graph/box.h"
#include "plan/tensor.h"

#include <string.h>

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
    const CmdWindow *whole = &writing->command->window;
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
    const NodeCommand *command = writing->command;
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
        *operand = writing_param(writing, i, event->slot, &box);
        ok = box.first[is_weights ? DIM_O : DIM_C] == event->box.first[DIM_C] ||
             no_tile(writing, "a tile begins inside a block of its factors");
        ok = ok && (!is_weights || writing->command->flat_rank == 0 || unfold_weights(writing, i, operand));
    }
    return ok;
}

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

/* src by other names of its axes. Of those that stay the tile has the indices that the output's tile has; along a
 * dimension that several make all of them are loaded. */
static bool set_renamed(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    const PlannedSweep *planned = writing->planned;
    const Graph *graph = writing->builder->plan->graph;
    const Value *from = node_input(graph, graph_node(graph, planned->nodes[0]), 0);
    bool is_far = planned->sweep.in.is_far;
    ViewBox part = is_far ? *in : view_whole_box(&planned->sweep.in.shape), box = event->box;
    ViewAxis axes[SHAPE_MAX_RANK], as[SHAPE_MAX_RANK];
    ViewRadix radix;
    command->src = writing_map(writing, true, event->slot, &part);
    const View *view = &writing->in.view;
    bool ok = axes_of_part(from, view->shape.extent, axes);
    for (uint32_t k = 0; ok && k < from->shape.rank; k++) {
        as[k] = (ViewAxis){axes[k].extent, (Dim)writing->command->src_dims[k]};
        bool begins_there = from->shape.dim[k] > 1 && part.first[axes[k].dim] > 0;
        ok = !begins_there || part.first[axes[k].dim] == event->box.first[as[k].dim];
        box.first[as[k].dim] = begins_there ? 0 : box.first[as[k].dim];
    }
    return (ok && view_radix(&(ViewOrder){view, axes, from->shape.rank}, NULL, &radix) &&
            program_reorder(writing->builder, &radix, (ProgramAxes){from->shape.rank, as}, &box, &command->src)) ||
           no_tile(writing, "its elements lie in blocks that no view reads by the axes of its output");
}

static UseWindows slide_windows(const CmdSlide *slide, uint64_t first, uint64_t count) {
    return (UseWindows){.first = (int64_t)(first * slide->stride) - slide->before,
                        .count = count,
                        .stride = slide->stride,
                        .taps = slide->taps,
                        .dilation = slide->dilation,
                        .high = (int64_t)slide->extent};
}

static UseWindows index_windows(uint64_t first, uint64_t count) {
    return (UseWindows){
        .first = (int64_t)first, .count = count, .stride = 1, .taps = 1, .dilation = 1, .high = INT64_MAX};
}

/* What lies there whole is read where windows are: those of the tile may leave out rows, columns and channels. */
static CmdOperand whole_source(Writing *writing, const SweepEvent *event, const uint64_t first[DIM_COUNT],
                               uint32_t buffer) {
    const CmdWindow *window = &writing->command->window;
    const View *view = &writing->planned->sweep.in.whole;
    const ViewBox *box = &event->box;
    uint64_t groups = (box->first[DIM_C] + box->extent[DIM_C] - 1) / window->group_dst + 1;
    UseWindows along[DIM_COUNT];
    for (int d = 0; d < DIM_COUNT; d++) {
        along[d] = index_windows(0, view->shape.extent[d]);
    }
    along[DIM_N] = index_windows(box->first[DIM_N], box->extent[DIM_N]);
    along[DIM_C] = index_windows(first[DIM_C], groups * window->group_src - first[DIM_C]);
    along[DIM_H] = slide_windows(&window->h, box->first[DIM_H], box->extent[DIM_H]);
    along[DIM_W] = slide_windows(&window->w, box->first[DIM_W], box->extent[DIM_W]);
    return program_windows_operand(writing->builder, buffer, view, along, first);
}

/* The map from the first channel's group on: of groups before it the tile may have channels too. */
static bool set_source(Writing *writing, const SweepEvent *event, const ViewBox *in, CmdOperand *src) {
    const PlannedSweep *planned = writing->planned;
    const CmdWindow *window = &writing->command->window;
    bool is_far = planned->sweep.in.is_far;
    /* images that are several axes are loaded all at once */
    bool are_all_there = planned->sweep.in.reach[DIM_N].of == REACH_ALL &&
                         planned->sweep.in.shape.extent[DIM_N] == planned->sweep.out.shape.extent[DIM_N];
    uint64_t channel = event->box.first[DIM_C] / window->group_dst * window->group_src, first[DIM_COUNT] = {0};
    if (!is_far) {
        memcpy(first, in->first, sizeof first);
    }
    first[DIM_N] = are_all_there ? event->box.first[DIM_N] : first[DIM_N];
    first[DIM_C] = is_far ? channel - in->first[DIM_C] : channel; /* a part begins at most there */
    uint32_t buffer = program_buffer(writing->builder, planned->in_local[is_far ? event->slot : 0], DTYPE_NONE);
    *src = is_far ? writing_part(writing, &planned->sweep.in, &writing->in, buffer, in->extent, first)
                  : whole_source(writing, event, first, buffer);
    const View *view = is_far ? &writing->in.view : &planned->sweep.in.whole;
    bool is_first = are_all_there || in->first[DIM_N] == event->box.first[DIM_N];
    return (is_first && first[DIM_C] % view_grain(view, DIM_C) == 0) ||
           no_tile(writing, "a tile begins inside a block of what it reads");
}

static bool set_window(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    command->code = writing->command->code;
    if (command->op != CMD_PAD) {
        command->semantics = writing->builder->semantics;
        command->stage_count = 1;
        command->stages = writing->command_stage;
    }
    command->dst = writing_map(writing, false, event->slot, &event->box);
    if (writing->command->is_renamed) {
        command->window = tile_window(writing, &event->box, &event->box);
        return set_renamed(writing, event, in, command);
    }
    command->window = tile_window(writing, &event->box, in);
    return set_source(writing, event, in, &command->src) && set_factors(writing, event, command);
}

/* ---- What moves */

/* A map that a copy reads or writes: the box of it that belongs to a tile. */
typedef struct {
    const Value *value;
    const SweepOperand *map;
    const View *view; /* of the part that lies there for the tile, or of what lies there whole */
    ViewBox box;
} CopySide;

/* The index of the other side, of which a side has a part: how long it is, and where in it the tile begins. */
typedef struct {
    uint64_t extent[DIM_COUNT];
    ViewBox box;
} CopyIndex;

/* What is loaded of src by the index of dst: along a dimension that a window follows, the tile's; of others all, where
 * several axes are one dimension. */
static CopyIndex index_of_src(const CopySide *src, const CopySide *dst) {
    CopyIndex index = {.box = dst->box};
    memcpy(index.extent, dst->map->shape.extent, sizeof index.extent);
    for (int d = 0; src->map->is_far && d < DIM_COUNT; d++) {
        uint32_t of = src->map->reach[d].of;
        if (of != REACH_ALL) {
            index.extent[of] = dst->box.extent[of];
            index.box.first[of] = 0;
        }
    }
    return index;
}

/* What is stored of dst by the index of src, where the tile takes all that src has there. */
static CopyIndex index_of_dst(const CopySide *dst, const CopySide *src) {
    CopyIndex index = {.box = src->box};
    bool is_far = dst->map->is_far;
    memcpy(index.extent, is_far ? src->box.extent : src->map->shape.extent, sizeof index.extent);
    if (is_far) {
        memset(index.box.first, 0, sizeof index.box.first);
    }
    return index;
}

/* The operand of a side by that index: its elements are counted over `perm`. */
static bool set_order(Writing *writing, const CopySide *side, const uint32_t *perm, const Value *other,
                      const CopyIndex *index, CmdOperand *operand) {
    ViewAxis axes[SHAPE_MAX_RANK], as[SHAPE_MAX_RANK];
    ViewRadix radix;
    return axes_of_part(side->value, side->view->shape.extent, axes) && axes_of_part(other, index->extent, as) &&
           view_radix(&(ViewOrder){side->view, axes, side->value->shape.rank}, perm, &radix) &&
           program_reorder(writing->builder, &radix, (ProgramAxes){other->shape.rank, as}, &index->box, operand);
}

/* As it lies there, from its first element on; `whole` where that is to be the first of all. */
static CmdOperand side_operand(Writing *writing, bool is_in, uint32_t slot, const CopySide *side, bool whole) {
    ViewBox box = whole && !side->map->is_far ? view_whole_box(&side->map->shape) : side->box;
    return writing_map(writing, is_in, slot, &box);
}

/* By the index of dst; or by that of src, which may lie in blocks that are not full. */
static bool set_copy(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    const PlannedSweep *planned = writing->planned;
    const Graph *graph = writing->builder->plan->graph;
    const Node *node = graph_node(graph, planned->nodes[0]);
    const uint32_t *perm = writing->command->perm;
    const CopySide src = {node_input(graph, node, node_data_input(node)), &planned->sweep.in, &writing->in.view, *in};
    const CopySide dst = {node_output(graph, node, 0), &planned->sweep.out, &writing->out.view, event->box};
    uint32_t back[SHAPE_MAX_RANK];
    for (uint32_t k = 0; k < SHAPE_MAX_RANK; k++) {
        back[perm[k]] = k;
    }
    command->column = CMD_COLUMN_COPY;
    command->src = side_operand(writing, true, event->slot, &src, true);
    command->dst = side_operand(writing, false, event->slot, &dst, false);
    CopyIndex index = index_of_src(&src, &dst);
    if (set_order(writing, &src, perm, dst.value, &index, &command->src)) {
        return true;
    }
    memcpy(command->box.extent, in->extent, sizeof command->box.extent);
    command->src = side_operand(writing, true, event->slot, &src, false);
    command->dst = side_operand(writing, false, event->slot, &dst, true);
    index = index_of_dst(&dst, &src);
    return (layout_elements(in->extent) == layout_elements(event->box.extent) &&
            set_order(writing, &dst, back, src.value, &index, &command->dst)) ||
           no_tile(writing, "its elements lie in blocks that no view reads in another order");
}

static bool set_lookup(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    const ViewBox table = sweep_box(&writing->planned->sweep.params[0], &event->box);
    command->src = writing_map(writing, true, event->slot, in);
    command->dst = writing_map(writing, false, event->slot, &event->box);
    command->table = writing_param(writing, 0, event->slot, &table);
    return true;
}

static bool set_operator(Writing *writing, const SweepEvent *event, const ViewBox *in, Command *command) {
    switch (command->op) {
    case CMD_COPY:
        return set_copy(writing, event, in, command);
    case CMD_LUT:
        return set_lookup(writing, event, in, command);
    default:
        return set_window(writing, event, in, command);
    }
}

void operator_write(Writing *writing, const SweepEvent *event) {
    const PlannedSweep *planned = writing->planned;
    ViewBox in = sweep_box(&planned->sweep.in, &event->box);
    Command command = writing_command(event, &event->box);
    command.op = writing->command->op;
    command.column = CMD_COLUMN_COMPUTE;
    command.node = program_node(writing->builder, planned->nodes[0]);
    if (set_operator(writing, event, &in, &command)) {
        writing_add(writing, command, event);
    }
}

/* ---- Which command */

bool operator_refuse(const Writing *writing, const char *why) {
    const ProgramBuilder *builder = writing->builder;
    const Node *node = graph_node(builder->plan->graph, writing->planned->nodes[0]);
    Arena *arena = builder->work->diags.arena;
    return diag_refuse(&builder->work->diags,
                       (DiagText){.node = node_title(arena, node),
                                  .what = arena_text(arena, "no command runs this operator: %s", why),
                                  .hint = "run one chain of the network with --node"});
}

bool operator_has_records(const Plan *plan, const PlannedSweep *planned) {
    bool has = false;
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        BufferId far = planned->params[i].far;
        has = has || (is_buffer(far) && plan_buffer(plan, far)->record_bits > 0);
    }
    return has;
}

bool operator_find(Writing *writing) {
    const ProgramBuilder *builder = writing->builder;
    const PlannedSweep *planned = writing->planned;
    CmdStage *stage = arena_new(&builder->work->keep, CmdStage);
    writing->command = plan_command(builder->plan, planned->nodes[0]);
    if (writing->command == NULL) {
        return operator_refuse(writing, program_why_not(builder, graph_node(builder->plan->graph, planned->nodes[0])));
    }
    if (operator_has_records(builder->plan, planned)) {
        return operator_refuse(writing,
                               "its constants are part of the device's records (record_bits), which no command reads");
    }
    for (uint32_t i = 0; i < planned->sweep.param_count; i++) {
        CHECK(planned->params[i].input == WINDOW_WEIGHTS || planned->params[i].input == WINDOW_BIAS);
    }
    stage->stage = writing->command->stage;
    writing->command_stage = stage;
    return true;
}
