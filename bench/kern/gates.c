/* What was promised of the kernels beside what was measured. */
#include "results.h"

#include <math.h>
#include <string.h>

enum { LONG_PLANE = 512, WIDE_PLANE = 196, TWO_THREADS_BYTES = 1 << 20, MIDDLE_BYTES = 802816 };

#define AT(level)  (1U << (level))
#define IN_CACHE   (AT(LEVEL_L1) | AT(LEVEL_L2) | AT(LEVEL_L3))
#define ANY_LAYOUT (AT(NCHW) | AT(NHWC))

/* How a row is judged; what is less than the gate misses it. NAN: not a row of the gate. */
typedef double (*Judge)(const Results *results, const Row *row);

typedef struct {
    const char *text;
    Judge judge;
    Elem elem;
    unsigned layouts, levels;
    uint64_t least_plane, most_plane; /* 0: no limit */
    uint64_t bytes;                   /* of x, 0: any */
    double gate, target;              /* target 0: none */
} Gate;

static double over(const Result *ours, const Result *theirs) {
    return ours == NULL || theirs == NULL ? NAN : theirs->ns / ours->ns;
}

static double fast_share(const Results *results, const Row *row) {
    const Result *ours = results_find(results, row, "stride0");
    return ours == NULL ? NAN : ours->share;
}

static double exact_share(const Results *results, const Row *row) {
    const Result *ours = results_find(results, row, "stride0-exact");
    return ours == NULL ? NAN : ours->share;
}

static double over_libraries(const Results *results, const Row *row) {
    return over(results_find(results, row, "stride0"), results_library(results, row, ""));
}

static double over_xnnpack(const Results *results, const Row *row) {
    return over(results_find(results, row, "stride0"), results_library(results, row, "xnnpack"));
}

static double over_full(const Results *results, const Row *row) {
    const Result *full =
        results_faster(results_find(results, row, "naive-gcc-full"), results_find(results, row, "naive-clang-full"));
    return over(results_find(results, row, "stride0"), full);
}

static double over_one_thread(const Results *results, const Row *row) {
    return row_bytes(row) < TWO_THREADS_BYTES
               ? NAN
               : over(results_find(results, row, "stride0-2threads"), results_find(results, row, "stride0"));
}

static const Gate GATES[] = {
    {"float32 NCHW in cache, of a copy", fast_share, FLOAT32, AT(NCHW), IN_CACHE, 2, 0, 0, 0.90, 0.97},
    {"float32 NHWC in cache, any C, of a copy", fast_share, FLOAT32, AT(NHWC), IN_CACHE, 2, 0, 0, 0.85, 0.95},
    {"float32 beyond, of a copy", fast_share, FLOAT32, ANY_LAYOUT, AT(LEVEL_MEMORY), 0, 0, 0, 1.3, 0},
    {"float32, of the fastest library", over_libraries, FLOAT32, ANY_LAYOUT, IN_CACHE | AT(LEVEL_MEMORY), 2, 0, 0, 1,
     0},
    {"float32 NHWC in cache, of XNNPACK", over_xnnpack, FLOAT32, AT(NHWC), IN_CACHE, 2, 0, 0, 1.5, 0},
    {"float32 in cache, planes from 196, of fully expanded", over_full, FLOAT32, ANY_LAYOUT, IN_CACHE, WIDE_PLANE, 0, 0,
     1.5, 0},
    {"int8 in L1, of a copy", fast_share, INT8, ANY_LAYOUT, AT(LEVEL_L1), 2, 0, 0, 0.35, 0.45},
    {"int8 in L2, planes from 512, of a copy", fast_share, INT8, ANY_LAYOUT, AT(LEVEL_L2), LONG_PLANE, 0, 0, 0.55,
     0.65},
    {"int8 in L2, shorter planes, of a copy", fast_share, INT8, ANY_LAYOUT, AT(LEVEL_L2), 2, LONG_PLANE - 1, 0, 0.45,
     0},
    {"int8 of 0.8 MB, of a copy", fast_share, INT8, ANY_LAYOUT, IN_CACHE, 0, 0, MIDDLE_BYTES, 0.80, 0},
    {"int8 beyond, of a copy", fast_share, INT8, ANY_LAYOUT, AT(LEVEL_MEMORY), 0, 0, 0, 1.2, 0},
    {"int8 in cache, of the fastest library", over_libraries, INT8, ANY_LAYOUT, IN_CACHE, 2, 0, 0, 6, 0},
    {"int8, general form, in L2, of a copy", exact_share, INT8, ANY_LAYOUT, AT(LEVEL_L2), 2, 0, 0, 0.20, 0.25},
    {"int8, general form, beyond, of a copy", exact_share, INT8, ANY_LAYOUT, AT(LEVEL_MEMORY), 0, 0, 0, 0.85, 0},
    {"int16 in L2 and L3, planes from 512, of a copy", fast_share, INT16, ANY_LAYOUT, AT(LEVEL_L2) | AT(LEVEL_L3),
     LONG_PLANE, 0, 0, 0.50, 0.65},
    {"int16 beyond, of a copy", fast_share, INT16, ANY_LAYOUT, AT(LEVEL_MEMORY), 0, 0, 0, 0.9, 0},
    {"float32, two threads over one, from 1 MiB in cache", over_one_thread, FLOAT32, ANY_LAYOUT, IN_CACHE, 0, 0, 0, 1.7,
     0},
    {"int16, two threads over one, from 1 MiB in cache", over_one_thread, INT16, ANY_LAYOUT, IN_CACHE, 0, 0, 0, 1.7, 0},
};

static bool is_of(const Gate *gate, const Row *row) {
    uint64_t plane = row_plane(row);
    return row->elem == gate->elem && (gate->layouts & AT(row->layout)) != 0 &&
           (gate->levels & AT(row_level(row))) != 0 && plane >= gate->least_plane &&
           (gate->most_plane == 0 || plane <= gate->most_plane) && (gate->bytes == 0 || row_bytes(row) == gate->bytes);
}

static void write_gate(const Results *results, const Gate *gate, FILE *out) {
    Row rows[ROWS_MOST];
    size_t count = rows_list(rows), worst = 0, judged = 0, reached = 0;
    double least = INFINITY;
    for (size_t k = 0; k < count; k++) {
        double value = is_of(gate, &rows[k]) ? gate->judge(results, &rows[k]) : NAN;
        if (isnan(value)) {
            continue;
        }
        judged++;
        reached += value >= gate->gate;
        worst = value < least ? k : worst;
        least = fmin(least, value);
    }
    char text[SHAPE_TEXT], target[16] = "";
    if (gate->target > 0) {
        snprintf(target, sizeof target, " (%.2f)", gate->target);
    }
    fprintf(out, "| %s | %.2f%s | ", gate->text, gate->gate, target);
    if (judged == 0) {
        fputs("not measured | | |\n", out);
        return;
    }
    fprintf(out, "%.2f | %s %s | %zu of %zu |\n", least, shape_text(rows[worst].shape, text),
            layout_name(rows[worst].layout), reached, judged);
}

/* Milliseconds or less, the largest of the rows: what must stay below. */
static void write_most(FILE *out, const char *text, double gate, const double *values, size_t count, const char *unit) {
    double most = 0;
    size_t reached = 0;
    for (size_t k = 0; k < count; k++) {
        most = fmax(most, values[k]);
        reached += values[k] <= gate;
    }
    fprintf(out, "| %s | at most %.1f %s | %.2f %s | | %zu of %zu |\n", text, gate, unit, most, unit, reached, count);
}

static void write_calls(const Results *results, FILE *out) {
    double us[ELEMS * LAYOUTS];
    size_t count = 0;
    Row rows[ROWS_MOST];
    size_t row_count = rows_list(rows);
    for (size_t k = 0; k < row_count; k++) {
        const Result *ours = row_is_pixel(&rows[k]) ? results_find(results, &rows[k], "stride0") : NULL;
        if (ours != NULL && count < sizeof us / sizeof *us) {
            us[count++] = ours->ns / 1e3;
        }
    }
    write_most(out, "a call of [1,1024,1,1]", 0.3, us, count, "µs");
}

void gates_write(const Results *results, FILE *out) {
    fputs("| what | at least (aim) | lowest | where | rows that reach it |\n|---|---|---|---|---|\n", out);
    for (size_t k = 0; k < sizeof GATES / sizeof *GATES; k++) {
        write_gate(results, &GATES[k], out);
    }
    write_calls(results, out);
    double prepare[] = {results->prepare_us[INT8][NCHW], results->prepare_us[INT8][NHWC],
                        results->prepare_us[INT16][NCHW], results->prepare_us[INT16][NHWC]};
    write_most(out, "preparing a channel of codes", 10, prepare, sizeof prepare / sizeof *prepare, "µs");
}
