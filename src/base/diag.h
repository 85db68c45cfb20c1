/* Diagnostics: what is wrong with an input, where, what was got, what was expected and what to do.
 *
 * Stages add any number of them and go on where they can; a stage that can't go on returns false. Only the command
 * and the caller of the library print. */
#ifndef S0_BASE_DIAG_H
#define S0_BASE_DIAG_H

#include "base/arena.h"

#include <stdio.h>

typedef enum {
    DIAG_WARNING, /* the result stands, the user should know */
    DIAG_ERROR,   /* S0_BAD_INPUT: the input is malformed or an option is wrong */
    DIAG_REFUSED, /* S0_REFUSED: the input is well-formed, but can't be decided or is not supported */
    DIAG_NO_FIT,  /* S0_NO_FIT */
    DIAG_GREW,    /* S0_NO_FIT too: more is needed than a check allows */
    DIAG_KINDS
} DiagKind;

/* What is unknown stays null or empty. All text lives as long as the arena that made it. */
typedef struct {
    const char *place;           /* file and byte, "line 3 column 7", option: whatever lets the user find it */
    Str node;                    /* name of the node, or its operator and number where it has no name */
    Str tensor;                  /* name of the tensor */
    const char *what;            /* one clause, no full stop: "shapes do not broadcast" */
    const char *got;             /* "[1,3,4]" */
    const char *expected;        /* "[1,3,5] or [1,3,1]" */
    const char *hint;            /* what to do, in the imperative: "pass --dim batch=1" */
    const char *const *readings; /* for a refusal: the readings that are possible, ended by null */
    Str excerpt;                 /* the text it is about, on one line, printed with a caret below … */
    uint32_t column;             /* … this byte, counted from 1; no excerpt, no caret */
    uint32_t line;               /* of `place`, for diags_sort; 0: of none */
} DiagText;

typedef struct Diag Diag;
struct Diag {
    DiagKind kind;
    const char *file; /* that was being read, or null */
    DiagText text;
    Diag *next;
};

typedef struct {
    Arena *arena;     /* where the records live */
    const char *file; /* being read: it stands before the place of what is added; may be null */
    Diag *first, *last;
    size_t count[DIAG_KINDS];
} Diags;

void diag_add(Diags *diags, DiagKind kind, DiagText text);

/* Convenience for stages: adds and returns false, so that `return diag_error(...)` ends the stage. */
bool diag_error(Diags *diags, DiagText text);
bool diag_refuse(Diags *diags, DiagText text);
void diag_warn(Diags *diags, DiagText text);

/* Forgets what was added since `before` was copied from `*diags`. */
void diags_rewind(Diags *diags, Diags before);

/* Puts what was added since `before` was copied from `*diags` in the order of its lines; what has none comes last. */
void diags_sort(Diags *diags, Diags before);

/* Forgets the warnings. */
void diags_drop_warnings(Diags *diags);

bool diags_failed(const Diags *diags);      /* anything worse than a warning? */
s0_status diags_status(const Diags *diags); /* the gravest: error before refusal before what does not fit or grew */

/* One diagnostic a paragraph, each text made harmless (base/clean.h); `prefix` is the program's name or empty. */
void diags_print(const Diags *diags, const char *prefix, FILE *out);

#endif
