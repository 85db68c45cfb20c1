/* `stride0 plan MODEL -d DEVICE`: the ledger of a model on a device.
 *
 * Nothing is written before everything that can go wrong with the question has been looked at: files come first, then
 * the report. */
#include "cli/plan_options.h"

#include "base/nearest.h"
#include "report/report.h"

#include <string.h>

typedef struct {
    PlanArgs plan;
    const char *json, *html, *node, *buffer;
    bool all;
} Args;

static const Option options[] = {
    {"json", 0, OPTION_OUTPUT, "FILE", "write the plan as JSON; - is standard output, in place of the report",
     offsetof(Args, json), NULL},
    {"html", 0, OPTION_OUTPUT, "FILE", "write the plan as one HTML file with a map; - is standard output, as above",
     offsetof(Args, html), NULL},
    CLI_PIN_OPTIONS,
    {"node", 0, OPTION_TEXT, "NAME", "why is this node here: its steps, in place of the ledger", offsetof(Args, node),
     NULL},
    {"buffer", 0, OPTION_TEXT, "TENSOR", "why is this tensor here: its buffers, in place of the ledger",
     offsetof(Args, buffer), NULL},
    {"all", 0, OPTION_SWITCH, NULL, "every row of the lists of sweeps and of maps in far memory", offsetof(Args, all),
     NULL},
    {0}};

/* ---- Facts to what was asked for */

/* A name that stands for nothing that can be shown. */
typedef struct {
    const char *option, *name;
    const char *what; /* null: nothing has this name */
    const char *hint; /* null: the nearest name */
    Str nearest;
} Misnomer;

static bool refuse_name(Work *work, const Misnomer *wrong) {
    Arena *arena = &work->keep;
    const Nearest nearest = {.name = wrong->nearest};
    const char *list = "stride0 inspect MODEL --names lists the names";
    return diag_error(&work->diags,
                      (DiagText){.place = arena_text(arena, "option %s", wrong->option),
                                 .what = wrong->what == NULL ? "nothing in the plan has this name" : wrong->what,
                                 .got = wrong->name,
                                 .hint = wrong->hint == NULL ? nearest_hint(arena, &nearest, list) : wrong->hint});
}

static bool check_node(Work *work, const Facts *facts, const char *name) {
    Misnomer wrong = {.option = "--node", .name = name};
    Str unused = {0};
    if (is_node(facts_find_node(facts, str_from(name), &wrong.nearest))) {
        return true;
    }
    if (facts_find_buffer(facts, str_from(name), &unused)) {
        wrong.what = "a tensor has this name, no operator";
        wrong.hint = arena_text(&work->keep, "pass --buffer '%s'", name);
    }
    return refuse_name(work, &wrong);
}

/* Null where there is none. */
static const Value *find_tensor(const Graph *graph, Str name) {
    for (uint32_t v = 0; v < graph->value_count; v++) {
        if (str_eq(graph->values[v].name, name)) {
            return &graph->values[v];
        }
    }
    return NULL;
}

/* A tensor that has no buffer. */
static void explain_absence(const Facts *facts, const Value *value, Misnomer *wrong) {
    if (value->is_input && value->constant == NULL) {
        wrong->what = "no operator reads this graph input: it takes no bytes of a device that loads what it needs";
        wrong->hint = "a device of kind arena, such as mcu-cm, has bytes for every graph input";
        return;
    }
    wrong->what = "the tensor occupies no memory in this plan: it is inside an operator, or only the planner reads it";
    wrong->hint = facts->other != NULL && !facts->reads_qdq_as_float
                      ? "--qdq float plans Quantize/Dequantize pairs as written"
                      : "pass --node NAME, of the operator that reads or writes it";
}

static bool check_buffer(Work *work, const Facts *facts, const char *name) {
    Misnomer wrong = {.option = "--buffer", .name = name};
    Str unused = {0};
    const Value *value = find_tensor(facts->graph, str_from(name));
    if (facts_find_buffer(facts, str_from(name), &wrong.nearest)) {
        return true;
    }
    if (is_node(facts_find_node(facts, str_from(name), &unused))) {
        wrong.what = "an operator has this name, no tensor in memory";
        wrong.hint = arena_text(&work->keep, "pass --node '%s'", name);
    } else if (value != NULL) {
        explain_absence(facts, value, &wrong);
    }
    return refuse_name(work, &wrong);
}

static bool check_names(Work *work, const Args *args, const Facts *facts) {
    return (args->node == NULL || check_node(work, facts, args->node)) &&
           (args->buffer == NULL || check_buffer(work, facts, args->buffer));
}

typedef struct {
    const Facts *facts;
    Arena *scratch;
} FileJob;

static void write_json(FILE *out, const void *data) {
    const FileJob *job = data;
    report_json(job->facts, job->scratch, out);
}

static void write_html(FILE *out, const void *data) {
    const FileJob *job = data;
    report_html(job->facts, job->scratch, out);
}

static bool write_files(Cli *cli, const Args *args, const Facts *facts) {
    const FileJob job = {facts, &cli->work.scratch};
    return (args->json == NULL || cli_write(cli, args->json, write_json, &job)) &&
           (args->html == NULL || cli_write(cli, args->html, write_html, &job));
}

static void print_report(const Cli *cli, const Args *args, const Facts *facts, Arena *scratch) {
    const TerminalStyle style = {.has_color = cli->has_color,
                                 .has_unicode = cli_has_unicode(cli),
                                 .lists_all = args->all,
                                 .columns = cli_columns(cli)};
    Str nearest = {0};
    if (args->node != NULL) {
        report_why_node(facts, str_from(args->node), scratch, stdout, &nearest);
    }
    if (args->buffer != NULL) {
        report_why_buffer(facts, str_from(args->buffer), scratch, stdout, &nearest);
    }
    if (args->node == NULL && args->buffer == NULL) {
        report_terminal(facts, style, scratch, stdout);
    }
}

static s0_status run_plan(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    Request request;
    if (!cli_plan_request(cli, &args->plan, cli->operands.item[0], &request)) {
        return diags_status(&work->diags);
    }
    const Facts *facts = stages_plan(&request, &cli->files, work);
    if (facts == NULL || !check_names(work, args, facts)) {
        return diags_status(&work->diags);
    }
    if (!write_files(cli, args, facts)) {
        return S0_BAD_INPUT;
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json) && !cli_is_stdout(args->html)) {
        print_report(cli, args, facts, &work->scratch);
    }
    if (plan_fits(facts->plan)) {
        return S0_DONE;
    }
    fflush(stdout);
    report_misfit(facts, "stride0", &work->scratch, stderr);
    return S0_NO_FIT;
}

const CliCommand command_plan = {
    .name = "plan",
    .operands = "MODEL",
    .fewest_operands = 1,
    .most_operands = 1,
    .summary = "the memory ledger of a model on a device: what is alive when, where, and why",
    .details =
        "Sizes are the layout contract's, of one lane where a memory has lanes. Steps run in the order of --order.\n"
        "On a scratchpad device runs of per-channel operators, and operators that have a command, go by tiles; others "
        "over\n"
        "whole maps that are loaded, worked on and stored. Where maps do not fit, those go by tiles too, and maps wait "
        "in\n"
        "far memory. --tile none: all maps are whole.\n"
        "Exit status 2 where it does not fit: standard error says why, files are written all the same.\n"
        "Lines are as wide as the terminal, or COLUMNS characters, from 80 to 1000; in a file or pipe 200, so that "
        "most names are whole.\n"
        "The drawing of time and address takes 100, and only ASCII with --plain and where the locale (LC_ALL, "
        "LC_CTYPE, "
        "LANG)\nis none of UTF-8.\n",
    .shared_options = cli_plan_options,
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_plan};
