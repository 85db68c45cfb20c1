#!/usr/bin/env python3
"""Constants of ONNX models as `stride0 inspect` reads them, against the onnx package.

    onnx_constants.py STRIDE0 [SHARED]

Initializers and the tensors of Constant nodes of the main graph: dtype, shape and CRC-32 of the little-endian bytes.
Strings and sparse tensors have no bytes and are left out. Of models that stride0 does not read, corpus.py speaks."""
import json
import sys
import zlib

import models

try:
    import numpy
    import onnx
    from onnx import TensorProto, numpy_helper
except ImportError:
    onnx = None

DTYPES = {
    "FLOAT": "float32", "FLOAT16": "float16", "BFLOAT16": "bfloat16", "DOUBLE": "float64", "BOOL": "bool",
    "COMPLEX64": "complex64", "COMPLEX128": "complex128", "INT8": "int8", "UINT8": "uint8", "INT16": "int16",
    "UINT16": "uint16", "INT32": "int32", "UINT32": "uint32", "INT64": "int64", "UINT64": "uint64",
}


def tensors(graph):
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        for attribute in node.attribute if node.op_type == "Constant" else []:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield node.output[0], attribute.t


def bytes_of(tensor):
    if tensor.HasField("raw_data"):
        return tensor.raw_data
    if tensor.data_type == TensorProto.BFLOAT16:
        return numpy.array(tensor.int32_data, "<u2").tobytes()
    array = numpy_helper.to_array(tensor)
    return array.astype(array.dtype.newbyteorder("<")).tobytes()


def constants(path):
    """(dtype, shape, crc32) by name; nothing where the package can't read the model."""
    found = {}
    try:
        for name, tensor in tensors(onnx.load(path).graph):
            dtype = DTYPES.get(TensorProto.DataType.Name(tensor.data_type))
            if dtype is not None:
                found[name] = dtype, list(tensor.dims), zlib.crc32(bytes_of(tensor))
    except Exception:
        return {}
    return found


def read(stride0, model):
    """The same, of every tensor that stride0 has bytes for; None where it has no reading of the model."""
    done = models.run(stride0, "inspect", model, "--quiet", "--json", "-")
    if not done.stdout:
        return None
    found = {}
    for tensor in json.loads(done.stdout)["tensors"]:
        found.setdefault(tensor["name"], []).append((tensor["dtype"], tensor["shape"], tensor["crc32"]))
    return found


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    found = models.of_onnx(shared)
    if onnx is None or not found:
        models.skip("onnx_constants", "the onnx package for Python" if onnx is None else "no ONNX models")
        return models.SKIP
    compared = unread = faults = 0
    for model in found:
        expected, ours = constants(model.path), read(stride0, model)
        unread += ours is None
        for name, constant in expected.items() if ours is not None else []:
            compared += 1
            if constant not in ours.get(name, []):
                faults += 1
                print(f"FAIL {model.name}: '{name}': onnx {constant}, stride0 {ours.get(name)}")
    print(f"{compared} constants of {len(found) - unread} models compared, {faults} faults")
    return 1 if faults or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
