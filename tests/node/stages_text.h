/* Stages of a node as one line, as the tables of tests have them.
 *
 *     x0: DEQUANTIZE int8>float32 0.5,-1; MUL float32 number@1; QUANTIZE float32>int8 0.25,0
 * x0 is the input that is the map, "x0 repeats" where it does so along axes of the result; number@1: input 1 gives the
 * number; number@1(0.5,3): as codes of that scale and zero point. */
#ifndef TESTS_NODE_STAGES_TEXT_H
#define TESTS_NODE_STAGES_TEXT_H

#include "node/stages.h"

#include <stdio.h>

static inline void print_code(FILE *out, const char *name, StageCode code) {
    fprintf(out, " %s%g,%d", name, (double)code.scale, (int)code.zero_point);
}

static inline void print_immediates(FILE *out, const Stage *stage) {
    switch (stage->kind) {
    case STAGE_NORM:
        fprintf(out, " epsilon=%g", (double)stage->norm.epsilon);
        return;
    case STAGE_CLIP:
        fprintf(out, " [%g,%g]", (double)stage->clip.lo, (double)stage->clip.hi);
        return;
    case STAGE_DEQUANTIZE:
    case STAGE_QUANTIZE:
        print_code(out, "", stage->code);
        return;
    case STAGE_CODE_MUL:
    case STAGE_CODE_ADD:
    case STAGE_CODE_REQUANTIZE:
        print_code(out, "in=", stage->integer.in);
        if (stage->kind != STAGE_CODE_REQUANTIZE) {
            print_code(out, "constant=", stage->integer.constant);
        }
        print_code(out, "out=", stage->integer.out);
        break;
    case STAGE_CODE_CLIP:
        break;
    default:
        return;
    }
    fprintf(out, " [%d,%d]", (int)stage->integer.lo, (int)stage->integer.hi);
    if (stage->integer.negate != 0) {
        fprintf(out, " negate=%d", (int)stage->integer.negate);
    }
}

static inline void print_stage(FILE *out, const NodeStage *one) {
    static const char *const kinds[] = {
        [STAGE_MUL] = "MUL",
        [STAGE_ADD] = "ADD",
        [STAGE_SUB] = "SUB",
        [STAGE_RSUB] = "RSUB",
        [STAGE_DIV] = "DIV",
        [STAGE_NORM] = "NORM",
        [STAGE_CLIP] = "CLIP",
        [STAGE_DEQUANTIZE] = "DEQUANTIZE",
        [STAGE_QUANTIZE] = "QUANTIZE",
        [STAGE_CODE_MUL] = "CODE_MUL",
        [STAGE_CODE_ADD] = "CODE_ADD",
        [STAGE_CODE_REQUANTIZE] = "CODE_REQUANTIZE",
        [STAGE_CODE_CLIP] = "CODE_CLIP",
        [STAGE_INT_MUL] = "INT_MUL",
        [STAGE_INT_ADD] = "INT_ADD",
        [STAGE_INT_SUB] = "INT_SUB",
        [STAGE_INT_RSUB] = "INT_RSUB",
        [STAGE_INT_DIV] = "INT_DIV",
        [STAGE_CAST] = "CAST",
    };
    static const char *const gives[] = {
        [GIVES_NUMBER] = "number", [GIVES_VALUE] = "value",     [GIVES_GAMMA] = "gamma",
        [GIVES_BETA] = "beta",     [GIVES_MEAN] = "mean",       [GIVES_VARIANCE] = "variance",
        [GIVES_SCALE] = "scale",   [GIVES_ZERO_POINT] = "zero", [GIVES_LO] = "lo",
        [GIVES_HI] = "hi",
    };
    const Stage *stage = &one->stage;
    fprintf(out, "%s %s", kinds[stage->kind], dtype_name(stage->from));
    if (stage->to != stage->from) {
        fprintf(out, ">%s", dtype_name(stage->to));
    }
    print_immediates(out, stage);
    for (uint32_t k = 0; k < one->param_count; k++) {
        const StageParam *param = &one->param[k];
        fprintf(out, " %s@%u", gives[param->gives], (unsigned)param->input);
        if (param->is_coded) {
            fprintf(out, "(%g,%d)", (double)param->code.scale, (int)param->code.zero_point);
        }
    }
}

/* To be freed. */
static inline char *stages_text(const NodeStages *stages) {
    char *text = NULL;
    size_t length = 0;
    FILE *out = open_memstream(&text, &length);
    fprintf(out, "x%u%s:", (unsigned)stages->data_input, stages->is_spread ? " repeats" : "");
    for (uint32_t k = 0; k < stages->count; k++) {
        fprintf(out, k == 0 ? " " : "; ");
        print_stage(out, &stages->stage[k]);
    }
    fclose(out);
    return text;
}

#endif
