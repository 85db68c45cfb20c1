#!/usr/bin/env python3
"""Every model at hand through `stride0 plan`: each must plan, or be told what is wrong with it.

    corpus.py STRIDE0 [SHARED]

Status 1 is for models that no runtime can run, listed below with what is wrong in them, and for the folder of models
that ONNX Runtime rejects; status 3 must name an operator, a tensor or a free dimension and one of the reasons below. A
free dimension is then given, as the message says, and the model must plan or have another of these reasons. Each plan
passes check_plan.py, in the order of the file and in the one of --order memory. Prints the counts by status and reason, and the operators that were refused."""
import collections
import os
import re
import sys
import tempfile

import check_plan
import models
from models import BAD_INPUT, DONE, REFUSED

NETWORK_COUNT = 49
REFUSED_NETWORKS = {"onnx/mlperf_kws_requantshift_customop.onnx": "RequantShift"}
REJECTED = "onnx-node/migraphx-rejected-by-ort/"

# Of models that carry their runtime's blessing, the reasons not to plan them.
REASONS = {
    "a free dimension": r"axis \d+ of the input has no fixed extent",
    "an operator that no document defines": r"operator '.+' is not known",
    "a sequence, map or optional": r"sequence.*ha(s|ve) no byte layout",
    "strings": r"strings have no byte layout",
    "a shape that depends on data": r"the output's shape is neither in the file nor follows",
    "training": r"in training mode",
    "Scan of opset 8": r"Scan of opset 8",
}

# Single-operator models that runtimes load, for tests of graph rewriting, but can't run.
BROKEN = {
    "onnx-node/ort-fusion/embed_layer_norm_format1.onnx": r"an index lies outside the axis",
    "onnx-node/ort-fusion/embed_layer_norm_format3.onnx": r"the matrices do not fit",
    "onnx-node/ort-fusion/embed_layer_norm_format3_no_cast.onnx": r"the matrices do not fit",
    "onnx-node/ort-fusion/embed_layer_norm_format5.onnx": r"the constant's data does not have the size of its shape",
    "onnx-node/ort-fusion/embed_layer_norm_format6.onnx": r"the matrices do not fit",
    "onnx-node/ort-fusion/reshape_fusion_concat_subgraph_mul.onnx": r"the elements do not fit the new shape",
    "onnx-node/ort-fusion/reshape_fusion_input_is_graph_input.onnx": r"the elements do not fit the new shape",
    "onnx-node/ort-fusion/reshape_fusion_multiple_values_in_initializer_tensor_1.onnx":
        r"the elements do not fit the new shape",
}
# Free dimensions that belong together: a value for one alone contradicts the others.
DIMS = {
    "onnx-node/ort-fusion/gpt2_past_mask_one_layer.onnx": {"seq_len": 2, "past_seq_len": 3, "past_seq_len+seq_len": 5},
}


class Walk:
    def __init__(self, stride0, json_path):
        self.stride0, self.json_path = stride0, json_path
        self.faults, self.endings = [], collections.defaultdict(collections.Counter)
        self.operators, self.broken = collections.Counter(), set(BROKEN)
        self.orders = collections.Counter()

    def fault(self, model, what, stderr):
        self.faults.append(f"FAIL {model.name}: {what}\n{stderr}")

    def plan(self, model, *dims):
        """Status and reason; the reason of what is planned is empty."""
        done = models.run(self.stride0, "plan", model, "-d", "mcu-cm", "--budget", "256M", "--quiet", "--json",
                          self.json_path, *dims)
        trouble = models.Trouble(model, done.stderr)
        for fault in check_plan.Checker(self.json_path).run() if done.returncode == DONE else []:
            self.fault(model, fault, "")
        if done.returncode == DONE:
            self.reordered(model, dims)
        if done.returncode not in (DONE, BAD_INPUT, REFUSED):
            self.fault(model, f"status {done.returncode}", done.stderr)
        if (done.returncode == DONE) != (done.stderr == ""):
            self.fault(model, f"status {done.returncode} does not go with the messages", done.stderr)
        return done.returncode, trouble

    def reordered(self, model, dims):
        """The same in another order of the operators."""
        done = models.run(self.stride0, "plan", model, "-d", "mcu-cm", "--budget", "256M", "--quiet", "--json",
                          self.json_path, "--order", "memory", *dims)
        if done.returncode != DONE or done.stderr != "":
            self.fault(model, f"--order memory: status {done.returncode}", done.stderr)
            return
        checker = check_plan.Checker(self.json_path)
        for fault in checker.run():
            self.fault(model, f"--order memory: {fault}", "")
        order = checker.plan["order"]
        self.orders["in another order, which needs less"] += order["moved"] > 0
        self.orders["proven to have no lower order"] += order["lowest"]
        self.orders["with one order"] += not order["has_choice"]

    def reason(self, model, status, trouble):
        """Why a model does not plan; "" where it does."""
        is_rejected = model.name.startswith(REJECTED)
        if status == DONE:
            return ""
        if status == BAD_INPUT:
            is_broken = model.name in BROKEN and re.search(BROKEN[model.name], trouble.what)
            self.broken.discard(model.name)
            if trouble.kind != "error" or not (is_rejected or is_broken):
                self.fault(model, "a valid model is an error", trouble.stderr)
            return "rejected by ONNX Runtime" if is_rejected else "broken, though it loads"
        if trouble.kind != "refused" or not (trouble.op or trouble.tensor):
            self.fault(model, "the refusal names neither operator nor tensor", trouble.stderr)
        for name, pattern in REASONS.items():
            if re.search(pattern, trouble.what):
                return name
        if not is_rejected:
            self.fault(model, "no reason to refuse a valid model", trouble.stderr)
        return "rejected by ONNX Runtime"

    def bound(self, model, trouble):
        """Gives each free dimension a value of its own, as the message asks for it, until none is left."""
        given, status = {}, REFUSED
        while True:
            wanted = [name for name in re.findall(r"pass --dim (.+)=VALUE", trouble.stderr) if name not in given]
            if not wanted:
                return status, trouble
            for name in wanted:
                given.setdefault(name, DIMS.get(model.name, {}).get(name, 2 + len(given)))
            status, trouble = self.plan(model, *(f"--dim={name}={value}" for name, value in given.items()))

    def model(self, group, model):
        status, trouble = self.plan(model)
        reason = self.reason(model, status, trouble)
        self.endings[group][status, reason] += 1
        if status == REFUSED and trouble.op:
            self.operators[trouble.op, reason] += 1
        if reason == "a free dimension":
            status, trouble = self.bound(model, trouble)
            reason = self.reason(model, status, trouble)
            self.endings[f"{group}, free dimensions given"][status, reason] += 1
            if reason == "a free dimension":
                self.fault(model, "--dim as it was asked for does not help", trouble.stderr)
        return status, reason, trouble

    def networks(self, found):
        for model in found:
            status, reason, trouble = self.model("whole networks", model)
            if status != DONE and REFUSED_NETWORKS.get(model.name) != trouble.op:
                self.fault(model, "a whole network must plan", trouble.stderr)
        if len(found) != NETWORK_COUNT:
            self.faults.append(f"FAIL {len(found)} whole networks, expected {NETWORK_COUNT}")

    def table(self):
        for group, endings in self.endings.items():
            print(f"\n{group}: {sum(endings.values())}")
            for (status, reason), count in sorted(endings.items()):
                print(f"  {count:5}  status {status}  {reason}")
        print("\nrefused operators")
        for (op, reason), count in sorted(self.operators.items(), key=lambda item: (-item[1], item[0])):
            print(f"  {count:5}  {op}: {reason}")


def walk_all(walk, shared):
    networks, singles, testdata = models.networks(shared), models.single_operators(shared), models.testdata()
    if networks:
        walk.networks(networks)
    else:
        models.skip("corpus", "the shared models, S0_SHARED has none")
    for model in singles:
        walk.model("single operators", model)
    if singles:
        walk.faults += [f"FAIL {name}: is no longer an error" for name in sorted(walk.broken)]
    if not testdata:
        models.skip("corpus", "the ONNX project's test models, libonnx-testdata is not installed")
    for model in testdata:
        walk.model("the ONNX project's test models", model)


def main():
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(sys.argv[1], os.path.join(folder, "plan.json"))
        walk_all(walk, sys.argv[2] if len(sys.argv) > 2 else "")
    if not walk.endings:
        return models.SKIP
    walk.table()
    print("".join(f"\n--order memory: {count} {what}" for what, count in walk.orders.items()))
    print("\n".join(["", *walk.faults, f"{len(walk.faults)} faults"]))
    return 1 if walk.faults else 0


if __name__ == "__main__":
    sys.exit(main())
