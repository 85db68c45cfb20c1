#!/usr/bin/env python3
"""Simplified ONNX models give the outputs of the originals, by ONNX Runtime.

    ort_simplify.py STRIDE0 PACKAGE_FOLDER SHARED [--all] [--table FILE] [--only TEXT]

PACKAGE_FOLDER holds node_modules/onnxruntime-node. Each model runs twice on its shipped inputs and on five random sets;
where it repeats itself, the simplified model must give the same bits (and sizes, element types, names), and simplified
again it must be the same file. Rewrites that need a tolerance are made in another run, and each is held against its
stated bound (ort_bound.py); models that have what no network has are made for it (ort_made.py). Without --all, of the
models only those are run whose file changes (an unchanged file is the same model), and heavy ones on two sets."""
import argparse
import collections
import filecmp
import os
import re
import shutil
import sys
import tempfile

import models

TOLERANCE = 8
HEAVY_BYTES = 32 << 20  # a model whose peak is above runs on two sets, without --all
# Issue and design name these: what makes them smaller is in the table.
MUST_SHRINK = ("onnx/light_densenet121.onnx", "onnx/light_resnet50.onnx", "onnx/light_squeezenet.onnx",
               "derived/rfb320_muladd.onnx", "onnx/mobilenetv2_128_05_bn.onnx")


class Row:
    """A model, what simplifying it gave, and the verdict."""

    def __init__(self, model, simplified, verdict, detail="", sets=0):
        self.model, self.simplified, self.verdict, self.detail, self.sets = model, simplified, verdict, detail, sets

    def text(self):
        pairs = [getattr(self.simplified, name) for name in ("nodes", "constants", "file", "peak")]
        cells = ["-" if pair is None else f"{pair[0]} {pair[1]}" for pair in pairs]
        return "\t".join([self.model.name, *cells, self.simplified.proof, self.verdict, str(self.sets), self.detail])


HEAD = "model\tnodes\tconstant bytes\tfile bytes\tpeak bytes\tproof\tverdict\tsets\tdetail"


class Walk:
    def __init__(self, args, folder):
        self.args, self.folder, self.runtime = args, folder, ort_runtime.Runtime(args.package)
        self.rows = []

    def references(self, model):
        name = os.path.splitext(os.path.basename(model.path))[0]
        return os.path.join(self.args.shared, "models", "refs", "ort-1.30", name) if self.args.shared else None

    def simplify(self, model, *options):
        return simplify_report.Simplified(self.args.stride0, model, os.path.join(self.folder, "out.onnx"), *options)

    def sets(self, model, onnx_model):
        dims = dict(dim.removeprefix("--dim=").rsplit("=", 1) for dim in model.dims)
        return ort_inputs.sets_of(onnx_model, model.path, {name: int(value) for name, value in dims.items()},
                                  self.references(model))

    def is_heavy(self, simplified):
        return not self.args.all and simplified.peak is not None and simplified.peak[0] > HEAVY_BYTES

    def run(self, model, simplified):
        """Verdict, detail, and the number of sets that were compared."""
        try:
            sets = self.sets(model, onnx.load(model.path))
        except ort_inputs.NoInputs as reason:
            return "not run", str(reason), 0
        sets = sets[:2] if self.is_heavy(simplified) else sets
        answer = self.runtime.ask(model.path, simplified.path if simplified.status == models.DONE else None, sets)
        if isinstance(answer, str):
            return "not run", answer, 0
        return judge(answer, simplified)

    def model(self, model, is_run_unchanged):
        simplified = self.simplify(model)
        is_same = simplified.status == models.DONE and filecmp.cmp(model.path, simplified.path, shallow=False)
        if is_same != (simplified.status == models.DONE and not simplified.rules):
            self.rows.append(Row(model, simplified, "DIFFERENT", "the report and the file contradict each other"))
        elif simplified.rules and not simplified.is_settled(self.args.stride0, model):
            self.rows.append(Row(model, simplified, "DIFFERENT", "a second run changes the file"))
        elif is_same and not is_run_unchanged:
            self.rows.append(Row(model, simplified, "same file"))
        else:
            self.rows.append(Row(model, simplified, *self.run(model, simplified)))

    def tolerant(self, model):
        simplified = self.simplify(model, f"--tolerance={TOLERANCE}")
        if simplified.status == models.DONE and simplified.tolerance:
            sets = self.sets(model, onnx.load(model.path))
            try:
                faults, detail, count = ort_bound.check(self.runtime, model.path, simplified, sets)
            except ort_bound.NotRun as reason:
                faults, detail, count = [f"{reason}"], "", 0
            self.rows.append(Row(model, simplified, "DIFFERENT" if faults else "within the bound",
                                 "; ".join(faults[:3]) or detail, count))


def judge(answer, simplified):
    """The sets that the original takes are compared, where it repeats itself in each of them."""
    if answer["load"]:
        return "not run", answer["load"], 0
    compared = [entry for entry in answer["sets"] if entry["run"] is None]
    rejected = [entry["run"] for entry in answer["sets"] if entry["run"]]
    if not compared:
        return "not run", rejected[0], 0
    if not all(entry["repeats"] for entry in compared):
        return "not run", "the outputs change from run to run", 0
    if simplified.status != models.DONE:
        return "refused", simplified.trouble.what or simplified.trouble.stderr, 0
    faults = [answer["simplified_load"]] if answer["simplified_load"] else []
    faults += [f"set {k}: {entry['fault']}" for k, entry in enumerate(answer["sets"]) if entry["fault"]]
    if faults:
        return "DIFFERENT", faults[0], len(compared)
    return "equal", f"some sets do not run: {rejected[0]}" if rejected else "", len(compared)


def general(message):
    """A message without what is the model's own."""
    message = re.sub(r"\s+", " ", message)
    message = re.sub(r"^Load model from \S+ failed:", "", message)
    message = re.sub(r"\('[^']*', '[^']*', [^)]*\)|'[^']*'|\"[^\"]*\"|\[[^]]*\]|\S*/\S+|:\d+|0x\w+", "*", message)
    return re.sub(r"\d+", "#", message).strip()[:110]


def summary(rows):
    counts = collections.Counter((row.verdict, general(row.detail) if row.verdict in ("not run", "refused") else "")
                                 for row in rows)
    return [f"{count:6}  {verdict}{': ' if what else ''}{what}"
            for (verdict, what), count in sorted(counts.items(), key=lambda item: (item[0][0], -item[1]))]


def shrink_faults(rows):
    """A tolerance counts: what is exact and what is not stands in the table."""
    faults = []
    for name in MUST_SHRINK:
        own = [row.simplified for row in rows if row.model.name == name and row.simplified.file]
        if own and not any(s.file[1] < s.file[0] and s.nodes[1] < s.nodes[0] for s in own):
            faults.append(f"FAIL {name}: does not shrink")
    return faults


def walk_all(walk):
    networks = [model for model in models.networks(walk.args.shared) if model.path.endswith(".onnx")]
    singles = [model for model in models.single_operators(walk.args.shared) if model.path.endswith(".onnx")]
    testdata = models.testdata()
    if not networks:
        models.skip("ort_simplify", "the shared models, S0_SHARED has none")
    if not testdata:
        models.skip("ort_simplify", "the ONNX project's test models, libonnx-testdata is not installed")
    for model in networks + singles + testdata + ort_made.make(walk.folder):
        if walk.args.only in model.name:
            walk.model(model, walk.args.all)
            walk.tolerant(model)


def arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("stride0")
    parser.add_argument("package")
    parser.add_argument("shared", nargs="?", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--table")
    parser.add_argument("--only", default="")
    return parser.parse_args()


def main():
    args = arguments()
    with tempfile.TemporaryDirectory() as folder:
        walk = Walk(args, folder)
        walk_all(walk)
        walk.runtime.close()
    if not walk.rows:
        return models.SKIP
    table = [HEAD] + [row.text().replace("\n", " ") for row in walk.rows]
    if args.table:
        with open(args.table, "w", encoding="utf-8") as stream:
            stream.write("\n".join(table) + "\n")
    shown = [row.text() for row in walk.rows if row.simplified.rules and row.model.name.startswith(models.NETWORKS)]
    faults = [f"FAIL {row.model.name}: {row.detail}" for row in walk.rows if row.verdict == "DIFFERENT"]
    faults += shrink_faults(walk.rows)
    print("\n".join([HEAD, *shown, "", *summary(walk.rows), "", *faults, f"{len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    lacking = [name for name, found in (("node", shutil.which("node")), ("onnxruntime-node", os.path.isdir(
        os.path.join(sys.argv[2], "node_modules", "onnxruntime-node")))) if not found]
    try:
        import numpy
        import onnx
        import ort_bound
        import ort_inputs
        import ort_made
        import ort_runtime
        import simplify_report
    except ImportError as error:
        lacking.append(error.name)
    if lacking:
        models.skip("ort_simplify", f"needs {', '.join(lacking)}")
        sys.exit(models.SKIP)
    sys.exit(main())
