/* Growth: what a file holds at least for what goes, and what it needs for what comes.
 *
 * A model never grows: bytes that come, with the names they come under, less bytes that go are at most 0. Of what goes
 * the least that it can take is counted, so the file is never larger than that says. */
#ifndef S0_AFFINE_GROWTH_H
#define S0_AFFINE_GROWTH_H

#include "affine/rewrite.h"

/* What the model's own file holds at least of a constant's bytes, which may lie in another one. */
uint64_t growth_stored_bytes(const Value *value);

/* What a file holds for a constant of `bytes` under a name. */
uint64_t growth_tensor_bytes(const Rewriter *rw, uint64_t bytes, Str name);

/* Bytes of its own data that the file gives up when `id` goes: none where something else in the file has the same. */
uint64_t growth_data_bytes(const Rewriter *rw, ValueId id);

/* What a node holds for the name of what it reads or writes. */
uint64_t growth_name_bytes(const Rewriter *rw, Str name);

/* At least what a file holds for a node; its own name and its attributes are left out. */
uint64_t growth_node_bytes(const Rewriter *rw, const Node *node);

/* Bytes that go when nobody reads `id` any more: its own, or its maker's with what only the maker reads. */
uint64_t growth_freed_with(const Rewriter *rw, ValueId id);

/* Bytes that go with a node: its own, and those of constants that only it reads. */
uint64_t growth_freed_with_node(const Rewriter *rw, const Node *node);

#endif
