# What docs/devices.md shows is what the program does: its whole file is taken as it is, without any one line of it it is
# refused, and the errors that it prints are those of the page.
page=$S0_SOURCE_DIR/docs/devices.md
block() { awk -v kind="$1" -v first="$2" '$0 == "```" {on = 0} on && ($0 == first || said) {said = 1; print}
    $0 == "```" kind {on = 1} !on {said = 0}' "$page"; }
block ini '[device]' >box.ini
wc -l <box.ini
stride0 devices --check box.ini; echo "status $?"
sed 's/^kind = .*/kind = arena/; s/memory far/memory flash/' box.ini >arena.ini
stride0 devices --check arena.ini; echo "status $?"
stride0 plan "$S0_SOURCE_DIR/examples/affine.tflite" -d box.ini | sed -n '2,3p'
for line in $(seq 2 "$(wc -l <box.ini)"); do
    sed "${line}d" box.ini >without.ini
    stride0 devices --check without.ini >/dev/null 2>&1 && echo "line $line may be left out"
done
grep -A 8 '^stride0: error: ./box.ini:4' "$page" | sed '/^```/,$d' >told
mv box.ini whole.ini
sed '6s/align/allign/' whole.ini >box.ini
stride0 devices --check box.ini 2>printed; echo "status $?"
diff told printed && wc -l <told
