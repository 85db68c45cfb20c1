/* `stride0 simplify MODEL -o OUT`: an equivalent smaller model in the format it came in. */
#include "cli/cli.h"

#include "report/simplification.h"
#include "request.h"

#include <string.h>

typedef struct {
    const char *output, *device, *tolerance, *semantics;
    bool verify;
    Texts dims, layouts;
} Args;

static const Option options[] = {
    {"output", 'o', OPTION_TEXT, "OUT", "the simplified model; - is standard output", offsetof(Args, output), NULL},
    {"tolerance", 0, OPTION_TEXT, "K",
     "allow rewrites that differ by up to K: LSB of codes, ulp of floats (0 by default: exact ones only)",
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
        return request_bad_value(work, "--tolerance", args->tolerance, "a whole number from 0");
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
    if (args->output == NULL) {
        return request_bad_value(&cli->work, "--output", "nothing", "the path of the simplified model: -o OUT");
    }
    return request_read_plan(&asked, request, &cli->work) && set_rules(&cli->work, args, &request->simplify);
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

static s0_status run_simplify(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    Request request;
    Span out;
    if (!make_request(cli, args, &request)) {
        return S0_BAD_INPUT;
    }
    const Simplification *facts = stages_simplify(&request, &cli->files, work, &out);
    if (facts == NULL) {
        return diags_status(&work->diags);
    }
    if (!may_write_to(cli, request.model, args->output) || !cli_write(cli, args->output, write_model, &out)) {
        return S0_BAD_INPUT;
    }
    if (!cli->is_quiet && !cli_is_stdout(args->output)) {
        report_simplification(facts, cli_columns(), &work->scratch, stdout);
    }
    return diags_status(&work->diags);
}

const Command command_simplify = {.name = "simplify",
                                  .operands = "MODEL",
                                  .fewest_operands = 1,
                                  .most_operands = 1,
                                  .summary = "an equivalent smaller model in the same format, each rewrite proven",
                                  .options = options,
                                  .args_bytes = sizeof(Args),
                                  .run = run_simplify};
