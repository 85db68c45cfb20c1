# What has no single meaning ends in status 3 with the readings; sizes are told as they are.
try() {
    echo "== $1"
    shift
    stride0 plan "$@" --quiet --json - | grep -E '"(placed|logical|far|flash)_bytes"' | head -n 2
}
graph() { # FILE LINE...
    file=$1
    shift
    printf 'stride0-graph 1\nformat onnx 13\n' >"$file"
    printf '%s\n' "$@" >>"$file"
}

# B8: six parameters and a map whose channels are seven, six, or whatever the user says.
norm='node BatchNormalization bn: X p p p p -> Y'
six='const p float32[6] = 1 2 3 4 5 6'
graph b8.txt 'input X float32[1,6,7,7]' "$six" "$norm" 'output Y'
graph b8last.txt 'input X float32[1,7,7,6]' "$six" "$norm" 'output Y'
graph b8equal.txt 'input X float32[1,6,6,6]' "$six" "$norm" 'output Y'
axis() { stride0 plan "$@" --quiet --json - | grep '"memory": "flash"' | grep -o '"axis": [0-9]*'; }
try "B8, declared N H W C" b8.txt -d mcu-cm --layout X=NHWC
try "B8, nothing declared" b8last.txt -d mcu-cm
axis b8.txt -d mcu-cm --layout X=NCHW
axis b8last.txt -d mcu-cm --layout X=NHWC
axis b8equal.txt -d mcu-cm --layout X=NCHW
axis b8equal.txt -d mcu-cm --layout X=NHWC
stride0 plan b8equal.txt -d mcu-cm --layout X=NHWC --json out.json >out.txt # taken at its word, with a warning

# D10: one axis may come as a list, two may not.
graph d10.txt 'input X float32[1,6,6,6]' "$six" "$norm axis=[3]" 'output Y'
graph d10two.txt 'input X float32[1,6,6,6]' "$six" "$norm axis=[1,3]" 'output Y'
axis d10.txt -d mcu-cm
try "D10, two axes" d10two.txt -d mcu-cm

# C1: one scale is the tensor's; sixteen along a default axis that is not there are nobody's.
graph c1.txt 'input X int8[16]' 'const s float32[1] = 0.5' 'node DequantizeLinear dq: X s -> Y' 'output Y'
graph c1many.txt 'input X int8[16]' 'const s float32[16] = unknown' 'node DequantizeLinear dq: X s -> Y' 'output Y'
try "C1, one scale" c1.txt -d mcu-cm
try "C1, sixteen" c1many.txt -d mcu-cm

# J1, J2: 65537 * 65536 = 4295032832; the need is told whole, never a number that has wrapped.
graph j1.txt 'input X int8[65537,65536]' 'node Relu r: X -> Y' 'output Y'
graph j1big.txt 'input X int8[4294967296,4294967296]' 'node Relu r: X -> Y' 'output Y'
try J1 j1.txt -d mcu-cm
try "J1, past 64 bits" j1big.txt -d mcu-cm

# J5: nothing takes nothing, and moves nothing.
graph j5.txt 'input X float32[1,0,4,4]' 'const p float32[0] =' "$norm" 'output Y'
try J5 j5.txt -d teach

# J7: a dimension that is free is named, and planned once it is bound: 5*8*4*4 = 640.
graph j7.txt 'input X int8[batch,8,4,4]' 'node Relu r: X -> Y' 'output Y'
try "J7, free" j7.txt -d mcu-cm
try "J7, bound" j7.txt -d mcu-cm --dim batch=5

# I7: 7*9 elements of four bits are 32 bytes.
graph i7.txt 'input X int4[7,9]' "const w int4[7,9] = hex $(printf '%062d' 0)" 'node Add a: X w -> Y' 'output Y'
graph i7wide.txt 'input X int4[7,9]' "const w int4[7,9] = hex $(printf '%0126d' 0)" 'node Add a: X w -> Y' 'output Y'
try "I7, 31 bytes" i7.txt -d mcu-cm
try "I7, 63 bytes" i7wide.txt -d mcu-cm
