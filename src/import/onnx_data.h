/* The elements of a TensorProto: where they stand and how many bytes they must be. */
#ifndef S0_IMPORT_ONNX_DATA_H
#define S0_IMPORT_ONNX_DATA_H

#include "import/external.h"
#include "import/onnx.h"

/* A TensorProto without its elements. */
typedef struct {
    Str node, name; /* for messages */
    const uint8_t *at;
    Span message;
    DType dtype;
    Shape shape;
    bool has_raw, is_external;
    Span raw;
    uint32_t data_field; /* the typed field that holds elements, 0 where none does */
    uint64_t data_count; /* its entries */
    Span chunk;          /* the last packed field of them; empty where entries stand one by one */
    ExternalData external;
} OnnxTensor;

/* Reads the constant's bytes. False with a diagnostic that states both sizes where they differ. */
bool onnx_read_data(Onnx *onnx, const OnnxTensor *tensor, Const *constant);

bool onnx_tensor_error(const Onnx *onnx, const OnnxTensor *tensor, DiagText text);

#endif
