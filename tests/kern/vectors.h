/* Reads numerics-vectors.csv of the shared facts: `operation,argument,...,expected`, one row a line. */
#ifndef TESTS_KERN_VECTORS_H
#define TESTS_KERN_VECTORS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

typedef struct {
    const char *operation;
    const char *cell[12]; /* arguments, then what is expected; a name before '=' is cut off */
    int count;
} VectorRow;

static inline VectorRow vectors_parse(char *line) {
    VectorRow row = {.operation = strtok(line, ",\r\n")};
    char *cell;
    while ((cell = strtok(NULL, ",\r\n")) != NULL) {
        char *value = strchr(cell, '=');
        assert_true(row.count < 12);
        row.cell[row.count++] = value == NULL ? cell : value + 1;
    }
    return row;
}

static inline int32_t vectors_int(const VectorRow *row, int k) {
    assert_true(k < row->count);
    return (int32_t)strtol(row->cell[k], NULL, 10);
}

static inline double vectors_real(const VectorRow *row, int k) {
    assert_true(k < row->count);
    return strtod(row->cell[k], NULL);
}

/* Runs `check` on every row, which returns whether the row was one of its own; returns how many were. */
static inline int vectors_run(int (*check)(const VectorRow *row)) {
    if (S0_SHARED_DIR[0] == '\0') {
        print_message("SKIPPED: facts/numerics-vectors.csv of S0_SHARED is not here\n");
        skip();
    }
    FILE *file = fopen(S0_SHARED_DIR "/facts/numerics-vectors.csv", "r");
    assert_non_null(file);
    char line[256];
    int rows = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (line[0] != '#') {
            VectorRow row = vectors_parse(line);
            rows += check(&row);
        }
    }
    (void)fclose(file);
    return rows;
}

#endif
