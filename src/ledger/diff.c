/* A chain of plans as causes, and what else differs between its ends. */
#include "ledger/diff.h"
#include "ledger/keyed.h"

#include "base/fault.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *cause_name(Cause cause) {
    static const char *const names[CAUSE_COUNT] = {
        [CAUSE_CONSTANTS] = "constants", [CAUSE_MAPS] = "maps",         [CAUSE_FORM] = "form",
        [CAUSE_LAYOUT] = "layout",       [CAUSE_LIFETIME] = "lifetime", [CAUSE_ALIASES] = "aliases",
        [CAUSE_WORKSPACE] = "workspace", [CAUSE_TILES] = "tiles",       [CAUSE_PACKING] = "packing"};
    return cause < CAUSE_COUNT ? names[cause] : "several";
}

/* Both are below 2^62. */
static int64_t less(uint64_t after, uint64_t before) {
    return (int64_t)after - (int64_t)before;
}

static uint64_t gap_of(const Side *side) {
    return side->placed_bytes - side->peak_live_bytes;
}

static DiffStep make_step(const Side *before, const DiffChange *change, Work *work) {
    const Side *after = change->side;
    DiffStep step = {.cause = change->cause,
                     .what = change->what,
                     .peak_live_bytes = after->peak_live_bytes,
                     .placed_bytes = after->placed_bytes};
    if (change->cause == CAUSE_SEVERAL) {
        blend_causes(before, after, step.causes, work);
    } else {
        step.causes[change->cause] = less(after->peak_live_bytes, before->peak_live_bytes);
    }
    step.causes[CAUSE_PACKING] = less(gap_of(after), gap_of(before));
    return step;
}

/* ---- Tensors */

/* The most bytes that one buffer of a tensor takes, and that one in local memory does. */
typedef struct {
    uint64_t bytes, local_bytes;
    bool is_there, is_local;
} Most;

/* One entry a tensor. */
typedef struct {
    Keyed *item; /* sorted, each key once */
    Most *most;
    uint32_t count;
} Tensors;

static void add_buffer(Most *most, const SideBuffer *buffer) {
    uint64_t bytes = buffer->physical_bytes;
    most->is_there = true;
    most->bytes = bytes > most->bytes ? bytes : most->bytes;
    if (buffer->is_local) {
        most->is_local = true;
        most->local_bytes = bytes > most->local_bytes ? bytes : most->local_bytes;
    }
}

static Tensors list_tensors(const Side *side, Arena *arena) {
    Tensors list = {.item = arena_array(arena, Keyed, side->buffer_count),
                    .most = arena_array(arena, Most, side->buffer_count)};
    Keyed *all = arena_array(arena, Keyed, side->buffer_count);
    for (uint32_t i = 0; i < side->buffer_count; i++) {
        all[i] = keyed_buffer(side, i);
    }
    keyed_sort(all, side->buffer_count);
    for (uint32_t i = 0; i < side->buffer_count; i++) {
        if (list.count == 0 || keyed_order(&list.item[list.count - 1], &all[i]) != 0) {
            list.item[list.count++] = all[i];
        }
        add_buffer(&list.most[list.count - 1], &side->buffers[all[i].index]);
    }
    return list;
}

static uint64_t apart(uint64_t a, uint64_t b) {
    return a > b ? a - b : b - a;
}

/* Of one that is there on both sides in one size: what one side alone has in local memory. */
static uint64_t distance(const DiffTensor *tensor) {
    uint64_t whole = apart(tensor->a_bytes, tensor->b_bytes);
    return whole > 0 ? whole : apart(tensor->a_local_bytes, tensor->b_local_bytes);
}

static int largest_first(const void *left, const void *right) {
    const DiffTensor *a = left, *b = right;
    uint64_t x = distance(a), y = distance(b);
    if (x != y) {
        return x < y ? 1 : -1;
    }
    int order = str_order(a->name, b->name);
    return order != 0 ? order : (int)b->is_constant - (int)a->is_constant;
}

static DiffTensor make_tensor(const Keyed *item, Most a, Most b) {
    return (DiffTensor){.name = item->key,
                        .is_constant = item->group == KEYED_CONSTANT,
                        .is_workspace = item->group == KEYED_WORKSPACE,
                        .is_in_a = a.is_there,
                        .is_in_b = b.is_there,
                        .is_local_in_a = a.is_local,
                        .is_local_in_b = b.is_local,
                        .a_bytes = a.bytes,
                        .b_bytes = b.bytes,
                        .a_local_bytes = a.local_bytes,
                        .b_local_bytes = b.local_bytes};
}

static void find_tensors(Diff *diff, Work *work) {
    Tensors a = list_tensors(diff->a, &work->scratch), b = list_tensors(diff->b, &work->scratch);
    DiffTensor *tensors = arena_array(&work->keep, DiffTensor, (size_t)a.count + b.count);
    const Most none = {0};
    uint32_t i = 0, k = 0, count = 0;
    while (i < a.count || k < b.count) {
        int order = i == a.count ? 1 : k == b.count ? -1 : keyed_order(&a.item[i], &b.item[k]);
        const Most of_a = order <= 0 ? a.most[i] : none, of_b = order >= 0 ? b.most[k] : none;
        const DiffTensor tensor = make_tensor(order <= 0 ? &a.item[i] : &b.item[k], of_a, of_b);
        i += order <= 0;
        k += order >= 0;
        if (order != 0 || of_a.bytes != of_b.bytes || of_a.is_local != of_b.is_local) {
            tensors[count++] = tensor;
        }
    }
    if (count > 1) {
        qsort(tensors, count, sizeof *tensors, largest_first);
    }
    diff->tensors = tensors;
    diff->tensor_count = count;
    arena_reset(&work->scratch);
}

/* ---- Outputs */

static bool is_same_number(double a, double b) {
    return a == b || (isnan(a) && isnan(b));
}

static bool is_same_output(const SideOutput *a, const SideOutput *b) {
    return str_eq(a->dtype, b->dtype) && a->shape.rank == b->shape.rank &&
           memcmp(a->shape.dim, b->shape.dim, a->shape.rank * sizeof *a->shape.dim) == 0 && a->lo == b->lo &&
           a->hi == b->hi && is_same_number(a->scale, b->scale) && a->zero_point == b->zero_point;
}

static Keyed *list_outputs(const Side *side, Arena *arena) {
    Keyed *items = arena_array(arena, Keyed, side->output_count);
    for (uint32_t k = 0; k < side->output_count; k++) {
        items[k] = (Keyed){.key = side->outputs[k].name, .index = k};
    }
    keyed_sort(items, side->output_count);
    return items;
}

/* Output of A -> that of B with the same name, or null; `is_taken`: of B, which have one. */
static const SideOutput **match_outputs(const Side *a, const Side *b, bool *is_taken, Arena *scratch) {
    const SideOutput **partner = arena_array(scratch, const SideOutput *, a->output_count);
    const Keyed *of_a = list_outputs(a, scratch), *of_b = list_outputs(b, scratch);
    uint32_t i = 0, k = 0;
    while (i < a->output_count && k < b->output_count) {
        int order = keyed_order(&of_a[i], &of_b[k]);
        if (order == 0) {
            partner[of_a[i].index] = &b->outputs[of_b[k].index];
            is_taken[of_b[k].index] = true;
        }
        i += order <= 0;
        k += order >= 0;
    }
    return partner;
}

static void find_outputs(Diff *diff, Work *work) {
    const Side *a = diff->a, *b = diff->b;
    bool *is_taken = arena_array(&work->scratch, bool, b->output_count);
    const SideOutput **partner = match_outputs(a, b, is_taken, &work->scratch);
    DiffOutput *outputs = arena_array(&work->keep, DiffOutput, (size_t)a->output_count + b->output_count);
    diff->outputs_stay = true;
    for (uint32_t i = 0; i < a->output_count; i++) {
        DiffOutput *output = &outputs[diff->output_count++];
        *output = (DiffOutput){.a = &a->outputs[i], .b = partner[i]};
        output->is_known = output->b != NULL && output->a->is_ranged && output->b->is_ranged;
        output->is_same = output->b != NULL && is_same_output(output->a, output->b);
        diff->outputs_stay &= output->is_same && output->is_known;
    }
    for (uint32_t k = 0; k < b->output_count; k++) {
        if (!is_taken[k]) {
            outputs[diff->output_count++] = (DiffOutput){.b = &b->outputs[k]};
            diff->outputs_stay = false;
        }
    }
    diff->outputs = outputs;
    arena_reset(&work->scratch);
}

const Diff *diff_make(const Side *a, const DiffChange *changes, uint32_t count, Work *work) {
    Diff *diff = arena_new(&work->keep, Diff);
    DiffStep *steps = arena_array(&work->keep, DiffStep, count);
    int64_t live = 0, placed = 0;
    CHECK(count > 0);
    *diff = (Diff){.a = a, .b = changes[count - 1].side, .step_count = count, .steps = steps};
    for (uint32_t k = 0; k < count; k++) {
        steps[k] = make_step(k == 0 ? a : changes[k - 1].side, &changes[k], work);
        for (Cause cause = 0; cause < CAUSE_COUNT; cause++) {
            diff->causes[cause] += steps[k].causes[cause];
            placed += steps[k].causes[cause];
            live += cause == CAUSE_PACKING ? 0 : steps[k].causes[cause];
        }
    }
    diff->peak_live_bytes = less(diff->b->peak_live_bytes, a->peak_live_bytes);
    diff->placed_bytes = less(diff->b->placed_bytes, a->placed_bytes);
    diff->backing_bytes = less(diff->b->backing_bytes, a->backing_bytes);
    CHECK(live == diff->peak_live_bytes && placed == diff->placed_bytes);
    find_tensors(diff, work);
    find_outputs(diff, work);
    return diff;
}
