/* Banks: buffers that go into several memories, each with its capacity and its price.
 *
 * What a buffer costs is its bytes times the price of a byte of its bank. The assignment that costs least is sought,
 * and then offsets in each bank. It is proven to be the cheapest only where the search over assignments was exhausted,
 * which is tried for small problems; beyond, buffers spill from each bank to the next by rule (banks_spill.c).
 * Everything is counted in work, so that the answer repeats; of buffers in another order it costs the same where it is
 * proven. */
#ifndef S0_BANKS_BANKS_H
#define S0_BANKS_BANKS_H

#include "solver/solver.h"

typedef struct {
    uint64_t capacity;    /* bytes; UINT64_MAX where there is none */
    uint64_t align_bytes; /* at least 1: offsets are multiples of it, ends round up */
    uint64_t price;       /* of a byte */
} Bank;

enum { BANK_ANY = INT32_MAX };

typedef struct {
    const Bank *bank;
    uint32_t bank_count; /* at least 1 */
    SolverBuffer *buffer;
    uint32_t *where; /* in: the bank that each must be in, or BANK_ANY; out: the bank that it is in */
    size_t count;
    SolverOptions options; /* but capacity and align_bytes, which banks have; all share clock and nodes */
} BanksProblem;

typedef struct {
    SolverOutcome outcome; /* infeasible: no assignment and no offsets are within the capacities */
    bool is_placed;        /* all have banks and offsets, within the capacities or not */
    SolverResult *bank;    /* of each bank; its culprits are numbered among its buffers */
    uint64_t cost;         /* sum of bytes times price */
    bool is_cheapest;      /* proven, or there was no choice */
    const char *how;       /* buffers were assigned: "given", "search", "spill" */
    uint64_t nodes;
    size_t *culprit; /* as in SolverResult; none where none was found within the work that is spent on it, or among
                        more buffers than an assignment is searched for */
    size_t culprit_count;
    bool is_least; /* as in SolverResult */
} BanksResult;

/* Writes offsets and banks. False where a sum of sizes or prices does not fit 64 bits: what is written then is of no
 * use. */
bool banks_run(const BanksProblem *problem, Arena *keep, Arena *scratch, BanksResult *result);

#endif
