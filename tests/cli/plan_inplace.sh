# What may share bytes and what may not, on mcu-cm (sizes rounded to 16).
show() {
    echo "== $1"
    shift
    stride0 plan "$@"
    echo "status $?"
}
facts='"(name|peak_live_bytes|placed_bytes)"'
rows() {
    grep -E "$facts" plan.json | sed -E 's/^ *//; s/"node".*"physical_bytes"/"physical_bytes"/; s/"banks_used".*"offset"/"offset"/'
}

# F1: c = b + 10 may not overwrite b, which op1 reads later; d = b * 3 may. 8 bytes each, 16 in memory: the peak is 32.
cat >f1.txt <<END
stride0-graph 1
input b float32[2]
const ten float32[1] = 10
const three float32[1] = 3
value c float32[2]
value d float32[2]
node Add op2: b ten -> c
node Mul op1: b three -> d
output c
output d
END
show F1 f1.txt -d mcu-cm --buffer c --json plan.json
rows
show "F1, inputs pinned: b, c and d, 48 bytes" f1.txt -d mcu-cm --pin-inputs --quiet --json plan.json
rows

# F2: an output that nobody reads is alive in its own step: 64 + 64 + 64 = 192, all at different offsets.
cat >f2.txt <<END
stride0-graph 1
input X int8[64]
value O1 int8[64]
value O2 int8[64]
node Custom two: X -> O1 O2
output O1
END
show F2 f2.txt -d mcu-cm --quiet --json plan.json
rows

# F4: a change of layout needs bytes of its own, 18 + 18, each rounded to 32; element by element it does not.
cat >f4.txt <<END
stride0-graph 1
input X int8[1,2,3,3]
value r int8[1,2,3,3]
value t int8[1,3,2,3]
value Y int8[1,3,2,3]
node Relu before: X -> r
node Transpose swap: r -> t perm=[0,3,1,2]
node Relu after: t -> Y
output Y
END
show F4 f4.txt -d mcu-cm --quiet --json plan.json
rows
show "F4, the node" f4.txt -d mcu-cm --node swap

# F5: A is dead after step 0, op1 writes in place, and op2's output is given what was A's: the report says so of step 2. Three
# of 64 never live at once: peak 128, and 192 with A pinned.
cat >f5.txt <<END
stride0-graph 1
input A int8[64]
value t int8[64]
value u int8[64]
value Y int8[64]
node Custom op0: A -> t
node Relu op1: t -> u
node Custom op2: u -> Y
output Y
END
show F5 f5.txt -d mcu-cm | grep -A3 overwritten
show "F5, pinned" f5.txt -d mcu-cm --pin-inputs --quiet --json plan.json
grep -E '"peak_live_bytes"|overwritten' plan.json

# F6: a reshape of a graph input that is a graph output is a declared copy: 96 read and 96 written.
cat >f6.txt <<END
stride0-graph 1
input X int8[2,48]
const to int64[2] = 4 24
value Y int8[4,24]
node Reshape flat: X to -> Y
output Y
END
show F6 f6.txt -d mcu-cm | grep -A4 traffic

# F9: for each buffer its place, its range and why an alias is legal.
cat >f9.txt <<END
stride0-graph 1
input X int8[4,8]
const to int64[1] = 32
value a int8[4,8]
value v int8[32]
value w int8[32]
value Y int8[32]
node Custom make: X -> a
node Reshape flat: a to -> v
node Relu over: v -> w
node Custom end: w -> Y
output Y
END
show F9 f9.txt -d mcu-cm --quiet --json plan.json
grep '"alias_reason": "' plan.json | sed -E 's/"node".*"offset"/"offset"/'
show "F9, without writing in place" f9.txt -d mcu-cm --inplace none --quiet --json plan.json
grep '"alias_reason": "' plan.json | sed -E 's/"node".*"offset"/"offset"/'
