#!/usr/bin/env python3
"""The whole networks of S0_SHARED on every preset: each fits, or ends in status 2 with the full explanation.

    presets.py STRIDE0 [SHARED]

Each also with options, another row of OPTIONS in turn. The explanation on standard error must hold what the JSON holds:
step, node, each live buffer with its bytes, need, capacity, excess, and at least one remedy. Each plan passes
check_plan.py, which knows nothing but the JSON, and is written twice with the same bytes. A network that is refused is
refused on every preset: corpus.py rules on it."""
import collections
import glob
import itertools
import os
import re
import sys
import tempfile

import check_plan
import models
from models import DONE, NO_FIT, REFUSED

OPTIONS = (
    ["--inplace", "none"],
    ["--strategy", "full"],
    ["--strategy", "row"],
    ["--qdq", "float"],
    ["--pin-inputs", "--pin-outputs"],
    ["--strategy", "channel", "--inplace", "none", "--pin-outputs"],
    ["--strategy", "full", "--qdq", "float", "--pin-inputs"],
    ["--strategy", "scalar"],
    ["--budget", "4K"],
    ["--budget", "1G", "--inplace", "none", "--strategy", "full"],
)


def presets():
    here = os.path.dirname(os.path.abspath(__file__))
    files = glob.glob(os.path.join(glob.escape(here), "..", "..", "devices", "*.ini"))
    return sorted(os.path.splitext(os.path.basename(path))[0] for path in files)


def plain(number):
    """Digits may stand in groups."""
    return int(number.replace(",", "") or -1)


def explained(plan, stderr):
    """What the explanation lacks."""
    misfit, text = plan["misfit"], stderr[stderr.index("stride0: does not fit"):]
    numbers = [plain(number) for number in re.findall(r"[\d,]+", text.splitlines()[0])]
    lacks = [key for key in ("need_bytes", "capacity_bytes", "excess_bytes") if misfit[key] not in numbers]
    remedies = re.findall(r"^ +(?:saves|lacks) +([\d,]+) +(\w+) ", text, re.MULTILINE)
    if not remedies or [(plain(size), kind) for size, kind in remedies] != [
            (r["saves_bytes"], r["kind"]) for r in misfit["remedies"]]:
        lacks.append("remedies")
    if misfit["memory"] != "local":  # nothing begins or ends there: no step is to blame
        return lacks
    if f"step {misfit['step']} of {len(plan['steps'])}, '{misfit['node']}'" not in text:
        lacks.append("step and node")
    rows = re.findall(r"^ +([\d,]+) +(\w+) +(\w+) +(\[[\d,]*\]) +\[\d+,\d+\) ", text, re.MULTILINE)
    told = [(plain(size), *rest) for size, *rest in rows]
    alive = [plan["buffers"][index] for index in misfit["buffers"]]
    wanted = [(b["physical_bytes"], b["kind"], b["dtype"], str(b["stored_shape"]).replace(" ", "")) for b in alive]
    if collections.Counter(wanted) - collections.Counter(told):
        lacks.append("each live buffer with its bytes")
    return lacks


def read(path):
    with open(path, "rb") as stream:
        return stream.read()


def faults_of_plan(stride0, model, preset, options, path):
    """Status and faults of one run, which writes its JSON to `path`."""
    done = models.run(stride0, "plan", model, "-d", preset, "--quiet", "--json", path, *options)
    status, stderr = done.returncode, done.stderr
    if status == REFUSED:
        return status, []
    if status not in (DONE, NO_FIT):
        return status, [f"status {status}\n{stderr}"]
    checker = check_plan.Checker(path)
    faults = checker.run()
    if checker.totals["fits"] != (status == DONE):
        faults.append(f"status {status}, but fits is {checker.totals['fits']}")
    if status == NO_FIT:
        faults += [f"the explanation lacks {what}\n{stderr}" for what in explained(checker.plan, stderr)]
    elif stderr:
        faults.append(f"fits, but says\n{stderr}")
    return status, faults


def faults_of(stride0, model, preset, options, folder):
    """Status of the plan without options; faults of that, of the same once more, and of the plan with options."""
    paths = [os.path.join(folder, name) for name in ("first.json", "second.json", "options.json")]
    status, faults = faults_of_plan(stride0, model, preset, [], paths[0])
    if status not in (DONE, NO_FIT):
        return status, faults
    models.run(stride0, "plan", model, "-d", preset, "--quiet", "--json", paths[1])
    if read(paths[0]) != read(paths[1]):
        faults.append("two runs give different JSON")
    other, more = faults_of_plan(stride0, model, preset, options, paths[2])
    if other == REFUSED:
        more.append("refused")
    return status, faults + [f"{' '.join(options)}: {fault}" for fault in more]


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    networks = models.networks(shared)
    if not networks:
        models.skip("presets", "the shared models, S0_SHARED has none")
        return models.SKIP
    count, refused, turns = 0, collections.Counter(), itertools.cycle(OPTIONS)
    with tempfile.TemporaryDirectory() as folder:
        names = presets()
        for preset in names:
            endings = collections.Counter()
            for model in networks:
                status, faults = faults_of(stride0, model, preset, next(turns), folder)
                endings[status] += 1
                refused[model.name] += status == REFUSED
                count += len(faults)
                for fault in faults:
                    print(f"FAIL {model.name} on {preset}: {fault}")
            print(f"{preset:16} {endings[DONE]:3} fit  {endings[NO_FIT]:3} do not  {endings[REFUSED]:3} refused")
    for name in (name for name, times in refused.items() if times not in (0, len(names))):
        print(f"FAIL {name}: refused on {refused[name]} of {len(names)} presets")
        count += 1
    print(f"{count} faults")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
