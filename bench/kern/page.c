/* Writes docs/performance.md. */
#include "results.h"

#include <inttypes.h>
#include <string.h>

static const char INTRO[] =
    "# Performance\n"
    "\n"
    "`y = x * scale[c] + bias[c]` should cost what copying x costs: one read, one write, and parameters that\n"
    "nobody notices. This page says how near the kernels come, beside loops left to compilers and beside\n"
    "libraries. A program writes it, and all its figures are of one run.\n"
    "\n";

static const char HOW[] =
    "\n"
    "```console\n"
    "$ make bench                     # all benchmarks; this page is written anew\n"
    "$ make bench BENCH_JSON=F        # these rows alone, as JSON\n"
    "$ build/bench/bench_kern --only 'NHWC int8'\n"
    "```\n"
    "\n"
    "Each figure is the median of 11 batches of at least 60 µs on one thread. What needs more than half a\n"
    "second for all of them has fewer, but 3, and what takes 0.3 s is called once. The candidates of a row take\n"
    "turns, so what else the machine does hits them alike. They read the same x and write the same y, which\n"
    "begin at different offsets of a page, and what takes less than 5 ms is called once before each batch.\n"
    "Nothing is timed that did not give the right result first: stride0 bit for bit, plain loops to a code,\n"
    "libraries to what their own arithmetic allows.\n"
    "\n"
    "Ratios are the time of the faster of `memcpy` and `copy` (a loop of AVX2 loads and stores) over the time\n"
    "of the candidate: 1 is the speed of a copy. The JSON has the ratio to `memcpy`. Beyond the caches a store\n"
    "reads its line first, and a streaming store does not: there a ratio above 1 is possible.\n"
    "\n"
    "Codes follow the reference `onnx` (DEQUANTIZE, MUL, ADD, QUANTIZE). Their scales make values smaller, as a\n"
    "batch normalisation does; one channel of eight turns the sign. The scale of int16 outputs is 2^-12: a power\n"
    "of two, as fixed-point networks have them; others divide, at half the speed. `stride0` takes the fast forms\n"
    "that were proven for these parameters; `stride0-exact` takes what any parameters allow: float32, or tables\n"
    "where a processor looks up as fast as it copies (AVX-512, channel first); `stride0-portable` is the\n"
    "freestanding C without intrinsics. ONNX Runtime is called from JavaScript, which costs tens of microseconds:\n"
    "for maps up to 4 MiB its time is an eighth of what nine affines in one model take beyond one.\n";

static const char GATES_TEXT[] = "\n"
                                 "## What was promised\n"
                                 "\n"
                                 "The gate, and in brackets the aim; the lowest of all rows that it speaks\n"
                                 "of, and how many of them reach the gate.\n"
                                 "\n";

static const char MATERIALISING[] = "\n"
                                    "## What materialising costs\n"
                                    "\n"
                                    "Parameters expanded to a row of the map, or to all of an image, are\n"
                                    "bytes to read. Here float32: time of the faster of both compilers' loops\n"
                                    "over that of `stride0`, which reads them compact. In brackets the bytes\n"
                                    "of scale and bias.\n"
                                    "\n";

static const char THREADS[] = "\n"
                              "## Two threads\n"
                              "\n"
                              "Maps from 1 MiB; time on one thread over time on two.\n"
                              "\n";

static const char SMALL[] = "\n"
                            "## Small maps, and preparing\n"
                            "\n"
                            "A call of [1,1024,1,1] once prepared, and what preparing and freeing\n"
                            "costs a channel.\n"
                            "\n";

static const char FORMS[] =
    "\n## Forms\n\n"
    "Channels of the rows above, by how they are computed: fast is the product of 16 bits, or float32 of floats.\n\n"
    "| | fast | fast, one code mended | float32, rounded | fixed point | table | by operators |\n"
    "|---|---|---|---|---|---|---|\n";

/* Rows of one dtype and layout. */
typedef struct {
    Row at[ROWS_MOST];
    size_t count;
} Group;

static Group group_of(Elem elem, MapLayout layout) {
    Row rows[ROWS_MOST];
    Group group = {.count = 0};
    size_t count = rows_list(rows);
    for (size_t k = 0; k < count; k++) {
        if (rows[k].elem == elem && rows[k].layout == layout) {
            group.at[group.count++] = rows[k];
        }
    }
    return group;
}

static void write_rule(size_t columns, FILE *out) {
    for (size_t k = 0; k < columns; k++) {
        fputs("|---", out);
    }
    fputs("|\n", out);
}

static void write_candidate(const Results *results, const Group *group, const char *name, FILE *out) {
    fprintf(out, "| `%s` |", name);
    for (size_t k = 0; k < group->count; k++) {
        const Result *result = results_find(results, &group->at[k], name);
        if (result == NULL) {
            fputs(" |", out);
        } else {
            fprintf(out, result->share < 0.0995 ? " %.3f |" : " %.2f |", result->share);
        }
    }
    fputc('\n', out);
}

static void write_copies(const Results *results, const Group *group, FILE *out) {
    fputs("| a copy, GB/s |", out);
    for (size_t k = 0; k < group->count; k++) {
        const Result *copy = results_faster(results_find(results, &group->at[k], "memcpy"),
                                            results_find(results, &group->at[k], "copy"));
        if (copy == NULL) {
            fputs(" |", out);
        } else {
            fprintf(out, " %.1f |", copy->gb_per_s);
        }
    }
    fputc('\n', out);
}

/* The names of a group's candidates, each once, in the order of their first appearance. */
static size_t list_names(const Results *results, const Group *group, const char *names[CANDIDATES_MOST]) {
    size_t count = 0;
    for (size_t k = 0; k < results->count; k++) {
        const Result *result = &results->at[k];
        size_t at = 0;
        while (at < count && strcmp(names[at], result->name) != 0) {
            at++;
        }
        bool is_new = at == count && result->row.elem == group->at[0].elem && result->row.layout == group->at[0].layout;
        if (is_new && count < CANDIDATES_MOST) {
            names[count++] = result->name;
        }
    }
    return count;
}

static void write_group(const Results *results, Elem elem, MapLayout layout, FILE *out) {
    char text[SHAPE_TEXT];
    const char *names[CANDIDATES_MOST];
    Group group = group_of(elem, layout);
    fprintf(out, "\n## %s %s\n\n| ", elem_name(elem), layout_name(layout));
    for (size_t k = 0; k < group.count; k++) {
        fprintf(out, "| %s ", shape_text(group.at[k].shape, text));
    }
    fputs("|\n", out);
    write_rule(group.count + 1, out);
    fputs("| x and y fit |", out);
    for (size_t k = 0; k < group.count; k++) {
        fprintf(out, " %s |", level_name(row_level(&group.at[k])));
    }
    fputc('\n', out);
    write_copies(results, &group, out);
    size_t count = list_names(results, &group, names);
    for (size_t k = 0; k < count; k++) {
        write_candidate(results, &group, names[k], out);
    }
}

static void write_expanded(const Results *results, const Row *row, const char *form, uint64_t params, FILE *out) {
    char gcc[NAME_TEXT], clang[NAME_TEXT];
    snprintf(gcc, sizeof gcc, "naive-gcc-%s", form);
    snprintf(clang, sizeof clang, "naive-clang-%s", form);
    const Result *ours = results_find(results, row, "stride0");
    const Result *theirs = results_faster(results_find(results, row, gcc), results_find(results, row, clang));
    if (ours == NULL || theirs == NULL) {
        fputs(" |", out);
    } else {
        fprintf(out, " %.2f (%" PRIu64 ") |", theirs->ns / ours->ns, 2 * sizeof(float) * params);
    }
}

static void write_materialising(const Results *results, FILE *out) {
    char text[SHAPE_TEXT];
    fputs(MATERIALISING, out);
    fputs("| | compact | row | full |\n|---|---|---|---|\n", out);
    for (int layout = 0; layout < LAYOUTS; layout++) {
        Group group = group_of(FLOAT32, (MapLayout)layout);
        for (size_t k = 0; k < group.count; k++) {
            const Row *row = &group.at[k];
            fprintf(out, "| %s %s |", shape_text(row->shape, text), layout_name(row->layout));
            write_expanded(results, row, "compact", row->shape.c, out);
            write_expanded(results, row, "row", row->shape.c * row->shape.w, out);
            write_expanded(results, row, "full", row->shape.c * row->shape.w * row->shape.h, out);
            fputc('\n', out);
        }
    }
}

static void write_threads(const Results *results, FILE *out) {
    Row rows[ROWS_MOST];
    char text[SHAPE_TEXT];
    size_t count = rows_list(rows);
    fputs(THREADS, out);
    fputs("| | x and y fit | speed-up |\n|---|---|---|\n", out);
    for (size_t k = 0; k < count; k++) {
        const Result *one = results_find(results, &rows[k], "stride0");
        const Result *two = results_find(results, &rows[k], "stride0-2threads");
        if (one != NULL && two != NULL) {
            fprintf(out, "| %s %s %s | %s | %.2f |\n", shape_text(rows[k].shape, text), layout_name(rows[k].layout),
                    elem_name(rows[k].elem), level_name(row_level(&rows[k])), one->ns / two->ns);
        }
    }
}

static void write_small(const Results *results, FILE *out) {
    Row rows[ROWS_MOST];
    size_t count = rows_list(rows);
    fputs(SMALL, out);
    fputs("| | a call, µs | preparing a channel, µs |\n|---|---|---|\n", out);
    for (size_t k = 0; k < count; k++) {
        const Result *ours = row_is_pixel(&rows[k]) ? results_find(results, &rows[k], "stride0") : NULL;
        if (ours != NULL) {
            fprintf(out, "| %s %s | %.3f | %.2f |\n", elem_name(rows[k].elem), layout_name(rows[k].layout),
                    ours->ns / 1e3, results->prepare_us[rows[k].elem][rows[k].layout]);
        }
    }
}

static void write_forms(const Results *results, FILE *out) {
    fputs(FORMS, out);
    for (int elem = 0; elem < ELEMS; elem++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            const s0_affine_facts *sum = &results->facts[elem][layout];
            uint64_t ways[] = {
                sum->products + sum->floats, sum->odd_products, sum->rounds, sum->fixed, sum->tables, sum->chains};
            fprintf(out, "| %s %s |", elem_name((Elem)elem), layout_name((MapLayout)layout));
            for (size_t k = 0; k < sizeof ways / sizeof *ways; k++) {
                fprintf(out, " %" PRIu64 " |", ways[k]);
            }
            fputc('\n', out);
        }
    }
}

void results_write_page(const Results *results, FILE *out) {
    fputs(INTRO, out);
    machine_write(results, out);
    fputs(HOW, out);
    fputs(GATES_TEXT, out);
    gates_write(results, out);
    for (int elem = 0; elem < ELEMS; elem++) {
        for (int layout = 0; layout < LAYOUTS; layout++) {
            write_group(results, (Elem)elem, (MapLayout)layout, out);
        }
    }
    write_forms(results, out);
    write_materialising(results, out);
    write_threads(results, out);
    write_small(results, out);
}
