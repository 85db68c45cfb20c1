"""Small ONNX models with operators in front of and behind a convolution, for what no network at hand has: groups,
strides, dilations, pads of each kind, transposed convolutions, extents that are equal to the channels or not."""
import os

import numpy
import onnx
from onnx import helper, numpy_helper

import models

COUNT = 80


class Maker:
    def __init__(self, seed):
        self.random = numpy.random.default_rng(seed)
        self.nodes, self.constants, self.at = [], [], "x"
        self.is_plain = self.random.random() < 0.7
        self.groups, own = self.random.integers(1, 4), self.random.integers(1, 4)
        self.ins, self.outs = int(self.groups * own), int(self.groups * self.random.integers(1, 4))
        self.kernel = [int(extent) for extent in self.random.choice([1, 1, 2, 3], 2)]
        self.extents = [max(self.ins, 7) if self.random.random() < 0.5 else int(self.random.integers(7, 10))
                        for _ in "hw"]

    def number(self, *shape):
        made = self.random.uniform(0.1, 4, shape) * self.random.choice([-1, 1], shape)
        self.constants.append(numpy_helper.from_array(made.astype("float32"), f"c{len(self.constants)}"))
        return self.constants[-1].name

    def positive(self, channels):
        name = self.number(channels)
        array = numpy.abs(numpy_helper.to_array(self.constants[-1]))
        self.constants[-1] = numpy_helper.from_array(array, name)
        return name

    def add(self, op, inputs, **attributes):
        out = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [out], name=f"n{len(self.nodes)}", **attributes))
        self.at = out

    def run(self, channels):
        ops = ["Mul", "Div", "Add", "Sub", "BatchNormalization"] if self.random.random() < 0.6 else ["Mul", "Div"]
        for op in self.random.choice(ops, self.random.integers(0, 3)):
            if op == "BatchNormalization":
                numbers = [self.number(channels) for _ in range(3)]
                self.add(op, [self.at, *numbers, self.positive(channels)], epsilon=1e-3)
                continue
            inputs = [self.at, self.number(*([channels, 1, 1] if self.random.random() < 0.7 else []))]
            self.add(op, inputs[::-1] if op != "Div" and self.random.random() < 0.3 else inputs)

    def pads(self):
        if self.random.random() < 0.5 or not self.is_plain:
            most = 2 if self.random.random() < 0.5 else 1
            return {"pads": [int(pad) for pad in self.random.integers(0, most, 4)]}
        return {"auto_pad": str(self.random.choice(["VALID", "SAME_UPPER", "SAME_LOWER"]))}

    def convolution(self):
        shape = [self.outs, self.ins // self.groups] if self.is_plain else [self.ins, self.outs // self.groups]
        inputs = [self.at, self.number(*shape, *self.kernel)]
        inputs += [self.number(self.outs)] if self.random.random() < 0.5 else []
        pads = self.pads()
        steps = {name: [int(step) for step in self.random.integers(1, 3, 2)] for name in ("strides", "dilations")}
        if pads.get("auto_pad", "VALID") != "VALID":  # ONNX Runtime has no SAME of dilated kernels
            steps["dilations"] = [1, 1]
        self.add("Conv" if self.is_plain else "ConvTranspose", inputs, group=int(self.groups), kernel_shape=self.kernel,
                 **steps, **pads)

    def model(self):
        self.run(self.ins)
        self.convolution()
        self.run(self.outs)
        ends = [helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [2, self.ins, *self.extents]),
                helper.make_tensor_value_info(self.at, onnx.TensorProto.FLOAT, None)]
        graph = helper.make_graph(self.nodes, "made", ends[:1], ends[1:], self.constants)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)])
        made.ir_version = 8
        return made


def make(folder):
    """The models, written below `folder`."""
    os.makedirs(os.path.join(folder, "made"))
    found = []
    for seed in range(COUNT):
        path = os.path.join(folder, "made", f"{seed}.onnx")
        onnx.save(Maker(seed).model(), path)
        found.append(models.Model(folder, path))
    return found
