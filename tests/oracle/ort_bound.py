"""Each fold into a convolution against its stated bound.

The bound of `simplify --tolerance` counts ulp of the sum of magnitudes S = |a| (sum |w x| + |bias| + |mean|) + |beta|:
roundings of the parameters, and those of the operators that go. How a convolution adds up is not counted. Two checks:

    as defined   both forms at sampled places, their convolutions in float64 and rounded once: the bound itself
    as run       both forms in ONNX Runtime, every element: the bound, and for each of the two sums of n terms the n ulp
                 of S that adding up in float32 may cost in any order (Higham, Accuracy and Stability, section 4.2)

Each is done on what the original model gives the convolution, for two sets of inputs."""
import base64

import numpy
import onnx
from onnx import helper, numpy_helper

import ort_float64

CONVOLUTIONS = ("Conv", "ConvTranspose")
FOLDED = ("Mul", "Add", "Sub", "Div", "BatchNormalization")
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
        return weights, self.constant(conv.input[2]) if has_bias else numpy.zeros(weights.shape[conv.op_type != "Conv"], "float32")


def folds(old, new):
    """Pairs of the old nodes and the convolution that stands for them."""
    for node in new.model.graph.node:
        was = old.producer.get(node.output[0])
        if node.op_type in CONVOLUTIONS and was is not None and was.op_type != node.op_type:
            yield old.chain(node.output[0]), node


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
    """The sum of magnitudes behind the chain, from that of the convolution."""
    total = total.astype("float64")
    for node in nodes[1:]:
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


def alone(graph, nodes, arrays=None):
    """A model of `nodes` from the first one's first input; their constants become initializers."""
    source, sink = nodes[0].input[0], nodes[-1].output[0]
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
        self.old, self.new, self.nodes, self.conv = old, new, nodes, conv
        self.weights, self.bias = old.filters(nodes[0])
        self.terms = self.weights.size // self.bias.size + 1

    def as_run(self, runner, array):
        """The largest difference, and the shape of the output."""
        before = runner.one(alone(self.old, self.nodes), array)
        after = runner.one(alone(self.new, [self.conv]), array)
        absolute = {name: numpy.abs(self.old.constant(name)) for name in self.nodes[0].input[1:] if name}
        total = runner.one(alone(self.old, self.nodes[:1], absolute), numpy.abs(array))
        channel = numpy.arange(total.shape[1]).reshape([-1] + [1] * (total.ndim - 2))
        return distance(before, after, magnitudes(self.old, self.nodes, total, channel)), before.shape

    def as_defined(self, array, shape):
        places = ort_float64.sample(shape)
        sums = [ort_float64.convolution(node, values, *filters, shape, places) for node, values, filters in (
            (self.nodes[0], array, (self.weights, self.bias)), (self.conv, array, self.new.filters(self.conv)),
            (self.nodes[0], numpy.abs(array), (numpy.abs(self.weights), numpy.abs(self.bias))))]
        before = sums[0].astype("float32")
        for node in self.nodes[1:]:
            before = stage(self.old, node, before, places[1])
        return distance(before, sums[1].astype("float32"), magnitudes(self.old, self.nodes, sums[2], places[1]))


def check(runtime, path, simplified, sets):
    """Faults; a line about what was found; the number of comparisons."""
    old, new = Graph(path), Graph(simplified.path)
    found, bound = list(folds(old, new)), simplified.tolerance
    if len(found) != simplified.counts.get("fold_into_convolution", 0) or any(nodes is None for nodes, _ in found):
        return [f"{len(found)} folds found in the file, {simplified.counts} in the report"], "", 0
    runner, faults, worst, count = Runner(runtime, simplified.path + ".alone"), [], [0.0, 0.0], 0
    parts = [Fold(old, new, nodes, conv) for nodes, conv in found]
    for choices in (sets[0], sets[-2]):
        values = runner.intermediate(old, [fold.nodes[0].input[0] for fold in parts], choices)
        for fold in parts:
            array = values[fold.nodes[0].input[0]]
            run, shape = fold.as_run(runner, array)
            errors = (fold.as_defined(array, shape), run)
            count, worst = count + 1, [max(pair) for pair in zip(worst, errors)]
            if not (errors[0] <= bound and run <= bound + 2 * fold.terms):
                faults.append(f"{fold.conv.output[0]}: {errors[0]:.2f} ulp as defined, {run:.2f} as run, of {bound}")
    return faults, f"{len(found)} folds of {bound} ulp: at most {worst[0]:.2f} as defined, {worst[1]:.2f} as run", count
