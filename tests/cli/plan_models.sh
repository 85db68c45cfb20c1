# All whole networks of the shared models: with 256 MiB each fits mcu-cm, but the one with an operator that no document
# defines; on every other preset it fits or does not. Every plan passes the checker that knows nothing but the JSON.
if [ ! -e "$S0_SHARED_DIR/models/dims.tsv" ]; then
    echo "SKIPPED: plan_models: needs the networks of S0_SHARED/models"
    exit 77
fi
presets='ethos-u55-128 nvdla-small sophgo-bm1684x k210-kpu rk3588-npu ascend-220x hexagon-v73 gap8 max78000 teach'
plan() { # MODEL PRESET OPTION...
    model=$1
    preset=$2
    shift 2
    dims=$(awk -F '\t' -v file="$model" '$1 == file {n = split($2, d, " "); for (i = 1; i <= n; i++) print "--dim " d[i]}' \
        "$S0_SHARED_DIR/models/dims.tsv")
    # shellcheck disable=SC2086
    stride0 plan "$S0_SHARED_DIR/models/$model" -d "$preset" $dims "$@" --quiet \
        --json "$(echo "$model" | tr / _)-$preset.json" 2>err.txt
}
for path in "$S0_SHARED_DIR"/models/tflite/*.tflite "$S0_SHARED_DIR"/models/onnx/*.onnx "$S0_SHARED_DIR"/models/derived/*.*; do
    case $path in *.onnx | *.tflite) ;; *) continue ;; esac
    model=$(basename "$(dirname "$path")")/$(basename "$path")
    plan "$model" mcu-cm --budget 256M
    status=$?
    if [ $status -ne 0 ]; then
        echo "$model: status $status, $(grep -o "operator '[^']*'[^:]*" err.txt)"
        continue
    fi
    for preset in $presets; do
        plan "$model" "$preset"
        status=$?
        [ $status -eq 0 ] || [ $status -eq 2 ] || echo "$model on $preset: status $status"
    done
done
python3 "$S0_SOURCE_DIR"/tests/oracle/check_plan.py ./*.json
