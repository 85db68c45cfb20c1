#!/usr/bin/env python3
"""Prints the shapes that the onnx package infers, one value a line: file, value, dtype, shape, tab-separated.

    onnx_shapes.py MODEL... [--dim NAME=VALUE | --dim INPUT:AXIS=VALUE]...

A second opinion for graph_infer. Values of the main graph only; a dimension that stays open is `?`. What the file
itself states of the values between is removed first, so that every line is the package's own inference. A model the
package cannot read or infer is one line `file, !, reason`. Needs python3-onnx (Debian)."""
import argparse
import sys

import onnx
from onnx import TensorProto, shape_inference


def bind(model, bindings):
    """Gives free dimensions of the inputs their values, by name or by input and axis."""
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            number = bindings.get(dim.dim_param) or bindings.get(f"{value.name}:{axis}")
            if number is not None:
                dim.dim_value = number


def forget(model):
    """Removes what the file states of values that nodes make, but for the dtype and rank of the graph's outputs."""
    del model.graph.value_info[:]
    for value in model.graph.output:
        for dim in value.type.tensor_type.shape.dim:
            dim.Clear()


def lines(model):
    seen = set()
    for value in [*model.graph.value_info, *model.graph.output]:
        tensor = value.type.tensor_type
        if value.name in seen or not value.type.HasField("tensor_type") or not tensor.HasField("shape"):
            continue
        seen.add(value.name)
        dims = [str(d.dim_value) if d.HasField("dim_value") else "?" for d in tensor.shape.dim]
        yield value.name, TensorProto.DataType.Name(tensor.elem_type), "[" + ",".join(dims) + "]"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("models", nargs="+")
    parser.add_argument("--dim", action="append", default=[])
    arguments = parser.parse_args()
    bindings = {name: int(number) for name, number in (text.rsplit("=", 1) for text in arguments.dim)}
    for path in arguments.models:
        try:
            model = onnx.load(path, load_external_data=False)
            bind(model, bindings)
            forget(model)
            inferred = shape_inference.infer_shapes(model, strict_mode=False, data_prop=True)
            for line in lines(inferred):
                print(path, *line, sep="\t")
        except Exception as reason:  # whatever the package throws is its answer
            print(path, "!", str(reason).splitlines()[0], sep="\t")
    return 0


if __name__ == "__main__":
    sys.exit(main())
