# Each mistake ends in its status with one message, and writes neither a report nor a file.
cat >m.txt <<END
stride0-graph 1
format tflite
input X int8[1,4,4,3]
const s int8[3] = 1 2 3
const v int8[4] = 1 2 3 4
value t int8[1,4,4,3]
value Y int8[1,4,4,3]
node Mul m: X s -> t
node Custom c: t v -> Y
output Y
END
try() {
    stride0 plan "$@" --json out.json
    echo "$?: $*"
}
printf 'stride0-graph 1\nformat onnx 16\ninput s sequence\nvalue y sequence\nnode Identity i: s -> y\noutput y\n' >sequence.txt
try sequence.txt -d teach
try m.txt
try m.txt -d taech
try m.txt -d teach -d mcu-cm
try none.txt -d teach
try m.txt -d teach --strategy huge
try m.txt -d teach --inplace always
try m.txt -d teach --budget 0
try m.txt -d teach --budget 12X
try m.txt -d teach --budget 4K --budget 8K
try m.txt -d teach --tile 0
try m.txt -d teach --schedule late
try m.txt -d teach --tile big
try m.txt -d teach --order best
try m.txt -d teach --qdq maybe
try m.txt -d teach --axis s
try m.txt -d teach --axis s=9
try m.txt -d teach --axis s=3 --axis s=1
try m.txt -d teach --axis s=1
try m.txt -d teach --axis nothing=1
try m.txt -d teach --axis-heuristic luck
try m.txt -d teach --axis-heuristic size
try m.txt -d teach --layout X=CHWN
try m.txt -d teach --layout nothing=NCHW
try m.txt -d teach --dim batch
try m.txt -d teach --axis vv=1
try m.txt -d teach --axis X=1
try m.txt -d teach --layout XX=NCHW
try m.txt -d teach --node n
try m.txt -d teach --buffer tt
try m.txt -d teach --node t
try m.txt -d teach --buffer m
try m.txt -d teach --buffer far-away
try m.txt -d teach --strateg full
cat >free.txt <<END
stride0-graph 1
format onnx 13
input X float32[batch,4,?]
node Relu r: X -> Y
output Y
END
try free.txt -d teach --dim bach=1
try free.txt -d teach --dim X:3=1
try free.txt -d teach --dim entirely=1
cp "$S0_SOURCE_DIR/examples/affine.onnx" "$S0_SOURCE_DIR/examples/separable.tflite" .
try affine.onnx -d teach --layout x=NCHW --buffer x_real
try separable.tflite -d mcu-cm --simplify none --buffer features_shape
ls
# One slip, one message: what else is free is listed there.
sed 's/\[batch,4,?\]/[?,4]/' free.txt >one.txt
try one.txt -d teach --dim X:0=3 --dim Z:0=3
try one.txt -d teach --dim X:5=3
# Bytes in other spellings.
try one.txt -d teach --budget 48k
try one.txt -d teach --budget 48KB
try one.txt -d teach --budget 2MiB
try one.txt -d teach --budget 4096B
try one.txt -d teach --budget 0k
try one.txt -d teach --budget 48kk
