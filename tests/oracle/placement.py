#!/usr/bin/env python3
"""Live ranges of the whole networks of S0_SHARED on every preset: what is placed is the bound, or GAPS says why not.

    placement.py STRIDE0 [SHARED]

The rows of each plan then go through `stride0 pack`, in three orders: the height must be the plan's each time, whatever
the order, and the bound the live sum counted here."""
import collections
import csv
import json
import os
import random
import subprocess
import sys
import tempfile

import models
from models import DONE, NO_FIT, REFUSED
from presets import presets

# What is placed above the bound, and why: bytes.
GAPS = {
    # Four weights of 640 bytes start at multiples of 256, four of 512 lie beside them: what is between the former are
    # holes of 128, and the parts that live then (24, 40, four of 80) fill at most 120 of one.
    ("tflite/coral_keras_lstm_mnist_ptq.tflite", "nvdla-small"): 96,
    ("tflite/tflm_mnist_lstm_int8.tflite", "nvdla-small"): 96,
}


def storages(plan):
    """Of local memory: (id, first, last, size, alignment)."""
    return [(b["id"], b["storage_first"], b["storage_last"], b["physical_bytes"], b["storage_align_bytes"])
            for b in plan["buffers"] if b["storage"] == b["id"] and b["memory"] == "local" and b["physical_bytes"] > 0]


def live_sum(rows, unit):
    """The most that is alive at one step, each size rounded up to the unit."""
    begins = collections.Counter()
    for _, first, last, size, _ in rows:
        rounded = -(-size // unit) * unit
        begins[first] += rounded
        begins[last] -= rounded
    alive = most = 0
    for step in sorted(begins):
        alive += begins[step]
        most = max(most, alive)
    return most


def height_of(stride0, rows, unit, folder):
    table, answer = os.path.join(folder, "rows.csv"), os.path.join(folder, "answer.json")
    with open(table, "w", encoding="ascii", newline="") as stream:
        csv.writer(stream).writerows([("id", "lower", "upper", "size", "alignment"), *rows])
    subprocess.run([stride0, "pack", table, "--minimise", "--align", str(unit), "--nodes", "4000", "--json", answer],
                   check=True, capture_output=True, timeout=60)
    with open(answer, encoding="utf-8") as stream:
        return json.load(stream)["memories"][0]["height_bytes"]


def faults_of(stride0, model, preset, path, folder):
    done = models.run(stride0, "plan", model, "-d", preset, "--quiet", "--json", path)
    if done.returncode not in (DONE, NO_FIT):
        return None if done.returncode == REFUSED else [f"status {done.returncode}"]
    with open(path, encoding="utf-8") as stream:
        plan = json.load(stream)
    totals, unit, rows = plan["totals"], plan["device"]["align_bytes"], storages(plan)
    placed, bound = totals["placed_bytes"], totals["lower_bound_bytes"]
    faults = []
    if placed - bound != GAPS.get((model.name, preset), 0):
        faults.append(f"placed {placed}, {placed - bound} above the bound")
    if not live_sum(rows, unit) <= bound:
        faults.append(f"the bound is {bound}, but {live_sum(rows, unit)} bytes are alive at once")
    shuffled = random.Random(placed)
    for _ in range(3 if rows else 0):
        shuffled.shuffle(rows)
        height = height_of(stride0, rows, unit, folder)
        if height != placed:
            faults.append(f"the plan has {placed} bytes, the same rows in another order {height}")
    return faults


def main():
    stride0, shared = sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else ""
    networks = models.networks(shared)
    if not networks:
        models.skip("placement", "the shared models, S0_SHARED has none")
        return models.SKIP
    count, checked, gaps = 0, 0, set()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "plan.json")
        for preset in presets():
            for model in networks:
                faults = faults_of(stride0, model, preset, path, folder)
                checked += faults is not None
                gaps |= {(model.name, preset)} & GAPS.keys()
                for fault in faults or []:
                    print(f"FAIL {model.name} on {preset}: {fault}")
                count += len(faults or [])
    print(f"{checked} plans, {len(gaps)} of them above their bound by as much as GAPS says, {count} faults")
    return 1 if count or gaps != GAPS.keys() else 0


if __name__ == "__main__":
    sys.exit(main())
