# The examples on every scratchpad among the presets: where one runs the audit is exact, and the output is the same on
# each device, in whichever tiles, schedule and forms; else it is refused. cli/run_worked proves one output by hand.
presets='ethos-u55-128 nvdla-small sophgo-bm1684x k210-kpu rk3588-npu ascend-220x hexagon-v73 gap8 max78000 teach'
try() {
    stride0 run "$S0_SOURCE_DIR/examples/$model" "$@" >out.txt 2>err.txt
    status=$?
    output=$(awk '$1 == "output" {print $NF}' out.txt)
    [ -n "$first" ] || first=$output
    [ -z "$output" ] || [ "$output" = "$first" ] || echo "  other output: $output"
    echo "  $*: $status $(grep '^audit' out.txt)"
}
for model in affine.tflite affine.onnx separable.tflite separable.onnx; do
    echo "$model"
    first=
    for preset in $presets; do
        try -d "$preset"
    done
    try -d teach --tile 2
    try -d teach --tile 4x8 --schedule split
    try -d teach --strategy full
    try -d teach --strategy full --expand before
    try -d teach --schedule pipelined --parameters reloaded
    try -d teach --inplace none
    try -d teach --budget 4K
done
