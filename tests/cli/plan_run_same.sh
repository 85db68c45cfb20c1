# plan and run plan the same: bytes and cycles of both, over devices and options, of operators of several families that
# have a command; and a reading of Quantize and Dequantize that there is only one of changes nothing.
cat >same.py <<'END'
import json

count = 0
for line in open("pairs.txt"):
    plan, run = (json.load(open(f"{count}.{name}.json")) for name in ("plan", "run"))
    told = plan["totals"]["placed_bytes"], plan["traffic"]["first_run"]["cycles"]
    found = run["totals"]["placed_bytes"], run["cycles"]["booked"]
    if told != found:
        print("plan", told, "run", found, line.strip())
    count += 1
print("more than 100 pairs" if count > 100 else f"{count} pairs")
END
cat >table.txt <<END
stride0-graph 1
format tflite
input x int8[1,4,6,3] scale=0.1 zero=3
value y int8[1,4,6,3] scale=0.00390625 zero=-128
node Sigmoid(LOGISTIC) s: x -> y
output y
END
cat >softmax.txt <<END
stride0-graph 1
format tflite
input x int8[1,4,6,9] scale=0.1 zero=3
value y int8[1,4,6,9] scale=0.00390625 zero=-128
node Softmax(SOFTMAX) s: x -> y
output y
END
cat >mean.txt <<END
stride0-graph 1
format onnx 13
input x int8[1,1,6,3] scale=0.1 zero=3
const s float32[] = 0.1
const z int8[] = 3
value y int8[1,1,1,1] scale=0.1 zero=3
node DequantizeLinear d: x s z -> f
node ReduceMean m: f -> g
node QuantizeLinear q: g s z -> y
output y
END
count=0
for model in table.txt softmax.txt mean.txt "$S0_SOURCE_DIR"/examples/affine.* "$S0_SOURCE_DIR"/examples/separable.*; do
    for preset in nvdla-small rk3588-npu ascend-220x gap8 teach; do
        for options in '' '--tile 2' '--tile none' '--strategy full' '--qdq float' '--budget 8K'; do
            stride0 plan "$model" -d $preset $options --json $count.plan.json >out.txt 2>&1 || continue
            stride0 run "$model" -d $preset $options --json $count.run.json >out.txt 2>&1 || continue
            echo "$model" $preset "$options" >>pairs.txt
            count=$((count + 1))
        done
    done
done
python3 same.py
for options in '' '--qdq float'; do
    stride0 plan table.txt -d teach $options | grep -E '^  placed|first run'
done
stride0 run mean.txt -d teach >out.txt 2>err.txt
echo "a mean of all axes: $? $(grep ^audit out.txt)"
