# A TFLite file does not grow: constants of every small size that are collapsed or folded, alone, in a row, or read by
# others too; whose data is aligned as little as writers do, or in a file with a field that is not known, of which nothing
# can be cut. Without an operator less it gets smaller or stays as it is. How many models changed is said, so that this is
# of something.
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'END'
import itertools
import model_bytes
import model_formats
from model_formats import TfliteModel

model_formats.BUILTINS["NEG"] = 59


def collapsed(elements, blocks, scale):
    """ADDs of constants that repeat one number."""
    model = TfliteModel("collapsed")
    main, dtype = model.subgraph("main"), "float32" if scale is None else "int8"
    main.inputs = [main.tensor("x", dtype, [1, elements], scale=scale)]
    last = main.inputs[0]
    for k in range(blocks):
        constant = main.tensor(f"c{k}", dtype, [1, elements], [3 + k] * elements, scale=scale)
        output = main.tensor(f"y{k}", dtype, [1, elements], scale=scale)
        main.operator("ADD", [last, constant], [output], 11, {0: ("b", 0)})
        last = output
    main.outputs = [last]
    return model


def folded(elements, blocks, is_read):
    """Operators on a constant, which another may read too."""
    model = TfliteModel("folded")
    main = model.subgraph("main")
    x = main.tensor("x", "float32", [1, elements])
    first = last = main.tensor("c", "float32", [1, elements], range(1, elements + 1))
    for k in range(blocks):
        output = main.tensor(f"n{k}", "float32", [1, elements])
        main.operator("NEG", [last], [output])
        last = output
    main.inputs = [x]
    for constant in [last] + [first] * is_read:
        main.outputs.append(main.tensor(f"y{constant}", "float32", [1, elements]))
        main.operator("ADD", [x, constant], [main.outputs[-1]], 11, {0: ("b", 0)})
    return model


def models(sizes):
    for case in itertools.product(sizes, (1, 2, 5), (None, 0.5)):
        yield collapsed(*case)
    for case in itertools.product(sizes, (1, 2, 3), (False, True)):
        yield folded(*case)


SIZES, FEW = (1, 2, 3, 4, 5, 8, 12, 13, 16, 17, 33, 64), (2, 5, 17, 40)
files = [model.data() for model in models(SIZES)]
for model in models(FEW):
    model.more = {20: ("i", 1)}
    files.append(model.data())
model_bytes.FlatBuffer.DATA_ALIGN = 4
files += [model.data() for model in models(FEW)]
for k, data in enumerate(files):
    with open(f"m{k:03}.tflite", "wb") as file:
        file.write(data)
END
models=0 grown=0 changed=0
for model in m*.tflite; do
    stride0 simplify -q "$model" -o out.tflite 2>/dev/null || echo "$model: status $?"
    models=$((models + 1))
    cmp -s "$model" out.tflite || changed=$((changed + 1))
    if [ "$(wc -c < out.tflite)" -gt "$(wc -c < "$model")" ]; then
        grown=$((grown + 1))
        echo "$model: $(wc -c < "$model") to $(wc -c < out.tflite)"
    fi
done
echo "$models models, $changed changed, $grown grown"
