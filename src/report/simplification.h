/* The report of `stride0 simplify`. */
#ifndef S0_REPORT_SIMPLIFICATION_H
#define S0_REPORT_SIMPLIFICATION_H

#include "ledger/simplification.h"

#include <stdio.h>

/* What vanished, by which rules, and what stays and why; lines of at most `columns`. Same facts, same bytes. */
void report_simplification(const Simplification *facts, uint32_t columns, Arena *scratch, FILE *out);

/* The same in full, as one JSON object. */
void report_simplification_json(const Simplification *facts, FILE *out);

#endif
