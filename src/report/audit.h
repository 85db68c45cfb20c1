/* The report of `stride0 run`. */
#ifndef S0_REPORT_AUDIT_H
#define S0_REPORT_AUDIT_H

#include "ledger/audit.h"

#include <stdio.h>

/* Inputs, outputs, and what was planned beside what was measured; lines of at most `columns`. */
void report_audit(const Facts *facts, const Audit *audit, uint32_t columns, Arena *scratch, FILE *out);

/* The same in full as one JSON object; `audit` is null where the plan does not fit. */
void report_audit_json(const Facts *facts, const Audit *audit, FILE *out);

/* Every fault and difference, with command, node, tensor and byte: nothing where there is none. For standard error. */
void report_audit_faults(const Audit *audit, const char *prefix, FILE *out);

/* Each output that is not what is expected of it. For standard error. */
void report_audit_unexpected(const Audit *audit, const char *prefix, Arena *scratch, FILE *out);

#endif
