# The causes of whole chains sum to the difference of what `plan` says of each side alone: 40 pairs of models, devices and
# options by chance.
cp "$S0_SOURCE_DIR"/examples/*.onnx "$S0_SOURCE_DIR"/examples/*.tflite .
cat >small.txt <<END_OF_MODEL
stride0-graph 1
input x int8[1,9,11,5]
const k int8[5] = 1 2 3 4 5
const b int8[1,9,11,1] = $(seq 99 | tr '\n' ' ')
value t int8[1,9,11,5]
value u int8[1,9,11,5]
value y int8[1,9,11,5]
node Mul m: x k -> t
node Add a: t b -> u
node Relu r: u -> y
output y
END_OF_MODEL
sed 's/^node Relu.*/node Mul r: u k -> y/; s/,11,/,13,/; s/\[1,9,13,1\] = .*/[1] = 7/' small.txt >other.txt
PYTHONPATH=$S0_SOURCE_DIR/tools python3 -B - <<'END'
import json, random, subprocess

rng = random.Random(5)
models = ["affine.onnx", "affine.tflite", "separable.onnx", "separable.tflite", "small.txt", "other.txt"]
devices = ["teach", "mcu-cm", "nvdla-small", "hexagon-v73", "k210-kpu", "gap8"]
options = {"strategy": ["channel", "row", "full"], "inplace": ["none"], "tile": ["none", "2", "3x4"],
           "schedule": ["fused", "split", "pipelined"], "parameters": ["resident", "reloaded"], "expand": ["before"],
           "budget": ["2K", "9000"], "simplify": ["none"], "pin-inputs": [None], "pin-outputs": [None]}


def draw_side():
    """A model, and options as words without dashes."""
    words = [f"device={rng.choice(devices)}"]
    for name in rng.sample(sorted(options), rng.randrange(4)):
        value = rng.choice(options[name])
        words.append(name if value is None else f"{name}={value}")
    return rng.choice(models), words


def run(*words):
    done = subprocess.run(["stride0", *words, "--quiet", "--json", "-"], capture_output=True, text=True)
    return json.loads(done.stdout) if done.returncode in (0, 2) else None


def figures(side):
    plan = run("plan", side[0], *["--" + word for word in side[1]])
    return plan and (plan["totals"]["peak_live_bytes"], plan["totals"]["placed_bytes"])


pairs = steps = 0
while pairs < 40:
    a, b = draw_side(), draw_side()
    if rng.random() < 0.5:
        b = (a[0], b[1])
    before, after = figures(a), figures(b)
    diff = run("diff", a[0], b[0], *[f"--a={word}" for word in a[1]], *[f"--b={word}" for word in b[1]])
    assert (diff is None) == (before is None or after is None), (a, b)
    if diff is None:
        continue
    pairs += 1
    causes = diff["causes"]
    peak = sum(causes.values()) - causes["packing"]
    assert peak == after[0] - before[0] == diff["change"]["peak_live_bytes"], (a, b)
    assert sum(causes.values()) == after[1] - before[1] == diff["change"]["placed_bytes"], (a, b)
    at = before
    for step in diff["steps"]:
        here = (step["peak_live_bytes"], step["placed_bytes"])
        assert sum(step["causes"].values()) == here[1] - at[1], (a, b, step)
        assert sum(step["causes"].values()) - step["causes"]["packing"] == here[0] - at[0], (a, b, step)
        at = here
    assert at == after, (a, b)
    steps += len(diff["steps"])
print(f"{pairs} pairs sum, {'more than two steps each' if steps > 2 * pairs else 'few steps'}")
END
