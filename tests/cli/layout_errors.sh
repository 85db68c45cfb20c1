# Each mistake is pointed at, ends in status 1, and writes no file.
try() {
    stride0 layout "$@" --json out.json
    echo "$?: $*"
}
try 1x12xax28 -d teach
try 1x12x -d teach
try '' -d teach
try 12x3 -d teach
try N1xC2xN3 -d teach
try N1x12x3x4 -d teach
try 99999999999999999999 -d teach
try 1x12x20x28 --contract 'N H Q W'
try 1x12x20x28 --contract 'N H W/0 C'
try 1x12x20x28 --contract 'N C W'
try 4294967296x4294967296x4294967296x2 --contract 'N H W C'
try 1x12x20x28 -d teach --address 0,12,1,1
try 1x12x20x28 -d teach --address 0,1,1
try 1x12x20x28 -d teach --address 0,1,1,1,1
try 1x12x20x28 -d teach --address 0,1,1,-1
try 1x12x20x28 -d teach --dtype int5
try 1x12x20x28 -d teach --contract 'N C H W'
try 1x12x20x28
try 1x12x20x28 -d taech
ls

# Other notations for a shape are told how it is written here; what is no shape in any is not.
try '[1,48,48,16]' -d teach
try '1, 48, 48, 16' -d teach
try 1*48*48*16 -d teach
try O16,I12,H3,W3 -d teach
try 1,48,,16 -d teach
# A role is of a device's contracts.
try 16x12x3x3 --contract 'O I H W' --role weight
# What is well-formed but has no layout is refused, as plan does.
try 1x12x20x28 --contract 'when C==1: N H W C'
try 1x1x1x4294967296 --contract 'N H W C@4294967296' --dtype b128
