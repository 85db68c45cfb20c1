# Two outputs of one command never go to one file, whatever way it is named: nothing is written and no work begun. Links
# lead to what is written; a pipe is opened once and holds all of it.
model=$S0_SOURCE_DIR/examples/affine.tflite
tell() {
    timeout 60 stride0 "$@" >/dev/null
    echo "status $?: $*" | sed "s|$model|MODEL|"
    find . -type f | sort
    echo "--" >&2
}
few="--filter align=1 --filter dtype=int8 --filter shape=1x1x20x28"

echo "== not there yet"
mkdir folder
ln -s one link
ln -s "$PWD/folder/../one" far_link
ln -s link link_link
tell plan "$model" -d teach --json one --html one
tell plan "$model" -d teach --json one --html ./folder/../one
tell plan "$model" -d teach --json one --html link
tell plan "$model" -d teach --json far_link --html link_link
tell matrix $few --csv one --json ./one
tell matrix $few --csv one --json two --markdown two
tell simplify "$model" -o one --json one
tell run "$model" -d teach --json one --trace one
echo id,lower,upper,size >rows.csv
echo a,0,1,8 >>rows.csv
tell pack rows.csv -o one --json one

echo "== there already"
echo kept >one
ln one hard
tell plan "$model" -d teach --json one --html hard
tell plan "$model" -d teach --json one --html link
cat one
rm one hard

echo "== standard output"
tell plan "$model" -d teach --json - --html -
tell matrix $few --csv - --markdown -
tell simplify "$model" -o - --json -
tell run "$model" -d teach --json - --trace -
tell pack rows.csv -o - --json -
stride0 plan "$model" -d teach --json - --html out >out
echo "status $?"
wc -c out
echo "--" >&2
rm out

echo "== an input"
cp rows.csv kept.csv
tell pack rows.csv --json new -o rows.csv
cmp rows.csv kept.csv
rm kept.csv

echo "== files in a folder"
stride0 run "$model" -d teach --quiet --output-dir folder
ls folder >names
rm folder/*
name=$(grep bin names)
rm names
tell run "$model" -d teach --quiet --output-dir folder --trace new --json "folder/$name"
tell run "$model" -d teach --quiet --output-dir folder/new --trace "folder/../folder/$name"

rm -r folder/new "folder/$name"
echo "== links to nothing"
stride0 plan "$model" -d teach --quiet --json link_link
echo "status $?"
readlink link link_link
head -c 1 one && echo
rm one

echo "== devices take both"
stride0 plan "$model" -d teach --quiet --json /dev/null --html /dev/null
echo "status $?"

echo "== pipes"
stride0 plan "$model" -d teach --quiet --json whole --html whole_page
stride0 plan "$model" -d teach --quiet --json /dev/stdout | cmp - whole
mkfifo pipe
for way in "plan --html" "plan --json" "diff --json" "run --json" "run --trace" "simplify -o" "inspect --json" "pack -o" \
    "matrix --csv"; do
    case $way in
    plan* | run*) what="$model -d teach" ;;
    diff*) what="$model -d teach --b strategy=full" ;;
    simplify* | inspect*) what=$model ;;
    pack*) what=rows.csv ;;
    matrix*) what=$few ;;
    esac
    timeout 60 cat pipe >read &
    # shellcheck disable=SC2086 # words of one line
    timeout 60 stride0 ${way% *} $what --quiet ${way#* } pipe
    status=$?
    wait
    # shellcheck disable=SC2086
    stride0 ${way% *} $what --quiet ${way#* } again
    cmp read again && echo "$way: status $status, all of it"
done

# A device file, or a plan that is compared with, is an input too.
cp "$S0_SOURCE_DIR/devices/teach.ini" own.ini
stride0 plan "$model" -d ./own.ini --quiet --json own.ini
echo "over the device file: status $?"
stride0 plan "$model" -d ./own.ini --quiet --json kept.json
stride0 diff "$model" --baseline kept.json --quiet --json kept.json
echo "over the baseline: status $?"
