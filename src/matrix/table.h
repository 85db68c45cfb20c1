/* The measured matrix as text: every cell as CSV or JSON, and a summary. */
#ifndef S0_MATRIX_TABLE_H
#define S0_MATRIX_TABLE_H

#include "matrix/run.h"

#include <stdio.h>

/* One line a cell, in the order of their numbers; docs/matrix.md tells the columns. */
void matrix_print_csv(const Matrix *matrix, Arena *arena, FILE *out);
void matrix_print_json(const Matrix *matrix, Arena *arena, FILE *out);

/* How many cells, whether all are equal, and what each value of each axis costs beside the base cell: for a terminal,
 * at most 100 columns. */
void matrix_print_summary(const Matrix *matrix, Arena *arena, FILE *out);

/* docs/matrix.md: what the axes and columns mean, and the summary, in Markdown. */
void matrix_print_document(const Matrix *matrix, Arena *arena, FILE *out);

#endif
