/* Parsing options by their tables, and printing the tables as help. */
#include "cli/options.h"

#include "base/nearest.h"

#include <string.h>

void cli_add_text(Texts *texts, Arena *arena, const char *text) {
    texts->item = arena_grow(arena, texts->item, texts->count, &texts->capacity, sizeof *texts->item);
    texts->item[texts->count++] = text;
    texts->item = arena_grow(arena, texts->item, texts->count, &texts->capacity, sizeof *texts->item);
    texts->item[texts->count] = NULL;
}

/* Where the parser stands. */
typedef struct {
    Arguments rest; /* what was not read yet */
    const OptionSet *sets;
    size_t set_count;
    Texts seen; /* names of options that take one value */
    Diags *diags;
} Parser;

/* An option as it was typed, with the set it belongs to. */
typedef struct {
    const Option *option;
    void *target;
    const char *typed; /* "--json" or "-d" */
} Match;

static bool find_long(const Parser *parser, Str name, Match *match) {
    for (size_t i = 0; i < parser->set_count; i++) {
        for (const Option *option = parser->sets[i].options; option->name != NULL; option++) {
            if (str_eq(str_from(option->name), name)) {
                match->option = option;
                match->target = parser->sets[i].target;
                return true;
            }
        }
    }
    return false;
}

static bool find_short(const Parser *parser, char letter, Match *match) {
    for (size_t i = 0; i < parser->set_count; i++) {
        for (const Option *option = parser->sets[i].options; option->name != NULL; option++) {
            if (option->letter == letter) {
                match->option = option;
                match->target = parser->sets[i].target;
                return true;
            }
        }
    }
    return false;
}

static bool unknown_option(const Parser *parser, Str typed, Str name) {
    Arena *arena = parser->diags->arena;
    Texts names = {0};
    for (size_t i = 0; i < parser->set_count; i++) {
        for (const Option *option = parser->sets[i].options; option->name != NULL; option++) {
            cli_add_text(&names, arena, option->name);
        }
    }
    const char *nearest = nearest_of(name, names.item, names.count);
    return diag_error(parser->diags,
                      (DiagText){.what = "unknown option",
                                 .got = arena_text(arena, STR_FMT, STR_ARG(typed)),
                                 .hint = nearest == NULL ? "--help lists the options"
                                                         : arena_text(arena, "did you mean --%s?", nearest)});
}

static bool bad_value(const Parser *parser, const Match *match, const char *value, const char *expected) {
    return diag_error(parser->diags, (DiagText){.place = arena_text(parser->diags->arena, "option %s", match->typed),
                                                .what = "the value can't be used",
                                                .got = value,
                                                .expected = expected});
}

static const char *list_choices(Arena *arena, const char *const *choices) {
    const char *list = choices[0];
    for (size_t i = 1; choices[i] != NULL; i++) {
        list = arena_text(arena, "%s, %s", list, choices[i]);
    }
    return list;
}

static bool set_choice(const Parser *parser, const Match *match, const char *value, int *chosen) {
    for (int i = 0; match->option->choices[i] != NULL; i++) {
        if (strcmp(match->option->choices[i], value) == 0) {
            *chosen = i;
            return true;
        }
    }
    return bad_value(parser, match, value, list_choices(parser->diags->arena, match->option->choices));
}

/* An option of one value must not have two: which of them is meant? */
static bool is_first(Parser *parser, const Match *match) {
    if (match->option->kind == OPTION_SWITCH || match->option->kind == OPTION_TEXTS) {
        return true;
    }
    for (size_t i = 0; i < parser->seen.count; i++) {
        if (strcmp(parser->seen.item[i], match->option->name) == 0) {
            return diag_error(parser->diags,
                              (DiagText){.place = arena_text(parser->diags->arena, "option %s", match->typed),
                                         .what = "the option is given twice",
                                         .expected = "it once"});
        }
    }
    cli_add_text(&parser->seen, parser->diags->arena, match->option->name);
    return true;
}

static bool set_value(const Parser *parser, const Match *match, const char *value) {
    void *field = (char *)match->target + match->option->offset;
    switch (match->option->kind) {
    case OPTION_SWITCH:
        *(bool *)field = true;
        return true;
    case OPTION_TEXT:
    case OPTION_OUTPUT:
        *(const char **)field = value;
        return true;
    case OPTION_TEXTS:
        cli_add_text(field, parser->diags->arena, value);
        return true;
    case OPTION_CHOICE:
        return set_choice(parser, match, value, field);
    }
    return false;
}

/* The value behind an option: `attached` to it, or the next argument. */
static bool take_value(Parser *parser, const Match *match, const char *attached) {
    const char *value = attached;
    if (value == NULL && parser->rest.count > 0 && strncmp(parser->rest.item[0], "--", 2) != 0) {
        value = parser->rest.item[0];
        parser->rest.item++;
        parser->rest.count--;
    }
    if (value == NULL) {
        return bad_value(parser, match, "nothing", match->option->value);
    }
    if (value[0] == '\0' && match->option->kind == OPTION_OUTPUT) {
        return diag_error(parser->diags,
                          (DiagText){.place = arena_text(parser->diags->arena, "option %s", match->typed),
                                     .what = "the output has no name",
                                     .expected = match->option->value});
    }
    return is_first(parser, match) && set_value(parser, match, value);
}

/* --name, --name value, --name=value */
static bool parse_long(Parser *parser, const char *argument) {
    Str rest = str_from(argument + 2);
    Str name = str_cut(&rest, '=');
    Arena *arena = parser->diags->arena;
    Match match = {.typed = arena_text(arena, "--" STR_FMT, STR_ARG(name))};
    if (!find_long(parser, name, &match)) {
        return unknown_option(parser, str_from(match.typed), name);
    }
    if (match.option->kind != OPTION_SWITCH) {
        return take_value(parser, &match, rest.ptr);
    }
    return rest.ptr == NULL ? set_value(parser, &match, NULL) : bad_value(parser, &match, rest.ptr, "no value");
}

/* -q, -d value, -dvalue, -qd value */
static bool parse_short(Parser *parser, const char *argument) {
    for (const char *letter = argument + 1; *letter != '\0'; letter++) {
        Match match = {.typed = arena_text(parser->diags->arena, "-%c", *letter)};
        if (!find_short(parser, *letter, &match)) {
            return unknown_option(parser, str_from(match.typed), (Str){letter, 1});
        }
        if (match.option->kind != OPTION_SWITCH) {
            return take_value(parser, &match, letter[1] == '\0' ? NULL : letter + 1);
        }
        set_value(parser, &match, NULL);
    }
    return true;
}

bool cli_parse_options(Arguments arguments, const OptionSet *sets, size_t set_count, Texts *operands, Diags *diags) {
    Parser parser = {.rest = arguments, .sets = sets, .set_count = set_count, .diags = diags};
    bool options_ended = false;
    bool good = true;
    while (parser.rest.count > 0) {
        const char *argument = *parser.rest.item++;
        parser.rest.count--;
        if (options_ended || argument[0] != '-' || argument[1] == '\0') {
            cli_add_text(operands, diags->arena, argument);
        } else if (strcmp(argument, "--") == 0) {
            options_ended = true;
        } else {
            good = (argument[1] == '-' ? parse_long(&parser, argument) : parse_short(&parser, argument)) && good;
        }
    }
    return good;
}

void cli_print_options(const Option *options, FILE *out) {
    enum { HELP_COLUMN = 34 };
    for (const Option *option = options; option->name != NULL; option++) {
        if (option->help == NULL) {
            continue;
        }
        int width = option->letter != 0 ? fprintf(out, "  -%c, ", option->letter) : fprintf(out, "      ");
        width += fprintf(out, "--%s%s%s", option->name, option->value == NULL ? "" : " ",
                         option->value == NULL ? "" : option->value);
        if (width >= HELP_COLUMN) {
            fputc('\n', out);
            width = 0;
        }
        fprintf(out, "%*s%s\n", HELP_COLUMN - width, "", option->help);
    }
}
