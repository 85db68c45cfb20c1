/* One cell: planned, run on the simulated device, and compared with the reference. */
#ifndef S0_MATRIX_MEASURE_H
#define S0_MATRIX_MEASURE_H

#include "base/work.h"
#include "matrix/axes.h"

/* Bytes of one bank, as the layout contract counts them, but for logical bytes. */
typedef struct {
    uint64_t logical_bytes, physical_bytes; /* of the output's map */
    uint64_t peak_live_bytes;               /* of local memory: the most that is alive at once */
    uint64_t workspace_declared_bytes, workspace_used_bytes;
    uint64_t param_bytes;     /* of parameters, in the form that the engine reads: loaded, copied or filled */
    uint64_t far_param_bytes; /* of parameters that transfers carry */
    uint64_t moved_bytes;     /* that transfers carry in all */
    uint64_t transfers, cycles;
    uint64_t max_error_lsb;          /* of codes; of floats in ulp */
    uint32_t output_count, crc32[2]; /* of each output's elements, packed */
    bool is_equal;                   /* bit for bit, and the audit of every byte is exact */
} MatrixRow;

/* False with a diagnostic in `work`: our own fault, a cell that can't be planned or run. */
bool matrix_measure(const MatrixCell *cell, Work *work, MatrixRow *row);

#endif
