#!/usr/bin/env python3
"""Prints the constants of ONNX models as the onnx package reads them, to compare with what the importer made of them.

A line a constant: file, name, dtype, shape, CRC-32 of the little-endian bytes, sub-byte elements packed low bits first.
Initializers and tensor values of Constant nodes of the main graph; strings and sparse tensors have no bytes and are
left out. Usage: onnx_constants.py MODEL...; exit status 77 where the onnx package is not installed."""
import sys
import zlib

try:
    import numpy
    import onnx
    from onnx import TensorProto, numpy_helper
except ImportError:
    print("skipped: the onnx package is not installed", file=sys.stderr)
    sys.exit(77)

DTYPES = {
    "FLOAT": "float32", "FLOAT16": "float16", "BFLOAT16": "bfloat16", "DOUBLE": "float64", "BOOL": "bool",
    "COMPLEX64": "complex64", "COMPLEX128": "complex128", "INT8": "int8", "UINT8": "uint8", "INT16": "int16",
    "UINT16": "uint16", "INT32": "int32", "UINT32": "uint32", "INT64": "int64", "UINT64": "uint64",
}


def line(path, name, tensor):
    dtype = DTYPES.get(TensorProto.DataType.Name(tensor.data_type))
    if dtype is None:
        return None
    if tensor.data_type == TensorProto.BFLOAT16 and not tensor.HasField("raw_data"):
        array = numpy.array(tensor.int32_data, numpy.uint16)
    elif tensor.HasField("raw_data"):
        array = numpy.frombuffer(tensor.raw_data, numpy.uint8)
    else:
        array = numpy_helper.to_array(tensor)
    if array.dtype.byteorder == ">":
        array = array.astype(array.dtype.newbyteorder("<"))
    shape = "[" + ",".join(str(d) for d in tensor.dims) + "]"
    return "\t".join([path, name, dtype, shape, "%08x" % zlib.crc32(array.tobytes())])


def lines(path):
    graph = onnx.load(path).graph
    for tensor in graph.initializer:
        yield line(path, tensor.name, tensor)
    for node in graph.node:
        for attribute in node.attribute if node.op_type == "Constant" else []:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield line(path, node.output[0], attribute.t)


if __name__ == "__main__":
    for model in sys.argv[1:]:
        try:
            print("\n".join(text for text in lines(model) if text is not None))
        except Exception as error:  # a model the package can't read is no evidence either way
            print("%s: %s" % (model, error), file=sys.stderr)
