/* Stacks of reals, float32 and float16. */
#include "native/stack.h"

static S0Floats floats_at(const Native *native, uint64_t channel, uint64_t channels) {
    return (S0Floats){
        .channels = (size_t)channels, .scale = native->floats.scale + channel, .bias = native->floats.bias + channel};
}

static void single_rows(const Native *native, const NativeStack *stack) {
    S0Floats floats = floats_at(native, stack->channel, stack->rows.columns);
    native->kernels->f32(&stack->rows, &floats);
}

static void half_rows(const Native *native, const NativeStack *stack) {
    S0Floats floats = floats_at(native, stack->channel, stack->rows.columns);
    native->kernels->f16(&stack->rows, &floats);
}

static void single_planes(const Native *native, const NativeStack *stack) {
    S0Floats floats = floats_at(native, stack->channel, stack->planes);
    native->kernels->f32_planes(&stack->rows, (size_t)stack->plane_bytes, &floats);
}

static void half_planes(const Native *native, const NativeStack *stack) {
    S0Rows rows = stack->rows;
    S0Floats floats = floats_at(native, stack->channel, 1);
    for (uint64_t plane = 0; plane < stack->planes; plane++) {
        native->kernels->f16(&rows, &floats);
        stack_next_plane(&rows, stack->plane_bytes);
        floats.scale++;
        floats.bias++;
    }
}

void native_take_floats(Native *native, const S0Floats *floats, bool is_half, Arena *arena) {
    native->floats = *floats;
    if (!native->walk.is_channel_last) {
        native->run = is_half ? half_planes : single_planes;
        return;
    }
    native->floats.scale = wide_array(&native->wide, floats->scale, sizeof(float), arena);
    native->floats.bias = wide_array(&native->wide, floats->bias, sizeof(float), arena);
    native->run = stack_take_rows(native, is_half ? half_rows : single_rows);
}
