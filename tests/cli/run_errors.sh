# What `run` refuses, and with which status: options, files of inputs, devices without commands, operators without one,
# plans that do not fit.
cat >net.txt <<END
stride0-graph 1
input X float32[1,2,3]
const s float32[3] = 2 3 4
value t float32[1,2,3]
value u float32[1,2,3]
value v float32[1,2,3]
value w float32[1,2,3]
node Mul m: X s -> t
node Softmax soft: t -> u axis=-1
node Add a: u s -> v
node Mul b: v s -> w
output w
END
sed '/Softmax/d; s/node Add a: u/node Add a: t/' net.txt >chain.txt
tell() {
    stride0 run "$@" >out.txt
    echo "status $?: $*"
    echo "--" >&2
}
tell net.txt -d teach
tell net.txt -d teach --node soft
tell net.txt -d teach --node sift
tell net.txt -d teach --node b
cat out.txt
tell chain.txt -d mcu-cm
tell chain.txt -d teach --semantics cmsis
tell chain.txt -d teach --seed -1
tell chain.txt -d teach --input X
tell chain.txt -d teach --input Y=x.bin
tell chain.txt -d teach --input X=none.bin
tell chain.txt -d teach --json - --trace -
tell chain.txt -d teach --budget 16 --json misfit.json
grep -E '"(fits|audit)"' misfit.json
printf 'short' >x.bin
tell chain.txt -d teach --input X=x.bin
printf '\223NUMPY\1\0\77\0%-62s\n' "{'descr': '>f4', 'fortran_order': False, 'shape': (1, 2, 3), }" >x.npy
tell chain.txt -d teach --input X=x.npy
printf '\223NUMPY\1\0\77\0%-62s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 3, 2), }" >x.npy
tell chain.txt -d teach --input X=x.npy
printf '\223NUMPY\2\0\377\377\377\377' >x.npy
tell chain.txt -d teach --input X=x.npy
tell chain.txt -d teach --input X=x.bin --input X=x.bin
cp chain.txt w.bin
tell w.bin -d teach --output-dir .
# The reference has no value where a scale is not positive.
cat >scale.txt <<END
stride0-graph 1
input X float32[1,4]
input s float32[]
const z int8[] = 0
value y int8[1,4]
node QuantizeLinear q: X s z -> y
output y
END
printf '\0\0\200\277' >s.bin
tell scale.txt -d teach --input s=s.bin
# Of a chain it is the constant of its second operator that has none.
cat >infinite.txt <<END
stride0-graph 1
input X float32[1,4]
const k float32[4] = 1 2 3 4
const m float32[4] = nan inf 1 2
node Mul p: X k -> a
node Add q: a m -> y
output y
END
tell infinite.txt -d gap8
# The reason is the operator's own, whether it goes whole or by tiles; and the way out is not what was refused.
cat >codes.txt <<END
stride0-graph 1
format tflite
input X uint8[1,4,4,3] scale=0.1 zero=3
value y uint8[1,4,4,3] scale=0.00390625 zero=0
node Sigmoid(LOGISTIC) p: X -> y
output y
END
tell codes.txt -d teach
tell codes.txt -d teach --budget 40
cat >empty.txt <<END
stride0-graph 1
input X float32[0,4]
const k float32[4] = 1 2 3 4
node Mul p: X k -> y
output y
END
tell empty.txt -d teach
# What the file does not hold as numbers.
cat >bias.txt <<END
stride0-graph 1
format onnx 19
input X int8[1,2,3,3] scale=0.125 zero=3
const s float32[] = 0.125
const z int8[] = 3
const w int8[2,2,1,1] scale=0.125 zero=0 = 1 2 3 4
const z0 int8[] = 0
const b int32[2] = 1 2
const zb int32[] = 0
value y int8[1,2,3,3] scale=0.125 zero=3
node DequantizeLinear d1: X s z -> xf
node DequantizeLinear d2: w s z0 -> wf
node DequantizeLinear d3: b s zb -> bf
node Conv c: xf wf bf -> yf
node QuantizeLinear q: yf s z -> y
output y
END
tell bias.txt -d teach
# No device can be given a list.
sed 's/^input X/input L float32[2] sequence\ninput X/' chain.txt >list.txt
tell list.txt -d teach
