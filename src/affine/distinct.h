/* Distinct claims: channels with the same stages on both sides and the same domain are proven once. */
#ifndef S0_AFFINE_DISTINCT_H
#define S0_AFFINE_DISTINCT_H

#include "affine/proof.h"

/* For each claim the first that equals it, by stage_eq: itself where there is none before. The hash of equal claims
 * is equal. */
uint64_t distinct_hash(const Claim *claim);
uint32_t *distinct_claims(const Claim *claim, uint32_t count, Arena *arena);

#endif
