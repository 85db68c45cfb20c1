#!/usr/bin/env python3
"""Runs models on the simulated device and compares what they give with second opinions; the audit must be exact.

    examples      the worked example, as TFLite and ONNX, on every scratchpad preset
    affine        every model of nothing but element-wise and per-channel affine operators, of ONNX's own test data and
                  of onnx-node in S0_SHARED, and some made here; on five presets
    chains        one chain of per-channel operators of each of four networks, with --node

usage: run_models.py STRIDE0 SHARED

Outputs of affine models must be, bit for bit, those of a second computation of docs/semantics.md, made here, and the
shipped ones; but of BatchNormalization, whose definition leaves open in which order it is computed, the shipped ones in
MOST_ULP. What does not run is listed in REFUSALS. Of chains, which have no shipped result, only the audit is asked for,
and that two devices which cut the map in different tiles give the same outputs."""
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import models  # noqa: E402

TEST = "run_models"
SCRATCHPADS = ("teach", "nvdla-small", "ethos-u55-128", "sophgo-bm1684x", "rk3588-npu", "ascend-220x", "hexagon-v73",
               "k210-kpu", "gap8", "max78000")
AFFINE_DEVICES = ("teach", "nvdla-small", "sophgo-bm1684x", "hexagon-v73", "ascend-220x")
MOST_ULP = 16  # of BatchNormalization from the shipped results, which were made in another order of operations

# Models of these operators that do not run: pattern of the name, status, what is told, and why that is no per-channel
# affine that a device runs.
REFUSALS = (
    ("node/test_batchnorm_.*_training_mode/.*", models.REFUSED, "it takes mean and variance from its input",
     "statistics of the batch: each result rests on all elements"),
    ("pytorch-operator/test_operator_add.*", models.REFUSED, "in a type that is neither float32 nor float16",
     "float64, which no device description names"),
    ("pytorch-operator/test_operator_non_float_params/.*", models.REFUSED, "nor of integers that int32 holds",
     "int64, and integers are computed in 32 bits"),
    ("onnx-node/.*/(de)?quantizelinear_.*(blocked_with|blocked_runt|runt_block|too_many|type_mismatch).*",
     models.REFUSED, "its scales go by blocks", "a scale a block is none a channel"),
    ("onnx-node/.*/quantizelinear_blocked_zero_block_size_test.*", models.REFUSED, "do not fit the axis",
     "scales of rank 2 without blocks"),
    ("onnx-node/.*/quantizelinear_.*(invalid_block|size_mismatch|shape_mismatch).*", models.BAD_INPUT,
     "the blocked scales do not fit", "blocks that do not cover the map"),
    ("onnx-node/.*/qlinearmul_bcast_test.*", models.BAD_INPUT, "an element lies outside its type",
     "a zero point of 128 in int8"),
)

# Operator, inputs and output: a letter of the type as numpy has it ("h" is float16), then extents.
MADE = (
    ("Add", "f3.1.5 f1.4.5", "f3.4.5"), ("Sub", "f5 f3.4.5", "f3.4.5"), ("Mul", "f f3.4.5", "f3.4.5"),
    ("Div", "f4.5 f2.3.4.5", "f2.3.4.5"), ("Mul", "f2.3.4.5 f1.1.1", "f2.3.4.5"), ("Add", "f3.4.5 f1.3.4.5", "f1.3.4.5"),
    ("Sub", "h2.3.4.5 h3.1.1", "h2.3.4.5"), ("Div", "h7.3 h7.3", "h7.3"), ("Add", "b2.3.4.5 b3.1.1", "b2.3.4.5"),
    ("Mul", "s7.9 s7.9", "s7.9"), ("Sub", "S7.9 S9", "S7.9"), ("Mul", "i2.3.4.5 i2.3.4.5", "i2.3.4.5"),
    ("Add", "i4.1 i1.6", "i4.6"), ("Clip", "s4.5 s s", "s4.5"), ("Clip", "h4.5 h h", "h4.5"), ("Relu", "b3.4.5", "b3.4.5"),
    ("BatchNormalization", "h2.3.4.5 h3 h3 h3 h3", "h2.3.4.5"), ("BatchNormalization", "h2.3.7 f3 f3 f3 f3", "h2.3.7"),
    ("BatchNormalization", "f2.6 f6 f6 f6 f6", "f2.6"), ("BatchNormalization", "f2.3.2.4.5 f3 f3 f3 f3", "f2.3.2.4.5"),
    ("BatchNormalization", "h2.3.4 h3 h3 f3 f3", "h2.3.4"), ("QuantizeLinear", "f2.3.4.5 f3 b3", "b2.3.4.5"),
    ("QuantizeLinear", "h2.3.4.5 h S", "S2.3.4.5"), ("QuantizeLinear", "f4.6 f s", "s4.6"),
    ("DequantizeLinear", "S2.3.4.5 h3 S3", "h2.3.4.5"), ("DequantizeLinear", "s4.6 f s", "f4.6"),
)
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


# ---- Models of nothing but element-wise and per-channel affine operators

def ulp(a, b):
    """How many floats lie between, at most."""
    import numpy
    bits = [x.view(numpy.int32).astype(numpy.int64) for x in (a, b)]
    bits = [numpy.where(x < 0, -(x & 0x7fffffff), x) for x in bits]
    return int(numpy.abs(bits[0] - bits[1]).max(initial=0))


def along(array, axis, rank):
    """One number a channel: repeats along all axes but this one."""
    return array if array.size == 1 else array.reshape([-1 if k == axis % rank else 1 for k in range(rank)])


def normalised(node, x, *params):
    """In the type of the widest, in the order of docs/semantics.md."""
    import numpy
    wide = numpy.result_type(x, *params)
    epsilon = wide.type(attribute(node, "epsilon", 1e-5))
    gamma, beta, mean, variance = [along(v.astype(wide), 1 if x.ndim > 1 else 0, x.ndim) for v in params]
    return ((x.astype(wide) - mean) / numpy.sqrt(variance + epsilon) * gamma + beta).astype(x.dtype)


def saturated(steps, dtype):
    import numpy
    limits = numpy.iinfo(dtype)
    return numpy.clip(steps, limits.min, limits.max).astype(dtype)


def quantized(node, x, scale, zero=None):
    import numpy
    axis = attribute(node, "axis", 1)
    zero = numpy.zeros(scale.shape, numpy.uint8) if zero is None else zero
    steps = numpy.rint(x / along(scale, axis, x.ndim)).astype(numpy.float64)
    return saturated(steps + along(zero, axis, x.ndim).astype(numpy.float64), zero.dtype)


def dequantized(node, q, scale, zero=None):
    import numpy
    axis = attribute(node, "axis", 1)
    zero = numpy.zeros(scale.shape, q.dtype) if zero is None else zero
    steps = q.astype(numpy.int32) - along(zero, axis, q.ndim).astype(numpy.int32)
    return steps.astype(scale.dtype) * along(scale, axis, q.ndim)


def of_codes(node, a, a_scale, a_zero, b, b_scale, b_zero, scale, zero):
    """QLinearAdd and QLinearMul, each operation in float32."""
    import numpy
    x, y = [v.astype(numpy.int32) - numpy.int32(z) for v, z in ((a, a_zero), (b, b_zero))]
    if node.op_type == "QLinearAdd":
        real = (x.astype(numpy.float32) * a_scale + y.astype(numpy.float32) * b_scale) / scale
    else:
        real = (x * y).astype(numpy.float32) * (a_scale * b_scale / scale)
    return saturated(numpy.rint(real).astype(numpy.float64) + float(zero), a.dtype)


def quotient(a, b):
    """Of integers towards zero."""
    import numpy
    if a.dtype.kind == "f":
        return a / b
    wide = numpy.abs(a.astype(numpy.int64)) // numpy.abs(b.astype(numpy.int64))
    return (wide * numpy.sign(a.astype(numpy.int64)) * numpy.sign(b.astype(numpy.int64))).astype(a.dtype)


def clipped(node, x, lo=None, hi=None):
    import numpy
    limits = numpy.iinfo(x.dtype) if x.dtype.kind in "iu" else numpy.finfo(x.dtype)
    lo = x.dtype.type(attribute(node, "min", limits.min)) if lo is None else lo
    hi = x.dtype.type(attribute(node, "max", limits.max)) if hi is None else hi
    return numpy.minimum(numpy.maximum(x, lo), hi)


def attribute(node, name, absent):
    import onnx
    return next((onnx.helper.get_attribute_value(a) for a in node.attribute if a.name == name), absent)


AFFINE = {"Add": lambda node, a, b: a + b, "Sub": lambda node, a, b: a - b, "Mul": lambda node, a, b: a * b,
          "Div": lambda node, a, b: quotient(a, b), "Relu": lambda node, x: x.clip(0), "Clip": clipped,
          "BatchNormalization": normalised, "QuantizeLinear": quantized, "DequantizeLinear": dequantized,
          "QLinearAdd": of_codes, "QLinearMul": of_codes}


def is_affine(graph):
    kinds = {node.op_type for node in graph.node}
    return kinds <= set(AFFINE) | {"Constant"} and kinds != {"Constant"} and bool(kinds)


def evaluated(graph, inputs):
    """The outputs, node by node: a second computation of docs/semantics.md."""
    import numpy
    from onnx import numpy_helper
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    values.update(inputs)
    for node in graph.node:
        if node.op_type == "Constant":
            values[node.output[0]] = numpy_helper.to_array(node.attribute[0].t)
            continue
        with numpy.errstate(all="ignore"):
            values[node.output[0]] = numpy.asarray(AFFINE[node.op_type](node, *[values.get(n) for n in node.input]))
    return [values[output.name] for output in graph.output]


def tensor_of(path):
    import onnx
    from onnx import numpy_helper
    with open(path, "rb") as stream:
        return numpy_helper.to_array(onnx.TensorProto.FromString(stream.read()))


def inputs_of(graph, folder):
    """By name: those shipped beside the model, else drawn: positive reals, so that any may be a variance."""
    import numpy
    import onnx
    random, given = numpy.random.default_rng(1), {}
    known = {tensor.name for tensor in graph.initializer}
    values = [value for value in graph.input if value.name not in known]
    for k, value in enumerate(values):
        path = os.path.join(folder, f"input_{k}.pb")
        if os.path.exists(path):
            given[value.name] = tensor_of(path)
            continue
        tensor = value.type.tensor_type
        dtype = numpy.dtype(onnx.mapping.TENSOR_TYPE_TO_NP_TYPE[tensor.elem_type])
        shape = [dim.dim_value for dim in tensor.shape.dim]
        given[value.name] = (random.uniform(0.5, 2, shape).astype(dtype) if dtype.kind == "f" else
                             random.integers(numpy.iinfo(dtype).min, numpy.iinfo(dtype).max, shape, dtype, True))
    return given


def shipped_outputs(graph, folder):
    paths = [os.path.join(folder, f"output_{k}.pb") for k in range(len(graph.output))]
    return list(map(tensor_of, paths)) if all(map(os.path.exists, paths)) else None


def same(a, b):
    return a.dtype == b.dtype and a.shape == b.shape and a.tobytes() == b.tobytes()


def verdict(name, graph, got, expected, shipped):
    """One word for the table; a fault where it is not what it should be."""
    if not all(map(same, got, expected)):
        fault(name, f"outputs differ: {got[0].ravel()[:4]}, expected {expected[0].ravel()[:4]}")
        return "DIFFERS"
    if shipped is None:
        return "equal to the second computation"
    if all(map(same, got, shipped)):
        return "equal to the shipped and the second"
    far = max(map(ulp, got, shipped))
    if far > MOST_ULP or not any(node.op_type == "BatchNormalization" for node in graph.node):
        fault(name, f"{far} ulp from the shipped result")
    return f"equal to the second, {far} ulp from the shipped"


def refusal_of(name):
    return next(((status, text, why) for pattern, status, text, why in REFUSALS if re.fullmatch(pattern, name)), None)


def run_on_all(stride0, model, graph, inputs, shipped):
    """What the table says of the model."""
    import numpy
    expected, words, options = evaluated(graph, inputs), set(), []
    for k, (name, value) in enumerate(inputs.items()):
        numpy.save(f"in{k}.npy", value)
        options.append(f"--input={name}=in{k}.npy")
    for device in AFFINE_DEVICES:
        done, result = run(stride0, model, device, "--output-dir", "out", *options)
        if not check_audit(f"{model.name} on {device}", done, result):
            return "FAILED"
        got = [numpy.load(f"out/{output.name}.npy") for output in graph.output]
        words.add(verdict(f"{model.name} on {device}", graph, got, expected, shipped))
    return ", ".join(sorted(words))


def check_refused(stride0, model, refusal):
    status, text, why = refusal
    for device in AFFINE_DEVICES:
        done, _ = run(stride0, model, device)
        if done.returncode != status or text not in done.stderr:
            fault(f"{model.name} on {device}", f"should be refused: '{text}': {done.returncode} {done.stderr[:200]}")
    return f"{'refused' if status == models.REFUSED else 'no model'}: {why}"


def made_models(folder):
    """What the collections have not: types, ranks and broadcasts of the same operators."""
    from onnx import TensorProto, helper, save
    types = {"f": TensorProto.FLOAT, "h": TensorProto.FLOAT16, "b": TensorProto.INT8, "B": TensorProto.UINT8,
             "s": TensorProto.INT16, "S": TensorProto.UINT16, "i": TensorProto.INT32}
    root = os.path.join(folder, "made")
    os.makedirs(root)
    for op, operands, out in MADE:
        values = [helper.make_tensor_value_info(f"x{k}", types[text[0]], [int(d) for d in text[1:].split(".") if d])
                  for k, text in enumerate(operands.split() + [out])]
        node = helper.make_node(op, [value.name for value in values[:-1]], [values[-1].name])
        graph = helper.make_graph([node], "made", values[:-1], values[-1:])
        path = os.path.join(root, f"{op} {operands} = {out}.onnx")
        save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), path)
    return [models.Model(folder, os.path.join(root, name)) for name in sorted(os.listdir(root))]


def run_defaults(stride0):
    """An initializer that is an input too is what the file says, or what the user gives."""
    import numpy
    from onnx import TensorProto, helper, numpy_helper, save
    x, own, given = [numpy.float32(v) for v in ([[1, 2, 3]], [5, 6, 7], [-1, 0.5, 8])]
    values = [helper.make_tensor_value_info(name, TensorProto.FLOAT, shape)
              for name, shape in (("x", [1, 3]), ("p", [3]), ("y", [1, 3]))]
    graph = helper.make_graph([helper.make_node("Mul", ["x", "p"], ["y"])], "default", values[:2], values[2:],
                              [numpy_helper.from_array(own, "p")])
    save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "default.onnx")
    numpy.save("x.npy", x)
    numpy.save("p.npy", given)
    model = models.Model(os.getcwd(), os.path.abspath("default.onnx"))
    for options, factor in ((["--input=x=x.npy"], own), (["--input=x=x.npy", "--input=p=p.npy"], given)):
        done, result = run(stride0, model, "teach", "--output-dir", "out", *options)
        if check_audit(model.name, done, result) and not same(numpy.load("out/y.npy"), x * factor):
            fault(model.name, f"{options}: {numpy.load('out/y.npy')}")


def run_affine(stride0, shared):
    try:
        import onnx
    except ImportError:
        models.skip(TEST, "affine models: python3-onnx is missing")
        return False
    found = [model for model in models.testdata() + models.single_operators(shared) if model.path.endswith(".onnx")]
    rows = []
    run_defaults(stride0)
    for model in found + made_models(os.getcwd()):
        graph = onnx.load(model.path, load_external_data=False).graph
        if not is_affine(graph):
            continue
        refusal = refusal_of(model.name)
        folder = os.path.join(os.path.dirname(model.path), "test_data_set_0")
        rows.append((model.name, check_refused(stride0, model, refusal) if refusal else
                     run_on_all(stride0, model, graph, inputs_of(graph, folder), shipped_outputs(graph, folder))))
    print(f"affine models, on {', '.join(AFFINE_DEVICES)}:")
    for name, word in rows:
        print(f"    {name:<75} {word}")
    print(f"affine: {sum('equal' in word for _, word in rows)} of {len(rows)} are equal")
    if not found:
        models.skip(TEST, f"affine models: none in {models.TESTDATA} and S0_SHARED")
    return bool(found)


# ---- Chains of networks

def nodes_of(stride0, model, device):
    """What is named instead of an operator that there is not."""
    done = models.run(stride0, "run", model, "-d", device, "--quiet", "--node", "?")
    hint = re.search(r"such as (.*)", done.stderr)
    if done.returncode != models.BAD_INPUT or not hint:
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
        all_there = run_affine(stride0, shared)
        all_there = run_chains(stride0, shared) and all_there
    for text in faults:
        print("FAULT:", text)
    sys.exit(1 if faults else 0 if all_there else models.SKIP)


main()
