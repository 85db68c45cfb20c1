# --quiet: no report and no warnings, whatever came of it; and lines as long as names need where nobody reads them.
cat >warned.txt <<END
stride0-graph 1
format onnx 13
input X float32[1,4,8,8]
value y float32[1,4,8,9]
node Relu r: X -> y
node Custom c: y -> Z
output Z
END
stride0 plan warned.txt -d teach --axis-heuristic size; echo "refused: $?"
stride0 plan warned.txt -d teach --axis-heuristic size --quiet; echo "refused, quiet: $?"
sed 's/^value/value Z float32[1,4,8,8]\n&/' warned.txt >fine.txt
stride0 plan fine.txt -d mcu-cm --quiet; echo "done, quiet: $?"
stride0 plan fine.txt -d mcu-cm --quiet --budget 100; echo "no fit, quiet: $?"

# A name of 120 letters is cut where a line has 100 columns, and whole in a file; a narrow line has 80.
long=$(printf 'a%.0s' $(seq 120))
printf 'stride0-graph 1\ninput %s int8[64]\nnode Relu r: %s -> Y\noutput Y\n' "$long" "$long" >long.txt
stride0 plan long.txt -d mcu-cm | grep -c "$long"
(unset COLUMNS; stride0 plan long.txt -d mcu-cm | grep -c "$long")
(COLUMNS=wide; stride0 plan long.txt -d mcu-cm | grep -c "$long")
COLUMNS=10 stride0 plan long.txt -d mcu-cm | awk 'length > most {most = length} END {print most <= 80}'
