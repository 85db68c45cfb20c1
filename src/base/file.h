/* Files: mapped for reading, written beside and renamed. */
#ifndef S0_BASE_FILE_H
#define S0_BASE_FILE_H

#include "base/diag.h"

#include <stdio.h>

typedef struct {
    Span bytes; /* of the whole file; an empty file has a null ptr */
    void *mapping;
} FileMap;

/* Maps a regular file read-only. False with a diagnostic that names `path` and the system's reason. */
bool file_map(FileMap *map, const char *path, Diags *diags);
void file_unmap(FileMap *map);

/* Do both paths lead to one file that exists? A terminal or a null device holds nothing and is none. */
bool file_is_same(const char *a, const char *b);

/* Is there a regular file of that name? */
bool file_is_regular(const char *path);

/* Would both be written into one file, be it there or not? Through links, also those that lead to nothing yet. */
bool file_is_same_target(const char *a, const char *b, Arena *arena);

/* A file that appears whole or not at all: write to `stream`, then commit; abandon removes what was written. A link
 * leads to the file that is replaced, or made where there is none, and the new one takes its mode. */
typedef struct {
    FILE *stream;
    const char *path;
    const char *temporary; /* null where `path` is a device or a pipe, which is written in place */
} FileOut;

bool file_out_open(FileOut *out, const char *path, Diags *diags);
bool file_out_commit(FileOut *out, Diags *diags); /* flushes, checks for write errors, renames */
void file_out_abandon(FileOut *out);

#endif
