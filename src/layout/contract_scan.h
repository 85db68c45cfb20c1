/* Reading a contract's text: tokens, numbers, and errors that point at a column. Private to this room.
 *
 * Invariant: at <= text.len. An `accept` moves on only where it returns true; an `expect` returns false with the error
 * told. */
#ifndef S0_LAYOUT_CONTRACT_SCAN_H
#define S0_LAYOUT_CONTRACT_SCAN_H

#include "layout/contract_case.h"

typedef struct {
    Arena *arena;
    Str text;
    size_t at; /* the next byte */
    ContractError *error;
} Scan;

void scan_space(Scan *scan);
char scan_peek(const Scan *scan); /* NUL at the end, and for a NUL */
bool scan_is_end(const Scan *scan);

bool scan_accept(Scan *scan, const char *token);     /* these bytes */
bool scan_accept_word(Scan *scan, const char *word); /* these letters, and no letter or digit behind them */
bool scan_accept_dim(Scan *scan, Dim *dim);
bool scan_expect_number(Scan *scan, uint64_t smallest, uint64_t *number);

/* False, always. `got` is what stands at `at`, up to the next white space. */
bool scan_error(Scan *scan, size_t at, const char *what, const char *expected);

/* The text of [begin, end), fit to be printed: bytes that are not printable ASCII become '?', a long text is cut. */
const char *scan_quote(Scan *scan, size_t begin, size_t end);

/* The parts of the grammar that have files of their own. */
bool guard_parse(Scan *scan, Guard *guard);               /* behind 'when', up to and with ':' */
bool contract_check_case(Scan *scan, ContractCase *item); /* rule 5; fills chain and names */

#endif
