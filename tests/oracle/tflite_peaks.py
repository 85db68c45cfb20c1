#!/usr/bin/env python3
"""The peak of TFLite networks by brute force over the file's operators, from flatc's JSON: a second opinion on `plan`.

    tflite_peaks.py STRIDE0 FACTS.tsv MODEL.tflite...

Rules (independent of src/): sizes are rounded up to 16 bytes; a tensor is alive from the operator that writes it to the
last that reads it; graph inputs from the first operator on, graph outputs to the end; variable tensors and variables
behind resource handles in all operators; handles occupy nothing; operators that only read constants do not run; Reshape,
Squeeze and ExpandDims share the bytes of their input. Nothing is written in place. `plan --inplace none` must find the
same peak and `plan` no larger one."""
import json
import os
import subprocess
import sys
import tempfile

import tflite_schema

BYTES = {"FLOAT32": 4, "FLOAT16": 2, "INT32": 4, "UINT8": 1, "INT64": 8, "BOOL": 1, "INT16": 2, "INT8": 1,
         "FLOAT64": 8, "UINT64": 8, "UINT32": 4, "UINT16": 2, "RESOURCE": 0}
# The batch behind SPACE_TO_BATCH_ND is 25 there; the file holds a stale 1 (its shape_signature says -1), which a walk over
# the file's own shapes can't know.
STALE_SHAPES = {"rfb320_f32_mulC_addC.tflite"}
VIEWS = {"RESHAPE", "SQUEEZE", "EXPAND_DIMS"}


def operator_name(model, names, operator):
    code = model["operator_codes"][operator.get("opcode_index", 0)]
    number = max(code.get("deprecated_builtin_code", 0), names.index_of(code.get("builtin_code", "ADD")))
    return names.name_of(number)


class Walk:
    """One run of the main subgraph with everything it calls, as a list of (reads, writes)."""

    def __init__(self, model, names):
        self.model, self.names = model, names
        self.steps, self.size, self.constant = [], {}, set()
        self.alias, self.variables, self.handle = {}, {}, {}
        main = model["subgraphs"][0]
        self.declare(0)
        self.inputs = [(0, i) for i in main.get("inputs", [])]
        self.outputs = [(0, i) for i in main.get("outputs", [])]
        self.run(0)

    def declare(self, graph):
        for index, tensor in enumerate(self.model["subgraphs"][graph].get("tensors", [])):
            count = 1
            for extent in tensor.get("shape", []):
                count *= extent
            self.size[graph, index] = -(-count * BYTES[tensor.get("type", "FLOAT32")] // 16) * 16
            data = self.model["buffers"][tensor.get("buffer", 0)].get("data", [])
            if data and not tensor.get("is_variable", False):
                self.constant.add((graph, index))
            if tensor.get("is_variable", False):
                self.variables[graph, index] = self.size[graph, index]

    def root(self, tensor):
        while tensor in self.alias:
            tensor = self.alias[tensor]
        return tensor

    def run(self, graph):
        for operator in self.model["subgraphs"][graph].get("operators", []):
            name = operator_name(self.model, self.names, operator)
            reads = [(graph, i) for i in operator.get("inputs", []) if i >= 0]
            writes = [(graph, i) for i in operator.get("outputs", []) if i >= 0]
            self.operator(name, operator, reads, writes)

    def operator(self, name, operator, reads, writes):
        options = operator.get("builtin_options", {})
        if name == "CALL_ONCE":
            called = options.get("init_subgraph_index", 0)
            self.declare(called)
            self.run(called)
            return
        if name == "VAR_HANDLE":
            self.handle[writes[0]] = (options.get("container", ""), options.get("shared_name", ""))
            return
        if name in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            moved = writes[0] if name == "READ_VARIABLE" else reads[1]
            self.variables[self.handle[reads[0]]] = self.size[moved]
        moving = [t for t in reads if t not in self.constant and t not in self.handle]
        static = name == "SHAPE" and all(d >= 0 for d in self.signature(reads[0]))
        if (static or not moving) and name not in ("READ_VARIABLE", "ASSIGN_VARIABLE"):
            self.constant.update(writes)
            return
        if name in VIEWS:
            self.alias[writes[0]] = reads[0]
            return
        self.steps.append((moving, writes))

    def signature(self, tensor):
        graph, index = tensor
        return self.model["subgraphs"][graph]["tensors"][index].get("shape", [])

    def peak(self):
        first, last, end = {}, {}, max(1, len(self.steps))
        for step, (reads, writes) in enumerate(self.steps):
            for tensor in reads + writes:
                root = self.root(tensor)
                first.setdefault(root, step)
                last[root] = step + 1
        for tensor in self.inputs:
            first[self.root(tensor)] = 0
            last.setdefault(self.root(tensor), 1)
        for tensor in self.outputs:
            first.setdefault(self.root(tensor), end - 1)
            last[self.root(tensor)] = end
        held = sum(-(-size // 16) * 16 for size in self.variables.values())
        moving = [r for r in first if r not in self.variables and r not in self.constant]
        return max(held + sum(self.size[r] for r in moving if first[r] <= s < last[r]) for s in range(end))


def planned_peak(stride0, model, extra):
    command = [stride0, "plan", model, "-d", "mcu-cm", "--budget", "256M", "--json", "-"] + extra
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: status {done.returncode}\n{done.stderr.decode()}")
    return json.loads(done.stdout)["totals"]["peak_live_bytes"]


def main():
    stride0, facts, models = sys.argv[1], sys.argv[2], sys.argv[3:]
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        names = tflite_schema.write(facts, os.path.join(folder, "tflite.fbs"))
        for path in models:
            if os.path.basename(path) in STALE_SHAPES:
                print(f"SKIPPED: tflite_peaks {os.path.basename(path)}: the file's shapes are stale")
                continue
            walk = Walk(tflite_schema.read_json(path, folder), names)
            expected = walk.peak()
            none = planned_peak(stride0, path, ["--inplace", "none"])
            auto = planned_peak(stride0, path, [])
            right = none == expected and auto <= none
            failed += not right
            print(f"{'ok  ' if right else 'FAIL'} {os.path.basename(path)}: walked {expected}, "
                  f"planned {none} with --inplace none, {auto} with auto")
    print(f"{len(models) - failed} passed, {failed} failed")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
