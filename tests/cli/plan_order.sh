# --order memory: another order of the operators than the file's, where that needs less local memory.
COLUMNS=300
export COLUMNS
show() {
    echo "== $1"
    shift
    stride0 "$@"
    echo "status $?"
}
told() {
    grep -E '^==|order memory|^status|peak  '
}

# x (256 bytes) is widened to three maps of 1,024, each narrowed to 64; two sums, of which each may be written in place.
# All three widened at once: 256 + 3 * 1,024 = 3,328. One after the other, the second narrowing is the peak: x for the third
# branch, a wide map, the first narrow one and its own: 256 + 1,024 + 2 * 64 = 1,408.
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
show "in the order of the file" plan branches.txt -d mcu-cm --order file --json file.json | told
show "in another" plan branches.txt -d mcu-cm --order memory --json memory.json --html memory.html | told
grep -h '"order"' file.json memory.json
grep -h '"request"' memory.json
grep -o 'order memory.*' memory.html | head -1
grep -oE '"index": [0-9]+, "node": "[a-z0-9]+"' memory.json | tr '\n' ' '
echo
show "it fits only so" plan branches.txt -d mcu-cm --order memory --budget 2K | told
show "too little for any" plan branches.txt -d mcu-cm --order memory --budget 1K --quiet
show "why" diff branches.txt -d mcu-cm --b order=memory
show "inputs pinned: x stays, 1,408 all the same" plan branches.txt -d mcu-cm --order memory --pin-inputs | told

# The simulated device computes the same.
for order in file memory; do
    show "run, $order" run branches.txt -d teach --tile none --order $order | grep -E '^==|output  y|^audit|^status'
done

# A chain, with a shortcut: there is one order.
cat >chain.txt <<'TEXT'
stride0-graph 1
format tflite
input x int8[1,4,4,16]
value a int8[1,4,4,16]
value b int8[1,4,4,16]
value y int8[1,4,4,16]
node AveragePool first: x -> a kernel_shape=[1,1] strides=[1,1] auto_pad="VALID"
node AveragePool second: a -> b kernel_shape=[1,1] strides=[1,1] auto_pad="VALID"
node Add last: b x -> y
output y
TEXT
show "a chain" plan chain.txt -d mcu-cm --order memory | told

# Two branches of one kind: whichever is first, the peak is the same, and it is known to be the lowest.
sed 's/second: a/second: x/; s/last: b x/last: a b/' chain.txt >even.txt
show "even branches" plan even.txt -d mcu-cm --order memory | told

# A variable is read before it is assigned, in any order. The file has the input, the variable, what was read of it and
# the softmax alive at once, 4 * 64; where the variable is assigned before the softmax, the input is gone: 3 * 64.
cat >state.txt <<'TEXT'
stride0-graph 1
format tflite
input x int8[1,4,16]
state v int8[1,4,16]
value s int8[1,4,16]
value t int8[1,4,16]
value b int8[1,1,1]
const axes int32[2] = 1 2
node tflite.READ_VARIABLE read: v -> s
node Softmax soft: s -> t
node tflite.ASSIGN_VARIABLE assign: v x -> _
node ReduceMax small: t axes -> b keepdims=1
output b
TEXT
show "a variable" plan state.txt -d mcu-cm --order memory | told

show "no such order" plan chain.txt -d mcu-cm --order best
