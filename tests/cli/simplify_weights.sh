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
