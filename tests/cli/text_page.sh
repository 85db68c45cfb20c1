# The network on docs/text.md, as it stands there.
sed -n '/^```$/,/^```$/p' "$S0_SOURCE_DIR/docs/text.md" | sed '/^```$/d' >affine.txt
stride0 run affine.txt -d teach | tail -n 1
