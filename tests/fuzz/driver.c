/* Runs a fuzz target without libFuzzer: on every file of a corpus folder, on cut-off beginnings of each, and on a fixed
 * number of seeded mutations, so that two runs try the same inputs.
 *
 *     fuzz_NAME FOLDER|FILE [MUTATIONS]
 *
 * With FUZZ_KEEP=PATH each input is first written to PATH: after a crash it holds the culprit. */
#include "support/random.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_INPUT_BYTES = 1 << 20, CUTS = 64, DEFAULT_MUTATIONS = 3000, MAX_EDITS = 6 };

typedef struct {
    char *name;
    uint8_t *bytes;
    size_t size;
} Input;

typedef struct {
    Input *input;
    size_t count;
} Corpus;

static void *need(void *memory) {
    if (memory == NULL) {
        perror("driver");
        exit(2);
    }
    return memory;
}

/* In a block of exactly its size, so that AddressSanitizer sees a read past the end. */
static void run_one(const uint8_t *bytes, size_t size) {
    const char *keep = getenv("FUZZ_KEEP");
    if (keep != NULL) {
        FILE *out = need(fopen(keep, "wb"));
        fwrite(bytes, 1, size, out);
        fclose(out);
    }
    uint8_t *exact = need(malloc(size == 0 ? 1 : size));
    memcpy(exact, bytes, size);
    LLVMFuzzerTestOneInput(size == 0 ? exact + 1 : exact, size);
    free(exact);
}

static void add_file(Corpus *corpus, const char *path) {
    FILE *in = need(fopen(path, "rb"));
    Input input = {.name = need(strdup(path)), .bytes = need(malloc(MAX_INPUT_BYTES))};
    input.size = fread(input.bytes, 1, MAX_INPUT_BYTES, in);
    fclose(in);
    corpus->input = need(realloc(corpus->input, (corpus->count + 1) * sizeof *corpus->input));
    corpus->input[corpus->count++] = input;
}

static int by_name(const void *a, const void *b) {
    return strcmp(((const Input *)a)->name, ((const Input *)b)->name);
}

static void add_folder(Corpus *corpus, DIR *folder, const char *path) {
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char file[4096];
        struct stat info;
        snprintf(file, sizeof file, "%s/%s", path, entry->d_name);
        if (stat(file, &info) == 0 && S_ISREG(info.st_mode)) {
            add_file(corpus, file);
        }
    }
    if (corpus->count > 1) {
        qsort(corpus->input, corpus->count, sizeof *corpus->input, by_name);
    }
}

static Corpus read_corpus(const char *path) {
    Corpus corpus = {0};
    DIR *folder = opendir(path);
    if (folder == NULL) {
        add_file(&corpus, path);
    } else {
        add_folder(&corpus, folder, path);
        closedir(folder);
    }
    return corpus;
}

static void run_cuts(const Input *input) {
    for (size_t k = 0; k < CUTS && k < input->size; k++) {
        run_one(input->bytes, input->size * k / CUTS);
        run_one(input->bytes, k);
    }
    run_one(input->bytes, input->size);
}

static const uint8_t telling_bytes[] = {0, 1, 0x7F, 0x80, 0xFF, 0x0A, '-', '9'};

/* Copies a piece of `from` over or into a place of `bytes`. Returns the new size. */
static size_t splice(uint8_t *bytes, size_t size, const Input *from, bool insert, uint64_t *seed) {
    size_t start = (size_t)random_below(seed, from->size);
    size_t length = (size_t)random_below(seed, from->size - start < 64 ? from->size - start : 64) + 1;
    size_t at = (size_t)random_below(seed, size + 1);
    length = length > MAX_INPUT_BYTES - size ? MAX_INPUT_BYTES - size : length;
    if (insert) {
        memmove(bytes + at + length, bytes + at, size - at);
        size += length;
    } else if (length > size - at) {
        length = size - at;
    }
    memcpy(bytes + at, from->bytes + start, length);
    return size;
}

static size_t edit(uint8_t *bytes, size_t size, const Input *other, uint64_t *seed) {
    uint64_t kind = random_below(seed, 6);
    size_t at = size == 0 ? 0 : (size_t)random_below(seed, size);
    if (kind >= 4 && other->size > 0) {
        return splice(bytes, size, other, kind == 5, seed);
    }
    if (size == 0) {
        return 0;
    }
    if (kind == 0) {
        bytes[at] ^= (uint8_t)(1u << random_below(seed, 8));
    } else if (kind == 1) {
        bytes[at] = telling_bytes[random_below(seed, sizeof telling_bytes)];
    } else if (kind == 2) {
        bytes[at] = (uint8_t)random_next(seed);
    } else if (kind == 3) {
        size_t length = (size_t)random_below(seed, 16) + 1;
        length = length > size - at ? size - at : length;
        memmove(bytes + at, bytes + at + length, size - at - length);
        size -= length;
    }
    return size;
}

static void run_mutations(const Corpus *corpus, size_t mutations) {
    uint64_t seed = 20240229;
    uint8_t *bytes = need(malloc(MAX_INPUT_BYTES));
    for (size_t i = 0; i < mutations; i++) {
        const Input *input = &corpus->input[i % corpus->count];
        size_t size = input->size;
        memcpy(bytes, input->bytes, size);
        for (uint64_t edits = random_below(&seed, MAX_EDITS) + 1; edits > 0; edits--) {
            size = edit(bytes, size, &corpus->input[random_below(&seed, corpus->count)], &seed);
        }
        run_one(bytes, size);
    }
    free(bytes);
}

static void free_corpus(Corpus *corpus) {
    for (size_t i = 0; i < corpus->count; i++) {
        free(corpus->input[i].name);
        free(corpus->input[i].bytes);
    }
    free(corpus->input);
}

int main(int argc, char **argv) {
    if (argc < 2) {
        fprintf(stderr, "usage: %s FOLDER|FILE [MUTATIONS]\n", argv[0]);
        return 2;
    }
    Corpus corpus = read_corpus(argv[1]);
    if (corpus.count == 0) {
        fprintf(stderr, "%s: no files\n", argv[1]);
        return 2;
    }
    size_t mutations = argc > 2 ? (size_t)strtoul(argv[2], NULL, 10) : DEFAULT_MUTATIONS;
    for (size_t i = 0; i < corpus.count; i++) {
        run_cuts(&corpus.input[i]);
    }
    run_mutations(&corpus, mutations);
    printf("%zu files, %zu mutations\n", corpus.count, mutations);
    free_corpus(&corpus);
    return 0;
}
