/* The kernels of codes of 8 and 4 bits, for the tables of affine.h. */
#ifndef S0_KERN_CODES8_H
#define S0_KERN_CODES8_H

#include "kern/affine.h"

/* What bytes need beside the form. A constant where a form is applied: what is not wanted costs nothing. */
enum {
    S0_FLIPS = 1,  /* x or y are uint8 */
    S0_LIMITS = 2, /* fewer codes than int8 has */
};

static inline int s0_flags8(const S0Bytes *codes) {
    int flips = (codes->x_flip | codes->y_flip) != 0;
    int limits = ((codes->lo ^ INT8_MIN) | (codes->hi ^ INT8_MAX)) != 0;
    return flips * S0_FLIPS + limits * S0_LIMITS;
}

/* Whether products mend the results of single codes. */
static inline int s0_has_odd(const S0Products8 *products) {
    return products->odd_code != 0 && products->odd_step != 0;
}

typedef void S0Product8(const S0Rows *rows, const S0Products8 *products);

/* The plane of channel number c by the kernel of one. */
static inline void s0_plane_of8(const S0Rows *first, size_t plane_bytes, const S0Products8 *products, size_t c,
                                S0Product8 *kernel) {
    S0Rows rows = *first;
    S0Products8 one = *products;
    rows.x = (const char *)rows.x + c * plane_bytes;
    rows.y = (char *)rows.y + c * plane_bytes;
    one.channels = 1;
    one.multiplier += c;
    one.addend += c;
    one.divisor += c;
    if (s0_has_odd(products)) {
        one.odd_code += c;
        one.odd_step += c;
    }
    kernel(&rows, &one);
}

/* One after the other. */
static inline void s0_each_plane8(const S0Rows *first, size_t plane_bytes, const S0Products8 *products,
                                  S0Product8 *kernel) {
    for (size_t c = 0; c < products->channels; c++) {
        s0_plane_of8(first, plane_bytes, products, c, kernel);
    }
}

void s0_product8_portable(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_portable(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_portable(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_portable(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_portable(const S0Rows *rows, const S0Tables4 *tables);

/* The halves that odd rows leave over. */
static inline void s0_finish_rows4(const S0Rows *rows, const S0Tables4 *tables) {
    const size_t whole_bytes = rows->columns / 2;
    S0Rows halves = *rows;
    if (rows->columns % 2 != 0) {
        halves.x = (const char *)rows->x + whole_bytes;
        halves.y = (char *)rows->y + whole_bytes;
        halves.columns = 1;
        s0_table4_portable(&halves, tables);
    }
}

#if defined(__x86_64__)
void s0_product8_avx2(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_avx2(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_avx2(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_avx2(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_avx2(const S0Rows *rows, const S0Tables4 *tables);

void s0_product8_avx512(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_avx512(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_avx512(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table8_avx512(const S0Rows *rows, const S0Tables8 *tables);
void s0_table4_avx512(const S0Rows *rows, const S0Tables4 *tables);
#endif

#if defined(__aarch64__)
void s0_product8_neon(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_neon(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_neon(const S0Rows *rows, const S0Rounds8 *rounds);
void s0_table4_neon(const S0Rows *rows, const S0Tables4 *tables);
#endif

#if defined(__ARM_FEATURE_MVE)
void s0_product8_helium(const S0Rows *rows, const S0Products8 *products);
void s0_product8_planes_helium(const S0Rows *first, size_t plane_bytes, const S0Products8 *products);
void s0_round8_helium(const S0Rows *rows, const S0Rounds8 *rounds);
#endif

#endif
