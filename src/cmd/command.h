/* Commands: what a device with a local memory is told to do. The format stands alone: who runs a program needs the
 * device's memories and costs, and neither the model nor the plan it was made of.
 *
 *     buffers    who owns which bytes of which memory, and which data they hold
 *     views      how an index becomes an address: digits of the index times strides; a stride of 0 repeats
 *     commands   each on a queue, over a box of indices, with the commands it waits for
 *
 * Commands of one queue run in order. Commands of different queues run at once unless one waits for the other, so
 * whatever must not overlap says so.
 *
 * Invariants of a program that cmd_check accepts: every number that names something names it; waits name earlier
 * commands; no address of a command's box, taken in its view, lies outside 64 bits; shapes and sizes do not overflow.
 * Whether an access stays inside its buffer, meets written bytes or races is what the simulated device finds out. */
#ifndef S0_CMD_COMMAND_H
#define S0_CMD_COMMAND_H

#include "base/arena.h"
#include "stage/stage.h"

enum {
    CMD_VERSION = 2,
    CMD_AXES = 6,        /* n c h w o i: batch, channel, row, column; output and input channels of weights */
    CMD_MAX_LEVELS = 24, /* of a view */
    CMD_MAX_RANK = 16,   /* of a tensor as its file orders it */
    CMD_MAX_STAGES = 16, /* of one command */
    CMD_MAX_PARAMS = 4,  /* parameters of one stage */
    CMD_MAX_WAITS = 16,
    CMD_MOST_TABLE_BITS = 8, /* of a code that is looked up */
    CMD_MAX_QUEUES = 9,      /* the engine, and a DMA engine's channels */
};

#define CMD_NONE UINT32_MAX

/* ---- Indices and addresses */

typedef struct {
    uint64_t extent[CMD_AXES]; /* 1 where there is no such axis; 0: no elements, and the command does nothing */
} CmdBox;

/* One digit of an index, (index[axis] / div) % mod, and what it adds to the address. */
typedef struct {
    uint8_t axis;
    uint64_t div, mod;    /* div at least 1; mod 0: none */
    uint64_t stride_bits; /* inside a lane; 0 repeats */
    uint64_t stride_lanes;
} CmdLevel;

/* Address of an index: bits = offset + sum(digit * stride_bits), lane = sum(digit * stride_lanes). Axes without a level
 * repeat. Levels stand outer to inner. */
typedef struct {
    uint32_t level_count;
    CmdLevel level[CMD_MAX_LEVELS];
} CmdView;

/* ---- Buffers */

typedef enum {
    CMD_BUFFER_INPUT,
    CMD_BUFFER_ACTIVATION,
    CMD_BUFFER_OUTPUT,
    CMD_BUFFER_PARAMETER, /* a constant, or its local copy */
    CMD_BUFFER_WORKSPACE,
    CMD_BUFFER_KINDS
} CmdBufferKind;

/* How the tensor of a file lies in a buffer: its axes outer to inner, each a part of an axis of the index. Several of
 * one axis are its digits: the later varies faster. */
typedef struct {
    uint32_t rank;
    uint64_t extent[CMD_MAX_RANK];
    uint8_t axis[CMD_MAX_RANK];
} CmdOrder;

typedef struct {
    CmdBufferKind kind;
    Str name, node;        /* of the tensor and of the node that writes it; for messages */
    DType dtype;           /* of an element */
    uint32_t memory;       /* index of the device's memory */
    uint64_t offset_bytes; /* from the start of every lane */
    uint64_t bytes;        /* reserved, of one lane; of a workspace what the kernel's contract declares */
    uint64_t lanes;        /* that it lies in, from lane 0 on; at least 1 */
    uint32_t data;         /* buffers with the same number hold the same data and may read what another of them wrote */
    uint64_t estimated_bytes; /* distinct bytes that hold elements, over all lanes, as the planner counts them */

    /* Of what the host writes or reads (inputs, constants, outputs): the whole tensor. Else view is CMD_NONE. */
    uint32_t view;
    uint64_t view_offset_bits; /* from the start of the buffer */
    CmdOrder order;
    const uint8_t *constant; /* elements packed in that order, as files hold them; null where the host gives them */
    uint64_t constant_bytes;
} CmdBuffer;

/* ---- Commands */

typedef enum {
    CMD_LOAD,    /* far to local */
    CMD_STORE,   /* local to far */
    CMD_COPY,    /* inside local memory, by the engine */
    CMD_FILL,    /* every element of dst becomes `code`, by the engine */
    CMD_LUT,     /* every code of src becomes what the table has in its place, by the engine */
    CMD_MUL,     /* one stage that multiplies: MUL, DIV, CODE_MUL, INT_MUL, INT_DIV */
    CMD_ADD,     /* one stage that adds: ADD, SUB, RSUB, CODE_ADD, INT_ADD, INT_SUB, INT_RSUB */
    CMD_REQUANT, /* one stage that rescales or limits: all others */
    CMD_AFFINE,  /* NORM, or several stages: line by line, each of one n and one h, all stages of a line in order */
    CMD_CONV,    /* sums of products over a window of src, then one stage ACC_REQUANTIZE */
    CMD_MAXPOOL, /* the largest code of a window of src, then one stage CODE_CLIP */
    CMD_AVGPOOL, /* the mean of its codes, a half away from zero, then one stage CODE_CLIP */
    CMD_SOFTMAX, /* the softmax of each group's channels in units of 1/256, then one stage CODE_CLIP */
    CMD_SUM,     /* sums of codes over a window of src, then one stage ACC_REQUANTIZE */
    CMD_PAD,     /* the element of src under a window of one tap, or `code` where that is padding */
    CMD_OPS
} CmdOp;

/* What a command counts as: the five columns of a tile, copies, and what goes over windows. */
typedef enum {
    CMD_COLUMN_LOAD_INPUT,
    CMD_COLUMN_LOAD_PARAM,
    CMD_COLUMN_MULTIPLY,
    CMD_COLUMN_ADD,
    CMD_COLUMN_REQUANTIZE,
    CMD_COLUMN_STORE,
    CMD_COLUMN_COPY,
    CMD_COLUMN_FILL,
    CMD_COLUMN_COMPUTE,
    CMD_COLUMNS
} CmdColumn;

typedef struct {
    uint32_t buffer, view;
    uint64_t offset_bits; /* of index 0, from the start of the buffer */
} CmdOperand;

/* Which number of the stage an operand gives, element by element of the box. */
typedef enum {
    CMD_PARAM_NUMBER, /* of MUL ADD SUB RSUB DIV: a real */
    CMD_PARAM_VALUE,  /* of CODE_MUL, CODE_ADD: the constant's code; of INT_…: the integer */
    CMD_PARAM_GAMMA,  /* of NORM */
    CMD_PARAM_BETA,
    CMD_PARAM_MEAN,
    CMD_PARAM_VARIANCE,
    CMD_PARAM_SCALE,      /* of (DE)QUANTIZE: a real */
    CMD_PARAM_ZERO_POINT, /* of (DE)QUANTIZE: a code */
    CMD_PARAM_LO,         /* of CLIP: a real; of CODE_CLIP: a code */
    CMD_PARAM_HI,
    CMD_PARAM_KINDS
} CmdParamKind;

/* A coded one holds integer codes where the stage takes a real: each is dequantised as it is read, as a DEQUANTIZE
 * stage with `code` does. */
typedef struct {
    CmdParamKind kind;
    CmdOperand from;
    bool is_coded;
    StageCode code; /* zero where it is not coded */
} CmdParam;

typedef struct {
    Stage stage; /* its numbers hold where no parameter gives them */
    uint32_t param_count;
    CmdParam param[CMD_MAX_PARAMS];
} CmdStage;

/* Where AFFINE keeps what one stage hands to the next. */
typedef enum {
    CMD_CARRY_NONE,      /* one stage: there is nothing */
    CMD_CARRY_WORKSPACE, /* in scratch: its view repeats along n and h, so that a line takes the place of the last */
    CMD_CARRY_OUTPUT,    /* in dst: no stage hands on more bits than dst's elements have */
    CMD_CARRY_INPUT,     /* over src, which is read no more: as many bits at most as src's elements have */
} CmdCarry;

/* How windows of src go along one axis: index x of dst is made of the indices x * stride + t * dilation - before of
 * src, t below `taps`. Those that are negative, or not below `extent`, are padding: nothing is read, and nothing is
 * summed.
 */
typedef struct {
    uint64_t taps, stride, dilation; /* at least 1 */
    int64_t before;                  /* negative where the first window begins behind src's first index */
    uint64_t extent;
} CmdSlide;

/* Channel c of dst is of group (group_first + c) / group_dst, and is made of `group_src` channels of src; its own are
 * those of group 0 first. Element (o, i, h, w) of the weights is the factor of dst's channel o, of channel i of its
 * group, at tap (h, w). The bias is read along c. A depthwise product has groups of one channel of src. SOFTMAX has
 * windows of one tap, and as many channels of a group on both sides; least code of dst's type is a share of 0. */
typedef struct {
    CmdSlide h, w;
    uint64_t group_src, group_dst, group_first; /* MAXPOOL, AVGPOOL, PAD: 1, 1, 0 */
    int64_t src_zero, weights_zero;             /* codes of 0; CONV; the first SUM, too */
    uint32_t scale_count; /* CONV: 1, or one for each channel of the box; SOFTMAX: 1, beta; else 0 */
    const float *scales;  /* CONV: of the weights, constant.scale of the stage */
} CmdWindow;

typedef struct {
    CmdOp op;
    CmdColumn column;
    uint8_t queue;       /* 0 the engine, then the DMA channels */
    uint32_t node;       /* in `nodes` of the program; for messages */
    CmdBox box;          /* indices it goes through; its operands are addressed with them */
    CmdOperand src, dst; /* FILL has no src: its buffer is CMD_NONE */

    uint32_t wait_count;
    const uint32_t *waits; /* commands that must have ended */

    uint64_t code;    /* FILL PAD: the bits of an element, no more of them than it has */
    CmdOperand table; /* LUT: elements of dst's type, read along c at the bits of a code as a number; codes of src have
                         at most 8 bits. Else its buffer is CMD_NONE */

    /* CONV and what follows it, which but for PAD have one stage without parameters */
    const CmdWindow *window;
    CmdOperand weights, bias; /* CONV: codes of at most 8 bits; int32, or none: its buffer is CMD_NONE */

    /* all that compute */
    Semantics semantics;
    CmdCarry carry;
    CmdOperand scratch; /* CARRY_WORKSPACE: of elements as wide as the widest that is handed on; else buffer CMD_NONE */
    uint32_t stage_count;
    const CmdStage *stages;
} Command;

typedef struct {
    Str device, model; /* names; for messages */
    uint32_t queue_count, node_count, view_count, buffer_count, command_count;
    const Str *nodes;
    const CmdView *views;
    const CmdBuffer *buffers;
    const Command *commands;
    uint64_t booked_cycles; /* as the planner counts them */
} CmdProgram;

const char *cmd_op_name(CmdOp op);             /* "LOAD" */
const char *cmd_column_name(CmdColumn column); /* "load_input", as plans call it */
const char *cmd_kind_name(CmdBufferKind kind);

/* Places of the table for codes of so many bits. */
static inline uint64_t cmd_table_extent(uint32_t code_bits) {
    return (uint64_t)1 << code_bits;
}

/* A stage as a command of its own: MUL, ADD or REQUANT; AFFINE for NORM. */
CmdOp cmd_op_of(StageKind kind);
CmdColumn cmd_column_of(StageKind kind);

/* The invariants above. Null, or one clause that tells what is wrong, with the command or buffer. */
const char *cmd_check(const CmdProgram *program, Arena *scratch);

/* Of a program that cmd_check accepts: does the last element of every operand, the scratch among them, lie in its
 * buffer? So a workspace that is declared too small is refused before anything runs. As cmd_check. */
const char *cmd_check_extents(const CmdProgram *program, Arena *scratch);

#endif
