# What local memory and flash have no room for, in the memories that take their overflow; tests/plan/test_overflow.c has
# the figures by hand: X p q Y are 64 bytes each, two are alive at once, one of them stays.
cat >mcu.ini <<END
[device]
name = mcu
kind = arena
[memory local]
bytes = 64 @ t
align_bytes = 1 @ t
[memory tcm]
bytes = 64 @ t
align_bytes = 8 @ t
overflow = local @ t
price = 2 @ t
[memory flash]
bytes = unbounded @ t
align_bytes = 1 @ t
[contract]
activation = N H W C @ t
weight = O H W I @ t
parameter = N H W C @ t
[parameter]
scalar = 1 @ t
channel = 1 @ t
row = 1 @ t
full = 1 @ t
END
cat >chain.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,1,4,16]
node LpPool a: X -> p kernel_shape=[1,1]
node LpPool b: p -> q kernel_shape=[1,1]
node LpPool c: q -> Y kernel_shape=[1,1]
output Y
END
stride0 devices ./mcu.ini | sed -n '/^memory tcm/,/^$/p'
stride0 plan chain.txt -d mcu.ini --plain | sed -n '/^  fits/p;/^local memory, /,/^$/p;/further memories/,/^$/p'
stride0 plan chain.txt -d mcu.ini --json - | sed -n '/"overflow"/,/\]/p'
stride0 plan chain.txt -d mcu.ini --html - | grep -o 'tcm memory[^<]*'
stride0 plan chain.txt -d mcu.ini --buffer p | sed -n '/alive/,/storage/p'
# With twice the local memory nothing overflows; what differs is what left it.
stride0 plan chain.txt -d mcu.ini --budget 128 | grep -c 'tcm memory'
stride0 diff chain.txt -d mcu.ini --a=--budget=128 chain.txt | sed -n '/^why the peak/,/^$/p;/leaves/p'
# Both are too small: all of it is told as if there were one memory.
sed 's/^bytes = 64 @ t/bytes = 63 @ t/' mcu.ini >small.ini
stride0 plan chain.txt -d small.ini --quiet
echo "status $?"
