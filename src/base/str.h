/* Strings and byte spans that do not own their bytes. */
#ifndef S0_BASE_STR_H
#define S0_BASE_STR_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Text of `len` bytes, not necessarily ended by NUL. A null `ptr` with len 0 is the empty string. */
typedef struct {
    const char *ptr;
    size_t len;
} Str;

/* Bytes of a file or an arena; read-only and borrowed. */
typedef struct {
    const uint8_t *ptr;
    size_t len;
} Span;

#define STR(literal)                                                                                                   \
    (Str) {                                                                                                            \
        "" literal "", sizeof(literal) - 1                                                                             \
    }
#define STR_FMT    "%.*s"
#define STR_ARG(s) str_printed_bytes(s), (s).ptr

/* printf counts in int: a text of 2 GiB, which only a hostile file has, is printed as none. */
static inline int str_printed_bytes(Str s) {
    return s.len <= INT_MAX ? (int)s.len : 0;
}

Str str_from(const char *text); /* of a NUL-terminated text; null gives the empty string */
bool str_eq(Str a, Str b);
int str_order(Str a, Str b); /* <0, 0, >0 by bytes */
bool str_starts(Str s, Str prefix);
bool str_ends(Str s, Str suffix);
bool str_is_space(char c); /* ASCII white space */
Str str_trim(Str s);       /* without it at either end */

/* Cuts `rest` at the first `separator`: returns what stands before it and leaves what follows; without a separator
 * the whole, and `rest` becomes empty with a null ptr. */
Str str_cut(Str *rest, char separator);

/* Bytes of the well-formed UTF-8 character that `s`, which is not empty, begins with; 0 where there is none (RFC 3629).
 */
size_t str_character(Str s, uint32_t *character);

/* Decimal number of at most 64 bits, all of `s`; false where anything else stands there. */
bool str_to_u64(Str s, uint64_t *number);
bool str_to_i64(Str s, int64_t *number);

/* A byte count: digits and one optional letter K, M or G for 1024 to the power 1, 2, 3. */
bool str_to_bytes(Str s, uint64_t *bytes);

/* FNV-1a of 64 bits; `seed` 0 is the published function. A table that takes names from a file seeds it with what the
 * file can't know, so that no file can be written whose names all fall into one slot. */
uint64_t str_hash(Str s, uint64_t seed);

#endif
