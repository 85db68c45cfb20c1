#!/usr/bin/env python3
"""Checks plans from their JSON alone, with none of stride0's code: check_plan.py PLAN.json...

Recomputed from `buffers` and `steps`, and compared with what the plan says:
  - storages: every alias ends at a storage of the same memory, its bytes lie inside the storage's, and `offset` agrees;
  - hulls: a storage is alive from the first to the last step of all that lie in it;
  - live bytes of every step, the peak, its first step, the buffers alive there;
  - placement: no two storages that share a step share a byte, starts are aligned, ends are inside placed_bytes, and
    placed_bytes is the highest end, rounded up; peak <= bound <= placed; fits and misfit agree with the capacity;
  - overflow: what lies in each further memory, by the same rules; its bound is no less than what is alive there;
  - sums: by_kind adds up to the totals and at_peak_bytes to the peak; flash or far bytes are the highest end there;
  - steps: what a step reads and writes is alive at it; a load or a store has one tensor at both ends;
  - outputs: each is where the caller finds it;
  - data: no byte that a step reads was written last by another tensor, and none was never written;
  - traffic: the sums of `by_column` and of the moving steps; bursts hold the bytes, and efficiency is their ratio;
  - the steady state: what is held is constants that are loaded once, and fits beside everything at every step; its
    sums are those of the first run without their loads;
  - alternatives: what is chosen is a sweep's steps, differences are differences, what fits is what needs no more than
    there is, and nothing that fits beats the choice in its own search;
  - what a step reads and writes itself, and what waits at the peak of a misfit; maps in far memory, with their reasons;
    what is alive at the peak of a flash or far memory that does not fit;
  - columns of each sweep, from its steps;
  - blame: of buffers alive at the peak, with their bytes; held_steps are steps at which nothing uses the constant.
Ends with status 1 and one line a fault; prints the number of plans checked.
"""
import collections
import json
import sys

SAME_DATA = ("view", "split")            # a buffer whose data lie in its parent's
PART_OF_DATA = (*SAME_DATA, "concat")    # a buffer whose data are the parent's
MOVES = ("load_input", "load_param", "store", "copy", "fill")


def round_up(value, unit):
    return -(-value // unit) * unit


def all_banks(buffer):
    """Behind local memory there is one address space: the banks lie one after the other."""
    return buffer["physical_bytes"] * buffer["banks_used"]


class Checker:
    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            self.plan = json.load(file)
        self.path = path
        self.faults = []
        self.buffers = self.plan["buffers"]
        self.steps = self.plan["steps"]
        self.totals = self.plan["totals"]
        self.align = self.plan["device"]["align_bytes"]
        self.end = max(len(self.steps), 1)
        self.storages = {}
        self.overflow_of = {part["memory"]: part["of"] for part in self.plan["overflow"]}

    def is_worked_on(self, buffer):
        """In local memory, or in one that takes its overflow."""
        return "local" in (buffer["memory"], self.overflow_of.get(buffer["memory"]))

    def is_far_map(self, buffer):
        return not self.is_worked_on(buffer) and buffer["kind"] == "activation"

    def expect(self, what, told, found):
        if told != found:
            self.faults.append(f"{self.path}: {what}: told {told}, found {found}")

    def require(self, condition, what):
        if not condition:
            self.faults.append(f"{self.path}: {what}")

    def root_of(self, buffer):
        seen = set()
        while buffer["alias_of"] is not None:
            if buffer["id"] in seen:
                self.require(False, f"buffer {buffer['id']}: aliases form a ring")
                break
            seen.add(buffer["id"])
            buffer = self.buffers[buffer["alias_of"]]
        return buffer

    def check_order(self):
        """What another order of the operators came to, before further memories take some of local memory."""
        order = self.plan["order"]
        if order is None:
            return
        if not any(memory == "local" for memory in self.overflow_of.values()):
            for key in ("peak_live_bytes", "placed_bytes"):
                self.expect(f"order.{key}", order[key], self.totals[key])
        if order["moved"] == 0:
            self.expect("order: bytes of the file's", (order["file_peak_live_bytes"], order["file_placed_bytes"]),
                        (order["peak_live_bytes"], order["placed_bytes"]))
        self.require(order["moved"] == 0 or order["has_choice"], "another order where there is none")
        self.require(not order["file_fits"] or order["placed_bytes"] <= order["file_placed_bytes"],
                     "an order that needs more than the file's")

    def check_aliases(self):
        for index, buffer in enumerate(self.buffers):
            self.expect(f"id of buffer {index}", buffer["id"], index)
            self.require(0 <= buffer["first"] < buffer["last"] <= self.end, f"buffer {index}: range outside the steps")
            self.expect(f"buffer {index}: reason of its alias", buffer["alias_reason"] is None,
                        buffer["alias_of"] is None)
            root = self.root_of(buffer)
            storage = self.storages.setdefault(root["id"], dict(root=root, first=self.end, last=0))
            storage["first"] = min(storage["first"], buffer["first"])
            storage["last"] = max(storage["last"], buffer["last"])
            self.expect(f"storage of buffer {index}", buffer["storage"], root["id"])
            self.expect(f"buffer {index}: memory of its storage", buffer["memory"], root["memory"])
            inside = (root["offset"] <= buffer["offset"] and
                      buffer["offset"] + buffer["physical_bytes"] <= root["offset"] + root["physical_bytes"])
            self.require(inside, f"buffer {index}: its bytes are not inside storage {root['id']}")

    def check_hulls(self):
        for buffer in self.buffers:
            hull = self.storages[buffer["storage"]]
            self.expect(f"range of the storage of buffer {buffer['id']}",
                        (buffer["storage_first"], buffer["storage_last"]), (hull["first"], hull["last"]))

    def local(self):
        return [s for s in self.storages.values() if s["root"]["memory"] == "local"]

    def check_live(self):
        change = [0] * (self.end + 1)
        for storage in self.local():
            change[storage["first"]] += storage["root"]["physical_bytes"]
            change[storage["last"]] -= storage["root"]["physical_bytes"]
        live, peak, peak_step = 0, 0, 0
        for step in range(self.end):
            live += change[step]
            if step < len(self.steps):
                self.expect(f"live bytes of step {step}", self.steps[step]["live_bytes"], live)
            if live > peak:
                peak, peak_step = live, step
        self.expect("peak_live_bytes", self.totals["peak_live_bytes"], peak)
        self.expect("peak.step", self.plan["peak"]["step"], peak_step)
        alive = sorted(s["root"]["id"] for s in self.local()
                       if s["first"] <= peak_step < s["last"] and s["root"]["physical_bytes"] > 0)
        self.expect("peak.buffers", sorted(self.plan["peak"]["buffers"]), alive)
        if self.steps:
            self.expect("peak.node", self.plan["peak"]["node"], self.steps[peak_step]["node"])

    def check_overlaps(self, storages, bytes_of):
        """A sweep over time; among those alive, by address."""
        events = collections.defaultdict(lambda: ([], []))
        for storage in storages:
            events[storage["first"]][0].append(storage)
            events[storage["last"]][1].append(storage)
        alive = {}
        for step in sorted(events):
            begins, ends = events[step]
            for storage in ends:
                alive.pop(storage["root"]["id"], None)
            for storage in begins:
                begin = storage["root"]["offset"]
                end = begin + bytes_of(storage["root"])
                for other in alive.values():
                    low = other["root"]["offset"]
                    self.require(end <= low or low + bytes_of(other["root"]) <= begin,
                                 f"storages {storage['root']['id']} and {other['root']['id']} share bytes at step {step}")
                alive[storage["root"]["id"]] = storage

    def check_placement(self):
        placed = [s for s in self.local() if s["root"]["physical_bytes"] > 0]
        top = 0
        for storage in placed:
            root = storage["root"]
            self.require(root["offset"] % self.align == 0, f"storage {root['id']}: offset {root['offset']} is not aligned")
            top = max(top, round_up(root["offset"] + root["physical_bytes"], self.align))
        self.check_overlaps(placed, lambda buffer: buffer["physical_bytes"])
        totals = self.totals
        self.expect("placed_bytes", totals["placed_bytes"], top)
        self.require(totals["peak_live_bytes"] <= totals["lower_bound_bytes"] <= totals["placed_bytes"],
                     "peak <= bound <= placed does not hold")
        misfit = self.plan["misfit"]
        self.expect("fits", totals["fits"], misfit is None)
        if misfit is None:
            self.require(top <= totals["capacity_bytes"], "local memory is told to fit")
            return
        is_local = misfit["memory"] == "local"
        need = top if is_local else self.end_of(misfit["memory"])
        self.require(not is_local or misfit["capacity_bytes"] == totals["capacity_bytes"], "misfit of another capacity")
        self.expect("misfit.need_bytes", misfit["need_bytes"], need)
        self.expect("misfit.excess_bytes", misfit["excess_bytes"], need - misfit["capacity_bytes"])
        self.require(misfit["excess_bytes"] > 0, "a misfit that fits")
        self.require(len(misfit["remedies"]) > 0, "a misfit without a remedy")

    def check_overflow(self):
        for part in self.plan["overflow"]:
            of, unit = part["of"], part["align_bytes"]
            there = [s for s in self.storages.values()
                     if s["root"]["memory"] == part["memory"] and s["root"]["physical_bytes"] > 0]
            bytes_of = (lambda b: b["physical_bytes"]) if of == "local" else all_banks
            self.check_overlaps(there, bytes_of)
            for storage in there:
                root = storage["root"]
                self.require(root["offset"] % unit == 0 and root["offset"] % root["storage_align_bytes"] == 0,
                             f"storage {root['id']} of {part['memory']}: offset {root['offset']} is not aligned")
            top = max((round_up(s["root"]["offset"] + bytes_of(s["root"]), unit) for s in there), default=0)
            alive = max((sum(bytes_of(s["root"]) for s in there if s["first"] <= at < s["last"])
                         for at in {s["first"] for s in there}), default=0)
            self.expect(f"storages of {part['memory']}", part["storages"], len(there))
            self.expect(f"bytes of {part['memory']}", part["physical_bytes"], sum(bytes_of(s["root"]) for s in there))
            self.expect(f"placed_bytes of {part['memory']}", part["placed_bytes"], top)
            self.require(alive <= part["lower_bound_bytes"] <= top, f"alive <= bound <= placed in {part['memory']}")
            self.require(part["capacity_bytes"] is None or top <= part["capacity_bytes"],
                         f"{part['memory']} is too small")

    def end_of(self, memory):
        """Of flash or far memory: a banked layout lies there bank by bank."""
        return max(b["offset"] + b["physical_bytes"] * b["banks_used"]
                   for b in self.plan["buffers"] if b["memory"] == memory)

    def check_sums(self):
        kinds = self.plan["by_kind"]
        for key in ("logical_bytes", "physical_bytes"):
            for kind, told in kinds.items():
                self.expect(f"by_kind.{kind}.{key}", told[key],
                            sum(s["root"][key] for s in self.local() if s["root"]["kind"] == kind))
            self.expect(f"totals.{key}", self.totals[key], sum(told[key] for told in kinds.values()))
        at_peak = collections.Counter()
        for storage in self.local():
            if storage["first"] <= self.plan["peak"]["step"] < storage["last"]:
                at_peak[storage["root"]["kind"]] += storage["root"]["physical_bytes"]
        for kind, told in kinds.items():
            self.expect(f"by_kind.{kind}.at_peak_bytes", told["at_peak_bytes"], at_peak[kind])
        self.expect("sum of at_peak_bytes", self.totals["peak_live_bytes"], sum(at_peak.values()))
        for memory in ("flash", "far"):
            top = max((b["offset"] + all_banks(b) for b in self.buffers if b["memory"] == memory), default=0)
            self.expect(f"{memory}_bytes", self.totals[f"{memory}_bytes"], top)
            behind = [s for s in self.storages.values()
                      if s["root"]["memory"] == memory and s["root"]["physical_bytes"] > 0]
            self.check_overlaps(behind, all_banks)
            for storage in behind:
                whole_run = storage["first"] == 0 and storage["last"] == self.end
                self.require(whole_run or storage["root"]["kind"] == "activation",
                             f"buffer {storage['root']['id']} of {memory} memory does not stay for the whole run")

    def check_steps(self):
        for index, step in enumerate(self.steps):
            self.expect(f"index of step {index}", step["index"], index)
            for buffer in (self.buffers[i] for i in step["reads"] + step["writes"] + step["scratch"]):
                self.require(buffer["first"] <= index < buffer["last"],
                             f"step {index}: buffer {buffer['id']} is not alive, it is in "
                             f"[{buffer['first']},{buffer['last']})")
            is_number = step["column"] == "fill" and not step["reads"]     # a form that one known number fills
            if step["column"] in ("load_input", "load_param", "store", "fill") and not is_number:
                self.expect(f"step {index}: tensors at both ends of a move", *(
                    sorted(self.buffers[i]["name"] for i in step[ends]) for ends in ("reads", "writes")))

    def check_outputs(self):
        """The caller of an arena finds them in local memory, or constants' bytes in flash; else in far memory."""
        is_scratchpad = self.plan["device"]["kind"] == "scratchpad"
        found = {b["name"] for b in self.buffers if not is_scratchpad or not self.is_worked_on(b)}
        for output in self.plan["model"]["outputs"]:
            self.require(output["name"] in found, f"output '{output['name']}' is nowhere for the caller")

    def up(self, buffer, reasons):
        """The buffer and those it leads to, as far as the reasons go."""
        yield buffer
        while buffer["alias_reason"] in reasons:
            buffer = self.buffers[buffer["alias_of"]]
            yield buffer

    def is_given(self, buffer):
        """Is it there before the first step?"""
        in_place = buffer["memory"] != "local" or self.plan["device"]["kind"] == "arena"
        return buffer["kind"] == "state" or (in_place and buffer["kind"] in ("input", "weight", "parameter"))

    def write(self, writers, buffer):
        """Cuts the buffer's bytes out of what others wrote into its storage: (begin, end, writer) of the storage."""
        begin, end = buffer["offset"], buffer["offset"] + buffer["physical_bytes"]
        storage = self.root_of(buffer)["id"]
        kept = [(begin, end, buffer)]
        for low, high, writer in writers[storage]:
            kept += [(a, b, writer) for a, b in ((low, min(high, begin)), (max(low, end), high)) if a < b]
        writers[storage] = kept

    def read(self, writers, buffer, step):
        begin, end = buffer["offset"], buffer["offset"] + buffer["physical_bytes"]
        *_, wanted = self.up(buffer, SAME_DATA)
        found = 0
        for low, high, writer in writers[self.root_of(buffer)["id"]]:
            shared = min(high, end) - max(low, begin)
            if shared > 0:
                found += shared
                self.require(any(above is wanted for above in self.up(writer, PART_OF_DATA)),
                             f"step {step} reads buffer {buffer['id']} after buffer {writer['id']} was written over it")
        self.require(found == end - begin,
                     f"step {step} reads {end - begin - found} bytes of buffer {buffer['id']} that nothing wrote")

    def check_data(self):
        writers = collections.defaultdict(list)
        for buffer in filter(self.is_given, self.buffers):
            self.write(writers, buffer)
        for index, step in enumerate(self.steps):
            for i in step["reads"]:
                self.read(writers, self.buffers[i], index)
            for i in step["writes"]:
                self.write(writers, self.buffers[i])
        is_scratchpad = self.plan["device"]["kind"] == "scratchpad"
        for buffer in self.buffers:
            is_callers = buffer["memory"] != "local" or not is_scratchpad    # a local copy may be gone once it is stored
            if buffer["kind"] == "output" and is_callers and self.steps:
                self.read(writers, buffer, self.end)

    def check_moved(self, step):
        """Once: what is written. Tile by tile: no more than the tile each time. Each element of a map is stored once, and
        a byte at most more a tile where elements are smaller than bytes; windows overlap, so that it may be loaded
        more than once."""
        most = step["repeat"] * sum(self.buffers[i]["logical_bytes"] for i in step["writes"])
        if step["column"] != "store":
            self.require(step["moved_bytes"] <= most, f"step {step['index']} moves more than it writes")
        is_one = len(step["reads"]) == len(step["writes"]) == 1
        if step["column"] == "fill":
            return
        far = self.buffers[step["writes" if step["column"] == "store" else "reads"][0]]
        if is_one and step["column"] == "store" and far["memory"] != "local":
            self.moved_maps[far["id"]] += step["moved_bytes"]
            self.tiles[far["id"]] += step["repeat"]

    def check_maps(self):
        for far, moved in self.moved_maps.items():
            whole = self.buffers[far]["logical_bytes"]
            self.require(whole <= moved <= whole + self.tiles[far],
                         f"store of buffer {far} moves {moved} bytes of {whole}")

    def check_traffic(self):
        self.moved_maps, self.tiles = collections.Counter(), collections.Counter()
        traffic = self.plan["traffic"]
        written = collections.Counter()
        for step in self.steps:
            if step["column"] in MOVES:
                written[step["column"]] += step["moved_bytes"]
                self.check_moved(step)
        self.check_maps()
        for column in MOVES:
            self.expect(f"traffic.by_column.{column}.written_bytes", traffic["by_column"][column]["written_bytes"],
                        written[column])
            self.require(traffic["by_column"][column]["read_bytes"] <= written[column],
                         f"{column} reads more than it writes")
        for key in ("read_bytes", "written_bytes", "transfers"):
            self.expect(f"traffic.{key}", traffic[key], sum(c[key] for c in traffic["by_column"].values()))

    def check_own(self):
        for step in self.steps:
            own = {self.root_of(self.buffers[i])["id"] for i in step["reads"] + step["writes"]}
            found = sum(self.buffers[i]["physical_bytes"] for i in own if self.buffers[i]["memory"] == "local")
            self.expect(f"own_bytes of step {step['index']}", step["own_bytes"], found)
            self.require(step["whole_reason"] is None or step["column"] not in ("load_input", "load_param", "store"),
                         f"step {step['index']} only moves, and is told to be whole")
        misfit = self.plan["misfit"]
        if misfit is not None and misfit["memory"] == "local" and self.steps:
            self.expect("own and waiting bytes", misfit["own_bytes"] + misfit["waiting_bytes"], misfit["live_bytes"])
            self.expect("live_bytes of the misfit", misfit["live_bytes"], self.totals["peak_live_bytes"])
            self.expect("waiting_bytes", misfit["waiting_bytes"],
                        sum(self.buffers[i]["physical_bytes"] for i in misfit["waiting"]))
            self.require(set(misfit["waiting"]) <= set(self.plan["peak"]["buffers"]), "what waits is not there")

    def check_far(self):
        is_map = self.is_far_map
        maps = {b["id"]: b for b in self.buffers if is_map(b) and b["alias_of"] is None}
        told = self.plan["far_maps"]
        self.expect("far_maps.buffers", sorted(told["buffers"]), sorted(maps))
        self.expect("far_maps.bytes", told["bytes"], sum(map(all_banks, maps.values())))
        ends = max((b["offset"] + all_banks(b) for b in maps.values()), default=0)
        behind = [b for b in self.buffers if b["memory"] in ("flash", "far")]
        others = [b["offset"] for b in behind if not is_map(self.root_of(b))]
        is_mixed = any(part["of"] == "far" and part["storages"] > 0 for part in self.plan["overflow"])
        self.require(is_mixed or ends <= told["at_once_bytes"] <= min(others, default=told["at_once_bytes"]),
                     "maps in far memory do not lie in at_once_bytes, or something else does")
        for buffer in self.buffers:
            reason = buffer["far_reason"]
            self.expect(f"buffer {buffer['id']} is far for a reason", reason is not None, is_map(buffer))
            self.require(reason is None or reason["live_bytes"] > reason["room_bytes"],
                         f"buffer {buffer['id']} is far for no need")
        backing = (self.plan["misfit"] or {"backing": None})["backing"]
        if backing is None:
            return
        behind = [s for s in self.storages.values() if s["root"]["memory"] == backing["memory"]]
        stay = sum(all_banks(s["root"]) for s in behind if not is_map(s["root"]))
        live = [sum(all_banks(s["root"]) for s in behind if is_map(s["root"]) and s["first"] <= at < s["last"])
                for at in range(len(self.steps))]
        most = max(live, default=0)
        self.expect("stay_bytes", backing["stay_bytes"], stay)
        self.expect("live_bytes of the memory behind", backing["live_bytes"], stay + most)
        self.expect("its step", backing["step"], live.index(most) if most > 0 else None)

    def check_rows(self, sweep):
        steps, found = self.steps[slice(*sweep["steps"])], {}
        for step in steps:
            row = found.setdefault(step["column"], dict(repeat=0, moved_bytes=0, live_bytes=0))
            row["repeat"] += step["repeat"]
            row["moved_bytes"] += step["moved_bytes"]
            row["live_bytes"] = max(row["live_bytes"], step["live_bytes"])
        told = {column: {key: row[key] for key in ("repeat", "moved_bytes", "live_bytes")}
                for column, row in sweep["by_column"].items()}
        self.expect(f"columns of the sweep of '{sweep['node']}'", told, found)
        self.require(sweep["chosen"]["tiles"] == 1 or sweep["cut"], f"the sweep of '{sweep['node']}' is cut along nothing")

    def check_costs(self):
        traffic, columns = self.plan["traffic"], self.plan["traffic"]["by_column"]
        if self.plan["device"]["kind"] == "arena":
            for key in ("descriptors", "bursts", "cycles", "steady_state"):
                self.expect(f"traffic.{key} of an arena", traffic[key], None)
            self.expect("traffic.alternatives of an arena", traffic["alternatives"], [])
            return
        for key in ("descriptors", "bursts"):
            self.expect(f"traffic.{key}", traffic[key], sum(c[key] for c in columns.values()))
        first = traffic["first_run"]
        self.expect("traffic.first_run", first, {key: traffic[key] for key in first})
        self.check_efficiency("traffic", traffic, columns)
        self.require(max((c["cycles"] for c in columns.values()), default=0) <= traffic["cycles"],
                     "a column takes longer than all of them")
        engine = set(columns) - set(MOVES)
        self.require(all(columns[c][key] == 0 for c in engine for key in ("written_bytes", "bursts", "descriptors")),
                     "the engine's columns move nothing")
        steps = collections.Counter()
        for step in self.steps:
            steps[step["column"]] += step["repeat"]
        for column in ("load_input", "load_param", "store"):
            some = columns[column]["written_bytes"] > 0 and traffic["unbooked_steps"] == 0
            self.require(not some or columns[column]["commands"] >= columns[column]["transfers"],
                         f"fewer commands than transfers of {column}")
        self.require(engine <= set(steps), "a column without a step costs cycles")
        self.check_steady(traffic, columns)

    def check_efficiency(self, what, run, columns):
        """Every byte lies in a burst; of elements smaller than a byte, parts of a tensor round up each."""
        burst_bytes, moved = run["burst_bytes"], sum(columns[c]["written_bytes"] for c in ("load_input", "load_param", "store"))
        if burst_bytes is None:
            return self.expect(f"{what}.efficiency", run["efficiency"], None)
        if burst_bytes == 0:
            return self.expect(f"{what}.efficiency of nothing", (moved, run["efficiency"]), (0, None))
        slack = sum(columns[c]["commands"] for c in ("load_input", "load_param", "store"))
        self.require(0 < run["efficiency"] <= 1, f"{what}.efficiency {run['efficiency']}")
        least = moved if run["unbooked_steps"] == 0 else 0
        self.require(least <= round(run["efficiency"] * burst_bytes) <= moved + slack,
                     f"{what}.efficiency {run['efficiency']} of {burst_bytes} bytes, {moved} moved")

    def loads_of(self, held):
        return [s for s in self.steps if held in s["writes"]]

    def check_steady(self, traffic, columns):
        steady = traffic["steady_state"]
        saved, saved_loads, transfers = 0, 0, 0
        for held in steady["held"]:
            buffer, loads = self.buffers[held], self.loads_of(held)
            self.expect(f"memory of held buffer {held}", (buffer["memory"], buffer["alias_of"]), ("local", None))
            self.expect(f"loads of held buffer {held}", [s["repeat"] for s in loads], [1])
            column, parts = loads[0]["column"], [held]
            self.require(column in ("load_param", "copy", "fill"), f"held buffer {held} is made by {column}")
            if column == "copy":
                parts += loads[0]["reads"]     # a form, and what it is made of
            for part in parts:
                is_loaded = [s["column"] for s in self.loads_of(part)] == ["load_param"]
                saved += self.buffers[part]["logical_bytes"]
                saved_loads += self.buffers[part]["logical_bytes"] if is_loaded else 0
            transfers += len(parts)
        self.expect("steady_state.written_bytes", steady["written_bytes"], traffic["written_bytes"] - saved)
        self.expect("steady_state.param_bytes", steady["param_bytes"], traffic["param_bytes"] - saved_loads)
        self.expect("steady_state.transfers", steady["transfers"], traffic["transfers"] - transfers)
        for key in ("descriptors", "bursts", "cycles", "synchronisations"):
            self.require(steady[key] <= traffic[key], f"the steady state has more {key} than the first run")
        size = {s["root"]["id"]: round_up(s["root"]["physical_bytes"], self.align) for s in self.local()}
        self.expect("steady_state.held_bytes", steady["held_bytes"], sum(size[h] for h in steady["held"]))
        alive = [steady["held_bytes"]] * len(self.steps)
        for storage in self.local():
            for step in range(storage["first"], min(storage["last"], len(self.steps))):
                alive[step] += size[storage["root"]["id"]] if storage["root"]["id"] not in steady["held"] else 0
        self.expect("steady_state.alive_bytes", steady["alive_bytes"], max(alive, default=0))
        self.require(not steady["held"] or steady["alive_bytes"] <= self.totals["capacity_bytes"],
                     "the steady state holds more than there is")

    def check_alternatives(self):
        for one in self.plan["traffic"]["alternatives"]:
            self.check_rows(one)
            chosen, what = one["chosen"], f"alternatives of {one['node']}"
            first, last = one["steps"]
            self.require(0 <= first < last <= len(self.steps), f"{what}: steps {one['steps']}")
            self.require({s["node"] for s in self.steps[first:last]} <= set(one["nodes"]), f"{what}: steps of others")
            self.expect(f"{what}: nodes[0]", one["nodes"][0], one["node"])
            params = sum(s["moved_bytes"] for s in self.steps[first:last] if s["column"] == "load_param")
            self.expect(f"{what}: param_bytes", one["param_bytes"], params)
            for other in [chosen] + one["others"] + one["forms"]:
                self.expect(f"{what}: more_cycles", other["more_cycles"], other["cycles"] - chosen["cycles"])
                self.require(not other["fits"] or other["need_bytes"] <= self.totals["capacity_bytes"],
                             f"{what}: {other} does not fit")
            self.require(chosen not in one["others"], f"{what}: the choice among the others")
            order = [(not o["fits"], o["cycles"] if o["fits"] else o["need_bytes"]) for o in one["others"]]
            self.expect(f"{what}: order", order, sorted(order))

    def uses_of(self, buffer):
        """Steps that use a constant; the operators of a sweep that goes line by line are one."""
        blocks = {}
        for one in self.plan["traffic"]["alternatives"]:
            if one["chosen"]["schedule"] != "split":
                blocks.update({step: tuple(one["steps"]) for step in range(*one["steps"])})
        used = set()
        for index, step in enumerate(self.steps):
            if buffer["id"] in step["reads"] + step["writes"]:
                used.add(index)
                block = blocks.get(index)
                for way in (-1, 1) if block and step["column"] not in MOVES else ():
                    at = index
                    while block[0] <= at < block[1] and self.steps[at]["column"] not in MOVES:
                        used.add(at)
                        at += way
        return used

    def check_lifetimes(self):
        for buffer in self.buffers:
            is_constant = (buffer["kind"] in ("weight", "parameter") and buffer["memory"] == "local" and
                           buffer["alias_of"] is None)
            found = len(set(range(buffer["first"], buffer["last"])) - self.uses_of(buffer)) if is_constant else None
            self.expect(f"held_steps of buffer {buffer['id']}", buffer["held_steps"], found)

    def check_blame(self):
        for blame in self.plan["misfit"]["blame"] if self.plan["misfit"] else ():
            self.require(blame["instead_bytes"] <= blame["bytes"], f"blame of more than there is: {blame}")
            if blame["buffer"] is None:
                self.expect("kind of a blame without buffer", blame["kind"], "schedule")
                continue
            buffer = self.buffers[blame["buffer"]]
            self.require(buffer["id"] in self.plan["peak"]["buffers"], f"blame of what is not at the peak: {blame}")
            self.expect(f"bytes of blamed buffer {buffer['id']}", blame["bytes"], buffer["physical_bytes"])
            if blame["kind"] == "parameter_lifetime":
                used = max((self.steps[s]["live_bytes"] for s in self.uses_of(buffer)), default=0)
                self.require(used < self.totals["peak_live_bytes"], f"blamed for waiting, but used: {blame}")
            if blame["kind"] == "workspace":
                self.expect("kind of blamed workspace", buffer["kind"], "workspace")

    def run(self):
        self.check_aliases()
        self.check_hulls()
        self.check_live()
        self.check_order()
        self.check_placement()
        self.check_overflow()
        self.check_sums()
        self.check_steps()
        self.check_outputs()
        self.check_data()
        self.check_own()
        self.check_far()
        self.check_traffic()
        self.check_costs()
        self.check_alternatives()
        self.check_lifetimes()
        self.check_blame()
        return self.faults


def main():
    paths = sys.argv[1:]
    if not paths:
        print(__doc__)
        return 1
    faults = [fault for path in paths for fault in Checker(path).run()]
    print("\n".join(faults + [f"{len(paths)} plans checked, {len(faults)} faults"]))
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
