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
# A name or a file, wherever a device is meant.
stride0 devices mine.ini | sed -n '1,2p'
stride0 devices --check teach; echo "$?"
cp mine.ini mine
stride0 devices --check mine; echo "$?"
