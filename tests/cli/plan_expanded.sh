# Constants that the file holds expanded are planned as the numbers that repeat, also where nothing is rewritten, and the
# report tells both: 32 numbers of 4 bytes each, of which one or four are different. Flash counts 16 for each.
cat >net.txt <<END
stride0-graph 1
format onnx 13
input X float32[1,4,2,4]
const one float32[1,4,2,4] = $(yes 3 | head -32 | tr '\n' ' ')
const four float32[1,4,2,4] = $(for c in 1 2 3 4; do yes $c | head -8; done | tr '\n' ' ')
const all float32[1,4,2,4] = $(seq 1 32 | tr '\n' ' ')
node Mul a: X one -> x
node Add b: x four -> y
node Relu c: y -> z
node Mul d: z all -> Y
output Y
END
stride0 plan net.txt -d mcu-cm --simplify none | sed -n '/flash memory/,/^$/p; /^stored expanded/,/^$/p'
stride0 plan net.txt -d mcu-cm --simplify none --json - | sed -n '/"flash_bytes"/p; /"expanded_in_file"/,/\]/p'
stride0 plan net.txt -d mcu-cm | sed -n '/flash memory/,/^$/p; /^stored expanded/,/^$/p; /^rewritten/,/^$/p'
stride0 help plan | grep -A 1 -e '--simplify'
