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
# No device can be given a list.
sed 's/^input X/input L float32[2] sequence\ninput X/' chain.txt >list.txt
tell list.txt -d teach
