/* Views as commands have them: a list of levels, without what adds nothing. Equal ones are kept once. */
#include "program/builder.h"

#include "base/fault.h"

#include <string.h>

/* Dimensions of a layout are the axes of a command. */
_Static_assert((int)DIM_COUNT == (int)CMD_AXES && DIM_N == 0 && DIM_C == 1 && DIM_H == 2 && DIM_W == 3, "axes");

/* ---- From the layout's */

static bool adds_something(const View *view, const ViewLevel *level) {
    return level->extent > 1 && view->shape.extent[level->dim] > 1 && !view->repeats[level->dim];
}

static void add_level(CmdView *to, const ViewLevel *level, uint64_t stride_bits, uint64_t stride_lanes) {
    CHECK(to->level_count < CMD_MAX_LEVELS);
    to->level[to->level_count++] = (CmdLevel){(uint8_t)level->dim, level->div, level->mod, stride_bits, stride_lanes};
}

/* A lane's number has the bank terms as its digits, the outermost first. */
static CmdView convert(const View *view) {
    CmdView to;
    uint64_t lanes = 1;
    memset(&to, 0, sizeof to);
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        lanes *= view->bank_term[k].extent; /* view_resolve: fits */
    }
    for (uint32_t k = 0; k < view->bank_term_count; k++) {
        lanes /= view->bank_term[k].extent;
        if (adds_something(view, &view->bank_term[k])) {
            add_level(&to, &view->bank_term[k], 0, lanes);
        }
    }
    for (uint32_t k = 0; k < view->level_count; k++) {
        if (adds_something(view, &view->level[k]) && view->level[k].stride_bits > 0) {
            add_level(&to, &view->level[k], view->level[k].stride_bits, 0);
        }
    }
    return to;
}

/* ---- Once */

static bool same_level(const CmdLevel *a, const CmdLevel *b) {
    return a->axis == b->axis && a->div == b->div && a->mod == b->mod && a->stride_bits == b->stride_bits &&
           a->stride_lanes == b->stride_lanes;
}

static bool same_view(const CmdView *a, const CmdView *b) {
    bool same = a->level_count == b->level_count;
    for (uint32_t k = 0; same && k < a->level_count; k++) {
        same = same_level(&a->level[k], &b->level[k]);
    }
    return same;
}

static uint32_t hash_of(const CmdView *view) {
    uint64_t hash = view->level_count;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        const uint64_t part[] = {level->axis, level->div, level->mod, level->stride_bits, level->stride_lanes};
        for (size_t p = 0; p < sizeof part / sizeof part[0]; p++) {
            hash = (hash ^ part[p]) * UINT64_C(0x9E3779B97F4A7C15);
            hash ^= hash >> 29;
        }
    }
    return (uint32_t)(hash >> 32);
}

/* The slot that holds the view, or the free one where it belongs. */
static uint32_t *find_slot(const ProgramBuilder *builder, const CmdView *view) {
    uint32_t at = hash_of(view) & (builder->view_slots - 1);
    while (builder->view_slot[at] != 0 && !same_view(&builder->views[builder->view_slot[at] - 1], view)) {
        at = (at + 1) & (builder->view_slots - 1);
    }
    return &builder->view_slot[at];
}

/* At most half of the slots are taken. */
static void make_room(ProgramBuilder *builder) {
    enum { FIRST_SLOTS = 64 };
    if ((builder->program->view_count + 1) * 2 <= builder->view_slots) {
        return;
    }
    builder->view_slots = builder->view_slots == 0 ? FIRST_SLOTS : builder->view_slots * 2;
    builder->view_slot = arena_array(&builder->work->scratch, uint32_t, builder->view_slots);
    for (uint32_t k = 0; k < builder->program->view_count; k++) {
        *find_slot(builder, &builder->views[k]) = k + 1;
    }
}

uint32_t program_view(ProgramBuilder *builder, const View *view) {
    CmdProgram *program = builder->program;
    CmdView converted = convert(view);
    make_room(builder);
    uint32_t *slot = find_slot(builder, &converted);
    if (*slot == 0) {
        builder->views = arena_grow(&builder->work->keep, builder->views, program->view_count, &builder->view_capacity,
                                    sizeof *builder->views);
        builder->views[program->view_count++] = converted;
        *slot = program->view_count;
    }
    return *slot - 1;
}
