/* `stride0 simplify MODEL -o OUT`: an equivalent smaller model in the format it came in. */
#include "cli/cli.h"

#include "base/clean.h"
#include "report/simplification.h"
#include "request.h"

#include <string.h>

typedef struct {
    const char *output, *json, *device, *tolerance, *semantics;
    bool verify;
    Texts dims, layouts;
} Args;

static const Option options[] = {
    {"output", 'o', OPTION_OUTPUT, "OUT",
     "the simplified model, always written; - is standard output, with the report on standard error",
     offsetof(Args, output), NULL},
    {"json", 0, OPTION_OUTPUT, "FILE",
     "write all that is reported as JSON; - is standard output, in place of the report", offsetof(Args, json), NULL},
    {"tolerance", 0, OPTION_TEXT, "K",
     "allow rewrites that each differ by up to K, LSB of codes or ulp of floats, whatever that makes of the outputs "
     "(0)",
     offsetof(Args, tolerance), NULL},
    {"semantics", 0, OPTION_TEXT, "ID",
     "the reference that rewrites must be exact for; all of the model's format by default", offsetof(Args, semantics),
     NULL},
    {"verify", 0, OPTION_SWITCH, NULL, "check each certificate again by brute force, from the original operators",
     offsetof(Args, verify), NULL},
    {"device", 'd', OPTION_TEXT, "DEVICE", "of the peaks that are printed (mcu-cm by default)", offsetof(Args, device),
     NULL},
    {"dim", 0, OPTION_TEXTS, "NAME=VALUE",
     "value of a free dimension for the peaks that are printed; it stays free in OUT", offsetof(Args, dims), NULL},
    {"layout", 0, OPTION_TEXTS, "TENSOR=ORDER", "order of a tensor's axes: NCHW or NHWC", offsetof(Args, layouts),
     NULL},
    {0}};

static const char *semantics_list(Arena *arena) {
    const char *list = s0_semantics_name((Semantics)0);
    for (int id = 1; id < S0_SEM_COUNT; id++) {
        list = arena_text(arena, "%s, %s", list, s0_semantics_name((Semantics)id));
    }
    return list;
}

static bool set_rules(Work *work, const Args *args, SimplifyOptions *simplify) {
    Semantics id;
    simplify->verify = args->verify;
    if (args->tolerance != NULL && !str_to_u64(str_from(args->tolerance), &simplify->tolerance)) {
        return request_bad_value(work, "--tolerance", args->tolerance, "a whole number from 0 to 18446744073709551615");
    }
    if (args->semantics == NULL) {
        return true;
    }
    if (!s0_semantics_find(args->semantics, strlen(args->semantics), &id)) {
        return request_bad_value(work, "--semantics", args->semantics, semantics_list(&work->keep));
    }
    simplify->semantics = S0_SEM_BIT(id);
    return true;
}

static bool make_request(Cli *cli, const Args *args, Request *request) {
    const s0_plan_options asked = {.model = cli->operands.item[0],
                                   .device = args->device == NULL ? "mcu-cm" : args->device,
                                   .dims = args->dims.item,
                                   .layouts = args->layouts.item};
    return request_read_plan(&asked, request, &cli->work) && set_rules(&cli->work, args, &request->simplify);
}

static bool check_output(Cli *cli, const Args *args) {
    return args->output != NULL ||
           diag_error(&cli->work.diags,
                      (DiagText){.place = "option -o",
                                 .what = "the output is missing",
                                 .hint = "stride0 simplify MODEL -o OUT, where OUT is the file to write"});
}

static const char *folder_of(Arena *arena, const char *path) {
    const char *slash = strrchr(path, '/');
    return slash == NULL ? "." : arena_text(arena, "%.*s", (int)(slash - path) + 1, path);
}

/* Weights in files of their own are named relative to the model: it can't move away from them. */
static bool may_write_to(Cli *cli, const char *model, const char *out) {
    Arena *arena = &cli->work.keep;
    bool is_beside = file_is_same(folder_of(arena, model), folder_of(arena, out));
    for (size_t k = 0; k < cli->files.count && !is_beside; k++) {
        Str path = cli->files.path[k];
        if (!str_eq(path, str_from(model))) {
            cli->work.diags.file = NULL;
            return diag_error(&cli->work.diags,
                              (DiagText){.place = out,
                                         .what = "the model keeps weights in a file beside it",
                                         .got = path.ptr,
                                         .hint = "write the simplified model into the model's folder"});
        }
    }
    return true;
}

static void write_model(FILE *out, const void *bytes) {
    const Span *span = bytes;
    if (span->len > 0) {
        (void)fwrite(span->ptr, 1, span->len, out); /* committing the file looks for errors */
    }
}

static void write_json(FILE *out, const void *facts) {
    report_simplification_json(facts, out);
}

/* The report, and which file it is of. */
static void print_report(Cli *cli, const Args *args, const Simplification *facts, Span written) {
    bool is_piped = cli_is_stdout(args->output);
    FILE *out = is_piped ? stderr : stdout;
    Span model = cli->files.map[0].bytes;
    bool is_same = model.len == written.len && (model.len == 0 || memcmp(model.ptr, written.ptr, model.len) == 0);
    report_simplification(facts, cli_columns(cli), &cli->work.scratch, out);
    Str name = clean_text(&cli->work.scratch, str_from(is_piped ? "standard output" : args->output));
    fprintf(out, "\nwritten: " STR_FMT ", %s bytes%s\n", STR_ARG(name), cli_number(&cli->work.scratch, written.len),
            is_same ? ", the same as the model's" : "");
}

/* What reads the file by its name would take it for another format. */
static void warn_of_name(Cli *cli, const char *out, Format format) {
    static const char *const ending[] = {[FORMAT_ONNX] = ".onnx", [FORMAT_TFLITE] = ".tflite"};
    static const Format others[] = {[FORMAT_ONNX] = FORMAT_TFLITE, [FORMAT_TFLITE] = FORMAT_ONNX};
    bool is_file = format == FORMAT_ONNX || format == FORMAT_TFLITE;
    if (is_file && str_ends(str_from(out), str_from(ending[others[format]]))) {
        cli->work.diags.file = NULL;
        diag_warn(&cli->work.diags,
                  (DiagText){.place = out,
                             .what = "the file's name ends as another format does",
                             .got = ending[others[format]],
                             .expected = ending[format],
                             .hint = "simplify keeps the model's format and does not convert it: name the file so"});
    }
}

static s0_status run_simplify(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    Request request;
    Span out;
    if (!check_output(cli, args) || !make_request(cli, args, &request)) {
        return S0_BAD_INPUT;
    }
    const Simplification *facts = stages_simplify(&request, &cli->files, work, &out);
    if (facts == NULL) {
        return diags_status(&work->diags);
    }
    if (!may_write_to(cli, request.model, args->output) || !cli_write(cli, args->output, write_model, &out)) {
        return S0_BAD_INPUT;
    }
    warn_of_name(cli, args->output, facts->graph->format);
    if (args->json != NULL && !cli_write(cli, args->json, write_json, facts)) {
        return S0_BAD_INPUT;
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json)) {
        print_report(cli, args, facts, out);
    }
    return diags_status(&work->diags);
}

const CliCommand command_simplify = {.name = "simplify",
                                     .operands = "MODEL -o OUT",
                                     .fewest_operands = 1,
                                     .most_operands = 1,
                                     .summary = "an equivalent smaller model in the same format, each rewrite proven",
                                     .options = options,
                                     .args_bytes = sizeof(Args),
                                     .run = run_simplify};
