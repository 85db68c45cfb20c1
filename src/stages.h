/* The stages of one compile, in order, on one page: stages.c. The command line and the public API both run them. */
#ifndef S0_STAGES_H
#define S0_STAGES_H

#include "emit/emit.h"
#include "import/import.h"
#include "ledger/audit.h"
#include "ledger/diff.h"
#include "ledger/simplification.h"

/* What the user asked for, as request_read reads it. */
typedef struct {
    const char *model;  /* path */
    const char *device; /* name of a preset, or path */
    DimBinding *dims;
    size_t dim_count;
    LayoutBinding *layouts;
    size_t layout_count;
    bool qdq_float; /* Quantize/Dequantize as written, not as integer operators */
    bool as_filed;  /* no rewrites before planning */
    SimplifyOptions simplify;
    PlanOptions plan;
} Request;

/* Import to names: the graph as it is understood. Null with diagnostics in `work`. `files` must be closed whatever
 * comes back, and also where memory runs out; the graph borrows from them. */
Graph *stages_understand(const Request *request, ModelFiles *files, Work *work);

/* All stages of a plan. Null with diagnostics; a plan that does not fit is a result: see plan_fits. */
const Facts *stages_plan(const Request *request, ModelFiles *files, Work *work);

/* All stages of a simpler model, whose bytes are `*out`; the device is for the peaks that are told. Null with
 * diagnostics. */
const Simplification *stages_simplify(const Request *request, ModelFiles *files, Work *work, Span *out);

/* What `stride0 run` asks for beside a plan. */
typedef struct {
    Str name; /* of the tensor */
    const char *path;
} RunFile;

typedef struct {
    const char *node;      /* cut its chain out of the network; null: all of it */
    const char *semantics; /* the reference's name; null: the first of the model's format */
    uint64_t seed;
    RunFile *inputs, *expected; /* of inputs; of outputs, to be compared */
    size_t input_count, expected_count;
    HostTolerance tolerance; /* of what is expected */
} RunOptions;

typedef struct {
    const Facts *facts;
    const Audit *audit; /* null where the plan does not fit */
} Run;

/* All stages of a plan, then its program on the simulated device. Null with diagnostics. */
const Run *stages_run(const Request *request, const RunOptions *options, ModelFiles *files, Work *work);

/* A side of a comparison: a model with options, or a plan that a file holds. */
typedef struct {
    bool has_request;
    Request request;  /* of a plan in a file: what was asked for, where that is known */
    const Side *side; /* of a plan in a file; null of a model */
} DiffSource;

/* Plans A, then B's model with A's options, then option after option of B, and says what each change did to the peak.
 * Where B is a plan in a file nothing between is planned. Null with diagnostics, which are B's, or A's where A could
 * not be planned. */
const Diff *stages_diff(const DiffSource *a, const DiffSource *b, ModelFiles *files, Work *work);

#endif
