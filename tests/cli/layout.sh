# The worked example: 12*20*28 = 6720 bytes, pixels of 16 bytes make 20*28*16 = 8960, with one channel 20 rows of 32.
# Element c 3, h 7, w 1 lies at 7*448 + 1*16 + 3 = 3155.
stride0 layout 1x12x20x28 -d teach --address 0,3,7,1 --json -
stride0 layout 1x1x20x28 -d teach --quiet --json one.json && grep physical one.json
# Half bytes: row h 1 begins behind 28*16*4 bits; c 1 is the upper half of the byte.
stride0 layout 1x12x20x28 --contract 'N H C/16 W C%16' --dtype int4 --address 0,1,1,0 --json - | grep -E 'bytes|address'
# Twelve lanes of 64: 20 rows of 28 bytes in each, rounded up to 64.
stride0 layout 1x12x20x28 --contract 'bank[C%64] N C/64 H@64 W' --address 0,5,0,2 --json - | grep -E 'ical|banks|address'
# Weights name their dimensions, and an index follows the order they were typed in.
stride0 layout O2xI3xH1xW1 --contract 'O H W I' --address 1,2,0,0 --json - | grep address
stride0 layout 3 --contract 'N H W C@4'
# Which case: of two, the second; the text says the same.
stride0 layout 1x12x20x28 -d teach --json - | grep case
stride0 layout 1x12x20x28 -d teach | grep -o '(case .*'
