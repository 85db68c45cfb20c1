/* Writing: whole files, standard output, numbers. */
#include "cli/cli.h"

#include <langinfo.h>
#include <locale.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

bool cli_is_stdout(const char *path) {
    return path != NULL && strcmp(path, "-") == 0;
}

static bool is_one_of(const Texts *files, const char *path) {
    bool is = false;
    for (size_t i = 0; i < files->count; i++) {
        is = is || file_is_same(files->item[i], path);
    }
    return is;
}

/* An output over the model, over weights that it keeps in a file beside it, or over a device file would lose what the
 * user has. */
static bool spares_inputs(Cli *cli, const char *path) {
    bool is_input = is_one_of(&cli->operands, path) || is_one_of(&cli->named, path);
    for (size_t i = 0; i < cli->files.count; i++) {
        is_input = is_input || file_is_same(cli->files.path[i].ptr, path);
    }
    return !is_input || diag_error(&cli->work.diags, (DiagText){.place = path,
                                                                .what = "the output would replace an input",
                                                                .hint = "name another file"});
}

/* A second output into the same file would replace the first. */
static bool spares_outputs(Cli *cli, const char *path) {
    const char *target = cli_is_stdout(path) ? "/dev/stdout" : path;
    for (size_t i = 0; i < cli->claimed.count; i++) {
        const char *other = cli->claimed.item[i];
        bool both_stdout = cli_is_stdout(path) && cli_is_stdout(other);
        if (both_stdout || file_is_same_target(target, cli_is_stdout(other) ? "/dev/stdout" : other, &cli->work.keep)) {
            return diag_error(&cli->work.diags,
                              (DiagText){.place = both_stdout ? "standard output" : path,
                                         .what = "two outputs go to one file: one of them would be lost",
                                         .hint = both_stdout ? "write one of them to a file" : "name another file"});
        }
    }
    return true;
}

bool cli_claim_output(Cli *cli, const char *path) {
    cli->work.diags.file = NULL;
    bool is_free = (cli_is_stdout(path) || spares_inputs(cli, path)) && spares_outputs(cli, path);
    cli_add_text(&cli->claimed, &cli->work.keep, path);
    return is_free;
}

bool cli_write(Cli *cli, const char *path, void (*write)(FILE *out, const void *facts), const void *facts) {
    if (cli_is_stdout(path)) {
        write(stdout, facts);
        return true;
    }
    cli->work.diags.file = NULL; /* the model has been read: what is wrong now is the output's */
    if (!spares_inputs(cli, path) || !file_out_open(&cli->output, path, &cli->work.diags)) {
        return false;
    }
    cli->has_output = true; /* until it is committed, main abandons it where memory runs out */
    write(cli->output.stream, facts);
    cli->has_output = false;
    return file_out_commit(&cli->output, &cli->work.diags);
}

uint32_t cli_columns(const Cli *cli) {
    enum { LEAST = 80, MOST = 1000, OF_A_LOG = 100, OF_A_PIPE = 200 };
    uint64_t columns = 0;
    struct winsize window;
    if (!str_to_u64(str_from(getenv("COLUMNS")), &columns) || columns == 0) {
        bool is_terminal = ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) == 0 && window.ws_col > 0;
        columns = cli->is_plain ? OF_A_LOG : is_terminal ? window.ws_col : OF_A_PIPE;
    }
    return columns < LEAST ? LEAST : columns > MOST ? MOST : (uint32_t)columns;
}

/* The program itself stays in the locale C, so that numbers are written as files have them. */
bool cli_has_unicode(const Cli *cli) {
    locale_t locale = cli->is_plain ? (locale_t)0 : newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    if (locale == (locale_t)0) {
        return false;
    }
    bool is_utf8 = strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    freelocale(locale);
    return is_utf8;
}

const char *cli_number(Arena *arena, uint64_t number) {
    return arena_number(arena, number).ptr;
}
