# The commands of each step in `plan --json` are those of `run --trace`: all of them, in order, of the step's nodes and
# columns, over devices, tiles and schedules.
cat >same.py <<'END'
import json
import sys

plan = json.load(open("plan.json"))
trace = []
for line in open("trace.txt"):
    if line.startswith("@"):
        words = line.split()
        trace.append((words[3], json.loads(line.rsplit(";", 1)[1])))
steps, end = {}, 0
for step in plan["steps"]:
    first, count = step["commands"]["first"], step["commands"]["count"]
    steps.setdefault((first, count), []).append(step)
for (first, count), of in steps.items():
    if first != end:
        print("a gap before", of[0]["index"], *sys.argv[1:])
    end = first + count
    nodes = {step["node"] for step in of}
    columns = {step["column"] for step in of}
    told = trace[first:end]
    if {node for _, node in told} - nodes or {column for column, _ in told} - columns:
        print("others in", of[0]["index"], nodes, columns, {*told}, *sys.argv[1:])
if end != len(trace):
    print(end, "of", len(trace), *sys.argv[1:])
END
count=0
for model in "$S0_SOURCE_DIR"/examples/*.tflite "$S0_SOURCE_DIR"/examples/*.onnx; do
    for preset in ascend-220x gap8 teach; do
        for options in '' '--tile 1' '--tile none' '--schedule split' '--strategy full'; do
            stride0 plan "$model" -d $preset $options --json plan.json >out.txt 2>&1 || continue
            stride0 run "$model" -d $preset $options --trace trace.txt >out.txt 2>&1 || continue
            python3 same.py "$(basename "$model")" $preset "$options"
            count=$((count + 1))
        done
    done
done
if [ $count -ge 50 ]; then echo "more than 50 pairs"; else echo "$count pairs"; fi
stride0 plan "$S0_SOURCE_DIR"/examples/affine.tflite -d teach --budget 1K --tile none --json - -q 2>/dev/null |
    python3 -c 'import json, sys; print("does not fit:", {str(s["commands"]) for s in json.load(sys.stdin)["steps"]})'
