/* Lines of products, sums and quotients. See line16.h. */
#include "prepare/line16.h"

#include <math.h>

static bool is_power_of_two(float x) {
    int exponent;
    return fabsf(frexpf(x, &exponent)) == 0.5f;
}

static bool in_range(float x) {
    return x == 0 || (fabsf(x) >= 0x1p-30f && fabsf(x) <= 0x1p30f);
}

static void append(Line16 *line, LineOp op, float number) {
    line->is_sound = line->is_sound && line->count < LINE_MOST && in_range(number);
    if (line->is_sound) {
        line->step[line->count].op = op;
        line->step[line->count].number = number;
        line->count++;
    }
}

/* The last product or quotient, or `count`. */
static uint32_t last_factor(const Line16 *line) {
    for (uint32_t i = line->count; i-- > 0;) {
        if (line->step[i].op != LINE_ADD) {
            return i;
        }
    }
    return line->count;
}

/* A product with a power of 2 is made before the sums that it follows, and in one with the factor before them. */
static void push_power(Line16 *line, float power) {
    uint32_t factor = last_factor(line);
    if (factor == line->count) {
        append(line, LINE_MUL, power);
        return;
    }
    for (uint32_t i = factor; i < line->count; i++) {
        float *number = &line->step[i].number;
        *number = line->step[i].op == LINE_DIV ? *number / power : *number * power;
        line->is_sound = line->is_sound && in_range(*number);
    }
}

static void push_product(Line16 *line, float number) {
    float *last =
        line->count > 0 && line->step[line->count - 1].op == LINE_MUL ? &line->step[line->count - 1].number : NULL;
    if (is_power_of_two(number)) {
        push_power(line, number);
    } else if (last != NULL && is_power_of_two(*last)) {
        *last *= number;
        line->is_sound = line->is_sound && in_range(*last);
    } else {
        append(line, LINE_MUL, number);
    }
}

void line16_push(Line16 *line, LineOp op, float number) {
    bool is_nothing = op == LINE_ADD ? number == 0 : number == 1;
    if (is_nothing) {
        return;
    }
    if (!in_range(number)) {
        line->is_sound = false;
    } else if (op == LINE_MUL) {
        push_product(line, number);
    } else if (op == LINE_DIV && is_power_of_two(number)) {
        push_product(line, 1 / number);
    } else {
        append(line, op, number);
    }
}

/* Codes less a zero point: exact while both have few bits. */
static void push_steps(Line16 *line, int32_t zero) {
    line->is_sound = line->is_sound && zero >= -65536 && zero <= 65536;
    line16_push(line, LINE_ADD, -(float)zero);
}

static void push_norm(Line16 *line, const BoundStage *stage) {
    line16_push(line, LINE_ADD, -stage->norm.mean);
    line16_push(line, LINE_DIV, stage->norm.deviation);
    line16_push(line, LINE_MUL, stage->norm.gamma);
    line16_push(line, LINE_ADD, stage->norm.beta);
}

static void push_scaled_sum(Line16 *line, const BoundStage *stage) {
    push_steps(line, stage->scaled_sum.zero);
    line16_push(line, LINE_MUL, stage->scaled_sum.scale);
    line16_push(line, LINE_MUL, (float)stage->scaled_sum.sign);
    line16_push(line, LINE_ADD, stage->scaled_sum.addend);
    line16_push(line, LINE_DIV, stage->scaled_sum.divisor);
}

bool line16_stage(Line16 *line, const BoundStage *stage) {
    if (stage->is_half) {
        return false;
    }
    switch (stage->kind) {
    case BOUND_DEQUANTIZE: /* the double product of DEQUANTIZE_F64 is exact: 24 bits by 17 */
    case BOUND_DEQUANTIZE_F64:
        push_steps(line, stage->code.zero_point);
        line16_push(line, LINE_MUL, stage->code.scale);
        return true;
    case BOUND_MUL:
        line16_push(line, LINE_MUL, stage->number);
        return true;
    case BOUND_ADD:
        line16_push(line, LINE_ADD, stage->number);
        return true;
    case BOUND_SUB:
        line16_push(line, LINE_ADD, -stage->number);
        return true;
    case BOUND_RSUB:
        line16_push(line, LINE_MUL, -1);
        line16_push(line, LINE_ADD, stage->number);
        return true;
    case BOUND_DIV:
        line16_push(line, LINE_DIV, stage->number);
        return true;
    case BOUND_NORM:
        push_norm(line, stage);
        return true;
    case BOUND_FOLDED_NORM:
        line16_push(line, LINE_MUL, stage->folded.factor);
        line16_push(line, LINE_ADD, stage->folded.addend);
        return true;
    case BOUND_SCALED_SUM:
        push_scaled_sum(line, stage);
        return true;
    case BOUND_QUANTIZE:
        line16_push(line, LINE_DIV, stage->code.scale);
        return true;
    default:
        return false;
    }
}

/* The number of step i where it is of that kind, else `without`. */
static float take(const Line16 *line, uint32_t *i, LineOp op, float without) {
    return *i < line->count && line->step[*i].op == op ? line->step[(*i)++].number : without;
}

/* How many steps the product, sum, product and sum are. */
static uint32_t take_four(const Line16 *line, Form16 *form) {
    uint32_t i = 0;
    form->weight = take(line, &i, LINE_MUL, 1);
    form->offset = take(line, &i, LINE_ADD, 0);
    form->scale = take(line, &i, LINE_MUL, 1);
    form->bias = take(line, &i, LINE_ADD, 0);
    return i;
}

bool line16_match(const Line16 *line, Form16 *form) {
    return take_four(line, form) == line->count && line->is_sound;
}

bool line16_match_quotient(const Line16 *line, Form16 *form) {
    uint32_t i = take_four(line, form);
    form->divisor = take(line, &i, LINE_DIV, 1);
    return line->is_sound && i == line->count && form->divisor != 0;
}

void line16_invert(Line16 *line) {
    for (uint32_t i = 0; i < line->count; i++) {
        if (line->step[i].op == LINE_DIV) {
            line->step[i].op = LINE_MUL;
            line->step[i].number = 1 / line->step[i].number;
        }
    }
}

bool line16_join(Line16 *line, uint32_t at) {
    if (line->step[at].op != LINE_MUL || line->step[at + 1].op != LINE_MUL) {
        return false;
    }
    line->step[at].number *= line->step[at + 1].number;
    line->count--;
    for (uint32_t i = at + 1; i < line->count; i++) {
        line->step[i] = line->step[i + 1];
    }
    return true;
}
