/* Which reference a quantised operator computes like. The table is kern/semantics.def, its manual docs/semantics.md.
 *
 * An integer model does not say how its kernels round, and the kernels differ by one code: so every stage, proof and
 * generated kernel names its reference. Sets of references are bit masks of S0_SEM_BIT. */
#ifndef S0_KERN_SEMANTICS_H
#define S0_KERN_SEMANTICS_H

#include "kern/fixed.h"

#include <stdbool.h>
#include <stddef.h>

typedef enum {
#define SEMANTICS(id, name, format, rounding, product) S0_SEM_##id,
#include "kern/semantics.def"
#undef SEMANTICS
    S0_SEM_COUNT
} Semantics;

typedef enum {
    S0_FORMAT_TFLITE,
    S0_FORMAT_ONNX,
} S0Format;

typedef enum {
    S0_PRODUCT_F64,
    S0_PRODUCT_F32,
} S0Product;

#define S0_SEM_BIT(semantics) (UINT32_C(1) << (semantics))

const char *s0_semantics_name(Semantics semantics); /* "tflite-double" */
S0Format s0_semantics_format(Semantics semantics);
S0Rounding s0_semantics_rounding(Semantics semantics);
S0Product s0_semantics_product(Semantics semantics);

/* False where no reference has the name; `name` need not end in NUL. */
bool s0_semantics_find(const char *name, size_t length, Semantics *semantics);

/* All references of a format: what a certificate holds for unless told otherwise. */
uint32_t s0_semantics_of(S0Format format);

#endif
