# What simplify reports: equal reasons on one line, figures that add up, where the output went; the same in full as JSON.
PYTHONPATH=$S0_SOURCE_DIR/tools:$S0_SOURCE_DIR/tests/cli python3 -B - <<'EOF'
from made_models import moved
from model_bytes import message
from model_formats import OnnxModel


def normalised(name, defaults):
    """Four normalisations behind convolutions; their parameters are inputs too, or their weights stay shared."""
    model = OnnxModel(name)
    model.input("x", "float32", [1, 2, 4, 4])
    last = "x"
    model.constant("one", "float32", [2], [1, 1])
    model.constant("two", "float32", [2], [2, 3])
    if defaults:
        model.input("two", "float32", [2])
    for k in range(4):
        model.constant(f"w{k}", "float32", [2, 2, 1, 1], [1, 2, 3, 4 + k])
        model.node("Conv", [last, f"w{k}"], f"c{k}")
        model.node("BatchNormalization", [f"c{k}", "two", "one", "one", "one"], f"n{k}")
        last = f"n{k}"
    model.node("Relu", [last], "y")
    model.output("y", "float32", [1, 2, 4, 4])
    open(name + ".onnx", "wb").write(model.data())


def any_batch(name):
    """A value [batch, 4]."""
    shape = message((1, message((2, "batch"))), (1, message((1, 4))))
    return message((1, name), (2, message((1, message((1, 1), (2, shape))))))


normalised("stored", False)
normalised("defaults", True)
moved()
model = OnnxModel("free")
model.inputs.append(any_batch("x"))
model.constant("zero", "float32", [], [-0.0])
model.node("Add", ["x", "zero"], "a")
model.node("Relu", ["a"], "y")
model.outputs.append(any_batch("y"))
open("free.onnx", "wb").write(model.data())
EOF
for arguments in "defaults.onnx" "stored.onnx" "stored.onnx --tolerance 100" "moved.onnx" "free.onnx" \
    "free.onnx --dim batch=2" "free.onnx --dim bath=2"; do
  echo "== $arguments"
  stride0 simplify $arguments -o out.onnx 2>&1
done
echo "== the model on standard output, the report on standard error"
stride0 simplify free.onnx -o - 2>report.txt | cmp - out.onnx && grep '^written' report.txt
echo "== JSON"
stride0 simplify stored.onnx -o out.onnx --json -
echo "== a file of JSON, beside the report"
stride0 simplify free.onnx -o out.onnx --json out.json | grep '^written'
python3 -c 'import json; print(sorted(json.load(open("out.json"))))'
echo "== outputs that can't be written"
for options in "" "-o -  --json -" "-o nowhere/out.onnx" "-o out.onnx --tolerance 99999999999999999999"; do
  stride0 simplify free.onnx $options
  echo "status $?"
done
stride0 simplify free.onnx -o ""
echo "status $?"
