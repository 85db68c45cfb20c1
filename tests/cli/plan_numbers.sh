# Every option that takes a number, at the edges of what it takes: refused with one message, or read as it stands there.
cat >m.txt <<END
stride0-graph 1
format onnx 13
input X int8[n,2,4,4]
input U int8[1,2,4,4]
const K int8[2,1,1] = 1 2
node Mul a: X K -> Y
output Y
END
numbers() {
    for number in 0 -1 +1 1e3 1k 0x10 1.5 '' ' 1' 1x 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616; do
        stride0 "$@$number" --quiet >told 2>&1
        echo "$? '$number' $(sed -n 's/^stride0: \(error\|refused\): //p' told | head -1)$(sed -n 's/^  got       /; got /p' told | head -1)"
    done
    sed -n 's/^  expected /expected/p' told
}
echo "== --budget"
numbers plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --budget=
echo "== --tile"
numbers plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --tile=
echo "== --tile ROWSxCHANNELS"
numbers plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --tile=1x
echo "== --dim"
numbers plan m.txt -d teach --layout U=NCHW --layout X=NCHW --dim=n=
echo "== --dim by axis"
numbers plan m.txt -d teach --layout U=NCHW --layout X=NCHW --dim=X:0=
echo "== --axis"
numbers plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --axis=K=
echo "== --seed"
numbers run m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --seed=

# The most that 64 bits hold is a budget like any other.
stride0 plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --budget 18446744073709551615 | grep -E -A1 'fits|capacity'
stride0 plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --budget 17179869184G

# Nobody reads U: it takes no bytes here, and 32 where the caller gives every input its bytes.
stride0 plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --buffer U
echo "status $?"
stride0 plan m.txt -d mcu-cm --dim n=1 --layout U=NCHW --layout X=NCHW --buffer U | head -1
stride0 plan m.txt -d teach --dim n=1 --layout U=NCHW --layout X=NCHW --buffer ''
echo "status $?"
