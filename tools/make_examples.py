#!/usr/bin/env python3
"""Writes the networks of examples/, the same bytes each time. With --check, compares with what is there.

Each network is described once and written twice: as TFLite (N H W C, integer operators) and as ONNX (N C H W, a
QuantizeLinear and DequantizeLinear pair around each operator). Weights are seeded noise: the memory a network takes does
not depend on them."""
import os
import sys

from model_formats import OnnxModel, TfliteModel

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "examples")


class Noise:
    """xorshift64*, Vigna 2016."""

    def __init__(self, seed):
        self.state = seed

    def codes(self, count, low=-127, high=127):
        return [low + self._next() % (high - low + 1) for _ in range(count)]

    def scales(self, count):
        return [(16 + self._next() % 48) / 8192 for _ in range(count)]

    def _next(self):
        mask = (1 << 64) - 1
        self.state ^= self.state >> 12
        self.state ^= self.state << 25 & mask
        self.state ^= self.state >> 27
        return self.state * 2685821657736338717 % (1 << 64) >> 16


class Map:
    """An activation in both models: int8 codes of [1, h, w, c], or of [1, c] where h is 0."""

    def __init__(self, name, h, w, c, scale, zero):
        self.name, self.h, self.w, self.c, self.scale, self.zero = name, h, w, c, scale, zero

    def nhwc(self):
        return [1, self.h, self.w, self.c] if self.h else [1, self.c]

    def nchw(self):
        return [1, self.c, self.h, self.w] if self.h else [1, self.c]


class Network:
    """Both models at once: every method adds one operator to each."""

    def __init__(self, name, seed):
        self.noise = Noise(seed)
        self.tflite = TfliteModel("stride0 example " + name)
        self.main = self.tflite.subgraph("main")
        self.onnx = OnnxModel(name)
        self.tensors = {}  # what is written, by name: TFLite's index, or the ONNX name

    # -- plumbing

    def _declare(self, value):
        self.tensors[value.name] = self.main.tensor(value.name, "int8", value.nhwc(), None, value.scale, value.zero)

    def _pair(self, value):
        """Names of the scale and zero point of a map; they are written once."""
        names = [value.name + "_scale", value.name + "_zero"]
        if names[0] not in self.tensors:
            self.tensors[names[0]] = self.onnx.constant(names[0], "float32", [], [value.scale])
            self.onnx.constant(names[1], "int8", [], [value.zero])
        return names

    def input(self, name, h, w, c, scale, zero):
        value = Map(name, h, w, c, scale, zero)
        self._declare(value)
        self.main.inputs.append(self.tensors[name])
        self.onnx.input(name, "int8", value.nchw())
        return value

    def _real(self, value):
        """A map as real numbers, made where something first reads them."""
        name = value.name + "_real"
        if name not in self.tensors:
            self.tensors[name] = self.onnx.node("DequantizeLinear", [value.name] + self._pair(value), name)
        return name

    def _codes(self, value, real):
        """Ends an ONNX operator: its result as codes."""
        self.onnx.node("QuantizeLinear", [real] + self._pair(value), value.name)

    def output(self, value):
        self.main.outputs.append(self.tensors[value.name])
        self.onnx.output(value.name, "int8", value.nchw())

    def _operator(self, builtin, inputs, value, options_type, options):
        self._declare(value)
        self.main.operator(builtin, inputs, [self.tensors[value.name]], options_type, options)

    def _parameter(self, name, dtype, codes, forms, scale, axes):
        """A constant in both models, its forms and axes as (TFLite, ONNX); `codes` too. TFLite's index, ONNX's name."""
        index = self.main.tensor(name, dtype, forms[0], codes[0], scale, 0, axes[0])
        scales = scale if isinstance(scale, list) else [scale]
        shape = [len(scales)] if isinstance(scale, list) else []
        inputs = [self.onnx.constant(name, dtype, forms[1], codes[1]),
                  self.onnx.constant(name + "_scale", "float32", shape, scales),
                  self.onnx.constant(name + "_zero", dtype, shape, [0] * len(scales))]
        axis = {"axis": axes[1]} if isinstance(scale, list) else {}
        return index, self.onnx.node("DequantizeLinear", inputs, name + "_real", **axis)

    def _bias(self, name, x, scales):
        codes = self.noise.codes(len(scales), -999, 999)
        scale = [x.scale * s for s in scales]
        return self._parameter(name, "int32", (codes, codes), ([len(codes)],) * 2, scale, (0, 0))

    # -- operators

    def conv(self, name, x, channels, kernel, stride):
        """Convolution and Relu; SAME padding."""
        y = Map(name, -(-x.h // stride), -(-x.w // stride), channels, 0.0625, -128)
        codes = self.noise.codes(channels * kernel * kernel * x.c)
        scales = self.noise.scales(channels)
        moved = [codes[((o * kernel + i) * kernel + j) * x.c + c]
                 for o in range(channels) for c in range(x.c) for i in range(kernel) for j in range(kernel)]
        forms = [channels, kernel, kernel, x.c], [channels, x.c, kernel, kernel]
        w = self._parameter(name + "_w", "int8", (codes, moved), forms, scales, (0, 0))
        b = self._bias(name + "_b", x, scales)
        self._operator("CONV_2D", [self.tensors[x.name], w[0], b[0]], y, 1,
                       {0: ("b", 0), 1: ("i", stride), 2: ("i", stride), 3: ("b", 1), 4: ("i", 1), 5: ("i", 1)})
        self._onnx_conv(x, y, kernel, stride, (w, b), 1)
        return y

    def depthwise(self, name, x, kernel, stride):
        """Depthwise convolution and Relu; SAME padding."""
        y = Map(name, -(-x.h // stride), -(-x.w // stride), x.c, 0.0625, -128)
        codes = self.noise.codes(kernel * kernel * x.c)
        scales = self.noise.scales(x.c)
        moved = [codes[k * x.c + c] for c in range(x.c) for k in range(kernel * kernel)]
        forms = [1, kernel, kernel, x.c], [x.c, 1, kernel, kernel]
        w = self._parameter(name + "_w", "int8", (codes, moved), forms, scales, (3, 0))
        b = self._bias(name + "_b", x, scales)
        self._operator("DEPTHWISE_CONV_2D", [self.tensors[x.name], w[0], b[0]], y, 2,
                       {0: ("b", 0), 1: ("i", stride), 2: ("i", stride), 3: ("i", 1), 4: ("b", 1), 5: ("i", 1),
                        6: ("i", 1)})
        self._onnx_conv(x, y, kernel, stride, (w, b), x.c)
        return y

    def _onnx_conv(self, x, y, kernel, stride, parameters, groups):
        pads = [max((o - 1) * stride + kernel - i, 0) for i, o in ((x.h, y.h), (x.w, y.w))]
        self.onnx.node("Conv", [self._real(x)] + [name for _, name in parameters], y.name + "_conv", group=groups,
                       kernel_shape=[kernel] * 2, pads=[p // 2 for p in pads] + [p - p // 2 for p in pads],
                       strides=[stride] * 2)
        self._codes(y, self.onnx.node("Relu", [y.name + "_conv"], y.name + "_relu"))

    def add(self, name, a, b):
        y = Map(name, a.h, a.w, a.c, 0.125, -128)
        self._operator("ADD", [self.tensors[a.name], self.tensors[b.name]], y, 11, {0: ("b", 0)})
        self._codes(y, self.onnx.node("Add", [self._real(a), self._real(b)], name + "_sum"))
        return y

    def per_channel(self, name, x, op, scale, y_scale, y_zero):
        """Mul or Add of one int8 code a channel."""
        y = Map(name, x.h, x.w, x.c, y_scale, y_zero)
        codes = self.noise.codes(x.c)
        forms = [x.c], [1, x.c, 1, 1]
        index, real = self._parameter(name + "_c", "int8", (codes, codes), forms, scale, (0, 0))
        self._operator(op.upper(), [self.tensors[x.name], index], y, {"Mul": 21, "Add": 11}[op], {0: ("b", 0)})
        self._codes(y, self.onnx.node(op, [self._real(x), real], name + "_result"))
        return y

    def pool(self, name, x):
        """Average over the whole map."""
        y = Map(name, 1, 1, x.c, x.scale, x.zero)
        self._operator("AVERAGE_POOL_2D", [self.tensors[x.name]], y, 5,
                       {0: ("b", 1), 1: ("i", x.w), 2: ("i", x.h), 3: ("i", x.w), 4: ("i", x.h), 5: ("b", 0)})
        self._codes(y, self.onnx.node("GlobalAveragePool", [self._real(x)], name + "_mean"))
        return y

    def flatten(self, name, x):
        y = Map(name, 0, 0, x.h * x.w * x.c, x.scale, x.zero)
        shape = self.main.tensor(name + "_shape", "int32", [2], y.nhwc())
        self._operator("RESHAPE", [self.tensors[x.name], shape], y, 17, {})
        self._codes(y, self.onnx.node("Flatten", [self._real(x)], name + "_flat", axis=1))
        return y

    def dense(self, name, x, classes):
        y = Map(name, 0, 0, classes, 0.25, 0)
        codes = self.noise.codes(classes * x.c)
        scales = self.noise.scales(classes)
        w = self._parameter(name + "_w", "int8", (codes, codes), ([classes, x.c],) * 2, scales, (0, 0))
        b = self._bias(name + "_b", x, scales)
        self._operator("FULLY_CONNECTED", [self.tensors[x.name], w[0], b[0]], y, 8, {0: ("b", 0)})
        self._codes(y, self.onnx.node("Gemm", [self._real(x), w[1], b[1]], name + "_product", transB=1))
        return y

    def softmax(self, name, x):
        y = Map(name, 0, 0, x.c, 1 / 256, -128)
        self._operator("SOFTMAX", [self.tensors[x.name]], y, 9, {0: ("f", 1.0)})
        self._codes(y, self.onnx.node("Softmax", [self._real(x)], name + "_softmax", axis=1))
        return y


def separable():
    """An int8 classifier of 32 x 32 images with a residual and a per-channel affine block."""
    net = Network("separable", 1)
    x = net.input("image", 32, 32, 3, 1 / 128, 0)
    x = net.conv("stem", x, 8, 3, 2)
    x = net.conv("point1", net.depthwise("depth1", x, 3, 1), 16, 1, 1)
    y = net.conv("point2", net.depthwise("depth2", x, 3, 1), 16, 1, 1)
    x = net.add("residual", x, y)
    x = net.per_channel("scaled", x, "Mul", 1 / 64, 0.125, -128)
    x = net.per_channel("shifted", x, "Add", 1 / 16, 0.125, -128)
    x = net.conv("point3", net.depthwise("depth3", x, 3, 2), 32, 1, 1)
    x = net.dense("logits", net.flatten("features", net.pool("mean", x)), 10)
    net.output(net.softmax("classes", x))
    return net


def affine():
    """Mul and Add of one int8 number a channel over [1,12,20,28]: the worked example."""
    net = Network("affine", 2)
    x = net.input("x", 20, 28, 12, 1 / 32, 3)
    x = net.per_channel("scaled", x, "Mul", 1 / 64, 1 / 16, -5)
    net.output(net.per_channel("shifted", x, "Add", 1 / 64, 1 / 16, -5))
    return net


def streaming():
    """One new frame of 16 numbers a run; the three before it are in a variable. TFLite only."""
    noise, model = Noise(3), TfliteModel("stride0 example streaming")
    main, init = model.subgraph("main"), model.subgraph("init")
    quant = {"scale": 1 / 32, "zero": 0}
    frame = main.tensor("frame", "int8", [1, 1, 16], **quant)
    handle = main.tensor("history_handle", "resource", [])
    history = main.tensor("history", "int8", [1, 3, 16], **quant)
    window = main.tensor("window", "int8", [1, 4, 16], **quant)
    newest = main.tensor("newest", "int8", [1, 3, 16], **quant)
    result = main.tensor("result", "int8", [1, 4], scale=0.25)
    begin, end = (main.tensor(name, "int32", [3], data) for name, data in (("begin", [0, 1, 0]), ("end", [1, 4, 16])))
    step = main.tensor("step", "int32", [3], [1, 1, 1])
    weights = main.tensor("weights", "int8", [4, 64], noise.codes(256), noise.scales(4))
    bias = main.tensor("bias", "int32", [4], noise.codes(4, -999, 999), 1 / 4096)
    named = {0: "", 1: "history"}
    main.inputs, main.outputs = [frame], [result]
    main.operator("CALL_ONCE", [], [], 103, {0: ("i", 1)})
    main.operator("VAR_HANDLE", [], [handle], 111, named)
    main.operator("READ_VARIABLE", [handle], [history])
    main.operator("CONCATENATION", [history, frame], [window], 10, {0: ("i", 1)})
    main.operator("STRIDED_SLICE", [window, begin, end, step], [newest], 32, {0: ("i", 0)})
    main.operator("ASSIGN_VARIABLE", [handle, newest], [])
    main.operator("FULLY_CONNECTED", [window, weights, bias], [result], 8, {0: ("b", 1)})
    first = init.tensor("history_handle", "resource", [])
    zeros = init.tensor("zeros", "int8", [1, 3, 16], [0] * 48, **quant)
    init.operator("VAR_HANDLE", [], [first], 111, named)
    init.operator("ASSIGN_VARIABLE", [first, zeros], [])
    return model


def files():
    nets = {"separable": separable(), "affine": affine()}
    out = {"streaming.tflite": streaming().data()}
    for name, net in nets.items():
        out[name + ".tflite"] = net.tflite.data()
        out[name + ".onnx"] = net.onnx.data()
    return out


def check():
    wrong = []
    for name, content in sorted(files().items()):
        path = os.path.join(EXAMPLES, name)
        if not os.path.exists(path) or open(path, "rb").read() != content:
            wrong.append(name)
    for name in wrong:
        print(f"examples/{name} is not what tools/make_examples.py writes", file=sys.stderr)
    return 1 if wrong else 0


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    if sys.argv[1:]:
        print("usage: make_examples.py [--check]", file=sys.stderr)
        return 2
    os.makedirs(EXAMPLES, exist_ok=True)
    for name, content in sorted(files().items()):
        with open(os.path.join(EXAMPLES, name), "wb") as out:
            out.write(content)
        print(f"examples/{name}: {len(content)} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
