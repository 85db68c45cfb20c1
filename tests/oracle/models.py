"""The models that the oracles walk over, and a run of stride0 on one of them.

`shared` is the folder of S0_SHARED, "" where there is none. A model's name is its path below the models there, or below
TESTDATA."""
import csv
import glob
import os
import re
import subprocess

DONE, BAD_INPUT, NO_FIT, REFUSED = 0, 1, 2, 3
SKIP = 77
TESTDATA = "/usr/share/libonnx-testdata/data"  # Debian's package of that name
NETWORKS = ("tflite", "onnx", "derived")
SINGLE_OPERATORS = ("tflite-node", "onnx-node")


class Model:
    def __init__(self, folder, path):
        self.path, self.name = path, os.path.relpath(path, folder)
        self.dims = []  # options that give free dimensions their values


def _below(folder, root=None):
    paths = glob.glob(os.path.join(glob.escape(folder), "**", "*"), recursive=True)
    return [Model(root or folder, path) for path in sorted(paths) if path.endswith((".onnx", ".tflite"))]


def _shared(shared, folders):
    root = os.path.join(shared, "models")
    return [model for folder in folders for model in _below(os.path.join(root, folder), root)] if shared else []


def networks(shared):
    """Whole networks, with the values of their free dimensions."""
    found = {model.name: model for model in _shared(shared, NETWORKS)}
    if found:
        with open(os.path.join(shared, "models", "dims.tsv"), encoding="utf-8") as stream:
            for row in csv.DictReader(stream, delimiter="\t"):
                found[row["file"]].dims = [f"--dim={dim}" for dim in row["dims"].split()]
    return list(found.values())


def single_operators(shared):
    return _shared(shared, SINGLE_OPERATORS)


def testdata():
    """The ONNX project's own test models: all of them are valid."""
    return _below(TESTDATA)


def of_onnx(shared):
    """Every ONNX model at hand."""
    found = networks(shared) + single_operators(shared) + testdata()
    return [model for model in found if model.path.endswith(".onnx")]


def skip(test, what):
    print(f"SKIPPED: {test}: {what}")


def run(stride0, command, model, *options):
    """The finished process; output that is no UTF-8 is an error here."""
    return subprocess.run([stride0, command, model.path, *model.dims, *options], capture_output=True, check=False,
                          encoding="utf-8", timeout=60)


class Trouble:
    """The first error or refusal on standard error; `kind` is None where there is none."""
    LINE = re.compile(r"(?:byte \d+: )?(?:node '(?P<node>.*?)'(?: \((?P<op>[^)]*)\))?: )?"
                      r"(?:tensor '(?P<tensor>.*?)': )?(?P<what>.*)")

    def __init__(self, model, stderr):
        self.stderr, self.kind, self.op, self.tensor, self.what = stderr, None, None, None, ""
        told = re.search(rf"^stride0: (error|refused): {re.escape(model.path)}: (.*)", stderr, re.MULTILINE)
        if told:
            parts = self.LINE.fullmatch(told[2])
            unknown = re.search("operator '(.+?)' is not known", parts["what"])
            self.kind, self.tensor, self.what = told[1], parts["tensor"], parts["what"]
            self.op = unknown[1] if unknown else parts["op"]
