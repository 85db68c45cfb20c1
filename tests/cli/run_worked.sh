# The worked example on the simulated device: int8 MUL, then ADD, of one number a channel, on teach in tiles of 3 rows.
# What must come out is computed here element by element from TFLite's definition of both operators (product or sum in
# integers, each factor a 31-bit mantissa and a shift, doubling high product, ties away), by other code than the project's.
# Traffic by hand: 5 * 7 * 12 = 420 bytes in and out, 2 * 12 of parameters; 5 rows in tiles of 3 are 2 tiles.
cat >worked.txt <<END
stride0-graph 1
format tflite
input X int8[1,5,7,12] scale=0.05 zero=3
const s int8[12] scale=0.02 zero=-1 = 2 30 -40 5 60 70 -8 90 100 -110 12 13
const b int8[12] scale=0.07 zero=4 = 3 -4 5 60 -70 8 9 -100 110 12 13 14
value t int8[1,5,7,12] scale=0.04 zero=-5
value Y int8[1,5,7,12] scale=0.09 zero=7
node Mul m: X s -> t
node Add a: t b -> Y
output Y
END
cat >expect.py <<'END'
import math
import struct
import sys

X, S, B = (0.05, 3), (0.02, -1), (0.07, 4)
T, Y = (0.04, -5), (0.09, 7)
S_CODES = [2, 30, -40, 5, 60, 70, -8, 90, 100, -110, 12, 13]
B_CODES = [3, -4, 5, 60, -70, 8, 9, -100, 110, 12, 13, 14]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def half_away(x):
    return math.floor(abs(x) + 0.5) * (1 if x >= 0 else -1)


def times(x, real):
    """x * real as gemmlowp does it."""
    mantissa, exponent = math.frexp(real)
    q = half_away(mantissa * 2**31)
    if q == 2**31:
        q, exponent = q // 2, exponent + 1
    x <<= max(exponent, 0)
    product = x * q
    nudged = product + (2**30 if product >= 0 else 1 - 2**30)
    high = abs(nudged) // 2**31 * (1 if nudged >= 0 else -1)
    shift = max(-exponent, 0)
    return half_away(high / 2**shift)


def clip(x):
    return min(max(x, -128), 127)


def mul(x, s):
    real = f32(X[0]) * f32(S[0]) / f32(T[0])
    return clip(times((x - X[1]) * (s - S[1]), real) + T[1])


def add(t, b):
    twice = 2 * max(f32(T[0]), f32(B[0]))
    total = times((t - T[1]) << 20, f32(T[0]) / twice) + times((b - B[1]) << 20, f32(B[0]) / twice)
    return clip(times(total, twice / (2**20 * f32(Y[0]))) + Y[1])


codes = [(k * 73 + 11) % 256 - 128 for k in range(5 * 7 * 12)]
if sys.argv[1] == "input":
    # NumPy's format, by hand, in Fortran order: the first index goes fastest.
    head = "{'descr': '|i1', 'fortran_order': True, 'shape': (1, 5, 7, 12), }\n"
    elements = [codes[(h * 7 + w) * 12 + c] for c in range(12) for w in range(7) for h in range(5)]
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("420b", *elements)
    open("x.npy", "wb").write(data)
    open("x.bin", "wb").write(struct.pack("420b", *codes))
else:
    want = [add(mul(x, S_CODES[k % 12]), B_CODES[k % 12]) for k, x in enumerate(codes)]
    got = open("out/Y.bin", "rb").read()
    print("different from x:", sum(a != b for a, b in zip(want, codes)) > 400, "codes:", len(set(want)) > 100)
    print("equal:", list(struct.unpack("420b", got)) == want)
    print("npy ends with the same:", open("out/Y.npy", "rb").read().endswith(got))
END
python3 expect.py input
stride0 run worked.txt -d teach --tile 3 --input X=x.npy --output-dir out --json run.json --trace run.cmd
echo "status $?"
ls out
python3 expect.py output
for how in "--schedule split" "--schedule fused --strategy full" "--schedule pipelined --tile 1" "--inplace none --simplify none"; do
    stride0 run worked.txt -d teach $how --input X=x.bin --output-dir other --quiet && cmp out/Y.bin other/Y.bin
    echo "$how: status $?"
done
grep -cE '^@[0-9]+ ' run.cmd
sed -n '/"audit"/,/"differences"/p' run.json
stride0 run worked.txt -d teach --tile 3 --input X=x.npy --node a --quiet
stride0 run worked.txt -d teach --seed 5 --quiet --json - | grep -A1 '"inputs"'
