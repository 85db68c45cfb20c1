/* Inside banks: does a set fit, and the two ways to an assignment. */
#ifndef S0_BANKS_BANKS_INNER_H
#define S0_BANKS_BANKS_INNER_H

#include "banks/banks.h"

typedef struct {
    const BanksProblem *problem;
    uint32_t *order; /* of the banks: by price, then as they are given */
    Arena *scratch;
    uint64_t nodes;       /* that were spent so far */
    uint64_t deadline_ms; /* a reading of race_clock_ms; 0: none */
    bool has_overflowed;  /* a sum did not fit 64 bits: everything ends */
} Banks;

typedef enum { FIT_YES, FIT_NO, FIT_UNKNOWN } Fit;

/* May `buffer` be in that bank, were it alone there? */
bool banks_allow(const Banks *banks, uint32_t bank, const SolverBuffer *buffer);

/* What is left of the clock, at least 1; 0 where it sets no limit. */
uint64_t banks_ms_left(const Banks *banks);

/* Do these buffers fit into that bank? By a search of a fixed number of nodes, of one where none are left. `culprits`
 * may be null; otherwise, of FIT_NO, a set of buffers that do not fit together, by bits: there are at most
 * BANKS_MOST_SEARCHED. */
Fit banks_fit(Banks *banks, uint32_t bank, const size_t *member, size_t count, uint64_t *culprits);

/* The nodes that assigning may still take: half of what is asked for, so that offsets can be sought too. */
uint64_t banks_nodes_left(const Banks *banks);

/* False where there is none of 64 bits. */
bool banks_cost(const Banks *banks, const uint32_t *where, uint64_t *cost);

/* Spills: each bank in turn keeps what it has room for. False where the last has no room for what is left. */
bool banks_spill(Banks *banks, uint32_t *where);

enum { BANKS_MOST_SEARCHED = 64 };

typedef struct {
    uint64_t skipped; /* in: buffers to be left out, by bits */
    bool is_found;    /* in and out: `where` holds an assignment of that cost */
    uint64_t cost;
    uint32_t *where;
    bool is_exhausted; /* out: there is none that costs less */
} BanksSearch;

/* Branch and bound over assignments of at most BANKS_MOST_SEARCHED buffers. */
void banks_search(Banks *banks, BanksSearch *search);

#endif
