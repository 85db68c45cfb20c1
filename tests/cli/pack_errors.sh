# Whatever is wrong with a table or an option is told with line, column, what stands there and what to do; the status is
# 1 (3 of what is not supported), and no file is written.
number=0
try() {
    number=$((number + 1))
    printf "$1" >in.csv
    shift
    echo "$number $*" >&2
    stride0 pack in.csv -o out.csv "$@"
    echo "$number $*: $?"
}
try ''
try 'id,lower,upper\na,0,1\n'
try 'id;lower;upper;size\na;0;1;1\n'
try 'id,lower,upper,end,size\na,0,1,1,1\n'
try 'id,lower,upper,size,size\na,0,1,1,1\n'
try 'id,lower,upper,size\na,0,1\nb,0,1,1,1\n# c,0,1,1\n'
try 'id,lower,upper,size\na,-1,1,1\nb,1,0,1\nc,0,1,0\na,0,1,99999999999999999999\n'
try 'id,lower,upper,size\na,0,1,64K\na,0,1,1\n,0,1,1\n'
try 'id,start,end,size\na,1,0,1\nb,0,18446744073709551615,1\n'
try 'id,lower,upper,size\n"a,0,1,1\n'
try 'id,lower,upper,size,gaps\na,0,9,1,3-3\nb,0,9,1,7-12\nc,0,9,1,0-5 4-9\nd,0,9,1,3~5\n'
try 'id,lower,upper,size,gaps\na,0,9,1,3-5@0:8\n'
try 'id,lower,upper,size,alignment,offset\na,0,9,1,0,\nb,0,9,1,8,12\n'
try 'id,lower,upper,size,offset,share\na,0,9,1,0,s\nb,0,9,1,8,s\n'
try 'id,lower,upper,size,apart,share\na,0,9,1,x,s\nb,0,9,1,x,s\n'
try 'id,lower,upper,size\na,0,9,18446744073709551615\nb,0,9,1\n'
try 'id,lower,upper,size,memory\na,0,9,1,tcm\nb,0,9,1,drma\n' --memory tcm=64K --memory dram=unbounded
try 'id,lower,upper,size,offset\na,0,9,1,8\n' --align 16
try "$(awk 'BEGIN { printf "id,lower,upper,size,memory\\n"; for (i = 0; i < 257; i++) printf "b" i ",0,1,1,m" i "\\n" }')"
try 'id,lower,upper,size\na,0\0,1,1\n'
GOOD='id,lower,upper,size\na,0,9,1\n'
try "$GOOD" --capacity 0
try "$GOOD" --capacity 64KB
try "$GOOD" --capacity 1K --memory x=1K
try "$GOOD" --memory x
try "$GOOD" --memory x=1K:cheap
try "$GOOD" --memory x=1K --memory x=2K
try "$GOOD" --align -1
try "$GOOD" --threads 0
try "$GOOD" --nodes many
try "$GOOD" --time-limit 0
try "$GOOD" --without thinking
try "$GOOD" -d taech
stride0 pack in.csv --json - -o -
echo "both to standard output: $?"
stride0 pack absent.csv
echo "absent.csv: $?"
stride0 pack in.csv -o in.csv
echo "over itself: $?"
# A name that is nearly one of a column would be without effect.
printf 'id,lower,upper,size,aligment\na,0,9,1,16\n' | stride0 pack - -q
printf 'id,lower,upper,size,aligment\na,0,9,1,16\n' | stride0 pack - 2>&1 >rows | grep -v '^search'
ls
# Of more buffers than assignments are searched for: pins that clash wherever they go, and more than all memories hold.
many() {
    awk -v offset="$1" 'BEGIN { print "id,lower,upper,size,offset"; for (i = 0; i < 80; i++) print "b" i ",0,9,4," offset }'
}
many 0 | stride0 pack - --memory a=100 --memory b=unbounded; echo "pins clash: $?"
many "" | stride0 pack - --memory a=100 --memory b=150; echo "too much: $?"
stride0 pack - <.; echo "a folder: $?"
