#!/usr/bin/env python3
"""What editing a TFLite file changes, against what was asked for, both files read by flatc.

    emit_tflite.py EDIT_TFLITE FACTS.tsv MODEL.tflite...

EDIT_TFLITE edits a model at random and says how. The same is done here to flatc's JSON of the model: everything that
the edit does not name must come out equal, constants byte for byte. Indices of new rows (operator codes, buffers) are
free: they are followed, not compared. The file must lose the bytes of constants that nobody names any more."""
import json
import os
import subprocess
import sys
import tempfile

import tflite_schema

SEEDS = 3
OPTIONS = {0: "AddOptions", 18: "MulOptions", 114: "QuantizeOptions"}
TENSOR_LISTS = ("inputs", "outputs", "intermediates")


class Trouble(Exception):
    pass


def same(where, got, wanted):
    if got != wanted:
        raise Trouble(f"{where}: got {str(got)[:200]}, wanted {str(wanted)[:200]}")


def named_tensors(model, edit):
    """Tensors of the main subgraph that something in the result names."""
    main = model["subgraphs"][0]
    named = set(main.get("inputs", []) + main.get("outputs", []))
    for node in edit["nodes"]:
        filed = main["operators"][node["file"]] if "file" in node else {}
        for key in TENSOR_LISTS:
            named |= set(node.get(key, filed.get(key, [])))
    for signature in model.get("signature_defs", []):
        if signature.get("subgraph_index", 0) == 0:
            named |= {entry.get("tensor_index", 0) for key in ("inputs", "outputs") for entry in signature.get(key, [])}
    return named


class Numbers:
    """Ids of the edit as tensors of the result."""

    def __init__(self, model, edit):
        self.count = len(model["subgraphs"][0].get("tensors", []))
        named, dropped = named_tensors(model, edit), set(edit["dropped"])
        self.kept = [k for k in range(self.count) if k not in dropped or k in named]
        self.of = {old: new for new, old in enumerate(self.kept)}
        self.of.update({value["id"]: len(self.kept) + k for k, value in enumerate(edit["added"])})
        self.of[-1] = -1
        self.variables = range(self.count, edit["file_values"])

    def renumber(self, tensors):
        return [self.of.get(k, k) for k in tensors if k not in self.variables or k in self.of]


def code_of(model, operator):
    code = dict(model["operator_codes"][operator.get("opcode_index", 0)])
    builtin = code.pop("builtin_code", "ADD")
    return code.pop("deprecated_builtin_code", 0), builtin, code.get("version", 1)


def compare_new_operator(names, where, model, got, node, numbers):
    builtin = node["builtin"]
    same(where + " code", code_of(model, got)[1:], (names.name_of(builtin), node["version"]))
    same(where + " old code", code_of(model, got)[0] in (builtin, 0), True)
    options = {} if builtin == 114 else {"fused_activation_function": "NONE"}
    wanted = {"opcode_index": got["opcode_index"], "inputs": numbers.renumber(node["inputs"]),
              "outputs": numbers.renumber(node["outputs"]), "builtin_options_type": OPTIONS[builtin],
              "builtin_options": options}
    same(where, got, wanted)


def compare_operators(names, model, result, edit, numbers):
    old, new = model["subgraphs"][0]["operators"], result["subgraphs"][0]["operators"]
    same("operators", len(new), len(edit["nodes"]))
    for k, node in enumerate(edit["nodes"]):
        where = f"operator {k}"
        if "file" not in node:
            compare_new_operator(names, where, result, new[k], node, numbers)
            continue
        wanted = dict(old[node["file"]])
        for key in TENSOR_LISTS:
            if key in wanted:
                wanted[key] = numbers.renumber(node.get(key, wanted[key]))
        same(where, new[k], wanted)


def quant_of(quant):
    """flatc prints float32 with six decimals."""
    return {"scale": [round(scale, 6) for scale in quant["scale"]], "zero_point": quant["zero_point"], "quantized_dimension": quant["axis"]}


def data_of(model, tensor):
    return model["buffers"][tensor.get("buffer", 0)].get("data", [])


def compare_new_tensor(where, result, got, value):
    wanted = {"shape": [1 if extent < 0 else extent for extent in value["shape"]], "type": value["dtype"].upper(),
              "buffer": got["buffer"], "name": value["name"]}
    if value["quant"]:
        wanted["quantization"] = quant_of(value["quant"])
    if -1 in value["shape"]:
        wanted["shape_signature"] = value["shape"]
    same(where, got, wanted)
    same(where + " data", data_of(result, got), value["data"])


def compare_tensors(model, result, edit, numbers):
    old, new = model["subgraphs"][0].get("tensors", []), result["subgraphs"][0].get("tensors", [])
    same("tensors", len(new), len(numbers.kept) + len(edit["added"]))
    requantised = {entry["id"]: quant_of(entry["quant"]) for entry in edit["requantised"]}
    for k, number in enumerate(numbers.kept):
        wanted = dict(old[number])
        if number in requantised:
            wanted["quantization"] = requantised[number]
        same(f"tensor {k}", new[k], wanted)
        same(f"tensor {k} data", data_of(result, new[k]), data_of(model, wanted))
    for k, value in enumerate(edit["added"]):
        compare_new_tensor(f"new tensor {k}", result, new[len(numbers.kept) + k], value)


def used_buffers(model, tensors):
    used = {0} | {tensor.get("buffer", 0) for tensor in tensors}
    used |= {tensor.get("buffer", 0) for graph in model["subgraphs"][1:] for tensor in graph.get("tensors", [])}
    return used | {entry.get("buffer", 0) for entry in model.get("metadata", [])} | set(model.get("metadata_buffer", []))


def compare_buffers(model, result, numbers):
    """The bytes that the file loses, and those it gains."""
    old, new, freed, added = model["buffers"], result["buffers"], 0, 0
    tensors = model["subgraphs"][0].get("tensors", [])
    kept = used_buffers(model, [tensors[k] for k in numbers.kept])
    dropped = {tensor.get("buffer", 0) for tensor in tensors} - kept
    named = used_buffers(result, result["subgraphs"][0].get("tensors", []))
    for k, buffer in enumerate(new):
        if k < len(old) and k not in dropped:
            same(f"buffer {k}", buffer, old[k])
        else:
            added += len(buffer.get("data", []))
            freed += len(old[k].get("data", [])) if k < len(old) else 0
            same(f"buffer {k} is empty or used", k in named or buffer == {}, True)
    return freed, added


def compare_signatures(model, result, numbers):
    wanted = json.loads(json.dumps(model.get("signature_defs", [])))
    for signature in wanted:
        if signature.get("subgraph_index", 0) == 0:
            for entry in signature.get("inputs", []) + signature.get("outputs", []):
                if "tensor_index" in entry:
                    entry["tensor_index"] = numbers.renumber([entry["tensor_index"]])[0]
    same("signatures", result.get("signature_defs", []), wanted)


def compare_rest(model, result, numbers):
    own = ("subgraphs", "operator_codes", "buffers", "signature_defs")
    same("the model", {k: v for k, v in result.items() if k not in own},
         {k: v for k, v in model.items() if k not in own})
    same("other subgraphs", result["subgraphs"][1:], model["subgraphs"][1:])
    codes = model.get("operator_codes", [])
    same("operator codes", result.get("operator_codes", [])[:len(codes)], codes)
    wanted = dict(model["subgraphs"][0], tensors=None, operators=None)
    for key in ("inputs", "outputs"):
        wanted[key] = numbers.renumber(wanted[key])
    same("the main subgraph", dict(result["subgraphs"][0], tensors=None, operators=None), wanted)


def edited(tool, path, out, seed):
    done = subprocess.run([tool, path, out, str(seed)], capture_output=True, check=True, encoding="utf-8")
    edit = json.loads(done.stdout)
    for key in ("nodes", "added", "dropped", "requantised"):
        same("the end of " + key, edit[key].pop(), None)
    return edit


def check(tool, names, path, model, seed, folder):
    """Whether the edit asked for anything."""
    out = os.path.join(folder, "edited.tflite")
    edit = edited(tool, path, out, seed)
    result, numbers = tflite_schema.read_json(out, folder), Numbers(model, edit)
    compare_operators(names, model, result, edit, numbers)
    compare_tensors(model, result, edit, numbers)
    compare_signatures(model, result, numbers)
    compare_rest(model, result, numbers)
    freed, added = compare_buffers(model, result, numbers)
    rows = len(edit["nodes"]) + len(edit["added"]) + len(edit["requantised"])
    small = 64 + 16 * len(model["buffers"]) + 16 * len(edit["nodes"]) + 500 * (len(edit["added"]) + len(edit["requantised"]))
    size, old = os.path.getsize(out), os.path.getsize(path)
    if size > old - freed + added + small:
        raise Trouble(f"{size} bytes, from {old} with {freed} less and {added} more ({rows} rows)")
    return bool(edit["added"] or edit["dropped"] or edit["requantised"])


def main():
    tool, facts, models = sys.argv[1], sys.argv[2], sys.argv[3:]
    failed = edits = 0
    with tempfile.TemporaryDirectory() as folder:
        names = tflite_schema.write(facts, os.path.join(folder, "tflite.fbs"))
        for number, path in enumerate(models):
            model = tflite_schema.read_json(path, folder)
            for seed in range(1 + SEEDS * number, 1 + SEEDS * (number + 1)):
                try:
                    edits += check(tool, names, path, model, seed, folder)
                except Trouble as trouble:
                    failed += 1
                    print(f"{path} seed {seed}: {trouble}")
    print(f"{len(models)} models, {edits} edits, {failed} failed")
    return 1 if failed or edits < len(models) else 0


if __name__ == "__main__":
    sys.exit(main())
