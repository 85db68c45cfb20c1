# Does it fit, and if not, why.
budget() {
    echo "== $1"
    shift
    stride0 plan "$@" --quiet
    echo "status $?"
}

# M3: inputs and outputs are inside the arena: 4096 + 6144 = 10240 at either step; the lines sum to the totals.
cat >m3.txt <<END
stride0-graph 1
input X int8[4096]
value t int8[6144]
value Y int8[4096]
node Custom up: X -> t
node Custom down: t -> Y
output Y
END
stride0 plan m3.txt -d mcu-cm | grep -A6 -E '^local memory|^peak'

# M5: exactly the bytes that were reported are enough, and one less is not.
budget "M5, all of it" m3.txt -d mcu-cm --budget 10240
budget "M5, in K" m3.txt -d mcu-cm --budget 10K
budget "M5, one less" m3.txt -d mcu-cm --budget 10239

# M6: 5000 bytes in 4096. gap8 aligns to 4: 5000 stays 5000, and 904 are too many.
cat >m6.txt <<END
stride0-graph 1
input big int8[5000]
value out int8[5000]
node Relu act: big -> out
output out
END
budget M6 m6.txt -d gap8 --budget 4096 --tile none

# M4: three operands of 1500, 1500 and 1200: 4200, 104 too many.
cat >m4.txt <<END
stride0-graph 1
input a int8[1500]
input b int8[1500]
value c int8[1200]
node Custom join: a b -> c
output c
END
budget M4 m4.txt -d gap8 --budget 4096

