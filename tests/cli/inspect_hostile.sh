# A name that clears the screen and forges a line of the report: one line, no control byte.
printf 'stride0-graph 1\nformat tflite\ninput "a\\x1b[2J\\nforged" int8[1,4]\nnode Relu r: "a\\x1b[2J\\nforged" -> y\noutput y\n' >hostile.s0
stride0 inspect hostile.s0 | grep -a -A1 '^inputs'
stride0 inspect hostile.s0 | grep -c -a '^forged' || :
printf 'stride0-graph 1\nformat onnx 13\ninput "a\\x1b[2J\\nforged" int8["d\\nforged"]\nnode Relu "r\\nforged": "a\\x1b[2J\\nforged" -> y\noutput y\n' >hostile.s0
stride0 inspect hostile.s0 --names | tail -n +3
