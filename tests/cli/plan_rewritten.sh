# What a rewrite took away before planning: --node and --buffer tell which rewrite did.
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'EOF'
from model_formats import OnnxModel

model = OnnxModel("gone")
model.input("x", "int8", [1, 4])
for name, number in (("half", 0.5), ("also_half", 0.5), ("two", 2), ("minus_zero", -0.0)):
    model.constant(name, "float32", [], [number])
model.constant("zero", "int8", [], [0])
model.node("Abs", ["x"], "codes")
model.node("DequantizeLinear", ["codes", "half", "zero"], "reals")
model.node("Mul", ["reals", "two"], "doubled")
model.node("Add", ["doubled", "minus_zero"], "unmoved")
model.node("QuantizeLinear", ["unmoved", "also_half", "zero"], "again")
model.node("Neg", ["again"], "y")
model.output("y", "int8", [1, 4])
open("gone.onnx", "wb").write(model.data())
EOF
for name in doubled unmoved reals; do
  echo "== operator $name"
  stride0 plan gone.onnx -d mcu-cm --node $name | head -3
done
for name in unmoved doubled two minus_zero also_half; do
  echo "== tensor $name"
  stride0 plan gone.onnx -d mcu-cm --buffer $name
done
echo "== as filed"
stride0 plan gone.onnx -d mcu-cm --simplify none --qdq float --node unmoved | head -1
