/* Reports of a comparison: views of a Diff. Same record, same bytes. */
#ifndef S0_REPORT_DIFF_H
#define S0_REPORT_DIFF_H

#include "ledger/diff.h"

/* For people: a waterfall of the causes, the changes one after the other, tensors, outputs. `columns`: of a line, at
 * least 80; no line is longer than 100. */
void report_diff(const Diff *diff, uint32_t columns, Arena *scratch, FILE *out);

/* docs/json.md lists the keys. */
void report_diff_json(const Diff *diff, FILE *out);

#endif
