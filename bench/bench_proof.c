/* What proofs cost: a row a kind of channel, all channels distinct and equal to what replaces them (the costly case: a
 * difference between first inputs does not end a proof, but equality must be seen everywhere). */
#include "affine/form.h"

#include <stdio.h>
#include <time.h>

enum { RUNS = 5, MOST_STAGES = 4, CHANNELS = 4096 };

typedef struct {
    const char *name;
    S0Format format;
    bool is_one_reference; /* else all of the format */
    bool is_form;          /* finds the form instead */
    uint32_t channels;
    Domain domain;
    void (*fill)(uint32_t channel, Claim *claim, Stage *before, Stage *after);
} Row;

static Stage coded(StageKind kind, DType from, float in, float constant, int32_t value, float out) {
    Stage stage = {.kind = kind, .from = from, .to = DTYPE_I8};
    stage.integer.in.scale = in;
    stage.integer.constant.scale = constant;
    stage.integer.value = value;
    stage.integer.out.scale = out;
    stage.integer.lo = -128;
    stage.integer.hi = 127;
    return stage;
}

static float scale_of(uint32_t channel) {
    return 0.02F + (float)channel * 1e-6F;
}

/* MUL, then ADD, which moves codes by 10, as one MUL with a moved zero point. */
static void fill_mul_add(uint32_t channel, Claim *claim, Stage *before, Stage *after) {
    float scale = scale_of(channel);
    before[0] = coded(STAGE_CODE_MUL, DTYPE_I8, scale, 0.01F, 77, 0.03F);
    before[1] = coded(STAGE_CODE_ADD, DTYPE_I8, 0.03F, 0.03F, 10, 0.03F);
    after[0] = before[0];
    after[0].integer.out.zero_point = 10;
    after[0].integer.lo = -118;
    claim->before_count = 2;
    claim->after_count = 1;
}

static void fill_norm(uint32_t channel, Claim *claim, Stage *before, Stage *after) {
    before[0] = (Stage){.kind = STAGE_DEQUANTIZE, .from = DTYPE_I8, .to = DTYPE_F32, .code = {scale_of(channel), 3}};
    before[1] = (Stage){.kind = STAGE_MUL, .from = DTYPE_F32, .to = DTYPE_F32, .number = 1};
    before[2] = (Stage){.kind = STAGE_NORM, .from = DTYPE_F32, .to = DTYPE_F32, .norm = {0.1F, 2, 1e-5F, 1.5F, 0.2F}};
    before[3] = (Stage){.kind = STAGE_QUANTIZE, .from = DTYPE_F32, .to = DTYPE_I8, .code = {0.03F, -5}};
    after[0] = before[0];
    after[1] = before[2];
    after[2] = before[3];
    claim->before_count = 4;
    claim->after_count = 3;
}

static void fill_accumulator(uint32_t channel, Claim *claim, Stage *before, Stage *after) {
    before[0] = coded(STAGE_ACC_REQUANTIZE, DTYPE_I32, scale_of(channel) * 1e-5F, 0.01F, 0, 0.03F);
    before[1] = coded(STAGE_CODE_CLIP, DTYPE_I8, 1, 1, 0, 1);
    before[1].integer.lo = -100;
    after[0] = before[0];
    after[0].integer.lo = -100;
    claim->before_count = 2;
    claim->after_count = 1;
}

static const Row rows[] = {
    {"int8 MUL+ADD, 1 reference", S0_FORMAT_TFLITE, true, false, CHANNELS, {-128, 127, "int8"}, fill_mul_add},
    {"int8 MUL+ADD, all of TFLite", S0_FORMAT_TFLITE, false, false, CHANNELS, {-128, 127, "int8"}, fill_mul_add},
    {"int8 float chain, 1 reference", S0_FORMAT_ONNX, true, false, CHANNELS, {-128, 127, "int8"}, fill_norm},
    {"int8 float chain, all of ONNX", S0_FORMAT_ONNX, false, false, CHANNELS, {-128, 127, "int8"}, fill_norm},
    {"int32 to int8, 1 reference", S0_FORMAT_TFLITE, true, false, 256, {INT32_MIN, INT32_MAX, ""}, fill_accumulator},
    {"int32 to int8, all of TFLite", S0_FORMAT_TFLITE, false, false, 256, {INT32_MIN, INT32_MAX, ""}, fill_accumulator},
    {"form of int8 MUL+ADD, TFLite", S0_FORMAT_TFLITE, false, true, 256, {-128, 127, "int8"}, fill_mul_add},
    {"form of int8 float chain, ONNX", S0_FORMAT_ONNX, false, true, 256, {-128, 127, "int8"}, fill_norm},
};

/* Of this process alone: the machine may have other work. */
static double now_us(void) {
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static uint32_t references(const Row *row) {
    if (!row->is_one_reference) {
        return s0_semantics_of(row->format);
    }
    return S0_SEM_BIT(row->format == S0_FORMAT_ONNX ? S0_SEM_ONNX : S0_SEM_TFLITE_DOUBLE);
}

static Claim claims[CHANNELS];
static Stage stages[CHANNELS][2][MOST_STAGES];

/* Microseconds of one run; `what` tells what came out. */
static double run(const Row *row, Work *work, const char **what) {
    double start = now_us();
    if (row->is_form) {
        ChannelForm form = {0};
        for (uint32_t c = 0; c < row->channels; c++) {
            form = affine_channel_form(claims[c].before, claims[c].before_count, row->domain, references(row), work);
        }
        *what = affine_form_name(form.form);
    } else {
        ProofTerms terms = {"bench", references(row), 0};
        Certificate certificate = prove_channels(claims, row->channels, &terms, work);
        *what = certificate.reason != NULL ? certificate.reason : proof_class_name(certificate.class);
    }
    return now_us() - start;
}

static void measure(const Row *row, Work *work) {
    const char *what = "";
    double best = 0;
    for (uint32_t c = 0; c < row->channels; c++) {
        claims[c] = (Claim){.before = stages[c][0], .after = stages[c][1], .domain = row->domain};
        row->fill(c, &claims[c], stages[c][0], stages[c][1]);
    }
    for (int i = 0; i < RUNS; i++) {
        arena_reset(&work->scratch);
        double us = run(row, work, &what);
        best = i == 0 || us < best ? us : best;
    }
    printf("%-32s %8u %10.2f %13.2f  %s\n", row->name, row->channels, best / 1e3, best / row->channels, what);
}

int main(void) {
    static Work work;
    work_init(&work, &system_allocator);
    if (setjmp(work.escape)) {
        fputs("out of memory\n", stderr);
        return 1;
    }
    printf("%-32s %8s %10s %13s  (best of %d runs)\n", "proof", "channels", "ms", "us a channel", RUNS);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        measure(&rows[i], &work);
    }
    work_free(&work);
    return 0;
}
