# Logical and physical bytes side by side, and constants that stay small.
device() {
    stride0 devices teach --ini | sed "s/^activation = .*/activation = $1 @ test/; s/^parameter = .*/parameter = N H W C @ test/; s/^bytes = 16K/bytes = 1G/"
}

# H4: 21 channels in blocks of 16: 735 bytes, physically 2*5*7*16 = 1120.
device 'N C\/16 H W C%16' >blocks.ini
cat >h4.txt <<END
stride0-graph 1
format onnx 13
input X int8[1,21,5,7]
value Y int8[1,21,5,7]
node Relu r: X -> Y
output Y
END
stride0 plan h4.txt -d ./blocks.ini --layout X=NCHW | grep -E '^  (input|output) +int8'

# H7: tiles of 32 x 32 over two dimensions of 1: 98304 bytes become 98304 * 1024 = 100663296.
device 'N C H^32 W^32' >tiles.ini
cat >h7.txt <<END
stride0-graph 1
format onnx 13
input X float16[512,96,1,1]
value Y float16[512,96,1,1]
node Relu r: X -> Y
output Y
END
stride0 plan h7.txt -d ./tiles.ini --layout X=NCHW --tile none | grep -A4 '^padding'

# A4: 96 numbers along axis 1, 384 bytes; expanded 96*5*333*4 = 639360, and 32 times that where the last dimension of 1
# is padded to 32. The last is C: no row of C and W holds the numbers.
device 'N H W C^32' >last.ini
cat >a4.txt <<END
stride0-graph 1
input X int32[1,96,5,333,1]
const k int32[1,96,5,333,1] stored [1,96,1,1,1] = $(seq -s' ' 1 96)
value Y int32[1,96,5,333,1]
node Add a: X k -> Y
output Y
END
stride0 plan a4.txt -d ./last.ini --tile none 2>/dev/null | grep -A3 '^kept compact'

# A2: 2097152 bytes of ones are one number of 4.
cat >a2.txt <<END
stride0-graph 1
format onnx 13
input X float32[1,32,128,128]
const ones float32[1,32,128,128] = $(yes 1 | head -n 524288 | tr '\n' ' ')
value Y float32[1,32,128,128]
node Add a: X ones -> Y
output Y
END
stride0 plan a2.txt -d mcu-cm --budget 16M | grep -A6 '^rewritten'
