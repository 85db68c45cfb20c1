/* The audit: what was planned beside what a run measured, byte by byte and column by column.
 *
 *     declared = used         what workspace reserves, and how far it was used
 *     estimated = touched     distinct bytes that hold elements, of every buffer
 *     reserved = footprint    what a buffer takes, and what the contract gives the tensors that commands address in it
 *     lanes                   that a buffer lies in, and up to which it was touched
 *     booked = measured       bytes, commands, descriptors, bursts and cycles of every column, and cycles in all
 * Whatever is not equal is a difference, and our own fault, as each fault is but FAULT_NUMBER: there the model's own
 * arithmetic has no value for its inputs. */
#ifndef S0_LEDGER_AUDIT_H
#define S0_LEDGER_AUDIT_H

#include "cmd/command.h"
#include "host/difference.h"
#include "ledger/facts.h"
#include "program/program.h"
#include "sim/sim.h"

typedef struct {
    uint64_t bytes, commands, descriptors, bursts, cycles;
} AuditTraffic;

/* What plan_cost books: the engine's columns are one. */
typedef enum {
    AUDIT_LOAD_INPUT,
    AUDIT_LOAD_PARAM,
    AUDIT_COMPUTE,
    AUDIT_STORE,
    AUDIT_COPY,
    AUDIT_FILL,
    AUDIT_COLUMNS,
} AuditColumnId;

/* Bytes are those that are written: of COMPUTE nobody books them, and both are 0. */
typedef struct {
    const char *name; /* "load_input" */
    AuditTraffic booked, measured;
    uint64_t read_bytes, written_bytes; /* of the engine too */
} AuditColumn;

typedef struct {
    const char *what; /* "touched bytes" */
    Str where;        /* of a buffer or a column; empty: of all */
    uint32_t buffer;  /* CMD_NONE */
    uint64_t planned, measured;
} AuditDifference;

/* An input or an output. */
typedef struct {
    HostTensor tensor;
    const char *file; /* of an input that came from one; null: by chance. Of an output: what is expected of it; null */
    Span packed;
    uint64_t unwritten;              /* elements of an output that nobody wrote */
    uint32_t crc32;                  /* of the packed bytes */
    Span expected;                   /* of an output with a file */
    HostDifference difference;       /* to that */
    const char *npy_path, *bin_path; /* to which an output was written; null */
} AuditTensor;

typedef struct {
    Semantics semantics;
    const char *node; /* that the chain was cut out for; null: the whole model */
    uint64_t seed;
    const CmdProgram *program;
    const uint64_t *footprint_bytes; /* of its buffers: see BuiltProgram */
    const SimResult *result;
    uint32_t input_count, output_count;
    AuditTensor *inputs, *outputs; /* in the order of the graph */
    HostTolerance tolerance;       /* of what is expected */

    uint64_t declared_bytes, used_bytes;     /* of workspace */
    uint64_t estimated_bytes, touched_bytes; /* of all buffers */
    AuditColumn column[AUDIT_COLUMNS];
    uint64_t booked_cycles, measured_cycles, booked_syncs, measured_syncs;
    uint32_t difference_count;
    size_t difference_capacity;
    AuditDifference *differences;
    bool is_exact;  /* no difference, and no fault of ours */
    bool has_value; /* the reference has a value for every element */
} Audit;

/* needs   a program of `plan` that has run; the fields above declared_bytes are set
 * Fills the others. */
void audit_gather(Audit *audit, const Plan *plan, Arena *keep);

/* Is every output what is expected of it, where something is? */
bool audit_is_expected(const Audit *audit);

/* The tensor of a value with a whole shape. */
HostTensor audit_tensor(const Graph *graph, ValueId id);

#endif
