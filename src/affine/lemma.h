/* The unit lemma: what need not be computed input by input, once its side conditions are checked.
 *
 * Both chains only move codes and limit them: x -> min(max(x + shift, lo), hi). A multiplication by one is exact in
 * every integer kernel, limits within limits are their intersection, and two such functions are equal where they are at
 * the ends of the domain and where either starts or ends to move. */
#ifndef S0_AFFINE_LEMMA_H
#define S0_AFFINE_LEMMA_H

#include "affine/proof.h"

/* needs   chain_check of both on the domain
 * False where a chain is not of this kind, or they differ. */
bool lemma_unit(const Chain *before, const Chain *after, const Domain *domain);

#endif
