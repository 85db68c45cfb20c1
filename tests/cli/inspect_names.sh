# The names that --layout, --axis, --buffer, --node and --dim take, and what says which axis is the channel: an operator,
# a reader, --layout, nothing; before the axes are known too.
cp "$S0_SOURCE_DIR"/examples/affine.tflite "$S0_SOURCE_DIR/examples/streaming.tflite" .
cat >conv.txt <<END
stride0-graph 1
format onnx 13
input X float32[batch,3,8,8]
input Z float32[1,8,8,3]
const w float32[4,3,1,1] = unknown
const b float32[4] = 1 2 3 4
const two float32[1] = 2
value a float32[batch,4,8,8]
value c float32[batch,4,8,8]
value Y float32[1,8,8,3]
node Conv "a convolution whose name is longer than what has room beside its tensor": X w b -> a
node Relu r: a -> c
node Mul m: Z two -> Y
output c
output Y
END
stride0 inspect affine.tflite --names
stride0 inspect streaming.tflite --names | tail -n +2
stride0 inspect conv.txt --names | tail -n +2
stride0 inspect conv.txt --names --dim batch=2 --layout Z=NCHW | sed -n '/^tensors/,/^$/p'
# Every name it lists is one that the options take.
names() { sed -n "/^$1/,/^\$/p" names | tail -n +3 | sed '/^$/d; s/.* //'; }
stride0 inspect affine.tflite --names >names
for name in $(names tensors); do stride0 plan affine.tflite -d teach --buffer "$name" >/dev/null && echo "buffer $name"; done
for name in $(names operators); do stride0 plan affine.tflite -d teach --node "$name" >/dev/null && echo "node $name"; done
