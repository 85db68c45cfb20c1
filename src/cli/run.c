/* `stride0 run MODEL -d DEVICE`: a plan's commands on the simulated device, its outputs and the audit of every byte. */
#include "cli/plan_options.h"

#include "cmd/text.h"
#include "report/audit.h"
#include "report/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct {
    PlanArgs plan;
    const char *semantics, *seed, *output_dir, *node, *trace, *json, *tolerance, *absolute;
    Texts inputs, expected;
} Args;

static const Option options[] = {
    {"semantics", 0, OPTION_TEXT, "ID", "the reference that operators compute like: the first of the model's format",
     offsetof(Args, semantics), NULL},
    {"input", 0, OPTION_TEXTS, "NAME=FILE", "elements of an input: FILE is .npy, .pb (TensorProto) or .bin (packed)",
     offsetof(Args, inputs), NULL},
    {"seed", 0, OPTION_TEXT, "N", "inputs without a file: integers of the whole range, floats in [-1,1) (0)",
     offsetof(Args, seed), NULL},
    {"expect", 0, OPTION_TEXTS, "NAME=FILE", "compare an output with FILE, of the same kinds; any difference: status 1",
     offsetof(Args, expected), NULL},
    {"tolerance", 0, OPTION_TEXT, "K", "elements of --expect may differ by K codes, floats by K ulp (0)",
     offsetof(Args, tolerance), NULL},
    {"absolute", 0, OPTION_TEXT, "X", "floats of --expect may also differ by X as numbers, whatever the ulp: 1e-5 (0)",
     offsetof(Args, absolute), NULL},
    {"output-dir", 0, OPTION_TEXT, "DIR", "write each output as NAME.bin and NAME.npy", offsetof(Args, output_dir),
     NULL},
    {"node", 0, OPTION_TEXT, "NAME", "run only the chain of per-channel operators that this one is in",
     offsetof(Args, node), NULL},
    {"trace", 0, OPTION_OUTPUT, "FILE", "write the commands as text; - is standard output, in place of the report",
     offsetof(Args, trace), NULL},
    {"json", 0, OPTION_OUTPUT, "FILE", "write audit and traffic as JSON; - is standard output, in place of the report",
     offsetof(Args, json), NULL},
    {0}};

/* ---- Options to what is asked */

/* "NAME=FILE" each. */
static bool read_files(Work *work, const char *option, const Texts *texts, RunFile *files) {
    for (size_t k = 0; k < texts->count; k++) {
        const char *text = texts->item[k];
        const char *equals = strrchr(text, '='); /* names of tensors may have some */
        if (equals == NULL || equals == text || equals[1] == '\0') {
            return request_bad_value(work, option, text, "NAME=FILE");
        }
        files[k] = (RunFile){{text, (size_t)(equals - text)}, equals + 1};
    }
    return true;
}

/* A finite number that is not negative. */
static bool to_real(const char *text, double *number) {
    char *end;
    *number = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*number) && *number >= 0;
}

static bool read_tolerance(Work *work, const Args *args, RunOptions *asked) {
    const char *option = args->tolerance != NULL ? "--tolerance" : "--absolute";
    if (args->tolerance != NULL && !str_to_u64(str_from(args->tolerance), &asked->tolerance.steps)) {
        return request_bad_value(work, option, args->tolerance,
                                 "a whole number from 0 to 18446744073709551615; numbers may differ by --absolute X");
    }
    if (args->absolute != NULL && !to_real(args->absolute, &asked->tolerance.apart)) {
        return request_bad_value(work, "--absolute", args->absolute, "a number from 0 on, such as 1e-5");
    }
    return (args->tolerance == NULL && args->absolute == NULL) || args->expected.count > 0 ||
           diag_error(&work->diags, (DiagText){.place = arena_text(&work->keep, "option %s", option),
                                               .what = "nothing is compared",
                                               .hint = "say with what: --expect NAME=FILE"});
}

static bool read_options(Work *work, const Args *args, RunOptions *asked) {
    *asked = (RunOptions){.node = args->node, .semantics = args->semantics};
    if (args->seed != NULL && !str_to_u64(str_from(args->seed), &asked->seed)) {
        return request_bad_value(work, "--seed", args->seed, "a whole number from 0 to 18446744073709551615");
    }
    asked->inputs = arena_array(&work->keep, RunFile, args->inputs.count);
    asked->input_count = args->inputs.count;
    asked->expected = arena_array(&work->keep, RunFile, args->expected.count);
    asked->expected_count = args->expected.count;
    return read_files(work, "--input", &args->inputs, asked->inputs) &&
           read_files(work, "--expect", &args->expected, asked->expected) && read_tolerance(work, args, asked);
}

/* ---- Files */

static void write_trace(FILE *out, const void *data) {
    cmd_print(data, out);
}

static void write_json(FILE *out, const void *data) {
    const Run *run = data;
    report_audit_json(run->facts, run->audit, out);
}

static void write_bin(FILE *out, const void *data) {
    const AuditTensor *output = data;
    if (output->packed.len > 0) {
        (void)fwrite(output->packed.ptr, 1, output->packed.len, out); /* committing the file looks for errors */
    }
}

static void write_npy(FILE *out, const void *data) {
    const AuditTensor *output = data;
    host_write_npy(&output->tensor, output->packed, out);
}

static bool make_folder(Work *work, const char *path) {
    struct stat found;
    work->diags.file = NULL;
    if (mkdir(path, 0777) == 0 || (errno == EEXIST && stat(path, &found) == 0 && S_ISDIR(found.st_mode))) {
        return true;
    }
    return diag_error(&work->diags, (DiagText){.place = path,
                                               .what = "the folder can't be made",
                                               .got = strerror(errno),
                                               .hint = "name a folder whose parent exists"});
}

/* The files of all outputs, by name. No other output of the command may be one of them. */
static bool name_outputs(Cli *cli, const char *folder, const Audit *audit) {
    Arena *arena = &cli->work.keep;
    const char **names = arena_array(arena, const char *, audit->output_count);
    bool good = make_folder(&cli->work, folder);
    for (uint32_t k = 0; k < audit->output_count && good; k++) {
        AuditTensor *output = &audit->outputs[k];
        names[k] = host_file_name(arena, output->tensor.name, names, k);
        output->bin_path = arena_text(arena, "%s/%s.bin", folder, names[k]);
        output->npy_path = host_is_npy(output->tensor.dtype) ? arena_text(arena, "%s/%s.npy", folder, names[k]) : NULL;
        good = cli_claim_output(cli, output->bin_path) &&
               (output->npy_path == NULL || cli_claim_output(cli, output->npy_path));
    }
    return good;
}

static bool write_outputs(Cli *cli, const Audit *audit) {
    bool good = true;
    for (uint32_t k = 0; k < audit->output_count && good; k++) {
        const AuditTensor *output = &audit->outputs[k];
        good = cli_write(cli, output->bin_path, write_bin, output) &&
               (output->npy_path == NULL || cli_write(cli, output->npy_path, write_npy, output));
    }
    return good;
}

static bool write_files(Cli *cli, const Args *args, const Run *run) {
    const Audit *audit = run->audit;
    bool has_folder = args->output_dir != NULL && audit != NULL;
    return (!has_folder || name_outputs(cli, args->output_dir, audit)) &&
           (args->trace == NULL || audit == NULL || cli_write(cli, args->trace, write_trace, audit->program)) &&
           (!has_folder || write_outputs(cli, audit)) &&
           (args->json == NULL || cli_write(cli, args->json, write_json, run));
}

/* ---- The command */

static s0_status tell_trouble(const Run *run, Arena *scratch) {
    fflush(stdout);
    if (run->audit == NULL) {
        report_misfit(run->facts, "stride0", scratch, stderr);
        return S0_NO_FIT;
    }
    report_audit_faults(run->audit, "stride0", stderr);
    report_audit_unexpected(run->audit, "stride0", scratch, stderr);
    if (!run->audit->is_exact) {
        return S0_BAD_INPUT;
    }
    return !run->audit->has_value ? S0_REFUSED : audit_is_expected(run->audit) ? S0_DONE : S0_BAD_INPUT;
}

static s0_status run_run(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    Request request;
    RunOptions asked;
    if (!cli_plan_request(cli, &args->plan, cli->operands.item[0], &request) || !read_options(work, args, &asked)) {
        return diags_status(&work->diags);
    }
    const Run *run = stages_run(&request, &asked, &cli->files, work);
    if (run == NULL) {
        return diags_status(&work->diags);
    }
    if (!write_files(cli, args, run)) {
        return S0_BAD_INPUT;
    }
    bool has_stdout = cli_is_stdout(args->json) || cli_is_stdout(args->trace);
    if (run->audit != NULL && !cli->is_quiet && !has_stdout) {
        report_audit(run->facts, run->audit, cli_columns(cli), &work->scratch, stdout);
    }
    return tell_trouble(run, &work->scratch);
}

const CliCommand command_run = {
    .name = "run",
    .operands = "MODEL",
    .fewest_operands = 1,
    .most_operands = 1,
    .summary = "run a plan on the simulated device: outputs, traffic, and an audit of every byte",
    .details =
        "The device must be a scratchpad. Operators are per-channel, or convolutions, pools, fully connected\n"
        "layers, Softmax, reductions and padding on codes of 8 bits, or move elements; of TFLite's int8 networks also\n"
        "LOGISTIC, TANH and LEAKY_RELU, by a table.\n"
        "--node runs one per-channel chain of a larger model. What that takes from the rest of the model is an input\n"
        "of its own, by the tensor's name.\n"
        "Exit status 1 where the audit is not exact or the device finds a fault: that is an error of stride0, and\n"
        "standard error names it. 1 too where an output differs from its --expect, beyond --tolerance and --absolute:\n"
        "standard error says \"output 'NAME' is not as expected\", by how much and where first.\n"
        "2 where the plan does not fit; 3 where an operator can't run, or the reference has no value for the inputs,\n"
        "as of a scale that is not positive.\n",
    .shared_options = cli_plan_options,
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_run};
