/* Reports: views of the facts. */
#ifndef S0_REPORT_REPORT_H
#define S0_REPORT_REPORT_H

#include "ledger/facts.h"

/* The plan as JSON; docs/json.md lists the keys. Same facts, same bytes. */
void report_json(const Facts *facts, Arena *scratch, FILE *out);

typedef struct {
    bool has_color;
    bool has_unicode; /* the drawing may use characters beyond ASCII, in UTF-8 */
    bool lists_all;   /* every row of the lists of sweeps and far maps */
    uint32_t columns; /* of a line, at least 80 */
} TerminalStyle;

/* The plan as one HTML file that needs nothing else: docs/html.md. Same facts, same bytes. */
void report_html(const Facts *facts, Arena *scratch, FILE *out);

/* The ledger for people: does it fit, totals, by kind, the peak and what it is made of, parameters kept compact,
 * largest paddings, a drawing of time and address. Same facts and style, same bytes. */
void report_terminal(const Facts *facts, TerminalStyle style, Arena *scratch, FILE *out);

/* Why the plan does not fit: need, capacity and excess of the memory; for local memory step, node, every live buffer
 * and the next steps that are too large, else the largest constants; remedies. For standard error; `prefix` is
 * the program's name or empty. */
void report_misfit(const Facts *facts, const char *prefix, Arena *scratch, FILE *out);

/* Graph inputs that are overwritten in the same run, and what keeping them would cost; nothing where there are none. */
void report_overwrites(const Facts *facts, Arena *scratch, FILE *out);

/* "Why is this here": all that is known of the buffers of tensor `name`, or of the steps of node `name`. False where
 * nothing has that name; `nearest` is then the nearest name, or empty. */
bool report_why_buffer(const Facts *facts, Str name, Arena *scratch, FILE *out, Str *nearest);
bool report_why_node(const Facts *facts, Str name, Arena *scratch, FILE *out, Str *nearest);

#endif
