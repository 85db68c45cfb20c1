# What the reports say of memories of bounded size, of crowded steps, of slices that are views, and of lanes.

# Flash holds 50 * 100 weights, 5000 rounded up to 16: 5008, which is 912 more than 4096.
cat >weights.txt <<END
stride0-graph 1
format tflite
input X int8[1,100]
const w int8[50,100] = unknown
value Y int8[1,50]
node tflite.FULLY_CONNECTED f: X w -> Y
output Y
END
stride0 devices mcu-cm --ini | sed '/^.memory flash/,/^align/ s/^bytes = unbounded/bytes = 4K/' >flash.ini
stride0 plan weights.txt -d ./flash.ini --quiet
echo "flash: status $?"

# Far memory of gap8: input, weights and output are 1000 + 512 * 1000 + 512, 1512 more than 512000.
sed 's/1,100\]/1,1000]/; s/50,100\]/512,1000]/; s/1,50\]/1,512]/' weights.txt >far.txt
stride0 plan far.txt -d gap8 --budget 1M --quiet
echo "far: status $?"

# Neither holds it: local memory would have to hold the same bytes at once, each at a multiple of 4.
stride0 plan far.txt -d gap8 --tile none --quiet
echo "both: status $?"

# 20 buffers of 16 bytes are read at one step and one is written: 336 in all, each of them listed.
awk 'BEGIN {
    print "stride0-graph 1\nvalue Y int8[16]"
    for (i = 0; i < 20; i++) { print "input v" i " int8[16]"; names = names " v" i }
    print "node Custom join:" names " -> Y\noutput Y"
}' >crowded.txt
stride0 plan crowded.txt -d mcu-cm --budget 300 --quiet 2>crowded.err
echo "crowded: status $?"
grep -c '^ *16  input  *int8  \[16\]  \[0,1)  v[0-9]*$' crowded.err
grep -E 'too many|in all' crowded.err

# Seven steps of 64 + 64 bytes: the first is the peak, six others are too large, of which four are listed.
awk 'BEGIN {
    print "stride0-graph 1\ninput v0 int8[64]"
    for (i = 1; i < 8; i++) { print "value v" i " int8[64]\nnode Custom n" i ": v" i - 1 " -> v" i }
    print "output v7"
}' >chain.txt
stride0 plan chain.txt -d mcu-cm --budget 100 --quiet 2>chain.err
echo "chain: status $?"
grep -A 6 'other step' chain.err

# Rows 1 and 2 of 4: 32 of 64 bytes, 16 behind the start. Y is written over them.
cat >slice.txt <<END
stride0-graph 1
format tflite
input X int8[1,4,2,8]
const b int32[4] = 0 1 0 0
const z int32[4] = 1 2 -1 -1
value t int8[1,4,2,8]
value v int8[1,2,2,8]
value Y int8[1,2,2,8]
node Relu r: X -> t
node SLICE c: t b z -> v
node Relu n: v -> Y
output Y
END
stride0 plan slice.txt -d mcu-cm --buffer v | grep -E 'bytes|offset|alias|legal|shared'
stride0 plan slice.txt -d mcu-cm --buffer t | grep shared

# 100 channels in 64 lanes: 2 in a lane. One number each: 2 bytes a lane, 128 in all. A row of 4 and a map of 5 * 4
# take 64 bytes a channel, 128 a lane, 8192 in all; the map's data are 2000.
awk 'BEGIN {
    print "stride0-graph 1\nformat tflite\ninput X int8[1,5,4,100]\nvalue Y int8[1,5,4,100]"
    printf "const s int8[100] ="
    for (i = 1; i <= 100; i++) { printf " %d", i }
    print "\nnode Mul m: X s -> Y\noutput Y"
}' >lanes.txt
stride0 plan lanes.txt -d sophgo-bm1684x 2>warning.err | grep -A 3 'kept compact'
stride0 plan lanes.txt -d sophgo-bm1684x --strategy full 2>warning.err | grep -A 2 '^expanded'
stride0 plan lanes.txt -d sophgo-bm1684x --buffer s 2>warning.err | grep -E 'bytes|as forms|broadcast' | tail -n 3

# A memory that is described only. `weights` of max78000, 64 x 6,912 = 442,368 bytes, where local memory would do without
# them: 600 rows of 700 in 16 lanes are 600 * 44 a lane, 422,400 in all, beside maps of 100 * 44 and 100 * 40. With 700
# rows they are 492,800, more than it holds.
sed 's/1,100\]/100,700]/; s/50,100\]/600,700]/; s/1,50\]/100,600]/' weights.txt >large.txt
stride0 plan large.txt -d max78000 --tile none --quiet --json weights.json 2>weights.err
echo "weights: status $?"
grep -A 3 -E 'too many|also describes' weights.err
grep '"unused_memory"' weights.json
sed 's/600/700/' large.txt >larger.txt
stride0 plan larger.txt -d max78000 --tile none --quiet 2>weights.err
echo "more weights: status $?"
grep -E 'too many|also describes' weights.err

# An l3 without bounds, one that is too small by a byte, and one that is not, in a file: far memory has the 512,000 bytes
# of w, and X and Y take 1,512.
stride0 devices gap8 --ini | sed 's/^bytes = 8000000/bytes = unbounded/' >deep.ini
stride0 plan far.txt -d deep.ini --budget 1M --quiet --json deep.json --html deep.html 2>deep.err
echo "unbounded: status $?"
grep -A 3 'also describes' deep.err
grep '"unused_memory"' deep.json
grep -o 'The device file also.*' deep.html
stride0 devices gap8 --ini | sed 's/^bytes = 8000000/bytes = 1511/' >shallow.ini
stride0 plan far.txt -d shallow.ini --budget 1M --quiet 2>shallow.err
echo "too small: status $?"
grep 'also describes' shallow.err
stride0 devices gap8 --ini | sed 's/^bytes = 8000000/bytes = 1512/' >just.ini
stride0 plan far.txt -d just.ini --budget 1M --quiet 2>just.err
echo "just enough: status $?"
grep 'also describes' just.err

# A pool of 1024 + 576 bytes between operators that can't be cut, and maps that no one transfer moves: it is these
# operators that keep its maps whole.
stride0 devices teach --ini | sed 's/^max_bytes = 64K/max_bytes = 512/' >short.ini
cat >held.txt <<'NET'
stride0-graph 1
input X int8[16]
value t int8[1,16,8,8]
value u int8[1,16,6,6]
value Y int8[16]
node Custom a: X -> t
node LpPool p: t -> u kernel_shape=[3,3]
node Custom b: u -> Y
output Y
NET
stride0 plan held.txt -d ./short.ini --budget 1500 --quiet --json held.json
echo "held: status $?"
grep -A 3 '"whole_reason": "gain",$' held.json

# A reshape is a copy only because of the layout: 16 pixels of 3 bytes in 16 each, and 48 in a row.
cat >reshape.txt <<'NET'
stride0-graph 1
format tflite
input X int8[16]
value t int8[1,4,4,3]
const s int32[2] = 1 48
value u int8[1,48]
value Y int8[16]
node Custom a: X -> t
node Reshape r: t s -> u
node Custom b: u -> Y
output Y
NET
stride0 plan reshape.txt -d teach --budget 300 --quiet
echo "reshape: status $?"
