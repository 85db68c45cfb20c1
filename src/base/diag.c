/* Diagnostics: collecting and printing. */
#include "base/diag.h"

#include <string.h>

/* A hostile file can break in more places than anyone reads. */
enum { MOST_KEPT = 20 };

void diag_add(Diags *diags, DiagKind kind, DiagText text) {
    size_t kept = 0;
    for (int k = 0; k <= DIAG_NO_FIT; k++) {
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

s0_status diags_status(const Diags *diags) {
    if (diags->count[DIAG_ERROR] > 0) {
        return S0_BAD_INPUT;
    }
    if (diags->count[DIAG_REFUSED] > 0) {
        return S0_REFUSED;
    }
    return diags->count[DIAG_NO_FIT] > 0 ? S0_NO_FIT : S0_DONE;
}

bool diags_failed(const Diags *diags) {
    return diags_status(diags) != S0_DONE;
}

/* Tabs go into the caret's line too, so that it stands where it should. */
static void print_excerpt(Str excerpt, uint32_t column, FILE *out) {
    fprintf(out, "  " STR_FMT "\n  ", STR_ARG(excerpt));
    for (size_t i = 0; i + 1 < column; i++) {
        bool is_inside_character = i < excerpt.len && (excerpt.ptr[i] & 0xC0) == 0x80;
        if (!is_inside_character) {
            fputc(i < excerpt.len && excerpt.ptr[i] == '\t' ? '\t' : ' ', out);
        }
    }
    fputs("^\n", out);
}

static void print_diag(const Diag *diag, const char *prefix, FILE *out) {
    static const char *const kind_name[] = {
        [DIAG_WARNING] = "warning", [DIAG_ERROR] = "error", [DIAG_REFUSED] = "refused", [DIAG_NO_FIT] = "does not fit"};
    const DiagText *text = &diag->text;
    if (prefix != NULL && prefix[0] != '\0') {
        fprintf(out, "%s: ", prefix);
    }
    fprintf(out, "%s: ", kind_name[diag->kind]);
    if (diag->file != NULL && (text->place == NULL || strcmp(diag->file, text->place) != 0)) {
        fprintf(out, "%s: ", diag->file);
    }
    if (text->place != NULL) {
        fprintf(out, "%s: ", text->place);
    }
    if (text->node.len > 0) {
        bool is_quoted = text->node.ptr[0] == '\'';
        fprintf(out, is_quoted ? "node " STR_FMT ": " : "node '" STR_FMT "': ", STR_ARG(text->node));
    }
    if (text->tensor.len > 0) {
        fprintf(out, "tensor '" STR_FMT "': ", STR_ARG(text->tensor));
    }
    fprintf(out, "%s\n", text->what);
    if (text->excerpt.len > 0) {
        print_excerpt(text->excerpt, text->column, out);
    }
    if (text->got != NULL) {
        fprintf(out, "  got       %s\n", text->got);
    }
    if (text->expected != NULL) {
        fprintf(out, "  expected  %s\n", text->expected);
    }
    for (const char *const *reading = text->readings; reading != NULL && *reading != NULL; reading++) {
        fprintf(out, "  reading   %s\n", *reading);
    }
    if (text->hint != NULL) {
        fprintf(out, "  do        %s\n", text->hint);
    }
}

void diags_print(const Diags *diags, const char *prefix, FILE *out) {
    size_t all = 0;
    size_t printed = 0;
    for (const Diag *diag = diags->first; diag != NULL; diag = diag->next) {
        print_diag(diag, prefix, out);
        printed++;
    }
    for (int kind = 0; kind <= DIAG_NO_FIT; kind++) {
        all += diags->count[kind];
    }
    if (all > printed) {
        fprintf(out, "(%zu more of the same kinds)\n", all - printed);
    }
}
