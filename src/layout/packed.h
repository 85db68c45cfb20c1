/* Packed elements: one behind the other without padding, each little-endian and low bits first. It is how files hold
 * constants and how the graph keeps them; what a device stores is laid out by a contract (layout/view.h).
 *
 * An element may begin at any bit and cross bytes. Element `index` is bits [index * bits, (index + 1) * bits) of the
 * bytes, which the caller has checked to be there. */
#ifndef S0_LAYOUT_PACKED_H
#define S0_LAYOUT_PACKED_H

#include <stdbool.h>
#include <stdint.h>

/* What `elements` of `bits` each occupy, rounded up once. False where their bits do not fit 64 bits. */
bool packed_bytes(uint64_t elements, uint32_t bits, uint64_t *bytes);

/* `bits` is 1 to 64; what is read has no bits above them. */
uint64_t packed_read(const uint8_t *bytes, uint64_t index, uint32_t bits);

/* Are the `count` elements from `a` on the same bits as those from `b` on? Any width. */
bool packed_same(const uint8_t *bytes, uint32_t bits, uint64_t count, uint64_t a, uint64_t b);

/* Writes the lowest `bits` of `code`; the neighbours keep theirs. */
void packed_write(uint8_t *bytes, uint64_t index, uint32_t bits, uint64_t code);

#endif
