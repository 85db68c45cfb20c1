/* Options of the command line: a table of rows, parsed into a struct of the command's own.
 *
 *     static const Option options[] = {
 *         {"json", 0, OPTION_TEXT, "FILE", "also write JSON; - is standard output", offsetof(Args, json), NULL},
 *         {0}};
 *
 * A field nobody sets stays zero, so zero is every option's default: the first choice, false, null. */
#ifndef S0_CLI_OPTIONS_H
#define S0_CLI_OPTIONS_H

#include "base/diag.h"

typedef enum {
    OPTION_SWITCH, /* bool */
    OPTION_TEXT,   /* const char * */
    OPTION_OUTPUT, /* const char *: a file that the command writes; no two may be one */
    OPTION_TEXTS,  /* Texts: may stand several times */
    OPTION_CHOICE, /* int: index into `choices` */
} OptionKind;

typedef struct {
    const char *name; /* without the dashes */
    char letter;      /* of the short form, or 0 */
    OptionKind kind;
    const char *value;          /* what stands behind it, for the help; null for a switch */
    const char *help;           /* null: only taken to be told where to go, and in no help */
    size_t offset;              /* of the field it is parsed into */
    const char *const *choices; /* ended by null */
} Option;

typedef struct {
    size_t count, capacity;
    const char **item; /* null, or a null stands behind the last */
} Texts;

/* A table and the struct that its rows are parsed into. */
typedef struct {
    const Option *options; /* ended by a row without a name */
    void *target;
} OptionSet;

typedef struct {
    size_t count;
    char *const *item;
} Arguments;

/* Parses all of `arguments` and collects what is no option in `operands`; `--` ends the options. False with a
 * diagnostic that names what was probably meant. */
bool cli_parse_options(Arguments arguments, const OptionSet *sets, size_t set_count, Texts *operands, Diags *diags);

/* One line an option. */
void cli_print_options(const Option *options, FILE *out);

/* Adds to a list that lives in `arena`. */
void cli_add_text(Texts *texts, Arena *arena, const char *text);

#endif
