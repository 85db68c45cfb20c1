"""Each fold into a convolution against its stated bound.

The bound of `simplify --tolerance` counts ulp of the sum of magnitudes S: what the operators behind make of
sum |w| T + |bias|, where T is what those in front make of |x|, every number positive. It counts roundings of the
parameters, and those of the operators that go. How a convolution adds up is not counted. Two checks:

    as defined   both forms at sampled places, their convolutions in float64 and rounded once: the bound itself
    as run       both forms in ONNX Runtime, every element: the bound, and for each of the two sums of n terms the n ulp
                 of S that adding up in float32 may cost in any order (Higham, Accuracy and Stability, section 4.2)

Each is done on what the original model gives the convolution, or the first operator in front of it that goes, for two
sets of inputs."""
import base64

import numpy
import onnx
from onnx import helper, numpy_helper

import ort_float64

CONVOLUTIONS = ("Conv", "ConvTranspose")
FOLDED = ("Mul", "Add", "Sub", "Div", "BatchNormalization")
BEFORE, BEHIND = "fold_into_next_convolution", "fold_into_convolution"
MOVING = ("Unsqueeze", "Reshape", "Identity", "Squeeze")


class NotRun(Exception):
    """What ONNX Runtime says of a model that was made of parts of another."""


class Graph:
    def __init__(self, path):
        self.model = onnx.load(path)
        self.producer = {name: node for node in self.model.graph.node for name in node.output}
        self.arrays = {tensor.name: numpy_helper.to_array(tensor) for tensor in self.model.graph.initializer}
        for node in self.model.graph.node:
            if node.op_type == "Constant" and node.attribute[0].name == "value":
                self.arrays[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)

    def constant(self, name):
        """The value of a constant, elements in their order, through what only moves it; None of others."""
        if name in self.arrays:
            return self.arrays[name]
        node = self.producer.get(name)
        return self.constant(node.input[0]) if node is not None and node.op_type in MOVING else None

    def chain(self, name):
        """Nodes from a convolution to what writes `name`; None where there is no such chain."""
        nodes = []
        while name in self.producer:
            nodes.insert(0, self.producer[name])
            if nodes[0].op_type in CONVOLUTIONS:
                return nodes
            moving = [value for value in nodes[0].input[:2] if self.constant(value) is None]
            if nodes[0].op_type not in FOLDED or len(moving) != 1:
                return None
            name = moving[0]
        return None

    def filters(self, conv):
        """Weights and bias."""
        weights = self.constant(conv.input[1])
        has_bias = len(conv.input) > 2 and conv.input[2] != ""
        outputs = weights.shape[0] if conv.op_type == "Conv" else weights.shape[1] * ort_float64.groups(conv)
        return weights, self.constant(conv.input[2]) if has_bias else numpy.zeros(outputs, "float32")

    def front(self, name, source):
        """Nodes from `source` to what writes `name`; None where other nodes stand between."""
        nodes = []
        while name != source:
            node = self.producer.get(name)
            moving = [value for value in node.input[:2] if self.constant(value) is None] if node is not None else []
            if len(moving) != 1 or node.op_type not in FOLDED:
                return None
            nodes.insert(0, node)
            name = moving[0]
        return nodes


def folds(old, new):
    """Of each convolution that stands for more than itself: the old nodes in front, the old convolution and those
    behind it, and the convolution. None in the place of nodes that are no chain."""
    for node in new.model.graph.node:
        was = old.producer.get(node.output[0])
        if node.op_type not in CONVOLUTIONS or was is None:
            continue
        nodes = old.chain(node.output[0])
        front = old.front(nodes[0].input[0], node.input[0]) if nodes else None
        if front != [] or len(nodes) > 1:
            yield front, nodes, node


def channels_of(array):
    """The channel of each element, for arrays of all."""
    return numpy.arange(array.shape[1]).reshape([-1] + [1] * (array.ndim - 2))


def per_channel(array, channel):
    """A constant of one element, or of one a channel, where `channel` tells which."""
    flat = numpy.asarray(array).reshape(-1)
    return flat[channel] if flat.size > 1 else flat[0]


def parameters(old, node, channel):
    return [per_channel(array, channel) for array in map(old.constant, node.input) if array is not None]


def norm_epsilon(node):
    return next((attr.f for attr in node.attribute if attr.name == "epsilon"), 1e-5)


def stage(old, node, x, channel):
    """What an operator of the chain makes of x, in float32."""
    numbers = parameters(old, node, channel)
    if node.op_type == "BatchNormalization":
        scale, beta, mean, var = numbers
        return scale / numpy.sqrt(var + numpy.float32(norm_epsilon(node))) * (x - mean) + beta
    is_swapped = old.constant(node.input[0]) is not None
    made = {"Mul": numpy.multiply, "Div": numpy.divide, "Add": numpy.add, "Sub": numpy.subtract}[node.op_type]
    return made(numbers[0], x) if is_swapped else made(x, numbers[0])


def magnitudes(old, nodes, total, channel):
    """The magnitude behind operators, from that in front of them."""
    total = total.astype("float64")
    for node in nodes:
        numbers = [numpy.abs(number.astype("float64")) for number in parameters(old, node, channel)]
        if node.op_type == "BatchNormalization":
            scale, beta, mean, var = numbers
            total = scale / numpy.sqrt(var + norm_epsilon(node)) * (total + mean) + beta
        else:
            made = {"Mul": numpy.multiply, "Div": numpy.divide}.get(node.op_type, numpy.add)
            total = made(total, numbers[0])
    return total


def distance(before, after, total):
    """The largest difference in ulp of the sum of magnitudes."""
    ulp = numpy.spacing(total.astype("float32")).astype("float64")
    return float(numpy.max(numpy.abs(before.astype("float64") - after.astype("float64")) / ulp, initial=0))


def makers(graph, name):
    """The nodes that move a constant's elements, and the names of the constants that they start from."""
    if name in graph.arrays:
        return [], [name]
    node, nodes, names = graph.producer[name], [], []
    for value in filter(None, node.input):
        below = makers(graph, value)
        nodes, names = nodes + below[0], names + below[1]
    return nodes + [node], names


def alone(graph, nodes, source, arrays=None):
    """A model of `nodes` from the value `source`; their constants become initializers."""
    sink = nodes[-1].output[0]
    names = {name for node in nodes for name in node.input if name} - {name for node in nodes for name in node.output}
    below = [makers(graph, name) for name in sorted(names - {source})] if arrays is None else []
    before = {node.output[0]: node for made, _ in below for node in made}
    arrays = arrays or {name: graph.arrays[name] for _, found in below for name in found}
    ends = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in (source, sink)]
    made = helper.make_graph([*before.values(), *nodes], "alone", ends[:1], ends[1:],
                             [numpy_helper.from_array(numpy.ascontiguousarray(a), n) for n, a in arrays.items()])
    model = helper.make_model(made, opset_imports=list(graph.model.opset_import))
    model.ir_version = max(4, graph.model.ir_version)
    return model


def array_of(packed):
    return numpy.frombuffer(base64.b64decode(packed["data"]), packed["type"]).reshape(packed["dims"])


class Runner:
    def __init__(self, runtime, path):
        self.runtime, self.path = runtime, path

    def outputs(self, model, choices):
        """The outputs by name, and which of the inputs were taken."""
        onnx.save(model, self.path)
        answer = self.runtime.ask(self.path, None, [choices], True)
        fault = answer if isinstance(answer, str) else answer["load"] or answer["sets"][0]["run"]
        if fault:
            raise NotRun(fault)
        found = answer["sets"][0]
        return {name: array_of(packed) for name, packed in found["outputs"].items() if packed["type"] != "string"}, \
            found["choice"]

    def one(self, model, array):
        data = base64.b64encode(numpy.ascontiguousarray(array).tobytes()).decode()
        entry = {"name": model.graph.input[0].name, "type": "float32", "dims": list(array.shape), "data": data}
        return self.outputs(model, [[entry]])[0][model.graph.output[0].name]

    def intermediate(self, old, names, choices):
        """What the original model gives the values `names`, inputs among them."""
        model = onnx.ModelProto()
        model.CopyFrom(old.model)
        known = {value.name for value in [*model.graph.output, *model.graph.input]}
        model.graph.output.extend(helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None)
                                  for name in sorted(set(names) - known))
        found, choice = self.outputs(model, choices)
        return {**{value["name"]: array_of(value) for value in choices[choice] if value["type"] == "float32"}, **found}


class Fold:
    """The old nodes, and the convolution that stands for them."""

    def __init__(self, old, new, nodes, conv):
        self.old, self.new, self.conv = old, new, conv
        self.front, self.was, self.behind = nodes[0], nodes[1][0], nodes[1][1:]
        self.source = conv.input[0]
        self.weights, self.bias = old.filters(self.was)
        self.terms = self.weights.size // self.bias.size + 1

    def bound(self, rules):
        return sum(rules[name] for name, nodes in ((BEFORE, self.front), (BEHIND, self.behind)) if nodes)

    def behind_of(self, total, channel):
        return magnitudes(self.old, self.behind, total, channel)

    def front_of(self, array):
        """What the operators in front make of an array, and of its magnitude."""
        channel, made = channels_of(array), array
        for node in self.front:
            made = stage(self.old, node, made, channel).astype("float32")
        return made, magnitudes(self.old, self.front, numpy.abs(array), channel)

    def as_run(self, runner, array):
        """The largest difference, and the shape of the output."""
        before = runner.one(alone(self.old, [*self.front, self.was, *self.behind], self.source), array)
        after = runner.one(alone(self.new, [self.conv], self.source), array)
        absolute = {name: numpy.abs(self.old.constant(name)) for name in self.was.input[1:] if name}
        total = runner.one(alone(self.old, [self.was], self.was.input[0], absolute),
                           self.front_of(array)[1].astype("float32"))
        return distance(before, after, self.behind_of(total, channels_of(total))), before.shape

    def as_defined(self, array, shape):
        places = ort_float64.sample(shape)
        made, magnitude = self.front_of(array)
        sums = [ort_float64.convolution(node, values, *filters, shape, places) for node, values, filters in (
            (self.was, made, (self.weights, self.bias)), (self.conv, array, self.new.filters(self.conv)),
            (self.was, magnitude, (numpy.abs(self.weights), numpy.abs(self.bias))))]
        before = sums[0].astype("float32")
        for node in self.behind:
            before = stage(self.old, node, before, places[1])
        return distance(before, sums[1].astype("float32"), self.behind_of(sums[2], places[1]))


def check(runtime, path, simplified, sets):
    """Faults; a line about what was found; the number of comparisons."""
    old, new = Graph(path), Graph(simplified.path)
    found = list(folds(old, new))
    if any(front is None or nodes is None for front, nodes, _ in found):
        return ["a convolution stands for nodes that are no chain"], "", 0
    counts = [sum(bool(front) for front, _, _ in found), sum(len(nodes) > 1 for _, nodes, _ in found)]
    if counts != [simplified.counts.get(name, 0) for name in (BEFORE, BEHIND)]:
        return [f"{counts} folds found in the file, {simplified.counts} in the report"], "", 0
    runner, faults, worst, count = Runner(runtime, simplified.path + ".alone"), [], [0.0, 0.0], 0
    parts = [Fold(old, new, nodes, conv) for *nodes, conv in found]
    for choices in (sets[0], sets[-2]):
        values = runner.intermediate(old, [fold.source for fold in parts], choices)
        for fold in parts:
            array, bound = values[fold.source], fold.bound(simplified.rules)
            run, shape = fold.as_run(runner, array)
            errors = (fold.as_defined(array, shape), run)
            count, worst = count + 1, [max(pair) for pair in zip(worst, errors)]
            if not (errors[0] <= bound and run <= bound + 2 * fold.terms):
                faults.append(f"{fold.conv.output[0]}: {errors[0]:.2f} ulp as defined, {run:.2f} as run, of {bound}")
    return faults, (f"{counts[1]} folds behind and {counts[0]} in front, of {simplified.tolerance} ulp: at most "
                    f"{worst[0]:.2f} as defined, {worst[1]:.2f} as run"), count
