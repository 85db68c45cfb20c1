# What a runtime keeps for itself (reserved_bytes) is taken from what tensors may use, and told; an arena whose file does
# not tell it says so. A map of 2,560 bytes is read and another written: 5,120 of 8,192 bytes, too many where 3,088 are kept.
printf 'stride0-graph 1\ninput X float32[1,640]\nnode Softmax m: X -> Y\noutput Y\n' >net.txt
stride0 devices mcu-cm --ini | sed 's/^bytes = 256K .*/bytes = 8K @ a board/' >mine.ini
for kept in '' 0 3072 3088; do
    sed "s/^bytes = 8K .*/&${kept:+\nreserved_bytes = $kept @ a log of the runtime}/" mine.ini >kept.ini
    echo "== ${kept:-not told}"
    stride0 plan net.txt -d kept.ini 2>err | sed -n '2,/[0-9] node/p; /^  capacity/p'
    sed -n 1p err
    stride0 plan net.txt -d kept.ini --json - 2>err | grep -E '"(local|reserved)_bytes"|"capacity_bytes.*,$'
done
echo "== --budget"
stride0 plan net.txt -d kept.ini --budget 6K | sed -n '2,/[0-9] node/p; /^  capacity/p'
stride0 devices kept.ini | grep reserved_bytes
