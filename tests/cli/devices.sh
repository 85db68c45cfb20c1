# The presets by name; one of them printed as a file is a device again; a broken file is told line by line.
stride0 devices | awk 'NR > 1 {print $1, $2}'
stride0 devices teach | sed -n '1,4p'
stride0 devices teach --ini >mine.ini
stride0 devices --check mine.ini; echo "$?"
sed 's/^kind = .*/kind = scratchpat/' mine.ini >broken.ini
stride0 devices --check broken.ini 2>&1 | grep -c 'line'
stride0 devices --check absent.ini; echo "$?"
stride0 devices tech; echo "$?"
stride0 devices teach --check mine.ini; echo "$?"
stride0 devices --ini; echo "$?"
# Only what is near is suggested, and a file of that name first: a device is one by its path.
stride0 devices nope; echo "$?"
cp mine.ini box.ini
stride0 plan net.txt -d box; echo "$?"
mv box.ini box
stride0 devices box; echo "$?"
stride0 devices boy; echo "$?"
# A name or a file, wherever a device is meant.
stride0 devices mine.ini | sed -n '1,2p'
stride0 devices --check teach; echo "$?"
cp mine.ini mine
stride0 devices --check mine; echo "$?"
# A copy keeps the name inside: its path stands beside it. Operator sections are counted.
printf '[operator Fft]\nworkspace = 8 @ a guide\n' >>mine.ini
stride0 devices --check mine.ini; echo "$?"
printf '[operator Gate]\nalign_bytes = 8 @ a guide\n' >>mine.ini
stride0 devices --check mine.ini; echo "$?"
printf 'stride0-graph 1\ninput X int8[1,4]\nconst s int8[1] = 2\nnode Mul m: X s -> Y\noutput Y\n' >net.txt
for device in teach mine.ini ./mine.ini; do
    stride0 plan net.txt -d $device | grep device
    stride0 plan net.txt -d $device --json - | sed -n '/"device": {$/,/"kind"/p'
    stride0 run net.txt -d $device | sed -n 1p
    stride0 run net.txt -d $device --json - | sed -n '/"device"/,/}/p'
done
