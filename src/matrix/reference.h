/* What a cell's network means: its operators one after another over whole maps, each element by the stage that its
 * reference defines. Knows nothing of plans, layouts and commands. */
#ifndef S0_MATRIX_REFERENCE_H
#define S0_MATRIX_REFERENCE_H

#include "matrix/model.h"

/* An output's elements: codes, or reals. */
typedef struct {
    int32_t *code;
    float *x;
} MatrixMap;

/* needs   the graph of the model as it is written, with shapes and names
 * Fills y, and z where there is one. Null, or why the reference has no value. */
const char *matrix_reference(const MatrixModel *model, const Graph *graph, Semantics semantics, Arena *arena,
                             MatrixMap *y, MatrixMap *z);

#endif
