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
# What is infeasible says where, and what would do: the largest live sum, or one more than what is proven to be too little.
where() {
    printf "$1" >in.csv
    shift
    echo "== $*" >&2
    stride0 pack in.csv -q --json where.json "$@"
    grep -o '"lower_bound_bytes": [a-z0-9]*' where.json >&2
}
where 'id,lower,upper,size\na,0,2,10\nb,0,2,10\nc,1,4,7\n' --capacity 24
where 'id,lower,upper,size,memory\na,0,2,10,m\nb,0,2,10,m\n' --memory m=12 --memory n=50
where 'id,lower,upper,size,memory\na,0,2,10,m\nb,0,2,10,m\nc,0,2,10,\n' --memory m=12 --memory n=50
where 'id,lower,upper,size,memory\na,0,2,80,m\nb,0,2,10,\n' --memory m=64 --memory n=50
where 'id,lower,upper,size\na,0,2,80\nb,0,2,10\n' --memory m=64 --memory n=50
where 'id,lower,upper,size\na,0,2,40\nb,0,2,80\n' --memory m=64 --memory n=50
# a and b are 6 bytes at once; in units of 4 they are 8.
where 'id,lower,upper,size\na,0,4,3\nb,0,2,3\nc,2,4,2\n' --capacity 7 --align 4
# 25 are alive at once, but what is free between the given offsets is 8, one too few for c.
where 'id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,16\nc,0,3,9,\n' --capacity 25
# Offsets that are given twice: no capacity would do.
where 'id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n'
where 'id,lower,upper,size,offset\na,0,2,8,0\nb,1,3,8,4\n' --capacity 1K
where 'id,lower,upper,size,apart,offset\na,0,2,8,z,0\nb,2,3,8,z,4\n' --capacity 1K
where 'id,lower,upper,size,gaps,offset\na,0,9,8,2-4 5-7,0\nb,2,9,8,4-5,4\n'
# Columns under other names, rows with too few cells and too many, ends that are swapped, sizes with units.
say() {
    printf "$1" >in.csv
    shift
    echo "== $*" >&2
    stride0 pack in.csv -o out.csv "$@" 2>&1 | grep -E '^ +(got|do) ' >&2
}
say 'id,lower,uper,size\na,0,1,1\n'
say 'id,from,to,sizes\na,0,1,1\n'
say 'name,first,last,bytes\na,0,1,1\n'
say 'id\tlower\tupper\tsize\n'
say 'id,lower,upper,size,pin\na,0,1,1,0\n'
say 'id,lower,upper,size,name,from\na,0,1,1,x,0\n'
say 'id,lower,upper,size\na\nb,1,2,3,4\n'
say 'id,lower,upper,size\na,9,2,1\nb,3,3,1\n'
say 'id,start,end,size\na,9,2,1\n'
say 'id,lower,upper,size\na,0,1,64KB\nb,0,1,"1,024"\n'
say "$GOOD" --memory tcm=64KB
say "$GOOD" --memory 'tcm=8 MiB:2'
say "$GOOD" --memory tcm=64K:cheap
stride0 pack in.csv -o ''; echo "no name: $?"
stride0 pack /dev/stdin -q <in.csv; echo "a regular file: $?"
cat in.csv | stride0 pack /dev/stdin; echo "a pipe: $?"
# Hints that are not used are told.
for hints in 0,4,4 0,,8 0,4,8 1,4,8; do
    echo "hints $hints"
    awk -v hints="$hints" 'BEGIN {
        split(hints, hint, ",")
        print "id,lower,upper,size,alignment,hint"
        for (i = 1; i <= 3; i++) print "b" i ",0,2,4,4," hint[i]
    }' | stride0 pack - -o out.csv --threads 1 | grep -E '^(hints|height)'
done
