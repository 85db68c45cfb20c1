/* What must hold between the values of a device file: what no key can say alone. */
#ifndef S0_DEVICE_TOGETHER_H
#define S0_DEVICE_TOGETHER_H

#include "device/device.h"

/* The dimensions that tensors of a role have: "N C H W" or "O I H W". */
const char *device_role_dims(Role role);
bool device_role_has(Role role, Dim dim);

/* True where a case of the contract names the dimension. */
bool device_contract_names(const Contract *contract, Dim dim);

/* Finds local and backing memory; false with an error for each that is missing. Where the kind is not known, only local
 * memory is looked for. */
bool device_find_memories(Work *work, Device *device, bool is_kind_known);

/* False with an error for each thing that can never work:
 *
 *     a memory is smaller than its alignment
 *     a contract has more banks than `local` has lanes: the excess would lie nowhere
 *     a contract names no channel dimension of its role: it would hold no tensor of more than one channel
 *     the engine can read no form of a parameter
 *     the alignment of an operator is no power of two, or has no common multiple with a memory's and a contract's
 *     the DMA's smallest transfer, or its alignment, is above the largest */
bool device_check_together(Work *work, const Device *device);

#endif
