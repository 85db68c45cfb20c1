#!/usr/bin/env python3
"""What `stride0 inspect` reads from TFLite files, against what flatc reads: two readers that share no code.

    tflite_json.py STRIDE0 FACTS.tsv MODEL.tflite...

For each operator: its builtin's or custom code's name, version, and the names of its inputs and outputs. For each tensor:
element type, shape, scales, zero points and axis, bytes and CRC-32 of a constant, is_variable. Of resource variables: one
state tensor a variable, at the end of the list and of its readers' inputs. flatc prints float32 with six digits or so."""
import os
import subprocess
import sys
import tempfile
import zlib

import json

import tflite_schema

DTYPES = {"BFLOAT16": "bfloat16", "FLOAT8_E4M3FN": "float8e4m3fn", "FLOAT8_E5M2": "float8e5m2"}
CUSTOM = 32
REFUSED = 3


class Differences:
    def __init__(self, model):
        self.model, self.count = model, 0

    def same(self, where, what, ours, theirs):
        if ours != theirs:
            self.count += 1
            if self.count <= 5:
                print(f"{self.model}: {where}: {what}: stride0 {ours}, flatc {theirs}")


def close(ours, theirs):
    return len(ours) == len(theirs) and all(abs(a - b) <= 1e-6 + 1e-5 * abs(b) for a, b in zip(ours, theirs))


def tensor_name(tensor, index):
    return tensor.get("name") or f"tensor#{index}"


def expected_quant(tensor):
    quant = tensor.get("quantization") or {}
    scales = quant.get("scale") or []
    if not scales:
        return None
    axis = -1 if len(scales) == 1 else 0 if len(tensor["shape"]) == 1 else quant.get("quantized_dimension", 0)
    return scales, quant.get("zero_point") or [0] * len(scales), axis


def compare_quant(diff, where, ours, tensor):
    theirs = expected_quant(tensor)
    diff.same(where, "is quantised", ours is not None, theirs is not None)
    if ours is not None and theirs is not None:
        if not close(ours["scale"], theirs[0]):
            diff.same(where, "scales", ours["scale"], theirs[0])
        diff.same(where, "zero points", ours["zero_point"], theirs[1])
        diff.same(where, "axis", ours["axis"], theirs[2])


def compare_shape(diff, where, ours, tensor):
    """An empty shape may say nothing, and what the signature leaves free is any number: stride0 infers those."""
    theirs = tensor.get("shape") or []
    free = [extent == -1 for extent in tensor.get("shape_signature") or [0] * len(theirs)]
    if theirs and (ours is None or len(ours) != len(theirs) or
                   any(a != b and not f for a, b, f in zip(ours, theirs, free))):
        diff.same(where, "shape", ours, theirs)


def compare_tensor(diff, ours, tensor, index, buffers):
    where = f"tensor {index}"
    kind = tensor.get("type", "FLOAT32")
    diff.same(where, "name", ours["name"], tensor_name(tensor, index))
    diff.same(where, "dtype", ours["dtype"], DTYPES.get(kind, kind.lower()))
    compare_shape(diff, where, ours["shape"], tensor)
    diff.same(where, "is_state", ours["is_state"], bool(tensor.get("is_variable", False)))
    compare_quant(diff, where, ours["quant"], tensor)
    number = tensor.get("buffer", 0)
    data = bytes((buffers[number].get("data") or []) if number < len(buffers) else [])
    if data and not tensor.get("is_variable") and kind != "STRING":
        diff.same(where, "constant_bytes", ours["constant_bytes"], len(data))
        diff.same(where, "crc32", ours["crc32"], zlib.crc32(data))
    else:
        diff.same(where, "constant_bytes", ours["constant_bytes"] or 0, 0)


def operator_code(model, names, operator):
    code = model["operator_codes"][operator.get("opcode_index", 0)]
    number = max(code.get("deprecated_builtin_code", 0), names.index_of(code.get("builtin_code", "ADD")))
    name = "CUSTOM:" + code["custom_code"] if number == CUSTOM else names.name_of(number)
    return name, code.get("version", 1)


def variables_of(model, names):
    """The state tensor's name for each READ_VARIABLE and ASSIGN_VARIABLE, and how many variables there are."""
    by_operator, known = {}, set()
    for s, graph in enumerate(model["subgraphs"]):
        handles = {}
        for k, operator in enumerate(graph.get("operators", [])):
            name, _ = operator_code(model, names, operator)
            if name == "VAR_HANDLE":
                options = operator.get("builtin_options", {})
                handles[operator["outputs"][0]] = (options.get("container", ""), options.get("shared_name", ""))
            elif name in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
                container, shared = handles[operator["inputs"][0]]
                known.add((container, shared))
                by_operator[s, k] = f"{container}/{shared}" if container else shared
    return by_operator, len(known)


def compare(diff, ours, model, names):
    tensors, operators = iter(ours["tensors"]), iter(ours["operators"])
    variables, variable_count = variables_of(model, names)
    for s, graph in enumerate(model["subgraphs"]):
        labels = {-1: None}
        for k, tensor in enumerate(graph.get("tensors", [])):
            labels[k] = tensor_name(tensor, k)
            compare_tensor(diff, next(tensors), tensor, k, model.get("buffers", []))
        for k, operator in enumerate(graph.get("operators", [])):
            read, where = next(operators), f"subgraph {s} operator {k}"
            diff.same(where, "operator", (read["op"], read["version"]), operator_code(model, names, operator))
            extra = [variables[s, k]] if (s, k) in variables else []
            diff.same(where, "inputs", read["inputs"], [labels[i] for i in operator.get("inputs") or []] + extra)
            diff.same(where, "outputs", read["outputs"], [labels[i] for i in operator.get("outputs") or []])
    rest = list(tensors)
    diff.same("the model", "variables", len(rest), variable_count)
    diff.same("the model", "state", all(tensor["is_state"] for tensor in rest), True)
    diff.same("the model", "operators left over", len(list(operators)), 0)


def read_ours(program, model):
    """None where stride0 refuses the model, with a reason."""
    run = subprocess.run([program, "inspect", model, "--json", "-"], capture_output=True)
    if run.returncode == REFUSED and run.stderr:
        return None
    run.check_returncode()
    return json.loads(run.stdout)


def main():
    program, facts, models = sys.argv[1], sys.argv[2], sys.argv[3:]
    failed = refused = 0
    with tempfile.TemporaryDirectory() as folder:
        names = tflite_schema.write(facts, os.path.join(folder, "tflite.fbs"))
        for path in models:
            diff = Differences(os.path.basename(path))
            ours = read_ours(program, path)
            if ours is None:
                refused += 1
                print(f"{diff.model}: refused")
                continue
            compare(diff, ours, tflite_schema.read_json(path, folder), names)
            failed += diff.count > 0
    print(f"{len(models) - failed - refused} of {len(models)} TFLite files are read as flatc reads them")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
