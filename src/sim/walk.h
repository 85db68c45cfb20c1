/* The simulated device's own walker: it turns a box of indices and the views of some operands into runs of bits.
 *
 * Every axis of the box is cut where a digit of any view turns over. Where the cuts divide one another, as those of
 * blocked layouts do, a piece of the axis is a number in mixed radix, and every view is linear in its digits; so the
 * box falls apart into a few cells in which every address is a sum of digit times stride. The digits of a cell are put
 * in one order, that of the leading operand's strides, and the elements of all operands come in that order. Each
 * operand, or two of them jointly, then joins what is contiguous in it:
 *
 *     Walk    the cells, and the order of elements
 *     Strips  the cells of one or two operands as loops around a run of contiguous elements
 *     Cursor  goes through them run by run */
#ifndef S0_SIM_WALK_H
#define S0_SIM_WALK_H

#include "cmd/command.h"
#include "sim/frame.h"

enum {
    WALK_VIEWS = 4,
    WALK_DIGITS = 32, /* of a cell that are not 1: a box has at most 2^31 elements */
    WALK_MARKS = 1 + WALK_VIEWS * CMD_MAX_LEVELS * 2,
};

/* An address: of a bit, from the start of a buffer and in one lane. */
typedef struct {
    uint64_t lane, bit;
} WalkPoint;

typedef struct {
    const CmdView *view;
    uint32_t bits; /* of an element */
} WalkOperand;

typedef struct {
    uint64_t extent;
    WalkPoint step[WALK_VIEWS];
} WalkDigit;

typedef struct {
    WalkPoint start[WALK_VIEWS];
    uint32_t digit_count;
    WalkDigit *digit; /* outer to inner */
} WalkCell;

typedef struct {
    uint32_t operand_count;
    WalkOperand operand[WALK_VIEWS];
    uint32_t lead; /* the operand by whose strides digits are ordered */
    uint64_t elements;
    size_t cell_count;
    WalkCell *cell;
} Walk;

/* Elements of a box; cmd_check has seen that they fit. */
uint64_t walk_elements(const CmdBox *box);

/* What index `index` of an axis adds to an address. */
WalkPoint walk_axis(const CmdView *view, uint32_t axis, uint64_t index);

/* Does the address differ between indices of this axis below `extent`? */
bool walk_steps(const CmdView *view, uint32_t axis, uint64_t extent);

/* Has each index bits of its own? False also where only a closer look would tell. */
bool walk_is_apart(const CmdView *view, const CmdBox *box, uint32_t element_bits);

/* `walk` has its operands and its lead; at most 2^31 elements. */
void walk_build(Walk *walk, const CmdBox *box, Frame *frame);

enum { STRIP_VIEWS = 2 };

typedef struct {
    uint64_t extent;
    WalkPoint step[STRIP_VIEWS];
} StripLoop;

typedef struct {
    WalkPoint start[STRIP_VIEWS];
    uint64_t run; /* elements that are contiguous in all operands */
    uint32_t loop_count;
    StripLoop *loop; /* inner to outer */
} Strip;

typedef struct {
    uint32_t view_count;
    size_t count;
    Strip *strip;
} Strips;

/* Of one operand, or of two where `second` is another. */
Strips walk_strips(const Walk *walk, uint32_t first, uint32_t second, Frame *frame);

typedef struct {
    WalkPoint at[STRIP_VIEWS]; /* of the run */
    uint64_t run;              /* elements */
    const Strip *strip, *end;
    WalkPoint base[STRIP_VIEWS];
    uint32_t view_count;
    uint64_t turn[WALK_DIGITS];
} Cursor;

/* Goes to the first run and to the next; false where there is none. `base` is added to all addresses. */
bool cursor_start(Cursor *cursor, const Strips *strips, const WalkPoint *base);
bool cursor_next(Cursor *cursor);

#endif
