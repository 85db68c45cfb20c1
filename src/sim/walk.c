/* Cuts a box into cells in which every view is linear. See walk.h. */
#include "sim/walk.h"

#include "base/fault.h"

#include <string.h>

/* Where digits of an axis turn over, in ascending order: the first is 1, all are less than the extent. */
typedef struct {
    uint32_t count;
    uint64_t at[WALK_MARKS];
} Marks;

/* Indices [start, start + count * unit) of an axis, where unit is mark `top`: digits below it run through. */
typedef struct {
    uint64_t start, count;
    uint32_t top;
} Segment;

/* An axis in segments, and what one step of a digit adds to each operand. */
typedef struct {
    Marks marks;
    size_t segment_count;
    Segment *segment;
    WalkPoint (*step)[WALK_VIEWS]; /* by mark */
} Axis;

uint64_t walk_elements(const CmdBox *box) {
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        elements *= box->extent[axis];
    }
    return elements;
}

static bool level_steps(const CmdLevel *level, uint32_t axis, uint64_t extent) {
    return level->axis == axis && level->div < extent && level->mod != 1 &&
           (level->stride_bits != 0 || level->stride_lanes != 0);
}

bool walk_steps(const CmdView *view, uint32_t axis, uint64_t extent) {
    bool steps = false;
    for (uint32_t k = 0; k < view->level_count; k++) {
        steps = steps || level_steps(&view->level[k], axis, extent);
    }
    return steps;
}

WalkPoint walk_axis(const CmdView *view, uint32_t axis, uint64_t index) {
    WalkPoint point = {0, 0};
    for (uint32_t k = 0; index > 0 && k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        if (level->axis == axis) {
            uint64_t digit = index / level->div;
            digit = level->mod == 0 ? digit : digit % level->mod;
            point.bit += digit * level->stride_bits;
            point.lane += digit * level->stride_lanes;
        }
    }
    return point;
}

/* Values of a digit below an extent, which is not 0. */
static uint64_t digit_values(const CmdLevel *level, uint64_t extent) {
    uint64_t values = (extent - 1) / level->div + 1;
    return level->mod != 0 && level->mod < values ? level->mod : values;
}

/* Of the levels that step inside a lane and are not `done`, that of the least stride; null where there is none. */
static const CmdLevel *next_stride(const CmdView *view, const CmdBox *box, uint32_t *done) {
    const CmdLevel *next = NULL;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        bool steps = digit_values(level, box->extent[level->axis]) > 1 && level->stride_lanes == 0;
        if (steps && (*done >> k & 1) == 0 && (next == NULL || level->stride_bits < next->stride_bits)) {
            next = level;
        }
    }
    *done |= next == NULL ? 0 : UINT32_C(1) << (next - view->level);
    return next;
}

/* Do the digits of each axis tell its indices apart, and do all levels in lanes step by one alone? */
static bool has_all_digits(const CmdView *view, const CmdBox *box) {
    uint64_t values[CMD_AXES] = {1, 1, 1, 1, 1, 1};
    uint32_t lane_levels = 0;
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        values[level->axis] *= digit_values(level, box->extent[level->axis]);
        lane_levels += level->stride_lanes != 0;
    }
    bool has_all = lane_levels <= 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        has_all = has_all && values[axis] >= box->extent[axis];
    }
    return has_all;
}

/* Each stride passes over all that smaller ones reach. */
bool walk_is_apart(const CmdView *view, const CmdBox *box, uint32_t element_bits) {
    uint64_t span = element_bits;
    uint32_t done = 0;
    bool is_apart = has_all_digits(view, box);
    for (const CmdLevel *level = next_stride(view, box, &done); level != NULL; level = next_stride(view, box, &done)) {
        is_apart = is_apart && level->stride_bits >= span;
        span += level->stride_bits * (digit_values(level, box->extent[level->axis]) - 1);
    }
    return is_apart;
}

/* ---- Axes */

static void add_mark(Marks *marks, uint64_t at) {
    uint32_t k = marks->count;
    while (marks->at[k - 1] > at) {
        k--;
    }
    if (marks->at[k - 1] == at) {
        return;
    }
    memmove(&marks->at[k + 1], &marks->at[k], (marks->count - k) * sizeof marks->at[0]);
    marks->at[k] = at;
    marks->count++;
}

static void find_marks(const Walk *walk, uint32_t axis, uint64_t extent, Marks *marks) {
    marks->count = 1;
    marks->at[0] = 1;
    for (uint32_t v = 0; v < walk->operand_count; v++) {
        const CmdView *view = walk->operand[v].view;
        for (uint32_t k = 0; k < view->level_count; k++) {
            const CmdLevel *level = &view->level[k];
            if (!level_steps(level, axis, extent)) {
                continue;
            }
            add_mark(marks, level->div);
            if (level->mod != 0 && level->mod <= (extent - 1) / level->div) {
                add_mark(marks, level->div * level->mod);
            }
        }
    }
}

static bool is_chain(const Marks *marks) {
    bool divides = true;
    for (uint32_t k = 1; k < marks->count; k++) {
        divides = divides && marks->at[k] % marks->at[k - 1] == 0;
    }
    return divides;
}

/* What one more of `unit`, a mark, adds where no higher digit turns over. */
static WalkPoint step_of(const CmdView *view, uint32_t axis, uint64_t unit) {
    WalkPoint step = {0, 0};
    for (uint32_t k = 0; k < view->level_count; k++) {
        const CmdLevel *level = &view->level[k];
        bool is_whole = level->axis == axis && level->div <= unit;
        if (is_whole && (level->mod == 0 || unit / level->div < level->mod)) {
            step.bit += unit / level->div * level->stride_bits;
            step.lane += unit / level->div * level->stride_lanes;
        }
    }
    return step;
}

/* From the highest digit down: what is left of the extent is a tail that the lower ones count. */
static void cut_chain(Axis *axis, uint64_t extent, Frame *frame) {
    uint64_t start = 0;
    axis->segment = frame_array(frame, Segment, axis->marks.count);
    for (uint32_t k = axis->marks.count; k-- > 0;) {
        uint64_t count = (extent - start) / axis->marks.at[k];
        if (count > 0) {
            axis->segment[axis->segment_count++] = (Segment){start, count, k};
            start += count * axis->marks.at[k];
        }
    }
}

static uint64_t next_turn(const Marks *marks, uint64_t index, uint64_t extent) {
    uint64_t next = extent;
    for (uint32_t k = 1; k < marks->count; k++) {
        uint64_t turn = (index / marks->at[k] + 1) * marks->at[k];
        next = turn < next ? turn : next;
    }
    return next;
}

/* Marks that do not divide one another: a segment from each turn to the next. */
static void cut_anywhere(Axis *axis, uint64_t extent, Frame *frame) {
    size_t count = 0;
    for (uint64_t index = 0; index < extent; index = next_turn(&axis->marks, index, extent)) {
        count++;
    }
    axis->segment = frame_array(frame, Segment, count);
    uint64_t start = 0;
    for (size_t k = 0; k < count; k++) {
        uint64_t next = next_turn(&axis->marks, start, extent);
        axis->segment[k] = (Segment){start, next - start, 0};
        start = next;
    }
    axis->segment_count = count;
}

static void build_axis(const Walk *walk, uint32_t number, uint64_t extent, Axis *axis, Frame *frame) {
    find_marks(walk, number, extent, &axis->marks);
    axis->segment_count = 0;
    if (is_chain(&axis->marks)) {
        cut_chain(axis, extent, frame);
    } else {
        cut_anywhere(axis, extent, frame);
    }
    axis->step = frame_take(frame, axis->marks.count, sizeof *axis->step);
    for (uint32_t k = 0; k < axis->marks.count; k++) {
        for (uint32_t v = 0; v < walk->operand_count; v++) {
            axis->step[k][v] = step_of(walk->operand[v].view, number, axis->marks.at[k]);
        }
    }
}

/* ---- Cells */

static bool is_zero(WalkPoint step) {
    return step.lane == 0 && step.bit == 0;
}

/* Does the digit of step `a` stand outside that of `b`? Lanes are outermost, and outside them what repeats. */
static int outside(WalkPoint a, WalkPoint b) {
    if (is_zero(a) != is_zero(b)) {
        return is_zero(a) ? 1 : -1;
    }
    if (a.lane != b.lane) {
        return a.lane > b.lane ? 1 : -1;
    }
    return a.bit == b.bit ? 0 : a.bit > b.bit ? 1 : -1;
}

static bool stands_outside(const Walk *walk, const WalkDigit *a, const WalkDigit *b) {
    int order = outside(a->step[walk->lead], b->step[walk->lead]);
    for (uint32_t v = 0; order == 0 && v < walk->operand_count; v++) {
        order = outside(a->step[v], b->step[v]);
    }
    return order > 0;
}

static void add_digit(const Walk *walk, WalkCell *cell, uint64_t extent, const WalkPoint *step) {
    if (extent == 1) {
        return;
    }
    CHECK(cell->digit_count < WALK_DIGITS);
    WalkDigit digit = {.extent = extent};
    memcpy(digit.step, step, walk->operand_count * sizeof *step);
    uint32_t k = cell->digit_count++;
    while (k > 0 && stands_outside(walk, &digit, &cell->digit[k - 1])) {
        cell->digit[k] = cell->digit[k - 1];
        k--;
    }
    cell->digit[k] = digit;
}

static void add_axis(const Walk *walk, uint32_t number, const Axis *axis, size_t which, WalkCell *cell) {
    const Segment *segment = &axis->segment[which];
    for (uint32_t v = 0; v < walk->operand_count; v++) {
        WalkPoint start = walk_axis(walk->operand[v].view, number, segment->start);
        cell->start[v].bit += start.bit;
        cell->start[v].lane += start.lane;
    }
    add_digit(walk, cell, segment->count, axis->step[segment->top]);
    for (uint32_t k = segment->top; k-- > 0;) {
        add_digit(walk, cell, axis->marks.at[k + 1] / axis->marks.at[k], axis->step[k]);
    }
}

/* Cell `number` of all combinations of segments. */
static void build_cell(const Walk *walk, const Axis *axes, size_t number, WalkCell *cell, Frame *frame) {
    WalkDigit digit[WALK_DIGITS];
    *cell = (WalkCell){.digit = digit};
    for (uint32_t axis = CMD_AXES; axis-- > 0;) {
        add_axis(walk, axis, &axes[axis], number % axes[axis].segment_count, cell);
        number /= axes[axis].segment_count;
    }
    cell->digit = frame_array(frame, WalkDigit, cell->digit_count);
    /* cppcheck-suppress uninitvar ; add_axis fills what is counted */
    memcpy(cell->digit, digit, cell->digit_count * sizeof *digit);
}

void walk_build(Walk *walk, const CmdBox *box, Frame *frame) {
    walk->elements = walk_elements(box);
    walk->cell_count = 0;
    if (walk->elements == 0) {
        return;
    }
    Axis *axes = frame_array(frame, Axis, CMD_AXES);
    size_t count = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        build_axis(walk, axis, box->extent[axis], &axes[axis], frame);
        count *= axes[axis].segment_count;
    }
    walk->cell_count = count;
    walk->cell = frame_array(frame, WalkCell, count);
    for (size_t k = 0; k < count; k++) {
        build_cell(walk, axes, k, &walk->cell[k], frame);
    }
}
