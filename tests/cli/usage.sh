# What a person gets who mistypes: the nearest name, the status 1, and nothing on standard output.
stride0 --version
stride0 2>usage; echo "no command: $?, $(head -n 1 usage)"
stride0 layuot 12; echo "unknown command: $?"
stride0 layout; echo "no argument: $?"
stride0 layout 12 13; echo "two arguments: $?"
stride0 layout 12 --dytpe int8; echo "unknown option: $?"
stride0 layout 12 --json; echo "no value: $?"
stride0 devices --ini=1 teach; echo "a value too many: $?"
stride0 --quite devices; echo "unknown option before the command: $?"
stride0 layout 12 -d teach --role map; echo "unknown choice: $?"
stride0 devices --plain --color always; echo "colour in a log: $?"
stride0 --color always devices --plain; echo "colour in a log, by the options before the command: $?"
stride0 devices --plain --color never >log; echo "no colour in a log: $?"
stride0 diff "$S0_SOURCE_DIR/examples/affine.tflite" -d teach --a ''; echo "an empty option of one side: $?"
stride0 layout --help | head -n 3
stride0 help | sed -n '3p'
