#!/usr/bin/env python3
"""What steps read and write, against the nodes as flatc and the onnx package read them from the file.

    dataflow.py STRIDE0 [SHARED]

Each output of a node that moves (is no constant) is written by one step, the same for all outputs, which reads each
input of the node that moves, and nothing that is no input of it; or it is a view of one of those inputs; or each of
them is a part of it. Where Quantize and Dequantize are read as one with the operators between, inner names
have no buffer: then all that holds of the names at the ends, and there must be a coder on the way. Buffers that are not
in the file (codes of what lies beyond an operator that only moves elements) stand for what their own step reads.
What the file does not tell is counted and not judged: nodes that call subgraphs, names that occur twice, and constants
that no step reads (they tell a shape or an axis, or are read as one with the operator)."""
import collections
import itertools
import json
import os
import shutil
import sys
import tempfile

import models
import tflite_json
import tflite_schema
from onnx_constants import onnx

Node = collections.namedtuple("Node", "op inputs outputs calls")
DECODERS = {"DequantizeLinear", "DEQUANTIZE"}
CODERS = DECODERS | {"QuantizeLinear", "DynamicQuantizeLinear", "QUANTIZE"}
TELLS_A_SHAPE = {"Shape", "Size", "SHAPE", "RANK"}
RANDOM = {"RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial",
          "RANDOM_UNIFORM", "RANDOM_STANDARD_NORMAL"}
CALLERS = {"CALL_ONCE", "IF", "WHILE", "CALL"}
MOVES = ("load_input", "load_param", "fill", "store")
WAYS = ([], ["--inplace", "none"], ["--qdq", "float"])


class Network:
    """Nodes of the main graph in order; names that are given before the first; names that more than one tensor has."""

    def __init__(self, nodes, given, names):
        self.nodes, self.given = nodes, set(given)
        self.twice = {name for name, count in collections.Counter(names).items() if count > 1}
        self.maker = {name: node for node in nodes for name in node.outputs}
        self.names = {*self.given, *names, *(name for node in nodes for name in node.inputs)}


# ---- ONNX


def graphs_in(graph):
    """The graph and those that its nodes hold."""
    yield graph
    for attribute in (a for node in graph.node for a in node.attribute):
        for inner in [attribute.g] * attribute.HasField("g") + list(attribute.graphs):
            yield from graphs_in(inner)


def holds_graph(node):
    return any(a.HasField("g") or a.graphs for a in node.attribute)


def onnx_network(path):
    """None where the package can't read the file."""
    try:
        model = onnx.load(path, load_external_data=False)
    except Exception:
        return None
    functions = {(f.domain, f.name) for f in model.functions}
    graph = model.graph
    nodes = [Node(n.op_type, list(n.input), [name for name in n.output if name],
                  holds_graph(n) or (n.domain, n.op_type) in functions) for n in graph.node]
    constants = {tensor.name for tensor in graph.initializer}
    names = [name for g in graphs_in(graph) for name in
             [*(i.name for i in g.input), *(name for n in g.node for name in n.output if name)]]
    return Network(nodes, [i.name for i in graph.input if i.name not in constants], names)


# ---- TFLite


def through_variables(op, inputs, outputs, handles):
    """A read or an assignment moves a variable: its handle has no bytes."""
    if op == "READ_VARIABLE":
        return [handles[inputs[0]]], outputs
    if op == "ASSIGN_VARIABLE":
        return [inputs[1]], [handles[inputs[0]]]
    return inputs, outputs


def tflite_network(model, operator_names):
    main = model["subgraphs"][0]
    labels = [tflite_json.tensor_name(tensor, k) for k, tensor in enumerate(main.get("tensors", []))]
    variables, _ = tflite_json.variables_of(model, operator_names)
    handles, nodes = {}, []
    for k, operator in enumerate(main.get("operators", [])):
        op, _ = tflite_json.operator_code(model, operator_names, operator)
        inputs = [labels[i] if i >= 0 else "" for i in operator.get("inputs") or []]
        outputs = [labels[i] for i in operator.get("outputs") or [] if i >= 0]
        if (0, k) in variables:
            handles[inputs[0]] = variables[0, k]
        if op != "VAR_HANDLE":
            nodes.append(Node(op, *through_variables(op, inputs, outputs, handles), op in CALLERS))
    state = [labels[k] for k, tensor in enumerate(main["tensors"]) if tensor.get("is_variable")]
    given = [labels[i] for i in main.get("inputs") or []] + state + list(variables.values())
    names = [tflite_json.tensor_name(t, k) for g in model["subgraphs"] for k, t in enumerate(g.get("tensors", []))]
    return Network(nodes, given, names)


# ---- A plan against its network


class Comparison:
    def __init__(self, network, plan, counts):
        self.network, self.counts, self.buffers = network, counts, plan["buffers"]
        self.local, self.written = collections.defaultdict(list), collections.defaultdict(list)
        self.faults, self.crossed = [], set()
        for buffer in self.buffers:
            if buffer["memory"] == "local":
                self.local[buffer["name"]].append(buffer)
        self.known = {buffer["name"] for buffer in self.buffers}
        for step in plan["steps"]:
            for name in {self.buffers[i]["name"] for i in step["writes"]} if step["column"] not in MOVES else ():
                self.written[name].append(step)
        self.moving = self.what_moves()

    def what_moves(self):
        """Names that are no constants."""
        moving = set(self.network.given)
        for node in self.network.nodes:
            reads = any(name in moving for name in node.inputs) and node.op not in TELLS_A_SHAPE
            if reads or node.op in RANDOM:
                moving.update(node.outputs)
            elif node.calls:
                moving.update(name for name in node.outputs if name in self.written)
        return moving

    def fault(self, node, what):
        self.faults.append(f"{node.op} -> {', '.join(node.outputs)}: {what}")

    def sources(self, node):
        """Names that the node's inputs come from, through those without a buffer; and those of them that move."""
        found, inner, left = set(), set(), list(node.inputs)
        while left:
            name = left.pop()
            maker = self.network.maker.get(name)
            if not name or name in found | inner:
                continue
            if name in self.known or maker is None or maker.op in TELLS_A_SHAPE:
                found.add(name)
                continue
            (inner if name in self.moving else found).add(name)
            left += maker.inputs
        return found, inner

    def read_names(self, ids):
        """Names of the file that these buffers come from."""
        found, seen, left = set(), set(), list(ids)
        while left:
            buffer = self.buffers[left.pop()]
            name = buffer["name"]
            if name in self.network.names:
                found.add(name)
            elif name not in seen:
                seen.add(name)
                left += [i for step in self.written[name] for i in step["reads"]]
                left += [buffer["alias_of"]] if buffer["alias_reason"] in ("view", "split") else []
        return found

    def codes_read(self, inputs, reads):
        """Inputs that another node reads as float too: this step reads their codes. By name of the float, the codes."""
        makers = {name: self.network.maker.get(name) for name in inputs - reads}
        return {name: maker.inputs[0] for name, maker in makers.items()
                if maker is not None and maker.op in DECODERS and maker.inputs[0] in reads}

    def check_step(self, node, step, inputs):
        reads = self.read_names(step["reads"])
        codes = self.codes_read(inputs, reads) if node.op in CODERS else {}
        inputs = (inputs - codes.keys()).union(codes.values())
        needed = inputs & self.moving
        self.counts["inputs that a step reads"] += len(needed & reads)
        self.counts["constants that a step reads"] += len((inputs & reads) - needed)
        self.counts["not judged: constants that no step reads"] += len(set(node.inputs) - self.moving - reads - {""})
        if needed - reads:
            self.fault(node, f"step {step['index']} does not read {', '.join(sorted(needed - reads))}")
        if reads - inputs:
            self.fault(node, f"step {step['index']} reads {', '.join(sorted(reads - inputs))}, no input of the node")

    def check_rule(self, node, name, needed):
        """No step writes it: it is a view of an input, or each input is a part of it."""
        ids = {buffer["id"] for buffer in self.local[name]}
        sources = [b["alias_of"] for b in self.local[name] if b["alias_reason"] in ("view", "split")]
        parts = {b["name"] for b in self.buffers if b["alias_of"] in ids and b["alias_reason"] == "concat"}
        is_view = len(ids) == len(sources) == 1 and bool(self.read_names(sources) & needed)
        is_whole = parts == needed and bool(parts)
        self.counts["outputs that are views"] += is_view
        self.counts["outputs that are made of their parts"] += is_whole
        if not is_view and not is_whole:
            self.fault(node, f"no step writes {name}, and it is neither a view of an input nor made of all inputs")

    def check_coders(self, node, inner):
        """Names without a buffer are right only where coders are read as one with what is between them."""
        ops = {node.op} | {self.network.maker[name].op for name in inner}
        self.crossed |= inner
        self.counts["names without a buffer, beside a Quantize or Dequantize"] += len(inner)
        if inner and not ops & CODERS:
            self.fault(node, f"{', '.join(sorted(inner))} have no buffer")

    def are_tiles(self, steps):
        """Two tiles in flight: the same operator on the same tensors, each time in other buffers or of other parts."""
        return len(steps) == 1 or all(
            self.read_names(step["reads"]) == self.read_names(steps[0]["reads"]) for step in steps) and any(
            step["repeat"] > 1 or step["writes"] + step["reads"] != steps[0]["writes"] + steps[0]["reads"]
            for step in steps)

    def check_node(self, node):
        inputs, inner = self.sources(node)
        steps = {}
        for name in self.known.intersection(node.outputs):
            found = self.written[name]
            if not found:
                self.check_rule(node, name, inputs & self.moving)
                continue
            if name in self.network.given:  # a variable, which several nodes may assign
                found = [step for step in found if inputs & self.moving <= self.read_names(step["reads"])] or found
            elif len({step["node"] for step in found}) > 1 or not self.are_tiles(found):
                self.fault(node, f"{len(found)} steps write {name}")
            self.counts["outputs that a step writes"] += 1
            steps[found[0]["index"]] = found[0]
        if len(steps) > 1:
            self.fault(node, f"steps {', '.join(map(str, steps))} write its outputs")
        for step in steps.values():
            self.check_step(node, step, inputs)
        if self.known.intersection(node.outputs):
            self.check_coders(node, inner)

    def is_judged(self, node):
        if node.calls:
            self.counts["not judged: nodes that call a subgraph"] += 1
            return False
        if self.network.twice.intersection(node.inputs + node.outputs):
            self.counts["not judged: nodes of a name that occurs twice"] += 1
            return False
        return bool(self.moving.intersection(node.outputs))

    def run(self):
        judged = [node for node in self.network.nodes if self.is_judged(node)]
        for node in judged:
            self.check_node(node)
        for node in judged:
            lost = set(node.outputs) - self.known - self.crossed
            if lost:
                self.fault(node, f"{', '.join(sorted(lost))} have no buffer")
        return self.faults


class Readers:
    """The networks of files; `why_not` tells what can't be read here."""

    def __init__(self, shared, folder):
        facts, self.folder = os.path.join(shared, "facts", "tflite-format.tsv"), folder
        self.has_flatc = bool(shared and shutil.which("flatc") and os.path.exists(facts))
        if self.has_flatc:
            self.names = tflite_schema.write(facts, os.path.join(folder, "tflite.fbs"))
        else:
            models.skip("dataflow", "TFLite files: needs flatc and facts/tflite-format.tsv of S0_SHARED")
        if onnx is None:
            models.skip("dataflow", "ONNX files: needs the onnx package for Python")

    def network(self, model):
        """None where it can't be read."""
        if model.path.endswith(".onnx"):
            return onnx_network(model.path) if onnx is not None else None
        return tflite_network(tflite_schema.read_json(model.path, self.folder), self.names) if self.has_flatc else None


def compare(stride0, model, network, device, options, counts):
    """Faults; None where there is no plan, on which corpus.py speaks."""
    done = models.run(stride0, "plan", model, "-d", device, "--budget", "1G", "--quiet", "--simplify", "none",
                      "--json", "-", *options)
    if done.returncode != models.DONE:
        return None
    return Comparison(network, json.loads(done.stdout), counts).run()


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    counts, faults, ways = collections.Counter(), 0, itertools.cycle(itertools.product(("mcu-cm", "teach"), WAYS))
    networks = models.networks(shared)
    singles = models.single_operators(shared) + models.testdata()
    with tempfile.TemporaryDirectory() as folder:
        readers = Readers(shared, folder)
        for model in networks + singles:
            network = readers.network(model)
            turns = itertools.product(("mcu-cm", "teach"), WAYS) if model in networks else [next(ways)]
            for device, options in turns if network is not None else ():
                found = compare(stride0, model, network, device, options, counts)
                counts["plans"] += found is not None
                faults += len(found or ())
                for fault in (found or ())[:5]:
                    print(f"FAIL {model.name} on {device} {' '.join(options)}: {fault}")
    for what, count in counts.items():
        print(f"{count:8} {what}")
    print(f"{faults} faults")
    if not counts["plans"]:
        return models.SKIP
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
