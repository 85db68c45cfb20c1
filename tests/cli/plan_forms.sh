# A parameter that repeats along no axis, or along some only, before an engine that reads one number a channel and nothing
# else: planned as it is stored, with a warning in the ledger. What an engine reads, in any form, needs none.
cat >m.txt <<END
stride0-graph 1
format tflite
input X int8[1,2,2,3]
const whole int8[1,2,2,3] = 1 2 3 4 5 6 7 8 9 10 11 12
const some int8[1,2,1,3] = 1 2 3 4 5 6
const each int8[3] = 1 2 3
node Add a: X whole -> t
node Mul m: t some -> u
node Add c: u each -> Y
output Y
END
warnings() { stride0 plan "$@" --json - | sed -n '/"warnings"/,/\]/p'; }
warnings m.txt -d k210-kpu
sed '/ m: /d; s/ a: X whole -> t/ a: X some -> u/' m.txt >some.txt
warnings some.txt -d max78000
for device in teach mcu-cm ethos-u55-128 nvdla-small; do warnings m.txt -d $device; done
sed '/ m: /d; s/ a: X whole -> t/ a: X each -> u/' m.txt >each.txt
warnings each.txt -d k210-kpu
