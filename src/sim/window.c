/* Commands that go over windows of src: CONV, MAXPOOL, AVGPOOL, SUM, PAD; and SOFTMAX, over channels.
 *
 * All that a command takes is read before anything is written, each element once, and only those that some window
 * covers. Where an element stands is the sum of what its indices add, axis by axis. */
#include "base/fault.h"
#include "kern/softmax.h"
#include "sim/machine.h"
#include "stage/bound.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXIS_N, AXIS_C, AXIS_H, AXIS_W, AXIS_O, AXIS_I };

#define PADDING UINT32_MAX /* no place */

/* The indices of src that windows cover along one axis, in order; `place` has, for each index of dst and each tap, the
 * number of its index among them. */
typedef struct {
    uint32_t taps, count;
    uint64_t *index;
    uint32_t *place;
} Covered;

/* Elements of an operand: some indices of each axis, the last axis fastest. */
typedef struct {
    const CmdOperand *operand;
    uint32_t bits;
    uint64_t count[CMD_AXES];
    WalkPoint *point[CMD_AXES]; /* what each index adds */
    Access access;
} Lattice;

typedef struct {
    Sim *sim;
    uint32_t number;
    const Command *command;
    Covered h, w;
    uint64_t channels; /* of src */
    Lattice dst;
    int32_t *src, *weights, *bias; /* bias: null where there is none */
    int32_t *shares;               /* SOFTMAX: of all elements of dst */
    uint64_t *raw;                 /* PAD: the bits of all elements of src */
    int32_t *code;                 /* of one plane: one n and one c */
    float *spare;
} Job;

/* ---- Windows */

static int by_number(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return a < b ? -1 : a > b;
}

/* Negative where it is padding. No sum passes 63 bits: cmd_check. */
static int64_t index_at(const CmdSlide *slide, uint64_t output, uint64_t tap) {
    int64_t index = (int64_t)(output * slide->stride + tap * slide->dilation) - slide->before;
    return index >= 0 && (uint64_t)index < slide->extent ? index : -1;
}

static uint32_t count_once(uint64_t *index, size_t count) {
    uint32_t kept = 0;
    qsort(index, count, sizeof *index, by_number);
    for (size_t k = 0; k < count; k++) {
        if (kept == 0 || index[kept - 1] != index[k]) {
            index[kept++] = index[k];
        }
    }
    return kept;
}

static Covered find_covered(const CmdSlide *slide, uint64_t outputs, Frame *frame) {
    size_t all = (size_t)(outputs * slide->taps), count = 0;
    Covered covered = {.taps = (uint32_t)slide->taps};
    covered.index = frame_array(frame, uint64_t, all);
    covered.place = frame_array(frame, uint32_t, all);
    for (size_t k = 0; k < all; k++) {
        int64_t index = index_at(slide, k / slide->taps, k % slide->taps);
        if (index >= 0) {
            covered.index[count++] = (uint64_t)index;
        }
    }
    covered.count = count_once(covered.index, count);
    for (size_t k = 0; k < all; k++) {
        int64_t index = index_at(slide, k / slide->taps, k % slide->taps);
        uint64_t key = (uint64_t)index;
        const uint64_t *found = index < 0 ? NULL : bsearch(&key, covered.index, covered.count, sizeof key, by_number);
        covered.place[k] = found == NULL ? PADDING : (uint32_t)(found - covered.index);
    }
    return covered;
}

/* ---- Elements */

/* `index` may be null: 0, 1, 2 … */
static void set_axis(Job *job, Lattice *lattice, uint32_t axis, uint64_t count, const uint64_t *index) {
    const CmdView *view = &job->sim->program->views[lattice->operand->view];
    lattice->count[axis] = count;
    lattice->point[axis] = frame_array(&job->sim->frame, WalkPoint, count);
    for (uint64_t k = 0; k < count; k++) {
        lattice->point[axis][k] = walk_axis(view, axis, index == NULL ? k : index[k]);
    }
}

static Lattice lattice_of(Job *job, const CmdOperand *operand) {
    Lattice lattice = {.operand = operand,
                       .bits = element_bits_of(job->sim->program, operand->buffer),
                       .access = access_of(job->sim, job->number, operand->buffer, WRITES_DST)};
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        set_axis(job, &lattice, axis, 1, NULL);
    }
    return lattice;
}

static uint64_t elements_of(const Lattice *lattice) {
    uint64_t elements = 1;
    for (uint32_t axis = 0; axis < CMD_AXES; axis++) {
        elements *= lattice->count[axis];
    }
    return elements;
}

static WalkPoint point_at(const Lattice *lattice, uint64_t element) {
    WalkPoint at = {0, lattice->operand->offset_bits};
    for (uint32_t axis = CMD_AXES; axis-- > 0;) {
        const WalkPoint *point = &lattice->point[axis][element % lattice->count[axis]];
        at.bit += point->bit;
        at.lane += point->lane;
        element /= lattice->count[axis];
    }
    return at;
}

/* All codes, each less `zero`. */
static int32_t *read_codes(Job *job, Lattice *lattice, int64_t zero) {
    Sim *sim = job->sim;
    uint64_t elements = elements_of(lattice);
    DType dtype = sim->program->buffers[lattice->operand->buffer].dtype;
    int32_t *code = frame_array(&sim->frame, int32_t, elements);
    for (uint64_t k = 0; k < elements; k++) {
        uint8_t packed[4] = {0};
        access_read(&lattice->access, point_at(lattice, k), lattice->bits, packed, 0);
        elements_decode(dtype, lattice->bits, packed, 1, &code[k], NULL);
        code[k] -= (int32_t)zero; /* codes of at most 8 bits, or a bias, which has no zero point */
    }
    access_end(&lattice->access);
    machine_book(sim, job->number, lattice->operand->buffer, elements * lattice->bits, false);
    return code;
}

/* The bits of all elements, as they are. */
static uint64_t *read_raw(Job *job, Lattice *lattice) {
    uint64_t elements = elements_of(lattice);
    uint64_t *raw = frame_array(&job->sim->frame, uint64_t, elements);
    for (uint64_t k = 0; k < elements; k++) {
        uint8_t packed[8] = {0};
        access_read(&lattice->access, point_at(lattice, k), lattice->bits, packed, 0);
        raw[k] = bits_load(packed);
    }
    access_end(&lattice->access);
    machine_book(job->sim, job->number, lattice->operand->buffer, elements * lattice->bits, false);
    return raw;
}

static void read_operands(Job *job) {
    const Command *command = job->command;
    const CmdWindow *window = command->window;
    const uint64_t *extent = command->box.extent;
    Lattice src = lattice_of(job, &command->src);
    set_axis(job, &src, AXIS_N, extent[AXIS_N], NULL);
    set_axis(job, &src, AXIS_C, job->channels, NULL);
    set_axis(job, &src, AXIS_H, job->h.count, job->h.index);
    set_axis(job, &src, AXIS_W, job->w.count, job->w.index);
    if (command->op == CMD_PAD) {
        job->raw = read_raw(job, &src);
        return;
    }
    job->src = read_codes(job, &src, window->src_zero);
    if (command->op != CMD_CONV) {
        return;
    }
    Lattice weights = lattice_of(job, &command->weights);
    set_axis(job, &weights, AXIS_H, window->h.taps, NULL);
    set_axis(job, &weights, AXIS_W, window->w.taps, NULL);
    set_axis(job, &weights, AXIS_O, extent[AXIS_C], NULL);
    set_axis(job, &weights, AXIS_I, window->group_src, NULL);
    job->weights = read_codes(job, &weights, window->weights_zero);
    if (command->bias.buffer != CMD_NONE) {
        Lattice bias = lattice_of(job, &command->bias);
        set_axis(job, &bias, AXIS_C, extent[AXIS_C], NULL);
        job->bias = read_codes(job, &bias, 0);
    }
}

/* ---- What a window makes */

/* One index of dst. */
typedef struct {
    const Job *job;
    uint64_t n, c;
    const uint32_t *rows, *columns; /* place of each tap */
} Spot;

static const int32_t *plane_of(const Spot *spot, uint64_t channel) {
    const Job *job = spot->job;
    return job->src + (spot->n * job->channels + channel) * job->h.count * job->w.count;
}

/* Weights stand as h w o i. */
static int64_t sum_channel(const Spot *spot, const int32_t *plane, uint64_t i) {
    const Job *job = spot->job;
    uint64_t inputs = job->command->window->group_src, outputs = job->command->box.extent[AXIS_C];
    int64_t sum = 0;
    for (uint32_t y = 0; y < job->h.taps; y++) {
        for (uint32_t x = 0; spot->rows[y] != PADDING && x < job->w.taps; x++) {
            if (spot->columns[x] != PADDING) {
                uint64_t weight = (((uint64_t)y * job->w.taps + x) * outputs + spot->c) * inputs + i;
                sum += (int64_t)plane[(uint64_t)spot->rows[y] * job->w.count + spot->columns[x]] * job->weights[weight];
            }
        }
    }
    return sum;
}

/* Of its group of src. */
static uint64_t first_channel(const Spot *spot) {
    const CmdWindow *window = spot->job->command->window;
    return (window->group_first + spot->c) / window->group_dst * window->group_src;
}

static int64_t sum_at(const Spot *spot) {
    const Job *job = spot->job;
    uint64_t first = first_channel(spot);
    int64_t sum = job->bias == NULL ? 0 : job->bias[spot->c];
    for (uint64_t i = 0; i < job->command->window->group_src; i++) {
        sum += sum_channel(spot, plane_of(spot, first + i), i);
    }
    return sum;
}

/* What the taps of a window that are not padding come to. */
typedef struct {
    int64_t sum, largest, count;
} Gathered;

static void gather_channel(const Spot *spot, uint64_t channel, Gathered *found) {
    const Job *job = spot->job;
    const int32_t *plane = plane_of(spot, channel);
    for (uint32_t y = 0; y < job->h.taps; y++) {
        for (uint32_t x = 0; spot->rows[y] != PADDING && x < job->w.taps; x++) {
            if (spot->columns[x] != PADDING) {
                int64_t code = plane[(uint64_t)spot->rows[y] * job->w.count + spot->columns[x]];
                found->sum += code;
                found->largest = code > found->largest ? code : found->largest;
                found->count++;
            }
        }
    }
}

/* Of all channels of the group. */
static Gathered gather_group(const Spot *spot) {
    Gathered found = {.largest = INT32_MIN};
    for (uint64_t i = 0; i < spot->job->command->window->group_src; i++) {
        gather_channel(spot, first_channel(spot) + i, &found);
    }
    return found;
}

static Gathered gather_own(const Spot *spot) {
    Gathered found = {.largest = INT32_MIN};
    gather_channel(spot, spot->c, &found);
    return found;
}

/* To the nearest, halves away from zero. */
static int64_t mean_of(int64_t sum, int64_t count) {
    return sum > 0 ? (sum + count / 2) / count : (sum - count / 2) / count;
}

/* ---- Planes */

static void fault_at(Job *job, uint64_t element, StageFault text) {
    machine_number_fault(job->sim, job->number, 0, point_at(&job->dst, element), text);
}

static StageFault compute_at(const Spot *spot, uint64_t element, int64_t *result) {
    CmdOp op = spot->job->command->op;
    if (op == CMD_SOFTMAX) {
        *result = spot->job->shares[element];
        return NULL;
    }
    if (op == CMD_CONV || op == CMD_SUM) {
        *result = op == CMD_CONV ? sum_at(spot) : gather_group(spot).sum;
        return *result == s0_saturate(*result) ? NULL : "the accumulator passes 32 bits";
    }
    const Gathered found = gather_own(spot);
    *result = found.count == 0 ? 0 : op == CMD_AVGPOOL ? mean_of(found.sum, found.count) : found.largest;
    return found.count == 0 ? "a window has nothing but padding" : NULL;
}

/* Channels that are dead have weights of a scale so small that TFLite's kernels multiply their sums by 0: each code is
 * the zero point. */
static bool is_flushed(const Stage *stage, Semantics semantics) {
    double factor = (double)stage->integer.in.scale * (double)stage->integer.constant.scale;
    factor /= (double)stage->integer.out.scale;
    return stage->kind == STAGE_ACC_REQUANTIZE && s0_semantics_format(semantics) == S0_FORMAT_TFLITE && factor > 0 &&
           factor < 1 && !s0_multiplier_fits(factor);
}

/* What the stage makes of the sums of one n and one c; `first` is its first element in dst. */
static void finish_plane(Job *job, uint64_t c, uint64_t first, uint32_t count) {
    const Command *command = job->command;
    const CmdWindow *window = command->window;
    Stage stage = command->stages[0].stage;
    BoundStage bound;
    if (command->op == CMD_CONV) {
        stage.integer.constant.scale = window->scales[window->scale_count == 1 ? 0 : c];
    }
    if (is_flushed(&stage, command->semantics)) {
        stage.integer.in.scale = stage.integer.constant.scale = stage.integer.out.scale = 1; /* of sums that are 0 */
        memset(job->code, 0, count * sizeof *job->code);
    }
    StageFault fault = stage_bind(&stage, command->semantics, &bound);
    if (fault != NULL) {
        fault_at(job, first, fault);
        memset(job->code, 0, count * sizeof *job->code);
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        fault = bound_check(&bound, job->code[k], 0);
        if (fault != NULL) {
            fault_at(job, first + k, fault);
        }
    }
    bound_run(&bound, job->code, job->spare, count);
}

static void write_plane(Job *job, uint64_t first, uint32_t count) {
    Lattice *dst = &job->dst;
    for (uint32_t k = 0; k < count; k++) {
        uint8_t packed[4] = {0};
        elements_encode(dst->access.owner->dtype, dst->bits, packed, 1, &job->code[k], NULL);
        access_write(&dst->access, point_at(dst, first + k), dst->bits, packed, 0);
    }
}

static void compute_plane(Job *job, uint64_t n, uint64_t c) {
    const uint64_t *extent = job->command->box.extent;
    uint64_t columns = extent[AXIS_W], count = extent[AXIS_H] * columns;
    uint64_t first = (n * extent[AXIS_C] + c) * count;
    Spot spot = {.job = job, .n = n, .c = c};
    for (uint64_t k = 0; k < count; k++) {
        int64_t result;
        spot.rows = job->h.place + k / columns * job->h.taps;
        spot.columns = job->w.place + k % columns * job->w.taps;
        StageFault fault = compute_at(&spot, first + k, &result);
        if (fault != NULL) {
            fault_at(job, first + k, fault);
        }
        job->code[k] = s0_saturate(result);
    }
    finish_plane(job, c, first, (uint32_t)count);
    write_plane(job, first, (uint32_t)count);
}

/* One row: the channels of a group at one n, h and w, whose first element is `first`. */
static void share_row(Job *job, const S0Softmax *softmax, uint64_t first, int32_t *row) {
    const Command *command = job->command;
    uint64_t plane = command->box.extent[AXIS_H] * command->box.extent[AXIS_W];
    uint32_t count = (uint32_t)command->window->group_src;
    int32_t lo, hi;
    CHECK(stage_code_range(command->stages[0].stage.to, &lo, &hi));
    for (uint32_t k = 0; k < count; k++) {
        row[k] = job->src[first + k * plane];
    }
    s0_softmax(softmax, row, count);
    for (uint32_t k = 0; k < count; k++) {
        job->shares[first + k * plane] = row[k] + lo;
    }
}

/* ONNX's softmax is one of reals: here in float64, rounded to even. The largest code of src makes no exponent positive.
 */
static void share_row_of_reals(Job *job, double scale, uint64_t first, int32_t lo) {
    const uint64_t *extent = job->command->box.extent;
    uint64_t plane = extent[AXIS_H] * extent[AXIS_W], count = job->command->window->group_src;
    int32_t largest = INT32_MIN;
    double sum = 0;
    for (uint64_t k = 0; k < count; k++) {
        largest = job->src[first + k * plane] > largest ? job->src[first + k * plane] : largest;
    }
    for (uint64_t k = 0; k < count; k++) {
        sum += exp(scale * (job->src[first + k * plane] - largest));
    }
    for (uint64_t k = 0; k < count; k++) {
        int32_t share = s0_round_half_even(256 * exp(scale * (job->src[first + k * plane] - largest)) / sum);
        job->shares[first + k * plane] = (share > 255 ? 255 : share) + lo;
    }
}

static void find_shares_of_reals(Job *job, double scale) {
    const uint64_t *extent = job->command->box.extent;
    uint64_t plane = extent[AXIS_H] * extent[AXIS_W], group = job->command->window->group_src;
    int32_t lo, hi;
    CHECK(stage_code_range(job->command->stages[0].stage.to, &lo, &hi));
    if (!(scale >= 0 && isfinite(scale))) {
        fault_at(job, 0, "the softmax has no such scale, or a row is too long");
        return;
    }
    for (uint64_t k = 0; k < elements_of(&job->dst) / group; k++) {
        share_row_of_reals(job, scale, k / plane * group * plane + k % plane, lo);
    }
}

/* Elements of src and of dst are the same ones, in the same order. */
static void find_shares(Job *job) {
    const Command *command = job->command;
    const uint64_t *extent = command->box.extent;
    uint64_t plane = extent[AXIS_H] * extent[AXIS_W], group = command->window->group_src;
    double scale = (double)command->window->scales[0] * (double)command->stages[0].stage.integer.in.scale;
    int32_t *row = frame_array(&job->sim->frame, int32_t, group);
    S0Softmax softmax;
    job->shares = frame_array(&job->sim->frame, int32_t, elements_of(&job->dst));
    memset(job->shares, 0, (size_t)elements_of(&job->dst) * sizeof *job->shares);
    if (s0_semantics_format(command->semantics) == S0_FORMAT_ONNX) {
        find_shares_of_reals(job, scale);
        return;
    }
    if (group > S0_SOFTMAX_MOST || !s0_softmax_bind(scale, s0_semantics_rounding(command->semantics), &softmax)) {
        fault_at(job, 0, "the softmax has no such scale, or a row is too long");
        return;
    }
    for (uint64_t k = 0; k < elements_of(&job->dst) / group; k++) {
        share_row(job, &softmax, k / plane * group * plane + k % plane, row);
    }
}

/* ---- PAD */

static void pad_plane(Job *job, uint64_t plane) {
    const uint64_t *extent = job->command->box.extent;
    uint64_t columns = extent[AXIS_W], count = extent[AXIS_H] * columns;
    const uint64_t *src = job->raw + plane * job->h.count * job->w.count;
    for (uint64_t k = 0; k < count; k++) {
        uint32_t row = job->h.place[k / columns], column = job->w.place[k % columns];
        bool is_padding = row == PADDING || column == PADDING;
        uint8_t packed[8];
        bits_store(packed, is_padding ? job->command->code : src[(uint64_t)row * job->w.count + column]);
        access_write(&job->dst.access, point_at(&job->dst, plane * count + k), job->dst.bits, packed, 0);
    }
}

void machine_window(Sim *sim, uint32_t number) {
    const Command *command = &sim->program->commands[number];
    const CmdWindow *window = command->window;
    const uint64_t *extent = command->box.extent;
    size_t plane = (size_t)(extent[AXIS_H] * extent[AXIS_W]);
    Job job = {.sim = sim, .number = number, .command = command};
    job.h = find_covered(&window->h, extent[AXIS_H], &sim->frame);
    job.w = find_covered(&window->w, extent[AXIS_W], &sim->frame);
    job.channels = machine_channels(command);
    job.dst = lattice_of(&job, &command->dst);
    for (uint32_t axis = AXIS_N; axis <= AXIS_W; axis++) {
        set_axis(&job, &job.dst, axis, extent[axis], NULL);
    }
    read_operands(&job);
    if (command->op == CMD_SOFTMAX) {
        find_shares(&job);
    }
    job.code = frame_array(&sim->frame, int32_t, plane);
    job.spare = frame_array(&sim->frame, float, plane);
    for (uint64_t k = 0; k < extent[AXIS_N] * extent[AXIS_C]; k++) {
        if (command->op == CMD_PAD) {
            pad_plane(&job, k);
        } else {
            compute_plane(&job, k / extent[AXIS_C], k % extent[AXIS_C]);
        }
    }
    access_end(&job.dst.access);
    machine_book(sim, number, command->dst.buffer, elements_of(&job.dst) * job.dst.bits, true);
}
