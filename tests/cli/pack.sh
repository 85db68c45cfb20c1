# What a person sees: the report, the rows, why nothing fits, several memories. Nodes and seconds are left out.
cp "$S0_SOURCE_DIR/examples/ranges.csv" ranges.csv
pack() {
    stride0 pack ranges.csv "$@" >report 2>errors
    echo "== $*: $?"
    grep -v '^search' report
    grep -v '^search' errors
}
pack -o rows.csv
cut -d, -f1-7,9 rows.csv
pack -q --capacity 26K -o none.csv
pack --capacity 28K -o rows.csv
pack --align 4096 -o rows.csv
pack --memory tcm=16K --memory dram=unbounded:3 -o rows.csv
cut -d, -f1-7,9-10 rows.csv
pack --memory tcm=12K --memory tcm2=12K
pack -d ethos-u55-128 -o rows.csv
# Pinned to where it lies it lies there again.
stride0 pack rows.csv -d ethos-u55-128 -q | cmp - rows.csv && echo "the same rows"
# From a pipe, and the rows alone.
stride0 pack - -q <ranges.csv | head -n 2
ls
