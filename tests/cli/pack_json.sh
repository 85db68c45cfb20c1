# The answer as JSON, but for what differs from run to run or with the search.
answer() {
    stride0 pack - --json - "$@" 2>/dev/null | sed -E '/"(nodes|seconds)"/d; s/"(method|proof)": "[^"]*"/"\1": …/g'
}
printf 'id,lower,upper,size,share,offset\na,0,4,8,,0\nb,2,6,8,s,\nc,6,9,4,s,\n' >in.csv
answer <in.csv
answer --capacity 12 <in.csv
answer --memory fast=8 --memory slow=8:5 --minimise <in.csv
