/* Files of tensors: what a run reads as its inputs and writes as its outputs.
 *
 *     .npy   NumPy's format 1 to 3: little-endian, in C or Fortran order
 *     .pb    an ONNX TensorProto
 *     .bin   the elements packed as models hold them: little-endian, elements below a byte low bits first
 * Inside, a tensor is always its elements packed in C order (layout/packed.h). Files are not trusted: type, shape and
 * size must be those of the tensor they are for, and nothing is allocated by what a file says of itself. */
#ifndef S0_HOST_HOST_H
#define S0_HOST_HOST_H

#include "import/import.h"

/* What a file must hold; the shape has no free dimension, and its bits fit 64 bits. */
typedef struct {
    Str name;
    DType dtype;
    Shape shape;
} HostTensor;

/* "int8 [1,2,3]" for messages. */
const char *host_text(Arena *arena, DType dtype, const Shape *shape);

/* The elements of the file at `path`, whose ending tells its format. False with a diagnostic. `files` keeps it mapped.
 */
bool host_read(const HostTensor *tensor, const char *path, ModelFiles *files, Work *work, Span *packed);

/* The same of bytes in memory that are in NumPy's format. */
bool host_read_npy(const HostTensor *tensor, Span bytes, Work *work, Span *packed);

/* Elements by chance, the same for the same name and seed: integers over the whole range of their codes, floats in
 * [-1,1). */
Span host_seeded(const HostTensor *tensor, uint64_t seed, Arena *arena);

/* Has NumPy's format a word for the type? */
bool host_is_npy(DType dtype);

/* Format 1.0 in C order, of such a type. Elements below a byte become bytes, bfloat16 two raw bytes. */
void host_write_npy(const HostTensor *tensor, Span packed, FILE *out);

/* The name as one of a file, of letters, digits, '.', '_' and '-'; none of `count` names that are `taken`. */
const char *host_file_name(Arena *arena, Str name, const char *const *taken, size_t count);

#endif
