# What simplify may not touch: tensors that signatures name, and operators and tensors of which the file says more than
# is known; and what the file does not give up: bytes that another part of it has too. Beside each model stands the
# same one without that, which is simplified, so that this is of something.
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'END'
from model_bytes import Table
from model_formats import TfliteModel, VERSIONS

UNKNOWN = 20  # a slot behind those of every table that is edited here


def write(name, model):
    with open(name + ".tflite", "wb") as file:
        file.write(model.data())


def signature(inputs, outputs):
    maps = [[Table({0: f"s{tensor}", 1: ("I", tensor)}) for tensor in tensors] for tensors in (inputs, outputs)]
    return {7: [Table({0: maps[0], 1: maps[1], 2: "serve"})]}


def chain():
    """Codes of 0.5 to 16 bits and back, then to codes of 0.25; and another way that nobody reads."""
    model = TfliteModel("chain")
    main = model.subgraph("main")
    codings = (("x", "int8", 0.5), ("a", "int16", 0.125), ("b", "int8", 0.5), ("y", "int8", 0.25), ("u", "int8", 1))
    x, a, b, y, u = (main.tensor(name, dtype, [1, 4], scale=scale) for name, dtype, scale in codings)
    for source, target in ((x, a), (a, b), (b, y), (x, u)):
        main.operator("QUANTIZE", [source], [target])
    main.inputs, main.outputs = [x], [y]
    return model


write("chain", chain())
for number, name in enumerate("xabyu"):
    model = chain()
    model.more = signature([0], [number])
    write("out_" + name, model)
model = chain()
model.more = signature([1], [3])
write("in_a", model)


def product(number=127):
    """x times 1, as codes, to the same codes."""
    model = TfliteModel("product")
    main = model.subgraph("main")
    x = main.tensor("x", "int8", [1, 4], scale=0.5)
    c = main.tensor("c", "int8", [1, 4], [number] * 4, scale=1 / 127)
    y = main.tensor("y", "int8", [1, 4], scale=0.5)
    z = main.tensor("z", "int8", [1, 4], scale=0.5)
    main.operator("MUL", [x, c], [y], 21, {0: ("b", 0)})
    main.operator("RELU", [y], [z])
    main.inputs, main.outputs = [x], [z]
    return model


write("product", product())
model = product()
model.more = signature([1], [3])
write("in_c", model)
for name, table in {"operator": lambda m: m.subgraphs[0].operators[0],
                    "options": lambda m: m.subgraphs[0].operators[0].fields[4],
                    "tensor": lambda m: m.subgraphs[0].tensors[1],
                    "quantisation": lambda m: m.subgraphs[0].tensors[1].fields[4],
                    "buffer": lambda m: m.buffers[1]}.items():
    model = product()
    table(model).fields[UNKNOWN] = ("i", 1)
    write("more_" + name, model)
VERSIONS["MUL"] = 99
write("more_version", product())
VERSIONS["MUL"] = 2


def repeated(name, shares=None, count=1):
    """A constant that repeats one number, whose bytes something else may have too."""
    model = TfliteModel(name)
    main = model.subgraph("main")
    numbers, shape = [5] * 256, [1, 256]
    last = main.tensor("x", "int8", shape, scale=0.5)
    main.inputs = [last]
    for k in range(count):
        c = main.tensor(f"c{k}", "int8", shape, numbers, scale=0.5 + k)
        y = main.tensor(f"y{k}", "int8", shape, scale=0.5)
        main.operator("ADD", [last, c], [y], 11, {0: ("b", 0)})
        last = y
    main.outputs = [last]
    if shares == "metadata":
        model.more = {6: [Table({0: "notes", 1: ("I", 1)})]}
    if shares == "output":
        main.outputs.append(main.tensor("d", "int8", shape, numbers, scale=0.5))
    if shares == "subgraph":
        other = model.subgraph("other")
        d = other.tensor("d", "int8", shape, numbers, scale=0.5)
        other.inputs, other.outputs = [], [d]
    write(name, model)


repeated("own")
repeated("two", count=2)
for shares in ("metadata", "output", "subgraph"):
    repeated("in_" + shares, shares)
END
figures() {
    sed -n 's/^  operators  */operators /p; s/^  bytes of constants  */constants /p; s/^  bytes of the file  */file /p' |
        sed 's/,//g' | awk '$1 == "file" { print "file", ($3 < $2 ? "smaller" : $3 > $2 ? "LARGER" : "as large"); next }
                            { print $1, $2, "->", $3 }' | paste -sd ';' | sed 's/;/; /g'
}
for model in chain out_x out_a out_b out_y out_u in_a product in_c more_operator more_options more_tensor \
    more_quantisation more_buffer more_version own two in_metadata in_output in_subgraph; do
    printf '%s: ' "$model"
    stride0 simplify "$model.tflite" --verify -o out.tflite | figures
    stride0 simplify -q out.tflite -o again.tflite && cmp out.tflite again.tflite
done
stride0 simplify in_metadata.tflite -o out.tflite | grep 'nothing'
stride0 simplify more_version.tflite -o out.tflite | grep 'is known'
