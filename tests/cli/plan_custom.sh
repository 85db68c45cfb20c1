# Custom operators: what the device file does not declare of them is told, once, and so is a section that fits none.
cat >fft.txt <<END
stride0-graph 1
format tflite
input X int16[1,16]
value w int16[1,16]
value f int16[1,18]
value Y int16[1,9]
node Custom("CUSTOM:SignalWindow") window: X -> w
node Custom("CUSTOM:SignalRfft") fft: w -> f
node Custom("CUSTOM:SignalEnergy") energy: f -> Y
output Y
END
tell() {
    echo "== $1" >&2
    stride0 plan fft.txt -d "$1" --json plan.json >ledger.txt
    echo "status $?"
    sed -n '/"warnings"/,/^  \]/p' plan.json
    grep '"workspace_declared_bytes"' plan.json
}
tell teach
stride0 devices teach --ini >mine.ini
printf '[operator SignalRFFT]\nworkspace = 3840 @ kernel guide\n[operator SignalWindow]\nworkspace = 0 @ kernel guide\n' >>mine.ini
tell ./mine.ini
# All of them are declared: 3,840 and 64 are 3,904. A section for another network is nothing to tell.
sed -i 's/SignalRFFT/SignalRfft/' mine.ini
printf '[operator SignalEnergy]\nworkspace = 64 @ kernel guide\n[operator Unused]\nworkspace = 1 @ another network\n' >>mine.ini
tell ./mine.ini
stride0 devices --check mine.ini
