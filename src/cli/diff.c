/* `stride0 diff A B`: why the peak of memory changed.
 *
 * A and B are models, or plans that `stride0 plan --json` wrote. Options are for both; --a and --b are for one. What a
 * plan in a file was asked for holds for the model beside it, as far as nothing else is said. */
#include "cli/plan_options.h"

#include "base/nearest.h"
#include "report/diff.h"

#include <string.h>

typedef struct {
    PlanArgs plan;
    Texts a, b;
    const char *json, *baseline, *fail_if_grew, *fail_if_backing_grew;
    bool fail_if_no_fit;
} Args;

/* Bytes that B may need more than A. */
typedef struct {
    uint64_t placed, backing;
} Limits;

static const Option pin_options[] = {CLI_PIN_OPTIONS, {0}};

static const Option options[] = {
    CLI_PIN_OPTIONS,
    {"a", 0, OPTION_TEXTS, "NAME[=VALUE]", "an option of A alone, without its dashes: strategy=full, device=teach",
     offsetof(Args, a), NULL},
    {"b", 0, OPTION_TEXTS, "NAME[=VALUE]", "an option of B alone: it replaces what both have", offsetof(Args, b), NULL},
    {"baseline", 0, OPTION_TEXT, "FILE", "in place of A: a plan that stride0 plan --json wrote",
     offsetof(Args, baseline), NULL},
    {"fail-if-grew", 0, OPTION_TEXT, "BYTES",
     "exit status 2 where B's placed_bytes are more than A's and so many; K M G are powers of 1024",
     offsetof(Args, fail_if_grew), NULL},
    {"fail-if-backing-grew", 0, OPTION_TEXT, "BYTES", "the same of the flash or far memory that B needs: backing_bytes",
     offsetof(Args, fail_if_backing_grew), NULL},
    {"fail-if-no-fit", 0, OPTION_SWITCH, NULL,
     "exit status 2 where B does not fit its local memory, or the flash or far memory behind it",
     offsetof(Args, fail_if_no_fit), NULL},
    {"json", 0, OPTION_OUTPUT, "FILE", "write the comparison as JSON; - is standard output, in place of the report",
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
        } else if ((row->kind == OPTION_TEXT || row->kind == OPTION_OUTPUT) && *(const char *const *)source != NULL) {
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

/* "NAME=auto" of an option that may be back at its default, which zero is. A device has none. */
static bool reset_option(const Option *rows, Str word, PlanArgs *side) {
    static const size_t bytes[] = {[OPTION_SWITCH] = sizeof(bool),
                                   [OPTION_TEXT] = sizeof(const char *),
                                   [OPTION_OUTPUT] = sizeof(const char *),
                                   [OPTION_TEXTS] = sizeof(Texts),
                                   [OPTION_CHOICE] = sizeof(int)};
    Str value = word;
    Str name = str_cut(&value, '=');
    for (const Option *row = rows; row->name != NULL && str_eq(value, STR("auto")); row++) {
        bool is_it = str_eq(name, str_from(row->name)) && !str_eq(name, STR("device"));
        if (is_it) {
            memset((char *)side + row->offset, 0, bytes[row->kind]);
            return true;
        }
    }
    return false;
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

/* Options of one side, one word after the other: "--tile=auto" takes back what stood before. */
static bool parse_own(Cli *cli, const Texts *words, PlanArgs *side) {
    for (size_t k = 0; k < words->count; k++) {
        const char *word = words->item[k];
        const Texts one = {.count = 1, .item = (const char *[]){word}};
        const Str name = str_from(word + strspn(word, "-"));
        bool is_reset = reset_option(cli_plan_options, name, side) || reset_option(pin_options, name, side);
        if (!is_reset && !parse_words(cli, &one, side)) {
            return false;
        }
    }
    return true;
}

/* "strategy=full" is "--strategy=full"; what is empty is told as it is. */
static Texts with_dashes(const Texts *texts, Arena *arena) {
    Texts words = {0};
    for (size_t k = 0; k < texts->count; k++) {
        const char *text = texts->item[k];
        cli_add_text(&words, arena, text[0] == '-' || text[0] == '\0' ? text : arena_text(arena, "--%s", text));
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
    source->has_request = parse_own(cli, &words, &args) && cli_plan_request(cli, &args, text->path, &source->request);
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

static bool read_limit(Cli *cli, const char *option, const char *text, uint64_t *limit) {
    *limit = UINT64_MAX;
    return text == NULL || str_to_bytes(str_from(text), limit) ||
           diag_error(&cli->work.diags,
                      (DiagText){.place = arena_text(&cli->work.keep, "option --%s", option),
                                 .what = "the value can't be used",
                                 .got = text,
                                 .expected = "a number of bytes from 0 to 18446744073709551615, such as 0 or 4K",
                                 .hint = nearest_bytes(&cli->work.keep, str_from(text))});
}

static bool read_limits(Cli *cli, const Args *args, Limits *limits) {
    return read_limit(cli, "fail-if-grew", args->fail_if_grew, &limits->placed) &&
           read_limit(cli, "fail-if-backing-grew", args->fail_if_backing_grew, &limits->backing);
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

/* The option that a diagnostic is about, of those that name something of the model and were given for both sides:
 * "dim=n=1"; null: none. */
static const char *option_of(const Args *args, const DiagText *text, Arena *keep) {
    const PlanArgs *plan = &args->plan;
    const struct {
        const char *name;
        const Texts *given;
    } lists[] = {{"dim", &plan->dims}, {"layout", &plan->layouts}, {"axis", &plan->axes}};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++) {
        bool is_list = text->place != NULL && strcmp(text->place, arena_text(keep, "--%s", lists[k].name)) == 0;
        for (size_t i = 0; i < lists[k].given->count && is_list; i++) {
            const char *given = lists[k].given->item[i];
            const char *whole = arena_text(keep, "--%s %s", lists[k].name, given);
            const char *tensor = arena_text(keep, STR_FMT "=", STR_ARG(text->tensor));
            bool is_it = text->got != NULL ? strcmp(text->got, whole) == 0
                                           : text->tensor.len > 0 && strncmp(given, tensor, strlen(tensor)) == 0;
            if (is_it) {
                return arena_text(keep, "%s=%s", lists[k].name, given);
            }
        }
    }
    return NULL;
}

/* One of two models may have nothing of a name: then the option is of the other one alone. */
static void hint_side(Cli *cli, const Args *args, const DiffSource *a, const DiffSource *b) {
    Arena *keep = &cli->work.keep;
    bool has_two = a->has_request && b->has_request && strcmp(a->request.model, b->request.model) != 0;
    for (Diag *diag = cli->work.diags.first; diag != NULL && has_two; diag = diag->next) {
        DiagText *text = &diag->text;
        const char *option = diag->kind == DIAG_ERROR && diag->file != NULL ? option_of(args, text, keep) : NULL;
        if (option != NULL) {
            bool is_of_b = strcmp(diag->file, b->request.model) == 0;
            const char *hint = arena_text(keep, "where only %s has it: --%s %s in its place", is_of_b ? "A" : "B",
                                          is_of_b ? "a" : "b", option);
            text->hint = text->hint == NULL ? hint : arena_text(keep, "%s; %s", text->hint, hint);
        }
    }
}

static void write_json(FILE *out, const void *data) {
    report_diff_json(data, out);
}

/* What a check found: where, by how much, and what to do. */
typedef struct {
    const char *option, *what;
    int64_t change;
    uint64_t before, after, limit;
} Growth;

static void check_growth(Cli *cli, const Growth *growth) {
    Arena *keep = &cli->work.keep;
    if (growth->change > 0 && (uint64_t)growth->change > growth->limit) {
        diag_add(&cli->work.diags, DIAG_GREW,
                 (DiagText){.place = growth->option,
                            .what = growth->what,
                            .got = arena_text(keep, "%s bytes more: %s, and %s before",
                                              cli_number(keep, (uint64_t)growth->change),
                                              cli_number(keep, growth->after), cli_number(keep, growth->before)),
                            .expected = arena_text(keep, "at most %s more", cli_number(keep, growth->limit)),
                            .hint = "where that is right, write the baseline anew: stride0 plan ... --json FILE"});
    }
}

static void check_room(Cli *cli, const char *what, uint64_t bytes, uint64_t capacity) {
    Arena *keep = &cli->work.keep;
    if (bytes > capacity) {
        diag_add(&cli->work.diags, DIAG_NO_FIT,
                 (DiagText){.place = "option --fail-if-no-fit",
                            .what = what,
                            .got = arena_text(keep, "%s bytes", cli_number(keep, bytes)),
                            .expected = arena_text(keep, "at most %s", cli_number(keep, capacity)),
                            .hint = "stride0 plan says what is to blame, and what each remedy saves"});
    }
}

static s0_status judge(Cli *cli, const Args *args, const Diff *diff, const Limits *limits) {
    Arena *keep = &cli->work.keep;
    const Side *a = diff->a, *b = diff->b;
    const Growth local = {"option --fail-if-grew", "what must be reserved has grown (placed_bytes)",
                          diff->placed_bytes,      a->placed_bytes,
                          b->placed_bytes,         limits->placed};
    const Growth backing = {
        "option --fail-if-backing-grew",
        arena_text(keep, "what must be reserved of " STR_FMT " memory has grown (backing_bytes)", STR_ARG(b->backing)),
        diff->backing_bytes,
        a->backing_bytes,
        b->backing_bytes,
        limits->backing};
    cli->work.diags.file = NULL;
    check_growth(cli, &local);
    check_growth(cli, &backing);
    if (args->fail_if_no_fit) {
        check_room(cli, "B needs more local memory than there is", b->placed_bytes, b->capacity_bytes);
        check_room(cli, arena_text(keep, "B needs more " STR_FMT " memory than there is", STR_ARG(b->backing)),
                   b->backing_bytes, b->backing_capacity_bytes);
    }
    return diags_status(&cli->work.diags);
}

static s0_status run_diff(Cli *cli, const void *data) {
    const Args *args = data;
    Work *work = &cli->work;
    DiffSource a = {0}, b = {0};
    Limits limits;
    if (!read_limits(cli, args, &limits) || !make_sources(cli, args, &a, &b)) {
        return diags_status(&work->diags);
    }
    const Diff *diff = stages_diff(&a, &b, &cli->files, work);
    if (diff == NULL) {
        hint_side(cli, args, &a, &b);
        return diags_status(&work->diags);
    }
    if (args->json != NULL && !cli_write(cli, args->json, write_json, diff)) {
        return S0_BAD_INPUT;
    }
    if (!cli->is_quiet && !cli_is_stdout(args->json)) {
        report_diff(diff, cli_columns(cli), &work->scratch, stdout);
    }
    return judge(cli, args, diff, &limits);
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
        "Exit status 2: B grew by more than --fail-if-grew or --fail-if-backing-grew allow, or does not fit and\n"
        "--fail-if-no-fit is given.\n",
    .shared_options = cli_plan_options,
    .options = options,
    .args_bytes = sizeof(Args),
    .run = run_diff};
