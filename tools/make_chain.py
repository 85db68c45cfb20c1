#!/usr/bin/env python3
"""Writes a synthetic network of any size to standard output, for the benchmark.

    make_chain.py NODES [--format onnx|tflite] [--in-place] > FILE

A chain of blocks: a 1 x 1 convolution, Relu, Add with the block's input, and a Reshape between 8 x 8 and 4 x 16 maps of
8 channels; every fourth block adds what the second block before it began with instead, so that values live longer. All
blocks share their weights: a file of 100 000 nodes stays small. float32; the same bytes each time.

With --in-place a chain of Sigmoid alone: each may write over its input, so all values lie in one storage, whose chain of
aliases is as long as the network."""
import argparse
import sys

from model_formats import OnnxModel, TfliteModel

CHANNELS = 8
MAPS = ((8, 8), (4, 16))
WEIGHTS = [(k * 7 % 17 - 8) / 16 for k in range(CHANNELS * CHANNELS)]
BIAS = [0.0] * CHANNELS


def in_place_chain(nodes):
    for k in range(nodes):
        yield "sigmoid", [f"s{k - 1}" if k > 0 else "x"], f"s{k}", 0


def chain(nodes):
    """(operator, inputs, output, form of the output) of each node; inputs and output are names."""
    starts, x, form, made = ["x", "x"], "x", 0, 0
    while made < nodes:
        block = len(starts) - 2
        far = starts[-2] if block % 4 == 3 else x
        name = f"b{block}"
        steps = [("conv", [x], name + "c", form), ("relu", [name + "c"], name + "r", form),
                 ("add", [name + "r", far], name + "a", form), ("reshape", [name + "a"], name + "x", 1 - form)]
        for step in steps[:nodes - made]:
            yield step
        made += len(steps)
        starts.append(x)
        x, form = name + "x", 1 - form


def write_onnx(steps):
    model = OnnxModel("chain")
    model.input("x", "float32", [1, CHANNELS, *MAPS[0]])
    model.constant("w", "float32", [CHANNELS, CHANNELS, 1, 1], WEIGHTS)
    model.constant("b", "float32", [CHANNELS], BIAS)
    for form, (h, w) in enumerate(MAPS):
        model.constant(f"shape{form}", "int64", [4], [1, CHANNELS, h, w])
    last, last_form = "x", 0
    for op, inputs, last, last_form in steps:
        if op == "conv":
            model.node("Conv", inputs + ["w", "b"], last)
        elif op == "reshape":
            model.node("Reshape", inputs + [f"shape{last_form}"], last)
        else:
            model.node(op.capitalize(), inputs, last)
    model.output(last, "float32", [1, CHANNELS, *MAPS[last_form]])
    return model.data()


def write_tflite(steps):
    model = TfliteModel("chain")
    main = model.subgraph("main")
    index = {"x": main.tensor("x", "float32", [1, *MAPS[0], CHANNELS])}
    weights = main.tensor("w", "float32", [CHANNELS, 1, 1, CHANNELS], WEIGHTS)
    bias = main.tensor("b", "float32", [CHANNELS], BIAS)
    shapes = [main.tensor(f"shape{form}", "int32", [4], [1, h, w, CHANNELS]) for form, (h, w) in enumerate(MAPS)]
    main.inputs = [index["x"]]
    for op, inputs, output, form in steps:
        index[output] = main.tensor(output, "float32", [1, *MAPS[form], CHANNELS])
        ids, out = [index[name] for name in inputs], [index[output]]
        if op == "conv":
            main.operator("CONV_2D", ids + [weights, bias], out, 1, {0: ("b", 1), 1: ("i", 1), 2: ("i", 1)})
        elif op == "reshape":
            main.operator("RESHAPE", ids + [shapes[form]], out)
        elif op == "add":
            main.operator("ADD", ids, out, 11, {0: ("b", 0)})
        else:
            main.operator({"relu": "RELU", "sigmoid": "LOGISTIC"}[op], ids, out)
        main.outputs = out
    return model.data()


def main():
    parser = argparse.ArgumentParser(description="writes a synthetic network to standard output")
    parser.add_argument("nodes", type=int)
    parser.add_argument("--format", choices=("onnx", "tflite"), default="onnx")
    parser.add_argument("--in-place", action="store_true")
    options = parser.parse_args()
    if options.nodes < 1:
        parser.error("at least one node")
    write = write_onnx if options.format == "onnx" else write_tflite
    steps = in_place_chain if options.in_place else chain
    sys.stdout.buffer.write(write(steps(options.nodes)))


if __name__ == "__main__":
    main()
