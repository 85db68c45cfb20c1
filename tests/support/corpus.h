/* The model files that stand in and below some folders, in the order of their paths. */
#ifndef TESTS_SUPPORT_CORPUS_H
#define TESTS_SUPPORT_CORPUS_H

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CORPUS_MOST = 4096 };

/* Debian's package of the ONNX project's own test models. */
#define CORPUS_LIBONNX "/usr/share/libonnx-testdata/data"

typedef struct {
    char *path[CORPUS_MOST];
    size_t count;
} Corpus;

static inline int corpus_compare(const void *a, const void *b) {
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static inline bool corpus_walk(Corpus *corpus, const char *path, const char *ending) {
    DIR *folder = opendir(path);
    if (folder == NULL) {
        return false;
    }
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char inner[4096];
        assert_in_range(snprintf(inner, sizeof inner, "%s/%s", path, entry->d_name), 1, sizeof inner - 1);
        if (str_ends(str_from(entry->d_name), str_from(ending))) {
            assert_true(corpus->count < CORPUS_MOST);
            corpus->path[corpus->count++] = strdup(inner);
        } else if (entry->d_name[0] != '.') {
            corpus_walk(corpus, inner, ending);
        }
    }
    closedir(folder);
    return true;
}

/* Adds the files whose names end in `ending`. False where there is no such folder. */
static inline bool corpus_add(Corpus *corpus, const char *folder, const char *ending) {
    bool is_there = corpus_walk(corpus, folder, ending);
    qsort(corpus->path, corpus->count, sizeof corpus->path[0], corpus_compare);
    return is_there;
}

static inline void corpus_free(Corpus *corpus) {
    while (corpus->count > 0) {
        free(corpus->path[--corpus->count]);
    }
}

#endif
