# The networks of examples/: two operators with 12 numbers each in TFLite; the same with its Q/DQ pairs in ONNX; a called
# subgraph and a state tensor in the streaming one.
cp "$S0_SOURCE_DIR"/examples/affine.* "$S0_SOURCE_DIR/examples/streaming.tflite" .
stride0 inspect affine.tflite | tail -n +2
stride0 inspect affine.onnx --layout x=NCHW --json - | sed -n '/operator_counts/,/\]/p'
stride0 inspect streaming.tflite | sed -n '/^subgraphs/,/^$/p'
# crc32 of the one byte 3: checked with python3 -c 'import zlib; print(zlib.crc32(b"\x03"))'.
stride0 inspect affine.onnx --json x.json --quiet
grep -A 7 '"name": "x_zero"' x.json | grep -E 'crc32|constant_bytes|"shape"'
# What a file is instead of a model.
printf '<html>' >page.tflite
stride0 inspect page.tflite --json out.json; echo "$?"
stride0 inspect . ; echo "$?"
stride0 inspect affine.onnx --layout x=CHW; echo "$?"
stride0 inspect affine.onnx --dim x; echo "$?"
ls
