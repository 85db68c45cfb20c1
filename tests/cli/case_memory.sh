# What is said of cases F, G, H and M from the field, with their figures: only the lines that a case asks for.
misfit() {
    budget=$1
    shift
    stride0 plan "$@" --budget "$budget" --quiet 2>err.txt
    echo "in $budget: status $?"
    grep -o 'does not fit: .*' err.txt
}

# F1: three steps; c may not take the place of b, which op1 reads at step 2.
cat >f1.txt <<END
stride0-graph 1
input b float32[2]
const ten float32[1] = 10
const three float32[1] = 3
value c float32[2]
value e float32[2]
value d float32[2]
node Add op2: b ten -> c
node Custom mid: c -> e
node Mul op1: b three -> d
output e
output d
END
echo "== F1"
stride0 plan f1.txt -d mcu-cm --buffer c | grep 'no alias'

# G4: 300 that stay and 640 of the first phase; 800 would be enough for the second, of 500.
cat >g4.txt <<END
stride0-graph 1
input P int8[300]
value t int8[640]
value r int8[500]
node Custom prepare: P -> t
node Custom invoke: P -> r
output r
END
echo "== G4"
misfit 940 g4.txt -d gap8
misfit 939 g4.txt -d gap8
misfit 800 g4.txt -d gap8

# G5: 2 * 1,150,464 = 2,300,928 bytes in 2,097,152: 203,776 too many.
cat >g5.txt <<END
stride0-graph 1
input X int8[1150464]
value Y int8[1150464]
node Custom large: X -> Y
output Y
END
echo "== G5"
misfit 2097152 g5.txt -d teach --json g5.json
grep -oE '"(placed_bytes|fits)": [a-z0-9]+' g5.json | head -2

# H1, H2: 70 and 80 bytes at a multiple of 16, or 15 more.
cat >h1.txt <<END
stride0-graph 1
input a int8[70]
value c int8[80]
node Custom grow: a -> c
output c
END
for device in mcu-cm teach; do
    echo "== H1 on $device"
    stride0 plan h1.txt -d $device | grep -oE '(placed|anywhere) +[0-9]+  to reserve[a-z0-9, ]*'
done

# H7: tiles of 32 by 32 over the last dimensions of 1 and 2: 12,288 bytes take 6,291,456, and a run touches what they hold.
stride0 devices teach --ini | sed 's/^activation = .*/activation = N H W^32 C@128 @ test/; s/^bytes = 16K/bytes = 8M/' >tiles.ini
cat >h7.txt <<END
stride0-graph 1
format onnx 13
input X float32[1,64,3,8,1,2]
value Y float32[1,64,3,8,1,2]
node Relu r: X -> Y
output Y
END
echo "== H7"
stride0 run h7.txt -d ./tiles.ini --tile none 2>err.txt | grep -oE '^audit.*|load_input +1 +12,288 +12,288'
grep -oE '[0-9,]+ bytes of data occupy [^;]*' err.txt
grep -oE 'do  .*' err.txt

# M1: the copy that changes a layout, alone and between loads and stores: 3 * 64 * 64 read and written.
cat >m1.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,3,64,64]
value r int8[1,3,64,64]
value t int8[1,64,64,3]
value Y int8[1,64,64,3]
node LpPool before: X -> r kernel_shape=[1,1]
node Transpose nhwc: r -> t perm=[0,2,3,1]
node LpPool after: t -> Y kernel_shape=[1,1]
output Y
END
for device in mcu-cm gap8; do
    echo "== M1 on $device"
    stride0 plan m1.txt -d $device --budget 1M | grep -oE "copy, step .*written"
done

# M3: with inputs and outputs outside, local memory holds 10,240 bytes and far memory two times 4,096.
cat >m3.txt <<END
stride0-graph 1
input X int8[4096]
value t int8[6144]
value Y int8[4096]
node Custom up: X -> t
node Custom down: t -> Y
output Y
END
echo "== M3"
stride0 plan m3.txt -d gap8 --quiet --json m3.json
grep -oE '"(placed_bytes|far_bytes)": [0-9]+' m3.json

# M5: in one byte a misfit says how many are needed; a run in these is exact, and in one less it is a misfit again.
cat >m5.txt <<END
stride0-graph 1
format onnx 13
input X int8[2,13,3,5] scale=0.5 zero=0
const s float32[] = 0.5
const t float32[] = 2
const z int8[] = 0
const m float32[13,1,1] = 1 2 3 4 5 6 7 8 9 10 11 12 13
value f float32[2,13,3,5]
value g float32[2,13,3,5]
value Y int8[2,13,3,5]
node DequantizeLinear first: X s z -> f
node Mul mul: f m -> g
node QuantizeLinear last: g t z -> Y
output Y
END
run() {
    stride0 run m5.txt -d teach --layout X=NCHW "$@" >out.txt 2>err.txt
    echo "status $?"
}
for tile in none 1 auto; do
    echo "== M5, tiles: $tile"
    run --tile $tile --budget 1
    need=$(grep -oE 'needs [0-9,]+ bytes' err.txt | tr -cd 0-9)
    run --tile $tile --budget "$need"
    grep '^audit' out.txt
    run --tile $tile --budget "$((need - 1))"
done
