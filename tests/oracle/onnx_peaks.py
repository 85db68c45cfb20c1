#!/usr/bin/env python3
"""The peak of ONNX networks between two bounds that the onnx package's shapes give by brute force.

    onnx_peaks.py STRIDE0 [SHARED]

Operators as written (--qdq float), 16-byte sizes, every operator with an input that is no constant runs. Not below the
largest working set of one operator that computes; not above a walk in which every tensor has bytes of its own, from the
operator that writes it to the last that reads it. Where no operator only moves data the two meet in that walk. With
in-place writes the peak is no larger. Networks with a shape that the package leaves open are named."""
import json
import math
import sys

import models
import onnx_shapes
from onnx_constants import onnx

BYTES = {"float32": 4, "float64": 8, "float16": 2, "uint8": 1, "int8": 1, "uint16": 2, "int16": 2, "uint32": 4,
         "int32": 4, "int64": 8, "uint64": 8, "bool": 1}
MOVES = {"Concat", "Dropout", "Flatten", "Identity", "Reshape", "Slice", "Split", "Squeeze", "Transpose", "Unsqueeze"}


def sizes(model):
    """Bytes by name of every value whose shape is whole."""
    known = onnx_shapes.inferred(model, with_inputs=True)
    whole = {name: told for name, told in known.items() if None not in told[1]}
    return {name: -(-math.prod(shape) * BYTES.get(dtype, 0) // 16) * 16 for name, (dtype, shape) in whole.items()}


class Walk:
    """The operators that run, as (reads, writes)."""

    def __init__(self, model):
        self.size, graph = sizes(model), onnx.load(model.path).graph
        constant = {tensor.name for tensor in graph.initializer}
        self.steps, self.moves, self.low = [], set(), 0
        for node in graph.node:
            reads = [name for name in node.input if name and name not in constant]
            writes = [name for name in node.output if name]
            if node.op_type == "Shape" or not reads:
                constant.update(writes)
                continue
            self.steps.append((reads, writes))
            if node.op_type in MOVES:
                self.moves.add(node.op_type)
            else:
                self.low = max(self.low, sum(self.size.get(name, 0) for name in {*reads, *writes}))
        self.inputs = [value.name for value in graph.input if value.name not in constant]
        self.outputs = [value.name for value in graph.output if value.name not in constant]

    def is_open(self):
        return any(name not in self.size for reads, writes in self.steps for name in reads + writes)

    def high(self):
        first, last = dict.fromkeys(self.inputs, 0), dict.fromkeys(self.inputs, 1)
        for step, (reads, writes) in enumerate(self.steps):
            for name in reads + writes:
                first.setdefault(name, step)
                last[name] = step + 1
        last.update(dict.fromkeys(self.outputs, len(self.steps)))
        change = [0] * (len(self.steps) + 1)
        for name in first:
            change[first[name]] += self.size[name]
            change[last[name]] -= self.size[name]
        live = peak = 0
        for step in change:
            live += step
            peak = max(peak, live)
        return peak


def planned(stride0, model, *options):
    """The peak; None where there is no plan, on which corpus.py speaks."""
    done = models.run(stride0, "plan", model, "-d", "mcu-cm", "--budget", "1G", "--qdq", "float", "--quiet",
                      "--json", "-", *options)
    return json.loads(done.stdout)["totals"]["peak_live_bytes"] if done.returncode == models.DONE else None


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    networks = [model for model in models.networks(shared) if model.path.endswith(".onnx")]
    if onnx is None or not networks:
        models.skip("onnx_peaks", "the onnx package for Python" if onnx is None else "the shared models")
        return models.SKIP
    compared = faults = 0
    for model in networks:
        none, auto = planned(stride0, model, "--inplace", "none"), planned(stride0, model)
        if none is None:
            continue
        walk = Walk(model)
        if walk.is_open():
            print(f"open {model.name}: the onnx package does not know all shapes")
            continue
        low, high = walk.low if walk.moves else walk.high(), walk.high()
        right = auto is not None and low <= none <= high and auto <= none
        compared, faults = compared + 1, faults + (not right)
        print(f"{'ok  ' if right else 'FAIL'} {model.name}: {low} to {high}, "
              f"planned {none} with --inplace none, {auto} with auto")
    print(f"{compared} networks compared, {faults} faults")
    return 1 if faults or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
