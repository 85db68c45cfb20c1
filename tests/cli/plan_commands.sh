# The commands of each step in `plan --json` are those of `run --trace`: all of them, in order, of the step's nodes and
# columns, over devices, tiles and schedules.
cat >same.py <<'END'
import json


def compare(plan, trace, pair):
    steps, end = {}, 0
    for step in plan["steps"]:
        first, count = step["commands"]["first"], step["commands"]["count"]
        steps.setdefault((first, count), []).append(step)
    for (first, count), of in steps.items():
        if first != end:
            print("a gap before", of[0]["index"], pair)
        end = first + count
        nodes = {step["node"] for step in of}
        columns = {step["column"] for step in of}
        told = trace[first:end]
        if {node for _, node in told} - nodes or {column for column, _ in told} - columns:
            print("others in", of[0]["index"], nodes, columns, {*told}, pair)
    if end != len(trace):
        print(end, "of", len(trace), pair)


pairs = open("pairs.txt").read().splitlines()
for count, pair in enumerate(pairs):
    lines = [line for line in open(f"{count}.trace") if line.startswith("@")]
    trace = [(line.split()[3], json.loads(line.rsplit(";", 1)[1])) for line in lines]
    compare(json.load(open(f"{count}.json")), trace, pair)
print("more than 30 pairs" if len(pairs) > 30 else f"{len(pairs)} pairs")
END
count=0
for model in "$S0_SOURCE_DIR"/examples/*.tflite "$S0_SOURCE_DIR"/examples/*.onnx; do
    for preset in ascend-220x gap8 teach; do
        for options in '' '--tile 1' '--schedule split' '--strategy full'; do
            stride0 plan "$model" -d $preset $options --json $count.json >out.txt 2>&1 || continue
            stride0 run "$model" -d $preset $options --trace $count.trace >out.txt 2>&1 || continue
            echo "$model $preset $options" >>pairs.txt
            count=$((count + 1))
        done
    done
done
python3 same.py
stride0 plan "$S0_SOURCE_DIR"/examples/affine.tflite -d teach --budget 1K --tile none --json - -q 2>/dev/null |
    python3 -c 'import json, sys; print("does not fit:", {str(s["commands"]) for s in json.load(sys.stdin)["steps"]})'
