/* From an affine's options to what runs: the page of its stages. */
#ifndef S0_PREPARED_H
#define S0_PREPARED_H

#include "native/native.h"
#include "stride0/stride0.h"

/* False where the options are wrong or the reference has no value, with messages. What `native` points to is in the
 * arena `keep`; the pool is not made. */
bool prepared_read(const s0_affine_options *options, Native *native, s0_affine_facts *facts, Work *work);

#endif
