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

static uint32_t keep_view(ProgramBuilder *builder, const CmdView *view) {
    CmdProgram *program = builder->program;
    make_room(builder);
    uint32_t *slot = find_slot(builder, view);
    if (*slot == 0) {
        builder->views = arena_grow(&builder->work->keep, builder->views, program->view_count, &builder->view_capacity,
                                    sizeof *builder->views);
        builder->views[program->view_count++] = *view;
        *slot = program->view_count;
    }
    return *slot - 1;
}

uint32_t program_view(ProgramBuilder *builder, const View *view) {
    const CmdView converted = convert(view);
    return keep_view(builder, &converted);
}

/* ---- Elements in another order */

/* What is left of the digits of an element's number. */
typedef struct {
    const ViewRadix *radix;
    uint32_t at;
    uint64_t taken; /* of digit `at` */
} Digits;

/* A part of the next digit that an axis has `left` for. False where neither divides the other. */
static bool take_digit(Digits *digits, uint64_t left, CmdLevel *level) {
    if (digits->at < digits->radix->count && digits->radix->digit[digits->at].extent == digits->taken) {
        digits->at++;
        digits->taken = 1;
    }
    if (digits->at == digits->radix->count) {
        return false;
    }
    const ViewDigit *digit = &digits->radix->digit[digits->at];
    uint64_t rest = digit->extent / digits->taken, take = rest < left ? rest : left;
    level->mod = take;
    level->stride_bits = digit->step_bits * digits->taken;
    level->stride_lanes = digit->step_banks * digits->taken;
    digits->taken *= take;
    return left % take == 0 && rest % take == 0;
}

static bool take_axis(Digits *digits, const ViewAxis *axis, uint64_t *begin, CmdView *to) {
    for (uint64_t left = axis->extent; left > 1;) {
        CmdLevel level = {.axis = (uint8_t)axis->dim, .div = *begin};
        if (to->level_count == CMD_MAX_LEVELS || !take_digit(digits, left, &level)) {
            return false;
        }
        left /= level.mod;
        *begin *= level.mod;
        to->level[to->level_count++] = level;
    }
    return true;
}

/* The outermost digit of an axis needs no limit; those that add nothing are left out. Levels stand outer to inner. */
static void finish_levels(const uint64_t extent[DIM_COUNT], CmdView *view) {
    CmdView found = {.level_count = 0};
    for (uint32_t k = view->level_count; k-- > 0;) {
        CmdLevel level = view->level[k];
        level.mod = level.div * level.mod == extent[level.axis] ? 0 : level.mod;
        if (level.stride_bits > 0 || level.stride_lanes > 0) {
            found.level[found.level_count++] = level;
        }
    }
    *view = found;
}

/* Where an index is, as long as no digit of what is added to it carries. */
static bool add_index(const CmdView *view, const ViewBox *box, uint64_t *bits) {
    uint64_t lane = 0;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        uint64_t first = box->first[level->axis], last = (box->extent[level->axis] - 1) / level->div;
        uint64_t digit = level->mod == 0 ? first / level->div : first / level->div % level->mod;
        last = level->mod != 0 && last >= level->mod ? level->mod - 1 : last;
        if (first % level->div != 0 || (level->mod != 0 && digit + last >= level->mod)) {
            return false;
        }
        *bits += digit * level->stride_bits;
        lane += digit * level->stride_lanes;
    }
    return lane == 0;
}

bool program_reorder(ProgramBuilder *builder, const ViewRadix *radix, ProgramAxes as, const ViewBox *box,
                     CmdOperand *operand) {
    Digits digits = {radix, 0, 1};
    CmdView view;
    uint64_t begin[DIM_COUNT] = {1, 1, 1, 1, 1, 1};
    memset(&view, 0, sizeof view);
    for (uint32_t k = as.rank; k-- > 0;) {
        if (!take_axis(&digits, &as.axes[k], &begin[as.axes[k].dim], &view)) {
            return false;
        }
    }
    finish_levels(begin, &view);
    if (!add_index(&view, box, &operand->offset_bits)) {
        return false;
    }
    operand->view = keep_view(builder, &view);
    return true;
}
