# The networks of examples/ on every preset: each fits or does not (never anything else), its plan passes the checker that
# knows nothing but the JSON, a second run gives the same bytes, and no line of the ledger is longer than 100 characters.
presets='mcu-cm ethos-u55-128 nvdla-small sophgo-bm1684x k210-kpu rk3588-npu ascend-220x hexagon-v73 gap8 max78000 teach'
for model in "$S0_SOURCE_DIR"/examples/*.onnx "$S0_SOURCE_DIR"/examples/*.tflite; do
    for preset in $presets; do
        name=$(basename "$model")-$preset
        for strategy in auto full; do
            stride0 plan "$model" -d "$preset" --strategy $strategy --json "$name-$strategy.json" >ledger.txt 2>misfit.txt
            status=$?
            if [ $status -ne 0 ] && [ $status -ne 2 ]; then
                echo "$name $strategy: status $status"
                cat misfit.txt
            fi
            [ $status -ne 2 ] || grep -q 'does not fit' misfit.txt || echo "$name $strategy: no reason is given"
            awk 'length > 100 {print FILENAME ": " length ": " $0}' ledger.txt
            stride0 plan "$model" -d "$preset" --strategy $strategy --json - >again.txt 2>again.err
            cmp "$name-$strategy.json" again.txt
        done
    done
done
python3 "$S0_SOURCE_DIR"/tests/oracle/check_plan.py ./*.json | sed 's/^[0-9]* plans/plans/'
