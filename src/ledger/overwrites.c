/* Graph inputs that are overwritten in the same run, and when first.
 *
 * All inputs are alive at step 0, so their bytes are disjoint: sorted by memory and address, the ones that a buffer
 * covers are neighbours. Writes are looked at in the order of the steps, so the first to cover an input is the answer.
 */
#include "ledger/overwrites.h"

#include <stdlib.h>

/* Something that is written where the engine works. */
typedef struct {
    uint32_t step;
    BufferId buffer;
} Write;

typedef struct {
    uint32_t memory;
    uint64_t begin, end;
    Overwrite overwrite; /* its `writer_output` is no buffer until one is found */
} InputBytes;

static int by_address(const void *left, const void *right) {
    const InputBytes *a = left;
    const InputBytes *b = right;
    if (a->memory != b->memory) {
        return a->memory < b->memory ? -1 : 1;
    }
    return a->begin < b->begin ? -1 : a->begin > b->begin;
}

static size_t collect_inputs(const Plan *plan, InputBytes *inputs) {
    size_t count = 0;
    for (uint32_t i = 0; i < plan->buffer_count; i++) {
        const Buffer *buffer = &plan->buffers[i];
        if (buffer_is_worked_on(plan, buffer) && buffer->kind == BUFFER_INPUT && buffer->physical_bytes > 0) {
            inputs[count++] = (InputBytes){.memory = buffer->memory,
                                           .begin = buffer->offset,
                                           .end = buffer->offset + buffer->physical_bytes,
                                           .overwrite = {.input = {i}, .writer_output = NO_BUFFER}};
        }
    }
    if (count > 0) {
        qsort(inputs, count, sizeof *inputs, by_address);
    }
    return count;
}

static size_t count_writes(const Plan *plan) {
    size_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        count += plan->steps[s].write_count;
    }
    return count;
}

/* In the order of the steps. */
static size_t collect_writes(const Plan *plan, Write *writes) {
    size_t count = 0;
    for (uint32_t s = 0; s < plan->step_count; s++) {
        for (uint32_t i = 0; i < plan->steps[s].write_count; i++) {
            BufferId id = plan->steps[s].writes[i];
            const Buffer *buffer = plan_buffer(plan, id);
            if (buffer_is_worked_on(plan, buffer) && buffer->physical_bytes > 0) {
                writes[count++] = (Write){s, id};
            }
        }
    }
    return count;
}

/* The first input of that memory that ends behind `address`, or of a memory behind it. */
static size_t first_behind(const InputBytes *inputs, size_t count, uint32_t memory, uint64_t address) {
    size_t low = 0;
    size_t high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const InputBytes *input = &inputs[middle];
        if (input->memory < memory || (input->memory == memory && input->end <= address)) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

/* The next input from `at` on that nothing has covered; shortens the way for the next question. */
static size_t next_whole(size_t *skip, size_t at) {
    while (skip[at] != at) {
        skip[at] = skip[skip[at]];
        at = skip[at];
    }
    return at;
}

void overwrites_gather(Facts *facts, Work *work) {
    const Plan *plan = facts->plan;
    if (plan->device->kind != DEVICE_ARENA) {
        return;
    }
    InputBytes *inputs = arena_array(&work->scratch, InputBytes, plan->buffer_count);
    Write *writes = arena_array(&work->scratch, Write, count_writes(plan));
    size_t input_count = collect_inputs(plan, inputs);
    size_t write_count = collect_writes(plan, writes);
    size_t *skip = arena_array(&work->scratch, size_t, input_count + 1);
    for (size_t i = 0; i <= input_count; i++) {
        skip[i] = i;
    }
    for (size_t w = 0; w < write_count; w++) {
        const Buffer *buffer = plan_buffer(plan, writes[w].buffer);
        uint64_t end = buffer->offset + buffer->physical_bytes;
        size_t at = next_whole(skip, first_behind(inputs, input_count, buffer->memory, buffer->offset));
        while (at < input_count && inputs[at].memory == buffer->memory && inputs[at].begin < end) {
            inputs[at].overwrite.writer_output = writes[w].buffer;
            inputs[at].overwrite.step = writes[w].step;
            skip[at] = at + 1;
            at = next_whole(skip, at);
        }
    }
    facts->overwrites = arena_array(&work->keep, Overwrite, input_count);
    for (size_t i = 0; i < input_count; i++) {
        if (is_buffer(inputs[i].overwrite.writer_output)) {
            facts->overwrites[facts->overwrite_count++] = inputs[i].overwrite;
        }
    }
}
