# A model whose weights lie in a file beside it: nothing is written over them, and the simplified model stays with them.
mkdir net other
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'EOF'
import struct
from model_formats import OnnxModel
from model_bytes import message
model = OnnxModel("beside")
model.input("x", "float32", [1, 2, 1, 1])
model.output("y", "float32", [1, 2, 1, 1])
where = message((1, "location"), (2, "w.bin"))
model.initializers.append(message((1, 1), (1, 2), (1, 1), (1, 1), (2, 1), (8, "w"), (13, where), (14, 1)))
model.node("Add", ["x", "w"], "y")
open("net/m.onnx", "wb").write(model.data())
open("net/w.bin", "wb").write(struct.pack("<2f", 1, 2))
EOF
cd net
cp w.bin ../kept.bin
echo "== over the weights"
stride0 simplify m.onnx -q -o w.bin
echo "status $?"
stride0 plan m.onnx -q -d teach --json w.bin
echo "status $?"
cmp w.bin ../kept.bin && echo "the weights are as they were"
echo "== over the model"
stride0 simplify m.onnx -q -o ../net/m.onnx
echo "status $?"
echo "== away from the weights"
stride0 simplify m.onnx -q -o ../other/m.onnx
echo "status $?"
echo "== beside them, by another name of the folder"
stride0 simplify ./m.onnx -q -o out.onnx && ls
echo "status $?"
cd ..
mkdir conv
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'EOF'
import struct
from model_formats import OnnxModel
from model_bytes import message


def convolution(name, is_beside):
    """A convolution and a factor; weights or biases lie in a file beside the model."""
    model = OnnxModel(name)
    model.input("x", "float32", [1, 64, 4, 4])
    model.output("y", "float32", [1, 64, 4, 4])
    for constant, dims, beside in (("w", [64, 64, 1, 1], is_beside), ("b", [64], not is_beside)):
        count = dims[0] * (64 if len(dims) > 1 else 1)
        where = message((1, "location"), (2, constant + ".bin"))
        numbers = struct.pack(f"<{count}f", *(1 + k % 7 for k in range(count)))
        data = [(13, where), (14, 1)] if beside else [(9, numbers)]
        model.initializers.append(message(*((1, d) for d in dims), (2, 1), (8, constant), *data))
        open(f"conv/{constant}.bin", "wb").write(numbers)
    model.constant("k", "float32", [], [1.5])
    model.node("Conv", ["x", "w", "b"], "c")
    model.node("Mul", ["c", "k"], "y")
    open(f"conv/{name}.onnx", "wb").write(model.data())


convolution("weights", True)
convolution("biases", False)
EOF
cd conv
for model in weights biases; do
  echo "== a fold of $model that another file holds"
  stride0 simplify $model.onnx --tolerance 9 -o folded.onnx | grep "lie in another file"
  test "$(wc -c < folded.onnx)" -le "$(wc -c < $model.onnx)" && echo "the model did not grow"
done
echo "== without that file"
rm w.bin
stride0 simplify weights.onnx -q -o folded.onnx
echo "status $?"
