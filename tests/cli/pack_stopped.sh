# A search that ends before it is done: by nodes the answer repeats, for any number of threads and any order of the rows;
# by the clock and by Ctrl-C it is the lowest placement so far. Nothing that was stopped is called optimal or infeasible.
# Even sizes between walls that leave room for odd ones: each room has a byte to spare, which no bound sees.
awk 'BEGIN {
    state = 7
    print "id,lower,upper,size,offset"
    for (i = 0; i < 14; i++) print "wall" i ",0,90,1," 102 * i + 101
    for (i = 0; i < 60; i++) {
        state = (state * 1103515245 + 12345) % 2147483648
        print "b" i "," i % 7 "," 70 + i % 5 "," 20 + 2 * (int(state / 65536) % 17) ","
    }
}' >hard.csv
height() {
    awk -F, 'NR > 1 && $4 + $5 > most { most = $4 + $5 } END { print most }' "$1"
}
for threads in 1 2 3; do
    stride0 pack hard.csv --nodes 3000 --threads $threads -q -o "by$threads.csv"
    echo "$threads threads: $?"
done
cmp by1.csv by2.csv && cmp by1.csv by3.csv && echo "the same rows"
{ head -n 1 hard.csv; tail -n +2 hard.csv | sort -t, -k4,4n -k1,1; } >sorted.csv
stride0 pack sorted.csv --nodes 3000 -q -o other.csv
[ "$(height by1.csv)" = "$(height other.csv)" ] && echo "the same height"

check() {
    rows=$(wc -l <"$1")
    stride0 pack "$1" -q -o again.csv && cmp "$1" again.csv && echo "$rows lines, judged again"
    grep -o 'not proven to be the lowest' report
}
stride0 pack hard.csv --time-limit 0.2 -o timed.csv >report; echo "by the clock: $?"
check timed.csv
stride0 pack hard.csv --nodes 1000000000 -o stopped.csv >report &
sleep 1
kill -INT $!
wait $!; echo "by Ctrl-C: $?"
check stopped.csv

# Over the capacity it is neither lost nor called infeasible.
bound=$(stride0 pack hard.csv --nodes 10 --json - 2>errors | sed -n 's/.*"lower_bound_bytes": \([0-9]*\),$/\1/p')
stride0 pack hard.csv --nodes 10 --capacity "$bound" -o over.csv >report 2>errors; echo "over the capacity: $?"
head -n 1 errors | sed 's/[0-9,]* bytes/N bytes/'
sed -n '$p' errors
stride0 pack hard.csv --nodes 10 --capacity "$bound" --json - 2>errors | grep '"status"'
