#!/usr/bin/env python3
"""Runs models on the simulated device and compares what they give with second opinions; the audit must be exact.

    examples      the worked example, as TFLite and ONNX, on every scratchpad preset
    operators     single-operator models of ONNX's own test data, with the inputs and outputs shipped beside them
    chains        one chain of per-channel operators of each of four networks, with --node

usage: run_models.py STRIDE0 SHARED

Outputs must be the shipped ones bit for bit, but of BatchNormalization: its definition leaves open in which order it is
computed, so what is asked for is docs/semantics.md's order in float32, computed here, and how far the shipped result is
from that is told in ulp. Of chains, which have no shipped result, only the audit is asked for, and that two devices
which cut the map in different tiles give the same outputs."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import models  # noqa: E402

TEST = "run_models"
SCRATCHPADS = ("teach", "nvdla-small", "ethos-u55-128", "sophgo-bm1684x", "rk3588-npu", "ascend-220x", "hexagon-v73",
               "k210-kpu", "gap8", "max78000")
OPERATORS = ("add", "sub", "mul", "div", "relu", "clip", "batchnorm", "quantizelinear", "dequantizelinear")
# Of those, what no command runs: two maps, limits that are inputs, statistics of the batch, plain integers.
REFUSED = ("computes on two maps", "a limit is not a known constant", "plain i", "training", "statistics",
           "operator computes")
NETWORKS = {"tflite/mww_okay_nabu_v1.tflite": 1, "derived/rfb320_muladd.onnx": 3, "onnx/light_densenet121.onnx": 2,
            "derived/mobilenetv2_128_05_qdq_bn.onnx": 2}
CHAIN_DEVICES = ("teach", "rk3588-npu")

faults = []


def fault(name, text):
    faults.append(f"{name}: {text}")


def run(stride0, model, device, *options):
    """The finished process and the JSON it wrote, None where there is none."""
    done = models.run(stride0, "run", model, "-d", device, "--quiet", "--json", "-", *options)
    return done, json.loads(done.stdout) if done.stdout else None


def check_audit(name, done, result):
    """False where it did not run."""
    if done.returncode != models.DONE:
        fault(name, f"status {done.returncode}: {done.stderr[:200]}")
        return False
    audit = result["audit"]
    columns = result["traffic"]["by_column"].values()
    if (audit["faults"] or audit["differences"] or not audit["exact"] or
            audit["declared_bytes"] != audit["used_bytes"] or audit["estimated_bytes"] != audit["touched_bytes"] or
            any(b["estimated_bytes"] != b["touched_bytes"] for b in audit["buffers"]) or
            any(c["booked"] != c["measured"] for c in columns) or
            result["cycles"]["booked"] != result["cycles"]["measured"]):
        fault(name, f"the audit is not exact: {json.dumps(audit)[:300]}")
    return True


def outputs_of(result):
    return [(output["name"], output["crc32"]) for output in result["outputs"]]


def run_examples(stride0):
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "examples")
    for file in ("affine.tflite", "affine.onnx"):
        model = models.Model(folder, os.path.join(folder, file))
        seen = set()
        for device in SCRATCHPADS:
            done, result = run(stride0, model, device)
            if check_audit(f"{file} on {device}", done, result):
                seen.add(str(outputs_of(result)))
        if len(seen) > 1:
            fault(file, "devices give different outputs")
    print(f"examples: 2 on {len(SCRATCHPADS)} devices")


# ---- Single operators

def ulp(a, b):
    """How many floats lie between, at most."""
    import numpy
    bits = [x.view(numpy.int32).astype(numpy.int64) for x in (a, b)]
    bits = [numpy.where(x < 0, -(x & 0x7fffffff), x) for x in bits]
    return int(numpy.abs(bits[0] - bits[1]).max(initial=0))


def normalised(model, inputs):
    """BatchNormalization in float32, in the order of docs/semantics.md."""
    import numpy
    epsilon = numpy.float32(next((a.f for a in model.graph.node[0].attribute if a.name == "epsilon"), 1e-5))
    x, gamma, beta, mean, variance = inputs
    gamma, beta, mean, variance = [v.reshape(1, -1, *[1] * (x.ndim - 2)) for v in (gamma, beta, mean, variance)]
    return (x - mean) / numpy.sqrt(variance + epsilon) * gamma + beta


def check_output(name, got, expected, shipped):
    if got.dtype != expected.dtype or got.shape != expected.shape or got.tobytes() != expected.tobytes():
        fault(name, f"outputs differ: {got.ravel()[:4]}, expected {expected.ravel()[:4]}")
    elif got.tobytes() != shipped.tobytes():
        print(f"{name}: {ulp(got, shipped)} ulp from the shipped result")


def run_operator(stride0, model, folder, device):
    """True where it ran."""
    import numpy
    import onnx
    from onnx import numpy_helper

    def tensor(file):
        with open(os.path.join(folder, file), "rb") as stream:
            return numpy_helper.to_array(onnx.TensorProto.FromString(stream.read()))

    graph = onnx.load(model.path).graph
    inputs = [tensor(f"input_{k}.pb") for k in range(len(graph.input))]
    options = [f"--input={value.name}={folder}/input_{k}.pb" for k, value in enumerate(graph.input)]
    done, result = run(stride0, model, device, "--output-dir", "out", *options)
    if done.returncode == models.REFUSED:
        if not any(text in done.stderr for text in REFUSED):
            fault(model.name, f"refused: {done.stderr[:200]}")
        return False
    if check_audit(f"{model.name} on {device}", done, result):
        for k, value in enumerate(graph.output):
            shipped = tensor(f"output_{k}.pb")
            is_norm = graph.node[0].op_type == "BatchNormalization"
            expected = normalised(onnx.load(model.path), inputs) if is_norm else shipped
            check_output(model.name, numpy.load(f"out/{value.name}.npy"), expected, shipped)
    return True


def run_operators(stride0):
    try:
        import onnx  # noqa: F401
    except ImportError:
        models.skip(TEST, "operators: python3-onnx is missing")
        return False
    pattern = re.compile(r"node/test_(?:" + "|".join(OPERATORS) + r")(?:_.*)?/model\.onnx")
    found = [model for model in models.testdata() if pattern.fullmatch(model.name)]
    if not found:
        models.skip(TEST, f"operators: no models in {models.TESTDATA}")
        return False
    ran = 0
    for model in found:
        folder = os.path.join(os.path.dirname(model.path), "test_data_set_0")
        ran += all([run_operator(stride0, model, folder, device) for device in ("teach", "sophgo-bm1684x")])
    print(f"operators: {ran} of {len(found)} run")
    if ran < len(found) / 3:
        fault("operators", "few run")
    return True


# ---- Chains of networks

def nodes_of(stride0, model, device):
    """What the refusal of the whole network names."""
    done = models.run(stride0, "run", model, "-d", device, "--quiet")
    hint = re.search(r"such as (.*)", done.stderr)
    if done.returncode != models.REFUSED or not hint:
        fault(model.name, f"no chain is named: {done.stderr[:200]}")
        return []
    return re.findall("'([^']*)'", hint[1])


def run_chains(stride0, shared):
    found = [model for model in models.networks(shared) if model.name in NETWORKS]
    if not found:
        models.skip(TEST, "chains: S0_SHARED has no networks")
        return False
    for model in found:
        for node in nodes_of(stride0, model, CHAIN_DEVICES[0])[:NETWORKS[model.name]]:
            seen = set()
            for device in CHAIN_DEVICES:
                done, result = run(stride0, model, device, "--node", node, "--seed", "1")
                if check_audit(f"{model.name} {node} on {device}", done, result):
                    seen.add(str(outputs_of(result)))
            if len(seen) > 1:
                fault(f"{model.name} {node}", "devices give different outputs")
    print(f"chains: of {len(found)} networks")
    return True


def main():
    stride0, shared = os.path.abspath(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    import tempfile
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run_examples(stride0)
        run_operators(stride0)
        all_there = run_chains(stride0, shared)
    for text in faults:
        print("FAULT:", text)
    sys.exit(1 if faults else 0 if all_there else models.SKIP)


main()
