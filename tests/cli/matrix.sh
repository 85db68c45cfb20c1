# stride0 matrix: a few cells as text, Markdown, CSV and JSON; filters; files and a pipe.
show() {
    echo "== $1"
    shift
    stride0 matrix "$@"
    echo "status $?"
}
filters="--filter shape=1x1x20x28,1x12x20x28 --filter dtype=int8 --filter form=channel --filter schedule=fused
    --filter reader=single --filter coefficients=general --filter parameters=resident"

show "two contracts, by name and by text" --all $filters --filter "contract=channel-first,N H W C@16" --filter align=1,16
show "as CSV" --all $filters --filter "contract=channel-first,N H W C@16" --filter align=1,16 --csv -
stride0 matrix --all $filters --filter "contract=N H W C@16" --quiet --json - | grep -v '"rows"' | cut -c 1-120
echo "== the tables of the page"
stride0 matrix --all $filters --filter "contract=N H W C@16" --quiet --markdown - | grep '^|' | tail -7
show "no such contract" --filter "contract=N H W C@8"
show "no cell" --filter "contract=N H W C@16" --filter align=64
show "a device" -d teach
show "a shape" --shape 1x3x224x224

# What a filter leaves of the subset is in the subset.
stride0 matrix --quiet --filter shape=1x1x20x28 --filter align=1,64 --csv few.csv
stride0 matrix --quiet --filter shape=1x1x20x28 --csv more.csv
echo "cells that the wider filter lacks: $(grep -vxFf more.csv few.csv | wc -l)"
stride0 matrix --quiet --filter align=1 --filter shape=1x1x20x28 --json - | grep left_out

# Who reads a pipe gets all of it.
mkfifo pipe
cat pipe >read.csv &
timeout 60 stride0 matrix --quiet --filter shape=1x1x20x28 --filter align=1,64 --csv pipe
wait
cmp read.csv few.csv && echo "the pipe has all cells"
