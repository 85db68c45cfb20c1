/* Which element types NumPy's format has words for, and the head of such a file. Private to the room. */
#ifndef S0_HOST_NPY_H
#define S0_HOST_NPY_H

#include "host/host.h"

#define NPY_MAGIC "\x93NUMPY"

enum { NPY_MAGIC_BYTES = 6, NPY_VERSION_BYTES = 2 };

typedef struct {
    Str descr;
    Shape shape;
    bool is_fortran;
    size_t data; /* byte at which the elements begin */
} NpyHead;

/* "<f4"; the type in which a tensor of `dtype` is written. Null where the format has none. */
const char *npy_descr(DType dtype);

/* Bits of an element in the file: whole bytes. */
uint32_t npy_bits(DType dtype);

/* May elements of `dtype` be stored so? */
bool npy_holds(Str descr, DType dtype);

/* False with a diagnostic that names the byte. */
bool npy_read_head(Span bytes, Work *work, NpyHead *head);

#endif
