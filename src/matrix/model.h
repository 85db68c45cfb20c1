/* A cell as something to plan: a network as text, a device as text, options, and the numbers of its parameters.
 *
 *     x --RELU6--> p --MUL s--> t --ADD b--> y          bypass: p --RELU_N1_TO_1--> z
 * The parameters have one number a channel; in the form `scalar` one for all. Numbers come from a hash of where they
 * stand. */
#ifndef S0_MATRIX_MODEL_H
#define S0_MATRIX_MODEL_H

#include "base/work.h"
#include "matrix/axes.h"
#include "plan/plan.h"

/* Two constants: factors and addends, as they are stored. */
enum { MATRIX_SCALE, MATRIX_BIAS, MATRIX_PARAMS };

typedef struct {
    DType dtype;
    uint64_t n, c, h, w;
    uint64_t param_count;           /* numbers of a parameter: c or 1 */
    uint64_t *param[MATRIX_PARAMS]; /* their codes, or bits of floats */
    Span input;                     /* packed, in the order N H W C of the file */
    Str graph, device;
    PlanOptions options;
} MatrixModel;

void matrix_model(const MatrixCell *cell, Work *work, MatrixModel *model);

#endif
