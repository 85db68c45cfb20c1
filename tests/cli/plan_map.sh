# The drawing of time and address, in what a log holds, in what a terminal shows, and in colours.
#   A 64, t 64 bytes, u 60 in 64, Y 64: two of them are alive at a time, 128 bytes, 16 more than the budget
cat >net.txt <<END
stride0-graph 1
input A int8[64]
value t int8[64]
value u int8[60]
value Y int8[64]
node Custom a: A -> t
node Custom b: t -> u
node Custom c: u -> Y
output Y
END
map() {
    stride0 plan net.txt -d mcu-cm --budget 112 "$@" 2>errors | sed -n '/^[^ ]*time and address/,$p'
}
echo "== ASCII, where the locale is"
map
echo "== UTF-8, where the locale is"
LC_ALL=C.UTF-8 map
echo "== colours"
LC_ALL=C.UTF-8 map --color always | sed 's/\x1b/^/g'
echo "== plain"
LC_ALL=C.UTF-8 map --plain >plain
map | cmp - plain && echo "as in ASCII"
echo "== lines of 100, save where COLUMNS says else"
unset COLUMNS
stride0 plan net.txt -d mcu-cm --plain >plain
COLUMNS=100 stride0 plan net.txt -d mcu-cm | cmp - plain && echo "as of 100"
COLUMNS=200 stride0 plan net.txt -d mcu-cm --plain >wide
COLUMNS=200 stride0 plan net.txt -d mcu-cm | cmp - wide && echo "as of 200"
echo "== on a terminal: lines with colour"
colored() {
    script -qec "env $1 stride0 plan net.txt -d mcu-cm $2" /dev/null | grep -c "$(printf '\033')"
}
echo "by itself $(test "$(colored TERM=xterm)" -gt 9 && echo many)"
echo "NO_COLOR $(colored "TERM=xterm NO_COLOR=1")"
echo "dumb $(colored TERM=dumb)"
echo "never $(colored TERM=xterm "--color never")"
echo "plain $(colored TERM=xterm --plain)"
