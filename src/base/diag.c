/* Diagnostics: collecting and printing. */
#include "base/diag.h"

#include "base/clean.h"

#include <string.h>

/* A hostile file can break in more places than anyone reads. */
enum { MOST_KEPT = 20 };

void diag_add(Diags *diags, DiagKind kind, DiagText text) {
    size_t kept = 0;
    for (int k = 0; k < DIAG_KINDS; k++) {
        kept += diags->count[k];
    }
    diags->count[kind]++;
    if (kept >= MOST_KEPT && diags->count[kind] > 1) {
        return; /* the first of its kind is always kept: it carries the status */
    }
    Diag *diag = arena_new(diags->arena, Diag);
    *diag = (Diag){.kind = kind, .file = diags->file, .text = text};
    if (diags->last == NULL) {
        diags->first = diag;
    } else {
        diags->last->next = diag;
    }
    diags->last = diag;
}

bool diag_error(Diags *diags, DiagText text) {
    diag_add(diags, DIAG_ERROR, text);
    return false;
}

bool diag_refuse(Diags *diags, DiagText text) {
    diag_add(diags, DIAG_REFUSED, text);
    return false;
}

void diag_warn(Diags *diags, DiagText text) {
    diag_add(diags, DIAG_WARNING, text);
}

void diags_rewind(Diags *diags, Diags before) {
    *diags = before;
    if (before.last != NULL) {
        before.last->next = NULL;
    }
}

static uint32_t line_or_last(const Diag *diag) {
    return diag->text.line == 0 ? UINT32_MAX : diag->text.line;
}

/* Few are added at a time: each goes behind those that come no later. */
void diags_sort(Diags *diags, Diags before) {
    Diag **first = before.last == NULL ? &diags->first : &before.last->next;
    Diag *rest = *first;
    *first = NULL;
    while (rest != NULL) {
        Diag *diag = rest, **link = first;
        rest = rest->next;
        while (*link != NULL && line_or_last(*link) <= line_or_last(diag)) {
            link = &(*link)->next;
        }
        diag->next = *link;
        *link = diag;
    }
    for (diags->last = before.last; *first != NULL; first = &(*first)->next) {
        diags->last = *first;
    }
}

void diags_drop_warnings(Diags *diags) {
    Diag **link = &diags->first;
    diags->last = NULL;
    diags->count[DIAG_WARNING] = 0;
    while (*link != NULL) {
        if ((*link)->kind == DIAG_WARNING) {
            *link = (*link)->next;
        } else {
            diags->last = *link;
            link = &(*link)->next;
        }
    }
}

s0_status diags_status(const Diags *diags) {
    if (diags->count[DIAG_ERROR] > 0) {
        return S0_BAD_INPUT;
    }
    if (diags->count[DIAG_REFUSED] > 0) {
        return S0_REFUSED;
    }
    return diags->count[DIAG_NO_FIT] + diags->count[DIAG_GREW] > 0 ? S0_NO_FIT : S0_DONE;
}

bool diags_failed(const Diags *diags) {
    return diags_status(diags) != S0_DONE;
}

/* Tabs stay, and go into the caret's line too, so that it stands where it should. */
static void print_excerpt(Str excerpt, uint32_t column, FILE *out) {
    Str rest = excerpt;
    fputs("  ", out);
    while (rest.len > 0) {
        Str field = str_cut(&rest, '\t');
        clean_print(field, out);
        fputs(rest.ptr == NULL ? "" : "\t", out);
    }
    fputs("\n  ", out);
    for (size_t i = 0; i + 1 < column;) {
        bool is_harmless;
        fputc(i < excerpt.len && excerpt.ptr[i] == '\t' ? '\t' : ' ', out);
        i += i < excerpt.len ? clean_character((Str){excerpt.ptr + i, excerpt.len - i}, &is_harmless) : 1;
    }
    fputs("^\n", out);
}

/* What stands before, between and behind is ours; the text may be a file's. */
static void print_part(const char *before, Str text, const char *behind, FILE *out) {
    fputs(before, out);
    clean_print(text, out);
    fputs(behind, out);
}

static void print_line(const char *label, const char *text, FILE *out) {
    if (text != NULL) {
        print_part(label, str_from(text), "\n", out);
    }
}

static void print_where(const Diag *diag, FILE *out) {
    const DiagText *text = &diag->text;
    if (diag->file != NULL && (text->place == NULL || strcmp(diag->file, text->place) != 0)) {
        print_part("", str_from(diag->file), ": ", out);
    }
    if (text->place != NULL) {
        print_part("", str_from(text->place), ": ", out);
    }
    if (text->node.len > 0) {
        bool is_quoted = text->node.ptr[0] == '\'';
        print_part(is_quoted ? "node " : "node '", text->node, is_quoted ? ": " : "': ", out);
    }
    if (text->tensor.len > 0) {
        print_part("tensor '", text->tensor, "': ", out);
    }
}

static void print_diag(const Diag *diag, const char *prefix, FILE *out) {
    static const char *const kind_name[] = {[DIAG_WARNING] = "warning: ",
                                            [DIAG_ERROR] = "error: ",
                                            [DIAG_REFUSED] = "refused: ",
                                            [DIAG_NO_FIT] = "does not fit: ",
                                            [DIAG_GREW] = "grew: "};
    const DiagText *text = &diag->text;
    if (prefix != NULL && prefix[0] != '\0') {
        print_part("", str_from(prefix), ": ", out);
    }
    fputs(kind_name[diag->kind], out);
    print_where(diag, out);
    print_line("", text->what, out);
    if (text->excerpt.len > 0) {
        print_excerpt(text->excerpt, text->column, out);
    }
    print_line("  got       ", text->got != NULL && text->got[0] == '\0' ? "nothing" : text->got, out);
    print_line("  expected  ", text->expected, out);
    for (const char *const *reading = text->readings; reading != NULL && *reading != NULL; reading++) {
        print_line("  reading   ", *reading, out);
    }
    print_line("  do        ", text->hint, out);
}

void diags_print(const Diags *diags, const char *prefix, FILE *out) {
    size_t all = 0;
    size_t printed = 0;
    for (const Diag *diag = diags->first; diag != NULL; diag = diag->next) {
        print_diag(diag, prefix, out);
        printed++;
    }
    for (int kind = 0; kind < DIAG_KINDS; kind++) {
        all += diags->count[kind];
    }
    if (all > printed) {
        fprintf(out, "(%zu more of the same kinds)\n", all - printed);
    }
}
