# Outputs compared with what is expected of them: a = 2 X and b = 2 a of codes, of scale 1 and zero point 0.
cat >net.txt <<END
stride0-graph 1
format tflite
input X int8[1,2,3] scale=1 zero=0
const s int8[1] scale=1 zero=0 = 2
value "a:0" int8[1,2,3] scale=1 zero=0
value "b/0" int8[1,2,3] scale=1 zero=0
node Mul m: X s -> "a:0"
node Mul n: "a:0" s -> "b/0"
output "a:0"
output "b/0"
END
printf '\001\002\003\004\005\006' >x.bin
cp x.bin x6.bin
printf '\002\004\006\010\012\014' >a.bin
# b is 4 8 12 16 20 24; here 4 9 12 13 20 24: by 1 and by 3
printf '\004\011\014\015\024\030' >b.bin
tell() {
    stride0 run net.txt -d teach --input X=x.bin "$@" >out.txt
    echo "status $?: $*"
    echo "--" >&2
}
tell --expect a:0=a.bin --output-dir out --json run.json
sed -n '/^  expected/,$p' out.txt
sed -n '/"outputs"/,/^  \]/p' run.json
ls out
tell --expect a:0=a.bin --expect b/0=b.bin --json run.json
sed -n '/^  expected/,$p' out.txt
sed -n '/"outputs"/,/^  \]/p' run.json
tell --expect b/0=b.bin --tolerance 1
tell --expect b/0=b.bin --tolerance 3
sed -n '/^  expected/,$p' out.txt
# What was written is expected the next time, as NumPy's file too.
tell --expect a:0=out/a_0.npy --expect b/0=out/b_0.npy --quiet
tell --expect a:1=a.bin
tell --expect X=a.bin
tell --expect a:0=a.bin --expect a:0=b.bin
tell --expect a:0
tell --expect a:0=none.bin
cp a.bin a.txt
tell --expect a:0=a.txt
tell --tolerance 1
tell --expect a:0=a.bin --tolerance x
printf 'short' >short.bin
tell --expect a:0=short.bin
# A file that is compared is not written over.
cp a.bin a_0.bin
tell --expect a:0=a_0.bin --output-dir .
# Floats: 0.1 + 0.2 is the single 0x3e99999a; 0x3e999998 is two below. NaN is no number.
cat >float.txt <<END
stride0-graph 1
input X float32[1,3]
const s float32[1] = 1
node Mul m: X s -> Y
output Y
END
printf '\232\231\231\076\000\000\300\177\000\000\200\077' >x.bin
printf '\230\231\231\076\000\000\300\177\000\000\000\100' >y.bin
stride0 run float.txt -d teach --simplify none --input X=x.bin --expect Y=y.bin | sed -n '/^  expected/,$p'
printf '\230\231\231\076\000\000\200\077\000\000\200\077' >y.bin
stride0 run float.txt -d teach --simplify none --input X=x.bin --expect Y=y.bin --tolerance 2 --json - | grep '"expected"'
# Codes with --absolute are still compared by codes; floats may be apart by 0.5, however many ulp that is.
stride0 run net.txt -d teach --input X=x6.bin --expect b/0=b.bin --absolute 5 | sed -n '/^  expected/,$p'; echo "codes" >&2
printf '\000\000\200\077\000\000\200\077\000\000\000\077' >x.bin
printf '\000\000\200\077\000\000\300\077\000\000\200\077' >y.bin
for absolute in 0.5 0.49 1e-5x -1 nan; do
    stride0 run float.txt -d teach --simplify none --input X=x.bin --expect Y=y.bin --absolute $absolute | sed -n '/^  expected/,$p'
    echo "-- $absolute" >&2
done
stride0 run float.txt -d teach --simplify none --input X=x.bin --expect Y=y.bin --absolute 0.25 --tolerance 3 --json - | grep '"expected"'
stride0 run float.txt -d teach --absolute 0.25
# A name that is none: the model has one input and one output, or several.
stride0 run float.txt -d teach --input image=x.bin
stride0 run float.txt -d teach --expect image=x.bin
stride0 run net.txt -d teach --expect image=x.bin
# Floats are no codes, and to cut their digits off is not to quantise.
printf '\223NUMPY\1\0\77\0%-62s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2, 3), }" >f.npy
stride0 run net.txt -d teach --input X=f.npy
echo "status $?"
