/* Chains: runs of per-channel operators, each of which reads the one before and nobody else does. */
#ifndef S0_PLAN_CUT_H
#define S0_PLAN_CUT_H

#include "node/stages.h"

/* needs   what plan_make needs
 * Leaves of the main block only the longest chain that contains the node: what it reads from others becomes an input,
 * what it gives the output. False with `why` where the node is no per-channel operator. */
bool plan_cut_chain(Graph *graph, NodeId id, Work *work, const char **why);

/* The first nodes of chains, in the order of the graph; returns how many, `most` at most. */
uint32_t plan_find_chains(const Graph *graph, NodeId *first, uint32_t most, Arena *scratch);

#endif
