# stride0 diff: questions without an answer, and files that are no plan.
show() {
    echo "== $1"
    shift
    stride0 diff "$@"
    echo "status $?"
}
model=$S0_SOURCE_DIR/examples/affine.onnx
cp "$model" model.onnx
cp "$model" other_model.onnx
stride0 plan model.onnx -d teach --quiet --json a.json --layout x=NCHW
stride0 plan model.onnx -d teach --quiet --json b.json --layout x=NCHW --strategy full

show "a missing file" missing.onnx model.onnx -d teach
show "a missing baseline" --baseline missing.json model.onnx
show "no device" model.onnx model.onnx
show "nothing to compare with" model.onnx -d teach
show "a model as the baseline" --baseline model.onnx model.onnx -d teach
show "a baseline and two sides" --baseline a.json a.json model.onnx
show "options of plans in files" a.json b.json -d teach
show "an option of a plan in a file" a.json b.json --a strategy=full
show "an option with its dashes" model.onnx -d teach --a --strategy=full
show "an option's name" model.onnx -d teach --b strtegy=full
show "an option's value" model.onnx -d teach --b strategy=ful
show "no limit" a.json model.onnx --fail-if-grew 4KB
show "no limit of flash" a.json model.onnx --fail-if-backing-grew some
show "a dimension that only A may have" model.onnx other_model.onnx -d teach --dim n=1
show "a tensor that only B may have" model.onnx other_model.onnx -d teach --layout x=NCHW --axis zork=1
show "an option of B alone" model.onnx other_model.onnx -d teach --b layout=zork=NCHW
show "an output over an input" a.json b.json --json a.json

echo '{"schema": 1, "audit": {}}' >run.json
echo '{"schema": 2, "new": []}' >next.json
echo '[1, 2]' >array.json
head -c 500 a.json >cut.json
sed 's/"peak_live_bytes": [0-9]*/"peak_live_bytes": 1/' a.json >edited.json
sed 's/"first": [0-9]*/"first": "soon"/' a.json >typed.json
sed 's/, "storage": [0-9]*//' a.json >older.json
for file in run next array cut edited typed older; do
    show "$file.json" "$file.json" model.onnx -d teach
done
show "a model that only the file names" a.json other.onnx
