# Figures that a reader adds up do add up, lanes are told where sizes are of one, and a dimension of 0 is.
cat >net.txt <<END
stride0-graph 1
format onnx 13
input X int8[n,8,16,16]
const W int8[8,8,1,1] = $(seq 0 63 | tr '\n' ' ')
const b int8[1,8,1,1] = 1 2 3 4 5 6 7 8
node Conv c: X W -> y kernel_shape=[1,1]
node MaxPool p: y -> z kernel_shape=[2,2] strides=[2,2]
node Mul m: z b -> Y
output Y
END
stride0 plan net.txt -d teach --dim n=1 --budget 2K | grep -E 'cycles alone|first run|each as if'
stride0 plan net.txt -d teach --dim n=1 --budget 2K --tile 1 | grep -E 'first run|each as if'
stride0 plan net.txt -d sophgo-bm1684x --dim n=1 | sed -n 2,3p
stride0 plan net.txt -d sophgo-bm1684x --dim n=1 --budget 100 --quiet
stride0 plan net.txt -d sophgo-bm1684x --dim n=1 --budget 100 2>&1 >out.txt | head -1; sed -n 2p out.txt
stride0 plan net.txt -d teach --dim n=0 | sed -n 2p
