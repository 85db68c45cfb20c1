#!/usr/bin/env python3
"""Shapes and dtypes that `stride0 inspect` infers for ONNX models, against the onnx package's inference.

    onnx_shapes.py STRIDE0 [SHARED]

Values of the main graph. The shapes that a file states of what nodes make are removed before the package infers, so
that every answer is its own; a dimension that it leaves open is no answer. Of models that stride0 does not read,
corpus.py speaks."""
import json
import sys

import models
from onnx_constants import DTYPES, onnx


def bind(model, dims):
    """Gives free dimensions of the inputs their values, by name or by input and axis."""
    values = dict(dim.removeprefix("--dim=").rsplit("=", 1) for dim in dims)
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            number = values.get(dim.dim_param) or values.get(f"{value.name}:{axis}")
            if number is not None:
                dim.dim_value = int(number)


def forget(model):
    """Removes the shapes that the file states of values that nodes make."""
    del model.graph.value_info[:]
    for value in model.graph.output:
        value.type.tensor_type.ClearField("shape")


def inferred(model, with_inputs=False):
    """(dtype, shape) by name; an open dimension is None. Nothing where the package has no answer."""
    try:
        graph = onnx.load(model.path, load_external_data=False)
        bind(graph, model.dims)
        forget(graph)
        graph = onnx.shape_inference.infer_shapes(graph, strict_mode=False, data_prop=True).graph
    except Exception:
        return {}
    found = {}
    for value in [*graph.value_info, *graph.output, *(graph.input if with_inputs else [])]:
        tensor = value.type.tensor_type
        if value.type.HasField("tensor_type") and tensor.HasField("shape"):
            dims = [dim.dim_value if dim.HasField("dim_value") else None for dim in tensor.shape.dim]
            found[value.name] = DTYPES.get(onnx.TensorProto.DataType.Name(tensor.elem_type)), dims
    return found


def read(stride0, model):
    done = models.run(stride0, "inspect", model, "--quiet", "--json", "-")
    told = json.loads(done.stdout) if done.stdout else {"model": {"is_complete": False}}
    return told["tensors"] if told["model"]["is_complete"] else None


def agree(ours, theirs):
    (dtype, shape), (their_dtype, their_shape) = ours, theirs
    return (their_dtype in (None, dtype) and shape is not None and len(shape) == len(their_shape) and
            all(theirs in (None, extent) for extent, theirs in zip(shape, their_shape)))


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    found = models.of_onnx(shared)
    if onnx is None or not found:
        models.skip("onnx_shapes", "the onnx package for Python" if onnx is None else "no ONNX models")
        return models.SKIP
    compared = faults = read_models = 0
    for model in found:
        theirs, ours = inferred(model), read(stride0, model)
        read_models += ours is not None
        for tensor in ours or []:
            told = tensor["dtype"], tensor["shape"]
            wanted = theirs.get(tensor["name"])
            compared += wanted is not None
            if wanted is not None and not agree(told, wanted):
                faults += 1
                print(f"FAIL {model.name}: '{tensor['name']}': onnx {wanted}, stride0 {told}")
    print(f"{compared} values of {read_models} models compared, {faults} faults")
    return 1 if faults or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
