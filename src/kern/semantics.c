/* The table of references. See semantics.h. */
#include "kern/semantics.h"

typedef struct {
    const char *name;
    S0Format format;
    S0Rounding rounding;
    S0Product product;
} Row;

static const Row rows[S0_SEM_COUNT] = {
#define SEMANTICS(id, name, format, rounding, product)                                                                 \
    [S0_SEM_##id] = {name, S0_FORMAT_##format, S0_ROUND_##rounding, S0_PRODUCT_##product},
#include "kern/semantics.def"
#undef SEMANTICS
};

const char *s0_semantics_name(Semantics semantics) {
    return rows[semantics].name;
}

S0Format s0_semantics_format(Semantics semantics) {
    return rows[semantics].format;
}

S0Rounding s0_semantics_rounding(Semantics semantics) {
    return rows[semantics].rounding;
}

S0Product s0_semantics_product(Semantics semantics) {
    return rows[semantics].product;
}

static bool is_name(const char *known, const char *name, size_t length) {
    for (size_t i = 0; i < length; i++) {
        if (known[i] == '\0' || known[i] != name[i]) {
            return false;
        }
    }
    return known[length] == '\0';
}

bool s0_semantics_find(const char *name, size_t length, Semantics *semantics) {
    for (int i = 0; i < S0_SEM_COUNT; i++) {
        if (is_name(rows[i].name, name, length)) {
            *semantics = (Semantics)i;
            return true;
        }
    }
    return false;
}

uint32_t s0_semantics_of(S0Format format) {
    uint32_t set = 0;
    for (int i = 0; i < S0_SEM_COUNT; i++) {
        set |= rows[i].format == format ? S0_SEM_BIT(i) : 0;
    }
    return set;
}
