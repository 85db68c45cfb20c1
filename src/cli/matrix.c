/* `stride0 matrix`: what broadcast strategies cost, measured on the simulated device, cell by cell. */
#include "cli/cli.h"

#include "matrix/table.h"
#include "request.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    bool all;
    const char *csv, *json, *markdown, *jobs;
    const char *device, *shape; /* are not taken */
    Texts filters;
} Args;

static const Option options[] = {
    {"all", 0, OPTION_SWITCH, NULL, "every cell of the product; else the subset pairs: each value with each other one",
     offsetof(Args, all), NULL},
    {"filter", 0, OPTION_TEXTS, "AXIS=WORD,...",
     "only cells with one of these values: dtype=int8,int16, or contract='N H W C@16'", offsetof(Args, filters), NULL},
    {"csv", 0, OPTION_OUTPUT, "FILE", "write a line for each cell; - is standard output, in place of the summary",
     offsetof(Args, csv), NULL},
    {"json", 0, OPTION_OUTPUT, "FILE", "write each cell as JSON; - is standard output, in place of the summary",
     offsetof(Args, json), NULL},
    {"markdown", 0, OPTION_OUTPUT, "FILE", "write the summary, as docs/matrix.md has it", offsetof(Args, markdown),
     NULL},
    {"jobs", 'j', OPTION_TEXT, "N", "threads (as many as there are processors); the output is the same for any N",
     offsetof(Args, jobs), NULL},
    {"device", 'd', OPTION_TEXT, "DEVICE", NULL, offsetof(Args, device), NULL},
    {"shape", 0, OPTION_TEXT, "SHAPE", NULL, offsetof(Args, shape), NULL},
    {0}};

/* ---- Options */

static const char *list_axes(Arena *arena) {
    const char *list = matrix_words[0].name;
    for (int k = 1; k < MATRIX_AXES; k++) {
        list = arena_text(arena, "%s, %s", list, matrix_words[k].name);
    }
    return list;
}

static const char *list_words(MatrixAxis axis, Arena *arena) {
    const char *list = matrix_words[axis].words[0];
    for (uint32_t k = 1; k < matrix_words[axis].count; k++) {
        list = arena_text(arena, "%s, %s", list, matrix_words[axis].words[k]);
    }
    return axis != AXIS_CONTRACT
               ? list
               : arena_text(arena, "%s, or its text as tables have it, N H W C@16 and the like", list);
}

static bool read_filters(Work *work, const Texts *texts, MatrixFilter *filter) {
    matrix_filter_all(filter);
    for (size_t k = 0; k < texts->count; k++) {
        MatrixAxis axis;
        if (!matrix_filter_read(filter, str_from(texts->item[k]), &axis)) {
            const char *expected =
                axis == MATRIX_AXES
                    ? arena_text(&work->keep, "AXIS=WORD with an axis of %s", list_axes(&work->keep))
                    : arena_text(&work->keep, "%s=%s", matrix_words[axis].name, list_words(axis, &work->keep));
            return request_bad_value(work, "--filter", texts->item[k], expected);
        }
    }
    return true;
}

/* Who asks for a device or a shape wants to know it of a network of his. */
static bool refuse_own(Work *work, const Args *args) {
    const char *own = args->device != NULL ? args->device : args->shape;
    return own == NULL ||
           diag_error(&work->diags,
                      (DiagText){.place = args->device != NULL ? "option -d" : "option --shape",
                                 .what = "devices and networks of the matrix are its own",
                                 .got = own,
                                 .expected = "--filter AXIS=WORD, such as --filter shape=1x12x20x28",
                                 .hint = "stride0 plan MODEL -d DEVICE --json FILE compares what was chosen with what "
                                         "lost (traffic.alternatives), stride0 diff MODEL -d DEVICE --b OPTION says "
                                         "what another option would change"});
}

static bool read_jobs(Work *work, const char *text, uint32_t *jobs) {
    uint64_t number;
    if (text == NULL) {
        long processors = sysconf(_SC_NPROCESSORS_ONLN);
        *jobs = processors < 1 ? 1 : processors > MATRIX_MOST_JOBS ? MATRIX_MOST_JOBS : (uint32_t)processors;
        return true;
    }
    bool ok = str_to_u64(str_from(text), &number) && number >= 1 && number <= MATRIX_MOST_JOBS;
    *jobs = ok ? (uint32_t)number : 1;
    return ok || request_bad_value(work, "--jobs", text,
                                   arena_text(&work->keep, "a whole number from 1 to %d", MATRIX_MOST_JOBS));
}

/* ---- Progress */

static void show_progress(void *context, uint32_t done, uint32_t of) {
    uint32_t *shown = context, percent = (uint32_t)((uint64_t)done * 100 / of);
    if (percent != *shown) {
        *shown = percent;
        fprintf(stderr, "\r%" PRIu32 " of %" PRIu32 " cells, %" PRIu32 " %%", done, of, percent);
        fputs(done == of ? "\r\033[K" : "", stderr);
        fflush(stderr);
    }
}

/* ---- Output */

typedef struct {
    const Matrix *matrix;
    Arena *arena;
} Written;

static void write_csv(FILE *out, const void *data) {
    const Written *written = data;
    matrix_print_csv(written->matrix, written->arena, out);
}

static void write_json(FILE *out, const void *data) {
    const Written *written = data;
    matrix_print_json(written->matrix, written->arena, out);
}

static void write_markdown(FILE *out, const void *data) {
    const Written *written = data;
    matrix_print_document(written->matrix, written->arena, out);
}

/* Minutes of work are not to be lost for a name that can't be written. A pipe is opened once: who reads it sees the end
 * when it is closed. */
static bool may_write(Cli *cli, const char *path) {
    FileOut out;
    struct stat status;
    bool is_stream = path != NULL && stat(path, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
    if (path == NULL || cli_is_stdout(path) || is_stream) {
        return true;
    }
    bool is_open = file_out_open(&out, path, &cli->work.diags);
    if (is_open) {
        file_out_abandon(&out);
    }
    return is_open;
}

static bool write_all(Cli *cli, const Args *args, const Matrix *matrix) {
    const Written written = {matrix, &cli->work.scratch};
    if (!cli->is_quiet && !cli_is_stdout(args->csv) && !cli_is_stdout(args->json) && !cli_is_stdout(args->markdown)) {
        matrix_print_summary(matrix, &cli->work.scratch, stdout);
    }
    return (args->csv == NULL || cli_write(cli, args->csv, write_csv, &written)) &&
           (args->json == NULL || cli_write(cli, args->json, write_json, &written)) &&
           (args->markdown == NULL || cli_write(cli, args->markdown, write_markdown, &written));
}

static s0_status run_matrix(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    uint32_t shown = UINT32_MAX;
    MatrixOptions asked = {.is_all = args->all, .context = &shown};
    Matrix matrix;
    if (!refuse_own(work, args) || !read_filters(work, &args->filters, &asked.filter) ||
        !read_jobs(work, args->jobs, &asked.jobs) || !may_write(cli, args->csv) || !may_write(cli, args->json) ||
        !may_write(cli, args->markdown)) {
        return S0_BAD_INPUT;
    }
    asked.progress = !cli->is_quiet && isatty(STDERR_FILENO) ? show_progress : NULL;
    if (!matrix_run(&asked, work, &matrix) || !write_all(cli, args, &matrix)) {
        return S0_BAD_INPUT;
    }
    return matrix.equal_count == matrix.count ? S0_DONE : S0_BAD_INPUT;
}

const CliCommand command_matrix = {
    .name = "matrix",
    .operands = "",
    .fewest_operands = 0,
    .most_operands = 0,
    .summary = "what broadcast strategies cost, measured",
    .details =
        "Cells are one value each of shape, contract, dtype, align, form, schedule, reader, coefficients and\n"
        "parameters. Each is planned, run on the simulated device and compared with its reference. Networks and\n"
        "devices are the matrix' own (docs/matrix.md). Of yours, stride0 plan MODEL -d DEVICE says what each\n"
        "choice costs (--json: traffic.alternatives), and stride0 diff what another option would change.\n",
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_matrix,
};
