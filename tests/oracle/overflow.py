#!/usr/bin/env python3
"""Further memories that take overflow, on the whole networks of S0_SHARED.

    overflow.py STRIDE0 [SHARED]

Each network is planned on a microcontroller with a small SRAM and flash and two further memories of each, and on teach
with a far memory that is too small: check_plan.py rules on every plan. One that did not fit without the further memories
must fit with them, the last of which has no bounds. What runs on teach must give the same bytes, with an exact audit."""
import collections
import json
import os
import re
import sys
import tempfile

import check_plan
import models
from models import DONE, NO_FIT, REFUSED

HERE = os.path.dirname(os.path.abspath(__file__))


def memory(name, size, align, **more):
    lines = [f"[memory {name}]", f"bytes = {size} @ test", f"align_bytes = {align} @ test"]
    return "\n".join(lines + [f"{key} = {value} @ test" for key, value in more.items()]) + "\n"


def preset(name):
    with open(os.path.join(HERE, "..", "..", "devices", f"{name}.ini"), encoding="utf-8") as stream:
        return stream.read()


def sized(text, name, size):
    changed, count = re.subn(rf"(\[memory {name}\]\nbytes = )\S+", rf"\g<1>{size}", text)
    assert count == 1
    return changed


def devices():
    """Name, text without further memories, and what is added."""
    mcu = sized(sized(preset("mcu-cm"), "local", "24K"), "flash", "64K")
    yield "mcu", mcu, (memory("tcm", "16K", 8, overflow="local", price=2) +
                       memory("psram", "unbounded", 32, overflow="local", price=9) +
                       memory("qspi", "128K", 4, overflow="flash") +
                       memory("sd", "unbounded", 512, overflow="flash", price=7))
    yield "teach", sized(preset("teach"), "far", "48K"), (memory("ext", "100K", 24, overflow="far") +
                                                          memory("disk", "unbounded", 1, overflow="far", price=3))


def planned(stride0, model, device, path):
    done = models.run(stride0, "plan", model, "-d", device, "--quiet", "--json", path)
    return done.returncode, done.stderr


def overfull(path):
    with open(path, encoding="utf-8") as stream:
        misfit = json.load(stream)["misfit"]
    return {name for name, lacks in (("local", misfit["memory"] == "local"), ("behind", misfit["backing"])) if lacks}


def faults_of(stride0, model, narrow, wide, path):
    """The ending, and faults. A scratchpad's local memory does not overflow: it may be too small with both."""
    status, _ = planned(stride0, model, narrow, path)
    too_small = overfull(path) if status == NO_FIT else set()
    after, stderr = planned(stride0, model, wide, path)
    if status == REFUSED or after not in (DONE, NO_FIT):
        return "refused", [] if status == after == REFUSED else [f"status {status}, then {after}\n{stderr}"]
    faults = check_plan.Checker(path).run()
    with open(path, encoding="utf-8") as stream:
        plan = json.load(stream)
    overflows = {part["of"] for part in plan["overflow"] if part["storages"]}
    if after == NO_FIT and not (plan["device"]["kind"] == "scratchpad" and overfull(path) == {"local"}):
        faults.append(f"does not fit with memories that have no bounds\n{stderr}")
    if status == DONE and overflows:
        faults.append(f"fits without, but lies in the overflow of {overflows}")
    return "overflows" if overflows else "does not fit" if too_small else "fits", faults


def run_faults(stride0, model, wide, folder):
    """Outputs on teach, and on teach whose far memory overflows."""
    outputs = []
    for number, device in enumerate(("teach", wide)):
        out = os.path.join(folder, f"{model.name.replace(os.sep, '.')}-{number}")
        done = models.run(stride0, "run", model, "-d", device, "--quiet", "--seed", "7", "--output-dir", out)
        if done.returncode != DONE:
            return None if number == 0 else [f"runs on teach, but not with overflow\n{done.stderr}"]
        outputs.append({name: open(os.path.join(out, name), "rb").read() for name in sorted(os.listdir(out))})
    return [] if outputs[0] == outputs[1] else ["outputs differ"]


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    networks = models.networks(shared)
    if not networks:
        models.skip("overflow", "the shared models, S0_SHARED has none")
        return models.SKIP
    count, runs = 0, 0
    with tempfile.TemporaryDirectory() as folder:
        for name, text, further in devices():
            paths = [os.path.join(folder, f"{name}-{kind}.ini") for kind in ("narrow", "wide")]
            for path, lines in zip(paths, (text, text + further)):
                with open(path, "w", encoding="utf-8") as stream:
                    stream.write(lines)
            endings = collections.Counter()
            for model in networks:
                ending, faults = faults_of(stride0, model, *paths, os.path.join(folder, "plan.json"))
                if name == "teach" and ending == "overflows":
                    more = run_faults(stride0, model, paths[1], folder)
                    runs += more is not None
                    faults += more or []
                endings[ending] += 1
                count += len(faults)
                for fault in faults:
                    print(f"FAIL {model.name} on {name}: {fault}")
            print(name, dict(endings))
            if not endings["overflows"]:
                print("FAIL nothing overflows")
                count += 1
    print(f"{runs} networks ran with far memory that overflows, {count} faults")
    return 1 if count or runs < 4 else 0


if __name__ == "__main__":
    sys.exit(main())
