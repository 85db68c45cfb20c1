# The worked example: int8 [1,12,20,28] on teach, pixels of 12 channels padded to 16 bytes.
#   map        20*28*12 = 6720 bytes, 20*28*16 = 8960 physically; parameters 12 bytes each, 16 physically
#   auto       8960 + 16 + 16 = 8992: product and sum are written over the input's local copy
#   full       8960 + 2*8960 = 26880, 10496 more than 16384; compact parameters save 2*(8960 - 16) = 17888,
#              tiles of 2 rows of 28*16 = 896: two in flight of X and of t, the form of s made once, s itself: 5*896 + 16 = 4496: 22384
#   traffic    6720 in, 12 + 12 of parameters, 6720 out: 13464
# A second reader of the copy keeps it alive: 2*8960 + 2*16 = 17952, 1568 too many.
graph() {
    cat <<END
stride0-graph 1
format tflite
input X int8[1,20,28,12]
const s int8[12] = 2 3 4 5 6 7 8 9 10 11 12 13
const b int8[12] = 3 4 5 6 7 8 9 10 11 12 13 14
value t int8[1,20,28,12]
value Y int8[1,20,28,12]
value Z int8[1,20,28,12]
node Mul m: X s -> t
node Add a: t b -> Y
END
}
(graph; echo "output Y") >one.txt
(graph; echo "node Add r: Y X -> Z"; echo "output Z") >two.txt
stride0 plan one.txt -d teach --tile none
echo "status $?"
stride0 plan one.txt -d teach --tile none --strategy full --quiet --json full.json
echo "status $?"
grep -E '"(placed|capacity|excess)_bytes"|saves_bytes' full.json
stride0 plan two.txt -d teach --tile none --buffer t
echo "status $?"
