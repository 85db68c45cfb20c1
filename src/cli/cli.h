/* The command line: one file a subcommand, each with one CliCommand; main.c finds it, parses its options and runs it.
 *
 * Data goes to standard output, diagnostics to standard error. A command returns what came of it; diagnostics it left
 * in work->diags are printed by main, and the graver of both is the exit status. */
#ifndef S0_CLI_CLI_H
#define S0_CLI_CLI_H

#include "base/file.h"
#include "base/work.h"
#include "cli/options.h"
#include "import/import.h"

typedef struct {
    Work work;
    Texts operands; /* what stood beside the options */
    Texts named;    /* texts of options: where one names a file, as -d may, no output replaces it */
    bool is_quiet;  /* no report: only files, what was asked for with `-`, and errors */
    bool has_color; /* standard output takes colours */
    bool is_plain;  /* --plain: for a log */
    FileOut output; /* being written; abandoned where memory runs out */
    bool has_output;
    Texts claimed;    /* paths of the outputs that were asked for */
    ModelFiles files; /* of the model that is read; closed at the end, whatever happens */
} Cli;

typedef struct {
    const char *name;
    const char *operands; /* "MODEL", "[NAME]": as the usage line shows them */
    size_t fewest_operands, most_operands;
    const char *summary;          /* one line, no full stop */
    const char *details;          /* more help behind the options; may be null */
    const Option *options;        /* ended by a row without a name; may be null */
    const Option *shared_options; /* with other commands: of the struct that the arguments begin with; may be null */
    size_t args_bytes;            /* of the struct that both are parsed into */
    s0_status (*run)(Cli *cli, const void *args);
} CliCommand;

#define COMMAND(word) extern const CliCommand command_##word;
#include "cli/commands.def"
#undef COMMAND

extern const CliCommand *const cli_commands[]; /* ended by null */
extern const Option cli_common_options[];      /* taken by every command */

/* The command of that name, or null with a diagnostic that names the nearest. */
const CliCommand *cli_find_command(Cli *cli, const char *name);

void cli_print_usage(FILE *out);                                    /* of the program */
void cli_print_command_usage(const CliCommand *command, FILE *out); /* of one command */

/* Says that `path` is to be written, before anything is. False with a diagnostic where another output is, or an input.
 * Of options of kind OPTION_OUTPUT main does it; a command does of files that it names itself. */
bool cli_claim_output(Cli *cli, const char *path);

/* Writes a whole file, or standard output where `path` is "-". The file appears when all of it is written, and replaces
 * none of the model's; `write` may not fail, and must not close `out`. */
bool cli_write(Cli *cli, const char *path, void (*write)(FILE *out, const void *facts), const void *facts);

/* "-"? */
bool cli_is_stdout(const char *path);

/* Characters of a line of standard output, 80 at least: COLUMNS, or with --plain 100, or the terminal's width; of a
 * pipe or file, as many as whole names mostly need. */
uint32_t cli_columns(const Cli *cli);

/* May drawings use more than ASCII? Not with --plain, nor where the locale is none of UTF-8. */
bool cli_has_unicode(const Cli *cli);

/* 1234567 as "1,234,567". */
const char *cli_number(Arena *arena, uint64_t number);

#endif
