/* The command stride0: finds the subcommand, parses its options, runs it, prints the diagnostics. */
#include "cli/cli.h"

#include "base/nearest.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const CliCommand *const cli_commands[] = {
#define COMMAND(word) &command_##word,
#include "cli/commands.def"
#undef COMMAND
    NULL};

typedef struct {
    bool help, version, quiet, plain;
    int color;
} CommonArgs;

enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };
static const char *const color_choices[] = {"auto", "always", "never", NULL};

const Option cli_common_options[] = {
    {"help", 'h', OPTION_SWITCH, NULL, "print this and exit", offsetof(CommonArgs, help), NULL},
    {"version", 0, OPTION_SWITCH, NULL, "print the version and exit", offsetof(CommonArgs, version), NULL},
    {"quiet", 'q', OPTION_SWITCH, NULL, "no report and no warnings: only files, JSON and errors",
     offsetof(CommonArgs, quiet), NULL},
    {"color", 0, OPTION_CHOICE, "WHEN", "auto (default; NO_COLOR is respected), always or never",
     offsetof(CommonArgs, color), color_choices},
    {"plain", 0, OPTION_SWITCH, NULL, "for a log: no colour, ASCII, lines of 100 characters",
     offsetof(CommonArgs, plain), NULL},
    {0}};

static bool wants_color(const CommonArgs *common) {
    if (common->plain || common->color != COLOR_AUTO) {
        return common->color == COLOR_ALWAYS;
    }
    const char *no_color = getenv("NO_COLOR"); /* https://no-color.org: present and not empty */
    const char *terminal = getenv("TERM");
    bool is_dumb = terminal != NULL && strcmp(terminal, "dumb") == 0;
    return (no_color == NULL || no_color[0] == '\0') && !is_dumb && isatty(STDOUT_FILENO);
}

const CliCommand *cli_find_command(Cli *cli, const char *name) {
    Texts names = {0};
    Arena *arena = &cli->work.keep;
    for (size_t i = 0; cli_commands[i] != NULL; i++) {
        if (strcmp(cli_commands[i]->name, name) == 0) {
            return cli_commands[i];
        }
        cli_add_text(&names, arena, cli_commands[i]->name);
    }
    const char *nearest = nearest_of(str_from(name), names.item, names.count);
    diag_error(&cli->work.diags, (DiagText){.what = "unknown command",
                                            .got = name,
                                            .hint = nearest == NULL ? "stride0 help lists the commands"
                                                                    : arena_text(arena, "did you mean %s?", nearest)});
    return NULL;
}

static s0_status print_version(void) {
    puts("stride0 " S0_VERSION);
    return S0_DONE;
}

static bool check_operands(Cli *cli, const CliCommand *command) {
    size_t count = cli->operands.count;
    if (count >= command->fewest_operands && count <= command->most_operands) {
        return true;
    }
    bool too_many = count > command->most_operands;
    return diag_error(
        &cli->work.diags,
        (DiagText){.what = too_many ? "too many arguments" : "an argument is missing",
                   .got = too_many ? cli->operands.item[command->most_operands] : "nothing",
                   .expected = arena_text(&cli->work.keep, "stride0 %s %s", command->name, command->operands),
                   .hint = arena_text(&cli->work.keep, "stride0 %s --help explains", command->name)});
}

/* Nothing is written, and no work begun, where an output would be lost or an operand replaced. */
static bool check_outputs(Cli *cli, const OptionSet *sets, size_t set_count) {
    Texts outputs = {0};
    for (size_t i = 0; i < set_count; i++) {
        for (const Option *option = sets[i].options; option->name != NULL; option++) {
            bool has_text = option->kind == OPTION_TEXT || option->kind == OPTION_OUTPUT;
            const char *text = has_text ? *(const char **)((char *)sets[i].target + option->offset) : NULL;
            if (text != NULL) {
                cli_add_text(option->kind == OPTION_OUTPUT ? &outputs : &cli->named, &cli->work.keep, text);
            }
        }
    }
    bool is_free = true;
    for (size_t i = 0; is_free && i < outputs.count; i++) {
        is_free = cli_claim_output(cli, outputs.item[i]);
    }
    return is_free;
}

static s0_status run_command(Cli *cli, const CliCommand *command, Arguments arguments, CommonArgs *common) {
    static const Option none[] = {{0}};
    void *args = arena_alloc(&cli->work.keep, 1, command->args_bytes + 1);
    OptionSet sets[] = {{command->shared_options == NULL ? none : command->shared_options, args},
                        {command->options == NULL ? none : command->options, args},
                        {cli_common_options, common}};
    if (!cli_parse_options(arguments, sets, 3, &cli->operands, &cli->work.diags) && !common->help) {
        return S0_BAD_INPUT;
    }
    if (common->help) {
        cli->work.diags = (Diags){.arena = &cli->work.keep}; /* who asks for help may have mistyped */
        cli_print_command_usage(command, stdout);
        return S0_DONE;
    }
    if (common->version) {
        return print_version();
    }
    if (common->plain && common->color == COLOR_ALWAYS) {
        diag_error(&cli->work.diags, (DiagText){.place = "option --plain",
                                                .what = "there is no colour in a log",
                                                .got = "--color always and --plain",
                                                .expected = "one of them"});
        return S0_BAD_INPUT;
    }
    cli->is_quiet = common->quiet;
    cli->has_color = wants_color(common);
    cli->is_plain = common->plain;
    return check_operands(cli, command) && check_outputs(cli, sets, 3) ? command->run(cli, args) : S0_BAD_INPUT;
}

/* The options that stand before the command: all of them are common ones and none but --color has a value. */
static size_t count_leading_options(Arguments arguments) {
    size_t count = 0;
    while (count < arguments.count && arguments.item[count][0] == '-') {
        count += strcmp(arguments.item[count], "--color") == 0 ? 2 : 1;
    }
    return count < arguments.count ? count : arguments.count;
}

static s0_status run(Cli *cli, Arguments arguments) {
    CommonArgs common = {0};
    size_t leading = count_leading_options(arguments);
    OptionSet set = {cli_common_options, &common};
    if (!cli_parse_options((Arguments){leading, arguments.item}, &set, 1, &cli->operands, &cli->work.diags)) {
        return S0_BAD_INPUT;
    }
    if (common.version) {
        return print_version();
    }
    if (leading == arguments.count) {
        cli_print_usage(common.help ? stdout : stderr);
        return common.help ? S0_DONE : S0_BAD_INPUT;
    }
    const CliCommand *command = cli_find_command(cli, arguments.item[leading]);
    Arguments rest = {arguments.count - leading - 1, arguments.item + leading + 1};
    return command == NULL ? S0_BAD_INPUT : run_command(cli, command, rest, &common);
}

/* Standard output may be a full disk. */
static bool flush_stdout(void) {
    if (fflush(stdout) == 0 && !ferror(stdout)) {
        return true;
    }
    fputs("stride0: error: can't write to standard output\n", stderr);
    return false;
}

/* The one place that memory which ran out comes back to. */
static s0_status run_guarded(Cli *cli, Arguments arguments) {
    if (setjmp(cli->work.escape) != 0) {
        fputs("stride0: error: out of memory\n", stderr);
        return S0_NO_MEMORY;
    }
    s0_status status = run(cli, arguments);
    s0_status told = diags_status(&cli->work.diags);
    if (cli->is_quiet) {
        diags_drop_warnings(&cli->work.diags);
    }
    fflush(stdout);
    diags_print(&cli->work.diags, "stride0", stderr);
    return status == S0_DONE ? told : status;
}

static void close_cli(Cli *cli) {
    if (cli->has_output) {
        file_out_abandon(&cli->output);
    }
    import_close(&cli->files);
    work_free(&cli->work);
}

int main(int argc, char **argv) {
    Cli cli = {0};
    /* A limit on the size of files is an error of writing, told and cleaned up like any other. */
    signal(SIGXFSZ, SIG_IGN);
    work_init(&cli.work, &system_allocator);
    s0_status status = run_guarded(&cli, (Arguments){argc > 0 ? (size_t)argc - 1 : 0, argv + 1});
    close_cli(&cli);
    if (!flush_stdout() || status == S0_NO_MEMORY) {
        return S0_BAD_INPUT;
    }
    return (int)status;
}
