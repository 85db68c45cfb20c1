"""A TFLite network of floats with operators in front of and behind convolutions, which no network at hand has: a factor
in front of a grouped convolution that pads, an addend in front of a depthwise one without a bias, a factor behind it."""
import os
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
sys.dont_write_bytecode = True
from model_formats import TfliteModel  # noqa: E402

RULES = {"fold_into_next_convolution": 2, "fold_into_convolution": 1}
SAME, VALID, RELU = 0, 1, 1


def rounded(number):
    return struct.unpack("<f", struct.pack("<f", number))[0]


class Made:
    def __init__(self, path):
        self.path, self.random, self.model = path, random.Random(1), TfliteModel("made")
        self.main, self.numbers = self.model.subgraph("main"), {}
        x, y = self.value("x", 7, 9, 6), self.value("y", 3, 4, 12)
        scaled, wide = self.value("scaled", 7, 9, 6), self.value("wide", 4, 5, 6)
        shifted, deep = self.value("shifted", 4, 5, 6), self.value("deep", 3, 4, 12)
        self.main.operator("MUL", [x, self.constant("times", 6)], [scaled])
        self.main.operator("CONV_2D", [scaled, self.constant("w", 6, 3, 3, 2), self.constant("bias", 6)], [wide], 1,
                           {0: ("b", SAME), 1: ("i", 2), 2: ("i", 2), 3: ("b", RELU), 4: ("i", 1), 5: ("i", 1)})
        self.main.operator("ADD", [wide, self.constant("plus", 6)], [shifted])
        self.main.operator("DEPTHWISE_CONV_2D", [shifted, self.constant("v", 1, 2, 2, 12)], [deep], 2,
                           {0: ("b", VALID), 1: ("i", 1), 2: ("i", 1), 3: ("i", 2), 4: ("b", 0), 5: ("i", 1), 6: ("i", 1)})
        self.main.operator("MUL", [deep, self.constant("factor", 12)], [y])
        self.main.inputs, self.main.outputs = [x], [y]
        with open(path, "wb") as stream:
            stream.write(self.model.data())

    def value(self, name, *extents):
        return self.main.tensor(name, "float32", [1, *extents])

    def constant(self, name, *shape):
        count = 1
        for extent in shape:
            count *= extent
        self.numbers[name] = [rounded(self.random.uniform(0.5, 2) * self.random.choice((-1, 1))) for _ in range(count)]
        return self.main.tensor(name, "float32", list(shape), self.numbers[name])

    def expected(self):
        """Inputs of the two convolutions: the value, weights, bias."""
        n = self.numbers
        w = [rounded(number * n["times"][k // 18 // 2 * 2 + k % 2]) for k, number in enumerate(n["w"])]
        v = [rounded(number * n["factor"][k % 12]) for k, number in enumerate(n["v"])]
        bias = [rounded(sum(v[tap * 12 + o] for tap in range(4)) * n["plus"][o // 2]) for o in range(12)]
        return [("x", w, n["bias"]), ("wide", v, bias)]


def fault(made, result):
    """What the result, as read by flatc, has other than `made` expects; None where it is right."""
    graph = result["subgraphs"][0]
    tensors, operators = graph["tensors"], graph["operators"]
    if len(operators) != 2:
        return f"{len(operators)} operators are left"
    for operator, (name, *numbers) in zip(operators, made.expected()):
        if tensors[operator["inputs"][0]]["name"] != name:
            return f"a convolution does not read {name}"
        for k, wanted in enumerate(numbers, 1):
            data = bytes(result["buffers"][tensors[operator["inputs"][k]]["buffer"]]["data"])
            got = struct.unpack(f"<{len(wanted)}f", data) if len(data) == 4 * len(wanted) else []
            if not got or any(abs(a - b) > 2e-7 * max(abs(b), 1) for a, b in zip(got, wanted)):
                return f"input {k} of the convolution that reads {name}: {got[:4]}, wanted {wanted[:4]}"
    return None
