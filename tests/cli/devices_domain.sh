# An ONNX operator of no domain that ONNX does not have is refused; the Python of docs/devices.md makes it a custom one.
python3=$(for p in python3 /usr/bin/python3; do "$p" -c 'import onnx' 2>/dev/null && echo "$p" && break; done)
if [ -z "$python3" ]; then
    echo "SKIPPED: devices_domain: needs Python's onnx"
    exit 77
fi
"$python3" - <<'END'
from onnx import TensorProto, helper, save

x, t, y = (helper.make_tensor_value_info(name, TensorProto.INT8, [1, 4]) for name in "xty")
nodes = [helper.make_node("RequantShift", ["x"], ["t"], "r"), helper.make_node("Identity", ["t"], ["y"], "i")]
graph = helper.make_graph(nodes, "g", [x], [y], value_info=[t])
save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8), "network.onnx")
END
stride0 plan network.onnx -d teach --quiet 2>refused.err; echo "status $?"
sed 's/byte [0-9]*/byte N/' refused.err >&2
sed -n '/^```python$/,/^```$/p' "$S0_SOURCE_DIR/docs/devices.md" | sed '/^```/d' | "$python3" -
stride0 plan named.onnx -d teach --simplify none --json - 2>warned.err | grep -o '"op": "[^"]*"' | sort -u; cat warned.err >&2
stride0 devices teach --ini >mine.ini
printf '[operator com.example.RequantShift]\nworkspace = 16 @ a guide\n' >>mine.ini
stride0 plan named.onnx -d mine.ini --json - | grep '"workspace_declared_bytes"'
stride0 run named.onnx -d mine.ini >/dev/null 2>run.err; echo "status $?"
