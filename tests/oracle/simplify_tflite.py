#!/usr/bin/env python3
"""Simplified TFLite models against the originals, both read by flatc.

    simplify_tflite.py STRIDE0 FACTS.tsv MODEL.tflite...

Each model is simplified with --verify, exactly and with a tolerance. An operator is the one that writes the same
tensors. All that no rewrite names must be equal: rows and bytes of tensors, operators with their options and versions,
metadata, signatures, other subgraphs. An operator may read another tensor only where a removed operator passed that
one on, or where both are constants of the same numbers; operators that differ in more, or are new, are at most as many
as the report has rewrites that make such. A network that is made here (tflite_made.py) must come out with the weights
and biases of its definition. Prints the table of what vanished."""
import itertools
import json
import os
import sys
import tempfile

import models
import simplify_report
import tflite_made
import tflite_schema

TOLERANCE = 8
MUST_SHRINK = ("mww_okay_nabu_v1.tflite",)
# Rewrites that take operators away and leave the others what they were.
REMOVING = {"merged", "collapsed", "unread", "same_elements", "flattened_anyway", "unit_scale", "zero_bias", "unit_norm"}
CONVOLUTIONS = {"CONV_2D", "DEPTHWISE_CONV_2D"}
FOLDS = {"fold_into_convolution", "fold_into_next_convolution"}
TENSOR_LISTS = ("inputs", "outputs", "intermediates")


class Trouble(Exception):
    pass


def same(where, got, wanted):
    if got != wanted:
        raise Trouble(f"{where}: got {str(got)[:200]}, wanted {str(wanted)[:200]}")


class Main:
    """The main subgraph: tensors by name (the second of a name is told apart by its number), who writes them."""

    def __init__(self, model):
        self.model, graph = model, model["subgraphs"][0]
        self.operators, self.tensors, self.labels, seen = graph.get("operators", []), {}, {-1: None}, {}
        for k, tensor in enumerate(graph.get("tensors", [])):
            name = tensor.get("name", "")
            seen[name] = seen.get(name, 0) + 1
            self.labels[k] = (name, seen[name])
            self.tensors[self.labels[k]] = tensor
        self.by_outputs = {self.names(operator, "outputs"): operator for operator in self.operators}
        self.writer = {name: operator for operator in self.operators for name in self.names(operator, "outputs")}

    def names(self, row, key):
        return tuple(self.labels[k] for k in row.get(key, []))

    def data(self, name):
        return self.model["buffers"][self.tensors[name].get("buffer", 0)].get("data", [])

    def row(self, name):
        return {key: value for key, value in self.tensors[name].items() if key != "buffer"}

    def code(self, operator):
        return self.model["operator_codes"][operator.get("opcode_index", 0)]

    def rest(self, operator):
        """What an operator is beside the tensors it names."""
        return self.code(operator), {k: v for k, v in operator.items() if k not in (*TENSOR_LISTS, "opcode_index")}


def is_repeated(old, shape, few, few_shape):
    """Is `few` what repeats to `old` along axes of extent 1? Both are lists of bytes."""
    elements = 1
    for extent in shape:
        elements *= extent
    width, padded = len(old) // max(elements, 1), [1] * (len(shape) - len(few_shape)) + few_shape
    if len(padded) != len(shape) or any(f not in (1, e) for f, e in zip(padded, shape)):
        return False
    at = 0
    for index in itertools.product(*map(range, shape)):
        source = 0
        for k, extent in zip(index, padded):
            source = source * extent + (k if extent > 1 else 0)
        if old[at:at + width] != few[source * width:(source + 1) * width]:
            return False
        at += width
    return True


def same_constant(old, new, was, now):
    a, b = old.row(was), new.row(now)
    is_kind = all(a.get(key) == b.get(key) for key in ("type", "quantization", "sparsity"))
    x, y = old.data(was), new.data(now)
    return is_kind and bool(x) and bool(y) and is_repeated(x, a.get("shape", []), y, b.get("shape", []))


def passed_on(old, new, was, now):
    """Did removed operators lead from `now` to `was`?"""
    while was in old.writer and old.names(old.writer[was], "outputs") not in new.by_outputs:
        sources = [name for name in old.names(old.writer[was], "inputs") if name == now or name in old.writer]
        if now in sources:
            return True
        if len(sources) != 1:
            return False
        was = sources[0]
    return was == now


def is_twin(old, new, was, now):
    """Written by equal operators, so that one was enough."""
    a, b = old.writer.get(was), new.writer.get(now)
    return (a is not None and b is not None and old.row(was) | {"name": ""} == new.row(now) | {"name": ""} and
            old.names(a, "outputs").index(was) == new.names(b, "outputs").index(now) and is_same_operator(old, new, a, b))


def is_unchanged(old, new, name):
    """Of a name that both have: another constant may have taken it."""
    return name is None or old.data(name) == new.data(name)


def stands_for(old, new, was, now):
    if was is None or now is None:
        return False
    return passed_on(old, new, was, now) or same_constant(old, new, was, now) or is_twin(old, new, was, now)


def is_same_operator(old, new, was, now):
    """Equal but for inputs that stand for the old ones."""
    a, b = old.names(was, "inputs"), new.names(now, "inputs")
    return (old.rest(was) == new.rest(now) and len(a) == len(b) and
            old.names(was, "intermediates") == new.names(now, "intermediates") and
            all(is_unchanged(old, new, x) if x == y else stands_for(old, new, x, y) for x, y in zip(a, b)))


def compare_operators(old, new):
    """Operators that are not what they were, in the result; and those of the original that are gone."""
    made = [operator for outputs, operator in new.by_outputs.items() if outputs not in old.by_outputs or
            not is_same_operator(old, new, old.by_outputs[outputs], operator)]
    gone = [outputs for outputs in old.by_outputs if outputs not in new.by_outputs]
    return made, gone


def is_folded_into(new, made, name):
    """Is it the weights or the bias of convolutions only, of those that are not what they were?"""
    readers = [operator for operator in made if name in new.names(operator, "inputs")]
    return bool(readers) and all(CONVOLUTIONS & set(new.code(operator).values()) and
                                 name in new.names(operator, "inputs")[1:] for operator in readers)


def compare_tensors(old, new, made, folds):
    """A tensor is what it was, or a rewrite named it: an operator that is new reads or writes it, or it is a constant.
    Data change under an unchanged name and shape only where an affine went into a convolution."""
    named = {name for operator in made for key in TENSOR_LISTS for name in new.names(operator, key)}
    for name in new.tensors:
        if name not in old.tensors:
            same(f"tensor {name[0]} is new", name in named or bool(new.data(name)), True)
        elif name not in named:
            same(f"tensor {name[0]}", new.row(name), old.row(name))
            same(f"the data of {name[0]}", new.data(name), old.data(name))
        elif new.row(name) == old.row(name) and new.data(name) != old.data(name):
            same(f"an affine went into {name[0]}", folds and is_folded_into(new, made, name), True)


def outside(model):
    """The model without its main subgraph; buffers by what names them."""
    buffers, main = model["buffers"], Main(model)

    def data(k):
        return buffers[k].get("data", [])

    others = [dict(graph, tensors=[dict(tensor, buffer=data(tensor.get("buffer", 0)))
                                   for tensor in graph.get("tensors", [])],
                   operators=[(main.code(operator), {**operator, "opcode_index": 0})
                              for operator in graph.get("operators", [])]) for graph in model["subgraphs"][1:]]
    signatures = json.loads(json.dumps(model.get("signature_defs", [])))
    for signature in signatures:
        if signature.get("subgraph_index", 0) == 0:
            for entry in signature.get("inputs", []) + signature.get("outputs", []):
                entry["tensor_index"] = main.labels[entry.get("tensor_index", 0)]
    graph = dict(model["subgraphs"][0], tensors=None, operators=None)
    graph.update({key: main.names(graph, key) for key in ("inputs", "outputs")})
    return {**model, "buffers": None, "operator_codes": None, "subgraphs": [graph, *others], "signature_defs": signatures,
            "metadata": [(entry.get("name"), data(entry.get("buffer", 0))) for entry in model.get("metadata", [])],
            "metadata_buffer": [data(k) for k in model.get("metadata_buffer", [])]}


def compare(model, result, simplified):
    old, new = Main(model), Main(result)
    made, gone = compare_operators(old, new)
    making = sum(count for rule, count in simplified.counts.items() if rule not in REMOVING)
    if len(made) > making:
        raise Trouble(f"{len(made)} operators are not what they were, the report tells of {making}: "
                      f"{new.names(made[0], 'outputs')}")
    same("operators", (len(old.operators), len(new.operators)), simplified.nodes)
    same("operators that are gone", len(gone) >= simplified.nodes[0] - simplified.nodes[1], True)
    compare_tensors(old, new, made, bool(FOLDS & set(simplified.counts)))
    before, after = outside(model), outside(result)
    for key in before:
        same(key, after.get(key), before[key])


def check(stride0, path, folder, tolerance):
    """The result's figures, and the fault or None. A model that stride0 refuses has figures without numbers."""
    out = os.path.join(folder, "simplified.tflite")
    model = models.Model(os.path.dirname(path), path)
    simplified = simplify_report.Simplified(stride0, model, out, f"--tolerance={tolerance}")
    if simplified.status == models.REFUSED:
        return simplified, None
    try:
        same("the status", simplified.status, models.DONE)
        with open(path, "rb") as before, open(out, "rb") as after:
            same("the file is another", before.read() != after.read(), bool(simplified.rules))
        same("the file grows", os.path.getsize(out) > os.path.getsize(path), False)
        if simplified.rules:
            compare(tflite_schema.read_json(path, folder), tflite_schema.read_json(out, folder), simplified)
            same("simplified again it stays", simplified.is_settled(stride0, model, f"--tolerance={tolerance}"), True)
    except Trouble as trouble:
        return simplified, str(trouble)
    return simplified, None


def check_made(stride0, folder):
    """The fault of the made network, or None."""
    made = tflite_made.Made(os.path.join(folder, "made.tflite"))
    simplified, fault = check(stride0, made.path, folder, TOLERANCE)
    if fault or simplified.counts != simplified.counts | tflite_made.RULES:
        return fault or f"the rewrites are {simplified.counts}"
    return tflite_made.fault(made, tflite_schema.read_json(simplified.path, folder))


def line(name, simplified, fault):
    pairs = [getattr(simplified, key) for key in ("nodes", "constants", "file", "peak")]
    cells = ["-" if pair is None else f"{pair[0]} {pair[1]}" for pair in pairs]
    return "\t".join([name, *cells, simplified.proof, "DIFFERENT" if fault else "as the report says"])


def main():
    stride0, facts, paths = sys.argv[1], sys.argv[2], sys.argv[3:]
    faults, refused, shrunk, changed = [], 0, set(), 0
    print("model\tnodes\tconstant bytes\tfile bytes\tpeak bytes\tproof\tverdict")
    with tempfile.TemporaryDirectory() as folder:
        tflite_schema.write(facts, os.path.join(folder, "tflite.fbs"))
        fault = check_made(stride0, folder)
        faults += [f"FAIL the made network: {fault}"] if fault else []
        for path, tolerance in itertools.product(paths, (0, TOLERANCE)):
            name = os.path.basename(path)
            simplified, fault = check(stride0, path, folder, tolerance)
            refused += simplified.status == models.REFUSED
            changed += bool(simplified.rules)
            faults += [f"FAIL {name}, tolerance {tolerance}: {fault}"] if fault else []
            if simplified.rules and (tolerance == 0 or simplified.tolerance):
                print(line(name, simplified, fault))
            if simplified.file and simplified.file[1] < simplified.file[0] and simplified.nodes[1] < simplified.nodes[0]:
                shrunk.add(name)
    names = {os.path.basename(path) for path in paths}
    faults += [f"FAIL {name}: does not shrink" for name in MUST_SHRINK if name in names and name not in shrunk]
    print("\n".join(["", *faults, f"{2 * len(paths)} runs, {changed} changed, {refused} refused, {len(faults)} faults"]))
    return 1 if faults or changed == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
