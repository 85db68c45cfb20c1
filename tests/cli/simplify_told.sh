# What stays is told with its reason, --verify with what it did, and a name that ends as another format does.
PYTHONPATH=$S0_SOURCE_DIR/tools:$S0_SOURCE_DIR/tests/cli python3 -B - <<'EOF'
from made_models import moved
from model_formats import OnnxModel

# Relu may give -0, which + 0 makes +0: the sum stays. Behind Exp, whose values are positive, it goes.
model = OnnxModel("zeros")
model.input("x", "float32", [1, 4])
model.constant("zero", "float32", [4], [0, 0, 0, 0])
model.constant("minus", "float32", [4], [-0.0] * 4)
model.constant("two", "float32", [4], [2] * 4)
model.node("Relu", ["x"], "a")
model.node("Add", ["a", "zero"], "b")
model.node("Sub", ["b", "minus"], "c")
model.node("Mul", ["c", "two"], "d")
model.node("Exp", ["d"], "e")
model.node("Add", ["e", "zero"], "f")
model.node("Neg", ["f"], "y")
model.output("y", "float32", [1, 4])
open("zeros.onnx", "wb").write(model.data())

moved()
EOF
stride0 simplify zeros.onnx -o out.onnx
stride0 simplify zeros.onnx -o out.onnx --json - | grep -E '"(node|verified)"'
for option in "" --verify; do
    stride0 simplify moved.onnx -o out.onnx $option | sed -n '/^rewrites/,/^$/p'
    stride0 simplify moved.onnx -o out.onnx $option --json - | grep '"verified"'
done
stride0 simplify zeros.onnx -o out.onnx --verify | grep verified
# The model is ONNX, whatever the name says; TFLite the same.
stride0 simplify moved.onnx -o out.tflite | tail -1
cmp out.onnx out.tflite
stride0 simplify "$S0_SOURCE_DIR/examples/affine.tflite" -o out.onnx | tail -1
