# What a sweep costs, what it did not take, and who is to blame where it does not fit: the worked example as a quantised
# MUL and ADD, on teach (a transfer costs 50 cycles, a descriptor 10, 8 bytes a cycle in bursts of 64; the engine 10 and
# 16 bytes a cycle; a wait for another queue 20).
#   tiles       2 of 20 lines are 56 pixels of 12 bytes, each a descriptor: 50 + 56 * (10 + 64/8) = 1,058; ten times
#   parameters  12 bytes each: 50 + 10 + 8 = 68
#   engine      10 + 2 * 672/16 = 94 a tile: 52 of them multiply, with the issue, and 42 add
#   steady      what is loaded once stays: 2 * 68 = 136 cycles less
# Whole maps, fused: 2 * (50 + 560 * 18) + 136 + 10 + 2 * 420 + 2 waits of 20 = 21,286. Split needs a map more, and another
# issue: 17,952 bytes, 1,568 too many.
cat >chain.txt <<END
stride0-graph 1
format tflite
input X int8[1,20,28,12] scale=0.05 zero=3
const s int8[12] scale=0.02 zero=-1 = 2 30 -40 5 60 70 -8 90 100 -110 12 13
const b int8[12] scale=0.07 zero=4 = 3 -4 5 60 -70 8 9 -100 110 12 13 14
value t int8[1,20,28,12] scale=0.04 zero=-5
value Y int8[1,20,28,12] scale=0.09 zero=7
node Mul m: X s -> t
node Add a: t b -> Y
output Y
END
sweep() { stride0 plan chain.txt -d teach "$@" | sed -n '/^traffic/,/^time/p' | sed '$d'; }
sweep --tile 2
sweep --tile none
sweep | grep instead
sweep --parameters reloaded | grep -A 2 tiles.of | head -n 3
stride0 plan chain.txt -d teach --tile none --node a
stride0 plan chain.txt -d teach --tile none --schedule split --quiet --json split.json
echo "status $?"
sed -n '/"blame"/,/\]/p' split.json
stride0 plan chain.txt -d teach --tile 2 --json - | sed -n '/"traffic"/,/"rewrites"/p'
stride0 plan chain.txt -d mcu-cm --json - | sed -n '/"traffic"/,/"by_column"/p'
