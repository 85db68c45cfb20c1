/* Every cell of the matrix as CSV or JSON. */
#include "matrix/table.h"

#include "base/json.h"
#include "matrix/model.h"

#include <inttypes.h>

typedef struct {
    const char *name;
    size_t offset; /* of a uint64_t of a row */
} Figure;

static const Figure figures[] = {
    {"logical_bytes", offsetof(MatrixRow, logical_bytes)},
    {"physical_bytes", offsetof(MatrixRow, physical_bytes)},
    {"peak_live_bytes", offsetof(MatrixRow, peak_live_bytes)},
    {"workspace_declared_bytes", offsetof(MatrixRow, workspace_declared_bytes)},
    {"workspace_used_bytes", offsetof(MatrixRow, workspace_used_bytes)},
    {"param_bytes", offsetof(MatrixRow, param_bytes)},
    {"transfers", offsetof(MatrixRow, transfers)},
    {"cycles", offsetof(MatrixRow, cycles)},
    {"max_error_lsb", offsetof(MatrixRow, max_error_lsb)},
};
enum { FIGURES = sizeof figures / sizeof *figures };

static uint64_t figure_of(const MatrixRow *row, size_t k) {
    return *(const uint64_t *)(const void *)((const char *)row + figures[k].offset);
}

/* The contract stands with its full text. */
static const char *value_of(const MatrixCell *cell, MatrixAxis axis, Arena *arena) {
    return axis == AXIS_CONTRACT ? matrix_contract(cell, arena) : matrix_word(cell, axis);
}

void matrix_print_csv(const Matrix *matrix, Arena *arena, FILE *out) {
    for (int k = 0; k < MATRIX_AXES; k++) {
        fprintf(out, "%s,", matrix_words[k].name);
    }
    for (size_t k = 0; k < FIGURES; k++) {
        fprintf(out, "%s,", figures[k].name);
    }
    fputs("equal\n", out);
    for (uint32_t at = 0; at < matrix->count; at++) {
        const MatrixCell cell = matrix_cell(matrix->number[at]);
        for (MatrixAxis k = 0; k < MATRIX_AXES; k++) {
            fprintf(out, "%s,", value_of(&cell, k, arena));
        }
        for (size_t k = 0; k < FIGURES; k++) {
            fprintf(out, "%" PRIu64 ",", figure_of(&matrix->row[at], k));
        }
        fprintf(out, "%d\n", matrix->row[at].is_equal);
        arena_reset(arena);
    }
}

static void print_cell(Json *json, const MatrixCell *cell, const MatrixRow *row, Arena *arena) {
    json_object_inline(json);
    for (MatrixAxis k = 0; k < MATRIX_AXES; k++) {
        uint64_t number;
        if (k == AXIS_ALIGN && str_to_u64(str_from(matrix_word(cell, k)), &number)) {
            json_member_u64(json, matrix_words[k].name, number);
        } else {
            json_member_text(json, matrix_words[k].name, value_of(cell, k, arena));
        }
    }
    for (size_t k = 0; k < FIGURES; k++) {
        json_member_u64(json, figures[k].name, figure_of(row, k));
    }
    json_member_u64(json, "far_param_bytes", row->far_param_bytes);
    json_member_u64(json, "moved_bytes", row->moved_bytes);
    json_key(json, "crc32");
    json_array_inline(json);
    for (uint32_t k = 0; k < row->output_count; k++) {
        json_text(json, arena_text(arena, "%08" PRIx32, row->crc32[k]));
    }
    json_end(json);
    json_member_bool(json, "equal", row->is_equal);
    json_end(json);
}

void matrix_print_json(const Matrix *matrix, Arena *arena, FILE *out) {
    Json json;
    json_init(&json, out);
    json_object(&json);
    json_member_u64(&json, "schema", 1);
    json_member_text(&json, "subset", matrix->is_all ? "all" : "pairs");
    json_member_u64(&json, "cells", matrix->count);
    json_member_u64(&json, "equal_cells", matrix->equal_count);
    json_member_u64(&json, "left_out_cells", matrix->left_out);
    json_key(&json, "rows");
    json_array(&json);
    for (uint32_t at = 0; at < matrix->count; at++) {
        const MatrixCell cell = matrix_cell(matrix->number[at]);
        print_cell(&json, &cell, &matrix->row[at], arena);
        arena_reset(arena);
    }
    json_end(&json);
    json_end(&json);
}
