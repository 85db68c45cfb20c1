# stride0 diff: models, options, devices and plans in files; a change that can't be planned halfway.
show() {
    echo "== $1"
    shift
    stride0 diff "$@"
    echo "status $?"
}

# A map of 3 * 5 * 4 = 60 and a constant of as many, all different; and one of a number a channel.
numbers=$(seq 60 | tr '\n' ' ')
mul() {
    echo "stride0-graph 1
input x int8[1,3,5,4] scale=0.5
const k int8$1
value y int8[1,3,5,4] scale=0.5
node Mul m: x k -> y
output y"
}
mul "[1,3,5,4] = $numbers" >full.txt
mul "[4] = 1 2 3 4" >channel.txt

forms="weight = O H W I @ test
parameter = N H W C @ test
[parameter]
scalar = 1 @ test
channel = 1 @ test
row = 1 @ test
full = 1 @ test"
device() {
    echo "[device]
name = $1
kind = scratchpad
[memory local]
bytes = ${4:-4K} @ test
align_bytes = ${3:-4} @ test
[memory far]
bytes = unbounded @ test
align_bytes = 4 @ test
[contract]
activation = $2 @ test
$forms"
}
device dense "N H W C" >dense.ini
device padded "N H W C@16" 16 8K >padded.ini

show "constants: 60 bytes of numbers become 4" full.txt channel.txt -d ./dense.ini --tile none
show "options: one after the other" channel.txt -d ./dense.ini --tile none \
    --b strategy=full --b expand=before --b inplace=none --b pin-inputs
show "layout: two devices" channel.txt --a device=./dense.ini --b device=./padded.ini --tile none
show "all at once: model, layout and form" full.txt channel.txt --a device=./padded.ini --b device=./dense.ini \
    --b strategy=row --json all.json --tile none
grep -A99 '"change"' all.json | grep -B99 '"tensors"'

# Starts at multiples of 8 K are no device of 4 K: the layout is taken with the capacity.
device large "N H W C" 8192 64K >large.ini
show "what can't be planned halfway" channel.txt --a device=./dense.ini --b device=./large.ini --tile none |
    grep -E -A3 '^==|^how:|^status'

# Plans in files: beside a model its options hold; two files are compared as they are.
stride0 plan channel.txt -d ./dense.ini --strategy row --tile none --quiet --json a.json
stride0 plan full.txt -d ./padded.ini --tile none --quiet --json b.json
grep '"request"' a.json b.json
show "a baseline, and the model as it is now" --baseline a.json full.txt
show "one option of it back at its default" --baseline a.json channel.txt --b strategy=auto
show "two files" a.json b.json
show "nothing changed" --baseline a.json channel.txt --fail-if-grew 0

# A check: 2 if it grew by more, and the JSON is written all the same.
show "grown" --baseline a.json full.txt --fail-if-grew 16 --quiet --json grown.json
grep placed_bytes grown.json
show "grown by no more" --baseline a.json full.txt --fail-if-grew 1K --quiet

# Flash is needed too: k is 60 bytes instead of 4, and there are 48; as a check, in the report and the JSON.
arena() {
    echo "[device]
name = $1
kind = arena
[memory local]
bytes = ${2} @ test
align_bytes = 4 @ test
[memory flash]
bytes = 48 @ test
align_bytes = 4 @ test
[contract]
activation = N H W C @ test
$forms"
}
arena small 1K >small.ini
arena tiny 32 >tiny.ini
show "flash: more of it, and too little" channel.txt full.txt -d ./small.ini --json flash.json \
    --fail-if-grew 0 --fail-if-backing-grew 55 --fail-if-no-fit
grep -A4 '"backing"' flash.json
grep '"change"' flash.json
show "as much more as may be" channel.txt full.txt -d ./small.ini --fail-if-backing-grew 56 --quiet
show "it fits, and the other did not" full.txt channel.txt -d ./small.ini --fail-if-no-fit --quiet
show "neither memory holds it" channel.txt full.txt --a device=./small.ini --b device=./tiny.ini --fail-if-no-fit |
    grep -E -A99 '^what must|^status' | grep -B99 '^how'
stride0 plan full.txt -d ./small.ini --quiet --json flash_a.json
show "a baseline that did not fit, and does not" --baseline flash_a.json full.txt --fail-if-no-fit --quiet
show "constants come to local memory" channel.txt --a device=./small.ini --b device=./dense.ini --tile none |
    grep -E '^constants|  constants|local memory|^status'

# Each option of the file can be back at its default.
stride0 plan channel.txt -d ./dense.ini --budget 2K --tile 2 --strategy row --schedule split --parameters reloaded --expand before \
    --inplace none --order memory --simplify none --qdq int --layout x=NHWC --axis k=3 --axis-heuristic size --dim x:0=1 \
    --pin-inputs --pin-outputs --quiet --json options.json
grep -o '"options": .*]' options.json
set --
for name in budget tile strategy schedule parameters expand inplace order simplify qdq layout axis axis-heuristic dim \
    pin-inputs pin-outputs; do
    stride0 diff --baseline options.json channel.txt --b $name=auto --quiet --json back.json
    echo "$name status $?, $(grep -o '"options": .*]' back.json | tail -1 | wc -w) words"
    set -- "$@" --b $name=auto
done
show "all of them" --baseline options.json channel.txt "$@" | grep '^B'
show "one of them anew" --baseline options.json channel.txt "$@" --b tile=none --b layout=x=NCHW | grep '^B'
show "a device has no default" --baseline options.json channel.txt --b device=auto | grep status
show "nothing is no option" --baseline options.json channel.txt --b "" | grep status
