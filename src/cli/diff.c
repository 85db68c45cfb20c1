/* `stride0 diff A B`: why the peak of memory changed.
 *
 * A and B are models, or plans that `stride0 plan --json` wrote. Options are for both; --a and --b are for one. What a
 * plan in a file was asked for holds for the model beside it, as far as nothing else is said. */
#include "cli/plan_options.h"

#include "report/diff.h"

#include <string.h>

typedef struct {
    PlanArgs plan;
    Texts a, b;
    const char *json, *baseline, *fail_if_grew;
} Args;

static const Option pin_options[] = {CLI_PIN_OPTIONS, {0}};

static const Option options[] = {
    CLI_PIN_OPTIONS,
    {"a", 0, OPTION_TEXTS, "OPTION", "an option of A alone, without its dashes: strategy=full, device=teach",
     offsetof(Args, a), NULL},
    {"b", 0, OPTION_TEXTS, "OPTION", "an option of B alone: it replaces what both have", offsetof(Args, b), NULL},
    {"baseline", 0, OPTION_TEXT, "FILE", "in place of A: a plan that stride0 plan --json wrote",
     offsetof(Args, baseline), NULL},
    {"fail-if-grew", 0, OPTION_TEXT, "BYTES",
     "exit status 2 where B's placed_bytes are more than A's and so many; K M G are powers of 1024",
     offsetof(Args, fail_if_grew), NULL},
    {"json", 0, OPTION_TEXT, "FILE", "write the comparison as JSON; - is standard output, in place of the report",
     offsetof(Args, json), NULL},
    {0}};

/* ---- Options of one side */

/* A list that can be added to without touching the one it was copied from. */
static void unshare(Texts *texts) {
    texts->capacity = texts->count;
}

/* Fields of `from` that were given take the place of those of `to`. */
static void overlay(const Option *rows, void *to, const void *from) {
    for (const Option *row = rows; row->name != NULL; row++) {
        void *target = (char *)to + row->offset;
        const void *source = (const char *)from + row->offset;
        if (row->kind == OPTION_SWITCH && *(const bool *)source) {
            *(bool *)target = true;
        } else if (row->kind == OPTION_TEXT && *(const char *const *)source != NULL) {
            *(const char **)target = *(const char *const *)source;
        } else if (row->kind == OPTION_CHOICE && *(const int *)source != 0) {
            *(int *)target = *(const int *)source;
        } else if (row->kind == OPTION_TEXTS && ((const Texts *)source)->count > 0) {
            *(Texts *)target = *(const Texts *)source;
        }
    }
}

static void overlay_all(PlanArgs *to, const PlanArgs *from) {
    overlay(cli_plan_options, to, from);
    overlay(pin_options, to, from);
}

/* Parses words as the command line would. False with a diagnostic. */
static bool parse_words(Cli *cli, const Texts *words, PlanArgs *side) {
    Texts strays = {0};
    const OptionSet sets[] = {{cli_plan_options, side}, {pin_options, side}};
    const Arguments arguments = {words->count, (char *const *)words->item};
    unshare(&side->dims);
    unshare(&side->layouts);
    unshare(&side->axes);
    if (!cli_parse_options(arguments, sets, 2, &strays, &cli->work.diags)) {
        return false;
    }
    return strays.count == 0 || diag_error(&cli->work.diags, (DiagText){.what = "this is no option",
                                                                        .got = strays.item[0],
                                                                        .expected = "NAME=VALUE, or NAME of a switch"});
}

/* "strategy=full" is "--strategy=full". */
static Texts with_dashes(const Texts *texts, Arena *arena) {
    Texts words = {0};
    for (size_t k = 0; k < texts->count; k++) {
        const char *text = texts->item[k];
        cli_add_text(&words, arena, text[0] == '-' ? text : arena_text(arena, "--%s", text));
    }
    return words;
}

/* ---- Sides */

typedef struct {
    const char *path;
    const Texts *own; /* --a or --b */
    const char *own_name;
} SideText;

/* What the plan in a file was asked for. False, without a diagnostic, where that is not known or means nothing here. */
static bool read_request(Cli *cli, const Side *side, PlanArgs *args) {
    const Diags before = cli->work.diags;
    Texts words = {0};
    for (const char *const *option = side->options; option != NULL && *option != NULL; option++) {
        cli_add_text(&words, &cli->work.keep, *option);
    }
    *args = (PlanArgs){0};
    bool is_known = side->options != NULL && side->request_device != NULL && parse_words(cli, &words, args);
    args->device = is_known ? side->request_device : NULL;
    diags_rewind(&cli->work.diags, before);
    return is_known;
}

/* Opens it: a plan in a file is read here, a model later. */
static bool open_side(Cli *cli, const char *path, DiffSource *source) {
    Work *work = &cli->work;
    FileMap *map = import_add_file(&work->keep, &cli->files, str_from(path));
    work->diags.file = NULL;
    if (!file_map(map, path, &work->diags)) {
        return false;
    }
    const Span bytes = map->bytes;
    source->side = side_is_json(bytes) ? side_read(bytes, path, work) : NULL;
    bool ok = source->side != NULL || !side_is_json(bytes);
    work->diags.file = ok ? NULL : work->diags.file;
    return ok;
}

static bool make_model_side(Cli *cli, const PlanArgs *both, const PlanArgs *inherited, const SideText *text,
                            DiffSource *source) {
    PlanArgs args = *inherited;
    const Texts words = with_dashes(text->own, &cli->work.keep);
    overlay_all(&args, both);
    source->has_request = parse_words(cli, &words, &args) && cli_plan_request(cli, &args, text->path, &source->request);
    return source->has_request;
}

/* A plan in a file is as it is: what is asked for a model is not asked of it. */
static bool make_file_side(Cli *cli, const PlanArgs *args, const SideText *text, DiffSource *source) {
    const Diags before = cli->work.diags;
    if (text->own->count > 0) {
        return diag_error(&cli->work.diags,
                          (DiagText){.place = arena_text(&cli->work.keep, "option --%s", text->own_name),
                                     .what = "a plan in a file can't be asked for something else",
                                     .got = text->own->item[0],
                                     .hint = "pass the model in its place"});
    }
    source->has_request = args->device != NULL && cli_plan_request(cli, args, source->side->file, &source->request);
    diags_rewind(&cli->work.diags, before);
    return true;
}

static bool make_side(Cli *cli, const PlanArgs *both, const PlanArgs *inherited, const SideText *text,
                      DiffSource *source) {
    return source->side == NULL ? make_model_side(cli, both, inherited, text, source)
                                : make_file_side(cli, inherited, text, source);
}

/* ---- Both */

/* They are parsed into zeros, and zero is every option's default. */
static bool is_given(const PlanArgs *args) {
    const uint8_t *bytes = (const uint8_t *)args;
    bool is_given = false;
    for (size_t k = 0; k < sizeof *args; k++) {
        is_given = is_given || bytes[k] != 0;
    }
    return is_given;
}

static bool check_question(Cli *cli, const Args *args, const DiffSource *a, const DiffSource *b) {
    if (a->side != NULL && b->side != NULL && is_given(&args->plan)) {
        return diag_error(&cli->work.diags, (DiagText){.what = "A and B are plans in files: nothing is planned",
                                                       .got = "options of a plan",
                                                       .hint = "leave them out, or pass a model"});
    }
    return true;
}

static bool name_sides(Cli *cli, const Args *args, SideText *a, SideText *b) {
    const Texts *operands = &cli->operands;
    bool has_two = operands->count == 2, has_own = args->a.count + args->b.count > 0;
    *a = (SideText){args->baseline != NULL ? args->baseline : operands->item[0], &args->a, "a"};
    *b = (SideText){operands->item[has_two ? 1 : 0], &args->b, "b"};
    if (args->baseline != NULL && has_two) {
        return diag_error(&cli->work.diags, (DiagText){.place = "option --baseline",
                                                       .what = "the baseline is A: there is one other side",
                                                       .got = operands->item[1],
                                                       .expected = "stride0 diff --baseline FILE B"});
    }
    return has_two || has_own || args->baseline != NULL ||
           diag_error(&cli->work.diags,
                      (DiagText){.what = "there is nothing to compare the model with",
                                 .got = operands->item[0],
                                 .expected = "a second model, a plan's JSON, or an option of one side",
                                 .hint = "stride0 diff MODEL -d DEVICE --b strategy=full"});
}

static bool read_limit(Cli *cli, const char *text, uint64_t *limit) {
    *limit = UINT64_MAX;
    return text == NULL || str_to_bytes(str_from(text), limit) ||
           diag_error(&cli->work.diags,
                      (DiagText){.place = "option --fail-if-grew",
                                 .what = "the value can't be used",
                                 .got = text,
                                 .expected = "a number of bytes from 0 to 18446744073709551615, such as 0 or 4K",
                                 .hint = cli_bytes_hint(&cli->work.keep, text)});
}

/* Sources of both sides, as far as they need no plan. */
static bool make_sources(Cli *cli, const Args *args, DiffSource *a, DiffSource *b) {
    SideText a_text, b_text;
    PlanArgs of_file = {0};
    if (!name_sides(cli, args, &a_text, &b_text) || !open_side(cli, a_text.path, a) ||
        !open_side(cli, b_text.path, b) || !check_question(cli, args, a, b)) {
        return false;
    }
    const Side *file = a->side != NULL ? a->side : b->side;
    if (file != NULL && !read_request(cli, file, &of_file)) {
        of_file = (PlanArgs){0};
    }
    if (args->baseline != NULL && a->side == NULL) {
        return diag_error(&cli->work.diags, (DiagText){.place = args->baseline,
                                                       .what = "the baseline is no plan's JSON",
                                                       .hint = "stride0 plan MODEL -d DEVICE --json FILE writes one"});
    }
    const Diags before = cli->work.diags;
    if (!make_side(cli, &args->plan, &of_file, &a_text, a)) {
        return false;
    }
    diags_rewind(&cli->work.diags, before); /* what there is to warn of is said once, of B */
    return make_side(cli, &args->plan, &of_file, &b_text, b);
}

static void write_json(FILE *out, const void *data) {
    report_diff_json(data, out);
}

static s0_status judge(Cli *cli, const Diff *diff, uint64_t limit) {
    bool has_grown = diff->placed_bytes > 0 && (uint64_t)diff->placed_bytes > limit;
    if (has_grown) {
        Arena *keep = &cli->work.keep;
        cli->work.diags.file = NULL;
        diag_add(&cli->work.diags, DIAG_NO_FIT,
                 (DiagText){.what = "what must be reserved has grown (placed_bytes)",
                            .got = arena_text(keep, "%s bytes more: %s, and %s before",
                                              cli_number(keep, (uint64_t)diff->placed_bytes),
                                              cli_number(keep, diff->b->placed_bytes),
                                              cli_number(keep, diff->a->placed_bytes)),
                            .expected = arena_text(keep, "at most %s more", cli_number(keep, limit)),
                            .hint = "where that is right, write the baseline anew: stride0 plan ... --json FILE"});
    }
    return has_grown ? S0_NO_FIT : S0_DONE;
}

static s0_status run_diff(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    DiffSource a = {0}, b = {0};
    uint64_t limit;
    if (!read_limit(cli, args->fail_if_grew, &limit) || !make_sources(cli, args, &a, &b)) {
        return diags_status(&work->diags);
    }
    const Diff *diff = stages_diff(&a, &b, &cli->files, work);
    if (diff == NULL) {
        return diags_status(&work->diags);
    }
    if (args->json != NULL && !cli_write(cli, args->json, write_json, diff)) {
        return S0_BAD_INPUT;
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json)) {
        report_diff(diff, cli_columns(cli), &work->scratch, stdout);
    }
    return judge(cli, diff, limit);
}

const CliCommand command_diff = {
    .name = "diff",
    .operands = "A [B]",
    .fewest_operands = 1,
    .most_operands = 2,
    .summary = "why the peak of memory changed, as causes that sum to it exactly",
    .details =
        "A and B are models, or plans that stride0 plan --json wrote. Options are for both; --a and --b are for\n"
        "one: stride0 diff MODEL -d teach --a strategy=full. A model beside a plan in a file is planned as that\n"
        "was, with the options given here in the place of the file's; where one is to be back at its default,\n"
        "--b NAME=auto says so. Each change is made in turn and all is planned again (docs/diff.md).\n"
        "Exit status 2: B's placed_bytes grew by more than --fail-if-grew allows.\n",
    .shared_options = cli_plan_options,
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_diff};
