#!/usr/bin/env python3
"""ort_models.py FOLDER CHANNELS...: ONNX models of affines by channel, for each number of channels.

    KIND-LAYOUT-CHANNELS-LENGTH.onnx     bnorm (NCHW only) | muladd | qlinear, LENGTH of them one after the other

Images, height and width are free. Parameters are those of ort_child.mjs, which checks what comes out.
"""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

LENGTHS = (1, 9)
X_SCALE, X_ZERO, Y_SCALE, Y_ZERO, BETWEEN = 0.04, -7, 0.05, 12, 0.05


def parameters(channels):
    k = np.arange(channels)
    return (0.5 + (k * 37 % 64) / 128).astype(np.float32), ((k * 11 % 32) / 16 - 1).astype(np.float32)


class Model:
    def __init__(self, layout, channels, elem):
        self.nodes, self.constants = [], []
        self.layout, self.channels, self.elem = layout, channels, elem

    def constant(self, name, values):
        if name not in [c.name for c in self.constants]:
            self.constants.append(numpy_helper.from_array(values, name))
        return name

    def by_channel(self, name, values):
        return self.constant(name, values if self.layout == "nhwc" else values.reshape(self.channels, 1, 1))

    def save(self, path):
        dims = ["N", "H", "W", self.channels] if self.layout == "nhwc" else ["N", self.channels, "H", "W"]
        ends = [helper.make_tensor_value_info(name, self.elem, dims) for name in "xy"]
        graph = helper.make_graph(self.nodes, path.stem, ends[:1], ends[1:], self.constants)
        domains = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
        onnx.save(helper.make_model(graph, opset_imports=domains, ir_version=8), path)


def bnorm(model, x, y):
    scale, bias = parameters(model.channels)
    names = [model.constant("scale", scale), model.constant("bias", bias),
             model.constant("mean", np.zeros_like(scale)), model.constant("variance", np.ones_like(scale))]
    model.nodes.append(helper.make_node("BatchNormalization", [x, *names], [y], epsilon=0.0))


def muladd(model, x, y):
    scale, bias = parameters(model.channels)
    model.nodes.append(helper.make_node("Mul", [x, model.by_channel("scale", scale)], [y + "p"]))
    model.nodes.append(helper.make_node("Add", [y + "p", model.by_channel("bias", bias)], [y]))


def qlinear(model, x, y):
    scale, bias = parameters(model.channels)
    x_scale, x_zero = (X_SCALE, X_ZERO) if x == "x" else (Y_SCALE, Y_ZERO)

    def codes(name, scale, zero):
        return [model.constant(f"{name}_scale", np.float32(scale)), model.constant(f"{name}_zero", np.int8(zero))]

    def parameter(name, values):
        coded = np.rint(values * 127).astype(np.int8)
        return [model.by_channel(name, coded), *codes(name, 1 / 127, 0)]

    for op, first, second, result in (
            ("QLinearMul", [x, *codes(x, x_scale, x_zero)], parameter("scale", scale), (y + "p", BETWEEN, 0)),
            ("QLinearAdd", [y + "p", *codes(y + "p", BETWEEN, 0)], parameter("bias", bias), (y, Y_SCALE, Y_ZERO))):
        model.nodes.append(helper.make_node(op, [*first, *second, *codes(*result)], [result[0]],
                                            domain="com.microsoft"))


def write(folder, kind, layout, channels, length):
    model = Model(layout, channels, TensorProto.INT8 if kind is qlinear else TensorProto.FLOAT)
    names = ["x", *(f"v{k}" for k in range(1, length)), "y"]
    for x, y in zip(names, names[1:]):
        kind(model, x, y)
    model.save(folder / f"{kind.__name__}-{layout}-{channels}-{length}.onnx")


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for channels in map(int, sys.argv[2:]):
        for kind, layouts in ((bnorm, ["nchw"]), (muladd, ["nchw", "nhwc"]), (qlinear, ["nchw", "nhwc"])):
            for layout in layouts:
                for length in LENGTHS:
                    write(folder, kind, layout, channels, length)


main()
