# Why a map lies in far memory, why an operator is not cut, and far memory and flash that do not hold all of it.
sed 's/^bytes = unbounded/bytes = 600/' "$S0_SOURCE_DIR/devices/teach.ini" >near.ini
sed 's/^bytes = unbounded/bytes = 1K/' "$S0_SOURCE_DIR/devices/mcu-cm.ini" >small.ini

# p 16 and q 64 wait while d makes s 64 of r 64: 208. Without q it would fit in 200.
cat >waits.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,1,4,16]
node LpPool a: X -> p kernel_shape=[4,4] strides=[4,4]
node LpPool b: X -> q kernel_shape=[1,1]
node LpPool c: q -> r kernel_shape=[1,1]
node LpPool d: r -> s kernel_shape=[1,1]
node Add f: q s -> t
node LpPool e: t -> w kernel_shape=[4,4] strides=[4,4]
node Add g: w p -> Y
output Y
END
stride0 plan waits.txt -d teach --budget 200 --buffer q | sed -n '1,/^$/p'
stride0 plan waits.txt -d teach --budget 200 | sed -n '/maps in far memory:/,/^sweep of/p'
stride0 plan waits.txt -d teach --budget 200 --json - | sed -n '/"far_maps"/,/}/p'
# X 64 and Y 16 stay; q and s are 64 bytes each, and the terms add up.
stride0 plan waits.txt -d teach --budget 200 | grep -A 1 '^  far memory:'
stride0 plan waits.txt -d teach --budget 200 --json - | grep '"far_reason": {'
stride0 plan waits.txt -d teach --budget 200 --node d

# Nobody knows what `mystery` reads: 64 and 80 bytes, whole.
cat >mystery.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,1,4,16]
value y int8[1,1,5,16]
node LpPool a: X -> x kernel_shape=[1,1]
node Custom mystery: x -> y
node LpPool b: y -> Y kernel_shape=[1,1]
output Y
END
stride0 plan mystery.txt -d teach --budget 143 --quiet --json misfit.json
echo "status $?"
sed -n '/"misfit"/,/"other_steps"/p' misfit.json
stride0 plan mystery.txt -d teach --budget 144 --node mystery

# A convolution reads all channels of a window and as many weights: 32, 32, and 16 for one pixel.
cat >conv.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,32,4,4]
const W int8[2,32,1,1] = $(seq 0 63 | tr '\n' ' ')
node Conv c: X W -> Y kernel_shape=[1,1]
output Y
END
stride0 plan conv.txt -d teach --budget 64 --quiet
echo "status $?"

# Far memory of 600 bytes: X 256 and Y 64 stay, x and y are 256 each.
cat >chain.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,1,16,16]
node LpPool a: X -> x kernel_shape=[1,1]
node LpPool b: x -> y kernel_shape=[1,1]
node LpPool c: y -> Y kernel_shape=[4,4] strides=[4,4]
output Y
END
stride0 plan chain.txt -d near.ini --budget 96 --quiet --json far.json
echo "status $?"
sed -n '/"misfit"/,/"remedies"/p' far.json
stride0 plan chain.txt -d near.ini --budget 8 --quiet
echo "status $?"

# Flash of 1,024 bytes: nothing in it comes and goes.
cat >flash.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,40]
const W int8[40,30] = $(seq 0 1199 | awk '{printf "%d ", $1 % 251 - 125}')
node MatMul m: X W -> Y
output Y
END
stride0 plan flash.txt -d small.ini --quiet
echo "status $?"

# 12 maps of 64 bytes, each between two pools, in 48 bytes: lists of 10 rows, or of all.
{
    printf 'stride0-graph 1\nformat onnx 13\ninput m0 int8[1,1,4,16]\n'
    for k in $(seq 0 12); do echo "node LpPool p$k: m$k -> m$((k + 1)) kernel_shape=[1,1]"; done
    echo 'output m13'
} >long.txt
stride0 plan long.txt -d teach --budget 48 | sed -n '/maps in far memory:/,/^sweep of/p'
stride0 plan long.txt -d teach --budget 48 --all | sed -n '/maps in far memory:/,/^sweep of/p' | grep -c " m[0-9]*$"

# On a narrow page the names of operators and of maps share what room there is.
sed 's/ p\([0-9]\)/ network\/features\/stage_of_pools\/pool_\1/g; s/ m\([0-9]\)/ network\/features\/stage_of_pools\/map_\1/g' long.txt >names.txt
# 12 maps of which two are there at once.
stride0 plan long.txt -d teach --budget 48 | grep -A 1 '^  far memory:'
COLUMNS=80 stride0 plan names.txt -d teach --budget 48 | sed -n '/maps in far memory:/,/pool_2/p'
