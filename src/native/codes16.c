/* Stacks of codes of 16 bits. */
#include "native/patch.h"
#include "native/stack.h"

#include <string.h>

/* ---- Operator by operator */

/* Codes that a chain takes at a time. */
enum { CODES_A_BLOCK = 256 };

static void chain_row(const Chain *chain, const uint8_t *x, uint8_t *y, size_t count) {
    int32_t code[CODES_A_BLOCK];
    int16_t narrow[CODES_A_BLOCK];
    for (size_t first = 0; first < count; first += CODES_A_BLOCK) {
        size_t block = count - first < CODES_A_BLOCK ? count - first : CODES_A_BLOCK;
        memcpy(narrow, x + first * sizeof *narrow, block * sizeof *narrow);
        for (size_t k = 0; k < block; k++) {
            code[k] = narrow[k];
        }
        chain_codes(chain, code, (uint32_t)block);
        for (size_t k = 0; k < block; k++) {
            narrow[k] = (int16_t)code[k];
        }
        memcpy(y + first * sizeof *narrow, narrow, block * sizeof *narrow);
    }
}

static void chain_rows(const Chain *chain, const S0Rows *rows) {
    for (size_t row = 0; row < rows->rows; row++) {
        chain_row(chain, (const uint8_t *)rows->x + row * rows->x_pitch_bytes,
                  (uint8_t *)rows->y + row * rows->y_pitch_bytes, rows->columns);
    }
}

/* ---- Channel first */

static void plane16(const Native *native, const S0Rows *rows, uint64_t channel) {
    const Form16 *form = &native->codes16.form[channel];
    if (form->kind == FORM16_REAL) {
        S0Reals16 reals = form16_reals(form);
        native->kernels->real16(rows, &reals);
    } else if (form->kind == FORM16_QUOTIENT) {
        S0Quotients16 quotients = form16_quotients(form);
        native->kernels->quotient16(rows, &quotients);
    } else if (form->kind == FORM16_FIXED) {
        S0Fixed16 fixed = form16_fixed(form);
        native->kernels->fixed16(rows, &fixed);
    } else {
        chain_rows(&native->codes16.chain[channel], rows);
    }
}

static S0Reals16 reals_at(S0Reals16 given, uint64_t channel, size_t channels) {
    given.channels = channels;
    given.weight += channel;
    given.offset += channel;
    given.scale += channel;
    given.bias += channel;
    return given;
}

static void some_planes16(const Native *native, const S0Rows *rows, uint64_t channel, size_t count,
                          uint64_t plane_bytes) {
    const Node16 *node = &native->codes16;
    S0Reals16 given = reals_at(node->planes, channel, count);
    given.codes = node->form[channel].codes;
    native->kernels->real16_planes(rows, (size_t)plane_bytes, &given);
}

static void planes16(const Native *native, const NativeStack *stack) {
    stack_planes(native, stack, native->codes16.together, plane16, some_planes16);
}

/* ---- Channel last */

static void real_rows(const Native *native, const NativeStack *stack) {
    S0Reals16 given = reals_at(native->codes16.reals, stack->channel, stack->rows.columns);
    native->kernels->real16(&stack->rows, &given);
}

static void quotient_rows(const Native *native, const NativeStack *stack) {
    S0Quotients16 given = {.reals = reals_at(native->codes16.quotients.reals, stack->channel, stack->rows.columns),
                           .divisor = native->codes16.quotients.divisor + stack->channel};
    native->kernels->quotient16(&stack->rows, &given);
}

static void fixed_rows(const Native *native, const NativeStack *stack) {
    S0Fixed16 given = native->codes16.fixed;
    given.channels = stack->rows.columns;
    given.weight += stack->channel;
    given.offset += stack->channel;
    given.factor += stack->channel;
    native->kernels->fixed16(&stack->rows, &given);
}

/* All columns are patched. */
static void nothing(const Native *native, const NativeStack *stack) {
    (void)native;
    (void)stack;
}

static void patch_by_form(const Native *native, const S0Rows *row, size_t patch) {
    plane16(native, row, native->patch_column[patch]);
}

static void widen_reals(const Wide *wide, S0Reals16 *reals, Arena *arena) {
    reals->weight = wide_array(wide, reals->weight, sizeof(float), arena);
    reals->offset = wide_array(wide, reals->offset, sizeof(float), arena);
    reals->scale = wide_array(wide, reals->scale, sizeof(float), arena);
    reals->bias = wide_array(wide, reals->bias, sizeof(float), arena);
}

static void widen_fixed(const Wide *wide, S0Fixed16 *fixed, Arena *arena) {
    fixed->weight = wide_array(wide, fixed->weight, sizeof(int32_t), arena);
    fixed->offset = wide_array(wide, fixed->offset, sizeof(int32_t), arena);
    fixed->factor = wide_array(wide, fixed->factor, sizeof(S0Multiplier), arena);
}

/* What computes the columns that are not patched. */
static NativeRun take_shared16(Native *native, Arena *arena) {
    const Wide *given = &native->wide;
    Node16 *node = &native->codes16;
    switch (node->shared) {
    case FORM16_REAL:
        widen_reals(given, &node->reals, arena);
        return stack_take_rows(native, real_rows);
    case FORM16_QUOTIENT:
        widen_reals(given, &node->quotients.reals, arena);
        node->quotients.divisor = wide_array(given, node->quotients.divisor, sizeof(float), arena);
        return stack_take_rows(native, quotient_rows);
    case FORM16_FIXED:
        widen_fixed(given, &node->fixed, arena);
        return stack_take_rows(native, fixed_rows);
    default:
        return nothing;
    }
}

static void take_last16(Native *native, Arena *arena) {
    const Node16 *node = &native->codes16;
    native->run = take_shared16(native, arena);
    if (node->patch_count > 0) {
        patch_take(native, node->patch_column, node->patch_count, native->run, patch_by_form);
    }
}

void native_take_codes16(Native *native, const Chain *chain, size_t channels, Arena *arena) {
    node16_find(chain, channels, arena, &native->codes16);
    if (native->walk.is_channel_last) {
        take_last16(native, arena);
    } else {
        node16_join(&native->codes16, arena);
        native->run = planes16;
    }
}
