/* Folds stages in double. See real.h. */
#include "affine/real.h"

#include <math.h>
#include <stddef.h>

/* One stage: y = factor * x + addend. */
typedef struct {
    double factor, addend;
} Step;

static Step norm_step(const Stage *stage) {
    double factor = (double)stage->norm.gamma / sqrt((double)stage->norm.variance + (double)stage->norm.epsilon);
    return (Step){factor, (double)stage->norm.beta - (double)stage->norm.mean * factor};
}

static Step code_add_step(const Stage *stage) {
    double steps = (double)stage->integer.value - stage->integer.constant.zero_point;
    double addend = steps * (double)stage->integer.constant.scale;
    return (Step){stage->integer.negate == 2 ? -1 : 1, stage->integer.negate == 1 ? -addend : addend};
}

static Step code_scale_step(const Stage *stage) {
    double unit = (double)stage->integer.constant.scale;
    double weight = ((double)stage->integer.value - stage->integer.constant.zero_point) * unit;
    double bias = stage->kind == STAGE_CODE_SCALE ? stage->integer.bias : 0;
    return (Step){weight, bias * (double)stage->integer.in.scale * unit};
}

static Step step_of(const Stage *stage) {
    double number = (double)stage->number;
    switch (stage->kind) {
    case STAGE_MUL:
        return (Step){number, 0};
    case STAGE_ADD:
        return (Step){1, number};
    case STAGE_SUB:
        return (Step){1, -number};
    case STAGE_RSUB:
        return (Step){-1, number};
    case STAGE_DIV:
        return (Step){1 / number, 0};
    case STAGE_NORM:
        return norm_step(stage);
    case STAGE_CODE_ADD:
        return code_add_step(stage);
    case STAGE_CODE_MUL:
    case STAGE_CODE_SCALE:
        return code_scale_step(stage);
    case STAGE_ACC_REQUANTIZE:
        return (Step){(double)stage->integer.constant.scale, 0};
    default:
        return (Step){1, 0};
    }
}

static StageFault step_fault(const Stage *stage, Step step) {
    double sum = stage->kind == STAGE_NORM ? (double)stage->norm.variance + (double)stage->norm.epsilon : 1;
    if (sum <= 0) {
        return "variance + epsilon is not positive";
    }
    return isfinite(step.factor) && isfinite(step.addend) && isfinite(sum) ? NULL : "a parameter is not finite";
}

/* Do codes come in that the stage gives a meaning? */
static bool reads_code(const Stage *stage) {
    return stage->kind == STAGE_DEQUANTIZE || (stage->kind > STAGE_QUANTIZE && stage->kind != STAGE_CODE_CLIP);
}

static bool writes_code(const Stage *stage) {
    return stage->kind == STAGE_QUANTIZE || (reads_code(stage) && stage->kind != STAGE_DEQUANTIZE);
}

static StageCode code_in(const Stage *stage) {
    StageCode code = stage->kind == STAGE_DEQUANTIZE ? stage->code : stage->integer.in;
    code.zero_point = stage->kind == STAGE_ACC_REQUANTIZE ? 0 : code.zero_point;
    return code;
}

/* Codes that the stage before meant otherwise. */
static void read_as(RealForm *real, StageCode code) {
    double factor = (double)code.scale / (double)real->out.scale;
    double moved = ((double)real->out.zero_point - code.zero_point) * (double)code.scale;
    real->a *= factor;
    real->b = real->b * factor + moved;
}

StageFault real_fold(const Stage *stage, uint32_t count, RealForm *real) {
    *real = (RealForm){1, 0, {1, 0}, {1, 0}};
    bool is_coded = false;
    for (uint32_t k = 0; k < count; k++) {
        if (reads_code(&stage[k]) && !is_coded) {
            real->in = code_in(&stage[k]);
        } else if (reads_code(&stage[k])) {
            read_as(real, code_in(&stage[k]));
        }
        is_coded = is_coded || reads_code(&stage[k]);
        Step step = step_of(&stage[k]);
        StageFault fault = step_fault(&stage[k], step);
        if (fault != NULL) {
            return fault;
        }
        real->a *= step.factor;
        real->b = real->b * step.factor + step.addend;
        if (writes_code(&stage[k])) {
            real->out = stage[k].kind == STAGE_QUANTIZE ? stage[k].code : stage[k].integer.out;
        }
    }
    double factor = real_code_factor(real);
    bool is_finite = isfinite(real->a) && isfinite(real->b) && isfinite(factor);
    return is_finite ? NULL : "the folded parameters are not finite";
}

double real_code_factor(const RealForm *real) {
    return real->a * (double)real->in.scale / (double)real->out.scale;
}
