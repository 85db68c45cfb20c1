/* How the elements of one tensor differ from those of another. */
#ifndef S0_HOST_DIFFERENCE_H
#define S0_HOST_DIFFERENCE_H

#include "host/host.h"

/* What elements may differ by, in the one way or the other. */
typedef struct {
    uint64_t steps; /* codes, or ulp of floats */
    double apart;   /* floats: as numbers; 0: not by that */
} HostTolerance;

typedef struct {
    uint64_t elements;
    uint64_t different; /* by more than the tolerance */
    uint64_t first;     /* of those; 0 where there is none */
    uint64_t largest;   /* difference of all elements, in codes or ulp, but of a number and a NaN */
    double apart;       /* of floats the largest as numbers; else 0 */
    bool has_nan;       /* one tensor has a NaN where the other has a number: no tolerance allows that */
} HostDifference;

/* needs   a tensor whose packed elements both are
 * Integers differ by codes, floats by ulp: the numbers of their type from one to the other, of which 0 and -0 are two.
 * All NaNs are the same. Of a complex number the part that differs more counts. */
HostDifference host_difference(const HostTensor *tensor, Span got, Span expected, HostTolerance tolerance);

/* Of two codes of one type, which is no complex one: the numbers of the type from one to the other. */
uint64_t host_distance(DType dtype, uint64_t a, uint64_t b);

/* Element `k` of packed ones for people: "-3", "0.300000012", "(1, 2)". */
const char *host_element_text(const HostTensor *tensor, Span packed, uint64_t k, Arena *arena);

/* Where element `k` is: "[0,3,4,5]". */
const char *host_index_text(const Shape *shape, uint64_t k, Arena *arena);

/* "codes" or "ulp" */
const char *host_difference_unit(DType dtype);

#endif
