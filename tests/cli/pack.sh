# What a person sees: the report, the rows, why nothing fits, several memories. Left out is what another placement of the
# same height might have otherwise: nodes, seconds, and offsets that are not the only ones.
cp "$S0_SOURCE_DIR/examples/ranges.csv" ranges.csv
pack() {
    stride0 pack ranges.csv "$@" >report 2>errors
    echo "== $*: $?"
    grep -v '^search' report
    grep -v '^search' errors
}
# In rows.csv; no cell of these has a comma. Offset and memory are the last columns.
highest() {
    awk -F, -v memory="$1" 'memory == "" || $(NF - 1) == memory { end = $4 + $NF; if (end > most) most = end }
        END { print "highest end " memory ": " most }' rows.csv
}
pack -o rows.csv
cut -d, -f1-8 rows.csv | cmp - ranges.csv && head -n 1 rows.csv && highest
pack -q --capacity 26K -o none.csv
pack --capacity 28K --minimise -o rows.csv
pack --align 4096 -o rows.csv
awk -F, 'NR > 1 && $NF % 4096 != 0' rows.csv
pack --memory tcm=16K --memory dram=unbounded:3 --minimise -o rows.csv
cut -d, -f1-9 rows.csv
highest tcm
highest dram
pack --memory tcm=12K --memory tcm2=12K
pack -d ethos-u55-128 --minimise -o rows.csv
# Pinned to where it lies it lies there again.
stride0 pack rows.csv -d ethos-u55-128 -q | cmp - rows.csv && echo "the same rows"
# From a pipe: the rows are standard output, the report is not.
stride0 pack - <ranges.csv 2>errors | cut -d, -f1-8 | cmp - ranges.csv
grep -c . errors

# Where there is one placement only: the offset takes the place of its column, the memory is filled in, all else is kept.
printf 'offset,id,"a, note",lower,upper,memory,size,gaps\r\n0,a,"x, ""y""",0,9,m,8,3-6\r\n, b ,,3,6,,8,' >one.csv
stride0 pack one.csv -q --memory m=8 --memory n=8:9
stride0 pack one.csv -q --memory m=7; echo "$?"
ls
