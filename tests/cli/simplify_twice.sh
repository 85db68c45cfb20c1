# What simplify writes it has nothing to add to: a second run gives the same bytes, whatever the first had to do.
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'EOF'
from model_formats import OnnxModel, TfliteModel


def coded(name, middle, last):
    """Codes of 0.5 times 2, through codes of `middle`, to codes of `last`; operators on codes around them."""
    model = OnnxModel(name)
    model.input("x", "int8", [1, 4])
    for scale, number in (("half", 0.5), ("middle", middle), ("last", last), ("two", 2)):
        model.constant(scale, "float32", [], [number])
    model.constant("zero", "int8", [], [0])
    model.node("Abs", ["x"], "q")
    model.node("DequantizeLinear", ["q", "half", "zero"], "f")
    model.node("Mul", ["f", "two"], "g")
    model.node("QuantizeLinear", ["g", "middle", "zero"], "m")
    model.node("DequantizeLinear", ["m", "middle", "zero"], "h")
    model.node("QuantizeLinear", ["h", "last", "zero"], "o")
    model.node("Neg", ["o"], "y")
    model.output("y", "int8", [1, 4])
    open(name + ".onnx", "wb").write(model.data())


def annotated(name):
    """Scales that nobody but an annotation names: of a tensor that goes, and of one that stays."""
    model = OnnxModel(name)
    model.input("x", "int8", [1, 4])
    model.constant("of_a", "float32", [], [0.5])
    model.constant("of_y", "float32", [], [0.25])
    model.node("Identity", [model.node("Abs", ["x"], "b")], "a")
    model.node("Neg", ["a"], "y")
    model.output("y", "int8", [1, 4])
    model.annotate("a", scale_tensor="of_a")
    model.annotate("y", scale_tensor="of_y")
    open(name + ".onnx", "wb").write(model.data())


annotated("annotated")
coded("identity", 1, 1)
coded("joined", 1, 4)
coded("saturated", 0.125, 4)

model = TfliteModel("QUANTIZE three times")
graph = model.subgraph("main")
codings = (("x", "int8", 0.5), ("a", "int16", 0.125), ("b", "int16", 0.0625), ("y", "int8", 0.5))
tensors = [graph.tensor(name, dtype, [1, 4], scale=scale) for name, dtype, scale in codings]
for source, target in zip(tensors, tensors[1:]):
    graph.operator("QUANTIZE", [source], [target])
graph.inputs, graph.outputs = tensors[:1], tensors[-1:]
open("thrice.tflite", "wb").write(model.data())
EOF
for model in annotated.onnx identity.onnx joined.onnx saturated.onnx thrice.tflite; do
  echo "== $model"
  stride0 simplify "$model" --verify -o "once_$model" | sed -n '/^rewrites/,/^$/p; /the codes in the middle/p'
  stride0 simplify "once_$model" --verify -q -o "twice_$model" && cmp "once_$model" "twice_$model" && echo "the same twice"
done
echo "== what the annotations named"
for name in of_a of_y; do
  grep -c -a "$name" once_annotated.onnx || :
done
