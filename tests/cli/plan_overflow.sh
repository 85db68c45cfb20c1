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
stride0 plan chain.txt -d mcu.ini --quiet --json narrow.json >/dev/null
stride0 diff narrow.json chain.txt -d mcu.ini --b=--budget=128 --json changed.json | sed -n '/^what must be/,/^$/p'
sed -n '/"overflow"/,/\]/p' changed.json
# Both are too small: all of it is told as if there were one memory.
sed 's/^bytes = 64 @ t/bytes = 63 @ t/' mcu.ini >small.ini
stride0 plan chain.txt -d small.ini --quiet
echo "status $?"
told() {
    grep -E '^(stride0: )?[a-z ]*does not fit|^  fits|order memory|^ +(saves|lacks)|with --pin-inputs|also describes|to plan with'
}

# With 64 bytes of local memory 1 of tcm is lacking, whose unit is 8; a tcm of 128 holds all of it.
COLUMNS=300
export COLUMNS
echo "== a little more"
stride0 plan chain.txt -d small.ini --quiet --budget 64 2>&1 | told
sed '/tcm/,/flash/s/^bytes = 63 @ t/bytes = 128 @ t/' small.ini | tee large.ini | grep -c 'bytes = 128'
stride0 plan chain.txt -d large.ini | told

# The same tcm without overflow, and with another's: what is to be added, or changed.
echo "== not asked for"
sed '/^overflow/d;/^price/d' large.ini >described.ini
stride0 plan chain.txt -d described.ini --quiet 2>&1 | told
stride0 plan chain.txt -d described.ini --quiet --json - 2>/dev/null | grep '"unused_memory"'
sed 's/^overflow = local/overflow = flash/' large.ini >others.ini
stride0 plan chain.txt -d others.ini --quiet 2>&1 | told

# --pin-inputs: X stays for all three steps, so that three are alive at once, two of them in tcm. 64 bytes are too few.
echo "== pinned"
sed '/tcm/,/flash/s/^bytes = 64 @ t/bytes = 192 @ t/' mcu.ini >wide.ini
stride0 plan chain.txt -d wide.ini | told
stride0 plan chain.txt -d wide.ini --pin-inputs | told
stride0 plan chain.txt -d mcu.ini | told

# Branches of 1,024 bytes that are widened at once, or one after the other: the wide maps cost as much in tcm, but it has
# three of them at once, or one. Local memory has x, of 256, beside up to two maps of 64, and room for 512.
echo "== order"
{
    echo "stride0-graph 1
format tflite
input x int8[1,8,8,4] scale=0.5
const w int8[16,1,1,4] scale=0.5 = splat 1
const v int8[1,1,1,16] scale=0.5 = splat 1"
    for k in 0 1 2; do
        echo "value a$k int8[1,8,8,16] scale=0.5
value b$k int8[1,8,8,1] scale=0.5
node Conv(CONV_2D) wide$k: x w -> a$k"
    done
    for k in 0 1 2; do
        echo "node Conv(CONV_2D) narrow$k: a$k v -> b$k"
    done
    echo "value c int8[1,8,8,1] scale=0.5
value y int8[1,8,8,1] scale=0.5
node Add(ADD) sum: b0 b1 -> c
node Add(ADD) total: c b2 -> y
output y"
} >branches.txt
for tcm in 1024 2048 4096; do
    sed "/tcm/,/flash/s/^bytes = 64 @ t/bytes = $tcm @ t/; s/^bytes = 64 @ t/bytes = 512 @ t/" mcu.ini >order.ini
    for order in file memory; do
        echo "-- tcm $tcm, $order"
        stride0 plan branches.txt -d order.ini --order $order 2>&1 | told
    done
done

# A price of 20 in local memory: all of it lies in tcm, and there is no peak to be listed.
echo "== nothing stays"
sed '/local/,/tcm/s/^align_bytes.*/&\nprice = 20 @ t/; /tcm/,/flash/s/^bytes = 64 @ t/bytes = 1K @ t/' mcu.ini >dear.ini
stride0 plan chain.txt -d dear.ini | sed -n '/^local memory by kind/,/buffers in further/p'

# A price where nothing goes is told, and faults come in the order of their lines.
echo "== --check"
stride0 devices --check mcu.ini
sed '/^overflow/d' mcu.ini >priced.ini
stride0 devices --check priced.ini 2>&1
sed 's/kind = arena/kind = arna/; s/^\[memory tcm\]/[tcm]/; s/unbounded/1MB/; s/^overflow = local/overflow = sram/' mcu.ini >faults.ini
stride0 devices --check faults.ini 2>&1 | grep -E 'error|do  '
